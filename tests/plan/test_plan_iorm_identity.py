"""A directive is who it is for: name, role, type and ASM cluster. No verb changes one that was not named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import event, given, strategies as st
from plan_factory import CELLS, rack

from exacell.cellcli.directives import NONE
from exacell.cellcli.iorm import Directive, DirectiveAttribute, DirectiveName, IormPlan, parse
from exacell.cellcli.nodes import Change
from exacell.cellcli.statement import parse as parse_statement, render as render_statement
from exacell.commands.declared import iorm as commands
from exacell.core.errors import ExacellError, RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan
from exacell.plan.planners.iorm import (
    Goal,
    flashlog_plan,
    goal_plan,
    set_plan,
    unset_plan,
)

NAMES = ("SPOT", "spot", "ERP", "C##X", "a$b", "$x", "my db", "it's", "default", "other")
PARTS = {"role": ("primary", "standby"), "type": ("database", "profile"), "asmcluster": ("c1", "C2")}
SETTINGS = {"share": ("1", "32"), "limit": ("7", "100"), "flashLog": ("on", "off"), "flashCache": ("on", "off")}
Identity = tuple[str, str, str, str]


def attribute(name: str, value: str) -> DirectiveAttribute:
    return DirectiveAttribute(name=name, value=value)


@st.composite
def directives(draw: st.DrawFn) -> Directive:
    found = [attribute("name", draw(st.sampled_from(NAMES)))]
    for choices in (PARTS, SETTINGS):
        found += [
            attribute(key, draw(st.sampled_from(values))) for key, values in choices.items() if draw(st.booleans())
        ]
    return Directive(attributes=tuple(found))


def who(directive: Directive) -> Identity:
    """Who a directive is for, read here and not by what is tested."""
    values = {a.name: a.value.lower() for a in directive.attributes}
    return values["name"], values.get("role", ""), values.get("type", "database"), values.get("asmcluster", "")


PLANS = st.builds(IormPlan, directives=st.lists(directives(), max_size=7, unique_by=who).map(tuple))
WANTED = st.builds(
    DirectiveName,
    name=st.sampled_from(NAMES),
    role=st.sampled_from(("", "primary", "standby", NONE)),
    kind=st.sampled_from(("", "database", "profile")),
    asmcluster=st.sampled_from(("", "c1", "c2", NONE)),
)
VERBS = ("set share", "set limit", "unset limit", "unset", "enable", "disable")


def facts(plan: IormPlan) -> dict[str, CellFacts]:
    return rack(iorm=plan, databases=tuple(name for name in NAMES if name not in ("default", "other", "spot")))


def planned(verb: str, held: IormPlan, wanted: DirectiveName) -> Plan:
    """What a verb plans for cells that hold a plan."""
    cells = facts(held)
    match verb.split():
        case ["set", name]:
            return set_plan("t1", cells, wanted=wanted, settings={name: "9"}, objective="", statement=verb)
        case ["unset", *names]:
            return unset_plan("t1", cells, wanted=wanted, attributes=names, statement=verb)
        case _:
            return flashlog_plan("t1", cells, wanted=wanted, on=verb == "enable", statement=verb)


def is_said(directive: Directive, wanted: DirectiveName) -> bool:
    name, role, kind, cluster = who(directive)
    return name == wanted.name.lower() and all(
        not told or own == told.lower() or (told == NONE and not own)
        for own, told in ((role, wanted.role), (kind, wanted.kind), (cluster, wanted.asmcluster))
    )


def sent(plan: Plan, held: IormPlan) -> IormPlan:
    """The plan that every cell holds afterwards, as it travels: written, read as a statement, written again."""
    plans = {step.statement for step in plan.steps}
    if not plans:
        return held
    (text,) = plans
    statement = parse_statement(text)
    assert isinstance(statement, Change) and len(plan.steps) == len(CELLS)
    return parse(render_statement(statement).partition("=")[2])


def kept(plan: IormPlan, without: Sequence[Identity]) -> list[str]:
    return [str(directive) for directive in plan.directives if who(directive) not in without]


@given(PLANS, WANTED, st.sampled_from(VERBS))
def test_no_directive_changes_that_was_not_named(held: IormPlan, wanted: DirectiveName, verb: str) -> None:
    """By any verb all others come out as they went in, word for word and in their order; undo brings the one back."""
    said = [directive for directive in held.directives if is_said(directive, wanted)]
    try:
        plan = planned(verb, held, wanted)
    except ExacellError:
        event("refused")
        return
    new = sent(plan, held)
    event("nothing to do" if new == held else "changed")
    if new == held:
        return
    assert len(said) <= 1, "several have that name"
    assert [who(directive)[2] for directive in said] != ["profile"] or wanted.kind == "profile"
    fresh = [who(directive) for directive in new.directives if who(directive) not in map(who, held.directives)]
    touched = [*map(who, said), *fresh]
    assert len(touched) == 1, "one directive, that was there or is new"
    assert kept(new, touched) == kept(held, touched)
    if verb.startswith("unset"):
        assert not fresh
    for identity in fresh:
        assert identity == (
            wanted.name.lower(),
            wanted.role.replace(NONE, ""),
            wanted.kind or "database",
            wanted.asmcluster.replace(NONE, ""),
        )
    for step in plan.steps:
        back = (step.inverse or "").removeprefix("ALTER IORMPLAN dbplan=")
        assert back != '""' or not held.directives
        assert parse(back).means(held)


@given(PLANS, WANTED, st.sampled_from(VERBS))
def test_a_name_that_says_several_is_never_guessed(held: IormPlan, wanted: DirectiveName, verb: str) -> None:
    """Where several directives would change, the refusal names each in a way that is then understood as that one."""
    said = [directive for directive in held.directives if is_said(directive, wanted)]
    if len(said) < 2:
        return
    try:
        plan = planned(verb, held, wanted)
    except RefusedError as error:
        assert all(directive.label in error.message for directive in said)
        ways = error.hint.removeprefix("name one: ").split(", or ")
        assert len(ways) == len(said)
        for way, directive in zip(ways, said, strict=True):
            assert way.startswith(f"db={directive.shown_name}")
            parts = dict(part.split("=") for part in way.removeprefix(f"db={directive.shown_name}").split())
            name = DirectiveName(
                name=directive.name,
                role=parts.get("role", wanted.role),
                kind=parts.get("type", wanted.kind),
                asmcluster=parts.get("asmcluster", wanted.asmcluster),
            )
            assert [d for d in held.directives if is_said(d, name)] == [directive]
    else:
        assert not plan.changes_something


@given(PLANS, PLANS)
def test_what_was_kept_is_restored_as_it_was(kept_plan: IormPlan, held: IormPlan) -> None:
    """restore sends the kept plan with every directive of it, and undo has every one that was there."""
    plan = goal_plan("t1", facts(held), dict.fromkeys(CELLS, Goal(dbplan=kept_plan)), "restore iorm a")
    assert sent(plan, held).means(kept_plan)
    for step in plan.steps:
        assert parse((step.inverse or "").removeprefix("ALTER IORMPLAN dbplan=")).means(held)


@pytest.mark.parametrize(
    ("held", "wanted", "verb", "message", "hint"),
    [
        (
            "((name=SPOT,type=profile,limit=5))",
            DirectiveName(name="SPOT"),
            "unset",
            "the plan has no directive for a database SPOT, but one for a profile of that name; nothing was sent",
            "db=SPOT type=profile means the directive of the profile, db=SPOT type=database that of the database",
        ),
        (
            "((name=SPOT,role=primary,share=5),(name=SPOT,share=4))",
            DirectiveName(name="spot"),
            "unset",
            "the plan has several directives for spot: SPOT role=primary, SPOT; nothing was sent",
            "name one: db=SPOT role=primary, or db=SPOT role=none",
        ),
        (
            "((name='my db',asmcluster=c1,share=5),(name='my db',type=profile,share=4))",
            DirectiveName(name="my db"),
            "set limit",
            "the plan has several directives for 'my db': 'my db' asmcluster=c1, 'my db' type=profile; nothing was sent",
            "name one: db='my db' type=database asmcluster=c1, or db='my db' type=profile asmcluster=none",
        ),
        (
            "((name=gold,type=profile,share=5))",
            DirectiveName(name="gold", kind="database"),
            "unset",
            "the dbplan has no directive for gold type=database; it has: gold type=profile; nothing was sent",
            "",
        ),
    ],
)
def test_a_refusal_says_what_there_is(held: str, wanted: DirectiveName, verb: str, message: str, hint: str) -> None:
    """It names each directive that may be meant, and how to say which."""
    with pytest.raises(RefusedError) as caught:
        planned(verb, parse(held), wanted)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_the_word_for_none_is_one() -> None:
    """The parameter takes the word that the comparison knows."""
    assert commands.NONE == NONE
