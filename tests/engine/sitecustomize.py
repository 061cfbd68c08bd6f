"""Loaded by every Python that a test starts: lets it find homes where the test that started it keeps them."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

VARIABLE = "TESTS_POSTGRES"  # none of ours: tests take those out of the environment of what they start
_AFTER = {"pdpp_server.store.opened", "pdpp_server.store.engines.sqlite.peek"}


class _Homes(MetaPathFinder):
    """Not before the product asks for a database: a start without one must not become slower."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname not in _AFTER:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        assert spec is not None and spec.loader is not None
        loader: Any = spec.loader
        execute = loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            _keep()

        loader.exec_module = executed
        return spec


def _keep() -> None:
    from tests.engine.homes import keep_homes_in

    keep_homes_in(os.environ[VARIABLE], setattr)


if VARIABLE in os.environ:
    sys.meta_path.insert(0, _Homes())
