"""CREATE and DROP TABLESPACE on an emulated database: one data file on a disk group, and what is stored in it.

Grammar::

    CREATE [BIGFILE | SMALLFILE] TABLESPACE name DATAFILE 'file' [SIZE n] [AUTOEXTEND {OFF | ON ...}] [, ...] [option ...]
    DROP TABLESPACE name [INCLUDING CONTENTS [{AND | KEEP} DATAFILES] [CASCADE CONSTRAINTS]]
    option := LOGGING | NOLOGGING | ONLINE | EXTENT MANAGEMENT LOCAL [AUTOALLOCATE] | SEGMENT SPACE MANAGEMENT {AUTO | MANUAL}

Files are named by Oracle (a disk group with its plus sign), so they go with their tablespace, also without AND DATAFILES.
Source: Oracle Database SQL Language Reference, CREATE TABLESPACE, DROP TABLESPACE; Oracle Database Error Messages.
"""

from __future__ import annotations

from dataclasses import replace

from exacell.core.units import GIB, KIB, MIB, TIB
from exacell.emulator.asm.default import new_file
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.views import user_tables
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.storage.databases import Database
from exacell.emulator.storage.disk_groups import DiskGroup
from exacell.emulator.storage.segments import DEFAULT_PERMANENT, DEFAULT_TEMPORARY, Segment, clause_shares
from exacell.emulator.work.placement import DATA, data_files
from exacell.emulator.work.tables import known_as

DEFAULT_BYTES = 100 * MIB
"""Size of a data file that Oracle names, if the statement gives none."""

_UNITS = {"K": KIB, "M": MIB, "G": GIB, "T": TIB}
_OPTIONS = (
    ("LOGGING",),
    ("NOLOGGING",),
    ("ONLINE",),
    ("EXTENT", "MANAGEMENT", "LOCAL"),
    ("AUTOALLOCATE",),
    ("SEGMENT", "SPACE", "MANAGEMENT", "AUTO"),
    ("SEGMENT", "SPACE", "MANAGEMENT", "MANUAL"),
)


def change_tablespaces(instance: Instance, database: Database, statement: str) -> str:
    """Carry out CREATE or DROP TABLESPACE; return the message.

    Raises:
        OraError: the statement is not in the grammar; the tablespace exists or does not exist; it is one that a database needs,
            or not empty; or its disk group is not mounted or has no room.
    """
    reader = TokenReader(statement)
    verb = reader.take().value
    if verb == "DROP":
        return _drop(instance, database, reader)
    bigfile = reader.accept("BIGFILE")
    reader.accept("SMALLFILE")
    return _create(instance, database, reader, bigfile=bigfile)


def check_tablespace(instance: Instance, name: str, at: int) -> str:
    """Return the name of a tablespace that exists.

    Raises:
        OraError: ORA-00959 if it does not.
    """
    if not data_files(instance, name):
        raise OraError(ora(959, name), at=at)
    return name


def check_room(instance: Instance, database: Database, name: str, moved: list[Segment]) -> None:
    """Raise OraError (ORA-01652) unless a tablespace has room for segments that are stored anew."""
    room = sum(file.size_bytes for _, file in data_files(instance, name)) - MIB
    used = sum(s.size_bytes for s in database.segments if s.tablespace == name)
    needed = sum(s.size_bytes for s in moved)
    if used + needed > room:
        raise OraError(ora(1652, 128, name))


def _create(instance: Instance, database: Database, reader: TokenReader, *, bigfile: bool) -> str:
    reader.expect("TABLESPACE", 901)
    at = reader.here.at
    name = reader.name(2180)
    if not reader.accept("DATAFILE"):
        raise reader.error(2199 if reader.here.kind is TokenKind.END else 2180)
    files = [_file(reader)]
    while reader.accept_mark(","):
        files.append(_file(reader))
    while any(reader.accept(*words) for words in _OPTIONS):
        pass
    reader.done(2180)
    if data_files(instance, name):
        raise OraError(ora(1543, name), at=at)
    groups = [_group(instance, target, size) for target, size in files]
    for group, (_, size) in zip(groups, files, strict=True):
        made = new_file(group, DATA, database.name, name, size, instance.asm.now())
        instance.asm.add_file(group, replace(made, bigfile=bigfile))
    database.change += 10
    return "Tablespace created."


def _file(reader: TokenReader) -> tuple[str, int]:
    """Read a data file and return its disk group, as written, and its size in bytes."""
    target, size = reader.text(2180), DEFAULT_BYTES
    if reader.accept("SIZE"):
        size = _size(reader)
    if reader.accept("AUTOEXTEND") and not reader.accept("OFF"):
        reader.expect("ON", 2180)
        if reader.accept("NEXT"):
            _size(reader)
        if reader.accept("MAXSIZE") and not reader.accept("UNLIMITED"):
            _size(reader)
    return target, size


def _size(reader: TokenReader) -> int:
    number = reader.whole(2180)
    return number * _UNITS[reader.take().value] if reader.here.is_word(*_UNITS) else number


def _group(instance: Instance, target: str, size: int) -> DiskGroup:
    name = target.removeprefix("+").split("/")[0].upper()
    group = instance.asm.groups.get(name)
    if not target.startswith("+") or group is None or instance.node not in group.mounted:
        raise OraError(ora(1119, target), ora(17502, target), ora(15001, name))
    if group.free_mb * MIB < size * group.redundancy.copies:
        raise OraError(ora(1119, target), ora(17502, target), ora(15041, name))
    return group


def _drop(instance: Instance, database: Database, reader: TokenReader) -> str:
    reader.take()
    at = reader.here.at
    name = reader.name(2180)
    if name == DEFAULT_TEMPORARY:
        raise OraError(ora(12906))
    check_tablespace(instance, name, at)
    contents = reader.accept("INCLUDING", "CONTENTS")
    if contents:
        if reader.accept("AND") or reader.accept("KEEP"):
            reader.expect("DATAFILES", 933)
        reader.accept("CASCADE", "CONSTRAINTS")
    reader.done()
    if name == "SYSTEM":
        raise OraError(ora(1550))
    if name == "SYSAUX":
        raise OraError(ora(13501))
    if name.startswith("UNDO"):
        raise OraError(ora(30013, name))
    if name == DEFAULT_PERMANENT:
        raise OraError(ora(12919))
    held = [segment for segment in database.segments if segment.tablespace == name]
    if held and not contents:
        raise OraError(ora(1549))
    tables = {(s.owner, s.name) for s in held if s.kind == "TABLE"}
    for owner, table in tables:
        user_tables(instance).pop(known_as(owner, table), None)
    database.segments = [s for s in database.segments if s not in held and (s.owner, s.table) not in tables]
    for group, file in data_files(instance, name):
        group.files.remove(file)
    spelled = next(each for each in instance.asm.rack.spec.db if each.upper() == database.name)
    instance.asm.rack.cache_clauses[spelled] = clause_shares(database.segments)
    return "Tablespace dropped."
