"""What earlier changes left behind, as the journal tells: stopped by the user or a gate."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from exacell.change.pending import LOOKED_BACK, half_undone, newest_stopped, pending
from exacell.core.errors import ExitCode
from exacell.journal import actor as actors
from exacell.journal.actor import actor
from exacell.journal.confirming import set_deadline
from exacell.journal.left import CACHES, note_back
from exacell.journal.record import Journal, Row
from exacell.plan.model import Gate, Plan, Stage, Step, Undo, as_data

INTERRUPTED, FAILED = int(ExitCode.INTERRUPTED), int(ExitCode.FAILED)
BACK = {"c1": ["alter iormplan dbplan=((name=A,share=1))"]}


def ended(code: int, **more: Any) -> Row:
    return Row(kind="end", body={"exitCode": code, "done": {"done": 1}, **more})


def parent() -> dict[str, Any]:
    """Who wrote a row, when that is a process that lives and is another one."""
    pid = str(os.getppid())
    return {**actor(), "pid": pid, "started": actors._started(pid)}


DEAD = {**actor(), "pid": "4194305"}
"""Who wrote a row, when no process has that number."""
UNDONE = Row(kind="undone", body={})
ABANDONED = Row(kind="end", body={"exitCode": INTERRUPTED, "done": {"abandoned": 1}})

ROWS = [
    ("interrupted", [ended(INTERRUPTED)], True),
    ("stopped by a gate", [ended(FAILED, stopped="the gate stayed closed")], True),
    ("failed", [ended(FAILED)], False),
    ("done", [ended(0)], False),
    ("interrupted and taken back", [ended(INTERRUPTED), UNDONE], False),
    ("interrupted and left so", [ended(INTERRUPTED), ABANDONED], False),
    ("stopped by a gate and left so", [ended(FAILED, stopped="closed"), ABANDONED], False),
]


@pytest.mark.parametrize(("rows", "told"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_stopped_change_is_told_with_the_ways_out(tmp_path: Path, rows: list[Row], told: bool) -> None:
    """The newest change is pending when the user or a gate stopped it and nobody took it back or left it so."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "resize flashcache size=1g", "plan": {"inverse": BACK}, **actor()})
    journal.append("t1", change, rows)
    found = [(item.state, item.mend, item.sentence) for item in pending(journal, "t1")]
    sentence = (
        "change 1 (resize flashcache size=1g) was stopped before its end: `resume` finishes it, `undo 1` takes "
        "it back, "
        "`resume 1 --abandon` leaves it as it is"
    )
    assert found == ([("stopped", "resume 1", sentence)] if told else [])


def test_what_has_no_inverse_is_not_said_to_be_undone(tmp_path: Path) -> None:
    """undo is offered only where the plan holds an inverse."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "restart service ms", "plan": {"inverse": {}}, **actor()})
    journal.append("t1", change, [ended(INTERRUPTED)])
    assert "undo" not in pending(journal, "t1")[0].sentence


def test_opaque_work_that_was_stopped_is_not_said_to_be_gone_on_with(tmp_path: Path) -> None:
    """Of work that has no plan the sentence sends the user to the targets, and offers only to end the warning."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "sh touch x", **actor()})
    journal.append("t1", change, [ended(INTERRUPTED)])
    (item,) = pending(journal, "t1")
    assert item.mend == "resume 1 --abandon" and "resume finishes it" not in item.sentence
    assert item.sentence.startswith("change 1 (sh touch x) was stopped before its end, and exacell can't read its text")


def test_an_older_change_is_told_no_more(tmp_path: Path) -> None:
    """A change without a plan behind which another one was made is not offered: resume does not go on with it either."""
    journal = Journal(tmp_path / "journal.db")
    for code in (INTERRUPTED, 0):
        change = journal.begin("t1", {"statement": "resize flashcache size=1g", **actor()})
        journal.append("t1", change, [ended(code)])
    assert newest_stopped(journal, "t1") is None and not pending(journal, "t1")


STEPS = [Step(target=target, statement="x", what="flush", undo=Undo.IMPOSSIBLE) for target in ("c1", "c2")]
PLAN = as_data(
    Plan(statement="flush flashcache", rack="t1", stages=(Stage(title="flush", key="f", steps=tuple(STEPS)),))
)


def sent(*targets: str) -> list[Row]:
    """Rows of a statement that was sent and done."""
    intents = [Row(kind="intent", target=target, body={"what": "flush"}) for target in targets]
    return intents + [Row(kind="outcome", target=target, body={"what": "flush", "state": "done"}) for target in targets]


LATER = [
    ("what opened the gate", {}, sent("c1"), [], [1]),
    ("a database node", {}, sent("db1"), [], [1]),
    ("something else on the open cell too", {}, sent("c1", "c2"), [], [1]),
    ("its object on the cell that is done", {"statement": "resize flashcache size=1g"}, sent("c1"), [], [1]),
    ("its object on the open cell", {"statement": "DROP FLASHCACHE"}, sent("c2"), [], []),
    ("resume", {"origin": "resume 1", "finishes": 1}, [], [], []),
    ("retry failed", {"origin": "retry 1", "finishes": 1}, [], [], []),
    ("taken back", {"origin": "undo 1"}, sent("c1"), [UNDONE], []),
    ("left so", {}, sent("c1"), [ABANDONED], []),
    ("a recipe named undo", {"origin": "undo"}, sent("c1"), [], [1]),
]


@pytest.mark.parametrize(("body", "rows", "more", "told"), [row[1:] for row in LATER], ids=[row[0] for row in LATER])
def test_an_older_change_is_told_until_something_took_its_place(
    tmp_path: Path, body: dict[str, Any], rows: list[Row], more: list[Row], told: list[int]
) -> None:
    """A change that was stopped with c2 left is told, and gone on with, also when another change was made since, unless
    that one was about the flash cache of c2 too, or it was resumed, retried, taken back or left so."""
    journal = Journal(tmp_path / "journal.db")
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
    journal.append("t1", first, [*sent("c1"), ended(INTERRUPTED)])
    later = journal.begin("t1", {"statement": "set rebalance power=4", "plan": PLAN, **actor(), **body})
    journal.append("t1", later, [*rows, ended(0)])
    journal.append("t1", first, more)
    assert [item.change for item in pending(journal, "t1")] == told
    assert [item.mend for item in pending(journal, "t1")] == [f"resume {change}" for change in told]


def test_a_stopped_change_is_found_behind_a_closed_one(tmp_path: Path) -> None:
    """Of two changes that were stopped the older one is told when later work closed the newer one."""
    journal = Journal(tmp_path / "journal.db")
    for statement in ("flush flashcache", "set rebalance power=4"):
        change = journal.begin("t1", {"statement": statement, "plan": PLAN, **actor()})
        journal.append("t1", change, [*sent("c1"), ended(INTERRUPTED)])
    assert [item.change for item in pending(journal, "t1")] == [2]
    again = journal.begin("t1", {"statement": "set rebalance power=4", "plan": PLAN, **actor()})
    journal.append("t1", again, [*sent("c1", "c2"), ended(0)])
    assert [item.change for item in pending(journal, "t1")] == [1]


@pytest.mark.parametrize("others", [0, 1])
def test_what_went_on_with_a_change_is_over_when_that_was_taken_back(tmp_path: Path, others: int) -> None:
    """A `resume that was stopped is not told, and nothing` continues it, once the change that it resumed was taken back."""
    journal = Journal(tmp_path / "journal.db")
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
    journal.append("t1", first, [*sent("c1"), ended(INTERRUPTED)])
    on = {"origin": "resume 1", "finishes": 1}
    going = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor(), **on})
    journal.append("t1", going, [ended(INTERRUPTED)])
    for _ in range(others):
        other = journal.begin("t1", {"statement": "set rebalance power=4", "plan": PLAN, **actor()})
        journal.append("t1", other, [*sent("db1"), ended(0)])
    assert [item.change for item in pending(journal, "t1")] == [2]
    journal.append("t1", first, [UNDONE])
    assert not pending(journal, "t1")


def test_what_would_have_mended_is_not_left_open(tmp_path: Path) -> None:
    """A change whose open cell a later one reached is told no more, though its mending was never needed on the others."""
    journal = Journal(tmp_path / "journal.db")
    mend = Step(target="c1", statement="y", what="cancel", undo=Undo.IMPOSSIBLE)
    stages = (
        Stage(title="flush", key="f", steps=tuple(STEPS)),
        Stage(title="mend", key="m", steps=(mend,), gate=Gate.MEND, mends="f"),
    )
    plan = as_data(Plan(statement="flush flashcache", rack="t1", stages=stages))
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": plan, **actor()})
    journal.append("t1", first, [*sent("c1"), ended(INTERRUPTED)])
    later = journal.begin("t1", {"statement": "drop flashcache", "plan": PLAN, **actor()})
    journal.append("t1", later, [*sent("c2"), ended(0)])
    assert not pending(journal, "t1")


def test_an_undo_that_took_back_a_part_is_told_until_the_rest_is(tmp_path: Path) -> None:
    """An undo that ended well without taking all back is told, also when something was observed on its cells since, until
    the change counts as undone."""
    journal = Journal(tmp_path / "journal.db")
    assert half_undone(journal, "t1") is None
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
    journal.append("t1", first, [*sent("c1", "c2"), ended(0)])
    assert half_undone(journal, "t1") is None
    part = journal.begin("t1", {"statement": "x", "plan": PLAN, **actor(), "origin": "undo 1"})
    assert not half_undone(journal, "t1")
    seen = Row(kind="observed", target="c1", body={"caching": "on", "cache": "flashcache"})
    journal.append("t1", part, [*sent("c1"), ended(0), seen])
    (item,) = pending(journal, "t1")
    assert (item.mend, item.state) == ("undo 1", "stopped")
    journal.append("t1", part, [ended(FAILED)])
    assert half_undone(journal, "t1") is None
    journal.append("t1", part, [ended(0)])
    assert half_undone(journal, "t1") is not None
    journal.append("t1", first, [UNDONE])
    assert not pending(journal, "t1")


def test_an_undo_between_two_of_its_statements_is_not_told(tmp_path: Path) -> None:
    """A part that was taken back is told when its process has ended, or is this one, and not while another one is at it."""
    for who, told in ((parent(), False), (actor(), True), (DEAD, True)):
        journal = Journal(tmp_path / f"{who['pid']}.db")
        first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
        journal.append("t1", first, [*sent("c1", "c2"), ended(0)])
        part = journal.begin("t1", {"statement": "x", "plan": PLAN, **who, "origin": "undo 1"})
        journal.append("t1", part, [*sent("c1"), ended(0)])
        assert bool(pending(journal, "t1")) is told


def test_disks_that_opaque_work_left_offline_are_told_beside_it(tmp_path: Path) -> None:
    """Where nothing can go on with a change its disks are told with what brings them back; what resume finishes brings them."""
    dead = {"statement": "dcli", **actor(), "pid": "4194305"}
    statement = "ALTER GRIDDISK ALL INACTIVE"
    off = Row(kind="intent", target="c1", body={"what": "off", "statement": statement, "offline": True})
    for more, told in (({}, ["unfinished", "disks offline"]), ({"plan": {"inverse": {}}}, ["unfinished"])):
        journal = Journal(tmp_path / f"{len(more)}.db")
        change = journal.begin("t1", {**dead, **more})
        journal.append("t1", change, [off, Row(kind="outcome", target="c1", body={"what": "off", "state": "done"})])
        assert [item.state for item in pending(journal, "t1")] == told


def test_a_deadline_is_told_as_of_the_moment_that_is_given(tmp_path: Path) -> None:
    """Whether a change is overdue is judged by the time that pending is asked for, now when none is given."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "disable flashlog db=SPOT", "plan": PLAN, **actor()})
    journal.append("t1", change, [ended(0)])
    until = set_deadline(journal, "t1", change, "disable flashlog db=SPOT", 3600)
    (item,) = pending(journal, "t1")
    assert "waits to be confirmed" in item.sentence
    (item,) = pending(journal, "t1", until + timedelta(hours=1))
    assert "was not confirmed" in item.sentence and until < datetime.now(UTC) + timedelta(hours=1)


def test_a_change_of_another_process_runs_whatever_this_one_let_go(tmp_path: Path) -> None:
    """In a journal that was begun anew the numbers begin anew: what this process has let go is its own change alone."""
    for who, states in ((parent(), []), (actor(), ["unfinished"])):
        journal = Journal(tmp_path / f"{who['pid']}.db")
        change = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **who})
        assert not pending(journal, "t1")
        journal.let_go(change)
        assert [item.state for item in pending(journal, "t1")] == states


def test_what_was_stopped_long_ago_is_told_no_more(tmp_path: Path) -> None:
    """Only the last changes are looked through for one that was stopped: this is done at every start."""
    journal = Journal(tmp_path / "journal.db")
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
    journal.append("t1", first, [*sent("c1"), ended(INTERRUPTED)])
    for number in range(1, LOOKED_BACK + 1):
        later = journal.begin("t1", {"statement": "set rebalance power=4", "plan": PLAN, **actor()})
        journal.append("t1", later, [*sent("db1"), ended(0)])
        assert bool(pending(journal, "t1")) is (number < LOOKED_BACK)


LEFT = [
    (
        "ALTER PMEMCACHE ALL FLUSH NOWAIT",
        "change 1 {left} pmemcache not caching on c1: type `on c1 alter pmemcache all cancel flush`",
    ),
    ("DROP PMEMCACHE", "change 1 {left} no pmemcache on c1: `on c1 create pmemcache all` creates it again"),
    (
        "DROP FLASHCACHE",
        "change 1 {left} no flash cache on c1: `undo 1` creates it again at its old size (`resume` or `retry "
        "failed` continues the change)",
    ),
    (
        "ALTER FLASHCACHE ALL FLUSH NOWAIT",
        "change 1 {left} flash caching off on c1: `flush flashcache` switches it on (or at once: on c1 alter "
        "flashcache "
        "all cancel "
        "flush)",
    ),
]


COMES = "was not answered and may still happen"
UNANSWERED = {
    "DROP FLASHCACHE": f"change 1 may have left no flash cache on c1, where its DROP FLASHCACHE {COMES}: `undo "
    "1` takes it back (`resume` or `retry failed` continues the change)",
    "DROP PMEMCACHE": f"change 1 may have left no pmemcache on c1, where its DROP PMEMCACHE {COMES}: `retry "
    "failed` continues the change (or: on c1 create pmemcache all)",
}


@pytest.mark.parametrize(("state", "left"), [("done", "left"), ("unknown", "may have left")])
@pytest.mark.parametrize(("statement", "sentence"), LEFT, ids=[left[0] for left in LEFT])
def test_a_cache_that_was_left_off_is_told_until_it_is_seen_on(
    tmp_path: Path, statement: str, sentence: str, state: str, left: str
) -> None:
    """A cache that a change left off, or may have left off when its answer was lost, is pending with the statement that
    mends it, until that very cache is seen on."""
    cache, other = ("pmemcache", "flashcache") if "PMEM" in statement else ("flashcache", "pmemcache")
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "flush flashcache", **actor()})
    body = {"statement": statement, "cachingOff": True, "cache": cache}
    outcome = {"state": state, "cachingOff": True, "cache": cache}
    rows = [Row(kind="intent", target="c1", body=body), Row(kind="outcome", target="c1", body=outcome)]
    journal.append("t1", change, [*rows, ended(FAILED)])
    note_back(journal, "t1", CACHES, {"c1": (other,)})
    found = [(item.state, item.sentence) for item in pending(journal, "t1")]
    if state == "unknown":
        sentence = UNANSWERED.get(statement, sentence)
    assert found == [("caching off", sentence.format(left=left))]
    if statement in UNANSWERED and state == "unknown":
        read = Row(kind="outcome", target="c1", body={**outcome, "state": "not done", "settled": True})
        journal.append("t1", change, [read])
        (item,) = pending(journal, "t1")
        assert f"not caching on c1, where its {statement} {COMES}: " in item.sentence
        mends = {
            "DROP FLASHCACHE": "on c1 flush flashcache",
            "DROP PMEMCACHE": "on c1 alter pmemcache all cancel flush",
        }
        assert item.mend == mends[statement]
    note_back(journal, "t1", CACHES, {"c1": (cache,)})
    assert not pending(journal, "t1")


@pytest.mark.parametrize("plan", [True, False])
def test_a_change_that_left_caching_off_names_one_way_to_go_on(tmp_path: Path, plan: bool) -> None:
    """Where resume finishes the change that left caching off, both lines name resume; where it can't, a flush does it."""
    journal = Journal(tmp_path / "journal.db")
    body = {"statement": "flush flashcache", **actor(), "pid": "4194305"}  # No process has this number.
    change = journal.begin("t1", {**body, **({"plan": {"inverse": {}}} if plan else {})})
    intent = {"statement": "ALTER FLASHCACHE ALL FLUSH NOWAIT", "cachingOff": True, "cache": "flashcache"}
    journal.append("t1", change, [Row(kind="intent", target="c1", body=intent)])
    found = {item.state: item for item in pending(journal, "t1")}
    assert ("resume finishes it" in found["unfinished"].sentence) is plan
    assert ("`resume` switches it on too" in found["caching off"].sentence) is plan
    assert ("`flush flashcache` switches it on" in found["caching off"].sentence) is not plan
    assert found["caching off"].sentence.endswith("(or at once: on c1 alter flashcache all cancel flush)")
    assert found["caching off"].mend == "on c1 flush flashcache"


@pytest.mark.parametrize("verb", ["resume", "retry"])
@pytest.mark.parametrize(("end", "told"), [(0, []), (1, []), (None, [2])])
def test_a_change_that_was_gone_on_with_is_told_no_more(
    tmp_path: Path, verb: str, end: int | None, told: list[int]
) -> None:
    """A change that never ended is over when resume or retry failed went on with it; what never ended then is that one."""
    journal = Journal(tmp_path / "journal.db")
    dead = {"statement": "flush flashcache", "plan": {"inverse": {}}, **actor(), "pid": "4194305"}
    journal.begin("t1", dead)
    assert [item.change for item in pending(journal, "t1")] == [1]
    later = journal.begin("t1", {**dead, "origin": f"{verb} 1", "finishes": 1})
    if end is not None:
        journal.append("t1", later, [ended(end)])
    assert [item.change for item in pending(journal, "t1")] == told


@pytest.mark.parametrize(
    "body",
    [
        {"statement": "ALTER FLASHCACHE ALL FLUSH NOWAIT", "cachingOff": True, "cache": "flashcache"},
        {"statement": "ALTER CELL SHUTDOWN SERVICES CELLSRV", "what": "stop"},
    ],
    ids=["caching", "service"],
)
def test_what_a_living_process_is_at_is_not_told(tmp_path: Path, body: dict[str, object]) -> None:
    """A cache and a service that a change has off while its process carries it out are nothing that was left behind; once that
    process is gone they are."""
    for who, told in (({}, False), ({"pid": "4194305"}, True)):
        journal = Journal(tmp_path / f"{len(who)}.db")
        change = journal.begin("t1", {"statement": "s", **actor(), **who, "plan": {"stages": []}})
        rows = [Row(kind="intent", target="c1", body=body)]
        rows.append(Row(kind="outcome", target="c1", body={**body, "state": "done", "statement": ""}))
        journal.append("t1", change, rows)
        states = {item.state for item in pending(journal, "t1")}
        assert states - {"unfinished"} if told else not states


def test_a_warning_of_the_journal_alone_says_so(tmp_path: Path) -> None:
    """Where other hands may have mended it, the line at a start says that no cell was asked; where resume is due it does not."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", {"statement": "offline cell c1", "plan": {"inverse": {}}, **actor()})
    body = {"what": "s", "statement": "ALTER GRIDDISK ALL INACTIVE", "offline": True}
    rows = [
        Row(kind="intent", target="c1", body=body),
        Row(kind="outcome", target="c1", body={**body, "state": "done"}),
    ]
    journal.append("t1", change, [*rows, ended(0)])
    change = journal.begin("t1", {"statement": "restart service ms", "plan": {"inverse": {}}, **actor()})
    journal.append("t1", change, [ended(INTERRUPTED)])
    assert {item.state: item.warning.removeprefix(item.sentence) for item in pending(journal, "t1")} == {
        "disks offline": " (from the journal; `pending` asks the cells)",
        "stopped": "",
    }


LOOSE = {"statement": "flush flashcache", "plan": PLAN, **DEAD, "run": "7"}


@pytest.mark.parametrize("rows", [[], [ended(INTERRUPTED)]], ids=["never ended", "stopped"])
def test_what_is_told_of_as_a_whole_run_is_told_once(tmp_path: Path, rows: list[Row]) -> None:
    """A change of a recipe's run that is gone on with as a whole is no line of its own; one of another run, or of none, is."""
    journal = Journal(tmp_path / "journal.db")
    change = journal.begin("t1", LOOSE)
    journal.append("t1", change, rows)
    assert [item.change for item in pending(journal, "t1")] == [change]
    assert pending(journal, "t1", but={"7"}) == ()
    assert len(pending(journal, "t1", but={"8"})) == 1
    journal.append("t1", journal.begin("t1", {key: LOOSE[key] for key in LOOSE if key != "run"}), rows)
    assert [item.change for item in pending(journal, "t1", but={"7"})] == [2]


def test_a_half_undone_change_of_a_run_is_told_of_with_the_run(tmp_path: Path) -> None:
    """An undo that took back a part is no line of its own either where its run is told of."""
    journal = Journal(tmp_path / "journal.db")
    first = journal.begin("t1", {"statement": "flush flashcache", "plan": PLAN, **actor()})
    journal.append("t1", first, [*sent("c1", "c2"), ended(0)])
    part = journal.begin("t1", {"statement": "x", "plan": PLAN, **actor(), "origin": "undo 1", "run": "7"})
    journal.append("t1", part, [*sent("c1"), ended(0)])
    assert [item.mend for item in pending(journal, "t1", but={"8"})] == ["undo 1"]
    assert pending(journal, "t1", but={"7"}) == ()
