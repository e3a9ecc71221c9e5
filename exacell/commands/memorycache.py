"""show the cache in memory: PMEM on X8M and X9M, DRAM on X10M and later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.language.registry import Call, Effect, command
from exacell.output.result import Column, Result

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.fleet import Answer

GROUP = "flash cache"

_DETAILS = (
    "The same cache under both names: PMEMCACHE before release 23.1, XRMEMCACHE since. memory is pmem (X8M, X9M) or dram (X10M "
    "and later). used is as of the cell's last metric collection. dirty is 0 where the cache is write-through or its status is "
    "normal - flushed; a write-back one has no metric of it. caching is off while the status says flushing or flushed, until "
    "ALTER PMEMCACHE ALL CANCEL FLUSH. A cell without such a cache has empty columns."
)

_NONE = ("list cell attributes name",)
_PMEM = (
    "list cell attributes name, pmemCacheMode",
    "list pmemcache attributes name, size, status",
    "list metriccurrent where objectType = 'PMEMCACHE' and name like 'PC_BY_ALLOCATED'",
)
_XRMEM = (
    "list cell attributes name",
    "list xrmemcache detail",
    "list metriccurrent where objectType = 'XRMEMCACHE' and name like 'XRM_BY_ALLOCATED'",
)
"""With DETAIL a cell prints what it has: three attributes of a cache in DRAM, more of one on PMEM."""


@command(
    "show xrmemcache",
    group=GROUP,
    effect=Effect.READ,
    summary="the cache in memory of X8M and later: mode, size, dirty and used bytes, status, and whether it is caching",
    details=_DETAILS,
    example="show xrmemcache",
)
@command(
    "show pmemcache",
    group=GROUP,
    effect=Effect.READ,
    summary="show xrmemcache by its name before release 23.1: mode, size, dirty and used bytes, status, caching",
    details=_DETAILS,
    example="show pmemcache",
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per cell; a cell without a cache in memory has nulls."""
    from exacell.cellset import fold
    from exacell.fleet import Answers
    from exacell.pending import observe_caching

    cells = tuple(ctx.cells())
    releases = ctx.fleet.releases(cells)
    asked: dict[tuple[str, ...], list[str]] = {}
    for cell in cells:
        asked.setdefault(_statements(releases.get(cell, "")), []).append(cell)
    found: dict[str, Answer] = {}
    for statements, group in asked.items():
        found.update(ctx.query(*statements, cells=group).answers)
    answers = Answers(answers={cell: found[cell] for cell in cells})
    former = asked.get(_PMEM, [])
    rows = [_row(cell, answer.tables, former=cell in former) for cell, answer in answers.good.items()]
    notes = []
    for cache in ("pmemcache", "xrmemcache"):
        caching = {
            row["cell"]: row["caching"]
            for row in rows
            if row["status"] and (row["cell"] in former) == (cache[0] == "p")
        }
        problem = observe_caching(ctx.journal, ctx.need_rack().name, caching, cache)
        notes += [problem] if problem and problem not in notes else []
    none = [row["cell"] for row in rows if row["name"] is None]
    if none:
        notes.append(f"no cache in memory on {fold(none)}: X8M and X9M may have one in PMEM, later cells in DRAM")
    return Result(
        records=rows,
        notes=notes,
        columns=(
            Column("cell"),
            Column("memory"),
            Column("mode"),
            Column("size", "size"),
            Column("dirty", "size"),
            Column("used", "size"),
            Column("status"),
            Column("caching"),
        ),
        fold=True,
        data=True,
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def _statements(release: str) -> tuple[str, ...]:
    """Return what to ask a cell of that release; of one that did not tell it, what the newest take."""
    from exacell.cellcli.schema import release_key
    from exacell.plan.facts import PMEM_SINCE, PMEM_UNTIL

    if not release:
        return _XRMEM
    if release_key(release) < release_key(PMEM_SINCE):
        return _NONE
    return _PMEM if release_key(release) < release_key(PMEM_UNTIL) else _XRMEM


def _row(cell: str, tables: Sequence[Sequence[Mapping[str, Any]]], *, former: bool) -> dict[str, Any]:
    from exacell.plan.facts import metric_values
    from exacell.units import MIB

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
        "dirty": 0 if mode == "writethrough" or status == "normal - flushed" else None,
        "used": None if used is None else int(used * MIB),
        "status": status or None,
        "caching": "off" if "flush" in status else "on",
    }
