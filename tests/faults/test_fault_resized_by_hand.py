"""Grid disks that ASM uses are resized both ways by CellCLI's own statement, typed and by dcli, ASM in its turn."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_rack import CELLS, NODES, Answering, MatrixRack
from matrix_run import prepared
from matrix_verbs import GROUPED

TYPED, DCLI = (
    "alter griddisk all flashdisk size={} -y",
    f"dcli -c {CELLS[0]} cellcli -e alter griddisk all flashdisk size={{}}",
)


def sizes(rack: MatrixRack, cell: str = CELLS[0]) -> set[int]:
    """Return the sizes of the cell's grid disks on flash, in GiB."""
    return {found.size_bytes >> 30 for found in rack.rack.cells[cell].grid_disks.values() if "_FD_" in found.name}


@pytest.mark.parametrize("text", [TYPED, DCLI], ids=["typed", "dcli"])
def test_asm_shrinks_before_the_cells_and_grows_behind_them(tmp_path: Path, text: str) -> None:
    """A grid disk is refused a size below what ASM uses of it, also while ASM still moves data, with the verb that does both;
    then it may shrink that far and no further, and grow into what is free before ASM does."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    operator = rack.operator()
    operator.console = operator.services.console = Answering(lambda: None)
    steps = [
        ("", "3G", "would be smaller than ASM uses of it, 4912M"),
        ("alter diskgroup PP resize all size 3072M", "3G", "not every ASM instance shows that PP is quiet"),
        ("wait", "2G", "would be smaller than ASM uses of it, 3G"),
    ]
    for before, size, why in steps:
        if before == "wait":
            rack.pass_time(3600)
        elif before:
            rack.raw(NODES[0], f"sql:{before}")
        said = operator.do(text.format(size))
        assert said.code == 2 and why in said.text and f"resize griddisk prefix=p size={size}" in said.text
    operator.must(text.format("3G"))
    assert sizes(rack) == {3}
    said = operator.do(text.format("40G"))
    assert said.code == 2 and "more are needed" in said.text
    operator.must(text.format("4G"))
    assert sizes(rack) == {4}
    assert "3072" in rack.raw(NODES[0], "sql:select distinct total_mb from v$asm_disk where path like '%/p_%'")


def test_a_disk_that_asm_grew_again_is_not_cut_off(tmp_path: Path) -> None:
    """What ASM uses at the moment of the statement counts, not at that of the plan."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    rack.raw(NODES[0], "sql:alter diskgroup PP resize all size 3072M")
    rack.pass_time(3600)
    operator = rack.operator()
    operator.must("plan as=small alter griddisk all flashdisk size=3G")
    rack.raw(NODES[0], "sql:alter diskgroup PP resize all")
    rack.pass_time(600)
    assert operator.do("apply small -y").code != 0
    assert sizes(rack) == {4}


@pytest.mark.parametrize("script", ["gv$asm_disk_stat", "gv$asm_diskgroup"])
def test_asm_that_does_not_answer_lets_nothing_shrink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Where ASM can't be queried, or answers with an error, nothing that it uses is made smaller."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    rack.raw(NODES[0], "sql:alter diskgroup PP resize all size 3072M")
    rack.pass_time(3600)
    operator = rack.operator()
    drive = rack._drive

    def broken(name: str, *rest: object) -> tuple[int, str]:
        if name == "sqlplus" and script in str(rest[-1]):
            return 1, "ORA-00942: table or view does not exist\n"
        return drive(name, *rest)  # type: ignore[arg-type]  # what it is given is passed on

    monkeypatch.setattr(rack, "_drive", broken)
    said = operator.do("alter griddisk all flashdisk size=3G -y")
    assert said.code == 2 and "not every ASM instance shows" in said.text
    assert any("ORA-00942" in line for line in operator.console.said)
    assert sizes(rack) == {4}
