"""The program ``asmcmd`` of an emulated database node: what looks at disk groups and disks, and what changes them.

Layouts by release are those of reference asm.md section 7. Other commands are refused by name; those for files are in
:mod:`asm.asmcmd_files`.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from exacell.emulator.asm import changes as asm_changes
from exacell.emulator.asm.asmcmd_changes import CHANGING
from exacell.emulator.asm.asmcmd_files import FILE_COMMANDS
from exacell.emulator.asm.asmcmd_tools import (
    CommandError,
    Options,
    Row,
    described,
    mounted_group,
    options_of,
    rows_of,
    table,
)
from exacell.emulator.asm.attributes import version_text, visible
from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.statement import (
    DropGroup,
    MountGroup,
    Rebalance,
    RebalanceGroup,
    SetAttribute,
    parse_statement,
)
from exacell.emulator.db_rows import parameters
from exacell.emulator.instances import Instance
from exacell.emulator.logon import instance_of
from exacell.emulator.ora_messages import OraError
from exacell.emulator.program import Ask, Out, Program

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


def asmcmd(asm: Asm, node: int, login: str, argv: Sequence[str], *, env: Mapping[str, str], tty: bool) -> Program:
    """Return the running program: one command from ``argv``, or a prompt that takes them from the input."""
    words, shown = list(argv), False
    place: list[str] = []
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
        text, status = _run(instance, words, place)
        yield Out(text, err=status != 0)
        return status
    while True:
        prompt = f"ASMCMD [+{'/'.join(place)}] > " if shown else "ASMCMD> "
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
            text, status = _run(instance, words, place)
            yield Out(text, err=status != 0)


def _run(instance: Instance | None, words: Sequence[str], place: list[str]) -> tuple[str, int]:
    """Carry out one command in a directory; return what it prints and its exit status."""
    if words[0] == "help":
        names = sorted({*_COMMANDS, *FILE_COMMANDS, "exit", "help"})
        return "commands:\n--------\n\n" + "".join(f"    {name}\n" for name in names), 0
    command, on_files = _COMMANDS.get(words[0]), FILE_COMMANDS.get(words[0])
    if command is None and on_files is None:
        return f"ASMCMD-8022: unknown command '{words[0]}' specified\n", 255
    if instance is None:
        return NO_INSTANCE + "\n", 255
    instance.asm.rack.advance()
    instance.asm.settle()
    try:
        if on_files is not None:
            return on_files(instance, place, words[1:]), 0
        assert command is not None
        return command(instance, words[1:]), 0
    except CommandError as error:
        return f"{error}\n", 255
    except OraError as error:
        stack = "".join(f"{line}\n" for line in error.stack)
        return stack, 255


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


def _showclustermode(instance: Instance, words: Sequence[str]) -> str:
    options_of(words)
    return "ASM cluster : Flex mode disabled\n"


def _showclusterstate(instance: Instance, words: Sequence[str]) -> str:
    options_of(words)
    return "Normal\n"


def _spget(instance: Instance, words: Sequence[str]) -> str:
    options_of(words)
    return f"{parameters(instance)['spfile'][1]}\n"


def _mount(mount: bool) -> Callable[[Instance, Sequence[str]], str]:
    def run(instance: Instance, words: Sequence[str]) -> str:
        options = options_of(words, flags="af", long=("restrict",))
        if not options.rest and not options.has("a"):
            raise CommandError("ASMCMD-8203: no diskgroup name is given")
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
    options = options_of(words, flags="w", valued=("power",))
    if not options.rest:
        raise CommandError("ASMCMD-8203: no diskgroup name is given")
    power = options.flags.get("power", "")
    rebalance = Rebalance(power=int(power) if re.fullmatch("[0-9]{1,9}", power) else None)
    asm_changes.execute(instance.asm, instance.node, RebalanceGroup(name=options.rest[0].upper(), rebalance=rebalance))
    return "Rebal on progress.\n"


def _dropdg(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, flags="rf")
    if not options.rest:
        raise CommandError("ASMCMD-8203: no diskgroup name is given")
    statement = DropGroup(
        name=options.rest[0].upper(), including=options.has("r"), force=options.has("f") and options.has("r")
    )
    asm_changes.execute(instance.asm, instance.node, statement)
    return ""


def _dsget(instance: Instance, words: Sequence[str]) -> str:
    options_of(words)
    value = instance.asm.parameters["asm_diskstring"]
    return f"parameter:{value}\nprofile:{value}\n"


def _dsset(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, long=("normal", "parameter", "profile"))
    if len(options.rest) != 1:
        raise CommandError("ASMCMD-8203: usage: dsset [--normal | --parameter | --profile] <diskstring>")
    instance.asm.parameters["asm_diskstring"] = options.rest[0]
    return ""


def _setattr(instance: Instance, words: Sequence[str]) -> str:
    options = options_of(words, valued=("G",))
    if "G" not in options.flags or len(options.rest) != 2:
        raise CommandError("ASMCMD-8203: usage: setattr -G <diskgroup> <attribute> <value>")
    name, value = options.rest
    statement = SetAttribute(name=options.flags["G"].upper(), attribute=name.lower(), value=value)
    asm_changes.execute(instance.asm, instance.node, statement)
    return ""


def _iostat(instance: Instance, words: Sequence[str]) -> str:
    """Bytes (with --io: requests) since the disks were mounted."""
    options = options_of(words, flags="etH", long=("io", "suppressheader"), valued=("G",))
    names = {group.number: group.name for group in instance.asm.groups.values() if group.mounted}
    rows = [
        {**row, "GROUP": names[int(str(row["GROUP_NUMBER"]))]}
        for row in rows_of(instance, "V$ASM_DISK_STAT")
        if row["NAME"]
    ]
    if "G" in options.flags:
        wanted = mounted_group(instance, options.flags["G"]).name
        rows = [row for row in rows if row["GROUP"] == wanted]
    counts = ("READS", "WRITES") if options.has("io") else ("BYTES_READ", "BYTES_WRITTEN")
    titles = [("Group_Name", "GROUP"), ("Dsk_Name", "NAME"), ("Reads", counts[0]), ("Writes", counts[1])]
    titles += [("Read_Err", "READ_ERRS"), ("Write_Err", "WRITE_ERRS")] if options.has("e") else []
    titles += [("Read_Time", "READ_TIME"), ("Write_Time", "WRITE_TIME")] if options.has("t") else []
    return table(titles, rows, options)


def _mkdg(instance: Instance, words: Sequence[str]) -> str:
    """Create a disk group from its description in XML."""
    root = described(options_of(words), "dg", "a disk group", '<dg name="..." redundancy="...">...</dg>')
    text = f"create diskgroup {root.get('name')} {root.get('redundancy', 'normal')} redundancy"
    for node in root:
        if node.tag == "fg":
            text += f" failgroup {node.get('name')}"
        disks = [d.get("string", "") for d in (node if node.tag == "fg" else [node]) if d.tag == "dsk"]
        text += " disk " + ", ".join(f"'{disk}'" for disk in disks) if disks else ""
    attributes = [f"'{node.get('name')}'='{node.get('value')}'" for node in root if node.tag == "a"]
    text += f" attribute {', '.join(attributes)}" if attributes else ""
    asm_changes.execute(instance.asm, instance.node, parse_statement(text))
    return ""


_COMMANDS: Mapping[str, Callable[[Instance, Sequence[str]], str]] = {
    "dropdg": _dropdg,
    "dsget": _dsget,
    "dsset": _dsset,
    "iostat": _iostat,
    "lsattr": _lsattr,
    "lsct": _lsct,
    "lsdg": _lsdg,
    "lsdsk": _lsdsk,
    "lsop": _lsop,
    "mkdg": _mkdg,
    "mount": _mount(True),
    "rebal": _rebal,
    "setattr": _setattr,
    "showclustermode": _showclustermode,
    "showclusterstate": _showclusterstate,
    "spget": _spget,
    "umount": _mount(False),
    **CHANGING,
}
