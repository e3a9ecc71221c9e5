"""Which change resume, retry and undo take up, what they refuse, and on which cells they go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from engine_desk import Desk, Left, told
from engine_fakes import CELLS, NODES, Bench, said

from exacell.actor import actor
from exacell.context import Context
from exacell.errors import ExitCode, RefusedError
from exacell.journal import Row
from exacell.plan.flashcache import flush_plan
from exacell.plan.model import Check, Op, Step, Undo
from exacell.resuming import newest_to_undo, resume, retry, unfinished
from exacell.settling import settle
from exacell.transport.base import Reply
from exacell.undoing import undo

ONE, TWO, THREE = CELLS
BACK = "alter iormplan objective=auto"
OVER = {"exitCode": 0, "done": {"done": 1}}
CUT_OFF = {"exitCode": int(ExitCode.INTERRUPTED), "done": {}}


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A session with an empty journal."""
    return Desk(bench)


def step(target: str, **more: object) -> Step:
    given = {"what": "change it", "statement": "ALTER CELL x=1", "undo": Undo.STATEMENT, **more}
    return Step(target=target, **given)  # type: ignore[arg-type]


STEP = step(ONE)

# -- which change ----------------------------------------------------------------------------------------------------


def did(state: str, *, end: bool = True, **body: object) -> Left:
    return Left(
        "alter iormplan objective=low_latency", [(STEP, state)], {ONE: (BACK,)}, OVER if end else None, body=body
    )


UNDONE = Row(kind="undone", body={})
NEWEST: list[tuple[list[Left], int]] = [
    ([], 0),
    ([did("done"), did("done")], 2),
    ([did("done"), did("unknown")], 2),
    ([did("done"), did("open")], 2),
    # What a cell itself refused did nothing there; what was only found different afterwards may have.
    ([did("done"), did("failed: CELL-00001: no")], 1),
    ([did("done"), did("failed: ORA-15041: no")], 1),
    ([did("done"), did("failed: reading back: size is 1, not 2")], 2),
    ([did("done"), did("refused")], 1),
    ([did("done"), did("none")], 1),
    ([did("none")], 0),
    # One that never ended is ended by undo, whether or not anything was sent.
    ([did("done"), did("none", end=False)], 2),
    # An undo is not undone, nor what it took back; nor is opaque work, which has no plan.
    ([did("done"), did("done"), did("done", origin="undo 2")], 2),
    ([did("done"), Left("alter iormplan objective=low_latency", [(STEP, "done")], end=OVER, more=[UNDONE])], 1),
    ([did("done"), Left("host x", [(STEP, "done")], end=OVER, plan=False)], 1),
    ([did("done"), Left("host x", [(STEP, "open")], plan=False)], 1),
    # What finished a change is taken back with it, under the number of the first.
    ([did("failed: half"), did("done", origin="resume 1", finishes=1)], 1),
    ([did("failed: CELL-00001: no"), did("done", origin="retry 1", finishes=1)], 1),
    ([did("done"), did("done"), Left("x", [(STEP, "done")], end=OVER, body={"finishes": 1}, more=[])], 1),
    (
        [did("done"), Left("y", [(STEP, "done")], end=OVER, more=[UNDONE]), did("done", origin="retry 2", finishes=2)],
        1,
    ),
    # A guardian's row is about the change, not a statement of it.
    (
        [
            did("done"),
            Left("y", [(STEP, "failed: CELL-1: no")], end=OVER, more=[Row(kind="reverted", body={"state": "done"})]),
        ],
        1,
    ),
]


@pytest.mark.parametrize(("changes", "number"), NEWEST)
def test_the_change_that_undo_without_a_number_means(desk: Desk, changes: list[Left], number: int) -> None:
    """It is the newest that did something, or may have, and is neither an undo nor undone; else undo is refused."""
    desk.left(*changes)
    if number:
        assert newest_to_undo(desk) == number
        return
    with pytest.raises(RefusedError, match="there is no change of rack t1 to undo"):
        newest_to_undo(desk)


def test_bringing_caching_back_is_no_deed(desk: Desk) -> None:
    """A flush that the cells refused, began all the same and had cancelled did nothing: undo means the one before."""
    desk.left(did("done"))
    bench = desk.bench

    def refuses(cell: str, statement: str) -> Reply | None:
        if "NOWAIT" not in statement:
            return None
        bench.transport.cells[cell].change(statement)
        return said(cell, "CELL-00001: no\n")

    bench.transport.script = refuses
    bench.run(flush_plan("t1", bench.facts(), recreate=False, statement="flush flashcache"))
    assert "ALTER FLASHCACHE ALL CANCEL FLUSH" in bench.transport.statements(ONE)
    assert newest_to_undo(desk) == 1


GOING_ON: list[tuple[list[Left], list[int]]] = [
    ([], []),
    ([did("done")], []),
    ([did("open", end=False)], [1]),
    ([did("open", end=False), did("done"), did("none", end=False)], [1, 3]),
    ([did("done"), Left("x", [(STEP, "done")], end=CUT_OFF)], [2]),
    ([Left("x", [(STEP, "done")], end={"exitCode": 2, "stopped": "a gate"})], [1]),
    ([Left("x", [(STEP, "done")], end=CUT_OFF), did("done")], []),
    ([did("open", end=False), Left("x", [(STEP, "done")], end=CUT_OFF)], [1, 2]),
    ([Left("x", [(STEP, "done")], end={**CUT_OFF, "done": {"abandoned": 1}})], []),
    # Its undo has begun: that is what is gone on with.
    ([did("open", end=False), did("open", end=False, origin="undo 1")], [2]),
]


@pytest.mark.parametrize(("changes", "numbers"), GOING_ON)
def test_the_changes_that_resume_takes_up(desk: Desk, changes: list[Left], numbers: list[int]) -> None:
    """They are those that never ended, oldest first, and the newest when the user or a gate stopped it."""
    desk.left(*changes)
    assert [row.change for row in unfinished(desk)] == numbers


# -- what is refused -------------------------------------------------------------------------------------------------

RUNNING: list[tuple[Callable[[Context], object], bool]] = [
    (lambda ctx: resume(ctx, {}), False),
    (lambda ctx: retry(ctx, {}), False),
    (lambda ctx: undo(ctx, [1], {}), False),
    (lambda ctx: undo(ctx, [1], {}), True),
]


@pytest.mark.parametrize(("verb", "finishing"), RUNNING)
def test_a_change_that_is_being_carried_out_is_left_alone(
    desk: Desk, verb: Callable[[Context], object], finishing: bool
) -> None:
    """While a living process carries the change out, or what finishes it, nobody takes it up: the process is named."""
    if finishing:
        desk.left(did("done", end=True))
    desk.left(
        Left(
            "alter iormplan objective=low_latency",
            [(STEP, "open")],
            {ONE: (BACK,)},
            body={**actor(), **({"finishes": 1} if finishing else {})},
        )
    )
    with pytest.raises(RefusedError) as refused:
        verb(desk)
    assert "(alter iormplan objective=low_latency) is being carried out by process " in told(refused.value)
    assert "let it end, or end that process first" in told(refused.value)
    assert (desk.done, desk.bench.transport.sent) == ([], [])


@pytest.mark.parametrize("body", [{}, actor()])
def test_a_change_that_has_ended_is_not_called_running(desk: Desk, body: dict[str, str]) -> None:
    """Its end counts, whether or not the process that carried it out still lives."""
    desk.left(did("done", **body))
    assert undo(desk, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on exa1cel01 {BACK}"]


def test_a_change_whose_process_is_gone_is_taken_up(desk: Desk) -> None:
    """What a process that was killed left open is taken back like any other."""
    desk.left(did("done", end=False))
    assert undo(desk, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on exa1cel01 {BACK}"]


STOP = "ALTER CELL SHUTDOWN SERVICES CELLSRV"
SERVICE = step(ONE, statement=STOP)
RETRY: list[tuple[list[Left], str, list[str]]] = [
    ([], "there is no change of rack t1 to retry | journal show", []),
    (
        [did("done")],
        "change 1 (alter iormplan objective=low_latency) failed on no cell | journal show 1",
        [],
    ),
    (
        [did("failed: x"), did("done")],
        "change 2 (alter iormplan objective=low_latency) failed on no cell | journal show 2",
        [],
    ),
    (
        [Left("alter iormplan objective=low_latency", [(STEP, "done"), (step(TWO), "failed: x")], end=OVER)],
        "",
        ["on exa1cel02 alter iormplan objective=low_latency"],
    ),
    (
        [Left("alter iormplan objective=low_latency", [(STEP, "none"), (step(TWO), "refused: x")], end=OVER)],
        "",
        ["on exa1cel[01-02] alter iormplan objective=low_latency"],
    ),
    # A database node's part looks at every cell.
    (
        [
            Left(
                "alter iormplan objective=low_latency",
                [(STEP, "done"), (step(NODES[0], asm="main"), "failed: x")],
                end=OVER,
            )
        ],
        "",
        ["on exa1cel01 alter iormplan objective=low_latency"],
    ),
    # CELLSRV that the change stopped is started first, and only where there is something to repeat.
    (
        [Left("alter iormplan objective=low_latency", [(SERVICE, "done"), (step(TWO), "failed: x")], end=OVER)],
        "",
        ["on exa1cel01 alter cell startup services cellsrv", "on exa1cel02 alter iormplan objective=low_latency"],
    ),
    (
        [Left("alter iormplan objective=low_latency", [(SERVICE, "done")], end=OVER)],
        "change 1 (alter iormplan objective=low_latency) failed on no cell | journal show 1",
        [],
    ),
]


@pytest.mark.parametrize(("changes", "refusal", "done"), RETRY)
def test_retry_goes_exactly_where_it_failed(desk: Desk, changes: list[Left], refusal: str, done: list[str]) -> None:
    """It repeats the newest change on the cells on which it did not end well, and is refused when there are none."""
    desk.left(*changes)
    desk.bench.transport.cells[ONE].tables["cell"][0]["cellsrvStatus"] = "stopped"
    if refusal:
        with pytest.raises(RefusedError) as refused:
            retry(desk, {})
        assert told(refused.value) == refusal
    else:
        assert retry(desk, {}).exit_code is ExitCode.DONE
    assert desk.done == done


@pytest.mark.parametrize(
    ("states", "where"), [(("done", "failed: x"), TWO), (("unknown: x", "open"), "exa1cel[01-02]")]
)
def test_retry_of_what_cannot_be_read_names_where_it_failed(desk: Desk, states: tuple[str, str], where: str) -> None:
    """A dcli or sh that did not end well somewhere is never said to have failed on no cell: the targets are named."""
    steps = list(zip((step(ONE), step(TWO)), states, strict=True))
    desk.left(Left("dcli -c x reboot", steps, end={"exitCode": 1}, plan=False))
    with pytest.raises(RefusedError) as refused:
        retry(desk, {})
    assert f"change 1 (dcli -c x reboot) did not end well on {where}, but it carried what" in told(refused.value)
    assert "nothing was sent" in told(refused.value) and f"look at {where} and give it anew there" in told(
        refused.value
    )
    desk.left(Left("dcli -c x reboot", [(step(ONE), "done")], end=OVER, plan=False))
    with pytest.raises(RefusedError, match=r"change 2 .* failed on no cell"):
        retry(desk, {})


def test_retry_ends_where_the_service_does_not_start(desk: Desk) -> None:
    """When what has to be brought back first does not come, retry ends with that and repeats nothing."""
    desk.left(Left("alter iormplan objective=low_latency", [(SERVICE, "done"), (step(TWO), "failed: x")], end=OVER))
    desk.bench.transport.cells[ONE].tables["cell"][0]["cellsrvStatus"] = "stopped"
    desk.code = ExitCode.FAILED
    assert retry(desk, {}).exit_code is ExitCode.FAILED
    assert desk.done == ["on exa1cel01 alter cell startup services cellsrv"]


# -- what became of a statement --------------------------------------------------------------------------------------

CACHE = (Check(object="flashcache", attribute="size", value=42949672960),)
GONE = (Check(object="flashcache", op=Op.ABSENT, why="it was dropped"),)
GROUP = (Check(object="asm.diskgroup", op=Op.COUNT, value=1, where={"name": "DATA"}),)
OTHER = (Check(object="asm.diskgroup", op=Op.COUNT, value=1, where={"name": "RECO"}),)
NODE = {"asm": "main", "statement": "ALTER DISKGROUP DATA MOUNT"}

SETTLED: list[tuple[Step, str, str]] = [
    (step(ONE, proves=CACHE), "done", "found done"),
    (step(ONE, proves=GONE), "not done", "exa1cel01_FLASHCACHE"),
    (step(ONE), "unknown", "nothing was to prove it"),
    (step(TWO, proves=CACHE), "unknown", "no route to host"),
    (step(NODES[0], proves=GROUP, **NODE), "done", "found done"),
    (step(NODES[0], proves=OTHER, **NODE), "not done", "asm.diskgroup"),
    (step(NODES[0], **NODE), "unknown", "nothing was to prove it"),
    # Whoever took the cluster out of the rack's file since still learns the rest.
    (step(NODES[0], asm="old", statement="DROP DISKGROUP X"), "unknown", "nothing was to prove it"),
]


@pytest.mark.parametrize("state", ["open", "unknown"])
@pytest.mark.parametrize(("made", "found", "why"), SETTLED)
def test_what_became_of_a_statement_is_read_back(desk: Desk, made: Step, found: str, why: str, state: str) -> None:
    """A statement whose end nobody knows is settled by what it was to prove, and stays unknown where nobody can tell."""
    desk.left(Left("alter iormplan objective=low_latency", [(made, state)]))
    desk.bench.transport.silent = {TWO}
    assert settle(desk, 1) == {found: 1}
    row = desk.journal.entries()[-1]
    assert (row.kind, row.target, row.body["state"], row.body["settled"]) == ("outcome", made.target, found, True)
    assert why in row.body["reason"]


def test_a_rack_without_asm_settles_its_cells(desk: Desk) -> None:
    """Where no cluster is configured nobody asks for one."""
    desk.left(Left("x", [(step(ONE, proves=CACHE), "open")]))
    desk.rack = replace(desk.need_rack(), asm={})
    assert settle(desk, 1) == {"done": 1}


SURE: list[list[Row]] = [
    [],
    [
        Row(kind="intent", target=ONE, body={"what": "change it"}),
        Row(kind="outcome", target=ONE, body={"what": "change it", "state": "done"}),
    ],
    [Row(kind="outcome", target=ONE, body={"what": "change it", "state": "refused"})],
    # What the journal holds no intent of was never sent.
    [Row(kind="outcome", target=ONE, body={"what": "change it", "state": "unknown"})],
    [Row(kind="observed", target=ONE, body={"what": "change it", "caching": "on"})],
    [Row(kind="observed", target=ONE, body={"what": "change it", "state": "unknown"})],
]


@pytest.mark.parametrize("rows", SURE)
def test_what_is_known_is_not_settled_again(desk: Desk, rows: list[Row]) -> None:
    """Only a statement that left, or may have, and whose end is not known is looked at; nothing is journalled otherwise."""
    desk.left(Left("alter iormplan objective=low_latency", [(step(ONE, proves=CACHE), "none")], more=rows))
    before = len(desk.journal.entries())
    assert settle(desk, 1) == {}
    assert len(desk.journal.entries()) == before


def test_what_another_row_says_settles_nothing(desk: Desk) -> None:
    """Only an outcome closes an intent: a row of another kind about the same step leaves it open."""
    seen = Row(kind="observed", target=ONE, body={"what": "change it", "caching": "on"})
    desk.left(Left("alter iormplan objective=low_latency", [(step(ONE, proves=CACHE), "open")], more=[seen]))
    assert settle(desk, 1) == {"done": 1}
