"""Sets of 10046 trace files."""

from __future__ import annotations

from exacell.commands.subjects.files import trace_files
from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.errors import RefusedError
from exacell.measure import compared, tracesaid
from exacell.measure.finding import Distribution, Finding, Side, Table
from exacell.measure.histogram import Histogram, merged
from exacell.measure.trace10046 import Traced, together
from exacell.session.tracefiles import read_files

SYNC = "log file sync"
"""The event that is compared where none is named: the wait of a commit."""

_FIGURES = ("figure", "value", "unit", "low", "high", "means")
_COLUMNS = ("event", "waits", "min", "q1", "median", "mean", "q3", "p99", "p99.99", "max",
            *(f"over{limit}ms" for limit in (1, 10, 100, 500)))  # fmt: skip
NUMPY = "the intervals of quantiles need numpy: pip install 'exacell[analysis]'"


def traces_alone(name: str, found: Traced, event: str) -> Finding:
    """Return what a set of trace files says, of one event or of all."""
    bars = [
        Distribution(name=one, what="waits", unit="µs", counts=counts)
        for one, counts in sorted(found.events.items(), key=lambda pair: -pair[1].total)[:4]
    ]
    return Finding(
        title=f"waits of {name}",
        sentences=tuple(tracesaid.sentences(found, event)),
        figures=Table(title="Waits in µs", columns=_COLUMNS, rows=tuple(tracesaid.rows(found))),
        distributions=tuple(bars),
        sides=(Side(name=name, about=f"{found.files} trace files"),),
    )


def traces_pair(event: str, names: tuple[str, str], sets: tuple[list[Traced], list[Traced]]) -> Finding:
    """Return what an event's waits differ by in two sets.

    Raises:
        RefusedError: a set has no wait for the event.
    """
    notes = [f"{side}: {said}" for side, found in zip("ab", sets, strict=True) for said in _doubts(found, event)]
    a, b = (_waits(side, found, event) for side, found in zip("ab", sets, strict=True))
    sure = compared.intervals(a, b)
    if sure is None:
        notes.append(NUMPY)
    return Finding(
        title=f"{event}: {names[1]} beside {names[0]}",
        sentences=tuple(compared.sentences(event, a, b)),
        figures=Table(title="b beside a", columns=_FIGURES, rows=tuple(compared.rows(a, b, sure))),
        distributions=tuple(
            Distribution(name=f"{side}: {name}", what=event, unit="µs", counts=merged(waits))
            for side, name, waits in zip("ab", names, (a, b), strict=True)
        ),
        sides=tuple(
            Side(name=name, about=f"{side}: {len(waits)} trace files", passport=_passport(found))
            for side, name, waits, found in zip("ab", names, (a, b), sets, strict=True)
        ),
        notes=tuple(notes),
    )


def _passport(found: list[Traced]) -> dict[str, str]:
    """Return what the heads of the files say of where they come from, each line once."""
    lines = dict.fromkeys(line for one in found for head in one.headers.values() for line in head)
    told: dict[str, dict[str, None]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if line.startswith("Oracle Database "):
            told.setdefault("database", {})[line] = None
        elif name in ("Instance name", "Node name"):
            told.setdefault(name.lower(), {})[value.strip()] = None
    return {name: ", ".join(values) for name, values in told.items()}


def _waits(side: str, found: list[Traced], event: str) -> list[Histogram]:
    """Return the waits of each file that has some."""
    waits = [file.events[event] for file in found if event in file.events]
    if not waits:
        raise RefusedError(f"no wait for '{event}' in the {len(found)} files of {side}")
    return waits


def _doubts(found: list[Traced], event: str) -> list[str]:
    """Return what is wrong with a sample: files that are not whole."""
    said = tracesaid.sentences(together(list(found)), event)
    return [sentence for sentence in said if sentence.startswith(tracesaid.NOT_WHOLE)]


def read_pair(event: str, a: str, b: str) -> Finding:
    """Return what an event's waits differ by in two sets of files, as a statement names them.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file, one can't be read or stands in both sets, or a set has no wait for the event.
    """
    paths = (trace_files(a), trace_files(b))
    if twice := {path.resolve() for path in paths[0]} & {path.resolve() for path in paths[1]}:
        raise RefusedError(f"{sorted(map(str, twice))[0]} is in both sets: they must have no file in common")
    return traces_pair(event, (a, b), (read_files(paths[0], event), read_files(paths[1], event)))


def _has(asked: Asked, name: str) -> bool:
    return name.endswith(".trc") or ".trc" in name.split("/")[-1]


def _alone(asked: Asked, name: str) -> Finding:
    found = together(read_files(trace_files(name), asked.event))
    if asked.event and not found.events:
        raise RefusedError(f"no wait for '{asked.event}' in {found.files} files")
    return traces_alone(name, found, asked.event)


TRACES = Sort(
    title="trace files",
    has=_has,
    alone=_alone,
    pair=lambda asked, a, b: read_pair(asked.event or SYNC, a, b),
)
