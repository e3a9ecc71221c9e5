"""Disk groups from creation to drop, and every refusal on the way."""

from __future__ import annotations

import pytest

STATEMENT = """create diskgroup data_ssd normal redundancy
  disk 'o/*/ssd_*'
  attribute 'compatible.asm'='19.0.0.0', 'compatible.rdbms'='11.2.0.4',
            'cell.smart_scan_capable'='TRUE', 'au_size'='4M';
"""


def test_create_over_all_carved_disks(carved):
    """A group over 48 grid disks of 4912M has the published arithmetic and one failure group a cell."""
    assert carved.sql(STATEMENT).out == "\nDiskgroup created.\n\n"
    assert carved.rows(
        "select state||'|'||type||'|'||allocation_unit_size||'|'||total_mb||'|'||free_mb||'|'||required_mirror_free_mb"
        "||'|'||usable_file_mb||'|'||offline_disks from v$asm_diskgroup where name='DATA_SSD'"
    ) == ["MOUNTED|NORMAL|4194304|235776|235572|4912|115330|0"]
    assert carved.rows(
        "select d.failgroup||'|'||count(*) from v$asm_disk d, v$asm_diskgroup g"
        " where d.group_number=g.group_number and g.name='DATA_SSD' group by d.failgroup order by 1"
    ) == ["EXA1CEL01|16", "EXA1CEL02|16", "EXA1CEL03|16"]


def test_defaults_of_members(carved):
    """A member is named after its grid disk in upper case, with the grid disk's own spelling in its path."""
    carved.create()
    query = "select name||'|'||failgroup||'|'||path||'|'||header_status||'|'||mount_status from v$asm_disk where name="
    assert carved.rows(query + "'SSD_FD_03_EXA1CEL02'") == [
        "SSD_FD_03_EXA1CEL02|EXA1CEL02|o/192.168.10.12/ssd_FD_03_exa1cel02|MEMBER|CACHED"
    ]


def test_mounted_only_where_created(carved):
    """CREATE mounts the group on its own node; others see it dismounted until they mount it."""
    carved.create()
    states = "select inst_id||state from gv$asm_diskgroup where name='SSD' order by 1"
    assert carved.rows(states) == ["1MOUNTED", "2DISMOUNTED"]
    assert carved.sql("alter diskgroup ssd mount;\n", node=2).out == "\nDiskgroup altered.\n\n"
    assert carved.rows(states) == ["1MOUNTED", "2MOUNTED"]
    assert carved.sql("alter diskgroup ssd mount;\n", node=2).codes == [15032, 15017, 15013]


def test_drop_leaves_former_disks(carved):
    """DROP needs the group dismounted elsewhere; then headers say FORMER and the disks can be used again."""
    carved.create()
    carved.sql("alter diskgroup ssd mount;\n", node=2)
    assert carved.sql("drop diskgroup ssd;\n").codes == [15039, 15073]
    carved.sql("alter diskgroup ssd dismount;\n", node=2)
    assert carved.sql("drop diskgroup ssd;\n").out == "\nDiskgroup dropped.\n\n"
    assert carved.rows(
        "select header_status||count(*) from v$asm_disk where path like '%/ssd%' group by header_status"
    ) == ["FORMER48"]
    assert carved.create().codes == []


def test_drop_refuses_files_and_clients(carved):
    """A group with files is not dropped, nor with INCLUDING CONTENTS while a database has them open."""
    carved.create()
    assert carved.db("alter database add logfile group 21 ('+SSD') size 512M;\n").out == "\nDatabase altered.\n\n"
    assert carved.sql("drop diskgroup ssd;\n").codes == [15039, 15053]
    assert carved.sql("drop diskgroup ssd excluding contents;\n").codes == [15039, 15053]
    assert carved.sql("drop diskgroup ssd including contents;\n").codes == [15039, 15027]
    assert carved.sql("alter diskgroup ssd dismount;\n").codes == [15032, 15027]
    assert carved.db("alter database drop logfile group 21;\n").codes == []
    assert carved.sql("drop diskgroup ssd;\n").codes == []


def test_force_drop_is_for_broken_groups(carved):
    """FORCE INCLUDING CONTENTS is refused on a group that can be mounted."""
    carved.create()
    assert carved.sql("drop diskgroup ssd force including contents;\n").codes == [15039, 15230]


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("create diskgroup x disk 'o/*/nothing_*'", [15018, 15031]),
        ("create diskgroup x disk '/dev/sdb1'", [15018, 15014, 15031]),
        ("create diskgroup data disk 'o/*/ssd_*'", [15018, 15030]),
        ("create diskgroup x disk 'o/192.168.10.11/ssd_*'", [15018, 15072]),
        ("create diskgroup x high redundancy disk 'o/192.168.10.11/ssd_*', 'o/192.168.10.12/ssd_*'", [15018, 15072]),
        ("create diskgroup x disk 'o/*/RECO_CD_00_*'", [15018, 15031, 15029, 15029, 15029]),
        ("create diskgroup x disk 'o/192.168.10.11/RECO_CD_00_exa1cel01'", [15018, 15029]),
        ("create diskgroup x disk 'o/*/ssd_*', 'o/192.168.10.11/ssd_FD_00_exa1cel01'", [15018, 15019]),
        ("create diskgroup x disk 'o/*/ssd_*' name one", [15018, 15407]),
        ("create diskgroup x disk 'o/*/ssd_*' force", [15018, 15031, *[15034] * 20]),
        ("create diskgroup x disk 'o/*/ssd_*' size 5g", [15018, 15036]),
        ("create diskgroup x external redundancy failgroup f disk 'o/*/ssd_*'", [15018, 15067]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'au_size'='3M'", [15018, 15238]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'compatible.rdbms'=''", [15018, 15243]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'compatible.asm'='99.1'", [15018, 15238]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'compatible.rdbms'='19.0'", [15018, 15221]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'cell.smart_scan'='TRUE'", [15018, 15240]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'cell.smart_scan_capable'='YES'", [15018, 15238]),
        ("create diskgroup x disk 'o/*/ssd_*' attribute 'idp.type'='x'", [15018, 15241]),
        ("create diskgroup x normal disk 'o/*/ssd_*'", [922]),
        ("create diskgroup abcdefghijabcdefghijabcdefghijx disk 'o/*/ssd_*'", [972]),
        ("drop diskgroup nosuch", [15039, 15001]),
        ("alter diskgroup nosuch mount", [15032, 15017, 15063]),
        ("alter diskgroup nosuch dismount", [15032, 15001]),
        ("alter diskgroup reco drop disk nosuch", [15032, 15054]),
        ("alter diskgroup reco set attribute 'au_size'='8M'", [15032, 15242, 15241]),
        ("alter diskgroup reco set attribute 'compatible.rdbms'='11.1'", [15032, 15242, 15244]),
        ("alter diskgroup reco rebalance power 5000", [15032, 15238]),
    ],
)
def test_refusals_change_nothing(carved, statement, codes):
    """A refused statement gives its codes, outermost first, and leaves every group and header as it was."""
    before = carved.asm.to_state()
    assert carved.sql(f"{statement};\n").codes == codes
    assert carved.asm.to_state() == before


def test_disk_of_unmounted_group_needs_force(carved):
    """A member of a dismounted group is refused with its group's name; FORCE takes it."""
    carved.create()
    carved.sql("alter diskgroup ssd dismount;\n")
    refused = carved.create("other")
    assert refused.codes[:3] == [15018, 15031, 15033]
    assert '"SSD"' in refused.out
    assert carved.sql("create diskgroup other disk 'o/*/ssd_*' force;\n").codes == []
    assert carved.sql("alter diskgroup ssd mount;\n").codes[:2] == [15032, 15017]


def test_same_name_on_two_cells(carved):
    """Two grid disks of one name would be one ASM disk: refused."""
    first, second, _ = carved.rack.cells.values()
    second.grid_disks["ssd_FD_00_exa1cel01"] = first.grid_disks["ssd_FD_00_exa1cel01"]
    assert carved.sql("create diskgroup x disk 'o/*/ssd_FD_00_exa1cel01';\n").codes == [15018, 15020]


@pytest.mark.parametrize(
    ("redundancy", "shown", "usable"),
    [("external", "EXTERN", 235572), ("normal", "NORMAL", 115330), ("high", "HIGH", (235572 - 9824) // 3)],
)
def test_redundancies(carved, redundancy, shown, usable):
    """Usable space is free less what one (HIGH: two) lost disks need, divided by the copies."""
    carved.create(redundancy=redundancy)
    assert carved.rows("select type||'|'||usable_file_mb from v$asm_diskgroup where name='SSD'") == [
        f"{shown}|{usable}"
    ]


def test_published_lsdg(carved):
    """48 disks of 6144M show the published sample's numbers: 294708 free, 6144 reserved, 144282 usable."""
    for cell in carved.rack.cells.values():
        for name, disk in cell.grid_disks.items():
            if name.startswith("ssd"):
                disk.size_bytes = 6144 << 20
    carved.create("FLASH_AB")
    row = carved.run("asmcmd", "lsdg", "--suppressheader", "FLASH_AB").out.split()
    assert " ".join(row) == "MOUNTED NORMAL N 512 512 4096 4194304 294912 294708 6144 144282 0 N FLASH_AB/"


def test_attributes(carved):
    """Versions are padded to five parts, a group that qualifies gets no appliance.mode with 16 disks a cell."""
    carved.sql(STATEMENT)
    query = (
        "select a.name||'='||a.value from v$asm_attribute a, v$asm_diskgroup g where a.group_number=g.group_number"
        " and g.name='DATA_SSD' and a.name in ('compatible.asm','compatible.rdbms','au_size','cell.smart_scan_capable',"
        "'appliance.mode') order by 1"
    )
    assert carved.rows(query) == [
        "appliance.mode=FALSE",
        "au_size=4194304",
        "cell.smart_scan_capable=TRUE",
        "compatible.asm=19.0.0.0.0",
        "compatible.rdbms=11.2.0.4.0",
    ]


def test_privileges(lab):
    """Disk group statements want SYSASM on an ASM instance: SYSDBA there and any database refuse them."""
    statement = "drop diskgroup reco;\n"
    assert lab.sql(statement, "-S", "/ as sysdba").codes == [15039, 15260]
    assert lab.db(statement).codes == [15000]


def test_state_round_trip(carved):
    """A stored ASM comes back equal, with mounts, operations, headers, files and redo logs."""
    import json

    from exacell.emulator.asm.instance import Asm

    carved.create()
    carved.sql("alter diskgroup ssd drop disk SSD_FD_00_EXA1CEL01;\n")
    state = json.loads(json.dumps(carved.asm.to_state()))
    again = Asm.from_state(carved.rack, state)
    assert again.to_state() == carved.asm.to_state()
    assert carved.rack.asm is again
    assert carved.rows("select count(*) from v$asm_operation where state='RUN'") == [" " * 19 + "1"]


def test_space_adds_up(carved):
    """The free and total space of a group is the sum over its disks, whatever is in it."""
    carved.create()
    carved.db("alter database add logfile group 21 ('+SSD') size 1023M;\n")
    query = (
        "select g.name||' '||(g.total_mb-sum(d.total_mb))||' '||(g.free_mb-sum(d.free_mb))||' '||min(d.free_mb)"
        " from v$asm_diskgroup g join v$asm_disk d on d.group_number=g.group_number"
        " group by g.name, g.total_mb, g.free_mb order by g.name"
    )
    differences = [line.split() for line in carved.rows(query)]
    assert [(name, total, free) for name, total, free, _ in differences] == [
        ("DATA", "0", "0"), ("RECO", "0", "0"), ("SSD", "0", "0"),
    ]  # fmt: skip
    assert all(int(least) >= 0 for *_, least in differences)
    assert carved.rows("select free_mb||'' from v$asm_diskgroup where name='SSD'") == [str(235572 - 2 * 1024)]
