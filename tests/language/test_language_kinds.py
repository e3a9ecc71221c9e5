"""From a word to the value that a parameter's kind asks for."""

from __future__ import annotations

import pytest

from exacell.core.errors import StatementError
from exacell.language.kinds import convert
from exacell.language.line import parse_line
from exacell.language.registry import Kind, NamesOf, Param, Value
from exacell.measure.importers.kinds import KINDS
from tests.support.every import every


def param(kind: Kind, *, choices: tuple[str, ...] = (), words: tuple[str, ...] = ()) -> Param:
    return Param(name="x", kind=kind, help="a value", choices=choices, words=words)


@every(
    [
        (Kind.SIZE, "288g", 309237645312),
        (Kind.INT, "12", 12),
        (Kind.NUMBER, "1.5", 1.5),
        (Kind.DURATION, "1m30s", 90.0),
        (Kind.BOOL, "YES", True),
        (Kind.BOOL, "off", False),
        (Kind.BOOL, "0", False),
        (Kind.CELLSET, "exa1cel[01-03]!exa1cel02", "exa1cel[01-03]!exa1cel02"),
        (Kind.CELLSET, "@up", "@up"),
        (Kind.NAMES, "a, b,,c", ("a", "b", "c")),
        (Kind.NAME, "DATA_SSD", "DATA_SSD"),
        (Kind.DB, "SPOT.world-1", "SPOT.world-1"),
        (Kind.TEXT, "", ""),
        (Kind.TEXT, "any thing $ <", "any thing $ <"),
        (Kind.FILE, "/tmp/a b", "/tmp/a b"),
    ]
)
def test_convert(kind: Kind, text: str, value: Value) -> None:
    """A value of the right kind is converted: bytes, seconds, numbers, tuples."""
    assert convert(param(kind), text, 0, len(text)) == value


@every(
    [
        (Kind.SIZE, "0", "above 0"),
        (Kind.SIZE, "big", "is not a size"),
        (Kind.SIZE, "", "missing"),
        (Kind.INT, "-1", "whole number"),
        (Kind.INT, "1.0", "whole number"),
        (Kind.INT, "٣", "whole number"),
        (Kind.NUMBER, "x", "not a number"),
        (Kind.DURATION, "soon", "not a duration"),
        (Kind.BOOL, "maybe", "must be yes or no"),
        (Kind.CELLSET, "a b", "not a cell name"),
        (Kind.NAME, "a b", "not a name"),
        (Kind.NAME, "-y", "not a name"),
        (Kind.PREFIX, "a;b", "not a name"),
        (Kind.DB, "a'b", "not a name"),
        (Kind.RACK, "", "missing"),
    ]
)
def test_refused(kind: Kind, text: str, said: str) -> None:
    """A value of another kind is refused with the parameter's name and the place that was passed in."""
    with pytest.raises(StatementError, match=said) as caught:
        convert(param(kind), text, 3, 9)
    assert caught.value.message.startswith("x: ")
    assert (caught.value.start, caught.value.end) == (3, 9)


def test_choice_ignores_case_and_suggests() -> None:
    """A choice is taken in any case and given back as declared; a near miss suggests it."""
    choice = param(Kind.CHOICE, choices=("normal", "high"))
    assert convert(choice, "NORMAL", 0, 6) == "normal"
    with pytest.raises(StatementError, match="not one of normal, high") as caught:
        convert(choice, "norml", 0, 5)
    assert caught.value.suggestions == ("normal",)


def test_extra_words_come_first() -> None:
    """A parameter's own words are taken as they are declared, and an error names them beside the kind."""
    size = param(Kind.SIZE, words=("keep",))
    assert convert(size, "KEEP", 0, 4) == "keep"
    assert convert(size, "1g", 0, 2) == 1 << 30
    with pytest.raises(StatementError, match=r"\(or keep\)"):
        convert(size, "kep", 0, 3)


def test_a_table_of_names_is_read_when_a_name_is_needed() -> None:
    """A declaration that takes its words from a table elsewhere does not import that table; then it has all of its names."""
    NamesOf("exacell.no_such_module:TABLE")
    names = NamesOf("exacell.measure.importers.kinds:KINDS")
    assert (list(names), len(names), names[0], names[1:]) == ([*KINDS], len(KINDS), next(iter(KINDS)), tuple(KINDS)[1:])


@every(KINDS)
def test_each_importer_can_be_named(kind: str) -> None:
    """An importer that is registered is a word of import kind=."""
    line = parse_line(f"import kind={kind} x.txt")
    assert line is not None and line.call is not None and line.call.args["kind"] == kind
