"""The page of each source: how to get it, what is read, which presets there are. Cog calls this."""

from collections.abc import Iterator
from typing import Any

from pdpp_server.importers.registry import IMPORTERS, declaration_of
from pdpp_server.importers.source import Importer
from tools.tree import ROOT

FOLDER = ROOT / "docs" / "sources"


def index() -> str:
    rows = [f"| [{_name(one)}]({one.key}.md) | {one.takes} | `{one.key}` |" for one in IMPORTERS]
    return "\n".join(["", "| source | files | `--as` |", "|---|---|---|", *rows, ""])


def facts(key: str) -> str:
    """What the importer and its declaration say themselves."""
    (importer,) = (one for one in IMPORTERS if one.key == key)
    return "\n".join(["", *_facts(importer), ""])


def _facts(importer: Importer) -> Iterator[str]:
    document = declaration_of(importer.key).document
    yield f"**Files**: {importer.takes}."
    yield ""
    yield f"**How to get them**: {importer.obtain}. Then `pdpp import PATH`; it is recognised by what is in it."
    if importer.usual_folders:
        named = ", ".join(f"`{folder}`" for folder in importer.usual_folders)
        yield ""
        yield f"`pdpp import` without a path looks into {named}."
    yield from ("", "## What is read", "", "| stream | what it holds | fields |", "|---|---|---|")
    for stream in document["streams"]:
        yield f"| `{stream['name']}` | {_about(stream)} | {_fields(stream)} |"
    yield from ("", "## What a client can be offered", "")
    yield "Everything, single streams and fields, or one of these:"
    yield ""
    for preset in document.get("selection_presets", ()):
        yield f"- *{preset['label']}* (`{preset['id']}`): {_streams(preset)}"
    if document.get("sensitivity"):
        yield ""
        yield f"The source is declared `{document['sensitivity']}`: consent says so."


def _name(importer: Importer) -> str:
    return declaration_of(importer.key).name


def _about(stream: dict[str, Any]) -> str:
    return str(stream.get("display", {}).get("detail") or stream.get("description", "")).replace("|", "\\|")


def _fields(stream: dict[str, Any]) -> str:
    return ", ".join(f"`{name}`" for name in stream["schema"]["properties"])


def _streams(preset: dict[str, Any]) -> str:
    told = (f"`{one['name']}`" + (f" as `{one['view']}`" if "view" in one else "") for one in preset["streams"])
    return ", ".join(told)
