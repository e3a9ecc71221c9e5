"""Passwords and keys of statements, in the memory of this process alone, and the words that stand for them everywhere else.

A statement that is typed with a secret goes on with a word in its place: plan, journal, progress, messages and files never see
the secret. The word becomes it again when the statement is sent, on the standard input of CellCLI, where no list of processes
shows it. A word of another process stands for nothing any more.
"""

from __future__ import annotations

import os

from exacell.cellcli.secrets import MASK, WORD, all_places, masked, replaced
from exacell.core.errors import RefusedError
from exacell.core.patterns import pattern

_WORD = pattern(rf"""(?P<quote>["']?)(?P<word>{WORD})(?P=quote)""")

_kept: dict[str, str] = {}
"""What each word stands for, with the quotes that it was written in."""


def hide(statement: str) -> str:
    """Return the statement with a word in place of each secret; the same word for the same secret."""
    return replaced(statement, _word)


def _word(secret: str) -> str:
    if _WORD.fullmatch(secret):
        return secret
    for word, kept in _kept.items():
        if kept == secret:
            return word
    word = f"secret_{os.urandom(6).hex()}_not_kept"
    _kept[word] = secret
    return word


def reveal(statement: str) -> str:
    """Return the statement as it has to be sent.

    Raises:
        RefusedError: it holds a secret that this process was not given.
    """
    refuse_forgotten(statement)
    return _WORD.sub(lambda match: _kept[match["word"]], statement)


def refuse_forgotten(statement: str) -> None:
    """Return when this process knows every secret of a statement.

    Raises:
        RefusedError: an earlier one was given it, and kept it nowhere.
    """
    lost = any(match["word"] not in _kept for match in _WORD.finditer(statement))
    if lost or any(statement[start:end].strip("\\\"'") == MASK for start, end in all_places(statement, kept=True)):
        raise RefusedError(
            f"'{masked(statement)}' holds a password or a key that exacell does not keep; nothing was sent",
            hint="type the whole statement again, with the password or key",
        )
