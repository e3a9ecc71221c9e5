"""The small language that says which shell text is read: plain words, quotes without expansion, joints, a table of commands.

Everything outside of it is unread. Nothing here runs anything, and the text that was read is sent as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from exacell.opaque.cellclitext import statements_behind, statements_in
from exacell.opaque.errors import UnreadError
from exacell.opaque.lexing import FIRST_LINES, Document, Joint, Redirection, Token, Word, lex
from exacell.opaque.sql import read_sql
from exacell.opaque.table import refuse_words, row_of
from exacell.values import dataclass

__all__ = ["Command", "Reading", "UnreadError", "read_shell"]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command that was read.

    Attributes:
        words: what the program gets, its name first; patterns as they are written.
        globs: the places of words that are patterns.
        row: the name of its row in the table.
        piped: whether it stands behind ``|``.
        document: the lines of its here-document; None when it has none.
        statements: CellCLI's statements in order, as they are written.
    """

    words: tuple[str, ...]
    globs: frozenset[int]
    row: str
    piped: bool
    document: str | None
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A text that was read: its pipelines in order, each the commands between ``|``."""

    pipelines: tuple[tuple[Command, ...], ...]


def read_shell(text: str, *, script: bool = False) -> Reading:
    """Return what a shell makes of ``text``.

    Args:
        script: whether it is a file that is run by itself, so that its first line has to name the shell.

    Raises:
        UnreadError: something in it is outside of the language.
    """
    tokens = lex(text)
    if script and text.partition("\n")[0] not in FIRST_LINES:
        first = text.partition("\n")[0].strip() or "its first line"
        raise UnreadError(
            first, "a script whose first line is not #!/bin/sh or #!/bin/bash", "let it begin with the line #!/bin/sh"
        )
    pipelines: list[tuple[Command, ...]] = []
    pipeline: list[Command] = []
    command: list[Token] = []
    joined = "\n"
    for token in (*tokens, Joint(text="\n")):
        if not isinstance(token, Joint):
            command.append(token)
            continue
        if not command:
            # Blank lines are fine, also behind a joint that needs another command.
            if token.text != "\n":
                raise UnreadError(token.text, "an empty command")
            joined = "\n" if joined == ";" else joined
            continue
        pipeline.append(_command(command, piped=bool(pipeline)))
        command, joined = [], token.text
        if joined != "|":
            pipelines.append(tuple(pipeline))
            pipeline = []
    if joined not in ("\n", ";"):
        raise UnreadError(joined, "no command behind it")
    if not pipelines:
        raise UnreadError(text.strip() or "''", "no command")
    return Reading(pipelines=tuple(pipelines))


def _command(tokens: Sequence[Token], *, piped: bool) -> Command:
    words = [token for token in tokens if isinstance(token, Word)]
    if not isinstance(tokens[0], Word):
        raise UnreadError("<" if piped else ">", "a redirection before a command")
    texts, globs = tuple(word.text for word in words), frozenset(n for n, word in enumerate(words) if word.glob)
    first = texts[0]
    if 0 in globs:
        raise UnreadError(first, "a pattern in place of a command")
    if "=" in first:
        raise UnreadError(first, "a variable that is set for what follows")
    row = row_of(first)
    documents = [token.body for token in tokens if isinstance(token, Document)]
    sources = len(documents) + piped + sum(isinstance(token, Redirection) and token.source for token in tokens)
    if sources > 1:
        raise UnreadError("<", f"more than one source of input for {first}")
    statements: tuple[str, ...] = ()
    if row.name in ("cellcli", "sqlplus"):
        if piped:
            raise UnreadError(
                first, "its input comes through a pipe", f"{first} -e 'statement'" if row.name == "cellcli" else ""
            )
        executed = "-e" in texts and row.name == "cellcli"
        if executed and documents:
            raise UnreadError("-e", "cellcli with both -e and a here-document")
        if not executed and not documents:
            raise UnreadError(first, "what it reads is not in the text")
        end = texts.index("-e") if executed else len(texts)
        refuse_words(row, texts[:end], globs, piped=False)
        if executed:
            pattern = next((texts[place] for place in sorted(globs) if place > end), None)
            if pattern is not None:
                raise UnreadError(pattern, "a pattern in a statement: quote it")
            statements = statements_behind(texts[end + 1 :])
        elif row.name == "cellcli":
            statements = statements_in(documents[0])
        else:
            read_sql(documents[0])
    else:
        if documents:
            raise UnreadError("<<", f"a here-document for {first}")
        refuse_words(row, texts, globs, piped=piped)
    return Command(
        words=texts,
        globs=globs,
        row=row.name,
        piped=piped,
        document=documents[0] if documents else None,
        statements=statements,
    )
