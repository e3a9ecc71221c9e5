"""Plans that take disks of an ASM disk group offline, and bring them back. Source: reference asm.md sections 2, 4 and 8."""

from __future__ import annotations

from exacell.core.cellset import fold_briefly
from exacell.core.units import counted
from exacell.plan.asmchange import SwitchDisks
from exacell.plan.model import Check, Plan, Risk, Undo
from exacell.plan.planners.asm_members import Maker, being
from exacell.plan.planners.availability import ONLINE_WITHIN
from exacell.plan.planners.griddisk_size import COPIES


class Switch(Maker):
    """Makes the plans of ONLINE and OFFLINE."""

    def online(self, change: SwitchDisks) -> Plan:
        """Return the plan of ONLINE, which waits until the disks have what was written meanwhile."""
        self.refuse_power(change.power, waits=True)
        away = [disk for disk in self.chosen(change.disks, change.failgroups) if disk.mode != "ONLINE"]
        if not away:
            return self.done(f"these disks of {self.name} are ONLINE already")
        lost = [disk.name for disk in away if disk.state != "NORMAL"]
        if lost:
            self.refuse(
                f"ASM is dropping {fold_briefly(lost)} for good",
                "when show rebalance is empty: alter diskgroup … add disk",
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
            step, back, (f"ASM writes to them what they have missed: {fold_briefly([disk.name for disk in off])}",)
        )

    def offline(self, change: SwitchDisks) -> Plan:
        """Return the plan of OFFLINE: only while all copies that stay are whole, and most voting files."""
        chosen = self.chosen(change.disks, change.failgroups)
        going = [disk for disk in chosen if disk.mode != "OFFLINE"]
        if not going:
            return self.done(f"these disks of {self.name} are OFFLINE already")
        copies = COPIES[self.group.type]
        if copies < 2:
            self.refuse("with external redundancy nothing mirrors its disks")
        impaired = {disk.failgroup for disk in self.members if disk.mode != "ONLINE" or disk.state != "NORMAL"}
        lost = impaired | {disk.failgroup for disk in going}
        if len(lost) >= copies:
            self.refuse(
                f"with failure groups {', '.join(sorted(lost))} away data would be lost (ORA-15066): {self.group.type} "
                f"redundancy spares {copies - 1}",
                "bring the others online first, one failure group at a time",
            )
        if self.asm.told(self.name):
            self.refuse(self.asm.told(self.name), "this again when show rebalance lists none of it")
        votes = [disk for disk in self.members if disk.voting]
        left = [disk for disk in votes if disk not in going and disk.mode == "ONLINE"]
        if votes and 2 * len(left) <= len(votes):
            self.refuse(
                f"{len(left)} of {counted(len(votes), 'voting file')} would stay, and a node that can't reach most of these "
                "leaves the cluster",
                "one failure group at a time",
            )
        names = tuple(disk.name for disk in going)
        safe = [disk for disk in self.members if disk.failgroup not in lost]
        after = f" DROP AFTER {change.drop_after}" if change.drop_after else ""
        back = f"ALTER DISKGROUP {self.name} ONLINE {self.named(going)}"
        gone: dict[str, str | tuple[str, ...]] = {"diskgroup": self.name, "name": names}
        step = self.step(
            f"ALTER DISKGROUP {self.name} OFFLINE {self.named(going)}{after}",
            f"take {counted(len(names), 'disk')} of {self.name} offline",
            needs=(self.same(), self.count(safe, mode="ONLINE", state="NORMAL"), self.quiet()),
            proves=(Check(object="asm.disk", attribute="mode", value="OFFLINE", where=gone),),
            risk=Risk.REDUNDANCY,
            undo=Undo.STATEMENT,
            inverse=back,
            changes=(self.change("mode", "ONLINE", "OFFLINE", f"{counted(len(names), 'disk')} of "),),
        )
        time = change.drop_after or self.group.attributes.get("disk_repair_time") or "disk_repair_time"
        warning = (
            f"until they are back a mirror is missing: ASM drops them for good after {time}; "
            f'sql asm "alter diskgroup {self.name} online all" brings them back'
        )
        return self.made(step, back, warnings=(warning,))
