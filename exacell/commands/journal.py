"""The journal for readers: what was changed, by whom, and whether the record is whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from exacell.cellset import fold
from exacell.errors import ExitCode, JournalError
from exacell.language.registry import Call, Effect, Kind, Param, command
from exacell.output.result import Column, Result

if TYPE_CHECKING:
    from exacell.context import Context
    from exacell.journal import Entry

GROUP = "change control"


@command(
    "journal show",
    group=GROUP,
    effect=Effect.READ,
    summary="the changes made on this rack, or every row of one change",
    example="journal show",
    params=(
        Param(name="change", kind=Kind.INT, positional=True, help="its number: all rows with statements and replies"),
    ),
)
def show(ctx: Context, call: Call) -> Result:
    """Return one record per change, or per row of one."""
    rack = ctx.need_rack().name
    number = call.int_arg("change")
    entries = ctx.journal.entries(rack=rack, change=number)
    if number is not None:
        if not entries:
            raise JournalError(f"the journal has no change {number} of rack {rack}")
        rows = [_row(entry) for entry in entries]
        columns = ("seq", "at", "kind", "target", "what", "statement", "state", "reason")
        return Result(records=rows, columns=[Column(n) for n in columns], data=True)
    by_change: dict[int, list[Entry]] = {}
    for entry in entries:
        by_change.setdefault(entry.change, []).append(entry)
    rows = [_summary(items) for items in by_change.values()]
    return Result(
        records=rows,
        data=True,
        columns=[Column(n) for n in ("change", "at", "user", "host", "statement", "targets", "risk", "ended")],
    )


def _summary(entries: list[Entry]) -> dict[str, object]:
    plan = entries[0].body
    end = next((e for e in entries if e.kind == "end"), None)
    return {
        "cell": None,
        "change": entries[0].change,
        "at": entries[0].at,
        "user": plan.get("user"),
        "host": plan.get("host"),
        "statement": plan.get("statement"),
        "targets": fold(_targets(entries)),
        "risk": plan.get("risk"),
        "ended": "did not end" if end is None else f"exit {end.body.get('exitCode')}",
        "reason": plan.get("reason") or None,
        "ticket": plan.get("ticket") or None,
        "recipe": plan.get("origin") or None,
    }


def _targets(entries: Iterable[Entry]) -> set[str]:
    return {entry.target for entry in entries if entry.target}


def _row(entry: Entry) -> dict[str, object]:
    body = {k: v for k, v in entry.body.items() if k != "plan"}
    return {"cell": None, "seq": entry.seq, "at": entry.at, "kind": entry.kind, "target": entry.target or None, **body}


@command(
    "journal verify",
    group=GROUP,
    effect=Effect.READ,
    summary="check the hash chain: no row edited, removed, moved or cut off",
    example="journal verify",
)
def verify(ctx: Context, call: Call) -> Result:
    """Return one record; exit code 1 when the journal is damaged."""
    problem = ctx.journal.verify()
    count = len(ctx.journal.entries()) if not problem else None
    row = {"cell": None, "whole": not problem, "rows": count, "head": None if problem else ctx.journal.head or None}
    return Result(
        records=[row], problems=[problem] if problem else [], exit_code=ExitCode.FAILED if problem else ExitCode.DONE
    )
