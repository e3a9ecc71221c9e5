"""Take snapshots of counters, and explain the difference of two snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from exacell.cellcli.schema import metrics as metric_table
from exacell.commands.declared.metrics import COUNTED, KINDS
from exacell.commands.subjects.listed import (
    COLUMNS as CHANGES,
    change_lines,
    change_rows,
    changes,
    count_rows,
    read_rows,
    told_apart,
)
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.paths import at_home
from exacell.core.units import and_more, counted
from exacell.core.values import dataclass
from exacell.language.registry import Call
from exacell.measure.delta import CellDelta, over_all, without_load
from exacell.measure.explain import Figure, explain
from exacell.measure.listing import read_listing
from exacell.measure.snapshot import LISTED, SYSSTAT, CellCounters, Snapshot, iso_of, named
from exacell.output.explained import explained
from exacell.output.result import Column, Result
from exacell.output.tables import table_lines
from exacell.plan.drift import Difference
from exacell.session.comparing import Comparison, compare
from exacell.session.given import Request, Services, Session
from exacell.session.hostfacts import comparable_facts
from exacell.session.sampling import read_counters, read_sysstat, wait_for_collection
from exacell.session.store import Store
from exacell.session.unpacking import opened

OLDEST = timedelta(seconds=90)
"""Largest age of the last collection when it is read, for a cell that collects once a minute."""


def snap(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell, or instance: its collection and the number of counters kept.

    Raises:
        StatementError: db= is missing, or given for a kind that has no database.
        CellSetError: hosts= names something that is not a host other than a cell.
        RefusedError: one of those hosts did not answer.
    """
    kind, name, db = call.text_arg("kind"), call.text_arg("as"), call.text_arg("db")
    if (kind == SYSSTAT) is not bool(db):
        raise StatementError(
            f"snap {kind}: {'it needs db=' if not db else 'db= is for sysstat only'}",
            hint="snap sysstat db=NAME as=NAME",
        )
    hosts = _facts_of(session, services, request, call.text_arg("hosts"))

    fresh = bool(call.args.get("fresh"))
    read = wait_for_collection if fresh else read_counters
    # The next collection comes after this moment; the last one may be a minute old.
    began = datetime.now(UTC) - (timedelta() if fresh else OLDEST)
    if db:
        cells, problems, code = read_sysstat(session, services, request, db)
    else:
        cells, problems, code = read(session, services, request, kind)
    return _kept(session, kind, name, began, hosts, (cells, problems, code))


def snap_list(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell: how many rows of the LIST statement were stored.

    Raises:
        StatementError: the text is not a LIST statement.
        CellSetError, RefusedError: as :func:`snap`.
    """
    statement = told_apart(call.text_arg("statement"))
    hosts = _facts_of(session, services, request, call.text_arg("hosts"))
    began = datetime.now(UTC) - OLDEST
    read = read_rows(session, services, request, statement)
    return _kept(session, statement, call.text_arg("as"), began, hosts, read)


def _kept(
    session: Session,
    kind: str,
    name: str,
    began: datetime,
    hosts: Mapping[str, Mapping[str, str]],
    read: tuple[Mapping[str, CellCounters], tuple[str, ...], ExitCode],
) -> Result:
    """Store the counters that were read as a snapshot, and return records about it."""
    cells, problems, code = read
    listed = kind.startswith(LISTED)
    if not cells:
        lacking = f"no cell answered {kind}" if listed else f"no cell gave {kind} counters"
        return Result(problems=problems or (lacking,), exit_code=code or ExitCode.FAILED)
    taken = _now(datetime.now(UTC))
    snapshot = Snapshot(
        rack=session.need_rack().name, name=name, kind=kind, taken=taken, began=_now(began), cells=cells, hosts=hosts
    )
    replaced = Store(session.home.state_dir / "store.db").save(snapshot)
    rows = [
        {
            "cell": cell,
            "snapshot": name,
            "kind": kind,
            **(
                {"rows": count_rows(counters.rows)}
                if listed
                else {"collectionTime": iso_of(counters.collected), "metrics": len(counters.values)}
            ),
        }
        for cell, counters in cells.items()
    ]
    notes = (f"snapshot {name} of {kind} replaced the older one",) if replaced else ()
    return Result(records=rows, fold=True, data=True, notes=notes, problems=problems, exit_code=code)


def _facts_of(session: Session, services: Services, request: Request, text: str) -> dict[str, dict[str, str]]:
    """Return the facts of the hosts in ``text``; empty for an empty text."""
    if not text:
        return {}
    with session.selection.on(text):
        hosts = tuple(session.selection.hosts)
        if not hosts:
            raise RefusedError(
                f"snap: hosts={text} names cells; the facts of cells are in every snapshot without it", hint="hosts=@db"
            )
        facts, problems = comparable_facts(
            services.fleet, hosts, timeout=request.read_timeout, cancel=session.interrupted
        )
    if problems:
        raise RefusedError(f"snap: {problems[0]}", hint="leave it out of hosts=, or leave hosts= out")
    return facts


def _now(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def snaps(session: Session, call: Call) -> Result:
    """Return one record per snapshot: name, kind, time, number of cells."""
    rack = session.need_rack().name
    rows = [
        {"cell": None, "name": s.name, "kind": s.kind, "taken": s.taken, "cells": len(s.cells)}
        for s in Store(session.home.state_dir / "store.db").snapshots(rack)
    ]
    return Result(records=rows, data=True, columns=[Column(n) for n in ("name", "kind", "taken", "cells")])


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Two snapshots, and their differences by kind.

    Attributes:
        lists: the LIST statements whose rows both have, if wanted.
        compared: one list of differences for each of ``kinds``.
    """

    kinds: Sequence[str]
    lists: Sequence[str]
    first: Mapping[str, Snapshot]
    second: Mapping[str, Snapshot]
    compared: Comparison


def pairs_of(
    asked: tuple[Session, Services, Request], names: tuple[str, str], *, anyway: bool, wanted: Sequence[str] = KINDS
) -> Pairs:
    """Return two snapshots by their names, compared, with the wanted kinds.

    Raises:
        StoreError: there is no such snapshot.
        RefusedError: they have no kind in common, or were taken under different conditions; or a file is not a listing.
    """
    session, services, request = asked
    first, second = _both(session, names, listings=LISTED in wanted)
    kinds = [kind for kind in wanted if kind in first and kind in second]
    lists = [kind for kind in first if kind in second and kind.startswith(LISTED)] if LISTED in wanted else []
    if not kinds and not lists and len(wanted) > 1 and (both := [kind for kind in first if kind in second]):
        raise RefusedError(
            f"{names[0]} and {names[1]} have {', '.join(both)}; only {' and '.join(wanted)} can be explained",
            hint=f"`delta {names[0]} {names[1]}` shows each counter that changed",
        )
    if not kinds and not lists:
        lacking = "they have nothing in common" if len(wanted) > 1 else f"only one has {', '.join(wanted)}"
        raise RefusedError(
            f"{names[0]} has {', '.join(first)} and {names[1]} has {', '.join(second)}: {lacking}",
            hint="`snaps` lists their contents",
        )
    compared = compare(session, services, request, [(first[kind], second[kind]) for kind in kinds])
    if compared.unlike and not anyway:
        raise RefusedError(
            f"{names[0]} and {names[1]} differ in more than the load: {'; '.join(compared.unlike)}",
            hint="the comparison would show this too; --anyway compares them and marks the result",
        )
    return Pairs(kinds=kinds, lists=lists, first=first, second=second, compared=compared)


def _both(session: Session, names: tuple[str, str], *, listings: bool) -> list[dict[str, Snapshot]]:
    """Return the two snapshots by kind: snapshots of the rack, or two files with the output of LIST METRICCURRENT.

    Args:
        listings: whether files are allowed; the conditions of their counters are not known.
    """
    store = Store(session.home.state_dir / "store.db")
    kept = store.snapshot_names(session.rack.name) if session.rack is not None else []
    files = [name for name in names if name.lower() not in {one.lower() for one in kept} and at_home(name).is_file()]
    if not files or not listings:
        rack = session.need_rack()
        hosts = (*rack.cells, *rack.host_names)
        return [{one.kind: one for one in store.find(rack.name, name, hosts)} for name in names]
    if len(files) == 1 and names[0] != names[1]:
        (other,) = (name for name in names if name != files[0])
        raise RefusedError(
            f"{files[0]} is a file and {other} is not", hint="give two files, or two snapshots: `snaps` lists them"
        )
    first, second = (_listing(at_home(name)) for name in names)
    return [
        first,
        {kind: named(one, tuple(first[kind].cells)) if kind in first else one for kind, one in second.items()},
    ]


def _listing(path: Path) -> dict[str, Snapshot]:
    """Return the output of LIST METRICCURRENT in a file as snapshots of no rack, by kind."""
    with opened(path) as file:
        text = file.read(_LONGEST).decode("utf-8", "replace")
    found, strange = read_listing(text, str(path))
    if strange:
        raise RefusedError(
            f"{path}: there is no metric {strange[0]}{and_more(len(strange))}", hint=f"leave {strange[0]} out"
        )
    return {kind: Snapshot(rack="", name=path.name, kind=kind, taken="", cells=cells) for kind, cells in found.items()}


_LONGEST = 16 << 20
"""Maximum number of bytes of a listing that are read."""


def _named_pairs(session: Session, services: Services, request: Request, call: Call, wanted: Sequence[str]) -> Pairs:
    names = call.text_arg("before"), call.text_arg("after")
    return pairs_of((session, services, request), names, anyway=call.flag("anyway"), wanted=wanted)


def explain_pair(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per sentence, then one per figure for the whole rack.

    Raises:
        RefusedError: a snapshot does not have that kind, or they were taken under different conditions.
    """
    kind = call.text_arg("kind")
    pairs = _named_pairs(session, services, request, call, (kind,))
    (deltas,), unlike = pairs.compared.deltas, pairs.compared.unlike
    found = explain(kind, pairs.first[kind], pairs.second[kind], deltas)
    return explained(
        (*not_alike(unlike), *found.sentences),
        [figure_row(figure) for figure in found.figures],
        notes=pairs.compared.notes,
        failed=bool(deltas[-1].invalid),
    )


def not_alike(unlike: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence about the conditions in which two snapshots differ; empty if they don't."""
    said = f"The snapshots are not alike, so the figures show that as well as the load: {'; '.join(unlike)}."
    return (said,) if unlike else ()


def figure_row(figure: Figure) -> dict[str, Any]:
    """Return a figure for the whole rack as a record."""
    limits = {name: None if value is None else round(value, 4) for name, value in vars(figure).items() if name in _ENDS}
    return {
        "cell": None,
        "figure": figure.name,
        "value": figure.value,
        "unit": figure.unit,
        **limits,
        "means": figure.means,
    }


_ENDS = ("low", "high")


def show_delta(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell, and last of each kind one for the rack, with a null cell.

    A kind without figures has one record per counter, a LIST statement one per change.

    Raises:
        RefusedError: the snapshots have nothing in common, or their counters were taken under different conditions.
    """
    pairs = _named_pairs(session, services, request, call, (*COUNTED, LISTED))
    kinds, first, second, compared = pairs.kinds, pairs.first, pairs.second, pairs.compared
    rows: list[dict[str, Any]] = []
    counters: list[dict[str, Any]] = []
    problems: list[str] = []
    figures: dict[str, None] = {}
    alone: dict[str, None] = {}
    for kind, found in zip(kinds, compared.deltas, strict=True):
        problems += [f"{d.cell or 'rack'}: {d.invalid}" for d in found if d.invalid]
        for item in found:
            figures |= dict.fromkeys(item.figures)
            alone |= dict.fromkeys(f"{kind} {key}" for key in item.alone)
            if kind in KINDS:
                rows.append(_row(kind, first[kind], second[kind], item, compared.unlike))
            else:
                counters += _counter_rows(kind, second[kind], item, compared.unlike)
    quiet = (without_load(kind, found[-1]) for kind, found in zip(kinds, compared.deltas, strict=True))
    notes = [*compared.notes, *filter(None, quiet), *_unmoved(counters)]
    changed: dict[str, list[Difference]] = {}
    for kind in pairs.lists:
        changed[kind], missing, said = changes(first[kind], second[kind])
        problems += missing
        notes += said
    listed = [row for kind, found in changed.items() for row in change_rows(kind, found)]
    if alone:
        notes.append(f"not compared, because only one snapshot has it: {next(iter(alone))}{and_more(len(alone))}")
    extra = [Column("unlike")] if compared.unlike else []
    notes += [f"not alike: {line}" for line in compared.unlike]
    own = [Column("cell"), Column("kind"), Column("seconds", "number"), *(Column(n, "number") for n in figures), *extra]
    columns = [*(own if rows else ()), *([*_COUNTERS, *extra] if counters else ()), *(CHANGES if listed else ())]
    columns = list({column.name: column for column in columns}.values()) or own

    def lines(width: int | None, color: bool, header: bool, *, together: bool) -> Iterator[str]:
        """Yield the figures, a table of the counters that changed, and one of the changes for each LIST."""
        if rows:
            yield from table_lines(rows, own, width=width, color=color, header=header)
        moved = [row for row in counters if row["difference"]]
        if moved:
            yield from ([""] if rows else [])
            yield from table_lines(moved, [*_COUNTERS, *extra], width=width, color=color, header=header)
        for place, (kind, found) in enumerate((kind, found) for kind, found in changed.items() if found):
            yield from ([""] if place or rows or moved else [])
            yield kind
            yield from change_lines(found, together=together, width=width, color=color, header=header)

    return Result(
        records=[*rows, *counters, *listed],
        columns=columns,
        fold=bool(listed),
        data=True,
        draw=partial(lines, together=True) if counters or listed else None,
        apart=partial(lines, together=False) if listed else None,
        notes=tuple(dict.fromkeys(notes)),
        problems=tuple(dict.fromkeys(problems)),
        exit_code=ExitCode.FAILED if problems else ExitCode.DONE,
    )


_COUNTERS = (
    *(Column("cell"), Column("kind"), Column("metric"), Column("object"), Column("difference", "number")),
    *(Column("unit"), Column("perSecond", "number"), Column("lifetimePercent", "number")),
)


def _counter_rows(kind: str, after: Snapshot, item: CellDelta, unlike: Sequence[str]) -> list[dict[str, Any]]:
    """Return one record per counter of a cell, or of the rack; a counter without an object counts for all objects."""
    lifetime = {cell: counters.values for cell, counters in after.cells.items()}
    total = over_all(lifetime) if item.cell is None else lifetime.get(item.cell, {})
    known = metric_table()
    rows = []
    for key, difference in item.values.items():
        metric, _, name = (key, "", "") if kind == SYSSTAT else key.partition(" ")
        rows.append(
            {
                "cell": item.cell,
                "kind": kind,
                "metric": metric,
                "object": name or None,
                "difference": difference,
                "unit": known[metric].unit if metric in known else None,
                "perSecond": round(difference / item.seconds, 3) if item.seconds else None,
                "lifetimePercent": round(100 * difference / total[key], 4) if total.get(key) else None,
                **({"unlike": list(unlike)} if unlike else {}),
            }
        )
    return rows


def _unmoved(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line with the number of counters that did not change; empty if all changed."""
    count = sum(not row["difference"] for row in rows)
    return [f"{counted(count, 'counter')} did not change; -o json shows them"] if count else []


def _row(kind: str, before: Snapshot, after: Snapshot, item: CellDelta, unlike: Sequence[str]) -> dict[str, Any]:
    passport: Mapping[str, str] = {}
    if item.cell is not None and item.cell in after.cells:
        passport = after.cells[item.cell].passport
    return {
        "cell": item.cell,
        "kind": kind,
        "from": before.name,
        "to": after.name,
        "seconds": item.measured,
        "valid": not item.invalid,
        **({"void": item.invalid} if item.invalid else {}),
        **({"unlike": list(unlike)} if unlike else {}),
        **item.figures,
        "deltas": dict(item.values),
        **({"passport": dict(passport)} if passport else {}),
    }
