"""Directories, aliases, templates and names of disks in a disk group: ALTER DISKGROUP's clauses for them.

Source: Oracle Database SQL Language Reference, ALTER DISKGROUP; ASM Administrator's Guide, "Managing Disk Group Directories",
"Managing Alias Names", "Managing Disk Group Templates". Which code a wrong template or disk has is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from exacell.emulator.asm.model import AsmFile, DiskGroup
from exacell.emulator.ora_messages import OraError, OraLine, ora
from exacell.emulator.sql.tokens import TokenReader

OPEN_KINDS = ("CONTROLFILE", "DATAFILE", "ONLINELOG", "TEMPFILE", "OCRFILE", "ASMPARAMETERFILE", "PARAMETERFILE")
"""Types of files that an instance keeps open."""
SYSTEM_TEMPLATES = (
    "ARCHIVELOG ASMPARAMETERFILE AUTOBACKUP BACKUPSET CHANGETRACKING CONTROLFILE DATAFILE DATAGUARDCONFIG DUMPSET"
    " FLASHBACK OCRFILE ONLINELOG PARAMETERFILE TEMPFILE XTRANSPORT"
)
"""Templates that every disk group has. Source: Oracle ASM Administrator's Guide, "Managing Disk Group Templates"."""
_QUOTED = ("DIRECTORY", "ALIAS", "FILE")
_ACCESS = (15304, "operation requires ACCESS_CONTROL.ENABLED attribute to be TRUE")
_VOLUMES = (15477, "cannot communicate with the volume driver")
_FLEXIBLE = (15067, "command or option incompatible with diskgroup redundancy")
_UNPREPARED = {
    **dict.fromkeys(("USER", "USERGROUP", "OWNERSHIP", "PERMISSION"), _ACCESS),
    "VOLUME": _VOLUMES,
    **dict.fromkeys(("FILEGROUP", "QUOTAGROUP"), _FLEXIBLE),
}
"""What is refused as where its precondition is missing: access control, the driver of volumes, a flexible group."""


@dataclass(frozen=True, kw_only=True)
class NameChange:
    """``ALTER DISKGROUP name ADD|DROP|RENAME|MODIFY DIRECTORY|ALIAS|FILE|TEMPLATE|DISK …``.

    Attributes:
        pairs: what is named, and what goes with it: the new name, the file of an alias, the attributes of a template.
    """

    name: str
    verb: str
    kind: str
    pairs: tuple[tuple[str, str], ...]
    force: bool = False


def parse_name_change(reader: TokenReader, name: str) -> NameChange | None:
    """Return the clause that comes next; None when it is none of these.

    Raises:
        OraError: it is begun like one and is wrong; users and volumes are refused by their own codes.
    """
    _refuse_unprepared(reader)
    verb, kind = reader.here.value, reader.ahead().value
    if not reader.here.is_word("ADD", "DROP", "RENAME", "MODIFY") or not reader.ahead().is_word(
        *_QUOTED, "TEMPLATE", *(("DISK", "DISKS") if verb == "RENAME" else ())
    ):
        return None
    reader.take()
    reader.take()
    if kind == "DISKS":
        reader.expect("ALL", 922)
        return NameChange(name=name, verb=verb, kind=kind, pairs=())
    pairs = [_pair(reader, verb, kind)]
    while reader.accept_mark(","):
        pairs.append(_pair(reader, verb, kind))
    force = reader.accept("FORCE")
    if not force:
        reader.accept("NOFORCE")
    return NameChange(name=name, verb=verb, kind=kind, pairs=tuple(pairs), force=force)


def _refuse_unprepared(reader: TokenReader) -> None:
    """Refuse clauses whose precondition no emulated disk group has.

    Raises:
        OraError: ORA-15304, access control is off; ORA-15477, there are no volumes; ORA-15067, it takes a FLEX group.
    """
    verbs = ("ADD", "DROP", "MODIFY", "REPLACE", "RESIZE", "ENABLE", "DISABLE", "SET", "MOVE")
    if reader.here.is_word(*verbs) and reader.ahead().is_word(*_UNPREPARED):
        code, text = _UNPREPARED[reader.ahead().value]
        raise OraError(ora(15032), OraLine(code, text), at=reader.ahead().at)


def _pair(reader: TokenReader, verb: str, kind: str) -> tuple[str, str]:
    what = reader.text(922) if kind in _QUOTED else _word(reader)
    if verb == "RENAME":
        reader.expect("TO", 922)
        return what, (reader.text(922) if kind in _QUOTED else _word(reader))
    if verb == "ADD" and kind == "ALIAS":
        reader.expect("FOR", 922)
        return what, reader.text(922)
    if verb == "MODIFY" and kind == "FILE":
        if not reader.accept("ATTRIBUTES"):
            reader.expect("ATTRIBUTE", 922)
        return what, _attributes(reader)
    if kind == "TEMPLATE" and verb != "DROP":
        if not reader.accept("ATTRIBUTES"):
            reader.expect("ATTRIBUTE", 922)
        return what, _attributes(reader)
    return what, ""


def _word(reader: TokenReader) -> str:
    return reader.text(922).upper() if reader.here.kind.value == "text" else reader.name(922).upper()


def _attributes(reader: TokenReader) -> str:
    reader.expect_mark("(", 906)
    words: list[str] = []
    while not reader.here.is_mark(")"):
        words.append(reader.name(922).upper())
        reader.accept_mark(",")
    reader.take()
    return " ".join(words)


def change_names(group: DiskGroup, change: NameChange) -> None:
    """Carry out the clause; either all of it is done or nothing.

    Raises:
        OraError: ORA-15032 over ORA-15005, 15012, 15173, 15177, 15178, 15028 and their like.
    """
    saved = (list(group.made_directories), dict(group.user_aliases), list(group.files), dict(group.user_templates))
    try:
        for what, other in change.pairs or (("", ""),):
            _change(group, change, what, other)
    except OraError as error:
        group.made_directories, group.user_aliases, group.files, group.user_templates = saved
        raise OraError(ora(15032), *error.stack) from None


def _change(group: DiskGroup, change: NameChange, what: str, other: str) -> None:
    match change.verb, change.kind:
        case "ADD", "DIRECTORY":
            add_directory(group, what)
        case "DROP", "DIRECTORY":
            drop_directory(group, what, force=change.force)
        case "RENAME", "DIRECTORY":
            _rename_directory(group, what, other)
        case "ADD", "ALIAS":
            add_alias(group, what, other)
        case "DROP", "ALIAS":
            drop_alias(group, what)
        case "RENAME", "ALIAS":
            number = drop_alias(group, what)
            _new_name(group, inside(group, other))
            group.user_aliases["/".join(inside(group, other))] = number
        case "DROP", "FILE":
            drop_file(group, what)
        case _, "FILE":
            file_at(group, what)
        case verb, "TEMPLATE":
            _template(group, verb, what, other)
        case _, ("DISK" | "DISKS"):
            _rename_disk(group, what, other)


def inside(group: DiskGroup, path: str) -> list[str]:
    """Return the names of a path below its disk group.

    Raises:
        OraError: ORA-15046, it is not in this group.
    """
    first, *rest = [part for part in path.removeprefix("+").split("/") if part] or [""]
    if not path.startswith("+") or first.upper() != group.name:
        raise OraError(ora(15046, path))
    return rest


def file_at(group: DiskGroup, path: str) -> AsmFile:
    """Return the file of a complete name, of an alias, or of ``+GROUP.number.incarnation``.

    Raises:
        OraError: ORA-15012, there is none.
    """
    parts = path.removeprefix("+").split(".")
    if "/" not in path and len(parts) == 3 and parts[0].upper() == group.name:
        found = next((f for f in group.files if (str(f.number), str(f.incarnation)) == (parts[1], parts[2])), None)
    else:
        names = [name.upper() for name in inside(group, path)]
        number = {alias.upper(): number for alias, number in group.user_aliases.items()}.get("/".join(names))
        found = next(
            (f for f in group.files if f.number == number or [n.upper() for n in (*f.directories, f.alias)] == names),
            None,
        )
    if found is None:
        raise OraError(ora(15012, path))
    return found


def directories(group: DiskGroup) -> set[tuple[str, ...]]:
    """Return all directories, in upper case: those of files and those that users made."""
    found = {tuple(directory.upper().split("/")) for directory in group.made_directories}
    for file in group.files:
        found |= {file.directories[:depth] for depth in range(1, len(file.directories) + 1)}
    return {tuple(part.upper() for part in names) for names in found}


def _new_name(group: DiskGroup, names: list[str]) -> None:
    """Refuse a name that is taken or has no directory above it."""
    upper = tuple(name.upper() for name in names)
    if len(upper) > 1 and upper[:-1] not in directories(group):
        raise OraError(ora(15173, names[-2], "/" + "/".join(names[:-2])))
    if not upper or upper in directories(group) or "/".join(upper) in {a.upper() for a in group.user_aliases}:
        raise OraError(ora(15005, names[-1] if names else group.name))


def add_directory(group: DiskGroup, path: str) -> None:
    """Make a directory.

    Raises:
        OraError: ORA-15005 or ORA-15173.
    """
    names = inside(group, path)
    _new_name(group, names)
    group.made_directories.append("/".join(names))


def drop_directory(group: DiskGroup, path: str, *, force: bool = False) -> None:
    """Remove a directory that a user made, with ``force`` with the aliases in it.

    Raises:
        OraError: ORA-15173, 15177 or 15178.
    """
    names = "/".join(inside(group, path)).upper()
    made = next((directory for directory in group.made_directories if directory.upper() == names), None)
    if made is None:
        known = tuple(names.split("/")) in directories(group)
        raise OraError(ora(15177) if known else ora(15173, path.rpartition("/")[2], "/"))
    below = [entry for entry in (*group.made_directories, *group.user_aliases) if entry.upper().startswith(f"{names}/")]
    if below and not force:
        raise OraError(ora(15178, made))
    group.made_directories = [d for d in group.made_directories if d != made and d not in below]
    group.user_aliases = {alias: number for alias, number in group.user_aliases.items() if alias not in below}


def _rename_directory(group: DiskGroup, path: str, new: str) -> None:
    old = "/".join(inside(group, path))
    made = next((directory for directory in group.made_directories if directory.upper() == old.upper()), None)
    if made is None:
        raise OraError(ora(15177) if tuple(old.upper().split("/")) in directories(group) else ora(15173, old, "/"))
    names = inside(group, new)
    _new_name(group, names)
    renamed = "/".join(names)

    def moved(entry: str) -> str:
        return renamed + entry[len(made) :] if entry == made or entry.startswith(f"{made}/") else entry

    group.made_directories = [moved(directory) for directory in group.made_directories]
    group.user_aliases = {moved(alias): number for alias, number in group.user_aliases.items()}


def add_alias(group: DiskGroup, path: str, target: str) -> None:
    """Give a file another name.

    Raises:
        OraError: ORA-15012, 15005, 15173.
    """
    file, names = file_at(group, target), inside(group, path)
    _new_name(group, names)
    group.user_aliases["/".join(names)] = file.number


def drop_alias(group: DiskGroup, path: str) -> int:
    """Remove an alias and return the number of its file.

    Raises:
        OraError: ORA-15177, it is a name that the system made; ORA-15173, there is none.
    """
    names = "/".join(inside(group, path)).upper()
    found = next((alias for alias in group.user_aliases if alias.upper() == names), None)
    if found is not None:
        return group.user_aliases.pop(found)
    file_names = {"/".join((*file.directories, file.alias)).upper() for file in group.files}
    raise OraError(ora(15177) if names in file_names else ora(15173, path.rpartition("/")[2], "/"))


def drop_file(group: DiskGroup, path: str) -> None:
    """Delete a file with its aliases.

    Raises:
        OraError: ORA-15012, there is none; ORA-15028, it is open.
    """
    file = file_at(group, path)
    if file.kind in OPEN_KINDS:
        raise OraError(ora(15028, path))
    group.files.remove(file)
    group.user_aliases = {alias: number for alias, number in group.user_aliases.items() if number != file.number}


def _template(group: DiskGroup, verb: str, name: str, attributes: str) -> None:
    known = name in group.user_templates
    if name in SYSTEM_TEMPLATES.split() and verb != "MODIFY":
        raise OraError(ora(15005, name))
    if verb == "ADD" and known:
        raise OraError(ora(15005, name))
    if verb != "ADD" and not known and name not in SYSTEM_TEMPLATES.split():
        raise OraError(ora(15144, name))
    if verb == "DROP":
        del group.user_templates[name]
        return
    words = attributes.split()
    before = group.user_templates.get(name, "MIRROR COARSE").split()
    redundancy = {"UNPROTECTED": "UNPROT", "MIRROR": "MIRROR", "HIGH": "HIGH", "PARITY": "PARITY"}
    given = next((redundancy[word] for word in words if word in redundancy), before[0])
    stripe = next((word for word in words if word in ("FINE", "COARSE")), before[1])
    group.user_templates[name] = f"{given} {stripe}"


def _rename_disk(group: DiskGroup, old: str, new: str) -> None:
    if not old:
        return
    disk = group.disks.get(old)
    if disk is None:
        raise OraError(ora(15054, old, group.name))
    if new in group.disks:
        raise OraError(ora(15010, new))
    group.disks = {(new if name == old else name): member for name, member in group.disks.items()}
    disk.name = new
