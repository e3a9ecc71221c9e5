"""Characters outside of ASCII that web pages and word processors put where a quote, an operator, a dash or a blank should. Pure.

CellCLI and exacell take such a character for a letter of a name: ``= ‘No’`` compares with a text that no disk has, and the answer
is empty. So outside of ASCII quotes letters alone may lie outside of ASCII; within them every character stays what it is.
Source: Unicode Standard, General Category Values; Standard Annex 15 (NFKC, which maps full-width forms to ASCII).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator

from exacell.core.errors import StatementError
from exacell.core.patterns import pattern

_MEANT = {
    "'": "‘’‚‛′‵´ʹʻʼʽˈˊˋꞌꞋ‹›׳՚",
    '"': "“”„‟″‶‴ʺ«»〝〞〟ˮ״",
    "-": "‐‑‒–—―−⁃➖─━",
    "!=": "≠",
    ">=": "≥⩾≧",
    "<=": "≤⩽≦",
    "=": "≈≅≡≔᐀゠",
    "*": "∗×⁎✱✲•∙⋅",
    "/": "∕⁄÷",
    "|": "∣¦│",
    "~": "∼˜",
    ",": "、،⸲",
    ".": "。·",
    ":": "∶ː",
    "<": "〈⟨❮",
    ">": "〉⟩❯→",
    "a line end": "\u0085\u2028\u2029",
}
"""What was meant by characters of which Unicode does not say it (NFKC)."""

_BY_CHARACTER = {char: meant for meant, chars in _MEANT.items() for char in chars}

_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Letters that show nothing. Source: Unicode Standard, Default_Ignorable_Code_Point."""

_LONG_FLAG = pattern(r"[–—][A-Za-z]{2}")

_WORDS = {" ": "a blank"}


class LookalikeError(StatementError):
    """A character outside of ASCII stands where none may; the message names its column, which moves with its place.

    Args:
        inside: the text is a part of the line that the user typed, so that the place is none of the line.
    """

    def __init__(self, text: str, place: int, *, inside: bool = False) -> None:
        char = text[place]
        meant = ascii_of(char)
        if char in "–—" and _LONG_FLAG.match(text, place) and (place == 0 or text[place - 1].isspace()):
            meant = "--"  # A word processor makes one dash of the two.
        named = _WORDS.get(meant, meant)
        if meant:
            hint = f"type {named} there; within ASCII quotes every character is kept"
        elif unicodedata.category(char)[0] in "CMZ":
            hint = "remove it; within ASCII quotes every character is kept"
        else:
            hint = "put the value in ASCII quotes, where every character is kept"
        self._char, self._named = char, named
        line = text.count("\n", 0, place) + 1
        self._line = f"line {line}, column {place - text.rfind(chr(10), 0, place)}" if "\n" in text else ""
        super().__init__("", start=place, end=place + 1, hint=hint)
        self._say()
        if inside:
            self.start = self.end = None

    def move(self, place: Callable[[int], int]) -> None:
        """As :meth:`StatementError.move`; the column in the message is that of the new place."""
        super().move(place)
        if self.start is not None:
            self._say()

    def _say(self) -> None:
        name, code = unicodedata.name(self._char, "a control character").lower(), f"U+{ord(self._char):04X}"
        shown = f"{self._char} ({name}, {code})" if self._char.isprintable() else f"{name} ({code})"
        stands = f"where {self._named} should" if self._named else "outside of quotes"
        self.message = f"{shown} in {self._line or f'column {(self.start or 0) + 1}'} stands {stands}"
        self.args = (self.message,)


def ascii_of(char: str) -> str:
    """Return what is to be typed instead of a character outside of ASCII; empty where that is nothing, or not known."""
    if char in _BY_CHARACTER:
        return _BY_CHARACTER[char]
    category = unicodedata.category(char)
    plain = unicodedata.normalize("NFKC", char)
    if category == "Zs":
        return " "
    if plain.isascii():
        return plain
    if category == "Pd":
        return "-"
    if category in ("Pi", "Pf"):
        return '"' if "DOUBLE" in unicodedata.name(char, "") else "'"
    if category == "Nd":
        return str(unicodedata.digit(char))
    return ""


def is_lookalike(char: str, before: str = "") -> bool:
    """Whether a character must not stand outside of ASCII quotes: all but ASCII, and letters that are nothing else.

    Args:
        before: the character in front of it; an accent may follow a letter.
    """
    if char.isascii():
        return False
    category = unicodedata.category(char)
    if unicodedata.combining(char):
        return not (before and (before.isalpha() or unicodedata.combining(before)))
    letter = category in ("Lu", "Ll", "Lt", "Lo") and char not in _UNSEEN and char not in _BY_CHARACTER
    return not letter or unicodedata.normalize("NFKC", char).isascii()


def lookalikes(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield the places of a text, of those given, at which a character must not stand outside of quotes.

    Args:
        places: those outside of quotes and comments, in order; not asked where the text is ASCII.
    """
    if not text.isascii():
        yield from (place for place in places if is_lookalike(text[place], text[place - 1 : place]))


def refuse_lookalikes(text: str, places: Iterable[int], *, inside: bool = False) -> None:
    """Raise for the first character of a text that must not stand outside of quotes.

    Args:
        places: as for :func:`lookalikes`.
        inside: as for :class:`LookalikeError`.

    Raises:
        LookalikeError: naming the character, its column, and what to type.
    """
    for place in lookalikes(text, places):
        raise LookalikeError(text, place, inside=inside)


def unclosed(text: str, opened: int) -> LookalikeError | None:
    """Return the error of a quote that a web page's closes: the place of that; None where the rest of the text has none."""
    foreign = (place for place in range(opened + 1, len(text)) if not text[place].isascii())
    place = next((place for place in foreign if ascii_of(text[place]) in ("'", '"')), None)
    return None if place is None else LookalikeError(text, place)
