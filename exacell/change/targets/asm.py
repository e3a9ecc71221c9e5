"""ASM clusters: their facts, and SQL that is sent to one of their nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exacell.change.targets.base import Going, failures, meaning
from exacell.change.targets.sql import Records, SqlWay
from exacell.plan.ageing import ages_in_asm
from exacell.plan.asmchange import meant
from exacell.plan.asmfacts import AsmFacts, DiskGroup
from exacell.plan.foreseen import Foreseen
from exacell.plan.model import Check, Step
from exacell.session.asm import AsmClient
from exacell.session.given import Services, Session
from exacell.transport.base import Judgement, Reply


class AsmClusters(SqlWay):
    """The way to ASM clusters."""

    clients: Mapping[str, AsmClient]

    def __init__(self, clients: Mapping[str, AsmClient]) -> None:
        super().__init__(clients)
        self._seen: dict[str, AsmFacts] = {}

    @staticmethod
    def opened(session: Session, services: Services, name: str, foreseen: Foreseen | None) -> AsmClient:
        """Return the rack's client for the cluster; its facts already have the changes in ``foreseen``."""
        return services.asm(name).foreseeing(foreseen)

    def records(self, owner: str, node: str, checks: Sequence[Check]) -> Records:
        """Return the records of all objects, from the node or another one of the cluster that answers."""
        facts = self.clients[owner].facts(first=node)
        self._seen[owner] = facts
        return asm_records(facts)

    def sent(self, owner: str, steps: Mapping[str, Step], going: Going) -> Mapping[str, tuple[Reply, str]]:
        """Send each node its statement; where a proof may have become stale, the SQL*Plus that sends it looks first."""
        client = self.clients[owner]
        looking = {node: _upon(step) for node, step in steps.items() if client.pairs and ages_in_asm(step.statement)}
        plain = {node: step.statement for node, step in steps.items() if node not in looking}
        found = client.send(plain, timeout=going.timeout, ours=going.ours) if plain else {}
        if looking:
            found |= client.send_upon(looking, ours=going.ours, timeout=going.timeout, within=going.within)
        return found

    def far(self, step: Step) -> tuple[str, float, float] | None:
        """Return the progress of the rebalance or resync that a step waits for."""
        facts = self._seen.get(step.owner)
        checks = [check for check in (*step.proves, *step.hopes) if check.object == "asm.operation"]
        names = {str(check.where.get("diskgroup", "")) for check in checks}
        for found in facts.running if facts is not None else ():
            if found.work and found.diskgroup in names and facts is not None:
                return facts.told(found.diskgroup), found.sofar / found.work, found.minutes * 60.0
        return None


def _upon(step: Step) -> tuple[str, Callable[[AsmFacts], Judgement]]:
    """Return a step's statement, and a function that judges the cluster's facts right before it."""
    checks = (*step.only_if, *step.needs)
    return step.statement, lambda facts: meaning(step, failures(checks, asm_records(facts)))


def asm_records(asm: AsmFacts) -> dict[str, list[dict[str, Any]]]:
    """Return ASM's facts as the records that checks and ``show`` use: asm.diskgroup, asm.disk, asm.mount …"""
    numbers = {group.number: group.name for group in asm.groups if group.number}
    disks = [
        {
            "name": disk.name or None,
            "gridDisk": disk.grid_disk or None,
            "path": disk.path,
            "header": disk.header,
            "mount": disk.mount,
            "mode": disk.mode,
            "state": disk.state,
            "osMb": disk.os_mb,
            "totalMb": disk.total_mb,
            "failgroup": disk.failgroup or None,
            "diskgroup": numbers.get(disk.group),
        }
        for disk in asm.disks
    ]
    mounts = [
        {"name": group.name, "instance": inst, "state": state}
        for group in asm.groups
        for inst, state in group.states.items()
    ]
    operations = [
        {
            "name": operation.kind,
            "told": asm.told(operation.diskgroup),
            "diskgroup": operation.diskgroup,
            "instance": operation.inst_id,
            "state": operation.state,
            "power": operation.power,
            "sofar": operation.sofar,
            "work": operation.work,
            "minutes": operation.minutes,
        }
        for operation in asm.running
    ]
    return {
        "asm.diskgroup": [_group_record(asm, group) for group in asm.groups],
        "asm.disk": disks,
        "asm.mount": mounts,
        "asm.operation": operations,
        "asm.attribute": [
            {"diskgroup": group.name, "name": name, "value": meant(name, value)}
            for group in asm.groups
            for name, value in group.attributes.items()
        ],
    }


def _group_record(asm: AsmFacts, group: DiskGroup) -> dict[str, Any]:
    members = asm.members(group)
    return {
        "name": group.name,
        "state": group.state,
        "type": group.type or None,
        "auSize": group.au_size,
        "disks": len(members),
        "failgroups": len({disk.failgroup for disk in members}),
        "totalMb": group.total_mb,
        "freeMb": group.free_mb,
        "requiredMirrorFreeMb": group.required_mirror_free_mb,
        "usableFileMb": group.usable_file_mb,
        "offlineDisks": group.offline_disks,
        "files": group.files,
        "clients": group.clients,
        "compatibleAsm": group.compatible_asm or None,
        "compatibleRdbms": group.compatible_rdbms or None,
        "mountedOn": tuple(i.host for i in asm.instances if group.states.get(i.inst_id) == "MOUNTED"),
    }
