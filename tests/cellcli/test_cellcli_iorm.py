"""IORM plans: reading, changing one directive, writing, comparing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli import iorm
from exacell.cellcli.iorm import Directive, DirectiveAttribute, DirectiveChange, DirectiveName, IormPlan
from exacell.cellcli.nodes import Change
from exacell.cellcli.statement import parse, render
from exacell.core.errors import ExacellError, RefusedError, ReplyError
from tests.support.every import every

CASES = Path(__file__).parent.parent / "data" / "cellcli" / "iorm.txt"


def named(db: str, *told: str) -> DirectiveName:
    """The directive of ``db``, told from others of that name by ``role=``, ``type=`` and ``asmcluster=``."""
    parts = dict(part.split("=") for part in told)
    return DirectiveName(name=db, kind=parts.pop("type", ""), **parts)


@every([line for line in CASES.read_text("utf-8").splitlines() if line and not line.startswith("#")])
def test_one_directive_changes_and_every_other_word_stays(case: str) -> None:
    """Changing one attribute gives exactly the new plan, or is refused with the reason."""
    text, change, expected = (part.strip() for part in case.split("::"))
    db, *told, setting = change.split()
    attribute, value = setting.split("=")
    plan = iorm.parse(text)
    if expected.startswith("!"):
        with pytest.raises(ExacellError) as caught:
            iorm.set_attributes(plan, named(db, *told), {attribute: value})
        assert expected[1:] in caught.value.message
    else:
        assert iorm.render(iorm.set_attributes(plan, named(db, *told), {attribute: value})) == expected


FORMS = {
    "as attributes print it": "((name=sales,share=8,flashcache=on),(name=hr,share=2,limit=40),(name=default,share=1))",
    "as detail prints it": "name=sales,share=8,flashcache=on\nname=hr,share=2,limit=40\nname=default,share=1",
    "detail with indentation": "name=sales,share=8,flashcache=on\r\n \t name=hr,share=2,limit=40\nname=default,share=1",
    "detail folded to one line": "name=sales,share=8,flashcache=on name=hr,share=2,limit=40 name=default,share=1",
    "as typed": '( ( name = "sales", share = 8 , flashcache=on ), (name=hr,share=2,limit=40),(name=default,share=1) )',
}


@pytest.mark.parametrize("form", FORMS)
def test_every_printed_form_is_the_same_plan(form: str) -> None:
    """DETAIL and ATTRIBUTES print the same plan, and what is written can be read again."""
    plan = iorm.parse(FORMS[form])
    assert plan == iorm.parse(FORMS["as attributes print it"])
    assert [found.identity[0] for found in plan.directives] == ["sales", "hr", "default"]
    assert iorm.parse(iorm.render(plan)) == plan


@pytest.mark.parametrize("text", ["", " \n", '""', "''", "()", "(())"])
def test_an_empty_plan_is_empty(text: str) -> None:
    """Nothing between the quotes or parentheses is a plan without directives, written as an empty string."""
    assert iorm.parse(text) == IormPlan() and iorm.render(IormPlan()) == '""'


@pytest.mark.parametrize(
    "text",
    ["share=8", "((share=8))", "((name=x,share))", "((name=x,share=))", "((name='x))", "((name='',share=1))", "plan"],
)
def test_an_unreadable_plan_is_an_error(text: str) -> None:
    """What cannot be read is never taken for an empty plan."""
    with pytest.raises(ReplyError):
        iorm.parse(text)


def test_what_a_database_inherits() -> None:
    """What DEFAULT says, and of OTHER what DEFAULT does not say; a profile of that name passes nothing on."""
    plan = iorm.parse(
        "((name=A,share=3),(name=other,flashlog=off,limit=9),(name=DEFAULT,limit=5),(name=other,type=profile,share=2))"
    )
    assert list(map(str, iorm.inherited(plan).values())) == ["limit=5", "flashlog=off"]
    assert iorm.inherited(iorm.parse("((name=A,share=3))")) == {}


def test_several_attributes_change_together() -> None:
    """Level and allocation can be given with the rest, None takes an attribute out, a role picks one directive."""
    plan = iorm.parse("((name=A,level=1,allocation=60),(name=other,level=2,allocation=100))")
    new = iorm.set_attributes(plan, named("B"), {"level": "1", "allocation": "20", "flashlog": "off"})
    assert str(new.directives[1]) == "(name=B,level=1,allocation=20,flashlog=off)"
    roles = iorm.parse("((name=A,role=primary,share=8,limit=5),(name=A,role=standby,share=2,limit=5))")
    less = iorm.set_attributes(roles, named("A", "role=STANDBY"), {"limit": None})
    assert iorm.render(less) == "((name=A,role=primary,share=8,limit=5),(name=A,role=standby,share=2))"


def test_what_is_taken_out_excludes_nothing() -> None:
    """A word that goes does not count as one that is set, and a plan without it stays as it is."""
    text = "((name=SPOT,level=1,allocation=60,limit=50))"
    assert iorm.render(iorm.set_attributes(iorm.parse(text), named("SPOT"), {"share": None})) == text
    less = iorm.set_attributes(iorm.parse(text), named("SPOT"), {"share": None, "limit": None})
    assert iorm.render(less) == "((name=SPOT,level=1,allocation=60))"


def test_a_directive_can_be_taken_out() -> None:
    """Without its directive a database falls back to DEFAULT; one that has none is an error."""
    plan = iorm.parse("((name=A,share=3),(name=default,share=1))")
    assert iorm.render(iorm.remove(plan, named("a"))) == "((name=default,share=1))"
    with pytest.raises(RefusedError, match="no directive for B"):
        iorm.remove(plan, named("B"))


def test_plans_that_mean_the_same_do_not_differ() -> None:
    """Order, case, quotes and the spelling of sizes are no difference."""
    one = iorm.parse("((name=A,share=3,flashcachemin=1G,flashLog=OFF),(name=default,share=1))")
    two = iorm.parse("name='default',share=1\nname=a,type=database,flashlog=off,flashcachemin=1024m,share=3")
    assert iorm.diff(one, two) == [] and one.means(two)
    assert not one.means(iorm.parse("((name=A,share=3))"))


def test_differences_are_named_one_by_one() -> None:
    """Changed, added and removed attributes and whole directives are told with before and after."""
    old = iorm.parse("((name=A,share=3,limit=5),(name=B,share=1),(name=A,role=standby,share=1))")
    new = iorm.parse("((name=A,share=4,flashlog=off),(name=A,role=standby,share=1),(name=C,share=2))")
    assert iorm.diff(old, new) == [
        DirectiveChange(directive="A", attribute="share", before="3", after="4"),
        DirectiveChange(directive="A", attribute="limit", before="5", after=None),
        DirectiveChange(directive="A", attribute="flashlog", before=None, after="off"),
        DirectiveChange(directive="B", attribute="", before="(name=B,share=1)", after=None),
        DirectiveChange(directive="C", attribute="", before=None, after="(name=C,share=2)"),
    ]


WORDS = st.text(alphabet="aBz09_$#.", min_size=1, max_size=8)
VALUES = st.one_of(WORDS, st.text(alphabet="aB1 -,()=;", min_size=1, max_size=8))
ATTRIBUTES = st.builds(
    DirectiveAttribute,
    name=st.text(alphabet="abCD", min_size=1, max_size=6),
    value=VALUES,
)
DIRECTIVES = st.builds(
    lambda name, rest: Directive(attributes=(DirectiveAttribute(name="name", value=name), *rest)),
    VALUES,
    st.lists(ATTRIBUTES, max_size=4),
)
PLANS = st.builds(IormPlan, directives=st.lists(DIRECTIVES, max_size=5).map(tuple))


@given(PLANS)
def test_a_plan_that_is_written_is_read_back_word_for_word(plan: IormPlan) -> None:
    """parse(render(x)) == x, also for attributes that nobody knows yet, and inside a statement."""
    text = iorm.render(plan)
    assert iorm.parse(text) == plan
    statement = parse(f"ALTER IORMPLAN dbPlan={text}")
    assert isinstance(statement, Change)
    assert iorm.parse(render(statement).removeprefix("ALTER IORMPLAN dbPlan=")) == plan
