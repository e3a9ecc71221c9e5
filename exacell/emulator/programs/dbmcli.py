"""The ``dbmcli`` program of emulated database nodes: the server itself, its disks, ports and metrics.

DBMCLI has CellCLI's syntax and layouts for the objects of a database server. Here LIST and DESCRIBE know DBSERVER,
PHYSICALDISK, IBPORT, the metrics with their definitions and history, IORMPLAN, and ALERTHISTORY; there are no alerts. Every
other statement fails as unknown to DBMCLI; the error code is CellCLI's number with DBMCLI's prefix, because no public source
shows it.

Source: Oracle DBMMN, dbmcli-command-reference, list-dbserver, describe-dbserver; reference cellcli.md 1.6.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import resources
from types import MappingProxyType
from typing import Any

from exacell.emulator.basics.clock import banner_time, last_minute
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.names import node_address
from exacell.emulator.basics.program import Ask, Out, Program
from exacell.emulator.basics.schema import Attribute, ObjectType, object_types, release_of, rows_of
from exacell.emulator.cellcli.program import Options, parse_options
from exacell.emulator.faults.effects import afflicted
from exacell.emulator.grammar.reading import ListStatement, parse_describe, parse_list
from exacell.emulator.grammar.tokens import TokenStream, is_comment, statements_of
from exacell.emulator.grammar.values import Row, Size, order_key, passes
from exacell.emulator.programs.dbm_metrics import OBJECT_TYPES as METRIC_TYPES, DbmReader, definitions
from exacell.emulator.programs.raid_tools import drives_of
from exacell.emulator.state.build import guid
from exacell.emulator.state.view import RackView
from exacell.emulator.statements import printer

SINCE = (12, 1, 2)
"""The first release with DBMCLI. Source: Oracle DBMMN, "introduced with 12.1.2.1.0"."""
PROMPT = "DBMCLI> "
_NO_PLAN_SINCE = (24, 1)
"""Source: on-line HELP of DBMCLI on a 24.x server, which has no IORMPLAN; that it is gone from here on is our guess."""
_KEPT_ROWS = 100_000
"""Rows of a history that are kept in memory between computing the widths of columns and printing them."""
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
        for name, kind, flags, since, until in rows_of("dbserver.tsv")
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
    others = {name: object_types()[name] for name in ("ALERTHISTORY", "PHYSICALDISK", "IBPORT", *METRIC_TYPES)}
    plan = replace(object_types()["IORMPLAN"], until=_NO_PLAN_SINCE)
    return MappingProxyType({"DBSERVER": server, "IORMPLAN": plan, **others})


def _reader(rack: RackView, node: str) -> DbmReader:
    hardware = _hardware()[rack.spec.model]
    fans = int(str(hardware["fan_count"]).partition("/")[0])
    return DbmReader(rack, node, cores=int(hardware["cores"]), memory_gb=int(hardware["memory_gb"]), fans=fans)


def plan_row(node: str) -> Row:
    """Return the one row of LIST IORMPLAN; it is empty, because a database server has no I/O that a plan could divide."""
    return {"name": f"{node}_IORMPLAN", "catPlan": "", "dbPlan": "", "objective": "basic", "status": "active"}


@cache
def _hardware() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("exacell").joinpath("emulator/data/dbservers.toml").read_text("utf-8"))


def server_processors(model: str) -> int:
    """Return the number of processors (threads) of the database servers that belong to a model of cells."""
    return 2 * int(_hardware()[model]["cores"])


def server_memory_gb(model: str) -> int:
    """Return the memory in GB of the database servers that belong to a model of cells."""
    return int(_hardware()[model]["memory_gb"])


def server_row(rack: RackView, node: str) -> Row:
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
    return row


def disk_rows(rack: RackView, node: str) -> list[Row]:
    """Return the rows of LIST PHYSICALDISK: the drives of the RAID controller."""
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


def dbmcli(rack: RackView, node: str, argv: Sequence[str], *, tty: bool, has_stdin: bool) -> Program:
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


def _converse(rack: RackView, node: str, options: Options, *, tty: bool, ask: bool) -> Program:
    """Read statements from standard input until it ends or EXIT; banner and prompts are those of CellCLI."""
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


def _batch(rack: RackView, node: str, text: str, *, echoed: int = 0) -> Program:
    for statement in () if is_comment(text) else statements_of(text):
        if is_comment(statement):
            continue
        rack.advance()
        try:
            yield from afflicted(rack, node, statement, _printed(rack, node, statement), _refused)
        except CellError as error:
            if error.position is not None:
                yield Out(" " * (echoed + error.position) + "^\n")
            yield Out(f"{error.line.replace('CELL-', 'DBM-', 1)}\n")
    return 0


def _printed(rack: RackView, node: str, statement: str) -> Program:
    for text in _answer(rack, node, statement):
        yield Out(text)
    return 0


def _refused(line: str) -> Program:
    yield Out(f"{line.replace('CELL-', 'DBM-', 1)}\n" if line else "")
    return 0


def _answer(rack: RackView, node: str, text: str) -> Iterator[str]:
    """Yield the output of a statement.

    Raises:
        CellError: DBMCLI does not know the statement, or there is no such object.
    """
    release, known = rack.release.number, dbm_object_types()
    stream = TokenStream(text)
    if stream.expect_word("LIST", "DESCRIBE") == "LIST":
        yield from _list(rack, node, parse_list(stream, release, known))
    else:
        yield printer.describe(parse_describe(stream, release, known).object_type, release)


def _list(rack: RackView, node: str, statement: ListStatement) -> Iterator[str]:
    owner, release = statement.object_type, rack.release.number
    if owner.name in METRIC_TYPES:
        for name in statement.names:
            if name.upper() not in definitions(release):
                raise CellError(Code.OBJECT_MISSING, kind="Metric", name=name)
    columns = statement.attributes
    if columns is None:
        names = (
            [a.name for a in owner.attributes_in(release) if not a.hidden]
            if statement.detail
            else owner.default_columns
        )
        columns = tuple(a for name in names if (a := owner.attribute(name, release)) is not None)
    plain = statement.limit is None and not statement.order_by and not statement.detail and statement.over is None
    if owner.name == "METRICHISTORY" and plain:
        yield from _history(rack, node, statement, columns)
        return
    rows = [row for row in _rows(rack, node, statement) if _passes(row, statement)]
    if owner.name == "METRICCURRENT":
        order = {name.upper(): place for place, name in enumerate(statement.names)}
        rows.sort(key=lambda row: order.get(str(row["name"]), 0))
    for attribute, descending in reversed(statement.order_by):
        rows.sort(key=partial(_key, attribute), reverse=descending)
    layout = printer.detail if statement.detail else printer.plain
    yield layout(rows[: statement.limit], columns, largest_suffix=rack.release.largest_suffix)


def _rows(rack: RackView, node: str, statement: ListStatement) -> Iterator[Row]:
    """Yield the rows of the named objects of one type, before the filters.

    Raises:
        CellError: there is no object of that name.
    """
    kind, reader = statement.object_type.name, _reader(rack, node)
    if kind == "METRICDEFINITION":
        yield from reader.definition_rows(statement.names)
    elif kind == "METRICCURRENT":
        yield from reader.rows(last_minute(rack.now()), statement)
    elif kind == "METRICHISTORY":
        for moment in reader.minutes(statement):
            yield from reader.rows(moment, statement)
    else:
        known = {"DBSERVER": lambda: [server_row(rack, node)], "IORMPLAN": lambda: [plan_row(node)]}
        known |= {"PHYSICALDISK": lambda: disk_rows(rack, node), "IBPORT": reader.ports}
        rows = known.get(kind, list)()
        for name in statement.names:
            rows = [row for row in rows if str(row["name"]).lower() == name.lower()]
            if not rows:
                raise CellError(Code.OBJECT_MISSING, kind=kind.capitalize(), name=name)
        yield from rows


def _passes(row: Row, statement: ListStatement) -> bool:
    return all(passes(row.get(f.attribute.name), f) for f in statement.filters)


def _history(rack: RackView, node: str, statement: ListStatement, columns: Sequence[Attribute]) -> Iterator[str]:
    """Yield a history minute by minute. While the column widths are computed, nothing is yielded: a week has a million rows."""
    reader, suffix = _reader(rack, node), rack.release.largest_suffix
    minutes, widths = list(reader.minutes(statement)), [1] * len(columns)
    kept: dict[float, list[list[str]]] = {}
    for moment in minutes:
        table = _table(reader, moment, statement, columns, suffix)
        for row in table:
            widths = [max(width, len(text)) for width, text in zip(widths, row, strict=True)]
        if len(minutes) * len(table) <= _KEPT_ROWS:
            kept[moment] = table
        yield ""
    for moment in minutes:
        yield printer.rows_in(kept.get(moment) or _table(reader, moment, statement, columns, suffix), widths)


def _table(
    reader: DbmReader, moment: float, statement: ListStatement, columns: Sequence[Attribute], suffix: str
) -> list[list[str]]:
    rows = [row for row in reader.rows(moment, statement) if _passes(row, statement)]
    return printer.table(rows, columns, largest_suffix=suffix)


def _key(attribute: Attribute, row: Row) -> tuple[int, float, str]:
    return order_key(row.get(attribute.name))
