"""CellCLI's own statements on the IORM plan."""

from __future__ import annotations

from typing import Any

from plan_factory import CELLS, cell
from plan_guarding import guard, only

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.change.probe import judged, lists_for
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
    assert other.inverse == "exacell keeps an inverse of dbplan and objective alone"
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
