"""Show and export the journal, verify it, and begin a new one if it is damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile

from exacell.change.journal_restart import restart as begin_again
from exacell.commands.declared.journal import FILTERS, RECENT
from exacell.core.collecting import without_collecting
from exacell.core.errors import ExitCode, JournalError, RefusedError
from exacell.core.paths import at_home
from exacell.journal.auditing import (
    Common,
    Filter,
    as_csv,
    as_jsonl,
    finished,
    moment,
    outlines_of,
    row_record,
    summary,
)
from exacell.journal.reading import Stream
from exacell.journal.record import Journal
from exacell.journal.rows import Entry, Planned
from exacell.language.registry import Call
from exacell.output.changes import change_lines
from exacell.output.onechange import change_page
from exacell.output.result import Column, Result
from exacell.session.given import Services, Session


def show(session: Session, services: Services, call: Call) -> Result:
    """Return one record per change, or per row of one."""
    return _shown(session, services, call)


def recent(session: Session, services: Services, call: Call) -> Result:
    """Return one record per change, or per row of one."""
    if call.int_arg("change") is not None:
        return _shown(session, services, call)
    found = _shown(session, services, call, newest=RECENT)
    every = len(found.records) if _filters(call) else services.journal.count_changes(_rack(session, call))
    older = every - RECENT
    if older <= 0:
        return found
    notes = [*found.notes, f"{older} older one{'' if older == 1 else 's'}: journal show"]
    return _drawn(replace(found, records=found.records[-RECENT:], notes=notes), call.flag("all-racks"))


def _shown(session: Session, services: Services, call: Call, newest: int = 0) -> Result:
    """Return the records that the statement asks for.

    Args:
        newest: how many changes are enough if no filter is given; 0 for all.
    """
    number = call.int_arg("change")
    if number is not None:
        _tell_damage(services, call)
        own = _journal(services, call).all_entries(rack=_rack(session, call), change=number)
        if not own:
            where = "" if call.flag("all-racks") else f" of rack {session.need_rack().name}"
            raise JournalError(f"the journal has no change {number}{where}", hint="journal show")
        common = Common(own)
        rows = [row_record(entry, common) for entry in own]
        later = _journal(services, call).because_of(own[0].rack, number)
        columns = ("seq", "at", "kind", "target", "what", "statement", "state", "reason")
        found = Result(records=rows, columns=[Column(n) for n in columns], data=True)
        page = partial(_page, own, later, common.verified)
        return replace(found, draw=page, apart=partial(page, folded=False))
    with without_collecting():
        every = outlines_of(_entries(session, services, call, newest=newest))
        by = finished(every)
        wanted = _filter(call)
        rows = [summary(change, by.get(number)) for number, change in every.items() if wanted.wants(change)]
    columns = ("change", "at", "user", "host", "statement", "targets", "risk", "ended")
    racks = ("rack",) if call.flag("all-racks") else ()
    return _drawn(Result(records=rows, data=True, columns=[Column(n) for n in (*racks, *columns)]), bool(racks))


def _page(
    rows: Sequence[Entry], later: Sequence[Planned], verified: Callable[[Entry], str], width: int | None, color: bool,
    header: bool, *, folded: bool = True,
) -> Iterator[str]:  # fmt: skip
    """Yield one change as a page for display; other formats have all of its rows."""
    return change_page(
        rows, rows[0].rack, later=later, verified=verified, zone=None, width=width, color=color, folded=folded
    )


def _drawn(result: Result, racks: bool) -> Result:
    """Return the result with a drawing function: on a terminal each change takes one line."""

    def draw(width: int | None, color: bool, header: bool, *, folded: bool = True) -> Iterator[str]:
        return change_lines(
            result.records, racks=racks, width=width, color=color, header=header, folded=folded, zone=None
        )

    return replace(result, draw=draw, apart=partial(draw, folded=False)) if result.records else result


def export(session: Session, services: Services, call: Call) -> Result:
    """Write the rows while they are read, independent of `set format`; return notes about them.

    Raises:
        JournalError: the file is not a journal, or was replaced in the meantime.
    """
    _tell_damage(services, call)
    journal, wanted = _journal(services, call), _filter(call)
    rows = _stream(session, services, call)
    if _filters(call):
        looked = outlines_of(takewhile(lambda _: not session.interrupted.is_set(), rows))
        rows.choose({number for number, change in looked.items() if wanted.wants(change)})
    written = 0

    def counted() -> Iterator[Entry]:
        nonlocal written
        for entry in rows:
            if session.interrupted.is_set():
                return
            yield entry
            written = entry.seq

    shown = counted()
    own = call.own_format(session.options.format)
    lines = as_csv(shown, journal.plans_of) if own == "csv" else as_jsonl(shown)
    while some := list(islice(lines, _AT_ONCE)):
        services.console.data("".join(f"{line}\n" for line in some))
    problems = [f"the journal {journal.path}: {rows.problem}"] if rows.problem else []
    code = ExitCode.FAILED if problems else ExitCode.DONE
    if session.interrupted.is_set():
        upto = f"written up to row {written}" if written else "nothing was written"
        problems.append(f"interrupted: {upto}; the last row would be {rows.last}")
        code = ExitCode.INTERRUPTED
    return Result(problems=problems, notes=[] if written or problems else ["no rows"], exit_code=code)


_AT_ONCE = 256
"""Rows that are written at a time."""


def verify(services: Services, call: Call) -> Result:
    """Return one record; the exit code is 1 if the journal is damaged."""
    journal = _journal(services, call)
    walked, problem = journal.examine()
    notes = ["`journal restart` renames it and begins a new one; until then no cell is changed"] if problem else []
    head = call.text_arg("head")
    if head and not problem and (problem := _without_head(journal, head)):
        notes = [
            "its chain is complete: either the head was copied wrongly, or all rows and journal.head were rewritten"
        ]
    whole = not problem
    row = {
        "cell": None,
        "whole": whole,
        "rows": walked.good,
        "head": journal.head or None if whole else None,
        "lastGood": None if whole else f"{walked.good}:{walked.hash[:12]}",
        "file": str(journal.path),
    }
    code = ExitCode.DONE if whole else ExitCode.FAILED
    columns = [Column(n) for n in ("whole", "rows", "head" if whole else "lastGood")]
    return Result(records=[row], columns=columns, problems=[problem] if problem else [], notes=notes, exit_code=code)


def _without_head(journal: Journal, head: str) -> str:
    """Return the problem if the row of a printed head is not in the journal; empty if it is."""
    number, colon, start = head.partition(":")
    if not colon or not number.isdecimal() or not start:
        raise JournalError(f"head={head}: a head is a row number and the start of its hash, such as 17:1f0c2b3a4d5e")
    found = journal.rows("seq = ?", [int(number)])
    if not found:
        return f"row {number} is missing: the head {head} was printed for it"
    return (
        ""
        if str(found[0][-1]).startswith(start)
        else f"row {number} has changed since the head {head} was printed for it"
    )


def restart(session: Session, services: Services, call: Call) -> Result:
    """Begin a new journal and return one record about the old file.

    Raises:
        RefusedError: the user did not agree.
        JournalError: the journal is not damaged.
    """
    journal = services.journal
    walked, problem = journal.examine()
    if problem:
        services.console.say(f"{journal.path}: {problem}; it is complete up to row {walked.good} ({walked.hash[:12]})")
        flags = session.options.over(call.flags)
        if flags.get("dry-run"):
            return Result(notes=["-n: nothing was changed"])
        if not flags.get("yes") and not services.console.confirm("rename it and begin a new journal?"):
            raise RefusedError("journal restart: not confirmed; nothing was changed", hint="-y answers yes")
    done = begin_again(journal, reason=call.flag_text("reason"))
    row = {
        "cell": None,
        "old": str(done.old),
        "lastGood": f"{done.good}:{done.hash[:12]}",
        "carried": list(done.carried),
    }
    carried = ", ".join(map(str, done.carried))
    notes = [f"a new journal begins: {journal.head}", f"journal show file={done.old} reads the old one"]
    if not done.whole:
        notes.append(
            "exacell no longer knows what earlier changes left: `show flashcache` and `show services` show the "
            "present state"
        )
    if carried:
        notes.append(f"unfinished changes were copied to it: {carried}")
    return Result(records=[row], notes=notes)


def _journal(services: Services, call: Call) -> Journal:
    name = call.text_arg("file")
    if not name:
        return services.journal
    path = at_home(name)
    if not path.is_file():
        raise JournalError(
            f"there is no journal file {path}",
            hint="`journal export` writes one; without file= it is this host's journal",
        )
    return Journal(path)


def _rack(session: Session, call: Call) -> str | None:
    """Return the rack whose rows are wanted; None for all racks."""
    return (
        None if call.flag("all-racks") or (call.text_arg("file") and session.rack is None) else session.need_rack().name
    )


def _filters(call: Call) -> bool:
    return call.flag("failed") or any(call.text_arg(item.name) for item in FILTERS)


def _tell_damage(services: Services, call: Call) -> None:
    if call.text_arg("file") and (damage := _journal(services, call).damage()):
        services.console.say(f"{damage}; the rows that can't be read are not shown")


def _entries(session: Session, services: Services, call: Call, *, newest: int) -> Iterable[Entry]:
    """Return at least the rows of the wanted changes; only the end of a long journal is read if that is enough."""
    _tell_damage(services, call)
    if newest and not _filters(call):
        return _journal(services, call).all_entries(rack=_rack(session, call), newest=newest)
    return _stream(session, services, call)


def _stream(session: Session, services: Services, call: Call) -> Stream:
    wanted = _filter(call)
    return Stream(
        _journal(services, call),
        rack=_rack(session, call),
        since="" if wanted.since is None else wanted.since.isoformat(timespec="milliseconds"),
        until="" if wanted.until is None else wanted.until.isoformat(timespec="milliseconds"),
        target=wanted.target,
    )


def _filter(call: Call) -> Filter:
    return Filter(
        since=moment(call.text_arg("since")),
        until=moment(call.text_arg("until")),
        user=call.text_arg("user"),
        target=call.text_arg("cell"),
        ticket=call.text_arg("ticket"),
        word=call.text_arg("word"),
        failed=call.flag("failed"),
    )
