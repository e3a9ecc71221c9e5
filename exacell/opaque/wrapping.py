"""How a text is made into a command line for a shell; what is judged is what is sent, byte for byte. Pure."""

from __future__ import annotations

import re


def wrapped(text: str, errors: str = "2>&1") -> str:
    """Return the text as one group of commands whose errors go where ``errors`` says.

    The line feed before the parenthesis keeps a comment or a here-document's last line from swallowing it. A text that
    begins with a parenthesis or a comment gets a blank before it: ``((`` would begin arithmetic, and ``(#`` is a pattern
    to some.
    """
    blank = " " if text.startswith(("(", "#")) else ""
    return f"({blank}{text}\n) {errors}"


def arguments(text: str) -> str:
    """Return the command line that has ``/bin/sh`` carry out ``text``, whatever the account's login shell is.

    Between single quotes stands only what all shells leave alone there: ``'``, ``!`` (which csh expands even there) and
    ``\\`` (which fish does not leave alone) stand behind a backslash outside of the quotes. A login shell like csh
    refuses a line feed between quotes and then runs nothing. Source: POSIX.1-2017, Shell Command Language, 2.2;
    csh(1), History substitutions; fish, Quotes.
    """
    quoted = re.sub(r"['!\\]", lambda found: f"'\\{found[0]}'", text)
    return f"/bin/sh -c '{quoted}'"


def carried(text: str, *, read: bool) -> str:
    """Return the command line that carries a text: what was read goes through ``/bin/sh``, for which it was read; the rest goes
    to the account's login shell, for which it was written, as dcli sends it."""
    return arguments(text) if read else text
