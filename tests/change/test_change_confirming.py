"""Which changes wait to be confirmed, as their rows in the journal tell; the guardian's waiting, on a clock of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from exacell.change.guardian import LATE, LOOK, watch
from exacell.change.pending import pending
from exacell.change.sentry import Errand
from exacell.core.errors import MovedError, RefusedError
from exacell.journal.actor import actor
from exacell.journal.confirming import (
    LONGEST,
    Deadline,
    WaitingRun,
    confirm,
    deadlines,
    note_reverted,
    note_reverting,
    open_deadlines,
    refuse_ungathered,
    refuse_unrevertible,
    set_deadline,
)
from exacell.journal.record import Journal, Row
from exacell.language.line import parse_line
from exacell.plan.model import Gate, Plan, Risk, Stage, Step, Undo

DEAD = {"user": "u", "host": actor()["host"], "pid": "4194305"}
"""No process has this number: Linux gives at most 4194304. Source: proc(5), /proc/sys/kernel/pid_max."""
ALIVE = actor()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal with one ended change of rack t1."""
    made = Journal(tmp_path / "journal.db")
    change = made.begin("t1", {"statement": "disable flashlog db=SPOT", **actor()})
    made.append("t1", change, [Row(kind="end", body={"exitCode": 0})])
    return made


def row(kind: str, body: dict[str, object]) -> Row:
    return Row(kind=kind, body=body)


GUARDED = row("guardian", ALIVE)
LOST = row("guardian", DEAD)
TRYING = row("reverting", {})
TRIED = row("reverted", {"state": "failed", "reason": "cel02 is away"})
AGAIN = row("reverted", {"state": "failed", "reason": "cel02 is away", "again": True})
KEPT = row("confirmed", {"unguarded": False})

SENTENCES: list[tuple[str, list[Row], float, str]] = [
    ("guarded", [GUARDED], 60, r"^change 1 \(disable flashlog db=SPOT\) is taken back at .*: `confirm 1` keeps it$"),
    ("guardian dead", [LOST], 60, "waits to be confirmed by .*, but its guardian has ended: `confirm 1` .*undo 1`"),
    ("never guarded", [], 60, "waits to be confirmed by .*, but its guardian has ended: `confirm 1` .*undo 1`"),
    ("overdue and dead", [LOST], -60, "was not confirmed by .*, and its guardian has ended: `confirm 1` .*undo 1`"),
    ("overdue and guarded", [GUARDED], -60, "is being taken back by process"),
    ("begun and dead", [LOST, TRYING], -60, "was being taken back when its guardian process ended: `confirm 1` .*undo 1`"),
    ("failed", [LOST, TRYING, TRIED], -60, "could not be taken back: cel02 is away; `confirm 1` .*undo 1`"),
    ("failed, will try again", [GUARDED, TRYING, AGAIN], -60, "back: cel02 is away; process .* tries it again; `confirm 1"),
    ("failed, gave up", [GUARDED, TRYING, AGAIN, TRYING, TRIED], -60, "not be taken back: cel02 is away; `confirm 1`"),
    ("failed, then dead", [LOST, TRYING, AGAIN], -60, "not be taken back: cel02 is away; `confirm 1`"),
    ("confirmed between two attempts", [GUARDED, TRYING, AGAIN, KEPT], -60, ""),
    ("failed, tries again", [GUARDED, TRYING, TRIED, TRYING], -60, "is being taken back by process"),
    ("confirmed after a failure", [GUARDED, TRYING, TRIED, KEPT], -60, ""),
    ("confirmed too late", [GUARDED, TRYING, KEPT], -60, "is being taken back by process"),
    ("confirmed", [GUARDED, KEPT], 60, ""),
    ("taken back", [GUARDED, TRYING, row("reverted", {"state": "done"})], -60, ""),
    ("kept after its guardian died", [LOST, TRYING, row("confirmed", {"unguarded": True})], -60, ""),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "seconds", "said"), [s[1:] for s in SENTENCES], ids=[s[0] for s in SENTENCES])
def test_what_is_pending_is_one_line_with_the_way_out(
    journal: Journal, rows: list[Row], seconds: float, said: str
) -> None:
    """It should say in one line what waits and which statement ends it, and nothing when nothing waits."""
    set_deadline(journal, "t1", 1, "disable flashlog db=SPOT", seconds)
    for item in rows:
        journal.append("t1", 1, [item])
    told = [item.sentence for item in pending(journal, "t1")]
    assert len(told) == (1 if said else 0)
    if said:
        import re

        assert re.search(said, told[0]), told[0]


DONE = Row(kind="outcome", target="c1", body={"what": "w", "state": "done"})
ENDED = row("end", {"exitCode": 0, "done": {"done": 1}})
CUT_OFF: list[tuple[str, dict[str, str], list[Row], bool]] = [
    ("killed behind its end", DEAD, [DONE, ENDED], True),
    ("alive", ALIVE, [DONE, ENDED], False),
    ("killed before its end", DEAD, [DONE], False),
    ("nothing done", DEAD, [row("outcome", {"state": "failed"}), ENDED], False),
    ("abandoned", DEAD, [DONE, row("end", {"exitCode": 4, "done": {"abandoned": 1}})], False),
    ("undone", DEAD, [DONE, ENDED, row("undone", {"by": 9})], False),
    ("confirmed", DEAD, [DONE, ENDED, row("confirmed", {"unguarded": True})], False),
    ("reverted", DEAD, [DONE, ENDED, row("reverted", {"state": "done"})], False),
]


@pytest.mark.parametrize(("who", "rows", "waits"), [c[1:] for c in CUT_OFF], ids=[c[0] for c in CUT_OFF])
def test_a_change_that_was_killed_before_its_deadline_stood_waits(
    tmp_path: Path, who: dict[str, str], rows: list[Row], waits: bool
) -> None:
    """It should tell a change whose process was killed between its end and its deadline's row, until somebody decides."""
    journal = Journal(tmp_path / "other.db")
    change = journal.begin("t1", {"statement": "s", **who, "confirmWithin": 60.0, "plan": {}})
    for item in rows:
        journal.append("t1", change, [item])
    told = open_deadlines(journal, "t1")
    assert [(item.change, item.guarded) for item in told] == ([(1, False)] if waits else [])
    assert open_deadlines(journal, "t2") == ()
    if waits:
        assert 0 < (told[0].until - datetime.now(UTC)).total_seconds() <= 60
        assert [item.change for item in confirm(journal, "t1", None)] == [change]
        assert open_deadlines(journal, "t1") == ()


def test_a_change_that_was_gone_on_with_waits_under_its_first_number(tmp_path: Path) -> None:
    """It should tell the number of the change that was resumed, not that of the plan that finished it, and only once."""
    journal = Journal(tmp_path / "other.db")
    journal.begin("t1", {"statement": "s", **DEAD, "confirmWithin": 60.0})
    second = journal.begin("t1", {"statement": "s", **DEAD, "confirmWithin": 60.0, "finishes": 1, "origin": "resume 1"})
    journal.append("t1", second, [DONE, ENDED])
    assert [item.change for item in open_deadlines(journal, "t1")] == [1]
    set_deadline(journal, "t1", 1, "s", 60)
    assert [item.change for item in open_deadlines(journal, "t1")] == [1]


def test_what_was_taken_back_after_it_was_gone_on_with_waits_no_more(tmp_path: Path) -> None:
    """It should look for what took a change back among its own rows, also where another change finished it."""
    journal = Journal(tmp_path / "other.db")
    journal.begin("t1", {"statement": "s", **DEAD, "confirmWithin": 60.0})
    second = journal.begin("t1", {"statement": "s", **DEAD, "confirmWithin": 60.0, "finishes": 1, "origin": "resume 1"})
    journal.append("t1", second, [DONE, ENDED])
    assert open_deadlines(journal, "t1")
    journal.append("t1", 1, [row("undone", {"by": 9})])
    assert open_deadlines(journal, "t1") == ()


def test_a_guardian_guards_its_own_change_only(journal: Journal) -> None:
    """It should not take the guardian of one change, or of one run, for that of another that waits beside it."""
    numbers = [1, *(journal.begin("t1", {"statement": "b", **actor()}) for _ in range(4))]
    for change, run in zip(numbers, (0, 2, 2, 4, 0), strict=True):
        set_deadline(journal, "t1", change, "s", 60, run=run)
        if change in (1, 2):
            journal.append("t1", change, [GUARDED])
    assert [(item.change, item.guarded) for item in open_deadlines(journal, "t1")] == [
        (1, True),
        (2, True),
        (3, True),
        (4, False),
        (5, False),
    ]


def test_who_takes_back_what_does_not_wait_writes_nothing(journal: Journal) -> None:
    """It should add no row about a change that was confirmed, or never waited."""
    note_reverted(journal, "t1", 1)
    set_deadline(journal, "t1", 1, "s", 60)
    confirm(journal, "t1", 1)
    note_reverted(journal, "t1", 1, reason="late")
    assert [entry.kind for entry in journal.entries()] == ["plan", "end", "deadline", "confirmed"]


def test_another_racks_changes_do_not_wait_here(journal: Journal) -> None:
    """It should list the changes of the asked rack only."""
    set_deadline(journal, "t1", 1, "s", 60)
    assert [item.change for item in open_deadlines(journal, "t1")] == [1]
    assert open_deadlines(journal, "t2") == ()


def test_confirm_keeps_all_or_the_one_that_is_named(journal: Journal) -> None:
    """It should keep every waiting change, or the named one; one that does not wait is refused with those that do."""
    second = journal.begin("t1", {"statement": "b", **actor()})
    for change in (1, second):
        set_deadline(journal, "t1", change, "s", 60)
    with pytest.raises(RefusedError, match="change 9 of rack t1 is not waiting") as refused:
        confirm(journal, "t1", 9)
    assert refused.value.hint == "waiting: 1, 2"
    assert [item.change for item in confirm(journal, "t1", second)] == [second]
    assert [item.change for item in confirm(journal, "t1", None)] == [1]
    with pytest.raises(RefusedError, match="no change of t1 is waiting"):
        confirm(journal, "t1", None)


def test_confirm_keeps_what_it_is_not_too_late_for(journal: Journal) -> None:
    """It should keep all that still can be kept when one is being taken back, and say both."""
    for change in (
        1,
        journal.begin("t1", {"statement": "b", **actor()}),
        journal.begin("t1", {"statement": "c", **actor()}),
    ):
        set_deadline(journal, "t1", change, "s", 60)
        journal.append("t1", change, [GUARDED])
    assert note_reverting(journal, "t1", 2)
    with pytest.raises(RefusedError, match=r"change 2 .*is being taken back by process .*; kept: 1, 3"):
        confirm(journal, "t1", None)
    assert [item.change for item in open_deadlines(journal, "t1")] == [2]


def test_somebody_may_decide_between_two_attempts(journal: Journal) -> None:
    """It should tell why an attempt failed while the guardian waits for the next one, and let a confirmation end it."""
    set_deadline(journal, "t1", 1, "s", 60)
    told: list[str] = []

    def decide() -> None:
        told.extend(item.sentence for item in pending(journal, "t1"))
        confirm(journal, "t1", 1)

    clock = Clock({65: decide})
    assert guard(journal, clock, ["the lock is held"])[0] == "ended by somebody else"
    (line,) = told
    assert "the lock is held; process" in line and "tries it again" in line
    assert pending(journal, "t1") == ()


def test_the_first_of_confirm_and_guardian_wins(journal: Journal) -> None:
    """It should let a confirmation stop the guardian before it begins, and tell one that comes later that it is late."""
    set_deadline(journal, "t1", 1, "s", -1)
    journal.append("t1", 1, [GUARDED])
    assert note_reverting(journal, "t1", 1)
    with pytest.raises(RefusedError, match="is being taken back") as refused:
        confirm(journal, "t1", None)
    assert "too late" in refused.value.hint
    note_reverted(journal, "t1", 1)
    second = journal.begin("t1", {"statement": "b", **actor()})
    set_deadline(journal, "t1", second, "b", -1)
    journal.append("t1", second, [GUARDED])
    confirm(journal, "t1", second)
    assert not note_reverting(journal, "t1", second)


# -- the guardian ----------------------------------------------------------------------------------------------------


class Clock:
    """Time that passes when somebody sleeps; ``then`` happens at its time."""

    def __init__(self, then: dict[float, Callable[[], object]] | None = None) -> None:
        self.at = datetime.now(UTC)
        self.begin = self.at
        self.passed = 0.0
        self.then = dict(then or {})

    def now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.passed += seconds
        for when in [w for w in self.then if w <= (self.at - self.begin).total_seconds()]:
            self.then.pop(when)()


def guard(journal: Journal, clock: Clock, answers: list[str]) -> tuple[str, list[float]]:
    """Return how the watch over change 1 ended and after how many seconds it tried."""
    tried: list[float] = []

    def revert(item: object) -> str:
        tried.append(round((clock.now() - clock.begin).total_seconds()))
        return answers.pop(0)

    return watch(
        journal, Errand(rack="t1", change=1), revert, now=clock.now, ticks=lambda: clock.passed, sleep=clock.sleep
    ), tried


def test_the_guardian_waits_for_the_deadline(journal: Journal) -> None:
    """It should take the change back at the deadline and not before, once, and leave nothing pending."""
    set_deadline(journal, "t1", 1, "s", 1800)
    assert guard(journal, Clock(), [""]) == ("reverted", [1800])
    assert pending(journal, "t1") == ()
    assert [e.kind for e in journal.entries()][-3:] == ["guardian", "reverting", "reverted"]


def test_what_has_moved_ends_the_attempts(journal: Journal) -> None:
    """It should try no more once somebody has changed what the change left, and tell that nobody tries it again."""
    set_deadline(journal, "t1", 1, "s", 60)
    tried: list[object] = []

    def revert(item: object) -> str:
        tried.append(item)
        if len(tried) == 1:
            return "the lock is held"
        raise MovedError("it has been changed since")

    clock = Clock()
    ended = watch(
        journal, Errand(rack="t1", change=1), revert, now=clock.now, ticks=lambda: clock.passed, sleep=clock.sleep
    )
    (line,) = (item.sentence for item in pending(journal, "t1"))
    assert (ended, len(tried)) == ("failed", 2)
    assert "could not be taken back: it has been changed since; `confirm 1` keeps it" in line and "again" not in line


def test_the_last_attempt_says_that_nobody_tries_again(journal: Journal) -> None:
    """Each attempt that failed tells whether another one follows."""
    set_deadline(journal, "t1", 1, "s", -1)
    errand = Errand(rack="t1", change=1)
    assert watch(journal, errand, lambda item: "away", sleep=lambda _: None, tries=(0.0, 0.0)) == "failed"
    assert [e.body["again"] for e in journal.entries() if e.kind == "reverted"] == [True, False]


def test_the_guardian_does_not_sleep_beyond_the_deadline(journal: Journal) -> None:
    """It should look again at the deadline, however near that is, and now and then before."""
    set_deadline(journal, "t1", 1, "s", 60)
    clock, naps = Clock(), []

    def sleep(seconds: float) -> None:
        naps.append((clock.passed, seconds))
        clock.sleep(seconds)

    errand = Errand(rack="t1", change=1)
    assert watch(journal, errand, lambda _: "", now=clock.now, ticks=lambda: clock.passed, sleep=sleep) == "reverted"
    waits = [(passed, seconds) for passed, seconds in naps if passed < 60]
    assert len(waits) > 2 and all(passed + seconds <= 60.02 for passed, seconds in waits)
    assert max(seconds for _, seconds in waits) == LOOK


def test_a_confirmation_ends_the_waiting(journal: Journal) -> None:
    """It should do nothing when the change was confirmed in time, and end soon after that."""
    set_deadline(journal, "t1", 1, "s", 1800)
    clock = Clock({600: lambda: confirm(journal, "t1", 1)})
    assert guard(journal, clock, []) == ("confirmed", [])
    assert (clock.at - clock.begin).total_seconds() < 610


def test_a_clock_that_jumps_is_noticed(journal: Journal) -> None:
    """It should act when the time has come, also when the host slept or its clock was set."""
    set_deadline(journal, "t1", 1, "s", 86400)
    clock = Clock()
    clock.then[10] = lambda: setattr(clock, "at", clock.at + timedelta(days=2))
    ended, tried = guard(journal, clock, [""])
    assert ended == "reverted" and tried[0] < 2 * 86400 + 20


@pytest.mark.parametrize("back", [60, 3600, 10 * 86400])
def test_a_clock_that_is_set_back_delays_nothing(journal: Journal, back: int) -> None:
    """It should take the change back when so much time has passed as was told, whatever the clock says by then."""
    set_deadline(journal, "t1", 1, "s", 1800)
    clock = Clock()
    clock.then[600] = lambda: setattr(clock, "at", clock.at - timedelta(seconds=back))
    ended, _ = guard(journal, clock, [""])
    assert ended == "reverted" and 1790 <= clock.passed <= 1800


def test_it_tries_again_and_says_why_it_failed(journal: Journal) -> None:
    """It should try again when a lock is held or a cell is away, and leave the reason when it gives up."""
    set_deadline(journal, "t1", 1, "s", 60)
    ended, tried = guard(journal, Clock(), ["locked", "locked", ""])
    assert ended == "reverted" and len(tried) == 3 and tried == sorted(set(tried))
    second = journal.begin("t1", {"statement": "b", **actor()})
    set_deadline(journal, "t1", second, "b", 60)
    clock = Clock()
    ended = watch(
        journal, Errand(rack="t1", change=second), lambda item: "cel02 is away", now=clock.now, sleep=clock.sleep
    )
    assert ended == "failed"
    assert [d.failed for d in deadlines(journal.entries())] == ["cel02 is away"]


# -- refused up front ------------------------------------------------------------------------------------------------


def plan(undo: Undo = Undo.STATEMENT, inverse: str = "i", *, back: bool = True, risk: Risk = Risk.NONE) -> Plan:
    step = Step(target="c1", what="w", statement="S", undo=undo, inverse=inverse, risk=risk)
    taken_back = {"c1": ("back",)} if back else {}
    return Plan(statement="s", rack="r", stages=(Stage(title="t", steps=(step,)),), inverse=taken_back)


def of_asm(*, back: bool = True, beside: bool = False) -> Plan:
    """A change on two nodes of an ASM cluster whose inverse is known for the first; ``beside`` on a cell too."""
    steps = [Step(target=node, what="w", statement="S", undo=Undo.STATEMENT, asm="main") for node in ("db1", "db2")]
    steps += [Step(target="c2", what="w", statement="S", undo=Undo.STATEMENT)] if beside else []
    stages = (Stage(title="t", steps=tuple(steps)),)
    return Plan(statement="s", rack="r", stages=stages, inverse={"db1": ("back",)} if back else {})


REFUSED = [
    (plan(back=False), 60.0, "could not be taken back on c1, because no inverse is known; nothing was sent"),
    (plan(Undo.IMPOSSIBLE, "it is gone", back=False), 60.0, "on c1, because it is gone; nothing was sent"),
    (plan(risk=Risk.DATA), 60.0, r"it loses something that can't be restored \(data\); nothing was sent"),
    (plan(Undo.NOTHING, back=False), 60.0, "taken back on c1, because no inverse is known"),
    (plan(Undo.IMPOSSIBLE, "", back=False), 60.0, "on c1, because no inverse is known; nothing was sent"),
    (replace(plan(), loss=("c1",), loss_reasons={"c1": "x"}), 60.0, "it loses something that can't be restored"),
    (of_asm(back=False), 60.0, r"on db\[1-2\], because no inverse is known"),
    (of_asm(beside=True), 60.0, "on c2, because no inverse is known"),
    (plan(), -1.0, "the time must be greater than 0"),
    (plan(), 0.0, "the time must be greater than 0"),
    (plan(), 8 * 86400.0, "at most 168h"),
]


@pytest.mark.parametrize(("made", "seconds", "said"), REFUSED)
def test_what_has_no_inverse_is_refused_up_front(made: Plan, seconds: float, said: str) -> None:
    """It should refuse a change that could not be taken back, saying why, before anything is sent."""
    with pytest.raises(RefusedError, match=said):
        refuse_unrevertible(made, seconds)


def test_what_has_an_inverse_may_be_guarded() -> None:
    """It should accept a plan with an inverse on every target that it changes, up to a week; of ASM one node's suffices."""
    refuse_unrevertible(plan(), 1800.0)
    refuse_unrevertible(plan(), LONGEST)
    refuse_unrevertible(of_asm(), 60.0)
    idle = Step(target="c9", what="w", statement="S", undo=Undo.NOTHING)
    refuse_unrevertible(replace(plan(), stages=(*plan().stages, Stage(title="t", steps=(idle,)))), 60.0)


def test_what_only_mends_needs_no_inverse() -> None:
    """It should accept a plan whose mending steps have no inverse: they bring back what was, and may never be sent."""
    mends = Step(target="c9", what="w", statement="S", undo=Undo.IMPOSSIBLE)
    stage = Stage(title="t", gate=Gate.MEND, mends="k", steps=(mends,))
    refuse_unrevertible(replace(plan(), stages=(*plan().stages, stage)), 60.0)
    with pytest.raises(RefusedError, match="could not be taken back on c9"):
        refuse_unrevertible(replace(plan(), stages=(*plan().stages, replace(stage, gate=Gate.EACH))), 60.0)


@pytest.mark.parametrize(
    "statement",
    [
        "run reset_cold --confirm-within=30m",
        "host true --confirm-within=30m",
        "resize flashcache size=1g --confirm-within 30m",
        "show flashcache --confirm-within=30m",
        "alter iormplan objective=basic --confirm-within 30m -y",
    ],
)
def test_it_stands_behind_changes_and_recipes(statement: str) -> None:
    """It should let --confirm-within stand behind whatever is planned, a recipe as well; host's words are its own."""
    line = parse_line(statement)
    assert line is not None
    refuse_ungathered(line)


def run_of(journal: Journal, seconds: float, *, going_on: bool) -> WaitingRun:
    """Three changes of a run whose deadline is so many seconds from now; the third is the last one made."""
    waiting = WaitingRun(within=seconds)
    for number in (1, 2, 3):
        if number > 1:
            journal.begin("t1", {"statement": f"change {number}", **actor()})
        waiting.changes[number] = f"change {number}"
        set_deadline(journal, "t1", number, f"change {number}", seconds, run=waiting.first, going_on=True)
        if number == 1:
            journal.append("t1", 1, [GUARDED])
    if not going_on:
        waiting.over(journal, "t1")
    return waiting


def test_a_run_waits_as_a_whole(journal: Journal) -> None:
    """It should tell a run by its first change, and confirm all of it by any of its numbers."""
    run_of(journal, 60, going_on=False)
    (told,) = pending(journal, "t1")
    assert (told.change, told.state) == (1, "unconfirmed") and "with the later changes of its run" in told.sentence
    assert [item.guarded for item in open_deadlines(journal, "t1")] == [True] * 3
    assert [item.change for item in confirm(journal, "t1", 2)] == [1, 2, 3]
    assert not open_deadlines(journal, "t1")


def test_a_run_that_goes_on_is_not_overdue(journal: Journal) -> None:
    """It should let the time begin with the run's end, or with the end of the process that runs it."""
    waiting, later = run_of(journal, -60, going_on=True), datetime.now(UTC)
    assert not any(item.overdue(later) for item in open_deadlines(journal, "t1"))
    body = {"until": later.isoformat(), "within": 1.0, "statement": "x", "run": 1, "open": True, **DEAD}
    journal.append("t1", 3, [row("deadline", body)])
    assert [item.overdue(later) for item in open_deadlines(journal, "t1")] == [False, False, True]
    assert waiting.over(journal, "t1") is not None
    assert all(item.overdue(later) for item in open_deadlines(journal, "t1"))


def test_the_end_of_a_run_sets_no_new_time_for_what_was_confirmed(journal: Journal) -> None:
    """It should let what was kept while the run went on wait no more."""
    waiting = run_of(journal, 60, going_on=True)
    journal.append("t1", 2, [KEPT])
    assert waiting.over(journal, "t1") is not None
    assert [item.change for item in open_deadlines(journal, "t1")] == [1, 3]


def test_the_guardian_of_a_run_that_is_late_looks_now_and_then(journal: Journal) -> None:
    """It should look once a second while a run goes on behind its time: the journal is also others' to read and write."""
    run_of(journal, -60, going_on=True)
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 5:
            confirm(journal, "t1", 1)

    assert watch(journal, Errand(rack="t1", change=1), str, sleep=sleep) == "confirmed"
    assert naps == [LATE] * 5 + [0.0]


def test_the_guardian_of_a_run_takes_back_what_still_waits(journal: Journal) -> None:
    """It should go on with the run's next change where its first one was taken back by hand, and end as reverted."""
    run_of(journal, -60, going_on=False)
    note_reverted(journal, "t1", 1)
    asked: list[int] = []

    def revert(item: Deadline) -> str:
        asked.append(item.change)
        for number in (2, 3):
            note_reverted(journal, "t1", number)
        return ""

    assert watch(journal, Errand(rack="t1", change=1), revert, sleep=lambda _: None) == "reverted"
    assert asked == [2] and not open_deadlines(journal, "t1")


def test_a_run_that_is_being_taken_back_is_not_confirmed(journal: Journal) -> None:
    """It should refuse to keep the rest of a run of which the first change is being taken back."""
    run_of(journal, -60, going_on=False)
    note_reverting(journal, "t1", 1)
    with pytest.raises(RefusedError, match="is being taken back by process"):
        confirm(journal, "t1", 3)
    assert [item.change for item in open_deadlines(journal, "t1")] == [1, 2, 3]


def test_what_can_not_be_read_can_not_be_taken_back() -> None:
    """It should refuse --confirm-within given before an opaque statement."""
    line = parse_line("host true")
    assert line is not None
    with pytest.raises(RefusedError, match="it can't read this one"):
        refuse_ungathered(dataclasses.replace(line, flags={"confirm-within": 60.0}))
