"""Lines as text: comments, continuation, and where one statement ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.core.errors import StatementError
from exacell.language.pasted import goes_on, here_document
from exacell.language.words import scan

RAW_TAILS = ("dcli", "sh", "host", "alias")
"""First words behind which all words are that command's, verbatim."""


_ALL_WORDS = re.compile(
    r"\s*(?:(?:-[yn]|-o\s+\S+)\s+)*(?:demo\s+)?(?:on\s+(?:\([^)]*\)|[^\s(]\S*)\s+)?(?:!|(?:"
    + "|".join(RAW_TAILS)
    + r")(?:\s|$))",
    re.IGNORECASE,
)


def takes_all_words(text: str) -> bool:
    """Whether a statement is for a command that takes every word behind its name as it is: flags, ``--`` and ``;`` too."""
    return _ALL_WORDS.match(text) is not None


def strip_comment(text: str) -> str:
    """Return ``text`` without a comment: a whole-line one, or ``--`` before a blank (or at the end) outside quotes.

    Behind a command that takes all words ``--`` is one of them.
    """
    first = text.lstrip()
    if first.startswith("#") or re.match(r"(rem|remark)(\s|$)", first, re.IGNORECASE) or re.match(r"--(\s|$)", first):
        return ""
    if first.startswith("--"):
        # CellCLI reads any line that begins with two hyphens as a comment.
        return ""
    if takes_all_words(text):
        return text
    for offset, char, quoted, _ in scan(text):
        if (
            char == "-"
            and not quoted
            and text.startswith("--", offset)
            and offset
            and text[offset - 1].isspace()
            and (offset + 2 == len(text) or text[offset + 2].isspace())
        ):
            return text[:offset]
    return text


def split_statements(text: str) -> list[str]:
    """Return the statements of ``text``, separated by ``;`` outside quotes and parentheses; empty ones are dropped.

    What takes all words is one statement, whatever it holds.
    """
    if takes_all_words(text):
        return [text.strip()]
    pieces, start = [], 0
    for offset, char, quoted, depth in scan(text):
        if char == ";" and not quoted and depth == 0:
            pieces.append(text[start:offset])
            start = offset + 1
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def needs_more(text: str) -> bool:
    """Return whether a line goes on: it ends with ``-``, a parenthesis or a quote is open, a here-document has not ended."""
    ended = here_document(text)
    if ended is not None or goes_on(text):
        return not ended
    if text.rstrip().endswith("-") and (text.rstrip() == "-" or text.rstrip()[-2].isspace()):
        return True
    try:
        depth = 0
        for _, char, quoted, _ in scan(text):
            if not quoted:
                depth += (char == "(") - (char == ")")
    except StatementError:
        return True
    return depth > 0


def join_continued(lines: Sequence[str]) -> str:
    """Return the one line that continued lines make: the trailing ``-`` becomes a blank."""
    parts = [line.rstrip()[:-1] if line.rstrip().endswith("-") else line for line in lines[:-1]]
    return " ".join([*parts, *lines[-1:]])
