"""CellCLI's own statements as planned by the guards: whole plans that somebody has read and approved (see plan_shown)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, free_grid, grid, with_flash_grids
from plan_shown import check_approved, check_no_other, lines_of

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.cellcli.statement import Change, Grant, parse
from exacell.plan.facts import CellFacts, PmemCache
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Plan

APPROVED = Path(__file__).parent / "approved_raw"
ONE, TWO, _ = CELLS
NO = "Cannot de-activate due to other offline disks in the diskgroup"


def pmem(status: str = "normal", mode: str = "writeback", **changes: Any) -> CellFacts:
    """A cell with a PMEM cache of that status, none without one."""
    kept = PmemCache(name="p", size=1 << 40, status=status) if status else None
    return cell(pmem_mode=mode, pmem_cache=kept, **changes)


GRIDS = {
    "used": cell(),
    "used and free": with_flash_grids(cell()),
    "one away": cell(grid_disks=(grid(f"CD_00_{ONE}"), grid(f"CD_01_{ONE}", status="inactive", deactivation=NO))),
    "all away": cell(grid_disks=tuple(grid(f"CD_0{n}_{ONE}", status="inactive", deactivation=NO) for n in (0, 1))),
    "only unused ones active": cell(
        grid_disks=(free_grid(f"FD_00_{ONE}"), grid(f"CD_01_{ONE}", status="inactive", deactivation=NO))
    ),
    "not grid disks": cell(grid_disks=()),
    "two cells, of one a disk away": cell(TWO, grid_disks=(grid("CD_00_x", status="inactive", deactivation=NO),)),
    "two cells in use": cell(TWO),
}
"""Cells that differ in their grid disks; one named after several stands beside a usual one."""

SERVICES = [
    *(
        (f"alter cell {verb} services {service}", "used")
        for verb in ("shutdown", "restart", "startup")
        for service in ("cellsrv", "ms", "rs", "all", "egs")
    ),
    *((f"alter cell {verb} services cellsrv", kind) for verb in ("shutdown", "restart") for kind in list(GRIDS)[1:-1]),
    ("alter cell shutdown services all ignore redundancy", "used"),
    ("alter cell shutdown services ms ignore redundancy", "used"),
    ("alter cell shutdown services cellsrv ignore redundancy", "two cells in use"),
    ("alter cell shutdown services cellsrv ignore redundancy", "two cells, of one a disk away"),
    ("alter cell shutdown services cellsrv", "two cells in use"),
    ("alter cell restart services cellsrv", "two cells in use"),
    ("alter cell disable services egs", "used"),
]
SWITCHES = [
    *((f"alter griddisk all {state}", kind) for state in ("inactive", "active") for kind in GRIDS),
    ("alter griddisk all inactive where size > 1G", "used"),
    ("alter griddisk all flashdisk inactive", "used and free"),
    ("alter griddisk all harddisk inactive", "used and free"),
    (f"alter griddisk ssd_FD_00_{ONE} active", "used and free"),
    (f"alter griddisk ssd_FD_00_{ONE} inactive force", "used and free"),
]
DISKS = [
    ("create griddisk all flashdisk prefix=p, size=1G", "used"),
    ("create griddisk all harddisk prefix='p, q', size=512M", "used"),
    ("create griddisk all harddisk prefix=(p,q), size=512M", "used"),
    ("create griddisk all prefix=p", "used"),
    ("create griddisk p_1 celldisk=FD_00_exa1cel01", "used"),
    ("drop griddisk all prefix=ssd", "used and free"),
    ("drop griddisk all prefix=(nix,ssd)", "used and free"),
    ("drop griddisk all prefix=(nix,data)", "used and free"),
    ("drop griddisk all prefix=ssd nowait", "used and free"),
    ("drop griddisk all prefix=ssd erase=1pass", "used and free"),
    ("drop griddisk all prefix=ssd erase=1pass nowait", "used and free"),
    ("drop griddisk all prefix=ssd prepare", "used and free"),
    ("drop griddisk all prefix=ssd cancel", "used and free"),
    ("drop griddisk all prefix=ssd force", "used and free"),
    ("alter griddisk all flashdisk size=1G", "used and free"),
    ("alter griddisk all flashdisk size=1G where size > 1G", "used and free"),
    ("alter griddisk all flashdisk comment='x'", "used and free"),
    ("alter griddisk all flashdisk comment='x' force", "used and free"),
    (f"drop celldisk FD_00_{ONE}", "used and free"),
    (f"drop celldisk FD_01_{ONE} force", "used"),
    ("drop celldisk all", "not grid disks"),
    ("export celldisk all", "not grid disks"),
    ("alter celldisk all flush", "used"),
    ("create celldisk all", "used"),
]
CACHES = {
    "caching": cell(),
    "flushed": cell(flash_cache=cache(ONE, status="normal - flushed")),
    "write-through": cell(mode="writethrough"),
    "without": cell(flash_cache=None),
    "mode unknown, without": cell(mode="", flash_cache=None),
    "PMEM": pmem(),
    "PMEM flushed": pmem("normal - flushed", flash_cache=cache(ONE, status="normal - flushed")),
    "PMEM, no flash cache": pmem(flash_cache=None),
    "PMEM mode, no caches": pmem("", flash_cache=None),
    "PMEM write-through, no flash cache": pmem(mode="writethrough", flash_cache=None),
    "PMEM write-through": pmem(mode="writethrough"),
}
MODES = [
    *((f"alter cell flashCacheMode={mode}", kind) for mode in ("writethrough", "writeback") for kind in CACHES),
    *(("alter cell pmemCacheMode=writethrough", kind) for kind in ("caching", "PMEM", "PMEM mode, no caches")),
    ("alter cell flashCacheMode=writethrough, pmemCacheMode=writethrough", "PMEM mode, no caches"),
    ("alter cell pmemCacheMode=writethrough, flashCacheMode=writethrough", "PMEM"),
    ("alter cell flashCacheMode='WriteThrough'", "PMEM mode, no caches"),
    ("alter cell flashCacheMode=(writethrough)", "caching"),
    ("alter cell comment='x', flashCacheMode=writethrough", "without"),
    ("alter cell comment='flashcachemode'", "caching"),
]
DROPS = [
    *(
        (text, kind)
        for text in ("drop flashcache", "drop pmemcache", "alter flashcache all size=20G")
        for kind in CACHES
    ),
    ("drop pmemlog all", "caching"),
    ("drop flashlog", "caching"),
    ("drop flashlog force", "caching"),
]
PLANS = {
    "as usual": cell(),
    "nothing known": cell(iorm=None, iorm_text="", objective=""),
    "two cells that differ": cell(TWO, iorm=parse_iorm("((name=ERP,share=2))"), iorm_text="((name=ERP,share=2))"),
}
IORM = [
    (f"alter iormplan {text}", kind)
    for text in (
        "dbplan=((name=SPOT,share=1))",
        'dbplan=""',
        "objective=basic",
        "dbplan=((name=SPOT,share=1)), objective=basic",
        "dbplan=((name=SPOT,nix=1))",
        'dbplan="", catplan=""',
        "active",
    )
    for kind in PLANS
]
TOPICS: dict[str, tuple[list[tuple[str, str]], Mapping[str, CellFacts]]] = {
    "services": (SERVICES, GRIDS),
    "inactive and active": (SWITCHES, GRIDS),
    "grid disks and cell disks": (DISKS, GRIDS),
    "modes": (MODES, CACHES),
    "drops": (DROPS, CACHES),
    "IORM plan": (IORM, PLANS),
}
"""Topic → statements with the kind of cell that they go to, and the cells by kind."""


def planned(text: str, kind: str, cells: Mapping[str, CellFacts]) -> Plan:
    statement = parse(text)
    assert isinstance(statement, (Change, Grant))
    both = [cell(), cells[kind]] if kind.startswith("two cells") else [cells[kind]]
    facts = {fact.cell: fact for fact in both}
    return guard_plan("t1", facts, statement, text=text, accepted=(), headers={}, may_ask=True)


def told(topic: str) -> Iterator[str]:
    statements, cells = TOPICS[topic]
    for text, kind in statements:
        yield f"=== {text} ({kind})"
        yield from lines_of(lambda text=text, kind=kind: planned(text, kind, cells))


@pytest.mark.parametrize("topic", TOPICS)
def test_guarded_statements_are_as_approved(topic: str) -> None:
    """What the guards make of CellCLI's statements on a topic is word for word what was read and kept."""
    check_approved(APPROVED, topic, list(told(topic)))


def test_no_topic_is_kept_in_vain() -> None:
    """Every kept topic belongs to one here."""
    check_no_other(APPROVED, TOPICS)
