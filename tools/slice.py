"""`make slice op=search`: one operation through every layer, in call order."""

import sys

from tools.tree import Module, modules


def slice_lines(found: list[Module], operation: str) -> list[str]:
    """The modules named after the operation, each with its length, then the sum."""
    part = [module for module in found if module.path.stem == operation]
    lines = [f"{module.name:<36}{module.lines:>5}  {module.sentence}" for module in part]
    return [*lines, f"{f'{len(part)} files':<36}{sum(module.lines for module in part):>5}  lines in all"]


def operations(found: list[Module]) -> list[str]:
    """The names that more than one layer shares: these have a slice worth reading."""
    stems = [module.path.stem for module in found if not module.name.endswith("/")]
    return sorted({stem for stem in stems if stems.count(stem) > 2})


def main(arguments: list[str]) -> int:
    found = modules()
    match arguments:
        case [operation] if any(module.path.stem == operation for module in found):
            print("\n".join(slice_lines(found, operation)))
            return 0
        case _:
            print("make slice op=NAME, where NAME is one of: " + ", ".join(operations(found)), file=sys.stderr)
            return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
