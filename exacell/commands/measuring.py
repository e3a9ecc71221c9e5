"""Commands for measurements outside of cells: trace files, on their hosts and on this machine, and loads."""

from __future__ import annotations

from math import ceil

from exacell.change.earlier import sent_by
from exacell.commands.subjects.traced import SYNC, pair_of, traces_of
from exacell.core.errors import RefusedError
from exacell.language.registry import Call
from exacell.measure import compared, tracesaid
from exacell.measure.trace10046 import together
from exacell.output.explained import explained
from exacell.output.findings import shown
from exacell.output.result import Column, Result
from exacell.plan.dbchange import OWNER
from exacell.plan.foreseen import MadeTable
from exacell.plan.model import Check, Planned
from exacell.plan.planners.commits import CommitLoad, commit_plan, end_plan
from exacell.plan.planners.reads import TABLE, ReadLoad, What, read_plan
from exacell.plan.planners.tracing import Whose, trace_plan
from exacell.session.dbclient import DatabaseClient
from exacell.session.given import Request, Services, Session
from exacell.session.imports import refuse_other_kind
from exacell.session.recording import since, told_while_waiting
from exacell.session.store import Store
from exacell.session.tracecollect import Asked, collect

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

_COMMITS = (Check(object="db.commits"), Check(object="db.session"))
_KEYS = (Check(object="db.keys"), Check(object="db.session"))


def summarize_traces(session: Session, services: Services, call: Call) -> Result:
    """Return one record per sentence, then one per event, the event with the most time first.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: a file or collection does not exist or can't be read, or no file contains the event.
    """
    event = call.text_arg("event")
    found = together(traces_of(session, services, call.text_arg("files"), event))
    if event and not found.events and not found.odd:
        raise RefusedError(
            f"no wait for '{event}' in {found.files} files",
            hint="without event= all events are listed, with the names in the files",
        )
    return explained(tuple(tracesaid.sentences(found, event)), tracesaid.rows(found), columns=_COLUMNS)


def trace_on(session: Session, services: Services, call: Call) -> Planned:
    """Return the plan that switches a trace on; its result is one record for the node with its outcome.

    Raises:
        RefusedError: there is no such session, or it is already traced, but without waits.
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


def drive_commits(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan of a load that commits; its result is one record for the node with its outcome.

    Raises:
        StatementError: a parameter of the load is not possible.
        RefusedError: an earlier load has not ended, or its table still exists.
    """
    rack, database = session.need_rack().name, call.text_arg("db")
    load = CommitLoad(
        sessions=call.int_arg("sessions") or 0, commits=call.int_arg("commits") or 0, tag=call.text_arg("tag")
    )
    client = DatabaseClient(session, services, database)
    node = call.text_arg("node") or client.home()
    plan = commit_plan(
        rack,
        client.records(node, _COMMITS),
        load,
        database=database,
        node=node,
        statement=call.text,
        goes_on=bool(request.finishing),
        sent=sent_by(services.journal, rack, request.finishing) if request.finishing else frozenset(),
    )
    return Planned(plan, keeps=_kept_name(session, call))


def _kept_name(session: Session, call: Call) -> str:
    """Return the name under which the figures of a load are stored; empty for none.

    Raises:
        RefusedError: the name belongs to an import of another program.
    """
    name = call.text_arg("as")
    if name:
        refuse_other_kind(Store(session.home.state_dir / "store.db"), name)
    return name


def drive_lookups(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan of a load that looks up keys; its result is one record for the node with its outcome.

    Raises:
        StatementError: a parameter of the load is not possible.
        RefusedError: such a load is running, or its table exists with other rows.
    """
    return _reading(session, services, request, call, What.LOOK_UPS, call.int_arg("lookups") or 0)


def drive_scans(session: Session, services: Services, request: Request, call: Call) -> Planned:
    """Return the plan of a load that scans a whole table again and again; errors as for :func:`drive_lookups`."""
    return _reading(session, services, request, call, What.SCANS, call.int_arg("scans") or 0)


def _reading(session: Session, services: Services, request: Request, call: Call, what: What, times: int) -> Planned:
    rack, database = session.need_rack().name, call.text_arg("db")
    load = ReadLoad(what=what, sessions=call.int_arg("sessions") or 0, times=times, keys=call.int_arg("keys") or 0)
    client = DatabaseClient(session, services, database, foreseen=request.foreseen)
    node = call.text_arg("node") or client.home()
    plan = read_plan(
        rack,
        client.records(node, _KEYS),
        load,
        database=database,
        node=node,
        statement=call.text,
        stays=bool(call.args.get("keep")),
        sent=sent_by(services.journal, rack, request.finishing) if request.finishing else None,
    )
    if request.foreseen is not None and call.args.get("keep"):
        request.foreseen.note(database, MadeTable(name=TABLE, rows=load.keys))
    return Planned(plan, keeps=_kept_name(session, call))


def drive_end(session: Session, services: Services, call: Call) -> Planned:
    """Return the plan that drops the tables of earlier loads."""
    rack, database = session.need_rack().name, call.text_arg("db")
    client = DatabaseClient(session, services, database)
    node = client.home()
    records = client.records(node, (*_COMMITS, *_KEYS))
    return Planned(end_plan(rack, records, database=database, node=node, statement=call.text))


def collect_traces(session: Session, services: Services, call: Call) -> Result:
    """Collect trace files and store them under a name; return one record per sentence, then the event's distribution.

    Raises:
        TransportError: a node does not answer.
        ReplyError: a node's answer is an error.
        RefusedError: no file contains a wait for the event.
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
    others = [f"{found.others} other files have no such wait"] if found.others else []
    shares = compared.about_shared(found.writes)
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


def compare_traces(session: Session, services: Services, call: Call) -> Result:
    """Return how an event's waits differ in two sets of trace files: one record per sentence, then one per figure.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: a file or collection does not exist, can't be read or is in both sets; collections are of different events;
            or a set has no wait for the event.
    """
    return shown(pair_of(session, services, call.text_arg("event"), call.text_arg("a"), call.text_arg("b")))
