"""Writes the command line that runs CellCLI on a cell."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from exacell.cellcli.schema import release_key
from exacell.cellcli.tokens import TokenKind, tokenize
from exacell.core.errors import StatementError

_LONG_XML_SINCE = "24.1"


def command(statements: Sequence[str], *, xml: bool = False, release: str | None = None, monitor: bool = False) -> str:
    """Return the remote command that runs ``statements`` in one start of CellCLI, quoted for a POSIX shell.

    ``cellcli -e 'LIST CELL; LIST CELLDISK'``: the output of each statement follows that of the one before. With ``-e``
    neither banner nor prompt is printed.

    Args:
        statements: rendered, one line each; a ``;`` at the end is dropped.
        xml: ask for XML; the option is spelled ``--xml`` from 24.1 on.
        release: of the cell, None when it is not known yet.
        monitor: ``-m``, which refuses whatever changes anything.

    Raises:
        StatementError: there is none, one has several lines, or one of several has a ``;`` inside quotes, where it
            is not known whether CellCLI would end it there.

    Source: Oracle SAGUG, starting-cellcli.
    """
    texts = [statement.strip().rstrip(";").rstrip() for statement in statements]
    if not texts or not all(texts):
        raise StatementError("there is no statement to send")
    for text in texts:
        if "\n" in text or "\r" in text:
            raise StatementError("a statement for a cell has to be one line", hint="join its lines with blanks")
        if ";" in text and (len(texts) > 1 or _ends_inside(text)):
            raise StatementError(f"the statement '{text}' has a ; inside", hint="send it without the ;, or alone")
    options = ["-m"] if monitor else []
    if xml:
        options += ["-n", "-x", _xml_option(release)]
    return " ".join(["cellcli", *options, "-e", quote("; ".join(texts))])


def session_command(*, xml: bool = False, release: str | None = None, monitor: bool = True) -> str:
    """Return the remote command that starts a CellCLI to be fed on its standard input.

    Args:
        xml: as for :func:`command`.
        release: as for :func:`command`.
        monitor: ``-m``: it is able only to read.
    """
    return " ".join(["cellcli", *(["-m"] if monitor else []), "-n", "-x", *([_xml_option(release)] if xml else [])])


def _xml_option(release: str | None) -> str:
    modern = release is not None and release_key(release) >= release_key(_LONG_XML_SINCE)
    return "--xml" if modern else "-xml"


def _ends_inside(text: str) -> bool:
    return any(token.kind is TokenKind.SEMICOLON for token in tokenize(text))
