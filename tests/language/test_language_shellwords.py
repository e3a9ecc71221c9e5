"""The command for a shell that a statement holds, and exacell's flags before it."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.shellwords import command_given

GIVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "sh uptime": ("uptime", {}),
    "sh df -h | cat": ("df -h | cat", {}),
    # Quotes around all of it are the statement's, others the command's.
    "sh 'df -h | cat'": ("df -h | cat", {}),
    "sh 'df' -h": ("'df' -h", {}),
    "sh -y --reason x uptime": ("uptime", {"yes": True, "reason": "x"}),
    "sh --reason=x uptime -y": ("uptime -y", {"reason": "x"}),
    # A flag whose value may be left out takes no word behind it.
    "sh --rolling uptime": ("uptime", {"rolling": True}),
    "sh --rolling=2 uptime": ("uptime", {"rolling": 2}),
    "sh -- uptime --dry-run": ("uptime --dry-run", {}),
    "sh --accept-opaque -- --accept-opaque": ("--accept-opaque", {"accept-opaque": True}),
}


@pytest.mark.parametrize(("text", "given"), GIVEN.items())
def test_flags_before_a_command_are_ours(text: str, given: tuple[str, dict[str, Any]]) -> None:
    """exacell's flags end with the first word that is none, or with ``--``; all behind that is the command, as it was written."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    assert command_given(line.call, line.call.flags) == given


WRONG = {
    "sh -y": ("sh needs a command: sh uptime", ""),
    "sh --": ("sh needs a command: sh uptime", ""),
    "sh --reason": ("--reason needs a value: --reason=…", ""),
    "sh uptime --accept-opaque": (
        "sh: --accept-opaque comes after the command, so it would be part of the command; nothing was sent",
        "for exacell's flag, write `sh --accept-opaque …`; if it is meant for the command, write `sh -- …`",
    ),
    "sh uptime --ssh-config=x": (
        "sh: --ssh-config=x comes after the command, so it would be part of the command; nothing was sent",
        "for exacell's flag, write `exacell --ssh-config=x … sh …`; if it is meant for the command, write `sh -- …`",
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_a_command_that_is_missing_or_holds_our_flag_is_refused(text: str, said: tuple[str, str]) -> None:
    """One line says what is missing, or which of exacell's flags stands where the command would take it, and both ways out."""
    line = parse_line(text)
    assert line is not None and line.call is not None
    with pytest.raises(StatementError) as caught:
        command_given(line.call, line.call.flags)
    assert (caught.value.message, caught.value.hint) == said
