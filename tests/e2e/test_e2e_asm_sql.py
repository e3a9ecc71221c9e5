"""SQL that changes ASM disk groups, on an emulated rack: shown before and after, proven by a query, run again, undone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.program import InProcess

DISKS = "select name, total_mb, mode_status, failgroup from v$asm_disk where group_number > 0 order by name"
GROUPS = "select name, state from gv$asm_diskgroup order by name, state"
ATTRIBUTES = "select name, value from v$asm_attribute order by name, value"
CEL1 = "EXA1CEL01"


def ask(inside: InProcess, query: str) -> list[dict[str, Any]]:
    return inside.ok("-r", "t1", "-o", "json", f'sql asm "{query}"').records


def change(inside: InProcess, sql: str) -> str:
    done = inside.ok("-r", "t1", f'sql asm "{sql}"', "-y")
    return done.out + done.err


@pytest.fixture(autouse=True)
def quiet(inside: InProcess) -> Iterator[None]:
    """Each test leaves an ASM in which nothing moves and no disk is away."""
    yield
    change(inside, "alter diskgroup RECO online all")
    deadline = time.monotonic() + 60
    while ask(inside, "select state from gv$asm_operation") and time.monotonic() < deadline:
        inside.ok("-r", "t1", "set rebalance power=1024", "-y")


@pytest.mark.parametrize(
    ("sql", "query", "shown"),
    [
        ("alter diskgroup DATA set attribute 'disk_repair_time'='8.5h'", ATTRIBUTES, "disk_repair_time: 12h -> 8.5h"),
        ("alter diskgroup DATA set attribute 'content.type'='recovery'", ATTRIBUTES, "content.type: data -> recovery"),
        ("alter diskgroup RECO resize all size 92160M rebalance power 64", DISKS, "108224 -> 92160"),
        (f"alter diskgroup RECO offline disks in failgroup {CEL1}", DISKS, "mode: ONLINE -> OFFLINE"),
        (f"alter diskgroup RECO drop disk RECO_CD_03_{CEL1} rebalance power 64", DISKS, "disks: 36 -> 35"),
    ],
)
def test_a_change_is_made_once_and_taken_back(inside: InProcess, sql: str, query: str, shown: str) -> None:
    """Without anybody's consent to opaque text: shown before and after, proven, then nothing to do, then as it was."""
    before = ask(inside, query)
    said = change(inside, sql)
    assert shown in said and "1 statement, verified" in said
    assert ask(inside, query) != before
    assert "nothing to do" in change(inside, sql)
    inside.ok("-r", "t1", "undo", "-y")
    assert ask(inside, query) == before


def test_a_disk_goes_and_comes_with_its_name(inside: InProcess) -> None:
    """Dropped, it is free on its cell; added by its path, it is the same disk; and that is taken back as well."""
    before = ask(inside, DISKS)
    change(inside, f"alter diskgroup RECO drop disk RECO_CD_03_{CEL1} rebalance power 64")
    look = "on exa1cel01 list griddisk RECO_CD_03_exa1cel01 attributes asmModeStatus"
    assert inside.ok("-r", "t1", "-o", "json", look).records[0]["asmModeStatus"] == "DROPPED"
    add = f"alter diskgroup RECO add failgroup {CEL1} disk 'o/*/RECO_CD_03_exa1cel01' name RECO_CD_03_{CEL1}"
    assert "disks: 35 -> 36" in change(inside, f"{add} rebalance power 64 wait")
    assert ask(inside, DISKS) == before and "nothing to do" in change(inside, add)
    inside.ok("-r", "t1", "undo", "-y")
    assert len(ask(inside, DISKS)) == len(before) - 1
    change(inside, add)


def test_online_waits_until_the_disks_have_what_they_missed(inside: InProcess) -> None:
    """ONLINE ALL brings what is away, and undo of it takes just that offline again."""
    change(inside, f"alter diskgroup RECO offline disk RECO_CD_03_{CEL1}")
    said = change(inside, "alter diskgroup RECO online all")
    assert f"ONLINE DISK RECO_CD_03_{CEL1}" in said
    assert {row["MODE_STATUS"] for row in ask(inside, DISKS)} == {"ONLINE"}
    inside.ok("-r", "t1", "undo", "-y")
    assert [row["NAME"] for row in ask(inside, DISKS) if row["MODE_STATUS"] == "OFFLINE"] == [f"RECO_CD_03_{CEL1}"]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("alter diskgroup RECO dismount", "connected to it"),
        ("alter diskgroup DATA dismount", "connected to it"),
        ("alter diskgroup DATA set attribute 'au_size'='8M'", "ORA-15241"),
        ("alter diskgroup DATA set attribute 'compatible.rdbms'='12.1'", "--accept-data-loss=DATA"),
        ("alter diskgroup RECO resize all size 1T", "ORA-15036"),
        ("alter diskgroup DATA drop disks in failgroup EXA1CEL02", "voting files"),
        ("alter diskgroup RECO offline disks in failgroup EXA1CEL01, EXA1CEL02", "ORA-15066"),
        ("alter diskgroup RECO drop disk RECO_CD_03_EXA1CEL09", "did you mean"),
        ("alter diskgroup RECO add disk 'o/*/DATA_CD_03*'", "MEMBER of disk group DATA"),
        ("alter diskgroup RECO check", "it is neither a query nor a change that `help docs sql` lists"),
        ("create diskgroup X disk 'o/*/X_FD*', 'o/*/X_CD*'", "one failure group for each cell"),
        ("create diskgroup X disk 'o/*/X_*' attribute 'compatible.asm'=''", "compatible.asm are empty"),
        ("create diskgroup X disk 'o/192.168.10.11/X_*'", "of one prefix on all cells"),
    ],
)
def test_what_is_refused(inside: InProcess, sql: str, why: str) -> None:
    """With the rule or the way out, and nothing is sent."""
    before = ask(inside, DISKS), ask(inside, GROUPS), ask(inside, ATTRIBUTES)
    done = inside("-r", "t1", f'sql asm "{sql}"', "-y")
    assert done.code == 2 and why in done.err, done
    assert (ask(inside, DISKS), ask(inside, GROUPS), ask(inside, ATTRIBUTES)) == before


def test_oracles_sql_makes_the_disk_group_that_our_verb_makes(inside: InProcess) -> None:
    """CREATE DISKGROUP as it is published: said as ours, mounted everywhere, run again, dismounted and back, undone; a string
    that catches other grid disks as well is refused."""
    inside.ok("-r", "t1", "resize flashcache size=300g", "-y")
    inside.ok("-r", "t1", "carve griddisk prefix=ssddisk size=512m", "-y")
    sql = "CREATE DISKGROUP DATA_SSD NORMAL REDUNDANCY DISK 'o/*/ssddisk*' ATTRIBUTE 'compatible.rdbms'='11.2.0.4', "
    sql += "'compatible.asm'='19.0.0.0', 'cell.smart_scan_capable'='TRUE', 'au_size'='4M'"
    said = change(inside, sql)
    assert "this is: create diskgroup DATA_SSD prefix=ssddisk redundancy=normal" in said
    assert "'compatible.rdbms'='11.2.0.4'" in said and "nothing to do" in change(inside, sql)
    mounted = ask(inside, GROUPS)
    change(inside, "alter diskgroup DATA_SSD dismount")
    assert ask(inside, GROUPS) != mounted and "nothing to do" in change(inside, "alter diskgroup DATA_SSD dismount")
    inside.ok("-r", "t1", "undo", "-y")
    assert ask(inside, GROUPS) == mounted
    change(inside, "drop diskgroup DATA_SSD")
    inside.ok("-r", "t1", "carve griddisk prefix=ssddisk2 size=512m", "-y")
    caught = inside("-r", "t1", f'sql asm "{sql}"', "-y")
    assert caught.code == 2 and "also catches ssddisk2_FD_00_exa1cel01" in caught.err


def test_a_cell_that_goes_offline_is_told_the_time_that_its_disk_groups_have(inside: InProcess, fault: Any) -> None:
    """The clock of each disk group stands in the plan as it is now; where no node answers the risk is unknown."""

    def warned(*words: str) -> str:
        return " ".join(inside("-r", "t1", "offline cell exa1cel02", "-n", *words).err.split())

    change(inside, "alter diskgroup RECO set attribute 'disk_repair_time'='7h'")
    assert "(disk_repair_time of DATA is 12h)" in warned() and "(disk_repair_time of RECO is 7h)" in warned()
    inside.ok("-r", "t1", "undo", "-y")
    assert "(disk_repair_time of RECO is 12h)" in warned() and "UNKNOWN" not in warned()
    fault("exa1db01", "refuse")
    fault("exa1db02", "refuse")
    told = warned()
    assert "no database node of the ASM cluster" in told and "(Oracle's defaults are 3.6h (disk_repair_time)" in told
    assert "Risk: UNKNOWN" in told
    caught = inside("-r", "t1", "offline cell exa1cel02", "-y")
    assert caught.code == 2 and "-y does not accept an unknown risk" in caught.err


SHORT = "alter diskgroup DATA set attribute 'disk_repair_time'='29m'"


def test_nothing_takes_disks_from_asm_by_any_door_while_a_clock_is_too_short(inside: InProcess) -> None:
    """Statements, CellCLI, SQL, dcli and text that nobody reads are refused alike, and nothing is sent."""
    change(inside, SHORT)
    for words in (
        ("restart service cellsrv", "-y"),
        ("offline cell exa1cel02", "-y"),
        ("on exa1cel02 alter griddisk all inactive", "-y"),
        ("on exa1cel02 alter cell restart services all", "-y"),
        ('sql asm "alter diskgroup DATA offline disks in failgroup EXA1CEL02"', "-y"),
        ("-y", "dcli", "-c", "exa1cel02", "cellcli -e alter griddisk all inactive"),
        ("-y", "on exa1cel02 sh --accept-opaque reboot"),
        ("-y", "on @db sh --accept-opaque patchmgr -cells cells -patch -rolling"),
        ("-y", "host --accept-opaque ssh exa1cel02 reboot"),
        ("-y", "--accept-opaque", "dcli", "-c", "exa1cel02", "service celld stop"),
    ):
        caught = inside("-r", "t1", *words)
        assert caught.code == 2 and "disk_repair_time of DATA is 29m" in caught.err, (words, caught)
    assert "set attribute 'disk_repair_time'='3.6h'" in caught.err
    inside.ok("-r", "t1", "undo", "-y")
    assert inside("-r", "t1", "offline cell exa1cel02", "-n").code == 0
