"""Plans that resize grid disks with their disk group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, asm, asm_disk, cell, disk, free_grid, grid, group, operation, sent, step

from exacell.change.targets.asm import asm_records
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.checks import failure
from exacell.plan.facts import CellFacts
from exacell.plan.model import Gate, Plan, Risk
from exacell.plan.planners.griddisk_size import resize_griddisk_plan

ONE = CELLS[0]
NODE = "exa1db01"


def facts(size: int = 100 * GIB, free: int = 50 * GIB, **changes: Any) -> dict[str, CellFacts]:
    """Three cells with two grid disks DATA of that size, and that much free on each cell disk."""
    found = {}
    for name in CELLS:
        grids = tuple(grid(f"CD_0{n}_{name}", size=size, **changes) for n in (0, 1))
        disks = tuple(disk(f"CD_0{n}_{name}", free=free) for n in (0, 1))
        found[name] = cell(name, grid_disks=grids, cell_disks=disks)
    return found


def data(size: int = 100 * GIB, used_mb: int = 60_000, **changes: Any) -> AsmFacts:
    """ASM with DATA on those six disks."""
    total = 6 * size // MIB
    found = group(total_mb=total, free_mb=total - used_mb, required_mirror_free_mb=1000, **changes)
    disks = [asm_disk(f"DATA_CD_0{n}_{name}", group=1, header="MEMBER") for name in CELLS for n in (0, 1)]
    return asm([found], disks)


def resize(size: int, cells: dict[str, CellFacts] | None = None, asm_facts: AsmFacts | None = None) -> Plan:
    return resize_griddisk_plan(
        "t1", facts() if cells is None else cells, asm_facts or data(), prefix="DATA", size=size, statement="x"
    )


def test_a_prefix_on_two_kinds_of_disk_is_parted_first() -> None:
    """Where a disk group has those of a prefix on hard disks, those on flash are named, and how they are given up."""
    both = {
        name: replace(fact, grid_disks=(*fact.grid_disks, free_grid(f"FD_00_{name}", "DATA", size=GIB)))
        for name, fact in facts().items()
    }
    with pytest.raises(
        RefusedError, match=r"of the 9 grid disks DATA_\*, 3 are on flash and 6 on hard disks"
    ) as caught:
        resize(80 * GIB, both)
    assert caught.value.hint.startswith("type `release griddisk prefix=DATA media=flash`, then carve them")


def test_shrink_is_asm_first_and_waits_for_the_rebalance() -> None:
    """To shrink ASM goes first, its rebalance is waited for, as long as one runs, and no cell is touched unless
    that was proven."""
    plan = resize(80 * GIB)
    assert [s.key for s in plan.stages] == ["asm", "cells"]
    assert sent(plan, NODE) == ["ALTER DISKGROUP DATA RESIZE ALL SIZE 81920M"]
    assert sent(plan) == ["ALTER GRIDDISK DATA_CD_00_exa1cel01,DATA_CD_01_exa1cel01 size=80G"]
    proofs = [(p.object, p.value) for p in step(plan, "asm", NODE).proves]
    assert proofs == [("asm.diskgroup", 6 * 80 * 1024), ("asm.operation", None)]
    (hope,) = step(plan, "asm", NODE).hopes
    assert "no asm.operation" in failure(hope, []) and not failure(hope, [{"diskgroup": "DATA", "state": "RUN"}])
    assert not step(resize(120 * GIB), "asm", NODE).hopes
    assert plan.stages[1].gate is Gate.ALL
    assert plan.inverse[ONE] == plan.inverse[NODE] == ("resize griddisk prefix=DATA size=100G asm=main",)


def test_grow_is_cells_first() -> None:
    """To grow the cells go first, each needing its room, then ASM on all of them."""
    plan = resize(120 * GIB)
    assert [s.key for s in plan.stages] == ["cells", "asm"]
    need = step(plan, "cells").needs[0]
    assert (need.object, need.attribute, need.value) == ("celldisk", "freeSpace", 20 * GIB)
    assert plan.stages[1].gate is Gate.ALL
    assert plan.risk is Risk.PERFORMANCE


def test_arithmetic_is_shown() -> None:
    """The notes tell what each disk becomes in units of 16M, what was rounded, and what stays free in the group."""
    notes = " ".join(resize(80 * GIB + 5 * MIB).notes)
    assert "5120 × 16M, 81925M rounded down" in notes
    assert "600G raw → 480G, 58.59G of it used: 421.4G stay free" in notes


def test_what_is_used_must_fit() -> None:
    """A size in which the group's data would not fit is refused with the least one; a thin margin is warned of."""
    with pytest.raises(RefusedError, match=r"holds 60000 MB .* and would have 30720 MB: it does not fit") as caught:
        resize(5 * GIB)
    assert "each" in caught.value.hint
    assert "usable_file_mb becomes about -" in resize(10040 * MIB).warnings[0]


REFUSED = [
    ({"size": 200 * GIB}, "can be at most 150G"),
    ({"size": 15 * MIB}, "is too small"),
    ({"size": 80 * GIB, "cells": facts(asm_mode="SYNCING")}, "is SYNCING in ASM, not ONLINE"),
    ({"size": 80 * GIB, "cells": {ONE: facts()[ONE]}}, "a group must be resized as a whole"),
    ({"size": 80 * GIB, "asm_facts": data(number=0)}, "is not mounted on exa1db01"),
    ({"size": 80 * GIB, "cells": {ONE: cell(grid_disks=())}}, "there are no grid disks DATA_"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_refusals(given: dict[str, Any], said: str) -> None:
    """Without room, below 16M, with a disk away, with a part of the group, or a group not mounted nothing is sent."""
    with pytest.raises(RefusedError, match=said):
        resize(**given)


def test_a_group_that_is_being_rebalanced_is_left_alone() -> None:
    """While the group is being rebalanced a resize is refused, telling how far that is, or what lets it go on."""
    waiting = operation("DATA", state="WAIT", sofar=0, work=0, minutes=0)
    busy = replace(data(), running=(waiting, operation("DATA"), operation("RECO", 0)), operations=3)
    with pytest.raises(RefusedError, match="rebalance of DATA runs with power 4: 10%, 5 minutes left;") as moving:
        resize(80 * GIB, asm_facts=busy)
    assert moving.value.hint == "repeat this when `show rebalance` lists none of DATA"
    still = replace(data(), running=(operation("DATA", 0),), operations=1)
    with pytest.raises(RefusedError, match=r"rebalance of DATA is stopped \(power 0\);") as standing:
        resize(80 * GIB, asm_facts=still)
    assert standing.value.hint.startswith("`set rebalance power=4 diskgroup=DATA` starts it again; repeat this when")


def test_the_rebalance_that_the_change_itself_began_is_waited_for() -> None:
    """What goes on with a shrink waits for the rebalance that it began, sends its statement again only when that ends
    without the new size, and refuses one that stands still, one behind a growing group and one that somebody else began."""
    busy = replace(data(), running=(operation("DATA"),), operations=1)
    own = ["ALTER DISKGROUP DATA RESIZE ALL SIZE 81920M"]

    def go_on(size: int, asm_facts: AsmFacts, sent: list[str]) -> Plan:
        return resize_griddisk_plan("t1", facts(), asm_facts, prefix="DATA", size=size, statement="resize", sent=sent)

    plan = go_on(80 * GIB, busy, own)
    assert [s.key for s in plan.stages] == ["asm-wait", "asm", "cells"]
    wait, again = step(plan, "asm-wait", NODE), step(plan, "asm", NODE)
    assert not wait.statement and [p.object for p in wait.proves] == ["asm.operation"] and wait.within > 3600
    assert failure(wait.proves[0], asm_records(busy)["asm.operation"]).startswith("rebalance of DATA runs")
    assert again.statement == own[0]
    (other,) = again.only_if
    assert failure(other, [{"name": "DATA", "totalMb": 6 * 80 * 1024}])
    assert not failure(other, [{"name": "DATA", "totalMb": 6 * 100 * 1024}])
    still = replace(busy, running=(operation("DATA", 0),))
    for size, state, before, hint in (
        (80, busy, ["ALTER DISKGROUP DATA RESIZE ALL SIZE 71680M"], "repeat this when"),
        (80, still, own, "`set rebalance power=4 diskgroup=DATA`"),
        (120, busy, ["ALTER DISKGROUP DATA RESIZE ALL SIZE 122880M"], "repeat this when"),
    ):
        with pytest.raises(RefusedError, match="rebalance of DATA") as caught:
            go_on(size * GIB, state, before)
        assert caught.value.hint.startswith(hint)


def test_what_is_resized_already_needs_no_quiet_group() -> None:
    """A group and disks that have the size are done while the rebalance behind them still runs: nothing is to be sent."""
    busy = replace(data(), running=(operation("DATA"),), operations=1)
    plan = resize(100 * GIB, asm_facts=busy)
    assert not plan.stages and "100G already" in plan.done[ONE]


def test_what_asm_does_is_told_while_it_is_waited_for() -> None:
    """A rebalance that a resize waits for is told by its disk group, power and percent, one that waits for power by that,
    a resync by its own name."""
    quiet = next(p for p in step(resize(80 * GIB), "asm", NODE).proves if p.object == "asm.operation")
    for found, said in (
        (operation("DATA", minutes=1), "rebalance of DATA runs with power 4: 10%, 1 minute left"),
        (operation("DATA", 0, state="WAIT"), "rebalance of DATA is stopped (power 0)"),
        (operation("DATA", kind="RESYNC", work=0), "RESYNC of DATA runs with power 4"),
    ):
        records = asm_records(replace(data(), running=(found,), operations=1))["asm.operation"]
        assert failure(quiet, records) == said
    assert failure(quiet, []) == ""


def test_resize_twice_changes_nothing() -> None:
    """Disks and group of the size already are done; what an interrupted run left is finished."""
    assert not resize(100 * GIB).stages
    asm_done = data(80 * GIB)
    assert [s.key for s in resize(80 * GIB, asm_facts=asm_done).stages] == ["asm", "cells"]
    cells_done = facts(120 * GIB)
    assert [s.key for s in resize(120 * GIB, cells_done).stages] == ["asm"]


def test_both_ways_at_once_is_refused() -> None:
    """Disks of different sizes of which some would grow and some shrink are refused."""
    mixed = {**facts(), ONE: facts(60 * GIB)[ONE]}
    with pytest.raises(RefusedError, match="some would get smaller and some larger"):
        resize(80 * GIB, mixed)


def test_the_disks_of_a_pool_keep_their_size() -> None:
    """A grid disk of an Exascale pool should not be resized under it."""
    pooled = {ONE: cell(grid_disks=(free_grid("CD_00_exa1cel01", "DATA", size=GIB, pool="P1"),))}
    with pytest.raises(RefusedError, match="belongs to the Exascale pool P1"):
        resize_griddisk_plan("t1", pooled, None, prefix="data", size=512 * MIB, statement="x")


def test_free_disks_need_no_asm() -> None:
    """Grid disks of no disk group are resized on the cells alone."""
    free = {ONE: cell(grid_disks=(free_grid("CD_00_exa1cel01", "DATA", size=GIB),))}
    plan = resize_griddisk_plan("t1", free, None, prefix="data", size=512 * MIB, statement="x")
    assert [s.key for s in plan.stages] == ["cells"]
    least = resize_griddisk_plan("t1", free, None, prefix="data", size=16 * MIB, statement="x")
    assert sent(least) == ["ALTER GRIDDISK DATA_CD_00_exa1cel01 size=16M"]


def test_free_disks_on_two_kinds_of_disk_are_nobodys_to_part() -> None:
    """A prefix that lies on flash and on hard disks is refused for the disk group's sake alone: free disks get their size."""
    both = {ONE: cell(grid_disks=tuple(free_grid(f"{disk}_00_{ONE}", "DATA", size=GIB) for disk in ("CD", "FD")))}
    assert resize(512 * MIB, both).targets == (ONE,)


def test_the_last_of_the_room_may_be_taken() -> None:
    """A size for which the room just suffices is not refused."""
    assert sent(resize(150 * GIB))[0].endswith("size=150G")


def test_only_a_shrink_waits_for_data_to_move() -> None:
    """A shrink is estimated by what ASM has to move, a growth has nothing to move."""
    assert (step(resize(80 * GIB), "asm", NODE).estimate or 0) > 30
    assert step(resize(120 * GIB), "asm", NODE).estimate is None
