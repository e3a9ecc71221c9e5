"""Sets of 10046 trace files: named files, and collections of files on their hosts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from exacell.commands.subjects.files import kept_rows, trace_files, words_of
from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
from exacell.measure import compared, tracesaid
from exacell.measure.collected import Collected
from exacell.measure.finding import Chart, Distribution, Finding, Form, Series, Side, Table
from exacell.measure.histogram import Histogram, merged
from exacell.measure.logwrites import LogWrites, together as together_writes
from exacell.measure.trace10046 import Traced, together
from exacell.session.given import Services, Session
from exacell.session.store import Store
from exacell.session.tracefiles import read_files

SYNC = "log file sync"
"""The default event: the wait of a commit."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_FIGURES = ("figure", "value", "unit", "low", "high", "means")
_WAITS = ("event", "waits", "min", "q1", "median", "mean", "q3", "p99", "p99.99", "max",
          *(f"over{limit}ms" for limit in (1, 10, 100, 500)))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Set:
    """One side of a comparison: its files, and the log writes that several waits share (None if the files don't show them)."""

    files: Sequence[Traced]
    writes: LogWrites | None


_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


def chart_of(event: str, sets: Mapping[str, Histogram]) -> Chart:
    """Return a chart with bars for the mean and quantiles of each set's waits, in microseconds."""
    return Chart(
        title=f"{event}, µs",
        x="",
        y="µs",
        series=tuple(
            Series(
                name=name,
                points=tuple(
                    (float(place), value)
                    for place, value in enumerate((waits.mean, *map(waits.quantile, _QUANTILES.values())))
                ),
            )
            for name, waits in sets.items()
        ),
        form=Form.BARS,
        names=("mean", *_QUANTILES),
    )


def pair_of(session: Session, services: Services, event: str, a: str, b: str) -> Finding:
    """Return how an event's waits differ in two sets of files or collections, which a statement names.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: a file or collection does not exist, can't be read or is in both sets; collections are of different events;
            or a set has no wait for the event.
    """
    names = {"a": a, "b": b}
    kept = {side: _kept(session, name) for side, name in names.items()}
    event = _event(event, [found for found in kept.values() if found is not None])
    paths = {side: trace_files(session, services, names[side]) for side, found in kept.items() if found is None}
    if twice := {path.resolve() for path in paths.get("a", ())} & {path.resolve() for path in paths.get("b", ())}:
        raise RefusedError(f"{sorted(map(str, twice))[0]} is in both sets: they must have no file in common")
    sets = {
        side: _collected(found) if found is not None else _read_set(paths[side], event) for side, found in kept.items()
    }
    notes = [f"{side}: {said}" for side, found in sets.items() for said in _doubts(found.files)]
    waits = {side: _waits(side, found.files, event) for side, found in sets.items()}
    sure = compared.intervals(waits["a"], waits["b"])
    if sure is None:
        notes.append("intervals of quantiles need numpy: `pip install 'exacell[analysis]'`")
    first, second = sets["a"].writes, sets["b"].writes
    writes = (first, second) if first is not None and second is not None else None
    return Finding(
        title=f"{event}: {b} beside {a}",
        sentences=tuple(compared.sentences(event, waits["a"], waits["b"], writes)),
        figures=Table(
            title="b beside a", columns=_FIGURES, rows=tuple(compared.rows(waits["a"], waits["b"], sure, writes))
        ),
        charts=(chart_of(event, {name: merged(waits[side]) for side, name in names.items()}),),
        distributions=tuple(
            Distribution(name=f"{side}: {name}", what=event, unit="µs", counts=merged(waits[side]))
            for side, name in names.items()
        ),
        sides=tuple(
            Side(name=name, about=f"{side}: {len(waits[side])} trace files", passport=_passport(sets[side].files))
            for side, name in names.items()
        ),
        notes=tuple(notes),
    )


def traces_of(session: Session, services: Services, text: str, event: str = "") -> list[Traced]:
    """Return the contents of the trace files and collections that a statement names: for one event, or for all if ``event`` is
    empty.

    Raises:
        StatementError: a quote is missing.
        RefusedError: a file or collection does not exist or can't be read, or a collection is of another event.
    """
    words = words_of(text)
    kept = {word: found for word in words if (found := _kept(session, word)) is not None}
    for word, found in kept.items():
        if event and found.event != event:
            raise RefusedError(
                f"{word} holds only waits for {found.event}, not for '{event}'",
                hint=f"collect them: `trace collect db=NAME as=NAME event='{event}'`",
            )
    files = [word for word in words if word not in kept]
    read = read_files(trace_files(session, services, shlex.join(files)), event) if files or not kept else []
    return [*(file for found in kept.values() for file in found.files), *read]


def _collected(found: Collected) -> _Set:
    return _Set(files=found.files, writes=found.writes if found.writes.writes else None)


def _kept(session: Session, name: str) -> Collected | None:
    """Return the collection with this name; None if the name is that of files."""
    if not _NAME.fullmatch(name) or Path(name).exists() or session.rack is None:
        return None
    return Store(session.home.state_dir / "store.db").find_traces(session.rack.name, name)


def _event(asked: str, kept: Sequence[Collected]) -> str:
    """Return the event that is compared: the one that is asked for, or that of the collections."""
    events = dict.fromkeys((*([asked] if asked else []), *(found.event for found in kept)))
    if len(events) > 1:
        raise RefusedError(f"{' and '.join(events)} can't be compared: both must be waits for one event")
    return next(iter(events), SYNC)


def _read_set(paths: Sequence[Path], event: str) -> _Set:
    files = read_files(paths, event, grouped=True)
    found = [LogWrites.of(own.values()) for own in together(files).writes.values()]
    return _Set(files=files, writes=together_writes(found) if found else None)


def _waits(side: str, found: Sequence[Traced], event: str) -> list[Histogram]:
    """Return the waits of each file that has waits for the event."""
    waits = [file.events[event] for file in found if event in file.events]
    if not waits:
        raise RefusedError(
            f"the {len(found)} files of {side} have no wait for '{event}'",
            hint="`trace summarize` lists the events",
        )
    return waits


def _doubts(found: Sequence[Traced]) -> list[str]:
    """Return the doubts about a sample: incomplete files, and impossible times."""
    return list(tracesaid.doubts(together([replace(file, events={}, writes={}) for file in found])))


def _passport(found: Sequence[Traced]) -> dict[str, str]:
    """Return the origin of the files according to their headers, each value once."""
    told: dict[str, dict[str, None]] = {}
    for line in dict.fromkeys(line for one in found for head in one.headers.values() for line in head):
        name, _, value = line.partition(":")
        if line.startswith("Oracle Database "):
            told.setdefault("database", {})[line] = None
        elif name in ("Instance name", "Node name"):
            told.setdefault(name.lower(), {})[value.strip()] = None
    return {name: ", ".join(values) for name, values in told.items()}


def _has(asked: Asked, name: str) -> bool:
    if _kept(asked.session, name) is not None:
        return True
    if rows := kept_rows(asked.session, asked.services, name):
        return rows[0].file.endswith(".trc")
    return ".trc" in name.rsplit("/", 1)[-1]


def _alone(asked: Asked, name: str) -> Finding:
    kept = _kept(asked.session, name)
    files = traces_of(asked.session, asked.services, name)
    found, event = together(files), kept.event if kept is not None else ""
    largest = sorted(found.events.items(), key=lambda pair: -pair[1].total)[:4]
    return Finding(
        title=f"waits of {name}",
        sentences=tuple(tracesaid.sentences(found, event)),
        figures=Table(title="Waits in µs", columns=_WAITS, rows=tuple(tracesaid.rows(found))),
        distributions=tuple(Distribution(name=one, what="waits", unit="µs", counts=counts) for one, counts in largest),
        sides=(Side(name=name, about=f"{len(files)} trace files", passport=_passport(files)),),
    )


TRACES = Sort(
    title="trace files",
    has=_has,
    alone=_alone,
    pair=lambda asked, a, b: pair_of(asked.session, asked.services, "", a, b),
)
