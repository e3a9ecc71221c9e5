"""The ``dbmcli`` program of emulated database nodes: the server itself, its disks and its alerts.

DBMCLI has CellCLI's syntax and layouts for the objects of a database server. Here are DBSERVER, which can be altered,
PHYSICALDISK, and ALERTHISTORY; there are no alerts. Every other statement fails as one that DBMCLI does not know, whose
code here is CellCLI's number with DBMCLI's prefix: no public source shows it.

Source: Oracle DBMMN, dbmcli-command-reference, list-dbserver, describe-dbserver; reference cellcli.md 1.6.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any

from exacell.emulator import printer
from exacell.emulator.build import guid
from exacell.emulator.cellcli import Options, parse_options
from exacell.emulator.clock import banner_time
from exacell.emulator.dbmcli_changes import change
from exacell.emulator.grammar import Describe, ListStatement, parse_describe, parse_list
from exacell.emulator.messages import CellError, Code
from exacell.emulator.names import node_address
from exacell.emulator.program import Ask, Out, Program
from exacell.emulator.rack import Rack
from exacell.emulator.raid_tools import drives_of
from exacell.emulator.schema import Attribute, ObjectType, object_types, release_of, rows_of
from exacell.emulator.tokens import TokenStream, is_comment, statements_of
from exacell.emulator.values import Row, Size, order_key, passes

SINCE = (12, 1, 2)
"""Releases from this on have DBMCLI. Source: Oracle DBMMN, "introduced with 12.1.2.1.0"."""
PROMPT = "DBMCLI> "
_USAGE = "Usage: dbmcli [-n] [-m] [-x] [-e command]\n"


@cache
def dbm_object_types() -> Mapping[str, ObjectType]:
    """Return DBMCLI's object types by upper-case name."""
    attributes = tuple(
        Attribute(
            name=name,
            kind=kind,
            modifiable="m" in flags,
            hidden=False,
            since=None if since == "-" else release_of(since),
            until=None if until == "-" else release_of(until),
        )
        for name, kind, flags, since, until in rows_of("dbserver.tsv", "emulator")
    )
    server = ObjectType(
        name="DBSERVER",
        element="dbserver",
        verbs=frozenset(("LIST", "DESCRIBE")),
        list_forms=frozenset(("name", "filter")),
        default_columns=("name", "status"),
        since=None,
        until=None,
        attributes=attributes,
    )
    others = {name: object_types()[name] for name in ("ALERTHISTORY", "PHYSICALDISK")}
    return MappingProxyType({"DBSERVER": server, **others})


@cache
def _hardware() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("exacell").joinpath("emulator/data/dbservers.toml").read_text("utf-8"))


def server_processors(model: str) -> int:
    """Return how many processors the database servers have that go with a model of cells, threads counted."""
    return 2 * int(_hardware()[model]["cores"])


def server_memory_gb(model: str) -> int:
    """Return the memory of the database servers that go with a model of cells."""
    return int(_hardware()[model]["memory_gb"])


def server_row(rack: Rack, node: str) -> Row:
    """Return the one row of LIST DBSERVER."""
    release, hardware = rack.release, _hardware()[rack.spec.model]
    number = rack.dbnodes.index(node)
    up = int(rack.now() - next(iter(rack.cells.values())).boot_time) + 900 - number * 61
    days, clock = divmod(up, 86400)
    row: Row = {
        "name": node,
        "bbuStatus": "normal",
        "coreCount": f"{hardware['cores']}/{hardware['cores']}",
        "cpuCount": f"{server_processors(rack.spec.model)}/{server_processors(rack.spec.model)}",
        "diagHistoryDays": 7,
        "fanCount": hardware["fan_count"],
        "fanStatus": "normal",
        "httpsAccess": "ALL",
        "id": guid(f"{rack.spec.seed}|{node}")[:10].replace("-", "").upper(),
        "interconnectCount": len(hardware["interconnects"]),
        "ipaddress1": f"{node_address(number + 1)}/22",
        "kernelVersion": release.kernel,
        "locatorLEDStatus": "off",
        "makeModel": hardware["make_model"],
        "metricHistoryDays": 7,
        "msVersion": f"OSS_{release.banner}_LINUX.X64_{release.version.removeprefix(release.banner + '.')}",
        "pendingCoreCount": "",
        "powerCount": "2/2",
        "powerStatus": "normal",
        "releaseImageStatus": "success",
        "releaseTrackingBug": release.tracking_bug,
        "releaseVersion": release.version,
        "status": "online",
        "temperatureReading": 24.0,
        "temperatureStatus": "normal",
        "upTime": f"{days} days, {clock // 3600}:{clock % 3600 // 60:02d}",
        "msStatus": "running",
        "rsStatus": "running",
    }
    for index, interface in enumerate(hardware["interconnects"], start=1):
        row[f"interconnect{index}"] = interface
    return {**row, **rack.server_settings.get(node, {})}


def disk_rows(rack: Rack, node: str) -> list[Row]:
    """Return the rows of LIST PHYSICALDISK: the drives that the RAID controller has."""
    return [
        {
            "name": f"{drive.enclosure}:{drive.slot}",
            "deviceId": int(drive.device),
            "diskType": "HardDisk",
            "enclosureDeviceId": drive.enclosure,
            "errMediaCount": 0,
            "errOtherCount": 0,
            "id": drive.serial,
            "luns": f"0_{drive.slot}",
            "makeModel": drive.maker,
            "physicalInterface": "sas",
            "physicalSerial": drive.serial,
            "physicalSize": Size(drive.size_bytes),
            "slotNumber": str(drive.slot),
            "status": "normal",
        }
        for drive in drives_of(rack, node)
    ]


def dbmcli(rack: Rack, node: str, argv: Sequence[str], *, tty: bool, has_stdin: bool) -> Program:
    """Run ``dbmcli`` on a database node.

    Returns:
        A program; its exit status is 0 whenever the options were right, and 127 on releases that have no DBMCLI.
    """
    if rack.release.number < SINCE:
        yield Out("dbmcli: command not found\n", err=True)
        return 127
    options = parse_options(argv, rack.release.number)
    if options is None or options.xml or options.json:
        yield Out(_USAGE)
        return 1
    if options.commands is not None:
        yield from _batch(rack, node, options.commands)
        return 0
    return (yield from _converse(rack, node, options, tty=tty, ask=tty or has_stdin))


def _converse(rack: Rack, node: str, options: Options, *, tty: bool, ask: bool) -> Program:
    """Read statements from standard input until it ends or EXIT; banner and prompts as CellCLI has them."""
    release, prompts = rack.release, not options.no_prompt
    if not options.no_banner:
        yield Out(f"\nDBMCLI: Release {release.banner} - Production on {banner_time(rack.now())}\n")
        yield Out(f"\n{release.copyright}\n\n")
    while ask:
        if prompts and not tty:
            yield Out(PROMPT)
        line = yield Ask(PROMPT if prompts and tty else "")
        if line is None or line.strip().rstrip(";").strip().upper() in ("EXIT", "QUIT"):
            yield Out("quitting\n\n" if tty and line is not None else "\n" * prompts)
            break
        yield from _batch(rack, node, line, echoed=len(PROMPT) if prompts else 0)
        if prompts and line.strip():
            yield Out("\n")
    return 0


def _batch(rack: Rack, node: str, text: str, *, echoed: int = 0) -> Program:
    for statement in () if is_comment(text) else statements_of(text):
        if is_comment(statement):
            continue
        rack.advance()
        try:
            yield Out(_answer(rack, node, statement))
        except CellError as error:
            if error.position is not None:
                yield Out(" " * (echoed + error.position) + "^\n")
            yield Out(f"{error.line.replace('CELL-', 'DBM-', 1)}\n")
    return 0


def _answer(rack: Rack, node: str, text: str) -> str:
    """Return what a statement prints.

    Raises:
        CellError: DBMCLI does not know it, or there is no such object.
    """
    release, known = rack.release.number, dbm_object_types()
    stream = TokenStream(text)
    parsed: ListStatement | Describe
    start = stream.peek()
    verb = stream.expect_word("LIST", "DESCRIBE", "ALTER", "DROP")
    if verb in ("ALTER", "DROP"):
        word = stream.peek()
        if not word.is_word(*known):
            raise stream.error()
        changed = known[stream.take().text.upper()]
        if (verb, changed.name) not in (("ALTER", "DBSERVER"), ("DROP", "ALERTHISTORY")):
            raise CellError(Code.SYNTAX, position=start.start)
        cores = int(_hardware()[rack.spec.model]["cores"])
        return "".join(f"{line}\n" for line in change(rack, node, changed, verb, stream, cores))
    if verb == "LIST":
        parsed = parse_list(stream, release, known)
    else:
        parsed = parse_describe(stream, release, known)
    owner = parsed.object_type
    if isinstance(parsed, Describe):
        return printer.describe(owner, release)
    rows = [server_row(rack, node)] if owner.name == "DBSERVER" else []
    if owner.name == "PHYSICALDISK":
        rows = disk_rows(rack, node)
    for name in parsed.names:
        rows = [row for row in rows if str(row["name"]).lower() == name.lower()]
        if not rows:
            raise CellError(Code.OBJECT_MISSING, kind=owner.name.capitalize(), name=name)
    rows = [row for row in rows if all(passes(row.get(f.attribute.name), f) for f in parsed.filters)]
    for attribute, descending in reversed(parsed.order_by):
        rows.sort(key=partial(_key, attribute), reverse=descending)
    columns = parsed.attributes
    if columns is None:
        names = [a.name for a in owner.attributes_in(release)] if parsed.detail else owner.default_columns
        columns = tuple(a for name in names if (a := owner.attribute(name, release)) is not None)
    layout = printer.detail if parsed.detail else printer.plain
    return layout(rows[: parsed.limit], columns, largest_suffix=rack.release.largest_suffix)


def _key(attribute: Attribute, row: Row) -> tuple[int, float, str]:
    return order_key(row.get(attribute.name))
