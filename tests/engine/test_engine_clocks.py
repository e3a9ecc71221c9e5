"""ASM's clocks right before disks are taken away: read for each wave, whatever they were when the change was planned."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rolling_world import DISKS, MemoryJournal, SimCell, World

from exacell.change.running import Outcome, Report
from exacell.core.config import AsmConfig
from exacell.core.errors import ExitCode, TransportError
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup
from exacell.plan.model import Plan, Risk
from exacell.plan.planners.availability import offline_plan, restart_plan
from exacell.plan.planners.clock import held_against_clocks
from exacell.plan.rolling import Asked, roll
from exacell.session.asm import AsmClient

CELLS = ("c1", "c2", "c3")
LONG = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}


class Clocks(AsmClient):
    """An ASM that has every disk of the cells in DATA; ``after`` so many looks its clocks are ``then``."""

    def __init__(self, then: Mapping[str, str] | None, *, after: int) -> None:
        super().__init__(None, AsmConfig(name="main", nodes=("db1",), home="/u01/grid"))  # type: ignore[arg-type]  # never used
        self.then, self.after, self.looks = then, after, 0

    def facts(self, **_: Any) -> AsmFacts:
        self.looks += 1
        times = LONG if self.looks <= self.after else self.then
        if times is None:
            raise TransportError("db1: no answer")
        return told(times)


def told(times: Mapping[str, str]) -> AsmFacts:
    group = DiskGroup(
        name="DATA", number=1, states={"1": "MOUNTED"}, type="NORMAL", au_size=1, total_mb=9, free_mb=9,
        required_mirror_free_mb=0, usable_file_mb=9, offline_disks=0, compatible_asm="19.0.0.0.0",
        compatible_rdbms="19.0.0.0.0", voting_files=False, files=1, clients=(), attributes=times,
    )  # fmt: skip
    disks = [
        AsmDisk(
            group=1, path=f"o/10.0.0.1/DATA_CD_{n:02}_{cell}", header="MEMBER", mount="CACHED", mode="ONLINE", os_mb=1,
            name=f"DATA_CD_{n:02}_{cell}".upper(), failgroup=cell.upper(),
        )
        for cell in CELLS
        for n in range(DISKS)
    ]  # fmt: skip
    return AsmFacts(cluster="main", node="db1", instances=(), groups=(group,), disks=tuple(disks), operations=0)


def world(clocks: Clocks) -> World:
    found = World(rng=random.Random(7), cells={name: SimCell(name) for name in CELLS}, trouble=0.0)
    found.asm["main"] = clocks
    return found


def restart(world: World) -> Plan:
    return restart_plan("t1", world.facts(CELLS), service="cellsrv", statement="restart service cellsrv")


def carried_out(
    world: World, plan: Plan, *, size: int | None = 1, risk: Risk | None = None
) -> tuple[Report, MemoryJournal]:
    """Judge a plan by clocks that are long, roll it, and carry it out."""
    held = held_against_clocks(plan, world.facts(CELLS), [told(LONG)], now=datetime(2026, 11, 28, tzinfo=UTC))
    held = held if risk is None else replace(held, risk=risk)
    journal = MemoryJournal()
    if size is None:
        return world.carry_out(held, journal), journal
    return world.carry_out(roll(held, Asked(size=size), rack_cells=CELLS), journal), journal


def after_waves(number: int) -> int:
    """How many looks at ASM there are until so many waves have begun: each has one right before it leaves."""
    clocks = Clocks(LONG, after=10_000)
    found = world(clocks)
    carried_out(found, restart(found))
    assert clocks.looks and clocks.looks % len(CELLS) == 0
    return number * clocks.looks // len(CELLS)


@pytest.mark.parametrize("waves", [0, 1, 2])
@pytest.mark.parametrize("times", [{**LONG, "disk_repair_time": "0m"}, {**LONG, "failgroup_repair_time": "5m"}])
def test_each_wave_is_held_against_the_clocks_of_its_moment(waves: int, times: Mapping[str, str]) -> None:
    """A clock that was set too short after the plan, or between two waves, stops the wave before its statement is sent, naming
    the clock and what sets it; what was sent before stands, no later wave begins, and it is journalled."""
    clocks = Clocks(times, after=after_waves(waves))
    rack = world(clocks)
    report, journal = carried_out(rack, restart(rack))
    sent = [line.partition(":")[0] for line in rack.log]
    assert list(dict.fromkeys(sent)) == list(CELLS[:waves])
    refused = [result for result in report.results if result.outcome is Outcome.REFUSED]
    assert [result.step.target for result in refused] == [CELLS[waves]]
    (name,) = [key for key, value in times.items() if value != LONG[key]]
    assert f"{name} of DATA is {times[name]}" in refused[0].reason and "set attribute" in refused[0].reason
    assert report.exit_code is (ExitCode.NOT_EXECUTED if not waves else ExitCode.FAILED)
    outcomes = [(row.target, row.body["state"]) for row in journal.rows if row.kind == "outcome" and row.body["reason"]]
    assert (CELLS[waves], "refused") in outcomes


def test_a_clock_that_can_not_be_read_any_more_stops_what_was_judged_by_one_that_could() -> None:
    """Where ASM answers no more before a wave, that wave is not sent; a plan that was agreed to as unknown goes on."""
    for risk, sent in ((None, 1), (Risk.UNKNOWN, 3)):
        rack = world(Clocks(None, after=after_waves(1)))
        report, _ = carried_out(rack, restart(rack), risk=risk)
        assert len({line.partition(":")[0] for line in rack.log}) == sent
        reasons = [result.reason for result in report.results if result.outcome is Outcome.REFUSED]
        assert all("exacell can't find out when ASM drops the disks" in reason for reason in reasons)
        assert bool(reasons) is (sent == 1)


PLANS: Mapping[str, Callable[[World], Plan]] = {
    "restart": restart,
    "offline": lambda rack: offline_plan("t1", rack.facts(("c1",))["c1"], statement="offline cell"),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_change_without_waves_is_held_against_them_too(name: str) -> None:
    """What was too short for no work when the question was asked is refused when the answer came late."""
    rack = world(Clocks({**LONG, "disk_repair_time": "0m"}, after=0))
    plan = PLANS[name](rack)
    report, _ = carried_out(rack, replace(plan, stages=tuple(only(plan, "c1"))), size=None)
    assert rack.log == [] and {result.outcome for result in report.results} >= {Outcome.REFUSED}


def only(plan: Plan, cell: str) -> list[Any]:
    return [replace(stage, steps=tuple(s for s in stage.steps if s.target == cell)) for stage in plan.stages]


def test_nobody_asks_asm_for_what_takes_no_disk() -> None:
    """A change that leaves ASM its disks is sent without a look at its clocks, however short they are."""
    clocks = Clocks({**LONG, "disk_repair_time": "0m"}, after=0)
    rack = world(clocks)
    plan = restart_plan("t1", rack.facts(CELLS), service="ms", statement="restart service ms")
    report, _ = carried_out(rack, plan)
    assert not clocks.looks and not [r for r in report.results if r.outcome is Outcome.REFUSED]


def test_without_a_cluster_that_can_be_asked_the_plan_has_said_so() -> None:
    """On a rack whose configuration names no ASM cluster a change that was agreed to is sent without a look at a clock."""
    rack = world(Clocks(LONG, after=0))
    rack.asm.clear()
    report, _ = carried_out(rack, restart(rack))
    assert report.exit_code is ExitCode.DONE and len({line.partition(":")[0] for line in rack.log}) == len(CELLS)
