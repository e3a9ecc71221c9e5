"""The small language that decides which shell text is read: plain words, quotes without expansion, joints, a table of
commands, and CellCLI statements in it.

Everything else is unread. Nothing here runs anything, and text that was read is sent unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.cellcli.statement import Change, Grant, parse
from exacell.core.errors import StatementError
from exacell.core.values import dataclass
from exacell.opaque.findings import UnreadError
from exacell.opaque.lexing import CONDITION, SEVERAL, Document, Joint, Redirection, Token, Word, lex, place_in
from exacell.opaque.sql import read_sql
from exacell.opaque.table import FOLDERS, Row, refuse_words, row_of

__all__ = ["Command", "Reading", "UnreadError", "read_shell", "unread_programs"]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command that was read.

    Attributes:
        words: the words that the program receives, its name first; patterns as written.
        globs: indexes of words that are patterns.
        row: the name of its row in the table.
        piped: whether it follows ``|``.
        document: the lines of its here-document; None if it has none.
        statements: its CellCLI statements in order, as written.
    """

    words: tuple[str, ...]
    globs: frozenset[int]
    row: str
    piped: bool
    document: str | None
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A text that was read: its pipelines in order, each with the commands between ``|``.

    Attributes:
        closed: False if a here-document is ended only by the end of the file; some shells then run at most the lines before it.
    """

    pipelines: tuple[tuple[Command, ...], ...]
    closed: bool = True


def read_shell(text: str, *, script: bool = False) -> Reading:
    """Return the commands that a shell reads in ``text``.

    Args:
        script: whether it is a script file, whose end may end a here-document.

    Raises:
        UnreadError: something in it is outside of the language.
    """
    tokens, wrong = lex(text, script=script)
    if wrong is not None:
        _refuse_first_words(text, tokens)
        raise wrong
    pipelines: list[tuple[Command, ...]] = []
    pipeline: list[Command] = []
    command: list[Token] = []
    last = Joint(text="\n")
    for token in (*tokens, Joint(text="\n", at=len(text))):
        if not isinstance(token, Joint):
            command.append(token)
            continue
        if not command:
            # Blank lines are allowed, also after a joint that needs another command.
            if token.text != "\n":
                raise UnreadError(token.text, "an empty command", _ONE_LEFT, place=place_in(text, token.at))
            continue
        try:
            pipeline.append(_command(command, piped=bool(pipeline), feeds=token.text == "|"))
        except UnreadError as error:
            raise _placed(error, text, command) from error
        command, last = [], token
        if last.text != "|":
            pipelines.append(tuple(pipeline))
            pipeline = []
    if last.text not in ("\n", ";"):
        raise UnreadError(last.text, "no command follows", _ONE_LEFT, place=place_in(text, last.at))
    if not pipelines:
        raise UnreadError(text.strip(), "no command")
    closed = all(token.closed for token in tokens if isinstance(token, Document))
    return Reading(pipelines=tuple(pipelines), closed=closed)


_ONE_LEFT = "write a command there, or leave the sign out"


def _placed(error: UnreadError, text: str, command: Sequence[Token]) -> UnreadError:
    """Return the error about a command with its place if the text has several lines; in one line the word alone shows the
    place.
    """
    at = next((token.at for token in command if isinstance(token, Word) and token.text == error.sign), None)
    place = "" if at is None or "\n" not in text.strip("\n") else place_in(text, at)
    return UnreadError(error.sign, error.why, error.instead, place=place)


def unread_programs(text: str) -> frozenset[str] | None:
    """Return the names of the programs in a text that exacell does not read; None if there is any other unread part.

    All else in the text is plain words, quotes and joints, so that no program starts other than those that are named.
    """
    tokens, wrong = lex(text)
    if wrong is not None or "\\\n" in text or not all(token.plain for token in tokens if isinstance(token, Word)):
        return None
    names: set[str] = set()
    command: list[Token] = []
    piped = False
    for token in (*tokens, Joint(text="\n")):
        if not isinstance(token, Joint):
            command.append(token)
            continue
        if command:
            try:
                _command(command, piped=piped, feeds=token.text == "|")
            except UnreadError:
                first = command[0]
                if not isinstance(first, Word) or first.glob or "=" in first.text:
                    return None
                if any(isinstance(each, Document) for each in command):
                    return None
                folder, _, name = first.text.rpartition("/")
                names.add(name if folder in ("", *FOLDERS) else f"{folder}/{name}")
        command, piped = [], token.text == "|"
    return frozenset(names)


def _refuse_first_words(text: str, tokens: Sequence[Token]) -> None:
    """Raise UnreadError if a command before an unread sign has no row: the first word of a loop explains more than its ``$``.

    Raises:
        UnreadError: one has none.
    """
    for before, token in zip((Joint(text="\n"), *tokens), tokens, strict=False):
        if isinstance(before, Joint) and isinstance(token, Word):
            try:
                _row(token)
            except UnreadError as error:
                raise _placed(error, text, (token,)) from error


def _row(word: Word) -> Row:
    """Return the table's row for a command's first word.

    Raises:
        UnreadError: there is none.
    """
    if "=" in word.text:
        raise UnreadError(word.text, "an assignment to a variable", "write its value where it is used")
    return row_of(word.text)


def _command(tokens: Sequence[Token], *, piped: bool, feeds: bool) -> Command:
    """Return a command that is read.

    Args:
        piped: whether it follows ``|``.
        feeds: whether it is before ``|``.

    Raises:
        UnreadError: it is not read.
    """
    words = [token for token in tokens if isinstance(token, Word)]
    if not isinstance(tokens[0], Word):
        sign = ">" if isinstance(tokens[0], Redirection) and tokens[0].descriptor else "<"
        raise UnreadError(sign, "a redirection before a command", "write it after the command")
    texts, globs = tuple(word.text for word in words), frozenset(n for n, word in enumerate(words) if word.glob)
    first, row = texts[0], _row(words[0])
    _refuse_redirections(first, tokens, feeds=feeds)
    documents = [token.body for token in tokens if isinstance(token, Document)]
    nowhere = any(isinstance(token, Redirection) and token.descriptor == 0 for token in tokens)
    if len(documents) + piped + nowhere > 1:
        raise UnreadError("<", f"more than one source of input for {first}", "keep only one of them")
    document = documents[0] if documents else None
    statements: tuple[str, ...] = ()
    if row.name in ("cellcli", "sqlplus"):
        if piped:
            way = f"write the statement behind cellcli -e; {SEVERAL}" if row.name == "cellcli" else SEVERAL
            raise UnreadError(first, "its input comes through a pipe", way)
        statements = _statements(row, texts, globs, document)
    elif document is not None:
        raise UnreadError("<<", f"a here-document for {first}", SEVERAL)
    else:
        refuse_words(row, texts, globs, piped=piped)
    return Command(
        words=texts,
        globs=globs,
        row=row.name,
        piped=piped,
        document=document,
        statements=statements,
    )


def _refuse_redirections(first: str, tokens: Sequence[Token], *, feeds: bool) -> None:
    """Raise UnreadError if a descriptor is redirected twice, or output is redirected before ``|`` (zsh then writes to both).

    Raises:
        UnreadError: one is.
    """
    descriptors = [token.descriptor for token in tokens if isinstance(token, Redirection)]
    twice = next((each for each in descriptors if descriptors.count(each) > 1), None)
    if twice is not None:
        sign = "<" if twice == 0 else "2>" if twice == 2 else ">"
        raise UnreadError(sign, f"two redirections of one descriptor of {first}", "keep only one of them")
    if feeds and 1 in descriptors:
        raise UnreadError(
            ">", f"the output of {first} goes to /dev/null and into a pipe", "leave out >/dev/null, or the pipe"
        )


def _statements(row: Row, texts: Sequence[str], globs: frozenset[int], document: str | None) -> tuple[str, ...]:
    """Return the statements that cellcli receives after -e or in its here-document; empty for sqlplus.

    Raises:
        UnreadError: it receives neither or both, or options that are not read.
    """
    executed = row.name == "cellcli" and "-e" in texts
    if executed and document is not None:
        raise UnreadError("-e", "cellcli with both -e and a here-document", "use one of the two")
    if not executed and document is None:
        raise UnreadError(texts[0], "the text has no statements for it", SEVERAL)
    end = texts.index("-e") if executed else len(texts)
    refuse_words(row, texts[:end], globs, piped=False)
    if document is not None:
        if row.name == "sqlplus":
            read_sql(document)
            return ()
        return statements_in(document)
    if globs:
        raise UnreadError(
            texts[min(globs)], "a pattern in a statement, which the shell may replace by file names", CONDITION
        )
    return statements_after(texts[end + 1 :])


_CLIENT = frozenset(("HELP", "REM", "REMARK", "SET", "EXIT", "QUIT"))
"""First words of statements that CellCLI itself carries out and that change nothing. Source: Oracle SAGUG, CellCLI commands."""

_FILES = {
    "spo|spoo|spool": "with it CellCLI writes a file on the cell, or replaces one",
    "sta|star|start|@.*": "with it CellCLI runs a file on the cell that exacell has not read",
}
"""First words of statements about files on the cell → what these do. Source: Oracle SAGUG, SPOOL and START."""

_CHANGING = re.compile(
    r"\s*(alter|create|drop|calibrate|assign|export|import|grant|revoke|(de)?register|start|sta|spo|@)", re.IGNORECASE
)
"""Beginning of a line that changes something, or reads or writes a file."""


def statements_after(words: Sequence[str]) -> tuple[str, ...]:
    """Return the statements after ``cellcli -e``: its words are one text, in which ``;`` separates statements.

    Raises:
        UnreadError: there is none.
    """
    found = _split(" ".join(words))
    if not found:
        raise UnreadError("-e", "no statement follows")
    return found


def statements_in(body: str) -> tuple[str, ...]:
    """Return the statements in lines that CellCLI reads: one per line; ``-`` at the end continues it, ``;`` separates several.

    Raises:
        UnreadError: a line may be read in more than one way.
    """
    found: list[str] = []
    begun = ""
    for line in body.removesuffix("\n").split("\n"):
        if begun and _CHANGING.match(line):
            raise UnreadError(line.split()[0], f"a line that continues '{begun.strip()}' and may also be a statement")
        if not begun and (comment := re.match(r"\s*(--|rem(ark)?([ \t;]|$))", line, re.IGNORECASE)):
            # It is not known whether a comment ends at a ; or continues after a -, so the text after either is judged, too.
            found += _split(line)[1 if comment[1] == "--" else 0 :]
            continue
        if line.rstrip().endswith("-"):
            if not re.search(r"(^|[ \t])-$", line) or line.split()[0].upper() in _CLIENT:
                raise UnreadError("-", f"a line end that may continue the statement or not: {line.strip()}")
            begun += line[:-1] + " "
            continue
        found += _split(begun + line)
        begun = ""
    if begun:
        raise UnreadError("-", f"nothing continues '{begun.strip()}'")
    return tuple(found)


def _split(text: str) -> tuple[str, ...]:
    """Return the parts between all ``;``, even quoted ones, because a cell may separate statements there."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


def change_in(statement: str) -> Change | Grant | None:
    """Return the change that a statement makes; None if it only reads.

    Raises:
        UnreadError: exacell does not know the statement, or it reads or writes a file.
    """
    first = statement.split()[0]
    if first.upper() in _CLIENT:
        return None
    for pattern, why in _FILES.items():
        if re.fullmatch(pattern, first, re.IGNORECASE):
            raise UnreadError(first, why)
    try:
        parsed = parse(statement)
    except StatementError as error:
        raise UnreadError(first, f"exacell can't read this CellCLI statement: {error.message}", error.hint) from error
    return parsed if isinstance(parsed, (Change, Grant)) else None
