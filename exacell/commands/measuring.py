"""What is measured outside of cells: trace files."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Sequence
from pathlib import Path

from exacell.core.errors import RefusedError, StatementError
from exacell.language.registry import Call
from exacell.measure import compared, tracesaid
from exacell.measure.histogram import Histogram
from exacell.measure.trace10046 import Traced, together
from exacell.output.explained import explained
from exacell.output.result import Column, Result
from exacell.session.tracefiles import read_files, summarize_files

_COLUMNS = (
    Column("event"),
    *(Column(name, "number") for name in ("waits", "min", "q1", "median", "mean", "q3", "p99", "p99.99", "max")),
    *(Column(f"over{limit}ms", "number") for limit in (1, 10, 100, 500)),
)


def summarize_traces(call: Call) -> Result:
    """Return one record per sentence, then one per event, what took most time first.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file, one can't be read, or the event is not in them.
    """
    event = call.text_arg("event")
    found = summarize_files(_files(call.text_arg("files")), event)
    if event and not found.events:
        raise RefusedError(
            f"no wait for '{event}' in {found.files} files",
            hint="without event= all events are listed, as the files write them",
        )
    return explained(tuple(tracesaid.sentences(found, event)), tracesaid.rows(found), columns=_COLUMNS)


def compare_traces(call: Call) -> Result:
    """Return one record per sentence, then one per figure, of what an event's waits differ by in two sets of trace files.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file, one can't be read or stands in both sets, or a set has no wait for the event.
    """
    event = call.text_arg("event")
    paths = {side: _files(call.text_arg(side)) for side in ("a", "b")}
    if twice := {path.resolve() for path in paths["a"]} & {path.resolve() for path in paths["b"]}:
        raise RefusedError(f"{sorted(map(str, twice))[0]} is in both sets: they must have no file in common")
    sets = {side: read_files(files, event) for side, files in paths.items()}
    notes = [f"{side}: {said}" for side, found in sets.items() for said in _doubts(found, event)]
    a, b = (_waits(side, found, event) for side, found in sets.items())
    sure = compared.intervals(a, b)
    if sure is None:
        notes.append("the intervals of quantiles need numpy: pip install 'exacell[analysis]'")
    return explained(tuple(compared.sentences(event, a, b)), compared.rows(a, b, sure), notes=notes)


def _waits(side: str, found: Sequence[Traced], event: str) -> list[Histogram]:
    """Return the waits of each file that has some."""
    waits = [file.events[event] for file in found if event in file.events]
    if not waits:
        raise RefusedError(f"no wait for '{event}' in the {len(found)} files of {side}")
    return waits


def _doubts(found: Sequence[Traced], event: str) -> list[str]:
    """Return what is wrong with a sample: files that are not whole."""
    whole = together(list(found))
    return [said for said in tracesaid.sentences(whole, event) if said.startswith(tracesaid.NOT_WHOLE)]


def _files(text: str) -> list[Path]:
    """Return the files that a statement names, with * and ? as a shell takes them; each once, without .trm files."""
    try:
        names = shlex.split(text)
    except ValueError as error:
        raise StatementError(f"{text}: {error}") from error
    found: dict[Path, None] = {}
    for name in names:
        paths = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else [name]
        if not paths:
            raise RefusedError(f"{name}: there is no such file")
        found |= dict.fromkeys(Path(path).expanduser() for path in paths if not path.endswith(".trm"))
    if not found:
        raise RefusedError("only .trm files are named: the waits are in the .trc files beside them")
    return list(found)
