"""The engine on rolled plans: waves, gates that are waited for, what stops a roll, and what the journal says about it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from engine_fakes import CELLS, DONE, NODES, NOT_SENT, Bench, on, outcomes, said

from exacell.change.running import Report
from exacell.core.errors import ExitCode
from exacell.core.units import GIB
from exacell.plan.model import Plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.rolling import Asked, roll
from exacell.transport.base import Reply
from tests.support.overlaps import overlaps

ONE, TWO, THREE = CELLS
FLUSH, CANCEL, DROP = "ALTER FLASHCACHE ALL FLUSH NOWAIT", "ALTER FLASHCACHE ALL CANCEL FLUSH", "DROP FLASHCACHE"
NEW = "CREATE FLASHCACHE ALL size=36G"


def rolled(bench: Bench, plan: Plan, **asked: Any) -> Plan:
    return roll(plan, Asked(**{"size": 1, "within": 60.0, **asked}), rack_cells=CELLS, clusters=("main",))


def resize(bench: Bench, **asked: Any) -> Plan:
    return rolled(bench, resize_plan("t1", bench.facts(), size=36 * GIB, statement="resize"), **asked)


def flush(bench: Bench, **asked: Any) -> Plan:
    return rolled(bench, flush_plan("t1", bench.facts(), recreate=False, statement="flush"), **asked)


def order(bench: Bench) -> list[str]:
    """The cells in the order in which statements left, each once."""
    return list(dict.fromkeys(target for target, _ in bench.transport.sent))


def gates(bench: Bench) -> list[tuple[int, bool, str]]:
    return [(r.body["wave"], r.body["open"], r.body["met"]) for r in bench.rows() if r.kind == "gate"]


def used(cell: str, mode: str = "ONLINE") -> dict[str, str]:
    """A grid disk in ASM use as LIST shows it."""
    return {
        "name": f"DATA_{cell}",
        "status": "active",
        "asmDiskGroupName": "DATA",
        "asmModeStatus": mode,
        "asmDeactivationOutcome": "Yes",
    }


def test_each_wave_goes_through_all_stages(bench: Bench) -> None:
    """A cell is flushed, dropped and created before the next cell is touched; rows carry the wave."""
    report = bench.run(resize(bench, canary=TWO))
    assert report.exit_code is ExitCode.DONE
    expected = [(cell, text) for cell in (TWO, ONE, THREE) for text in (FLUSH, DROP, NEW)]
    assert bench.transport.sent == expected
    waves = {(r.target, r.body["wave"]) for r in bench.rows() if r.kind in ("intent", "outcome")}
    assert waves == {(TWO, 1), (ONE, 2), (THREE, 3)}
    assert gates(bench) == [(1, True, ""), (2, True, ""), (3, True, "")]
    assert overlaps(bench.rows()) == ()


def test_a_closed_gate_is_waited_for(bench: Bench) -> None:
    """The next wave begins only when the disk that is not ONLINE is; what was waited for is shown and journalled."""
    bench.transport.cells[THREE].tables["griddisk"] = [used(THREE)]
    plan = resize(bench)
    looks = 0

    def script(target: str, statement: str) -> Reply | None:
        if (target, statement) == (ONE, NEW):
            bench.transport.cells[THREE].tables["griddisk"] = [used(THREE, "SYNCING")]
        return None

    def reading() -> None:
        nonlocal looks
        if bench.transport.cells[THREE].tables["griddisk"][0]["asmModeStatus"] == "SYNCING":
            looks += 1
            if looks > 6:
                bench.transport.cells[THREE].tables["griddisk"] = [used(THREE)]

    bench.transport.script, bench.transport.reading = script, reading
    report = bench.run(plan)
    assert report.exit_code is ExitCode.DONE
    wave, is_open, met = gates(bench)[1]
    assert (wave, is_open) == (2, True)
    assert "griddisk DATA_exa1cel03: asmModeStatus is SYNCING, not ONLINE" in met
    assert next(r.body["seconds"] for r in bench.rows() if r.kind == "gate" and r.body["wave"] == 2) > 0


def test_a_gate_that_stays_closed_stops(bench: Bench) -> None:
    """After the deadline no further wave begins, naming cell and attribute; nothing was sent."""
    plan = flush(bench)
    bench.transport.cells[THREE].tables["griddisk"] = [used(THREE, "OFFLINE")]
    report = bench.run(plan)
    assert bench.transport.sent == []
    assert report.exit_code is ExitCode.NOT_EXECUTED
    assert "stayed closed for 1m" in report.stopped
    assert "exa1cel03: griddisk DATA_exa1cel03: asmModeStatus is OFFLINE" in report.stopped
    assert outcomes(report) == {cell: [NOT_SENT, NOT_SENT] for cell in CELLS}


@pytest.mark.parametrize(
    ("marks", "opens"),
    [({}, True), ({"offline": True}, False), ({"offline": True, "forced": True}, True)],
    ids=["stays online", "goes offline", "accepted by name"],
)
def test_a_gate_asks_asm_only_of_waves_that_go_offline(bench: Bench, marks: dict[str, bool], opens: bool) -> None:
    """A disk that ASM can't spare closes the gate of a wave that takes it offline, unless that was accepted by name."""
    plan = flush(bench)
    stages = tuple(replace(s, steps=tuple(replace(step, **marks) for step in s.steps)) for s in plan.stages)  # type: ignore[arg-type]
    bench.transport.cells[ONE].tables["griddisk"] = [used(ONE) | {"asmDeactivationOutcome": "No"}]
    report = bench.run(replace(plan, stages=stages))
    assert [is_open for _, is_open, _ in gates(bench)][:1] == [opens]
    assert ("asmDeactivationOutcome is No, not Yes" in report.stopped) is not opens


def test_a_rebalance_closes_the_gate(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """While ASM moves data no wave begins."""
    text = bench.transport.asm.facts()
    busy = text.replace("__EXACELL_OPERATION__", "__EXACELL_OPERATION__\n1|1|REBAL|RUN|12|4|10|100")
    monkeypatch.setattr(bench.transport.asm, "facts", lambda: busy)
    report = bench.run(flush(bench))
    assert bench.transport.sent == []
    assert "ASM main: 1 operation in gv$asm_operation" in report.stopped


@pytest.mark.parametrize(("mode", "nodes"), [("UNKNOWN", ()), ("UNKNOWN", (NODES[1],)), ("OFFLINE", ())])
def test_a_dismounted_disk_group_is_named_with_its_way_out(bench: Bench, mode: str, nodes: tuple[str, ...]) -> None:
    """A gate that only a mount opens says which disk group and how; not where it is mounted, or disks are just offline."""
    plan = flush(bench)
    bench.transport.cells[THREE].tables["griddisk"] = [used(THREE, mode)]
    bench.transport.asm.mounted["DATA"] = set(nodes)
    report = bench.run(plan)
    told = (
        'ASM main: DATA not mounted on any node: sql asm "alter diskgroup DATA mount"; exa1cel03: griddisk'
        in report.stopped
    )
    assert told is (mode == "UNKNOWN" and not nodes)
    assert bench.transport.sent == []


def test_a_silent_cell_closes_the_gate(bench: Bench) -> None:
    """A cell that gives no answer is never taken for healthy."""
    plan = rolled(bench, flush_plan("t1", {ONE: bench.facts()[ONE]}, recreate=False, statement="x"))
    bench.transport.silent = {TWO}
    report = bench.run(plan)
    assert bench.transport.sent == []
    assert "exa1cel02: no answer" in report.stopped


def test_interrupted_at_the_gate(bench: Bench) -> None:
    """Ctrl-C at a gate ends cleanly: what is done stays done, nothing more begins, and it can be resumed."""
    plan = resize(bench)

    def script(target: str, statement: str) -> Reply | None:
        if (target, statement) == (ONE, NEW):
            bench.cancel.set()
        return None

    bench.transport.script = script
    report = bench.run(plan)
    assert report.exit_code is ExitCode.INTERRUPTED
    assert order(bench) == [ONE]
    assert outcomes(report)[ONE] == [DONE, DONE, DONE]
    assert outcomes(report)[TWO] == [NOT_SENT] * 3
    assert bench.rows()[-1].body["exitCode"] == int(ExitCode.INTERRUPTED)


def test_a_failed_wave_stops_the_roll(bench: Bench) -> None:
    """After a wave with a failure no further one begins; the failed cell is mended."""
    plan = resize(bench)
    bench.transport.script = on(ONE, DROP, lambda target: said(target, "CELL-02559: it says no\n"))
    report = bench.run(plan)
    assert report.exit_code is ExitCode.FAILED
    assert bench.transport.sent == [(ONE, FLUSH), (ONE, DROP), (ONE, CANCEL)]
    assert "a step failed on exa1cel01 (--on-error=stop)" in report.stopped
    assert outcomes(report)[THREE] == [NOT_SENT] * 3


def test_on_error_continue_goes_on_when_the_gate_is_open(bench: Bench) -> None:
    """With on-error=continue the other cells take their turns, stages with a gate for all included."""
    plan = resize(bench, on_error="continue")
    bench.transport.script = on(ONE, DROP, lambda target: said(target, "CELL-02559: it says no\n"))
    report = bench.run(plan)
    assert report.exit_code is ExitCode.FAILED
    assert outcomes(report)[TWO] == outcomes(report)[THREE] == [DONE, DONE, DONE]
    assert report.stopped == ""


def test_on_error_continue_waits_for_a_cache_that_is_gone(bench: Bench) -> None:
    """A cell that lost its cache closes the gate for the others, whatever was said about errors."""
    plan = resize(bench, on_error="continue")
    refuse = said
    bench.transport.script = on(ONE, "CREATE", lambda target: refuse(target, "CELL-02559: it says no\n"))
    report = bench.run(plan)
    assert order(bench) == [ONE]
    assert "exa1cel01: its flash cache is gone" in report.stopped


def test_pause_and_ask(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """--pause waits between waves, not before the first; --pause=ask needs somebody who says yes."""
    bench.run(flush(bench, pause=20.0))
    assert bench.pauses >= 8
    report = bench.run(flush(bench, ask=True))
    assert report.exit_code is ExitCode.INTERRUPTED
    assert "there is no terminal for the question" in report.stopped
    answers = [True, False]
    monkeypatch.setattr(bench.console, "confirm", lambda question: answers.pop(0))
    report = bench.run(flush(bench, ask=True))
    assert [outcomes(report)[cell][0] for cell in CELLS] == [DONE, DONE, NOT_SENT]
    assert "you said no before wave 3" in report.stopped


# -- limit, fingerprint ----------------------------------------------------------------------------------------------


def test_limit_cancels_the_flush(bench: Bench) -> None:
    """A flush that takes longer than its limit is cancelled: caching is back on, and the outcome says why."""
    for cell in bench.transport.cells.values():
        cell._flush_goes_on = lambda: None  # type: ignore[method-assign]
    plan = flush_plan("t1", bench.facts(), recreate=False, statement="x", limit=600.0)
    report = bench.run(plan)
    assert report.exit_code is ExitCode.FAILED
    assert {r.reason for r in report.failures} == {"not flushed within 10m00s (--limit)"}
    assert {cell: bench.transport.statements(cell) for cell in CELLS} == {cell: [FLUSH, CANCEL] for cell in CELLS}
    assert {cell.status for cell in bench.transport.cells.values()} == {"normal"}


def test_outcomes_carry_the_key_that_wrote(bench: Bench) -> None:
    """The journal's outcome rows name the key that logged in for the statement, after a followed flush as well."""
    real = bench.transport._one

    def signed(request: Any) -> Reply:
        from dataclasses import replace

        reply = real(request)
        return replace(reply, fingerprint="SHA256:abc") if request.role.changes else reply

    bench.transport._one = signed  # type: ignore[method-assign]
    bench.run(resize(bench))
    prints = {r.body["fingerprint"] for r in bench.rows() if r.kind == "outcome" and r.body["state"] == "done"}
    assert prints == {"SHA256:abc"}


def test_progress_names_the_wave(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress lines say which wave of how many is under way."""
    titles: list[str] = []
    monkeypatch.setattr(bench.console, "progress", lambda p: titles.append(p.stage) if p is not None else None)
    report: Report = bench.run(flush(bench))
    assert report.exit_code is ExitCode.DONE
    assert titles[0] == "wave 1 of 3: flush flashcache"


@pytest.mark.parametrize("clock", ["wall", "passing"])
@pytest.mark.parametrize("within", ["a cell's turn", "a closed gate", "a pause"])
def test_no_wave_begins_after_the_last_moment(bench: Bench, clock: str, within: str) -> None:
    """A wave under way goes to its end and no further one begins, by either clock; plan, journal and answer say so."""
    keeper = bench.engine._gatekeeper
    begin, moved = 1_800_000_000.0, {"wall": 0.0, "passing": 0.0}
    keeper._wall = lambda: begin + moved["wall"]
    keeper._passing = lambda: 50.0 + moved["passing"]
    last = datetime.fromtimestamp(begin + 3600).astimezone().isoformat(timespec="minutes")
    plan = resize(bench, not_after=last, pause=5.0 if within == "a pause" else None)
    if within == "a closed gate":
        bench.transport.cells[THREE].tables["griddisk"] = [used(THREE)]

    def script(target: str, statement: str) -> Reply | None:
        if (target, statement) == (ONE, DROP if within == "a cell's turn" else NEW):
            if within == "a closed gate":
                bench.transport.cells[THREE].tables["griddisk"] = [used(THREE, "SYNCING")]
            if within == "a pause":
                keeper._pause = lambda event, seconds: bool(moved.update({clock: 3601.0}))
            else:
                moved[clock] = 3601.0
        return None

    bench.transport.script = script
    report = bench.run(plan)
    assert bench.transport.sent == [(ONE, text) for text in (FLUSH, DROP, NEW)]
    assert report.exit_code is ExitCode.INTERRUPTED
    assert report.stopped.startswith("no wave begins after 20") and "stopped before wave 2" in report.stopped
    assert [row.body["open"] for row in bench.rows() if row.kind == "gate"] == [True, False]
    assert outcomes(report)[TWO] == [NOT_SENT] * 3
    begun = next(row for row in bench.rows() if row.kind == "plan")
    assert begun.body["plan"]["rolling"]["not_after"] == last


def test_a_clock_that_is_set_back_makes_the_window_no_longer(bench: Bench) -> None:
    """A plan whose last moment is far away by both clocks goes to its end, and a clock set back is none by which it is not."""
    keeper = bench.engine._gatekeeper
    keeper._wall = lambda: 1_800_000_000.0
    keeper.close_at(datetime.fromtimestamp(1_800_003_600.0).astimezone().isoformat())
    keeper._wall = lambda: 1_500_000_000.0
    assert keeper._over(2, 0.0, "") is None
    passing = keeper._passing
    keeper._passing = lambda: passing() + 3601.0
    assert keeper._over(2, 0.0, "") is not None
