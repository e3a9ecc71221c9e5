"""The mission's lines on a rack that writes back (README.md beside it)."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.mission import Line, lines_on, problems

__all__ = ["problems"]

RACK = "write-back"


@lines_on(RACK)
def test_a_published_line(line: Line, problems: Callable[[Line], list[str]]) -> None:
    """Each line does what its story says, or is refused with what to type, and leaves the cells as the table has it."""
    found = problems(line)
    assert not found, "\n".join(found)
