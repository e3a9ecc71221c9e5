"""What is named as the way out is one: typed as it was told, it leads where it says."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, NODES, MatrixRack
from matrix_run import prepared, state_of
from matrix_verbs import GROUPED, PMEM, VERBS

from exacell.emulator.storage.disk_groups import Operation

POWERLESS = "sql:alter system set asm_power_limit=0"


def test_pmem_that_left_write_back_gets_it_again(tmp_path: Path) -> None:
    """Undo of a mode change leaves PMEM write-through, and the statements that the plan names bring its mode back."""
    rack = MatrixRack(tmp_path / "rack", prepared((), PMEM))
    before, operator = state_of(rack), rack.operator()
    operator.must("set flashcache mode=writethrough -y")
    plan = next(e.body["plan"] for e in operator.services.journal.entries(rack="t1") if e.kind == "plan")
    told = [
        step["inverse"] for stage in plan["stages"] for step in stage["steps"] if "pmemCacheMode" in step["inverse"]
    ]
    ways = "drop pmemcache", "alter cell pmemCacheMode=writeback", "create pmemcache all"
    assert told and all(text.endswith("; {}, {} and {} change it".format(*ways)) for text in told)
    operator.must("undo -y")
    reasons = [line for line in operator.console.said if "not everything can be taken back" in line]
    assert f"on exa1cel[01-03]: {told[0]}" in [line[line.index("on exa1cel") :] for line in reasons]
    assert state_of(rack) != before
    for statement in ways:
        operator.must(f"{statement} -y")
    assert state_of(rack) == before and not operator.pending()


def test_disks_come_back_though_another_cell_has_failed(tmp_path: Path) -> None:
    """A cell that is offline while another one fails, so that its disk groups are dismounted, gets its disks back by undo as
    soon as the other one is there; until then undo says what is missing."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    before, operator = state_of(rack), rack.operator()
    operator.must("offline cell exa1cel01 -y")
    rack.raw(CELLS[2], "alter cell shutdown services cellsrv ignore redundancy")
    rack.pass_time(120)
    assert "UNKNOWN" in rack.raw(CELLS[0], "list griddisk attributes name, asmModeStatus")
    said = operator.do("undo -y")
    assert said.code == 1 and "ORA-15042" in said.text
    rack.raw(CELLS[2], "alter cell startup services cellsrv")
    rack.pass_time(120)
    operator = rack.operator()
    operator.must(f"{operator.pending()[0].mend} -y" if operator.pending() else "undo -y")
    rack.pass_time(600)
    assert state_of(rack) == before and not operator.pending()


def test_a_cell_that_was_left_offline_is_told_with_what_brings_it_back(tmp_path: Path) -> None:
    """The next start names the cell that was taken offline on purpose, and the statement that it names brings the cell back and
    ends that; so it does when somebody else brought the disks back, and so does a look at the cell's health."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    before = state_of(rack)
    rack.operator().must("offline cell exa1cel01 -y")
    operator = rack.operator()
    assert [(item.state, item.mend) for item in operator.pending()] == [("disks offline", "online cell exa1cel01")]
    operator.do("show health")
    operator.must(f"{operator.pending()[0].mend} -y")
    assert state_of(rack) == before and not operator.pending()
    for statement in ("online cell exa1cel01 -y", "show health"):
        operator.must("offline cell exa1cel01 -y")
        rack.raw(CELLS[0], "alter griddisk all active")
        rack.pass_time(600)
        assert operator.pending()
        operator.do(statement)
        assert not operator.pending(), statement


def test_a_shrink_that_waited_for_power_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shrink whose rebalance has no power is interrupted, `resume names what gives it power, and` continues it behind
    that, though another change was made since."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    rack.raw(NODES[0], POWERLESS)
    operator = rack.operator()
    wait = rack.pause

    def pause(event: threading.Event, seconds: float) -> bool:
        if not operator.session.interrupted.is_set():
            operator.session.interrupted.set()
        return wait(event, seconds)

    monkeypatch.setattr(rack, "pause", pause)
    assert operator.do("resize griddisk prefix=p size=3G -y").code == 4
    monkeypatch.setattr(rack, "pause", wait)
    operator = rack.operator()
    said = operator.do("resume -y")
    assert said.code == 2 and "is stopped (power 0)" in said.text
    assert "set rebalance power=4 diskgroup=PP`" in said.text
    operator.must("set rebalance power=4 diskgroup=PP -y")
    rack.pass_time(600)
    assert [(item.state, item.mend) for item in operator.pending()] == [("stopped", "resume 1")]
    operator.must("resume -y")
    sizes = {
        d.size_bytes for cell in rack.rack.cells.values() for n, d in cell.grid_disks.items() if n.startswith("p_")
    }
    assert sizes == {3 << 30} and not operator.pending()


def test_resume_follows_the_rebalance_that_its_own_change_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shrink that was interrupted while its rebalance runs is gone on with at once: resume waits for that rebalance, sends
    the shrink no second time, and shrinks the cells behind it; a second Ctrl-C at that wait leaves the same way out."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    wait, group = rack.pause, rack.rack.asm.groups["PP"]
    work = 600 * Operation.UNITS_PER_MINUTE

    def pause(event: threading.Event, seconds: float) -> bool:
        if group.operation is not None:
            group.operation.work = work  # Hours, with power 4.
        operator.session.interrupted.set()
        return wait(event, seconds)

    monkeypatch.setattr(rack, "pause", pause)
    assert operator.do("resize griddisk prefix=p size=3G -y").code == 4
    for newest in (1, 2):
        assert group.operation is not None and len(_shrinks(rack)) == 1
        operator = rack.operator()
        assert [(item.state, item.mend) for item in operator.pending()] == [("stopped", f"resume {newest}")]
        said = operator.do(f"resume {newest} -y")
        assert said.code == 4 and "interrupted while waiting; rebalance of PP runs with power 4" in said.text
        told = [line for line in operator.console.said if "end was not recorded" in line]
        assert all("not done" not in line for line in told)
    monkeypatch.setattr(rack, "pause", wait)
    operator = rack.operator()
    operator.must("resume -y")
    sizes = {
        d.size_bytes for cell in rack.rack.cells.values() for n, d in cell.grid_disks.items() if n.startswith("p_")
    }
    assert sizes == {3 << 30} and not operator.pending()
    assert group.operation is None and len(_shrinks(rack)) == 1


def _shrinks(rack: MatrixRack) -> list[str]:
    return [text for host, text in rack.sent if host in NODES and "RESIZE ALL" in text]


@pytest.mark.parametrize("statement", ["set flashcache mode=writethrough -y", "resize flashcache size=288g -y"])
def test_undo_ends_the_flush_of_what_was_not_dropped(statement: str, tmp_path: Path) -> None:
    """A change that was killed between its FLUSH and its DROP is taken back by one undo: it ends the flush and makes no cache
    again that is there."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    before = state_of(rack)
    operator = rack.operator(Mishap(Kind.KILL, Moment(Phase.INTENT, 2), how="after"))
    assert operator.do(statement).killed
    operator, sent = rack.operator(), len(rack.sent)
    operator.must("undo -y")
    changes = {text.rpartition("-e ")[2] for _, text in rack.sent[sent:] if "list" not in text.lower()}
    assert changes == {"ALTER FLASHCACHE ALL CANCEL FLUSH"}
    assert state_of(rack) == before and not operator.pending()


def test_disks_that_came_back_unseen_are_told_no_more(tmp_path: Path) -> None:
    """A change whose link went away while it waited for the disks is told as long as nobody has seen them; retry, which finds
    nothing to do on them, sees them ONLINE."""
    verb = next(verb for verb in VERBS if verb.name == "set flashcache mode, 11.2.3.2.1")
    rack = MatrixRack(tmp_path / "rack", prepared(verb.prepare, verb.rack))
    mishap = Mishap(Kind.LINK, Moment(Phase.SETTLE, 7, 2), lasting=True)
    operator = rack.operator(mishap)
    assert operator.do(verb.statement).code == 1 and mishap in operator.watch.struck
    rack.mend()
    operator = rack.operator()
    assert "disks offline" in [item.state for item in operator.pending()]
    rack.pass_time(600)
    operator.do("retry failed -n")
    assert "disks offline" in [item.state for item in operator.pending()]
    operator.must("retry failed -y")
    assert not operator.pending()
