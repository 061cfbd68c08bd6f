"""`make shape`: how long files and functions are, how much a line holds, and where most. A mirror, not a gate."""

import ast
from statistics import median, quantiles

from tools.tree import Module, modules

LARGEST = 5
DENSEST, WORTH_A_LOOK = 10, 6  # functions, and the lines that one has at least
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def function_lengths(found: list[Module]) -> list[tuple[int, str]]:
    """Each function with its length in lines, its decorators not counted."""
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{module.name}:{node.lineno} {node.name}")
        for module in found
        for node in ast.walk(ast.parse(module.path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def densest_functions(found: list[Module]) -> list[tuple[float, str]]:
    """Functions of some length, each with the expressions that one of its lines holds, the densest first."""
    dense: list[tuple[float, str]] = []
    for module in found:
        for node in ast.walk(ast.parse(module.path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
                expressions = sum(isinstance(each, ast.expr) for line in node.body for each in ast.walk(line))
                if lines >= WORTH_A_LOOK:
                    dense.append((expressions / lines, f"{module.name}:{node.lineno} {node.name}"))
    return sorted(dense, reverse=True)[:DENSEST]


def shape_lines(kind: str, sized: list[tuple[int, str]]) -> list[str]:
    """The middle, the ninth decile and the largest of one kind of thing."""
    if len(sized) < 2:
        return [f"{kind}: {len(sized)}"]
    lengths = [length for length, _ in sized]
    p90 = quantiles(lengths, n=10, method="inclusive")[-1]
    first = f"{kind}: {len(sized)}, {sum(lengths)} lines, median {median(lengths):.0f}, p90 {p90:.0f}"
    return [first, *(f"  {length:>5}  {name}" for length, name in sorted(sized, reverse=True)[:LARGEST])]


def code_lines(module: Module) -> int:
    """Lines on which something begins or ends."""
    numbered = [
        node for node in ast.walk(ast.parse(module.path.read_text("utf-8"))) if isinstance(node, ast.expr | ast.stmt)
    ]
    texts = {node.value for node in numbered if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    kept = [node for node in numbered if node not in texts and getattr(node, "value", None) not in texts]
    return len({line for node in kept for line in (node.lineno, node.end_lineno)})


def density_line(found: list[Module]) -> str:
    """How much a line of code holds: comments, docstrings and empty lines do not count."""
    nodes = [node for module in found for node in ast.walk(ast.parse(module.path.read_text("utf-8")))]
    expressions = sum(isinstance(node, ast.expr) for node in nodes)
    thousands = sum(code_lines(module) for module in found) / 1000
    comprehensions = sum(isinstance(node, COMPREHENSIONS) for node in nodes)
    choices = sum(isinstance(node, ast.IfExp) for node in nodes)
    return (
        f"expressions: {expressions}, {expressions / thousands / 1000:.1f} a line; for each thousand lines "
        f"{comprehensions / thousands:.0f} comprehensions and {choices / thousands:.0f} conditional expressions"
    )


if __name__ == "__main__":
    found = modules()
    print("\n".join(shape_lines("files", [(module.lines, module.name) for module in found if module.lines > 5])))
    print("\n".join(shape_lines("functions", function_lengths(found))))
    print(density_line(found))
    print("densest functions, expressions a line:")
    print("\n".join(f"  {density:>5.1f}  {name}" for density, name in densest_functions(found)))
