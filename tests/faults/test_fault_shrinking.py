"""A grid disk never becomes smaller than what ASM uses of it, also when somebody grows the disk group between two waves."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from matrix_rack import NODES, MatrixRack
from matrix_run import prepared
from matrix_verbs import GROUPED

SHRINK = "resize griddisk prefix=p size=3G --rolling --pause=30s -y"
LAST = "exa1cel03"
GROW = f"sql:alter diskgroup PP resize disks in failgroup {LAST} size 4800M"


def test_a_disk_that_asm_has_grown_again_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should refuse the cell whose disks ASM uses to their old end, name the attribute, and finish with retry failed."""
    rack = MatrixRack(tmp_path / "rack", prepared(GROUPED))
    wait, grown = rack.pause, []

    def pause(event: threading.Event, seconds: float) -> bool:
        sizes = {
            name: disk.size_bytes for name, disk in rack.rack.cells["exa1cel01"].grid_disks.items() if name[0] == "p"
        }
        if not grown and set(sizes.values()) == {3 << 30}:
            grown.append(rack.raw(NODES[1], GROW))
        return wait(event, seconds)

    monkeypatch.setattr(rack, "pause", pause)
    operator = rack.operator()
    said = operator.do(SHRINK)
    assert grown and "ORA-" not in grown[0]
    assert said.code == 1
    assert f"asmDiskSize is {4800 << 20}, not at most {3 << 30}" in said.text
    cut = [statement for host, statement in rack.sent if host == LAST and "size=3G" in statement]
    assert cut == []
    operator.must("retry failed -y")
    sizes = {disk.size_bytes for name, disk in rack.rack.cells[LAST].grid_disks.items() if name.startswith("p_")}
    assert sizes == {3 << 30}
