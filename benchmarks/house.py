"""Print the measures of the structure, read from the code: circles, loose modules, late imports, statements.

    python benchmarks/house.py            the table
    python benchmarks/house.py --circles  and every module of every circle, every late import's module

The product is everything of ``exacell/`` but ``exacell/emulator/``, which has rows of its own. An import counts wherever it
stands: at the top, in a function, for type checkers alone. A circle is a set of modules of which each reaches each other by
imports. Statements and sizes are printed and have no goal: what counts is that nothing is there without a user.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "exacell"

GOALS = {
    "modules directly in exacell/": "<= 5",
    "packages directly in exacell/": "<= 17",
    "import circles": "0",
    "modules in the largest circle": "0",
    "imports inside functions": "<= 200",
    "modules that know Context": "0",
    "untyped reads of journal rows": "0",
    "probes of transports by getattr": "0",
    "modules": "",
    "statements": "",
    "modules of more than 800 lines": "0",
    "emulator: modules": "",
    "emulator: statements": "",
    "emulator: modules of fewer than 60 statements": "",
    "emulator: modules in the largest circle": "0",
    "emulator: modules of more than 800 lines": "0",
}

MOST_LINES = 800
"""From here on a module is more than one sitting, and is divided."""

FEW_STATEMENTS = 60
"""Fewer statements are hardly worth a file of their own, unless the file's reason stands in it."""


@dataclass(frozen=True)
class Module:
    """One module of the package: its dotted name and what its text says."""

    name: str
    tree: ast.Module
    lines: int
    package: bool

    @property
    def product(self) -> bool:
        """Tell whether the module is none of the emulator's."""
        return not self.name.startswith("exacell.emulator")


def modules(root: Path = ROOT) -> dict[str, Module]:
    """Return every module under ``root``, the package's folder, by its dotted name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(root.parent).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = Module(name, ast.parse(text), text.count("\n"), package)
    return found


def arrows(found: Mapping[str, Module]) -> dict[str, set[str]]:
    """Return for each module the modules of the package that it imports, wherever the import stands."""
    return {name: set(_targets(module, found)) - {name} for name, module in found.items()}


def _targets(module: Module, found: Mapping[str, Module]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in found)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in found:
                    yield inner
                elif node.module in found:
                    yield node.module


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected sets of more than one module, the largest first (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in graph:
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        work = [(start, iter(sorted(graph[start])))]
        while work:
            name, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    at = stack.index(name)
                    members, stack[at:] = stack[at:], []
                    if len(members) > 1:
                        found.append(sorted(members))
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                work.append((target, iter(sorted(graph[target]))))
            elif target in stack:
                low[name] = min(low[name], index[target])
    return sorted(found, key=len, reverse=True)


def late_imports(module: Module) -> int:
    """Return how many import statements of a module stand inside functions."""
    functions = (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    late = {
        id(inner) for node in functions for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    return len(late)


def statements(module: Module) -> int:
    """Return how many statements a module has; its docstrings are none."""
    return sum(
        isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(module.tree)
    )


PARSER = "exacell.journal.rows"
"""The one module that may read what a row's body says."""


def untyped_reads(module: Module) -> int:
    """Return how often a module reads a journal row by a key.

    ``row.body["state"]``, ``e.body.get("state")`` and ``"plan" in row.body`` count everywhere but in the parser. A mapping that
    is named like a row counts, ``row["outcome"]``, ``change.get("state")``, where the module imports the journal: elsewhere
    it is a record of a result, which any table has.
    """
    if module.name == PARSER:
        return 0
    named = "exacell.journal" in ast.unparse(module.tree)
    return sum(_is_row_read(node, named=named) for node in ast.walk(module.tree))


ROW_NAMES = frozenset(("row", "change", "intent", "outcome", "entry", "record", "last", "plan", "body", "end", "e"))
ROW_KEYS = frozenset(
    (
        "seq",
        "at",
        "rack",
        "change",
        "kind",
        "target",
        "prev",
        "hash",
        "user",
        "sudoUser",
        "host",
        "from",
        "pid",
        "started",
        "statement",
        "reason",
        "ticket",
        "origin",
        "finishes",
        "flags",
        "confirmWithin",
        "risk",
        "plan",
        "opaque",
        "cellcli",
        "on",
        "what",
        "asm",
        "wave",
        "undo",
        "inverse",
        "cachingOff",
        "cachingOn",
        "cache",
        "offline",
        "online",
        "state",
        "reply",
        "fingerprint",
        "mending",
        "settled",
        "cells",
        "open",
        "seconds",
        "met",
        "exitCode",
        "done",
        "stopped",
        "problem",
        "caching",
        "services",
        "until",
        "within",
        "run",
        "unguarded",
        "again",
        "refused",
        "old",
        "good",
        "carried",
        "damaged",
        "verified",
    )
)


def _is_row_read(node: ast.AST, *, named: bool) -> bool:
    value: ast.AST | None = None
    key: object = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
        value, key = node.value, node.slice.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        value, key = node.func.value, getattr(node.args[0], "value", None)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        value, key = node.comparators[0], getattr(node.left, "value", None)
    if isinstance(value, ast.Attribute):
        return value.attr == "body" and key in ROW_KEYS
    return named and isinstance(value, ast.Name) and value.id in ROW_NAMES and key in ROW_KEYS


def probes(module: Module) -> int:
    """Return how often a module asks a transport, a link or a fleet by getattr or hasattr what it can do."""
    calls = (node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return sum(
        call.func.id in ("getattr", "hasattr")  # type: ignore[attr-defined]  # filtered above
        and bool(call.args)
        and any(word in ast.unparse(call.args[0]) for word in ("transport", "link", "fleet", "carrier"))
        for call in calls
    )


def _defines(module: Module, name: str) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in module.tree.body)


def measures(root: Path = ROOT) -> dict[str, int]:
    """Return every measure of GOALS by its name, in the table's order."""
    found = modules(root)
    graph = arrows(found)
    product = {
        name: {target for target in graph[name] if found[target].product} for name in graph if found[name].product
    }
    inner = {
        name: {target for target in graph[name] if not found[target].product}
        for name in graph
        if not found[name].product
    }
    knots, inner_knots = circles(product), circles(inner)
    own, emulated = [found[name] for name in product], [found[name] for name in inner]
    top = [module for name, module in found.items() if name.count(".") == 1]
    context = next((name for name, module in found.items() if _defines(module, "Context")), "")
    return {
        "modules directly in exacell/": sum(not module.package for module in top),
        "packages directly in exacell/": sum(module.package for module in top),
        "import circles": len(knots),
        "modules in the largest circle": len(knots[0]) if knots else 0,
        "imports inside functions": sum(late_imports(module) for module in own),
        "modules that know Context": sum(context in targets for targets in product.values()),
        "untyped reads of journal rows": sum(untyped_reads(module) for module in own),
        "probes of transports by getattr": sum(probes(module) for module in own),
        "modules": len(own),
        "statements": sum(statements(module) for module in own),
        "modules of more than 800 lines": sum(module.lines > MOST_LINES for module in own),
        "emulator: modules": len(emulated),
        "emulator: statements": sum(statements(module) for module in emulated),
        "emulator: modules of fewer than 60 statements": sum(statements(m) < FEW_STATEMENTS for m in emulated),
        "emulator: modules in the largest circle": len(inner_knots[0]) if inner_knots else 0,
        "emulator: modules of more than 800 lines": sum(module.lines > MOST_LINES for module in emulated),
    }


def main() -> int:
    """Print the table; with --circles each knot's modules and the modules with most late imports."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--circles", action="store_true", help="name every module of every circle, and late imports")
    given = parser.parse_args()
    print("| measure | now | goal |\n|--|--|--|")
    for name, value in measures().items():
        print(f"| {name} | {value:,} | {GOALS[name]} |")
    if given.circles:
        found = modules()
        own = {name for name, module in found.items() if module.product}
        for knot in circles({name: targets & own for name, targets in arrows(found).items() if name in own}):
            print(f"\ncircle of {len(knot)}: {' '.join(knot)}")
        late = sorted(((late_imports(found[name]), name) for name in own), reverse=True)
        print("\nlate imports: " + ", ".join(f"{name} {count}" for count, name in late if count))
    return 0


if __name__ == "__main__":
    sys.exit(main())
