"""What is measured outside of cells: trace files."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.errors import RefusedError, StatementError
from exacell.language.registry import Call
from exacell.measure import tracesaid
from exacell.output.explained import explained
from exacell.output.result import Column, Result
from exacell.session.tracefiles import summarize_files

if TYPE_CHECKING:
    pass

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
