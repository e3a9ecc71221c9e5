"""Parses CREATE, ALTER and DROP DISKGROUP into frozen statements. Source: reference asm.md section 2; Oracle SQL Reference."""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm.disk_clauses import DiskSpec, disk_clauses, group_name, size_of
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql.tokens import TokenReader
from exacell.emulator.storage.disk_groups import Redundancy


@dataclass(frozen=True, kw_only=True)
class Rebalance:
    """A REBALANCE clause; ``power`` None means ASM_POWER_LIMIT."""

    power: int | None = None
    wait: bool = False


@dataclass(frozen=True, kw_only=True)
class CreateGroup:
    """CREATE DISKGROUP."""

    name: str
    redundancy: Redundancy
    disks: tuple[DiskSpec, ...]
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class DropGroup:
    """DROP DISKGROUP."""

    name: str
    including: bool = False
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class MountGroup:
    """ALTER DISKGROUP … MOUNT or DISMOUNT; no names means ALL."""

    names: tuple[str, ...]
    mount: bool
    force: bool = False
    restricted: bool = False


@dataclass(frozen=True, kw_only=True)
class ChangeDisks:
    """ALTER DISKGROUP … ADD and DROP clauses and UNDROP, with the rebalance that follows."""

    name: str
    add: tuple[DiskSpec, ...] = ()
    drop: tuple[str, ...] = ()
    drop_fail_groups: tuple[str, ...] = ()
    force: bool = False
    undrop: bool = False
    rebalance: Rebalance = Rebalance()


@dataclass(frozen=True, kw_only=True)
class RebalanceGroup:
    """ALTER DISKGROUP … REBALANCE."""

    name: str
    rebalance: Rebalance


@dataclass(frozen=True, kw_only=True)
class SwitchDisks:
    """ALTER DISKGROUP … ONLINE or OFFLINE; without disks and failure groups it means all disks."""

    name: str
    online: bool
    disks: tuple[str, ...] = ()
    fail_groups: tuple[str, ...] = ()
    wait: bool = False
    drop_after: float | None = None


@dataclass(frozen=True, kw_only=True)
class ResizeDisks:
    """ALTER DISKGROUP … RESIZE; without disks and failure groups it means all disks, without a size that of the grid disks."""

    name: str
    disks: tuple[str, ...] = ()
    fail_groups: tuple[str, ...] = ()
    size_bytes: int | None = None
    rebalance: Rebalance = Rebalance()


@dataclass(frozen=True, kw_only=True)
class SetAttribute:
    """ALTER DISKGROUP … SET ATTRIBUTE."""

    name: str
    attribute: str
    value: str


@dataclass(frozen=True, kw_only=True)
class CheckGroup:
    """ALTER DISKGROUP … CHECK, SCRUB and other clauses without a visible effect."""

    name: str


Statement = (
    CreateGroup
    | DropGroup
    | MountGroup
    | ChangeDisks
    | RebalanceGroup
    | SwitchDisks
    | ResizeDisks
    | SetAttribute
    | CheckGroup
)

_REDUNDANCIES = {
    "NORMAL": Redundancy.NORMAL,
    "HIGH": Redundancy.HIGH,
    "EXTERNAL": Redundancy.EXTERN,
    "FLEX": Redundancy.FLEX,
    "EXTENDED": Redundancy.EXTEND,
}


def parse_statement(text: str) -> Statement:
    """Parse a disk group statement; the caller has checked its first two words.

    Raises:
        OraError: a grammar error at the offending token.
    """
    reader = TokenReader(text)
    verb = reader.take().value
    reader.expect("DISKGROUP", 901)
    if verb == "CREATE":
        statement: Statement = _create(reader)
    elif verb == "DROP":
        statement = _drop(reader)
    else:
        statement = _alter(reader)
    reader.done()
    return statement


def _create(reader: TokenReader) -> CreateGroup:
    name = group_name(reader)
    redundancy = Redundancy.NORMAL
    if reader.here.is_word(*_REDUNDANCIES) and reader.ahead().is_word("REDUNDANCY", "SITE"):
        redundancy = _REDUNDANCIES[reader.take().value]
        if reader.accept("SITE"):
            reader.name(922)
        reader.expect("REDUNDANCY", 922)
    disks = disk_clauses(reader)
    if not disks:
        raise reader.error(922)
    attributes: list[tuple[str, str]] = []
    if reader.accept("ATTRIBUTE"):
        attributes.append(_attribute(reader))
        while reader.accept_mark(","):
            attributes.append(_attribute(reader))
    return CreateGroup(name=name, redundancy=redundancy, disks=disks, attributes=tuple(attributes))


def _attribute(reader: TokenReader) -> tuple[str, str]:
    name = reader.text(922)
    reader.expect_mark("=", 922)
    return name, reader.text(922)


def _drop(reader: TokenReader) -> DropGroup:
    name = group_name(reader)
    force = reader.accept("FORCE")
    including = reader.accept("INCLUDING")
    if including or reader.accept("EXCLUDING"):
        reader.expect("CONTENTS", 950)
    if force and not including:
        raise reader.error(950)
    return DropGroup(name=name, including=including, force=force)


def _alter(reader: TokenReader) -> Statement:
    names: tuple[str, ...] = ()
    if not reader.accept("ALL"):
        names = (group_name(reader),)
        while reader.accept_mark(","):
            names = (*names, group_name(reader))
    if reader.here.is_word("MOUNT", "DISMOUNT"):
        return _mount(reader, names)
    if len(names) != 1:
        raise reader.error(922)
    return _alter_one(reader, names[0])


def _mount(reader: TokenReader, names: tuple[str, ...]) -> MountGroup:
    mount = reader.take().value == "MOUNT"
    restricted = mount and reader.accept("RESTRICTED")
    if mount and not restricted:
        reader.accept("NORMAL")
    force = reader.accept("FORCE")
    if not force:
        reader.accept("NOFORCE")
    return MountGroup(names=names, mount=mount, force=force, restricted=restricted)


def _alter_one(reader: TokenReader, name: str) -> Statement:
    if reader.accept("SET", "ATTRIBUTE"):
        attribute, value = _attribute(reader)
        return SetAttribute(name=name, attribute=attribute, value=value)
    if reader.accept("SCRUB"):
        return _scrub(reader, name)
    if reader.accept("CHECK"):
        while reader.here.is_word("ALL", "REPAIR", "NOREPAIR"):
            reader.take()
        return CheckGroup(name=name)
    if reader.here.is_word("REBALANCE"):
        return RebalanceGroup(name=name, rebalance=_rebalance(reader))
    if reader.accept("UNDROP", "DISKS"):
        return ChangeDisks(name=name, undrop=True)
    if reader.here.is_word("ONLINE", "OFFLINE"):
        return _switch(reader, name)
    if reader.accept("RESIZE"):
        disks, fail_groups = _selection(reader)
        size = size_of(reader) if reader.accept("SIZE") else None
        return ResizeDisks(
            name=name, disks=disks, fail_groups=fail_groups, size_bytes=size, rebalance=_rebalance(reader)
        )
    if reader.here.is_word(*_MORE) or (reader.here.is_word("ADD", "DROP") and reader.ahead().is_word(*_KINDS)):
        clause = f"ALTER DISKGROUP {reader.here.value} {reader.ahead().value}"
        raise OraError(ora(439, f"{clause} is not emulated"), at=reader.here.at)
    if reader.here.is_word("ADD", "DROP"):
        return _change(reader, name)
    raise reader.error(922)


_MORE = ("CONVERT", "DISABLE", "ENABLE", "MODIFY", "MOVE", "RENAME", "REPLACE", "SET")
_KINDS = ("ALIAS", "DIRECTORY", "FILE", "FILEGROUP", "QUOTAGROUP", "TEMPLATE", "USER", "USERGROUP", "VOLUME")
"""Clauses of ALTER DISKGROUP on names, templates, users, volumes and file groups; how such clauses begin."""


def _scrub(reader: TokenReader, name: str) -> CheckGroup:
    """Parse SCRUB [FILE f | DISK d] [REPAIR | NOREPAIR] [POWER AUTO|LOW|HIGH|MAX] [WAIT | NOWAIT] [FORCE | NOFORCE] [STOP]."""
    if reader.accept("FILE"):
        reader.text(922)
    elif reader.accept("DISK"):
        reader.name(922)
    while reader.here.is_word("REPAIR", "NOREPAIR", "POWER", "WAIT", "NOWAIT", "FORCE", "NOFORCE", "STOP"):
        if reader.take().value == "POWER" and not reader.here.is_word("AUTO", "LOW", "HIGH", "MAX"):
            raise reader.error(922)
        if reader.here.is_word("AUTO", "LOW", "HIGH", "MAX"):
            reader.take()
    return CheckGroup(name=name)


def _change(reader: TokenReader, name: str) -> ChangeDisks:
    add: tuple[DiskSpec, ...] = ()
    drop: list[str] = []
    fail_groups: list[str] = []
    force = False
    while reader.here.is_word("ADD", "DROP"):
        if reader.accept("ADD"):
            added = disk_clauses(reader)
            if not added:
                raise reader.error(922)
            add += added
            continue
        reader.take()
        if reader.accept("DISKS", "IN"):
            reader.accept("QUORUM")
            reader.expect("FAILGROUP", 922)
            into = fail_groups
        else:
            reader.expect("DISK", 922)
            into = drop
        while True:
            into.append(reader.name(922))
            if reader.accept("FORCE"):
                force = True
            else:
                reader.accept("NOFORCE")
            if not reader.accept_mark(","):
                break
    return ChangeDisks(
        name=name,
        add=add,
        drop=tuple(drop),
        drop_fail_groups=tuple(fail_groups),
        force=force,
        rebalance=_rebalance(reader),
    )


_PHASES = ("RESTORE", "BALANCE", "PREPARE", "COMPACT")


def _phases(reader: TokenReader) -> None:
    """Skip the phases of a rebalance; the emulator always does all of them."""
    if not reader.here.is_word(*_PHASES):
        raise reader.error(922)
    while reader.here.is_word(*_PHASES):
        reader.take()
        reader.accept_mark(",")


def _rebalance(reader: TokenReader) -> Rebalance:
    power: int | None = None
    wait = False
    reader.accept("REBALANCE")
    reader.accept("MODIFY")
    if reader.here.is_word(*_PHASES):
        _phases(reader)
    while reader.here.is_word("WITH", "WITHOUT", "POWER", "WAIT", "NOWAIT"):
        word = reader.take().value
        if word == "POWER":
            power = reader.whole(922)
        elif word in ("WITH", "WITHOUT"):
            _phases(reader)
        else:
            wait = word == "WAIT"
    return Rebalance(power=power, wait=wait)


def _selection(reader: TokenReader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (disks, failure groups) of ``ALL | DISK d, … | DISKS IN FAILGROUP f``."""
    if reader.accept("ALL"):
        return (), ()
    if reader.accept("DISKS", "IN"):
        reader.accept("QUORUM")
        reader.expect("FAILGROUP", 922)
        return (), _names(reader)
    if not reader.accept("DISK"):
        reader.expect("DISKS", 922)
    return _names(reader), ()


def _names(reader: TokenReader) -> tuple[str, ...]:
    names = [reader.name(922)]
    while reader.accept_mark(","):
        names.append(reader.name(922))
    return tuple(names)


def _switch(reader: TokenReader, name: str) -> SwitchDisks:
    online = reader.take().value == "ONLINE"
    disks, fail_groups = _selection(reader)
    if not online and not disks and not fail_groups:
        raise reader.error(922)
    drop_after: float | None = None
    if reader.accept("DROP", "AFTER"):
        count = reader.whole(922)
        if not reader.here.is_word("M", "H"):
            raise reader.error(922)
        drop_after = count * (60.0 if reader.take().value == "M" else 3600.0)
    wait = _rebalance(reader).wait
    return SwitchDisks(name=name, online=online, disks=disks, fail_groups=fail_groups, wait=wait, drop_after=drop_after)
