"""How guards are broken: what is done to their conditions, one breakage at a time.

Each ``if`` is negated, made always true and made always false; each ``and``/``or`` loses a side; ``<`` becomes ``<=``; each
tuple of checks loses one; each ``needs=``, ``only_if=`` and ``proves=`` is emptied. In all functions of the files a call of what
refuses, checks or asks is left out. ``mutate_guards.py`` tries them.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

_SWAPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
"""What stands for a comparison's operator: at a bound its neighbour, else its opposite."""


_GUARDS = ("refuse", "check", "agree", "ask")
"""How the names of functions begin that raise where something may not be done."""


def _without_call(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield nothing in place of a statement that is a call of a guard."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = getattr(called, "id", None) or getattr(called, "attr", "")
        if name.lstrip("_").startswith(_GUARDS):
            yield f"without {ast.unparse(node)[:90]}", ast.Pass()


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may be done to ``node``: a phrase, and the node that stands there instead."""
    yield from _without_call(node)
    if isinstance(node, (ast.If, ast.IfExp)):
        test = ast.unparse(node.test)
        for phrase, new in (
            (f"not ({test})", ast.UnaryOp(op=ast.Not(), operand=node.test)),
            (f"True instead of {test}", ast.Constant(value=True)),
            (f"False instead of {test}", ast.Constant(value=False)),
        ):
            changed = copy.copy(node)
            changed.test = new
            yield phrase, changed
    elif isinstance(node, ast.BoolOp):
        for place, value in enumerate(node.values):
            rest = [v for n, v in enumerate(node.values) if n != place]
            yield (
                f"without {ast.unparse(value)} in {ast.unparse(node)}",
                rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest),
            )
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        swap = _SWAPS.get(type(node.ops[0]))
        if swap is not None:
            changed_compare = copy.copy(node)
            changed_compare.ops = [swap()]
            yield f"{ast.unparse(changed_compare)} instead of {ast.unparse(node)}", changed_compare
    else:
        yield from _other_changes(node)


def _other_changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            changed_filter = copy.copy(node)
            changed_filter.ifs = [one for number, one in enumerate(node.ifs) if number != place]
            yield f"without the filter {ast.unparse(test)}", changed_filter
            if not isinstance(test, ast.Compare) or type(test.ops[0]) not in _SWAPS:
                negated = copy.copy(node)
                negated.ifs = [ast.UnaryOp(op=ast.Not(), operand=one) if one is test else one for one in node.ifs]
                yield f"the filter not ({ast.unparse(test)})", negated
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.Not):
        yield f"return {ast.unparse(node.value.operand)}", ast.Return(value=node.value.operand)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("any", "all"):
        yield f"not {ast.unparse(node)[:90]}", ast.UnaryOp(op=ast.Not(), operand=node)
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        if any(isinstance(item, ast.Call) and getattr(item.func, "id", "") == "Check" for item in node.elts):
            for place, item in enumerate(node.elts):
                rest_items = [v for n, v in enumerate(node.elts) if n != place]
                yield f"without {ast.unparse(item)[:90]}", ast.Tuple(elts=rest_items, ctx=ast.Load())
    elif isinstance(node, ast.keyword) and node.arg in ("needs", "always", "only_if", "proves"):
        empty = ast.Dict(keys=[], values=[]) if node.arg == "always" else ast.Tuple(elts=[], ctx=ast.Load())
        if ast.unparse(node.value) not in ("()", "{}", "needs"):
            yield (
                f"{node.arg}= is empty instead of {ast.unparse(node.value)[:80]}",
                ast.keyword(arg=node.arg, value=empty),
            )


@dataclass(frozen=True)
class Mutant:
    """One breakage.

    Attributes:
        file: below ``exacell/``.
        first: the first line of the function's code, its decorators included.
        line: of what is broken.
        lines: of the statement that it is in; a test that runs none of them can't notice.
        place: of the node in a walk of the function, and ``change`` which of its changes.
        was: a digest of the function as it stands: a result of another text is no result.
    """

    file: str
    function: str
    first: int
    line: int
    lines: range
    what: str
    place: int
    change: int
    was: str

    @property
    def key(self) -> tuple[str, str]:
        """What EQUIVALENT is asked for; stays the same when lines move."""
        return f"{self.file}:{self.function}", self.what

    @property
    def name(self) -> str:
        """What its result is kept under."""
        return f"{self.file}:{self.function}:{self.was}:{self.place}:{self.change}"

    def __str__(self) -> str:
        return f"exacell/{self.file}:{self.line} {self.function}: {self.what}"


def mutants(file: str, wanted: Collection[str], package: Path) -> Iterator[Mutant]:
    """Yield every breakage of one file of the package.

    Args:
        wanted: the functions that are broken; all when empty. In the others only calls of guards are left out; so words that are
            no function's name mean that nothing else is done.

    Raises:
        LookupError: a function that shall be broken is not there any more.
    """
    tree = ast.parse((package / file).read_text(encoding="utf-8"))
    every = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    gone = {name for name in wanted if name.isidentifier()} - {node.name for node in every}
    if gone:
        raise LookupError(f"exacell/{file} has no function {', '.join(sorted(gone))}: mend TARGETS")
    seen: set[ast.AST] = set()
    whole = [function for function in every if not wanted or function.name in wanted]
    for function in (*whole, *(function for function in every if function not in whole)):
        if function in seen:
            continue
        kinds = changes if function in whole else _without_call
        spans = dict(_spans(function))
        was = hashlib.sha256(ast.unparse(function).encode()).hexdigest()[:12]
        for place, node in enumerate(ast.walk(function)):
            if node in seen or node not in spans:
                continue
            seen.add(node)
            placed = next((one for one in ast.walk(node) if hasattr(one, "lineno")), None)
            line = getattr(placed, "lineno", 0)
            for change, (what, _) in enumerate(kinds(node)):
                yield Mutant(file, function.name, _first(function), line, spans[node], what, place, change, was)


def _first(function: ast.FunctionDef) -> int:
    return min(function.lineno, *(item.lineno for item in function.decorator_list), function.lineno)


def _spans(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, range]]:
    """Yield every node of a function's body with the lines of its statement; of a compound one those of its head."""

    def below(node: ast.AST, span: range) -> Iterator[tuple[ast.AST, range]]:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if isinstance(body, list) and body else node.end_lineno
            span = range(node.lineno, (last or node.lineno) + 1)
        yield node, span
        for child in ast.iter_child_nodes(node):
            yield from below(child, span)

    for statement in function.body:
        yield from below(statement, range(0))


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the new node for the old one, every other as it is."""
        return self.new if node is self.old else self.generic_visit(node)


def broken(mutant: Mutant, package: Path) -> CodeType:
    """Return the code of the mutant's function with the breakage in it."""
    path = package / mutant.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    function = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.name, _first(node)) == (mutant.function, mutant.first)
    )
    old = list(ast.walk(function))[mutant.place]
    new = list(changes(old))[mutant.change][1]
    fresh = ast.fix_missing_locations(_Replace(old, ast.copy_location(copy.deepcopy(new), old)).visit(tree))
    return code_in(compile(fresh, str(path), "exec"), mutant)


def code_in(code: CodeType, mutant: Mutant) -> CodeType:
    """Return the code of the mutant's function in the code of its module."""
    waiting = [code]
    while waiting:
        item = waiting.pop()
        if is_code_of(item, mutant):
            return item
        waiting += [const for const in item.co_consts if isinstance(const, CodeType)]
    raise LookupError(f"no code of {mutant}")


def is_code_of(code: CodeType, mutant: Mutant) -> bool:
    """Return whether this is the code of the mutant's function, in whichever file."""
    return (code.co_name, code.co_firstlineno) == (mutant.function, mutant.first)
