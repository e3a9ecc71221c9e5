"""The ``cellsrvstat`` program of emulated cells: prints CELLSRV's counters once or at intervals.

The counters are those that LIST METRICCURRENT collects, at the present moment; the column before them shows the increase since
the last output. A start of CELLSRV resets them, as it does there.

Source: the usage and outputs in Expert Oracle Exadata (chapters 5 and 11) and Oracle Exadata Survival Guide (chapter 9), an
ExaWatcher file of release 12.1 (where each column is wider and blank lines are fewer), a published ``cellsrvstat -list``.
Figures of memory, threads and jobs, everything that is 0 while the cell is well, and the answer to a wrong option are made up.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from exacell.core.units import KIB
from exacell.emulator.basics.program import Out, Pause, Program
from exacell.emulator.basics.schema import rows_of
from exacell.emulator.cell.models import Cell
from exacell.emulator.faults.effects import afflicted
from exacell.emulator.metrics.metrics import CellMetrics, gauges
from exacell.emulator.state.view import RackView

GROUPS = {
    "io": "Input/Output related stats",
    "mem": "Memory related stats",
    "exec": "Execution related stats",
    "net": "Network related stats",
    "smartio": "SmartIO related stats",
    "flashcache": "FlashCache related stats",
}
_FLASH_CACHE_SINCE = (12, 1)
"""Releases from this on have the group flashcache, wider columns and no blank lines."""
_LONGEST_COUNT = 100_000
_USAGE = """\
Usage:
    cellsrvstat [-stat_group=<group name>,<group name>,]
                [-stat=<stat name>,<stat name>,] [-interval=<interval>]
                [-count=<count>] [-short] [-list]
"""

Value = int | tuple[tuple[str, int], ...]
"""The value of a statistic: a number, or the rows below a heading."""


@dataclass(frozen=True, kw_only=True)
class Statistic:
    """A row of ``data/cellsrvstat.tsv``: its value is the sum of ``counters`` times ``unit``, or is computed under the name
    ``made``.
    """

    group: str
    name: str
    description: str
    absolute: bool
    counters: tuple[str, ...]
    unit: int
    made: bool


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    statistics: tuple[Statistic, ...]
    interval: float = 1.0
    count: int = 1
    short: bool = False
    list: bool = False


@cache
def statistics() -> tuple[Statistic, ...]:
    """Return all statistics in the order in which they are printed."""
    found: list[Statistic] = []
    for group, name, description, kind, what in rows_of("cellsrvstat.tsv", "emulator"):
        counters, _, unit = what.partition(" *")
        found.append(
            Statistic(
                group=group,
                name=name,
                description=description,
                absolute=kind == "*",
                counters=() if what in ("-", "=") else tuple(counters.split("+")),
                unit=int(unit or 1),
                made=what == "=",
            )
        )
    return tuple(found)


def cellsrvstat(rack: RackView, host: str, argv: Sequence[str]) -> Program:
    """Run ``cellsrvstat`` on a cell; ``-interval`` is in seconds of the rack's clock.

    Returns:
        A program; its exit status is 1 for wrong options, and while CELLSRV is down.
    """
    return afflicted(rack, host, " ".join(("cellsrvstat", *argv)), _run(rack, host, argv), _refused)


def _refused(line: str) -> Program:
    yield Out(f"{line}\n")
    return 1


def _run(rack: RackView, host: str, argv: Sequence[str]) -> Program:
    wanted = _parsed(argv, new=rack.release.number >= _FLASH_CACHE_SINCE)
    if isinstance(wanted, str):
        yield Out(f"{wanted}{_USAGE}", err=True)
        return 1
    if wanted.list:
        yield Out(_listed(wanted.statistics))
        return 0
    before: dict[str, Value] = {}
    for number in range(wanted.count):
        if number:
            yield Pause(wanted.interval)
        rack.advance()
        cell = rack.cells[host]
        if not cell.cellsrv_up:
            yield Out("cellsrvstat: CELLSRV does not run\n", err=True)
            return 1
        now = _values(rack, cell, rack.metrics[host])
        yield Out(_sample(wanted, now, before or now, rack))
        before = now
    return 0


def _parsed(argv: Sequence[str], *, new: bool) -> _Wanted | str:
    """Return the parsed options, or a text that says what is wrong with them."""
    known = [row for row in statistics() if new or row.group != "flashcache"]
    groups, names = dict.fromkeys(row.group for row in known), {row.name for row in known}
    options: dict[str, str] = {}
    words = [word for argument in argv for word in argument.split("=", 1)]
    while words:
        option = words.pop(0).lower()
        if option in ("-list", "-short"):
            options[option] = ""
        elif option in ("-stat", "-stat_group", "-interval", "-count") and words:
            options[option] = words.pop(0)
        else:
            return f"cellsrvstat: no option {option} with a value here\n"
    picked = _items(options.get("-stat_group")), _items(options.get("-stat"))
    for what, items, there in (("group", picked[0], groups), ("statistic", picked[1], names)):
        if unknown := [item for item in items if item not in there]:
            return f"cellsrvstat: no {what} {unknown[0]} here\n"
    chosen = [row for row in known if (not any(picked) or row.group in picked[0] or row.name in picked[1])]
    try:
        interval, count = float(options.get("-interval", 1)), int(options.get("-count", 1))
    except ValueError:
        interval, count = 0.0, 0
    if not 0 < interval < KIB * KIB or not 0 < count <= _LONGEST_COUNT:
        return "cellsrvstat: interval and count are numbers above 0\n"
    return _Wanted(
        statistics=tuple(known if "-list" in options else chosen),
        interval=interval,
        count=count,
        short="-short" in options,
        list="-list" in options,
    )


def _items(text: str | None) -> list[str]:
    return [item.strip().lower() for item in (text or "").split(",") if item.strip()]


def _listed(rows: Sequence[Statistic]) -> str:
    text = "Statistic Groups:\n"
    text += "".join(f"{group:<20}{GROUPS[group]:<48}\n" for group in dict.fromkeys(row.group for row in rows))
    text += "\nStatistics:\n[ * - Absolute values. Indicates no delta computation in tabular format]\n\n"
    return text + "".join(f"{row.name:<20}{row.description} {'*' if row.absolute else ''}\n" for row in rows)


def _sample(wanted: _Wanted, now: Mapping[str, Value], before: Mapping[str, Value], rack: RackView) -> str:
    new = rack.release.number >= _FLASH_CACHE_SINCE
    width, between = (53, "") if new else (50, "\n")
    moment = time.asctime(time.gmtime(rack.now()))
    text, group = f"{'===Current Time===':<{64 if new else 56}}{moment}\n", ""
    for row in wanted.statistics:
        if row.group != group:
            group = row.group
            text += f"{between}== {GROUPS[group]} ==\n"
        title, value, old = row.name if wanted.short else row.description, now[row.name], before[row.name]
        if isinstance(value, int):
            assert isinstance(old, int)
            text += f"{title:<{width}}{value - old:>15}{value:>15}\n"
            continue
        known = dict(old) if isinstance(old, tuple) else {}
        text += f"{title}\n"
        text += "".join(
            f"{' ' * 10}{name:<{width - 10}}{number - known.get(name, 0):>15}{number:>15}\n" for name, number in value
        )
        if row.name == "exec_topcpusqlid":
            text += f"END {title}\n"
    return text


def _values(rack: RackView, cell: Cell, metrics: CellMetrics) -> dict[str, Value]:
    counters = {**metrics.counters, **gauges(cell)}
    made = {**_memory(rack.model.memory_gb), **_threads(rack, metrics, counters), "sio_oe": _efficiency(counters)}
    return {
        row.name: made[row.name] if row.made else int(sum(counters.get(name, 0) for name in row.counters) * row.unit)
        for row in statistics()
    }


def _efficiency(counters: Mapping[str, float]) -> int:
    """Return the percentage of the data requested by smart scans that is sent back to databases."""
    asked = counters.get("SIO_IO_EL_OF", 0)
    return round(100 * counters.get("SIO_IO_OF_RE", 0) / asked) if asked else 0


def _memory(memory_gb: int) -> dict[str, Value]:
    """Return CELLSRV's memory in KB, by statistic: a fifth of the cell's memory."""
    whole = memory_gb * KIB * KIB // 5
    sga, pga = whole // 16, whole // 1000
    used = sga * 5 // 6
    areas = ("storidx:arrayRIDX", "storidx::arraySeqRIDX", "FlashCacheCtx", "Thread IO Lat Stats", "SUBHEAP Networ")
    heaps = ("oracle_fp_init_scan:fplibCtx", "oracle_fp_init_scan:fplibmd", "SageCacheInitScan : ctx")
    return {
        "mem_sgahu": used,
        "mem_sgahf": sga - used,
        "mem_sgaos": sga,
        "mem_sgahuc": used,
        "mem_pgaos": pga,
        "mem_pgahuc": pga * 2 // 5,
        "mem_allos": whole,
        "mem_sgatop": tuple((name, used // (4 + number)) for number, name in enumerate(areas)),
        "mem_sgasubtop": tuple((name, whole // (64 << number)) for number, name in enumerate(heaps)),
    }


def _threads(rack: RackView, metrics: CellMetrics, counters: Mapping[str, float]) -> dict[str, Value]:
    """Return the statistics of threads, jobs and network ports; the ports follow from the database nodes' instances."""

    def total(*names: str) -> int:
        return int(sum(counters.get(name, 0) for name in names))

    reads = total(*(f"{medium}.R_SM.RQ" for medium in "HFC"))
    writes = total(*(f"{medium}.W_{size}.RQ" for medium in "HFC" for size in ("SM", "LG")))
    scans = total("SIO_IO_RD_RQ_FC", "SIO_IO_RD_RQ_HD", "SIO_IO_RD_RQ_FC_HD")
    ports = len(rack.dbnodes) * (1 + len(rack.spec.db))
    jobs = {"CacheGet": reads, "CachePut": writes, "PredicateDiskRead": scans, "PredicateFilter": scans}
    return {
        "exec_incno": 1 + metrics.server_epoch,
        "exec_ntwork": 1,
        "exec_ntnetwait": 19,
        "exec_ntreswait": 1,
        "exec_ntmutexwait": 0,
        "exec_njx": tuple(jobs.items()),
        "exec_topcpusqlid": (),
        "net_sps": ports,
        "net_sph": ports + 1,
        "net_rois": ports * 10,
        "net_roih": ports * 12,
    }
