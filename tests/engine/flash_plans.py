"""Plans for the flash caches of the fake cells, and what is looked at when they have run."""

from __future__ import annotations

from engine_fakes import CELLS, Bench

from exacell.core.units import GIB
from exacell.journal.left import CACHES
from exacell.plan.model import Plan
from exacell.plan.planners.flashcache import flush_plan, resize_plan

FLUSH = "ALTER FLASHCACHE ALL FLUSH NOWAIT"
CANCEL = "ALTER FLASHCACHE ALL CANCEL FLUSH"
DROP = "DROP FLASHCACHE"
NEW = "CREATE FLASHCACHE ALL size=36G"
OLD = "CREATE FLASHCACHE ALL size=40G"
ONE, TWO, THREE = CELLS


def flush(bench: Bench, *, recreate: bool = False) -> Plan:
    """Return the plan that flushes every cell."""
    return flush_plan("t1", bench.facts(), recreate=recreate, statement="flush flashcache")


def resize(bench: Bench) -> Plan:
    """Return the plan that makes every cache smaller."""
    return resize_plan("t1", bench.facts(), size=36 * GIB, statement="resize flashcache size=36g")


def all_caching(bench: Bench) -> bool:
    """Whether every cell caches."""
    return {c.status for c in bench.transport.cells.values()} == {"normal"}


def pending(bench: Bench) -> tuple[str, ...]:
    """Return the cells that the journal says may have caching off."""
    return tuple(cell for item in CACHES.left_by(bench.rows()) for cell in item.cells)
