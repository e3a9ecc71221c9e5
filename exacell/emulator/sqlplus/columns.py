"""COLUMN of SQL*Plus: the layout of one column of a report.

Source: Oracle SQL*Plus User's Guide, COLUMN.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from exacell.emulator.basics.ora_messages import sp2
from exacell.emulator.sql.number_masks import is_number_mask

_OPTIONS = """
    ALI[AS] CLE[AR] ENTMAP FOLD_A[FTER] FOLD_B[EFORE] FOR[MAT] HEA[DING] JUS[TIFY] LIKE NEWL[INE] NEW_V[ALUE] NOPRI[NT]
    PRI[NT] NUL[L] OLD_V[ALUE] ON OFF WRA[PPED] WOR[D_WRAPPED] TRU[NCATED]
"""
_WRAPPING = ("WRAPPED", "WORD_WRAPPED", "TRUNCATED")
_VALUED = ("ALIAS", "ENTMAP", "FORMAT", "HEADING", "JUSTIFY", "LIKE", "NEW_VALUE", "NULL", "OLD_VALUE")


@dataclass(frozen=True, kw_only=True)
class ColumnFormat:
    """The settings of COLUMN for one column; None and empty texts mean SQL*Plus's default.

    Attributes:
        format: ``A30`` or a number picture.
        hidden: NOPRINT.
        new_value: the substitution variable that gets the last value, from NEW_VALUE or from OLD_VALUE for titles.
        wrapping: WRAPPED, WORD_WRAPPED or TRUNCATED.
        justify: LEFT, CENTER or RIGHT, for the heading.
        null: the text for NULL.
        before: the column begins a line.
        after: the next column begins a line.
        on: False after COLUMN … OFF.
    """

    format: str | None = None
    heading: str | None = None
    hidden: bool = False
    new_value: str | None = None
    wrapping: str = ""
    justify: str = ""
    null: str | None = None
    before: bool = False
    after: bool = False
    on: bool = True


def is_picture(picture: str) -> bool:
    """Return whether COLUMN … FORMAT accepts it: ``A1`` to ``A32767``, or a number format model."""
    if match := re.fullmatch(r"[Aa]([0-9]{1,5})", picture):
        return 1 <= int(match[1]) <= 32767
    return picture.upper() == "DATE" or is_number_mask(picture)


def column_option(word: str) -> str:
    """Return the full name of an option of COLUMN, which may be abbreviated; empty if there is no such option."""
    upper = "WORD_WRAPPED" if word.upper() == "WORD_WRAP" else word.upper()
    for spelled in _OPTIONS.split():
        least, full = spelled.partition("[")[0], spelled.replace("[", "").replace("]", "")
        if full.startswith(upper) and upper.startswith(least):
            return full
    return ""


def change_column(columns: dict[str, ColumnFormat], words: list[str]) -> str:
    """Carry out ``COLUMN [name [options]]`` and return its output.

    Args:
        columns: by upper-case name; changed only when all options are right.
        words: the words after COLUMN, without quotes; they are removed from the list.
    """
    if not words:
        return "".join(_listed(name, chosen) for name, chosen in columns.items())
    name = words.pop(0).upper()
    if not words:
        return _listed(name, columns[name]) if name in columns else sp2(46, name) + "\n"
    chosen, aliases = columns.get(name, ColumnFormat()), list[str]()
    while words:
        given = words.pop(0)
        option = column_option(given)
        if option in _VALUED:
            if not words:
                return sp2(158, "COLUMN", given.lower()) + "\n" if option != "FORMAT" else sp2(246, "") + "\n"
            value = words.pop(0)
            if option == "FORMAT" and not is_picture(value):
                return sp2(246, value) + "\n"
            if option == "ALIAS":
                aliases.append(value.upper())
            elif option == "LIKE":
                chosen = replace(columns.get(value.upper(), ColumnFormat()), heading=chosen.heading or None)
            else:
                chosen = _with(chosen, option, value)
        elif option == "CLEAR":
            columns.pop(name, None)
            return ""
        elif option:
            chosen = _switched(chosen, option)
        else:
            return sp2(158, "COLUMN", given.lower()) + "\n"
    columns[name] = chosen
    columns.update(dict.fromkeys(aliases, chosen))
    return ""


def _with(chosen: ColumnFormat, option: str, value: str) -> ColumnFormat:
    if option == "FORMAT":
        return replace(chosen, format=value)
    if option == "HEADING":
        return replace(chosen, heading=value)
    if option in ("NEW_VALUE", "OLD_VALUE"):
        return replace(chosen, new_value=value.upper())
    if option == "NULL":
        return replace(chosen, null=value)
    if option == "JUSTIFY":
        side = value.upper()[:1]
        return replace(chosen, justify={"L": "LEFT", "C": "CENTER", "R": "RIGHT"}.get(side, ""))
    return chosen


def _switched(chosen: ColumnFormat, option: str) -> ColumnFormat:
    if option in _WRAPPING:
        return replace(chosen, wrapping=option)
    return {
        "NOPRINT": replace(chosen, hidden=True),
        "PRINT": replace(chosen, hidden=False),
        "ON": replace(chosen, on=True),
        "OFF": replace(chosen, on=False),
        "FOLD_BEFORE": replace(chosen, before=True),
        "NEWLINE": replace(chosen, before=True),
        "FOLD_AFTER": replace(chosen, after=True),
    }[option]


def _listed(name: str, chosen: ColumnFormat) -> str:
    lines = [f"COLUMN   {name} {'ON' if chosen.on else 'OFF'}"]
    if chosen.heading is not None:
        lines.append(f"HEADING  '{chosen.heading}'")
    if chosen.format is not None:
        lines.append(f"FORMAT   {chosen.format}")
    if chosen.new_value is not None:
        lines.append(f"NEW_VALUE {chosen.new_value}")
    if chosen.null is not None:
        lines.append(f"NULL     '{chosen.null}'")
    if chosen.justify:
        lines.append(f"JUSTIFY  {chosen.justify.lower()}")
    if chosen.hidden:
        lines.append("NOPRINT")
    if chosen.wrapping:
        lines.append(chosen.wrapping.lower())
    return "".join(f"{line}\n" for line in lines) + "\n"


def active(columns: dict[str, ColumnFormat]) -> dict[str, ColumnFormat]:
    """Return the columns that are not switched OFF."""
    return {name: chosen for name, chosen in columns.items() if chosen.on}
