"""Whole plans of the verbs as somebody has read and approved them, in files beside this one (see plan_shown)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plan_factory import (
    CELLS,
    asm,
    asm_disk,
    cache,
    cell,
    disk,
    free_grid,
    grid,
    group,
    rack,
    with_flash_grids,
    with_free,
)
from plan_shown import check_approved, check_no_other, lines_of

from exacell.core.units import GIB, MIB
from exacell.plan.facts import CellDisk, CellFacts, PmemCache
from exacell.plan.model import Plan
from exacell.plan.planners.availability import (
    SERVICES,
    offline_plan,
    online_plan,
    restart_plan,
)
from exacell.plan.planners.cachemode import mode_plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan
from exacell.plan.planners.griddisk_size import resize_griddisk_plan
from exacell.plan.planners.memorycache import memory_flush_plan
from tests.support.every import every

APPROVED = Path(__file__).parent / "approved"
ONE, TWO, THREE = CELLS
OLD, NEW, NEWEST = "11.2.3.2.1.130109", "19.3.2.0.0", "24.1.0.0.0"
FLUSHED = "normal - flushed"
NO = "Cannot de-activate due to other offline disks in the diskgroup"


def pmem(name: str = ONE, status: str = "normal", **changes: Any) -> CellFacts:
    """A cell with write-back PMEM whose cache has that status; none without one."""
    kept = PmemCache(name="p", size=1 << 40, status=status) if status else None
    return cell(name, **{"release": "22.1.9.0.0", "pmem_mode": "writeback", "pmem_cache": kept, **changes})


def away(name: str = ONE, asm_mode: str = "OFFLINE", **changes: Any) -> CellFacts:
    """A cell whose grid disks are inactive."""
    grids = tuple(grid(f"CD_0{n}_{name}", status="inactive", asm_mode=asm_mode, deactivation=NO) for n in (0, 1))
    return cell(name, grid_disks=grids, **changes)


def mode(to: str, *cells: CellFacts, **options: Any) -> Plan:
    return mode_plan("t1", {c.cell: c for c in cells}, mode=to, statement=f"set flashcache mode={to}", **options)


def mixed(name: str = ONE) -> CellFacts:
    """A cell with a used disk, an unused one, and one that is inactive already."""
    grids = (
        grid(f"CD_00_{name}"),
        free_grid(f"FD_00_{name}"),
        grid(f"CD_01_{name}", status="inactive", asm_mode="UNUSED"),
    )
    return cell(name, grid_disks=grids)


def bare(**changes: Any) -> CellFacts:
    """A cell without a flash cache and without room for one, which grid disks have."""
    return with_free(with_flash_grids(cell(flash_cache=None, **changes), size=GIB), 0)


def online(fact: CellFacts) -> Plan:
    return online_plan("t1", fact, statement="x")


def offline(fact: CellFacts) -> Plan:
    return offline_plan("t1", fact, statement="x")


def restart(service: str, **facts: CellFacts) -> Plan:
    return restart_plan("t1", {**rack(), **facts}, service=service, statement="x")


def flushing(fact: CellFacts) -> Plan:
    return flush_plan("t1", {fact.cell: fact}, recreate=False, statement="x")


def xrmem(name: str = ONE, status: str = "normal", **changes: Any) -> CellFacts:
    """A cell of 24.1 whose PMEM is write-through; the cache is in DRAM without a status."""
    return pmem(name, **{"release": NEWEST, "pmem_mode": "", "pmem_cache": memory(status), **changes})


def memory(status: str) -> PmemCache:
    return PmemCache(name="p", size=1 << 40 if status else 0, status=status)


def pmem_disks(name: str = ONE, **changes: Any) -> tuple[CellDisk, ...]:
    """A hard disk and two PMEM cell disks, the second one changed."""
    return disk(f"CD_00_{name}"), disk(f"PM_00_{name}", pmem=True), disk(f"PM_01_{name}", pmem=True, **changes)


def flushing_memory(*cells: CellFacts, limit: float | None = None) -> Plan:
    return memory_flush_plan("t1", {c.cell: c for c in cells}, statement="x", limit=limit)


def resizing(size: int, *cells: CellFacts) -> Plan:
    return resize_plan("t1", {c.cell: c for c in cells}, size=size, statement="x")


def uneven(size: int, first: int, second: int, *, asked: bool = True, **changes: Any) -> Plan:
    """A resize of DATA on one cell with two disks, the second one changed; sizes in G."""
    names = (f"CD_00_{ONE}", f"CD_01_{ONE}")
    both = {} if changes.get("asm_group") else changes
    own = (grid(names[0], size=first * GIB, **both), grid(names[1], size=second * GIB, **changes))
    fact = cell(grid_disks=own, cell_disks=tuple(disk(name, free=90 * GIB) for name in names))
    total = (first + second) * 1024
    found = group(total_mb=total, free_mb=total - 1000, required_mirror_free_mb=1000)
    disks = [asm_disk(f"DATA_{name}", group=1, header="MEMBER") for name in names]
    asked_asm = asm([found], disks) if asked else None
    return resize_griddisk_plan("t1", {ONE: fact}, asked_asm, prefix="DATA", size=size * GIB, statement="x")


def grids(
    size: int,
    *,
    now: int = 100,
    free: int = 50,
    used_mb: int = 60_000,
    only: int = 3,
    rest: int = 100,
    asm_mb: int | None = None,
    **changes: Any,
) -> Plan:
    """A resize of DATA on the first cells; sizes in G, ``rest`` that of the disks on the cells that are not selected, and
    ``asm_mb`` the MB that ASM takes of each disk where that is another size."""
    facts = {}
    for name in CELLS[:only]:
        own = tuple(grid(f"CD_0{n}_{name}", size=now * GIB, **changes) for n in (0, 1))
        facts[name] = cell(
            name, grid_disks=own, cell_disks=tuple(disk(f"CD_0{n}_{name}", free=free * GIB) for n in (0, 1))
        )
    total = (2 * only * now + 2 * (3 - only) * rest) * 1024 if asm_mb is None else 6 * asm_mb
    found = group(total_mb=total, free_mb=total - used_mb, required_mirror_free_mb=1000)
    sizes = {name: now if place < only else rest for place, name in enumerate(CELLS)}
    disks = [
        asm_disk(f"DATA_CD_0{n}_{name}", group=1, header="MEMBER", os_mb=g * 1024)
        for name, g in sizes.items()
        for n in (0, 1)
    ]
    return resize_griddisk_plan(
        "t1", facts, asm([found], disks), prefix="DATA", size=size * GIB + 5 * MIB, statement="x"
    )


CASES: dict[str, Callable[[], Plan]] = {
    "offline": lambda: offline(cell()),
    "offline, no release known": lambda: offline(cell(release="")),
    "offline, newest": lambda: offline(cell(release=NEWEST)),
    "offline, mixed": lambda: offline(mixed()),
    "offline, one away": lambda: offline(
        cell(
            grid_disks=(
                grid("CD_00_exa1cel01"),
                grid("CD_01_exa1cel01", status="inactive", asm_mode="OFFLINE", deactivation=NO),
                free_grid("FD_00_exa1cel01", deactivation=""),
            )
        )
    ),
    "offline, unused": lambda: offline(cell(grid_disks=(free_grid("FD_00_exa1cel01"),))),
    "offline, outcome unknown": lambda: offline(cell(grid_disks=(grid("CD_00_exa1cel01", deactivation=""),))),
    "offline twice": lambda: offline(away()),
    "online": lambda: online(away()),
    "online, CELLSRV stopped": lambda: online(away(asm_mode="", cellsrv="stopped")),
    "online, only CELLSRV stopped": lambda: online(cell(cellsrv="stopped")),
    "online, nothing but CELLSRV": lambda: online(cell(cellsrv="stopped", grid_disks=())),
    "online, syncing": lambda: online(cell(grid_disks=(grid("CD_00_exa1cel01", asm_mode="SYNCING"),))),
    "online, mixed": lambda: online(mixed()),
    "online twice": lambda: online(cell(grid_disks=(grid("CD_00_exa1cel01"), free_grid("FD_00_exa1cel01")))),
    "online, dropped": lambda: online(
        cell(
            grid_disks=(
                grid("CD_00_exa1cel01", status="inactive", asm_mode="DROPPED"),
                grid("CD_01_exa1cel01", status="inactive", asm_mode="DROPPED", asm_group=""),
            )
        )
    ),
    **{f"restart {service}": lambda service=service: restart(service) for service in SERVICES},
    "restart, one away": lambda: restart("cellsrv", **{ONE: away()}),
    "restart, free disks and no cache": lambda: restart_plan(
        "t1", {ONE: cell(grid_disks=mixed().grid_disks, flash_cache=None)}, service="cellsrv", statement="x"
    ),
    "restart, no grid disks": lambda: restart_plan("t1", {ONE: cell(grid_disks=())}, service="cellsrv", statement="x"),
    "restart, flushed": lambda: restart("all", **{TWO: cell(TWO, flash_cache=cache(TWO, status="normal - flushed"))}),
    "to write-through": lambda: mode("writethrough", cell(), cell(TWO, metrics={})),
    "to write-back": lambda: mode("writeback", cell(mode="writethrough"), cell(TWO)),
    "to write-through, old": lambda: mode("writethrough", cell(release=OLD), cell(TWO)),
    "to write-back, old": lambda: mode("writeback", cell(release=OLD, mode="writethrough")),
    "to write-back, no cache": lambda: mode("writeback", cell(mode="writethrough", flash_cache=None), usual=GIB),
    "to write-back, no room": lambda: mode("writeback", cell(mode="", flash_cache=None, cell_disks=()), usual=GIB),
    "to write-back, too old": lambda: mode("writeback", cell(release="11.2.2.4.2", mode="")),
    "to write-back, usual too large": lambda: mode("writeback", cell(mode="", flash_cache=None), usual=900 * GIB),
    "to write-through, left behind": lambda: mode(
        "writethrough", cell(mode="writethrough", flash_cache=None), away(TWO, mode="writethrough")
    ),
    "to write-through, disk needed": lambda: mode(
        "writethrough", cell(release=OLD, grid_disks=(grid("CD_00_x", deactivation=NO),))
    ),
    "to write-back, full": lambda: mode("writeback", bare(mode=""), usual=GIB),
    "to write-back, usual just fits": lambda: mode("writeback", cell(mode="", flash_cache=None), usual=2 * GIB),
    "to write-back, no release known": lambda: mode("writeback", cell(release="", mode="")),
    "to write-through, too old": lambda: mode("writethrough", cell(release="11.2.2.4.2")),
    "to write-through, done and full": lambda: mode("writethrough", bare(mode="writethrough")),
    "to write-through, done and a disk idle": lambda: mode(
        "writethrough",
        cell(mode="writethrough", grid_disks=(grid("CD_00_x", status="inactive", asm_mode="UNUSED"),)),
    ),
    "to write-through, cache gone": lambda: mode("writethrough", cell(flash_cache=None)),
    "to write-through, no release known": lambda: mode("writethrough", cell(release="")),
    "PMEM to write-through": lambda: mode("writethrough", pmem(), pmem(TWO, "normal - flushing"), pmem(THREE, "")),
    "PMEM to write-through, dropped": lambda: mode("writethrough", pmem(status=""), pmem(TWO, ""), dropped={ONE}),
    "PMEM to write-through, only created": lambda: mode(
        "writethrough", pmem(status="", pmem_mode="writethrough", mode="writethrough"), dropped={ONE}
    ),
    "PMEM to write-through, dropped and made again": lambda: mode("writethrough", pmem(), dropped={ONE}),
    "PMEM write-through already, dropped and made again": lambda: mode(
        "writethrough", pmem(pmem_mode="writethrough", mode="writethrough"), dropped={ONE}
    ),
    "PMEM stays, flash to write-back": lambda: mode("writeback", pmem(mode="writethrough")),
    "PMEM write-through already": lambda: mode("writethrough", pmem(pmem_mode="writethrough")),
    "PMEM mode without cache": lambda: mode("writethrough", pmem(status="")),
    "PMEM to write-back": lambda: mode("writeback", pmem(mode="writethrough", pmem_mode="writethrough")),
    "PMEM flush": lambda: flushing(pmem()),
    "PMEM flush under way": lambda: flushing(pmem(status="normal - flushing")),
    "PMEM write-back without cache": lambda: flushing(pmem(status="")),
    "PMEM flush, degraded": lambda: flushing(pmem(status="warning - degraded")),
    "PMEM flush, cell disk failed": lambda: flushing(
        pmem(cell_disks=(*cell().cell_disks, *pmem_disks(status="failed")))
    ),
    "memory flush": lambda: flushing_memory(
        pmem(metrics={"PC_BY_ALLOCATED": (3.0 * GIB, 1)}), pmem(TWO, metrics={}), pmem(THREE, pmem_mode="writethrough")
    ),
    "memory flush, XRMEM": lambda: flushing_memory(
        xrmem(metrics={"XRM_BY_ALLOCATED": (3.0 * GIB, 1)}), xrmem(TWO, ""), pmem(THREE), limit=60.0
    ),
    "memory flush, nowhere": lambda: flushing_memory(cell(), xrmem(TWO, "")),
    "memory flush, under way": lambda: flushing_memory(pmem(status="normal - flushing"), pmem(TWO, FLUSHED)),
    "memory flush, degraded": lambda: flushing_memory(pmem(), pmem(TWO, "warning - degraded")),
    "memory flush, cell disk failed": lambda: flushing_memory(xrmem(cell_disks=pmem_disks(status="failed"))),
    "memory flush, flush error": lambda: flushing_memory(pmem(cell_disks=pmem_disks(flush_error="E1"))),
    "memory flush, grid disk offline": lambda: flushing_memory(pmem(grid_disks=away().grid_disks)),
    "memory flush, grid disk offline, write-through": lambda: flushing_memory(xrmem(grid_disks=away().grid_disks)),
    "PMEM resize": lambda: resizing(36 * GIB, pmem()),
    "PMEM resize twice": lambda: resizing(
        40 * GIB, pmem(status=""), pmem(TWO, "normal - flushed", pmem_mode="writethrough"), pmem(THREE)
    ),
    "PMEM resize, left flushed": lambda: resizing(40 * GIB, pmem(status="normal - flushed"), pmem(TWO)),
    "PMEM resize, cache gone": lambda: resizing(GIB, pmem(status="normal - flushed", flash_cache=None)),
    "grow": lambda: grids(120),
    "shrink": lambda: grids(80),
    "shrink, others done": lambda: grids(80, only=2, rest=80),
    "shrink, others not": lambda: grids(80, only=2),
    "grow, others done": lambda: grids(120, only=2, rest=120),
    "resize twice": lambda: grids(100),
    "shrink, ASM done": lambda: grids(80, rest=80, asm_mb=80 * 1024),
    "shrink, cells done": lambda: grids(80, now=80, asm_mb=100 * 1024),
    "grow, ASM done": lambda: grids(120, asm_mb=120 * 1024),
    "shrink, just fits": lambda: grids(80, used_mb=6 * 80 * 1024),
    "grow, one disk done": lambda: uneven(120, 100, 120),
    "grow, two sizes": lambda: uneven(120, 60, 100),
    "shrink, one disk done": lambda: uneven(80, 80, 100),
    "resize, two groups": lambda: uneven(80, 100, 100, asm_group="RECO"),
    "resize, nobody asked": lambda: uneven(80, 100, 100, asked=False),
    "resize twice, unused": lambda: uneven(100, 100, 100, asm_mode="UNUSED", asm_group="", asked=False),
    "grow, unused": lambda: uneven(120, 100, 100, asm_mode="UNUSED", asm_group="", asked=False),
    "grow too far": lambda: grids(200),
    "grow as far as it goes": lambda: grids(149),
    "shrink too far": lambda: grids(9),
    "shrink to nothing": lambda: grids(0),
    "resize, syncing": lambda: grids(80, asm_mode="SYNCING"),
    "resize, use unknown": lambda: grids(80, asm_mode=""),
    "resize, unused": lambda: grids(80, asm_mode="UNUSED", asm_group=""),
    "resize, dropped": lambda: grids(80, asm_mode="DROPPED"),
    "resize, group unknown": lambda: grids(80, asm_group=""),
    "resize, other group": lambda: grids(80, asm_group="RECO"),
}


@every(CASES)
def test_plan_is_as_approved(name: str) -> None:
    """The plan of this case, or its refusal, is word for word the one that was read and kept."""
    check_approved(APPROVED, name, lines_of(CASES[name]))


def test_no_note_or_refusal_has_a_long_figure() -> None:
    """What somebody reads of a plan has at most four decimals; statements are exact."""
    read = ("note", "warning", "refused", "way out")
    said = [line for file in APPROVED.glob("*.txt") for line in file.read_text().splitlines() if line.startswith(read)]
    assert said and not [line for line in said if re.search(r"\d\.\d{5,}[KMGT]", line)]


def test_nothing_is_approved_that_no_case_has() -> None:
    """Every kept plan belongs to a case."""
    check_no_other(APPROVED, CASES)
