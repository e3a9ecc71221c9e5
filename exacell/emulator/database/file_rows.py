"""The rows of the views of a database's files: data files, temporary files, control files, tablespaces.

Columns follow the Oracle Database Reference (V$DATAFILE, V$TEMPFILE, V$CONTROLFILE, V$TABLESPACE, DBA_DATA_FILES).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exacell.emulator.asm.instances import Instance
from exacell.emulator.sql.values import Value, from_epoch
from exacell.emulator.storage.disk_groups import AsmFile


def _files(instance: Instance, kind: str) -> list[tuple[str, AsmFile]]:
    """Return the full names and the files of one kind that the database has, by file number."""
    database = instance.database
    if database is None:
        return []
    found = [
        (f"+{group.name}/{'/'.join(file.directories)}/{file.alias}", file)
        for group in instance.asm.groups.values()
        for file in group.files
        if file.kind == kind and file.database == database.name
    ]
    return sorted(found, key=lambda pair: pair[1].number)


def _tablespaces(instance: Instance) -> dict[str, int]:
    """Return each tablespace's number by name; temporary tablespaces come last."""
    names = [file.tag for kind in ("DATAFILE", "TEMPFILE") for _, file in _files(instance, kind)]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _of_file(number: int, name: str, file: AsmFile, spaces: Mapping[str, int]) -> dict[str, Value]:
    """Return the columns that V$DATAFILE and V$TEMPFILE share; ``spaces`` has the number of each tablespace."""
    return {
        "FILE#": number,
        "CREATION_TIME": from_epoch(file.created),
        "TS#": spaces[file.tag],
        "RFILE#": number,
        "STATUS": "ONLINE",
        "ENABLED": "READ WRITE",
        "BYTES": file.size_bytes,
        "BLOCKS": file.size_bytes // file.block_size,
        "BLOCK_SIZE": file.block_size,
        "NAME": name,
    }


def data_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$DATAFILE."""
    spaces, database = _tablespaces(instance), instance.database
    for number, (name, file) in enumerate(_files(instance, "DATAFILE"), start=1):
        yield {
            **_of_file(number, name, file, spaces),
            "STATUS": "SYSTEM" if file.tag == "SYSTEM" else "ONLINE",
            "CHECKPOINT_CHANGE#": database.change if database else 0,
            "CREATE_BYTES": file.size_bytes,
        }


def temporary_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$TEMPFILE."""
    spaces = _tablespaces(instance)
    for number, (name, file) in enumerate(_files(instance, "TEMPFILE"), start=1):
        yield _of_file(number, name, file, spaces)


def control_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$CONTROLFILE."""
    for name, file in _files(instance, "CONTROLFILE"):
        blocks = file.size_bytes // file.block_size
        yield {
            "NAME": name,
            "IS_RECOVERY_DEST_FILE": "YES" if name.startswith(f"+{instance.asm.cluster.reco}/") else "NO",
            "BLOCK_SIZE": file.block_size,
            "FILE_SIZE_BLKS": blocks,
        }


def tablespaces(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$TABLESPACE."""
    big = {file.tag for _, file in _files(instance, "DATAFILE") if file.bigfile}
    for name, number in _tablespaces(instance).items():
        yield {
            "TS#": number,
            "NAME": name,
            "INCLUDED_IN_DATABASE_BACKUP": "NO" if name.startswith("TEMP") else "YES",
            "BIGFILE": "YES" if name in big else "NO",
            "FLASHBACK_ON": "YES",
        }


def dictionary_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_DATA_FILES."""
    yield from _in_dictionary(instance, "DATAFILE")


def dictionary_temporary_files(instance: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of DBA_TEMP_FILES."""
    for row in _in_dictionary(instance, "TEMPFILE"):
        yield {**row, "STATUS": "ONLINE"}


def no_statements(_: Instance) -> Iterator[Mapping[str, Value]]:
    """Yield the rows of V$SQL; there are none, because a load is computed and runs no statements."""
    return iter(())


def _in_dictionary(instance: Instance, kind: str) -> Iterator[Mapping[str, Value]]:
    for number, (name, file) in enumerate(_files(instance, kind), start=1):
        yield {
            "FILE_NAME": name,
            "FILE_ID": number,
            "TABLESPACE_NAME": file.tag,
            "BYTES": file.size_bytes,
            "BLOCKS": file.size_bytes // file.block_size,
            "STATUS": "AVAILABLE",
            "RELATIVE_FNO": number,
            "AUTOEXTENSIBLE": "NO",
            "USER_BYTES": file.size_bytes,
            "USER_BLOCKS": file.size_bytes // file.block_size,
            "ONLINE_STATUS": "SYSTEM" if file.tag == "SYSTEM" else "ONLINE",
        }
