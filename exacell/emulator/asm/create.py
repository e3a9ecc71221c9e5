"""CREATE DISKGROUP; also turns DISK strings into disks, for CREATE and for ADD DISK.

Source: reference asm.md sections 2, 4, 5 and 8; Oracle Exadata system software guide, "Creating Oracle Exadata disk
groups" for the paths and the default names.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence

from exacell.core.units import MIB
from exacell.emulator.asm.attributes import defaults, set_attribute
from exacell.emulator.asm.disk_clauses import DiskSpec
from exacell.emulator.asm.instance import Asm, Discovered
from exacell.emulator.asm.statement import CreateGroup
from exacell.emulator.basics.ora_messages import OraError, OraLine, ora
from exacell.emulator.basics.versions import parse_version
from exacell.emulator.storage.disk_groups import AsmDisk, DiskGroup, Header, HeaderStatus, Redundancy

MOST_GROUPS = 63
MOST_CAUSES = 20
"""The most lines for causes of one kind in an error stack."""

_LEAST_UNITS = 7
"""Allocation units below which a disk can't be used."""

_APPLIANCE_DISKS = (4, 6, 10, 12)
"""Numbers of disks in a failure group that appliance.mode accepts. Source: reference asm.md section 3."""


def create_group(asm: Asm, node: int, statement: CreateGroup) -> DiskGroup:
    """Create a disk group and mount it on that node only.

    Raises:
        OraError: ORA-15018 followed by the reason: ORA-15030, 15068, 15067, 15072, an attribute's error, or one of
            :func:`members_for`.
    """
    wrapper, name = ora(15018), statement.name
    if name in asm.groups:
        raise OraError(wrapper, ora(15030, name))
    if len(asm.groups) >= MOST_GROUPS:
        raise OraError(wrapper, ora(15068, MOST_GROUPS))
    if statement.redundancy in (Redundancy.FLEX, Redundancy.EXTEND) and asm.version < (12, 2):
        raise OraError(ora(922))
    attributes = _attributes(asm, statement.attributes, wrapper)
    group = DiskGroup(
        name=name,
        redundancy=statement.redundancy,
        au_bytes=int(attributes["au_size"]),
        created=asm.now(),
        attributes=attributes,
    )
    if statement.redundancy is Redundancy.EXTERN and any(spec.fail_group for spec in statement.disks):
        raise OraError(wrapper, ora(15067))
    members = members_for(asm, statement.disks, group, wrapper=wrapper)
    for number, disk in enumerate(members):
        disk.number = number
        group.disks[disk.name] = disk
    least, found = statement.redundancy.least_fail_groups, len(group.fail_groups())
    if found < least:
        raise OraError(wrapper, ora(15072, least, found))
    _appliance_mode(asm, group, statement, wrapper)
    for disk in members:
        asm.headers[disk.cell, disk.grid_disk] = Header(
            status=HeaderStatus.MEMBER,
            group=name,
            disk=disk.name,
            fail_group=disk.fail_group,
            redundancy=group.redundancy.value,
        )
    asm.groups[name] = group
    asm.mount(group, node)
    return group


def _attributes(asm: Asm, given: Sequence[tuple[str, str]], wrapper: OraLine) -> dict[str, str]:
    """Return the new group's attributes; compatible.asm is read first, since others depend on it."""
    values = defaults(asm.version)
    order = {"compatible.asm": 0, "compatible.rdbms": 1}
    for name, value in sorted(given, key=lambda pair: order.get(pair[0].lower(), 2)):
        values = set_attribute(values, name, value, creating=True, software=asm.version, wrapper=wrapper)
    if parse_version(values["compatible.rdbms"]) > parse_version(values["compatible.asm"]):
        raise OraError(wrapper, ora(15221, values["compatible.rdbms"]))
    return values


def _appliance_mode(asm: Asm, group: DiskGroup, statement: CreateGroup, wrapper: OraLine) -> None:
    """Set appliance.mode if the group qualifies; raise OraError if the statement asks for it and the group does not qualify."""
    asked = {name.lower(): value.upper() for name, value in statement.attributes}.get("appliance.mode")
    if asked == "FALSE":
        return
    flash = {disk.name: disk.flash for disk in asm.discover()}
    kinds = {flash[disk.grid_disk] for disk in group.disks.values()}
    counts: dict[str, int] = {}
    for disk in group.disks.values():
        counts[disk.fail_group] = counts.get(disk.fail_group, 0) + 1
    per_group = set(counts.values())
    even = len(per_group) == 1 and per_group <= set(_APPLIANCE_DISKS) and len(counts) >= 3
    even = even and len({disk.size_mb for disk in group.disks.values()}) == 1
    if asked == "TRUE" and len(kinds) > 1:
        raise OraError(wrapper, ora(15409))
    if asked == "TRUE" and not even:
        raise OraError(wrapper, ora(15414))
    compatible = parse_version(group.attributes["compatible.asm"])
    new_enough = compatible >= (12, 1, 0, 2) or (11, 2, 0, 4) <= compatible < (12,)
    scans = group.attributes["cell.smart_scan_capable"] == "TRUE"
    if asked == "TRUE" or (even and len(kinds) == 1 and new_enough and scans):
        group.attributes = {**group.attributes, "appliance.mode": "TRUE"}


def members_for(asm: Asm, specs: Sequence[DiskSpec], group: DiskGroup, *, wrapper: OraLine) -> list[AsmDisk]:
    """Return new disks of ``group`` for the DISK strings, by cell and name; nothing is changed.

    Raises:
        OraError: ``wrapper`` over ORA-15014, 15031, 15029, 15033, 15034, 15010, 15019, 15020, 15407, 15030, 15036 or 15037.
    """
    seen = list(visible(asm)) if specs else []
    chosen: list[tuple[Discovered, DiskSpec]] = []
    causes: list[OraLine] = []
    for spec in specs:
        matches = [disk for disk in seen if _matches(spec.search, disk.path)]
        usable, used = _sort_out(asm, matches, spec)
        wild = _is_wild(spec.search)
        if not matches:
            outside = not in_discovery_set(asm, spec.search) and not wild
            causes += [*([ora(15014, spec.search)] if outside else []), ora(15031, spec.search)]
        elif not usable and wild:
            causes += [ora(15031, spec.search), *used[:MOST_CAUSES]]
        elif used:
            causes += used[:MOST_CAUSES]
        elif spec.name is not None and len(usable) > 1:
            causes.append(ora(15407, spec.search))
        chosen += [(disk, spec) for disk in usable]
    if causes:
        raise OraError(wrapper, *causes)
    return _build(asm, group, chosen, wrapper)


def _build(
    asm: Asm, group: DiskGroup, chosen: Sequence[tuple[Discovered, DiskSpec]], wrapper: OraLine
) -> list[AsmDisk]:
    disks: dict[str, AsmDisk] = {}
    paths: set[str] = set()
    for found, spec in chosen:
        name = spec.name or found.name.upper()
        if found.path in paths:
            raise OraError(wrapper, ora(15019, found.path, name))
        if name in group.disks:
            raise OraError(wrapper, ora(15010, name))
        if name in disks:
            raise OraError(wrapper, ora(15020, name))
        paths.add(found.path)
        size = found.size_mb if spec.size_bytes is None else spec.size_bytes // MIB
        if size > found.size_mb:
            raise OraError(wrapper, ora(15036, found.path, found.size_mb, size))
        if size < _LEAST_UNITS * group.au_mb:
            raise OraError(wrapper, ora(15037, found.path, size, _LEAST_UNITS * group.au_mb))
        disks[name] = AsmDisk(
            number=0,
            name=name,
            fail_group=_fail_group(group, found, spec, name),
            cell=found.cell,
            grid_disk=found.name,
            size_mb=size // group.au_mb * group.au_mb,
            created=asm.now(),
            quorum=spec.quorum,
        )
    return list(disks.values())


def _fail_group(group: DiskGroup, found: Discovered, spec: DiskSpec, name: str) -> str:
    """Return the failure group of a disk: as given, else the cell's name; in an EXTERNAL group, the disk's own name."""
    if spec.fail_group is not None:
        return spec.fail_group
    return name if group.redundancy is Redundancy.EXTERN else found.fail_group


def _sort_out(asm: Asm, matches: Sequence[Discovered], spec: DiskSpec) -> tuple[list[Discovered], list[OraLine]]:
    """Split the matches into disks that may be used and error lines, one for each disk that may not."""
    usable: list[Discovered] = []
    used: list[OraLine] = []
    for disk in matches:
        header = asm.header(disk.cell, disk.name)
        if header is None or header.status is not HeaderStatus.MEMBER:
            if spec.force:
                used.append(ora(15034, disk.path))
            else:
                usable.append(disk)
            continue
        owner = asm.groups.get(header.group)
        if owner is not None and owner.mounted and owner.disk_of(disk.cell, disk.name) is not None:
            used.append(ora(15029, disk.path))
        elif spec.force:
            usable.append(disk)
        else:
            used.append(ora(15033, disk.path, header.group))
    return usable, used


def _is_wild(search: str) -> bool:
    return any(mark in search for mark in "*?[")


def _matches(search: str, path: str) -> bool:
    """Return whether a DISK string matches a path, part by part; case counts, and ``*`` does not match a slash."""
    wanted, parts = search.split("/"), path.split("/")
    return len(wanted) == len(parts) and all(fnmatch.fnmatchcase(p, w) for w, p in zip(wanted, parts, strict=True))


def in_discovery_set(asm: Asm, search: str) -> bool:
    """Return whether a path lies inside ASM_DISKSTRING; an empty ASM_DISKSTRING includes all grid disks."""
    strings = _strings(asm.parameters["asm_diskstring"])
    return any(_matches(string, search) for string in strings or ["o/*/*"])


def _strings(parameter: str) -> list[str]:
    return [part for part in re.split(r"\s*,\s*", parameter.strip()) if part]


def visible(asm: Asm) -> Iterator[Discovered]:
    """Yield the grid disks inside ASM_DISKSTRING."""
    return (disk for disk in asm.discover() if in_discovery_set(asm, disk.path))
