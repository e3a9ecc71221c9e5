"""How a change stands, folded once from its rows: rows in, states out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from exacell.journal.rows import Columns, Entry, typed
from exacell.journal.state import OPEN, ChangeState, by_change, paired, services_of
from exacell.plan.model import Gate, Plan, Stage, Step, as_data
from tests.support.every import every
from tests.support.overlaps import Overlap, overlaps

ONE, TWO, THREE = "c1", "c2", "c3"
DROP, FLUSH = "DROP FLASHCACHE", "ALTER FLASHCACHE ALL FLUSH"
STOP, START = "ALTER CELL SHUTDOWN SERVICES CELLSRV", "ALTER CELL STARTUP SERVICES CELLSRV"


def row(kind: str, target: str = "", change: int = 1, **body: Any) -> Entry:
    return typed(Columns(seq=1, at="", rack="t1", change=change, kind=kind, target=target, body=body, prev="", hash=""))


def sent(cell: str = ONE, what: str = "a", change: int = 1, **body: Any) -> Entry:
    return row("intent", cell, change, what=what, **body)


def came(state: str, cell: str = ONE, what: str = "a", change: int = 1, **body: Any) -> Entry:
    return row("outcome", cell, change, what=what, state=state, **body)


def plan(*wanted: tuple[str, str], change: int = 1, **body: Any) -> Entry:
    """Return the row of a plan with these steps, and one that mends."""
    stages = [Stage(title="t", steps=(Step(target=cell, what=what, statement=FLUSH),)) for cell, what in wanted]
    mend = Stage(title="m", gate=Gate.MEND, steps=(Step(target=ONE, what="mend", statement=FLUSH),))
    made = Plan(statement="s", rack="t1", stages=(*stages, mend))
    return row("plan", change=change, plan=json.loads(json.dumps(as_data(made))), **body)


END, HALTED = row("end", exitCode=0), row("end", exitCode=4, done={"done": 1})
GIVEN_UP, BY_GATE = row("end", exitCode=4, done={"abandoned": 1}), row("end", exitCode=1, stopped="a gate")
UNDONE = row("undone")


@pytest.mark.parametrize(
    ("rows", "states"),
    [
        ([], {}),
        ([sent()], {(ONE, "a"): OPEN}),
        ([sent(), came("done")], {(ONE, "a"): "done"}),
        ([sent(), came("unknown"), came("not done", settled=True)], {(ONE, "a"): "not done"}),
        ([came("refused")], {(ONE, "a"): "refused"}),
        ([sent(), came("failed"), sent("c1", "mend"), came("done", what="mend", mending=True)],
         {(ONE, "a"): "failed", (ONE, "mend"): OPEN}),
        ([sent(), came("failed"), sent(change=2)], {(ONE, "a"): "failed"}),
        ([sent(), came("failed"), sent(change=2), came("done", change=2)], {(ONE, "a"): "done"}),
        ([sent(ONE, "a"), sent(TWO, "a"), came("done", TWO)], {(ONE, "a"): OPEN, (TWO, "a"): "done"}),
    ],
)  # fmt: skip
def test_how_each_step_ended(rows: Sequence[Entry], states: dict[tuple[str, str], str]) -> None:
    """The last outcome of a step counts, also one of a change that went on with it; a step without one has none."""
    assert ChangeState.of(rows).states == states


@pytest.mark.parametrize(
    ("rows", "unanswered", "unsettled"),
    [
        ([sent()], 1, 1),
        ([sent(), came("done")], 0, 0),
        ([sent(), came("unknown")], 0, 1),
        ([sent(), came("unknown"), came("done", settled=True)], 0, 0),
        ([came("unknown")], 0, 0),
        ([sent(), came("failed"), sent()], 1, 1),
    ],
)
def test_what_is_not_known(rows: Sequence[Entry], unanswered: int, unsettled: int) -> None:
    """A step waits to be looked at while its intent has no outcome, or one that is not known; one never sent does not."""
    state = ChangeState.of(rows)
    assert (len(state.unanswered), len(state.unsettled)) == (unanswered, unsettled)


@pytest.mark.parametrize(
    ("rows", "comes"),
    [
        ([sent(statement=DROP, cachingOff=True)], True),
        ([sent(statement=DROP)], False),
        ([sent(statement=FLUSH, cachingOff=True)], False),
        ([sent(statement=DROP, cachingOff=True), came("unknown")], True),
        ([sent(statement=DROP, cachingOff=True), came("not done", settled=True)], True),
        ([sent(statement=DROP, cachingOff=True), came("not done")], False),
        ([sent(statement=DROP, cachingOff=True), came("done", settled=True)], False),
        ([sent(statement=DROP, cachingOff=True), came("failed")], False),
        ([sent(statement=DROP, cachingOff=True), came("failed", what="b")], True),
    ],
)
def test_which_drop_may_yet_come(rows: Sequence[Entry], comes: bool) -> None:
    """A DROP of a cache may come until it is known to be done or refused: that it was looked for in vain does not end that."""
    assert ChangeState.of(rows).to_come == ({(ONE, "a"): DROP} if comes else {})


@pytest.mark.parametrize(
    ("rows", "did", "touched", "mended"),
    [
        ([sent()], False, True, False),
        ([sent(), came("done")], True, True, False),
        ([sent(), came("unknown")], False, True, False),
        ([sent(), came("failed", reason="half way")], False, True, False),
        ([sent(), came("failed", reason="CELL-02559: no")], False, False, False),
        ([sent(), came("failed", reason="ORA-15032: no")], False, False, False),
        ([sent(), came("not done", settled=True)], False, False, False),
        ([came("refused")], False, False, False),
        ([sent(), came("done", mending=True)], True, False, True),
    ],
)
def test_whether_something_was_done(rows: Sequence[Entry], did: bool, touched: bool, mended: bool) -> None:
    """What was sent was done, or may have been, unless its target said no; what mends another step counts for itself alone."""
    state = ChangeState.of(rows)
    assert (bool(state.did), any(state.touched.values()), bool(state.mended)) == (did, touched, mended)


@pytest.mark.parametrize(
    ("rows", "ended", "stopped", "undone"),
    [
        ([], False, False, False),
        ([END], True, False, False),
        ([HALTED], True, True, False),
        ([GIVEN_UP], True, False, False),
        ([HALTED, GIVEN_UP], True, False, False),
        ([BY_GATE], True, True, False),
        ([HALTED, UNDONE], True, False, True),
        ([UNDONE, HALTED], True, True, True),
        ([UNDONE], False, False, True),
        ([row("end")], True, False, False),
        ([BY_GATE, row("observed", ONE, caching="on")], True, True, False),
    ],
)
def test_how_a_change_ended(rows: Sequence[Entry], ended: bool, stopped: bool, undone: bool) -> None:
    """What stands last says whether a change was stopped: it was not when it was given up, or taken back behind that."""
    state = ChangeState.of(rows)
    assert (state.end is not None, state.stopped, state.undone) == (ended, stopped, undone)


STEPS = ((ONE, "a"), (ONE, "b"), (TWO, "a"))


@pytest.mark.parametrize(
    ("rows", "left", "finished"),
    [
        ([plan(*STEPS)], {ONE, TWO}, {ONE: False, TWO: False}),
        ([plan(*STEPS), came("done"), came("not needed", what="b")], {TWO}, {ONE: True, TWO: False}),
        ([plan(*STEPS), came("done"), came("done", TWO)], {ONE}, {ONE: False, TWO: True}),
        ([plan(*STEPS), came("done"), came("done", what="b"), came("done", TWO, mending=True)], {TWO}, {ONE: True, TWO: False}),
        ([row("plan"), sent("db1"), came("done", "db1"), sent("db2")], set(), {"db1": True, "db2": False}),
        ([sent(), came("done")], set(), {ONE: True}),
        ([plan((ONE, "a")), came("failed"), sent(ONE, "mend"), came("done", what="mend", mending=True)], {ONE}, {ONE: False}),
    ],
)  # fmt: skip
def test_on_which_targets_something_is_left(rows: Sequence[Entry], left: set[str], finished: dict[str, bool]) -> None:
    """A target is finished when each step that the plan has for it is done or not needed; what was not read counts as sent."""
    state = ChangeState.of(rows)
    assert (set(state.left), state.finished) == (left, finished)


def test_the_steps_of_a_plan_have_their_ends() -> None:
    """Each step that was to be done is told with how it ended, also one that was never sent; what mends is none of them."""
    state = ChangeState.of([plan(*STEPS), sent(), came("done"), sent(TWO)])
    assert [(step.target, step.what, ended) for step, ended in state.carried] == [
        (ONE, "a", "done"),
        (ONE, "b", ""),
        (TWO, "a", OPEN),
    ]
    assert state.targets == {ONE, TWO}


def test_changes_are_told_apart() -> None:
    """Rows of several changes that lie mixed make one state each, in the order in which they began."""
    found = by_change([sent(change=2), sent(change=1), came("done", change=1), came("failed", change=2)])
    assert [(number, state.states) for number, state in found.items()] == [
        (2, {(ONE, "a"): "failed"}),
        (1, {(ONE, "a"): "done"}),
    ]


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ([sent(statement=STOP)], [ONE]),
        ([sent(statement=STOP), came("failed")], [ONE]),
        ([sent(statement=STOP), sent(statement=START), came("unknown")], [ONE]),
        ([sent(statement=STOP), sent(statement=START), came("done")], []),
        ([sent(statement=STOP), sent(statement=START), sent(statement=STOP), came("done")], [ONE]),
        ([sent(statement=STOP), sent(statement="ALTER CELL STARTUP SERVICES MS"), came("done")], [ONE]),
        ([sent(statement="ALTER CELL SHUTDOWN SERVICES MS")], []),
    ],
)
def test_where_cellsrv_is_stopped(rows: Sequence[Entry], cells: list[str]) -> None:
    """CELLSRV counts as stopped from the intent on until a start of it is known to be done."""
    assert list(ChangeState.of(rows).cellsrv) == cells


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("alter  cell restart services all", ("RESTART", ("cellsrv", "ms", "rs"))),
        ("ALTER CELL STARTUP SERVICES MS", ("STARTUP", ("ms",))),
        ("ALTER CELL comment = x", ("", ())),
        ("", ("", ())),
    ],
)
def test_which_services_a_statement_is_about(statement: str, found: tuple[str, tuple[str, ...]]) -> None:
    """Of a statement it is known which services it stops, starts or restarts."""
    assert services_of(statement) == found


def test_an_outcome_knows_its_intent() -> None:
    """An outcome is paired with the intent of the same change, target and step; one without has none."""
    intent, other = sent(), sent(change=2)
    rows = [intent, other, came("done"), came("done", change=2), came("done", what="b"), END]
    assert [pair for _, pair in paired(rows)] == [intent, other, intent, other, None, None]


# -- no two failure groups at once -----------------------------------------------------------------------------------


def off(name: str) -> Entry:
    return row("intent", name, offline=True, wave=1)


def on(name: str, state: str = "done") -> Entry:
    return row("outcome", name, online=True, state=state)


def gate(*wave: str, is_open: bool = True) -> Entry:
    return row("gate", open=is_open, cells=list(wave))


REPLAYS: list[tuple[Sequence[Entry], list[str]]] = [
    ((), []),
    ((off(ONE), on(ONE), off(TWO), on(TWO)), []),
    ((off(ONE), off(TWO)), [TWO]),
    ((off(ONE), on(ONE, "failed"), off(TWO)), [TWO]),
    ((off(ONE), on(ONE, "unknown"), gate(TWO), off(TWO)), []),
    ((off(ONE), gate(TWO, is_open=False), off(TWO)), [TWO]),
    ((off(ONE), gate(ONE), off(ONE)), []),
    ((off(ONE), gate(ONE), off(TWO)), [TWO]),
    ((off(ONE), row("outcome", ONE, offline=True, state="failed"), off(TWO)), [TWO]),
    ((off(ONE), off(TWO), off(THREE)), [TWO, THREE]),
    ((off(ONE), row("outcome", ONE, offline=True, state="done"), off(TWO)), [TWO]),
    ((off(ONE), row("intent", ONE, online=True, state="done"), off(TWO)), [TWO]),
    ((off(ONE), row("end", ONE, open=True), off(TWO)), [TWO]),
    ((off(ONE), row("gate", open=True), off(TWO)), []),
]


@every(REPLAYS)
def test_replay(rows: Sequence[Entry], expected: list[str]) -> None:
    """A cell counts as away from its intent until ASM was seen to have its disks; two at once are reported."""
    assert [overlap.target for overlap in overlaps(rows)] == expected


def test_an_overlap_tells_whose_turn_it_was() -> None:
    """What overlapped is told with the cells that were away and the wave, 0 where the journal has none."""
    assert overlaps((off(ONE), off(TWO))) == (Overlap(target=TWO, away=(ONE,), wave=1),)
    bare = row("intent", TWO, offline=True, wave=None)
    assert overlaps((off(ONE), bare)) == (Overlap(target=TWO, away=(ONE,), wave=0),)
