"""Drift: compare cells, or hosts that are not cells, with each other and with a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from exacell.cellcli.fold import for_cell
from exacell.cellcli.schema import Kind as Type, find_object
from exacell.cellcli.statement import List, parse, render
from exacell.commands.rehearsal.copyreading import read_all, read_cells
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.units import counted, size_text, sizes_apart
from exacell.language.registry import Call
from exacell.output.result import HOST, Column, Result, worst
from exacell.output.tables import table_lines
from exacell.plan.drift import (
    ASM,
    BETTER,
    CHANGED,
    DIFFERS,
    WORSE,
    Difference,
    between_cells,
    folded,
    from_baseline,
    gone,
    judgement,
    neutral,
    told,
)
from exacell.session.given import Request, Services, Session
from exacell.session.hostfacts import comparable_facts
from exacell.session.store import Store, StoreError


def _read_list(
    services: Services, request: Request, text: str
) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts in the selected cells' answers to one LIST statement, the problems, and the exit code.

    Raises:
        StatementError: ``text`` is not a LIST statement.
    """
    statement = parse(text)
    if not isinstance(statement, List):
        raise StatementError(f"drift of='{text}': a LIST statement is needed, such as 'list lun detail'")
    answers = services.query(render(statement), exact=True, timeout=request.read_timeout)
    kind = statement.object.lower()
    facts = {cell: neutral(cell, answer.tables, (kind,)) for cell, answer in answers.good.items()}
    return facts, list(answers.problems), answers.exit_code


def _of_hosts(session: Session, services: Services, request: Request) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the facts of the hosts that ON names, in the form of cells' facts, and the problems of hosts without an answer."""
    hosts = tuple(session.selection.hosts)
    return comparable_facts(services.fleet, hosts, timeout=request.read_timeout, cancel=session.interrupted)


def _baseline(session: Session, name: str) -> dict[str, dict[str, str]]:
    """Return a baseline: of the cells, or of the hosts if ON names some.

    Raises:
        StoreError: there is no such baseline, or it has none of these cells or hosts.
    """
    rack, hosts = session.need_rack(), tuple(session.selection.hosts)
    kept = Store(session.home.state_dir / "store.db").find_baseline(rack.name, name, (*rack.cells, *rack.host_names))
    of_hosts = {target: facts for target, facts in kept.items() if target in rack.host_names}
    if hosts:
        found = {target: facts for target, facts in of_hosts.items() if target in hosts}
    else:
        found = {target: facts for target, facts in kept.items() if target not in of_hosts}
    if not found:
        asked, held = ("hosts", "cells") if hosts else ("cells", "hosts")
        raise StoreError(
            f"baseline {name} is of {fold(kept)}: {held}; it has none of the selected {asked}",
            hint=f"{'on @GROUP ' if hosts else ''}save baseline as=NAME keeps the present state of the {asked}",
        )
    return found


def drift(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per difference: cell, object, name, attribute, value, expected value and judgement."""
    name, statement = call.text_arg("baseline"), call.text_arg("of")
    on_hosts = bool(session.selection.hosts)
    if name and statement:
        raise StatementError("drift: of= compares cells with each other, so it can't be used with baseline=")
    if statement and on_hosts:
        raise StatementError(
            "drift: of= is for cells, not for hosts", hint="`on @GROUP drift` compares the facts of hosts"
        )
    before = _baseline(session, name) if name else None
    if on_hosts:
        facts, problems = _of_hosts(session, services, request)
        code = ExitCode.DONE if not problems else ExitCode.FAILED if facts else ExitCode.NOT_EXECUTED
    elif name:
        facts, problems, code = read_all(session, services, request)
    else:
        facts, problems, code = _read_list(services, request, statement) if statement else read_cells(services, request)
    if before is None:
        found = told(between_cells(facts), facts)
    else:
        there = session.need_rack().host_names if on_hosts else session.need_rack().cells
        found = [*told(from_baseline(before, facts), facts, before), *gone(before, there)]
    rows = [_row(d) for d in found]
    cells = [target for target in facts if not target.startswith(ASM)]
    notes = (
        [f"{counted(len(cells), 'host' if on_hosts else 'cell')}, no drift"]
        if cells and not rows
        else _verdict([readable(d) for d in found])
    )
    exit_code = worst([code, ExitCode.DRIFT]) if rows else code
    columns = [Column(n) for n in (*_WHERE, "value", "expected", "judgement")]
    if on_hosts:
        columns[0] = HOST

    def table(found: Sequence[Difference], width: int | None, color: bool, header: bool) -> Iterator[str]:
        lines = [_row(readable(d)) for d in found]
        return table_lines(lines, columns, width=width, color=color, header=header)

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return table(folded(found), width, color, header)

    def apart(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return table(found, width, color, header)

    return Result(
        records=rows, columns=columns, fold=True, data=True, notes=notes, problems=problems, exit_code=exit_code,
        draw=draw if rows else None, apart=apart if rows else None,
    )  # fmt: skip


_WHERE = ("cell", "object", "name", "attribute")
_SHOWN = 6
"""Maximum number of differences for the worse that are named below the table."""


def _verdict(found: Sequence[Difference]) -> list[str]:
    """Return a summary of all differences; those for the worse are named; empty if there are no differences."""
    rows = [(d, _row(d)) for d in found]
    counts = Counter(str(row["judgement"]) for _, row in rows)
    worse = [
        f"worse: {' '.join(str(row[name]) for name in _WHERE if row[name])}: {row['value'] or 'missing'}, "
        + (
            f"elsewhere {' or '.join(other or 'none' for other in d.others)}"
            if d.others
            else f"expected {row['expected']}"
        )
        for d, row in rows
        if row["judgement"] == WORSE
    ]
    more = [f"worse: {len(worse) - _SHOWN} more"] if len(worse) > _SHOWN else []
    words = {WORSE: WORSE, BETTER: BETTER, CHANGED: CHANGED, DIFFERS: DIFFERS if counts[DIFFERS] == 1 else "differ"}
    total = ", ".join(f"{counts[word]} {said}" for word, said in words.items() if counts[word])
    tied = [NO_NORM] if any(d.others for d in found) else []
    return [*worse[:_SHOWN], *more, *tied, total] if rows else []


NO_NORM = "no value is on most of the cells, so none is expected: each cell's own value is shown"
"""The note below differences without an expected value."""


def readable(d: Difference) -> Difference:
    """Return a difference with its sizes in readable form."""
    kind = find_object(d.object)
    attribute = None if kind is None else kind.attribute(d.attribute)
    if attribute is None or attribute.kind is not Type.SIZE:
        return d
    if d.others:
        other = next((other for other in d.others if other.isdecimal()), "")
        if not d.value.isdecimal():
            return d
        value = sizes_apart(int(d.value), int(other))[0] if other else size_text(int(d.value))
        return replace(d, value=value, others=tuple(size_text(int(o)) if o.isdecimal() else o for o in d.others))
    if d.value.isdecimal() and d.expected.isdecimal():
        value, expected = sizes_apart(int(d.value), int(d.expected))
    else:
        value, expected = (size_text(int(text)) if text.isdecimal() else text for text in (d.value, d.expected))
    return replace(d, value=value, expected=expected)


def _row(d: Difference) -> dict[str, object]:
    """Return a record; if it is about one cell, the cell's own name is put back in place of ``{cell}``."""
    one = not d.cell.startswith(ASM) and not any(mark in d.cell for mark in "[,")
    name, value, expected = (for_cell(text, d.cell) if one else text for text in (d.name, d.value, d.expected))
    return {
        "cell": d.cell, "object": d.object, "name": name, "attribute": d.attribute, "value": value or None,
        "expected": expected or None, "judgement": judgement(d),
    }  # fmt: skip


def save_baseline(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Store the baseline and return a note.

    Raises:
        RefusedError: a cell or host did not answer and --partial was not given, or none answered.
    """
    hosts = bool(session.selection.hosts)
    facts, problems = _of_hosts(session, services, request) if hosts else read_all(session, services, request)[:2]
    if not facts:
        raise RefusedError(f"save baseline: {problems[0]}", hint="there is nothing to keep")
    if problems and not call.flag("partial"):
        raise RefusedError(f"save baseline: {problems[0]}", hint="--partial keeps the rest")
    cells = [target for target in facts if not target.startswith(ASM)]
    asm = " and ASM" if len(facts) > len(cells) else ""
    Store(session.home.state_dir / "store.db").save_baseline(session.need_rack().name, call.text_arg("as"), facts)
    kept = counted(len(cells), "host" if hosts else "cell")
    return Result(notes=[f"baseline {call.text_arg('as')}: {kept}{asm}"], problems=problems)
