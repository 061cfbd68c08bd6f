"""`make shape`: how long files and functions are. A mirror, not a gate."""

import ast
from statistics import median, quantiles

from tools.tree import Module, modules

LARGEST = 5


def function_lengths(found: list[Module]) -> list[tuple[int, str]]:
    """Each function with its length in lines, its decorators not counted."""
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{module.name}:{node.lineno} {node.name}")
        for module in found
        for node in ast.walk(ast.parse(module.path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def shape_lines(kind: str, sized: list[tuple[int, str]]) -> list[str]:
    """The middle, the ninth decile and the largest of one kind of thing."""
    if len(sized) < 2:
        return [f"{kind}: {len(sized)}"]
    lengths = [length for length, _ in sized]
    p90 = quantiles(lengths, n=10, method="inclusive")[-1]
    first = f"{kind}: {len(sized)}, {sum(lengths)} lines, median {median(lengths):.0f}, p90 {p90:.0f}"
    return [first, *(f"  {length:>5}  {name}" for length, name in sorted(sized, reverse=True)[:LARGEST])]


if __name__ == "__main__":
    found = modules()
    print("\n".join(shape_lines("files", [(module.lines, module.name) for module in found if module.lines > 5])))
    print("\n".join(shape_lines("functions", function_lengths(found))))
