"""The mode of the flash cache by the old procedure, typed and by dcli: CELLSRV is stopped, and no cache is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_rack import CELLS, Answering, MatrixRack, Operator
from matrix_run import prepared
from matrix_verbs import OLD

ONE = CELLS[0]
TYPED, DCLI = f"on {ONE} alter cell flashCacheMode={{}} -y", f"dcli -c {ONE} cellcli -e alter cell flashCacheMode={{}}"


def operator_of(rack: MatrixRack) -> Operator:
    """Return somebody who says yes."""
    operator = rack.operator()
    operator.console = operator.services.console = Answering(lambda: None)
    return operator


def down(rack: MatrixRack) -> None:
    """Stop the first cell as the procedure has it."""
    for statement in ("alter griddisk all inactive", "alter cell shutdown services cellsrv"):
        rack.raw(ONE, statement)
        rack.pass_time(60)


@pytest.mark.parametrize("text", [TYPED, DCLI], ids=["typed", "dcli"])
def test_the_mode_changes_once_the_cache_is_gone(tmp_path: Path, text: str) -> None:
    """While the flash cache is there a stopped cell is refused another mode, with the way; once it is dropped it changes."""
    rack = MatrixRack(tmp_path / "rack", prepared((), OLD))
    operator = operator_of(rack)
    down(rack)
    said = operator.do(text.format("writethrough"))
    assert said.code == 2 and "cachedBy" in said.text and f"online cell {ONE}" in said.text
    operator.must(f"online cell {ONE} -y")
    for statement in ("alter flashcache all flush", "drop flashcache"):
        rack.raw(ONE, statement)
    down(rack)
    operator.must(text.format("writethrough"))
    assert rack.raw(ONE, "list cell attributes flashCacheMode").strip().lower() == "writethrough"
    assert rack.lost_dirty == 0


def test_other_cells_that_run_are_judged_as_ever(tmp_path: Path) -> None:
    """Where only some of the cells are stopped nothing is sent, and the stopped one is named."""
    rack = MatrixRack(tmp_path / "rack", prepared((), OLD))
    down(rack)
    said = operator_of(rack).do("alter cell flashCacheMode=writethrough -y")
    assert said.code == 2 and f"CELLSRV of {ONE} is stopped" in said.text


def test_a_newer_release_changes_its_mode_while_it_runs(tmp_path: Path) -> None:
    """From 12.2 on a stopped cell is refused, and told what changes the mode."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    down(rack)
    said = operator_of(rack).do(f"on {ONE} alter cell flashCacheMode=writethrough -y")
    assert said.code == 2 and "changes the mode while it runs" in said.text
