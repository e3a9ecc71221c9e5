"""Compare the time that work on a cell takes with ASM's clocks: when a clock has run out, ASM drops absent disks for good.

A disk that is OFFLINE is dropped when disk_repair_time of its disk group has passed; if all disks of a failure group are
away, failgroup_repair_time counts (compatible.asm 12.1 on, by Oracle's own update utility). The documentation of releases
differs on which of the two counts, so the shorter one is compared with the work. DROP AFTER replaces both, and a new value does
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
    """How long disks are away for one kind of work: words for messages, seconds, and the source of that figure."""

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
"""Work that takes disks away from ASM and brings them back by itself. A clock is compared with twice the figure."""

UNTOLD = "exacell can't find out when ASM drops the disks"

DEFAULTS: Mapping[str, str] = {"disk_repair_time": "3.6h", "failgroup_repair_time": "24h"}
"""Oracle's own values, which it recommends. Source: Oracle DBMMN, Preparing Exadata Storage Servers for Update. ASM from 12.2 on
may have 12h for disks (reference asm.md section 3)."""

_FAILGROUPS_SINCE = "12.1"
"""The lowest compatible.asm with which a disk group has failgroup_repair_time. Source: reference asm.md section 3."""


def needed_for(kind: str) -> float:
    """Return the seconds that a clock must leave for a kind of work: twice its estimate.

    Work without an estimate, and ``""``, get twice the shortest estimate: no disk comes back sooner than that.
    """
    stay = STAYS.get(kind) or min(STAYS.values(), key=lambda each: each.seconds)
    return 2 * stay.seconds


def spoken_time(seconds: float) -> str:
    """Return a time in ASM's form: ``3.6h``, ``30m``."""
    return f"{seconds / 3600:g}h" if seconds >= 3600 else f"{seconds / 60:g}m"


def seconds_of(text: str) -> float | None:
    """Return the seconds of a clock's value, or of DROP AFTER; None for a value that is not a time."""
    found = meant("disk_repair_time", text)
    return float(found.removesuffix("s")) if found else None


@dataclass(frozen=True, kw_only=True)
class Clock:
    """The time after which ASM drops disks of one disk group that are away.

    Attributes:
        seconds: None if it can't be read.
        attribute: the attribute that counts, or that can't be read.
        told: its value as ASM shows it; the reason if it can't be read.
    """

    group: str
    seconds: float | None
    attribute: str
    told: str

    @property
    def sentence(self) -> str:
        """Return a text with the clock: ``disk_repair_time of DATA is 3.6h``."""
        return f"{self.attribute} of {self.group} {f'is {self.told}' if self.seconds is not None else self.told}"

    @property
    def default(self) -> str:
        """Return Oracle's default in words, for a clock that can't be read."""
        if self.attribute in DEFAULTS:
            return f"Oracle's default is {DEFAULTS[self.attribute]}"
        return "Oracle's defaults are " + " and ".join(f"{value} ({name})" for name, value in DEFAULTS.items())


def clock_of(group: DiskGroup, *, whole: bool) -> Clock:
    """Return the clock of a disk group that counts for some of its disks.

    Args:
        whole: with these disks, all disks of a failure group are away.
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
    # If one clock is too short for any work, the other one does not matter.
    if shortest is not None and (unread is None or known[0][0] < needed_for("")):
        return shortest
    return unread or found[0]


def _has_failgroup_time(group: DiskGroup) -> bool:
    return not group.compatible_asm or release_key(group.compatible_asm) >= release_key(_FAILGROUPS_SINCE)


def clocks_over(
    clusters: Sequence[AsmFacts], names: Iterable[str], *, groups: Mapping[str, str] | None = None, untold: str = ""
) -> list[Clock]:
    """Return the clock of each disk group that contains one of these grid disks.

    Args:
        names: of grid disks; those that no cluster shows get a clock that can't be read.
        groups: grid disk (lower case) → its disk group according to the cell.
        untold: why a cluster can't be asked; empty if all answer.
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
    """Return whether a failure group has no disk left ONLINE when these are away too."""
    left = {disk.failgroup for disk in members if disk not in taken and disk.mode == "ONLINE"}
    return any(disk.failgroup not in left for disk in taken)


def _name(disk: AsmDisk) -> str:
    """Return the grid disk's name in lower case.

    ASM shows no path of a disk that is away, but its own name is that of the grid disk.
    """
    return (disk.grid_disk or disk.name).lower()


def setting_of(clocks: Iterable[Clock]) -> str:
    """Return the statements that give these clocks Oracle's own time."""
    return "; ".join(
        f"sql asm \"alter diskgroup {clock.group} set attribute '{clock.attribute}'='{DEFAULTS[clock.attribute]}'\""
        for clock in clocks
        if clock.attribute in DEFAULTS
    )


def refuse_short(what: str, where: str, clocks: Sequence[Clock], kind: str = "") -> None:
    """Raise RefusedError if a disk group's clock would run out before work of this kind ends; unreadable clocks do not count.

    Args:
        what: the statement.
        where: the cells whose disks go away, folded; empty if unknown.
        kind: one of STAYS; empty for work without an estimate.

    Raises:
        RefusedError: names the clock, and the statement that sets it.
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
    """Return grid disk → disk group according to its cell, for the grid disks that a step takes from ASM.

    For a forced step these are all disks that the cell has in use, because its checks name none.
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
    """Return the plan with the consequences of ASM's clocks for the disks that it takes away.

    If the return of disks is unknown, the plan shows when ASM drops them; if a clock can't be read, its risk is unknown.

    Args:
        facts: of its cells, with GRIDDISK read.
        clusters: the facts of the ASM clusters that answer.
        untold: why a cluster can't be asked; empty if all answer.
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
    """Return why a step must not take its disks from ASM, by the clocks right before it; empty if it may.

    A clock that can't be read now stops the plan if it could be read at planning time. If not, the plan was shown with unknown
    risk, and somebody agreed to that.

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
    """Return the steps of a plan that take disks of cells away from ASM; mending steps bring disks back and are left out."""
    stages = (stage for stage in plan.stages if stage.gate is not Gate.MEND)
    return [step for stage in stages for step in stage.steps if step.offline]


def _kind(plan: Plan, step: Step) -> str:
    """Return which of STAYS a step is; empty for work without an estimate."""
    return ("patch" if _patches(step) else "service") if _comes_back(plan, step) else ""


def _comes_back(plan: Plan, step: Step) -> bool:
    """Return whether the plan itself brings the disks back, in the same step or a later one."""
    return any(other.online and other.target == step.target for other in plan.steps)


def _patches(step: Step) -> bool:
    return step.statement.upper().startswith("ALTER SOFTWAREUPDATE")


def _moment(clock: Clock, now: datetime) -> str:
    """Return a phrase about when ASM drops disks that go away now."""
    assert clock.seconds is not None
    try:
        at = f"at {now + timedelta(seconds=clock.seconds):%Y-%m-%d %H:%M}"
    except OverflowError:
        at = "after a very long time"
    return f"ASM drops the disks of {clock.group} for good {at} if they are not online again by then ({clock.sentence})"


def moment_of(clock: Clock, now: datetime | None) -> str:
    """Return that phrase for one disk group; without a time of day if ``now`` is None."""
    if now is not None:
        return _moment(clock, now)
    return f"ASM drops the disks of {clock.group} for good if they are not online again in time: {clock.sentence}"
