"""Two ASM clusters on one rack: the real program, over SSH, tells them apart and keeps them apart."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def t2(program: Any) -> Iterator[Any]:
    """The program with a rack of two ASM clusters with two nodes each."""
    program.ok("emulator", "start", "t2", "clusters=2", "dbnodes=4", "mode=writethrough")
    yield program
    program.ok("emulator", "stop", "t2")


def test_clusters_are_kept_apart(t2: Any) -> None:
    """Each cluster has its own SIDs, disk groups and databases; a disk group made in one is not seen in the other."""
    ambiguous = t2("-r", "t2", "show", "diskgroup")
    assert ambiguous.code == 2 and "the ASM clusters c1, c2: give asm=NAME" in ambiguous.err
    config = t2.home / "c"
    config.write_text(t2.ok("emulator", "ssh-config", "t2").out, encoding="utf-8")
    seen = subprocess.run(
        ["ssh", "-F", str(config), "exa1db04", ". ./.bash_profile; echo $ORACLE_SID; sqlplus -S / as sysasm"],
        input="set heading off feedback off\nselect name from v$asm_diskgroup;\n",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert seen.stdout.split() == ["+ASM2", "DATAC2", "RECOC2"]
    t2.ok("-r", "t2", "resize", "flashcache", "size=288g", "-y")
    t2.ok("-r", "t2", "-e", "create griddisk all flashdisk prefix=ssd, availableTo='c2'", "-y")
    refused = t2("-r", "t2", "create", "diskgroup", "FLASH", "prefix=ssd", "redundancy=normal", "asm=c1", "-y")
    assert refused.code == 2 and "ASM does not see 48 of 48 grid disks ssd_*" in refused.err
    t2.ok("-r", "t2", "create", "diskgroup", "FLASH", "prefix=ssd", "redundancy=normal", "asm=c2", "-y")
    groups = {
        asm: {row["name"]: row for row in t2.ok("-r", "t2", "-o", "json", "show", "diskgroup", f"asm={asm}").records}
        for asm in ("c1", "c2")
    }
    assert [sorted(found) for found in groups.values()] == [["DATAC1", "RECOC1"], ["DATAC2", "FLASH", "RECOC2"]]
    listed = t2.ok("-r", "t2", "-o", "json", "list griddisk attributes name, asmDiskGroupName, asmModeStatus").records
    assert len(listed) == 3 * (4 * 12 + 16)
    assert {(row["name"].split("_")[0], row["asmDiskGroupName"]) for row in listed} == {
        *((name, name) for name in ("DATAC1", "DATAC2", "RECOC1", "RECOC2")),
        ("ssd", "FLASH"),
    }
    # A cluster's guard is on the cells for everybody: the other one's disks can't be dropped either.
    stuck = t2("-r", "t2", "-e", "drop griddisk all prefix=ssd", "-y")
    assert stuck.code == 2 and "FLASH" in stuck.err
