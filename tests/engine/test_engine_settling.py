"""What is found out of statements whose end nobody recorded."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from engine_desk import Desk, Left
from engine_fakes import CELLS, NODES, Bench

from exacell.change import settling
from exacell.change.resuming import retry
from exacell.change.settling import LATE_LOOKS, drops_to_come, settle
from exacell.change.targets.base import NO_ANSWER, Wanted
from exacell.core.config import POLL
from exacell.plan.model import Check, Op, Step
from exacell.session.state import Options

SIZE = Check(object="asm.diskgroup", attribute="totalMb", value=1)
MEMBERS = Check(object="asm.disk", op=Op.COUNT, value=2)
MOVING = Check(object="asm.operation", op=Op.COUNT, value=1)
NOT_LOST = Check(object="asm.disk", attribute="modeStatus", op=Op.NE, value="DROPPED")

CASES: list[tuple[tuple[Check, ...], Mapping[int, str], str, str]] = [
    ((), {}, "done", "found done"),
    ((), {0: "size"}, "not done", "size"),
    ((), {1: "members"}, "not done", "members"),
    ((), {NO_ANSWER: "silent"}, "unknown", "silent"),
    # What moves data proves nothing before that has ended.
    ((MOVING,), {0: "size"}, "unknown", "still running: size"),
    ((MOVING,), {0: "size", 2: "nothing moves"}, "not done", "size"),
    ((MOVING,), {2: "nothing moves"}, "done", "found done"),
    ((MOVING,), {}, "done", "found done"),
    # Other hopes are for who waits, not for who looks once.
    ((NOT_LOST,), {0: "size"}, "not done", "size"),
    ((NOT_LOST, MOVING), {0: "size"}, "unknown", "still running: size"),
]


@pytest.mark.parametrize(("hopes", "failures", "state", "reason"), CASES)
@pytest.mark.parametrize("asm", ["main", ""])
def test_it_is_done_under_way_or_not_done(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    asm: str,
    hopes: tuple[Check, ...],
    failures: Mapping[int, str],
    state: str,
    reason: str,
) -> None:
    """What was to be proven decides; where a rebalance is hoped for and runs, what is not there yet is unknown."""
    asked: list[Sequence[Check]] = []

    class Told:
        def __init__(self, *_: object) -> None:
            pass

        def failed(self, wanted: Wanted, cancel: object) -> Mapping[str, Mapping[int, str]]:
            assert cancel is desk.session.interrupted
            assert [(target, one.owner) for target, (one, _) in wanted.items()] == [(target, asm or target)]
            asked.extend(checks for _, checks in wanted.values())
            return dict.fromkeys(wanted, failures)

    monkeypatch.setattr(settling, "Targets", Told)
    target = NODES[0] if asm else CELLS[0]
    step = Step(target=target, asm=asm, what="w", statement="ALTER x", proves=(SIZE, MEMBERS), hopes=hopes)
    desk = Desk(bench)
    desk.left(Left("x", [(step, "open")]))
    assert settle(desk.session, desk, 1) == {state: 1}
    (row,) = [row for row in bench.rows() if row.kind == "outcome"]
    assert (row.target, row.body["state"], row.body["reason"]) == (target, state, reason)
    assert asked == [(SIZE, MEMBERS, *([MOVING] if MOVING in hopes else []))]


def dropping(statement: str = "DROP FLASHCACHE", *, caching_off: bool = True, cell: str = CELLS[0]) -> Step:
    return Step(target=cell, what="drop it", statement=statement, proves=(SIZE,), caching_off=caching_off)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds of each pause, which takes no time."""
    found: list[float] = []
    monkeypatch.setattr(settling, "_pause", lambda event, seconds: found.append(seconds))
    return found


def telling(monkeypatch: pytest.MonkeyPatch, *failures: Mapping[int, str]) -> None:
    """Let each look find what fails then, the last of them for ever."""
    left = list(failures)

    class Told:
        def __init__(self, *_: object) -> None:
            pass

        def failed(self, wanted: Wanted, cancel: object) -> Mapping[str, Mapping[int, str]]:
            return dict.fromkeys(wanted, left.pop(0) if len(left) > 1 else left[0])

    monkeypatch.setattr(settling, "Targets", Told)


GONE: Mapping[int, str] = {}
THERE = {0: "it is there"}


@pytest.mark.parametrize(
    ("step", "failures", "state", "waits"),
    [
        (dropping(), [THERE, THERE, THERE, GONE], "done", 3),
        (dropping(), [THERE], "not done", LATE_LOOKS),
        (dropping(), [GONE], "done", 0),
        (dropping(), [{NO_ANSWER: "silent"}], "unknown", 0),
        (dropping("DROP GRIDDISK x", caching_off=False), [THERE, GONE], "not done", 0),
        (dropping("ALTER FLASHCACHE ALL FLUSH NOWAIT"), [THERE, GONE], "not done", 0),
    ],
)
def test_only_a_cache_that_may_yet_be_dropped_is_looked_at_longer(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    pauses: list[float],
    step: Step,
    failures: Sequence[Mapping[int, str]],
    state: str,
    waits: int,
) -> None:
    """A DROP of a cache that was sent just now gets more looks until it is seen, at a real rack's pace; nothing else does."""
    telling(monkeypatch, *failures)
    desk = Desk(bench)
    desk.left(Left("x", [(step, "open")]))
    assert settle(desk.session, desk, 1) == {state: 1}
    assert len(pauses) in range(waits - 1 if waits == LATE_LOOKS else waits, waits + 1) and set(pauses) <= {POLL}


@pytest.mark.parametrize(("failures", "kept"), [(THERE, 0), (GONE, 1)])
def test_a_dry_run_leaves_open_what_may_yet_come(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, pauses: list[float], failures: Mapping[int, str], kept: int
) -> None:
    """Who does not wait journals of a DROP only that it is done, and else nothing at all, so that who waits finds it open."""
    telling(monkeypatch, failures)
    desk = Desk(bench)
    desk.left(Left("x", [(dropping(), "open")]))
    written: list[Sequence[Any]] = []
    real = bench.journal.append
    monkeypatch.setattr(bench.journal, "append", lambda *given: (written.append(given[2]), real(*given)))
    assert sum(settle(desk.session, desk, 1, wait=False).values()) == kept
    assert not pauses and [len(rows) for rows in written] == [1] * kept


def test_a_wait_is_settled_and_counted_among_no_statements(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What resume says of statements whose end was not recorded leaves out steps that sent none, though they get an end."""
    telling(monkeypatch, THERE)
    wait = Step(target=CELLS[0], what="wait for it", proves=(SIZE,))
    sent = Step(target=CELLS[0], what="w", statement="ALTER x", proves=(SIZE,))
    desk = Desk(bench)
    desk.left(Left("x", [(sent, "open"), (wait, "open")]))
    assert settle(desk.session, desk, 1) == {"not done": 1}
    assert [row.body["what"] for row in bench.rows() if row.kind == "outcome"] == ["w", "wait for it"]


def test_each_change_of_a_chain_is_settled_by_its_own_rows(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is open in a change that went on with another one says nothing of the first, which is settled already."""
    telling(monkeypatch, THERE)
    step = Step(target=CELLS[0], what="w", statement="ALTER x", proves=(SIZE,))
    desk = Desk(bench)
    desk.left(Left("x", [(step, "done")]), Left("x", [(step, "open")], body={"finishes": 1}))
    assert settle(desk.session, desk, 1) == {"not done": 1}
    assert [(row.change, row.body["state"]) for row in bench.rows() if row.kind == "outcome"] == [
        (1, "done"),
        (2, "not done"),
    ]


def test_an_interruption_ends_the_looks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is interrupted while he waits looks no more, and what was seen is kept."""
    telling(monkeypatch, THERE)
    desk = Desk(bench)
    desk.left(Left("x", [(dropping(), "open")]))
    count: list[float] = []

    def pause(event: threading.Event, seconds: float) -> None:
        count.append(seconds)
        event.set()

    monkeypatch.setattr(settling, "_pause", pause)
    assert settle(desk.session, desk, 1) == {"not done": 1} and len(count) == 1


COMES = "DROP FLASHCACHE was not answered on exa1cel01: "


@pytest.mark.parametrize(
    ("step", "state", "settled", "told"),
    [
        (dropping(), "open", "", True),
        (dropping(), "unknown: no end", "", True),
        (dropping(), "unknown: no end", "not done", True),
        (dropping(), "open", "not done", True),
        (dropping(), "open", "done", False),
        (dropping(), "done", "", False),
        (dropping(), "failed: CELL-1", "", False),
        (dropping("DROP GRIDDISK x", caching_off=False), "open", "", False),
        (dropping("ALTER FLASHCACHE ALL FLUSH NOWAIT"), "open", "", False),
    ],
)
def test_what_may_yet_drop_a_cache_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, pauses: list[float], step: Step, state: str, settled: str, told: bool
) -> None:
    """A DROP of a cache without an answer is told, also when it was looked for in vain; not one that is done or refused."""
    telling(monkeypatch, GONE if settled == "done" else THERE)
    desk = Desk(bench)
    desk.left(Left("x", [(step, state)]))
    if settled:
        settle(desk.session, desk, 1)
    lines = drops_to_come(desk.journal.whole_state("t1", 1))
    assert [line.startswith(COMES) for line in lines] == [True] * told


@pytest.mark.parametrize(
    ("flags", "dry", "waits"), [({}, False, True), ({"dry-run": True}, False, False), ({}, True, False)]
)
def test_retry_waits_only_when_it_carries_something_out(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, pauses: list[float], flags: dict[str, Any], dry: bool, waits: bool
) -> None:
    """With -n, before the statement or behind it, nothing is waited for."""
    telling(monkeypatch, THERE)
    desk = Desk(bench)
    desk.session.options = Options(yes=True, dry_run=dry)
    step = replace(dropping(), proves=(Check(object="flashcache", op=Op.ABSENT),))
    desk.left(Left("flush flashcache", [(step, "unknown: no end")], end={"exitCode": 1}))
    retry(desk.session, desk, desk.request, flags)
    assert bool(pauses) is waits and desk.done
