"""Plans that create and drop ASM disk groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from plan_factory import CELLS, NODES, asm, asm_disk, free_grid, group, stage, step

from exacell.core.errors import RefusedError
from exacell.core.units import MIB
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup
from exacell.plan.facts import GridDisk
from exacell.plan.guards.steps import all_taken_back
from exacell.plan.model import Check, Gate, Op, Plan, Risk, Undo
from exacell.plan.planners.diskgroup import (
    Wanted,
    create_plan,
    drop_plan,
    instance_nodes,
)
from exacell.plan.planners.diskgroup_disks import ADDABLE

GRIDS: dict[str, tuple[GridDisk, ...]] = {name: tuple(free_grid(f"FD_0{n}_{name}") for n in (0, 1)) for name in CELLS}


def seen(**changes: Any) -> list[AsmDisk]:
    return [asm_disk(g.name, f"192.168.10.{5 + n}", **changes) for n, gs in enumerate(GRIDS.values()) for g in gs]


def create(
    facts: AsmFacts | None = None,
    *,
    grids: dict[str, tuple[GridDisk, ...]] | None = None,
    redundancy: str = "normal",
    prefix: str = "ssd",
    attributes: dict[str, str] | None = None,
) -> Plan:
    wanted = Wanted(name="data_ssd", prefix=prefix, redundancy=redundancy, au_size=4 * MIB, attributes=attributes or {})
    return create_plan(
        "t1",
        facts or asm([group()], seen()),
        GRIDS if grids is None else grids,
        wanted,
        nodes=NODES,
        statement="create diskgroup",
    )


def drop(facts: AsmFacts, *, accepted: Sequence[str] = (), name: str = "data") -> Plan:
    return drop_plan("t1", facts, name, nodes=NODES, accepted=accepted, statement="drop diskgroup")


def test_nothing_is_left_to_do_by_hand_on_the_other_nodes() -> None:
    """The one statement that undo sends dismounts the group there, too."""
    assert [(node, back.undo, back.by_hand) for node, back in all_taken_back(create())] == [
        ("exa1db01", "drop diskgroup DATA_SSD asm=main", "")
    ]


def test_create_then_mount() -> None:
    """The group is created on the node that was asked and mounted on the others, and both are read back."""
    plan = create()
    first = step(plan, "create", "exa1db01")
    assert first.statement == (
        "CREATE DISKGROUP DATA_SSD NORMAL REDUNDANCY DISK 'o/*/ssd_*' ATTRIBUTE 'compatible.asm'='19.0.0.0.0', "
        "'compatible.rdbms'='11.2.0.4.0', 'cell.smart_scan_capable'='TRUE', 'au_size'='4M'"
    )
    assert first.asm == "main"
    assert first.inverse == "DROP DISKGROUP DATA_SSD"
    mount = stage(plan, "mount")
    assert mount.gate is Gate.ALL
    assert [(s.target, s.statement) for s in mount.steps] == [("exa1db02", "ALTER DISKGROUP DATA_SSD MOUNT")]
    proofs = {c.attribute: c.value for c in first.proves}
    assert proofs == {"state": "MOUNTED", "type": "NORMAL", "disks": 6, "offlineDisks": 0, "auSize": 4 * MIB}
    assert "3072 MB raw, about 1262 MB usable in 2 copies beside 36M of ASM's own" in plan.notes[0]
    assert "never lowered" in plan.warnings[0]


def test_a_disk_is_large_enough_for_its_allocation_unit() -> None:
    """Grid disks that ASM would find too small for au_size are refused before it is asked, with what would fit."""
    with pytest.raises(RefusedError) as caught:
        create(asm([], seen(os_mb=16)))
    assert caught.value.message == (
        "create diskgroup DATA_SSD: with au_size=4M a disk has at least 28M, and the grid disks ssd_* have 16M; nothing was sent"
    )
    assert caught.value.hint == (
        "au_size=2m fits; or release griddisk prefix=ssd, then carve griddisk prefix=ssd with size=32M"
    )
    assert create(asm([], seen(os_mb=28))).changes_something


def test_a_prefix_on_two_kinds_of_disk_makes_no_disk_group() -> None:
    """Grid disks of one prefix on flash and on hard disks are refused, new group or not, with the way to part them."""
    both = {cell: (*grids, free_grid(f"CD_00_{cell}", asm_group="OLD")) for cell, grids in GRIDS.items()}
    for facts in (None, made()):
        with pytest.raises(
            RefusedError, match=r"of the 9 grid disks ssd_\*, 6 are on flash and 3 on hard disks"
        ) as caught:
            create(facts, grids=both)
        assert caught.value.hint.startswith("type `release griddisk prefix=ssd media=flash`, then carve them")


def test_a_refusal_names_the_disks_that_somebody_has() -> None:
    """Disks that ASM would not take are named, with the disk group that has them."""
    with pytest.raises(
        RefusedError, match=r"ssd_FD_\[00-01\]_exa1cel\[01-03\] are MEMBER of disk group OTHER, not CANDIDATE"
    ):
        create(asm([group("OTHER", number=2)], seen(group=2, header="MEMBER")))


def test_create_looks_again_right_before() -> None:
    """Before CREATE the name must be free, the disks addable, and the disk string catch exactly as many."""
    needs = step(create(), "create", "exa1db01").needs
    assert [(c.object, c.op) for c in needs] == [
        ("asm.diskgroup", Op.ABSENT),
        ("asm.disk", Op.IN),
        ("asm.disk", Op.COUNT),
    ]
    assert needs[1].value == ("CANDIDATE", "FORMER", "PROVISIONED")
    assert (needs[2].value, needs[2].where) == (6, {"gridDisk": "ssd_*"})


def test_compatible_rdbms_is_what_databases_use_now() -> None:
    """compatible.rdbms is the lowest of the groups in use, because raising it can't be undone."""
    groups = [
        group("A", compatible_rdbms="19.0.0.0.0", clients=("ERP",)),
        group("B", compatible_rdbms="12.2.0.1.0", clients=("SPOT",)),
        group("C", compatible_rdbms="10.1.0.0.0"),
    ]
    assert "'compatible.rdbms'='12.2.0.1.0'" in create(asm(groups, seen())).steps[0].statement
    assert "'compatible.rdbms'='10.1.0.0.0'" in create(asm(groups[2:], seen())).steps[0].statement
    unmounted = [group("A", compatible_rdbms="0.0.0.0.0")]
    assert "'compatible.rdbms'='19.0.0.0.0'" in create(asm(unmounted, seen())).steps[0].statement


def test_compatible_asm_is_the_oldest_instance() -> None:
    """compatible.asm is the version that every ASM instance has."""
    facts = asm([], seen())
    facts = replace(facts, instances=(facts.instances[0], replace(facts.instances[1], version="9.2.0.0.0")))
    assert "'compatible.asm'='9.2.0.0.0'" in create(facts).steps[0].statement


def test_attributes_given_win() -> None:
    """What the user gives replaces what would be chosen, and anything else is added."""
    sql = create(attributes={"compatible.rdbms": "12.1", "content.type": "recovery"}).steps[0].statement
    assert "'compatible.rdbms'='12.1'" in sql
    assert sql.endswith("'content.type'='recovery'")
    assert sql.count("compatible.rdbms") == 1


def test_prefix_is_spelled_as_the_disks_are() -> None:
    """The disk string has the disks' own case, because ASM compares it."""
    assert "DISK 'o/*/ssd_*'" in create(prefix="SSD").steps[0].statement


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("no disks", {"grids": {}}, r"there are no grid disks ssd_\* on the cells"),
    ("two cells for high", {"grids": dict(list(GRIDS.items())[:2]), "redundancy": "high"}, "needs 3 failure groups"),
    ("one cell for normal", {"grids": dict(list(GRIDS.items())[:1])}, "needs 2 failure groups, one per cell"),
    ("unseen", {"facts": asm([], seen()[1:])}, "does not see 1 of 6 grid disks ssd_.*ssd_FD_00_exa1cel01"),
    ("too many seen", {"facts": asm([], [*seen(), asm_disk("ssd_old_1")])}, "also catches ssd_old_1"),
    ("member", {"facts": asm([], [*seen()[1:], asm_disk("ssd_FD_00_exa1cel01", header="MEMBER")])}, "is MEMBER, not"),
    (
        "uneven",
        {"facts": asm([], [*seen()[1:], asm_disk("ssd_FD_00_exa1cel01", os_mb=496)])},
        "different sizes: 496, 512 MB",
    ),
]


@pytest.mark.parametrize(("options", "said"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_create_refused(options: dict[str, Any], said: str) -> None:
    """What could not mount, or what ASM sees otherwise than the cells, is refused before anything is sent."""
    with pytest.raises(RefusedError, match=said):
        create(options.pop("facts", None), **options)


@pytest.mark.parametrize("header", ["CANDIDATE", "FORMER", "PROVISIONED"])
def test_addable_headers(header: str) -> None:
    """Disks that never were in a group, were once, or were prepared, are taken without FORCE."""
    assert create(asm([], seen(header=header))).changes_something


@pytest.mark.parametrize(("redundancy", "cells"), [("external", 1), ("normal", 2), ("high", 3)])
def test_just_enough_failure_groups(redundancy: str, cells: int) -> None:
    """The least number of failure groups is enough."""
    grids = dict(list(GRIDS.items())[:cells])
    disks = [d for d in seen() if any(d.grid_disk.endswith(name) for name in grids)]
    assert create(asm([], disks), grids=grids, redundancy=redundancy).changes_something


def made(**changes: Any) -> AsmFacts:
    """ASM with DATA_SSD on exactly the grid disks."""
    return asm([group("DATA_SSD", number=2, **changes)], seen(group=2, header="MEMBER"))


def test_create_again_is_done_or_mounts() -> None:
    """The same group on the same disks is done already; where it is not mounted it is mounted."""
    plan = create(made())
    assert not plan.changes_something
    assert "mounted everywhere" in plan.done["exa1db01"]
    plan = create(made(states={"1": "MOUNTED", "2": "DISMOUNTED"}))
    assert [s.statement for s in plan.steps] == ["ALTER DISKGROUP DATA_SSD MOUNT"]
    assert plan.targets == ("exa1db02",)
    assert not plan.notes


@pytest.mark.parametrize(
    "facts",
    [
        made(type="HIGH"),
        made(au_size=MIB),
        asm([group("DATA_SSD", number=2)], [*seen(group=2), asm_disk("DATA_CD_00_exa1cel01", group=2)]),
        asm([group("DATA_SSD", number=0, states={"1": "DISMOUNTED"})], seen()),
    ],
)
def test_create_refuses_another_group_of_that_name(facts: AsmFacts) -> None:
    """A group of that name with other disks or another redundancy is not touched."""
    with pytest.raises(RefusedError, match="a disk group of that name exists") as caught:
        create(facts)
    assert f"({facts.groups[0].state}, {facts.groups[0].type}, " in caught.value.message
    assert "drop diskgroup DATA_SSD" in caught.value.hint


def half(lacking: int = 2, *, files: int = 0, **changes: Any) -> AsmFacts:
    """ASM with DATA_SSD on all of its grid disks but the last ones, which are as ``changes`` say."""
    disks = seen(group=2, header="MEMBER")
    late = [replace(d, **{"group": 0, "header": "CANDIDATE", **changes}) for d in disks[-lacking:]]
    states = {"1": "MOUNTED", "2": "DISMOUNTED"}
    return asm([group("DATA_SSD", number=2, states=states, files=files)], [*disks[:-lacking], *late])


def test_a_group_that_lacks_disks_is_completed() -> None:
    """Disks that were away when the group was created are added, a cell's whole prefix by one string; then it is mounted."""
    plan = create(half())
    assert [(s.target, s.statement) for s in plan.steps] == [
        ("exa1db01", "ALTER DISKGROUP DATA_SSD ADD DISK 'o/192.168.10.7/ssd_*'"),
        ("exa1db02", "ALTER DISKGROUP DATA_SSD MOUNT"),
    ]
    added = plan.steps[0]
    late = ("ssd_FD_00_exa1cel03", "ssd_FD_01_exa1cel03")
    assert [(c.object, c.attribute, c.op, c.value, c.where) for c in (*added.needs, *added.proves)] == [
        ("asm.diskgroup", "disks", Op.EQ, 4, {"name": "DATA_SSD"}),
        ("asm.disk", "name", Op.COUNT, 2, {"gridDisk": late, "header": ("CANDIDATE", "FORMER", "PROVISIONED")}),
        ("asm.diskgroup", "state", Op.EQ, "MOUNTED", {"name": "DATA_SSD"}),
        ("asm.diskgroup", "disks", Op.EQ, 6, {"name": "DATA_SSD"}),
        ("asm.disk", "name", Op.COUNT, 2, {"gridDisk": late, "diskgroup": "DATA_SSD"}),
    ]
    assert (added.changes[0].before, added.changes[0].after) == ("4", "6")
    assert (added.undo, added.inverse) == (
        Undo.IMPOSSIBLE,
        "disks leave a disk group by ALTER DISKGROUP … DROP DISK and a rebalance",
    )
    assert plan.risk is Risk.NONE
    assert [note[:40] for note in plan.notes] == ["ASM sets appliance.mode only when it cre"]


def test_a_group_that_is_mounted_everywhere_is_completed_too() -> None:
    """That a group is mounted on all nodes does not make it whole."""
    facts = half()
    mounted = replace(facts, groups=(replace(facts.groups[0], states={"1": "MOUNTED", "2": "MOUNTED"}),))
    assert [s.key for s in create(mounted).stages] == ["add"]


def test_completing_names_single_disks_where_it_must() -> None:
    """Where a string would catch more than the lacking disks of a cell, each is named by its path."""
    two = "ALTER DISKGROUP DATA_SSD ADD DISK 'o/192.168.10.6/ssd_FD_01_exa1cel02', 'o/192.168.10.7/ssd_*'"
    assert create(half(3)).steps[0].statement == two
    facts = half(1)
    assert create(facts).steps[0].statement == "ALTER DISKGROUP DATA_SSD ADD DISK 'o/192.168.10.7/ssd_FD_01_exa1cel03'"
    other = replace(
        half(), disks=(*half().disks, asm_disk("ssd2_x", "192.168.10.7"), asm_disk("ssd_x", "192.168.10.8"))
    )
    assert create(other).steps[0].statement.endswith("ADD DISK 'o/192.168.10.7/ssd_*'")


def test_completing_a_group_with_files_moves_them() -> None:
    """A group that has files already is rebalanced by it: that costs performance, and is said."""
    plan = create(half(files=7))
    assert plan.risk is Risk.PERFORMANCE
    assert "a rebalance spreads its data (7 files) over the new disks" in plan.notes[0]
    assert not create(half(), attributes={"Appliance.Mode": "FALSE"}).notes


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (replace(half(), disks=half().disks[:-1]), "ASM does not see 1 of the others, for example ssd_FD_01_exa1cel03"),
        (
            half(header="MEMBER"),
            r"ASM says that ssd_FD_\[00-01\]_exa1cel03 are MEMBER, not CANDIDATE or FORMER or PROVISIONED",
        ),
        (half(os_mb=496), "different sizes: 496, 512 MB"),
    ],
)
def test_what_cannot_be_completed(facts: AsmFacts, said: str) -> None:
    """Disks that ASM does not see, that somebody has, or that are of another size are not added, and nothing is sent."""
    with pytest.raises(RefusedError, match=said) as caught:
        create(facts)
    assert "it exists with 4 of 6 grid disks ssd_*" in caught.value.message
    assert caught.value.message.endswith("nothing was sent")
    assert caught.value.hint


# -- drop ------------------------------------------------------------------------------------------------------------


def test_drop_dismounts_elsewhere_first() -> None:
    """The group is dismounted on the other nodes, dropped, its disks proven no group's; after a failure it is mounted again."""
    facts = asm([group(number=1)], [asm_disk("DATA_CD_00_x", group=1, header="MEMBER")])
    plan = drop(facts)
    assert [(s.key, s.gate) for s in plan.stages] == [
        ("dismount", Gate.EACH),
        ("drop", Gate.ALL),
        ("back", Gate.MEND),
    ]
    back = stage(plan, "back")
    assert (back.mends, back.unless, back.steps[0].statement) == ("dismount", "drop", "ALTER DISKGROUP DATA MOUNT")
    final = step(plan, "drop", "exa1db01")
    assert final.statement == "DROP DISKGROUP DATA"
    assert final.proves[0] == Check(object="asm.diskgroup", op=Op.ABSENT, where={"name": "DATA"})
    assert (final.proves[1].op, final.proves[1].value, final.proves[1].where["header"]) == (Op.COUNT, 1, ADDABLE)
    assert plan.risk is Risk.REDUNDANCY
    assert not plan.loss
    assert final.undo is Undo.STATEMENT
    assert final.inverse.startswith("CREATE DISKGROUP DATA NORMAL REDUNDANCY DISK 'o/192.168.10.5/DATA_CD_00_x'")


def test_drop_looks_again_for_files_and_clients() -> None:
    """Right before DROP there must still be no file and no database on it."""
    needs = drop(asm([group()])).steps[1].needs
    assert [(c.attribute, c.value) for c in needs] == [("files", 0), ("clients", ())]


def test_group_of_unknown_type() -> None:
    """A group that is mounted nowhere has no type that could be told, and that is said."""
    with pytest.raises(RefusedError, match=r"\(DISMOUNTED, unknown type, au_size 4M, 0 disks known\)"):
        create(asm([group("DATA_SSD", number=0, type="", states={"1": "DISMOUNTED"})], seen()))


def test_what_brings_a_dropped_group_back() -> None:
    """An empty group comes back by create diskgroup on the same prefix; one with contents, or other disks, does not."""
    again = (
        "create diskgroup DATA_SSD prefix=ssd redundancy=normal au_size=4M compatible.asm=19.0.0.0.0 "
        "compatible.rdbms=11.2.0.4.0 asm=main"
    )
    assert drop(made(), name="data_ssd").inverse == {"exa1db01": (again,), "exa1db02": (again,)}
    assert drop(made(files=2), name="data_ssd", accepted=["DATA_SSD"]).inverse == {}
    mixed = asm([group(number=1)], [asm_disk("a_FD_00_x", group=1), asm_disk("b_FD_00_x", group=1)])
    assert drop(mixed).inverse == {}


def test_drop_on_one_node() -> None:
    """Without other mounts there is nothing to dismount and nothing to mend."""
    plan = drop(asm([group(states={"1": "MOUNTED", "2": "DISMOUNTED"})]))
    assert [s.key for s in plan.stages] == ["drop"]


def test_drop_of_a_group_whose_disks_nobody_sees() -> None:
    """Where ASM lists no disk of the group, that the group is gone is all that can be proven."""
    assert [c.op for c in drop(asm([group()])).steps[1].proves] == [Op.ABSENT]


def test_drop_of_nothing() -> None:
    """A group that ASM does not know is gone already."""
    plan = drop(asm(), name="nix")
    assert plan.done == {"exa1db01": "there is no disk group NIX"}


@pytest.mark.parametrize(
    ("changes", "accepted", "said"),
    [
        ({"files": 3}, (), r"it has 3 files; nothing was sent"),
        ({"files": 3, "clients": ("ERP",)}, (), "it has 3 files, in use by ERP"),
        ({"files": 3, "voting_files": True}, (), "holds the cluster's voting files"),
        ({"files": 3}, ("RECO",), "it has 3 files"),
        ({"files": 3, "voting_files": True}, ("DATA",), "holds the cluster's voting files"),
        ({"voting_files": True}, (), "holds the cluster's voting files; .*; nothing was sent"),
        ({"clients": ("ERP",)}, (), "ERP is connected to it"),
        ({"files": 3, "clients": ("ERP", "SPOT")}, ("DATA",), "ERP, SPOT are connected"),
        ({"files": None}, ("DATA",), "its files can't be counted"),
    ],
)
def test_drop_refused(changes: dict[str, Any], accepted: Sequence[str], said: str) -> None:
    """Files need the loss accepted by the group's name; clients, voting files and the unknown refuse in any case."""
    with pytest.raises(RefusedError, match=said):
        drop(asm([group(**changes)]), accepted=accepted)


def others(name: str, number: int, failgroups: int, **changes: Any) -> tuple[DiskGroup, list[AsmDisk]]:
    disks = [asm_disk(f"{name}_{n}", group=number, failgroup=f"CELL{n}") for n in range(failgroups)]
    return group(name, number=number, **changes), disks


@pytest.mark.parametrize(
    ("beside", "way"),
    [
        ([others("RECO", 2, 3)], "crsctl replace votedisk +RECO; then drop diskgroup DATA again"),
        ([others("RECO", 2, 3), others("DBFS", 3, 5, type="HIGH")], "crsctl replace votedisk +DBFS;"),
        ([others("RECO", 2, 3), others("DBFS", 3, 4, type="HIGH")], "crsctl replace votedisk +RECO;"),
        ([others("RECO", 2, 3, states={"1": "DISMOUNTED"}), others("TMP", 3, 1, type="EXTERN")], "votedisk +TMP;"),
        ([others("RECO", 2, 2)], r"votedisk +OTHER, to a mounted disk group of 3 failure groups"),
        ([], "votedisk +OTHER,"),
    ],
)
def test_drop_of_voting_files_names_where_they_may_go(beside: list[tuple[DiskGroup, list[AsmDisk]]], way: str) -> None:
    """The way out is a mounted group with failure groups enough for voting files; the group itself is never named."""
    own, disks = others("DATA", 1, 7)
    groups = [replace(own, voting_files=True), *(found for found, _ in beside)]
    seen_disks = [*disks, *(disk for _, more in beside for disk in more)]
    with pytest.raises(RefusedError) as refused:
        drop(asm(groups, seen_disks))
    assert refused.value.hint is not None
    assert way in refused.value.hint
    assert "crsctl replace votedisk +" in refused.value.hint


def test_drop_offers_no_loss_that_would_be_refused() -> None:
    """While a database uses the files, accepting their loss would help nobody and is not named."""
    with pytest.raises(RefusedError) as refused:
        drop(asm([group(files=3, clients=("ERP",))]))
    assert refused.value.hint == "move them away first"
    with pytest.raises(RefusedError) as refused:
        drop(asm([group(files=3)]))
    assert refused.value.hint == "move them away first; --accept-data-loss=DATA would destroy them"


def test_drop_with_accepted_loss() -> None:
    """With the loss accepted the contents go, as a loss of data that can't be undone; clients are still looked for."""
    plan = drop(asm([group(files=3)]), accepted=("data",))
    final = step(plan, "drop", "exa1db01")
    assert final.statement == "DROP DISKGROUP DATA INCLUDING CONTENTS"
    assert (plan.risk, plan.loss) == (Risk.DATA, ("DATA",))
    assert (final.undo, final.inverse) == (Undo.IMPOSSIBLE, "its files are destroyed")
    assert [c.attribute for c in final.needs] == ["clients"]


def test_instance_nodes() -> None:
    """Configured nodes are matched with running instances by their short names, in the configured order."""
    instances = asm().instances
    assert instance_nodes(["exa1db02", "exa1db01.x", "exa1db09"], instances) == {"exa1db02": "2", "exa1db01.x": "1"}


def test_drop_is_refused_while_a_stranger_has_it_mounted() -> None:
    """A disk group that an instance outside of the configuration has mounted is not dropped; the instance is named."""
    facts = asm([group(files=0)])
    with pytest.raises(RefusedError, match=r"\+ASM2 on exa1db02.example.com has it mounted"):
        drop_plan("t1", facts, "DATA", nodes={"exa1db01": "1"}, accepted=(), statement="x")


STRANGERS = [
    ({"1": "MOUNTED", "2": "DISMOUNTED"}, ""),
    ({"1": "MOUNTED", "2": "MOUNTED"}, "+ASM2 on exa1db02.example.com"),
    ({"1": "DISMOUNTED", "2": "MOUNTED", "3": "MOUNTED"}, "+ASM2 on exa1db02.example.com"),
    ({"1": "MOUNTED", "2": "DISMOUNTED", "3": "MOUNTED", "4": "MOUNTED"}, "instance 3, 4"),
]


@pytest.mark.parametrize(("states", "said"), STRANGERS)
def test_just_the_strangers_that_have_it_mounted_are_named(states: dict[str, str], said: str) -> None:
    """Instances of the configuration, and those that do not have the group mounted, hold nothing up and are not named."""
    facts = asm([group(files=0, states=states)])
    try:
        drop_plan("t1", facts, "DATA", nodes={"exa1db01": "1"}, accepted=(), statement="x")
    except RefusedError as error:
        refused = error.message
    else:
        refused = ""
    assert bool(refused) == bool(said)
    assert refused.startswith(f"drop diskgroup DATA refused: {said} has it mounted" if said else "")


def test_files_may_be_asked_for_by_name() -> None:
    """Where somebody may be asked, a disk group with files is a plan whose loss must be typed."""
    plan = drop_plan("t1", asm([group(files=7)]), "data", nodes=NODES, accepted=(), statement="x", may_ask=True)
    assert plan.loss == ("DATA",)
    assert "7 files" in plan.loss_reasons["DATA"]
    assert plan.risk is Risk.DATA
