"""Judge a line while it is typed: where it is wrong, and what it means. Pure; never asks a cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from exacell.cellcli.releases import missing
from exacell.core.errors import ExacellError, StatementError
from exacell.core.values import dataclass
from exacell.language.line import Line, parse_line
from exacell.language.pasted import here_document
from exacell.language.pasted_sql import is_block, sql_goes_on, without_comments
from exacell.language.registry import Kind
from exacell.language.shorthand import understood
from exacell.language.words import needs_more, split_statements, takes_all_words


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The context, besides the grammar, by which a line is judged.

    Attributes:
        aliases: (name, statement) of each alias.
        releases: the known releases of the selected cells, each once.
    """

    aliases: tuple[tuple[str, str], ...] = ()
    releases: tuple[str, ...] = ()

    @property
    def alias_table(self) -> Mapping[str, str]:
        """Return the aliases, name → statement."""
        return MappingProxyType(dict(self.aliases))


PLAIN = Surroundings()


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One statement of the typed text; its offsets plus ``start`` are offsets in the buffer."""

    text: str
    start: int


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The meaning of one segment: a parsed line, an error, or neither (empty, a comment, an alias for several statements).

    Attributes:
        became: the full statement, if it was typed short; else empty.
    """

    segment: Segment
    line: Line | None = None
    error: StatementError | None = None
    became: str = ""


def segments(text: str) -> list[Segment]:
    """Return the statements of ``text``: its lines, joined with their continuation lines, and the parts between ``;``."""
    found: list[Segment] = []
    begin = 0
    for end in (*(match.start() for match in re.finditer("\n", text)), len(text)):
        piece = text[begin:end]
        if end < len(text) and (needs_more(piece.rstrip() if piece.strip() else "") or sql_goes_on(piece)):
            continue
        if piece.strip() == "/" and found and is_block(found[-1].text):
            begin = end + 1  # The line with which SQL*Plus runs a block.
            continue
        piece = without_comments(piece)
        # Text for a shell keeps its lines.
        whole = here_document(piece) is not None or ("\n" in piece and takes_all_words(piece))
        found += [Segment(text=piece, start=begin)] if whole else _parts(flatten(piece), begin)
        begin = end + 1
    return found


def flatten(text: str) -> str:
    """Return continued lines as one line of the same length: ``-`` at a line's end and the newline become blanks."""
    joined = re.sub(r"(?<!\S)-[ \t]*\n", lambda match: " " * len(match[0]), text)
    return joined.replace("\n", " ")


def _parts(text: str, start: int) -> Iterator[Segment]:
    try:
        statements = split_statements(text)
    except StatementError:
        statements = [text]
    place = 0
    for statement in statements:
        place = text.index(statement, place)
        yield Segment(text=statement, start=start + place)
        place += len(statement)


@lru_cache(maxsize=256)
def verdict(text: str, around: Surroundings = PLAIN) -> tuple[Line | None, StatementError | None, str]:
    """Return one statement's parsed line, or its error, and the full statement if it was typed short."""
    try:
        became, line = understood(text, around.alias_table)
    except StatementError as error:
        return None, error, ""
    except ExacellError as error:
        return None, StatementError(error.message, hint=error.hint), ""
    short = became if became != text else ""
    if line is not None and not short:
        wrong = _carried_error(text, line) or _absent(text, line, around.releases)
        if wrong is not None:
            return None, wrong, ""
    return line, None, short


def carried(line: Line) -> str:
    """Return the statement within a line, as in ``plan resize flashcache size=1g``; empty if there is none."""
    last = line.call.command.params[-1] if line.call is not None and line.call.command.params else None
    if line.call is None or last is None or last.kind is not Kind.STATEMENT or not last.rest:
        return ""
    return line.call.text_arg(last.name)


def _carried_error(text: str, line: Line) -> StatementError | None:
    """Return the error of the statement within a line, with its place in ``text``; None without an error."""
    inner = carried(line)
    place = text.rfind(inner) if inner else -1
    if place < 0:
        return None
    try:
        parse_line(inner, shell=False)
    except StatementError as error:
        if error.start is not None and error.end is not None:
            error.start, error.end = error.start + place, error.end + place
        return error
    return None


def _absent(text: str, line: Line, releases: tuple[str, ...]) -> StatementError | None:
    """Return an error about the first word that a selected cell's release does not have, with its place; else None."""
    for release in releases if line.cellcli is not None else ():
        assert line.cellcli is not None
        for said in missing(line.cellcli, release):
            what = re.split(r" (?:exists|does not exist) ", said)[0]
            for part in (what, what.rsplit(" ", 1)[-1]):
                match = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text, re.IGNORECASE)
                if match is not None:
                    return StatementError(said, start=match.start(), end=match.end())
            return StatementError(said, start=0, end=len(text))
    return None


def verdicts(text: str, around: Surroundings = PLAIN) -> list[Verdict]:
    """Return a verdict for each statement of ``text``."""
    found = []
    for segment in segments(text):
        line, error, became = verdict(segment.text, around)
        found.append(Verdict(segment=segment, line=line, error=error, became=became))
    return found


def live_error(text: str, cursor: int, around: Surroundings = PLAIN) -> tuple[int, int, StatementError] | None:
    """Return (start, end, error) of the first error; None without an error, or if it is in the word still being typed.

    An error at the end, or in the word at the cursor, may disappear with more typing.
    """
    for found in verdicts(text, around):
        error = found.error
        if error is None or error.start is None or error.end is None or error.start >= error.end:
            continue
        start, end = found.segment.start + error.start, found.segment.start + error.end
        if start <= cursor <= end:
            continue
        return start, end, error
    return None
