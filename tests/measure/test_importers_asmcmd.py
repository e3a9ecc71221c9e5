"""Disks and disk groups as asmcmd prints them, of hosts with ASMLib and of Exadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.measure.importers.asmcmd import claims, read
from exacell.measure.importers.model import UnreadableError

DATA = Path("examples/data")
DISKS, GROUPS = ((DATA / f"vm_{name}.txt").read_text(encoding="utf-8") for name in ("lsdsk", "lsdg"))
CELLS = """\
Total_MB  Free_MB   OS_MB  Name                  Failgroup  Failgroup_Type  Library  Label  UDID  Product  Redund   Path
  433152   202068  433152  DATA_CD_00_EXA1CEL01  EXA1CEL01  REGULAR         CELL                           UNKNOWN  o/192.168.10.11/DATA_CD_00_exa1cel01
  433152   202068  433152  DATA_CD_01_EXA1CEL01  EXA1CEL01  REGULAR         CELL                           UNKNOWN  o/192.168.10.11/DATA_CD_01_exa1cel01
  433152        0  433152                                   REGULAR         CELL                           UNKNOWN  o/192.168.10.12/SPARE_CD_00_exa1cel02
"""  # noqa: E501


def test_disks_of_asmlib_are_a_failure_group_each() -> None:
    """Sizes are those that are printed, though the library's name has blanks; the disks' place and failure groups are told."""
    run = read(DISKS, "lsdsk.txt")
    assert [(point.series, point.figures["totalMib"], point.figures["freeMib"]) for point in run.points] == [
        ("disk DATA_DISK01", 204800, 101200),
        ("disk DATA_DISK02", 204800, 101204),
        ("disk REDO_DISK01", 102400, 81920),
    ]
    assert run.told == {"disks": "ASMLib"}
    assert run.notes == ("3 disks of ASMLib", "one failure group a disk: each disk may fail alone")


def test_disks_of_cells_are_told_apart_from_them() -> None:
    """A cell's disks share its failure group; a disk of no group is left out."""
    run = read(CELLS, "lsdsk.txt")
    assert [point.series for point in run.points] == ["disk DATA_CD_00_EXA1CEL01", "disk DATA_CD_01_EXA1CEL01"]
    assert run.notes == ("2 disks of Exadata cells", "1 failure group: EXA1CEL01")


def test_a_group_without_copies_is_named() -> None:
    """EXTERNAL redundancy is said, with sizes and allocation unit of each group."""
    run = read(GROUPS, "lsdg.txt")
    assert [point.series for point in run.points] == ["group DATA", "group REDO"]
    assert run.points[1].figures["unitBytes"] == 1 << 20 and run.points[0].figures["usableMib"] == 202404
    assert run.told == {"copies in DATA": "none", "copies in REDO": "none"}
    assert sum("has EXTERNAL redundancy" in note for note in run.notes) == 2


def test_both_may_stand_in_one_text() -> None:
    """What a script printed of both is read as both."""
    assert len(read(f"{DISKS}\n{GROUPS}", "both.txt").points) == 5 and claims(GROUPS) and not claims("Name\nDATA/\n")


def test_a_head_alone_is_refused() -> None:
    """A text without a disk is no measurement."""
    with pytest.raises(UnreadableError, match="no disk and no disk group"):
        read(DISKS.splitlines()[0], "x")


@pytest.mark.parametrize(
    ("labels", "note"),
    [
        ("DATA_DISK01\nDATA_DISK02\nREDO_DISK01\n", "oracleasm lists the same 3 disks"),
        (
            "DATA_DISK01\nDATA_DISK02\nDATA_DISK03\nREDO_DISK01\n",
            "oracleasm lists DATA_DISK03, lsdsk does not: in no disk group that is mounted",
        ),
        (
            "DATA_DISK01\nREDO_DISK01\n",
            "lsdsk lists DATA_DISK02, oracleasm does not: scan with `oracleasm scandisks` on this host",
        ),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_labels_of_asmlib_are_compared_with_the_disks_of_asm(labels: str, note: str, first: bool) -> None:
    """What oracleasm listdisks printed, before or behind lsdsk's table, is compared with its ORCL: disks; sizes stay."""
    run = read(labels + DISKS if first else f"{DISKS}\n{labels}", "disks.txt")
    assert [one for one in run.notes if "oracleasm" in one] == [note] and len(run.points) == 3


def test_a_prompt_and_a_header_are_no_label() -> None:
    """Lines that a person's terminal printed beside the tables are no labels, and without labels nothing is compared."""
    assert not any("oracleasm" in note for note in read(f"$ asmcmd lsdsk -k\n{DISKS}\nASMCMD>\n", "x").notes)
