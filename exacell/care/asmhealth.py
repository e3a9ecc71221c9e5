"""Health findings from ASM: disk groups that are nearly full, and offline disks that ASM will soon drop for good. Pure.

Source: reference asm.md section 4: USABLE_FILE_MB below zero means that a lost failure group could not be mirrored again;
REPAIR_TIMER counts down the seconds of disk_repair_time for a disk that is OFFLINE.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from exacell.care.health import Finding, Level
from exacell.core.units import MIB, counted, format_duration, human_size
from exacell.plan.asmfacts import AsmDisk, AsmFacts, DiskGroup

LITTLE, LEAST = 0.10, 0.03
"""Fractions of a disk group's space: with less than LITTLE free it is nearly full, with less than LEAST it is full."""


def with_asm(findings: Mapping[str, Sequence[Finding]], clusters: Sequence[AsmFacts]) -> dict[str, tuple[Finding, ...]]:
    """Return the findings by cell together with those of ASM, the worst first; also for a cell that did not answer."""
    found = {cell: list(own) for cell, own in findings.items()}
    for facts in clusters:
        for cell, disks in _offline(facts, found).items():
            _count_down(cell, found[cell], disks)
        for group in facts.groups:
            space = _space(group, "" if facts.cluster == "main" else f" ({facts.cluster})")
            if space is not None:
                for cell in {_cell_of(disk, found) for disk in facts.members(group)} - {""}:
                    found[cell].append(space)
    return {cell: tuple(sorted(own, key=lambda finding: -finding.level.rank)) for cell, own in found.items()}


def _cell_of(disk: AsmDisk, cells: Collection[str]) -> str:
    """Return the cell of a disk, by the disk's name or its failure group; empty if it belongs to none of ``cells``.

    An offline disk has no path. Source: reference asm.md: on Exadata a disk has the name of its grid disk, which ends in the
    cell's name; a failure group has the cell's name.
    """
    name = disk.name.lower()
    for cell in cells:
        short = cell.partition(".")[0].lower()
        if name.endswith(f"_{short}") or disk.failgroup.lower() == short:
            return cell
    return ""


def _offline(facts: AsmFacts, cells: Collection[str]) -> dict[str, list[AsmDisk]]:
    found: dict[str, list[AsmDisk]] = {}
    for disk in facts.disks:
        cell = _cell_of(disk, cells) if disk.repair_s and disk.mode == "OFFLINE" else ""
        if cell:
            found.setdefault(cell, []).append(disk)
    return found


def _count_down(cell: str, findings: list[Finding], disks: Sequence[AsmDisk]) -> None:
    """Add the time until ASM drops the first offline disk to the cell's findings about these disks or its CELLSRV; if there
    are none, add a finding.
    """
    left = format_duration(min(disk.repair_s for disk in disks))
    figures = f"ASM drops {counted(len(disks), 'offline disk')} for good, the first in {left}"
    told = [n for n, one in enumerate(findings) if one.text.endswith("asmModeStatus is OFFLINE")]
    told = told or [n for n, one in enumerate(findings) if one.text.startswith("cellsrvStatus is")]
    for place in told:
        findings[place] = replace(findings[place], figures=figures)
    if not told:
        text = "it has disks that are OFFLINE in ASM"
        findings.append(Finding("asm", Level.BAD, f"{len(disks)} offline", text, f"online cell {cell}", figures))


def _space(group: DiskGroup, cluster: str) -> Finding | None:
    """Return the finding that a disk group is full or nearly full; None if it is neither, or not mounted anywhere."""
    if group.state != "MOUNTED" or not group.total_mb:
        return None
    free = group.free_mb / group.total_mb
    figures = f"{human_size(group.free_mb * MIB)} of {human_size(group.total_mb * MIB)} free"
    way = "show diskgroup; delete what is not needed, or add disks"
    for level, least, said in ((Level.BAD, LEAST, "full"), (Level.WARN, LITTLE, "nearly full")):
        if free < least:
            return Finding(
                "asm", level, f"{group.name} {said}", f"disk group {group.name}{cluster} is {said}", way, figures
            )
    if group.usable_file_mb < 0:
        text = (
            f"disk group {group.name}{cluster} has too little space to mirror again after the loss of a failure group"
        )
        below = f"usable space is {human_size(-group.usable_file_mb * MIB)} below zero"
        return Finding("asm", Level.WARN, f"{group.name} tight", text, way, below)
    return None
