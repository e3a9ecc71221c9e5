"""What is measured outside of cells: trace files, where they lie and here."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.errors import RefusedError, StatementError
from exacell.core.values import dataclass
from exacell.language.registry import Call
from exacell.measure import compared, tracesaid
from exacell.measure.histogram import Histogram
from exacell.measure.logwrites import LogWrites, together as together_writes
from exacell.measure.trace10046 import Traced, together
from exacell.output.explained import explained
from exacell.output.result import Column, Result
from exacell.plan.model import Check, Planned
from exacell.plan.planners.tracing import Whose, trace_plan
from exacell.session.dbclient import DatabaseClient
from exacell.session.dbsql import OWNER
from exacell.session.recording import since, told_while_waiting
from exacell.session.store import Store
from exacell.session.tracecollect import Asked, collect
from exacell.session.tracefiles import read_files, summarize_files

if TYPE_CHECKING:
    from exacell.measure.collected import Collected
    from exacell.session.services import Services
    from exacell.session.state import Session

SYNC = "log file sync"
"""The event that is meant where none is named."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_KEPT = (
    Column("name"),
    Column("db"),
    Column("event"),
    Column("taken"),
    *(Column(name, "number") for name in ("files", "waits", "logWrites")),
)

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


def trace_on(session: Session, services: Services, call: Call) -> Planned:
    """Return the plan that switches a trace on; its result is one record for the node with its outcome.

    Raises:
        RefusedError: there is no such session, or it is traced without its waits.
    """
    return _switched(session, services, call, on=True)


def trace_off(session: Session, services: Services, call: Call) -> Planned:
    """Return the plan that switches a trace off."""
    return _switched(session, services, call, on=False)


def _switched(session: Session, services: Services, call: Call, *, on: bool) -> Planned:
    rack, database = session.need_rack().name, call.text_arg("db")
    whose = Whose(service=call.text_arg("service"), module=call.text_arg("module"), session=call.text_arg("session"))
    client = DatabaseClient(session, services, database)
    node = call.text_arg("node") or client.home()
    records = client.records(node, [Check(object="db.trace"), Check(object="db.session")])
    return Planned(trace_plan(rack, records, on=on, database=database, node=node, whose=whose, statement=call.text))


def collect_traces(session: Session, services: Services, call: Call) -> Result:
    """Return one record per sentence, then the event's distribution, of what was collected and kept under a name.

    Raises:
        TransportError: a node does not answer.
        ReplyError: a node's answer is an error.
        RefusedError: no file has a wait for the event.
    """
    rack, name, event = session.need_rack().name, call.text_arg("as"), call.text_arg("event", SYNC)
    tag, last = call.text_arg("tag"), call.float_arg("last", 0)
    asked = Asked(
        database=call.text_arg("db"),
        event=event,
        tag=tag,
        minutes=ceil(last / 60) if last else None,
        node=call.text_arg("node"),
        user=call.text_arg("user", OWNER),
        fetch=bool(call.args.get("fetch")),
    )
    with told_while_waiting(since(f"waiting for the traces of {asked.database}"), services.console.waiting):
        found, notes = collect(session, services, asked, name)
    Store(session.home.state_dir / "store.db").save_traces(rack, found)
    whole = together(list(found.files))
    others = [f"{found.others} more files have no such wait"] if found.others else []
    shares = compared.shared(found.writes)
    return explained(
        (*tracesaid.sentences(whole, event), *shares), tracesaid.rows(whole), columns=_COLUMNS, notes=[*notes, *others]
    )


def list_traces(session: Session, call: Call) -> Result:
    """Return one record per collection, oldest first."""
    rows = [
        {
            "cell": None,
            "name": found.name,
            "db": found.database,
            "event": found.event,
            "taken": found.taken,
            "files": len(found.files),
            "waits": sum(waits.n for waits in found.waits),
            "logWrites": found.writes.writes or None,
        }
        for found in Store(session.home.state_dir / "store.db").traces(session.need_rack().name)
    ]
    return Result(
        records=rows, data=True, columns=_KEPT, notes=[] if rows else ["nothing was collected: trace collect"]
    )


@dataclass(frozen=True, kw_only=True)
class _Set:
    """One side of a comparison: its files, and the log writes that waits share, where the files tell."""

    files: Sequence[Traced]
    writes: LogWrites | None


def compare_traces(session: Session, call: Call) -> Result:
    """Return one record per sentence, then one per figure, of what an event's waits differ by in two sets of trace files.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: there is no such file or collection, one can't be read or stands in both sets, they are of different
            events, or a set has no wait for the event.
    """
    kept = {side: _kept(session, call.text_arg(side)) for side in ("a", "b")}
    event = _event(call.text_arg("event"), [found for found in kept.values() if found is not None])
    paths = {side: _files(call.text_arg(side)) for side, found in kept.items() if found is None}
    if twice := {path.resolve() for path in paths.get("a", ())} & {path.resolve() for path in paths.get("b", ())}:
        raise RefusedError(f"{sorted(map(str, twice))[0]} is in both sets: they must have no file in common")
    sets = {
        side: _Set(files=found.files, writes=found.writes if found.writes.writes else None)
        if found is not None
        else _read_set(paths[side], event)
        for side, found in kept.items()
    }
    notes = [f"{side}: {said}" for side, found in sets.items() for said in _doubts(found.files, event)]
    a, b = (_waits(side, found.files, event) for side, found in sets.items())
    sure = compared.intervals(a, b)
    if sure is None:
        notes.append("the intervals of quantiles need numpy: pip install 'exacell[analysis]'")
    first, second = sets["a"].writes, sets["b"].writes
    writes = (first, second) if first is not None and second is not None else None
    return explained(tuple(compared.sentences(event, a, b, writes)), compared.rows(a, b, sure, writes), notes=notes)


def _kept(session: Session, name: str) -> Collected | None:
    """Return what was collected under a name; None where files are named instead."""
    if not _NAME.fullmatch(name) or Path(name).exists() or session.rack is None:
        return None
    return Store(session.home.state_dir / "store.db").find_traces(session.rack.name, name)


def _event(asked: str, kept: Sequence[Collected]) -> str:
    """Return the event that is compared: the one that is asked for, or that of what was collected."""
    events = dict.fromkeys((*([asked] if asked else []), *(found.event for found in kept)))
    if len(events) > 1:
        raise RefusedError(f"{' and '.join(events)} can't be compared: waits for one event are compared")
    return next(iter(events), SYNC)


def _read_set(paths: Sequence[Path], event: str) -> _Set:
    files = read_files(paths, event, grouped=True)
    found = [LogWrites.of(own.values()) for own in together(files).writes.values()]
    return _Set(files=files, writes=together_writes(found) if found else None)


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
