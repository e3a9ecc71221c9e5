"""Who may agree to a plan: -y to what loses nothing, names to a loss, nobody when nobody is there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exacell.change.consent import accepted_loss, agree, ask, is_asked, refuse_above
from exacell.core.errors import RefusedError
from exacell.output.console import SilentConsole
from exacell.plan.model import Plan, Risk

LOST = ("exa1cel01", "DATA")


class Person(SilentConsole):
    """Answers questions from a list; keeps them."""

    def __init__(self, *answers: str | bool | None) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[str] = []
        self.details: Callable[[], None] | None = None

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Return the next answer."""
        self.asked.append(question)
        self.details = details
        answer = self.answers.pop(0)
        assert not isinstance(answer, str)
        return answer

    def ask(self, question: str) -> str | None:
        """Return the next answer."""
        self.asked.append(question)
        answer = self.answers.pop(0)
        assert not isinstance(answer, bool)
        return answer


def plan(risk: Risk, *loss: str) -> Plan:
    return Plan(statement="drop it", rack="t1", risk=risk, loss=loss)


@pytest.mark.parametrize("risk", [Risk.NONE, Risk.PERFORMANCE, Risk.REDUNDANCY])
def test_yes_is_enough_where_nothing_is_lost(risk: Risk) -> None:
    """-y answers without a question as long as no data would be lost."""
    agree(plan(risk), {"yes": True}, SilentConsole())


@pytest.mark.parametrize("risk", [Risk.DATA, Risk.UNKNOWN])
@pytest.mark.parametrize("loss", [(), LOST])
def test_yes_never_accepts_a_loss(risk: Risk, loss: tuple[str, ...]) -> None:
    """-y is no answer to a loss of data or to an unknown one, whether the plan names it or not."""
    with pytest.raises(RefusedError, match="nothing was sent"):
        agree(plan(risk, *loss), {"yes": True}, SilentConsole())
    with pytest.raises(RefusedError, match="nothing was sent"):
        agree(plan(risk, *loss), {"yes": True, "accept-data-loss": ""}, SilentConsole())


@pytest.mark.parametrize("risk", list(Risk))
def test_nobody_means_no(risk: Risk) -> None:
    """Without -y and without anybody at the terminal nothing is agreed to."""
    with pytest.raises(RefusedError, match="there is no terminal for the question"):
        agree(plan(risk), {}, SilentConsole())


def test_a_person_answers() -> None:
    """A yes at the terminal agrees, a no refuses."""
    agree(plan(Risk.PERFORMANCE), {}, Person(True))
    with pytest.raises(RefusedError, match="not confirmed"):
        agree(plan(Risk.PERFORMANCE), {}, Person(False))


CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")


def test_a_loss_is_accepted_by_its_name() -> None:
    """What was given is not asked for again; what is left is asked for by its name."""
    agree(plan(Risk.DATA, *LOST), {"accept-data-loss": "EXA1CEL01, data"}, SilentConsole())
    rest = Person("DATA")
    agree(plan(Risk.DATA, *LOST), {"accept-data-loss": "exa1cel01"}, rest)
    assert rest.asked == ["data would be lost on DATA: type DATA to accept it, d shows the plan: "]


@pytest.mark.parametrize(
    "typed",
    [
        "exa1cel[01-03]",
        "exa1cel01,exa1cel02,exa1cel03",
        " EXA1CEL03 exa1cel01, exa1cel02 ",
        "exa1cel03,exa1cel02,exa1cel01,",
    ],
)
def test_all_names_are_asked_for_at_once(typed: str) -> None:
    """Where several things lose data one question names all of them, and all have to be typed: folded or one by one."""
    person = Person(typed)
    agree(plan(Risk.DATA, *CELLS), {}, person)
    assert person.asked == [
        "data would be lost on each of these 3: type exa1cel[01-03] to accept it, d shows the plan: "
    ]


@pytest.mark.parametrize(
    "typed",
    ["exa1cel01", "exa1cel[01-02]", "exa1cel[01-04]", "exa1cel01 exa1cel02", "yes", "", None, "exa1cel[01", "@all"],
)
def test_fewer_or_other_names_accept_nothing(typed: str | None) -> None:
    """A name stands for itself alone: who types the first one of three has accepted nothing."""
    with pytest.raises(RefusedError, match="data would be lost on exa1cel\\[01-03\\]"):
        agree(plan(Risk.DATA, *CELLS), {"yes": True}, Person(typed))


def test_names_that_do_not_fold_are_asked_for_one_by_one() -> None:
    """Names of different kinds are listed as they have to be typed."""
    person = Person("data, exa1cel01")
    agree(plan(Risk.DATA, *LOST), {}, person)
    assert person.asked == [
        "data would be lost on each of these 2: type DATA,exa1cel01 to accept it, d shows the plan: "
    ]


def test_names_that_no_set_can_hold_are_listed() -> None:
    """Names with characters that a set of cells does not know are asked for, and typed, as they are."""
    person = Person("a+b, DATA")
    agree(plan(Risk.DATA, "DATA", "a+b"), {}, person)
    assert person.asked == ["data would be lost on each of these 2: type DATA, a+b to accept it, d shows the plan: "]
    person = Person("a!b, DATA")
    agree(plan(Risk.DATA, "DATA", "a!b"), {}, person)
    assert person.asked == ["data would be lost on each of these 2: type DATA, a!b to accept it, d shows the plan: "]


@pytest.mark.parametrize("answer", [None, "", "yes", "y", "exa1cel02"])
def test_anything_but_the_name_refuses(answer: str | None) -> None:
    """Only the name itself accepts, and the way out names what is missing."""
    with pytest.raises(RefusedError, match=r"data would be lost on exa1cel01; nothing was sent") as caught:
        agree(plan(Risk.DATA, "exa1cel01"), {"yes": True}, Person(answer))
    assert "--accept-data-loss=exa1cel01" in caught.value.hint


def test_the_reason_stands_with_the_refusal() -> None:
    """Why data would be lost is said, each reason once."""
    whole = Plan(
        statement="drop it",
        rack="t1",
        risk=Risk.DATA,
        loss=("a", "b"),
        loss_reasons={"a": "it is dirty", "b": "it is dirty"},
    )
    with pytest.raises(RefusedError, match=r"data would be lost on a,b: it is dirty; nothing was sent"):
        agree(whole, {}, SilentConsole())


def test_a_wrong_name_does_not_accept_another() -> None:
    """Accepting the loss of one thing accepts nothing else."""
    with pytest.raises(RefusedError, match="data would be lost on DATA"):
        agree(plan(Risk.DATA, "DATA"), {"accept-data-loss": "RECO", "yes": True}, SilentConsole())


def test_accepted_names() -> None:
    """Names are separated by commas; blanks and empty ones do not count."""
    assert accepted_loss({"accept-data-loss": " a, ,b "}) == ("a", "b")
    assert accepted_loss({}) == ()
    assert accepted_loss({"accept-data-loss": ("a", "b")}) == ("a", "b")
    assert accepted_loss({"accept-data-loss": "exa1cel[01-02]"}) == ("exa1cel01", "exa1cel02")


@pytest.mark.parametrize("ceiling", ["", *list(Risk)])
@pytest.mark.parametrize("risk", list(Risk))
def test_a_recipes_ceiling(risk: Risk, ceiling: str) -> None:
    """A plan above the recipe's ceiling is refused, one at it is not; without a ceiling nothing is."""
    above = bool(ceiling) and risk.rank > Risk(ceiling).rank
    if above:
        with pytest.raises(RefusedError, match=f"its risk is {risk}, above the recipe's ceiling {ceiling}"):
            refuse_above(plan(risk), ceiling)
    else:
        refuse_above(plan(risk), ceiling)


def test_a_refusal_lists_names_that_do_not_fold() -> None:
    """Names that are no set of cells should be listed as they are, in the refusal and in the way out."""
    with pytest.raises(RefusedError, match="data would be lost on DATA 1, RECO 2;") as caught:
        agree(plan(Risk.DATA, "DATA 1", "RECO 2"), {"yes": True}, Person(None))
    assert caught.value.hint == "--accept-data-loss=DATA 1,RECO 2 accepts it; -y does not"


def test_d_shows_the_plan_that_loses_data_and_asks_again() -> None:
    """d is no consent: the whole plan is shown and the name is asked for again; a disk group that is called D is a name."""
    person = Person("d", "DATA")
    agree(plan(Risk.DATA, "DATA"), {}, person)
    assert len(person.asked) == 2 and [shown.loss for shown in person.plans] == [("DATA",)]
    person = Person("d")
    agree(plan(Risk.DATA, "D"), {}, person)
    assert person.plans == []
    person = Person("d", "")
    with pytest.raises(RefusedError, match="data would be lost on DATA"):
        agree(plan(Risk.DATA, "DATA"), {}, person)


@pytest.mark.parametrize(
    ("given", "flags", "asked"),
    [
        (plan(Risk.PERFORMANCE), {}, True),
        (plan(Risk.PERFORMANCE), {"yes": True}, False),
        (plan(Risk.PERFORMANCE), {"dry-run": True}, False),
        (plan(Risk.UNKNOWN), {"yes": True}, True),
        (plan(Risk.DATA, "DATA"), {"yes": True}, True),
        (plan(Risk.DATA, "DATA"), {"accept-data-loss": ("data",)}, False),
    ],
)
def test_a_plan_is_brief_where_somebody_is_asked(given: Plan, flags: dict[str, object], asked: bool) -> None:
    """Only a plan that a question follows is brief: not with -n, with -y where that is enough, or with its loss accepted."""
    assert is_asked(given, flags) is asked  # type: ignore[arg-type]


def test_d_shows_whole_what_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question about plans has them to show; one about anything else has nothing."""
    person, shown = Person(True, True), []
    monkeypatch.setattr(person, "show_plan", shown.append)
    ask(person, "sh x", hint="-y")
    assert person.details is None
    ask(person, "drop it", plans=[plan(Risk.PERFORMANCE)], hint="-y")
    assert person.details is not None
    person.details()
    assert shown == [plan(Risk.PERFORMANCE)]


def test_one_name_is_asked_for_alone() -> None:
    """The question for one name counts none."""
    person = Person("DATA")
    agree(plan(Risk.DATA, "DATA"), {}, person)
    assert person.asked == ["data would be lost on DATA: type DATA to accept it, d shows the plan: "]
