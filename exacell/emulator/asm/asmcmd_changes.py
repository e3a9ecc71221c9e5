"""The commands of ``asmcmd`` that change a group's disks or show who has files open: chdg, offline, online, lsof, lsod, lstmpl.

What they change is carried out as the SQL that asmcmd sends. Layouts: Oracle ASM Administrator's Guide, "ASMCMD Disk
Group Management Commands", "ASMCMD Instance Management Commands". Which files an instance has open is all of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from xml.etree import ElementTree

from exacell.emulator.asm import changes as asm_changes
from exacell.emulator.asm.asmcmd_tools import CommandError, Row, described, mounted_group, options_of, rows_of, table
from exacell.emulator.asm.statement import parse_statement
from exacell.emulator.instances import Instance

_OPEN = ("CONTROLFILE", "DATAFILE", "ONLINELOG", "TEMPFILE")
"""Types of files that a database's instances keep open."""


def _execute(instance: Instance, statement: str) -> None:
    asm_changes.execute(instance.asm, instance.node, parse_statement(statement))


def _disks(node: ElementTree.Element, attribute: str, quote: str) -> str:
    return ", ".join(f"{quote}{disk.get(attribute, '')}{quote}" for disk in node if disk.tag == "dsk")


def _chdg(instance: Instance, words: Sequence[str]) -> str:
    """Add and drop disks by a description in XML."""
    root = described(options_of(words), "chdg", "a change", '<chdg name="...">...</chdg>')
    parts: list[str] = []
    for change in root:
        if change.tag == "drop":
            names = _disks(change, "name", "")
            groups = ", ".join(node.get("name", "") for node in change if node.tag == "fg")
            parts += [f"drop disk {names}"] * bool(names) + [f"drop disks in failgroup {groups}"] * bool(groups)
        elif change.tag == "add":
            alone = _disks(change, "string", "'")
            grouped = [
                f"failgroup {n.get('name')} disk {_disks(n, 'string', chr(39))}" for n in change if n.tag == "fg"
            ]
            parts += [f"add {part}" for part in ([f"disk {alone}"] * bool(alone) + grouped)]
    if not parts:
        raise CommandError("ASMCMD-9395: the description names neither disks to add nor disks to drop")
    power = f" rebalance power {root.get('power')}" if root.get("power") else ""
    _execute(instance, f"alter diskgroup {root.get('name')} {' '.join(parts)}{power}")
    return ""


def _state(verb: str) -> Callable[[Instance, Sequence[str]], str]:
    def run(instance: Instance, words: Sequence[str]) -> str:
        options = options_of(words, flags="aw", valued=("G", "F", "D", "t", "power"))
        chosen = {"F": "disks in failgroup", "D": "disk"}
        which = next((f"{text} {options.flags[name]}" for name, text in chosen.items() if name in options.flags), "")
        which = "all" if verb == "online" and options.has("a") else which
        if "G" not in options.flags or not which:
            raise CommandError(f"ASMCMD-8203: usage: {verb} -G <diskgroup> {{-F <failgroup> | -D <disk>}}")
        after = f" drop after {options.flags['t']}m" if verb == "offline" and "t" in options.flags else ""
        _execute(instance, f"alter diskgroup {options.flags['G']} {verb} {which}{after}")
        return ""

    return run


def _lsof(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="H", long=("suppressheader",), valued=("G", "dbname", "C"))
    wanted = mounted_group(instance, options.flags["G"]).name if "G" in options.flags else None
    rows: list[Row] = []
    for group in sorted(instance.asm.groups.values(), key=lambda g: g.name):
        if instance.node not in group.mounted or wanted not in (None, group.name):
            continue
        for file in sorted(group.files, key=lambda f: (f.directories, f.number)):
            if file.kind in _OPEN and file.database in instance.asm.databases:
                path = "/".join((f"+{group.name}", *file.directories, file.alias))
                name = f"{file.database}{instance.node + 1}"
                rows.append({"DB": file.database, "INSTANCE": name, "PATH": path})
    for option, key in (("dbname", "DB"), ("C", "INSTANCE")):
        if option in options.flags:
            rows = [row for row in rows if str(row[key]).upper() == options.flags[option].upper()]
    return table((("DB_Name", "DB"), ("Instance_Name", "INSTANCE"), ("Path", "PATH")), rows, options)


def _lsod(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="H", long=("suppressheader",), valued=("G", "process"))
    wanted = mounted_group(instance, options.flags["G"]).number if "G" in options.flags else None
    host = instance.asm.nodes[instance.node]
    rows: list[Row] = []
    processes = {str(row["PNAME"]): str(row["SPID"]) for row in rows_of(instance, "V$PROCESS") if row["PNAME"]}
    for name in ("RBAL", "LGWR", "GMON"):
        process = f"oracle@{host} ({name})"
        if "process" in options.flags and options.flags["process"].upper() not in process.upper():
            continue
        for disk in rows_of(instance, "V$ASM_DISK"):
            if disk["GROUP_NUMBER"] and disk["PATH"] and wanted in (None, disk["GROUP_NUMBER"]):
                rows.append({"I": "1", "PROCESS": process, "OSPID": processes[name], "PATH": disk["PATH"]})
    return table((("Instance", "I"), ("Process", "PROCESS"), ("OSPID", "OSPID"), ("Path", "PATH")), rows, options)


def _lstmpl(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="lH", long=("suppressheader",), valued=("G",))
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    rows = [{**row, "GROUP": names[int(str(row["GROUP_NUMBER"]))]} for row in rows_of(instance, "V$ASM_TEMPLATE")]
    if "G" in options.flags:
        wanted = mounted_group(instance, options.flags["G"]).name
        rows = [row for row in rows if row["GROUP"] == wanted]
    if options.rest:
        rows = [row for row in rows if str(row["NAME"]).upper() == options.rest[0].upper()]
    titles = (("Group_Name", "GROUP"), ("Group_Num", "GROUP_NUMBER"), ("Name", "NAME"))
    more = (("Stripe", "STRIPE"), ("Sys", "SYSTEM"), ("Redund", "REDUNDANCY"), ("PriReg", "PRIMARY_REGION"))
    long = (*titles, *more, ("MirrReg", "MIRROR_REGION"))
    return table(long if options.has("l") else titles, rows, options)


CHANGING: Mapping[str, Callable[[Instance, Sequence[str]], str]] = MappingProxyType(
    {
        "chdg": _chdg,
        "lsod": _lsod,
        "lsof": _lsof,
        "lstmpl": _lstmpl,
        "offline": _state("offline"),
        "online": _state("online"),
    }
)
