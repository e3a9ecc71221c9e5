"""The engine's policy: read-only, a failing journal, exit codes; and disk groups over two instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_desk import Desk
from engine_fakes import (
    CELLS,
    DONE,
    FAILED,
    NODES,
    NOT_NEEDED,
    NOT_SENT,
    REFUSED,
    UNKNOWN,
    Bench,
    lost,
    on,
    outcomes,
    said,
)
from flash_plans import CANCEL, FLUSH, NEW, resize

from exacell.cellcli.iorm import DirectiveName
from exacell.change.changing import carry_out
from exacell.change.running import Outcome, Report, StepResult
from exacell.core.errors import ExitCode, JournalError, RefusedError
from exacell.core.units import GIB, MIB
from exacell.journal.record import Journal, Row
from exacell.plan.asmspace import Keeping
from exacell.plan.facts import GridDisk
from exacell.plan.model import Check, Op, Plan, Planned, Stage, Step
from exacell.plan.planners.carve import Carving, carve_plan
from exacell.plan.planners.diskgroup import Wanted, create_plan, drop_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.planners.iorm import flashlog_plan
from exacell.transport.base import FleetResult, Reply, Request, State
from tests.support.forging import forging


def flush(bench: Bench) -> Plan:
    return flush_plan("t1", bench.facts(), recreate=False, statement="flush flashcache")


# -- read-only and the journal ---------------------------------------------------------------------------------------


def test_read_only_refuses_before_anything(bench: Bench) -> None:
    """A read-only transport refuses the plan before the journal is touched or anything is sent."""
    plan = flush(bench)
    bench.transport.read_only = True
    with pytest.raises(RefusedError, match="read-only"):
        bench.run(plan)
    assert bench.transport.sent == []
    assert bench.rows() == []


@pytest.mark.parametrize("damage", ["garbage", "cut", "missing head", "edited"])
def test_nobody_is_asked_when_the_journal_is_damaged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """A damaged journal refuses a plan before anybody is asked to confirm it, and an undamaged one grows by no row for that."""
    journal = bench.journal
    journal.begin("t1", {"statement": "earlier"})
    journal.refuse_damaged()
    assert [row.kind for row in bench.rows()] == ["plan"]
    if damage == "garbage":
        journal.path.write_text("no journal")
    elif damage == "cut":
        with forging(journal.path) as connection:
            connection.execute("delete from entry")
    elif damage == "missing head":
        journal.head_path.unlink()
    else:
        with forging(journal.path) as connection:
            connection.execute("update entry set at = 'now'")
    monkeypatch.setattr(bench.console, "confirm", lambda question: pytest.fail("somebody was asked"))
    desk = Desk(bench)
    with pytest.raises(JournalError, match="journal"):
        carry_out(desk.session, desk, desk.request, Planned(flush(bench)), {"yes": True})
    assert bench.transport.sent == []


def test_a_journal_that_is_not_there_yet_is_not_made_by_looking(tmp_path: Path) -> None:
    """Whether a plan could be recorded leaves no file behind where there was none."""
    Journal(tmp_path / "journal.db").refuse_damaged()
    assert list(tmp_path.iterdir()) == []


class BrokenJournal(Journal):
    """A journal that fails from its n-th turn on."""

    def __init__(self, path: Path, turns: int) -> None:
        super().__init__(path)
        self._turns = turns

    def _count(self) -> None:
        self._turns -= 1
        if self._turns < 0:
            raise JournalError("the disk is full")

    def begin(self, rack: str, body: Mapping[str, Any]) -> int:
        """Fail when its turn has come."""
        self._count()
        return super().begin(rack, body)

    def append(self, rack: str, change: int, rows: Iterable[Row]) -> None:
        """Fail when its turn has come."""
        self._count()
        super().append(rack, change, rows)


@pytest.mark.parametrize(
    ("turns", "sent"),
    [
        (0, []),
        (1, []),
        (2, ["ALTER FLASHCACHE ALL FLUSH NOWAIT"]),
        (3, ["ALTER FLASHCACHE ALL FLUSH NOWAIT"]),
    ],
)
def test_a_journal_that_fails_stops_writes(tmp_path: Path, turns: int, sent: list[str]) -> None:
    """Nothing is sent whose intent could not be written, and nothing more after an outcome that could not be."""
    bench = Bench(tmp_path, journal=BrokenJournal(tmp_path / "journal.db", turns))
    plan = flush(bench)
    with pytest.raises(JournalError, match="the disk is full") as caught:
        bench.run(plan)
    assert caught.value.exit_code is (ExitCode.INTERRUPTED if turns else ExitCode.NOT_EXECUTED)
    assert not turns or (
        caught.value.message
        == "change 1 (flush flashcache) stopped halfway: the disk is full; no more statements are sent"
        and "then `resume 1` continues it" in caught.value.hint
    )
    for cell in CELLS:
        assert bench.transport.statements(cell) == sent


def test_a_journal_that_is_a_directory_stops_writes(tmp_path: Path) -> None:
    """A journal that can't be opened stops the plan before anything is sent; reads still work."""
    (tmp_path / "journal.db").mkdir()
    bench = Bench(tmp_path)
    plan = flush(bench)
    with pytest.raises(JournalError, match="can't be written"):
        bench.run(plan)
    assert bench.transport.sent == []


# -- exit codes ------------------------------------------------------------------------------------------------------


def result(outcome: Outcome, *, mending: bool = False) -> StepResult:
    return StepResult(step=Step(target="a", what="x"), outcome=outcome, mending=mending)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], ExitCode.DONE),
        ([result(Outcome.DONE), result(Outcome.NOT_NEEDED)], ExitCode.DONE),
        ([result(Outcome.REFUSED)], ExitCode.NOT_EXECUTED),
        ([result(Outcome.REFUSED), result(Outcome.NOT_SENT)], ExitCode.NOT_EXECUTED),
        ([result(Outcome.REFUSED), result(Outcome.NOT_NEEDED)], ExitCode.NOT_EXECUTED),
        ([result(Outcome.REFUSED), result(Outcome.DONE)], ExitCode.FAILED),
        ([result(Outcome.FAILED)], ExitCode.FAILED),
        ([result(Outcome.UNKNOWN)], ExitCode.FAILED),
        ([result(Outcome.DONE), result(Outcome.NOT_SENT)], ExitCode.FAILED),
        ([result(Outcome.DONE), result(Outcome.NOT_NEEDED, mending=True)], ExitCode.DONE),
        ([result(Outcome.DONE), result(Outcome.FAILED, mending=True)], ExitCode.FAILED),
    ],
)
def test_exit_code(results: list[StepResult], code: ExitCode) -> None:
    """Done when every step is good, not executed when nothing was sent, else failed; interruption wins."""
    assert Report(change=1, results=results).exit_code is code
    assert Report(change=1, results=results, interrupted=True).exit_code is ExitCode.INTERRUPTED


# -- other plans on cells --------------------------------------------------------------------------------------------


def test_iorm_is_compared_by_what_it_means(bench: Bench) -> None:
    """A plan that the cell prints with other blanks is the plan that was sent; one that moved is refused."""
    plan = flashlog_plan(
        "t1", _with_database(bench), wanted=DirectiveName(name="SPOT"), on=False, statement="disable flashlog db=SPOT"
    )
    bench.transport.cells[CELLS[0]].tables["iormplan"][0]["dbPlan"] = "name=SPOT, share=8"
    bench.transport.cells[CELLS[1]].tables["iormplan"][0]["dbPlan"] = "((name=SPOT,share=9))"
    report = bench.run(plan)
    assert outcomes(report) == {CELLS[0]: [DONE], CELLS[1]: [REFUSED], CELLS[2]: [DONE]}
    assert "the plan has changed in the meantime" in report.failures[0].reason
    assert bench.pauses == 0, "what is there at once is not waited for"
    assert bench.transport.cells[CELLS[1]].tables["iormplan"][0]["dbPlan"] == "((name=SPOT,share=9))"


def _with_database(bench: Bench) -> dict[str, Any]:
    return {cell: replace(fact, databases=("SPOT",)) for cell, fact in bench.facts().items()}


def test_part_of_the_objects_made(bench: Bench) -> None:
    """A cell that made one grid disk of two and then failed is a failure, with its own words."""
    plan = carve_plan(
        "t1",
        bench.facts(),
        Carving(prefix="ssd", media="flash", each=16 * MIB, keeping=Keeping(redundancy="normal")),
        statement="carve griddisk",
    )
    text = "GridDisk ssd_FD_00 successfully created\nCELL-02552: no space for ssd_FD_01\n"
    bench.transport.script = on(CELLS[2], "CREATE", lambda cell: said(cell, text))
    report = bench.run(plan)
    assert outcomes(report) == {CELLS[0]: [DONE], CELLS[1]: [DONE], CELLS[2]: [FAILED]}
    assert report.failures[0].reason == "CELL-02552: no space for ssd_FD_01"
    assert bench.run(plan).exit_code is ExitCode.FAILED, "the names are taken now"


def test_step_without_a_statement_only_proves(bench: Bench) -> None:
    """A step that sends nothing is done when what it wants to see is there."""
    check = Check(object="flashcache", attribute="status", value="normal")
    step = Step(target=CELLS[0], what="look", proves=(check,))
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="look", steps=(step,)),))
    assert outcomes(bench.run(plan)) == {CELLS[0]: [DONE]}
    wrong = replace(step, proves=(Check(object="flashcache", op=Op.ABSENT),))
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="look", steps=(wrong,)),))
    assert outcomes(bench.run(plan)) == {CELLS[0]: [FAILED]}
    assert bench.transport.sent == []


def test_lost_answer_without_a_proof_is_unknown(bench: Bench) -> None:
    """A statement that nothing is read back for is unknown when its answer is lost, and done when it says nothing bad."""
    step = Step(target=CELLS[0], what="cancel", statement="ALTER FLASHCACHE ALL CANCEL FLUSH")
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="s", steps=(step,)),))
    assert outcomes(bench.run(plan)) == {CELLS[0]: [DONE]}
    bench.transport.script = on(CELLS[0], "ALTER", lost)
    assert outcomes(bench.run(plan)) == {CELLS[0]: [UNKNOWN]}


# -- ASM -------------------------------------------------------------------------------------------------------------

NODE_INSTANCES = {NODES[0]: "1", NODES[1]: "2"}


def grids(bench: Bench) -> dict[str, tuple[GridDisk, ...]]:
    disks = {cell: f"ssd_FD_00_{cell}" for cell in CELLS}
    bench.transport.asm.headers |= dict.fromkeys(disks.values(), "CANDIDATE")
    return {
        cell: (
            GridDisk(
                name=name,
                cell_disk=f"FD_00_{cell}",
                flash=True,
                size=512 * MIB,
                status="active",
                available_to="",
                caching_policy="",
                asm_group="",
                asm_mode="UNUSED",
                deactivation="",
                pool="",
            ),
        )
        for cell, name in disks.items()
    }


def create(bench: Bench) -> Plan:
    wanted = Wanted(name="X", prefix="ssd", redundancy="normal", au_size=4 * MIB, attributes={})
    disks = grids(bench)
    return create_plan("t1", bench.asm.facts(), disks, wanted, nodes=NODE_INSTANCES, statement="create diskgroup X")


def drop(bench: Bench, name: str = "DATA") -> Plan:
    return drop_plan(
        "t1", bench.asm.facts(), name, nodes=NODE_INSTANCES, accepted=(), statement=f"drop diskgroup {name}"
    )


def test_create_and_mount_and_drop_again(bench: Bench) -> None:
    """A disk group is created, mounted everywhere and read back; dropping it leaves FORMER headers."""
    report = bench.run(create(bench))
    assert outcomes(report) == {NODES[0]: [DONE], NODES[1]: [DONE]}
    assert bench.transport.asm.mounted["X"] == set(NODES)
    report = bench.run(drop(bench, "X"))
    assert report.exit_code is ExitCode.DONE
    assert [s for _, s in bench.transport.sent][-2:] == ["ALTER DISKGROUP X DISMOUNT", "DROP DISKGROUP X"]
    assert set(bench.transport.asm.headers.values()) == {"FORMER"}
    assert outcomes(report, mending=True) == {}, "what went well needs no mending"


def test_a_disk_group_is_dropped_upon_a_look_by_its_own_sqlplus(bench: Bench) -> None:
    """A disk group that got a file behind the intent is not dropped: SQL*Plus looks right before the statement that it gets."""
    bench.run(create(bench))
    plan, asm = drop(bench, "X"), bench.transport.asm
    facts = asm.facts

    def looking() -> str:
        if any(row.kind == "intent" and row.body["statement"] == "DROP DISKGROUP X" for row in bench.rows()):
            asm.files["X"] = 1
        return facts()

    asm.facts = looking  # type: ignore[method-assign]
    report = bench.run(plan)
    assert "DROP DISKGROUP X" not in [statement for _, statement in bench.transport.sent]
    (row,) = [r for r in bench.rows() if r.kind == "outcome" and r.body["state"] == REFUSED]
    assert "file" in row.body["reason"] and "__EXACELL_FILE__" in row.body["look"]
    assert report.exit_code is ExitCode.FAILED


def test_failed_create_mounts_nothing(bench: Bench) -> None:
    """After a CREATE that failed nothing is mounted, and ASM's own words are the reason."""
    text = "CREATE DISKGROUP\n*\nERROR at line 1:\nORA-15018: diskgroup cannot be created\nORA-15072: too few\n"
    bench.transport.script = on(NODES[0], "CREATE", lambda node: said(node, text))
    report = bench.run(create(bench))
    assert outcomes(report) == {NODES[0]: [FAILED], NODES[1]: [NOT_SENT]}
    assert "ORA-15018: diskgroup cannot be created / ORA-15072: too few" in report.failures[0].reason


def test_group_mounted_meanwhile_needs_no_mount(bench: Bench) -> None:
    """A node that mounted the group by itself is left alone."""

    def by_itself(node: str) -> Reply:
        bench.transport.asm.change(node, "CREATE DISKGROUP X NORMAL REDUNDANCY DISK 'o/*/ssd_*'")
        bench.transport.asm.mounted["X"].add(NODES[1])
        return said(node, "Diskgroup created.\n__EXACELL_OK__\n", state=State.OK)

    plan = create(bench)
    bench.transport.script = on(NODES[0], "CREATE", by_itself)
    report = bench.run(plan)
    assert outcomes(report) == {NODES[0]: [DONE], NODES[1]: [NOT_NEEDED]}
    assert [target for target, _ in bench.transport.sent] == [NODES[0]]


def test_name_taken_meanwhile(bench: Bench) -> None:
    """A group that somebody made meanwhile refuses the CREATE."""
    plan = create(bench)
    bench.transport.asm.groups["X"] = []
    bench.transport.asm.mounted["X"] = set()
    report = bench.run(plan)
    assert outcomes(report) == {NODES[0]: [REFUSED], NODES[1]: [NOT_SENT]}
    assert "the name is taken" in report.failures[0].reason
    assert bench.transport.sent == []


def test_failed_drop_mounts_again(bench: Bench) -> None:
    """When DROP fails the group is mounted again where it was dismounted."""
    bench.transport.script = on(NODES[0], "DROP", lambda node: said(node, "ORA-15039: diskgroup not dropped\n"))
    report = bench.run(drop(bench))
    assert outcomes(report) == {NODES[1]: [DONE], NODES[0]: [FAILED]}
    assert outcomes(report, mending=True) == {NODES[1]: [DONE]}
    assert bench.transport.asm.mounted["DATA"] == set(NODES)


def test_interrupted_between_dismount_and_drop(bench: Bench) -> None:
    """An interruption before the DROP drops nothing, and the group is mounted again where it was dismounted."""
    plan = drop(bench)
    bench.transport.script = lambda node, sql: (bench.cancel.set(), None)[1] if "DISMOUNT" in sql else None
    report = bench.run(plan)
    assert report.exit_code is ExitCode.INTERRUPTED
    assert [s for _, s in bench.transport.sent] == ["ALTER DISKGROUP DATA DISMOUNT", "ALTER DISKGROUP DATA MOUNT"]
    assert bench.transport.asm.mounted["DATA"] == set(NODES)


def test_files_that_came_meanwhile_refuse_the_drop(bench: Bench) -> None:
    """A file that was made after the plan refuses the DROP, and the group is mounted again."""
    plan = drop(bench)
    bench.transport.asm.files["DATA"] = 1
    report = bench.run(plan)
    assert outcomes(report)[NODES[0]] == [REFUSED]
    assert "files is 1, not 0" in report.failures[0].reason
    assert "DROP DISKGROUP DATA" not in [s for _, s in bench.transport.sent]
    assert bench.transport.asm.mounted["DATA"] == set(NODES)


@pytest.mark.parametrize("text", ["", "Diskgroup dropped.\n"])
def test_cut_answer_with_the_effect_is_done(bench: Bench, text: str) -> None:
    """A SQL answer that was cut or lost counts as done when reading back shows the effect."""

    def cut(node: str) -> Reply:
        bench.transport.asm.change(node, "DROP DISKGROUP DATA")
        return Reply(target=node, state=State.FAILED, stdout=text, problem="the link died")

    bench.transport.script = on(NODES[0], "DROP", cut)
    report = bench.run(drop(bench))
    assert outcomes(report)[NODES[0]] == [DONE]
    assert report.exit_code is ExitCode.DONE


def test_lost_answer_without_the_effect_is_unknown_and_mended(bench: Bench) -> None:
    """A DROP of which nothing is known is unknown, and the group is mounted again where it was."""
    bench.transport.script = on(NODES[0], "DROP", lost)
    report = bench.run(drop(bench))
    assert outcomes(report)[NODES[0]] == [UNKNOWN]
    assert bench.transport.asm.mounted["DATA"] == set(NODES)


def test_sql_is_judged_without_a_proof_too(bench: Bench) -> None:
    """A SQL step that nothing is read back for is judged by its text: done, refused when it never left, else unknown."""
    step = Step(target=NODES[0], asm="main", what="mount", statement="ALTER DISKGROUP DATA MOUNT")
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="s", steps=(step,)),))
    assert outcomes(bench.run(plan)) == {NODES[0]: [DONE]}
    bench.transport.script = on(NODES[0], "ALTER", lambda n: Reply(target=n, state=State.UNREACHABLE, problem="no"))
    assert outcomes(bench.run(plan)) == {NODES[0]: [REFUSED]}
    bench.transport.script = on(NODES[0], "ALTER", lost)
    assert outcomes(bench.run(plan)) == {NODES[0]: [UNKNOWN]}
    bench.transport.script = on(NODES[0], "ALTER", lambda n: said(n, "ORA-15017: not found\n"))
    assert outcomes(bench.run(plan)) == {NODES[0]: [FAILED]}


def test_a_slow_effect_is_looked_for_so_long_and_no_longer(bench: Bench) -> None:
    """Reading back goes on until the step's time is over: looks at 0, 5 and 10 seconds for a step of 10."""
    check = Check(object="flashcache", op=Op.ABSENT)
    step = Step(target=CELLS[0], what="look", proves=(check,), within=10.0)
    bench.run(Plan(statement="s", rack="t1", stages=(Stage(title="look", steps=(step,)),)))
    assert bench.pauses == 2


def test_no_node_answers(bench: Bench) -> None:
    """When ASM can't be queried any more, its steps are refused, never unneeded."""
    plan = drop(bench)
    bench.transport.silent = set(NODES)
    report = bench.run(plan)
    assert bench.transport.sent == []
    assert outcomes(report)[NODES[0]] in ([REFUSED], [NOT_SENT])
    assert NOT_NEEDED not in {str(r.outcome) for r in report.results}


def test_a_change_whose_lock_was_taken_over_sends_nothing_more(bench: Bench) -> None:
    """Behind a takeover no statement is sent any more, not even one that mends: the new owner decides, and is told."""
    flushing = iter(CELLS)

    def takeover(target: str, statement: str) -> None:
        if statement == FLUSH and next(flushing) == CELLS[-1]:
            bench.taken = "the lock of rack t1 was taken over by maria"

    bench.transport.script = takeover
    report = bench.run(resize_plan("t1", bench.facts(), size=36 * GIB, statement="resize flashcache size=36g"))
    assert {statement for _, statement in bench.transport.sent} == {FLUSH}
    assert report.stopped.startswith("the lock of rack t1 was taken over")
    assert {cell.status for cell in bench.transport.cells.values()} == {"normal - flushed"}
    assert report.exit_code is ExitCode.FAILED
    intended = {row.body["statement"] for row in bench.rows() if row.kind == "intent"}
    assert intended == {FLUSH}, "what is not sent is not said to leave"


def test_a_takeover_behind_the_last_statement_stops_nothing(bench: Bench) -> None:
    """A change whose last statements were carried out when the lock was taken over is done, and was not stopped."""

    def takeover(target: str, statement: str) -> None:
        if statement == NEW:
            bench.taken = "the lock of rack t1 was taken over by maria"

    bench.transport.script = takeover
    report = bench.run(resize(bench))
    assert (report.stopped, report.exit_code) == ("", ExitCode.DONE)


@pytest.mark.parametrize("late", ["flush", "create", "cancel"])
def test_a_takeover_between_intent_and_statement_sends_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """A takeover when the intents of a statement are on disk keeps that statement back, whatever it does."""
    wanted = {"flush": FLUSH, "create": NEW, "cancel": CANCEL}[late]
    real = Journal.append

    def append(self: Journal, rack: str, change: int, rows: Iterable[Row]) -> None:
        written = list(rows)
        real(self, rack, change, written)
        if any(row.kind == "intent" and row.body["statement"] == wanted for row in written):
            bench.taken = "the lock of rack t1 was taken over by maria"

    monkeypatch.setattr(Journal, "append", append)
    report = bench.run(flush(bench) if late == "cancel" else resize(bench))
    assert wanted not in {statement for _, statement in bench.transport.sent}
    assert bench.transport.sent[-1:] != [(CELLS[-1], CANCEL)]
    refused = [result for result in report.results if result.step.statement == wanted and not result.mending]
    assert len(refused) == len(CELLS) and all("taken over by maria" in result.reason for result in refused)
    assert "taken over by maria" in report.stopped


def test_a_proof_that_waiting_can_not_bring_ends_after_a_minute(bench: Bench) -> None:
    """A disk that ASM dropped for good does not come ONLINE: the wait of hours ends after a minute, saying why."""
    disk = {"name": "DATA_CD_00_exa1cel01", "size": "1G", "status": "active", "asmModeStatus": "DROPPED"}
    bench.transport.cells[CELLS[0]].tables["griddisk"] = [disk]
    names = {"name": ("DATA_CD_00_exa1cel01",)}
    online = Check(object="griddisk", attribute="asmModeStatus", value="ONLINE", where=names)
    hope = Check(object="griddisk", attribute="asmModeStatus", op=Op.NE, value="DROPPED", where=names, why="it is gone")
    step = Step(target=CELLS[0], what="wait", proves=(online,), hopes=(hope,), within=6 * 3600.0)
    report = bench.run(Plan(statement="s", rack="t1", stages=(Stage(title="wait", steps=(step,)),)))
    (result,) = report.results
    assert result.outcome is Outcome.FAILED and "it is gone" in result.reason
    assert bench.waited == 60.0


def test_a_proof_that_comes_within_the_minute_after_all(bench: Bench) -> None:
    """What looks hopeless for less than a minute, as disks do while ASM adds them again, is waited for."""
    disk = {"name": "DATA_CD_00_exa1cel01", "size": "1G", "status": "active", "asmModeStatus": "DROPPED"}
    bench.transport.cells[CELLS[0]].tables["griddisk"] = [disk]
    names = {"name": ("DATA_CD_00_exa1cel01",)}
    online = Check(object="griddisk", attribute="asmModeStatus", value="ONLINE", where=names)
    hope = Check(object="griddisk", attribute="asmModeStatus", op=Op.NE, value="DROPPED", where=names)
    modes = iter(["DROPPED"] * 8 + ["SYNCING"] * 30 + ["DROPPED"] * 8 + ["ONLINE"])
    bench.transport.reading = lambda: disk.update(asmModeStatus=next(modes, "ONLINE"))
    step = Step(target=CELLS[0], what="wait", proves=(online,), hopes=(hope,), within=6 * 3600.0)
    report = bench.run(Plan(statement="s", rack="t1", stages=(Stage(title="wait", steps=(step,)),)))
    assert [r.outcome for r in report.results] == [Outcome.DONE]


def test_a_changing_statement_has_as_long_as_write_timeout_says(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a plan sends to cells and to ASM may take the seconds of the session's write_timeout, and no more."""
    desk = Desk(bench)
    desk.session.settings = desk.session.settings.with_value("write_timeout", "4m")
    seconds: dict[str, float | None] = {}
    answer = bench.transport.run

    def run(requests: Sequence[Request], **how: Any) -> FleetResult:
        seconds.update({request.target: request.timeout for request in requests if request.role.changes})
        return answer(requests, **how)

    monkeypatch.setattr(bench.transport, "run", run)
    steps = (
        Step(target=CELLS[0], what="cache", statement="ALTER FLASHCACHE ALL CANCEL FLUSH"),
        Step(target=NODES[0], asm="main", what="mount", statement="ALTER DISKGROUP DATA MOUNT"),
    )
    plan = Plan(statement="s", rack="t1", stages=(Stage(title="both", steps=steps),))
    carry_out(desk.session, desk, desk.request, Planned(plan), {"yes": True})
    assert seconds == {CELLS[0]: 240.0, NODES[0]: 240.0}


def test_progress_tells_which_cells_have_answered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a statement is out, each cell that has answered is told from those that have not, with how long they are
    waited for."""
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(bench.console, "progress", lambda p: shown.append(dict(p.states)) if p is not None else None)
    bench.run(
        flashlog_plan(
            "t1",
            _with_database(bench),
            wanted=DirectiveName(name="SPOT"),
            on=False,
            statement="disable flashlog db=SPOT",
        )
    )
    one, two, three = CELLS
    waits = "sent, no answer yet (waited for up to 15m00s)"
    assert {one: waits, two: waits, three: waits} in shown
    assert {one: "answered", two: waits, three: waits} in shown
    assert {one: "answered", two: "answered", three: "answered"} in shown
