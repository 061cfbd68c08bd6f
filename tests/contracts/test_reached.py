"""What is written is reached: no module without an import, no page that nobody opens, no setting without a reader."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from pdpp_server.cli.group import VERBS
from pdpp_server.console.app import ADDRESSES, HOME
from pdpp_server.settings import Settings
from tools.tree import PACKAGE, ROOT

BEGUN = {"pdpp_server.mcp.generate"}  # as `python -m`, which `make fix` does
TEMPLATES = PACKAGE / "console" / "templates"
STATES = ROOT / "tests" / "scenarios" / "console" / "states.py"
OPENED_OTHERWISE = {"/consent", "/attachments/{blob_id}"}  # a client leads to the one, and the other is a file


def module_name(path: Path, package: Path = PACKAGE) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Every name that could be a module, also those that are written out as a text and imported later."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{each.name}" for each in names)
            case ast.Constant(value=str(text)) if text.startswith("pdpp_server."):
                yield text.partition(":")[0]
            case _:
                pass


def test_every_module_is_imported_by_another() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    verbs = {f"pdpp_server.cli.{module}" for module, _ in VERBS.values()}
    reached = verbs.union(*(imported(ast.parse(path.read_text("utf-8"))) for path in paths))

    assert {module_name(path) for path in paths} - reached == BEGUN


def test_every_template_is_filled_or_included() -> None:
    pages = [path.read_text("utf-8") for path in (PACKAGE / "console").rglob("*") if path.suffix in {".py", ".html"}]
    written = "\n".join(pages)

    assert [path.name for path in sorted(TEMPLATES.glob("*.html")) if f'"{path.name}"' not in written] == []


def names_address(written: str, path: str) -> bool:
    """Whether it is there in quotes; of one with a name inside, what stands before and behind that."""
    start, brace, named = path.partition("{")
    ends = "" if brace else '["?]'
    return bool(re.search(f'["}}]{re.escape(start)}{ends}', written)) and named.rpartition("}")[2].strip("/") in written


def test_every_page_is_walked_in_a_browser() -> None:
    """What is judged of every page and shown by `make pages` are the states of that file."""
    handlers = {HOME.show: HOME.path}
    for address in ADDRESSES:
        handlers.setdefault(address.show, address.path)
    walked = STATES.read_text("utf-8")

    assert {path for path in handlers.values() if not names_address(walked, path)} == OPENED_OTHERWISE


def test_every_page_is_led_to() -> None:
    pages = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".html"}]
    written = "\n".join(path.read_text("utf-8") for path in pages if path != PACKAGE / "console" / "app.py")

    assert [address.path for address in ADDRESSES if not names_address(written, address.path)] == []


def test_every_setting_is_read() -> None:
    written = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    read = set(re.findall(r"\.(\w+)", written))

    assert {each.name for each in fields(Settings)} - read == set()


def test_a_module_is_known_by_every_way_to_import_it() -> None:
    source = 'import a.b\nfrom c import d\ndef later():\n    from e.f import g\nVERB = "pdpp_server.cli.home:open_home"'
    assert {"a.b", "c.d", "e.f", "pdpp_server.cli.home"} <= set(imported(ast.parse(source)))
