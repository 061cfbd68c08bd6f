"""`make map`: the package in call order, one line for each module."""

from tools.tree import Module, modules

WIDTH = 33


def map_lines(found: list[Module]) -> list[str]:
    """A package stands at the margin with its whole path, its modules are indented below it."""
    lines: list[str] = []
    for module in found:
        is_package = module.name.endswith("/")
        label = module.name if is_package else "  " * module.depth + module.path.name
        lines.append(f"{label:<{WIDTH}}{module.sentence}".rstrip())
    return lines


if __name__ == "__main__":
    print("\n".join(map_lines(modules())))
