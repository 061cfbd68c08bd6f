"""Every server of a scenario is two, on one PostgreSQL, behind a balancer that alternates."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.app import create_app
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings
from tests.conftest import kept_in
from tests.scenarios.authorization_server import flow as flows
from tests.scenarios.authorization_server.flow import Flow, flowing
from tests.scenarios.balanced.balancer import Alternating
from tests.scenarios.console import visitor as visitors
from tests.scenarios.console.visitor import Visitor, visiting
from tests.scenarios.mcp import agents, test_hosted
from tests.worlds.postgres import Cluster
from tests.worlds.world import Clock, World, build, close


@pytest.fixture
def world(postgres: Cluster, home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with kept_in(postgres), visitors.cheap_passwords():
        built = build(home, clock)
        others: list[Services] = []

        def create_two(settings: Settings, services: Services, *more: Any) -> Alternating:
            other = open_services(home, now=clock)
            others.append(other)
            second = replace(settings, home=home.with_name("another home"))
            return Alternating([create_app(settings, services, *more), create_app(second, other, *more)])

        for module in (flows, visitors, agents, test_hosted):
            monkeypatch.setattr(module, "create_app", create_two)
        yield built
        for services in (*others, built.services):
            close(services)


@pytest.fixture
def flow(world: World) -> Iterator[Flow]:
    with flowing(world) as opened:
        yield opened


@pytest.fixture
def visitor(world: World) -> Iterator[Visitor]:
    with visiting(world) as somebody:
        yield somebody


@pytest.fixture
def owner(visitor: Visitor) -> Visitor:
    assert visitor.sign_in().status_code == 303
    return visitor
