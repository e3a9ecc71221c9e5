"""Snapshots of the rows of a LIST statement, and their changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.fold import KEYS, for_cell
from exacell.cellcli.nodes import List
from exacell.cellcli.schema import find_object
from exacell.cellcli.secrets import masked_data
from exacell.cellcli.statement import parse, render
from exacell.commands.drift import readable
from exacell.core.errors import ExitCode
from exacell.core.units import size_text
from exacell.measure.delta import unlike
from exacell.measure.snapshot import CellCounters, Snapshot
from exacell.output.result import Column
from exacell.output.tables import table_lines
from exacell.plan.drift import Difference, folded, from_baseline, neutral, told
from exacell.session.given import Request, Services, Session
from exacell.session.sampling import read_counters

LEFT_OUT = ("collectionTime", "upTime", "lastRequestTime")
"""Attributes that change by themselves from one read to the next."""

COLUMNS = (
    *(Column("cell"), Column("kind"), Column("object"), Column("change"), Column("attribute")),
    *(Column("before"), Column("after"), Column("difference", "number")),
)


def told_apart(text: str) -> str:
    """Return the full LIST statement for a text without its first word; columns that identify a row are added.

    Raises:
        StatementError: the text is not a LIST statement.
    """
    statement = parse(f"LIST {text}")
    assert isinstance(statement, List)
    found = find_object(statement.object)
    if statement.attributes and found is not None:
        has = [name.lower() for name in statement.attributes]
        needed = [key for key in KEYS if key.lower() not in has and found.attribute(key) is not None]
        statement = replace(statement, attributes=(*needed, *statement.attributes))
    return render(statement)


def read_rows(
    session: Session, services: Services, request: Request, statement: str
) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
    """Return the rows and conditions of each cell that answered, the problems of the others, and the exit code."""
    cells, problems, code = read_counters(session, services, request, "flashlog")
    answers = services.query(statement, exact=True, timeout=request.read_timeout)
    kind = statement.split()[1].lower()
    found = {
        cell: replace(
            cells[cell],
            values={},
            rows=masked_data(neutral(cell, answer.tables, (kind,), leaves=lambda name: name in LEFT_OUT)),
        )
        for cell, answer in answers.good.items()
        if cell in cells
    }
    return found, tuple(dict.fromkeys([*problems, *answers.problems])), max(code, answers.exit_code)


def count_rows(rows: Mapping[str, str]) -> int:
    """Return the number of objects in a cell's rows."""
    return len({path.rpartition("|")[0] for path in rows})


def changes(before: Snapshot, after: Snapshot) -> tuple[list[Difference], list[str], list[str]]:
    """Return the changes on the cells that both snapshots have, the problems of the others, and notes.

    A row that was added or removed is one difference, of its name.
    """
    cells = [cell for cell in after.cells if cell in before.cells]
    old, new = ({cell: shot.cells[cell].rows for cell in cells} for shot in (before, after))
    found = told(from_baseline(old, new), new, old)
    problems = [
        f"{cell}: it is missing in the {'second' if cell in before.cells else 'first'} snapshot"
        for cell in dict.fromkeys([*before.cells, *after.cells])
        if cell not in cells
    ]
    notes = [f"meanwhile: {line}" for line in unlike(before, after)]
    if cells and not found:
        notes.append(f"{before.kind}: nothing changed on {len(cells)} cells" if len(cells) > 1 else "nothing changed")
    return found, problems, notes


def change_rows(kind: str, found: Sequence[Difference]) -> list[dict[str, Any]]:
    """Return one record per difference, with unchanged values; numbers also have their difference."""
    return [_row(kind, each) for each in found]


def change_lines(
    found: Sequence[Difference], *, together: bool, width: int | None, color: bool, header: bool
) -> Iterator[str]:
    """Yield a table of the differences for display, with readable sizes; with ``together``, equal differences of several cells
    share a row.
    """
    rows = []
    for each in folded(found) if together else found:
        shown, apart = readable(each), _apart(each)
        far = ("-" if apart < 0 else "") + size_text(abs(int(apart))) if apart is not None and shown != each else apart
        rows.append({**_row("", shown), "difference": far})
    columns = [column for column in COLUMNS if column.name != "kind"]
    return table_lines(rows, columns, width=width, color=color, header=header)


def _row(kind: str, each: Difference) -> dict[str, Any]:
    one = not any(mark in each.cell for mark in "[,")
    name, before, after = (
        for_cell(text, each.cell) if one else text for text in (each.name, each.expected, each.value)
    )
    whole, apart = each.attribute == "name", _apart(each)
    sides = [text or None if apart is None else _number(text) for text in (before, after)]
    return {
        "cell": each.cell,
        "kind": kind,
        "object": name or None,
        "change": ("went" if before else "came") if whole else "changed",
        "attribute": None if whole else each.attribute,
        "before": None if whole else sides[0],
        "after": None if whole else sides[1],
        "difference": apart,
    }


def _apart(each: Difference) -> int | float | None:
    """Return the difference of two numbers; None if one of the values is not a number."""
    try:
        apart = _number(each.value) - _number(each.expected)
    except ValueError:
        return None
    return apart if isinstance(apart, int) else round(apart, 6)


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)
