"""Values in a recipe that their attribute never has."""

from __future__ import annotations

import pytest

from exacell.recipes.checker import problems_of
from exacell.recipes.parsing import read_draft

WRONG = {
    "check all physicaldisk.status = normall": ("'normall' is not a value of status; it can be ", "normal"),
    "check all physicaldisk.status = normal where diskType=flashdsk": (
        "'flashdsk' is not a value of diskType; it can be ",
        "FlashDisk",
    ),
    "check all cell.flashCacheMode != write-back": (
        "'write-back' is not a value of flashCacheMode; it can be ",
        "WriteBack",
    ),
    "wait until no griddisk where asmModeStatus=SYNCYNG": (
        "'SYNCYNG' is not a value of asmModeStatus; it can be ",
        "SYNCING",
    ),
    "list griddisk where status = 'actve'": ("'actve' is not a value of status; it can be ", "active"),
    "check all cell.flashCacheMode = fast": (
        "'fast' is not a value of flashCacheMode; it can be WriteBack or WriteThrough",
        "",
    ),
    "check all iormplan.objective = autoo": ("'autoo' is not a value of objective; it can be ", "auto"),
    "alter griddisk all where status=inactve cachingPolicy=none": (
        "'inactve' is not a value of status; it can be ",
        "inactive",
    ),
}
RIGHT = [
    "check all flashcache.status = 'normal - flushed'",
    "check all physicaldisk.status = 'predictive failure'",
    "check all physicaldisk.status = normal where diskType=PMEM",
    "check all griddisk.status = 'some word of a later release'",
    "check all griddisk.status = $state",
    "list griddisk where asmModeStatus != unused",
    "list griddisk where status like 'actve'",
    "alter cell flashCacheMode=WRITEBACK",
    "alter cell flashCacheMode=$mode",
    "alter griddisk all cachingPolicy=none",
]


def told(text: str) -> dict[str, str]:
    """Return what is wrong with a line in a recipe, each with the way out."""
    head = 'recipe "x"\nparam state : name\nparam mode : choice(writeback|writethrough) = writeback\n'
    return {found.message: found.hint for found in problems_of(read_draft("x", f"{head}{text}\n"))}


@pytest.mark.parametrize(("text", "says"), WRONG.items(), ids=WRONG)
def test_a_value_that_no_cell_has_is_a_problem(text: str, says: tuple[str, str]) -> None:
    """A misspelt value of a list, and any other one than those of a closed list, is told with what may have been meant."""
    ((message, hint),) = told(text).items()
    assert message.startswith(says[0])
    assert hint == (f"did you mean {says[1]}?" if says[1] else "")


@pytest.mark.parametrize("text", RIGHT)
def test_a_value_that_some_cell_may_have_is_none(text: str) -> None:
    """Any case, what a parameter will say, patterns, and words that no known one is a slip for are left to the cells."""
    assert told(text) == {}
