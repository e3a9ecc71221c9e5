"""Errors in one form: what was wrong, where, the rule, and the way out; every place that makes one is read."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.support.sources import ROOT, calls, nodes, trees

NOT_FOR_PEOPLE = {
    "UnreadError": "a piece of a finding, which names the rule and the way out",
    "UnreadableError": "a piece of a finding, as UnreadError",
    "AtPrompt": "no error: it ends a line",
    "EditRequested": "no error: it opens the editor",
}
"""Errors that nobody is shown as they are."""

CAUGHT = {
    "cellcli/framing.py": "whoever reads asks again with a CellCLI of its own",
    "change/execute.py": "a line that was parsed holds one",
    "emulator/metrics/words.py": "our own table",
}
"""Modules whose errors, where they have no way out, are caught or would be our own fault."""

WAY = re.compile(
    r"""why_unreadable\(|error\.message|_said|\bbroken\b            # an error that has its own is passed on
    | [:;(]\s[^{}:;]*[a-z]{3}                                      # a clause behind the fault: its rule
    | \b(?:must|needs?|at\ least|at\ most|excludes?|goes?\ with|go\ together|such\ as|for\ example|only|takes)\b
    | \b(?:there|it|they|its?\ \w+|the\ \w+)\ (?:are|has|have|is)\ (?:\{\}|\d)
    | \bto\ (?:\{\}|\d) | neither\ .*\ nor | \ is\ 1M,\ 2M | \ is\ not\ a\ (?:whole\ )?number | \ is\ too\ large
    | \ is\ not\ (?:a\ \w+:|of\ the\ form\b) | [:;?]\ (?:set|put|say|see|add|give|one\ (?:of|at)|try|spool|\{\})\b | :\ {}$
    | ,\ or\ | \ with\ \{\}\ alone | \ is\ needed:""",
    re.VERBOSE | re.IGNORECASE,
)
"""What a message says besides the fault."""

_TAIL = re.compile(r"; nothing was \w+(?: that changes anything)?$")
_PLACE = re.compile(r"^(?:[\w ]*\{\}:\s|(?:carve|create) \w+: )+(?=.*\s)")


@cache
def _errors() -> frozenset[str]:
    classes = [node for path in trees() for node in nodes(path) if isinstance(node, ast.ClassDef)]
    found = {"ExacellError"}
    while more := {c.name for c in classes if found & {b.id for b in c.bases if isinstance(b, ast.Name)}} - found:
        found |= more
    return frozenset(found)


def _message(node: ast.expr) -> str | None:
    """Return the text of a message with ``{}`` or the name of what is put in; None where it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _put_in(ast.unparse(part)) for part in node.values
        )
    return None


def _put_in(text: str) -> str:
    passed_on = re.search(r"why_unreadable\(|error\.message|_said|\bsaid\b", text)
    return passed_on[0] if passed_on else "{}"


@cache
def _sites() -> tuple[tuple[str, str], ...]:
    """Return (place, message) of each error that is made with a text of its own and without a way out beside it."""
    errors = _errors() - set(NOT_FOR_PEOPLE)
    found = []
    for path in trees():
        for node in calls(path):
            if not isinstance(node.func, ast.Name) or node.func.id not in errors or not node.args:
                continue
            text = _message(node.args[0])
            if text and not {keyword.arg for keyword in node.keywords} & {"hint", "suggestions"}:
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", text))
    return tuple(found)


def without_way_out(message: str) -> bool:
    """Whether a message says what is wrong and nothing more."""
    return WAY.search(_PLACE.sub("", _TAIL.sub("", message))) is None


def test_every_error_says_the_rule_or_the_way_out() -> None:
    """No error leaves a reader with the fault alone: it has a hint, or its message tells the rule."""
    silent = [
        f"{place}: {text}"
        for place, text in _sites()
        if place.partition(":")[0] not in CAUGHT and without_way_out(text)
    ]
    assert not silent, "\n".join(silent)


def test_the_sites_are_found() -> None:
    """The sweep sees the places where errors are made, not an empty list."""
    assert len(_sites()) > 100 and {"RefusedError", "LockedError", "StoreError"} <= _errors()


@pytest.mark.parametrize("place", sorted(CAUGHT))
def test_an_exception_is_still_needed(place: str) -> None:
    """A module is excepted only as long as it has an error without a way out."""
    assert any(where.startswith(f"{place}:") and without_way_out(text) for where, text in _sites())


@pytest.mark.parametrize(
    ("message", "silent"),
    [
        ("the SQL is empty", True),
        ("{}: there is no such file", True),
        ("carve griddisk: {} and {} would both have a grid disk {}", True),
        ("not confirmed; nothing was sent", True),
        ("'{}' is not a duration: a number with ms, s, m, h or d, for example 90s or 1h30m", False),
        ("{}: why_unreadable(", False),
        ("a grid disk has at least 16M; nothing was sent", False),
    ],
)  # fmt: skip
def test_a_fault_alone_is_told_from_a_rule(message: str, silent: bool) -> None:
    """What the sweep takes for a way out is one."""
    assert without_way_out(message) is silent
