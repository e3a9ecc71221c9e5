"""The program ``asmcmd`` of an emulated database node: lsdg, lsdsk, lsop, lsct, lsattr, ls, mount, umount, rebal, dropdg.

Layouts by release are those of reference asm.md section 7. Other commands are refused by name.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from exacell.emulator import asm_changes
from exacell.emulator.asm import Asm
from exacell.emulator.asm_attributes import version_text, visible
from exacell.emulator.asm_model import DiskGroup
from exacell.emulator.asm_statement import DropGroup, MountGroup, Rebalance, RebalanceGroup
from exacell.emulator.instances import Instance
from exacell.emulator.logon import instance_of
from exacell.emulator.ora_messages import OraError
from exacell.emulator.program import Ask, Out, Program
from exacell.emulator.sql_values import Value, to_text
from exacell.emulator.sql_views import catalog
from exacell.emulator.text_table import TextColumn, text_table

Row = Mapping[str, Value]

NO_INSTANCE = "ASMCMD-8102: no connection to Oracle ASM; command requires Oracle ASM to run"

_DISK_GROUP_COLUMNS = (
    ("State", "STATE"),
    ("Type", "TYPE"),
    ("Rebal", "REBAL"),
    ("Sector", "SECTOR_SIZE"),
    ("Logical_Sector", "LOGICAL_SECTOR_SIZE"),
    ("Block", "BLOCK_SIZE"),
    ("AU", "ALLOCATION_UNIT_SIZE"),
    ("Total_MB", "TOTAL_MB"),
    ("Free_MB", "FREE_MB"),
    ("Req_mir_free_MB", "REQUIRED_MIRROR_FREE_MB"),
    ("Usable_file_MB", "USABLE_FILE_MB"),
    ("Offline_disks", "OFFLINE_DISKS"),
    ("Voting_files", "VOTING_FILES"),
    ("Name", "PATH_NAME"),
)
_DISK_COLUMNS = {
    "k": (
        "TOTAL_MB FREE_MB OS_MB NAME FAILGROUP SITE_NAME SITE_GUID SITE_STATUS FAILGROUP_TYPE LIBRARY LABEL"
        " FAILGROUP_LABEL SITE_LABEL UDID PRODUCT REDUNDANCY PATH"
    ),
    "p": "GROUP_NUMBER DISK_NUMBER INCARNATION MOUNT_STATUS HEADER_STATUS MODE_STATUS STATE PATH",
    "t": "CREATE_DATE MOUNT_DATE REPAIR_TIMER PATH",
    "": "PATH",
}
_TITLES = {
    "TOTAL_MB": "Total_MB",
    "FREE_MB": "Free_MB",
    "OS_MB": "OS_MB",
    "SITE_GUID": "Site_GUID",
    "UDID": "UDID",
    "REDUNDANCY": "Redund",
    "GROUP_NUMBER": "Group_Num",
    "DISK_NUMBER": "Disk_Num",
    "INCARNATION": "Incarn",
    "MOUNT_STATUS": "Mount_Stat",
    "HEADER_STATUS": "Header_Stat",
    "MODE_STATUS": "Mode_Stat",
}
_SINCE_12_2 = frozenset({"SITE_NAME", "SITE_GUID", "SITE_STATUS", "FAILGROUP_LABEL", "SITE_LABEL"})


class _CommandError(Exception):
    """A command is refused; the text is what asmcmd prints."""


@dataclass(frozen=True, kw_only=True)
class _Options:
    """Flags (letters and long names, with their values) and what is left."""

    flags: Mapping[str, str]
    rest: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of the flags was given."""
        return any(name in self.flags for name in names)


def asmcmd(asm: Asm, node: int, login: str, argv: Sequence[str], *, env: Mapping[str, str], tty: bool) -> Program:
    """Return the running program: one command from ``argv``, or a prompt that takes them from the input."""
    words = list(argv)
    while words and words[0] in ("-p", "-v", "--nocp", "--privilege", "-V"):
        option = words.pop(0)
        if option == "-V":
            yield Out(f"asmcmd version {version_text(asm.version)}\n")
            return 0
        if option == "--privilege" and words:
            words.pop(0)
    if not env.get("ORACLE_HOME"):
        yield Out("ASMCMD-8100: environment variable ORACLE_HOME is not set\n", err=True)
        return 1
    instance = None
    if env.get("ORACLE_SID", "").startswith("+") and login in ("grid", "root"):
        instance = instance_of(asm, node, env)
    if words:
        text, status = _run(instance, words)
        yield Out(text, err=status != 0)
        return status
    while True:
        if not tty:
            yield Out("ASMCMD> ")
        line = yield Ask("ASMCMD> " if tty else "")
        if line is None or line.strip() in ("exit", "quit"):
            return 0
        if line.strip():
            try:
                words = shlex.split(line)
            except ValueError:
                words = line.split()
            text, status = _run(instance, words)
            yield Out(text, err=status != 0)


def _run(instance: Instance | None, words: Sequence[str]) -> tuple[str, int]:
    command = _COMMANDS.get(words[0])
    if command is None:
        return f"ASMCMD-8022: unknown command '{words[0]}' specified\n", 255
    if instance is None:
        return NO_INSTANCE + "\n", 255
    instance.asm.rack.advance()
    instance.asm.settle()
    try:
        return command(instance, words[1:]), 0
    except _CommandError as error:
        return f"{error}\n", 255
    except OraError as error:
        stack = "".join(f"{line}\n" for line in error.stack)
        return stack, 255


def _options(
    words: Sequence[str], *, flags: str = "", long: Sequence[str] = (), valued: Sequence[str] = ()
) -> _Options:
    """Split words into flags and the rest.

    Args:
        flags: letters without a value, which may be written together.
        long: ``--`` names without a value.
        valued: letters and long names that take the next word.
    """
    found: dict[str, str] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name = word.lstrip("-")
        if not word.startswith("-"):
            rest.append(word)
        elif name in valued and queue:
            found[name] = queue.pop(0)
        elif (word.startswith("--") and name in long) or (
            not word.startswith("--") and name and set(name) <= set(flags)
        ):
            found.update(dict.fromkeys([name] if word.startswith("--") else name, ""))
        else:
            raise _CommandError(f"ASMCMD-8201: (Oracle ASM) unknown option: {name}")
    return _Options(flags=found, rest=tuple(rest))


def _rows(instance: Instance, view: str) -> list[Row]:
    relation = catalog(instance)(view)
    if relation is None:
        return []
    names = [column.name for column in relation.columns]
    return [dict(zip(names, row, strict=True)) for row in relation.rows]


def _group(instance: Instance, name: str) -> DiskGroup:
    group = instance.asm.groups.get(name.strip("+/").upper())
    if group is None or instance.node not in group.mounted:
        raise _CommandError(f"ASMCMD-8001: diskgroup '{name}' does not exist or is not mounted")
    return group


def _table(titles: Sequence[tuple[str, str]], rows: Sequence[Row], options: _Options) -> str:
    columns = [
        TextColumn(title=title, right=any(isinstance(row.get(key), int) for row in rows) or title == "Voting_files")
        for title, key in titles
    ]
    cells = [[to_text(row.get(key), "DD-MON-RR") or "" for _, key in titles] for row in rows]
    return text_table(columns, cells, heading=not options.has("suppressheader"))


def _lsdg(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="gH", long=("suppressheader", "discovery"))
    if options.has("H"):
        options = _Options(flags={**options.flags, "suppressheader": ""}, rest=options.rest)
    everywhere = options.has("g")
    rows: list[Row] = []
    for row in _rows(instance, "GV$ASM_DISKGROUP" if everywhere else "V$ASM_DISKGROUP"):
        name = str(row["NAME"])
        mounted = row["STATE"] != "DISMOUNTED"
        wanted = not options.rest or any(_like(name, pattern) for pattern in options.rest)
        if wanted and (mounted or options.has("discovery")):
            group = instance.asm.groups[name]
            rows.append({**row, "REBAL": "Y" if group.operation and mounted else "N", "PATH_NAME": f"{name}/"})
    if options.rest and not rows:
        raise _CommandError(f"ASMCMD-8001: diskgroup '{options.rest[0]}' does not exist or is not mounted")
    titles = [pair for pair in _DISK_GROUP_COLUMNS if pair[0] != "Logical_Sector" or instance.asm.version >= (12, 2)]
    return _table([("Inst_ID", "INST_ID"), *titles] if everywhere else titles, rows, options)


def _like(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern.strip("+/").upper().replace("%", "*"))


def _lsdsk(instance: Instance, words: Sequence[str]) -> str:
    options = _options(
        words, flags="kptgMI", long=("suppressheader", "discovery", "member", "candidate", "statistics"), valued=("G",)
    )
    kind = next((letter for letter in "kpt" if options.has(letter)), "")
    rows = [row for row in _rows(instance, "V$ASM_DISK") if row["PATH"] is not None or kind == "p"]
    if "G" in options.flags:
        number = _group(instance, options.flags["G"]).number
        rows = [row for row in rows if row["GROUP_NUMBER"] == number]
    elif options.has("member"):
        rows = [row for row in rows if row["HEADER_STATUS"] == "MEMBER"]
    elif options.has("candidate"):
        rows = [row for row in rows if row["HEADER_STATUS"] in ("CANDIDATE", "FORMER", "PROVISIONED")]
    else:
        rows = [row for row in rows if row["GROUP_NUMBER"] != 0]
    if options.rest:
        rows = [row for row in rows if any(fnmatch.fnmatchcase(str(row["PATH"]), p) for p in options.rest)]
    names = _DISK_COLUMNS[kind].split()
    if instance.asm.version < (12, 2):
        names = [name for name in names if name not in _SINCE_12_2]
    titles = [(_TITLES.get(name) or "_".join(part.capitalize() for part in name.split("_")), name) for name in names]
    return _table(titles, sorted(rows, key=lambda row: str(row["PATH"])), options)


def _lsop(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words)
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    rows = [{**row, "GROUP_NAME": names[int(str(row["GROUP_NUMBER"]))]} for row in _rows(instance, "V$ASM_OPERATION")]
    passes = (("Pass", "PASS"),) if instance.asm.version >= (12, 1) else (("Dsk_Num", "DISK_NUMBER"),)
    titles = (
        ("Group_Name", "GROUP_NAME"),
        *passes,
        ("State", "STATE"),
        ("Power", "POWER"),
        ("EST_WORK", "EST_WORK"),
        ("EST_RATE", "EST_RATE"),
        ("EST_TIME", "EST_MINUTES"),
    )
    return _table(titles, rows, options)


def _lsct(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="g", long=("suppressheader",))
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    everywhere = options.has("g")
    rows = [
        {**row, "GROUP_NAME": names[int(str(row["GROUP_NUMBER"]))]}
        for row in _rows(instance, "GV$ASM_CLIENT" if everywhere else "V$ASM_CLIENT")
    ]
    if options.rest:
        wanted = _group(instance, options.rest[0]).name
        rows = [row for row in rows if row["GROUP_NAME"] == wanted]
    titles = (
        ("DB_Name", "DB_NAME"),
        ("Status", "STATUS"),
        ("Software_Version", "SOFTWARE_VERSION"),
        ("Compatible_version", "COMPATIBLE_VERSION"),
        ("Instance_Name", "INSTANCE_NAME"),
        ("Disk_Group", "GROUP_NAME"),
    )
    return _table([("Instance_ID", "INST_ID"), *titles] if everywhere else titles, rows, options)


def _lsattr(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="lm", long=("suppressheader",), valued=("G",))
    groups = [group for group in instance.asm.groups.values() if instance.node in group.mounted]
    if "G" in options.flags:
        groups = [_group(instance, options.flags["G"])]
    if not options.has("l"):
        titles: tuple[tuple[str, str], ...] = (("Name", "NAME"),)
    elif options.has("m"):
        titles = (
            ("Group_Name", "G"),
            ("Name", "NAME"),
            ("Value", "VALUE"),
            ("RO", "READ_ONLY"),
            ("Sys", "SYSTEM_CREATED"),
        )
    else:
        titles = (("Name", "NAME"), ("Value", "VALUE"))
    rows: list[Row] = []
    for group in groups:
        shown = dict(visible(group.attributes))
        for row in _rows(instance, "V$ASM_ATTRIBUTE"):
            if row["GROUP_NUMBER"] == group.number and str(row["NAME"]) in shown:
                rows.append({**row, "G": group.name})
    if options.rest:
        rows = [row for row in rows if fnmatch.fnmatchcase(str(row["NAME"]), options.rest[0].replace("%", "*"))]
    return _table(titles, rows, options)


def _ls(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="lsHa")
    path = options.rest[0].strip("+").strip("/") if options.rest else ""
    if not path:
        names = [g.name for g in instance.asm.groups.values() if instance.node in g.mounted]
        return "".join(f"{name}/\n" for name in sorted(names))
    first, *below = path.split("/")
    group = _group(instance, first)
    depth = len(below)
    found: set[str] = set()
    for file in group.files:
        parts = (*file.directories, file.alias)
        if depth < 3 and [part.upper() for part in parts[:depth]] == [part.upper() for part in below]:
            found.add(parts[depth] + ("/" if depth < 2 else ""))
    if not found and depth:
        raise _CommandError(
            f"ASMCMD-8002: entry '{below[-1]}' does not exist in directory '+{'/'.join([first, *below[:-1]])}/'"
        )
    return "".join(f"{name}\n" for name in sorted(found))


def _mount(mount: bool) -> Callable[[Instance, Sequence[str]], str]:
    def run(instance: Instance, words: Sequence[str]) -> str:
        options = _options(words, flags="af", long=("restrict",))
        if not options.rest and not options.has("a"):
            raise _CommandError("ASMCMD-8203: no diskgroup name is given")
        statement = MountGroup(
            names=() if options.has("a") else tuple(name.upper() for name in options.rest),
            mount=mount,
            force=options.has("f"),
            restricted=options.has("restrict"),
        )
        asm_changes.execute(instance.asm, instance.node, statement)
        return ""

    return run


def _rebal(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="w", valued=("power",))
    if not options.rest:
        raise _CommandError("ASMCMD-8203: no diskgroup name is given")
    power = options.flags.get("power", "")
    rebalance = Rebalance(power=int(power) if re.fullmatch("[0-9]{1,9}", power) else None)
    asm_changes.execute(instance.asm, instance.node, RebalanceGroup(name=options.rest[0].upper(), rebalance=rebalance))
    return "Rebal on progress.\n"


def _dropdg(instance: Instance, words: Sequence[str]) -> str:
    options = _options(words, flags="rf")
    if not options.rest:
        raise _CommandError("ASMCMD-8203: no diskgroup name is given")
    statement = DropGroup(
        name=options.rest[0].upper(), including=options.has("r"), force=options.has("f") and options.has("r")
    )
    asm_changes.execute(instance.asm, instance.node, statement)
    return ""


def _dsget(instance: Instance, words: Sequence[str]) -> str:
    _options(words)
    value = instance.asm.parameters["asm_diskstring"]
    return f"parameter:{value}\nprofile:{value}\n"


_COMMANDS: Mapping[str, Callable[[Instance, Sequence[str]], str]] = {
    "dropdg": _dropdg,
    "dsget": _dsget,
    "ls": _ls,
    "lsattr": _lsattr,
    "lsct": _lsct,
    "lsdg": _lsdg,
    "lsdsk": _lsdsk,
    "lsop": _lsop,
    "mount": _mount(True),
    "rebal": _rebal,
    "umount": _mount(False),
}
