"""Ask for the value that a reading of a recipe names, and judge a check on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exacell.cellcli.condition import FactCheck
from exacell.cellcli.nodes import List
from exacell.cellcli.schema import Kind, find_object
from exacell.change.execute import execute
from exacell.core.errors import RecipeError, StatementError
from exacell.language.line import Line, parse_line
from exacell.language.reading import (
    NothingReadError,
    Reading,
    ReadingCheck,
    chosen,
    compares,
    measured,
    picked,
    shown_beside,
)
from exacell.output.result import Result
from exacell.recipes.answers import reads
from exacell.session.checking import failures
from exacell.session.given import Request, Services, Session


def line_to_read(reading: Reading) -> Line:
    """Return the parsed statement of a reading; a LIST without attributes asks for all.

    Raises:
        StatementError: the text is not a statement, or it changes something.
    """
    line = parse_line(reading.statement, shell=False)
    if line is None or not reads(line):
        raise StatementError(
            f"'{reading.statement}' is not a statement that reads, so it gives no value",
            hint="use one that reads, such as list flashcache",
        )
    asked = line.cellcli
    if isinstance(asked, List) and not (asked.attributes or asked.all_attributes or asked.detail):
        line = replace(line, cellcli=replace(asked, detail=True))
    # Like a program, this gets typed values.
    return replace(line, flags={**line.flags, "format": "json"})


def values_read(session: Session, services: Services, request: Request, reading: Reading) -> list[tuple[str, Any]]:
    """Return (name, value) of each record of a reading, with the name of its cell or object; see :func:`column_read`."""
    return column_read(session, services, request, reading)[0]


def column_read(
    session: Session, services: Services, request: Request, reading: Reading
) -> tuple[list[tuple[str, Any]], str]:
    """Return (name, value) of each record of a reading, and the kind of its column.

    Raises:
        StatementError: the statement does not read, or has no such column or record.
        RecipeError: a target did not answer.
        ExacellError: any error of the statement itself.
    """
    line = line_to_read(reading)
    result = execute(session, services, replace(request, line=None), line, inside=True)
    if result.problems and not result.records:
        raise RecipeError(result.problems[0])
    return chosen(reading, result.records, [column.name for column in result.columns]), _kind(result, line, reading)


def _kind(result: Result, line: Line, reading: Reading) -> str:
    """Return the kind of a column, as in :class:`~exacell.output.result.Column`: ``size``, ``mib`` …"""
    if isinstance(line.cellcli, List):
        listed = find_object(line.cellcli.object)
        attribute = listed.attribute(reading.column) if listed is not None else None
        return "size" if attribute is not None and attribute.kind is Kind.SIZE else ""
    return next((each.kind for each in result.columns if each.name.lower() == reading.column.lower()), "")


def wrong_with(
    session: Session, services: Services, request: Request, check: FactCheck | ReadingCheck
) -> dict[str, list[str]]:
    """Return reason → cells for each part of a check that does not hold; empty if all of it holds."""
    if isinstance(check, FactCheck):
        return failures(services, request, check)
    line = line_to_read(check.reading)
    result = execute(session, services, replace(request, line=None), line, inside=True)
    found: dict[str, list[str]] = {problem: [] for problem in result.problems}
    if found and not result.records:
        return found
    in_mb = "MB" if _kind(result, line, check.reading) == "mib" else ""
    wanted = f"not {check.operator} {check.value}" if check.operator != "!=" else "which must not be"
    why = f"; {check.why}" if check.why else ""
    try:
        rows = picked(check.reading, result.records, [column.name for column in result.columns])
    except NothingReadError as error:
        return {f"{error.message}{why}": []}  # The check does not hold then; a wait looks again.
    for about, record, column in rows:
        value, unit = record.get(column), str(record.get("unit") or "") if column == "metricValue" else in_mb
        if not compares(value, check.operator, measured(check.value, unit)):
            shown = f"{value} {unit}" if unit else shown_beside(value, check.value)
            found[f"{about or check.reading.statement}: {check.reading.column} is {shown}, {wanted}{why}"] = []
    return found
