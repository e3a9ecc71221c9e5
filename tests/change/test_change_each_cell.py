"""What a table says of clauses that each cell applies by itself."""

from __future__ import annotations

from exacell.cellcli.statement import List, parse
from exacell.change.passthrough import held_by_each
from exacell.output.result import Result

ROWS = [{"cell": "c1", "name": "a"}, {"cell": "c2", "name": "b"}]


def said(clauses: str, form: str = "table", **result: object) -> str:
    statement = parse(f"list griddisk attributes name {clauses}")
    assert isinstance(statement, List)
    return held_by_each(statement, Result(**{"records": ROWS, "named": True, **result}), form)  # type: ignore[arg-type]


def test_a_table_of_several_cells_says_that_each_cell_sorts() -> None:
    """Below a table of several cells stands that ORDER BY and LIMIT hold on each of them; nowhere else, and never without
    such a clause."""
    assert said("order by size limit 3").startswith("ORDER BY and LIMIT hold on each cell, not over all cells")
    assert said("limit 3").startswith("LIMIT holds on each cell")
    assert said("order by size").startswith("ORDER BY holds on each cell")
    assert said("") == said("limit 3", named=False) == said("limit 3", records=[]) == said("limit 3", "csv") == ""
