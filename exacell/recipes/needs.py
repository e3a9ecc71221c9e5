"""Parse the ``needs`` of a recipe, and judge whether a cell meets them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from exacell.cellcli.schema import release_key
from exacell.core.errors import StatementError
from exacell.core.meant import closest
from exacell.core.values import dataclass

PLAIN = ("asm", "opaque")
"""Needs of one word. ``asm``: the database nodes are known; ``opaque``: the recipe runs commands that exacell can't read."""

_ASKED: Mapping[str, str] = {
    "release": "list cell attributes name, releaseVersion",
    "mode": "list cell attributes name, flashCacheMode",
    "media": "list celldisk attributes name, diskType",
    "hosts": "",
}
_VALUES: Mapping[str, tuple[str, ...]] = {"mode": ("writeback", "writethrough"), "media": ("flash", "hard", "pmem")}
_NEED = re.compile(r"(?P<word>[a-z]+)\s*(?P<operator>>=|=)\s*(?P<value>@?[\w.-]+)", re.IGNORECASE)

_SHAPES = {"release": "release>=19.3", "mode": "mode=writeback", "media": "media=flash", "hosts": "hosts=GROUP"}
KNOWN = ", ".join((*PLAIN, *_SHAPES.values()))


@dataclass(frozen=True, kw_only=True)
class Need:
    """One need: ``release>=19.3``."""

    word: str
    operator: str = ""
    value: str = ""

    @property
    def statement(self) -> str:
        """Return the LIST whose answer shows whether a cell meets the need; empty if cells need not be asked."""
        return _ASKED.get(self.word, "")

    def __str__(self) -> str:
        return f"{self.word}{self.operator}{self.value}"

    @classmethod
    def of(cls, text: str) -> Need:
        """Return the need that ``text`` describes.

        Raises:
            StatementError: ``text`` is not a need.
        """
        if text.lower() in PLAIN:
            return cls(word=text.lower())
        found = _NEED.fullmatch(text)
        word = (re.match(r"\w*", text) or [""])[0].lower()
        if word not in _ASKED:
            near = [_SHAPES.get(each, each) for each in closest(word, (*PLAIN, *_ASKED))]
            raise StatementError(f"needs takes {KNOWN}, not '{text}'", suggestions=tuple(near))
        if found is None:
            raise StatementError(f"needs: '{text}' can't be read; write {_SHAPES[word]}")
        value = found["value"].lower() if word != "hosts" else found["value"].removeprefix("@")
        if (found["operator"] == ">=") != (word == "release"):
            raise StatementError(f"needs: '{text}' can't be read; write {_SHAPES[word]}")
        if word == "release" and not re.fullmatch(r"\d+(\.\d+)*", value):
            raise StatementError(f"'{value}' is not a release; write it as 19.3 or 11.2.3.3.0")
        if word in _VALUES and value not in _VALUES[word]:
            raise StatementError(
                f"{word} must be one of {', '.join(_VALUES[word])}, not '{value}'",
                suggestions=closest(value, _VALUES[word]),
            )
        return cls(word=word, operator=found["operator"], value=value)


def unmet(need: Need, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return why a cell does not meet a need, as the rest of a sentence about the cell; empty if it does.

    Args:
        rows: the cell's answer to the need's statement.
    """
    if need.word == "release":
        has = str(rows[0].get("releaseVersion") or "") if rows else ""
        return "" if has and release_key(has) >= release_key(need.value) else f"has {has or 'no release'}"
    if need.word == "mode":
        # Cells of 11.2.2 and older have no mode: they write through. Source: cellcli.md.
        has = str((rows[0].get("flashCacheMode") if rows else "") or "WriteThrough")
        return "" if has.lower() == need.value else f"has {has}"
    kinds = {str(row.get("diskType") or "").lower() for row in rows}
    wanted = "pmem" if need.value == "pmem" else f"{need.value}disk"
    return "" if wanted in kinds else f"has no {'PMEM' if wanted == 'pmem' else wanted}"
