"""Keep passwords and keys of statements in the memory of this process only; everywhere else a word stands for each.

A statement that is typed with a secret is processed with a word in its place: plan, journal, progress, messages and files never
contain the secret. The word is replaced by the secret when the statement is sent, on the standard input of CellCLI, where no
list of processes shows it. A word from another process has no secret any more.
"""

from __future__ import annotations

import os

from exacell.cellcli.secrets import MASK, WORD, all_places, masked, replaced
from exacell.core.errors import RefusedError
from exacell.core.patterns import pattern

_WORD = pattern(rf"""(?P<quote>["']?)(?P<word>{WORD})(?P=quote)""")

_kept: dict[str, str] = {}
"""The secret for each word, with the quotes in which it was written."""


def hide(statement: str) -> str:
    """Return the statement with a word in place of each secret; the same secret gets the same word."""
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
    """Return the statement with its secrets, as it is to be sent.

    Raises:
        RefusedError: it holds a secret that this process does not know.
    """
    refuse_forgotten(statement)
    return _WORD.sub(lambda match: _kept[match["word"]], statement)


def refuse_forgotten(statement: str) -> None:
    """Raise RefusedError if a statement holds a secret that this process does not know.

    Raises:
        RefusedError: an earlier process got the secret, and nothing has kept it.
    """
    lost = any(match["word"] not in _kept for match in _WORD.finditer(statement))
    if lost or any(statement[start:end].strip("\\\"'") == MASK for start, end in all_places(statement, kept=True)):
        raise RefusedError(
            f"'{masked(statement)}' contains a password or a key, which exacell does not keep; nothing was sent",
            hint="type the whole statement again, with the password or key",
        )
