"""Which statements go upon an old proof: those of a list, and no other."""

from __future__ import annotations

import pytest

from exacell.cellcli.forms import FORMS
from exacell.plan.ageing import ages, ages_in_asm
from tests.support.every import every

AGES = (
    "drop flashcache",
    "DROP FLASHCACHE ALL",
    "drop flashlog",
    "drop flashlog force",
    "drop pmemcache",
    "drop xrmemcache",
    "drop pmemlog",
    "drop griddisk all prefix=p",
    "drop griddisk DATA_CD_00_exa1cel01 force",
    "drop celldisk all flashdisk",
    "drop celldisk all erase=3pass",
    "drop cell",
    "alter flashcache all size=100g",
    "alter flashcache celldisk='FD_00_exa1cel01'",
    "alter flashcache all size=100g force",
    "alter flashcache all flush force",
    "alter pmemcache all size=1g",
    "alter xrmemcache all size=1g",
    "alter cell flashCacheMode=writethrough",
    "alter cell flashCacheMode=writeback",
    "alter cell pmemCacheMode=writethrough",
    "alter cell flashCacheCompress=true",
    "alter cell eighthRack=true",
    "alter cell comment='x', flashCacheMode=writethrough",
    "alter cell shutdown services cellsrv",
    "alter cell restart services all",
    "alter cell restart services cellsrv",
    "alter cell events='immediate cellsrv.cellsrv_setparam'",
    "alter cell bbu drop for replacement",
    "alter griddisk all inactive",
    "alter griddisk all inactive force",
    "alter griddisk p_CD_00_exa1cel01 size=1g",
    "alter griddisk p_CD_00_exa1cel01 name=q_CD_00_exa1cel01",
    "alter griddisk all cachingPolicy=none",
    "alter physicaldisk 20:1 drop for replacement",
    "alter lun 0_1 reenable force",
    "create celldisk all",
    "create celldisk all force",
    "import celldisk all force",
    "export celldisk all",
    "assign key for asmcluster 'x'='66e12adb996805358bf82258587f5050'",
    "alter softwareupdate upgrade",
    "no statement of CellCLI's",
    "list cell; drop flashcache",
    "",
)

KEEPS = (
    "list flashcache",
    "describe griddisk",
    "create flashcache all size=100g",
    "create flashlog all",
    "create griddisk all flashdisk prefix=p, size=1g",
    "create pmemcache all",
    "alter flashcache all flush",
    "alter flashcache all flush nowait",
    "alter flashcache all cancel flush",
    "alter pmemcache all flush nowait",
    "alter griddisk all flush",
    "alter griddisk all active",
    "alter griddisk p_CD_00_exa1cel01 comment='x'",
    "alter iormplan objective=auto",
    "alter cell comment='x'",
    "alter cell smtpServer='mail', smtpPort=25",
    "alter cell restart services ms",
    "alter cell startup services cellsrv",
    "alter cell led on",
    "alter cell validate mail",
    "calibrate",
    "create threshold ct_io_wt_sm warning=10, comparison='>'",
    "drop threshold ct_io_wt_sm",
    "drop quarantine all",
    "drop alerthistory all",
    "create user joe password='welcome1'",
    "grant role all to user joe",
)

ASM_AGES = (
    "drop diskgroup PP",
    "DROP DISKGROUP PP INCLUDING CONTENTS",
    "drop diskgroup PP force including contents",
    "alter diskgroup PP drop disk P_00",
    "alter diskgroup PP dismount",
    "alter diskgroup PP dismount force",
    "alter diskgroup PP mount force",
    "alter diskgroup PP offline disks in failgroup A",
    "alter diskgroup PP resize all size 10g",
    "create diskgroup PP external redundancy disk 'o/*/p_*' force",
    "alter diskgroup all dismount",
)
ASM_KEEPS = (
    "select * from v$asm_disk",
    "alter diskgroup PP mount",
    "ALTER DISKGROUP PP\n REBALANCE POWER 4;",
    "alter diskgroup PP online all",
    "create diskgroup PP normal redundancy disk 'o/*/p_*'",
    "alter diskgroup PP set attribute 'compatible.asm'='19.0'",
    "alter system set asm_power_limit=4",
)


@every(AGES)
def test_what_may_lose_something_ages(statement: str) -> None:
    """A statement that takes anything away, or that can't be read, is looked at right before it leaves."""
    assert ages(statement)


@every(KEEPS)
def test_what_loses_nothing_does_not(statement: str) -> None:
    """A statement that loses nothing whatever has happened since needs no second look."""
    assert not ages(statement)


@pytest.mark.parametrize("sql", ASM_AGES)
def test_asm_statements_that_take_away_age(sql: str) -> None:
    """A statement that takes something away in ASM is looked at right before it leaves."""
    assert ages_in_asm(sql)


@pytest.mark.parametrize("sql", ASM_KEEPS)
def test_asm_statements_that_keep_do_not(sql: str) -> None:
    """A statement that only reads, mounts, moves or makes in ASM needs no second look."""
    assert not ages_in_asm(sql)


def test_a_new_kind_of_statement_ages() -> None:
    """Of the kinds of statements that CellCLI knows, DROP and IMPORT of whatever holds data age in their plainest form."""
    kept = ("ALERTHISTORY", "QUARANTINE", "ROLE", "SOFTWAREHISTORY", "THRESHOLD", "USER")
    dropped = [kind for verb, kind in FORMS if str(verb) == "DROP" and kind not in kept]
    assert len(dropped) >= 7
    for kind in dropped:
        form = FORMS[next(verb for verb, name in FORMS if str(verb) == "DROP"), kind]
        assert ages(f"drop {kind}" if form.bare else f"drop {kind} x"), kind
