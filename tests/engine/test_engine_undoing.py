"""What undo refuses, what it looks at before it takes anything back, and the statements by which it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from engine_desk import Desk, Left, told
from engine_fakes import CELLS, NODES, Bench

from exacell.cellcli.fold import for_cell
from exacell.change import undoing
from exacell.change.earlier import newest_to_undo, refuse_running
from exacell.change.pending import pending
from exacell.change.recipeready import Ready, ReadyLine
from exacell.change.reciperun import RecipeRunner
from exacell.change.resuming import resume, retry, unfinished
from exacell.change.running import intent
from exacell.change.undoing import undo
from exacell.commands.change import undo_run
from exacell.core.errors import ExitCode, MovedError, RefusedError
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.line import Line, parse_line
from exacell.language.registry import Value
from exacell.output.result import Result
from exacell.plan.model import Check, Op, Step, Undo
from exacell.recipes.filled import line_of
from exacell.session.request import Request
from tests.support.recipes import parse_recipe

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
    ([step(ONE)], {}, "cannot be undone: no statement takes it back; nothing was sent"),
    ([step(ONE, Undo.NOTHING)], {}, "cannot be undone: there is nothing to take back; nothing was sent"),
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
        undo(desk.session, desk, desk.request, [1], {})
    left_something = any(item.undo is not Undo.NOTHING for item in steps)
    way = " | `journal show 1` shows what it did" if left_something else ""
    assert told(refused.value) == f"change 1 (alter it) {said}{way}"
    assert desk.done == []


def test_what_was_refused_everywhere_is_not_called_impossible(desk: Desk) -> None:
    """A change without an inverse of which nothing was done changed nothing: that is said, and it counts as undone."""
    desk.left(Left("alter it", [(step(ONE, NEVER, "it is gone"), "failed: CELL-1: no")], {}, OVER))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert "change 1 (alter it) changed nothing, so there is nothing to take back" in desk.bench.console.said
    with pytest.raises(RefusedError, match="change 1 of rack t1 is already undone"):
        undo(desk.session, desk, desk.request, [1], {})
    assert desk.done == []


@pytest.mark.parametrize("attempts", [0, 1])
def test_what_a_gate_stopped_before_anything_was_sent_is_over_once_undone(desk: Desk, attempts: int) -> None:
    """Undo of a change that sent nothing, and of the resumes that sent nothing either, ends it: nothing is pending then."""
    halted = {"exitCode": 2, "done": {"refused": 1}, "stopped": "the gate stayed closed"}
    first = Left("alter it", [(step(ONE), "none")], {ONE: (BACK,)}, halted)
    desk.left(first, *[replace(first, body={"finishes": 1, "origin": "resume 1"})] * attempts)
    assert [item.change for item in pending(desk.journal, "t1")] == [1 + attempts]
    assert undo(desk.session, desk, desk.request, [newest_to_undo(desk.session, desk)], {}).exit_code is ExitCode.DONE
    assert "change 1 (alter it) changed nothing, so there is nothing to take back" in desk.bench.console.said
    assert not pending(desk.journal, "t1")
    assert resume(desk.session, desk, desk.request, {}).notes == ["nothing is unfinished"]
    assert [row.change for row in desk.journal.because_of("t1", 1)] == [2] * attempts
    if attempts:
        with pytest.raises(RefusedError, match="change 2 of rack t1 continued change 1, which is already undone"):
            undo(desk.session, desk, desk.request, [2], {})
    assert desk.done == []


def test_what_undo_needs_first_is_part_of_the_undo(desk: Desk) -> None:
    """Disks that a change left inactive are brought back before it is taken back, and both belong to the undo: when the first
    is cut off, an undo without a number means the same change."""
    away = step(ONE, Undo.NOTHING, what="away", statement="ALTER GRIDDISK ALL INACTIVE")
    again = step(ONE, Undo.NOTHING, what="again", statement="ALTER GRIDDISK ALL ACTIVE")
    desk.left(
        Left("alter it", [(away, "done"), (step(ONE), "done"), (again, "failed: CELL-1: no")], {ONE: (BACK,)}, OVER)
    )
    desk.bench.transport.cells[ONE].tables["griddisk"].append({"name": "DATA_CD_00", "status": "inactive"})
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert desk.done[:2] == [f"online cell {ONE}", f"on {ONE} {BACK}"]
    assert set(desk.origins[:2]) == {"undo 1"}


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
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
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
    (CACHE, grown, f"{GONE}exa1cel01: flashcache exa1cel01_FLASHCACHE: size is 99, not 40G"),
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
        assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
        assert len(desk.done) == 1
        return
    with pytest.raises(RefusedError) as refused:
        undo(desk.session, desk, desk.request, [1], {})
    assert told(refused.value).startswith(said)
    # Of a cell that does not answer nobody knows whether it has moved.
    assert isinstance(refused.value, MovedError) is ("no route to host" not in said)
    moved = "it has been changed since; nothing was sent | undo the later change first"
    unread = "exacell can't read whether it was changed since; nothing was sent | type `undo 1` when it answers"
    assert (unread if "no route to host" in said else moved) in told(refused.value)
    assert desk.done == []


def test_what_had_no_plan_is_not_taken_back(desk: Desk) -> None:
    """Undo of a dcli or sh should name it, say that nothing tells what was there before, and what the user can do."""
    desk.left(Left("dcli -c x reboot", [(step(ONE), "done")], end=OVER, plan=False))
    with pytest.raises(RefusedError) as refused:
        undo(desk.session, desk, desk.request, [1], {})
    assert told(refused.value).startswith("change 1 (dcli -c x reboot) has no plan with the old values")
    assert "nothing was sent | `journal show 1` shows what it did" in told(refused.value)
    assert desk.done == []


def test_a_resume_that_was_killed_is_over_once_its_change_is_undone(desk: Desk) -> None:
    """Undo of a change that was stopped, and whose resume was killed, ends both: nothing is told and nothing resumed then."""
    halted = {"exitCode": 4, "done": {"skipped": 1}}
    first = Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, halted)
    again = replace(first, end=None, body={"finishes": 1, "origin": "resume 1"})
    desk.left(first, again)
    assert [item.change for item in pending(desk.journal, "t1")] == [2]
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert not pending(desk.journal, "t1")
    assert resume(desk.session, desk, desk.request, {}).notes == ["nothing is unfinished"]


@pytest.mark.parametrize("verb", ["resume", "retry"])
def test_a_stopped_change_that_was_gone_on_with_is_not_resumed_by_its_number(desk: Desk, verb: str) -> None:
    """resume N refuses a change that was stopped and that resume or retry failed has brought to its end since."""
    first = Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, {"exitCode": 4, "done": {"skipped": 1}})
    desk.left(
        first, replace(first, end={"exitCode": 0, "done": {"done": 1}}, body={"finishes": 1, "origin": f"{verb} 1"})
    )
    with pytest.raises(RefusedError, match="change 1 of rack t1 is not unfinished"):
        resume(desk.session, desk, desk.request, {}, change=1)
    assert desk.done == []


def test_a_stopped_resume_of_an_undone_change_is_not_gone_on_with(desk: Desk) -> None:
    """resume N refuses a resume that was stopped when the change that it continued has been taken back since."""
    halted = {"exitCode": 4, "done": {"skipped": 1}}
    first = Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, halted)
    desk.left(first, replace(first, body={"finishes": 1, "origin": "resume 1"}))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    desk.done.clear()
    with pytest.raises(RefusedError, match="change 2 of rack t1 is not unfinished"):
        resume(desk.session, desk, desk.request, {}, change=2)
    assert desk.done == []


TWICE = {ONE: (BACK,), TWO: (MORE,)}
PARTS = [(step(ONE), "done"), (step(TWO), "done")]
HALF = "undo of change 1 (alter it) ended before everything was taken back: `undo 1` continues"


OWN: list[tuple[str, list[str]]] = [
    # CREATE, too, and the disk that a grid disk is on; in capitals, as ASM spells it.
    ("ALTER GRIDDISK D_00_{cell},D_01_{cell} comment='x'", ["on exa1cel[01-03] {}"]),
    ("CREATE GRIDDISK P_00_{cell} celldisk=CD_00_{cell}, size=16M", ["on exa1cel[01-03] {}"]),
    ("DROP GRIDDISK D_00_{CELL}", ["on exa1cel[01-03] {}"]),
    ("release griddisk name=D_00_{cell},D_01_{cell}", ["on exa1cel[01-03] {}"]),
    ("release griddisk prefix={cell}", ["on exa1cel01 {}", "on exa1cel02 {}", "on exa1cel03 {}"]),
    # {cell} would stay as it is in a value, and in what is no disk.
    ("ALTER GRIDDISK D_00_{cell} comment='of {cell}'", ["on exa1cel01 {}", "on exa1cel02 {}", "on exa1cel03 {}"]),
    ("online cell {cell}", ["on exa1cel01 {}", "on exa1cel02 {}", "on exa1cel03 {}"]),
    ("ALTER CELL name={cell}", ["on exa1cel01 {}", "on exa1cel02 {}", "on exa1cel03 {}"]),
]


@pytest.mark.parametrize(("inverse", "statements"), OWN, ids=[inverse for inverse, _ in OWN])
def test_what_differs_only_in_the_cells_own_name_is_asked_for_once(
    desk: Desk, inverse: str, statements: list[str]
) -> None:
    """Undo takes disks whose names hold the cell's own back by one statement for all cells, where each cell would get the
    very same as by its own; elsewhere by one a cell."""
    back = {cell: (for_cell(inverse, cell),) for cell in CELLS}
    desk.left(Left("alter it", [(step(cell), "done") for cell in CELLS], back, OVER))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    several = len(statements) > 1
    assert desk.done == [
        text.format(for_cell(inverse, cell) if several else inverse)
        for text, cell in zip(statements, CELLS, strict=False)
    ]


def test_a_cell_that_gets_another_value_back_is_a_statement_of_its_own(desk: Desk) -> None:
    """Only cells that get the same back are taken back together, and one cell alone is called by its name."""
    text = "ALTER GRIDDISK D_00_{cell} comment="
    back = {ONE: f"{text}'x'", TWO: f"{text}'y'", THREE: f"{text}'x'"}
    inverse = {cell: (for_cell(statement, cell),) for cell, statement in back.items()}
    desk.left(Left("alter it", [(step(cell), "done") for cell in CELLS], inverse, OVER))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on exa1cel[01,03] {text}'x'", "on exa1cel02 ALTER GRIDDISK D_00_exa1cel02 comment='y'"]


def test_an_interrupted_undo_begins_no_further_statement(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during the first of two statements of an undo lets that end, begins no second, and says how it goes on."""
    desk.left(Left("alter it", PARTS, TWICE, OVER))
    carried_out = desk.execute

    def interrupted(line: Line, request: Request) -> Result:
        desk.session.interrupted.set()
        return carried_out(line, request)

    monkeypatch.setattr(desk, "execute", interrupted)
    result = undo(desk.session, desk, desk.request, [1], {})
    assert (result.exit_code, desk.done) == (ExitCode.INTERRUPTED, [f"on {ONE} {BACK}"])
    assert "interrupted: nothing more was started; `undo 1` continues" in result.notes


def is_undone(desk: Desk) -> bool:
    return any(entry.kind == "undone" for entry in desk.journal.entries(change=1))


@pytest.mark.parametrize("code", [ExitCode.FAILED, ExitCode.NOT_EXECUTED, ExitCode.INTERRUPTED])
def test_an_undo_goes_on_behind_no_statement_that_failed(desk: Desk, code: ExitCode) -> None:
    """Where the first of two statements of an undo does not end well, no second is sent and the change is not taken back."""
    desk.left(Left("alter it", PARTS, TWICE, OVER))
    desk.code = code
    assert (undo(desk.session, desk, desk.request, [1], {}).exit_code, desk.done) == (code, [f"on {ONE} {BACK}"])
    assert not is_undone(desk)


@pytest.mark.parametrize(("inverse", "told_then"), [(TWICE, True), ({ONE: (BACK,)}, False)])
def test_an_interrupted_statement_of_an_undo_says_how_it_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, inverse: dict[str, tuple[str, ...]], told_then: bool
) -> None:
    """Ctrl-C that cuts a statement off is told with what is left of the undo; behind the last one only that is cut off."""
    desk.left(Left("alter it", PARTS[: len(inverse)], inverse, OVER))
    cut = Result(exit_code=ExitCode.INTERRUPTED)
    monkeypatch.setattr(desk, "execute", lambda line, _: desk.session.interrupted.set() or cut)
    result = undo(desk.session, desk, desk.request, [1], {})
    assert result.exit_code is ExitCode.INTERRUPTED and not is_undone(desk)
    assert ("interrupted: nothing more was started; `undo 1` continues" in result.notes) is told_then


@pytest.mark.parametrize(("flags", "rolling"), [({}, 2), ({"no-rolling": True}, None), ({"rolling": 1}, 1)])
def test_an_undo_rolls_as_the_change_did(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, flags: dict[str, Value], rolling: int | None
) -> None:
    """A change is taken back in waves as large as its own were, unless it is told otherwise."""
    desk.left(Left("alter it", PARTS, TWICE, OVER))
    monkeypatch.setattr(undoing, "flags_again", lambda body: {"rolling": 2})
    asked: list[object] = []
    monkeypatch.setattr(desk, "execute", lambda line, _: asked.append(line.flags.get("rolling")) or Result())
    undo(desk.session, desk, desk.request, [1], flags)
    assert asked == [rolling, rolling]


def test_what_comes_of_bringing_disks_back_is_told_behind_an_undo(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where disks stay away though the change is taken back, that is part of the answer and of the exit code."""
    desk.left(Left("alter it", PARTS, TWICE, OVER))
    away = Result(problems=["ASM dropped 2 of its grid disks"], exit_code=ExitCode.FAILED)
    monkeypatch.setattr(undoing, "bring_back", lambda *given: away)
    result = undo(desk.session, desk, desk.request, [1], {})
    assert (list(result.problems), result.exit_code, is_undone(desk)) == (away.problems, ExitCode.FAILED, True)


def test_an_interruption_after_the_last_statement_stops_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during the last statement of an undo finds nothing left to stop: the change is taken back."""
    desk.left(Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, OVER))
    monkeypatch.setattr(desk, "execute", lambda line, _: desk.session.interrupted.set() or Result())
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert any(entry.kind == "undone" for entry in desk.journal.entries(change=1))


UNDO = {"origin": "undo 1"}
ATTEMPTS = [
    (Left("alter it", PARTS[:1], end=OVER, body=UNDO), [HALF]),
    # What is told of one that never ended, or was stopped, is told once.
    (Left("alter it", PARTS[:1], body=UNDO), ["change 2 (alter it) never ended: resume finishes it"]),
    (Left("alter it", PARTS[:1], end={"exitCode": 1, "done": {"failed": 1}}, body=UNDO), []),
    (Left("alter it", PARTS[:1], end=OVER, body=UNDO | {"pid": "1", "started": ""}), []),
    (Left("alter it", PARTS[:1], end=OVER, body={"origin": "after undo 1"}), []),
]


@pytest.mark.parametrize(("attempt", "told_then"), ATTEMPTS)
def test_an_undo_that_ended_half_way_is_told_and_gone_on_with(desk: Desk, attempt: Left, told_then: list[str]) -> None:
    """A process that took back a part of a change and is gone before the rest is told of; resume takes back the rest."""
    desk.left(Left("alter it", PARTS, TWICE, OVER), attempt)
    assert [item.sentence for item in pending(desk.journal, "t1")] == told_then
    if told_then == [HALF]:
        assert resume(desk.session, desk, desk.request, {}).exit_code is ExitCode.DONE
        assert desk.done == [f"on {ONE} {BACK}", f"on {TWO} {MORE}"]
        assert not pending(desk.journal, "t1")


def test_an_undo_that_is_under_way_is_not_begun_a_second_time(desk: Desk) -> None:
    """While a living process takes a change back, nobody else does: the process is named."""
    desk.left(Left("alter it", PARTS, TWICE, OVER), Left("alter it", [(step(ONE), "open")], body=actor() | UNDO))
    with pytest.raises(RefusedError, match=r"change 2 \(alter it\) is being run by process"):
        undo(desk.session, desk, desk.request, [1], {})
    assert desk.done == []


def test_an_undo_that_ended_half_way_is_told_in_its_own_session_too(desk: Desk) -> None:
    """A session that lives on after an undo which was interrupted between two statements is told of it itself."""
    desk.left(Left("alter it", PARTS, TWICE, OVER), Left("alter it", PARTS[:1], end=OVER, body=actor() | UNDO))
    assert [item.sentence for item in pending(desk.journal, "t1")] == [HALF]


def test_a_killed_resume_is_not_finished_beside_the_undo_that_is_gone_on_with(desk: Desk) -> None:
    """Where a change's resume and then its undo were killed, resume takes back further and finishes nothing."""
    halted = {"exitCode": 4, "done": {"skipped": 1}}
    first = Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, halted)
    again = replace(first, end=None, body={"finishes": 1, "origin": "resume 1"})
    desk.left(first, again, Left(BACK, [(step(ONE), "open")], body=UNDO))
    assert [row.change for row in unfinished(desk.session, desk)] == [3]
    assert resume(desk.session, desk, desk.request, {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on {ONE} {BACK}"]
    assert not pending(desk.journal, "t1")


def test_an_interrupted_resume_begins_no_further_change(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while resume goes on with the first of two changes begins no second one; it stays unfinished."""
    desk.left(*[Left(given, [(step(ONE), "open")], {ONE: (BACK,)}) for given in ("flush flashcache", MORE)])
    carried_out = desk.execute

    def interrupted(line: Line, request: Request) -> Result:
        desk.session.interrupted.set()
        return carried_out(line, request)

    monkeypatch.setattr(desk, "execute", interrupted)
    result = resume(desk.session, desk, desk.request, {})
    assert result.exit_code is ExitCode.INTERRUPTED
    assert desk.done == [f"on {ONE} flush flashcache"]
    assert [item.change for item in pending(desk.journal, "t1")] == [2]


MODE = Check(object="cell", attribute="flashCacheMode", value="writeback")
WHILE_READING: list[tuple[Callable[[Desk], Result], str, str]] = [
    (
        lambda desk: undo(desk.session, desk, desk.request, [1], {}),
        "done",
        "interrupted: nothing more was started; `undo 1` continues",
    ),
    (
        lambda desk: resume(desk.session, desk, desk.request, {}),
        "open",
        "interrupted: nothing was started; `resume 1` continues",
    ),
    (
        lambda desk: retry(desk.session, desk, desk.request, {}),
        "failed: x",
        "interrupted: nothing was started; `retry failed` continues",
    ),
]


@pytest.mark.parametrize(("verb", "state", "note"), WHILE_READING)
@pytest.mark.parametrize("also", ["", "ALTER CELL SHUTDOWN SERVICES CELLSRV"])
def test_an_interruption_while_cells_are_read_begins_nothing(
    desk: Desk, verb: Callable[[Desk], Result], state: str, note: str, also: str
) -> None:
    """Ctrl-C while undo, resume or retry still looks at the cells is not forgotten when it comes to the first statement,
    which may be one that brings back CELLSRV."""
    mode = replace(MODE, value="writeback" if state == "done" else "writethrough")
    one = step(ONE, proves=(mode,))
    desk.left(Left(MORE, [(one, state)], {ONE: (BACK,)}, None if state == "open" else OVER))
    if also:
        desk.journal.append("t1", 1, [intent(step(ONE, what="stop", statement=also))])
        desk.bench.transport.cells[ONE].tables["cell"][0]["cellsrvStatus"] = "stopped"
        note = f"interrupted before: on {ONE} alter cell startup services cellsrv"
    desk.bench.transport.reading = desk.session.interrupted.set
    result = verb(desk)
    assert (desk.done, result.exit_code) == ([], ExitCode.INTERRUPTED)
    assert note in result.notes
    desk.session.interrupted.clear()
    desk.bench.transport.reading = lambda: None
    verb(desk)
    assert desk.done


def test_a_recipe_that_was_interrupted_takes_back_what_it_changed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a recipe's line ends the lines and not its last part: undo run takes back what the line has changed."""
    recipe = parse_recipe("ab", f'recipe "A and B"\nrisk data\n{MORE}\n{MORE}\nfinally\n  undo run\nend\n')
    line = parse_line("run ab")
    assert line is not None and line.call is not None
    carried_out = desk.execute

    def interrupted(given: Line, request: Request) -> Result:
        if not desk.done:
            desk.left(Left(MORE, [(step(ONE), "done")], {ONE: (BACK,)}, OVER))
            desk.session.changes.append(1)
            desk.session.interrupted.set()
        return carried_out(given, request)

    monkeypatch.setattr(desk, "execute", interrupted)
    result = RecipeRunner(
        desk.session,
        desk,
        desk.request,
        Ready(
            recipe=recipe, lines=tuple(ReadyLine(source=each, line=line_of(recipe, each, {})) for each in recipe.lines)
        ),
        line.call,
    ).run()
    assert result.problems == ["recipe ab was interrupted before line 4"]
    assert desk.done == [MORE, f"on {ONE} {BACK}"]


def test_undo_run_takes_back_what_the_session_changed_on_this_rack(desk: Desk) -> None:
    """Of a session that has changed another rack before, what it changed there is left alone and stands in nobody's way."""
    elsewhere = desk.journal.begin("t2", {"statement": "alter it there", **actor()})
    desk.left(Left("alter it", PARTS[:1], {ONE: (BACK,)}, OVER))
    desk.session.changes += [elsewhere, elsewhere + 1]
    line = parse_line("undo run")
    assert line is not None and line.call is not None
    assert undo_run(desk.session, desk, desk.request, line.call).exit_code is ExitCode.DONE
    assert desk.done == [f"on {ONE} {BACK}"]


@pytest.mark.parametrize("body", [{"finishes": 1, "origin": "resume 1"}, UNDO])
def test_what_belongs_to_a_change_that_was_taken_back_is_over(desk: Desk, body: dict[str, object]) -> None:
    """A killed resume or undo is neither told nor gone on with where its change counts as undone behind it, also when the
    process that noted that was killed before it noted their ends; in front of it, it is."""
    part = Left("alter it", [(step(ONE), "open")], {ONE: (BACK,)}, body=body)
    undone = Row(kind="undone", body={})
    desk.left(Left("alter it", PARTS, TWICE, OVER), part)
    desk.journal.append("t1", 1, [undone])
    assert not pending(desk.journal, "t1")
    desk.left(part)
    assert [item.change for item in pending(desk.journal, "t1")] == [3]


@pytest.mark.parametrize(
    "steps",
    [
        [step(ONE, Undo.NOTHING)],
        [step(ONE, NEVER, "gone", what="a", caching_off=True), step(ONE, NEVER, "gone", what="b", caching_on=True)],
    ],
)
def test_a_run_is_taken_back_without_what_left_nothing(desk: Desk, steps: list[Step]) -> None:
    """Of all that a run made, a flush, and a cache that was emptied by making it anew, are named and passed over; alone they
    are refused."""
    desk.left(
        Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, OVER),
        Left("flush it", [(each, "done") for each in steps], {}, OVER),
    )
    with pytest.raises(RefusedError, match="cannot be undone"):
        undo(desk.session, desk, desk.request, [1, 2], {})
    assert undo(desk.session, desk, desk.request, [1, 2], {}, whole=True).exit_code is ExitCode.DONE
    assert "change 2 (flush it) left nothing that can be taken back" in desk.bench.console.said
    assert [text for text in desk.done if BACK in text]


def test_a_run_with_what_can_not_be_taken_back_is_refused_as_a_whole(desk: Desk) -> None:
    """A cache that was dropped and not made again is no emptied one: nothing of the run is taken back then."""
    desk.left(
        Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, OVER),
        Left("drop it", [(step(ONE, NEVER, "gone", caching_off=True), "done")], {}, OVER),
    )
    with pytest.raises(RefusedError, match=r"change 2 .drop it. cannot be undone: gone"):
        undo(desk.session, desk, desk.request, [1, 2], {}, whole=True)
    assert desk.done == []


@pytest.mark.parametrize("moved", [False, True])
def test_what_a_run_put_back_itself_is_looked_at_once_more(desk: Desk, moved: bool) -> None:
    """Changes that left nothing behind are passed over only where it is now as the last of them left it; they count as taken
    back from then on, whatever is changed later."""
    desk.left(
        Left("alter it", [(step(ONE, inverse="B", statement="A"), "done")], {ONE: (BACK,)}, OVER),
        Left("alter it back", [(replace(CACHE, inverse="A", statement="B"), "done")], {ONE: (BACK,)}, OVER),
    )
    if moved:
        grown(desk.bench)
        with pytest.raises(MovedError, match="size is 99, not 40G; it has been changed since"):
            undo(desk.session, desk, desk.request, [1, 2], {}, whole=True)
    else:
        assert undo(desk.session, desk, desk.request, [1, 2], {}, whole=True).exit_code is ExitCode.DONE
        assert any("restored the old values on exa1cel01, and it is so now" in said for said in desk.bench.console.said)
        grown(desk.bench)
        again = undo(desk.session, desk, desk.request, [1, 2], {}, whole=True)
        assert list(again.notes) == ["nothing is left to take back"]
    assert desk.done == []


HOST = Step(
    target=NODES[0],
    host=True,
    what="alter it",
    statement="ALTER DBSERVER comment='x'",
    undo=Undo.STATEMENT,
    proves=(Check(object="dbserver", attribute="comment", value="x"),),
)


def test_what_an_earlier_version_sent_to_dbmcli_is_not_taken_back(desk: Desk) -> None:
    """Nobody can say any more whether it holds, so undo refuses it by that reason and sends nothing."""
    desk.left(Left("alter dbserver comment=x", [(HOST, "done")], {HOST.target: (BACK,)}, OVER))
    with pytest.raises(RefusedError, match="exa1db01: it was sent to DBMCLI"):
        undo(desk.session, desk, desk.request, [1], {})
    assert desk.done == []


def test_a_refusal_in_the_journal_is_no_change(desk: Desk) -> None:
    """What was refused is neither taken back nor called running; the change before it is."""
    desk.left(Left("alter it", [(CACHE, "done")], {ONE: (BACK,)}, OVER))
    refused = desk.journal.note("t1", Row(kind="refused", body={"statement": "dcli x", **actor()}))
    refuse_running(desk.journal, "t1", refused)
    assert newest_to_undo(desk.session, desk) == 1


def test_what_can_be_taken_back_is_offered_instead(desk: Desk) -> None:
    """Where a change has no way back the newest one before it that has is named; else what its journal tells."""
    desk.left(
        Left("alter it", [(step(ONE), "done")], {ONE: (BACK,)}, OVER),
        Left("drop it", [(step(ONE, NEVER), "done")], {}, OVER),
    )
    with pytest.raises(RefusedError) as refused:
        undo(desk.session, desk, desk.request, [2], {})
    assert refused.value.hint == "`undo 1` takes back change 1 (alter it)"
    undo(desk.session, desk, desk.request, [1], {})
    desk.journal.append("t1", 1, [Row(kind="undone", body={})])
    with pytest.raises(RefusedError) as refused:
        undo(desk.session, desk, desk.request, [2], {})
    assert refused.value.hint == "`journal show 2` shows what it did"


def test_changes_of_a_run_that_is_gone_on_with_are_left_to_it(desk: Desk) -> None:
    """What never ended is taken up by itself, but not where its run is gone on with as a whole."""
    desk.left(
        Left("alter it", [(CACHE, "open")], {ONE: (BACK,)}, body={"run": "7"}),
        Left("alter it", [(CACHE, "open")], {ONE: (BACK,)}),
    )
    assert [row.change for row in unfinished(desk.session, desk, ())] == [1, 2]
    assert [row.change for row in unfinished(desk.session, desk, {"7"})] == [2]
    assert [row.change for row in unfinished(desk.session, desk, {"8"})] == [1, 2]
