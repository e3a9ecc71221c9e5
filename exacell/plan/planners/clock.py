"""ASM's clocks: how long it waits for disks that are away before it drops them for good, and how long work on a cell takes.

A disk that is OFFLINE is dropped when disk_repair_time of its disk group has passed; where all disks of a failure group are
away, failgroup_repair_time counts (compatible.asm 12.1 on, by Oracle's own update utility). Which of the two it takes is told
differently by release, so the shorter one is held against what is to be done. DROP AFTER goes before both, and a new value does
not help disks that are OFFLINE already. Source: Oracle ASM Administrator's Guide, Oracle ASM Fast Mirror Resync; SAGUG,
Setting the Oracle ASM Disk Repair Timer; DBMMN, Preparing Exadata Storage Servers for Update; reference asm.md section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from exacell.cellcli.schema import release_key
from exacell.core.cellset import fold, grouped
from exacell.core.errors import RefusedError
from exacell.core.units import and_more
from exacell.core.values import dataclass
from exacell.plan.asmchange import meant
from exacell.plan.asmfacts import TIMES, AsmDisk, AsmFacts, DiskGroup
from exacell.plan.facts import CellFacts
from exacell.plan.gate import in_use
from exacell.plan.model import Gate, Plan, Risk, Step
from exacell.plan.planners.availability import SERVICE_WITHIN


@dataclass(frozen=True, kw_only=True)
class Stay:
    """How long disks are away for one kind of work: words for messages, seconds, and where that figure comes from."""

    words: str
    seconds: float
    source: str


STAYS: Mapping[str, Stay] = {
    "service": Stay(
        words="a restart of services",
        seconds=SERVICE_WITHIN,
        source="no page of Oracle's gives a figure; exacell waits so long for a service to be up again",
    ),
    "reboot": Stay(
        words="a reboot of a cell",
        seconds=1800.0,
        source="Pythian, How to patch an Exadata, part 6: 30 minutes to stop and to start everything around a patch",
    ),
    "patch": Stay(
        words="a patch of a cell",
        seconds=5400.0,
        source="Pythian, How to patch an Exadata, part 6: 1.5 hours a cell; Oracle DBMMN, Preparing Exadata Storage Servers for "
        "Update: 3.6h and 24h are long enough",
    ),
}
"""What takes disks away from ASM and brings them back by itself. Each figure is doubled before a clock is held against it."""

UNTOLD = "exacell can't find out when ASM drops the disks"

DEFAULTS: Mapping[str, str] = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}
"""Oracle's own values, which it recommends. Source: Oracle DBMMN, Preparing Exadata Storage Servers for Update. ASM from 12.2 on
may have 12h for disks (reference asm.md section 3)."""

_FAILGROUPS_SINCE = "12.1"
"""compatible.asm from which a disk group has failgroup_repair_time. Source: reference asm.md section 3."""


def needed_for(kind: str) -> float:
    """Return the seconds that a clock must leave for a kind of work, twice the estimate; for what has none, and for ``""``, twice
    the shortest: nothing that was taken away is back sooner."""
    stay = STAYS.get(kind) or min(STAYS.values(), key=lambda each: each.seconds)
    return 2 * stay.seconds


def spoken_time(seconds: float) -> str:
    """Return a time as ASM takes it: ``3.6h``, ``30m``."""
    return f"{seconds / 3600:g}h" if seconds >= 3600 else f"{seconds / 60:g}m"


def seconds_of(text: str) -> float | None:
    """Return the seconds that a value of a clock means, or DROP AFTER as it was read; None for one that is no time."""
    found = meant("disk_repair_time", text)
    return float(found.removesuffix("s")) if found else None


@dataclass(frozen=True, kw_only=True)
class Clock:
    """When ASM drops disks of one disk group that are away.

    Attributes:
        seconds: None where it can't be read.
        attribute: the one that counts, or that can't be read.
        told: its value as ASM shows it; why there is none where it can't be read.
    """

    group: str
    seconds: float | None
    attribute: str
    told: str

    @property
    def sentence(self) -> str:
        """The clock for eyes: ``disk_repair_time of DATA is 3.6h``."""
        return f"{self.attribute} of {self.group} {f'is {self.told}' if self.seconds is not None else self.told}"

    @property
    def default(self) -> str:
        """Oracle's value where the clock can't be read, in words."""
        if self.attribute in DEFAULTS:
            return f"Oracle's default is {DEFAULTS[self.attribute]}"
        return "Oracle's defaults are " + " and ".join(f"{value} ({name})" for name, value in DEFAULTS.items())


def clock_of(group: DiskGroup, *, whole: bool) -> Clock:
    """Return the clock of a disk group that counts for some of its disks.

    Args:
        whole: all disks of a failure group are away then.
    """
    names = list(TIMES if whole else TIMES[:1])
    if not _has_failgroup_time(group) and TIMES[1] not in group.attributes:
        names = [name for name in names if name != TIMES[1]]
    found: list[Clock] = []
    for name in names:
        value = group.attributes.get(name, "")
        seconds = seconds_of(value)
        told = (
            value if seconds is not None else f"is '{value}', which is not a time" if value.strip() else "is not told"
        )
        found.append(Clock(group=group.name, seconds=seconds, attribute=name, told=told))
    known = sorted((clock.seconds, place) for place, clock in enumerate(found) if clock.seconds is not None)
    shortest = found[known[0][1]] if known else None
    unread = next((clock for clock in found if clock.seconds is None), None)
    # One that is too short for anything needs no second one.
    if shortest is not None and (unread is None or known[0][0] < needed_for("")):
        return shortest
    return unread or found[0]


def _has_failgroup_time(group: DiskGroup) -> bool:
    return not group.compatible_asm or release_key(group.compatible_asm) >= release_key(_FAILGROUPS_SINCE)


def clocks_over(
    clusters: Sequence[AsmFacts], names: Iterable[str], *, groups: Mapping[str, str] | None = None, untold: str = ""
) -> list[Clock]:
    """Return the clock of each disk group that has one of these grid disks.

    Args:
        names: of grid disks; those that no cluster shows have a clock that can't be read.
        groups: grid disk, lower case → the disk group that its cell names.
        untold: why a cluster can't be asked; empty where all answer.
    """
    wanted = {name.lower() for name in names}
    found: list[Clock] = []
    seen: set[str] = set()
    for asm in clusters:
        for group in asm.groups:
            members = asm.members(group)
            taken = [disk for disk in members if _name(disk) in wanted]
            seen |= {_name(disk) for disk in taken}
            if taken:
                found.append(clock_of(group, whole=is_whole(members, taken)))
    why = untold or ("no disk group that is mounted on the asked ASM instances has its disks" if clusters else NOBODY)
    lost = {(groups or {}).get(name) or "a disk group" for name in wanted - seen}
    found += (
        Clock(group=name, seconds=None, attribute="the repair time", told=f"can't be read: {why}")
        for name in sorted(lost)
    )
    return found


NOBODY = "the rack's configuration has no database node to ask"


def is_whole(members: Sequence[AsmDisk], taken: Sequence[AsmDisk]) -> bool:
    """Return whether a failure group has no disk left ONLINE when these are away, too."""
    left = {disk.failgroup for disk in members if disk not in taken and disk.mode == "ONLINE"}
    return any(disk.failgroup not in left for disk in taken)


def _name(disk: AsmDisk) -> str:
    """The grid disk's name, lower case; of a disk that is away ASM shows no path, and its own name is the grid disk's."""
    return (disk.grid_disk or disk.name).lower()


def setting_of(clocks: Iterable[Clock]) -> str:
    """Return the statements that give these clocks Oracle's own time."""
    return "; ".join(
        f"sql asm \"alter diskgroup {clock.group} set attribute '{clock.attribute}'='{DEFAULTS[clock.attribute]}'\""
        for clock in clocks
        if clock.attribute in DEFAULTS
    )


def refuse_short(what: str, where: str, clocks: Sequence[Clock], kind: str = "") -> None:
    """Return when all clocks that can be read leave time enough for a kind of work.

    Args:
        what: the statement.
        where: the cells whose disks go away, folded; empty where that is not known.
        kind: one of STAYS; empty for what has no estimate.

    Raises:
        RefusedError: naming the clock, and the statement that sets it.
    """
    short = _short(clocks, kind)
    if short:
        raise RefusedError(
            f"{what}: refused: {_why_short(where, short, kind)}; nothing was sent", hint=setting_of(short)
        )


def _short(clocks: Sequence[Clock], kind: str) -> list[Clock]:
    return [clock for clock in clocks if clock.seconds is not None and clock.seconds < needed_for(kind)]


def _why_short(where: str, short: Sequence[Clock], kind: str) -> str:
    stay = STAYS.get(kind)
    needs = f"{stay.words} may take {spoken_time(stay.seconds)}, doubled" if stay else "no work on a cell ends so soon"
    whose = f" of {where}" if where else ""
    return (
        f"ASM would drop the disks{whose} for good: {short[0].sentence}{and_more(len(short))}, and {needs}: "
        f"{spoken_time(needed_for(kind))}"
    )


def taken_by(step: Step, facts: Mapping[str, CellFacts]) -> dict[str, str]:
    """Return the grid disks that a step takes from ASM, each with the disk group that its cell names.

    A step that is forced asks ASM for none of them: all that the cell has in use.
    """
    asked = [need.where.get("name", ()) for need in step.needs if need.attribute == "asmDeactivationOutcome"]
    named = {name.lower() for names in asked for name in ((names,) if isinstance(names, str) else names)}
    fact = facts.get(step.target)
    grids = [grid for grid in fact.grid_disks if in_use(grid) and grid.status == "active"] if fact is not None else []
    known = {grid.name.lower(): grid.asm_group for grid in grids if not named or grid.name.lower() in named}
    pooled = (
        {grid.name.lower() for grid in fact.grid_disks if grid.pool and not in_use(grid)} if fact is not None else set()
    )
    return {**dict.fromkeys(named - pooled, ""), **known}


def held_against_clocks(
    plan: Plan, facts: Mapping[str, CellFacts], clusters: Sequence[AsmFacts], *, untold: str = "", now: datetime
) -> Plan:
    """Return the plan with what ASM's clocks mean for the disks that it takes away.

    Where nothing tells when they are back it says when ASM drops them; where a clock can't be read its risk is unknown.

    Args:
        facts: of its cells, with GRIDDISK read.
        clusters: what the ASM clusters tell that answer.
        untold: why one can't be asked, empty where all answer.
        now: the host's time, with its offset.

    Raises:
        RefusedError: a clock is shorter than the work may take.
    """
    said: list[tuple[str, str]] = []
    unread = False
    for step in away_steps(plan):
        taken = taken_by(step, facts)
        clocks = clocks_over(clusters, taken, groups=taken, untold=untold)
        kind = _kind(plan, step)
        refuse_short(plan.statement, step.target, clocks, kind)
        for clock in clocks:
            if clock.seconds is None:
                unread = True
                said.append((f"{UNTOLD}: {clock.sentence} ({clock.default})", step.target))
            elif not kind:
                said.append((_moment(clock, now), step.target))
    warnings = tuple(f"{fold(targets)}: {text}" for text, targets in grouped(said).items())
    if not warnings:
        return plan
    return replace(plan, warnings=(*plan.warnings, *warnings), risk=Risk.UNKNOWN if unread else plan.risk)


def why_not_now(
    plan: Plan, step: Step, facts: Mapping[str, CellFacts], clusters: Sequence[AsmFacts], *, untold: str = ""
) -> str:
    """Return why a step must not take its disks from ASM, by the clocks as they are right before it; empty when it may.

    A clock that can't be read now stops what was judged by one that could be; a plan of unknown risk was agreed to as such.

    Args:
        facts, clusters, untold: as for :func:`held_against_clocks`, read now.
    """
    taken, kind = taken_by(step, facts), _kind(plan, step)
    clocks = clocks_over(clusters, taken, groups=taken, untold=untold)
    short = _short(clocks, kind)
    if short:
        return f"{_why_short(step.target, short, kind)}; {setting_of(short)} sets it"
    unread = [clock for clock in clocks if clock.seconds is None and plan.risk is not Risk.UNKNOWN]
    return f"{UNTOLD}: {unread[0].sentence} ({unread[0].default})" if unread else ""


def away_steps(plan: Plan) -> list[Step]:
    """Return the steps of a plan that take disks of cells away from ASM; what only mends a failure brings them back."""
    stages = (stage for stage in plan.stages if stage.gate is not Gate.MEND)
    return [step for stage in stages for step in stage.steps if step.offline]


def _kind(plan: Plan, step: Step) -> str:
    """Return which of STAYS a step is; empty for what has no estimate."""
    return ("patch" if _patches(step) else "service") if _comes_back(plan, step) else ""


def _comes_back(plan: Plan, step: Step) -> bool:
    """Return whether the plan itself brings the disks back, by the same step or by a later one."""
    return any(other.online and other.target == step.target for other in plan.steps)


def _patches(step: Step) -> bool:
    return step.statement.upper().startswith("ALTER SOFTWAREUPDATE")


def _moment(clock: Clock, now: datetime) -> str:
    """Say when ASM drops disks that go away now."""
    assert clock.seconds is not None
    try:
        at = f"at {now + timedelta(seconds=clock.seconds):%Y-%m-%d %H:%M}"
    except OverflowError:
        at = "after a very long time"
    return f"ASM drops the disks of {clock.group} for good {at} unless they are online again ({clock.sentence})"


def moment_of(clock: Clock, now: datetime | None) -> str:
    """Return the same for one disk group, without a time of day where nobody tells what time it is."""
    if now is not None:
        return _moment(clock, now)
    return f"ASM drops the disks of {clock.group} for good unless they are online again in time: {clock.sentence}"
