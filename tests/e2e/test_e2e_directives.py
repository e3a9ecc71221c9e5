"""Directives of one name on emulated cells: each verb changes the one that was named, or says which there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.program import InProcess

HELD = (
    "((name=SPOT,type=profile,share=5),(name=ERP,role=primary,share=4),(name=ERP,role=standby,share=2),"
    "(name=C##X,share=3),(name='my db',share=3),(name='a$b',share=3),(name=$x,share=3),(name=default,share=1))"
)
Who = tuple[str, str | None, str | None]


@pytest.fixture
def held(inside: InProcess) -> Iterator[InProcess]:
    """A rack whose plan has a profile named as a database, two roles of one database, and odd names."""
    inside.ok("-r", "t1", "save iorm as=usual")
    inside.ok("-r", "t1", f"alter iormplan dbplan={HELD} -y")
    yield inside
    inside.ok("-r", "t1", "restore iorm usual -y")


def plan(program: InProcess, cell: str = "exa1cel01") -> dict[Who, Mapping[str, Any]]:
    """What a cell holds: name, role and type → the other attributes of the directive."""
    rows = program.ok("-r", "t1", "-c", cell, "-o", "json", "show iorm").records
    kept = ("cell", "objective", "name", "role", "type")
    return {
        (row["name"], row.get("role"), row.get("type")): {k: v for k, v in row.items() if v and k not in kept}
        for row in rows
    }


@pytest.mark.parametrize(
    ("statement", "who", "after"),
    [
        ("set iorm db=C##X share=9", ("C##X", None, None), {"share": "9"}),
        ("set iorm db='my db' share=9", ("my db", None, None), {"share": "9"}),
        ("set iorm db=a$b limit=9", ("a$b", None, None), {"share": "3", "limit": "9"}),
        ("set iorm db=$x share=9", ("$x", None, None), {"share": "9"}),
        ("disable flashlog db=ERP role=standby", ("ERP", "standby", None), {"share": "2", "flashlog": "off"}),
        ("enable flashlog db='MY DB'", ("my db", None, None), {"share": "3"}),
        ("unset iorm db=ERP role=primary", ("ERP", "primary", None), None),
        ("unset iorm db=SPOT type=profile", ("SPOT", None, "profile"), None),
        ("set iorm db=SPOT type=database limit=7", ("SPOT", None, None), {"share": "1", "limit": "7"}),
    ],
)
def test_one_directive_changes(held: InProcess, statement: str, who: Who, after: Mapping[str, str] | None) -> None:
    """The one that is named changes, all others stay; undo brings back what was there."""
    before = plan(held)
    held.ok("-r", "t1", f"{statement} -y")
    changed = plan(held)
    assert {k: v for k, v in changed.items() if k != who} == {k: v for k, v in before.items() if k != who}
    assert changed.get(who) == after
    if changed != before:
        held.ok("-r", "t1", "undo -y")
        assert plan(held) == before


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "unset iorm db=SPOT",
            "db=SPOT type=profile means the directive of the profile, db=SPOT type=database that of the database",
        ),
        ("unset iorm share db=SPOT", "no directive for a database SPOT, but one for a profile of that name"),
        ("set iorm db=SPOT limit=9", "no directive for a database SPOT, but one for a profile of that name"),
        ("disable flashlog db=SPOT", "no directive for a database SPOT, but one for a profile of that name"),
        ("unset iorm db=ERP", "several directives for ERP: ERP role=primary, ERP role=standby; nothing was sent"),
        ("set iorm db=erp share=3", "name one: db=ERP role=primary, or db=ERP role=standby"),
        ("disable flashlog db=ERP", "name one: db=ERP role=primary, or db=ERP role=standby"),
    ],
)
def test_nothing_is_guessed(held: InProcess, statement: str, told: str) -> None:
    """A name that several directives have, or a profile alone, is refused with how to say which; nothing is sent."""
    before = plan(held)
    done = held("-r", "t1", f"{statement} -y")
    assert (done.code, done.out) == (2, "") and told in done.err
    assert plan(held) == before


def test_kept_plans_and_drift_tell_directives_apart(held: InProcess) -> None:
    """A kept plan comes back with every directive of a name; a baseline that holds it finds no drift."""
    before = plan(held)
    held.ok("-r", "t1", "save iorm as=held")
    held.ok("-r", "t1", "save baseline as=held")
    held.ok("-r", "t1", "plan as=later set iorm db=ERP role=standby share=7")
    held.ok("-r", "t1", "reset iorm -y")
    assert held("-r", "t1", "apply later -y").code == 2, "the plan has moved"
    assert held("-r", "t1", "drift baseline=held").code == 5
    held.ok("-r", "t1", "restore iorm held -y")
    assert plan(held) == before
    held.ok("-r", "t1", "drift baseline=held")
    held.ok("-r", "t1", "apply later -y")
    assert plan(held)["ERP", "standby", None] == {"share": "7"}


def test_a_plan_is_read_back_by_its_meaning(held: InProcess) -> None:
    """Quotes, blanks, cases and the spelling of sizes that a cell prints otherwise are no failure."""
    text = "( (Name='SPOT', flashLog=OFF, flashcachemin=1G) , (name=\"ERP\",FLASHLOG=on,type='database') )"
    held.ok("-r", "t1", f"alter iormplan dbplan={text} -y")
    assert plan(held)["SPOT", None, None] == {"flashlog": "OFF", "flashcachemin": "1G"}


def test_one_cells_plan_goes_to_the_others(held: InProcess) -> None:
    """like= gives cells the plan and objective of one, also of one that is not selected; the hint of a refusal leads there."""
    held.ok("-r", "t1", "on exa1cel02 alter iormplan objective=basic, dbplan=((name=ERP,share=7))", "-y")
    refused = held("-r", "t1", "set iorm db=ERP share=2", "-y")
    assert refused.code == 2 and "`set iorm like=CELL` gives all of them the plan of one" in " ".join(
        refused.err.split()
    )
    held.ok("-r", "t1", "on exa1cel03 set iorm like=exa1cel02", "-y")
    assert plan(held, "exa1cel03") == plan(held, "exa1cel02") != plan(held, "exa1cel01")
    held.ok("-r", "t1", "set iorm like=exa1cel01", "-y")
    assert plan(held, "exa1cel03") == plan(held, "exa1cel02") == plan(held, "exa1cel01")
    held.ok("-r", "t1", "check same iormplan.objective")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("set iorm like=exa1cel01 db=SPOT share=3", "like= can't be given with share="),
        ("set iorm like=exa1cel01 objective=auto", "like= can't be given with objective="),
        ("set iorm like=exa1cel[01-02]", "like= names one cell, not 2"),
    ],
)
def test_like_stands_alone(held: InProcess, statement: str, told: str) -> None:
    """Nothing is set beside like=, and it names one cell."""
    refused = held("-r", "t1", statement, "-y")
    assert refused.code == 2 and told in " ".join(refused.err.split())
