"""Plan changes of the disks of an ASM disk group, as in its SQL: add, drop, resize, take offline and bring back.

Source: Oracle SQL Language Reference, ALTER DISKGROUP; reference asm.md sections 2 (grammar), 4 (redundancy and space), 6
(DROP DISK returns at once, and the disk is in use until the rebalance has ended) and 8 (ORA codes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from exacell.core.cellset import fold_briefly, grouped
from exacell.core.units import MIB, counted, exact_size, human_size
from exacell.plan.asmchange import AddDisks, DropDisks, NewDisk, ResizeDisks, SwitchDisks
from exacell.plan.asmfacts import AsmDisk, AsmFacts
from exacell.plan.asmspace import least_disk
from exacell.plan.checks import group_check
from exacell.plan.estimate import rebalance_seconds
from exacell.plan.facts import GridDisk
from exacell.plan.model import Check, Op, Plan, Risk, Undo
from exacell.plan.planners.asm_members import Maker, being
from exacell.plan.planners.availability import ONLINE_WITHIN
from exacell.plan.planners.clock import (
    UNTOLD,
    Clock,
    clock_of,
    is_whole,
    moment_of,
    needed_for,
    refuse_short,
    seconds_of,
    spoken_time,
)
from exacell.plan.planners.diskgroup_disks import ADDABLE, taken_by
from exacell.plan.planners.griddisk_size import COPIES, REBALANCE_WITHIN, RESIZE_WITHIN, becomes_usable, quiet

DiskChange = AddDisks | DropDisks | ResizeDisks | SwitchDisks


def disks_plan(
    rack: str,
    asm: AsmFacts,
    change: DiskChange,
    *,
    grids: Mapping[str, Sequence[GridDisk]],
    statement: str,
    now: datetime | None = None,
) -> Plan:
    """Return the plan that changes the disks of a disk group; a plan without steps if they are so already.

    Args:
        grids: the grid disks of the rack's cells, by cell.
        now: the host's time, with its offset; a plan counts from it when ASM drops disks.

    Raises:
        RefusedError: ASM would refuse it, data would lose its mirror or its room, or that can't be found out.
    """
    given: Any = {"grids": grids, "statement": statement}
    match change:
        case AddDisks():
            return _Add(rack, asm, change.group, "add", **given).plan(change)
        case DropDisks():
            return _Drop(rack, asm, change.group, "drop", **given).plan(change)
        case ResizeDisks():
            return _Resize(rack, asm, change.group, "resize", **given).plan(change)
        case SwitchDisks():
            made = _Switch(rack, asm, change.group, "online" if change.online else "offline", **given)
            return made.online(change) if change.online else made.offline(change, now)


class _Add(Maker):
    def plan(self, change: AddDisks) -> Plan:
        """Return the plan of ADD DISK."""
        self.refuse_power(change.power, waits=change.wait)
        wanted: dict[str, tuple[AsmDisk, NewDisk]] = {}
        for new in change.disks:
            found = self._found(new)
            wanted |= {disk.path: (disk, new) for disk in found}
        lacking = [(disk, new) for disk, new in wanted.values() if disk.group != self.group.number]
        if not lacking:
            return self.done(
                f"disk group {self.name} already has {fold_briefly([disk.name for disk, _ in wanted.values()])}"
            )
        self._refuse_unfit([disk for disk, _ in lacking])
        for disk, new in lacking:
            self._refuse_failgroup(disk, new)
        had, names = len(self.members), [new.name or disk.grid_disk.upper() for disk, new in lacking]
        paths = tuple(disk.grid_disk for disk, _ in lacking)
        sql = f"ALTER DISKGROUP {self.name} ADD {_clauses(lacking)}"
        power = f" REBALANCE POWER {change.power}" if change.power else ""
        back = f"ALTER DISKGROUP {self.name} DROP DISK {', '.join(names)}{power}"
        mine = Check(
            object="asm.disk", op=Op.COUNT, value=len(names), where={"diskgroup": self.name, "name": tuple(names)}
        )
        step = self.step(
            sql,
            f"add {counted(len(names), 'grid disk')} to {self.name}"
            + (" and wait for the rebalance" if change.wait else ""),
            change.power,
            needs=(
                self.same(),
                Check(object="asm.disk", op=Op.COUNT, value=len(paths), where={"gridDisk": paths, "header": ADDABLE}),
            ),
            proves=(mine, quiet(self.name)) if change.wait else (mine,),
            within=REBALANCE_WITHIN if change.wait else RESIZE_WITHIN,
            hopes=(self.moves(),) if change.wait else (),
            risk=Risk.PERFORMANCE if self.group.files else Risk.NONE,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(self.change("disks", str(had), str(had + len(names))),),
        )
        notes = [
            f"{disk.grid_disk} of {disk.os_mb} MB becomes {name}"
            for (disk, _), name in zip(lacking, names, strict=True)
        ]
        waits = "" if change.wait else "; exacell does not wait for it: `show rebalance` shows it"
        sizes = sorted({disk.os_mb for disk in (*self.members, *(disk for disk, _ in lacking)) if disk.grid_disk})
        uneven = (
            f"its disks will have different sizes: {', '.join(map(str, sizes))} MB; resize griddisk makes them equal"
        )
        warnings = (uneven,) if len(sizes) > 1 else ()
        notes = [*notes[:6], f"a rebalance spreads the data of {self.name} over all disks{waits}"]
        return self.made(step, back, notes, warnings)

    def _found(self, new: NewDisk) -> list[AsmDisk]:
        """Return the disks that match a DISK string: members, and disks that ASM accepts as new."""
        found = [disk for disk in self.asm.disks if _matches(new.search, disk.path)]
        ours = {disk.path: disk for disk in self.members}
        if not found:
            self.refuse(
                f"ASM sees no disk '{new.search}' (ORA-15031)",
                "`show asmdisk` shows the disks that ASM sees; check also cellip.ora on the database nodes, "
                "asm_diskstring and availableTo",
            )
        if new.name and len(found) > 1:
            self.refuse(f"'{new.search}' is {len(found)} disks, which can't have one name (ORA-15407)")
        for disk in found:
            name, member = new.name or disk.grid_disk.upper(), ours.get(disk.path)
            if member is None and name in (other.name.upper() for other in self.members):
                self.refuse(f"{name} is already the name of one of its disks (ORA-15010)")
            if member is not None and new.name not in ("", member.name.upper()):
                self.refuse(f"it already has {disk.grid_disk}, with the name {member.name}")
        taken = taken_by(self.asm, [disk for disk in found if disk.path not in ours])
        if taken:
            self.refuse(f"{taken}, not {' or '.join(ADDABLE)}", "`show asmdisk` shows its disk group")
        return found

    def _refuse_unfit(self, disks: Sequence[AsmDisk]) -> None:
        """Raise RefusedError if disks have another size or kind than the group's, or are on no cell of the rack."""
        unknown = [disk.grid_disk for disk in disks if disk.grid_disk.lower() not in self.grids]
        if unknown:
            self.refuse(f"no selected cell has {fold_briefly(unknown)}")
        members = [disk for disk in self.members if disk.grid_disk]
        both = [self.grids[d.grid_disk.lower()] for d in (*members, *disks) if d.grid_disk.lower() in self.grids]
        if len({grid.flash for grid in both}) > 1:
            self.refuse(f"{self.name} would have flash and hard disks together (ORA-15409)")
        small = min(disks, key=lambda disk: disk.os_mb)
        least = max((disk.os_mb for disk in members), default=0)
        if small.os_mb < least:
            self.refuse(
                f"{small.grid_disk} has {small.os_mb} MB and the group's disks {least}: a smaller disk fills up "
                "before the others",
                "`show griddisk` shows the sizes; `resize griddisk` makes them equal",
            )
        names = [disk.grid_disk.upper() for disk in disks]
        if len(set(names)) < len(names):
            self.refuse("two of the grid disks have the same name")

    def _refuse_failgroup(self, disk: AsmDisk, new: NewDisk) -> None:
        """Raise RefusedError if a failure group has disks of two cells, or a cell has two failure groups.

        Two copies could then be on one cell.
        """
        if not new.failgroup:
            return
        if self.group.type == "EXTERN":
            self.refuse("a disk group of external redundancy has no failure groups (ORA-15067)", "leave FAILGROUP out")
        same = {d.failgroup.upper() for d in self.members if d.cell_address == disk.cell_address}
        there = {d.cell_address for d in self.members if d.failgroup.upper() == new.failgroup and d.cell_address}
        if (same or {new.failgroup}) != {new.failgroup} or there - {disk.cell_address}:
            self.refuse(
                f"failure group {new.failgroup} is not the failure group of the other disks of {disk.grid_disk}'s cell"
                + (f", {', '.join(sorted(same))}" if same else ""),
                "leave FAILGROUP out: then ASM uses the failure group of the cell",
            )


class _Drop(Maker):
    def plan(self, change: DropDisks) -> Plan:
        """Return the plan of DROP DISK, which waits until the disks are free."""
        chosen = self.chosen(change.disks, change.failgroups)
        if not chosen:
            return self.done(f"disk group {self.name} no longer has them")
        self.refuse_power(change.power, waits=True)
        self.refuse_away(self.members)
        going = [disk for disk in chosen if disk.state != "DROPPING"]
        names = tuple(disk.name for disk in chosen)
        paths = tuple(disk.grid_disk for disk in chosen if disk.grid_disk)
        proves = (
            Check(object="asm.disk", op=Op.ABSENT, where={"diskgroup": self.name, "name": names}),
            Check(object="asm.disk", op=Op.COUNT, value=len(paths), where={"gridDisk": paths, "header": ADDABLE}),
        )
        if not going:
            what = f"wait until {self.name} has released {counted(len(names), 'disk')}"
            return self.wait(what, *proves, within=REBALANCE_WITHIN, hopes=(self.moves(),))
        staying = [disk for disk in self.members if disk not in chosen and disk.state != "DROPPING"]
        self.refuse_few(staying)
        room = self.refuse_full((disk.failgroup, disk.total_mb) for disk in staying if disk.grid_disk)
        apart = self.group.type != "EXTERN"
        again = ((d, NewDisk(search=d.path, failgroup=d.failgroup if apart else "", name=d.name)) for d in going)
        back = f"ALTER DISKGROUP {self.name} ADD {_clauses(again)}"
        moved = sum(disk.total_mb for disk in going) * (self.group.total_mb - self.group.free_mb) // self.group.total_mb
        step = self.step(
            f"ALTER DISKGROUP {self.name} DROP {self.named(going)}",
            f"drop {counted(len(going), 'disk')} of {self.name} and wait for the rebalance",
            change.power,
            needs=(
                self.same(),
                self.count(going, mode="ONLINE"),
                self.count(staying, mode="ONLINE", state=("NORMAL", "ADDING")),
                replace(group_check(self.name, "freeMb", self.group.total_mb - room), op=Op.AT_LEAST),
            ),
            proves=proves,
            hopes=(self.moves(),),
            within=REBALANCE_WITHIN,
            estimate=rebalance_seconds(moved, len(staying)),
            risk=Risk.PERFORMANCE,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(self.change("disks", str(len(self.members)), str(len(self.members) - len(chosen))),),
        )
        notes = (f"ASM moves about {human_size(moved * MIB)} to the {counted(len(staying), 'disk')} that stay",)
        return self.made(step, back, notes, (becomes_usable(self.group, room),))


class _Resize(Maker):
    def plan(self, change: ResizeDisks) -> Plan:
        """Return the plan of RESIZE; if the group shrinks, it waits for the rebalance."""
        chosen = self.chosen(change.disks, change.failgroups)
        self.refuse_away(self.members)
        if any(not disk.grid_disk for disk in self.members):
            self.refuse("it has disks that are not grid disks", "show asmdisk")
        unit = max(self.group.au_size, MIB)
        sizes = {disk.name: disk.total_mb for disk in self.members}
        for disk in chosen:
            size = disk.os_mb * MIB if change.size is None else change.size
            if size > disk.os_mb * MIB:
                self.refuse(
                    f"{disk.grid_disk} has {disk.os_mb} MB on its cell, less than {exact_size(size)} (ORA-15036)",
                    "`resize griddisk prefix=… size=…` makes the grid disks and the disk group larger",
                )
            if size < least_disk(self.group.au_size):
                self.refuse(f"a disk has at least {exact_size(least_disk(self.group.au_size))} here (ORA-15037)")
            sizes[disk.name] = size // unit * unit // MIB
        if len(set(sizes.values())) > 1:
            found = ", ".join(map(str, sorted(set(sizes.values()))))
            self.refuse(
                f"its disks would have different sizes: {found} MB",
                "`resize all size …` gives all of them the same size",
            )
        size, old = next(iter(sizes.values())), sorted({disk.total_mb for disk in self.members})
        proof = Check(object="asm.disk", attribute="totalMb", value=size, where={"diskgroup": self.name})
        if old == [size]:
            if not self.asm.told(self.name):
                return self.done(f"each disk of {self.name} has {size} MB already")
            self.refuse_power(None, waits=True)
            what = f"wait for the rebalance of {self.name}"
            return self.wait(what, proof, quiet(self.name), within=REBALANCE_WITHIN)
        shrinks = size < old[-1]
        self.refuse_power(change.power, waits=shrinks)
        if self.asm.told(self.name):
            self.refuse(self.asm.told(self.name), "repeat this when `show rebalance` lists none of it")
        room = self.refuse_full((disk.failgroup, size) for disk in self.members)
        used, total = self.group.total_mb - self.group.free_mb, self.group.total_mb
        moved = used * max(0, total - size * len(self.members)) // total
        even = len(old) == 1
        back = f"ALTER DISKGROUP {self.name} RESIZE ALL SIZE {old[0]}M"
        step = self.step(
            f"ALTER DISKGROUP {self.name} RESIZE ALL SIZE {size}M",
            f"resize {self.name}" + (" and wait for the rebalance" if shrinks else ""),
            change.power,
            needs=(
                self.count(self.members, mode="ONLINE", state="NORMAL"),
                quiet(self.name),
                replace(group_check(self.name, "freeMb", max(0, self.group.total_mb - room)), op=Op.AT_LEAST),
            ),
            proves=(proof, quiet(self.name)) if shrinks else (proof,),
            hopes=(self.moves(),) if shrinks else (),
            within=REBALANCE_WITHIN if shrinks else RESIZE_WITHIN,
            estimate=rebalance_seconds(moved, len(self.members)) if shrinks else None,
            risk=Risk.PERFORMANCE,
            undo=Undo.STATEMENT if even else Undo.IMPOSSIBLE,
            inverse=back if even else f"the disks of {self.name} had different sizes",
            changes=(self.change("MB of each disk", ", ".join(map(str, old)), str(size)),),
        )
        note = "the grid disks keep their size on the cells: resize griddisk changes both"
        return self.made(step, back if even else "", (note,), (becomes_usable(self.group, room),) if shrinks else ())


class _Switch(Maker):
    """Makes the plans of ONLINE and OFFLINE."""

    def online(self, change: SwitchDisks) -> Plan:
        """Return the plan of ONLINE, which waits until the disks have the data that was written meanwhile."""
        self.refuse_power(change.power, waits=True)
        away = [disk for disk in self.chosen(change.disks, change.failgroups) if disk.mode != "ONLINE"]
        if not away:
            return self.done(f"these disks of {self.name} are ONLINE already")
        lost = [disk.name for disk in away if disk.state != "NORMAL"]
        if lost:
            self.refuse(
                f"ASM is dropping {fold_briefly(lost)}",
                "when `show rebalance` is empty, type `alter diskgroup … add disk`",
            )
        inactive = [grid.name for d in away if (grid := self.grids.get(d.name.lower())) and grid.status != "active"]
        if inactive:
            self.refuse(f"{being(inactive)} not active on the cell", f"alter griddisk {','.join(inactive)} active")
        names = tuple(disk.name for disk in away)
        proof = Check(
            object="asm.disk", attribute="mode", value="ONLINE", where={"diskgroup": self.name, "name": names}
        )
        off = [disk for disk in away if disk.mode == "OFFLINE"]
        if not off:
            return self.wait(f"wait until {being(names)} ONLINE", proof, within=ONLINE_WITHIN)
        power = f" POWER {change.power}" if change.power is not None else ""
        back = f"ALTER DISKGROUP {self.name} OFFLINE {self.named(off)}"
        step = self.step(
            f"ALTER DISKGROUP {self.name} ONLINE {self.named(off)}{power}",
            f"bring {counted(len(off), 'disk')} of {self.name} online and wait for the resync",
            needs=(self.same(),),
            proves=(proof,),
            within=ONLINE_WITHIN,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(self.change("mode", "OFFLINE", "ONLINE", f"{counted(len(off), 'disk')} of "),),
        )
        return self.made(
            step, back, (f"ASM writes the missed changes to them: {fold_briefly([disk.name for disk in off])}",)
        )

    def offline(self, change: SwitchDisks, now: datetime | None) -> Plan:
        """Return the plan of OFFLINE; all disks that hold the other copies must be in order, and most voting files must stay.

        If ASM would drop the disks before any work on them could end, it is judged like DROP.
        """
        chosen = self.chosen(change.disks, change.failgroups)
        going = [disk for disk in chosen if disk.mode != "OFFLINE"]
        if not going and change.drop_after:
            self.refuse(
                "they are already OFFLINE, and DROP AFTER would give them a new time limit, which can't be undone",
                f'`sql asm "alter diskgroup {self.name} online all"` brings them online first',
            )
        if not going:
            return self.done(f"these disks of {self.name} are OFFLINE already")
        copies = COPIES[self.group.type]
        if copies < 2:
            self.refuse("with external redundancy nothing mirrors its disks")
        impaired = {disk.failgroup for disk in self.members if disk.mode != "ONLINE" or disk.state != "NORMAL"}
        lost = impaired | {disk.failgroup for disk in going}
        if len(lost) >= copies:
            self.refuse(
                f"with failure groups {', '.join(sorted(lost))} offline, data would be lost (ORA-15066): "
                f"{self.group.type} redundancy allows {copies - 1}",
                "bring the others online first, one failure group at a time",
            )
        if self.asm.told(self.name):
            self.refuse(self.asm.told(self.name), "repeat this when `show rebalance` lists none of it")
        votes = [disk for disk in self.members if disk.voting]
        left = [disk for disk in votes if disk not in going and disk.mode == "ONLINE"]
        if votes and 2 * len(left) <= len(votes):
            self.refuse(
                f"{len(left)} of {counted(len(votes), 'voting file')} would be left, and a node that can't reach "
                f"most of them leaves the cluster",
                "one failure group at a time",
            )
        names = tuple(disk.name for disk in going)
        safe = [disk for disk in self.members if disk.failgroup not in lost]
        after = f" DROP AFTER {change.drop_after}" if change.drop_after else ""
        clock = clock_of(self.group, whole=is_whole(self.members, going))
        if change.drop_after:
            seconds = seconds_of(change.drop_after)
            clock = Clock(group=self.name, seconds=seconds, attribute="DROP AFTER", told=change.drop_after)
            if seconds is not None and seconds < needed_for(""):
                return self._dropped(going, after, seconds)
        refuse_short(self.statement, "", [clock])
        back = f"ALTER DISKGROUP {self.name} ONLINE {self.named(going)}"
        gone: dict[str, str | tuple[str, ...]] = {"diskgroup": self.name, "name": names}
        step = self.step(
            f"ALTER DISKGROUP {self.name} OFFLINE {self.named(going)}{after}",
            f"take {counted(len(names), 'disk')} of {self.name} offline",
            needs=(self.same(), self.count(safe, mode="ONLINE", state="NORMAL"), quiet(self.name)),
            proves=(Check(object="asm.disk", attribute="mode", value="OFFLINE", where=gone),),
            risk=Risk.REDUNDANCY,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(self.change("mode", "ONLINE", "OFFLINE", f"{counted(len(names), 'disk')} of "),),
        )
        when = moment_of(clock, now) if clock.seconds is not None else f"{UNTOLD}: {clock.sentence} ({clock.default})"
        warnings = (
            f'until they are online again, a mirror is missing; sql asm "alter diskgroup {self.name} online '
            'all" brings them back',
            when,
        )
        plan = self.made(step, back, warnings=warnings)
        return plan if clock.seconds is not None else replace(plan, risk=Risk.UNKNOWN)

    def _dropped(self, going: Sequence[AsmDisk], after: str, seconds: float) -> Plan:
        """Return the plan of an OFFLINE after which ASM drops the disks; it can't be undone."""
        names = tuple(disk.name for disk in going)
        staying = [disk for disk in self.members if disk not in going and disk.state != "DROPPING"]
        self.refuse_few(staying)
        room = self.refuse_full((disk.failgroup, disk.total_mb) for disk in staying if disk.grid_disk)
        step = self.step(
            f"ALTER DISKGROUP {self.name} OFFLINE {self.named(going)}{after}",
            f"have ASM drop {counted(len(names), 'disk')} of {self.name}, and wait until it has",
            needs=(
                self.same(),
                self.count(going, mode="ONLINE"),
                self.count(staying, mode="ONLINE", state="NORMAL"),
                quiet(self.name),
                replace(group_check(self.name, "freeMb", self.group.total_mb - room), op=Op.AT_LEAST),
            ),
            proves=(Check(object="asm.disk", op=Op.ABSENT, where={"diskgroup": self.name, "name": names}),),
            within=REBALANCE_WITHIN + seconds,
            risk=Risk.REDUNDANCY,
            undo=Undo.IMPOSSIBLE,
            inverse=f"ASM drops them: `alter diskgroup {self.name} add disk` adds them again",
            changes=(self.change("disks", str(len(self.members)), str(len(staying))),),
        )
        warning = (
            f"DROP AFTER {after.split()[-1]} is in fact a DROP: no work ends in less than "
            f"{spoken_time(needed_for(''))}, and their mirrors are missing until the rebalance ends"
        )
        return self.made(step, warnings=(warning, becomes_usable(self.group, room)))


def _clauses(disks: Iterable[tuple[AsmDisk, NewDisk]]) -> str:
    """Return the DISK clauses of ADD, each disk with its own path."""
    by_group = grouped((new.failgroup, (disk, new.name)) for disk, new in disks)
    return " ".join(
        (f"FAILGROUP {failgroup} " if failgroup else "")
        + "DISK "
        + ", ".join(f"'{disk.path}'" + (f" NAME {name}" if name else "") for disk, name in found)
        for failgroup, found in by_group.items()
    )


def _matches(search: str, path: str) -> bool:
    """Return whether a DISK string matches a path, part by part; only ``*`` is a pattern, and case counts."""
    wanted, parts = search.split("/"), path.split("/")
    return len(wanted) == len(parts) and all(map(fnmatchcase, parts, wanted))
