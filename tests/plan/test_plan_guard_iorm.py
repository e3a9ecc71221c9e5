"""CellCLI's own statements on the IORM plan."""

from __future__ import annotations

from plan_factory import CELLS, cell
from plan_guarding import guard, only

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.plan.model import Undo


def test_iorm_plan_keeps_its_inverse() -> None:
    """A dbplan by hand records the old plan as its inverse; cells that differ are warned of."""
    odd = cell(CELLS[1], iorm=parse_iorm(""), iorm_text="")
    plan = guard("alter iormplan dbplan=((name=SPOT,share=1))", cell(), odd)
    first, second = plan.steps
    assert first.inverse == "ALTER IORMPLAN dbplan=" + cell().iorm_text
    assert second.inverse == 'ALTER IORMPLAN dbplan=""'
    assert first.undo is Undo.STATEMENT
    assert [step.changes[0].before for step in plan.steps] == [cell().iorm_text, "-"]
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
