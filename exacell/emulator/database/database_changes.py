"""ALTER DATABASE and ALTER SYSTEM on an emulated database: redo logs and parameters.

Source: reference asm.md section 10.
"""

from __future__ import annotations

from dataclasses import replace

from exacell.core.units import (
    GIB,
    KIB,
    MIB,
    TIB,
)
from exacell.emulator.asm.default import new_file
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.db_rows import SETTABLE, parameters
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.storage.databases import (
    BLOCK_SIZES,
    CACHE_FILE,
    CACHE_SIZE,
    DEFAULT_LOG_BYTES,
    OVERRIDE,
    Database,
    RedoGroup,
)
from exacell.emulator.storage.disk_groups import DiskGroup

_UNITS = {"K": KIB, "M": MIB, "G": GIB, "T": TIB}


def alter_system_of_database(instance: Instance, database: Database, statement: str) -> str:
    """Carry out SWITCH LOGFILE, CHECKPOINT, ARCHIVE LOG CURRENT or SET; return the message.

    Raises:
        OraError: ORA-02065 for another option; ORA-02095 for a parameter that can't be changed while an instance runs; ORA-02097
            for a value that the parameter does not accept; ORA-32009 for a value in another instance's memory.
    """
    reader = TokenReader(statement)
    reader.take()
    reader.take()
    now = instance.asm.now()
    if reader.accept("SWITCH", "LOGFILE"):
        database.switch(instance.node + 1, now)
    elif reader.accept("CHECKPOINT"):
        if not reader.accept("GLOBAL"):
            reader.accept("LOCAL")
        database.checkpoint()
    elif reader.accept("ARCHIVE", "LOG"):
        if not reader.accept("CURRENT"):
            reader.expect("ALL", 2065)
        for thread in sorted({group.thread for group in database.redo}):
            database.switch(thread, now)
    elif reader.accept("FLUSH"):
        _flush(reader)
    elif reader.accept("REGISTER"):
        pass
    elif reader.accept("RESET"):
        _reset(instance, database, reader)
    elif reader.accept("SET"):
        _set(instance, database, reader)
    else:
        raise reader.error(2065)
    reader.done(2065)
    rack = instance.asm.rack
    name = next(name for name in rack.spec.db if name.upper() == database.name)
    rack.parameters[name] = dict(database.parameters)
    return "System altered."


def _flush(reader: TokenReader) -> None:
    """Skip the object of FLUSH; the emulator has none of the memory that it empties."""
    known = ("SHARED_POOL", "BUFFER_CACHE", "FLASH_CACHE", "GLOBAL", "REDO", "PASSWORDFILE_METADATA_CACHE")
    if not reader.here.is_word(*known):
        raise reader.error(2065)
    while reader.here.kind is not TokenKind.END:
        reader.take()


def _reset(instance: Instance, database: Database, reader: TokenReader) -> None:
    name = _settable(instance, reader)
    scope, sid = _scope(reader, "SPFILE")
    if scope != "SPFILE" and sid != instance.name:
        raise OraError(ora(32009, sid, instance.name))
    if scope != "MEMORY" and _file(database, sid).pop(name, None) is None:
        raise OraError(ora(32010))
    if scope != "SPFILE":
        _memory(database, sid).pop(name, None)


def _settable(instance: Instance, reader: TokenReader) -> str:
    """Read the name of a parameter and return it.

    Raises:
        OraError: ORA-02095 for a parameter that the emulated database only shows, ORA-02065 for one that it does not have.
    """
    at = reader.here.at
    name = reader.name(2065).lower()
    if name not in SETTABLE and name != OVERRIDE:
        raise OraError(ora(2095 if name in parameters(instance) else 2065), at=at)
    return name


def _set(instance: Instance, database: Database, reader: TokenReader) -> None:
    if reader.accept("EVENTS"):
        reader.accept_mark("=")
        reader.text(2065)
        return
    name = _settable(instance, reader)
    reader.expect_mark("=", 927)
    given = reader.take().value
    if reader.here.kind is TokenKind.NAME and reader.here.value in _UNITS and given.isdigit():
        given = str(int(given) * _UNITS[reader.take().value])
    value = given.upper()
    if reader.accept("COMMENT"):
        reader.expect_mark("=", 927)
        reader.take()
    scope, sid = _scope(reader, "BOTH")
    kept = value if name == OVERRIDE or SETTABLE[name][0] == 1 else given
    if name == OVERRIDE and value not in ("TRUE", "FALSE"):
        raise OraError(ora(2097))
    if scope != "SPFILE" and name == CACHE_FILE:
        raise OraError(ora(2095))
    if scope != "SPFILE" and name == CACHE_SIZE and value not in ("0", str(instance.asm.rack.spec.dbcache)):
        raise OraError(ora(2097))  # 0, or the size that it was started with.
    if scope != "SPFILE":
        if sid == "*":
            _stay(instance, database, name)
        _memory(database, sid)[name] = kept
        if name == CACHE_SIZE and value == "0":
            instance.asm.rack.work.forget_own(database.name)
    if scope != "MEMORY":
        _file(database, sid)[name] = kept


def _stay(instance: Instance, database: Database, name: str) -> None:
    """Keep the present value in each instance that has its own spfile entry: a value for all instances does not replace it."""
    for node in range(len(instance.asm.nodes)):
        one = replace(instance, node=node)
        kept = parameters(one).get(name, (0, None))[1]
        if name in database.own_spfile.get(one.name, {}) and kept is not None:
            database.own.setdefault(one.name, {}).setdefault(name, kept)


def _memory(database: Database, sid: str) -> dict[str, str]:
    return database.parameters if sid == "*" else database.own.setdefault(sid, {})


def _file(database: Database, sid: str) -> dict[str, str]:
    return database.spfile if sid == "*" else database.own_spfile.setdefault(sid, {})


def _scope(reader: TokenReader, scope: str) -> tuple[str, str]:
    """Read SCOPE and SID; return where a parameter is changed (default ``scope``) and in which instance (``*`` for all).

    Source: Oracle SQL Language Reference, ALTER SYSTEM, SCOPE and SID, on an instance that was started by an spfile.
    """
    sid = "*"
    while reader.here.is_word("SCOPE", "SID"):
        word = reader.take().value.upper()
        reader.expect_mark("=", 927)
        given = reader.take().value
        if word == "SCOPE":
            scope = given.upper()
        else:
            sid = given
    return scope, sid


def alter_database(instance: Instance, database: Database, statement: str) -> str:
    """Carry out ADD [STANDBY] LOGFILE or DROP [STANDBY] LOGFILE GROUP; return the message.

    Raises:
        OraError: an error of section 10 of the reference, or ORA-00922 for another option.
    """
    reader = TokenReader(statement)
    reader.take()
    reader.take()
    adds = reader.accept("ADD")
    if not adds:
        reader.expect("DROP", 922)
    standby = reader.accept("STANDBY")
    reader.expect("LOGFILE", 922)
    if adds:
        _add_log(instance, database, reader, standby=standby)
    else:
        reader.expect("GROUP", 922)
        number = reader.whole(922)
        reader.done()
        _drop_log(instance, database, number, standby=standby)
    return "Database altered."


def _add_log(instance: Instance, database: Database, reader: TokenReader, *, standby: bool) -> None:
    thread = instance.node + 1
    numbers = [group.number for group in (*database.redo, *database.standby)]
    number = max(numbers, default=0) + 1
    if reader.accept("INSTANCE"):
        reader.take()
    if reader.accept("THREAD"):
        thread = reader.whole(922)
    if reader.accept("GROUP"):
        at = reader.here.at
        number = reader.whole(922)
        if number in numbers:
            raise OraError(ora(1184, number), at=at)
    targets = _targets(reader)
    size = _size(reader) if reader.accept("SIZE") else DEFAULT_LOG_BYTES
    block_size: int | None = None
    if reader.accept("BLOCKSIZE"):
        block_size = _size(reader)
    reader.accept("REUSE")
    reader.done()
    targets = targets or [f"+{instance.asm.cluster.data}"]
    groups = [_group(instance, target) for target in targets]
    checked = database.in_memory(instance.name).get(OVERRIDE) != "TRUE"
    block = _checked_block(block_size, groups, targets[0], checked=checked)
    for group in groups:
        if group.free_mb * MIB < size * group.redundancy.copies:
            raise OraError(ora(17502, f"+{group.name}"), ora(15041, group.name))
    now = instance.asm.now()
    members = [
        instance.asm.add_file(group, new_file(group, "ONLINELOG", database.name, f"group_{number}", size, now, block))
        for group in groups
    ]
    (database.standby if standby else database.redo).append(
        RedoGroup(
            number=number,
            thread=thread,
            sequence=0,
            size_bytes=size,
            block_size=block,
            members=members,
            status="UNASSIGNED" if standby else "UNUSED",
            archived=True,
            first_change=0,
            first_time=now,
        )
    )


def _targets(reader: TokenReader) -> list[str]:
    if reader.here.kind is TokenKind.TEXT:
        return [reader.take().value]
    targets: list[str] = []
    if reader.accept_mark("("):
        targets.append(reader.text(922))
        while reader.accept_mark(","):
            targets.append(reader.text(922))
        reader.expect_mark(")", 907)
    return targets


def _size(reader: TokenReader) -> int:
    number = reader.whole(922)
    return number * _UNITS[reader.take().value] if reader.here.is_word(*_UNITS) else number


def _group(instance: Instance, target: str) -> DiskGroup:
    name = target.removeprefix("+").split("/")[0].upper()
    group = instance.asm.groups.get(name)
    if not target.startswith("+") or group is None or instance.node not in group.mounted:
        raise OraError(ora(17502, target), ora(15001, name))
    return group


def _checked_block(asked: int | None, groups: list[DiskGroup], target: str, *, checked: bool) -> int:
    """Return the block size of a new log in bytes: the sector size of its group, unless another one is asked for and allowed.

    Raises:
        OraError: ORA-01378 if the sectors have another size; ORA-15347 if it is below the group's sector size.
    """
    sector = int(groups[0].attributes["sector_size"])
    if asked is None:
        return sector
    if asked not in BLOCK_SIZES:
        raise OraError(ora(1378, asked, target, sector, sector))
    if asked < sector:
        raise OraError(ora(17502, target), ora(15347, asked, sector))
    if asked != sector and checked:
        raise OraError(ora(1378, asked, target, sector, sector))
    return asked


def _drop_log(instance: Instance, database: Database, number: int, *, standby: bool) -> None:
    """Drop a group; its members are files that Oracle manages, so they are deleted too."""
    group = database.group(number, standby=True) if standby else database.check_drop(number)
    for member in group.members:
        name, _, rest = member.removeprefix("+").partition("/")
        holder = instance.asm.groups.get(name)
        if holder is not None:
            alias = rest.rpartition("/")[2]
            holder.files = [file for file in holder.files if file.alias != alias]
    (database.standby if standby else database.redo).remove(group)
