"""Find non-ASCII characters that web pages and word processors put in place of a quote, an operator, a dash or a blank. Pure.

CellCLI and exacell would read such a character as a letter of a name: ``= ‘No’`` compares with a text that no disk has, and
the answer is empty. So outside of quotes, only letters may be non-ASCII; within ASCII quotes every character is allowed.
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
"""ASCII character → look-alikes of it that NFKC of Unicode does not convert."""

_BY_CHARACTER = {char: meant for meant, chars in _MEANT.items() for char in chars}

_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Letters that are invisible. Source: Unicode Standard, Default_Ignorable_Code_Point."""

_LONG_FLAG = pattern(r"[–—][A-Za-z]{2}")

_WORDS = {" ": "a blank"}


class LookalikeError(StatementError):
    """There is a non-ASCII character where it is not allowed; the message names its column and follows :meth:`move`.

    Args:
        inside: the text is only a part of the typed line: ``start`` and ``end`` are None, since they would not fit the line.
    """

    def __init__(self, text: str, place: int, *, inside: bool = False) -> None:
        char = text[place]
        meant = ascii_of(char)
        if char in "–—" and _LONG_FLAG.match(text, place) and (place == 0 or text[place - 1].isspace()):
            meant = "--"  # A word processor replaces two hyphens by one dash.
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
        """As :meth:`StatementError.move`; the message then names the new column."""
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
    """Return what to type in place of a non-ASCII character; empty if that is nothing, or not known."""
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
    """Return whether a character is not allowed outside of quotes.

    Allowed are ASCII, and letters that stand for no ASCII letter, such as ``ä``.

    Args:
        before: the character before it; an accent may follow a letter.
    """
    if char.isascii():
        return False
    category = unicodedata.category(char)
    if unicodedata.combining(char):
        return not (before and (before.isalpha() or unicodedata.combining(before)))
    letter = category in ("Lu", "Ll", "Lt", "Lo") and char not in _UNSEEN and char not in _BY_CHARACTER
    return not letter or unicodedata.normalize("NFKC", char).isascii()


def lookalikes(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield those of the given offsets at which a character is not allowed outside of quotes.

    Args:
        places: offsets outside of quotes and comments, in order; not evaluated if the text is ASCII.
    """
    if not text.isascii():
        yield from (place for place in places if is_lookalike(text[place], text[place - 1 : place]))


def refuse_lookalikes(text: str, places: Iterable[int], *, inside: bool = False) -> None:
    """Raise LookalikeError for the first character of a text that is not allowed outside of quotes.

    Args:
        places: as for :func:`lookalikes`.
        inside: as for :class:`LookalikeError`.

    Raises:
        LookalikeError: names the character, its column, and what to type.
    """
    for place in lookalikes(text, places):
        raise LookalikeError(text, place, inside=inside)


def unclosed(text: str, opened: int) -> LookalikeError | None:
    """Return the error for an open quote that ends with a look-alike of a quote, at that character; None if there is no such
    character.
    """
    foreign = (place for place in range(opened + 1, len(text)) if not text[place].isascii())
    place = next((place for place in foreign if ascii_of(text[place]) in ("'", '"')), None)
    return None if place is None else LookalikeError(text, place)
