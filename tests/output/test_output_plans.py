"""Plans for eyes."""

from dataclasses import replace

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
        title="drop flashcache",
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


def test_what_undo_brings_back_stands_with_what_it_does_not() -> None:
    """A change that undo takes back should not be called final for what is not worth it."""
    back = {c: (f"create {c}_FLASHCACHE",) for c in CELLS}
    text = "\n".join(plan_lines(plan(inverse=back), width=200))
    assert "Undo: create {cell}_FLASHCACHE (exa1cel[01-03]), but what {cell} had cached is gone" in text
    assert "Cannot be undone" not in text
    # Where one cell has nothing that is sent, nothing is promised for all of them; where it has something else, each its own.
    assert "Cannot be undone" in "\n".join(plan_lines(plan(inverse={CELLS[0]: back[CELLS[0]]})))
    text = "\n".join(plan_lines(plan(inverse=back | {CELLS[2]: ("x",)}), width=200))
    assert "Undo: create {cell}_FLASHCACHE (exa1cel[01-02]), but what {cell} had cached is gone" in text
    assert "Undo: x (exa1cel03), but what exa1cel03 had cached is gone" in text and "Cannot be undone" not in text


def test_a_plan_that_undo_takes_back_whole_says_with_what() -> None:
    """Where nothing is lost for good the plan names what undo sends, cells with the same text once; a long text is
    summed up, and where undo has nothing to send the plan tells what takes it back by hand."""
    step = {"what": "set", "undo": Undo.STATEMENT, "inverse": "back"}
    stages = (Stage(title="set", steps=tuple(Step(target=c, statement="S", **step) for c in CELLS)),)  # type: ignore[arg-type]

    def undo_lines(back: dict[str, tuple[str, ...]]) -> list[str]:
        return [line for line in plan_lines(plan(stages=stages, inverse=back), width=200) if "ndo" in line]

    assert undo_lines({c: (f"drop {c}_X",) for c in CELLS}) == ["  Undo: drop {cell}_X (exa1cel[01-03])"]
    assert undo_lines({CELLS[0]: ("a", "b")}) == [
        "  By hand: back (exa1cel[02-03]); undo does not send it",
        "  Undo: a; b (exa1cel01)",
    ]
    assert undo_lines(dict.fromkeys(CELLS, ("x" * 161,))) == ["  Undo: undo takes all of it back (exa1cel[01-03])"]
    assert undo_lines({}) == ["  By hand: back (exa1cel[01-03]); undo does not send it"]


def test_a_statement_that_is_too_long_for_the_title_is_indented() -> None:
    """The title's further lines stand right of its first, so that nothing else looks like them."""
    shown = list(plan_lines(plan(statement="alter iormplan dbplan=" + "(name=SPOT,share=8)," * 8), width=80))
    first_stage = next(index for index, line in enumerate(shown) if line.startswith(" 1. "))
    assert first_stage > 1 and all(line.startswith("    ") for line in shown[1:first_stage])


def test_a_limit_of_the_flush_is_told() -> None:
    """With --limit the plan says how long the flush is waited for and what happens then."""
    step = Step(
        target="c1", statement="ALTER FLASHCACHE ALL FLUSH NOWAIT", what="flush", watch=Watch.FLUSH, limit=300.0
    )
    shown = "\n".join(plan_lines(plan(stages=(Stage(title="flush", steps=(step,)),)), width=200))
    assert "complete and proven, at most 5m00s: then it is cancelled and caching comes back" in shown


def test_sizes_are_rounded_for_eyes_and_never_in_what_is_sent() -> None:
    """A size with more than four decimals is rounded in changes and notes; the statement has it exactly, and two sizes
    that rounding would make equal are shown exactly."""
    exact, near = "23.28692626953125T", "23.28692526953125T"
    changes = (
        Change(object="flashcache", name="fc", attribute="size", before=exact, after="2T"),
        Change(object="griddisk", name="gd", attribute="size", before=exact, after=near),
    )
    step = Step(target="c1", statement=f"CREATE FLASHCACHE ALL size={exact}", what="create", changes=changes)
    lines = plan_lines(plan(stages=(Stage(title="create", steps=(step,)),), notes=(f"it was {exact}",)), width=200)
    shown = "\n".join(lines)
    assert f"CREATE FLASHCACHE ALL size={exact}" in shown and "Note: it was 23.287T" in shown
    assert "fc size: 23.287T -> 2T" in shown and f"gd size: {exact} -> {near}" in shown


def test_what_undo_sends_is_told_once_with_all_that_it_does_not_bring_back() -> None:
    """Two reasons on the same cells share one Undo line."""
    steps = [
        Step(target="c1", statement=f"S{n}", what=f"s{n}", undo=Undo.IMPOSSIBLE, inverse=f"reason {n}") for n in (1, 2)
    ]
    stages = tuple(Stage(title=f"stage {n}", steps=(step,)) for n, step in enumerate(steps))
    shown = list(plan_lines(plan(stages=stages, inverse={"c1": ("resize flashcache size=1G",)}), width=200))
    assert [line for line in shown if "Undo:" in line] == [
        "  Undo: resize flashcache size=1G (c1), but reason 1; reason 2"
    ]
    without = [line for line in plan_lines(plan(stages=stages), width=200) if "undone" in line]
    assert without == ["  Cannot be undone: reason 1 (c1)", "  Cannot be undone: reason 2 (c1)"]


def test_a_disk_group_that_goes_is_not_called_a_missing_mirror() -> None:
    """Where a disk group alone goes the risk names it; where disks go offline, in ASM or on a cell, it is the mirror."""
    gone = Change(object="diskgroup", name="X", attribute="state", before="MOUNTED", after="-")
    drop = Step(
        target="db1", asm="main", statement="DROP DISKGROUP X", what="drop", risk=Risk.REDUNDANCY, changes=(gone,)
    )
    away = replace(drop, changes=(replace(gone, attribute="mode", after="OFFLINE"),))
    off = Step(target="c1", statement="ALTER GRIDDISK ALL INACTIVE", what="off", risk=Risk.REDUNDANCY, offline=True)
    alone = "\n".join(plan_lines(plan(stages=(Stage(title="drop", steps=(drop,)),)), width=200))
    both = "\n".join(plan_lines(plan(stages=(Stage(title="drop", steps=(drop, off)),)), width=200))
    disks = "\n".join(plan_lines(plan(stages=(Stage(title="off", steps=(away,)),)), width=200))
    assert "Risk: redundancy: a mirror may be missing" in disks
    assert "Risk: redundancy: a disk group goes away" in alone and "Risk: redundancy: a mirror may be missing" in both
