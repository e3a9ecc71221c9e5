"""The mission's lines on this machine's kernel (README.md beside it)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kernel import LOOP
from tests.support.mission import KERNEL, Line, lines_on, problems

__all__ = ["problems"]

RACK = KERNEL


@lines_on(RACK)
def test_a_published_line(line: Line, problems: Callable[[Line], list[str]]) -> None:
    """Each line does what its story says, or is refused with what to type, and leaves the host as the table has it."""
    if Path(f"/sys/block/{LOOP}/queue/max_hw_sectors_kb").read_text().strip() != "1280":
        pytest.skip("the loop device's largest request is not 1280 KB here")
    found = problems(line)
    assert not found, "\n".join(found)
