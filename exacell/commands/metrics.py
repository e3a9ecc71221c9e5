"""Snapshots of FLASHLOG and FLASHCACHE counters, and what two of them mean."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from exacell.cellcli.schema import metrics as metric_table
from exacell.context import EMULATED_POLL, POLL, Context
from exacell.errors import ExitCode, RefusedError
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.metrics.delta import CellDelta, delta
from exacell.metrics.snapshot import CellCounters, Snapshot
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.store import Store
from exacell.units import format_duration

GROUP = "metrics"

KINDS = ("flashlog", "flashcache")

COLLECTION_WAIT = 150.0
"""Seconds on the cell's clock to wait for a new collection, which comes every minute."""


def _statement(kind: str) -> str:
    return f"list metriccurrent where objectType = '{kind.upper()}'"


def _created(kind: str) -> str:
    return f"list {kind} attributes name, creationTime"


def _read(ctx: Context, kind: str) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    statements = (_statement(kind), _created(kind), f.CELL, f.IORMPLAN)
    answers = ctx.query(*statements)
    found: dict[str, CellCounters] = {}
    for cell, answer in answers.good.items():
        values = f.metric_values(answer.tables[0])
        created = answer.tables[1]
        fact = f.build(cell, statements[2:], answer.tables[2:])
        found[cell] = CellCounters(
            collected=max((at for _, at in values.values()), default=0),
            values={name: value for name, (value, _) in values.items()},
            passport={
                "release": fact.release,
                "flashCacheMode": fact.mode,
                "dbPlan": fact.iorm_text,
                "created": str(created[0].get("creationTime") or "") if created else "",
            },
        )
    return found, answers.problems, answers.exit_code


def _wait_for_collection(ctx: Context, kind: str) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Read until every cell that answers shows a collection later than the one it showed first."""
    first, problems, code = _read(ctx, kind)
    rack = ctx.need_rack()
    poll = EMULATED_POLL if rack.emulated else POLL
    waited, limit = 0.0, COLLECTION_WAIT if not rack.emulated else COLLECTION_WAIT / 5
    latest = first
    while first and any(latest[c].collected <= first[c].collected for c in first if c in latest):
        if waited >= limit or ctx.interrupted.wait(poll):
            stuck = [c for c in first if c in latest and latest[c].collected <= first[c].collected]
            why = "interrupted" if ctx.interrupted.is_set() else f"no new collection within {format_duration(limit)}"
            return (
                {c: v for c, v in latest.items() if c not in stuck},
                (*problems, *(f"{c}: {why}" for c in stuck)),
                ExitCode.INTERRUPTED if ctx.interrupted.is_set() else ExitCode.FAILED,
            )
        waited += poll
        latest, problems, code = _read(ctx, kind)
    return latest, problems, code


@command(
    "snap",
    group=GROUP,
    effect=Effect.LOCAL,
    summary="keep the counters of this moment on every cell under a name",
    details="Cells collect metrics once a minute, so a snapshot waits for the next collection on each cell's own clock: "
    "what happened before the snap is in it. fresh=no takes the last collection instead, up to a minute old.",
    example="snap flashlog as=before",
    params=(
        Param(name="kind", kind=Kind.CHOICE, choices=KINDS, positional=True, required=True, help="which counters"),
        Param(name="as", kind=Kind.SNAPSHOT, required=True, help="the snapshot's name; an older one of it is replaced"),
        Param(name="fresh", kind=Kind.BOOL, default="yes", help="wait for a new collection"),
    ),
)
def snap(ctx: Context, call: Call) -> Result:
    """Return one record per cell: its collection and the number of counters kept."""
    kind, name = call.text_arg("kind"), call.text_arg("as")
    rack = ctx.need_rack().name
    read = _wait_for_collection if call.args.get("fresh") else _read
    cells, problems, code = read(ctx, kind)
    if not cells:
        return Result(problems=problems or (f"no cell gave {kind} counters",), exit_code=code or ExitCode.FAILED)
    taken = datetime.now(UTC).isoformat(timespec="milliseconds")
    snapshot = Snapshot(rack=rack, name=name, kind=kind, taken=taken, cells=cells)
    replaced = Store(ctx.home.state_dir / "store.db").save(snapshot)
    rows = [
        {
            "cell": cell,
            "snapshot": name,
            "kind": kind,
            "collectionTime": _iso(counters.collected),
            "metrics": len(counters.values),
        }
        for cell, counters in cells.items()
    ]
    notes = (f"snapshot {name} of {kind} replaced the older one",) if replaced else ()
    return Result(records=rows, fold=True, data=True, notes=notes, problems=problems, exit_code=code)


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


@command(
    "snaps",
    group=GROUP,
    effect=Effect.READ,
    summary="the snapshots of this rack, oldest first",
    example="snaps",
)
def snaps(ctx: Context, call: Call) -> Result:
    """Return one record per snapshot."""
    rack = ctx.need_rack().name
    rows = [
        {"cell": None, "name": s.name, "kind": s.kind, "taken": s.taken, "cells": len(s.cells)}
        for s in Store(ctx.home.state_dir / "store.db").snapshots(rack)
    ]
    return Result(records=rows, data=True, columns=[Column(n) for n in ("name", "kind", "taken", "cells")])


@command(
    "delta",
    group=GROUP,
    effect=Effect.READ,
    summary="what happened between two snapshots, per cell and over the rack",
    details="Only counters are subtracted. A counter that fell has restarted (flush, new cache, CELLSRV restart): that "
    "cell has no difference, and the rack has no figure. flashWinPercent = flash first / (flash first + disk first).",
    example="delta before after",
    params=(
        Param(name="before", kind=Kind.SNAPSHOT, positional=True, required=True, help="the earlier snapshot"),
        Param(name="after", kind=Kind.SNAPSHOT, positional=True, required=True, help="the later one"),
    ),
)
def show_delta(ctx: Context, call: Call) -> Result:
    """Return one record per cell and, last of each kind, the rack's with a null cell."""
    rack = ctx.need_rack().name
    store = Store(ctx.home.state_dir / "store.db")
    first = {s.kind: s for s in store.find(rack, call.text_arg("before"))}
    second = {s.kind: s for s in store.find(rack, call.text_arg("after"))}
    kinds = [kind for kind in KINDS if kind in first and kind in second]
    if not kinds:
        raise RefusedError(
            f"{call.text_arg('before')} holds {', '.join(first)} and {call.text_arg('after')} holds {', '.join(second)}: "
            "they have no counters in common"
        )
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    figures: dict[str, None] = {}
    for kind in kinds:
        cumulative = [m.name for m in metric_table().values() if m.metric_type == "Cumulative" and m.unit != "%"]
        found = delta(first[kind], second[kind], cumulative)
        problems += [f"{d.cell or 'rack'}: {d.invalid}" for d in found if d.invalid]
        for item in found:
            figures |= dict.fromkeys(item.figures)
            rows.append(_row(kind, first[kind], second[kind], item))
    columns = (Column("cell"), Column("kind"), Column("seconds", "number"), *(Column(n, "number") for n in figures))
    return Result(
        records=rows,
        columns=columns,
        data=True,
        problems=problems,
        exit_code=ExitCode.FAILED if problems else ExitCode.DONE,
    )


def _row(kind: str, before: Snapshot, after: Snapshot, item: CellDelta) -> dict[str, Any]:
    passport: Mapping[str, str] = {}
    if item.cell is not None and item.cell in after.cells:
        passport = after.cells[item.cell].passport
    return {
        "cell": item.cell,
        "kind": kind,
        "from": before.name,
        "to": after.name,
        "seconds": item.seconds,
        "valid": not item.invalid,
        **item.figures,
        "deltas": dict(item.values),
        **({"passport": dict(passport)} if passport else {}),
    }
