"""How the newest change of a rack ended, and which cells did not answer, as @failed, @ok, @down and @up mean it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from exacell.core.config import RackConfig
from exacell.core.errors import CellSetError
from exacell.journal.record import Journal, Row
from exacell.plan.model import Gate, Plan, Stage, Step
from exacell.session.lastchange import last_change
from exacell.session.selection import Selection

CELLS = ("c1", "c2", "c3")


def stage(what: str, *targets: str, gate: Gate = Gate.EACH) -> Stage:
    return Stage(title=what, gate=gate, steps=tuple(Step(target=t, what=what, statement="X") for t in targets))


PLAN = Plan(
    statement="s",
    rack="t1",
    stages=(stage("a", *CELLS), stage("b", *CELLS), stage("mended", "c1", gate=Gate.MEND), stage("asm", "db1")),
)


def ended(target: str, what: str, state: str, *, mending: bool = False) -> Row:
    return Row(kind="outcome", target=target, body={"what": what, "state": state, "mending": mending})


def sent(target: str, what: str) -> Row:
    return Row(kind="intent", target=target, body={"what": what, "statement": "X"})


def both(*targets: str) -> list[Row]:
    """Rows of targets on which all is done."""
    return [ended(target, what, "done") for what in ("a", "b") for target in targets]


NODE = ended("db1", "asm", "done")
CASES: dict[str, tuple[list[Row], tuple[str, ...]]] = {
    "complete": ([*both(*CELLS), NODE], ()),
    "nothing was needed": ([*both("c1", "c2"), ended("c3", "a", "not needed"), ended("c3", "b", "done"), NODE], ()),
    "one failed": ([*both("c1", "c3"), ended("c2", "a", "failed"), NODE], ("c2",)),
    "one answer lost": ([*both("c1", "c3"), ended("c2", "a", "done"), ended("c2", "b", "unknown"), NODE], ("c2",)),
    "killed before the answer": ([*both("c1", "c2"), ended("c3", "a", "done"), sent("c3", "b"), NODE], ("c3",)),
    "never sent": ([ended("c1", "a", "done")], ("c1", "c2", "c3", "db1")),
    "failed and mended": (
        [*both("c2", "c3"), ended("c1", "a", "failed"), ended("c1", "mended", "done", mending=True), NODE],
        ("c1",),
    ),
    "found done later": ([*both("c1", "c2"), *both("c3"), sent("c3", "b"), ended("c3", "b", "done"), NODE], ()),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "failed"), CASES.values(), ids=list(CASES))
def test_a_target_failed_unless_all_of_the_newest_change_is_done_there(
    tmp_path: Path, rows: list[Row], failed: tuple[str, ...]
) -> None:
    """A target on which a step failed, is not known or was never sent is a failed one; each of the others is ok."""
    journal = Journal(tmp_path / "journal.db")
    journal.append("t1", journal.begin("t1", {"statement": "old", "plan": asdict(PLAN)}), both(*CELLS))
    journal.append("t1", journal.begin("t1", {"statement": "s", "plan": asdict(PLAN)}), rows)
    journal.append("t2", journal.begin("t2", {"statement": "other rack", "plan": asdict(PLAN)}), [])
    last = last_change(journal, "t1")
    assert last.statement == "s"
    assert last.failed == failed
    assert last.ok == tuple(name for name in (*CELLS, "db1") if name not in failed)


def test_opaque_work_is_a_change_too(tmp_path: Path) -> None:
    """What exacell could not read has no plan: its targets are those of its intents."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "sh x", "opaque": ["x"]})
    rows = [sent(cell, "sh") for cell in CELLS]
    journal.append("t1", change, [*rows, ended("c1", "sh", "done"), ended("c2", "sh", "failed")])
    last = last_change(journal, "t1")
    assert (last.ok, last.failed) == (("c1",), ("c2", "c3"))


def test_a_rack_without_changes_has_none(tmp_path: Path) -> None:
    """Without a change nothing is ok and nothing failed."""
    last = last_change(Journal(tmp_path / "journal.db"), "t1")
    assert (last.statement, last.ok, last.failed) == ("", (), ())


def test_failed_cells_are_those_of_the_change_and_those_that_are_down() -> None:
    """@failed and @ok are the change's, without its database nodes and with the cells that did not answer moved over."""
    rack = RackConfig(name="t1", cells=CELLS)
    selection = Selection(rack, changed=lambda: {"failed": ("c2", "db1"), "ok": ("c1", "c3")})
    selection.remember(CELLS, ["c3"])
    assert {name: ",".join(selection.resolve(f"@{name}")) for name in ("failed", "ok", "down", "up")} == {
        "failed": "c2,c3",
        "ok": "c1",
        "down": "c3",
        "up": "c1,c2",
    }
    with selection.on("@failed"):
        selection.remember(selection.now, [])
    assert list(selection.resolve("@failed")) == ["c2"], "a reading leaves alone what the change left"
    assert list(selection.resolve("@up")) == list(CELLS)


def test_what_is_known_of_a_cell_holds_until_it_is_asked_again() -> None:
    """A reading of other cells forgets nothing; without a change @ok are the cells that are up."""
    selection = Selection(RackConfig(name="t1", cells=CELLS))
    selection.remember(CELLS, ["c3"])
    selection.remember(["c1"], [])
    assert list(selection.resolve("@failed")) == ["c3"]
    assert list(selection.use("not @failed")) == list(selection.resolve("@ok")) == ["c1", "c2"]
    selection.remember(["c3"], [])
    assert list(selection.resolve("@ok")) == list(CELLS)


@pytest.mark.parametrize(
    ("text", "hint"), [("@failed", "journal"), ("@ok", "journal"), ("@down", "last answer"), ("c1!c1", "")]
)
def test_on_nothing_is_refused_with_the_reason(text: str, hint: str) -> None:
    """ON with a set that is empty now says which, and why where that is known; nothing goes to all cells instead."""
    nowhere = {"failed": CELLS, "ok": ()} if text == "@ok" else {}
    selection = Selection(RackConfig(name="t1", cells=CELLS), changed=lambda: nowhere)
    with pytest.raises(CellSetError, match="no cell matches now") as refused, selection.on(text):
        pass
    assert hint in (refused.value.hint or "")
    assert list(selection.now) == list(CELLS)
