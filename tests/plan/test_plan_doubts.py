"""A cache that LIST FLASHCACHE does not show, while other answers of the cell do: nothing is dropped or switched over it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, cache, cell, disk, grid, with_flash_grids, with_free
from plan_guarding import guard, only, pmem

from exacell.cellcli.statement import parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB
from exacell.plan import facts as f
from exacell.plan.facts import CellFacts
from exacell.plan.guards.caches import unproven_cache
from exacell.plan.guards.choice import facts_needed
from exacell.plan.implausible import hidden_cache, hidden_pmem
from exacell.plan.model import Plan, Risk
from exacell.plan.planners.cachemode import mode_plan

ONE = CELLS[0]
GONE = cell(flash_cache=None)
DIRTY = {"FC_BY_DIRTY": (2.0 * GIB, 1000)}
CACHED = (grid(f"CD_00_{ONE}"), grid(f"CD_01_{ONE}", cached_by=(f"fd_00_{ONE}",)))
FULL = (disk(f"CD_00_{ONE}"), *(disk(f"FD_0{n}_{ONE}", free=0) for n in (0, 1)))

HIDDEN: list[tuple[CellFacts, str]] = [
    (cell(flash_cache=None, metrics=DIRTY), "but FC_BY_DIRTY is 2G: it may hold the only copy"),
    (cell(flash_cache=None, grid_disks=CACHED), f"but grid disk DATA_CD_01_{ONE} is cachedBy fd_00_{ONE}: it may"),
    (cell(flash_cache=None, cell_disks=FULL), "but 48G of its flash are not free and not used by a grid disk: it may"),
    # What is no grid disk's is what counts.
    (
        cell(flash_cache=None, cell_disks=FULL, grid_disks=(grid(f"FD_00_{ONE}", size=23 * GIB),)),
        "but 25G of its flash",
    ),
    (cell(flash_cache=None, mode="", metrics=DIRTY), "but FC_BY_DIRTY is 2G"),
]
PLAIN = [
    cell(),
    GONE,
    replace(GONE, metrics=None),
    cell(flash_cache=None, mode="writethrough", metrics=DIRTY, grid_disks=CACHED, cell_disks=FULL),
    # Log, metadata and the like take less than half of the flash.
    cell(flash_cache=None, cell_disks=(FULL[0], *(replace(d, free=12 * GIB) for d in FULL[1:]))),
    cell(flash_cache=None, cell_disks=FULL, grid_disks=(grid(f"FD_00_{ONE}", size=24 * GIB),)),
    with_flash_grids(with_free(GONE, 0), size=GIB),
    # Grid disks on hard disks take no flash, hard disks are none, and PMEM is another cache's.
    cell(flash_cache=None, cell_disks=(disk(f"CD_00_{ONE}", free=0),)),
    cell(flash_cache=None, grid_disks=(grid(f"CD_00_{ONE}", cached_by=(f"PM_00_{ONE}",)),)),
]


@pytest.mark.parametrize(("fact", "why"), HIDDEN)
def test_a_cache_that_other_answers_show(fact: CellFacts, why: str) -> None:
    """An empty LIST FLASHCACHE is no proof on a write-back cell of which dirty bytes, cachedBy or taken flash tell otherwise."""
    assert hidden_cache(fact).startswith("LIST FLASHCACHE shows none, but ") and why in hidden_cache(fact)
    assert unproven_cache(fact) == unproven_cache(fact, force=True) == hidden_cache(fact)


@pytest.mark.parametrize("fact", PLAIN)
def test_a_cell_without_a_cache_is_believed(fact: CellFacts) -> None:
    """Where nothing contradicts it, where nothing can be dirty, and where there is a cache, there is no doubt."""
    assert hidden_cache(fact) == ""


@pytest.mark.parametrize("fact", [fact for fact, _ in HIDDEN])
@pytest.mark.parametrize(
    "text", ["alter cell flashCacheMode=writethrough", "alter cell flashCacheCompress=true", "drop flashcache"]
)
def test_what_needs_that_there_is_no_cache(text: str, fact: CellFacts) -> None:
    """Mode and compression change, and a cache is dropped, over a hidden cache only when its loss is accepted by name."""
    with pytest.raises(RefusedError, match="LIST FLASHCACHE shows none, but"):
        guard(text, fact)
    assert guard(text, fact, accepted=[ONE]).risk is Risk.DATA
    assert guard(text, GONE).risk is not Risk.DATA


@pytest.mark.parametrize("fact", [fact for fact, _ in HIDDEN])
def test_the_verb_refuses_too(fact: CellFacts) -> None:
    """SET FLASHCACHE leaves the flush out where there is no cache, so a hidden one refuses it; without a doubt it goes on."""

    def plan(found: CellFacts, mode: str = "writethrough") -> Plan:
        return mode_plan("t1", {ONE: found}, mode=mode, statement="s", usual=GIB)

    fact = replace(fact, mode="writeback")
    with pytest.raises(RefusedError, match="LIST FLASHCACHE shows none, but"):
        plan(fact)
    assert plan(GONE).steps and plan(replace(fact, flash_cache=cache(ONE))).steps


def test_a_hidden_pmem_cache() -> None:
    """A grid disk that is cachedBy a PMEM cell disk tells of a cache that LIST PMEMCACHE does not show."""
    disks = (disk(f"CD_00_{ONE}"), replace(disk(f"PM_00_{ONE}"), pmem=True))
    values: dict[str, Any] = {"cell_disks": disks, "grid_disks": (grid(f"CD_00_{ONE}", cached_by=(f"PM_00_{ONE}",)),)}
    gone = replace(pmem(), pmem_cache=None, **values)
    assert "LIST PMEMCACHE shows none, but grid disk" in hidden_pmem(gone)
    assert hidden_pmem(replace(gone, pmem_mode=""))
    assert not hidden_pmem(replace(gone, pmem_mode="writethrough")) and not hidden_pmem(replace(gone, grid_disks=()))
    assert not hidden_pmem(replace(pmem(), **values))
    # What flash holds is the flash cache's.
    by_flash = (grid(f"CD_00_{ONE}", cached_by=(f"FD_00_{ONE}",)),)
    assert not hidden_pmem(replace(gone, cell_disks=(*disks, disk(f"FD_00_{ONE}")), grid_disks=by_flash))
    text = "alter cell pmemCacheMode=writethrough"
    with pytest.raises(RefusedError, match="LIST PMEMCACHE shows none"):
        guard(text, gone)
    assert only(guard(text, replace(gone, grid_disks=()))).needs


@pytest.mark.parametrize("name", ["flashCacheMode=writethrough", "pmemCacheMode=writeback", "flashCacheCompress=true"])
def test_what_tells_of_a_hidden_cache_is_read(name: str) -> None:
    """What contradicts an empty answer is read for the statements that rely on it, and for no other of the cell's."""
    assert {f.CELLDISK, f.FLASH_METRICS, f.GRIDDISK} <= set(facts_needed(parse(f"alter cell {name}")))
    assert not {f.CELLDISK, f.FLASH_METRICS} & set(facts_needed(parse("alter cell comment='x'")))


def test_cached_by_is_read() -> None:
    """LIST GRIDDISK tells by which cell disks each grid disk is cached, of none as of one and of several."""
    rows = [{"name": "a", "cachedBy": text} for text in ("FD_00_c, FD_01_c", "FD_00_c", None)]
    fact = f.build(ONE, [f.GRIDDISK], [rows])
    assert [d.cached_by for d in fact.grid_disks] == [("FD_00_c", "FD_01_c"), ("FD_00_c",), ()]
