"""What happens between two waves, around them, and to those that are not begun; and what an interruption still finishes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_fakes import CELLS, NODES, NOT_SENT, Bench, lost, on, outcomes, said

from exacell.change.earlier import refuse_running
from exacell.change.engine import DETACHED, LEFT
from exacell.change.gatekeeper import LEFT_ALONE
from exacell.change.pending import pending
from exacell.change.running import Outcome, Report, Run, StepResult
from exacell.core.errors import ExitCode
from exacell.output.console import Progress, SilentConsole
from exacell.plan.model import Gate, Plan, Rolling, Stage, Step
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.rolling import Asked, roll
from exacell.transport.base import Reply

ONE, TWO, THREE = CELLS
FLUSH, CANCEL = "ALTER FLASHCACHE ALL FLUSH NOWAIT", "ALTER FLASHCACHE ALL CANCEL FLUSH"
MOUNT = "ALTER DISKGROUP DATA MOUNT"


def flush(bench: Bench, **asked: Any) -> Plan:
    plan = flush_plan("t1", bench.facts(), recreate=False, statement="flush")
    return roll(plan, Asked(**{"size": 1, "within": 60.0, **asked}), rack_cells=CELLS, clusters=())


def gates(bench: Bench) -> list[tuple[int, bool]]:
    return [(row.body["wave"], row.body["open"]) for row in bench.rows() if row.kind == "gate"]


def order(bench: Bench) -> list[str]:
    """The targets in the order in which statements left, each once."""
    return list(dict.fromkeys(target for target, _ in bench.transport.sent))


def away(bench: Bench, cell: str) -> None:
    disk = {"name": f"DATA_{cell}", "status": "active", "asmDiskGroupName": "DATA", "asmModeStatus": "OFFLINE"}
    bench.transport.cells[cell].tables["griddisk"] = [disk]


# -- between two waves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{}, {"pause": 20.0}])
def test_the_gate_is_looked_at_after_a_pause_too(bench: Bench, asked: dict[str, Any]) -> None:
    """A pause replaces no gate: with a disk away the next wave is not begun, and no further one is waited for."""
    plan = flush(bench, **asked)
    bench.transport.script = lambda cell, text: away(bench, THREE) if (cell, text) == (ONE, CANCEL) else None
    report = bench.run(plan)
    assert order(bench) == [ONE]
    assert "the gate before wave 2 stayed closed for 1m00s: exa1cel03: griddisk DATA_exa1cel03" in report.stopped
    assert gates(bench) == [(1, True), (2, False)]
    assert report.exit_code is ExitCode.FAILED
    # What was stopped is offered at the next start.
    assert bench.rows()[-1].body["stopped"] == report.stopped
    assert [(item.state, item.mend) for item in pending(bench.journal, "t1")] == [("stopped", "resume 1")]


def test_nobody_is_asked_after_an_interruption(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during a wave ends the roll at once: nobody is asked to go on, and no cell is looked at for the next wave."""
    plan = flush(bench, ask=True)
    monkeypatch.setattr(bench.console, "confirm", lambda question: pytest.fail("somebody was asked"))
    bench.transport.script = lambda cell, text: bench.cancel.set() if text == CANCEL else None
    report = bench.run(plan)
    assert (report.exit_code, report.stopped) == (ExitCode.INTERRUPTED, "interrupted before wave 2")
    assert order(bench) == [ONE]


def test_whom_an_interruption_finds_asked_says_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interruption while somebody is asked to go on is told as one, not as nobody's answer."""
    monkeypatch.setattr(bench.console, "confirm", lambda question: bench.cancel.set())
    report = bench.run(flush(bench, ask=True))
    assert (report.exit_code, report.stopped) == (ExitCode.INTERRUPTED, "interrupted before wave 2")


def test_who_says_no_has_interrupted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A no before a wave ends the change as an interruption does; a yes, and a gate that is given up, do not."""
    monkeypatch.setattr(bench.console, "confirm", lambda question: "wave 2" in question)
    report = bench.run(flush(bench, ask=True))
    assert (report.interrupted, report.stopped, order(bench)) == (True, "you said no before wave 3", [ONE, TWO])
    monkeypatch.setattr(bench.console, "confirm", lambda question: True)
    report = bench.run(flush(bench, ask=True))
    assert (report.interrupted, report.stopped) == (False, "")


def test_who_is_asked_is_told_what_the_waves_before_brought(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question between two waves says where the other cells are, folded, and which cells come now."""
    asked: list[str] = []
    monkeypatch.setattr(bench.console, "confirm", lambda question: asked.append(question) or True)
    bench.run(flush(bench, ask=True))
    assert asked == [
        "exa1cel01 done; exa1cel03 waiting for its wave; now wave 2 of 3 on exa1cel02: continue?",
        "exa1cel[01-02] done; now wave 3 of 3 on exa1cel03: continue?",
    ]


def begins_late(bench: Bench) -> None:
    """The first cell's flush hangs, is found not to have begun, and begins when nobody looks at it any more."""

    def late() -> None:
        if any(row.kind == "outcome" and row.body["mending"] for row in bench.rows()):
            bench.transport.cells[ONE].status = "normal - flushing"
            bench.transport.cells[ONE]._flush_goes_on = lambda: None  # type: ignore[method-assign]

    bench.transport.script = on(ONE, FLUSH, lost)
    bench.transport.reading = late


def stays_flushed(bench: Bench) -> None:
    """The first cell refuses to cache again."""
    bench.transport.script = on(ONE, CANCEL, lambda cell: said(cell, "CELL-00001: no\n"))


def loses_its_cache(bench: Bench) -> None:
    """The first cell's flush hangs, and its cache goes when nobody looks at it any more."""

    def late() -> None:
        if any(row.kind == "outcome" and row.body["mending"] for row in bench.rows()):
            bench.transport.cells[ONE].tables["flashcache"] = []

    bench.transport.script = on(ONE, FLUSH, lost)
    bench.transport.reading = late


def loses_it_rearming(bench: Bench) -> None:
    """The first cell refuses to cache again, and its cache goes."""

    def gone(cell: str) -> Reply:
        bench.transport.cells[cell].tables["flashcache"] = []
        return said(cell, "CELL-00001: no\n")

    bench.transport.script = on(ONE, CANCEL, gone)


@pytest.mark.parametrize("trouble", [begins_late, stays_flushed, loses_its_cache, loses_it_rearming])
def test_a_cell_that_does_not_cache_holds_up_the_others(bench: Bench, trouble: Any) -> None:
    """Whatever was said about errors: while a cell on which a step failed has no cache that caches, no wave begins."""
    plan = flush(bench, on_error="continue")
    trouble(bench)
    report = bench.run(plan)
    assert order(bench) == [ONE]
    assert "the gate before wave 2 is closed" in report.stopped and "exa1cel01: " in report.stopped
    assert outcomes(report)[TWO] == [NOT_SENT, NOT_SENT]


@pytest.mark.parametrize("trouble", [begins_late, stays_flushed, loses_its_cache, loses_it_rearming])
def test_what_only_a_statement_mends_is_not_waited_for(bench: Bench, trouble: Any) -> None:
    """Where nothing but caching that this change left off closes the gate, the wait and the lock end after a minute."""
    plan = flush(bench, on_error="continue", within=7200.0)
    trouble(bench)
    report = bench.run(plan)
    assert order(bench) == [ONE]
    assert report.stopped.startswith("the gate before wave 2 is closed, and waiting does not help: exa1cel01: ")
    (gate,) = [row.body for row in bench.rows() if row.kind == "gate" and row.body["wave"] == 2]
    assert (gate["open"], gate["seconds"]) == (False, LEFT_ALONE)


def test_the_minute_counts_from_when_nothing_else_closes_the_gate(bench: Bench) -> None:
    """While anything is amiss besides that ends by itself, a resync or a silent cell, the gate is waited for as ever."""
    plan = flush(bench, on_error="continue", within=7200.0)
    stays_flushed(bench)
    away(bench, THREE)

    def meanwhile() -> None:
        bench.transport.silent = {TWO} if 330.0 < bench.waited < 350.0 else set()
        if bench.waited > 300.0:
            bench.transport.cells[THREE].tables["griddisk"] = []

    # The disk goes away when the first wave has begun.
    disk, bench.transport.cells[THREE].tables["griddisk"] = bench.transport.cells[THREE].tables["griddisk"], []
    cancel = bench.transport.script

    def script(cell: str, text: str) -> Reply | None:
        if text == CANCEL:
            bench.transport.cells[THREE].tables["griddisk"] = disk
            bench.transport.reading = meanwhile
        return cancel(cell, text)

    bench.transport.script = script
    report = bench.run(plan)
    assert "waiting does not help" in report.stopped
    (gate,) = [row.body for row in bench.rows() if row.kind == "gate" and row.body["wave"] == 2]
    assert 385.0 <= gate["seconds"] <= 405.0


def test_a_cell_that_is_mended_in_that_minute_lets_the_others_pass(bench: Bench) -> None:
    """Somebody who gives the statement, or one whose answer was lost, opens the gate."""
    plan = flush(bench, on_error="continue", within=7200.0)
    stays_flushed(bench)

    def mended() -> None:
        if bench.waited >= LEFT_ALONE - 5.0:
            bench.transport.cells[ONE].status = "normal"

    bench.transport.reading = mended
    report = bench.run(plan)
    assert order(bench) == [ONE, TWO, THREE] and not report.stopped


# -- around the waves ------------------------------------------------------------------------------------------------


def around(**rolling: Any) -> Plan:
    """A step on a node, a wave for each of two cells, and a step on the other node when all went well."""

    def node(name: str, what: str) -> Step:
        return Step(target=name, asm="main", what=what, statement=MOUNT)

    cells = tuple(Step(target=cell, what="cancel", statement=CANCEL) for cell in (ONE, TWO))
    return Plan(
        statement="s",
        rack="t1",
        stages=(
            Stage(title="before", steps=(node(NODES[0], "before"),)),
            Stage(title="cells", steps=cells),
            Stage(title="after", steps=(node(NODES[1], "after"),), gate=Gate.ALL),
        ),
        rolling=Rolling(waves=((ONE,), (TWO,)), others=CELLS, within=60.0, **rolling),
    )


def refuse(target: str) -> Reply:
    return said(target, "CELL-00001: no\n" if target in CELLS else "ORA-15041: no\n")


AROUND: list[tuple[str, bool, list[str], list[int]]] = [
    # (where a step fails, going on after errors, who was sent something, which waves had a gate)
    ("", False, [NODES[0], ONE, TWO, NODES[1]], [1, 2]),
    (NODES[0], False, [NODES[0]], []),
    (ONE, False, [NODES[0], ONE], [1]),
    (ONE, True, [NODES[0], ONE, TWO], [1, 2]),
    (TWO, False, [NODES[0], ONE, TWO], [1, 2]),
]


@pytest.mark.parametrize(("fails", "go_on", "sent", "gated"), AROUND)
def test_what_is_done_on_nodes_around_the_waves(
    bench: Bench, fails: str, go_on: bool, sent: list[str], gated: list[int]
) -> None:
    """Only waves have gates; a step that failed before them stops them, and what needs all cells is not begun without."""
    bench.transport.script = lambda target, text: refuse(target) if target == fails else None
    report = bench.run(around(go_on=go_on))
    assert order(bench) == sent
    assert [wave for wave, _ in gates(bench)] == gated
    assert (report.exit_code is ExitCode.DONE) is (not fails)
    if not go_on and fails in (NODES[0], ONE):
        assert report.stopped == f"a step failed on {fails} (--on-error=stop)"


@pytest.mark.parametrize("about", [{}, {"caching_on": True, "cache": "pmemcache"}])
def test_a_failure_that_is_not_about_the_flash_cache_holds_up_nobody(bench: Bench, about: dict[str, Any]) -> None:
    """A cell without a flash cache on which another step failed lets the next wave begin, when errors are gone on after."""
    plan = around(go_on=True)
    cells = tuple(replace(step, **about) for step in plan.stages[1].steps)
    bench.transport.cells[ONE].tables["flashcache"] = []
    bench.transport.script = lambda target, text: refuse(target) if target == ONE else None
    bench.run(replace(plan, stages=(plan.stages[0], replace(plan.stages[1], steps=cells))))
    assert order(bench) == [NODES[0], ONE, TWO]


@pytest.mark.parametrize("rolled", [False, True])
def test_only_a_rolled_plan_shows_waves(bench: Bench, monkeypatch: pytest.MonkeyPatch, rolled: bool) -> None:
    """Progress names the wave where there are waves, and the stage alone where all cells go together."""
    plan = flush(bench)
    titles: list[str] = []
    monkeypatch.setattr(bench.console, "progress", lambda p: titles.append(p.stage) if p is not None else None)
    bench.run(plan if rolled else replace(plan, rolling=None))
    stage = "flush flashcache"
    assert titles[0] == (f"wave 1 of 3: {stage}" if rolled else stage)


@pytest.mark.parametrize("fails", [False, True])
def test_stages_that_only_mend_are_not_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    """Progress counts the stages that are always carried out; one that mends has the number of that before it."""
    plan = replace(flush(bench), rolling=None)
    assert [stage.gate is Gate.MEND for stage in plan.stages] == [False, False, True]
    shown: dict[str, tuple[int, int]] = {}
    monkeypatch.setattr(bench.console, "progress", lambda p: shown.update({p.stage: (p.number, p.of)}) if p else None)
    if fails:
        bench.transport.cells[TWO].error_on_flush = "cannot write"
    bench.run(plan)
    first, second, mends = (stage.title for stage in plan.stages)
    assert shown == {first: (1, 2), second: (2, 2), **({mends: (2, 2)} if fails else {})}


# -- what an interruption still finishes -----------------------------------------------------------------------------

OFF = Step(target=ONE, what="drop", caching_off=True)
BACK = Step(target=ONE, what="create", caching_on=True)
OTHER = Step(target=TWO, what="create", caching_on=True)
PLAIN = Step(target=ONE, what="carve")

FINISHES: list[tuple[list[tuple[Step, Outcome]], list[Step], bool]] = [
    ([(OFF, Outcome.DONE)], [BACK], True),
    ([(OFF, Outcome.DONE)], [BACK, OTHER], True),
    ([(PLAIN, Outcome.DONE), (OFF, Outcome.DONE)], [BACK], True),
    ([], [BACK], False),
    ([(OFF, Outcome.FAILED)], [BACK], False),
    ([(PLAIN, Outcome.DONE)], [BACK], False),
    ([(OFF, Outcome.DONE)], [OTHER], False),
    ([(OFF, Outcome.DONE)], [PLAIN], False),
    ([(OFF, Outcome.DONE)], [BACK, replace(PLAIN, target=TWO)], False),
    ([(OFF, Outcome.DONE)], [], False),
]


@pytest.mark.parametrize(("ended", "steps", "finishes"), FINISHES)
def test_a_stage_that_an_interruption_does_not_stop(
    ended: list[tuple[Step, Outcome]], steps: list[Step], finishes: bool
) -> None:
    """It brings caching back, and nothing else, where an earlier step has really switched it off."""
    report = Report(change=1, results=[StepResult(step=step, outcome=outcome) for step, outcome in ended])
    run = Run(plan=Plan(statement="s", rack="t1"), report=report)
    assert run.finishes(Stage(title="s", steps=tuple(steps))) is finishes


@pytest.mark.parametrize("at", ["ALTER FLASHCACHE", "DROP", "CREATE"])
def test_who_detaches_leaves_a_change_that_can_be_gone_on_with(bench: Bench, at: str) -> None:
    """A second Ctrl-C ends the change in the journal too: the session lives on, tells what is left and can resume it."""

    def detach(target: str, statement: str) -> None:
        if statement.startswith(at):
            raise KeyboardInterrupt

    bench.transport.script = detach
    with pytest.raises(KeyboardInterrupt):
        bench.run(resize_plan("t1", bench.facts(), size=36 << 30, statement="resize"))
    change, end = bench.rows()[0].change, bench.rows()[-1]
    assert (end.kind, end.body["exitCode"], end.body["stopped"]) == ("end", int(ExitCode.INTERRUPTED), DETACHED)
    assert f"resume {change}" in {item.mend for item in pending(bench.journal, "t1")}
    refuse_running(bench.journal, "t1", change)


def test_who_detaches_while_nothing_is_under_way_is_told_so(bench: Bench) -> None:
    """Interrupted twice before the first statement has left, a change says so; resume can still carry it out."""
    plan = resize_plan("t1", bench.facts(), size=36 << 30, statement="resize")

    def detach() -> None:
        raise KeyboardInterrupt

    bench.transport.reading = detach
    with pytest.raises(KeyboardInterrupt):
        bench.run(plan)
    change, end = bench.rows()[0].change, bench.rows()[-1]
    assert ([row.kind for row in bench.rows()], end.body["stopped"]) == (["plan", "end"], LEFT)
    assert f"resume {change}" in {item.mend for item in pending(bench.journal, "t1")}


OTHERS = [
    # (wave, whether it waits at its gate, what is told)
    (0, False, ""),
    (1, False, "exa1cel[02-03] waiting for their wave"),
    (1, True, "exa1cel[01-03] waiting for their wave"),
    (2, False, "exa1cel01 failed; exa1cel03 waiting for its wave"),
    (3, False, "exa1cel02 done; exa1cel01 failed"),
    (3, True, "exa1cel02 done; exa1cel01 failed; exa1cel03 waiting for its wave"),
]


@pytest.mark.parametrize(("wave", "gate", "told"), OTHERS)
def test_where_the_cells_of_the_other_waves_are(wave: int, gate: bool, told: str) -> None:
    """One line folds the cells that are done, that failed and that wait; outside of waves there is none."""
    rolling = Rolling(waves=tuple((cell,) for cell in CELLS))
    failed = StepResult(step=Step(target=CELLS[0], what="w"), outcome=Outcome.FAILED)
    run = Run(
        plan=Plan(statement="s", rack="t1", rolling=rolling), report=Report(change=1, results=[failed]), wave=wave
    )
    assert run.others(gate=gate) == told
    assert Run(plan=Plan(statement="s", rack="t1"), report=Report(change=1), wave=wave).others(gate=gate) == ""


def test_the_other_waves_are_shown_while_a_plan_rolls(bench: Bench) -> None:
    """Stages, and a closed gate, show where the cells are that have no part in them."""
    shown: list[tuple[str, str]] = []

    class Watching(SilentConsole):
        def progress(self, progress: Progress | None) -> None:
            if progress is not None:
                shown.append((progress.stage, progress.others))

    bench.engine._console = Watching()
    bench.run(flush(bench))
    of_two = {others for stage, others in shown if stage.startswith("wave 2 of 3: ")}
    assert of_two == {"exa1cel01 done; exa1cel03 waiting for its wave"}
