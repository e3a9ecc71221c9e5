"""Resume by number: which change it takes up, which it refuses, and what it leaves behind in the journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from engine_desk import Desk, Left, told
from engine_fakes import CELLS, NODES, Bench

from exacell.change.pending import pending
from exacell.change.resuming import resume, retry
from exacell.change.undoing import undo
from exacell.core.errors import ExitCode, RefusedError
from exacell.journal.record import Row
from exacell.language.line import Line
from exacell.language.registry import Value
from exacell.output.result import Result
from exacell.plan.model import Check, Step, Undo
from exacell.session.request import Request
from exacell.session.state import Options

ONE, TWO, _ = CELLS
MORE, OTHER = "enable flashlog db=SPOT", "alter iormplan objective=basic"
CREATE = "create diskgroup DATA prefix=p redundancy=normal au_size=4m"
NOT_YET = Check(object="cell", attribute="flashCacheMode", value="writethrough")
STEP = Step(target=ONE, what="w", statement="ALTER CELL x=1", proves=(NOT_YET,), undo=Undo.STATEMENT)
OVER = {"exitCode": 0, "done": {"done": 1}}
HALTED = {"exitCode": 1, "done": {"refused": 1}, "stopped": "the gate before wave 2 stayed closed"}
UNDONE = Row(kind="undone", body={})

KILLED = Left(MORE, [(STEP, "open")], {ONE: (OTHER,)})
STOPPED = Left(MORE, [(STEP, "failed: x")], {ONE: (OTHER,)}, HALTED)
LATER = Left(MORE, [(STEP, "done")], {ONE: (OTHER,)}, OVER)


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A session with an empty journal."""
    return Desk(bench)


TAKEN_UP: dict[str, tuple[Sequence[Left], int]] = {
    "one of several that never ended": ([KILLED, replace(KILLED, statement=OTHER)], 2),
    "one that was stopped, behind which another one reached its targets": ([STOPPED, LATER], 1),
}


@pytest.mark.parametrize("what", TAKEN_UP)
def test_the_change_of_that_number_is_taken_up(desk: Desk, what: str) -> None:
    """It alone is gone on with, whatever else is unfinished, and is pending no more."""
    changes, number = TAKEN_UP[what]
    desk.left(*changes)
    assert resume(desk.session, desk, desk.request, {}, change=number).exit_code is ExitCode.DONE
    assert desk.done == [f"on {ONE} {changes[number - 1].statement}"]
    assert number not in [item.change for item in pending(desk.journal, "t1")]


REFUSED: dict[str, Sequence[Left]] = {
    "it ended": [LATER],
    "it failed and nobody stopped it": [
        Left(MORE, [(STEP, "failed: x")], {ONE: (OTHER,)}, {"exitCode": 1, "done": {}})
    ],
    "resume has gone on with it": [STOPPED, replace(LATER, body={"origin": "resume 1", "finishes": 1})],
    "retry has gone on with it": [STOPPED, replace(LATER, body={"origin": "retry 1", "finishes": 1})],
    "it was taken back": [replace(STOPPED, more=[UNDONE]), LATER],
    "there is none": [],
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_change_that_is_over_is_not_taken_up(desk: Desk, why: str) -> None:
    """Resume of a number that has nothing left to go on with is refused, and nothing is carried out."""
    desk.left(*REFUSED[why])
    with pytest.raises(RefusedError) as refused:
        resume(desk.session, desk, desk.request, {}, change=1)
    assert told(refused.value) == "change 1 of rack t1 is not unfinished | pending; journal show"
    assert desk.done == []


def test_what_is_left_on_nodes_is_left_on_no_cells(desk: Desk) -> None:
    """A change that is unfinished on a database node alone is repeated as it was given, without ON."""
    node = Step(target=NODES[0], what="w", statement="ALTER DISKGROUP DATA MOUNT", asm="main", undo=Undo.STATEMENT)
    desk.left(Left(CREATE, [(STEP, "done"), (node, "open")]))
    desk.bench.transport.cells[ONE].tables["cell"][0]["flashCacheMode"] = "writethrough"
    desk.left(Left("drop diskgroup DATA", [(node, "open")]))
    resume(desk.session, desk, desk.request, {}, change=2)
    assert desk.done == ["drop diskgroup DATA"]
    resume(desk.session, desk, desk.request, {}, change=1)
    assert desk.done[1:] == [f"on {ONE} {CREATE}"]
    assert desk.bench.console.said[-1] == f"resume 1: {CREATE} on {ONE}"


@pytest.mark.parametrize(("number", "more"), [(2, True), (1, False)])
def test_an_interrupted_resume_tells_whether_anything_is_left(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int, more: bool
) -> None:
    """Ctrl-C in the first of two changes leaves the second as it is, unread; in the last one there is nothing to tell."""
    desk.left(*[KILLED] * number)
    carried_out, reads = desk.execute, [0]

    def interrupted(line: Line, request: Request) -> Result:
        desk.session.interrupted.set()
        reads[0] = 0
        return carried_out(line, request)

    monkeypatch.setattr(desk, "execute", interrupted)
    desk.bench.transport.reading = lambda: reads.append(reads.pop() + 1)
    result = resume(desk.session, desk, desk.request, {})
    assert ("interrupted: nothing more was started; `resume` continues" in result.notes) is more
    assert (len(desk.done), reads) == (1, [0])


def test_nothing_to_resume_is_no_error(desk: Desk) -> None:
    """Without a number, and with nothing unfinished, resume says so and ends well."""
    desk.left(LATER)
    result = resume(desk.session, desk, desk.request, {})
    assert (list(result.notes), result.exit_code) == (["nothing is unfinished"], ExitCode.DONE)


def test_abandoning_leaves_all_as_it_is(desk: Desk) -> None:
    """An abandoned change is neither carried out nor told of again; another one still is."""
    desk.left(KILLED, replace(KILLED, statement=OTHER))
    (note,) = resume(desk.session, desk, desk.request, {}, change=1, abandon=True).notes
    assert note == f"change 1 ({MORE}) stays as it is and is not continued"
    assert (desk.done, [item.change for item in pending(desk.journal, "t1")]) == ([], [2])


VERBS: list[Callable[[Desk, dict[str, bool]], Result]] = [
    lambda desk, flags: resume(desk.session, desk, desk.request, flags),
    lambda desk, flags: retry(desk.session, desk, desk.request, flags),
    lambda desk, flags: undo(desk.session, desk, desk.request, [1], flags),
]


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_session_only_looks(desk: Desk, verb: Callable[[Desk, dict[str, bool]], Result]) -> None:
    """Resume, retry and undo are refused before anything is settled in the journal; with -n they show what they would do."""
    desk.left(STOPPED)
    desk.session.need_rack()
    desk.session.read_only = True
    before = len(desk.journal.entries())
    with pytest.raises(RefusedError, match="is read-only"):
        verb(desk, {})
    assert (desk.done, len(desk.journal.entries())) == ([], before)
    verb(desk, {"dry-run": True})
    assert len(desk.done) == 1


@pytest.mark.parametrize("everywhere", [False, True])
def test_what_is_only_shown_stays_unfinished(desk: Desk, everywhere: bool) -> None:
    """With -n, behind the statement or for the whole session, resume ends no change."""
    desk.left(KILLED)
    desk.session.options = Options(dry_run=True) if everywhere else desk.session.options
    assert resume(desk.session, desk, desk.request, {} if everywhere else {"dry-run": True}).exit_code is ExitCode.DONE
    assert [item.change for item in pending(desk.journal, "t1")] == [1]


def test_what_went_wrong_again_stays_unfinished(desk: Desk) -> None:
    """A resume whose statement fails ends no change either."""
    desk.left(KILLED)
    desk.code = ExitCode.FAILED
    assert resume(desk.session, desk, desk.request, {}).exit_code is ExitCode.FAILED
    assert [item.change for item in pending(desk.journal, "t1")] == [1]


def test_a_change_that_was_made_is_its_own_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where resume has made a change, that one tells in the journal that it went on; no second row says so."""
    desk.left(KILLED)

    def made(line: Line, request: Request) -> Result:
        desk.left(replace(LATER, body={"origin": request.origin, "finishes": request.finishing}))
        desk.session.changes.append(2)
        return Result()

    monkeypatch.setattr(desk, "execute", made)
    assert resume(desk.session, desk, desk.request, {}).exit_code is ExitCode.DONE
    rows = [
        (e.change, e.body.get("origin"), e.body.get("finishes")) for e in desk.journal.entries() if e.kind == "plan"
    ]
    assert rows == [(1, None, None), (2, "resume 1", 1)]
    assert pending(desk.journal, "t1") == ()


@pytest.mark.parametrize(("origin", "told_of"), [("cold", True), ("", False), ("resume 7", False), ("undo 1", False)])
def test_the_rest_of_a_recipe_is_told(desk: Desk, origin: str, told_of: bool) -> None:
    """Behind the end of a change that was a recipe's line stands that what came behind it there has not run, also when that
    change is gone on with a second time; behind others nothing does, nor behind one that failed again."""
    desk.left(replace(KILLED, body={"origin": origin}))
    desk.code = ExitCode.FAILED
    said = "change 1 was a line of recipe cold; the lines after it were not run; `run cold` runs all lines"
    assert said not in resume(desk.session, desk, desk.request, {}).notes
    desk.code = ExitCode.DONE
    assert (said in resume(desk.session, desk, desk.request, {}).notes) is told_of


MANNERS: list[tuple[tuple[tuple[str, ...], ...], dict[str, Value], dict[str, Value]]] = [
    ((), {}, {"no-rolling": True}),
    ((), {"rolling": 1}, {"rolling": 1}),
    ((), {"canary": ONE}, {"canary": ONE}),
    (((ONE,), (TWO,)), {}, {"rolling": 1}),
    (((ONE, TWO),), {}, {"rolling": 2}),
    (((ONE,), (TWO,)), {"no-rolling": True}, {"no-rolling": True}),
]


@pytest.mark.parametrize("verb", ["resume", "retry", "resume of its undo"])
@pytest.mark.parametrize(("waves", "flags", "asked"), MANNERS)
def test_the_rest_goes_in_the_manner_that_was_confirmed(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    waves: tuple[tuple[str, ...], ...],
    flags: dict[str, Value],
    asked: dict[str, Value],
    verb: str,
) -> None:
    """What was made in waves goes on in waves, and what was made on all cells together (--no-rolling) goes on so on a rack
    that rolls by itself; what is given now wins."""
    steps = [(STEP, "open"), (replace(STEP, target=TWO), "open")]
    if verb == "resume of its undo":
        inverse = {ONE: (OTHER,), TWO: (OTHER,)}
        desk.left(Left("alter it", [(s, "done") for s, _ in steps], inverse, {"exitCode": 0, "done": {"done": 2}}))
        desk.left(Left(OTHER, steps, waves=waves, body={"origin": "undo 1"}))
    else:
        desk.left(Left(OTHER, steps, waves=waves))
    lines: list[Line] = []
    monkeypatch.setattr(desk, "execute", lambda line, _: lines.append(line) or Result())
    (retry if verb == "retry" else resume)(desk.session, desk, desk.request, flags)
    turns = {"rolling", "no-rolling", "canary"}
    assert [{n: v for n, v in line.flags.items() if n in turns} for line in lines] == [asked]
    assert not any("all cells together" in said for said in desk.bench.console.said)


def test_a_rack_that_rolls_by_itself_is_told_that_the_rest_does_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a production rack what was confirmed for all cells together goes on so, and that is said before anybody is asked."""
    rack = replace(desk.session.need_rack(), production=True)
    monkeypatch.setattr(desk.session, "need_rack", lambda: rack)
    desk.left(Left(OTHER, [(STEP, "open"), (replace(STEP, target=TWO), "open")]))
    resume(desk.session, desk, desk.request, {})
    assert f"resume 1: {OTHER} on exa1cel[01-02], all cells together" in desk.bench.console.said


def test_one_cell_says_nothing_of_turns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one cell did not roll because there was nothing to roll: its resume asks for neither manner."""
    desk.left(Left(OTHER, [(STEP, "open")]))
    lines: list[Line] = []
    monkeypatch.setattr(desk, "execute", lambda line, _: lines.append(line) or Result())
    resume(desk.session, desk, desk.request, {})
    assert [(line.flags.get("rolling"), line.flags.get("no-rolling")) for line in lines] == [(None, None)]
