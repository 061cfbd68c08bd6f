"""Declarations that something is wrong with, and what is said of it."""

from collections.abc import Callable
from typing import Any

import pytest

from pdpp_server.wire.declarations import FaultyDeclaration, decode_declaration
from tests.unit.diary import diary

Spoil = Callable[[dict[str, Any]], object]


def failures(document: object) -> set[tuple[str, str, str]]:
    with pytest.raises(FaultyDeclaration) as refused:
        decode_declaration(document)
    return {
        (failure.code.removeprefix("source.declaration."), failure.path, failure.reference)
        for failure in refused.value.failures
    }


def spoilt(spoil: Spoil) -> dict[str, Any]:
    document = diary()
    spoil(document)
    return document


def entries(document: dict[str, Any]) -> dict[str, Any]:
    return document["streams"][0]


def properties(document: dict[str, Any]) -> dict[str, Any]:
    return entries(document)["schema"]["properties"]
