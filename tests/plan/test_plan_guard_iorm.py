"""CellCLI's own statements on the IORM plan."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import CELLS, cell, rack
from plan_guarding import guard, only

from exacell.cellcli.iorm import over_allocated, parse as parse_iorm
from exacell.change.targets.cells import judged, lists_for
from exacell.core.errors import RefusedError
from exacell.plan.model import Undo


def test_iorm_plan_keeps_its_inverse() -> None:
    """A dbplan by hand records the old plan as its inverse; cells that differ are warned of."""
    odd = cell(CELLS[1], iorm=parse_iorm(""), iorm_text="")
    plan = guard("alter iormplan dbplan=((name=SPOT,share=1))", cell(), odd)
    first, second = plan.steps
    assert first.inverse == "ALTER IORMPLAN dbplan=" + cell().iorm_text
    assert second.inverse == 'ALTER IORMPLAN dbplan=""'
    assert first.undo is Undo.STATEMENT
    assert plan.inverse == {
        CELLS[0]: (f"alter iormplan dbplan={cell().iorm_text}",),
        CELLS[1]: ('alter iormplan dbplan=""',),
    }
    unread = guard("alter iormplan dbplan=((name=SPOT,share=1))", cell(iorm=None))
    assert only(unread).inverse == 'ALTER IORMPLAN dbplan=""'
    assert unread.inverse == {CELLS[0]: ('alter iormplan dbplan=""',)}
    assert "different IORM plans" in plan.warnings[0]
    assert not guard("alter iormplan dbplan=((name=SPOT,share=1))", cell()).warnings
    objective = guard("alter iormplan objective=basic", cell(objective="auto"))
    assert [(c.attribute, c.before, c.after) for c in only(objective).changes] == [("objective", "auto", "basic")]
    assert [(c.attribute, c.value) for c in only(objective).proves] == [("objective", "basic")]
    assert objective.inverse == {CELLS[0]: ("alter iormplan objective=auto",)}
    other = only(guard('alter iormplan catplan=""', cell()))
    assert other.undo is Undo.IMPOSSIBLE
    assert not other.changes
    assert other.inverse == "exacell can undo only dbplan and objective"
    assert not guard('alter iormplan catplan=""', cell()).inverse


def shown(statement: str, **facts: Any) -> list[tuple[str, str, str, str]]:
    step = only(guard(statement, cell(**facts)))
    return [(change.name, change.attribute, change.before, change.after) for change in step.changes]


def test_a_dbplan_is_shown_directive_by_directive() -> None:
    """A dbplan by hand is told by what it changes of which database, what it leaves out included, not as two long plans."""
    assert shown("alter iormplan dbplan=((name=SPOT,share=8,limit=50),(name=default,share=1),(name=NEW,share=2))") == [
        ("SPOT", "limit", "80", "50"),
        ("ERP", "directive", "(name=ERP,share=4,flashcache=off)", "-"),
        ("NEW", "directive", "-", "(name=NEW,share=2)"),
    ]
    assert shown('alter iormplan dbplan=""', iorm=parse_iorm("((name=SPOT,share=8))")) == [
        ("SPOT", "directive", "(name=SPOT,share=8)", "-")
    ]


def test_a_dbplan_that_cannot_be_compared_is_shown_as_a_whole() -> None:
    """Where one of the two plans can't be read, both are shown as they are written."""
    new = "((name=SPOT,share=1))"
    assert shown(f"alter iormplan dbplan={new}", iorm=None) == [("exa1cel01", "dbPlan", cell().iorm_text, new)]
    assert shown(f"alter iormplan dbplan={new}", iorm=None, iorm_text="") == [("exa1cel01", "dbPlan", "-", new)]
    assert shown("alter iormplan dbplan=SPOT") == [("exa1cel01", "dbPlan", cell().iorm_text, "SPOT")]
    assert shown('alter iormplan dbplan=""', iorm=None) == [("exa1cel01", "dbPlan", cell().iorm_text, "-")]


def test_every_plan_that_is_sent_is_read_back() -> None:
    """A category plan and a cluster plan are read back as the dbplan is, each under its own name."""
    text = "alter iormplan catplan=((name='Batch', level=1, allocation=20)), clusterplan=\"\", dbplan=((name='SPOT',share=1))"
    proves = only(guard(text, cell())).proves
    assert [(check.object, check.attribute) for check in proves] == [
        ("iormplan", "dbPlan"), ("iormplan", "catPlan"), ("iormplan", "clusterPlan"),
    ]  # fmt: skip
    assert (
        lists_for(proves)["iormplan"]
        == "list iormplan attributes name, dbPlan, objective, status, catPlan, clusterPlan"
    )
    held = {"name": "x", "dbPlan": "((name=spot,share=1))", "catPlan": "((name=batch,level=1,allocation=20))"}
    assert judged(proves, ["iormplan"], [[held]]) == {}
    assert set(judged(proves, ["iormplan"], [[{**held, "catPlan": ""}]])) == {1}


ALLOCATIONS = {
    "(name=A,level=1,allocation=60),(name=B,level=1,allocation=40)": "",
    "(name=A,level=1,allocation=60),(name=B,level=1,allocation=41)": "level 1 has 101 % allocated (A 60, B 41)",
    "(name=A,level=1,allocation=60),(name=B,level=2,allocation=60)": "",
    "(name=A,level=2,allocation=60),(name=B,level=2,allocation=60)": "level 2 has 120 %",
    "(name=A,level=1),(name=B,allocation=101)": "",
    "(name=A,level=1,allocation=much),(name=B,level=1,allocation=100)": "",
    "(name=A,level=1,allocation=100),(name=B,level=1)": "",
    "(name=A,role=primary,level=1,allocation=60),(name=A,role=standby,level=1,allocation=60)": "",
    "(name=A,role=primary,level=1,allocation=60),(name=B,level=1,allocation=60)": "level 1 has 120 %",
    "(name=A,role=standby,level=1,allocation=60),(name=A,role=primary,level=1,allocation=60),(name=B,level=1,allocation=41)": (
        "level 1 has 101 % allocated (A role=standby 60, B 41)"
    ),
}


@pytest.mark.parametrize(("directives", "said"), ALLOCATIONS.items())
def test_no_level_gives_more_than_there_is(directives: str, said: str) -> None:
    """A plan whose level gives away more than 100 % is refused before anybody is asked, whichever plan it is."""
    assert over_allocated(parse_iorm(f"({directives})")).startswith(said) and bool(said) == bool(
        over_allocated(parse_iorm(f"({directives})"))
    )
    for plan in ("dbplan", "catplan"):
        text = f"alter iormplan {plan}=({directives})"
        if said:
            with pytest.raises(RefusedError, match=f"{plan}: level"):
                guard(text, cell())
        else:
            assert only(guard(text, cell()))


RULES = {
    "(name=A,share=0)": "A: share is 0; it must be a whole number from 1 to 32",
    "(name=A,share=1)": "",
    "(name=A,share=32)": "",
    "(name=A,share=33)": "A: share is 33",
    "(name=A,share=-1)": "A: share is -1",
    "(name=A,share=many)": "A: share is many",
    "(name=A,share=8,level=1,allocation=10)": "A: share and level and allocation exclude each other",
    "(name=A,share=8),(name=B,level=1,allocation=10)": "A has a share, but the plan uses level",
    "(name=B,level=1,allocation=10),(name=A,share=8)": "B has level and allocation, but the plan uses share",
    "(name=B,level=0,allocation=10)": "B: level is 0; it must be 1 to 8",
    "(name=B,level=9,allocation=10)": "B: level is 9; it must be 1 to 8",
    "(name=B,level=8,allocation=10)": "",
    "(name=OTHER,level=1,allocation=10),(name=DEFAULT,flashcache=off)": "",
    "(name=other,share=1),(name=A,share=2)": "",
}


@pytest.mark.parametrize(("directives", "said"), RULES.items())
@pytest.mark.parametrize("name", ["dbplan", "clusterplan"])
def test_shares_and_allocations_are_judged_before_they_are_sent(name: str, directives: str, said: str) -> None:
    """A share is 1 to 32, and neither a directive nor a plan divides by both."""
    text, fact = f"alter iormplan {name}=({directives})", cell(release="24.1.0.0.0", iorm=parse_iorm(""))
    if not said:
        assert only(guard(text, fact))
        return
    with pytest.raises(RefusedError, match=f"exa1cel01: {name}: {said}"):
        guard(text, fact)


def test_what_a_cell_holds_already_is_never_refused() -> None:
    """Only words that change are judged: an odd plan may be sent again, and changed elsewhere."""
    odd = "(name=A,share=40),(name=B,share=2,level=1,allocation=10),(name=C,level=9,allocation=5)"
    fact = cell(iorm=parse_iorm(f"({odd})"))
    assert only(guard(f"alter iormplan dbplan=({odd},(name=D,limit=50))", fact))
    assert only(guard(f"alter iormplan dbplan=({odd.replace('share=2', 'share=2,limit=9')})", fact))
    for changed in (
        odd.replace("share=40", "share=41"),
        odd.replace("share=2,", "share=3,"),
        f"{odd},(name=D,share=1)",
    ):
        with pytest.raises(RefusedError):
            guard(f"alter iormplan dbplan=({changed})", fact)


def test_a_cluster_s_share_is_not_held_by_a_database_s() -> None:
    """What a dbplan has says nothing of a clusterplan."""
    fact = cell(release="24.1.0.0.0", iorm=parse_iorm("(name=A,share=40)"))
    assert only(guard("alter iormplan dbplan=((name=A,share=40))", fact))
    with pytest.raises(RefusedError, match="clusterplan: A: share is 40"):
        guard("alter iormplan clusterplan=((name=A,share=40))", fact)


@pytest.mark.parametrize(
    ("release", "value", "fits"),
    [
        ("24.1.0.0.0", "((name=c,level=1,allocation=5))", True),
        ("25.1.0.0.0", "((name=c,level=1,allocation=5))", False),
        ("26.1.0.0.0", "((name=c,level=1,allocation=5))", False),
        ("25.1.0.0.0", '""', True),
        ("", "((name=c,level=1,allocation=5))", True),
    ],
)
def test_catplan_ends_with_25_1(release: str, value: str, fits: bool) -> None:
    """Releases that have none refuse one; taking it out is asked of whoever has it."""
    text, fact = f"alter iormplan catplan={value}", cell(release=release)
    if fits:
        assert only(guard(text, fact))
        return
    with pytest.raises(RefusedError, match=r"has no catPlan \(releases before 25\.1 have it\); nothing was sent"):
        guard(text, fact)


@pytest.mark.parametrize("action", ["active", "inactive"])
def test_a_plan_that_is_always_active_is_not_made_so(action: str) -> None:
    """ACTIVE and INACTIVE go to releases that know them; where one does not, nothing is sent, and the others are named."""
    text = f"alter iormplan {action}"
    with pytest.raises(
        RefusedError, match=r"refused on exa1cel\[01-03\]: .*does not exist any more from release 11.2.3.2"
    ) as caught:
        guard(text)
    assert "always active" in caught.value.hint
    old = cell(CELLS[1], release="11.2.2.4.0")
    assert only(guard(text, old)).target == CELLS[1]
    assert only(guard(text, old)).inverse == "exacell can undo only dbplan and objective"
    with pytest.raises(RefusedError, match="refused on exa1cel01: ") as caught:
        guard(text, cell(), old)
    assert caught.value.hint == f"on exa1cel02 {text}"
    assert guard(text, *rack(release="").values()).targets == CELLS
