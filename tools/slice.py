"""`make slice op=search`: one operation through every layer, in call order."""

import ast
import re
import sys

from tools.tree import PACKAGE, Module, modules

QUERIES = PACKAGE / "model" / "queries.py"


def slice_lines(found: list[Module], operation: str) -> list[str]:
    """The modules named after the operation, each with its length, then the sum."""
    part = [module for module in found if module.path.stem == operation]
    lines = [f"{module.name:<36}{module.lines:>5}  {module.sentence}" for module in part]
    return [*lines, f"{f'{len(part)} files':<36}{sum(module.lines for module in part):>5}  lines in all"]


def declared_line(found: list[Module], operation: str) -> str | None:
    """Where the parameters of a read are declared, once for all of them."""
    read = next((module for module in found if module.name == f"reads/{operation}.py"), None)
    served = re.search(r"query: (\w+)", read.path.read_text("utf-8")) if read else None
    if served is None:
        return None
    classes = [node for node in ast.parse(QUERIES.read_text("utf-8")).body if isinstance(node, ast.ClassDef)]
    declared = next((node for node in classes if node.name == served[1]), None)
    if declared is None or declared.end_lineno is None:
        return None
    place = f"model/queries.py:{declared.lineno}"
    length = declared.end_lineno - declared.lineno + 1
    return f"{place:<36}{length:>5}  {declared.name}: what can be asked, for every door."


def operations(found: list[Module]) -> list[str]:
    """The names that more than one layer shares: these have a slice worth reading."""
    stems = [module.path.stem for module in found if not module.name.endswith("/")]
    return sorted({stem for stem in stems if stems.count(stem) > 2})


def main(arguments: list[str]) -> int:
    found = modules()
    match arguments:
        case [operation] if any(module.path.stem == operation for module in found):
            declared = declared_line(found, operation)
            print("\n".join([*([declared] if declared else []), *slice_lines(found, operation)]))
            return 0
        case _:
            print("make slice op=NAME, where NAME is one of: " + ", ".join(operations(found)), file=sys.stderr)
            return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
