"""Split a text into lines, statements and words with their offsets, with regard to quotes, parentheses, comments and
continuation.

The pieces keep their offsets in the line, so that an error can be underlined.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from exacell.cellcli.tokens import BLANKS
from exacell.core.errors import StatementError
from exacell.core.lookalikes import refuse_lookalikes, unclosed
from exacell.core.patterns import pattern
from exacell.core.values import dataclass
from exacell.language.pasted import goes_on, here_document, without_shell


@dataclass(frozen=True)
class Word:
    """One piece of a line between blanks.

    Attributes:
        raw: the text as written, with quotes.
        value: the text without its quotes.
        start, end: offsets in the line.
        quoted: whether any part was in quotes; it is then never a keyword, flag or parameter.
    """

    raw: str
    value: str
    start: int
    end: int
    quoted: bool = False


_FLAG = pattern(r"-[a-z]$|--[a-z]", re.IGNORECASE)
"""A flag is never taken as the value that is missing before it: ``dbplan= -n`` must not send the plan ``-n``."""


_NAME = pattern(r"[A-Za-z_][\w.\-]*")
_PAIR = pattern(_NAME.pattern + "=")
_KEY = pattern(rf"(?:{_NAME.pattern})?=")
"""A ``key=`` is never taken as the missing value before it: in ``compatible.rdbms= compatible.asm=11.2`` the first key has
none.
"""


Mark = tuple[int, str, bool, int]
"""(offset, character, inside quotes, depth of parentheses)."""


def marks(text: str) -> Generator[Mark, None, tuple[str, int]]:
    """Yield the mark of each character of ``text``, whose end may not have been typed yet.

    Everything that cuts a line goes by these marks. A quote that is never closed reaches to the end; the generator returns that
    quote and its place (an empty text if every quote is closed).
    """
    quote, depth, opened = "", 0, 0
    for offset, char in enumerate(text):
        if quote:
            yield offset, char, True, depth
            if char == quote:
                quote = ""
            continue
        if char in "'\"" and _opens_quote(text, offset):
            quote, opened = char, offset
            yield offset, char, True, depth
            continue
        if char == "(":
            depth += 1
        elif char == ")" and depth:
            depth -= 1
        yield offset, char, False, depth
    return quote, opened


def scan(text: str) -> Iterator[Mark]:
    """Yield the mark of each character of a whole text.

    Raises:
        StatementError: a quote is never closed.
    """
    quote, opened = yield from marks(text)
    if quote:
        raise unclosed(text, opened) or StatementError(
            f"the quote {quote} is never closed", start=opened, end=len(text), hint="put the same quote at the end"
        )


def refuse_typography(text: str) -> None:
    """Raise LookalikeError if a line contains non-ASCII characters other than letters, outside of quotes and comments.

    For a command that takes all words, the quotes are those around its text. A line for the shell (``!``) is not checked.

    Raises:
        LookalikeError: names the character, its column, and what to type.
    """
    if not text.isascii() and not text.lstrip(BLANKS).startswith("!"):
        said = strip_comment(text)
        refuse_lookalikes(text, (offset for offset, _, quoted, _ in scan(said) if not quoted))


def _opens_quote(text: str, offset: int) -> bool:
    # An apostrophe inside a word (don't) does not open a quote; one after =, (, a comma or a blank does.
    return offset == 0 or not text[offset - 1].isalnum()


def split_words(text: str, offset: int = 0) -> list[Word]:
    """Return the words of ``text``; ``offset`` is added to their places.

    Blanks inside quotes and parentheses do not separate words. Blanks around an ``=`` outside of them join its two sides, so
    that ``size = 288g`` is one word ``size=288g``. A flag or another ``key=value`` is not joined, because it is not a value.

    Raises:
        StatementError: a quote is never closed.
    """
    words: list[Word] = []
    start: int | None = None
    quoted = False
    for place, char, in_quotes, depth in scan(text):
        if char in BLANKS and not in_quotes and depth == 0:
            if start is not None:
                words.append(_word(text, start, place, offset, quoted))
            start, quoted = None, False
            continue
        if start is None:
            start = place
        quoted = quoted or in_quotes
    if start is not None:
        words.append(_word(text, start, len(text), offset, quoted))
    return _join_equals(words)


def _word(text: str, start: int, end: int, offset: int, quoted: bool) -> Word:
    raw = text[start:end]
    return Word(raw, unquote(raw), start + offset, end + offset, quoted)


def unquote(raw: str) -> str:
    """Return ``raw`` without one pair of quotes around it; in double quotes, ``""`` becomes ``"``.

    Text in single quotes is not changed, because SQL writes its own literals like this.
    """
    if len(raw) >= 2 and raw[0] == raw[-1] and raw[0] in "'\"":
        return raw[1:-1].replace('""', '"') if raw[0] == '"' else raw[1:-1]
    return raw


def plain_text(text: str) -> str:
    """Return a text for people: quotes are removed; the quoted text, all other text and the blanks stay as they are."""
    return re.sub(r"""(?<![^\W_])(["'])(.*?)\1""", r"\2", text, flags=re.DOTALL)


def _begins_a_pair(raw: str, after: str) -> bool:
    """Return whether a word is the next ``key=value``, or a key whose ``=`` is the next word."""
    return _PAIR.match(raw) is not None or (_NAME.fullmatch(raw) is not None and after.startswith("="))


def _join_equals(words: list[Word]) -> list[Word]:
    joined: list[Word] = []
    for place, word in enumerate(words):
        previous = joined[-1] if joined else None
        after = words[place + 1].raw if place + 1 < len(words) else ""
        glue = previous is not None and (
            (
                previous.raw.endswith("=")
                and not previous.quoted
                and not previous.raw.startswith(("-", "!", "<", ">"))
                and not _FLAG.match(word.raw)
                and not (_KEY.fullmatch(previous.raw) and _begins_a_pair(word.raw, after))
            )
            or (word.raw.startswith("=") and not previous.raw.startswith("-") and "=" not in previous.raw)
        )
        if glue and previous is not None:
            raw = previous.raw + word.raw
            joined[-1] = Word(raw, unquote(raw), previous.start, word.end, previous.quoted or word.quoted)
        else:
            joined.append(word)
    return joined


RAW_TAILS = ("dcli", "sh", "host", "alias")
"""First words after which all words belong to that command, unchanged."""


_ALL_WORDS = pattern(
    r"\s*(?:(?:-[yn]|-o\s+\S+)\s+)*(?:demo\s+)?(?:on\s+(?:\([^)]*\)|[^\s(]\S*)\s+)?(?:!|(?:"
    + "|".join(RAW_TAILS)
    + r")(?:\s|$))",
    re.IGNORECASE | re.ASCII,
)


def takes_all_words(text: str) -> bool:
    """Return whether a statement's command takes every word after its name as it is, including flags, ``--`` and ``;``."""
    return _ALL_WORDS.match(text) is not None


def strip_comment(text: str) -> str:
    """Return ``text`` without a comment: a whole-line one, or ``--`` before a blank (or at the end) outside of quotes.

    After a command that takes all words, ``--`` is one of these words.
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
            and (offset + 2 == len(text) or text[offset + 2] in BLANKS)
        ):
            return text[:offset]
    return text


_MAY_BE_BLOCK = pattern(r"\s*(?:SQL>\s*)?(?:<<|(?:begin|declare|create|with)\b)", re.IGNORECASE | re.ASCII)


def _is_block(text: str) -> bool:
    if ";" not in text or _MAY_BE_BLOCK.match(text) is None:
        return False
    from exacell.language.pasted_sql import is_block  # Few statements begin like this.

    return is_block(without_shell(text))


def split_statements(text: str) -> list[str]:
    """Return the statements of ``text``, separated by ``;`` outside of quotes and parentheses; empty ones are dropped.

    A command that takes all words is one statement in any case, and so is a block of PL/SQL.
    """
    if takes_all_words(text) or _is_block(text):
        return [text.strip(BLANKS)]
    pieces, start = [], 0
    for offset, char, quoted, depth in scan(text):
        if char == ";" and not quoted and depth == 0:
            pieces.append(text[start:offset])
            start = offset + 1
    pieces.append(text[start:])
    return [piece.strip(BLANKS) for piece in pieces if piece.strip(BLANKS)]


def needs_more(text: str) -> bool:
    """Return whether a line continues: it ends with ``-``, or a parenthesis, a quote or a here-document is open."""
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
    """Return continued lines as one line: each ``-`` at an end becomes a blank."""
    parts = [line.rstrip()[:-1] if line.rstrip().endswith("-") else line for line in lines[:-1]]
    return " ".join([*parts, *lines[-1:]])
