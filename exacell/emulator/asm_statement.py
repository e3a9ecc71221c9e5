"""Parses CREATE, ALTER and DROP DISKGROUP into frozen statements.

The grammar is that of reference asm.md section 2 (Oracle SQL Reference, "CREATE DISKGROUP" and its neighbours).
"""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm_model import Redundancy
from exacell.emulator.sql_tokens import TokenKind, TokenReader
from exacell.units import GIB, KIB, MIB, TIB


@dataclass(frozen=True, kw_only=True)
class DiskSpec:
    """One DISK string. ``fail_group`` None takes the cell's name; ``force`` None: neither FORCE nor NOFORCE given."""

    search: str
    fail_group: str | None = None
    quorum: bool = False
    name: str | None = None
    size_bytes: int | None = None
    force: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Rebalance:
    """A REBALANCE clause; ``power`` None takes ASM_POWER_LIMIT."""

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
    """ALTER DISKGROUP … ONLINE or OFFLINE; without disks and failure groups it means ALL."""

    name: str
    online: bool
    disks: tuple[str, ...] = ()
    fail_groups: tuple[str, ...] = ()
    wait: bool = False


@dataclass(frozen=True, kw_only=True)
class ResizeDisks:
    """ALTER DISKGROUP … RESIZE; without disks and failure groups it means ALL, without a size the grid disks' own."""

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
    """ALTER DISKGROUP … CHECK."""

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
_UNITS = {"K": KIB, "M": MIB, "G": GIB, "T": TIB}


def parse_statement(text: str) -> Statement:
    """Return the statement that ``text`` is; its first two words are already known to be one of these.

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


def _group_name(reader: TokenReader) -> str:
    if len(reader.here.value) > 30:
        raise reader.error(972)
    return reader.name(903)


def _create(reader: TokenReader) -> CreateGroup:
    name = _group_name(reader)
    redundancy = Redundancy.NORMAL
    if reader.here.is_word(*_REDUNDANCIES) and reader.ahead().is_word("REDUNDANCY", "SITE"):
        redundancy = _REDUNDANCIES[reader.take().value]
        if reader.accept("SITE"):
            reader.name(922)
        reader.expect("REDUNDANCY", 922)
    disks = _disk_clauses(reader)
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


def _disk_clauses(reader: TokenReader) -> tuple[DiskSpec, ...]:
    specs: list[DiskSpec] = []
    while reader.here.is_word("QUORUM", "REGULAR", "FAILGROUP", "DISK"):
        quorum = reader.accept("QUORUM")
        if not quorum:
            reader.accept("REGULAR")
        fail_group = reader.name(922) if reader.accept("FAILGROUP") else None
        reader.expect("DISK", 922)
        specs.append(_disk(reader, fail_group, quorum))
        while reader.accept_mark(","):
            specs.append(_disk(reader, fail_group, quorum))
    return tuple(specs)


def _disk(reader: TokenReader, fail_group: str | None, quorum: bool) -> DiskSpec:
    search = reader.text(922)
    name = _group_name(reader) if reader.accept("NAME") else None
    size = _size(reader) if reader.accept("SIZE") else None
    force = True if reader.accept("FORCE") else False if reader.accept("NOFORCE") else None
    return DiskSpec(search=search, fail_group=fail_group, quorum=quorum, name=name, size_bytes=size, force=force)


def _size(reader: TokenReader) -> int:
    number = reader.whole(922)
    if reader.here.is_word(*_UNITS):
        return number * _UNITS[reader.take().value]
    return number


def _drop(reader: TokenReader) -> DropGroup:
    name = _group_name(reader)
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
        names = (_group_name(reader),)
        while reader.accept_mark(","):
            names = (*names, _group_name(reader))
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
        size = _size(reader) if reader.accept("SIZE") else None
        return ResizeDisks(
            name=name, disks=disks, fail_groups=fail_groups, size_bytes=size, rebalance=_rebalance(reader)
        )
    if reader.here.is_word("ADD", "DROP"):
        return _change(reader, name)
    raise reader.error(922)


def _change(reader: TokenReader, name: str) -> ChangeDisks:
    add: tuple[DiskSpec, ...] = ()
    drop: list[str] = []
    fail_groups: list[str] = []
    force = False
    while reader.here.is_word("ADD", "DROP"):
        if reader.accept("ADD"):
            added = _disk_clauses(reader)
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


def _rebalance(reader: TokenReader) -> Rebalance:
    power: int | None = None
    wait = False
    reader.accept("REBALANCE")
    reader.accept("MODIFY")
    while reader.here.is_word("WITH", "WITHOUT", "POWER", "WAIT", "NOWAIT"):
        word = reader.take().value
        if word == "POWER":
            power = reader.whole(922)
        elif word in ("WITH", "WITHOUT"):
            reader.name(922)
            while reader.accept_mark(","):
                reader.name(922)
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
    if reader.accept("DROP", "AFTER"):
        reader.take()
        if reader.here.kind is TokenKind.NAME:
            reader.take()
    rebalance = _rebalance(reader)
    return SwitchDisks(name=name, online=online, disks=disks, fail_groups=fail_groups, wait=rebalance.wait)
