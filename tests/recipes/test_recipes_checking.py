"""Facts that a recipe requires, judged by what cells answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from exacell.context import Context
from exacell.errors import StatementError
from exacell.recipes.checking import failures

CACHES: dict[str, list[dict[str, Any]]] = {
    "c1": [{"name": "c1_FLASHCACHE", "status": "normal", "size": 288 << 30}],
    "c2": [{"name": "c2_FLASHCACHE", "status": "normal", "size": 288 << 30}],
    "c3": [{"name": "c3_FLASHCACHE", "status": "warning", "size": 144 << 30}],
}
DISKS: dict[str, list[dict[str, Any]]] = {
    "c1": [{"name": "DATA_c1", "asmModeStatus": "ONLINE"}],
    "c2": [{"name": "DATA_c2", "asmModeStatus": "OFFLINE"}, {"name": "RECO_c2", "asmModeStatus": "ONLINE"}],
}


def judged(
    text: str, rows: dict[str, list[dict[str, Any]]], *, silent: tuple[str, ...] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """Return what does not hold on cells that list these rows, and the statements that were asked."""
    asked: list[str] = []

    def query(statement: str) -> SimpleNamespace:
        asked.append(statement)
        good = {cell: SimpleNamespace(tables=[found]) for cell, found in rows.items()}
        return SimpleNamespace(good=good, problems=[f"{cell}: no answer" for cell in silent])

    ctx = cast(Context, SimpleNamespace(query=query))
    return failures(ctx, text, example="all flashcache.status = normal"), asked


@pytest.mark.parametrize(
    ("text", "rows", "faulty"),
    [
        ("all flashcache.status = normal", CACHES, ["c3"]),
        ("ALL flashcache.size >= 144G", CACHES, []),
        ("all flashcache.size > 144G", CACHES, ["c3"]),
        ("no griddisk where asmModeStatus=OFFLINE", DISKS, ["c2"]),
        ("no griddisk where asmModeStatus=OFFLINE and name=RECO_c2", DISKS, []),
        ("all griddisk.asmModeStatus = ONLINE where name=RECO_c2", {"c2": DISKS["c2"]}, []),
    ],
)
def test_what_does_not_hold_is_told_with_its_cells(
    text: str, rows: dict[str, list[dict[str, Any]]], faulty: list[str]
) -> None:
    """Each reason names the cells on which the fact does not hold, and nothing is said where it holds on all."""
    found, _ = judged(text, rows)
    assert [cell for cells in found.values() for cell in cells] == faulty


def test_same_names_who_has_what() -> None:
    """Cells that differ in an attribute are told with their values, attribute by attribute; names of cells do not count."""
    found, asked = judged("same flashcache.size, flashcache.name", CACHES)
    assert list(found) == [f"flashcache.size differs: c[1-2] has {288 << 30}; c3 has {144 << 30}"]
    assert asked == ["list flashcache attributes name, size", "list flashcache attributes name"]


def test_a_cell_that_gives_no_answer_fails_the_check() -> None:
    """A check that could not be made on a cell does not hold."""
    found, _ = judged("all flashcache.status = normal", {"c1": CACHES["c1"]}, silent=("c9",))
    assert found == {"c9: no answer": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("most flashcache.status = normal", "is not a check, such as: all flashcache.status = normal"),
        ("all flashcache.status", "is not a fact"),
        ("same flashcache.status = normal", "is not a fact"),
        ("all flashcache.color = red", "color is not an attribute of FLASHCACHE"),
        ("all coffee.status = hot", "'coffee' is not an object that LIST knows"),
        ("no coffee", "'coffee' is not an object that LIST knows"),
        ("no griddisk where OFFLINE", "'OFFLINE' is not a condition of a check"),
        ("all flashcache.size = big", "big"),
    ],
)
def test_what_is_no_check_is_an_error_that_names_the_word(text: str, said: str) -> None:
    """A check that is misspelt is refused with the word that is wrong, before any cell is asked."""
    with pytest.raises(StatementError) as caught:
        judged(text, CACHES)
    assert said in caught.value.message
