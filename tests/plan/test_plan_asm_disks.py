"""Plans for the disks of an ASM disk group: each guard with a case that it refuses and one that it lets pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from plan_factory import CELLS, asm, asm_disk, grid, group, operation

from exacell.core.errors import RefusedError
from exacell.plan.asmchange import AddDisks, DropDisks, ResizeDisks, SwitchDisks, read_asm_change
from exacell.plan.asmfacts import AsmDisk, AsmFacts, Operation
from exacell.plan.facts import GridDisk
from exacell.plan.model import Op, Plan, Risk, Step, Undo
from exacell.plan.planners.asm_disks import disks_plan
from exacell.plan.planners.asm_members import capacity
from exacell.plan.planners.griddisk_size import REBALANCE_WITHIN, RESIZE_WITHIN

NODE, NOW = "exa1db01", datetime(2026, 11, 28, 20, 0, tzinfo=UTC)
CLOCKS = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}
SHORT = {**CLOCKS, "disk_repair_time": "29m"}
SIZE = 100
"""MB of each disk."""


def member(cell: int, number: int, **changes: Any) -> AsmDisk:
    """One of four disks of a cell, in DATA."""
    name = f"DATA_CD_0{number}_{CELLS[cell]}"
    values = {
        "group": 1,
        "header": "MEMBER",
        "mount": "CACHED",
        "os_mb": SIZE,
        "total_mb": SIZE,
        "name": name.upper(),
        "failgroup": CELLS[cell].upper(),
    }
    return asm_disk(name, f"192.168.10.{5 + cell}", **values | changes)


def members(cells: int = 3, **changes: Any) -> list[AsmDisk]:
    return [member(cell, number, **changes) for cell in range(cells) for number in range(4)]


NEW = asm_disk("DATA_CD_04_exa1cel01", os_mb=SIZE)
GRIDS: dict[str, tuple[GridDisk, ...]] = {
    cell: tuple(grid(f"CD_0{number}_{cell}") for number in range(5)) for cell in CELLS
}


def world(disks: Iterable[AsmDisk] | None = None, *running: Operation, used: int = 400, **changes: Any) -> AsmFacts:
    """DATA on these disks with so many MB used, on four disks of each of three cells unless told otherwise."""
    found = [*members(), NEW] if disks is None else list(disks)
    total = sum(disk.total_mb for disk in found if disk.group)
    data = group(total_mb=total, free_mb=total - used, **{"required_mirror_free_mb": SIZE, "files": 3, **changes})
    return asm([data, group("RECO", number=2)], found, running=running, operations=len(running))


def planned(sql: str, found: AsmFacts | None = None, grids: Mapping[str, tuple[GridDisk, ...]] | None = None) -> Plan:
    change = read_asm_change(f"alter diskgroup DATA {sql}")
    assert isinstance(change, (AddDisks, DropDisks, ResizeDisks, SwitchDisks)), sql
    given = GRIDS if grids is None else grids
    return disks_plan("t1", found or world(), change, grids=given, statement="x", now=NOW)


def only(plan: Plan) -> Step:
    (step,) = plan.steps
    return step


def refused(sql: str, found: AsmFacts | None = None, **more: Any) -> str:
    with pytest.raises(RefusedError) as caught:
        planned(sql, found, **more)
    assert caught.value.message.endswith("; nothing was sent")
    return f"{caught.value.message}: {caught.value.hint}"


# -- all of them


@pytest.mark.parametrize(
    "sql", ["add disk 'o/*/x'", "drop disk DATA_CD_00_EXA1CEL01", "resize all", "online all", "offline disk a"]
)
def test_a_disk_group_whose_disks_or_copies_nobody_knows(sql: str) -> None:
    """One that is not mounted where ASM was asked shows no disks, a flexible one has no copies of its own: both are refused."""
    assert "it is not mounted on exa1db01" in refused(sql, world(number=0))
    assert "it is a FLEX disk group" in refused(sql, world(type="FLEX"))
    with pytest.raises(RefusedError, match=f"^alter diskgroup DATA {sql.split()[0]} refused"):
        planned(sql, world(number=0))
    change = read_asm_change(f"alter diskgroup DATE {sql}")
    assert isinstance(change, (AddDisks, DropDisks, ResizeDisks, SwitchDisks))
    with pytest.raises(RefusedError, match=r"no disk group DATE; there are DATA, RECO; nothing was sent") as caught:
        disks_plan("t1", world(), change, grids={}, statement="x")
    assert caught.value.hint == "did you mean DATA?"


@pytest.mark.parametrize(
    "sql",
    [
        "add disk 'o/*/DATA_CD_04_exa1cel01' rebalance power {} wait",
        "drop disk DATA_CD_00_EXA1CEL01 rebalance power {}",
        "resize all size 96m rebalance power {}",
    ],
)
def test_a_rebalance_that_never_ends_is_not_waited_for(sql: str) -> None:
    """Power 0, more than ASM takes, and one that stands still already are refused where its end is waited for."""
    assert "with power 0 its rebalance never ends" in refused(sql.format(0))
    assert "power 1025 is not possible: 1 to 1024" in refused(sql.format(1025))
    still = world(None, operation("DATA", 0, state="WAIT"))
    assert "is stopped (power 0)" in refused(sql.format(4), still)
    assert only(planned(sql.format(1024))).statement.endswith("REBALANCE POWER 1024")


def test_where_nothing_is_waited_for_power_may_be_0() -> None:
    """Disks are added, and a group grows, without moving anything; undo leaves that power out."""
    step = only(planned("add disk 'o/*/DATA_CD_04_exa1cel01' rebalance power 0"))
    assert step.statement.endswith("REBALANCE POWER 0") and not step.inverse.endswith("POWER 0")
    grown = world(members(os_mb=120))
    assert only(planned("resize all rebalance power 0", grown)).statement.endswith("SIZE 120M REBALANCE POWER 0")
    still = world(None, operation("DATA", 0, state="WAIT"))
    assert only(planned("add disk 'o/*/DATA_CD_04*'", still)).statement


def test_names_that_need_quotes_are_written_nowhere() -> None:
    """A disk or failure group whose name is more than a word is never put into SQL."""
    disks = [member(0, 0, name="A FORCE"), *members()[1:]]
    assert "the name A FORCE needs quotes" in refused("drop disks in failgroup EXA1CEL01", world(disks))
    odd = [*members()[:4], *(replace(d, failgroup="F'") for d in members()[4:8]), *members()[8:]]
    assert "the name F' needs quotes" in refused("resize all size 96m", world(odd))


@pytest.mark.parametrize(("length", "fits"), [(2400, True), (2401, False)])
def test_the_longest_statement(length: int, fits: bool) -> None:
    """So many characters are sent, and not one more."""
    shortest = "ALTER DISKGROUP DATA ADD DISK 'o/192.168.10.5/x'"
    name = "x" + "y" * (length - len(shortest))
    found = world([*members(), asm_disk(name, os_mb=SIZE)])
    grids = {"exa1cel01": (replace(grid("x"), name=name),)}
    if fits:
        assert len(only(planned("add disk 'o/*/x*'", found, grids)).statement) == length
    else:
        assert f"({length} characters)" in refused("add disk 'o/*/x*'", found, grids=grids)


def test_statements_that_sqlplus_may_cut_off() -> None:
    """One with more names than a line takes is refused, and nothing of it is sent."""
    disks = [asm_disk(f"DATA_CD_{n}_exa1cel01_{'x' * 40}", os_mb=SIZE) for n in range(10, 50)]
    grids = {"exa1cel01": tuple(replace(grid("x"), name=disk.grid_disk) for disk in disks)}
    assert "SQL*Plus may cut it off" in refused(
        "add disk 'o/*/DATA_CD_*_exa1cel01_*'", world([*members(), *disks]), grids=grids
    )


# -- ADD


def test_disks_are_added_by_their_paths() -> None:
    """What the string means is sent as whole paths, proven, and taken back by a drop with the same power."""
    plan = planned("add failgroup EXA1CEL01 disk 'o/*/DATA_CD_04*' name NEU rebalance power 8")
    step = only(plan)
    assert step.statement == (
        "ALTER DISKGROUP DATA ADD FAILGROUP EXA1CEL01 DISK 'o/192.168.10.5/DATA_CD_04_exa1cel01' NAME NEU REBALANCE POWER 8"
    )
    assert plan.inverse == {NODE: ("sql asm 'ALTER DISKGROUP DATA DROP DISK NEU REBALANCE POWER 8' asm=main",)}
    assert step.risk is Risk.PERFORMANCE and step.undo is Undo.STATEMENT
    same, free = step.needs
    assert (same.attribute, same.value) == ("disks", 12)
    assert (free.op, free.value, free.where["gridDisk"]) == (Op.COUNT, 1, ("DATA_CD_04_exa1cel01",))
    (mine,) = step.proves
    assert (mine.op, mine.value, mine.where) == (Op.COUNT, 1, {"diskgroup": "DATA", "name": ("NEU",)})
    assert only(planned("add disk 'o/*/DATA_CD_04*'", world(files=0))).risk is Risk.NONE
    assert (
        plan.notes[-1].endswith("exacell does not wait for it: `show rebalance` shows it")
        and step.within == RESIZE_WITHIN
    )
    assert (step.what, step.changes[0].before, step.changes[0].after) == ("add 1 grid disk to DATA", "12", "13")
    assert plan.notes[0] == "DATA_CD_04_exa1cel01 of 100 MB becomes NEU"
    waiting = planned("add disk 'o/*/DATA_CD_04*' rebalance wait")
    waits = only(waiting)
    assert waits.inverse == "ALTER DISKGROUP DATA DROP DISK DATA_CD_04_EXA1CEL01"
    assert waits.within == REBALANCE_WITHIN and waits.what.endswith("and wait for the rebalance")
    assert "not waited for" not in waiting.notes[-1]
    assert [check.object for check in waits.proves] == ["asm.disk", "asm.operation"] and waits.hopes and not step.hopes


def test_disks_that_are_in_the_group_are_not_added_again() -> None:
    """Run again it has nothing to do; of a string that means members as well only the others are added."""
    inside = world([*members(), member(0, 4)])
    assert "already has DATA_CD_04_EXA1CEL01" in planned("add disk 'o/*/DATA_CD_04_exa1cel01'", inside).done[NODE]
    longer = replace(NEW, path=f"{NEW.path}/x")
    step = only(planned("add disk 'o/192.168.10.5/DATA_CD_*'", world([*members(), NEW, longer])))
    assert step.statement == "ALTER DISKGROUP DATA ADD DISK 'o/192.168.10.5/DATA_CD_04_exa1cel01'"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("add disk 'o/*/DATA_CD_09*'", "ASM sees no disk 'o/*/DATA_CD_09*' (ORA-15031)"),
        ("add disk 'o/*/data_cd_04*'", "ASM sees no disk"),
        ("add disk 'o/*/DATA_CD_0*' name x", "is 13 disks, which can't have one name (ORA-15407)"),
        ("add disk 'o/*/DATA_CD_04*' name DATA_CD_00_EXA1CEL02", "is already the name of one of its disks (ORA-15010)"),
        ("add disk 'o/*/DATA_CD_00_exa1cel02' name x", "already has DATA_CD_00_exa1cel02, with the name"),
        (
            "add failgroup x disk 'o/*/DATA_CD_04*'",
            "failure group X is not the failure group of the other disks of DATA_CD_04_exa1cel01's cell, EXA1CEL01; "
            "nothing was sent",
        ),
        (
            "add failgroup EXA1CEL02 disk 'o/*/DATA_CD_04*'",
            "failure group EXA1CEL02 is not the failure group of the other disks of",
        ),
    ],
)
def test_disks_that_are_not_added(sql: str, why: str) -> None:
    """What ASM does not see, what would have another's name, and what would stand in another cell's failure group."""
    assert why in refused(sql)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"header": "MEMBER", "group": 2}, "is MEMBER of disk group RECO, not CANDIDATE or FORMER or PROVISIONED"),
        ({"header": "FOREIGN"}, "is FOREIGN"),
        ({"os_mb": SIZE - 16}, f"has {SIZE - 16} MB and the group's disks {SIZE}: a smaller disk fills up"),
        ({"path": "o/192.168.10.9/DATA_CD_04_exa1cel09"}, "no selected cell has"),
    ],
)
def test_a_disk_that_does_not_fit(changes: dict[str, Any], why: str) -> None:
    """Somebody else's disk, a smaller one, and one that no cell of the rack tells of."""
    assert why in refused("add disk 'o/*/DATA_CD_04*'", world([*members(), replace(NEW, **changes)]))


def test_a_larger_disk_is_warned_of() -> None:
    """It is added, as after a swap by hand, and the plan says what makes the sizes equal; equal ones need no word."""
    (warning,) = planned("add disk 'o/*/DATA_CD_04*'", world([*members(), replace(NEW, os_mb=SIZE + 16)])).warnings
    assert warning.startswith(f"its disks will have different sizes: {SIZE}, {SIZE + 16} MB")
    assert not planned("add disk 'o/*/DATA_CD_04*'").warnings
    lost = world([member(0, 0, path="", mode="OFFLINE", os_mb=0), *members()[1:], NEW])
    assert not planned("add disk 'o/*/DATA_CD_04*'", lost).warnings


def test_flash_and_hard_disks_stay_apart() -> None:
    """A grid disk on flash is not added to a group of hard disks."""
    grids = {**GRIDS, CELLS[0]: (*GRIDS[CELLS[0]][:4], replace(GRIDS[CELLS[0]][4], flash=True))}
    assert "DATA would have flash and hard disks together (ORA-15409)" in refused(
        "add disk 'o/*/DATA_CD_04*'", grids=grids
    )


def test_the_name_of_a_lost_disk_is_taken() -> None:
    """A disk that ASM has not let go of keeps its name, though no path leads to it."""
    lost = member(0, 4, path="", mode="OFFLINE")
    assert "DATA_CD_04_EXA1CEL01 is already the name of one of its disks" in refused(
        "add disk 'o/*/DATA_CD_04*'", world([*members(), lost, NEW])
    )


def test_two_cells_in_one_failure_group() -> None:
    """A failure group that holds another cell's disks takes none of a cell that has none yet; its own may be new."""
    disks = [*members(2), NEW, replace(NEW, path="o/192.168.10.7/DATA_CD_04_exa1cel03")]
    sql = "add failgroup {} disk 'o/*/DATA_CD_04_exa1cel03'"
    assert "other disks of DATA_CD_04_exa1cel03's cell; nothing" in refused(sql.format("EXA1CEL01"), world(disks))
    assert only(planned(sql.format("EXA1CEL03"), world(disks))).statement
    lost = world([member(0, 0, path="", mode="OFFLINE", os_mb=0), *members()[1:], NEW])
    assert only(planned("add failgroup EXA1CEL01 disk 'o/*/DATA_CD_04*'", lost)).statement


def test_external_redundancy_has_no_failure_groups() -> None:
    """FAILGROUP is refused there, and without it a disk is added."""
    external = world(type="EXTERN")
    assert "(ORA-15067)" in refused("add failgroup EXA1CEL01 disk 'o/*/DATA_CD_04*'", external)
    assert only(planned("add disk 'o/*/DATA_CD_04*'", external)).statement


def test_two_new_disks_of_one_name() -> None:
    """Grid disks of two cells with one name would be one ASM disk."""
    twin = replace(NEW, path="o/192.168.10.6/DATA_CD_04_exa1cel01")
    assert "two of the grid disks have the same name" in refused(
        "add disk 'o/*/DATA_CD_04*'", world([*members(), NEW, twin])
    )


# -- DROP


def test_a_disk_is_dropped_and_waited_for() -> None:
    """Until ASM has let go of it and its header says so; undo adds it with its path, name and failure group."""
    plan = planned("drop disk DATA_CD_00_EXA1CEL01 rebalance power 4")
    step = only(plan)
    assert step.statement == "ALTER DISKGROUP DATA DROP DISK DATA_CD_00_EXA1CEL01 REBALANCE POWER 4"
    gone, former = step.proves
    assert gone.op is Op.ABSENT and gone.where == {"diskgroup": "DATA", "name": ("DATA_CD_00_EXA1CEL01",)}
    assert (former.op, former.value, former.where["gridDisk"]) == (Op.COUNT, 1, ("DATA_CD_00_exa1cel01",))
    assert step.hopes and step.estimate and step.risk is Risk.PERFORMANCE
    assert (step.changes[0].name, step.changes[0].before, step.changes[0].after) == ("DATA", "12", "11")
    same, going, staying, room = step.needs
    assert (same.value, going.value, going.where["mode"]) == (12, 1, "ONLINE")
    assert (staying.value, staying.where["state"]) == (11, ("NORMAL", "ADDING"))
    assert (room.attribute, room.op, room.value) == ("freeMb", Op.AT_LEAST, 1200 - 1100)
    assert plan.inverse[NODE] == (
        "sql asm \"ALTER DISKGROUP DATA ADD FAILGROUP EXA1CEL01 DISK 'o/192.168.10.5/DATA_CD_00_exa1cel01' NAME "
        'DATA_CD_00_EXA1CEL01" asm=main',
    )


def test_whole_failure_groups_are_named_by_themselves() -> None:
    """All disks of one are its name; a part of it is its disks."""
    step = only(planned("drop disks in failgroup exa1cel01"))
    assert step.statement == "ALTER DISKGROUP DATA DROP DISKS IN FAILGROUP EXA1CEL01"
    two = "DATA_CD_00_EXA1CEL01, DATA_CD_01_EXA1CEL01"
    assert only(planned(f"drop disk {two}")).statement == f"ALTER DISKGROUP DATA DROP DISK {two}"
    assert len(only(planned(f"drop disk {two}, {two}")).proves[0].where["name"]) == 2
    alone = world([*members(), member(0, 9, failgroup="OWN")], used=40)
    assert only(planned("drop disk DATA_CD_09_EXA1CEL01", alone)).statement.endswith("DROP DISK DATA_CD_09_EXA1CEL01")


def test_with_external_redundancy_a_disk_comes_back_without_failure_group() -> None:
    """The statement that takes a drop back names none there."""
    plan = planned("drop disk DATA_CD_00_EXA1CEL01", world(type="EXTERN"))
    assert "FAILGROUP" not in plan.inverse[NODE][0] and "ADD DISK 'o/192.168.10.5/DATA_CD_00" in plan.inverse[NODE][0]


def test_disks_that_have_gone_are_not_dropped_again() -> None:
    """Run again it has nothing to do, and waits while ASM still moves; a name that ASM does not know is refused."""
    former = asm_disk("DATA_CD_00_exa1cel01", header="FORMER")
    gone = world([*members()[1:], former])
    assert "no longer has them" in planned("drop disk DATA_CD_00_EXA1CEL01", gone).done[NODE]
    assert planned("drop disks in failgroup EXA1CEL03", world(members(2))).done
    leaving = world([member(0, 0, state="DROPPING"), *members()[1:]], operation("DATA"))
    waits = only(planned("drop disk DATA_CD_00_EXA1CEL01", leaving))
    assert waits.statement == "" and waits.hopes and len(waits.proves) == 2
    step = only(planned("drop disk DATA_CD_00_EXA1CEL01, DATA_CD_01_EXA1CEL01", leaving))
    assert step.statement.endswith("DROP DISK DATA_CD_01_EXA1CEL01") and len(step.proves[0].where["name"]) == 2
    third = only(planned("drop disk DATA_CD_02_EXA1CEL01", leaving))
    assert third.needs[2].value == 10 and "DATA_CD_00_EXA1CEL01" not in third.needs[2].where["name"]
    assert refused("drop disk NIX").endswith("`show asmdisk` shows the names")
    assert refused("drop disks in failgroup NIX").endswith("it has EXA1CEL01, EXA1CEL02, EXA1CEL03")
    assert refused("drop disks in failgroup EXA1CEL09", grids={}).endswith("did you mean EXA1CEL01?")
    assert "did you mean DATA_CD_00_EXA1CEL01" in refused("drop disk DATA_CD_00_EXA1CEL0l")
    taken = world([*members()[1:], replace(former, header="MEMBER", group=2)])
    assert "it has no disk DATA_CD_00_EXA1CEL01" in refused("drop disk DATA_CD_00_EXA1CEL01", taken)
    assert "it has no failure group EXA1CEL09" in refused("drop disks in failgroup EXA1CEL09")
    assert "it has no disk DATA_CD_00_EXA1CEL01" in refused("offline disk DATA_CD_00_EXA1CEL01", gone)
    assert "it has no failure group EXA1CEL03" in refused("offline disks in failgroup EXA1CEL03", world(members(2)))


@pytest.mark.parametrize(
    ("kind", "cells", "voting", "fits"),
    [
        ("NORMAL", 3, False, True),
        ("NORMAL", 2, False, False),
        ("NORMAL", 3, True, False),
        ("HIGH", 3, False, False),
        ("EXTERN", 2, False, True),
        ("EXTERN", 1, False, False),
        ("EXTERN", 2, True, True),
    ],
)
def test_as_many_failure_groups_stay_as_copies_need(kind: str, cells: int, voting: bool, fits: bool) -> None:
    """Two with normal redundancy, three with high, and those that voting files need."""
    found = world(members(cells), used=40, type=kind, voting_files=voting)
    if fits:
        assert only(planned("drop disks in failgroup EXA1CEL01", found)).statement
    else:
        said = refused("drop disks in failgroup EXA1CEL01", found)
        assert ("voting files" in said) is voting and "would be left" in said


def test_quorum_disks_are_no_place_for_copies() -> None:
    """They count for the voting files and not for the failure groups that files need."""
    quorum = replace(member(0, 0, name="QD_1", failgroup="QD_1"), path="/dev/exadata_quorum/QD_1")
    assert "2 failure groups, 1 would be left" in refused(
        "drop disks in failgroup EXA1CEL01", world([*members(2), quorum])
    )
    voting = world([*members(3), quorum], voting_files=True)
    assert only(planned("drop disks in failgroup EXA1CEL01", voting)).statement
    paths = only(planned("drop disk QD_1", world([*members(3), quorum]))).proves[1]
    assert paths.value == 0
    assert "room for only 800M" in refused("drop disks in failgroup EXA1CEL01", world([*members(3), quorum], used=801))
    soon = "offline disks in failgroup EXA1CEL01 drop after 0m"
    assert "room for only 800M" in refused(soon, world([*members(3), quorum], used=801))
    assert only(planned(soon, world([*members(3), quorum], used=800))).statement
    larger = world([*members(), replace(quorum, os_mb=900), NEW])
    assert only(planned("add disk 'o/*/DATA_CD_04*'", larger)).statement
    assert not planned("add disk 'o/*/DATA_CD_04*'", larger).warnings


@pytest.mark.parametrize("sql", ["drop disk DATA_CD_00_EXA1CEL01", "resize all size 96m"])
@pytest.mark.parametrize("changes", [{"mode": "OFFLINE"}, {"mode": "SYNCING"}])
def test_nothing_moves_while_a_mirror_is_missing(sql: str, changes: dict[str, str]) -> None:
    """A disk that is not ONLINE, of whichever cell, holds both up."""
    assert "DATA_CD_03_EXA1CEL03 is not ONLINE" in refused(sql, world([*members()[:-1], member(2, 3, **changes)]))


def test_what_is_used_must_fit_where_it_goes() -> None:
    """All copies must have room in failure groups apart; what leaves no room for a lost disk is warned of."""
    disks = [*members(2), member(2, 0)]
    assert (
        planned("drop disk DATA_CD_00_EXA1CEL03", world(disks, used=800))
        .warnings[0]
        .startswith("usable_file_mb becomes about -")
    )
    assert "room for only 800M" in refused("drop disk DATA_CD_00_EXA1CEL03", world(disks, used=801))
    assert "room for only 200M" in refused(
        "drop disk DATA_CD_01_EXA1CEL02, DATA_CD_02_EXA1CEL02, DATA_CD_03_EXA1CEL02", world(members(2), used=202)
    )
    (warning,) = planned("drop disk DATA_CD_00_EXA1CEL03", world(disks, used=700)).warnings
    assert warning == "usable_file_mb becomes about 0"
    (tight,) = planned("drop disk DATA_CD_00_EXA1CEL03", world(disks, used=702)).warnings
    assert (
        tight.startswith("usable_file_mb becomes about -1M")
        and "would not have enough space to restore all mirrors" in tight
    )


@pytest.mark.parametrize(
    ("sizes", "copies", "room"),
    [
        ({"a": 100, "b": 100}, 1, 200),
        ({"a": 100, "b": 100}, 2, 200),
        ({"a": 100, "b": 40}, 2, 80),
        ({"a": 100, "b": 40, "c": 60}, 2, 200),
        ({"a": 100, "b": 100, "c": 100}, 3, 300),
        ({"a": 100, "b": 100, "c": 10}, 3, 30),
        ({"a": 100, "b": 50, "c": 50, "d": 50}, 3, 225),
        ({}, 2, 0),
    ],
)
def test_copies_lie_apart(sizes: dict[str, int], copies: int, room: int) -> None:
    """Failure groups hold what can be put into as many of them as there are copies."""
    assert capacity(sizes.items(), copies) == room


# -- RESIZE


def test_a_group_shrinks_and_is_waited_for() -> None:
    """All of its disks, in whole allocation units, with the power that was given; undo gives the old size."""
    plan = planned("resize all size 95m rebalance power 64")
    step = only(plan)
    assert step.statement == "ALTER DISKGROUP DATA RESIZE ALL SIZE 92M REBALANCE POWER 64"
    size, quiet = step.proves
    assert (size.attribute, size.value, quiet.op) == ("totalMb", 92, Op.ABSENT)
    assert step.hopes and step.estimate and plan.warnings and step.undo is Undo.STATEMENT
    assert step.within == REBALANCE_WITHIN and step.what == "resize DATA and wait for the rebalance"
    assert step.inverse == f"ALTER DISKGROUP DATA RESIZE ALL SIZE {SIZE}M"
    assert plan.inverse == {NODE: (f"sql asm 'ALTER DISKGROUP DATA RESIZE ALL SIZE {SIZE}M' asm=main",)}
    online, still, room = step.needs
    assert (online.value, online.where["mode"], online.where["state"]) == (12, "ONLINE", "NORMAL")
    assert still.op is Op.ABSENT and room.value == 1200 - 12 * 92


def test_a_group_grows_as_far_as_its_grid_disks() -> None:
    """Without a size each disk gets what its cell has, which is not waited for."""
    plan = planned("resize all", world(members(os_mb=120)))
    step = only(plan)
    assert step.statement == "ALTER DISKGROUP DATA RESIZE ALL SIZE 120M"
    assert len(step.proves) == 1 and not step.hopes and step.estimate is None and not plan.warnings
    assert step.within == RESIZE_WITHIN and step.what == "resize DATA"
    assert step.needs[2].value == 0


@pytest.mark.parametrize(
    ("sql", "disks", "why"),
    [
        ("resize all size 104m", members(), "DATA_CD_00_exa1cel01 has 100 MB on its cell, less than 104M (ORA-15036)"),
        ("resize all size 24m", members(), "at least 28M here (ORA-15037)"),
        ("resize disk DATA_CD_00_EXA1CEL01 size 96m", members(), "different sizes: 96, 100 MB"),
        ("resize disks in failgroup EXA1CEL01 size 96m", members(), "different sizes: 96, 100 MB"),
        ("resize all", [member(0, 0, os_mb=120), *members()[1:]], "different sizes: 100, 120 MB"),
        ("resize all size 96m", [*members(), replace(member(0, 0), path="/dev/x", name="Q")], "not grid disks"),
        ("resize disk X size 96m", members(), "it has no disk X"),
    ],
)
def test_sizes_that_no_group_gets(sql: str, disks: list[AsmDisk], why: str) -> None:
    """More than the grid disks have, less than ASM takes, and disks of two sizes."""
    assert why in refused(sql, world(disks))


def test_a_disk_that_is_of_another_size_gets_that_of_the_others() -> None:
    """RESIZE of one disk is done where all are of one size then; its old size can't be given to it alone."""
    disks = [member(0, 0, total_mb=80), *members()[1:]]
    step = only(planned("resize disk DATA_CD_00_EXA1CEL01", world(disks)))
    assert step.inverse == "the disks of DATA had different sizes"
    assert step.statement == f"ALTER DISKGROUP DATA RESIZE ALL SIZE {SIZE}M"
    assert step.undo is Undo.IMPOSSIBLE and not step.hopes
    assert planned("resize disk DATA_CD_00_EXA1CEL01", world(disks)).inverse == {}


def test_a_size_that_is_there_is_not_given_again() -> None:
    """Run again it has nothing to do, and waits while the rebalance runs; another one holds a resize up."""
    busy = world(None, operation("DATA"))
    assert "has 100 MB already" in planned("resize all").done[NODE]
    waits = only(planned("resize all size 100m", busy))
    assert waits.statement == "" and len(waits.proves) == 2
    assert "rebalance of DATA runs with power 4" in refused("resize all size 96m", busy)
    assert "is stopped (power 0)" in refused("resize all size 100m", world(None, operation("DATA", 0, state="WAIT")))
    assert only(planned("resize all size 96m", world(None, operation("RECO")))).statement


def test_a_group_does_not_shrink_below_what_it_holds() -> None:
    """All copies must fit."""
    assert only(planned("resize all size 40m", world(used=480))).statement
    assert only(planned("resize all size 28m", world(used=12))).statement
    assert "room for only 480M" in refused("resize all size 40m", world(used=481))


# -- ONLINE and OFFLINE


def test_a_failure_group_goes_offline_and_comes_back() -> None:
    """While every other copy is whole; the plan says after which time ASM drops the disks."""
    plan = planned("offline disks in failgroup EXA1CEL01", world(attributes=CLOCKS))
    step = only(plan)
    assert step.statement == "ALTER DISKGROUP DATA OFFLINE DISKS IN FAILGROUP EXA1CEL01"
    assert plan.risk is Risk.REDUNDANCY and "online all" in plan.warnings[0]
    assert "at 2026-11-28 23:36 if they are not online again by then" in plan.warnings[1]
    same, others, quiet = step.needs
    assert (same.value, others.value, others.where["mode"], others.where["state"]) == (12, 8, "ONLINE", "NORMAL")
    assert quiet.op is Op.ABSENT and step.proves[0].value == "OFFLINE"
    assert plan.inverse == {NODE: ("sql asm 'ALTER DISKGROUP DATA ONLINE DISKS IN FAILGROUP EXA1CEL01' asm=main",)}
    later = planned("offline disk DATA_CD_00_EXA1CEL01 drop after 5h", world(attributes=SHORT))
    assert only(later).statement == "ALTER DISKGROUP DATA OFFLINE DISK DATA_CD_00_EXA1CEL01 DROP AFTER 5h"
    assert "at 2026-11-29 01:00 if they are not online again by then (DROP AFTER of DATA is 5h)" in later.warnings[1]
    untold = planned("offline disk DATA_CD_00_EXA1CEL01")
    assert (
        untold.risk is Risk.UNKNOWN
        and "disk_repair_time of DATA is not told (Oracle's default is 3.6h)" in untold.warnings[1]
    )
    assert step.changes[0].name == "4 disks of DATA"


def test_a_clock_that_is_too_short_forbids_offline() -> None:
    """Each of the two that count, for what is taken; the statement that sets it is the way out."""
    assert "ASM would drop the disks for good: disk_repair_time of DATA is 29m" in refused(
        "offline disk DATA_CD_00_EXA1CEL01", world(attributes=SHORT)
    )
    whole, failgroup = "offline disks in failgroup EXA1CEL01", {**CLOCKS, "failgroup_repair_time": "0m"}
    assert "'failgroup_repair_time'='24h'" in refused(whole, world(attributes=failgroup))
    assert only(planned("offline disk DATA_CD_00_EXA1CEL01", world(attributes=failgroup))).inverse


@pytest.mark.parametrize("after", ["0m", "1m", "29m", "0h"])
def test_drop_after_less_than_any_work_takes_is_a_drop(after: str) -> None:
    """It needs what DROP DISK needs, is proven by ASM having let go, and no undo is promised."""
    sql = f"offline disks in failgroup EXA1CEL01 drop after {after}"
    assert "NORMAL redundancy needs 2 failure groups, 1 would be left" in refused(sql, world(members(2)))
    assert "it holds the cluster's voting files, which need 3 failure groups" in refused(sql, world(voting_files=True))
    assert "the other disks have room for only 800M" in refused(sql, world(used=801))
    plan = planned(sql, world(used=800))
    step = only(plan)
    assert step.statement == f"ALTER DISKGROUP DATA OFFLINE DISKS IN FAILGROUP EXA1CEL01 DROP AFTER {after}"
    assert (step.risk, step.undo, plan.inverse) == (Risk.REDUNDANCY, Undo.IMPOSSIBLE, {})
    assert [(check.op, len(check.where["name"])) for check in step.proves] == [(Op.ABSENT, 4)]
    same, going, staying, quiet, free = step.needs
    assert (same.value, going.value, staying.value, quiet.op) == (12, 4, 8, Op.ABSENT)
    assert (going.where["mode"], staying.where["mode"], staying.where["state"]) == ("ONLINE", "ONLINE", "NORMAL")
    assert (free.op, free.value) == (Op.AT_LEAST, 400)
    assert f"DROP AFTER {after} is in fact a DROP: no work ends in less than 30m" in plan.warnings[0]
    assert step.within == REBALANCE_WITHIN + 60 * int(after[:-1])
    assert step.changes[0].after == "8" and "add disk` adds them again" in step.inverse


def test_drop_after_that_leaves_time_is_none() -> None:
    """From half an hour on the disks may be back; what is OFFLINE already gets no other clock."""
    plan = planned("offline disk DATA_CD_00_EXA1CEL01 drop after 30m")
    assert plan.inverse and only(plan).proves[0].value == "OFFLINE"
    away = world([member(0, 0, mode="OFFLINE"), *members()[1:]])
    assert "would give them a new time limit" in refused("offline disk DATA_CD_00_EXA1CEL01 drop after 20h", away)
    assert planned("offline disk DATA_CD_00_EXA1CEL01", away).done


@pytest.mark.parametrize(
    ("changes", "kind", "fits"),
    [
        ({}, "NORMAL", True),
        ({"mode": "OFFLINE"}, "NORMAL", False),
        ({"mode": "SYNCING"}, "NORMAL", False),
        ({"state": "DROPPING"}, "NORMAL", False),
        ({"mode": "OFFLINE"}, "HIGH", True),
        ({}, "EXTERN", False),
    ],
)
def test_no_copy_goes_offline_that_nobody_else_has(changes: dict[str, str], kind: str, fits: bool) -> None:
    """Normal redundancy spares one failure group, high two, external none: with a disk of another one away it is refused."""
    found = world([*members()[:-1], member(2, 3, **changes)], type=kind)
    if fits:
        assert only(planned("offline disk DATA_CD_00_EXA1CEL01", found)).statement
    else:
        said = refused("offline disk DATA_CD_00_EXA1CEL01", found)
        assert (
            "nothing mirrors" in said
            if kind == "EXTERN"
            else "EXA1CEL01, EXA1CEL03 offline, data would be lost" in said
        )


def test_two_failure_groups_at_once() -> None:
    """With normal redundancy they are refused together, with high they go."""
    both = "offline disks in failgroup EXA1CEL01, EXA1CEL02"
    assert "redundancy allows 1" in refused(both)
    assert only(planned(both, world(type="HIGH"))).statement


def test_most_voting_files_stay() -> None:
    """Of three one may go, of two none: half of them is not most."""
    three = [replace(disk, voting=disk.name.startswith("DATA_CD_00")) for disk in members()]
    assert only(planned("offline disks in failgroup EXA1CEL01", world(three))).statement
    two = [replace(disk, voting=disk.voting and "03" not in disk.failgroup) for disk in three]
    assert "1 of 2 voting files would be left" in refused("offline disks in failgroup EXA1CEL01", world(two))
    assert only(planned("offline disk DATA_CD_01_EXA1CEL01", world(two))).statement
    assert "1 of 3 voting files would be left" in refused(
        "offline disks in failgroup EXA1CEL01, EXA1CEL02", world(three, type="HIGH")
    )
    away = [replace(d, mode="OFFLINE") if d.failgroup == "EXA1CEL02" else d for d in three]
    assert "1 of 3 voting files would be left" in refused(
        "offline disks in failgroup EXA1CEL01", world(away, type="HIGH")
    )


def test_nothing_goes_offline_while_data_move() -> None:
    """A rebalance of that group holds it up, another group's does not."""
    assert "rebalance of DATA runs" in refused("offline disk DATA_CD_00_EXA1CEL01", world(None, operation("DATA")))
    assert only(planned("offline disk DATA_CD_00_EXA1CEL01", world(None, operation("RECO")))).statement


def off(**changes: str) -> list[AsmDisk]:
    """The members with all disks of the first cell OFFLINE."""
    return [*(member(0, n, **{"path": "", "mode": "OFFLINE", **changes}) for n in range(4)), *members()[4:]]


def test_disks_come_online_and_are_waited_for() -> None:
    """Those that are away, until ASM has them ONLINE; undo takes just these offline."""
    plan = planned("online all power 4", world(off()))
    step = only(plan)
    assert step.statement == "ALTER DISKGROUP DATA ONLINE DISKS IN FAILGROUP EXA1CEL01 POWER 4"
    assert (step.proves[0].attribute, step.proves[0].value, len(step.proves[0].where["name"])) == ("mode", "ONLINE", 4)
    assert plan.inverse == {NODE: ("sql asm 'ALTER DISKGROUP DATA OFFLINE DISKS IN FAILGROUP EXA1CEL01' asm=main",)}
    assert step.needs[0].value == 12 and step.changes[0].name == "4 disks of DATA"
    assert only(planned("online all", world(off()))).statement.endswith("EXA1CEL01")
    assert "ONLINE already" in planned("online all").done[NODE]
    waits = only(planned("online all", world(off(mode="SYNCING"))))
    assert waits.statement == "" and len(waits.proves) == 1
    assert "OFFLINE already" in planned("offline disks in failgroup EXA1CEL01", world(off())).done[NODE]


def test_disks_that_can_not_come_online() -> None:
    """What ASM is dropping for good, and what its cell has inactive; nobody waits for a cell that tells nothing."""
    assert "ASM is dropping DATA_CD_[00-03]_EXA1CEL01" in refused("online all", world(off(state="FORCING")))
    grids = {CELLS[0]: tuple(replace(one, status="inactive") for one in GRIDS[CELLS[0]])}
    assert "are not active on the cell" in refused("online all", world(off()), grids=grids)
    assert only(planned("online all", world(off()), grids={})).statement


def test_the_power_of_a_resync_is_one_that_asm_takes() -> None:
    """Above the most it is refused, and 0 would never end."""
    assert "power 1025 is not possible" in refused("online all power 1025", world(off()))
    assert "never ends" in refused("online all power 0", world(off()))
