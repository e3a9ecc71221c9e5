"""ASM's clocks held against what takes disks away: which one counts, when it is too short, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from plan_factory import CELLS, asm, asm_disk, cell, free_grid, grid, group, rack

from exacell.cellcli.statement import Change, parse
from exacell.core.errors import RefusedError
from exacell.plan.asmfacts import AsmDisk, AsmFacts
from exacell.plan.facts import CellFacts
from exacell.plan.gate import NOT_IN_USE
from exacell.plan.guards.choice import guard_plan
from exacell.plan.model import Check, Gate, Plan, Risk
from exacell.plan.planners.availability import gone_offline, offline_plan, restart_plan
from exacell.plan.planners.clock import (
    DEFAULTS,
    STAYS,
    Clock,
    away_steps,
    clock_of,
    clocks_over,
    held_against_clocks,
    moment_of,
    needed_for,
    refuse_short,
    seconds_of,
    spoken_time,
    taken_by,
)
from tests.support.every import every

ONE, NOW = CELLS[0], datetime(2026, 11, 28, 20, 0, tzinfo=UTC)
LONG = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}


def disks(number: int = 1, prefix: str = "DATA", **changes: object) -> list[AsmDisk]:
    """Two members on each cell, as the factory's cells name them."""
    return [
        asm_disk(
            f"{prefix}_CD_0{n}_{name}",
            group=number,
            name=f"{prefix}_CD_0{n}_{name}".upper(),
            failgroup=name.upper(),
            **changes,
        )
        for name in CELLS
        for n in (0, 1)
    ]


def cluster(
    attributes: Mapping[str, str] = LONG, members: Sequence[AsmDisk] | None = None, **changes: object
) -> AsmFacts:
    return asm([group(attributes=attributes, **changes)], disks() if members is None else members)


def held(plan: Plan, facts: Mapping[str, CellFacts], *clusters: AsmFacts, untold: str = "") -> Plan:
    return held_against_clocks(plan, facts, clusters, untold=untold, now=NOW)


def offline(*clusters: AsmFacts, untold: str = "") -> Plan:
    facts = rack(ONE)
    return held(offline_plan("t1", facts[ONE], statement="offline cell"), facts, *clusters, untold=untold)


def restart(*clusters: AsmFacts, service: str = "cellsrv") -> Plan:
    facts = rack()
    return held(restart_plan("t1", facts, service=service, statement="restart service"), facts, *clusters)


def typed(text: str, *clusters: AsmFacts) -> Plan:
    facts, statement = rack(ONE), parse(text)
    assert isinstance(statement, Change)
    plan = guard_plan("t1", facts, statement, text=text, accepted=(), headers=None, may_ask=True)
    return held(plan, facts, *clusters)


@every(
    [
        (LONG, False, "19.0.0.0.0", "disk_repair_time", 12960.0),
        (LONG, True, "19.0.0.0.0", "disk_repair_time", 12960.0),
        ({**LONG, "failgroup_repair_time": "5m"}, True, "19.0.0.0.0", "failgroup_repair_time", 300.0),
        (
            {"disk_repair_time": "24h", "failgroup_repair_time": "3h"},
            True,
            "19.0.0.0.0",
            "failgroup_repair_time",
            10800.0,
        ),
        ({**LONG, "failgroup_repair_time": "5m"}, False, "19.0.0.0.0", "disk_repair_time", 12960.0),
        ({"disk_repair_time": "30m"}, True, "11.2.0.4.0", "disk_repair_time", 1800.0),
        ({**LONG, "failgroup_repair_time": "1m"}, True, "11.2.0.4.0", "failgroup_repair_time", 60.0),
        ({**LONG, "disk_repair_time": ""}, True, "19.0.0.0.0", "disk_repair_time", None),
        ({"disk_repair_time": "29m"}, True, "19.0.0.0.0", "disk_repair_time", 1740.0),
        ({"disk_repair_time": "30m"}, True, "19.0.0.0.0", "failgroup_repair_time", None),
        ({"disk_repair_time": "2"}, True, "11.2.0.4.0", "disk_repair_time", 7200.0),
        ({"disk_repair_time": "0m"}, False, "11.2.0.4.0", "disk_repair_time", 0.0),
        ({"disk_repair_time": "3.6h"}, True, "12.1.0.0.0", "failgroup_repair_time", None),
        ({"disk_repair_time": "3.6h"}, True, "", "failgroup_repair_time", None),
        ({**LONG, "disk_repair_time": ""}, False, "19.0.0.0.0", "disk_repair_time", None),
        ({**LONG, "disk_repair_time": "3d"}, True, "19.0.0.0.0", "disk_repair_time", None),
        ({**LONG, "failgroup_repair_time": "soon"}, True, "19.0.0.0.0", "failgroup_repair_time", None),
        ({}, False, "19.0.0.0.0", "disk_repair_time", None),
    ]
)
def test_the_shorter_clock_counts(
    attributes: dict[str, str], whole: bool, compatible: str, attribute: str, seconds: float | None
) -> None:
    """Of a whole failure group the shorter of both, else that of disks; what is missing or no time can't be read."""
    clock = clock_of(group(attributes=attributes, compatible_asm=compatible), whole=whole)
    assert (clock.attribute, clock.seconds) == (attribute, seconds)
    assert f"Oracle's default is {DEFAULTS[attribute]}" == clock.default
    assert clock.sentence.startswith(f"{attribute} of DATA is ")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0m", 0), ("90m", 5400), ("3.6h", 12960), ("2", 7200), ("1 H", 3600), ("3d", None), ("", None)],
)
def test_a_time_is_read_as_asm_reads_it(text: str, seconds: float | None) -> None:
    """Minutes and hours, hours where no unit stands, and nothing else."""
    assert seconds_of(text) == seconds


def test_times_are_told_as_asm_takes_them() -> None:
    """Minutes below an hour."""
    assert [spoken_time(seconds) for seconds in (0.0, 1800.0, 3600.0, 12960.0)] == ["0m", "30m", "1h", "3.6h"]


def test_a_member_is_known_by_its_path_and_without_one_by_its_name() -> None:
    """Disks may have names of their own, and ASM shows no path of one that is away; what nobody shows has no clock."""
    one, two, *others = disks()
    renamed = [replace(one, name="OWN"), replace(two, path=""), *others]
    found = cluster(members=renamed)
    assert [clock.group for clock in clocks_over([found], ["data_cd_00_exa1cel01"])] == ["DATA"]
    assert [clock.seconds for clock in clocks_over([found], ["DATA_CD_01_EXA1CEL01"])] == [12960.0]
    (lost,) = clocks_over([found], ["x"])
    assert (lost.group, lost.seconds) == ("a disk group", None)


def test_what_has_no_attribute_has_no_statement_that_sets_it() -> None:
    """DROP AFTER is none; what the work is stands in the refusal."""
    clock = Clock(group="DATA", seconds=0.0, attribute="DROP AFTER", told="0m")
    with pytest.raises(RefusedError, match="and a restart of services may take 15m, doubled: 30m") as caught:
        refuse_short("x", "", [clock], "service")
    assert caught.value.hint == ""


def test_each_estimate_has_a_source_and_is_doubled() -> None:
    """The table says where a figure comes from; what has no estimate needs twice the shortest."""
    assert all(stay.source and stay.seconds > 0 for stay in STAYS.values())
    assert [needed_for(kind) for kind in ("service", "reboot", "patch", "")] == [1800.0, 3600.0, 10800.0, 1800.0]
    assert needed_for("patch") < (seconds_of(DEFAULTS["disk_repair_time"]) or 0)


@pytest.mark.parametrize("kind", ["", *STAYS])
def test_a_clock_is_long_enough_from_twice_the_estimate_on(kind: str) -> None:
    """One second less is refused, with the statement that sets the clock; the very time is enough."""
    enough = needed_for(kind)
    data = group(attributes={"disk_repair_time": f"{enough / 60:g}m"})
    refuse_short("x", ONE, [clock_of(data, whole=False)], kind)
    short = clock_of(group(attributes={"disk_repair_time": f"{enough / 60 - 1:g}m"}), whole=False)
    with pytest.raises(
        RefusedError, match=r"^x: refused: ASM would drop the disks of exa1cel01 for good: disk_repa"
    ) as e:
        refuse_short("x", ONE, [clock_of(data, whole=False), short], kind)
    assert e.value.hint == "sql asm \"alter diskgroup DATA set attribute 'disk_repair_time'='3.6h'\""
    assert e.value.message.endswith("; nothing was sent")


SHORT = (
    {**LONG, "disk_repair_time": "0m"},
    {**LONG, "disk_repair_time": "29m"},
    {**LONG, "failgroup_repair_time": "1m"},
)


@pytest.mark.parametrize("attributes", SHORT)
@pytest.mark.parametrize(
    "text",
    [
        "alter griddisk all inactive",
        "alter cell shutdown services cellsrv",
        "alter cell shutdown services all",
        "alter cell restart services cellsrv",
        "alter cell restart services all",
    ],
)
def test_whatever_takes_a_cell_away_is_held_against_a_short_clock(text: str, attributes: dict[str, str]) -> None:
    """INACTIVE, SHUTDOWN and RESTART of all of a cell's disks are refused by each of the two clocks."""
    with pytest.raises(RefusedError, match=r"for good: (disk|failgroup)_repair_time of DATA is"):
        typed(text, cluster(attributes))
    assert typed(text, cluster()).risk is Risk.REDUNDANCY


@pytest.mark.parametrize("attributes", SHORT)
def test_exacells_own_statements_are_held_against_it_too(attributes: dict[str, str]) -> None:
    """offline cell and restart service."""
    for statement in (offline, restart):
        with pytest.raises(RefusedError, match="; nothing was sent"):
            statement(cluster(attributes))
    assert restart(cluster(attributes), service="ms").risk is Risk.NONE


def test_ignore_redundancy_is_no_way_round_a_clock() -> None:
    """What asks ASM for none of its disks takes all of the cell's."""
    text = "alter cell shutdown services all ignore redundancy"
    with pytest.raises(RefusedError, match="disk_repair_time of DATA is 0m"):
        typed(text, cluster(SHORT[0]))
    assert "2026-11-28 23:36" in " ".join(typed(text, cluster()).warnings)


def test_an_update_of_the_software_is_held_against_the_clock_as_a_patch() -> None:
    """Three hours are enough for it, and a minute less is not."""
    text = "alter softwareupdate upgrade"
    assert not any("for good" in said for said in typed(text, cluster({**LONG, "disk_repair_time": "180m"})).warnings)
    with pytest.raises(RefusedError, match=r"a patch of a cell may take 1\.5h, doubled"):
        typed(text, cluster({**LONG, "disk_repair_time": "179m"}))


def test_where_nothing_tells_when_disks_are_back_the_moment_is_named() -> None:
    """INACTIVE, SHUTDOWN and offline cell say when ASM drops the disks; what brings them back itself says nothing."""
    said = (
        "exa1cel01: ASM drops the disks of DATA for good at 2026-11-28 23:36 if they are not online again by then "
        "(disk_repair_time of DATA is 3.6h)"
    )
    assert offline(cluster()).warnings[-1] == said
    assert typed("alter griddisk all inactive", cluster()).warnings[-1] == said
    assert typed("alter cell shutdown services cellsrv", cluster()).warnings[-1] == said
    assert not typed("alter cell restart services cellsrv", cluster()).warnings
    assert not any("for good" in text for text in restart(cluster()).warnings)
    (far,) = (w for w in offline(cluster({**LONG, "disk_repair_time": "9" * 30})).warnings if "ASM drops" in w)
    assert "after a very long time" in far or "at " in far


def test_some_disks_of_a_cell_go_by_their_own_clock() -> None:
    """Where others of the failure group stay, its own time does not count; nor does the clock of a group that loses none."""
    found = cluster({**LONG, "failgroup_repair_time": "1m"})
    assert typed(f"alter griddisk DATA_CD_00_{ONE} inactive", found).risk is Risk.REDUNDANCY
    first, second, *others = disks()
    gone = [first, replace(second, path="", mode="OFFLINE"), *others]
    with pytest.raises(RefusedError, match="failgroup_repair_time"):
        typed(f"alter griddisk DATA_CD_00_{ONE} inactive", cluster(found.groups[0].attributes, gone))
    two = asm([group(attributes=LONG), group("RECO", number=2, attributes=SHORT[0])], [*disks(), *disks(2, "RECO")])
    assert typed("alter griddisk all inactive", two).risk is Risk.REDUNDANCY


@pytest.mark.parametrize(
    ("clusters", "untold", "said"),
    [
        ((), "", "the rack's configuration has no database node to ask (Oracle's defaults are 3.6h"),
        (
            (),
            "exa1db01: no answer",
            "the repair time of DATA can't be read: exa1db01: no answer (Oracle's defaults are 3.6h",
        ),
        ((cluster({}),), "", "disk_repair_time of DATA is not told (Oracle's default is 3.6h)"),
        ((cluster({**LONG, "disk_repair_time": "1x"}),), "", "disk_repair_time of DATA is '1x', which is not a time"),
        (
            (cluster({**LONG, "failgroup_repair_time": ""}),),
            "",
            "failgroup_repair_time of DATA is not told (Oracle's default is 24h)",
        ),
        ((cluster(number=0),), "", "no disk group that is mounted on the asked ASM instances has its disks"),
        ((cluster(members=disks()[1:]),), "other: down", "can't be read: other: down"),
    ],
)
def test_a_clock_that_nobody_can_read_is_an_unknown_risk(
    clusters: tuple[AsmFacts, ...], untold: str, said: str
) -> None:
    """No ASM, no answer, no value, another unit, a group that is not mounted: unknown, with Oracle's default beside it."""
    plan = offline(*clusters, untold=untold)
    assert plan.risk is Risk.UNKNOWN
    assert said in plan.warnings[-1] and "exacell can't find out when ASM drops" in plan.warnings[-1]


def test_a_cluster_that_is_silent_matters_only_for_its_own_disks() -> None:
    """Where the others tell the clocks of all disks that go, nothing is unknown."""
    assert offline(cluster(), untold="other: down").risk is Risk.REDUNDANCY


def test_disks_that_nobody_uses_have_no_clock() -> None:
    """A free grid disk, and one of an Exascale pool, ask ASM for nothing."""
    fact = cell(grid_disks=(free_grid("FD_00_exa1cel01"),))
    plan = held(offline_plan("t1", fact, statement="x"), {ONE: fact})
    assert plan.risk is Risk.NONE
    pooled = cell(grid_disks=(free_grid("FD_00_exa1cel01", pool="p"), grid("CD_00_exa1cel01")))
    (step,) = offline_plan("t1", pooled, statement="x").steps
    assert taken_by(step, {ONE: pooled}) == {"data_cd_00_exa1cel01": "DATA"}
    # With no fact of the cell the names that ASM is asked about count.
    assert taken_by(step, {}).keys() == {"data_cd_00_exa1cel01", "ssd_fd_00_exa1cel01"}


def test_what_is_taken_is_what_asm_is_asked_about() -> None:
    """One name or several in a question about deactivation; names in other questions are taken by nobody. A disk of a pool that
    a disk group uses all the same is taken."""
    (step,) = offline_plan("t1", cell(), statement="x").steps
    asked = Check(object="griddisk", attribute="asmDeactivationOutcome", value="Yes", where={"name": "A_1"})
    other = Check(object="griddisk", attribute="status", value="active", where={"name": "B_1"})
    assert taken_by(replace(step, needs=(asked, other)), {}) == {"a_1": ""}
    both = replace(asked, where={"name": ("A_1", "A_2")})
    assert taken_by(replace(step, needs=(both, other)), {}) == {"a_1": "", "a_2": ""}
    pooled = cell(grid_disks=(grid("CD_00_exa1cel01", pool="p"),))
    mine = replace(asked, where={"name": "DATA_CD_00_exa1cel01"})
    assert taken_by(replace(step, needs=(mine,)), {ONE: pooled}) == {"data_cd_00_exa1cel01": "DATA"}
    inactive = cell(grid_disks=(grid("CD_00_exa1cel01", pool="p", status="inactive"),))
    assert taken_by(replace(step, needs=(mine,)), {ONE: inactive}) == {"data_cd_00_exa1cel01": ""}
    # One of no pool that no disk group seems to use, and that ASM is asked about all the same.
    free = cell(grid_disks=(free_grid("CD_00_exa1cel01", "DATA"),))
    assert taken_by(replace(step, needs=(mine,)), {ONE: free}) == {"data_cd_00_exa1cel01": ""}


def test_disks_whose_asm_tells_no_mode_may_be_gone_afterwards() -> None:
    """A disk that ASM used has to be OFFLINE; of one that no ASM told of, not in use will do."""
    sure, untold = grid("CD_00_exa1cel01"), grid("CD_01_exa1cel01", asm_mode="")
    proofs = {check.where["name"]: check.value for check in gone_offline([sure, untold])}
    names = {(name,) if isinstance(name, str) else tuple(name): value for name, value in proofs.items()}
    assert names[sure.name,] == "OFFLINE" and names[untold.name,] == ("OFFLINE", *NOT_IN_USE)


def test_each_kind_of_work_has_its_own_estimate() -> None:
    """An hour is enough for a restart of services and too short for a patch."""
    hour = cluster({**LONG, "disk_repair_time": "1h"})
    assert restart(hour).warnings == restart(cluster()).warnings
    facts = rack(ONE)
    plan = restart_plan("t1", facts, service="cellsrv", statement="patch")
    taking, *others = plan.steps
    patches = replace(
        plan,
        stages=(
            replace(plan.stages[0], steps=(replace(taking, statement="ALTER SOFTWAREUPDATE UPGRADE"),)),
            *plan.stages[1:],
        ),
    )
    assert others and len(held(patches, facts, cluster()).steps) == len(plan.steps)
    with pytest.raises(RefusedError, match=r"a patch of a cell may take 1\.5h, doubled: 3h"):
        held(patches, facts, hour)


def test_only_the_cell_that_comes_back_has_an_estimate() -> None:
    """Disks that the plan brings back on another cell alone stay away: the moment at which ASM drops them is named."""
    facts = rack()
    two = restart_plan("t1", facts, service="cellsrv", statement="x")
    only = tuple(
        replace(stage, steps=tuple(s for s in stage.steps if not s.online or s.target != ONE)) for stage in two.stages
    )
    (told,) = set(held(replace(two, stages=only), facts, cluster()).warnings) - set(two.warnings)
    assert told.startswith(f"{ONE}: ASM drops the disks of DATA for good at ")


def test_what_mends_a_failure_takes_nothing_away() -> None:
    """A stage that is only for after a failure is held against no clock."""
    facts = rack(ONE)
    plan = offline_plan("t1", facts[ONE], statement="offline cell")
    mends = replace(plan, stages=tuple(replace(stage, gate=Gate.MEND) for stage in plan.stages))
    assert away_steps(plan) and away_steps(mends) == []


def test_without_a_clock_of_ours_no_time_of_day_is_named() -> None:
    """Where nobody tells what time it is the clock itself stands in the sentence."""
    (clock,) = clocks_over([cluster()], ["DATA_CD_00_exa1cel01"])
    assert moment_of(clock, None) == (
        f"ASM drops the disks of DATA for good if they are not online again in time: {clock.sentence}"
    )
    assert "2026-11-28 23:36" in moment_of(clock, NOW)
