"""Plan the changes of ASM disk groups that were given as SQL: as the verb that says the same, or by a plan of their own."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exacell.change.execute import execute
from exacell.core.errors import RefusedError
from exacell.language.line import with_call_flags
from exacell.language.registry import Call
from exacell.plan import facts as f
from exacell.plan.asmchange import (
    AddDisks,
    DropDisks,
    DropGroup,
    MountGroup,
    NewGroup,
    ResizeDisks,
    SetAttribute,
    SetPower,
    SwitchDisks,
)
from exacell.plan.model import Planned
from exacell.plan.planners.asm_attribute import attribute_plan
from exacell.plan.planners.asm_disks import disks_plan
from exacell.plan.planners.diskgroup import dismount_plan, mount_plan
from exacell.plan.planners.rebalance import power_plan
from exacell.session.factreading import read_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exacell.output.result import Result
    from exacell.plan.asmchange import Change
    from exacell.plan.asmfacts import AsmFacts
    from exacell.plan.facts import GridDisk
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


def asm_change(session: Session, services: Services, request: Request, call: Call, change: Change) -> Result | Planned:
    """Return the plan of a change, or the result of the statement of exacell that says the same.

    Raises:
        RefusedError: a guard forbids it.
    """
    rack, cluster = session.need_rack().name, call.text_arg("asm")
    client = services.asm(cluster)
    own = ""
    match change:
        case NewGroup():
            prefix = _prefix(change)
            own = f"create diskgroup {change.group} prefix={prefix} redundancy={change.redundancy}"
            own += "".join(f' {key}="{value}"' for key, value in change.attributes)
            _refuse_others(client.facts(), change, prefix)
        case DropGroup():
            own = f"drop diskgroup {change.group}"
        case SetPower() if change.starts:
            own = f"set rebalance power={change.power} diskgroup={change.group}"
    if own:
        own += f" asm={cluster}" if cluster else ""
        services.console.say(f"this is: {own}")
        return execute(session, services, request, with_call_flags(own, call.flags))
    asm = client.facts()
    match change:
        case MountGroup():
            made = mount_plan if change.mount else dismount_plan
            plan = made(rack, asm, change.group, nodes=client.config.nodes, statement=call.text)
        case SetPower():
            plan = power_plan(rack, asm, power=change.power, group=change.group, statement=call.text, starts=False)
        case SetAttribute():
            plan = attribute_plan(rack, asm, change, statement=call.text)
        case AddDisks() | DropDisks() | ResizeDisks() | SwitchDisks():
            grids = _grid_disks(session, services, request, change)
            plan = disks_plan(rack, asm, change, grids=grids, statement=call.text)
    return Planned(plan)


def _grid_disks(
    session: Session, services: Services, request: Request, change: Change
) -> Mapping[str, Sequence[GridDisk]]:
    """Return the grid disks of the cells, as far as a change needs them.

    To bring disks online nobody waits for cells that are away.
    """
    cells = tuple(session.cells())
    if isinstance(change, AddDisks):
        return {cell: fact.grid_disks for cell, fact in read_facts(session, services, request, f.GRIDDISK).items()}
    if isinstance(change, SwitchDisks) and change.online:
        good = services.fleet.query(cells, [f.GRIDDISK]).good
        return {cell: f.build(cell, [f.GRIDDISK], answer.tables).grid_disks for cell, answer in good.items()}
    return dict.fromkeys(cells, ())


def _prefix(change: NewGroup) -> str:
    """Return the prefix of the grid disks that a new disk group is made of.

    Raises:
        RefusedError: it is of others, or an attribute is empty, so that no statement of exacell says the same.
    """
    what = f"create diskgroup {change.group} refused"
    _, address, name = change.search.split("/")
    prefix = name.removesuffix("*").removesuffix("_")
    if address != "*" or not name.endswith("*") or "*" in prefix or not prefix:
        raise RefusedError(
            f"{what}: exacell makes disk groups of the grid disks of one prefix on all cells, and '{change.search}' are others; "
            "nothing was sent",
            hint=f"DISK 'o/*/{prefix.strip('*') or 'prefix'}_*'",
        )
    empty = [key for key, value in change.attributes if not value.strip()]
    if empty:
        raise RefusedError(
            f"{what}: {' and '.join(empty)} are empty; nothing was sent",
            hint="leave them out: exacell takes those of the ASM software and of the disk groups that databases use",
        )
    return prefix


def _refuse_others(asm: AsmFacts, change: NewGroup, prefix: str) -> None:
    """Refuse where the string of the SQL catches more than the grid disks of its prefix.

    Raises:
        RefusedError: naming one of them.
    """
    caught = [disk.grid_disk for disk in asm.disks if disk.grid_disk and fnmatchcase(disk.path, change.search)]
    other = next((name for name in caught if not name.lower().startswith(f"{prefix.lower()}_")), "")
    if other:
        raise RefusedError(
            f"create diskgroup {change.group} refused: '{change.search}' also catches {other}; nothing was sent",
            hint=f"DISK 'o/*/{prefix}_*' means the grid disks {prefix}_<celldisk> alone",
        )
