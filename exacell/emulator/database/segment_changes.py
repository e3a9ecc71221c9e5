"""CREATE, ALTER and DROP of tables and indexes on an emulated database: columns of tables, and the use of the flash cache.

Grammar::

    CREATE TABLE name (columns) [attribute ...]          CREATE [UNIQUE | BITMAP] INDEX name ON table (columns) [attribute ...]
    ALTER {TABLE | INDEX} name [{MODIFY | REBUILD} PARTITION p | MODIFY DEFAULT ATTRIBUTES] [ONLINE] STORAGE (option ...)
    ALTER TABLE name MOVE [PARTITION p] [attribute ...]      ALTER INDEX name REBUILD [PARTITION p] [attribute ...]
    DROP {TABLE | INDEX} name [CASCADE CONSTRAINTS] [PURGE]
    attribute := TABLESPACE t | STORAGE (option ...) | PCTFREE n | INITRANS n | NOLOGGING | LOGGING | PARALLEL [n] | ONLINE
    option    := CELL_FLASH_CACHE {DEFAULT | KEEP | NONE} | INITIAL size | NEXT size | ... as in Oracle's storage_clause

MOVE stores a table anew, so its indexes are UNUSABLE until they are rebuilt, except with ONLINE (12.2 and newer).
Everything else is refused: an external table because its directory does not exist (ORA-06564), a directory because nobody
may create one (ORA-01031). Source: Oracle Database SQL Language Reference; Oracle Database Error Messages.
"""

from __future__ import annotations

from dataclasses import replace

from exacell.core.units import KIB
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.tablespace_changes import check_room, check_tablespace
from exacell.emulator.database.views import user_tables
from exacell.emulator.sql.tokens import TokenKind, TokenReader
from exacell.emulator.storage.databases import Database
from exacell.emulator.storage.segments import CHOICES, DEFAULT, Segment, clause_shares, default_tablespace
from exacell.emulator.work.reading import blocks_of
from exacell.emulator.work.tables import SYS, UserTable, known_as, read_columns

SMALLEST = 64 * KIB
"""Size of a segment without data."""

_SIZED = ("INITIAL", "NEXT", "MINEXTENTS", "MAXEXTENTS", "PCTINCREASE", "FREELISTS", "MAXSIZE", "OPTIMAL")
_POOLS = ("BUFFER_POOL", "FLASH_CACHE")


def change_segments(instance: Instance, database: Database, statement: str) -> str:
    """Carry out a statement on tables or indexes; return the message.

    Raises:
        OraError: the statement is not in the grammar, an object is missing or exists already, or an option is wrong.
    """
    reader = TokenReader(statement)
    verb = reader.take().value
    if verb == "CREATE":
        message = _create(instance, database, reader)
    elif verb == "ALTER":
        message = _alter(instance, database, reader)
    else:
        message = _drop(instance, database, reader)
    name = next(name for name in instance.asm.rack.spec.db if name.upper() == database.name)
    instance.asm.rack.cache_clauses[name] = clause_shares(database.segments)
    return message


def segment_of(instance: Instance, table: UserTable) -> Segment | None:
    """Return the segment of a user's table."""
    found = instance.database.segments if instance.database is not None else []
    return next((s for s in found if (s.owner, s.name, s.kind) == (table.owner, table.name, "TABLE")), None)


def grown(instance: Instance, table: UserTable) -> None:
    """Make a table's segment as large as its rows need; it never shrinks, because no segment shrinks by itself."""
    segment = segment_of(instance, table)
    if segment is not None and instance.database is not None:
        size = max(segment.size_bytes, blocks_of(len(table), table.row_bytes))
        if size != segment.size_bytes:
            segment.size_bytes = size
            rack, database = instance.asm.rack, instance.database
            name = next(name for name in rack.spec.db if name.upper() == database.name)
            rack.cache_clauses[name] = clause_shares(database.segments)


def _object(reader: TokenReader) -> tuple[str, str]:
    """Read an object's name; return owner and name. The default owner is SYS, the connected user."""
    name = reader.name(903)
    return (name, reader.name(903)) if reader.accept_mark(".") else (SYS, name)


def _found(database: Database, owner: str, name: str, kind: str, at: int) -> list[Segment]:
    segments = [s for s in database.segments if (s.owner, s.name, s.kind) == (owner, name, kind)]
    if not segments:
        raise OraError(ora(942 if kind == "TABLE" else 1418), at=at)
    return segments


def _skip_parentheses(reader: TokenReader, code: int) -> None:
    reader.expect_mark("(", code)
    depth = 1
    while depth:
        if reader.here.kind is TokenKind.END:
            raise reader.error(907)
        token = reader.take()
        depth += token.is_mark("(") - token.is_mark(")")


def _create(instance: Instance, database: Database, reader: TokenReader) -> str:
    for word in ("UNIQUE", "BITMAP"):
        reader.accept(word)
    kind = reader.take().value
    at = reader.here.at
    owner, name = _object(reader)
    if any((s.owner, s.name) == (owner, name) for s in database.segments):
        raise OraError(ora(955), at=at)
    table = name
    if kind == "INDEX":
        reader.expect("ON", 969)
        at = reader.here.at
        above, table = _object(reader)
        _found(database, above, table, "TABLE", at)
    table_made = read_columns(reader, owner, name) if kind == "TABLE" else None
    if kind == "INDEX":
        _skip_parentheses(reader, 906)
    if kind == "TABLE" and reader.here.is_word("ORGANIZATION") and reader.ahead().is_word("EXTERNAL"):
        raise _no_directory(reader)
    segment = Segment(
        owner=owner, name=name, table=table, kind=kind, tablespace=default_tablespace(owner), size_bytes=SMALLEST
    )
    _attributes(instance, reader, segment)
    database.segments.append(segment)
    if table_made is not None:
        user_tables(instance)[table_made.known_as] = table_made
    return f"{kind.capitalize()} created."


def _no_directory(reader: TokenReader) -> OraError:
    """Return the error for an external table: the database does not have its default directory."""
    while reader.here.kind is not TokenKind.END:
        if reader.take().is_word("DEFAULT") and reader.accept("DIRECTORY"):
            return OraError(ora(6564, reader.name(903)))
    return reader.error(922)


def change_directories(statement: str) -> OraError:
    """Return the error for CREATE and DROP DIRECTORY: emulated databases have no directories, and nobody may create one."""
    reader = TokenReader(statement)
    if reader.take().is_word("DROP"):
        reader.take()
        return OraError(ora(4043, reader.name(903)))
    return OraError(ora(1031))


def _attributes(instance: Instance, reader: TokenReader, segment: Segment) -> None:
    while reader.here.kind is not TokenKind.END:
        if reader.accept("TABLESPACE"):
            at = reader.here.at
            segment.tablespace = check_tablespace(instance, reader.name(922), at)
        elif reader.accept("STORAGE"):
            segment.cell_flash_cache = _storage(reader) or segment.cell_flash_cache
        elif reader.accept("PCTFREE") or reader.accept("INITRANS"):
            reader.whole(922)
        elif reader.accept("PARALLEL"):
            if reader.here.kind is TokenKind.NUMBER:
                reader.take()
        elif not any(reader.accept(word) for word in ("NOLOGGING", "LOGGING", "NOPARALLEL", "ONLINE", "COMPRESS")):
            raise reader.error(922)


def _storage(reader: TokenReader) -> str:
    """Read a storage clause and return its CELL_FLASH_CACHE; empty if it has none."""
    reader.expect_mark("(", 906)
    chosen = ""
    while not reader.accept_mark(")"):
        if reader.accept("CELL_FLASH_CACHE"):
            if not reader.here.is_word(*CHOICES):
                raise reader.error(2143)
            chosen = reader.take().value
        elif reader.accept(*("FREELIST", "GROUPS")) or any(reader.accept(word) for word in _SIZED):
            if not reader.accept("UNLIMITED"):
                reader.whole(2143)
                if reader.here.is_word("K", "M", "G", "T"):
                    reader.take()
        elif any(reader.accept(word) for word in _POOLS):
            if not reader.here.is_word(DEFAULT, "KEEP", "RECYCLE", "NONE"):
                raise reader.error(2143)
            reader.take()
        else:
            raise reader.error(907 if reader.here.kind is TokenKind.END else 2143)
    return chosen


def _alter(instance: Instance, database: Database, reader: TokenReader) -> str:
    kind = reader.take().value
    at = reader.here.at
    owner, name = _object(reader)
    segments = _found(database, owner, name, kind, at)
    if reader.accept("MOVE" if kind == "TABLE" else "REBUILD"):
        _store_anew(instance, database, reader, segments)
        return f"{kind.capitalize()} altered."
    partition = ""
    if reader.accept("MODIFY", "PARTITION"):
        partition = reader.name(14006)
        segments = [segment for segment in segments if segment.partition == partition]
        if not segments:
            raise OraError(ora(2149))
    elif reader.accept("MODIFY", "DEFAULT", "ATTRIBUTES"):
        segments = []
    reader.accept("ONLINE")
    reader.expect("STORAGE", 922)
    chosen = _storage(reader)
    reader.done(922)
    for segment in segments:
        segment.cell_flash_cache = chosen or segment.cell_flash_cache
    return f"{kind.capitalize()} altered."


def _store_anew(instance: Instance, database: Database, reader: TokenReader, segments: list[Segment]) -> None:
    """Carry out MOVE of a table, or REBUILD of an index, after that word.

    Raises:
        OraError: ORA-14511, or for an index ORA-14086, if a partition has to be named; ORA-02149 for a wrong one; ORA-00959 and
            ORA-01652 for the tablespace; ORA-00922 for ONLINE of a table below 12.2.
    """
    table = segments[0].kind == "TABLE"
    if reader.accept("PARTITION"):
        partition = reader.name(14006)
        segments = [segment for segment in segments if segment.partition == partition]
        if not segments:
            raise OraError(ora(2149))
    elif segments[0].partition:
        raise OraError(ora(14511 if table else 14086))
    (old,) = segments
    online = [token.is_word("ONLINE") for token in reader.tokens[reader.position :]]
    if table and any(online) and instance.asm.version < (12, 2):
        raise reader.error(922)
    new = replace(old, unusable=False)
    _attributes(instance, reader, new)
    check_room(instance, database, new.tablespace, [new])
    database.segments[database.segments.index(old)] = new
    if not table:
        return
    spelled = next(name for name in instance.asm.rack.spec.db if name.upper() == database.name)
    for cell in instance.asm.rack.cells.values():
        if cell.flash_cache is not None:
            cell.flash_cache.tables.pop(f"{spelled}|{old.owner}.{old.name}", None)
    for index in database.segments:
        if index.kind == "INDEX" and (index.owner, index.table) == (old.owner, old.name) and not any(online):
            index.unusable = True


def _drop(instance: Instance, database: Database, reader: TokenReader) -> str:
    kind = reader.take().value
    at = reader.here.at
    owner, name = _object(reader)
    gone = _found(database, owner, name, kind, at)
    reader.accept("CASCADE", "CONSTRAINTS")
    reader.accept("PURGE")
    reader.done()
    if kind == "TABLE":
        gone += [s for s in database.segments if s.kind == "INDEX" and (s.owner, s.table) == (owner, name)]
        user_tables(instance).pop(known_as(owner, name), None)
    database.segments = [segment for segment in database.segments if segment not in gone]
    return f"{kind.capitalize()} dropped."
