"""What carried text for a cell would do: CellCLI's changes, reads, and the rest, which is named. Nothing here runs anything.

Commands that only show something need nothing. Changes by CellCLI come out as statements, to be judged like typed ones.
In what is not read whatever looks like a change of CellCLI's or like the loss of a disk group is still found, so that
guards refuse it even where somebody accepts that the rest can't be read.
"""

from __future__ import annotations

import re

from exacell.care.sqltext import asm_losses
from exacell.cellcli.statement import Change, Grant, parse as parse_cellcli
from exacell.core.errors import StatementError
from exacell.opaque.findings import Findings, FoundStatement, UnreadError
from exacell.opaque.here import without_less
from exacell.opaque.lexing import refuse_bytes
from exacell.opaque.shell import Reading, change_in, read_shell, statements_in

_CHANGE = re.compile(
    r"(?:\b|(?<=\\[nrt]))(?:alter|create|drop|calibrate|assign|export|import|grant|revoke)\s+"
    r"(?:flashcache|flashlog|pmemcache|pmemlog|xrmemcache|xrmemlog|griddisk|celldisk|cell|iormplan|lun|physicaldisk)\b"
    r"[^\n;|&\"'`<>$\\]*",
    re.IGNORECASE,
)
"""What a CellCLI change looks like inside of text that is not read."""

_LONGEST = 200
"""Words that a change in unread text may have."""


def command_findings(text: str) -> Findings:
    """Return what a shell would do with ``text``."""
    findings = Findings()
    try:
        _take(read_shell(text), findings)
    except UnreadError as error:
        _unread(error, findings)
    _suspect(text, findings)
    return findings


_FED = "uptime | "
"""Stands before a filter when it is judged: it reads what exacell gives it."""


def filter_findings(command: str) -> Findings:
    """Return what a shell would do with ``command`` behind a pipe, such as ``| grep x`` or a pager; less only shows."""
    rest = without_less(command)
    return command_findings(f"{_FED}{rest}") if rest.strip() or rest == command else Findings()


def script_findings(data: bytes, name: str) -> Findings:
    """Return what a script file does: CellCLI's when its name ends in ``.scl``, else a shell's.

    Args:
        name: the file's name, for what is said about it.
    """
    findings = Findings()
    # What is no ASCII is unread whatever it is; the rest of it may still hold what looks like a change.
    text = data.decode("latin-1")
    try:
        if name.endswith(".scl"):
            refuse_bytes(text)
            _statements(statements_in(text), findings)
        else:
            _take(read_shell(text, script=True), findings)
    except UnreadError as error:
        _unread(error, findings)
    _suspect(text, findings)
    return findings


def _take(reading: Reading, findings: Findings) -> None:
    for pipeline in reading.pipelines:
        for command in pipeline:
            _statements(command.statements, findings)


def _statements(statements: tuple[str, ...], findings: Findings) -> None:
    """Sort CellCLI's statements into changes, reads and what is not read."""
    for statement in statements:
        try:
            change = change_in(statement)
        except UnreadError as error:
            _unread(error, findings)
        else:
            if change is not None:
                findings.changes.append(FoundStatement(text=statement, statement=change))


def _unread(error: UnreadError, findings: Findings) -> None:
    findings.unread.append(error.message)
    findings.instead = findings.instead or error.instead


def _suspect(text: str, findings: Findings) -> None:
    """Where something is not read, take what looks like a CellCLI change for one: in doubt it is judged."""
    if not findings.unread:
        return
    findings.losses |= asm_losses(text)
    lines = [line for line in text.splitlines() if not re.match(r"\s*(#|--|rem\b)", line, re.IGNORECASE)]
    known = {" ".join(found.text.lower().split()) for found in findings.changes}
    for match in _CHANGE.finditer("\n".join(lines)):
        words = match[0].split()[:_LONGEST]
        # What follows a statement in other text may be no part of it: the longest start that is one counts.
        for end in range(len(words), 1, -1):
            candidate = " ".join(words[:end])
            try:
                parsed = parse_cellcli(candidate)
            except StatementError:
                continue
            if isinstance(parsed, (Change, Grant)) and candidate.lower() not in known:
                known.add(candidate.lower())
                findings.changes.append(FoundStatement(text=candidate, statement=parsed))
            break


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
