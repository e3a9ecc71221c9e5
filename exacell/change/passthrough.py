"""Send CellCLI's own statements to all selected cells: reads are answered and folded here, changes by exacell.change.typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from exacell.cellcli.fold import VOLATILE, fold_records
from exacell.cellcli.messages import NO_ANSWER, always_prints
from exacell.cellcli.nodes import Operator
from exacell.cellcli.reply import (
    cut_line,
    cut_off,
    errors,
    read_columns,
    read_describe,
    read_detail,
    stray_line,
    values,
)
from exacell.cellcli.rows import TypedRows, read_rows
from exacell.cellcli.schema import DBSERVER, ObjectType, find_object, metrics
from exacell.cellcli.statement import Describe, List, render
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.formats import AS_PRINTED
from exacell.core.meant import ask_for
from exacell.core.patterns import pattern
from exacell.core.units import counted
from exacell.language.line import Line
from exacell.output.folding import MOST_FOLDED
from exacell.output.result import Column, Result
from exacell.session.answers import Answers, problem_of
from exacell.session.given import Request, Services, Session
from exacell.transport.base import FleetResult, Reply, Request as HostRequest, Role, State
from exacell.transport.capabilities import refuse_statement

if TYPE_CHECKING:
    from exacell.plan.model import Planned


def pass_through(session: Session, services: Services, request: Request, line: Line) -> Result | Planned:
    """Return the selected cells' answers to a CellCLI statement; for a changing statement the guarded plan.

    Raises:
        RefusedError: a guard forbids it; nothing was sent.
    """
    statement = line.cellcli
    if statement is not None and statement.object == DBSERVER and not len(session.selection.hosts):
        groups = session.need_rack().host_groups
        raise StatementError(
            "dbserver is an object of database nodes, not of cells",
            hint=f"on @{next(iter(groups))} {line.text}" if groups else "the rack's configuration has no dbnodes",
        )
    form = str(line.flags.get("format") or session.settings.format)
    timeout = line.flags.get("timeout")
    seconds = float(timeout) if isinstance(timeout, (int, float)) else None
    if isinstance(statement, List):
        result = _list(session, services, request, statement, form, seconds, compared=bool(line.flags.get("diff")))
        notes = (_meant(session, services, statement, result, seconds), held_by_each(statement, result, form))
        said = [note for note in notes if note]
        return replace(result, notes=(*result.notes, *said)) if said else result
    if isinstance(statement, Describe):
        return _describe(session, services, statement, seconds)
    if len(session.selection.hosts):
        raise RefusedError(
            f"{line.text}: exacell can only read DBSERVER, not change it; nothing was sent",
            hint="`on HOST sh --accept-opaque dbmcli -e '…'` sends it without guards and without undo",
        )
    from exacell.change.typed import plan_typed  # Reads do not need it, and it takes as long as a cell's answer.

    return plan_typed(session, services, request, line)


def _meant(session: Session, services: Services, statement: List, result: Result, timeout: float | None) -> str:
    """Return the question whether a similar name or value was meant, if no cell has the given one; empty without a similar one.

    The cells are asked for their names.
    """
    missed = next((("name", match[1]) for each in result.problems if (match := _NO_SUCH.search(each))), None)
    equal = [(f.attribute, f.value.text) for f in statement.filters if f.operator is Operator.EQUAL and not f.negated]
    nothing = [] if result.records or result.problems else equal
    for attribute, value in (missed, *nothing) if missed else nothing:
        known = _known(services, statement.object, attribute)
        if missed and not statement.object.startswith("METRIC") and not len(session.selection.hosts):
            known = (*known, *_there(session, services, statement.object, timeout))
        if value.lower() not in (each.lower() for each in known) and (asked := ask_for(value, known)):
            return asked
    return ""


def held_by_each(statement: List, result: Result, form: str) -> str:
    """Return a note that ORDER BY and LIMIT hold on each cell, if the answer is a table of several cells; else empty."""
    asked = [word for word, given in (("ORDER BY", statement.order_by), ("LIMIT", statement.limit)) if given]
    if form != "table" or not asked or not result.named or not (result.records or result.text):
        return ""
    holds = "hold" if len(asked) > 1 else "holds"
    return f"{' and '.join(asked)} {holds} on each cell, not over all cells; -o csv and sort put all rows in one order"


def _there(session: Session, services: Services, subject: str, timeout: float | None) -> list[str]:
    """Return the names of all objects of a kind on the cells that answer."""
    text = f"list {subject.lower()} attributes name"
    answers = services.fleet.query(session.cells(), (text,), timeout=timeout, cancel=session.interrupted)
    return sorted({str(row.get("name", "")) for answer in answers.good.values() for row in answer.tables[0]})


def _known(services: Services, subject: str, attribute: str) -> Sequence[str]:
    """Return the known values of an attribute, as Tab offers them: those of the schema and those seen on the rack."""
    kept = find_object(subject)
    found = kept.attribute(attribute) if kept is not None else None
    if found is None:
        return ()
    if found.name == "name" and subject.startswith("METRIC"):
        return tuple(metrics())
    from exacell.language.suggestion import NAMED  # Only needed for answers without a name.

    kind = NAMED.get(subject) if found.name == "name" else None
    return (*found.values, *services.learned.seen(subject, found.name), *(services.learned.get(kind) if kind else ()))


_NO_SUCH = pattern(r"does not exist: ([\w.$#-]+)")
"""A cell's error for a name that it does not have. Source: reference cellcli.md 1.7, CELL-02906."""


def _ask(
    session: Session, services: Services, statement: List | Describe, timeout: float | None, *, in_pieces: bool = False
) -> tuple[FleetResult, dict[str, Reply], list[str], ExitCode]:
    """Return the cells' answers, the good replies, a line for each problem, and the exit code.

    Args:
        in_pieces: large answers may be kept on disk by the replies.
    """
    text, hosts = render(statement), session.selection.hosts
    if len(hosts):
        asked = [dbmcli(host, text, timeout=timeout) for host in hosts]
        result = services.fleet.run(asked, cancel=session.interrupted)
    else:
        result = services.fleet.send(
            dict.fromkeys(session.cells(), text),
            role=Role.READ,
            timeout=timeout,
            cancel=session.interrupted,
            in_pieces=in_pieces,
        )
    replies: Iterable[Reply] = result.replies.values()
    if in_pieces and any(reply.large is not None for reply in replies):
        from exacell.session.largelist import taken_in  # Small answers, the usual ones, do not need this import.

        replies = taken_in(replies)
    good: dict[str, Reply] = {}
    problems: list[str] = []
    # LIST DIAGPACK prints bare names.
    indents = services.transport.capabilities.indents and statement.object != "DIAGPACK"
    prints = always_prints(statement)
    short: set[str] = set()
    for reply in replies:
        if (came := _came(statement, reply)) is not None:
            short.add(reply.target)
            good[reply.target] = came
            rows = counted(came.stdout.count("\n"), "row")
            problems.append(f"{reply.target}: {rows} came by the limit: {problem_of(reply)}; {LESS_HISTORY}")
            continue
        found = (() if _tells_alerts(statement, reply.stdout) else errors(reply.stdout)) or errors(reply.stderr)
        wrong, stray, cut = "", "", cut_line(reply.stdout)
        if reply.large is not None:
            from exacell.session.largelist import wrong_with

            # A large answer is not an error: words of an error in it belong to an alert.
            wrong, stray, cut = wrong_with(reply, indents=indents)
            wrong = "" if statement.object == "ALERTHISTORY" else wrong
        if wrong:
            problems.append(f"{reply.target}: {wrong}")
        elif found:
            problems.append(f"{reply.target}: " + "; ".join(f"{e.code}: {e.message}" for e in found))
        elif reply.state is not State.OK:
            why = why_not(reply) if len(hosts) else problem_of(reply)
            less = f"; {LESS_HISTORY}" if reply.state is State.TIMED_OUT and statement.object == "METRICHISTORY" else ""
            problems.append(f"{reply.target}: {why}{less}")
        elif (
            reply.large is None and prints and not (reply.stdout if _may_be_empty(statement) else reply.stdout.strip())
        ):
            problems.append(f"{reply.target}: {NO_ANSWER}")
        elif cut:
            problems.append(f"{reply.target}: {cut_off(cut)}")
        elif stray := stray or stray_line(reply.stdout, indents=indents and reply.large is None):
            problems.append(
                f"{reply.target}: '{stray}' is not an answer of CellCLI; `sh` shows all that the cell sends"
            )
        else:
            good[reply.target] = reply
    code = result.exit_code
    if problems and code is ExitCode.DONE:
        code = ExitCode.FAILED
    if not len(hosts):
        services.fallbacks.note_ids(_ids(statement, good))
        services.fallbacks.tell(services.transport, session.need_rack(), services.console)
        session.selection.remember(
            result.targets, [target for target in result.targets if target not in good or target in short]
        )
    return result, good, problems, code


LESS_HISTORY = (
    "ask for less: list metrichistory where name = 'FC_IO_RQ_R' and ageInMinutes < 60, or one cell at a time (on CELL)"
)
"""The hint if a cell's history does not arrive within the limit."""


def _came(statement: List | Describe, reply: Reply) -> Reply | None:
    """Return a reply with the whole rows of a history that arrived before the time limit; None if it is not such a reply."""
    if not isinstance(statement, List) or statement.object != "METRICHISTORY" or statement.detail:
        return None
    whole = reply.stdout[: reply.stdout.rfind("\n") + 1]
    if reply.state is not State.TIMED_OUT or "\t" not in whole or errors(whole) or errors(reply.stderr):
        return None
    return replace(reply, stdout=whole)


def _tells_alerts(statement: List | Describe, text: str) -> bool:
    """Return whether an answer has rows of alerts; their messages may begin a line with the code of an error."""
    return statement.object == "ALERTHISTORY" and text.lstrip("\r\n").startswith("\t")


def _may_be_empty(statement: List | Describe) -> bool:
    """Return whether an object may have none of the requested values, so that its row is blank."""
    return (
        isinstance(statement, List)
        and bool(statement.attributes)
        and "name" not in map(str.lower, statement.attributes)
    )


def _list(
    session: Session,
    services: Services,
    request: Request,
    statement: List,
    form: str,
    timeout: float | None,
    *,
    compared: bool = False,
) -> Result:
    kind = find_object(statement.object)
    assert kind is not None
    hosts = session.selection.hosts
    if not len(hosts):  # DBMCLI is reached over ssh and has no XML.
        refuse_statement(services.transport.capabilities, render(statement))
    elif statement.all_attributes and form != "raw":
        raise StatementError(
            "with `attributes all`, exacell can't separate the columns here", hint="`detail` shows all of them"
        )
    precise = form not in AS_PRINTED and (statement.object.startswith("METRIC") or statement.all_attributes)
    stripped = not services.transport.capabilities.indents  # only XML survives a dcli that removes blanks
    if not len(hosts) and (precise or ((statement.all_attributes or stripped) and form != "raw")):
        return _list_xml(services, request, statement, kind, form)
    # Alerts of several lines can be separated only in the whole text.
    in_pieces = form == "raw" or not (statement.detail or compared or statement.object == "ALERTHISTORY")
    result, good, problems, code = _ask(session, services, statement, timeout, in_pieces=in_pieces)
    if any(reply.large is not None for reply in good.values()):
        found = _large(good.values(), _columns(statement, kind), statement.object, form)
        return replace(found, named=len(result.targets) > 1, problems=problems, exit_code=code)
    raw = [(cell, reply.stdout) for cell, reply in good.items() if reply.stdout and not reply.stdout.isspace()]
    if statement.detail and form == "table" and not compared:
        named = len(result.targets) > 1

        def apart(width: int | None, color: bool, header: bool) -> Iterator[str]:
            return _detail_lines(statement, good, named=named)

        text = _detail_text(statement, good)
        return Result(text=text, raw=raw, named=named, problems=problems, exit_code=code, apart=apart)
    columns = _columns(statement, kind)
    records: Sequence[Mapping[str, Any]] = ()
    if form != "raw" and statement.detail:
        records = [{"cell": c, **row} for c, r in good.items() for row in read_detail(r.stdout, statement.object)]
    elif form != "raw":
        records = read_rows({cell: reply.stdout for cell, reply in good.items()}, columns, statement.object)
    if form not in AS_PRINTED:
        records = [{**values(record, statement.object), "cell": record["cell"]} for record in records]
    first = Column("cell", title="host" if len(hosts) else "")
    shown = [first, *(Column(name) for name in columns)] if columns and not statement.detail else []
    return Result(
        records=records,
        columns=shown,
        raw=raw,
        named=len(result.targets) > 1,
        fold=True,
        data=True,
        problems=problems,
        exit_code=code,
    )


def _detail_text(statement: List, good: Mapping[str, Reply]) -> str:
    """Return DETAIL as cells print it, once for all cells with the same answer; names the attributes that were left out."""
    answers = {cell: read_detail(reply.stdout, statement.object) for cell, reply in good.items()}
    named = {name.lower() for name in statement.attributes}
    left_out = sorted(
        {name for rows in answers.values() for row in rows for name in row if name in VOLATILE}
        if len(answers) > 1 and not named
        else ()
    )
    folds = fold_records(answers, statement.object, ignore=left_out)
    blocks = []
    for group in folds:
        single = len(group.cells) == 1
        rows = answers[group.cells[0]] if single else group.records
        body = "\n\n".join(_detail_rows(row, () if single else left_out) for row in rows)
        blocks.append(f"{fold(group.cells)}\n{body}" if len(answers) > 1 else body)
    text = "\n\n".join(blocks)
    if left_out and any(len(group.cells) > 1 for group in folds):
        text += (
            f"\n\nleft out, because they differ on each cell: {', '.join(left_out)} (to see them, choose a cell "
            "with ON, or use -o json)"
        )
    return text


def _detail_lines(statement: List, good: Mapping[str, Reply], *, named: bool) -> Iterator[str]:
    """Yield all lines of DETAIL, cell by cell; if several cells were asked, each line begins with the cell's name."""
    for cell, reply in good.items():
        body = "\n\n".join(_detail_rows(row, ()) for row in read_detail(reply.stdout, statement.object))
        yield from (f"{cell}:{line and ' ' + line}" if named else line for line in (body.split("\n") if body else ()))


def _detail_rows(row: Mapping[str, str], left_out: Sequence[str]) -> str:
    shown = {name: value for name, value in row.items() if name not in left_out}
    width = max((len(name) + 3 for name in shown), default=0)
    return "\n".join(
        f"  {name + ':':<{width}}{value.replace(chr(10), chr(10) + ' ' * (width + 2))}".rstrip()
        for name, value in shown.items()
    )


def _ids(statement: List | Describe, good: Mapping[str, Reply]) -> dict[str, str]:
    """Return, by cell, the id in its answer to LIST CELL; cells without one are left out."""
    kind = find_object(statement.object)
    if not isinstance(statement, List) or statement.object != "CELL" or kind is None:
        return {}
    if statement.detail:
        rows = [(cell, row) for cell, reply in good.items() for row in read_detail(reply.stdout, "CELL")]
    else:
        columns = _columns(statement, kind)
        rows = (
            [(cell, row) for cell, reply in good.items() for row in read_columns(reply.stdout, columns, "CELL")]
            if "id" in columns
            else []
        )
    return {cell: row.get("id", "") for cell, row in rows}


def _columns(statement: List, kind: ObjectType) -> tuple[str, ...]:
    names = statement.attributes or (() if statement.detail else kind.default_columns)
    known = {name.lower(): attribute.name for name, attribute in kind.attributes.items()}
    return tuple(known.get(name.lower(), name) for name in names)


def _large(replies: Iterable[Reply], columns: Sequence[str], object_type: str, form: str) -> Result:
    """Return the result of a LIST whose answers are on disk."""
    from exacell.session.largelist import lines_of, rows_of

    answers = list(replies)
    if form == "raw":
        return Result(pieces=[(reply.target, lines_of(reply)) for reply in answers], fold=True, data=True)
    records = rows_of(answers, columns, object_type, typed=form not in AS_PRINTED)
    return Result(records=records, columns=[Column("cell"), *(Column(name) for name in columns)], fold=True, data=True)


def _list_xml(services: Services, request: Request, statement: List, kind: ObjectType, form: str) -> Result:
    columns = [] if statement.detail or statement.all_attributes else _columns(statement, kind)
    if columns and statement.object == "METRICHISTORY":
        # In XML a cell prints all attributes if no attribute is named, half as much again; an hour's history is large enough.
        statement = replace(statement, attributes=tuple(columns))
    answers = services.query(render(statement), exact=True, in_pieces=True, timeout=request.read_timeout)
    if statement.object.startswith("METRIC") and "metricValue" in columns:
        columns = [*columns, "unit"]
    rows: Sequence[Mapping[str, Any]]
    if any(answer.reply.large is not None for answer in answers.good.values()):
        rows = _large_xml(answers, statement.object, columns, form)
    elif (typed := TypedRows.of({c: a.tables[0] for c, a in answers.good.items()}, columns)) is not None:
        rows = typed
    else:
        rows = [
            {"cell": row["cell"], **{name: row.get(name) for name in columns}} if columns else row
            for row in answers.rows()
        ]
    problems = [
        f"{problem}; {LESS_HISTORY}"
        if statement.object == "METRICHISTORY" and answers.answers[cell].reply.state is State.TIMED_OUT
        else problem
        for cell, problem in zip((c for c, a in answers.answers.items() if a.problem), answers.problems, strict=True)
    ]
    return Result(records=rows, fold=True, data=True, problems=problems, exit_code=answers.exit_code)


def _large_xml(answers: Answers, object_type: str, columns: Sequence[str], form: str) -> Sequence[Mapping[str, Any]]:
    """Return the records of answers in XML of which at least one is on disk."""
    from exacell.cellcli.rows import LargeRows, joined
    from exacell.session.largelist import xml_rows

    tables = [(answer.tables[0], answer.reply) for answer in answers.good.values()]
    found = joined([table if isinstance(table, LargeRows) else xml_rows(reply, object_type) for table, reply in tables])
    rows = found.with_keys(columns) if columns else found
    return list(rows) if form == "table" and len(rows) <= MOST_FOLDED else rows


def _describe(session: Session, services: Services, statement: Describe, timeout: float | None) -> Result:
    result, good, problems, code = _ask(session, services, statement, timeout)
    records = [
        {"cell": cell, "name": row.name, "modifiable": row.modifiable, "hidden": row.hidden}
        for cell, reply in good.items()
        for row in read_describe(reply.stdout)
    ]
    raw = [(cell, reply.stdout) for cell, reply in good.items()]
    named = len(result.targets) > 1
    return Result(records=records, raw=raw, named=named, fold=True, data=True, problems=problems, exit_code=code)


_NOT_FOUND = 127
"""The shell's exit status for a program that it can't find. Source: POSIX, Shell Command Language, Exit Status for Commands."""


def dbmcli(host: str, text: str, *, timeout: float | None = None) -> HostRequest:
    """Return the request that runs one reading statement in DBMCLI of a host, as root over SSH.

    Source: Oracle DBMMN, starting DBMCLI (``-e command``).
    """
    return HostRequest(target=host, command=f"dbmcli -e {quote(text)}", role=Role.HOST_READ, timeout=timeout)


def why_not(reply: Reply) -> str:
    """Return one line about a reply that is not good; exit status 127 means that the host has no dbmcli."""
    missing = reply.exit_status == _NOT_FOUND
    return "there is no dbmcli; only database nodes of an Exadata rack have it" if missing else problem_of(reply)
