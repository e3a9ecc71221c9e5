"""Read everything that a copy of a rack needs: every object of its cells, and its disk groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.cellcli.releases import fitted
from exacell.cellcli.reply import Record, read_xml_documents
from exacell.cellcli.secrets import masked
from exacell.change.targets.asm import asm_records
from exacell.core.errors import ExacellError, ExitCode, RefusedError
from exacell.core.units import MIB, parse_size
from exacell.output.result import worst
from exacell.plan import copying, facts as f
from exacell.plan.drift import ASM, STATEMENTS, neutral, of_asm
from exacell.session.answers import Answer
from exacell.session.factreading import read_facts as fresh_facts
from exacell.transport.base import State

if TYPE_CHECKING:
    from exacell.plan.asmfacts import AsmFacts
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


CALM = 600.0
"""Seconds of the copy per real second, if no flush takes longer than a few minutes."""

FASTEST = 36_000.0
_FLUSH_S = 10.0
"""Real seconds that flushing the cache with the most dirty data may take, roughly."""

_FLUSHED_PER_SECOND = 40 << 20
"""Bytes that the slowest emulated cell flushes in one of its seconds."""


def read_objects(
    services: Services, request: Request, cells: Sequence[str] | None = None
) -> dict[str, copying.Objects]:
    """Return the records that a copy needs, of ``cells``, or of the selected cells if None.

    Cell → object type → one record for each object, as LIST printed it.

    Raises:
        RefusedError: a cell did not answer.
    """
    found, problems = _objects(services, request, cells)
    if problems:
        raise RefusedError(f"rehearse: {problems[0]}; the copy needs the answers of all cells")
    return found


def _objects(
    services: Services, request: Request, cells: Sequence[str] | None
) -> tuple[dict[str, copying.Objects], list[str]]:
    """Return the records that a copy needs of the cells that answer, and the problems of the others."""
    found, problems = _asked(services, request, cells, copying.statements())
    # A cell may lack an attribute that its DESCRIBE does not show; then nobody can have set it.
    hidden, refused = (
        _asked(services, request, tuple(found), copying.statements(described=False)) if found else ({}, {})
    )
    problems |= {cell: bad for cell, bad in refused.items() if bad.reply.state not in (State.OK, State.FAILED)}
    for cell, objects in hidden.items():
        for kind, records in objects.items():
            more = {record.get("name", ""): record for record in records}
            found[cell][kind] = [{**record, **more.get(record.get("name", ""), {})} for record in found[cell][kind]]
    told = {cell: copying.without_secrets(objects) for cell, objects in found.items()}
    return told, [f"{cell}: {answer.problem}" for cell, answer in problems.items()]


def _asked(
    services: Services, request: Request, cells: Sequence[str] | None, statements: Mapping[str, str]
) -> tuple[dict[str, dict[str, Sequence[Record]]], dict[str, Answer]]:
    """Return the records of each cell's good answer, and the other answers."""
    answers = services.query(*statements.values(), cells=cells, timeout=request.read_timeout)
    releases = services.fleet.releases(list(answers.good))
    good = {cell: read_answer(answer, statements, releases.get(cell, "")) for cell, answer in answers.good.items()}
    return good, {cell: answer for cell, answer in answers.answers.items() if answer.problem}


def read_answer(answer: Answer, statements: Mapping[str, str], release: str) -> dict[str, Sequence[Record]]:
    """Return the texts of an answer by object type; values stay as printed, because a copy prints them again."""
    documents = iter(read_xml_documents(answer.reply.stdout))
    known = {kind: not release or fitted(statement, release) is not None for kind, statement in statements.items()}
    return {kind: next(documents).records if asked else () for kind, asked in known.items()}


def read_facts(session: Session, services: Services, request: Request) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return all facts that a change may affect, and the problems of cells and clusters that gave no answer.

    The key of the facts is the cell, or ``ASM name``; below it is ``object|name|attribute`` → value. They include what
    ``drift`` compares and what a copy is made from.
    """
    facts, problems, _ = read_all(session, services, request)
    told, more = _objects(services, request, None)
    for cell, objects in told.items():
        facts[cell] = {**facts.get(cell, {}), **copying.neutral_facts(cell, objects)}
    return facts, list(dict.fromkeys((*problems, *more)))


def likeness_of(
    session: Session, services: Services, request: Request, told: Mapping[str, copying.Objects]
) -> dict[str, Any]:
    """Return the description of the rack's current state, from which a copy is made; sizes in bytes.

    Args:
        told: the result of :func:`read_objects` for all its cells.

    Raises:
        RefusedError: a cell did not answer, or a disk group is mounted nowhere.
    """
    rack = session.need_rack()
    facts = fresh_facts(session, services, request, f.DATABASE, f.FLASH_METRICS, cells=rack.cells)
    asm = services.asm().facts() if rack.asm else None
    databases = {name.rsplit(".", 1)[-1].upper() for fact in facts.values() for name in fact.databases}
    databases |= {client.upper() for group in (asm.groups if asm else ()) for client in group.clients}
    databases |= {name.upper() for cluster in rack.asm.values() for name in cluster.databases}
    dirty = max((fact.metric_bytes("FC_BY_DIRTY") or 0 for fact in facts.values()), default=0)
    return {
        "cells": [described(cell, told[cell], fact) for cell, fact in facts.items()],
        "nodes": list(rack.dbnodes),
        "databases": sorted(databases) or ["DB"],
        "groups": _groups(asm, told) if asm else [],
        "former": [d.grid_disk for d in asm.disks if d.header == "FORMER" and d.grid_disk] if asm else [],
        "speed": min(FASTEST, max(CALM, dirty / _FLUSHED_PER_SECOND / _FLUSH_S)),
    }


def described(cell: str, told: copying.Objects, fact: f.CellFacts) -> dict[str, Any]:
    """Return the description of one cell for :class:`exacell.emulator.copies.likeness.Likeness`."""
    return {
        "name": cell,
        "objects": told,
        "plans": copying.directives(told),
        "dirty": fact.metric_bytes("FC_BY_DIRTY") or 0,
        "used": fact.metric_bytes("FC_BY_USED") or 0,
    }


def _groups(asm: AsmFacts, told: Mapping[str, copying.Objects]) -> list[dict[str, Any]]:
    for group in asm.groups:
        if not group.type:
            raise RefusedError(
                f"disk group {group.name} is not mounted on any node: ASM does not show its redundancy and disks "
                f"then, so it can't be copied; nothing was sent",
                hint=f'sql asm "alter diskgroup {group.name} mount"',
            )
    records = [record for objects in told.values() for record in objects.get("GRIDDISK", ())]
    # An offline disk has no path and no size any more: its cell shows which grid disk it is.
    behind = {(r.get("asmDiskGroupName", ""), r.get("asmDiskName", "")): r for r in records if r.get("asmDiskName")}
    host = {instance.inst_id: instance.host.split(".")[0] for instance in asm.instances}
    return [
        {
            "name": group.name,
            "type": group.type,
            "auSize": group.au_size,
            "usedMb": max(0, group.total_mb - group.free_mb),
            "files": 1 if group.files is None else group.files,
            "clients": list(group.clients),
            "mountedOn": [
                host[i] for i, state in group.states.items() if state in ("MOUNTED", "CONNECTED") and i in host
            ],
            "compatibleAsm": group.compatible_asm,
            "compatibleRdbms": group.compatible_rdbms,
            "votingFiles": group.voting_files,
            "disks": [
                {
                    "name": disk.name,
                    "failGroup": disk.failgroup,
                    "gridDisk": disk.grid_disk or record.get("name", ""),
                    "sizeMb": _whole_units(disk.os_mb or parse_size(record.get("size") or "0") // MIB, group.au_size),
                    "mode": disk.mode,
                }
                for disk in asm.members(group)
                for record in (behind.get((group.name, disk.name), {}),)
            ],
        }
        for group in asm.groups
    ]


def _whole_units(size_mb: int, au_size: int) -> int:
    """Return the megabytes of a disk in whole allocation units."""
    unit = max(1, au_size // MIB)
    return size_mb // unit * unit


def read_cells(services: Services, request: Request) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts of the selected cells (cell → ``object name attribute`` → value), the problems, and the exit code."""
    answers = services.query(*STATEMENTS.values(), timeout=request.read_timeout)
    facts = {
        cell: {name: masked(value) for name, value in neutral(cell, answer.tables).items()}
        for cell, answer in answers.good.items()
    }
    return facts, list(answers.problems), answers.exit_code


def read_all(
    session: Session, services: Services, request: Request
) -> tuple[dict[str, dict[str, str]], list[str], ExitCode]:
    """Return the facts of :func:`read_cells`, with those of the rack's ASM clusters under ``ASM name``."""
    facts, problems, code = read_cells(services, request)
    groups, silent = read_groups(session, services)
    return {**facts, **groups}, [*problems, *silent], worst([code, ExitCode.FAILED]) if silent else code


def read_groups(session: Session, services: Services) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the facts of the disk groups of the rack's ASM clusters for comparison, under ``ASM name``, and the problems."""
    facts: dict[str, dict[str, str]] = {}
    problems: list[str] = []
    for name in session.need_rack().asm:
        try:
            facts[ASM + name] = of_asm(asm_records(services.asm(name).facts())["asm.diskgroup"])
        except ExacellError as error:
            problems.append(f"{ASM}{name}: {error.message}")
    return facts, problems
