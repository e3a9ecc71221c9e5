"""Plans that change the power of rebalances."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import asm, group, operation, sent

from exacell.core.errors import RefusedError
from exacell.plan.asmfacts import Operation
from exacell.plan.model import Plan, Undo
from exacell.plan.planners.rebalance import power_plan

NODE = "exa1db01"


def power(value: int, *running: Operation, name: str = "") -> Plan:
    found = asm([group(), group("RECO", number=2)], running=running, operations=len(running))
    return power_plan("t1", found, power=value, group=name, statement="x")


def test_power_of_what_runs() -> None:
    """Every running rebalance gets the power, with its old one as the inverse; equal ones and silence change nothing."""
    plan = power(8, operation("DATA"), operation("RECO", 2))
    assert sent(plan, NODE) == ["ALTER DISKGROUP DATA REBALANCE POWER 8", "ALTER DISKGROUP RECO REBALANCE POWER 8"]
    assert plan.inverse[NODE][0] == "set rebalance power=4 diskgroup=DATA asm=main"
    assert power(4, operation("DATA")).done == {NODE: "power is 4 already"}
    assert "no rebalance is running" in power(4).done[NODE]
    # An operation whose disk group ASM does not name can't be given a power.
    assert "no rebalance is running" in power(8, operation("")).done[NODE]
    assert len(power(8, operation("DATA"), operation("")).stages) == 1


@pytest.mark.parametrize(("given", "starts", "sends"), [(4, True, True), (4, False, False), (0, False, True)])
def test_a_power_that_is_taken_back_starts_no_rebalance(given: int, starts: bool, sends: bool) -> None:
    """A rebalance that has ended is not begun anew when its power is taken back; one that stood still stands still again."""
    found = asm([group(number=1)], [])
    plan = power_plan("t1", found, power=given, group="DATA", statement="x", starts=starts)
    assert bool(plan.stages) is sends
    assert plan.done == ({} if sends else {NODE: "no rebalance of DATA runs"})
    busy = replace(found, running=(operation("DATA", 8),), operations=1)
    assert power_plan("t1", busy, power=given, group="DATA", statement="x", starts=starts).stages


def test_a_rebalance_that_stands_still_is_not_taken_for_started() -> None:
    """From power 0 the proof wants no operation left that waits with power 0; other instances' WAIT proves nothing else."""
    ((proof,),) = [step.proves for step in power(5, operation("DATA", 0, state="WAIT")).steps]
    assert proof.where == {"diskgroup": "DATA", "state": ("WAIT", "EST", "RUN"), "power": "0"}
    ((proof,),) = [step.proves for step in power(5, operation("DATA", 4)).steps]
    assert proof.where == {"diskgroup": "DATA", "state": ("EST", "RUN"), "power": "4"}


def test_power_0_of_a_quiet_group_is_told_as_what_it_is() -> None:
    """Of a rebalance that is begun with power 0 the plan says that it waits and what waits for it, and why it can't be taken
    back says that it moves nothing and what ends it; one that ran is slowed down and can be taken back."""
    plan = power(0, name="data")
    (only,) = plan.steps
    assert only.undo is Undo.IMPOSSIBLE and only.inverse.startswith("a rebalance with power 0 moves nothing")
    assert only.inverse.endswith("`set rebalance power=4 diskgroup=DATA` lets it run and end")
    assert "no rebalance of DATA is running now: this starts one that waits" in plan.notes[1]
    assert power(2, name="data").steps[0].inverse == "a finished rebalance can't be undone"
    assert len(power(0, operation("DATA"), name="data").notes) == 1


def test_power_starts_one_where_it_is_named() -> None:
    """With diskgroup= a rebalance is started, which can't be taken back; an unknown group and power are refused."""
    plan = power(2, name="reco")
    assert sent(plan, NODE) == ["ALTER DISKGROUP RECO REBALANCE POWER 2"]
    assert [s.undo for s in plan.steps] == [Undo.IMPOSSIBLE]
    assert plan.inverse == {}
    assert sent(power(1024, name="reco"), NODE)
    with pytest.raises(RefusedError, match=r"OTHER is not mounted on exa1db01; there are DATA, RECO$"):
        power(2, name="other")
    for groups, known in (((), "none"), ((group(number=0),), "DATA")):
        with pytest.raises(RefusedError, match=f"DATA is not mounted on exa1db01; there are {known}$"):
            power_plan("t1", asm(groups), power=2, group="data", statement="x")
    with pytest.raises(RefusedError, match=r"0 .* to 1024"):
        power(2000)
