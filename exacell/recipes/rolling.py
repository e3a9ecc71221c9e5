"""The ``rolling`` block of a recipe: lines that run on one wave of cells after the other. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.core.errors import StatementError
from exacell.core.values import dataclass
from exacell.language.registry import Kind, Param, Value

WAVE = Param(name="wave", kind=Kind.INT, help="the number of the wave", default="1")
"""The parameter ``$wave`` of the lines in a rolling."""

_LINE = re.compile(r"(?:on\s+(?P<on>\((?:[^()]|\([^()]*\))*\)|\S+)\s+)?rolling(?=[\s;=]|$)(?P<size>.*)", re.I | re.S)

WITHIN_ROLLING = "rolling can't contain {}, and this recipe is run inside rolling"
WITHIN_ROLLING_HINT = "run it outside of `rolling` … `end`"
"""Message and hint for a recipe that can't run inside a rolling."""

_EXAMPLE = "such as: `rolling 2`"


@dataclass(frozen=True, kw_only=True)
class Turns:
    """The line on which a rolling begins: how many cells a wave has, and the set of cells; both as written."""

    number: int
    size: str = "1"
    on: str = ""

    def most(self, values: Mapping[str, Value]) -> int:
        """Return the largest number of cells in a wave.

        Raises:
            StatementError: the size is not a whole number from 1.
        """
        lowered = {name.lower(): str(value) for name, value in values.items()}
        text = lowered.get(self.size[1:].lower(), "") if self.size.startswith("$") else self.size
        return _count(text)


def split_rolling(text: str) -> tuple[str, str] | None:
    """Return the cells of ON (empty for none) and the text after ``rolling``; None if the line does not begin a rolling."""
    found = _LINE.fullmatch(text.strip())
    return (found["on"] or "", found["size"].strip().rstrip("; ")) if found else None


def read_rolling(number: int, on: str, rest: str, params: Sequence[Param]) -> Turns:
    """Return the rolling that such a line begins.

    Raises:
        StatementError: the size is neither a number of cells nor a parameter that holds a whole number.
    """
    size = rest or "1"
    if not re.fullmatch(r"\$\w+", size):
        _count(size)
        return Turns(number=number, on=on, size=size)
    known = {param.name.lower(): param for param in params}
    param = known.get(size[1:].lower())
    if param is None:
        names = ", ".join(each.name for each in params) or "there are none"
        raise StatementError(
            f"{size} is not a parameter: {names}", hint=f"declare it: `param {size.removeprefix('$')} : int`"
        )
    if param.kind is not Kind.INT:
        raise StatementError(
            f"rolling needs a whole number of cells; {size} is of the kind {param.kind}",
            hint=f"declare it: `param {param.name} : int = 1`",
        )
    return Turns(number=number, on=on, size=size)


def _count(text: str) -> int:
    if text.startswith("--"):
        raise StatementError(
            f"{text.split('=')[0]} belongs to `run`, and holds for all waves", hint=f"such as: `run NAME {text}`"
        )
    if not re.fullmatch(r"\d{1,6}", text):
        raise StatementError(
            f"'rolling{'' if text.startswith('=') else ' '}{text}' can't be read; the form is `[on CELLS] rolling [N]`",
            hint=_EXAMPLE,
        )
    if not int(text):
        raise StatementError("rolling 0 would select no cell; use 1 or more", hint=_EXAMPLE)
    return int(text)
