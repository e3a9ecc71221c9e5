"""Show and flush the cache in memory: PMEM on X8M and X9M, DRAM on X10M and later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.cellcli.schema import release_key
from exacell.change.leftbehind import unnoted
from exacell.commands.flashcache import cache_table, flush_limit
from exacell.core.cellset import fold
from exacell.core.units import MIB
from exacell.journal.left import CACHES, caching_on, note_back
from exacell.language.registry import Call
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.plan.facts import FLUSHED, PMEMCACHE, metric_values
from exacell.plan.model import Planned
from exacell.plan.planners.memorycache import memory_flush_plan
from exacell.session.answers import Answer, Answers
from exacell.session.factreading import read_facts
from exacell.session.given import Request, Services, Session


def show(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell; a cell without a cache in memory has nulls."""
    cells = tuple(session.cells())
    releases = services.fleet.releases(cells)
    asked: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        asked.setdefault(_statements(releases.get(cell, "")), []).append(cell)
    found: dict[str, Answer] = {}
    for statements, group in asked.items():
        found.update(services.query(*statements, cells=group, timeout=request.read_timeout).answers)
    answers = Answers(answers={cell: found[cell] for cell in cells})
    former = [cell for statements, group in asked.items() if PMEMCACHE in statements for cell in group]
    rows = [_row(cell, answer.tables, former=cell in former) for cell, answer in answers.good.items()]
    notes = []
    for cache in ("pmemcache", "xrmemcache"):
        caching = {
            each["cell"]: each["caching"]
            for each in rows
            if each["status"] and (each["cell"] in former) == (cache[0] == "p")
        }
        problem = note_back(services.journal, session.need_rack().name, CACHES, caching_on(cache, caching))
        notes += [line for line in unnoted(session, services, problem) if line not in notes]
    none = [row["cell"] for row in rows if row["name"] is None]
    if none:
        notes.append(f"{fold(none)} has no memory cache: X8M and X9M can have one in PMEM, later cells in DRAM")
    return cache_table(rows, answers, notes, before=(Column("memory"),))


def _statements(release: str) -> tuple[str, ...]:
    """Return the statements for a cell of that release; for an unknown release those of the newest one."""
    if not release or release_key(release) >= release_key(f.PMEM_UNTIL):
        return ("list cell attributes name", f.XRMEMCACHE, f.XRMEM_METRICS)
    if release_key(release) < release_key(f.PMEM_SINCE):
        return ("list cell attributes name",)
    return ("list cell attributes name, pmemCacheMode", f.PMEMCACHE, f.PMEM_METRICS)


def _row(cell: str, tables: Sequence[Sequence[Mapping[str, Any]]], *, former: bool) -> dict[str, Any]:
    """Return the record of a cell from its answers to :func:`_statements`.

    Args:
        former: whether the cell has PMEMCACHE, as before release 23.1.
    """
    keys = ("cell", "name", "memory", "mode", "size", "dirty", "used", "status", "caching")
    row: dict[str, Any] = {**dict.fromkeys(keys), "cell": cell}
    if len(tables) == 1 or not tables[1]:
        return row
    cache = tables[1][0]
    status = str(cache.get("status") or "").lower()
    used = next((value for value, _ in metric_values(tables[2]).values()), None)
    # From 23.1 on it is write-through only. Source: reference cellcli.md section 8.
    mode = "writethrough"
    if former:
        mode = str((tables[0][0] if tables[0] else {}).get("pmemCacheMode") or "").lower()
    return {
        **row,
        "name": cache.get("name"),
        "memory": "pmem" if "size" in cache else "dram",
        "mode": mode or None,
        "size": cache.get("size", cache.get("effectiveCacheSize")),
        "dirty": 0 if mode == "writethrough" or status == FLUSHED else None,
        "used": None if used is None else int(used * MIB),
        "status": status or None,
        "caching": "off" if "flush" in status else "on",
    }


def flush(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan; its result is one record per cell with its outcome."""
    facts = read_facts(
        session,
        services,
        request,
        f.CELL,
        f.PMEMCACHE,
        f.XRMEMCACHE,
        f.CELLDISK,
        f.GRIDDISK,
        f.PMEM_METRICS,
        f.XRMEM_METRICS,
    )
    plan = memory_flush_plan(session.need_rack().name, facts, statement=call.text, limit=flush_limit(call))
    return Planned(plan, facts)
