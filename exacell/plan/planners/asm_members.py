"""Hold the common parts of plans for disks of an ASM disk group: the meant disks, the refusals, and the proofs of steps.

Source: Oracle SQL Language Reference, ALTER DISKGROUP; reference asm.md sections 4 (redundancy and space) and 6.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from exacell.core.cellset import fold_briefly, grouped, summed
from exacell.core.errors import RefusedError
from exacell.core.meant import ask_for
from exacell.core.units import MIB, counted, human_size
from exacell.plan.asmfacts import AsmDisk, AsmFacts
from exacell.plan.checks import group_check
from exacell.plan.dbchange import quoted
from exacell.plan.facts import GridDisk
from exacell.plan.model import Change, Check, Op, Plan, Stage, Step
from exacell.plan.planners.diskgroup import VOTING_FAILGROUPS, known_group
from exacell.plan.planners.diskgroup_disks import ADDABLE, FAILGROUPS
from exacell.plan.planners.griddisk_size import COPIES
from exacell.plan.planners.rebalance import MOST_POWER

_LONGEST = 2400
"""Most characters of a statement. SQL*Plus before 12.2 accepts lines of 2499. Source: reference asm.md section 1."""


LEAST_FAILGROUPS = {"EXTERN": FAILGROUPS["external"], "NORMAL": FAILGROUPS["normal"], "HIGH": FAILGROUPS["high"]}
"""By type of a disk group, its smallest number of failure groups."""


class Maker:
    """Makes the plan of one change of a disk group's disks.

    Args:
        verb: the change of the disks, for messages.
        grids: the grid disks of the rack's cells, by cell.

    Raises:
        RefusedError: there is no such disk group, or its contents can't be read.
    """

    def __init__(
        self, rack: str, asm: AsmFacts, name: str, verb: str, grids: Mapping[str, Sequence[GridDisk]], statement: str
    ) -> None:
        self.rack, self.asm, self.group, self.statement = rack, asm, known_group(asm, name), statement
        self.name, self.verb, self.members = name, verb, asm.members(self.group)
        self.cells = tuple(grids)
        self.grids = {grid.name.lower(): grid for found in grids.values() for grid in found}
        if not self.group.number:
            self.refuse(f"it is not mounted on {asm.node}", f'sql asm "alter diskgroup {name} mount"')
        if self.group.type not in COPIES:
            self.refuse(f"it is a {self.group.type} disk group, whose files have their own copies")

    def refuse(self, why: str, hint: str = "") -> NoReturn:
        """Raise RefusedError with the reason and the way out."""
        raise RefusedError(f"alter diskgroup {self.name} {self.verb} refused: {why}; nothing was sent", hint=hint)

    def refuse_power(self, power: int | None, *, waits: bool) -> None:
        """Raise RefusedError if ASM does not accept this power, or if the work would never end with it."""
        if power is not None and power > MOST_POWER:
            self.refuse(f"power {power} is not possible: 1 to {MOST_POWER}")
        if power == 0 and waits:
            self.refuse("with power 0 its rebalance never ends", "rebalance power 4")
        if self.asm.stands(self.name) and waits:
            again = f"type `set rebalance power=4 diskgroup={self.name}`; then repeat this"
            self.refuse(self.asm.told(self.name), again)

    def refuse_away(self, disks: Iterable[AsmDisk]) -> None:
        """Raise RefusedError while one of these disks is not ONLINE: its copies are incomplete."""
        away = [disk.name for disk in disks if disk.mode != "ONLINE"]
        if away:
            self.refuse(
                f"{being(away)} not ONLINE, so not all mirrors are complete",
                f'sql asm "alter diskgroup {self.name} online all", or show rebalance until ASM has dropped it',
            )

    def chosen(self, disks: Sequence[str], failgroups: Sequence[str]) -> list[AsmDisk]:
        """Return the members that are named, by disk or by failure group; all members if no disk or group is named.

        Disks that ASM has dropped already are left out.
        """
        by_name = {disk.name.upper(): disk for disk in self.members}
        inside = grouped((disk.failgroup.upper(), disk) for disk in self.members)
        for name in disks:
            if name not in by_name and not (self.verb == "drop" and self._released(name)):
                self.refuse(f"it has no disk {name}", ask_for(name, by_name) or "`show asmdisk` shows the names")
        own = {cell.upper().replace("-", "_") for cell in self.cells}
        for name in failgroups:
            if name not in inside and not (self.verb == "drop" and name in own):
                self.refuse(f"it has no failure group {name}", ask_for(name, inside) or f"it has {', '.join(inside)}")
        found = [by_name[name] for name in disks if name in by_name]
        found += [disk for name in failgroups for disk in inside.get(name, ())]
        found = list(dict.fromkeys(found)) if disks or failgroups else list(self.members)
        words = [word for disk in found for word in (disk.name, disk.failgroup)]
        odd = next((word for word in words if not re.fullmatch(r"[A-Z][A-Z0-9_$#]*", word)), "")
        if odd:
            self.refuse(f"the name {odd} needs quotes, which exacell does not write")
        return found

    def named(self, disks: Sequence[AsmDisk]) -> str:
        """Return disks as SQL names them: by failure group if all of its disks are included."""
        groups = {disk.failgroup: None for disk in disks}
        if len(disks) > 1 and len(disks) == sum(disk.failgroup in groups for disk in self.members):
            return f"DISKS IN FAILGROUP {', '.join(groups)}"
        return f"DISK {', '.join(disk.name for disk in disks)}"

    def same(self) -> Check:
        """Return the check that the number of disks of the group is still the one that was read."""
        return group_check(self.name, "disks", len(self.members), why="somebody else changed it")

    def _released(self, name: str) -> bool:
        return any(disk.grid_disk.upper() == name and disk.header in ADDABLE for disk in self.asm.disks)

    def refuse_full(self, sizes: Iterable[tuple[str, int]]) -> int:
        """Return the raw MB that disks of these failure groups and sizes can hold, with copies in different failure groups.

        Raises:
            RefusedError: the used space is larger.
        """
        used, room = self.group.total_mb - self.group.free_mb, capacity(sizes, COPIES[self.group.type])
        if used > room:
            self.refuse(
                f"it has {human_size(used * MIB)} (all copies), but the other disks have room for only "
                f"{human_size(room * MIB)} with the copies in different failure groups (ORA-15041)",
                "free space in it first, or add disks",
            )
        return room

    def refuse_few(self, staying: Sequence[AsmDisk]) -> None:
        """Raise RefusedError if too few failure groups would stay for the copies, or for the voting files."""
        kind, voting = self.group.type, self.group.voting_files
        every = {disk.failgroup for disk in staying}
        regular = {disk.failgroup for disk in staying if disk.grid_disk}
        if len(regular) < LEAST_FAILGROUPS[kind]:
            self.refuse(
                f"{kind} redundancy needs {counted(LEAST_FAILGROUPS[kind], 'failure group')}, {len(regular)} would "
                f"be left (ORA-15067)",
                f"`drop diskgroup {self.name}` drops the whole group",
            )
        if voting and len(every) < VOTING_FAILGROUPS[kind]:
            self.refuse(
                f"it holds the cluster's voting files, which need "
                f"{counted(VOTING_FAILGROUPS[kind], 'failure group')}, and {len(every)} would be left",
                "move them first, with `crsctl replace votedisk +OTHER` on a database node",
            )

    def step(self, sql: str, what: str, power: int | None = None, **more: Any) -> Step:
        """Return the step that sends a statement to ASM, with the power of its rebalance."""
        if power is not None:
            sql += f" REBALANCE POWER {power}"
        if len(sql) > _LONGEST:
            self.refuse(
                f"it is so long that SQL*Plus may cut it off ({len(sql)} characters)", "give fewer disks at a time"
            )
        return Step(target=self.asm.node, asm=self.asm.cluster, statement=sql, what=what, **more)

    def made(self, step: Step, back: str = "", notes: Sequence[str] = (), warnings: Sequence[str] = ()) -> Plan:
        """Return the plan of one step; ``back`` is the SQL that takes it back."""
        return Plan(
            statement=self.statement,
            rack=self.rack,
            stages=(Stage(title=step.what, key=self.verb, steps=(step,)),),
            inverse={self.asm.node: (f"sql asm {quoted(back)} asm={self.asm.cluster}",)} if back else {},
            notes=tuple(notes),
            warnings=tuple(warnings),
        )

    def done(self, why: str) -> Plan:
        """Return the plan without steps."""
        return Plan(statement=self.statement, rack=self.rack, done={self.asm.node: why})

    def count(self, disks: Collection[AsmDisk], **where: str | tuple[str, ...]) -> Check:
        """Return the check that these disks are in the group, with the values in ``where``."""
        names = tuple(disk.name for disk in disks)
        return Check(
            object="asm.disk",
            op=Op.COUNT,
            value=len(names),
            where={"diskgroup": self.name, "name": names, **where},
            why="somebody has changed it since it was read",
        )

    def moves(self) -> Check:
        """Return the check that no rebalance of the group is stopped."""
        return Check(
            object="asm.operation",
            attribute="power",
            op=Op.NE,
            value=0,
            where={"diskgroup": self.name},
            why="its rebalance is stopped, or ended without that",
        )

    def wait(self, what: str, *proves: Check, within: float, hopes: tuple[Check, ...] = ()) -> Plan:
        """Return the plan that only waits for work that an earlier statement began."""
        step = Step(target=self.asm.node, asm=self.asm.cluster, what=what, proves=proves, within=within, hopes=hopes)
        return self.made(step)

    def change(self, attribute: str, before: str, after: str, of: str = "") -> Change:
        """Return a change for the plan to show; ``of`` is put before the group's name, to name a part of it."""
        return Change(object="diskgroup", name=f"{of}{self.name}", attribute=attribute, before=before, after=after)


def capacity(sizes: Iterable[tuple[str, int]], copies: int) -> int:
    """Return the raw MB that failure groups hold if no two copies of an extent share one.

    This is less than their sum if one of them is larger than the others together.
    """
    largest = sorted(summed(sizes).values(), reverse=True)
    total = sum(largest)
    return min((total - sum(largest[:k])) * copies // (copies - k) for k in range(copies))


def being(names: Sequence[str]) -> str:
    """Return names, in short form if many, followed by ``is`` or ``are``."""
    return f"{fold_briefly(names)} {'is' if len(names) == 1 else 'are'}"
