"""Which caches keep resume from ending well: those that something broken off left off, and none that was dropped on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.change.pending import still_off
from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row
from exacell.plan.model import Plan, Stage, Step, as_data

OFF, ON = ("drop", "DROP FLASHCACHE", True), ("create", "CREATE FLASHCACHE ALL", False)
FLUSH, CANCEL = ("flush", "ALTER FLASHCACHE ALL FLUSH", True), ("cancel", "ALTER FLASHCACHE ALL CANCEL FLUSH", False)
CELLS = ("c1", "c2")
What = tuple[str, str, bool]


def begun(journal: Journal, statement: str, *steps: What, cells: tuple[str, ...] = CELLS, run: str = "") -> int:
    """Journal the plan of a change that does so much on each cell."""
    stages = tuple(
        Stage(
            title=what,
            key=what,
            steps=tuple(
                Step(target=cell, statement=text, what=what, caching_off=off, caching_on=not off) for cell in cells
            ),
        )
        for what, text, off in steps
    )
    plan = as_data(Plan(statement=statement, rack="t1", stages=stages))
    return journal.begin("t1", {"statement": statement, "plan": plan, **({"run": run} if run else {}), **actor()})


def did(journal: Journal, change: int, cell: str, step: What, state: str = "done") -> None:
    """Journal a step of a change, and how it ended; an empty state leaves that open."""
    what, text, off = step
    body = {"what": what, ("cachingOff" if off else "cachingOn"): True}
    journal.append("t1", change, [Row(kind="intent", target=cell, body={**body, "statement": text})])
    if state:
        journal.append("t1", change, [Row(kind="outcome", target=cell, body={**body, "state": state})])


def ended(journal: Journal, change: int, code: int) -> None:
    journal.append("t1", change, [Row(kind="end", body={"exitCode": code, "done": {}})])


ONE_CHANGE: list[tuple[str, list[What], list[tuple[str, What, str]], str]] = [
    # What it was, its plan, what was done on which cell, and the cells of which resume tells.
    ("dropped on purpose", [OFF], [("c1", OFF, "done"), ("c2", OFF, "done")], ""),
    ("flushed on purpose", [FLUSH], [("c1", FLUSH, "done"), ("c2", FLUSH, "done")], ""),
    ("dropped on one, refused on the other", [OFF], [("c1", OFF, "done"), ("c2", OFF, "failed")], "c2"),
    ("a drop without an answer", [OFF], [("c1", OFF, "done"), ("c2", OFF, "")], "c2"),
    ("a drop whose end is not known", [OFF], [("c1", OFF, "unknown"), ("c2", OFF, "done")], "c1"),
    (
        "a resize that was cut in the drop",
        [FLUSH, OFF, ON],
        [("c1", FLUSH, "done"), ("c1", OFF, "done"), ("c1", ON, "done"), ("c2", FLUSH, "done"), ("c2", OFF, "unknown")],
        "c2",
    ),
    ("a resize that was killed behind the drop", [OFF, ON], [("c1", OFF, "done"), ("c2", OFF, "done")], "c[1-2]"),
    (
        "a resize whose create was refused",
        [OFF, ON],
        [("c1", OFF, "done"), ("c1", ON, "failed"), ("c2", OFF, "done"), ("c2", ON, "done")],
        "c1",
    ),
    ("a flush that was left under way", [FLUSH, CANCEL], [("c1", FLUSH, "done"), ("c2", FLUSH, "")], "c1 c2"),
    ("all is back", [OFF, ON], [(cell, step, "done") for cell in CELLS for step in (OFF, ON)], ""),
    ("nothing was sent", [OFF, ON], [], ""),
]


@pytest.mark.parametrize(
    ("plan", "rows", "told"), [case[1:] for case in ONE_CHANGE], ids=[case[0] for case in ONE_CHANGE]
)
@pytest.mark.parametrize("code", [0, None])
def test_what_was_to_end_without_a_cache_and_did_is_no_matter_of_resume(
    plan: list[What], rows: list[tuple[str, What, str]], told: str, code: int | None, tmp_path: Path
) -> None:
    """Each cell that a change left off without having come to its end there is told, and no other, however the change ended
    (None: it was abandoned)."""
    journal = Journal(tmp_path / "journal.db")
    change = begun(journal, "s", *plan)
    for cell, step, state in rows:
        did(journal, change, cell, step, state)
    if code is not None:
        ended(journal, change, code)
    else:
        journal.append("t1", change, [Row(kind="end", body={"exitCode": 130, "done": {"abandoned": 1}})])
    lines = still_off(journal, "t1", lambda _: False)
    assert " ".join(sorted(line.split()[0] for line in lines)) == told


@pytest.mark.parametrize(
    ("state", "told"),
    [("done", False), ("failed", True), ("unknown", True), ("", True), ("refused", True), (None, True)],
)
@pytest.mark.parametrize("statement", ["create flashcache all", "undo of it"])
def test_what_was_to_bring_it_back_and_did_not_is(
    statement: str, state: str | None, told: bool, tmp_path: Path
) -> None:
    """A cache that was dropped on purpose is told when a later change was to make it again and did not, and ``retry failed`` is
    named, which repeats that; None: it was killed before it sent anything."""
    journal = Journal(tmp_path / "journal.db")
    first = begun(journal, "drop flashcache", OFF)
    for cell in CELLS:
        did(journal, first, cell, OFF)
    ended(journal, first, 0)
    later = begun(journal, statement, ON, cells=("c2",))
    if state is not None:
        did(journal, later, "c2", ON, state)
    ended(journal, later, int(told))
    lines = still_off(journal, "t1", lambda _: False)
    assert [line.split()[0] for line in lines] == (["c2"] if told else [])
    assert all("`retry failed` continues it" in line for line in lines)


@pytest.mark.parametrize("broken_off", [True, False])
def test_a_run_that_was_broken_off_behind_its_drop_left_it_off(broken_off: bool, tmp_path: Path) -> None:
    """A line of a recipe that drops a cache is on purpose when its run came well to its end, and not when it was broken off."""
    journal = Journal(tmp_path / "journal.db")
    change = begun(journal, "drop flashcache", OFF, run="r1")
    for cell in CELLS:
        did(journal, change, cell, OFF)
    ended(journal, change, 0)
    assert bool(still_off(journal, "t1", {"r1": broken_off}.__getitem__)) is broken_off
