"""Which change resume, retry and undo take up, what they refuse, and on which cells they go on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from engine_desk import Desk, Left, told
from engine_fakes import CELLS, NODES, Bench, said

from exacell.change.earlier import newest_to_undo
from exacell.change.execute import execute
from exacell.change.lockwatch import FRESH, SETTLES
from exacell.change.pending import pending
from exacell.change.racklock import RackLock
from exacell.change.resuming import resume, retry, unfinished
from exacell.change.settling import settle
from exacell.change.undoing import undo
from exacell.core.errors import ExitCode, JournalError, RefusedError
from exacell.journal.actor import actor
from exacell.journal.record import Row
from exacell.language.line import parse_line
from exacell.plan.model import Check, Op, Step, Undo
from exacell.plan.planners.flashcache import flush_plan
from exacell.transport.base import Reply
from tests.support.clocks import set_back

ONE, TWO, THREE = CELLS
BACK = "alter iormplan objective=auto"
OVER = {"exitCode": 0, "done": {"done": 1}}


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
CUT_OFF = {"exitCode": int(ExitCode.INTERRUPTED), "done": {}}
HALTED = {"exitCode": 2, "done": {"refused": 1}, "stopped": "the gate stayed closed"}
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
    # So is the newest when a gate or the user stopped it before anything was sent; an older one is over.
    ([did("done"), Left("x", [(STEP, "none")], end=HALTED)], 2),
    ([Left("x", [(STEP, "none")], end=CUT_OFF)], 1),
    ([Left("x", [(STEP, "none")], end=HALTED), did("none", origin="resume 1", finishes=1)], 0),
    ([Left("x", [(STEP, "none")], end=HALTED), Left("x", [(STEP, "none")], end=HALTED, body={"finishes": 1})], 1),
    ([did("done"), Left("x", [(STEP, "none")], end=HALTED), did("refused")], 1),
    ([did("done"), did("none"), Left("x", [(STEP, "none")], end=HALTED, body={"origin": "undo 1"})], 1),
    ([Left("x", [(STEP, "none")], end={**CUT_OFF, "done": {"abandoned": 1}})], 0),
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
    """It is the newest that did something, or may have, or could be gone on with, and is neither an undo nor undone; else
    undo is refused."""
    desk.left(*changes)
    if number:
        assert newest_to_undo(desk.session, desk) == number
        return
    with pytest.raises(RefusedError, match="there is no change of rack t1 to undo"):
        newest_to_undo(desk.session, desk)


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
    assert newest_to_undo(desk.session, desk) == 1


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
    assert [row.change for row in unfinished(desk.session, desk)] == numbers


# -- what is refused -------------------------------------------------------------------------------------------------

RUNNING: list[tuple[Callable[[Desk], object], bool]] = [
    (lambda desk: resume(desk.session, desk, desk.request, {}), False),
    (lambda desk: retry(desk.session, desk, desk.request, {}), False),
    (lambda desk: undo(desk.session, desk, desk.request, [1], {}), False),
    (lambda desk: undo(desk.session, desk, desk.request, [1], {}), True),
]


@pytest.mark.parametrize(("verb", "finishing"), RUNNING)
def test_a_change_that_is_being_carried_out_is_left_alone(
    desk: Desk, verb: Callable[[Desk], object], finishing: bool
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
    assert "(alter iormplan objective=low_latency) is being run by process " in told(refused.value)
    assert refused.value.hint == "wait until it ends, or end that process first"
    assert (desk.done, desk.bench.transport.sent) == ([], [])


@pytest.mark.parametrize("body", [{}, actor()])
def test_a_change_that_has_ended_is_not_called_running(desk: Desk, body: dict[str, str]) -> None:
    """Its end counts, whether or not the process that carried it out still lives."""
    desk.left(did("done", **body))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on exa1cel01 {BACK}"]


def test_a_change_whose_process_is_gone_is_taken_up(desk: Desk) -> None:
    """What a process that was killed left open is taken back like any other."""
    desk.left(did("done", end=False))
    assert undo(desk.session, desk, desk.request, [1], {}).exit_code is ExitCode.DONE
    assert desk.done == [f"on exa1cel01 {BACK}"]


STOP = "ALTER CELL SHUTDOWN SERVICES CELLSRV"
SERVICE = step(ONE, statement=STOP)
RETRY: list[tuple[list[Left], str, list[str]]] = [
    ([], "there is no change of rack t1 to retry | journal show", []),
    (
        [did("done")],
        "change 1 (alter iormplan objective=low_latency) did not fail on any cell | journal show 1",
        [],
    ),
    (
        [did("failed: x"), did("done")],
        "change 2 (alter iormplan objective=low_latency) did not fail on any cell | journal show 2",
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
        "change 1 (alter iormplan objective=low_latency) did not fail on any cell | journal show 1",
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
            retry(desk.session, desk, desk.request, {})
        assert told(refused.value) == refusal
    else:
        assert retry(desk.session, desk, desk.request, {}).exit_code is ExitCode.DONE
    assert desk.done == done


@pytest.mark.parametrize(
    ("states", "where"), [(("done", "failed: x"), TWO), (("unknown: x", "open"), "exa1cel[01-02]")]
)
def test_retry_of_what_cannot_be_read_names_where_it_failed(desk: Desk, states: tuple[str, str], where: str) -> None:
    """A dcli or sh that did not end well somewhere is never said not to have failed: the targets are named."""
    steps = list(zip((step(ONE), step(TWO)), states, strict=True))
    desk.left(Left("dcli -c x reboot", steps, end={"exitCode": 1}, plan=False))
    with pytest.raises(RefusedError) as refused:
        retry(desk.session, desk, desk.request, {})
    assert f"change 1 (dcli -c x reboot) did not end well on {where}, but exacell can't read its text" in told(
        refused.value
    )
    assert "nothing was sent" in told(refused.value) and f"check {where} and type it again for them" in told(
        refused.value
    )
    desk.left(Left("dcli -c x reboot", [(step(ONE), "done")], end=OVER, plan=False))
    with pytest.raises(RefusedError, match=r"change 2 .* did not fail on any cell"):
        retry(desk.session, desk, desk.request, {})


def test_retry_ends_where_the_service_does_not_start(desk: Desk) -> None:
    """When what has to be brought back first does not come, retry ends with that and repeats nothing."""
    desk.left(Left("alter iormplan objective=low_latency", [(SERVICE, "done"), (step(TWO), "failed: x")], end=OVER))
    desk.bench.transport.cells[ONE].tables["cell"][0]["cellsrvStatus"] = "stopped"
    desk.code = ExitCode.FAILED
    assert retry(desk.session, desk, desk.request, {}).exit_code is ExitCode.FAILED
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
    (step(ONE), "unknown", "there was no check for it"),
    (step(TWO, proves=CACHE), "unknown", "no route to host"),
    (step(NODES[0], proves=GROUP, **NODE), "done", "found done"),
    (step(NODES[0], proves=OTHER, **NODE), "not done", "asm.diskgroup"),
    (step(NODES[0], **NODE), "unknown", "there was no check for it"),
    # Whoever took the cluster out of the rack's file since still learns the rest.
    (step(NODES[0], asm="old", statement="DROP DISKGROUP X"), "unknown", "there was no check for it"),
]


@pytest.mark.parametrize("state", ["open", "unknown"])
@pytest.mark.parametrize(("made", "found", "why"), SETTLED)
def test_what_became_of_a_statement_is_read_back(desk: Desk, made: Step, found: str, why: str, state: str) -> None:
    """A statement whose end nobody knows is settled by what it was to prove, and stays unknown where nobody can tell."""
    desk.left(Left("alter iormplan objective=low_latency", [(made, state)]))
    desk.bench.transport.silent = {TWO}
    assert settle(desk.session, desk, 1) == {found: 1}
    row = desk.journal.entries()[-1]
    assert (row.kind, row.target, row.body["state"], row.body["settled"]) == ("outcome", made.target, found, True)
    assert why in row.body["reason"]


def test_a_rack_without_asm_settles_its_cells(desk: Desk) -> None:
    """Where no cluster is configured nobody asks for one."""
    desk.left(Left("x", [(step(ONE, proves=CACHE), "open")]))
    desk.session.rack = replace(desk.session.need_rack(), asm={})
    assert settle(desk.session, desk, 1) == {"done": 1}


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
    assert settle(desk.session, desk, 1) == {}
    assert len(desk.journal.entries()) == before


def test_what_another_row_says_settles_nothing(desk: Desk) -> None:
    """Only an outcome closes an intent: a row of another kind about the same step leaves it open."""
    seen = Row(kind="observed", target=ONE, body={"what": "change it", "caching": "on"})
    desk.left(Left("alter iormplan objective=low_latency", [(step(ONE, proves=CACHE), "open")], more=[seen]))
    assert settle(desk.session, desk, 1) == {"done": 1}


def test_a_change_of_another_host_is_told_and_gone_on_with_after_a_takeover(desk: Desk, tmp_path: Path) -> None:
    """Whether a process of another host lives can't be told: its change is told, and refused until the lock is taken over."""
    desk.session.rack = replace(desk.session.need_rack(), lock=tmp_path / "lock")
    desk.left(Left("flush flashcache", [(STEP, "open")], body={"host": "elsewhere"}))
    (told_first,) = pending(desk.journal, "t1")
    assert (told_first.state, told_first.mend) == ("elsewhere", "unlock --takeover")
    assert "seems to be running as process 4194305 on elsewhere" in told_first.sentence
    for abandon in (False, True):
        with pytest.raises(RefusedError) as refused:
            resume(desk.session, desk, desk.request, {}, abandon=abandon)
        assert "; if it has ended, type `unlock --takeover`, then this again" in told(refused.value)
    for words, answer in (
        ("unlock --takeover --reason=gone", "change 1 of another host now counts as ended: `resume` continues it"),
        ("unlock --takeover", "rack t1 is not locked"),
    ):
        line = parse_line(words)
        assert line is not None
        assert answer in " ".join(execute(desk.session, desk, desk.request, line).notes)
    assert [item.state for item in pending(desk.journal, "t1")] == ["unfinished"]
    assert resume(desk.session, desk, desk.request, {}).exit_code is ExitCode.DONE
    # One that begins behind the takeover is a new one.
    desk.left(Left("flush flashcache", [(STEP, "open")], body={"host": "elsewhere"}))
    assert [item.state for item in pending(desk.journal, "t1")] == ["elsewhere"]


@pytest.mark.parametrize("takeover", [True, False])
def test_after_a_takeover_what_was_under_way_may_arrive_first(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, takeover: bool
) -> None:
    """A takeover gives the prompt back longer after the lock has gone than the old owner may go on sending; a plain unlock
    waits for nothing."""
    lock = RackLock(tmp_path / "lock", "t1")
    lock.take(kept=True)
    desk.session.rack = replace(desk.session.need_rack(), lock=lock.path)
    slept: list[tuple[float, object]] = []
    monkeypatch.setattr("exacell.commands.change.time.sleep", lambda seconds: slept.append((seconds, lock.holder())))
    line = parse_line("unlock --takeover" if takeover else "unlock")
    assert line is not None
    execute(desk.session, desk, desk.request, line)
    assert slept == ([(SETTLES, None)] if takeover else []) and SETTLES > FRESH


def test_nobody_takes_over_what_he_can_not_journal(desk: Desk, tmp_path: Path) -> None:
    """While the journal can't be written the lock stays its holder's: who took over from whom is in the journal, or is not."""
    lock = RackLock(tmp_path / "lock", "t1")
    lock.take(kept=True)
    desk.session.rack = replace(desk.session.need_rack(), lock=lock.path)
    desk.left(did("done"))
    desk.journal.head_path.unlink()
    line = parse_line("unlock --takeover")
    assert line is not None
    with pytest.raises(JournalError):
        execute(desk.session, desk, desk.request, line)
    assert lock.holder() is not None


def test_a_takeover_does_not_hide_what_was_stopped(desk: Desk) -> None:
    """A change that stopped because its lock was taken over is still told, and gone on with by resume without a number."""
    halted = {"exitCode": 1, "done": {"skipped": 1}, "stopped": "the lock of rack t1 was taken over"}
    desk.left(Left("flush flashcache", [(STEP, "done")], end=halted))
    desk.left(Left("unlock --takeover from somebody", end={"exitCode": 0}, plan=False))
    assert [item.mend for item in pending(desk.journal, "t1")] == ["resume 1"]
    assert [row.change for row in unfinished(desk.session, desk)] == [1]


SINCE: list[tuple[list[Left], str]] = [
    (
        [did("done")],
        "since then change 2 (alter iormplan objective=low_latency) was made on exa1cel01; the plan starts from "
        "its result",
    ),
    ([did("failed: CELL-1: no")], ""),
    ([Left("y", [(STEP, "done")], end=OVER, more=[UNDONE])], ""),
    ([did("done", origin="undo 1")], ""),
]


@pytest.mark.parametrize(("later", "told"), SINCE)
def test_what_was_made_since_is_told_before_a_change_is_gone_on_with(desk: Desk, later: list[Left], told: str) -> None:
    """Resume names another change that did something on its cells since, unless it failed or was taken back."""
    desk.left(Left("alter cell comment=a", [(STEP, "open")]), *later)
    with contextlib.suppress(RefusedError):
        resume(desk.session, desk, desk.request, {}, change=1)
    since = [line for line in desk.bench.console.said if line.startswith("since then")]
    assert since == ([told] if told else [])


def test_what_was_made_since_is_told_when_the_clock_was_set_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change counts as made since by its number, whatever time its rows tell."""
    desk.left(Left("alter cell comment=a", [(STEP, "open")]))
    set_back(monkeypatch)
    later, sentence = SINCE[0]
    desk.left(*later)
    with contextlib.suppress(RefusedError):
        resume(desk.session, desk, desk.request, {}, change=1)
    assert sentence in desk.bench.console.said
