"""Plans for attributes of ASM disk groups, and for mounting and dismounting one."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import NODES, asm, asm_disk, group, operation

from exacell.core.errors import RefusedError
from exacell.plan.asmchange import CREATE_ONLY, SetAttribute, read_asm_change
from exacell.plan.asmfacts import ATTRIBUTES, AsmFacts, AsmInstance
from exacell.plan.model import Gate, Op, Plan, Risk, Step, Undo
from exacell.plan.planners.asm_attribute import CHANGEABLE, attribute_plan
from exacell.plan.planners.clock import needed_for
from exacell.plan.planners.diskgroup import dismount_plan, mount_plan

NODE = "exa1db01"
NOW = {
    "disk_repair_time": "3.6h",
    "failgroup_repair_time": "24h",
    "cell.smart_scan_capable": "FALSE",
    "content.type": "data",
    "compatible.asm": "19.0.0.0.0",
    "compatible.rdbms": "11.2.0.4.0",
}


def world(**changes: Any) -> AsmFacts:
    found = {"attributes": NOW, "files": 3, **changes}
    return asm([group(**found), group("RECO", number=2)], [asm_disk("DATA_CD_00_x", group=1, header="MEMBER")])


def planned(name: str, value: str, found: AsmFacts | None = None) -> Plan:
    change = read_asm_change(f"alter diskgroup DATA set attribute '{name}'='{value}'")
    assert isinstance(change, SetAttribute)
    return attribute_plan("t1", found or world(), change, statement="x")


def only(plan: Plan) -> Step:
    (step,) = plan.steps
    return step


def refused(name: str, value: str, found: AsmFacts | None = None) -> str:
    with pytest.raises(RefusedError, match=r"; nothing was sent$") as caught:
        planned(name, value, found)
    return f"{caught.value.message}: {caught.value.hint}"


def test_every_attribute_that_is_asked_for_can_be_set() -> None:
    """What is read of SQL, what ASM is asked for and what has a rule are the same attributes."""
    assert set(CHANGEABLE) == set(ATTRIBUTES) and not set(CREATE_ONLY) & set(ATTRIBUTES)


@pytest.mark.parametrize(
    ("name", "value", "same"),
    [
        ("disk_repair_time", "8.5h", "216m"),
        ("failgroup_repair_time", "48h", "24.0H"),
        ("cell.smart_scan_capable", "TRUE", "false"),
        ("content.type", "recovery", "DATA"),
    ],
)
def test_an_attribute_is_set_once_and_taken_back(name: str, value: str, same: str) -> None:
    """Its value now must still be what was seen, the new one is read back, and the same by other words is nothing to do."""
    plan = planned(name, value)
    step = only(plan)
    assert step.statement == f"ALTER DISKGROUP DATA SET ATTRIBUTE '{name}'='{value}'"
    assert step.undo is Undo.STATEMENT and step.risk is Risk.PERFORMANCE and not plan.loss
    assert plan.inverse[NODE] == (f"sql asm \"ALTER DISKGROUP DATA SET ATTRIBUTE '{name}'='{NOW[name]}'\" asm=main",)
    (before,), (after,) = step.needs, step.proves
    assert (before.object, before.attribute, before.where["name"]) == ("asm.attribute", "value", name)
    assert before.value != after.value
    assert planned(name, same).done


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("disk_repair_time", "soon", "'soon' is not a time"),
        ("cell.smart_scan_capable", "yes", "must be TRUE or FALSE"),
        ("content.type", "redo", "must be data, recovery or system"),
        ("compatible.rdbms", "", "'' is not a version"),
        ("compatible.rdbms", "11.2.0.3", "it is 11.2.0.4.0 and can only be raised (ORA-15244)"),
        ("compatible.rdbms", "21.0.0", "compatible.asm is 19.0.0.0.0, and this can't be higher (ORA-15221)"),
        ("compatible.asm", "21.0.0", "ASM is 19.0.0.0.0"),
        ("au_size", "8M", "can't be changed (ORA-15241)"),
        ("sector_size", "4096", "can't be changed (ORA-15241)"),
        ("cell.sparse_dg", "allsparse", "can't be changed (ORA-15241)"),
    ],
)
def test_values_that_asm_refuses(name: str, value: str, why: str) -> None:
    """Each is refused before anything is sent, with its rule."""
    assert why in refused(name, value)


def test_the_way_out_of_what_a_group_is_created_with() -> None:
    """An empty one is dropped and created anew, one with files is not."""
    assert "then create diskgroup DATA … au_size=8M" in refused("au_size", "8M", world(files=0))
    assert "move its files" in refused("au_size", "8M")


def test_a_group_whose_attributes_nobody_sees() -> None:
    """One that is not mounted there, or too old to have the attribute."""
    assert "it is not mounted on exa1db01" in refused("disk_repair_time", "8h", world(number=0))
    assert "(ORA-15221)" in refused("failgroup_repair_time", "8h", world(attributes={}))


def test_disks_that_are_away_are_not_given_less_time() -> None:
    """With a shorter time ASM may drop them for good; a longer one is allowed, and says how to see what it does."""
    away = world(offline_disks=2)
    assert "OFFLINE" in refused("disk_repair_time", "3h", away)
    assert "repair_timer" in planned("disk_repair_time", "4h", away).warnings[0]
    assert planned("disk_repair_time", "216m", away).done
    odd = world(offline_disks=2, attributes={**NOW, "disk_repair_time": "?"})
    assert "OFFLINE" in refused("disk_repair_time", "400h", odd)
    assert not planned("disk_repair_time", "3h").warnings and planned("disk_repair_time", "3h").risk is Risk.PERFORMANCE
    short = planned("disk_repair_time", "59m")
    assert short.risk is Risk.REDUNDANCY
    assert short.warnings[0].startswith("59m is too short for a reboot of a cell and a patch of a cell: ASM would drop")
    assert planned("failgroup_repair_time", "179m").risk is Risk.REDUNDANCY
    assert (
        planned("disk_repair_time", f"{needed_for('reboot') / 60:g}m")
        .warnings[0]
        .startswith(f"{needed_for('reboot') / 60:g}m is too short for a patch of a cell:")
    ), "just long enough for the other"
    assert not planned("disk_repair_time", "3h").warnings and not planned("content.type", "system", away).warnings


def test_smart_scans_need_grid_disks() -> None:
    """A group with another kind of disk does not get them, and may be told that it has none."""
    found = asm([group(attributes={**NOW, "cell.smart_scan_capable": "TRUE"})], [asm_disk("x", group=1, path="/dev/x")])
    assert planned("cell.smart_scan_capable", "FALSE", found).steps
    other = asm([group(attributes=NOW)], [asm_disk("x", group=1, path="/dev/x")])
    assert "/dev/x is not a grid disk" in refused("cell.smart_scan_capable", "TRUE", other)
    lost = asm([group(attributes=NOW)], [asm_disk("x", group=1, path="")])
    assert planned("cell.smart_scan_capable", "TRUE", lost).steps


def test_partners_need_mirrors() -> None:
    """content.type means nothing with external redundancy, and elsewhere it needs a rebalance, which the plan says."""
    assert "in the next rebalance" in planned("content.type", "recovery").notes[0]
    assert not planned("disk_repair_time", "8h").notes
    assert "no partners" in refused("content.type", "recovery", world(type="EXTERN"))


@pytest.mark.parametrize(("name", "value"), [("compatible.asm", "19.0.0"), ("compatible.rdbms", "12.1.0.2")])
def test_what_has_no_way_back_needs_the_groups_name(name: str, value: str) -> None:
    """compatible.* is raised only when the loss is accepted by name, and the plan says that it stays."""
    step = only(plan := planned(name, value, world(attributes={**NOW, "compatible.asm": "18.0.0.0.0"})))
    assert plan.loss == ("DATA",) and "can't be lowered again" in plan.loss_reasons["DATA"] and plan.risk is Risk.DATA
    assert step.undo is Undo.IMPOSSIBLE and plan.inverse == {} and step.inverse.endswith("never lowered")
    assert planned("compatible.rdbms", "19.0.0").steps  # As high as compatible.asm.
    odd = world(attributes={**NOW, name: "?"})
    assert "is not a version" in refused(name, value, odd)
    assert planned("compatible.asm", "19.0.0").done and not planned("disk_repair_time", "8h").loss


def test_a_database_that_would_be_shut_out() -> None:
    """compatible.rdbms does not rise above what a connected database has COMPATIBLE set to."""
    users = world(compatible={"SPOT": "19.0.0.0.0", "ERP": "11.2.0.4.0"})
    assert "COMPATIBLE is lower in ERP (11.2.0.4.0)" in refused("compatible.rdbms", "12.1.0.2", users)
    assert planned("compatible.rdbms", "12.1.0.2", world(compatible={"SPOT": "12.1.0.2.0"})).steps


def test_the_oldest_asm_counts() -> None:
    """While one instance is older, compatible.asm does not rise above it."""
    found = world()
    old = AsmInstance(inst_id="2", name="+ASM2", host="exa1db02", version="12.2.0.1.0")
    mixed = asm([group(attributes={**NOW, "compatible.asm": "12.1.0.0.0"})], instances=(found.instances[0], old))
    assert "ASM is 12.2.0.1.0" in refused("compatible.asm", "19.0.0", mixed)
    assert planned("compatible.asm", "12.2.0.1", mixed).steps


# -- MOUNT and DISMOUNT


def away(*running: Any, **changes: Any) -> Plan:
    found = asm([group(**{"files": 3, **changes}), group("RECO", number=2)], running=running, operations=len(running))
    return dismount_plan("t1", found, "DATA", nodes=tuple(NODES), statement="x")


def test_a_group_is_dismounted_everywhere_and_mounted_again() -> None:
    """On each node that has it mounted, as long as no database uses it."""
    plan = away()
    assert {step.target for step in plan.steps} == set(NODES) and plan.stages[0].gate is Gate.ALL
    for step in plan.steps:
        assert step.statement == "ALTER DISKGROUP DATA DISMOUNT"
        (alone,) = step.needs
        assert (alone.attribute, alone.value) == ("clients", ())
        assert step.proves[0].op is Op.NE
    assert plan.inverse == dict.fromkeys(NODES, ('sql asm "ALTER DISKGROUP DATA MOUNT" asm=main',))
    one = away(states={"1": "DISMOUNTED", "2": "MOUNTED"})
    assert [step.target for step in one.steps] == ["exa1db02"]
    assert away(states={"1": "DISMOUNTED", "2": "DISMOUNTED"}).done


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"clients": ("ERP", "SPOT")}, "ERP, SPOT are connected to it"),
        ({"voting_files": True}, "the cluster's own files are there (ORA-15027)"),
        ({"clusterware": True}, "the cluster's own files are there (ORA-15027)"),
        ({"states": {"1": "MOUNTED", "9": "MOUNTED"}}, "instance 9 has it mounted"),
    ],
)
def test_a_group_that_somebody_uses_stays_mounted(changes: dict[str, Any], why: str) -> None:
    """Databases, the cluster itself, and an instance that exacell does not know."""
    with pytest.raises(RefusedError, match=r"^alter diskgroup DATA dismount refused: .*; nothing was sent") as caught:
        away(**changes)
    assert why in caught.value.message
    assert ("crsctl replace votedisk" in caught.value.hint) is bool(changes.get("voting_files"))


def test_a_group_that_is_rebalanced_stays_mounted() -> None:
    """Its own rebalance holds a dismount up, another group's does not."""
    with pytest.raises(RefusedError, match="rebalance of DATA runs"):
        away(operation("DATA"))
    assert away(operation("RECO")).steps


@pytest.mark.parametrize(("states", "back"), [(("DISMOUNTED", "DISMOUNTED"), True), (("MOUNTED", "DISMOUNTED"), False)])
def test_only_a_group_that_was_mounted_nowhere_is_dismounted_by_undo(states: tuple[str, str], back: bool) -> None:
    """A mount that completes another one is not taken back where others have mounted it before."""
    found = asm([group(states=dict(zip("12", states, strict=True)))])
    plan = mount_plan("t1", found, "DATA", nodes=tuple(NODES), statement="x")
    assert bool(plan.inverse) is back and plan.steps
    assert plan.stages[0].title == ("mount it" if back else "mount it on the other nodes")
