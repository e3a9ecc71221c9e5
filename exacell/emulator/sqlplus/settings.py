"""SQL*Plus's SET options: their names and abbreviations, and the options that change the output.

Source: Oracle SQL*Plus User's Guide, "SET System Variable Summary"; refusals: reference asm.md section 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from exacell.emulator.basics.ora_messages import sp2

CSV_SINCE = (12, 2)
"""The first release with SET MARKUP CSV. Source: reference asm.md section 1."""


@dataclass(kw_only=True)
class Settings:
    """The options that change the output or the reading of lines.

    Attributes:
        newpage: blank lines before a page; None for NONE.
        feedback: number of rows from which on the count is printed; 0 is OFF.
        csv: whether MARKUP CSV is ON.
        only_count: FEEDBACK ONLY is set: rows are counted but not printed.
        others: all other options as they were set, by full name.
    """

    colsep: str = " "
    define: str = "&"
    feedback: int = 6
    heading: bool = True
    linesize: int = 80
    newpage: int | None = 1
    null: str = ""
    numwidth: int = 10
    pagesize: int = 14
    sqlblanklines: bool = False
    sqlprompt: str = "SQL> "
    tab: bool = True
    termout: bool = True
    timing: bool = False
    trimout: bool = True
    underline: str = "-"
    verify: bool = True
    wrap: bool = True
    headsep: str = "|"
    escape: str = ""
    concat: str = "."
    suffix: str = "sql"
    terminator: str = ";"
    only_count: bool = False
    csv: bool = False
    csv_delimiter: str = ","
    csv_quote: bool = True
    others: dict[str, str] = field(default_factory=dict)


# Full names, with the part that may be left out in brackets.
_NAMES = """
    APPI[NFO] ARRAY[SIZE] AUTO[COMMIT] AUTOP[RINT] AUTORECOVERY AUTOT[RACE] BLO[CKTERMINATOR] CMDS[EP] COLINVI[SIBLE]
    COLSEP CON[CAT] COPYC[OMMIT] COPYTYPECHECK DEF[INE] DESCRIBE ECHO EDITF[ILE] EMB[EDDED] ERRORL[OGGING] ESC[APE]
    ESCCHAR EXITC[OMMIT] FEED[BACK] FLAGGER FLU[SH] HEA[DING] HEADS[EP] HIST[ORY] INSTANCE LIN[ESIZE] LOBOF[FSET]
    LOBPREFETCH LOGSOURCE LONG LONGC[HUNKSIZE] MARK[UP] NEWP[AGE] NULL NUMF[ORMAT] NUM[WIDTH] PAGES[IZE] PAU[SE] RECSEP
    RECSEPCHAR ROWPREFETCH SECUREDCOL SERVEROUT[PUT] SHIFT[INOUT] SHOW[MODE] SPACE SQLBL[ANKLINES] SQLC[ASE]
    SQLCO[NTINUE] SQLN[UMBER] SQLPLUSCOMPAT[IBILITY] SQLPRE[FIX] SQLP[ROMPT] SQLT[ERMINATOR] STATEMENTC[ACHE] SUF[FIX]
    TAB TERM[OUT] TI[ME] TIMI[NG] TRIM[OUT] TRIMS[POOL] UND[ERLINE] VER[IFY] WRA[P] XQUERY
    SCAN BUF[FER] DOC[UMENT] MAXD[ATA] CLOSECUR[SOR] COMPATIBILITY
"""
_OPTIONS: Mapping[str, int] = MappingProxyType(
    {name.replace("[", "").replace("]", ""): len(name.partition("[")[0]) for name in _NAMES.split()}
)
_NEW_IN_12_2 = frozenset({"HISTORY", "ROWPREFETCH", "STATEMENTCACHE", "LOBPREFETCH", "FEEDBACK ONLY"})

_SWITCHES = {
    "HEADING": "heading",
    "SQLBLANKLINES": "sqlblanklines",
    "TAB": "tab",
    "TERMOUT": "termout",
    "TIMING": "timing",
    "TRIMOUT": "trimout",
    "VERIFY": "verify",
    "WRAP": "wrap",
}
_ON_OFF = frozenset(
    {"ECHO", "FLUSH", "TRIMSPOOL", "TIME", "AUTOPRINT", "AUTORECOVERY", "EMBEDDED", "SQLNUMBER", "EXITCOMMIT"}
)
_NUMBERS = {"LINESIZE": ("linesize", 1, 32767), "NUMWIDTH": ("numwidth", 2, 128), "PAGESIZE": ("pagesize", 0, 50000)}
_FOLLOWED = {
    "SERVEROUTPUT": {"SIZE": 1, "FORMAT": 1, "FOR": 1},
    "AUTOTRACE": {"EXPLAIN": 0, "EXP": 0, "STATISTICS": 0, "STAT": 0},
    "FEEDBACK": {"SQL_ID": 0},
}


def option_name(word: str) -> str | None:
    """Return the full name of an option, which may be abbreviated; None if there is no such option."""
    upper = word.upper()
    return next((n for n, least in _OPTIONS.items() if n.startswith(upper) and len(upper) >= least), None)


def split_words(text: str) -> list[str]:
    """Return the words of a SQL*Plus command; single or double quotes keep a word together and are removed."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    for char in text:
        if quote:
            if char == quote:
                quote = ""
            elif word is not None:
                word.append(char)
        elif char in "'\"" and word is None:
            quote, word = char, []
        elif char.isspace():
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = [*(word or []), char]
    return [*words, "".join(word)] if word is not None else words


def set_options(settings: Settings, text: str, version: tuple[int, ...]) -> list[str]:
    """Carry out ``SET`` with the words after it; return SQL*Plus's error messages.

    Options before a wrong one are set, words after it are ignored.

    Args:
        version: the release of SQL*Plus.
    """
    words = split_words(text.rstrip().removesuffix(";"))
    if not words:
        return [sp2(281, "SET")]
    while words:
        word = words.pop(0)
        name = option_name(word)
        if name is None or (name in _NEW_IN_12_2 and version < CSV_SINCE):
            return [sp2(158, "SET", word)]
        complaint = _set_one(settings, name, words, version)
        if complaint:
            return [complaint]
    return []


def _set_one(settings: Settings, name: str, words: list[str], version: tuple[int, ...]) -> str:
    """Set one option from the words after its name, which are removed from ``words``; return an error message or ""."""
    if name == "MARKUP":
        return _set_markup(settings, words, version)
    if not words:
        return sp2(281, name.lower())
    value = words.pop(0)
    for follower, count in _taken(name, words):
        if follower.upper() in ("FORMAT", "FOR"):
            settings.others["SERVEROUTPUT FORMAT"] = " ".join(words[words.index(follower) + 1 :][:1]).upper()
        words.remove(follower)
        del words[:count]
    if name in _SWITCHES or name in _ON_OFF:
        if value.upper() not in ("ON", "OFF"):
            return sp2(265, name.lower())
        if name in _SWITCHES:
            setattr(settings, _SWITCHES[name], value.upper() == "ON")
        return _remember(settings, name, value)
    if name in _NUMBERS:
        return _set_number(settings, name, value)
    special = _SPECIAL.get(name)
    complaint = special(settings, value) if special else ""
    return complaint or _remember(settings, name, value)


def _taken(name: str, words: list[str]) -> list[tuple[str, int]]:
    known = _FOLLOWED.get(name, {})
    found: list[tuple[str, int]] = []
    position = 0
    while position < len(words) and words[position].upper() in known:
        count = known[words[position].upper()]
        found.append((words[position], count))
        position += 1 + count
    return found


def _remember(settings: Settings, name: str, value: str) -> str:
    settings.others[name] = value
    return ""


def _is_whole(value: str) -> bool:
    return re.fullmatch("[0-9]{1,9}", value) is not None


def _set_number(settings: Settings, name: str, value: str) -> str:
    attribute, least, most = _NUMBERS[name]
    if name == "LINESIZE" and value.upper() == "WINDOW":
        value = "32767"
    if not _is_whole(value):
        return sp2(268, name.lower())
    if not least <= int(value) <= most:
        return sp2(267, name.lower(), value, least, most)
    setattr(settings, attribute, int(value))
    return _remember(settings, name, value)


def _set_newpage(settings: Settings, value: str) -> str:
    if value.upper() == "NONE":
        settings.newpage = None
    elif _is_whole(value) and int(value) <= 999:
        settings.newpage = int(value)
    else:
        return sp2(268, "newpage")
    return ""


def _set_feedback(settings: Settings, value: str) -> str:
    upper = value.upper()
    settings.only_count = upper == "ONLY"
    if upper == "ONLY":
        settings.feedback = 1
        return ""
    if upper not in ("ON", "OFF") and not _is_whole(value):
        return sp2(265, "feedback")
    settings.feedback = {"ON": 6, "OFF": 0}.get(upper, int(value) if _is_whole(value) else 6)
    return ""


def _set_define(settings: Settings, value: str) -> str:
    settings.define = {"ON": "&", "OFF": ""}.get(value.upper(), value[:1])
    return ""


def _set_mark(attribute: str, default: str) -> Callable[[Settings, str], str]:
    """Return a function that sets a one-character option, which ON and OFF switch."""

    def assign(settings: Settings, value: str) -> str:
        setattr(settings, attribute, {"ON": default, "OFF": ""}.get(value.upper(), value[:1]))
        return ""

    return assign


def _set_underline(settings: Settings, value: str) -> str:
    settings.underline = {"ON": "-", "OFF": ""}.get(value.upper(), value[:1])
    return ""


def _set_text(attribute: str) -> Callable[[Settings, str], str]:
    def assign(settings: Settings, value: str) -> str:
        setattr(settings, attribute, value)
        return ""

    return assign


_SPECIAL: Mapping[str, Callable[[Settings, str], str]] = MappingProxyType(
    {
        "NEWPAGE": _set_newpage,
        "FEEDBACK": _set_feedback,
        "DEFINE": _set_define,
        "SCAN": _set_define,
        "ESCAPE": _set_mark("escape", "\\"),
        "CONCAT": _set_mark("concat", "."),
        "HEADSEP": _set_mark("headsep", "|"),
        "SQLTERMINATOR": _set_mark("terminator", ";"),
        "SUFFIX": _set_text("suffix"),
        "UNDERLINE": _set_underline,
        "COLSEP": _set_text("colsep"),
        "NULL": _set_text("null"),
        "SQLPROMPT": _set_text("sqlprompt"),
    }
)


def _set_markup(settings: Settings, words: list[str], version: tuple[int, ...]) -> str:
    if not words:
        return sp2(281, "markup")
    kind = words.pop(0).upper()
    if kind != "CSV" or version < CSV_SINCE:
        words.clear()
        return sp2(158, "SET MARKUP", kind)
    while words and (word := words[0].upper()) in ("ON", "OFF", "DELIMITER", "DELIM", "QUOTE"):
        words.pop(0)
        if word in ("ON", "OFF"):
            settings.csv = word == "ON"
        elif not words:
            return sp2(281, "markup")
        elif word == "QUOTE":
            settings.csv_quote = words.pop(0).upper() != "OFF"
        else:
            settings.csv_delimiter = words.pop(0)[:1] or ","
    return ""
