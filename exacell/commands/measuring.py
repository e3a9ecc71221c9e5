"""What is measured outside of cells: trace files."""

from __future__ import annotations

from exacell.commands.subjects.files import trace_files
from exacell.commands.subjects.traced import read_pair, traces_alone
from exacell.core.errors import RefusedError
from exacell.language.registry import Call
from exacell.output.findings import shown
from exacell.output.result import Result
from exacell.session.tracefiles import summarize_files


def summarize_traces(call: Call) -> Result:
    """Return one record per sentence, then one per event, what took most time first.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file, one can't be read, or the event is not in them.
    """
    event = call.text_arg("event")
    found = summarize_files(trace_files(call.text_arg("files")), event)
    if event and not found.events:
        raise RefusedError(
            f"no wait for '{event}' in {found.files} files",
            hint="without event= all events are listed, as the files write them",
        )
    return shown(traces_alone(call.text_arg("files"), found, event))


def compare_traces(call: Call) -> Result:
    """Return one record per sentence, then one per figure, of what an event's waits differ by in two sets of trace files.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file, one can't be read or stands in both sets, or a set has no wait for the event.
    """
    return shown(read_pair(call.text_arg("event"), call.text_arg("a"), call.text_arg("b")))
