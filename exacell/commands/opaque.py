"""Carry text for other programs: SQL for ASM and databases, commands and files for cells. Text that only reads needs no
acceptance.
"""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from exacell.care.sqltext import (
    asm_losses,
    is_unit,
    one_line,
    refuse_losses,
    refuse_session_bound,
)
from exacell.change.clocks import refuse_absences
from exacell.change.consent import accepted_loss, ask
from exacell.change.dcli.hosts import Group, target
from exacell.change.dcli.leaving import Leaving
from exacell.change.dcli.output import UNREACHABLE, Outcome
from exacell.change.dcli.record import Record
from exacell.change.dcli.told import told
from exacell.change.dcli.verdict import Judgement, agree, judge, single_change
from exacell.change.dcli.work import Task, in_parallel, work_through
from exacell.change.detached import begin, follow, keep_output, still_there
from exacell.change.door import Work, refuse_unread
from exacell.change.racklock import lock_in
from exacell.change.sending import Sending, size_of
from exacell.commands.diskgroup import asm_change
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.formats import AS_PRINTED
from exacell.core.paths import at_home
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.language.registry import Call
from exacell.language.shellwords import command_given
from exacell.opaque.findings import Findings, UnreadError
from exacell.opaque.lexing import patterns_quoted
from exacell.opaque.scan import absences_in, carried, command_findings, wrapped
from exacell.opaque.shell import unread_programs
from exacell.opaque.sql import NO_QUERY, read_sql
from exacell.opaque.table import NO_ROW
from exacell.output.result import Column, Result
from exacell.plan.asmchange import outline_of, read_asm_change
from exacell.plan.dbchange import OWNER, read_change
from exacell.plan.model import Planned
from exacell.plan.planners.database import asked, database_plan
from exacell.plan.planners.tablespace import placed
from exacell.session.dbclient import DatabaseClient
from exacell.session.dbsql import (
    change_request,
    cluster_of,
    problem_in,
    query_asm,
    query_database,
    records_of,
)
from exacell.session.detached import new_folder
from exacell.session.logins import goes_bare, refuse_restricted, restricted_cells
from exacell.session.recording import since, told_while_waiting
from exacell.transport.base import Upload
from exacell.transport.capabilities import refuse_programs, refuse_uploads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exacell.care.sqltext import Rows
    from exacell.language.registry import Value
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


def sql_asm(session: Session, services: Services, request: Request, call: Call) -> Result | Planned:
    """Return one record per row of a query, or the outcome of a change.

    Raises:
        RefusedError: a guard forbids it, or it can't be read and was not accepted.
    """
    sql, name = one_line(call.text_arg("text")), call.text_arg("asm")
    refuse_session_bound(sql)
    unread = _unread(sql)
    if unread is None:
        with told_while_waiting(since(f"waiting for ASM {name}".rstrip()), services.console.waiting):
            node, rows = query_asm(services, name, sql)
        return _rows(node, rows)
    change = read_asm_change(sql)
    if change is not None:
        return asm_change(session, services, request, call, change)
    group = outline_of(sql)
    if group is not None and group.verb == "CREATE":
        raise RefusedError(
            "exacell has its own create diskgroup: it checks the number of disks, makes one failure group for "
            "each cell, and checks that the group can be mounted; nothing was sent",
            hint="create diskgroup NAME prefix=p redundancy=normal au_size=4m",
        )
    return _change(session, services, request, call, sql, unread, _Instance(asm=name))


def sql_db(session: Session, services: Services, request: Request, call: Call) -> Result | Planned:
    """Return one record per row of a query, the plan of a change that exacell can read, or the outcome of another change.

    Raises:
        RefusedError: the SQL can't be read and was not accepted.
    """
    sql = one_line(call.text_arg("text"))
    refuse_session_bound(sql)
    database, user = call.text_arg("db"), call.text_arg("user", "oracle")
    unread = _unread(sql)
    change = read_change(sql) if user == OWNER else None
    if change is not None:
        client = DatabaseClient(session, services, database, foreseen=request.foreseen)
        with told_while_waiting(since(f"waiting for {database}"), services.console.waiting):
            node = client.home()
            records = client.records(node, asked(change))
        found = database_plan(
            session.need_rack().name,
            change,
            records,
            database=database,
            node=node,
            nodes=cluster_of(session, database).nodes,
            statement=call.text,
        )
        if request.foreseen is not None:
            request.foreseen.note(database, placed(change, records))
        return Planned(found)
    if unread is not None:
        return _change(session, services, request, call, sql, unread, _Instance(database=database, user=user))
    with told_while_waiting(since(f"waiting for {database}"), services.console.waiting):
        node, rows = query_database(session, services, database, sql, user=user)
    return _rows(node, rows)


def _unread(sql: str) -> UnreadError | None:
    """Return why a statement is not a query that only reads; None if it is one."""
    try:
        read_sql(f"{sql};")
    except UnreadError as error:
        if error.why != NO_QUERY:
            return error
        parameter = _PARAMETER.match(sql)
        if parameter is not None and read_change(sql) is None:
            return UnreadError(parameter[1], "a parameter or value that `help docs risk` does not list")
        return UnreadError(error.sign, "it is neither a query nor a change that `help docs sql` lists")
    return None


_PARAMETER = re.compile(r"\s*alter\s+system\s+(?:set|reset)\s+\"?([A-Za-z_][\w$#]*)", re.IGNORECASE)
"""Pattern of the first parameter that a statement sets."""


def _rows(node: str, rows: Rows) -> Result:
    records = [{"cell": None, **row} for row in records_of(rows)]
    numeric = {
        name
        for number, name in enumerate(rows.columns)
        if any(isinstance(row[number], (int, float)) for row in rows.rows)
    }
    columns = [Column(name, "number" if name in numeric else "text") for name in rows.columns]
    return Result(records=records, columns=columns, data=True, notes=[f"{counted(len(records), 'row')} from {node}"])


def _accepted(
    session: Session,
    services: Services,
    request: Request,
    call: Call,
    what: str,
    unread: UnreadError,
    *,
    targets: Sequence[str] = (),
) -> Mapping[str, Value]:
    """Return the statement's flags if a change that can't be judged may be made.

    Args:
        targets: the nodes that the change goes to, if known.

    Raises:
        RefusedError: the rack is read-only or a production rack, or the change was not accepted.
    """
    session.need_rack()
    flags = session.options.over(call.flags)
    work = Work(
        statement=call.text,
        flags=flags,
        accept="--accept-opaque sends it as it is, without a guard",
        instead=unread.instead,
        targets=targets,
    )
    refuse_unread(session, services, request, [f"{unread.sign}: {unread.why} (in '{_shown(what)}')"], work)
    return flags


def _shown(sql: str) -> str:
    """Return the beginning of a statement for messages."""
    return sql if len(sql) <= 60 else f"{sql[:57]}..."


@dataclass(frozen=True, kw_only=True)
class _Instance:
    """The target of a change in SQL: an ASM cluster, or a database. SQL*Plus runs as ``user`` of the operating system."""

    asm: str = ""
    database: str = ""
    user: str = "oracle"


def _change(
    session: Session,
    services: Services,
    request: Request,
    call: Call,
    sql: str,
    unread: UnreadError,
    instance: _Instance,
) -> Result:
    """Ask for confirmation of SQL that can't be judged, journal it, send it, and return the instance's answer."""
    flags = _accepted(session, services, request, call, sql, unread)
    refuse_losses(sql[:60], asm_losses(sql), accepted_loss(session.options.over(call.flags)))
    refuse_absences(session, services, request, absences_in(sql), statement=call.text, beside=True)
    asked = change_request(session, services, asm=instance.asm, database=instance.database, sql=sql, user=instance.user)
    services.recognition.recognise([asked.target])
    _accepted(session, services, request, call, sql, unread, targets=[asked.target])
    where = f"{instance.database or 'ASM'} on {asked.target}"
    services.console.say(f"{where} would get: {sql}{';' if is_unit(sql) else ''}")
    if flags.get("dry-run"):
        return Result(notes=["-n: nothing was sent"])
    lock_in(session).refuse_held()  # The user is not asked about a change that would then be refused.
    services.journal.refuse_damaged()
    if not flags.get("yes"):
        ask(services.console, sql[:60], hint="-y answers yes")
    group = Group(session=session, services=services, request=request, targets=(target(asked.target),))
    record = Record(group, Judgement(opaque=(sql,)), call.text, flags=flags, what="sql")
    with record.open():
        record.intend(group.targets)
        with told_while_waiting(since(f"waiting for {where}"), services.console.waiting):
            reply = services.transport.run([asked]).replies[asked.target]
        problem = problem_in(reply)
        lines = tuple(reply.stdout.splitlines())
        status = UNREACHABLE if reply.exit_status is None else 1 if problem else 0
        record.ended(
            [Outcome(target=asked.target, lines=lines, status=status, said=problem, fingerprint=reply.fingerprint)]
        )
    outcome = {"cell": None, "where": where, "outcome": "failed" if problem else "done"}
    return Result(
        records=[outcome],
        data=True,
        notes=[f"change {record.change}, not undone by exacell"],
        problems=[f"{asked.target}: {problem}"] if problem else [],
        exit_code=ExitCode.FAILED if problem else ExitCode.DONE,
    )


def sh(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per cell or host: exit status and output.

    Raises:
        StatementError: there is no command, or a flag of exacell is among its words.
        RefusedError: a guard forbids it, or it can't be read and was not accepted.
    """
    text, flags = command_given(call, session.options.over(call.flags))
    if (sent := patterns_quoted(text)) != text:
        text, call = sent, replace(call, text=call.text.replace(text, sent))
    findings = command_findings(text)
    if flags.get("detach") and not len(session.selection.hosts):
        raise StatementError(
            "sh --detach is for hosts only: exacell leaves nothing running on a cell",
            hint="type `on @GROUP sh --detach …`",
        )
    if len(session.selection.hosts):
        step = Task(
            command=carried(wrapped(text), read=not findings.unread),
            reads=findings.harmless,
            deadline=_deadline(flags),
            carries=True,
            grid=findings.asks_asm,
        )
        unnamed = _unnamed_on_hosts(session, text)
        if findings.unread:
            services.recognition.recognise(session.selection.hosts)
        if session.in_production(session.selection.hosts) and unnamed != [] and findings.unread:
            said = [f"{name}: it is not in allow_commands of these hosts" for name in unnamed or ()]
            # Errors about known programs come first: they say more than the error about an unknown program.
            other = [why for why in findings.unread if not said or not why.endswith(NO_ROW)]
            findings = replace(
                findings,
                unread=[*other, *said],
                instead=findings.instead or _ALLOWING,
            )
        return _work(session, services, request, call, findings, (step,), flags, _Known(named=unnamed == []))
    # A single CellCLI statement, or a command that only shows something, is allowed on every release.
    bare = not findings.unread and goes_bare(text, restricted_cells(session, services, session.cells()))
    command = text if bare else carried(wrapped(text), read=not findings.unread)
    change = single_change(text)
    step = Task(command=command, reads=findings.harmless, deadline=_deadline(flags), carries=True, change=change)
    return _work(session, services, request, call, findings, (step,), flags, _Known(single=bare))


_ALLOWING = (
    "allow_commands of these hosts can allow a program; besides it, only plain words, quotes, |, ;, && and || "
    "are allowed"
)


def _unnamed_on_hosts(session: Session, text: str) -> list[str] | None:
    """Return the unread programs in a text that ``allow_commands`` of the host's groups does not name; None if the text has
    other unread parts, too.
    """
    programs, rack = unread_programs(text), session.need_rack()
    if programs is None:
        return None
    lacking: set[str] = set()
    for host in session.selection.hosts:
        groups = [programs.difference(group.allow_commands) for group in rack.groups_of(host)]
        lacking |= min(groups or [programs], key=len)
    return sorted(lacking)


def _refuse_cell_changes(findings: Findings, hosts: Sequence[str]) -> None:
    """Raise RefusedError if a text for hosts contains a change of cells.

    Raises:
        RefusedError: it does; it is not known which cells the change would reach from a host.
    """
    if findings.changes:
        raise RefusedError(
            f"'{findings.changes[0].text}' changes cells, but {fold(hosts)} "
            f"{'is not a cell' if len(hosts) == 1 else 'are not cells'}; nothing was sent",
            hint="type that statement itself, without ON or with ON and cells",
        )


def _deadline(flags: Mapping[str, Value]) -> float:
    given = flags.get("timeout")
    return float(given) if isinstance(given, (int, float)) else 600.0


def copy(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Copy a file or directory to the cells; return one record per cell with its outcome.

    Raises:
        StatementError: there is no such file.
        RefusedError: it was not accepted.
    """
    source, to = at_home(call.text_arg("file")), call.text_arg("to")
    recursive = bool(call.args.get("recursive"))
    if not source.exists():
        raise StatementError(
            f"copy {source}: there is no such file here",
            hint="`copy` sends a file of this machine to the cells; `copy from` fetches from hosts",
        )
    if source.is_dir() and not recursive:
        raise StatementError(f"copy {source}: it is a directory", hint="recursive=yes copies it with all its files")
    upload = Upload(sources=(source,), destination=to, recursive=recursive)
    findings = Findings(unread=[f"copy {source.name} to {to or 'the home directory'}"])
    flags = session.options.over(call.flags)
    step = Task(command=f"scp {source.name}", upload=upload, deadline=_deadline(flags))
    return _work(session, services, request, call, findings, (step,), flags)


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What is known about a command besides its text.

    Attributes:
        single: whether it is one command that restricted logins may run, too.
        named: whether the configuration of the hosts names its unread programs.
    """

    single: bool = False
    named: bool = False


_UNKNOWN = _Known()


def _work(
    session: Session,
    services: Services,
    request: Request,
    call: Call,
    findings: Findings,
    steps: Sequence[Task],
    flags: Mapping[str, Value],
    known: _Known = _UNKNOWN,
) -> Result:
    """Judge, confirm, journal and do the work on the selected cells or hosts; return one record per target.

    Args:
        flags: the statement's flags, including those among its words.
        known: what is known about the command besides its text.
    """
    name, hosts = call.command.name, tuple(session.selection.hosts)
    if request.origin.startswith("resume "):
        return Result(notes=[f"{name} is not repeated: check what it did, then type it again: `{call.text}`"])
    if hosts:  # They are reached over ssh, also if the cells have another transport.
        _refuse_cell_changes(findings, hosts)
    else:
        refuse_programs(services.transport.capabilities, name)
        if any(step.upload is not None for step in steps):
            refuse_uploads(services.transport.capabilities, f"{name} {call.text_arg('file')}"[:60])
        if not known.single:
            refuse_restricted(
                session, services, f"{name} {call.text_arg('command') or call.text_arg('file')}"[:60], session.cells()
            )
    targets = tuple(target(one) for one in session.targets())
    group = Group(session=session, services=services, request=request, targets=targets, hosts=bool(hosts))
    paired = bool(steps[-1].change)
    judgement = judge(group, findings, call, serial=False, flags=flags, what=name, paired=paired, named=known.named)
    if flags.get("dry-run"):
        for plan in judgement.plans:
            services.console.show_plan(plan)
        return Result(notes=[*(f"can't be read: {phrase}" for phrase in judgement.opaque), "-n: nothing was sent"])
    agree(group, judgement, flags, what=name)
    printing = str(call.flags.get("format") or session.settings.format) in AS_PRINTED
    keeping = request.keeping
    if flags.get("detach"):
        return _detached(group, judgement, call, command_given(call, flags)[0], flags, printing=printing)
    record = None if findings.harmless else Record(group, judgement, call.text, flags=flags, what=name)
    outcomes = _done_everywhere(group, judgement, steps, record)
    if keeping is not None:
        for outcome in outcomes:
            keep_output(keeping, outcome, record.change if record is not None else 0)
    if record is None and not hosts:
        session.selection.remember([o.target for o in outcomes], [o.target for o in outcomes if o.status])
    return told(outcomes, printing=printing, hosts=bool(hosts))


def _detached(
    group: Group, judgement: Judgement, call: Call, command: str, flags: Mapping[str, Value], *, printing: bool
) -> Result:
    """Run a command on each host independently of the connection, follow it to its end, and return the outcomes."""
    session, services, folder = group.session, group.services, new_folder()
    keeping = group.request.keeping
    details = {"detached": folder, **({"keeps": keeping.name} if keeping is not None else {})}
    record = Record(group, judgement, call.text, flags=flags, what=call.command.name, details=details)

    def over(outcome: Outcome) -> None:
        if keeping is not None:  # Do this first: once the end is recorded, nobody fetches the output any more.
            keep_output(keeping, outcome, record.change)
        record.ended([outcome])

    with record.open():
        record.intend(group.targets)
        hosts = [where.host for where in group.targets]
        failed = begin(session, services, hosts, folder, command)
        outcomes = [Outcome(target=host, status=1, ran=False, refused=why) for host, why in failed.items() if why]
        record.ended(outcomes)
        running = [host for host in hosts if not failed[host]]
        ended, left = follow(session, services, running, folder, over)
        if left:
            record.leave_open()
    result = told([*outcomes, *ended], printing=printing, hosts=True)
    if not left:
        return result
    notes = [*result.notes, *still_there(record.change, left)]
    return replace(result, notes=notes, exit_code=ExitCode.INTERRUPTED)


def _done_everywhere(group: Group, judgement: Judgement, steps: Sequence[Task], record: Record | None) -> list[Outcome]:
    """Do the steps on all targets, as many at a time as the fan-out allows, and return the outcomes in their order.

    Args:
        record: the record that writes the journal's rows; None for work that changes nothing.
    """
    with record.open() if record is not None else nullcontext():
        if record is not None:
            record.intend(group.targets)
        leaving = Leaving(group=group, judgement=judgement)
        labels = [where.label for where in group.targets]
        sources = [source for step in steps if step.upload is not None for source in step.upload.sources]
        sending = Sending(group.services.console, steps[-1].command, labels, size_of(sources))
        work = [
            partial(
                work_through, group, where, [_counted(step, sending, where.label) for step in steps],
                login=group.login, pid=os.getpid(), live=None, leaving=leaving,
            )
            for where in group.targets
        ]  # fmt: skip
        open_, begun = set(labels), since("")

        def sentence() -> str:
            waited, left = begun(), list(open_)
            if not waited or not left:
                return ""
            return (
                f"waiting for {fold(left)}: {len(work) - len(left)} of {len(work)} ended{waited}{sending.apart(left)}"
            )

        def ended(outcome: Outcome) -> None:
            open_.discard(outcome.target)
            sending.ended(outcome.target, f"failed: {outcome.status}" if outcome.status else "done")

        with told_while_waiting(sentence, group.services.console.waiting):
            outcomes = in_parallel(work, limit=group.rack.fanout or group.session.settings.fanout, on_end=ended)
        sending.over()
        if record is not None:
            record.ended(outcomes)
    return outcomes


def _counted(step: Task, sending: Sending, label: str) -> Task:
    """Return a step that reports the progress of its upload, if it has one."""
    if step.upload is None:
        return step
    sent, untold = partial(sending.sent, label), partial(sending.tells_nothing, label)
    return replace(step, upload=replace(step.upload, sent=sent, untold=untold))
