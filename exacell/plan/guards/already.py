"""Judge whether the goal of CellCLI's own statement is already reached on a cell, from the planners' usual facts. Pure.

A goal counts as reached only if that is certain; every other statement is sent as typed, and the cell decides. Statements
that need a separate LIST are judged in :mod:`exacell.plan.guards.unchanged`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from exacell.cellcli.statement import Change, Scalar, Statement
from exacell.core.units import parse_size, round_down, size_text
from exacell.plan.facts import FLUSHED, CellFacts, rounded_cache
from exacell.plan.guards.targets import names_made, targets_of


def reached(statement: Statement, fact: CellFacts) -> str:
    """Return why a statement would change nothing on the cell, one clause; empty if it would, or may.

    Args:
        fact: with the facts of :func:`exacell.plan.guards.choice.facts_needed` read; without a release it was not read.
    """
    if not isinstance(statement, Change) or not fact.release or statement.filters:
        return ""
    judge = _JUDGES.get((str(statement.verb), statement.object))
    return judge(statement, fact) if judge is not None else ""


def _no_cache(statement: Change, fact: CellFacts) -> str:
    return "it has no flash cache" if fact.flash_cache is None else ""


def _no_pmem(statement: Change, fact: CellFacts) -> str:
    return "it has no PMEM cache" if fact.tells_pmem and fact.pmem_cache is None else ""


def _no_log(statement: Change, fact: CellFacts) -> str:
    return "" if fact.flash_log else "it has no flash log"


def _cache_made(statement: Change, fact: CellFacts) -> str:
    """Return why CREATE FLASHCACHE ALL changes nothing: a cache of that size exists; without a size, one that fills the space."""
    disks = len(fact.flash_disks)
    if not disks:
        return ""
    size = _only_size(statement) if statement.settings else fact.cache_room()
    same = size and fact.cache_size in (size, rounded_cache(size, disks))
    return f"its flash cache is {size_text(fact.cache_size)} already" if same else ""


def _log_made(statement: Change, fact: CellFacts) -> str:
    """Return why CREATE FLASHLOG ALL with a size changes nothing: a log of that size exists."""
    same = _only_size(statement) == fact.flash_log
    return f"its flash log is {size_text(fact.flash_log)} already" if same else ""


def _cache_switched(statement: Change, fact: CellFacts) -> str:
    """Return why ALTER FLASHCACHE ALL FLUSH or CANCEL FLUSH changes nothing."""
    return _flushed(statement, "flash cache", fact.flash_cache.status if fact.flash_cache is not None else "")


def _pmem_switched(statement: Change, fact: CellFacts) -> str:
    """Return why ALTER PMEMCACHE ALL FLUSH or CANCEL FLUSH changes nothing."""
    return _flushed(statement, "PMEM cache", fact.pmem_cache.status if fact.pmem_cache is not None else "")


def _flushed(statement: Change, cache: str, status: str) -> str:
    goal = {"FLUSH": FLUSHED, "CANCEL FLUSH": "normal"}.get(statement.action)
    return f"its {cache} is {status} already" if status == goal and not statement.settings else ""


def _disks_made(statement: Change, fact: CellFacts) -> str:
    """Return why CREATE GRIDDISK with a size changes nothing: all of its disks exist, on their cell disks and with that size."""
    more = {setting.attribute.lower() for setting in statement.settings} - {"prefix", "size", "celldisk"}
    size = _size(statement)
    names = names_made(fact, statement)
    if not names or not size or more:
        return ""
    known = {grid.name.lower(): grid for grid in fact.grid_disks}
    found = [known[name.lower()] for name in names if name.lower() in known]
    on = statement.setting("celldisk")
    where = on.text.lower() if isinstance(on, Scalar) else ""
    same = all(grid.size == round_down(size) and where in ("", grid.cell_disk.lower()) for grid in found)
    return f"its {_counted(len(names))} with this name and size already" if same and len(found) == len(names) else ""


def _disks_switched(statement: Change, fact: CellFacts) -> str:
    """Return why ALTER GRIDDISK ACTIVE or INACTIVE changes nothing: each of its disks has that state, in ASM too."""
    grids = targets_of(fact, statement)
    done = {"ACTIVE": ("ONLINE", "UNUSED"), "INACTIVE": ("OFFLINE", "UNUSED", "DROPPED")}.get(statement.action, ())
    named = len({name.lower() for name in statement.names})
    if not grids or statement.settings or statement.has("FORCE") or (named and named != len(grids)):
        return ""
    word = statement.action.lower()
    same = all(grid.status == word and grid.asm_mode in done for grid in grids)
    return f"its {_counted(len(grids))} {word} already" if same else ""


def _counted(count: int) -> str:
    return f"{count} grid disk{' is' if count == 1 else 's are'}"


def _only_size(statement: Change) -> int | None:
    """Return the size in bytes if it is the only setting; else None."""
    alone = [setting.attribute.lower() for setting in statement.settings] == ["size"]
    return _size(statement) if alone else None


def _size(statement: Change) -> int | None:
    said = statement.setting("size")
    return parse_size(said.text) if isinstance(said, Scalar) else None


_JUDGES: Mapping[tuple[str, str], Callable[[Change, CellFacts], str]] = {
    ("DROP", "FLASHCACHE"): _no_cache,
    ("DROP", "FLASHLOG"): _no_log,
    ("DROP", "PMEMCACHE"): _no_pmem,
    ("CREATE", "FLASHCACHE"): _cache_made,
    ("CREATE", "FLASHLOG"): _log_made,
    ("CREATE", "GRIDDISK"): _disks_made,
    ("ALTER", "FLASHCACHE"): _cache_switched,
    ("ALTER", "PMEMCACHE"): _pmem_switched,
    ("ALTER", "GRIDDISK"): _disks_switched,
}
"""(verb, object) → the function that judges the statement."""
