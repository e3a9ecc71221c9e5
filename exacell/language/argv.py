"""Convert the words of a command line to a line of the language."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from exacell.cellcli.tokens import BLANKS
from exacell.core.errors import StatementError
from exacell.core.lookalikes import LookalikeError
from exacell.language.words import RAW_TAILS, refuse_typography, scan, takes_all_words

_OPERATORS = ("=", "!=", ">", "<", "!")


def argv_line(words: Sequence[str]) -> str:
    """Return the line for these command-line words: each word becomes one token, in which shell characters have no meaning.

    A single first word with blanks is a whole line already. A pasted ``cellcli -e`` is dropped.
    """
    items = list(words)
    if len(items) > 1 and items[0] == "cellcli":
        items = items[1:]
        while items and items[0] in ("-n", "-x", "-m", "-xml", "--xml"):
            items.pop(0)
        if items and items[0] == "-e":
            items.pop(0)
    if items and re.search(r"\s", items[0].strip()):
        return " ".join(items).strip()
    head = _before_all_words(items)
    line = " ".join(_quote_word(item) for item in items[:head])
    # The prompt splits the words of dcli as a shell does; these quotes keep each word as it is.
    rest = items[head:]
    tail = shlex.join(rest) if rest and rest[0].lower() == "dcli" else " ".join(rest)
    return f"{line} {tail}".strip()


def _before_all_words(items: Sequence[str]) -> int:
    """Return how many words come before the first word that takes all following words as they are; without one, all words."""
    for place, item in enumerate(items):
        if item.lower() in RAW_TAILS and takes_all_words(" ".join(map(_quote_word, items[: place + 1]))):
            return place
    return len(items)


def _quote_word(word: str) -> str:
    if word in _OPERATORS or not word:
        return word or "''"
    key, equals, value = word.partition("=")
    if equals and re.fullmatch(r"(--)?[A-Za-z_][\w.\-]*", key):
        return f"{key}={_quote(value)}" if value else word
    return _quote(word)


def _quote(value: str) -> str:
    if _is_one_word(value):
        return value
    if "'" in value and '"' in value:
        raise StatementError(
            f"the word {value} has both kinds of quotes; a statement can't have both in one word",
            hint="type it at the prompt, or put it into a file for -f",
        )
    mark = '"' if "'" in value else "'"
    return f"{mark}{value}{mark}"


def _is_one_word(value: str) -> bool:
    """Return whether the prompt would also read ``value`` as one word, including quotes or parentheses around it."""
    if value.startswith("#") or value == "--" or not value:
        return False
    if not any(char in BLANKS for char in value):
        try:
            refuse_typography(value)
        except LookalikeError:
            return True  # It is refused with its place: nobody knows whether it was in quotes of the shell.
        except StatementError:
            return False
    try:
        places = list(scan(value))
    except StatementError:
        return False
    if value[0] in "'\"":
        return all(quoted for _, _, quoted, _ in places)
    if value[0] == "(" and all(depth for _, char, quoted, depth in places[:-1]) and value[-1] == ")":
        return places[-1][3] == 0
    return not re.search(r"[\s|;<>'\"()]", value)
