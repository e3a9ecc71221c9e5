"""Plans for eyes."""

import pytest

from exacell.output.plans import plan_lines
from exacell.plan.model import Change, Gate, Plan, Risk, Stage, Step, Undo, Watch

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")


def plan(**extra: object) -> Plan:
    flush = Stage(
        title="flush the flash cache",
        key="flush",
        steps=tuple(
            Step(target=c, statement="ALTER FLASHCACHE ALL FLUSH NOWAIT", what="flush", watch=Watch.FLUSH)
            for c in CELLS
        ),
    )
    drop = Stage(
        title="drop the flash cache",
        key="drop",
        gate=Gate.ALL,
        steps=tuple(
            Step(
                target=c,
                statement="DROP FLASHCACHE",
                what="drop",
                risk=Risk.PERFORMANCE,
                undo=Undo.IMPOSSIBLE,
                inverse=f"what {c} had cached is gone",
                changes=(
                    Change(
                        object="flashcache",
                        name=f"{c}_FLASHCACHE",
                        attribute="size",
                        before="364.75G",
                        after="" if c != "exa1cel03" else "1G",
                    ),
                ),
            )
            for c in CELLS
        ),
    )
    mend = Stage(
        title="bring caching back",
        gate=Gate.MEND,
        mends="flush",
        unless="drop",
        steps=tuple(Step(target=c, statement="ALTER FLASHCACHE ALL CANCEL FLUSH", what="mend") for c in CELLS),
    )
    given = {"statement": "resize flashcache size=288g", "rack": "t1", "stages": (flush, drop, mend), **extra}
    return Plan(**given)  # type: ignore[arg-type]


def test_equal_targets_are_folded_and_the_different_one_is_not() -> None:
    """Three cells with one statement are one line; the cell whose change differs has its own."""
    shown = "\n".join(plan_lines(plan()))
    assert "on exa1cel[01-03]: ALTER FLASHCACHE ALL FLUSH NOWAIT" in shown
    assert "on exa1cel[01-02]: DROP FLASHCACHE" in shown and "on exa1cel03: DROP FLASHCACHE" in shown
    assert "flashcache {cell}_FLASHCACHE size: 364.75G -> nothing" in shown
    assert "flashcache exa1cel03_FLASHCACHE size: 364.75G -> 1G" in shown


def test_what_matters_before_confirming_is_there() -> None:
    """Notes, warnings, what is done already or not applicable, what can't be undone, risk and time are all shown."""
    shown = "\n".join(
        plan_lines(
            plan(
                notes=("16 disks of 18G",),
                warnings=("caching is off meanwhile",),
                done={"exa1cel04": "exa1cel04 has 288G already", "exa1cel05": "exa1cel05 has 288G already"},
                skipped={"exa1cel09": "no flash"},
                risk=Risk.DATA,
                loss=("DATA",),
                estimate=200.0,
            )
        )
    )
    for part in (
        "Note: 16 disks of 18G",
        "Warning: caching is off meanwhile",
        "Already as wanted: exa1cel[04-05]: {cell} has 288G already",
        "Not applicable: exa1cel09: no flash",
        "Cannot be undone: what {cell} had cached is gone (exa1cel[01-03])",
        "--accept-data-loss=DATA",
        "DATA WILL BE LOST",
        "roughly 3m20s",
        "only if the plan stops after 'flush the flash cache'",
    ):
        assert part in shown, part


def test_many_objects_of_one_change_are_one_line() -> None:
    """Sixteen grid disks with the same change are one line with folded names and their number."""
    changes = tuple(
        Change(object="griddisk", name=f"p_FD_{n:02}_exa1cel01", attribute="size", before="", after="4912M")
        for n in range(16)
    )
    step = Step(target="exa1cel01", statement="CREATE GRIDDISK ALL FLASHDISK PREFIX=p", what="create", changes=changes)
    shown = list(plan_lines(Plan(statement="carve", rack="t1", stages=(Stage(title="create", steps=(step,)),))))
    assert "        griddisk p_FD_[00-15]_exa1cel01 size: nothing -> 4912M (16 objects)" in shown


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """At any width every line fits and no word is lost."""
    long = plan(notes=("a rather long sentence about the arithmetic of flash disks and caches " * 4,))
    shown = list(plan_lines(long, width=width))
    assert max(map(len, shown)) <= width
    assert sum(line.split().count("arithmetic") for line in shown) == 4


def test_an_empty_plan_says_so() -> None:
    """A plan without stages says that there is nothing to do and shows no risk."""
    shown = "\n".join(plan_lines(Plan(statement="x", rack="t1", done={"c1": "it is so already"})))
    assert "Nothing to do." in shown and "Risk" not in shown


def test_database_nodes_show_their_cluster() -> None:
    """SQL steps name the ASM cluster and show the whole statement."""
    step = Step(target="exa1db01", statement="CREATE DISKGROUP X\n NORMAL REDUNDANCY", what="create", asm="main")
    shown = "\n".join(plan_lines(Plan(statement="x", rack="t1", stages=(Stage(title="create", steps=(step,)),))))
    assert "on exa1db01 (ASM main): CREATE DISKGROUP X" in shown and "NORMAL REDUNDANCY" in shown
