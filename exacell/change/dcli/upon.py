"""CellCLI changes in carried text whose proof may go stale: which go upon a look by their own CellCLI, and which can't.

A command that is one ``cellcli -e`` with one such statement is carried out as typed ones are: its CellCLI looks first and
then gets the statement. In any other text a shell starts CellCLI when its turn comes, so that between the last look and the
statement lie seconds: a production rack refuses that, elsewhere it is said before the question.
"""

from __future__ import annotations

from exacell.core.errors import RefusedError
from exacell.opaque.findings import Findings, UnreadError
from exacell.opaque.lexing import Redirection, lex
from exacell.opaque.shell import read_shell
from exacell.plan.ageing import ages

_SILENT = frozenset(("-n", "-x"))
"""Options of CellCLI that change nothing in what it prints to a program. Source: SAGUG, "Invoking CellCLI"."""


def single_change(text: str) -> str:
    """Return the one CellCLI statement that a command is and whose proof may go stale; empty when it is anything else."""
    try:
        reading = read_shell(text)
    except UnreadError:
        return ""
    tokens, _ = lex(text)
    commands = [command for pipeline in reading.pipelines for command in pipeline]
    if len(commands) != 1 or any(isinstance(token, Redirection) for token in tokens):
        return ""
    (command,) = commands
    if command.document is not None or len(command.statements) != 1:  # Only cellcli's have statements.
        return ""
    options = command.words[1 : command.words.index("-e")]
    statement = command.statements[0]
    return statement if _SILENT.issuperset(options) and ages(statement) else ""


def stale_by_then(findings: Findings) -> tuple[str, ...]:
    """Return the changes in a text whose proof may go stale until their turn comes."""
    return tuple(found.text for found in findings.changes if ages(found.statement))


def why_wide(statement: str) -> str:
    """Return how wide the moment is between the last look at a cell and a statement in a text, as a sentence."""
    return (
        f"'{statement}' leaves in a text: between the last look at a cell and the statement lie the start of a shell and of "
        "CellCLI there and all that stands before it, seconds in which what was proven may change"
    )


def refuse_wide(rack: str, statement: str) -> RefusedError:
    """Return the refusal of a production rack."""
    return RefusedError(
        f"rack {rack} is a production rack, and {why_wide(statement)}; nothing was sent",
        hint=f"typed in exacell it goes upon a look by its own CellCLI: {statement}",
    )
