"""What undo refuses, what it looks at before it takes anything back, and the statements by which it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from engine_desk import Desk, Left, told
from engine_fakes import CELLS, NODES, Bench

from exacell.errors import ExitCode, RefusedError
from exacell.plan.model import Check, Op, Step, Undo
from exacell.undoing import undo

ONE, TWO, THREE = CELLS
OVER = {"exitCode": 0, "done": {"done": 1}}


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A session with an empty journal."""
    return Desk(bench)


def step(target: str, undoing: Undo = Undo.STATEMENT, inverse: str = "", **more: object) -> Step:
    given = {"what": "change it", "statement": "ALTER CELL x=1", **more}
    return Step(target=target, undo=undoing, inverse=inverse, **given)  # type: ignore[arg-type]


def node(target: str, undoing: Undo = Undo.STATEMENT, inverse: str = "", **more: object) -> Step:
    return step(target, undoing, inverse, asm="main", **{"statement": "ALTER DISKGROUP DATA MOUNT", **more})


NEVER = Undo.IMPOSSIBLE

IMPOSSIBLE: list[tuple[list[Step], dict[str, str], str]] = [
    ([step(ONE)], {}, "cannot be undone: no inverse was recorded; nothing was sent"),
    ([step(ONE, Undo.NOTHING)], {}, "cannot be undone: it left nothing behind; nothing was sent"),
    ([step(ONE, NEVER, "the files are gone")], {}, "cannot be undone: the files are gone; nothing was sent"),
    ([node(NODES[0], NEVER, "the group is gone")], {}, "cannot be undone: the group is gone; nothing was sent"),
    # The reason is that of the first step that has one, not an inverse statement and not an empty word.
    (
        [step(ONE, inverse="ALTER CELL x=0"), step(ONE, NEVER, what="b"), step(ONE, NEVER, "it is gone", what="c")],
        {},
        "cannot be undone: it is gone; nothing was sent",
    ),
    # Where one cell's part can't be taken back, its reason is told and not that of a cell whose part can.
    (
        [step(ONE, NEVER, "one's reason"), step(TWO, NEVER, "two's reason")],
        {ONE: "alter cell x=0"},
        "cannot be undone on exa1cel02: two's reason; nothing was sent",
    ),
]


@pytest.mark.parametrize(("steps", "inverse", "said"), IMPOSSIBLE)
def test_what_has_no_way_back_is_refused(desk: Desk, steps: list[Step], inverse: dict[str, str], said: str) -> None:
    """A change that, somewhere or as a whole, can't be taken back is refused with the reason; nothing is carried out."""
    back = {target: (statement,) for target, statement in inverse.items()}
    desk.left(Left("alter it", [(item, "done") for item in steps], back, OVER))
    with pytest.raises(RefusedError) as refused:
        undo(desk, [1], {})
    assert told(refused.value) == f"change 1 (alter it) {said}"
    assert desk.done == []


def test_what_was_refused_everywhere_is_not_called_impossible(desk: Desk) -> None:
    """A change without an inverse of which nothing was done changed nothing: that is said, and it counts as undone."""
    desk.left(Left("alter it", [(step(ONE, NEVER, "it is gone"), "failed: CELL-1: no")], {}, OVER))
    assert undo(desk, [1], {}).exit_code is ExitCode.DONE
    assert "change 1 (alter it) changed nothing, so there is nothing to take back" in desk.bench.console.said
    with pytest.raises(RefusedError, match="change 1 of rack t1 is undone already"):
        undo(desk, [1], {})
    assert desk.done == []


BACK, MORE = "alter iormplan objective=auto", "enable flashlog db=SPOT"

STATEMENTS: list[tuple[list[tuple[Step, str]], dict[str, tuple[str, ...]], list[str]]] = [
    ([(step(cell), "done") for cell in CELLS], dict.fromkeys(CELLS, (BACK,)), [f"on exa1cel[01-03] {BACK}"]),
    # Only where something was done, or may have been.
    (
        [(step(ONE), "done"), (step(TWO), "refused"), (step(THREE), "none")],
        dict.fromkeys(CELLS, (BACK,)),
        [f"on exa1cel01 {BACK}"],
    ),
    (
        [(step(ONE), "unknown"), (step(TWO), "failed: half")],
        dict.fromkeys(CELLS, (BACK,)),
        [f"on exa1cel[01-02] {BACK}"],
    ),
    # Cells with the same way back go together, in order.
    (
        [(step(cell), "done") for cell in CELLS],
        {ONE: (BACK, MORE), TWO: (MORE,), THREE: (BACK, MORE)},
        [f"on exa1cel[01,03] {BACK}", f"on exa1cel[01,03] {MORE}", f"on exa1cel02 {MORE}"],
    ),
    # ASM's way back is one statement for all nodes, and no cells are named.
    (
        [(node(name), "done") for name in NODES],
        {NODES[0]: ("drop diskgroup DATA",)},
        ["drop diskgroup DATA"],
    ),
]


@pytest.mark.parametrize(("steps", "inverse", "done"), STATEMENTS)
def test_the_statements_that_take_a_change_back(
    desk: Desk, steps: list[tuple[Step, str]], inverse: dict[str, tuple[str, ...]], done: list[str]
) -> None:
    """Undo carries out each recorded way back, once for the cells that share it, and only where something was done."""
    desk.left(Left("alter it", steps, inverse, OVER))
    assert undo(desk, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == done


def proving(size: str) -> tuple[Check, ...]:
    return (Check(object="flashcache", attribute="size", value=int(size)),)


MOUNTED = (Check(object="asm.diskgroup", op=Op.COUNT, value=1, where={"name": "DATA"}, why="it was made"),)


def dropped(bench: Bench) -> None:
    bench.transport.asm.groups.clear()


def grown(bench: Bench) -> None:
    bench.transport.cells[ONE].tables["flashcache"][0]["size"] = "99"


def silent(bench: Bench) -> None:
    bench.transport.silent = {ONE}


def nothing(bench: Bench) -> None:
    pass


CACHE = step(ONE, proves=proving("42949672960"))
GROUP = node(NODES[0], proves=MOUNTED)
GONE = "undo of change 1 (alter it): "

MOVED: list[tuple[Step, Callable[[Bench], None], str]] = [
    (CACHE, nothing, ""),
    (CACHE, grown, f"{GONE}exa1cel01: flashcache exa1cel01_FLASHCACHE: size is 99, not 42949672960"),
    (CACHE, silent, f"{GONE}exa1cel01: no route to host"),
    (CACHE, dropped, ""),
    (GROUP, nothing, ""),
    (GROUP, dropped, f"{GONE}exa1db01: "),
    (GROUP, grown, ""),
    # A cell that is not in the rack any more can't be asked, and its part can't be taken back by name.
    (replace(CACHE, target="gone01"), nothing, ""),
]


@pytest.mark.parametrize(("made", "meanwhile", "said"), MOVED)
def test_what_somebody_changed_since_is_not_taken_back(
    desk: Desk, made: Step, meanwhile: Callable[[Bench], None], said: str
) -> None:
    """What the change left must still be there, on the cell or in ASM: else undo is refused, naming what has moved."""
    desk.left(Left("alter it", [(made, "done")], {made.target: (BACK,)}, OVER))
    meanwhile(desk.bench)
    if not said:
        assert undo(desk, [1], {}).exit_code is ExitCode.DONE
        assert len(desk.done) == 1
        return
    with pytest.raises(RefusedError) as refused:
        undo(desk, [1], {})
    assert told(refused.value).startswith(said)
    # Of a cell that does not answer nobody knows whether it has moved.
    moved = "it has been changed since; nothing was sent | undo the later change first"
    unread = "whether it has been changed since can't be read; nothing was sent | undo 1, when it answers"
    assert (unread if "no route to host" in said else moved) in told(refused.value)
    assert desk.done == []


def test_what_had_no_plan_is_not_taken_back(desk: Desk) -> None:
    """Undo of a dcli or sh should name it, say that nothing tells what was there before, and what the user can do."""
    desk.left(Left("dcli -c x reboot", [(step(ONE), "done")], end=OVER, plan=False))
    with pytest.raises(RefusedError) as refused:
        undo(desk, [1], {})
    assert told(refused.value).startswith(
        "change 1 (dcli -c x reboot) has no plan in the journal that tells what was there"
    )
    assert "nothing was sent | journal show 1 tells what it carried" in told(refused.value)
    assert desk.done == []
