"""Lists in the documents that are lists in the program."""

from __future__ import annotations

import re
from pathlib import Path

from exacell.plan.dbchange import SPEED

DOCS = Path(__file__).parents[2] / "docs"


def test_the_parameters_that_sql_sets_are_those_of_the_page() -> None:
    """docs/sql.md names each parameter that a plan may set, and no other."""
    part = (DOCS / "sql.md").read_text(encoding="utf-8").partition("Parameters:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", part)) == SPEED
