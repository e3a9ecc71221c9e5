"""What a copy would leave out is named, and then nothing is rehearsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from exacell.commands.rehearsal.copyreading import likeness_of, read_objects
from exacell.core.errors import RefusedError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.copies.likeness import Likeness, parts_of
from exacell.emulator.rack.rack import Rack
from exacell.emulator.server.rack_world import RackWorld
from exacell.plan.copying import neutral_facts, unlike
from exacell.session.request import Request
from tests.support.worlds import Wall, new_world, session_on

CELL = "exa1cel01"
Told = dict[str, dict[str, Sequence[Mapping[str, str]]]]

LOST = [
    ("IORMPLAN", "catPlan", "((name=interactive,level=1,allocation=80),(name=other,level=2,allocation=100))"),
    ("IORMPLAN", "clusterPlan", "((name=clu1,share=5))"),
    ("GRIDDISK", "virtualSize", "20G"),
    ("GRIDDISK", "comment", "set aside"),
    ("CELLDISK", "comment", "the first one"),
    ("CELL", "location", "row 3"),
    ("CELL", "hardDiskScrubInterval", "weekly"),
    ("METRICDEFINITION", "streaming", "Enabled"),
    ("THRESHOLD", "warning", "12.5"),
]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """What the cells of a rack told."""
    _, services, on = session_on(new_world(Wall(), cells=2, model="x10m", release="24.1"), tmp_path)
    assert "CELL-0" not in on.cellcli(CELL, "create threshold CL_TEMP comparison='>', warning=40; create role reader")
    return read_objects(services, Request())


def changed(told: Told, kind: str, records: Sequence[Mapping[str, str]]) -> Told:
    return {**told, CELL: {**told[CELL], kind: records}}


@pytest.mark.parametrize(("kind", "attribute", "value"), LOST)
def test_a_value_that_is_set_and_not_copied_is_named(told: Told, kind: str, attribute: str, value: str) -> None:
    """A copy that has not what is set here is refused, with cell, object, attribute and value."""
    first, *others = told[CELL][kind]
    here = changed(told, kind, [{**first, attribute: value}, *others])
    with pytest.raises(RefusedError) as refused:
        unlike(here, told, {}, {})
    assert f"{CELL}: {kind.lower()} {first['name']} {attribute} is '{value}', and would be '" in refused.value.message


@pytest.mark.parametrize(("kind", "attribute", "value"), LOST)
def test_a_value_that_is_invented_is_named(told: Told, kind: str, attribute: str, value: str) -> None:
    """A copy that has what nobody has set here is refused too."""
    first, *others = told[CELL][kind]
    copy = changed(told, kind, [{**first, attribute: value}, *others])
    with pytest.raises(RefusedError, match=rf"{attribute} is '.*', and would be '"):
        unlike(told, copy, {}, {})


@pytest.mark.parametrize("kind", ["THRESHOLD", "ROLE", "GRIDDISK", "FLASHLOG"])
def test_an_object_that_somebody_made_is_named(told: Told, kind: str) -> None:
    """An object that is missing on the copy, or there in addition, is refused with its name."""
    (first, *others) = told[CELL][kind]
    without = changed(told, kind, others)
    with pytest.raises(RefusedError, match=f"{kind.lower()} {first['name']} would be missing"):
        unlike(told, without, {}, {})
    with pytest.raises(RefusedError, match=f"{kind.lower()} {first['name']} would be there, but is not on the rack"):
        unlike(without, told, {}, {})


@pytest.mark.parametrize(
    ("kind", "attribute", "here", "there"),
    [
        ("IORMPLAN", "dbPlan", "((name='SPOT', flashLog=off))", "name=SPOT,flashlog=off"),
        ("FLASHCACHE", "cellDisk", "FD_01,FD_00", "FD_00, FD_01"),
        ("CELL", "flashCacheMode", "writeback", "WriteBack"),
        ("CELL", "metricHistoryDays", "", "7"),
        ("GRIDDISK", "size", "1G", "1073741824"),
        ("CELL", "snmpSubscriber", "((host=h,community=public))", "((host=h,community=***))"),
    ],
)  # fmt: skip
def test_what_means_the_same_is_the_same(told: Told, kind: str, attribute: str, here: str, there: str) -> None:
    """Case, order, quotes, units, what is printed when nothing is set, and secrets that stay here make no difference."""
    first, *others = told[CELL][kind]
    one, other = (changed(told, kind, [{**first, attribute: text}, *others]) for text in (here, there))
    assert unlike(one, other, {}, {}) == []


def test_what_nobody_can_have_set_is_only_said(told: Told) -> None:
    """Hardware that is not the copy's refuses nothing: it is told, three at most and how many more."""
    luns = [{**record, "lunSize": "1T"} for record in told[CELL]["LUN"]]
    said = unlike(changed(told, "LUN", luns), told, {}, {})
    assert len(said) == 4 and said[0].startswith(f"the copy differs from the rack: {CELL}: lun 0_0 lunSize is ")
    assert said[-1] == f"… and {len(luns) - 3} more such differences"
    groups = {"ASM main": {"diskgroup|DATA|type": "HIGH"}}
    assert (
        "diskgroup DATA type is NORMAL there, HIGH here"
        in unlike(told, told, groups, {"ASM main": {"diskgroup|DATA|type": "NORMAL"}})[0]
    )


def test_a_role_without_privileges_is_there(told: Told) -> None:
    """Whether an object is there does not depend on whether it has values."""
    assert neutral_facts(CELL, told[CELL])["role|reader|name"] == "there"
    assert not any(path.startswith("role|") for path in neutral_facts("exa1cel02", told["exa1cel02"]))


def test_a_copy_holds_no_secret(tmp_path: Path) -> None:
    """Community strings, keys and passwords stay on the rack: a copy has none of them, wherever it keeps what it holds."""
    session, services, on = session_on(new_world(Wall(), cells=2), tmp_path)
    key = "b67d5587fe728118af47c57ab8da650a"
    for statement in (
        "alter cell snmpSubscriber=((host=h,community=hushhush))",
        f"assign key for asmcluster clu1='{key}'",
        "create user ann password='Hushhush1'",
        "alter cell smtpPwd='hushhush'",
    ):
        assert "CELL-0" not in on.cellcli(CELL, statement)
    parts = str(
        parts_of("copy", Likeness(**likeness_of(session, services, Request(), read_objects(services, Request()))))[0]
    )
    assert "hushhush" not in parts.lower() and key not in parts and "clu1" in parts and "ann" in parts


def test_a_threshold_that_the_copy_can_not_watch_is_left_out_and_named(told: Told, tmp_path: Path) -> None:
    """A metric that the copy's release has not makes no copy fail later: its threshold is refused by name."""
    session, services, _ = session_on(new_world(Wall(), cells=2, model="x10m", release="24.1"), tmp_path)
    likeness = likeness_of(
        session,
        services,
        Request(),
        changed(told, "THRESHOLD", [{"name": "NEW_METRIC", "comparison": ">", "warning": "1"}]),
    )
    copy = RackWorld.from_state(parts_of("copy", Likeness(**likeness))[0])
    copy.advance()
    _, copy_services, _ = session_on(copy, tmp_path)
    its = read_objects(copy_services, Request())
    here = changed(told, "THRESHOLD", [{"name": "NEW_METRIC", "comparison": ">", "warning": "1"}])
    with pytest.raises(RefusedError, match="threshold NEW_METRIC would be missing"):
        unlike(here, its, {}, {})


def test_a_disk_group_that_is_mounted_nowhere_is_named(tmp_path: Path) -> None:
    """ASM tells neither its redundancy nor its disks then: no copy is made, and what mounts it is said."""
    wall = Wall()
    rack = Rack(RackSpec(name="t1", cells=3, speed=1.0), RackClock(speed=1.0, wall=wall))
    clusters = AsmClusters.default(rack)
    session, services, _ = session_on(RackWorld(rack, clusters), tmp_path)
    told = read_objects(services, Request())
    clusters.all[0].groups["RECO"].mounted.clear()
    with pytest.raises(RefusedError, match="is not mounted on any node: ASM does not show its redundancy") as refused:
        likeness_of(session, services, Request(), told)
    assert "mount" in refused.value.hint
