"""ALTER DISKGROUP in the forms that the SQL Reference shows, and ALTER SYSTEM."""

from __future__ import annotations

import pytest


def test_offline_disks_are_dropped_when_their_time_is_over(carved):
    """OFFLINE … DROP AFTER counts down in REPAIR_TIMER, and expels the disk at its end; else disk_repair_time does."""
    carved.create("ssd")
    name = carved.rows("select min(d.name) from v$asm_disk d, v$asm_diskgroup g where g.name = 'SSD'"
                       " and d.group_number = g.group_number")[0]  # fmt: skip
    timer = f"select repair_timer from v$asm_disk where name = '{name}'"
    assert not carved.sql(f"alter diskgroup ssd offline disk {name} drop after 10m;\n").codes
    carved.pass_time(120)
    assert 470 <= int(carved.rows(timer)[0]) <= 480
    carved.pass_time(500)
    carved.rows(timer)
    carved.pass_time(3600)
    assert carved.rows(timer) == []
    assert carved.sql("alter diskgroup ssd offline disk x drop after 10;\n").codes == [922]


DONE = (
    "scrub power low",
    "scrub file '+DATA/X/Y' repair power auto",
    "scrub disk data_cd_00_exa1cel01 repair power max force",
    "check all",
    "check norepair",
    "rebalance with balance, compact power 8",
    "rebalance restore power 10",
    "rebalance modify power 3",
    "set attribute 'content.type' = 'recovery'",
)


@pytest.mark.parametrize("clause", DONE)
def test_documented_forms(lab, clause):
    """Each form of ALTER DISKGROUP that the reference shows is taken."""
    assert lab.sql(f"alter diskgroup data {clause};\n").lines == ["Diskgroup altered."]


REFUSED = {
    "rebalance with haste": [922],
    "scrub power 5": [922],
    "frobnicate": [922],
    "add directory '+data/a'": [439],
    "drop file '+DATA/SPOT'": [439],
    "add user 'oracle1'": [439],
    "rename to quick": [439],
    "replace disk a with 'o/*/b'": [439],
    "modify template datafile attributes (fine)": [439],
}


@pytest.mark.parametrize("clause", REFUSED)
def test_refused_forms(lab, clause):
    """What is wrong is refused with its code, and clauses that are not emulated are refused as a feature that is not there."""
    assert lab.sql(f"alter diskgroup data {clause};\n").codes == REFUSED[clause]


def test_parameters_of_databases_and_asm(lab):
    """ALTER SYSTEM sets the parameters that scripts set; SHOW PARAMETER and V$PARAMETER tell so, and it is kept."""
    text = "alter system set cell_offload_processing=false scope=both sid='*';\nshow parameter cell_offload_proc\n"
    assert lab.db(text).lines[-1].split() == ["cell_offload_processing", "boolean", "FALSE"]
    sizes = "alter system set db_recovery_file_dest_size=4096g;\nalter system flush buffer_cache;\n"
    assert not lab.db(f"{sizes}alter system flush flash_cache;\nalter system register;\n").codes
    assert "4398046511104" in lab.db("select value from v$parameter where name = 'db_recovery_file_dest_size';\n").out
    told = lab.db("alter system set nosuch=1;\n").lines
    assert told[:4] == [
        "alter system set nosuch=1", f"{'*':>18}", "ERROR at line 1:", "ORA-02065: illegal option for ALTER SYSTEM",
    ]  # fmt: skip
    assert lab.db("alter system set cpu_count=8;\n").lines[3] == (
        "ORA-02095: specified initialization parameter cannot be modified"
    )
    assert [lab.sql(f"alter system set {name}=1;\n").codes for name in ("nosuch", "processes")] == [[2065], [2095]]
    assert not lab.sql("alter system set asm_diskgroups='DATA','RECO' scope=memory;\n").codes


def test_events_and_parallel_work(lab):
    """Trace events and parallel DML are taken without effect; RESET takes a parameter out of the spfile if it is there."""
    for text in (
        "alter session set events '10046 trace name context forever, level 8'",
        "alter session enable parallel dml",
    ):
        assert lab.db(f"{text};\n").lines == ["Session altered."]
    reset = "reset db_cache_size scope=spfile sid='*'"
    for text in ("set events 'immediate trace name x'", "set db_cache_size=4g scope=spfile", reset):
        assert lab.db(f"alter system {text};\n").lines == ["System altered."]
    assert lab.db(f"alter system {reset};\n").codes == [32010]
    assert lab.db("alter system reset nosuch;\n").codes == [2065]
    assert lab.db("alter system reset cpu_count;\n").codes == [2095]
