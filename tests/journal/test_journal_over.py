"""A change that never ended is told until the change that it belongs to was taken back behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.core.errors import JournalError
from exacell.journal.record import Journal, Row

UNDONE, OTHER = Row(kind="undone", body={}), Row(kind="outcome", target="c1", body={"what": "w", "state": "done"})
END = Row(kind="end", body={"exitCode": 1})
CASES: dict[str, tuple[dict[str, object], list[Row], list[Row], bool]] = {
    "what went on with it": ({"finishes": 1, "origin": "resume 1"}, [], [UNDONE], False),
    "what retried it": ({"finishes": 1, "origin": "retry 3"}, [], [UNDONE], False),
    "what took it back": ({"origin": "undo 1"}, [], [UNDONE], False),
    "what took it back, and it is not taken back": ({"origin": "undo 1"}, [], [OTHER, END], True),
    "what went on with it, and it is not taken back": ({"finishes": 1, "origin": "resume 1"}, [], [OTHER, END], True),
    "begun when it was taken back already": ({"origin": "undo 1"}, [UNDONE], [OTHER], True),
    "a change of its own": ({}, [], [UNDONE], True),
    "a recipe named undo": ({"origin": "undo"}, [], [UNDONE], True),
    "a recipe named undo all": ({"origin": "undo all"}, [], [UNDONE], True),
    "a recipe named undo ²": ({"origin": "undo ²"}, [], [UNDONE], True),
    "a recipe with a number": ({"origin": "step 1"}, [], [UNDONE], True),
    "what took another one back": ({"origin": "undo 3"}, [], [UNDONE], True),
    "what went on with another one": ({"finishes": 3, "origin": "retry 1"}, [], [UNDONE], True),
}


@pytest.mark.parametrize(("body", "before", "behind", "told"), CASES.values(), ids=list(CASES))
def test_what_belongs_to_a_change_that_was_taken_back_is_over(
    tmp_path: Path, body: dict[str, object], before: list[Row], behind: list[Row], told: bool
) -> None:
    """What went on with a change, or took it back, and never ended is unfinished until that change is taken back; any other
    stays so."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "first"}), [OTHER, END, *before])
    journal.begin("t1", {"statement": "second", **body})
    assert [row.change for row in journal.unfinished("t1")] == [2]
    journal.append("t1", 1, behind)
    assert [row.change for row in journal.unfinished("t1")] == ([2] if told else [])


def test_a_row_that_holds_no_object_is_called_so(tmp_path: Path) -> None:
    """A row with a right hash whose body is JSON of another kind is refused with the reason, for eyes it is damaged."""
    journal = Journal(tmp_path / "journal.db")
    journal.begin("t1", ["a", "list"])  # type: ignore[arg-type]  # what exacell never writes
    with pytest.raises(JournalError, match=r"row 1 can't be read \(it is not an object\)"):
        journal.entries()
    assert [row.body for row in journal.all_entries()] == [{"damaged": '["a","list"]'}]
