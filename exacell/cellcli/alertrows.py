"""Read LIST ALERTHISTORY, whose messages have several lines: a line that does not begin a row belongs to the row above. Pure.

Some releases quote a message and others don't; its further lines begin with a TAB, with blanks or with neither, and dcli strips
the blanks at the beginning of a line. So a row is recognized by its beginning: the alert's number, then the other columns. If
the number is not the first column, a row is recognized by its TABs and by the single blank before its first value; further
lines have more blanks. Source: reference cellcli.md 3.1, and its corrections on a saved text of 2025.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from exacell.cellcli.messages import is_message
from exacell.cellcli.schema import find_object
from exacell.core.patterns import pattern

OBJECT = "ALERTHISTORY"

_NUMBER = pattern(r"\d+(?:_\d+)?")
_TEXTS = ("alertmessage", "alertaction", "alertdescription")
"""Columns whose text may have several lines and contain TABs."""
_TIMES, _DATE = ("begintime", "endtime", "sequencebegintime"), pattern(r"\d{4}-\d\d-\d\dT|$")
_APART = pattern(r'\s*\t\s*|\s{2,}(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""Separator of columns in a row that lost its TABs in transit: blanks outside of quotes."""


def of_several_lines(object_type: str, names: Sequence[str]) -> bool:
    """Return whether a row of LIST with these columns may have several lines: alerts, with a message or an unknown column."""
    if object_type.upper() != OBJECT:
        return False
    known = find_object(OBJECT)
    return any(name.lower() in _TEXTS or known is None or known.attribute(name) is None for name in names)


def alert_rows(lines: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the columns of each alert; none of its lines is left out.

    Args:
        lines: the lines of the answer. Lines before the first alert are left out: they belong to no alert, or are a message of
            CellCLI.
        names: the columns that were asked for, at least one.
    """
    tabbed = any(line.startswith("\t") for line in lines)
    row: list[str] = []
    for line in lines:
        if _begins(line, names, tabbed=tabbed, row=row):
            if row:
                yield _columns(row, names)
            row = [line]
        elif row and _goes_on(line, row, tabbed=tabbed):
            row.append(line)
    if row:
        yield _columns(row, names)


def _goes_on(line: str, row: Sequence[str], *, tabbed: bool) -> bool:
    """Return whether a line that does not begin an alert belongs to the alert above; messages and texts of a login do not."""
    if _open(row):
        return True
    if is_message(line):
        return False
    # After the end of a quoted text, only a line that begins with a TAB or blank belongs to it; a text without quotes has no
    # clear end.
    return not _closed(row) or (tabbed and (line.startswith(("\t", " ")) or not line))


def _closed(row: Sequence[str]) -> bool:
    """Return whether the row ends with a quoted text that is complete."""
    return row[-1].rstrip().endswith('"') and not _open(row)


def _begins(line: str, names: Sequence[str], *, tabbed: bool, row: Sequence[str]) -> bool:
    """Return whether a line begins an alert."""
    if not line.strip() or (tabbed and not line.startswith("\t")):
        return False
    cells = _cells(line)
    if names[0].lower() == "name":
        dated = len(names) > 1 and names[1].lower() in _TIMES
        told = len(names) == 1 or (len(cells) > 1 and (not dated or bool(_DATE.match(cells[1]))))
        return bool(_NUMBER.fullmatch(cells[0])) and told
    if not row:
        return True
    if _open(row) or line.startswith("\t  "):
        return False
    back = len(names) - _place(names) - 1
    return len(_cells(row[-1])) > back if back else len(cells) >= len(names)


def _place(names: Sequence[str]) -> int:
    """Return the index of the column with several lines; the last column if no column is known to be one."""
    return next((index for index, name in enumerate(names) if name.lower() in _TEXTS), len(names) - 1)


def _open(row: Sequence[str]) -> bool:
    """Return whether a quoted text has begun and not yet ended."""
    return sum(line.count('"') for line in row) % 2 == 1


def _cells(line: str) -> list[str]:
    # One TAB is before a row and a blank before each value, so an empty part at either end is a column. A further line has
    # several TABs.
    if line.startswith("\t ") and line.strip():
        return [cell.strip(" ") for cell in line[1:].split("\t")]
    stripped = line.strip(" \t")
    return re.split(r"[ ]*\t[ ]*", stripped) if "\t" in stripped else _APART.split(stripped)


def _columns(row: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return an alert's columns: those before the text are on its first line, those after it on its last."""
    place = _place(names)
    back = len(names) - place - 1
    first, *more = row
    while more and not more[-1].strip():
        more.pop()
    cells = _cells(first)
    front, text = cells[:place], cells[place:]
    if not back:
        lines, behind = ["\t".join(text), *(line.strip() for line in more)], []
    elif more:
        last = _cells(more[-1])
        split = max(len(last) - back, 0)
        between = [line.strip() for line in more[:-1]]
        lines, behind = ["\t".join(text), *between, "\t".join(last[:split])], last[split:]
    else:
        lines, behind = text[:1], text[1:]
    return [_unquoted(cell) for cell in (*front, "\n".join(lines), *behind)]


def _unquoted(text: str) -> str:
    stripped = text.strip()
    whole = len(stripped) >= 2 and stripped.startswith('"') and stripped.endswith('"')
    return stripped[1:-1] if whole else stripped
