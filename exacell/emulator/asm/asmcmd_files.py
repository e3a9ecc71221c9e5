"""The commands of ``asmcmd`` that look at files as in a file system: cd, pwd, ls, du, find, rm.

Directories are ``+GROUP/DATABASE/TYPE``; the program starts in ``+``, so a path may leave the plus away. Layouts: Oracle
ASM Administrator's Guide, "ASMCMD File Management Commands".
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from exacell.core.units import MIB
from exacell.emulator.asm import changes as asm_changes
from exacell.emulator.asm.asmcmd_names import NAME_COMMANDS, user_entries
from exacell.emulator.asm.asmcmd_tools import CommandError, Options, Row, mounted_group, options_of, rows_of, table
from exacell.emulator.asm.model import AsmFile, DiskGroup
from exacell.emulator.asm.names import NameChange
from exacell.emulator.instances import Instance
from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.values import Value, from_epoch

_REMOVABLE = frozenset(("ARCHIVELOG", "BACKUPSET"))
"""Types of files that no instance has open."""

_LONG = (("Type", "TYPE"), ("Redund", "REDUNDANCY"), ("Striped", "STRIPED"), ("Time", "TIME"), ("Sys", "SYS"))
_SIZES = (("Block_Size", "BLOCK_SIZE"), ("Blocks", "BLOCKS"), ("Bytes", "BYTES"), ("Space", "SPACE"))
_GROUPS = (("State", "STATE"), ("Type", "TYPE"), ("Rebal", "REBAL"), ("Name", "NAME"))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A directory (no file) or a file, with its complete name; ``own``: a user made it."""

    path: str
    name: str
    file: AsmFile | None = None
    own: bool = False


Command = Callable[[Instance, list[str], Sequence[str]], str]
"""Takes the instance, the names of the current directory, which cd changes, and the words behind the command."""


def _absolute(place: Sequence[str], path: str) -> list[str]:
    """Return the names in a path: from the top with a leading plus, else from the current directory."""
    parts = [] if path.startswith("+") else list(place)
    for part in path.removeprefix("+").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name.upper(), pattern.upper().replace("%", "*"))


def _groups(instance: Instance, pattern: str) -> list[DiskGroup]:
    if not set(pattern) & set("*%?"):
        return [mounted_group(instance, pattern)]
    groups = [group for group in instance.asm.groups.values() if instance.node in group.mounted]
    return [group for group in sorted(groups, key=lambda g: g.name) if _matches(group.name, pattern)]


def _below(instance: Instance, parts: Sequence[str]) -> list[_Entry]:
    """Return the directories or files whose names match a path of at least one name.

    Raises:
        CommandError: nothing does.
    """
    depth = len(parts)
    found: dict[str, _Entry] = {}
    for group in _groups(instance, parts[0]):
        if depth == 1:
            found[f"+{group.name}"] = _Entry(path=f"+{group.name}", name=group.name)
        for file in group.files:
            names = (group.name, *file.directories, file.alias)
            if 1 < depth <= len(names) and all(map(_matches, names, parts)):
                path = "+" + "/".join(names[:depth])
                found[path] = _Entry(path=path, name=names[depth - 1], file=file if depth == len(names) else None)
        for own, alias in user_entries(group):
            whole = (group.name, *own)
            if 1 < depth <= len(whole) and all(map(_matches, whole, parts)):
                path = "+" + "/".join(whole[:depth])
                last = depth == len(whole)
                found.setdefault(path, _Entry(path=path, name=whole[depth - 1], file=alias if last else None, own=True))
    if not found:
        above = "/".join(parts[:-1])
        raise CommandError(f"ASMCMD-8002: entry '{parts[-1]}' does not exist in directory '+{above}/'")
    return [found[path] for path in sorted(found)]


def _content(instance: Instance, parts: Sequence[str]) -> list[_Entry]:
    """Return what a path names: the entries of a directory, or what matches a pattern, or one file."""
    found = _below(instance, parts)
    if len(found) == 1 and found[0].file is None:
        group = mounted_group(instance, found[0].path.split("/")[0])
        inside = [*_absolute((), found[0].path), "*"]
        if (len(parts) == 1 and not group.files) or found[0].own:
            try:
                return _below(instance, inside)
            except CommandError:  # nothing in it
                return []
        return _below(instance, inside)
    return found


def _files(instance: Instance, parts: Sequence[str]) -> Iterator[tuple[DiskGroup, AsmFile, str]]:
    """Yield the files in and below a path, with their groups and complete names."""
    for group in _groups(instance, parts[0]):
        for file in sorted(group.files, key=lambda f: (f.directories, f.number)):
            names = (group.name, *file.directories, file.alias)
            if all(map(_matches, names, parts)):
                yield group, file, "+" + "/".join(names)


def _cd(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words)
    parts = _absolute(place, options.rest[0] if options.rest else "+")
    if parts:
        (entry, *more) = _below(instance, parts)
        if more or entry.file is not None:
            raise CommandError(f"ASMCMD-8005: '{options.rest[0]}' is no directory, or more than one")
        parts = _absolute((), entry.path)
    place[:] = parts
    return ""


def _pwd(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options_of(words)
    return "+" + "/".join(place) + "\n"


def _ls(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="lsaHLd", long=("suppressheader",))
    if options.has("H"):
        options = Options(flags={**options.flags, "suppressheader": ""}, rest=options.rest)
    parts = _absolute(place, options.rest[0] if options.rest else "")
    if not parts:
        return _list_groups(instance, options)
    entries = _below(instance, parts) if options.has("d") else _content(instance, parts)
    if not options.has("l", "s"):
        return "".join(f"{entry.name}{'' if entry.file else '/'}\n" for entry in entries)
    titles = (*(_LONG if options.has("l") else ()), *(_SIZES if options.has("s") else ()), ("Name", "SHOWN"))
    known = {(row["GROUP_NUMBER"], row["FILE_NUMBER"]): row for row in rows_of(instance, "V$ASM_FILE")}
    rows: list[Row] = []
    for entry in entries:
        row: dict[str, Value] = {
            "SYS": "Y" if len(parts) > 1 and not entry.own else "N",
            "SHOWN": f"{entry.name}{'' if entry.file else '/'}",
        }
        if entry.file is not None:
            number = mounted_group(instance, entry.path.split("/")[0]).number
            row |= known[number, entry.file.number]
            row["TIME"] = format_date(from_epoch(entry.file.created), "MON DD HH24:MI:SS")
        rows.append(row)
    return table(titles, rows, options)


def _list_groups(instance: Instance, options: Options) -> str:
    rows = [row for row in rows_of(instance, "V$ASM_DISKGROUP") if row["STATE"] != "DISMOUNTED"]
    names = sorted(str(row["NAME"]) for row in rows)
    if not options.has("l", "s"):
        return "".join(f"{name}/\n" for name in names)
    shown: list[Row] = []
    for row in sorted(rows, key=lambda r: str(r["NAME"])):
        busy = instance.asm.groups[str(row["NAME"])].operation
        shown.append({**row, "REBAL": "Y" if busy else "N", "NAME": f"{row['NAME']}/"})
    return table(_GROUPS, shown, options)


def _du(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="H", long=("suppressheader",))
    parts = _absolute(place, options.rest[0] if options.rest else "")
    if not parts:
        raise CommandError("ASMCMD-8004: du needs a directory: the current one is '+'")
    _below(instance, parts)
    used = mirrored = 0
    for group, file, _ in _files(instance, parts):
        used += file.size_bytes
        mirrored += file.units(group.au_bytes) * group.au_bytes
    heading = "" if options.has("H", "suppressheader") else f"{'Used_MB':>7}{'Mirror_used_MB':>20}\n"
    return f"{heading}{round(used / MIB):>7}{mirrored // MIB:>20}\n"


def _find(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, valued=("t", "type"))
    if len(options.rest) < 2:
        raise CommandError("ASMCMD-8203: usage: find [--type <type>] <dir> <pattern>")
    kind = (options.flags.get("t") or options.flags.get("type") or "").upper()
    parts, pattern = _absolute(place, options.rest[0]), options.rest[1]
    found: dict[str, None] = {}
    for _, file, path in _files(instance, parts or ["*"]):
        names = path.removeprefix("+").split("/")
        for depth in range(max(1, len(parts)), len(names)):
            last = depth == len(names) - 1
            wanted = _matches(names[depth], pattern) and (not kind or (last and file.kind == kind))
            if wanted:
                found["+" + "/".join(names[: depth + 1]) + ("" if last else "/")] = None
    return "".join(f"{path}\n" for path in sorted(found))


def _rm(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="rf")
    if not options.rest:
        raise CommandError("ASMCMD-8203: usage: rm [-rf] <name>...")
    going: list[tuple[DiskGroup, AsmFile]] = []
    for word in options.rest:
        parts = _absolute(place, word)
        if not parts:
            raise CommandError("ASMCMD-8006: '+' cannot be removed")
        entries = _below(instance, parts)
        if any(entry.file is None for entry in entries) and not options.has("r"):
            raise CommandError(f"ASMCMD-8006: '{word}' is a directory: rm -r removes it")
        for entry in entries:
            if entry.own:
                group = mounted_group(instance, entry.path.split("/")[0])
                kind = "DIRECTORY" if entry.file is None else "FILE"
                drop = NameChange(name=group.name, verb="DROP", kind=kind, pairs=((entry.path, ""),), force=True)
                asm_changes.execute(instance.asm, instance.node, drop)
        for group, file, path in _files(instance, parts):
            if file.kind not in _REMOVABLE:
                raise OraError(ora(15032), ora(15028, path))
            going.append((group, file))
    for group, file in going:
        if file in group.files:
            group.files.remove(file)
    return ""


FILE_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"cd": _cd, "du": _du, "find": _find, "ls": _ls, "pwd": _pwd, "rm": _rm, **NAME_COMMANDS}
)
