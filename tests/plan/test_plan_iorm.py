"""Plans that switch flash logging: one directive changes, everything else stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from plan_factory import CELLS, DBPLAN, cell, rack

from exacell.cellcli.iorm import DirectiveName, parse
from exacell.core.errors import ExacellError, RefusedError
from exacell.plan.facts import CellFacts
from exacell.plan.model import Plan, Risk, Undo
from exacell.plan.planners.iorm import (
    Goal,
    agree,
    flashlog_plan,
    goal_plan,
    set_plan,
    unset_plan,
)


def toggle(db: str = "SPOT", *, on: bool = False, facts: Mapping[str, CellFacts] | None = None) -> Plan:
    return flashlog_plan("t1", facts or rack(), wanted=DirectiveName(name=db), on=on, statement="disable flashlog")


def holding(text: str, **changes: object) -> dict[str, CellFacts]:
    return rack(iorm=parse(text), iorm_text=text, **changes)


def test_every_other_word_stays() -> None:
    """The whole plan is sent with one word added, the old one is its inverse, and both are compared by reading."""
    plan = toggle()
    wanted = DBPLAN.replace("limit=80", "limit=80,flashLog=off")
    for step in plan.steps:
        assert step.statement == f"ALTER IORMPLAN dbplan={wanted}"
        assert (step.undo, step.inverse) == (Undo.STATEMENT, f"ALTER IORMPLAN dbplan={DBPLAN}")
        assert [(c.attribute, c.value) for c in step.needs] == [("dbPlan", DBPLAN)]
        assert [(c.attribute, c.value) for c in step.proves] == [("dbPlan", wanted)]
        assert [(c.name, c.attribute, c.before, c.after) for c in step.changes] == [("SPOT", "flashLog", "-", "off")]
    assert plan.targets == CELLS
    assert plan.risk is Risk.PERFORMANCE
    assert plan.inverse == dict.fromkeys(CELLS, (f"alter iormplan dbplan={DBPLAN}",))


@pytest.mark.parametrize(
    ("text", "db", "on"),
    [
        (DBPLAN, "SPOT", True),
        ("", "SPOT", True),
        ("((name=SPOT,share=8,flashLog=OFF))", "spot", False),
        ("((name=default,share=1,flashlog=off))", "SPOT", False),
        ("((name=other,flashlog=off))", "SPOT", False),
        (
            "((name=SPOT,role=primary,share=1,flashlog=off),(name=SPOT,role=standby,share=1,flashlog=off))",
            "SPOT",
            False,
        ),
    ],
)
def test_already_so(text: str, db: str, on: bool) -> None:
    """What holds already, by the database's own directive or an inherited one, is not sent."""
    plan = toggle(db, on=on, facts=holding(text))
    assert not plan.changes_something
    assert plan.done.keys() == set(CELLS)


@pytest.mark.parametrize(
    ("text", "db", "on", "wanted"),
    [
        ("", "SPOT", False, "((name=SPOT,flashLog=off))"),
        (
            "((name='SPOT',flashLog=off),(name=other,flashlog=on))",
            "SPOT",
            True,
            "((name='SPOT',flashLog=on),(name=other,flashlog=on))",
        ),
        (
            "((name=default,share=2,flashlog=off))",
            "SPOT",
            True,
            "((name=SPOT,share=2,flashLog=on),(name=default,share=2,flashlog=off))",
        ),
        ("((name=ERP,share=4))", "SPOT", False, "((name=ERP,share=4),(name=SPOT,share=1,flashLog=off))"),
        ("((name=SPOT,share=4))", "spot", False, "((name=SPOT,share=4,flashLog=off))"),
        ("((name=ERP,share=4))", "spot", False, "((name=ERP,share=4),(name=SPOT,share=1,flashLog=off))"),
    ],
)
def test_what_is_sent(text: str, db: str, on: bool, wanted: str) -> None:
    """A database without a directive copies what it inherited; names keep the spelling that the cells have."""
    plan = toggle(db, on=on, facts=holding(text))
    sent = {step.statement.removeprefix("ALTER IORMPLAN dbplan=") for step in plan.steps}
    assert {text.lower().replace("flashlog", "flashLog") for text in sent} == {
        wanted.lower().replace("flashlog", "flashLog")
    }
    name = wanted.partition("SPOT")[1]
    assert all(name in text for text in sent)


def test_cells_must_agree() -> None:
    """Cells with different plans are refused, and the odd ones are named."""
    facts = {**rack(), CELLS[1]: cell(CELLS[1], iorm=parse("((name=SPOT,share=1))"))}
    with pytest.raises(RefusedError, match=r"different IORM plans: exa1cel\[01,03\]; exa1cel02; nothing was sent"):
        toggle(facts=facts)
    assert agree(rack()) == parse(DBPLAN)
    assert agree({}).directives == ()


@pytest.mark.parametrize("databases", [("SPOT", "ERP"), ("ASM1.SPOT", "ASM1.ERP"), ()])
def test_unknown_database(databases: tuple[str, ...]) -> None:
    """A database that no cell knows is refused with those that there are: a cell would take any name."""
    with pytest.raises(RefusedError, match="no cell knows a database SPOTT; LIST DATABASE has: ") as caught:
        toggle("SPOTT", facts=rack(databases=databases))
    assert caught.value.message.endswith(", ".join(sorted(databases)) or "none")
    if databases:
        assert toggle("spot", facts=rack(databases=databases)).changes_something


def setting(
    db: str = "SPOT", *, facts: Mapping[str, CellFacts] | None = None, objective: str = "", **words: str
) -> Plan:
    return set_plan(
        "t1",
        facts or rack(),
        wanted=DirectiveName(name=db) if db else None,
        settings=words,
        objective=objective,
        statement="set iorm",
    )


def sent(plan: Plan) -> set[str]:
    return {step.statement.removeprefix("ALTER IORMPLAN ") for step in plan.steps}


def test_set_changes_only_what_it_names() -> None:
    """Share and limit of one database and the objective change in one statement, each shown before and after."""
    plan = setting(share="12", LIMIT="50", objective="balanced", facts=rack(objective="auto"))
    wanted = DBPLAN.replace("share=8,limit=80", "share=12,limit=50")
    assert sent(plan) == {f"objective=balanced, dbplan={wanted}"}
    assert [(c.name, c.attribute, c.before, c.after) for c in plan.steps[0].changes] == [
        ("", "objective", "auto", "balanced"),
        ("SPOT", "share", "8", "12"),
        ("SPOT", "limit", "80", "50"),
    ]
    assert plan.inverse == dict.fromkeys(CELLS, (f"alter iormplan objective=auto, dbplan={DBPLAN}",))
    assert {(c.attribute, c.value) for c in plan.steps[0].needs} == {("objective", "auto"), ("dbPlan", DBPLAN)}


@pytest.mark.parametrize(
    ("db", "words"), [("SPOT", {"share": "8"}), ("default", {"share": "1"}), ("", {"objective": "AUTO"})]
)
def test_set_to_what_is_there_sends_nothing(db: str, words: dict[str, str]) -> None:
    """What a directive or the objective says already is not sent."""
    plan = setting(db, facts=rack(objective="auto"), **words)
    assert not plan.changes_something and plan.done.keys() == set(CELLS)


@pytest.mark.parametrize(
    ("db", "words", "message"),
    [
        ("SPOT", {"shar": "4"}, "'shar' is not an attribute of a dbplan directive"),
        ("SPOT", {"share": "99"}, "share=99 is not possible; it must be a whole number from 1 to 32"),
        ("SPOT", {"level": "1", "allocation": "50"}, "can't have both share and level/allocation"),
        ("SPTO", {"share": "4"}, "no cell knows a database SPTO"),
    ],
)
def test_set_refuses_what_no_plan_can_hold(db: str, words: dict[str, str], message: str) -> None:
    """A misspelt attribute or database, and a value out of range, are refused before anything is sent."""
    with pytest.raises(ExacellError, match=message):
        setting(db, **words)


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        (["LIMIT"], "dbplan=" + DBPLAN.replace(",limit=80", "")),
        ([], "dbplan=((name=ERP,share=4,flashcache=off),(name=default,share=1))"),
    ],
)
def test_unset_takes_attributes_or_the_directive_out(attributes: list[str], wanted: str) -> None:
    """unset with an attribute leaves the directive, without one takes it out."""
    assert sent(
        unset_plan("t1", rack(), wanted=DirectiveName(name="spot"), attributes=attributes, statement="unset iorm")
    ) == {wanted}


@pytest.mark.parametrize(
    ("db", "attributes", "message"),
    [
        ("HR", [], "the dbplan has no directive for HR; it has: SPOT, ERP, default"),
        ("HR", ["limit"], "the dbplan has no directive for HR"),
        ("SPOT", ["lmit"], "'lmit' is not an attribute of a dbplan directive"),
        ("HR", ["lmit"], "'lmit' is not an attribute of a dbplan directive"),
        ("SPOT", ["share", "limit"], "would be empty"),
    ],
)
def test_unset_refuses_what_nobody_knows(db: str, attributes: list[str], message: str) -> None:
    """A database without a directive that no cell knows, an unknown attribute, and a directive of a name alone, are refused."""
    with pytest.raises(ExacellError, match=message):
        unset_plan("t1", rack(), wanted=DirectiveName(name=db), attributes=attributes, statement="unset iorm")


@pytest.mark.parametrize(("db", "attributes"), [("SPOT", ["level"]), ("HR", []), ("hr", ["limit"])])
def test_what_is_unset_already_is_left_alone(db: str, attributes: list[str]) -> None:
    """Unsetting what a known database has not changes nothing and says so; of several attributes the others go."""
    facts = rack(databases=("SPOT", "ASM1.HR"))
    plan = unset_plan("t1", facts, wanted=DirectiveName(name=db), attributes=attributes, statement="unset iorm")
    assert not plan.changes_something
    assert plan.done == dict.fromkeys(CELLS, "it already has that IORM plan")


def test_unset_takes_out_those_attributes_that_are_there() -> None:
    """Of several attributes those that the directive has are taken out, as when a run was cut off between two."""
    (wanted,) = sent(
        unset_plan(
            "t1", rack(), wanted=DirectiveName(name="SPOT"), attributes=["level", "limit"], statement="unset iorm"
        )
    )
    assert "name=SPOT,share=8)" in wanted


def test_each_cell_gets_its_own_goal() -> None:
    """Restoring writes only where something differs, and undo knows each cell's own plan before."""
    odd = parse("((name=SPOT,share=1))")
    facts = {**rack(objective="auto"), CELLS[1]: cell(CELLS[1], iorm=odd, objective="auto")}
    plan = goal_plan("t1", facts, dict.fromkeys(facts, Goal(dbplan=parse(DBPLAN), objective="auto")), "restore iorm a")
    assert plan.targets == (CELLS[1],) and set(plan.done) == {CELLS[0], CELLS[2]}
    assert plan.inverse == {CELLS[1]: ("alter iormplan dbplan=((name=SPOT,share=1))",)}


@pytest.mark.parametrize("on", [True, False])
def test_a_toggle_says_when_comparing_shows_nothing(on: bool) -> None:
    """Before a run, too, the plan names why a comparison of flash logging can't show anything on these cells."""
    off = parse("((name=SPOT,flashlog=off))") if on else parse("((name=SPOT,share=8))")
    redo = {"FL_RQ_W": (10.0, 0), "FL_IO_W_SKIP_LOG_ON_FAST_DEV": (9.0, 0)}
    fast = {name: replace(fact, iorm=off, memory_log=1 << 30, redo=redo) for name, fact in rack().items()}
    notes = flashlog_plan("t1", fast, wanted=DirectiveName(name="SPOT"), on=on, statement="x").notes
    assert [note.partition(": ")[2] for note in notes] == [
        "databases from 19c on write their redo to its PMEM log first",
        "the redo logs are on flash themselves, so their writes do not use the flash log",
    ]
    assert all("can't show anything on exa1cel[01-03]" in note for note in notes)
    assert flashlog_plan("t1", rack(), wanted=DirectiveName(name="SPOT"), on=False, statement="x").notes == ()
