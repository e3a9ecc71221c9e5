"""The program ``asmcmd`` of an emulated database node: the commands that only read, lsdg, lsdsk, lsop, lsct, lsattr, ls and du.

Layouts by release are those of reference asm.md section 7; of ls and du, Oracle ASM Administrator's Guide, "ASMCMD File
Management Commands". Directories are ``+GROUP/DATABASE/TYPE``; the leading plus may be left out. Other commands, those that
change something among them, are refused by name.
"""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exacell.core.units import MIB
from exacell.emulator.asm.attributes import visible
from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.program import Ask, Out, Program
from exacell.emulator.basics.versions import version_text
from exacell.emulator.database.logon import instance_of
from exacell.emulator.database.views import catalog
from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.values import Value, from_epoch, to_text
from exacell.emulator.storage.disk_groups import AsmFile, DiskGroup

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
    "statistics": "READS WRITES READ_ERRS WRITE_ERRS READ_TIME WRITE_TIME BYTES_READ BYTES_WRITTEN VOTING_FILE PATH",
    "": "PATH",
}
_TITLES = {
    "TOTAL_MB": "Total_MB",
    "FREE_MB": "Free_MB",
    "OS_MB": "OS_MB",
    "SITE_GUID": "Site_GUID",
    "UDID": "UDID",
    "INST_ID": "Inst_ID",
    "WRITES": "Write",
    "READ_TIME": "Read_time",
    "REDUNDANCY": "Redund",
    "GROUP_NUMBER": "Group_Num",
    "DISK_NUMBER": "Disk_Num",
    "INCARNATION": "Incarn",
    "MOUNT_STATUS": "Mount_Stat",
    "HEADER_STATUS": "Header_Stat",
    "MODE_STATUS": "Mode_Stat",
}
_SINCE_12_2 = frozenset({"SITE_NAME", "SITE_GUID", "SITE_STATUS", "FAILGROUP_LABEL", "SITE_LABEL"})

_LONG = (("Type", "TYPE"), ("Redund", "REDUNDANCY"), ("Striped", "STRIPED"), ("Time", "TIME"), ("Sys", "SYS"))
_SIZES = (("Block_Size", "BLOCK_SIZE"), ("Blocks", "BLOCKS"), ("Bytes", "BYTES"), ("Space", "SPACE"))
_GROUPS = (("State", "STATE"), ("Type", "TYPE"), ("Rebal", "REBAL"), ("Name", "NAME"))


class CommandError(Exception):
    """An asmcmd command is refused; the text is what asmcmd prints."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command: flags (letters and long names, with their values), and the other words."""

    flags: Mapping[str, str]
    rest: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Return whether one of these flags was given."""
        return any(name in self.flags for name in names)


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A directory (``file`` is None) or a file, with its complete name."""

    path: str
    name: str
    file: AsmFile | None = None


def asmcmd(asm: Asm, node: int, login: str, argv: Sequence[str], *, env: Mapping[str, str], tty: bool) -> Program:
    """Return the running program: it runs the one command in ``argv``, or reads commands from the input at a prompt."""
    words, shown = list(argv), False
    while words and words[0] in ("-p", "-v", "--nocp", "--privilege", "-V"):
        option = words.pop(0)
        shown |= option == "-p"
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
        prompt = "ASMCMD [+] > " if shown else "ASMCMD> "
        if not tty:
            yield Out(prompt)
        line = yield Ask(prompt if tty else "")
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
    """Carry out one command; return what it prints and its exit status."""
    if words[0] == "help":
        names = sorted({*_COMMANDS, "exit", "help"})
        return "commands:\n--------\n\n" + "".join(f"    {name}\n" for name in names), 0
    command = _COMMANDS.get(words[0])
    if command is None:
        return f"ASMCMD-8022: unknown command '{words[0]}' specified\n", 255
    if instance is None:
        return NO_INSTANCE + "\n", 255
    instance.asm.rack.advance()
    instance.asm.settle()
    try:
        return command(instance, words[1:]), 0
    except CommandError as error:
        return f"{error}\n", 255


def options_of(
    words: Sequence[str], *, flags: str = "", long: Sequence[str] = (), valued: Sequence[str] = ()
) -> Options:
    """Split words into flags and the rest.

    Args:
        flags: letters without a value, which may be written together.
        long: ``--`` names without a value.
        valued: letters and long names that take the next word.

    Raises:
        CommandError: an option is not one of these.
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
            raise CommandError(f"ASMCMD-8201: (Oracle ASM) unknown option: {name}")
    return Options(flags=found, rest=tuple(rest))


def rows_of(instance: Instance, view: str) -> list[Row]:
    """Return the rows of a view on the instance, by column; an empty list if the release has no such view."""
    relation = catalog(instance)(view)
    if relation is None:
        return []
    names = [column.name for column in relation.columns]
    return [dict(zip(names, row, strict=True)) for row in relation.rows]


def mounted_group(instance: Instance, name: str) -> DiskGroup:
    """Return a disk group that is mounted on the instance's node.

    Raises:
        CommandError: ASMCMD-8001 if it is not mounted or does not exist.
    """
    group = instance.asm.groups.get(name.strip("+/").upper())
    if group is None or instance.node not in group.mounted:
        raise CommandError(f"ASMCMD-8001: diskgroup '{name}' does not exist or is not mounted")
    return group


def table(titles: Sequence[tuple[str, str]], rows: Sequence[Row], options: Options) -> str:
    """Return rows as a table. ``titles`` pairs each title with its column; --suppressheader leaves the titles out."""
    columns = [
        TextColumn(title=title, right=any(isinstance(row.get(key), int) for row in rows) or title == "Voting_files")
        for title, key in titles
    ]
    cells = [[to_text(row.get(key), "DD-MON-RR") or "" for _, key in titles] for row in rows]
    return text_table(columns, cells, heading=not options.has("suppressheader"))


def _lsdg(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="gH", long=("suppressheader", "discovery"))
    if options.has("H"):
        options = Options(flags={**options.flags, "suppressheader": ""}, rest=options.rest)
    everywhere = options.has("g")
    rows: list[Row] = []
    for row in rows_of(instance, "GV$ASM_DISKGROUP" if everywhere else "V$ASM_DISKGROUP"):
        name = str(row["NAME"])
        mounted = row["STATE"] != "DISMOUNTED"
        wanted = not options.rest or any(_like(name, pattern) for pattern in options.rest)
        if wanted and (mounted or options.has("discovery")):
            group = instance.asm.groups[name]
            rows.append({**row, "REBAL": "Y" if group.operation and mounted else "N", "PATH_NAME": f"{name}/"})
    if options.rest and not rows:
        raise CommandError(f"ASMCMD-8001: diskgroup '{options.rest[0]}' does not exist or is not mounted")
    titles = [pair for pair in _DISK_GROUP_COLUMNS if pair[0] != "Logical_Sector" or instance.asm.version >= (12, 2)]
    return table([("Inst_ID", "INST_ID"), *titles] if everywhere else titles, rows, options)


def _like(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern.strip("+/").upper().replace("%", "*"))


def _lsdsk(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(
        words, flags="kptgMI", long=("suppressheader", "discovery", "member", "candidate", "statistics"), valued=("G",)
    )
    kind = next((name for name in ("k", "p", "t", "statistics") if options.has(name)), "")
    everywhere = options.has("g")
    view = "GV$ASM_DISK" if everywhere else "V$ASM_DISK"
    rows = [row for row in rows_of(instance, view) if row["PATH"] is not None or kind == "p"]
    if "G" in options.flags:
        number = mounted_group(instance, options.flags["G"]).number
        rows = [row for row in rows if row["GROUP_NUMBER"] == number]
    elif options.has("member"):
        rows = [row for row in rows if row["HEADER_STATUS"] == "MEMBER"]
    elif options.has("candidate"):
        rows = [row for row in rows if row["HEADER_STATUS"] in ("CANDIDATE", "FORMER", "PROVISIONED")]
    else:
        rows = [row for row in rows if row["GROUP_NUMBER"] != 0]
    if options.rest:
        rows = [row for row in rows if any(fnmatch.fnmatchcase(str(row["PATH"]), p) for p in options.rest)]
    names = ["INST_ID"] * everywhere + _DISK_COLUMNS[kind].split()
    if instance.asm.version < (12, 2):
        names = [name for name in names if name not in _SINCE_12_2]
    titles = [(_TITLES.get(name) or "_".join(part.capitalize() for part in name.split("_")), name) for name in names]
    return table(titles, sorted(rows, key=lambda row: str(row["PATH"])), options)


def _lsop(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words)
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    rows = [{**row, "GROUP_NAME": names[int(str(row["GROUP_NUMBER"]))]} for row in rows_of(instance, "V$ASM_OPERATION")]
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
    return table(titles, rows, options)


def _lsct(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="g", long=("suppressheader",))
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    everywhere = options.has("g")
    rows = [
        {**row, "GROUP_NAME": names[int(str(row["GROUP_NUMBER"]))]}
        for row in rows_of(instance, "GV$ASM_CLIENT" if everywhere else "V$ASM_CLIENT")
    ]
    if options.rest:
        wanted = mounted_group(instance, options.rest[0]).name
        rows = [row for row in rows if row["GROUP_NAME"] == wanted]
    titles = (
        ("DB_Name", "DB_NAME"),
        ("Status", "STATUS"),
        ("Software_Version", "SOFTWARE_VERSION"),
        ("Compatible_version", "COMPATIBLE_VERSION"),
        ("Instance_Name", "INSTANCE_NAME"),
        ("Disk_Group", "GROUP_NAME"),
    )
    return table([("Instance_ID", "INST_ID"), *titles] if everywhere else titles, rows, options)


def _lsattr(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="lm", long=("suppressheader",), valued=("G",))
    groups = [group for group in instance.asm.groups.values() if instance.node in group.mounted]
    if "G" in options.flags:
        groups = [mounted_group(instance, options.flags["G"])]
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
        for row in rows_of(instance, "V$ASM_ATTRIBUTE"):
            if row["GROUP_NUMBER"] == group.number and str(row["NAME"]) in shown:
                rows.append({**row, "G": group.name})
    if options.rest:
        rows = [row for row in rows if fnmatch.fnmatchcase(str(row["NAME"]), options.rest[0].replace("%", "*"))]
    return table(titles, rows, options)


def _names(path: str) -> list[str]:
    """Return the names in a path, with or without its leading plus."""
    return [part for part in path.removeprefix("+").split("/") if part]


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
        CommandError: no name matches.
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
    if not found:
        above = "/".join(parts[:-1])
        raise CommandError(f"ASMCMD-8002: entry '{parts[-1]}' does not exist in directory '+{above}/'")
    return [found[path] for path in sorted(found)]


def _content(instance: Instance, parts: Sequence[str]) -> list[_Entry]:
    """Return the entries that a path shows: the content of a directory, the matches of a pattern, or one file."""
    found = _below(instance, parts)
    if len(found) == 1 and found[0].file is None:
        group = mounted_group(instance, found[0].path.split("/")[0])
        return _below(instance, [*_names(found[0].path), "*"]) if len(parts) > 1 or group.files else []
    return found


def _files(instance: Instance, parts: Sequence[str]) -> Iterator[tuple[DiskGroup, AsmFile, str]]:
    """Yield the files in and below a path, with their groups and complete names."""
    for group in _groups(instance, parts[0]):
        for file in sorted(group.files, key=lambda f: (f.directories, f.number)):
            names = (group.name, *file.directories, file.alias)
            if all(map(_matches, names, parts)):
                yield group, file, "+" + "/".join(names)


def _ls(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="lsaHLd", long=("suppressheader",))
    if options.has("H"):
        options = Options(flags={**options.flags, "suppressheader": ""}, rest=options.rest)
    parts = _names(options.rest[0] if options.rest else "")
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
            "SYS": "Y" if len(parts) > 1 else "N",
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


def _du(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="H", long=("suppressheader",))
    parts = _names(options.rest[0] if options.rest else "")
    if not parts:
        raise CommandError("ASMCMD-8004: du needs a directory: the current one is '+'")
    _below(instance, parts)
    used = mirrored = 0
    for group, file, _ in _files(instance, parts):
        used += file.size_bytes
        mirrored += file.units(group.au_bytes) * group.au_bytes
    heading = "" if options.has("H", "suppressheader") else f"{'Used_MB':>7}{'Mirror_used_MB':>20}\n"
    return f"{heading}{round(used / MIB):>7}{mirrored // MIB:>20}\n"


_COMMANDS: Mapping[str, Callable[[Instance, Sequence[str]], str]] = {
    "du": _du,
    "ls": _ls,
    "lsattr": _lsattr,
    "lsct": _lsct,
    "lsdg": _lsdg,
    "lsdsk": _lsdsk,
    "lsop": _lsop,
}


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """One column of a table; it is as wide as its title and its widest cell."""

    title: str
    right: bool = False


def text_table(columns: Sequence[TextColumn], rows: Sequence[Sequence[str]], *, heading: bool = True) -> str:
    """Return a table as asmcmd prints it; the heading is printed even without rows, unless it is suppressed.

    Two blanks stand between columns, numbers are aligned right, texts left.

    >>> print(text_table([TextColumn(title="AU", right=True), TextColumn(title="Name")], [["4194304", "DATA/"]]), end="")
         AU  Name
    4194304  DATA/
    """
    widths = [
        max([len(column.title) if heading else 0, *(len(row[place]) for row in rows)])
        for place, column in enumerate(columns)
    ]
    lines = [[column.title for column in columns], *rows] if heading else list(rows)
    text = ""
    for cells in lines:
        laid = [
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]
        text += "  ".join(laid).rstrip() + "\n"
    return text
