"""A plan's way through a session: what stands in it before anybody is asked, what a dry run says, what counts as made again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_desk import Desk
from engine_fakes import CELLS, Bench

from exacell.change import changing
from exacell.change.changing import _made_again, carry_out, refuse_read_only
from exacell.change.racklock import lock_of
from exacell.core.errors import ExitCode, MovedError, RefusedError
from exacell.language.registry import commands
from exacell.output.result import Result
from exacell.plan.model import Plan, Planned, Stage, Step, Undo
from exacell.plan.planners.flashcache import NEW
from exacell.session.request import Request
from exacell.session.saved import Expected, SavedPlan
from exacell.session.state import Options

STEP = Step(target=CELLS[0], what="cache", statement="ALTER FLASHCACHE ALL CANCEL FLUSH")
PLAN = Plan(statement="flush flashcache", rack="t1", stages=(Stage(title="cache", steps=(STEP,)),))
SAVED = SavedPlan(name="monday", rack="t1", statement="s", cells=(), facts={}, stages="[]", made="")
IDLE = Plan(statement="flush flashcache", rack="t1", done={CELLS[0]: "it is so already"})


@pytest.fixture
def desk(bench: Bench) -> Desk:
    """A session with an empty journal."""
    return Desk(bench)


def carried(desk: Desk, plan: Plan = PLAN, afterwards: str = "", **flags: Any) -> Result:
    planned, given = Planned(plan, afterwards=afterwards), desk.session.options.over({"yes": True, **flags})
    return carry_out(desk.session, desk, desk.request, planned, given, commands()["flush", "flashcache"].flags)


def test_what_is_agreed_to_is_sent(desk: Desk) -> None:
    """Nothing stands in the way of a plan that may be carried out."""
    assert carried(desk).exit_code is ExitCode.DONE
    assert desk.bench.transport.sent == [(CELLS[0], STEP.statement)]


@pytest.mark.parametrize("afterwards", ["", "`list diagpack` shows when it is ready"])
def test_how_it_goes_on_afterwards_is_said_last(desk: Desk, afterwards: str) -> None:
    """What tells when a change is done in the end is said behind it; where there is nothing of that kind nothing is."""
    carried(desk, afterwards=afterwards)
    assert (desk.bench.console.said[-1:] == [afterwards]) is bool(afterwards) and "" not in desk.bench.console.said


@pytest.mark.parametrize(
    "guard",
    [
        "refuse_plan",
        "refuse_read_only",
        "refuse_above",
        "refuse_login",
        "refuse_other_plan",
        "agree",
        "refuse_unrevertible",
    ],
)
def test_each_guard_is_asked_before_anything_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch, guard: str) -> None:
    """What the transport can't carry, read-only, a recipe's ceiling, the login, another plan than was kept, no consent, and what
    can't revert by itself end a change before a row is written or anything sent."""

    def refuse(*_: object, **__: object) -> None:
        raise RefusedError(f"by {guard}")

    monkeypatch.setattr(changing, guard, refuse)
    desk.request = Request(expected=Expected(SAVED))  # What it is compared with is the guard's.
    monkeypatch.setattr(changing, "refuse_other_plan", refuse if guard == "refuse_other_plan" else lambda *_: None)
    within = {"confirm-within": 60.0} if guard == "refuse_unrevertible" else {}
    with pytest.raises(RefusedError, match=f"by {guard}"):
        carried(desk, **within)
    assert (desk.bench.transport.sent, desk.bench.rows()) == ([], [])


def test_a_damaged_journal_and_a_held_lock_end_it_before_anybody_is_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked to confirm what is refused then."""
    monkeypatch.setattr(changing, "agree", lambda *_: pytest.fail("somebody was asked"))
    for owner, guard in (
        (desk.journal, "refuse_damaged"),
        (lock_of(desk.session.need_rack(), desk.session.home.state_dir), "refuse_held"),
    ):

        def refuse(guard: str = guard) -> None:
            raise RefusedError(f"by {guard}")

        with monkeypatch.context() as patch:
            patch.setattr(type(owner), guard, lambda _, refuse=refuse: refuse())
            with pytest.raises(RefusedError, match=f"by {guard}"):
                carried(desk)
    assert (desk.bench.transport.sent, desk.bench.rows()) == ([], [])


def test_what_has_moved_refuses_only_what_would_change_something(desk: Desk) -> None:
    """A kept plan whose goal is reached is not refused, whatever has moved."""
    expected = Expected(SAVED)
    expected.moved = MovedError("it has moved")
    desk.request = Request(expected=expected)
    assert carried(desk, IDLE).records == [{"cell": CELLS[0], "outcome": "nothing to do", "detail": "it is so already"}]
    with pytest.raises(MovedError, match="it has moved"):
        carried(desk)
    assert (desk.bench.transport.sent, desk.bench.rows()) == ([], [])


@pytest.mark.parametrize(("detailed", "code"), [(False, ExitCode.DONE), (True, ExitCode.CHANGES)])
def test_a_dry_run_sends_nothing_and_says_so(desk: Desk, detailed: bool, code: ExitCode) -> None:
    """Its exit code tells that something would change where that was asked for."""
    result = carried(desk, **{"dry-run": True, "detailed-exitcode": detailed})
    assert result.exit_code is code and [row["outcome"] for row in result.records] == ["planned"]
    assert (desk.bench.transport.sent, desk.bench.rows()) == ([], [])


@pytest.mark.parametrize(("quiet", "yes", "shown"), [(True, True, False), (True, False, True), (False, True, True)])
def test_a_plan_is_shown_unless_it_is_quietly_agreed_to(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, quiet: bool, yes: bool, shown: bool
) -> None:
    """Who is to confirm a plan sees it, quiet or not."""
    desk.session.options = Options(quiet=quiet)
    plans: list[Plan] = []
    monkeypatch.setattr(desk.console, "show_plan", lambda plan, *, brief=False: plans.append(plan))
    carried(desk, **{"yes": yes, "dry-run": True})
    assert bool(plans) is shown


@pytest.mark.parametrize(
    ("monitor", "says"),
    [(True, r"\(with -m\)"), (False, r"\(type `set mode rw` to change that\)")],
    ids=["monitor", "mode"],
)
def test_read_only_says_what_made_it_so(desk: Desk, monitor: bool, says: str) -> None:
    """The way out fits how the session became read-only; one that is not may change its rack."""
    refuse_read_only(desk.session)
    desk.session.options = Options(monitor=monitor)
    desk.set_mode(read_only=True)
    with pytest.raises(RefusedError, match=says):
        refuse_read_only(desk.session)


@pytest.mark.parametrize(
    ("step", "before", "plain"),
    [
        ({"undo": Undo.IMPOSSIBLE, "inverse": NEW}, {CELLS[0]}, True),
        ({"undo": Undo.IMPOSSIBLE, "inverse": NEW}, {CELLS[1]}, False),
        ({"undo": Undo.IMPOSSIBLE, "inverse": "gone"}, {CELLS[0]}, False),
        ({"undo": Undo.STATEMENT, "inverse": NEW}, {CELLS[0]}, False),
    ],
)
def test_a_cache_that_is_made_again_has_its_old_inverse(step: dict[str, Any], before: set[str], plain: bool) -> None:
    """That there was none before is not said of a cell whose first attempt knows what was there; all else is left as it is."""
    given = replace(STEP, **step)
    made = _made_again(given, dict.fromkeys(before, ()))
    assert made == (replace(given, undo=Undo.NOTHING, inverse="") if plain else given)
