"""ALTER DISKGROUP for directories, aliases, templates, names, and the forms that the SQL Reference shows."""

from __future__ import annotations

import pytest


def path(lab, kind: str = "ARCHIVELOG") -> str:
    """Return the complete name of a file of RECO that no instance has open."""
    file = next(file for file in lab.asm.groups["RECO"].files if file.kind == kind)
    return f"+RECO/{'/'.join(file.directories)}/{file.alias}"


def test_directories_and_aliases(lab):
    """A directory holds aliases of files; both are in V$ASM_ALIAS as made by a user, and go away again."""
    own = "select name, alias_directory, system_created from v$asm_alias where system_created = 'N' order by 1"
    file = path(lab)
    text = f"""alter diskgroup reco add directory '+reco/mine', '+RECO/mine/sub';
alter diskgroup reco add alias '+reco/mine/sub/log1.arc' for '{file}';
"""
    assert not lab.sql(text).codes
    assert [row.split() for row in lab.rows(own)] == [["log1.arc", "N", "N"], ["mine", "Y", "N"], ["sub", "Y", "N"]]
    tree = (
        "select sys_connect_by_path(name, '/') from v$asm_alias where name = 'log1.arc' start with parent_index ="
        " 2 * 16777216 connect by prior reference_index = parent_index"
    )
    assert lab.rows(tree) == ["/mine/sub/log1.arc"]
    assert lab.sql("alter diskgroup reco drop directory '+reco/mine';\n").codes == [15032, 15178]
    assert (
        lab.sql("alter diskgroup reco rename alias '+reco/mine/sub/log1.arc' to '+reco/mine/log2.arc';\n").codes == []
    )
    assert lab.sql(f"alter diskgroup reco drop alias '{file}';\n").codes == [15032, 15177]
    assert lab.sql("alter diskgroup reco rename directory '+reco/mine' to '+reco/yours';\n").codes == []
    assert not lab.sql("alter diskgroup reco drop file '+reco/yours/log2.arc';\n").codes
    assert [row.split()[0] for row in lab.rows(own)] == ["sub", "yours"]
    assert lab.sql(f"alter diskgroup reco drop file '{file}';\n").codes == [15032, 15012]
    assert not lab.sql("alter diskgroup reco drop directory '+reco/yours' force;\n").codes
    assert lab.rows(own) == []


def test_templates(lab):
    """Templates are added, changed and dropped; those of the system are only changed."""
    shown = "select redundancy || stripe || system from v$asm_template where group_number = 1 and name = 'T1'"
    lab.sql("alter diskgroup data add template t1 attributes (unprotected fine);\n")
    assert lab.rows(shown) == ["UNPROTFINEN"]
    lab.sql("alter diskgroup data modify template t1 attributes (coarse);\n")
    assert lab.rows(shown) == ["UNPROTCOARSEN"]
    lab.sql("alter diskgroup data drop template t1;\n")
    assert lab.rows(shown) == []
    assert lab.sql("alter diskgroup data drop template t1;\n").codes == [15032, 15144]
    assert lab.sql("alter diskgroup data drop template datafile;\n").codes == [15032, 15005]


def test_nothing_is_done_by_half(lab):
    """A clause whose second part is refused has not done its first."""
    assert lab.sql("alter diskgroup data add directory '+data/one', '+data/none/two';\n").codes == [15032, 15173]
    assert lab.asm.groups["DATA"].made_directories == []


def test_a_group_gets_another_name(carved):
    """RENAME TO wants the group mounted RESTRICTED; its disks and cells know it by the new name then."""
    carved.create("ssd")
    assert carved.sql("alter diskgroup ssd rename to quick;\n").codes == [15032, 15251]
    carved.sql("alter diskgroup ssd dismount;\nalter diskgroup ssd mount restricted;\n")
    assert not carved.sql("alter diskgroup ssd rename disks all;\nalter diskgroup ssd rename to quick;\n").codes
    assert carved.rows("select name from v$asm_diskgroup where state = 'RESTRICTED'") == ["QUICK"]
    asked = "list griddisk attributes name, asmDiskgroupName where asmDiskgroupName = 'QUICK'"
    assert len(carved.cell(asked).lines) == 16


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


def test_replaced_disks_keep_their_names(lab):
    """REPLACE DISK puts a free grid disk in the place of an offline one, whose name and number it takes."""
    lab.carve()
    lab.sql("create diskgroup ssd normal redundancy disk 'o/*/ssd_FD_0*' attribute 'au_size'='4M';\n")
    old = "SSD_FD_00_EXA1CEL01"
    new = "o/192.168.10.11/ssd_FD_15_exa1cel01"
    number = lab.rows(f"select disk_number from v$asm_disk where name = '{old}'")
    assert lab.sql(f"alter diskgroup ssd replace disk {old} with '{new}';\n").codes == [15032, 15145]
    lab.sql(f"alter diskgroup ssd offline disk {old};\n")
    assert not lab.sql(f"alter diskgroup ssd replace disk {old} with '{new}' power 4;\n").codes
    assert lab.rows(f"select path from v$asm_disk where name = '{old}'") == [new]
    assert lab.rows(f"select disk_number from v$asm_disk where name = '{old}'") == number


DONE = (
    "scrub power low",
    "scrub file '+DATA/X/Y' repair power auto",
    "scrub disk data_cd_00_exa1cel01 repair power max force",
    "check all",
    "check norepair",
    "rebalance with balance, compact power 8",
    "rebalance restore power 10",
    "rebalance modify power 3",
    "modify power 4",
    "convert redundancy to flex",
    "modify template datafile attributes (hot mirrorhot)",
    "set attribute 'content.type' = 'recovery'",
    "add directory '+data/a'",
)


@pytest.mark.parametrize("clause", DONE)
def test_documented_forms(lab, clause):
    """Each form of ALTER DISKGROUP that the reference shows is taken."""
    assert lab.sql(f"alter diskgroup data {clause};\n").lines == ["Diskgroup altered."]


REFUSED = {
    "add user 'oracle1'": [15032, 15304],
    "set ownership owner = 'oracle1' for file '+data/x'": [15032, 15304],
    "replace usergroup 'a' with 'b'": [15032, 15304],
    "add volume volume1 size 10g": [15032, 15477],
    "add quotagroup q set quota = 20g": [15032, 15067],
    "rebalance with haste": [922],
    "scrub power 5": [922],
    "modify template t1 attributes fine": [906],
    "rename disk a b": [922],
    "rename disk nosuch to other": [15032, 15054],
    "rename disk data_cd_00_exa1cel01 to data_cd_01_exa1cel01": [15032, 15010],
    "add alias '+data/a' for '+DATA.999.1'": [15032, 15012],
    "add alias '+reco/a' for '+DATA.256.1'": [15032, 15012],
    "add directory '+reco/a'": [15032, 15046],
    "drop directory '+data/spot'": [15032, 15177],
    "add template datafile attributes (fine)": [15032, 15005],
    "drop file '+DATA/SPOT'": [15032, 15012],
}


@pytest.mark.parametrize("clause", REFUSED)
def test_refused_forms(lab, clause):
    """A wrong name, an open file, or what needs access control, volumes or flexible groups is refused with its code."""
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
