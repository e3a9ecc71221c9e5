"""Lists in the documents that are lists in the program."""

from __future__ import annotations

import re
from pathlib import Path

from exacell.plan.dbchange import SPEED

DOCS = Path(__file__).parents[2] / "docs"


def test_the_parameters_that_sql_sets_are_those_of_the_page() -> None:
    """The table of docs/risk.md names each parameter that a plan may set, and no other."""
    part = (DOCS / "risk.md").read_text(encoding="utf-8").partition("## Parameters\n\n")[2].partition("\n\n")[0]
    named = [name for row in part.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(SPEED)
