"""SQL that changes ASM disk groups: what of it is read, and that nothing is read by halves."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.plan.asmchange import (
    AddDisks,
    DropDisks,
    DropGroup,
    MountGroup,
    NewDisk,
    NewGroup,
    ResizeDisks,
    SetAttribute,
    SetPower,
    SwitchDisks,
    meant,
    outline_of,
    outlines_in,
    read_asm_change,
)
from tests.support.every import every

READ = {
    "drop diskgroup data_ssd": DropGroup(group="DATA_SSD"),
    "DROP DISKGROUP x INCLUDING CONTENTS": DropGroup(group="X"),
    "drop diskgroup x excluding contents": DropGroup(group="X"),
    "drop diskgroup a23456789012345678901234567890": DropGroup(group="A23456789012345678901234567890"),
    "alter diskgroup data mount": MountGroup(group="DATA", mount=True),
    "alter diskgroup data dismount noforce": MountGroup(group="DATA", mount=False),
    "alter diskgroup data rebalance power 8": SetPower(group="DATA", power=8),
    "alter diskgroup data rebalance power 8 nowait": SetPower(group="DATA", power=8),
    "alter diskgroup data rebalance modify power 8": SetPower(group="DATA", power=8, starts=False),
    "alter diskgroup data modify power 0": SetPower(group="DATA", power=0, starts=False),
    "alter diskgroup DATA set attribute 'DISK_REPAIR_TIME' = '8.5h'": SetAttribute(
        group="DATA", name="disk_repair_time", value="8.5h"
    ),
    "alter diskgroup DATA set attribute 'au_size'='8M'": SetAttribute(group="DATA", name="au_size", value="8M"),
    "alter diskgroup DATA add disk 'o/*/DATA_CD_05_c1'": AddDisks(
        group="DATA", disks=(NewDisk(search="o/*/DATA_CD_05_c1"),)
    ),
    "alter diskgroup DATA add failgroup f disk 'o/1.2.3.4;1.2.3.5/a' name b, 'o/*/c' failgroup g disk 'o/*/d' "
    "rebalance power 11 wait": (
        AddDisks(
            group="DATA",
            disks=(
                NewDisk(search="o/1.2.3.4;1.2.3.5/a", failgroup="F", name="B"),
                NewDisk(search="o/*/c", failgroup="F"),
                NewDisk(search="o/*/d", failgroup="G"),
            ),
            power=11,
            wait=True,
        )
    ),
    "alter diskgroup data drop disk a, b rebalance nowait": DropDisks(group="DATA", disks=("A", "B")),
    "alter diskgroup data drop disks in failgroup f, g": DropDisks(group="DATA", failgroups=("F", "G")),
    "alter diskgroup RECO resize all size 92160M rebalance power 64": ResizeDisks(
        group="RECO", size=92160 << 20, power=64
    ),
    "alter diskgroup RECO resize all": ResizeDisks(group="RECO"),
    "alter diskgroup RECO resize disk a size 1g": ResizeDisks(group="RECO", disks=("A",), size=1 << 30),
    "alter diskgroup RECO resize disks in failgroup f size 8388608": ResizeDisks(
        group="RECO", failgroups=("F",), size=8 << 20
    ),
    "alter diskgroup data online all power 4 wait": SwitchDisks(group="DATA", online=True, power=4, wait=True),
    "alter diskgroup data online disk a": SwitchDisks(group="DATA", online=True, disks=("A",)),
    "alter diskgroup data offline disks in failgroup f drop after 300 m": SwitchDisks(
        group="DATA", online=False, failgroups=("F",), drop_after="300m"
    ),
    "create diskgroup d disk 'o/*/d_*'": NewGroup(group="D", redundancy="normal", search="o/*/d_*"),
    "CREATE DISKGROUP D HIGH REDUNDANCY DISK 'o/*/D*' ATTRIBUTE 'au_size'='4M', 'compatible.rdbms'=''": NewGroup(
        group="D", redundancy="high", search="o/*/D*", attributes=(("au_size", "4M"), ("compatible.rdbms", ""))
    ),
}


@every(READ)
def test_what_is_read(sql: str) -> None:
    """Each form that a published page types is read, whatever the case of its words."""
    assert read_asm_change(sql) == READ[sql]


@every(
    [
        "drop diskgroup x force including contents",
        'drop diskgroup "x"',
        "drop diskgroup x, y",
        "drop diskgroup",
        "alter diskgroup all mount",
        "alter diskgroup all dismount",
        "alter diskgroup x, y mount",
        "alter diskgroup x mount force",
        "alter diskgroup x mount restricted",
        "alter diskgroup x dismount force",
        "alter diskgroup x rebalance",
        "alter diskgroup x rebalance power 4 wait",
        "alter diskgroup x rebalance without compact power 4",
        "alter diskgroup x rebalance power 4m",
        "alter diskgroup x check",
        "alter diskgroup x undrop disks",
        "alter diskgroup x rename to y",
        "alter diskgroup x replace disk a with 'o/*/b'",
        "alter diskgroup x set attribute 'appliance.mode'='TRUE'",
        "alter diskgroup x set attribute 'compatible.advm'='19.0.0'",
        "alter diskgroup x set attribute 'disk_repair_time'='8h', 'content.type'='data'",
        "alter diskgroup x set attribute 'disk_repair_time'='8h''x'",
        "alter diskgroup x set disk_repair_time='8h'",
        "alter diskgroup x add disk 'o/*/a' force",
        "alter diskgroup x add quorum disk 'o/*/a'",
        "alter diskgroup x add disk 'o/*/a' size 1g",
        "alter diskgroup x add disk 'o/*/a' disk 'o/*/b'",
        "alter diskgroup x add disk '/dev/sda1'",
        "alter diskgroup x add disk 'O/*/a'",
        "alter diskgroup x add disk 'o/*/[ab]'",
        "alter diskgroup x add disk 'o/*/a' drop disk b",
        "alter diskgroup x add template t attributes (mirror)",
        "alter diskgroup x drop disk a force",
        "alter diskgroup x drop disk a noforce force",
        "alter diskgroup x drop disks in quorum failgroup f",
        "alter diskgroup x drop disk 'a'",
        "alter diskgroup x drop file '+x/y'",
        "alter diskgroup x resize disk a size 1g, b size 2g",
        "alter diskgroup x resize disk a, b size 2g",
        "alter diskgroup x resize all size 1.5g",
        "alter diskgroup x offline all",
        "alter diskgroup x offline disk a drop after 3.6h",
        "alter diskgroup x offline disk a drop after 3",
        "alter diskgroup x offline disk a power 4",
        "alter diskgroup x online all; drop diskgroup y",
        "alter diskgroup x online all --",
        "create diskgroup x external redundancy failgroup a disk 'o/*/A*'",
        "create diskgroup x flex redundancy disk 'o/*/A*'",
        "create diskgroup x disk 'o/*/A*', 'o/*/B*'",
        "create diskgroup x disk 'o/*/A*' name b",
        "create diskgroup x disk 'o/*/A*' attribute 'au_size'='4M', 'AU_SIZE'='8M'",
        "create diskgroup x disk 'o/*/A*' attribute 'au size'='4M'",
        "create diskgroup x disk 'o/*/A*' attribute '1au_size'='4M'",
        "create diskgroup x disk 'o/*/A*' attribute 'au''size'='4M'",
        "create diskgroup x disk 'o/*/A*' attribute ''='4M'",
        "alter database add logfile group 7",
        "alter diskgroup a234567890123456789012345678901 mount",
    ]
)
def test_what_is_not_read(sql: str) -> None:
    """Anything more, anything by force and any other clause is not understood, so it stays opaque."""
    assert read_asm_change(sql) is None


@given(st.sampled_from(sorted(READ)), st.data())
def test_a_statement_that_is_cut_or_goes_on_is_another_one(sql: str, data: st.DataObject) -> None:
    """No text is read as more than it says: behind a whole statement nothing may stand, and no sign may be put into it."""
    assert read_asm_change(f"{sql} {data.draw(st.sampled_from(['force', 'x', ',', '=', '(', '1', ';']))}") is None
    at = data.draw(st.integers(0, len(sql)))
    sign = data.draw(st.sampled_from(';()"&@!#\\'))
    assert read_asm_change(sql[:at] + sign + sql[at:]) in (None, READ[sql]) or sign in "#;"


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("disk_repair_time", "8.5h", "510m"),
        ("disk_repair_time", "12", "12 H"),
        ("failgroup_repair_time", "24.0h", "24h"),
        ("compatible.rdbms", "11.2.0.4", "11.2.0.4.0"),
        ("cell.smart_scan_capable", "true", "TRUE"),
        ("content.type", "data", "DATA"),
    ],
)
def test_two_ways_to_write_a_value(name: str, one: str, other: str) -> None:
    """However ASM prints an attribute, equal values are equal."""
    assert meant(name, one) == meant(name, other) != ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("disk_repair_time", "soon"), ("disk_repair_time", "-1h"), ("compatible.asm", "19"), ("compatible.asm", "")],
)
def test_what_is_no_value(name: str, value: str) -> None:
    """A time without a number and a version of one part mean nothing."""
    assert meant(name, value) == ""


@pytest.mark.parametrize(
    ("sql", "verb", "group", "written", "clause", "forced"),
    [
        ("alter diskgroup DATA mount", "ALTER", "DATA", "DATA", ("MOUNT",), False),
        ("Alter  DiskGroup\n data set attribute 'a'='force'", "ALTER", "DATA", "data", ("SET", "ATTRIBUTE"), True),
        ('drop diskgroup "+X" force including contents', "DROP", "X", '"+X"', ("FORCE", "INCLUDING", "CONTENTS"), True),
        ("create diskgroup A, B disk 'x'", "CREATE", "A", "A,", ("B", "DISK"), False),
        ("alter diskgroup --", "ALTER", "", "--", (), False),
        ("alter diskgroup PP dismount;", "ALTER", "PP", "PP", ("DISMOUNT",), False),
    ],
)
def test_every_disk_group_statement_has_an_outline(
    sql: str, verb: str, group: str, written: str, clause: tuple[str, ...], forced: bool
) -> None:
    """The verb, the group, the clause and FORCE are found in each statement about a disk group, however the rest reads."""
    found = outline_of(sql)
    assert found is not None
    assert (found.verb, found.group, found.written, found.clause, found.forced) == (
        verb,
        group,
        written,
        clause,
        forced,
    )


@pytest.mark.parametrize("sql", ["", "diskgroup x", "alter diskgroups x", "show diskgroup x", " drop diskgroup x"])
def test_what_begins_otherwise_has_no_outline(sql: str) -> None:
    """A text that does not begin with CREATE, ALTER or DROP DISKGROUP is no statement about a disk group."""
    assert outline_of(sql) is None


@given(st.lists(st.sampled_from(["drop diskgroup A", "alter diskgroup B mount", "echo '", ";", "x", "drop diskgroup"])))
def test_statements_are_found_wherever_they_stand(parts: list[str]) -> None:
    """No statement about a disk group hides behind another one, behind a quote, or behind a broken one."""
    meant = [part.split()[2] for part in parts if len(part.split()) > 2]
    groups = [found.group for found in outlines_in("\n".join(parts))]
    assert [group for group in groups if group in ("A", "B")] == meant and "" not in groups


def test_a_statement_in_a_text_ends_at_its_semicolon() -> None:
    """FORCE and clauses of the next statement are not those of the one before; what has no ; goes on to the end."""
    first, second, last = outlines_in(
        "drop diskgroup A; alter diskgroup B mount;x force;'alter diskgroup C dismount force'"
    )
    assert [found.forced for found in (first, second, last)] == [False, False, True]
    assert (first.tail, second.clause, last.clause) == ("", ("MOUNT",), ("DISMOUNT", "FORCE"))
    (alone,) = outlines_in("alter diskgroup A mount")
    assert alone.clause == ("MOUNT",)
