"""The judge of benchmarks/races.py: who was told of a lost race, and which statement left too late."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

PLAN = (
    "Plan on t1: drop flashcache\n 1. send it\n    on exa1cel[01-03]: DROP FLASHCACHE\n[1/1] send it on "
    "exa1cel[01-03]\n"
)
REFUSED = "exacell: drop flashcache: refused: data would be lost on exa1cel02: it is normal\n"
FAILED = "not complete on exa1cel[02-03]: `retry failed` repeats it there\n"


def _problems(*, code: int | None, text: str, wrong: tuple[str, ...] = ("exa1cel02",), **given: Any) -> list[str]:
    from races_judge import judge
    from races_run import Raced
    from races_verbs import VERBS, Script

    kind = given.pop("kind", "drop")
    verb = next(verb for verb in VERBS if verb.kind == kind)
    told = given.pop("told", [])
    script = Script(verb, "exa1cel02", "exa1cel01", "look", 1, 0.0, "", 0.0, "cancel", 1 << 30, shared=True)
    raced = Raced(script, told, [], code, text, struck=None, taken=None, wrong=list(wrong), **given)
    return judge(raced).problems()


@pytest.mark.parametrize(
    ("code", "text", "wrong", "told"),
    [
        (0, PLAN, (), True),
        (0, PLAN, ("exa1cel02",), False),
        (2, "", ("exa1cel02",), False),
        (2, PLAN, ("exa1cel02",), False),
        (2, PLAN + REFUSED, ("exa1cel01", "exa1cel02", "exa1cel03"), True),
        (1, PLAN + FAILED, ("exa1cel02", "exa1cel03"), True),
        (1, PLAN + FAILED, ("exa1cel01", "exa1cel02"), False),
        (1, PLAN + "exacell: the lock of rack t1 was taken over by maria\n", ("exa1cel01",), True),
    ],
)
def test_whoever_lost_a_race_has_to_be_told(code: int, text: str, wrong: tuple[str, ...], told: bool) -> None:
    """A plan, which names all cells before anything happens, tells nobody that a cell is not as intended."""
    assert bool(_problems(code=code, text=text, wrong=wrong)) is not told


@pytest.mark.parametrize(("text", "told"), [("disk group PP: ORA-15027\n", True), (PLAN + FAILED, False)])
def test_a_disk_group_has_to_be_named(text: str, told: bool) -> None:
    """Where a disk group stays, it is what has to be named."""
    assert bool(_problems(code=1, text=text, kind="diskgroup")) is not told


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (1, "exa1cel02: it was sent 0.8s after the check\n", True),
        (0, "it was sent 0.8s after the check\n", False),
        (1, FAILED, False),
    ],
)
def test_a_look_that_was_old_by_our_own_clock_has_to_be_told(code: int, text: str, told: bool) -> None:
    """A statement that left late by the journal, or whose sending was noted late, is told as a failure."""
    assert bool(_problems(code=code, text=text, wrong=(), own_ages=[("exa1cel02", 832.0)])) is not told
    assert not _problems(code=0, text="", wrong=(), own_ages=[("exa1cel02", 180.0)])


@pytest.mark.parametrize("code", [None, 70, -9])
def test_a_process_that_does_not_end_by_itself_has_not_survived(code: int | None) -> None:
    """A process that had to be ended, crashed or was killed is a race that was not survived, whatever became of the cells."""
    assert _problems(code=code, text="", wrong=())


def test_a_look_counts_that_the_statements_own_program_took() -> None:
    """Reads by other programs between look and statement are nobody's look, and none stands for one that was not taken."""
    from races_rack import Told

    def told(at: float, run: int, text: str) -> Told:
        return Told(at, "exa1cel02", "celladmin", run, text, looked=at)

    ours, others, drop = told(1.0, 1, "list flashcache"), told(1.1, 2, "list celldisk"), told(1.2, 1, "DROP FLASHCACHE")
    assert _problems(code=0, text="", wrong=(), told=[ours, others, drop]) == []
    (why,) = _problems(code=0, text="", wrong=(), told=[others, drop])
    assert "had not looked" in why
    (why,) = _problems(
        code=0, text="", wrong=(), told=[told(0.6, 1, "list flashcache"), told(0.7, 2, "list celldisk"), drop]
    )
    assert "0.60s after it was looked at" in why
