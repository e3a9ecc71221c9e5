"""The commands of ``asmcmd`` for directories, aliases, templates and copies, and for what the instance is: mkdir, cp, …

Source: Oracle ASM Administrator's Guide, "ASMCMD File Management Commands", "… Disk Group Management Commands", "… Instance
Management Commands", "… File Access Control Commands", "… Volume Management Commands". Simplified: cp copies between disk
groups; a file of the operating system is neither read nor written. The texts of refusals are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from exacell.emulator.asm import changes as asm_changes
from exacell.emulator.asm.asmcmd_tools import CommandError, mounted_group, options_of
from exacell.emulator.asm.attributes import version_text
from exacell.emulator.asm.default import new_file
from exacell.emulator.asm.model import AsmFile, DiskGroup
from exacell.emulator.asm.names import NameChange, add_alias, file_at
from exacell.emulator.asm.statement import parse_statement
from exacell.emulator.instances import Instance
from exacell.emulator.names import GRID_HOME

_NO_VOLUMES = "ASMCMD-9470: ASM proxy instance unavailable\nASMCMD-9471: cannot enable or disable volumes"


def whole_path(place: Sequence[str], path: str) -> str:
    """Return a path as seen from the directory ``place``, complete, with its plus."""
    if path.startswith("+"):
        return path.rstrip("/")
    return "+" + "/".join((*place, *(part for part in path.split("/") if part not in ("", "."))))


def _group_of(instance: Instance, path: str) -> DiskGroup:
    return mounted_group(instance, path.removeprefix("+").split("/")[0].split(".")[0])


def _change(instance: Instance, path: str, verb: str, kind: str, other: str = "") -> None:
    group = _group_of(instance, path)
    change = NameChange(name=group.name, verb=verb, kind=kind, pairs=((path, other),))
    asm_changes.execute(instance.asm, instance.node, change)


def _mkdir(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words)
    if not options.rest:
        raise CommandError("ASMCMD-8203: usage: mkdir <dir>...")
    for word in options.rest:
        _change(instance, whole_path(place, word), "ADD", "DIRECTORY")
    return ""


def _mkalias(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words)
    if len(options.rest) != 2:
        raise CommandError("ASMCMD-8203: usage: mkalias <filename> <alias>")
    file, alias = (whole_path(place, word) for word in options.rest)
    _change(instance, alias, "ADD", "ALIAS", file)
    return ""


def _rmalias(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="r")
    if not options.rest:
        raise CommandError("ASMCMD-8203: usage: rmalias [-r] <alias>...")
    for word in options.rest:
        _change(instance, whole_path(place, word), "DROP", "ALIAS")
    return ""


def _cp(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    """Copy a file within or between disk groups; the copy is a file of the cluster with an alias of the name asked for."""
    options = options_of(words, flags="ir", long=("sparse", "sparse_merge_begin"), valued=("port", "dest_dbname", "f"))
    if len(options.rest) != 2:
        raise CommandError("ASMCMD-8203: usage: cp [--port <port>] <source> <target>")
    source, target = options.rest
    if source.startswith("/") or target.startswith("/"):
        local = source if source.startswith("/") else target
        raise CommandError(
            f"ASMCMD-8016: copy source '{source}' and target '{target}' failed\n{local}: not reachable here"
        )
    from_path, to_path = whole_path(place, source), whole_path(place, target)
    file, group = file_at(_group_of(instance, from_path), from_path), _group_of(instance, to_path)
    if "/" not in to_path or to_path.rpartition("/")[2] == group.name:
        to_path = f"+{group.name}/{from_path.rpartition('/')[2].split('.')[0]}"
    now, size = instance.asm.now(), file.size_bytes
    copy = new_file(group, file.kind, "ASM", file.tag, size, now, file.block_size)
    if group.free_mb // group.redundancy.copies < size >> 20:
        raise CommandError(f"ASMCMD-8016: copy source '{source}' and target '{target}' failed\nORA-15041: no space")
    instance.asm.add_file(group, copy)
    add_alias(group, to_path, f"+{group.name}.{copy.number}.{copy.incarnation}")
    return f"copying {from_path} -> {to_path}\n"


def _md_backup(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, valued=("G",))
    if len(options.rest) != 1:
        raise CommandError("ASMCMD-8203: usage: md_backup <backup file> [-G <diskgroup>,...]")
    mounted = sorted(group.name for group in instance.asm.groups.values() if instance.node in group.mounted)
    names = options.flags["G"].split(",") if "G" in options.flags else mounted
    text = ""
    for name in names:
        group = mounted_group(instance, name)
        text += f"Disk group metadata to be backed up: {group.name}\n"
        for directory in sorted({file.directories for file in group.files}):
            for depth in range(1, len(directory) + 1):
                line = f"Current alias directory path: {'/'.join(directory[:depth])}\n"
                text += "" if line in text else line
    return text


def _volumes(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    """Volinfo and its neighbours: there are no volumes."""
    options = options_of(words, flags="a", valued=("G", "s", "column", "width", "redundancy", "usage", "mountpath"))
    if "G" in options.flags:
        group = mounted_group(instance, options.flags["G"])
        return f"diskgroup {group.name} has no volumes or is not mounted\n"
    names = sorted(group.name for group in instance.asm.groups.values() if instance.node in group.mounted)
    return "".join(f"diskgroup {name} has no volumes or is not mounted\n" for name in names)


def _no_volumes(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    raise CommandError(_NO_VOLUMES)


def _mktmpl(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    return _templated(instance, words, "ADD")


def _chtmpl(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    return _templated(instance, words, "MODIFY")


def _rmtmpl(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    return _templated(instance, words, "DROP")


def _templated(instance: Instance, words: Sequence[str], verb: str) -> str:
    options = options_of(words, valued=("G", "striping", "redundancy", "primary", "secondary"))
    if "G" not in options.flags or len(options.rest) != 1:
        raise CommandError(
            "ASMCMD-8203: usage: {mktmpl|chtmpl|rmtmpl} -G <diskgroup> [--striping s] [--redundancy r] <name>"
        )
    given = [options.flags[name].upper() for name in ("redundancy", "striping") if name in options.flags]
    attributes = " ".join({"NORMAL": "MIRROR"}.get(word, word) for word in given)
    group = mounted_group(instance, options.flags["G"])
    change = NameChange(name=group.name, verb=verb, kind="TEMPLATE", pairs=((options.rest[0].upper(), attributes),))
    asm_changes.execute(instance.asm, instance.node, change)
    return ""


def _remap(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words)
    if len(options.rest) != 3 or not all(part.isdigit() for part in options.rest[2].split("-")):
        raise CommandError("ASMCMD-8203: usage: remap <diskgroup> <disk> <block_range>")
    group = mounted_group(instance, options.rest[0])
    if options.rest[1].upper() not in group.disks:
        raise CommandError(f"ASMCMD-8014: disk '{options.rest[1]}' does not exist in diskgroup '{group.name}'")
    return ""


def _users(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    """Lsusr, lsgrp: access control is off, so there are none."""
    options_of(words, flags="aH", long=("suppressheader",), valued=("G",))
    return ""


def _lspwusr(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="H", long=("suppressheader",))
    head = "" if options.has("H", "suppressheader") else "Username sysdba sysoper sysasm\n"
    return f"{head}     SYS   TRUE    TRUE   TRUE\nASMSNMP   TRUE   FALSE  FALSE\n"


def _pwget(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, long=("asm",), valued=("dbuniquename",))
    data = instance.asm.cluster.data
    if "dbuniquename" in options.flags:
        name = options.flags["dbuniquename"].upper()
        if name not in instance.asm.databases:
            raise CommandError(f"ASMCMD-9454: could not find the database '{name}'")
        return f"+{data}/{name}/PASSWORD/pwd{name.lower()}\n"
    return f"+{data}/orapwASM\n"


def _showversion(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options_of(words, flags="v", long=("releasepatch", "softwarepatch", "active"))
    return f"ASM version         : {version_text(instance.asm.version)}\n"


def _showpatches(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options_of(words, flags="l", long=("l",))
    return f"---------------\nList of Patches\n===============\nnone in {GRID_HOME}\n"


def _scrub(instance: Instance, place: list[str], words: Sequence[str]) -> str:
    options = options_of(words, flags="fw", long=("stop", "norepair"), valued=("G", "d", "power", "repair"))
    if "G" in options.flags:
        name = mounted_group(instance, options.flags["G"]).name
        asm_changes.execute(instance.asm, instance.node, parse_statement(f"alter diskgroup {name} scrub"))
    return ""


def user_entries(group: DiskGroup) -> list[tuple[tuple[str, ...], AsmFile | None]]:
    """Return the directories (no file) and aliases that users made in a group: their names below it, and the file."""
    files = {file.number: file for file in group.files}
    found: list[tuple[tuple[str, ...], AsmFile | None]] = [
        (tuple(directory.split("/")), None) for directory in group.made_directories
    ]
    known = {alias: files[number] for alias, number in group.user_aliases.items() if number in files}
    return found + [(tuple(alias.split("/")), file) for alias, file in known.items()]


NAME_COMMANDS = MappingProxyType(
    {
        "chtmpl": _chtmpl,
        "cp": _cp,
        "lsgrp": _users,
        "lspwusr": _lspwusr,
        "lsusr": _users,
        "md_backup": _md_backup,
        "mkalias": _mkalias,
        "mkdir": _mkdir,
        "mktmpl": _mktmpl,
        "pwget": _pwget,
        "remap": _remap,
        "rmalias": _rmalias,
        "rmtmpl": _rmtmpl,
        "scrub": _scrub,
        "showpatches": _showpatches,
        "showversion": _showversion,
        "volcreate": _no_volumes,
        "voldelete": _no_volumes,
        "voldisable": _no_volumes,
        "volenable": _no_volumes,
        "volinfo": _volumes,
        "volresize": _no_volumes,
        "volset": _no_volumes,
        "volstat": _volumes,
    }
)
"""Commands that take the current directory."""
