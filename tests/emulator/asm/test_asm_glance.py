"""How often a cell's question makes ASM look at all cells: seldom, and yet nothing that changes is missed."""

from __future__ import annotations

import pytest

WHERE = "list griddisk where asmDeactivationOutcome != 'Yes' attributes name"


def looks(lab, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that grows whenever ASM looks at all cells."""
    times: list[float] = []
    settle = lab.asm.settle
    monkeypatch.setattr(lab.asm, "settle", lambda: (times.append(lab.seconds), settle()))
    return times


def test_quiet_groups_are_looked_at_once_a_minute(lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing happens, LISTs within a minute of the rack make ASM look once."""
    times = looks(lab, monkeypatch)
    for _ in range(5):
        lab.cell("list griddisk")
        lab.pass_time(10)
    assert len(times) == 1
    lab.pass_time(60)
    lab.cell("list griddisk")
    assert len(times) == 2


def test_changes_of_cells_are_noticed_at_once(lab) -> None:
    """A grid disk that goes away on one cell changes asmDeactivationOutcome on the others in the same moment."""
    assert lab.cell(WHERE).out == ""
    lab.cell("alter griddisk DATA_CD_00_exa1cel02 inactive", 2)
    assert "DATA_CD_00_exa1cel01" in lab.cell(WHERE).out
    lab.cell("alter griddisk DATA_CD_00_exa1cel02 active", 2)
    lab.pass_time(50)
    assert lab.cell(WHERE).out == ""


def test_statements_of_asm_are_noticed_at_once(lab) -> None:
    """OFFLINE and ONLINE in ASM change what the cells say in the same moment."""
    assert lab.cell(WHERE).out == ""
    lab.sql("alter diskgroup data offline disks in failgroup exa1cel02;")
    assert "DATA_CD_00_exa1cel01" in lab.cell(WHERE).out
    lab.sql("alter diskgroup data online all;")
    lab.pass_time(50)
    assert lab.cell(WHERE).out == ""
