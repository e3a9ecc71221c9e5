"""Find the right statement for a shell command that was pasted as a statement. Pure."""

from __future__ import annotations

import re
from functools import cache

from exacell.core.errors import StatementError
from exacell.language.asked import PROGRAMS
from exacell.language.shellwords import stray_flag
from exacell.plan.hostsettings import read_path, read_value, statement_for

_INTO = re.compile(
    r"""(?:sudo\s+)?echo\s+(?:-n\s+)?(?P<quote>['"]?)(?P<value>[^'">|;&]*?)(?P=quote)\s*
    (?:>{1,2}|\|\s*(?:sudo\s+)?tee\s+(?:-a\s+)?)\s*(?P<path>/(?:sys|proc)/[^\s;|&<>]+)(?:\s*>\s*/dev/null)?\s*""",
    re.VERBOSE,
)
_SYSCTL = re.compile(
    r"(?:sudo\s+)?sysctl\s+-w\s+(?P<name>[\w.-]+)\s*=\s*(?P<quote>['\"]?)(?P<value>[^'\"]*)(?P=quote)\s*"
)
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})")
_NODES = ("crsctl", "srvctl", "olsnodes", "lsnrctl", "dbmcli", "oracleasm")
"""Programs on database nodes."""


def program_error(text: str, on: str) -> StatementError | None:
    """Return the error that shows how to run a shell command in exacell; None if its first word is not a known program.

    Args:
        on: the hosts after ON; empty without ON.
    """
    word = text.split(None, 1)[0]
    setting = _setting(text)
    if setting:
        message = "`set setting` changes a host's kernel setting: it shows the old value and can be undone"
        return StatementError(message, start=0, end=len(word), hint=f"type: on {_named(on, 'HOST')} {setting}")
    from exacell.opaque.table import table  # It reads a file that most lines don't need.

    name = word.rpartition("/")[2]
    if word in PROGRAMS:
        return None
    written = name in ("echo", "print", "printf")
    if word in table().instead and not written:
        return StatementError(f"'{word}' is not a statement", start=0, end=len(word), hint=table().instead[word])
    if not written and name not in table().rows and name not in _imported():
        return None
    ends = "-- " if stray_flag(text.split()) else ""
    where = _named(on, "@db" if name in _NODES else "HOST")
    return StatementError(
        f"{name} is a program; `sh` runs it on a cell or another host",
        start=0,
        end=len(word),
        hint=f"type: on {where} sh {ends}{text}",
    )


def _named(on: str, otherwise: str) -> str:
    return (f"({on})" if " " in on else on) or otherwise


def _setting(text: str) -> str:
    """Return the ``set setting`` statement for a shell command that writes a kernel setting; empty for another command."""
    into, named = _INTO.fullmatch(text), _SYSCTL.fullmatch(text)
    if into is not None:
        path, value = _VARIABLE.sub("NAME", into["path"]), into["value"]
    elif named is not None:
        path, value = "/proc/sys/" + named["name"].replace(".", "/"), named["value"]
    else:
        return ""
    try:
        return statement_for([(read_path(path), read_value(value))])
    except StatementError:
        return ""


@cache
def _imported() -> frozenset[str]:
    """Return the programs whose output IMPORT can read."""
    from exacell.measure.importers.kinds import KINDS

    return frozenset(kind.program for kind in KINDS.values() if kind.program)
