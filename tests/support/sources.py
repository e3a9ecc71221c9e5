"""The package's own text, read and parsed once for all tests that judge it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import exacell
from benchmarks import house

ROOT = Path(exacell.__file__).parent


@cache
def modules() -> dict[str, house.Module]:
    """Return every module of the package by its dotted name."""
    return house.modules(ROOT)


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the parsed text of every module of the package by its file, in the files' order."""
    found = {}
    for name, module in modules().items():
        path = ROOT.parent.joinpath(*name.split("."))
        found[path / "__init__.py" if module.package else path.with_suffix(".py")] = module.tree
    return dict(sorted(found.items()))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module of the package, at any level; the trees are walked once for all tests that look at them."""
    found: list[ast.AST] = [trees()[path]]
    for node in found:
        for value in vars(node).values():
            if isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return tuple(found)


@cache
def calls(path: Path) -> tuple[ast.Call, ...]:
    """Return every call that stands in a module of the package, at any level."""
    return tuple(node for node in nodes(path) if isinstance(node, ast.Call))
