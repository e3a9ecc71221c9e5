"""Flags that were given for a whole run, before its statements: each statement takes those that it knows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace

from exacell.core.errors import StatementError
from exacell.language.kinds import convert
from exacell.language.line import Line
from exacell.language.registry import COMMON_FLAGS, Value

_ACCEPT = "accept-opaque"
_AGAINST = {"fold": "no-fold", "no-fold": "fold"}
"""Flags that a statement's own takes back."""


def with_flags(line: Line, flags: Mapping[str, str | None]) -> Line:
    """Return ``line`` with the flags that were given before it; the statement's own win.

    Args:
        flags: by name without hyphens; None for one without a value.

    Raises:
        StatementError: the statement has no such flag, or its value is wrong.
    """
    if line.shell:
        return replace(line, flags={_ACCEPT: True} if _ACCEPT in flags else {})
    known = {flag.name: flag for flag in (*COMMON_FLAGS, *(line.call.command.flags if line.call else ()))}
    merged: dict[str, Value] = {}
    for name, text in flags.items():
        flag = known.get(name)
        if flag is None and name == _ACCEPT:
            # Given for a whole script, it is for those of its lines that carry something for a shell.
            merged.update({name: True} if line.pipe or line.redirect else {})
            continue
        if flag is None:
            near = tuple(f"--{n}" for n in difflib.get_close_matches(name, known, n=2))
            raise StatementError(f"--{name} is neither an option nor a flag of this statement", suggestions=near)
        if flag.value is None:
            if text is not None:
                raise StatementError(f"--{name} takes no value")
            merged[name] = True
        elif flag.optional and text is None:
            merged[name] = True
        elif not text:
            raise StatementError(f"--{name} needs a value: --{name}=…")
        else:
            merged[name] = convert(flag.param(flag.value), text, 0, 0)
    for name in line.flags:
        merged.pop(_AGAINST.get(name, ""), None)
    merged.update(line.flags)
    call = replace(line.call, flags={**merged, **line.call.flags}) if line.call else None
    return replace(line, flags=merged, call=call)
