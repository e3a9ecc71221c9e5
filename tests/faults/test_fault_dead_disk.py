"""A disk that died long ago is made again, as ASM and its cell say at each moment what may go."""

from __future__ import annotations

from pathlib import Path

from matrix_rack import CELLS, MatrixRack
from matrix_run import prepared

ONE = CELLS[0]
BOTH = "DATA_CD_03_exa1cel01,RECO_CD_03_exa1cel01"
AGAIN = (
    f"on {ONE} drop celldisk CD_03_{ONE} -y --accept-data-loss={ONE}",
    f"on {ONE} create celldisk CD_03_{ONE} lun=0_3 -y",
    f"on {ONE} create griddisk DATA_CD_03_{ONE} celldisk=CD_03_{ONE}, size=423G -y",
    f"sql asm \"alter diskgroup DATA add disk 'o/*/DATA_CD_03_{ONE}'\" -y --accept-opaque",
)


def modes(rack: MatrixRack) -> list[str]:
    """Return what the cell says of the disk's two grid disks."""
    return rack.raw(ONE, "list griddisk attributes asmModeStatus where name like '.*_CD_03_.*'").split()


def test_a_disk_that_asm_has_dropped_is_made_again(tmp_path: Path) -> None:
    """While ASM expels a dead disk its grid disks are refused; then they may go, one that ASM sees again only once it is
    inactive, and the disk is made again and joins its disk group."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    operator = rack.operator()
    rack.raw(ONE, f"alter griddisk {BOTH} inactive")
    drop = f"on {ONE} drop griddisk {BOTH} -y"
    while rack.raw(ONE, "list griddisk attributes name where asmModeStatus = OFFLINE").strip():
        said = operator.do(drop)
        assert said.code == 2 and "asmModeStatus OFFLINE" in said.text, said
        rack.pass_time(3600)
    assert modes(rack) == ["DROPPED", "DROPPED"]
    rack.raw(ONE, f"alter griddisk RECO_CD_03_{ONE} active")
    said = operator.do(drop)
    assert said.code == 2 and "header MEMBER" in said.text and f"alter griddisk RECO_CD_03_{ONE} inactive" in said.text
    for statement in (f"on {ONE} alter griddisk RECO_CD_03_{ONE} inactive -y", drop, *AGAIN):
        operator.must(statement)
    rack.pass_time(600)
    assert modes(rack) == ["ONLINE"]
