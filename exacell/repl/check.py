"""What a line means while it is typed: where it is wrong, and what Enter would do. Pure; never asks a cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from exacell.errors import ExacellError, StatementError
from exacell.language.line import Line, parse_line
from exacell.language.text import needs_more, split_statements


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One statement of what was typed, its offsets equal to those in the buffer once ``start`` is added."""

    text: str
    start: int


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one segment is: a parsed line, an error, or neither (empty, a comment)."""

    segment: Segment
    line: Line | None = None
    error: StatementError | None = None


def segments(text: str) -> list[Segment]:
    """Return the statements of ``text``: lines, joined where one continues, and parts between ``;``."""
    found: list[Segment] = []
    begin = 0
    for end in (*(match.start() for match in re.finditer("\n", text)), len(text)):
        joined = flatten(text[begin:end])
        if end < len(text) and needs_more(text[begin:end].rstrip() if text[begin:end].strip() else ""):
            continue
        found += _parts(joined, begin)
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
def verdict(text: str) -> tuple[Line | None, StatementError | None]:
    """Return what one statement means, or why it means nothing."""
    try:
        return parse_line(text), None
    except StatementError as error:
        return None, error
    except ExacellError as error:
        return None, StatementError(error.message, hint=error.hint)


def verdicts(text: str) -> list[Verdict]:
    """Return a verdict for each statement of ``text``."""
    found = []
    for segment in segments(text):
        line, error = verdict(segment.text)
        found.append(Verdict(segment=segment, line=line, error=error))
    return found


def live_error(text: str, cursor: int) -> tuple[int, int, StatementError] | None:
    """Return (start, end, error) of what is wrong already, None when nothing is, or only the word still being typed.

    What is missing at the end, or wrong in the word at the cursor, may yet become right.
    """
    for found in verdicts(text):
        error = found.error
        if error is None or error.start is None or error.end is None or error.start >= error.end:
            continue
        start, end = found.segment.start + error.start, found.segment.start + error.end
        if start <= cursor <= end:
            continue
        return start, end, error
    return None
