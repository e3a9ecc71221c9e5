"""Lays out query results as SQL*Plus prints them: pages with headings, wrapped columns, or CSV.

Source: Oracle SQL*Plus User's Guide, "Formatting SQL*Plus Reports", and reference asm.md section 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from exacell.emulator.sql.date_functions import interval_text
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.number_masks import format_number, is_number_mask, mask_width
from exacell.emulator.sql.scope import Relation, ResultColumn
from exacell.emulator.sql.values import INTERVAL, TIMESTAMP, ZONED, ColumnType, Kind, Value, number_text
from exacell.emulator.sqlplus.columns import ColumnFormat
from exacell.emulator.sqlplus.report import Line, Piece, Report, Skip, Totals
from exacell.emulator.sqlplus.settings import Settings

_TIMESTAMP_MASK = "DD-MON-RR HH.MI.SS.FF6 AM"
_LEAST_NUMBER_CHARS = 7
"""Characters below which scientific notation does not fit."""


_PLAIN = ColumnFormat()


@dataclass(frozen=True)
class _Laid:
    """One column of a report: its heading, its width, whether it is right-aligned, and its place in a row.

    Attributes:
        mask: the format of dates.
        chosen: its settings of COLUMN.
    """

    place: int
    heading: str
    width: int
    right: bool
    picture: str | None
    mask: str = ""
    chosen: ColumnFormat = _PLAIN


def render(
    relation: Relation,
    settings: Settings,
    columns: Mapping[str, ColumnFormat],
    date_format: str,
    report: Report | None = None,
) -> str:
    """Return a query's rows as text, without the line with their count; empty if there are no rows.

    Args:
        columns: COLUMN settings by upper-case column name.
        date_format: NLS_DATE_FORMAT of the session.
        report: BREAK and COMPUTE.
    """
    if not relation.rows:
        return ""
    if settings.csv:
        return _csv(relation, settings, columns, date_format)
    named = {name.upper(): chosen for name, chosen in columns.items()}
    chosen_for = [named.get(c.name.upper()) for c in relation.columns]
    laid = [_lay(n, c, settings, chosen_for[n], relation, date_format) for n, c in enumerate(relation.columns)]
    shown = [column for column, c in zip(laid, relation.columns, strict=True) if not _hidden(columns, c)]
    if not shown:
        return "\n" * len(relation.rows) if settings.pagesize else ""
    lines = _pack(shown, settings)
    heading = _heading(lines, settings)
    pieces = (report or Report()).pieces(relation.rows, [column.name for column in relation.columns])
    rows = [_piece(piece, lines, settings, date_format) for piece in pieces]
    text = _pages(rows, heading, settings)
    return "".join(f"{_finish(line, settings)}\n" for line in text)


def feedback(count: int, settings: Settings) -> str:
    """Return the text after the rows: the count, a blank line, or nothing."""
    if not settings.feedback:
        return ""
    if count == 0:
        return "\nno rows selected\n\n"
    if count < settings.feedback:
        return "\n"
    return f"\n{count} row{'s' if count > 1 else ''} selected.\n\n"


def _hidden(columns: Mapping[str, ColumnFormat], column: ResultColumn) -> bool:
    name = column.name.upper()
    return name in columns and columns[name].hidden


def _lay(
    place: int,
    column: ResultColumn,
    settings: Settings,
    chosen: ColumnFormat | None,
    relation: Relation,
    date_format: str,
) -> _Laid:
    # HEADSEP divides only headings given to COLUMN: NAME||'|'||STATE stays on one line.
    separator = settings.headsep or "\n"
    heading = chosen.heading.replace(separator, "\n") if chosen and chosen.heading is not None else column.name
    title = max(map(len, heading.split("\n")))
    picture = chosen.format if chosen else None
    own = chosen or ColumnFormat()
    if column.type == INTERVAL:
        return _Laid(place, heading, 75, False, None, "interval", own)
    if column.type.kind is Kind.NUMBER:
        picture = picture or settings.others.get("NUMFORMAT") or None
        if picture and is_number_mask(picture):
            return _Laid(place, heading, max(mask_width(picture), title), True, picture, chosen=own)
        return _Laid(place, heading, max(settings.numwidth, title), True, None, chosen=own)
    mask = date_mask(column.type, date_format)
    if picture and re.fullmatch("[Aa][0-9]+", picture):
        return _Laid(place, heading, int(picture[1:]), False, None, mask, own)
    if column.type.kind is Kind.DATE:
        dates = [row[place] for row in relation.rows]
        sample = next((value for value in dates if isinstance(value, datetime)), datetime(2000, 1, 1))
        width = 75 if column.type.width else len(format_date(sample, date_format))
        return _Laid(place, heading, width, False, None, mask, own)
    long = settings.others.get("LONG", "")
    limit = max(int(long), 80) if re.fullmatch("[0-9]{1,9}", long) else 32767
    return _Laid(place, heading, max(1, min(column.type.width, limit)), False, None, chosen=own)


def _pack(columns: Sequence[_Laid], settings: Settings) -> list[list[_Laid]]:
    """Distribute the columns over as many lines as LINESIZE needs; no column is wider than a line."""
    lines: list[list[_Laid]] = [[]]
    used = 0
    for column in columns:
        if column.width > settings.linesize:
            column = replace(column, width=settings.linesize)
        needed = column.width + (len(settings.colsep) if lines[-1] else 0)
        turned = column.chosen.before or bool(lines[-1] and lines[-1][-1].chosen.after)
        if lines[-1] and (used + needed > settings.linesize or turned):
            lines.append([])
            used, needed = 0, column.width
        lines[-1].append(column)
        used += needed
    return lines


def _heading(lines: Sequence[Sequence[_Laid]], settings: Settings) -> list[str]:
    if not settings.heading or not settings.pagesize:
        return []
    text: list[str] = []
    for line in lines:
        titles = [column.heading.split("\n") for column in line]
        height = max(len(parts) for parts in titles)
        for level in range(height):
            cells = [
                _title(parts[level - (height - len(parts))] if level >= height - len(parts) else "", column)
                for parts, column in zip(titles, line, strict=True)
            ]
            text.append(settings.colsep.join(cells))
        if settings.underline:
            text.append(settings.colsep.join(settings.underline * column.width for column in line))
    return text


def _title(text: str, column: _Laid) -> str:
    """Return a line of a heading, aligned as JUSTIFY says, otherwise like the values."""
    text, side = text[: column.width], column.chosen.justify
    if side == "CENTER":
        return text.center(column.width)
    if side:
        return text.rjust(column.width) if side == "RIGHT" else text.ljust(column.width)
    return _cell(text, column)


def _cell(text: str, column: _Laid) -> str:
    return text[: column.width].rjust(column.width) if column.right else text[: column.width].ljust(column.width)


def _row(row: Sequence[Value], lines: Sequence[Sequence[_Laid]], settings: Settings, date_format: str) -> list[str]:
    text: list[str] = []
    wrapped = False
    for line in lines:
        cells = [_value_lines(row[column.place], column, settings, date_format) for column in line]
        height = max(len(cell) for cell in cells)
        wrapped = wrapped or height > 1
        for level in range(height):
            pieces = [
                _cell(cell[level] if level < len(cell) else "", column)
                for cell, column in zip(cells, line, strict=True)
            ]
            text.append(settings.colsep.join(pieces))
    separated = settings.others.get("RECSEP", "WRAPPED").upper()[:2]
    if separated == "EA" or (wrapped and separated != "OF"):
        text.append(settings.others.get("RECSEPCHAR", " ")[:1] * settings.linesize)
    return text


def _piece(piece: Piece, lines: Sequence[Sequence[_Laid]], settings: Settings, date_format: str) -> list[str] | None:
    """Return the lines of a piece of a report; None for the end of a page."""
    if isinstance(piece, Line):
        row = tuple("" if place in piece.blank else value for place, value in enumerate(piece.row))
        return _row(row, lines, settings, date_format)
    if isinstance(piece, Totals):
        return [text for line in lines for text in _totals(piece, line, settings, date_format)]
    return [""] * piece.count if isinstance(piece, Skip) else None


def _totals(totals: Totals, line: Sequence[_Laid], settings: Settings, date_format: str) -> list[str]:
    """Return a rule and one line for each function, for the columns of one line."""
    computed = {place for values in totals.functions.values() for place in values}
    label_place = line[0].place if totals.place is None else totals.place
    rule = [("*" if c.place in totals.starred else "-" if c.place in computed else " ") * c.width for c in line]
    text = [settings.colsep.join(rule)]
    for label, values in totals.functions.items():
        cells = []
        for column in line:
            shown = (
                _value_lines(values[column.place], column, settings, date_format) if column.place in values else [""]
            )
            if column.place == label_place and column.place not in values:
                cells.append(label[: column.width].ljust(column.width))
            else:
                cells.append(_cell(shown[0], column))
        text.append(settings.colsep.join(cells))
    return text


def _value_lines(value: Value, column: _Laid, settings: Settings, date_format: str) -> list[str]:
    if value is None:
        return [settings.null if column.chosen.null is None else column.chosen.null]
    if isinstance(value, int | Decimal) and column.mask == "interval":
        return [interval_text(value)]
    if isinstance(value, int | Decimal):
        if column.picture:
            return [format_number(value, column.picture).rjust(column.width)]
        return [number_in(value, min(column.width, settings.numwidth))]
    text = format_date(value, column.mask or date_format) if isinstance(value, datetime) else value
    pieces: list[str] = []
    for part in text.split("\n"):
        if column.chosen.wrapping == "WORD_WRAPPED":
            pieces += _words(part, column.width)
            continue
        chunks = [part[at : at + column.width] for at in range(0, len(part), column.width)] or [""]
        whole = column.chosen.wrapping == "WRAPPED" or (settings.wrap and column.chosen.wrapping != "TRUNCATED")
        pieces += chunks if whole else chunks[:1]
    return pieces


def _words(text: str, width: int) -> list[str]:
    """Return the lines of a text that is divided at blanks; leading blanks are dropped."""
    lines, rest = list[str](), text.lstrip()
    while len(rest) > width:
        end = rest.rfind(" ", 0, width + 1)
        end = end if end > 0 else width
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*lines, rest]


def date_mask(kind: ColumnType, date_format: str) -> str:
    """Return the format of a column of dates; empty for other columns."""
    if kind.kind is not Kind.DATE:
        return ""
    return {TIMESTAMP: _TIMESTAMP_MASK, ZONED: f"{_TIMESTAMP_MASK} TZR"}.get(kind, date_format)


def number_in(value: int | Decimal, width: int) -> str:
    """Return a number in at most ``width`` characters: whole, rounded, in scientific notation, or as ``####``."""
    text = number_text(value)
    if len(text) <= width:
        return text
    whole = len(text.partition(".")[0])
    if "." in text and whole <= width:
        places = max(0, width - whole - 1)
        return number_text(round(Decimal(value), places)) if places else str(round(value))
    if width < _LEAST_NUMBER_CHARS:
        return "#" * width
    digits = width - 6 - (value < 0)
    for precision in range(digits, -1, -1):
        mantissa, _, exponent = f"{Decimal(value):.{precision}E}".partition("E")
        result = f"{mantissa}E{exponent[0]}{exponent[1:].zfill(2)}"
        if len(result) <= width:
            return result
    return "#" * width


def _pages(rows: Sequence[Sequence[str] | None], heading: Sequence[str], settings: Settings) -> list[str]:
    """Return all lines, with headings where a page begins; None among the rows ends a page."""
    if not settings.pagesize:
        return [line for row in rows for line in row or ()]
    top = ["\f"] if settings.newpage == 0 else [""] * (settings.newpage or 0)
    text: list[str] = []
    left = 0
    for row in rows:
        if row is None:
            left = 0
            continue
        if left < len(row):
            text += [*top, *heading]
            left = max(1, settings.pagesize - (settings.newpage or 0) - len(heading))
        text += row
        left -= len(row)
    return text


def _finish(line: str, settings: Settings) -> str:
    if settings.tab:
        line = _tabbed(line)
    return line.rstrip(" \t") if settings.trimout else line


def _tabbed(line: str) -> str:
    """Replace runs of blanks that reach a tab stop by tabs, as SET TAB ON does."""
    pieces = [line[at : at + 8] for at in range(0, len(line), 8)]
    return "".join(
        re.sub(r" {2,}$", "\t", piece) if len(piece) == 8 and at < len(pieces) - 1 else piece
        for at, piece in enumerate(pieces)
    )


def _csv(relation: Relation, settings: Settings, columns: Mapping[str, ColumnFormat], date_format: str) -> str:
    shown = [n for n, column in enumerate(relation.columns) if not _hidden(columns, column)]
    masks = [date_mask(column.type, date_format) for column in relation.columns]
    lines: list[str] = []
    if settings.pagesize:
        lines += [""] * (settings.newpage or 0)
    if settings.heading and settings.pagesize:
        names = [relation.columns[n].name for n in shown]
        lines.append(settings.csv_delimiter.join(_quoted(name, settings) for name in names))
    for row in relation.rows:
        lines.append(settings.csv_delimiter.join(_csv_value(row[n], settings, masks[n] or date_format) for n in shown))
    return "".join(f"{line}\n" for line in lines)


def _csv_value(value: Value, settings: Settings, date_format: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int | Decimal):
        return number_in(value, settings.numwidth)
    return _quoted(format_date(value, date_format) if isinstance(value, datetime) else value, settings)


def _quoted(text: str, settings: Settings) -> str:
    return '"' + text.replace('"', '""') + '"' if settings.csv_quote else text


def server_output(lines: Sequence[str], how: str, linesize: int) -> str:
    """Return the lines of DBMS_OUTPUT as SET SERVEROUTPUT … FORMAT shows them.

    Args:
        how: WRAPPED, TRUNCATED or, the default, WORD_WRAPPED, which drops leading blanks.
    """
    shown: list[str] = []
    for line in "\n".join(lines).split("\n") if lines else []:
        if how.startswith("TRU"):
            shown.append(line[:linesize])
        elif how.startswith("WRA"):
            shown += [line[start : start + linesize] for start in range(0, max(1, len(line)), linesize)]
        else:
            rest = line.lstrip()
            shown += _words(rest, linesize)
    return "".join(f"{line}\n" for line in shown)
