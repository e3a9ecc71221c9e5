"""What somebody means anew is not taken back by the clock of an earlier change, though it looks as that one left it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from exacell.change.guardian import refuse_overtaken
from exacell.core.errors import MovedError
from exacell.journal.actor import actor
from exacell.journal.record import Journal, Row
from exacell.plan.model import Check, Plan, Stage, Step, as_data

PLAN_OF = (Check(object="iormplan", attribute="dbPlan", value="p"),)
OBJECTIVE = (Check(object="iormplan", attribute="objective", value="auto"),)
STATUS = (Check(object="flashcache", attribute="status", value="normal"),)


def made(
    journal: Journal,
    checks: Sequence[Check],
    *,
    target: str = "c1",
    state: str = "done",
    asm: str = "",
    statement: str = "ALTER",
    **body: object,
) -> int:
    """Journal one change that proves what it did."""
    step = Step(target=target, statement=statement, what="w", proves=tuple(checks), asm=asm)
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=(step,)),))
    change = journal.begin("t1", {"statement": f"alter {target}", **actor(), **body, "plan": as_data(plan)})
    rows = [Row(kind=kind, target=target, body={"what": "w", "state": state}) for kind in ("intent", "outcome")]
    journal.append("t1", change, [*rows, Row(kind="end", body={"exitCode": 0})])
    return change


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal with change 1, which waits, and set the IORM plan and the cache's status of c1."""
    found = Journal(tmp_path / "journal.db")
    assert made(found, (*PLAN_OF, *STATUS)) == 1
    return found


def overtaken(journal: Journal, *changes: int) -> str:
    """Return what refuses to take the changes back; empty when nothing does."""
    try:
        refuse_overtaken(journal, "t1", changes or (1,))
    except MovedError as error:
        return error.message
    return ""


def test_a_later_change_of_the_same_thing_stands(journal: Journal) -> None:
    """It should name the newer change, who made it and what it set; until there is one nothing is in the way."""
    assert overtaken(journal) == ""
    made(journal, PLAN_OF, sudoUser="bob")
    said = "change 2 (alter c1) of bob has set iormplan dbPlan of c1 after change 1; nothing was sent"
    assert overtaken(journal) == said


def test_who_made_it_is_who_he_was_without_sudo(journal: Journal) -> None:
    """Where nobody became another user, the user is named."""
    made(journal, PLAN_OF, sudoUser="", user="carol")
    assert "of carol has set" in overtaken(journal)


NOTHING: dict[str, dict[str, object]] = {
    "another attribute": {"checks": OBJECTIVE},
    "a status, which a flush leaves as it was": {"checks": STATUS},
    "another cell": {"checks": PLAN_OF, "target": "c2"},
    "an ASM cluster of that name's node": {"checks": PLAN_OF, "asm": "main"},
    "one that failed": {"checks": PLAN_OF, "state": "failed"},
    "a step that sends nothing": {"checks": PLAN_OF, "statement": ""},
    "one that went on with it": {"checks": PLAN_OF, "finishes": 1},
    "one that took it back": {"checks": PLAN_OF, "origin": "undo 1"},
}


@pytest.mark.parametrize("why", NOTHING)
def test_what_is_not_in_the_way(journal: Journal, why: str) -> None:
    """Only a change that was done, and set the same attribute of the same object there, stands in the way."""
    made(journal, **NOTHING[why])  # type: ignore[arg-type]  # by name, each of its own type
    assert overtaken(journal) == ""


def test_a_change_that_was_taken_back_is_none(journal: Journal) -> None:
    """What was done and undone since leaves what the waiting change left; so does what went on with it."""
    made(journal, PLAN_OF)
    made(journal, PLAN_OF, finishes=2)
    assert "change 2" in overtaken(journal)
    made(journal, PLAN_OF, origin="undo 2")
    journal.append("t1", 2, [Row(kind="undone", body=actor())])
    assert overtaken(journal) == ""
    made(journal, PLAN_OF)
    assert "change 5" in overtaken(journal)


def test_a_run_is_taken_back_as_a_whole(journal: Journal) -> None:
    """The changes of a run do not stand in each other's way; one behind the run, or between its changes, does."""
    made(journal, PLAN_OF)
    assert overtaken(journal, 1, 2) == ""
    between = made(journal, PLAN_OF)
    made(journal, PLAN_OF)
    assert f"change {between} " in overtaken(journal, 1, 2, 4)


def test_older_changes_and_other_racks_are_no_matter(tmp_path: Path) -> None:
    """What was there before, what another rack got, and a change without a plan, stand in nobody's way."""
    journal = Journal(tmp_path / "journal.db")
    made(journal, PLAN_OF)
    mine = made(journal, PLAN_OF)
    journal.begin("t1", {"statement": "dcli x", **actor()})
    journal.begin("t2", {"statement": "x", **actor(), "plan": {"stages": []}})
    assert overtaken(journal, mine) == ""


def test_an_asm_cluster_is_one_whole(tmp_path: Path) -> None:
    """What one node was told of the cluster's ASM, another node is told of the same."""
    journal = Journal(tmp_path / "journal.db")
    check = (Check(object="asm.diskgroup", attribute="state", value="MOUNTED"),)
    made(journal, check, target="db1", asm="main")
    made(journal, check, target="db2", asm="main")
    assert "asm.diskgroup state of main" in overtaken(journal)
