"""How each metric is computed from the counters of its object: a rule for each name, derived from the parts of the name.

Rates are the derivatives of cumulative metrics, means the growth of time over the growth of requests, utilisations the
share of the minute that devices were busy. A rule takes base values at a collection and at the one a minute before, for all
objects of one type together, because a history needs them at thousands of minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from exacell.core.units import KIB
from exacell.emulator.basics.clock import MINUTE
from exacell.emulator.basics.schema import MetricDefinition, metric_definitions
from exacell.emulator.io.smart_scans import SESSIONS_HWM, sessions

Base = Mapping[str, float]
"""The base values of one object."""
Column = Callable[[str], list[float]]
"""Returns the base value of a given name for all objects."""

DISKS = "disks"
"""Name of the base value for the number of devices among which busy time is divided; 1 if it is missing."""

CPUS = "cpus"
"""Name of the base value for the number of processors among which the time of smart scans is divided."""

_BUSY_US = MINUTE * 1e6
_MEANS: Mapping[str, tuple[str, str]] = {
    "FL_IO_TM_W_RQ": ("FL_IO_TM_W", "FL_IO_W"),
    "FL_RQ_TM_W_RQ": ("FL_RQ_TM_W", "FL_RQ_W"),
    "OS_IO_RQ_R_SZ": ("KB_R", "RQ_R"),
    "OS_IO_RQ_W_SZ": ("KB_W", "RQ_W"),
    "OS_IO_RQ_SZ": ("KB", "RQ"),
    "OS_IO_WT_RQ": ("MS", "RQ"),
    "OS_IO_TM_RQ": ("MS", "RQ"),
    "OS_IO_WT_R_RQ": ("MS_R", "RQ_R"),
    "OS_IO_WT_W_RQ": ("MS_W", "RQ_W"),
    "CD_IO_ST_RQ": ("TM", "RQ"),
}
_BUSY: Mapping[str, tuple[str, bool]] = {
    "CD_IO_LOAD": ("TM", False),
    "CD_IO_UTIL": ("TM", True),
    "CD_IO_UTIL_LG": ("TM_LG", True),
    "CD_IO_UTIL_SM": ("TM_SM", True),
    "OS_IO_AQU_SZ": ("TM", False),
    "OS_IO_UTIL_PCT": ("TM", True),
}
_FORMER: Mapping[str, str] = {"FL_IO_W_SKIP_LOG_ON_FLASH": "FL_IO_W_SKIP_LOG_ON_FAST_DEV"}
"""Earlier names of metrics and their present names."""

_RENAMED_RATES: Mapping[str, str] = {
    "N_HCA_MB_RCV_SEC": "MB_RCVD",
    "N_HCA_MB_TRANS_SEC": "MB_SENT",
    "N_IB_MB_RCV_SEC": "MB_RCVD",
    "N_IB_MB_TRANS_SEC": "MB_SENT",
    "OS_NET_RX_BY_SEC": "MB_RCVD",
    "OS_NET_TX_BY_SEC": "MB_SENT",
    "EXW_ROCE_RX_BY_SEC": "EXW_ROCE_PORT_RCV_BY",
    "EXW_ROCE_TX_BY_SEC": "EXW_ROCE_PORT_XMIT_BY",
    "CL_IO_RQ_NODATA_SEC": "CL_IO_RQ_NODATA",
}
_SCANS = ("PDB_SCAN_TM", "ELIGIBLE", "PASSED")

LINK_MB_SEC = 4000.0
"""Megabytes a second that one port of the RDMA network carries: QDR InfiniBand, 32 Gbit/s of payload."""


@dataclass(frozen=True)
class Rule:
    """How a metric is computed from base values: the names that it needs, and the function of their values.

    Attributes:
        now: names of base values at the collection.
        before: names of base values a minute earlier; their values follow those of ``now`` as arguments.
    """

    now: tuple[str, ...]
    before: tuple[str, ...]
    function: Callable[..., float] | None
    """None means the value itself."""

    def column(self, now: Column, before: Column) -> list[float]:
        """Return the metric for all objects, computed from the columns of their base values."""
        if self.function is None:
            return now(self.now[0])
        return list(map(self.function, *map(now, self.now), *map(before, self.before)))


def _value(name: str) -> Rule:
    return Rule((name,), (), None)


def _growth(name: str, divisor: float) -> Rule:
    return Rule((name,), (name,), lambda now, before: (now - before) / divisor)


def _mean(amount: str, count: str) -> Rule:
    def mean(amount_now: float, count_now: float, amount_before: float, count_before: float) -> float:
        requests = count_now - count_before
        return (amount_now - amount_before) / requests if requests else 0.0

    return Rule((amount, count), (amount, count), mean)


def _busy(time: str, *, percent: bool, disks: str = DISKS) -> Rule:
    def load(now: float, before: float) -> float:
        return (now - before) / _BUSY_US

    def share(now: float, devices: float, before: float) -> float:
        return min(100.0, 100.0 * load(now, before) / (devices or 1))

    return Rule((time, disks), (time,), share) if percent else Rule((time,), (time,), load)


def _utilisation(of: str) -> Rule:
    return Rule((of,), (of,), lambda now, before: (now - before) / MINUTE / LINK_MB_SEC * 100)


def _hit_ratio(hits: float, misses: float, hits_before: float, misses_before: float) -> float:
    hits, misses = hits - hits_before, misses - misses_before
    return 100.0 * hits / (hits + misses) if hits + misses else 0.0


def efficiency(prevented: float, actual: float) -> float:
    """Return the percentage of would-be outliers that were prevented; 100 when there were none."""
    return 100.0 * prevented / (prevented + actual) if prevented + actual else 100.0


def _offloaded(scan: float, eligible: float, passed: float, *before: float) -> float:
    """Return the percentage of a minute's smart scans that was not passed through; 0 without smart scans."""
    scan, eligible, passed = scan - before[0], eligible - before[1], passed - before[2]
    return 100.0 * max(0.0, eligible - passed) / eligible if scan and eligible else 0.0


OUTLIERS = ("FL_PREVENTED_OUTLIERS", "FL_ACTUAL_OUTLIERS")
"""The counters to whose values, or growths, :func:`efficiency` is applied."""


def _of_iorm(name: str) -> Rule | None:
    """Return the rule of an IORM metric LOAD or UTIL; None for IORM's other metrics."""
    head, found, tail = name.partition("_IO_")
    if not found or head.partition("_")[0] not in ("DB", "PDB", "CG", "CLU", "CT", "VLT", "VOL"):
        return None
    if tail == "LOAD":
        return _busy(f"{head}_IO_TM", percent=False)
    if tail.startswith("UTIL"):
        return _busy(f"{head}_IO_TM{tail.removeprefix('UTIL')}", percent=True, disks=f"{head}_{DISKS}")
    return None


def _mean_of(name: str) -> Rule:
    """Return the rule of ``…_TM_…_RQ`` or ``…_WT_…_RQ``: growth of that time divided by growth of its requests."""
    time = name.removesuffix("_RQ")
    for origin in ("_CLIENT", "_LOG"):
        time = time.removesuffix(origin)
    return _mean(time, time.replace("_IO_TM", "_IO_RQ").replace("_IO_WT", "_IO_RQ"))


@cache
def rules() -> Mapping[str, Rule]:
    """Return the rule of every metric by its name."""
    return {name: _rule(definition) for name, definition in metric_definitions().items()}


def _rule(definition: MetricDefinition) -> Rule:
    name = definition.name
    rule = _ALONE.get(name) or _of_tables(name) or _of_prefix(name) or _of_iorm(name)
    if rule is not None:
        return rule
    if name in _RENAMED_RATES:
        return _growth(_RENAMED_RATES[name], MINUTE)
    if name.startswith(("CL_", "N_NIC_")):
        return _value(name)
    if definition.unit in ("us/request", "ms/request"):
        return _mean_of(name)
    if name.endswith("_SEC"):
        return _growth(name.removesuffix("_SEC"), MINUTE)
    if name.endswith("_MIN"):
        return _growth(name.removesuffix("_MIN"), 1.0)
    return _value(name)


_ALONE: Mapping[str, Rule] = {
    "EXW_RDS_CONN_RESET": _growth("EXW_RDS_CONN_RESET", 1.0),
    "EXW_SIO_SESSIONS_CURRENT": Rule(("SIO_IO_EL_OF",), ("SIO_IO_EL_OF",), lambda now, before: sessions(now - before)),
    "EXW_SIO_SESSIONS_HWM": _value(SESSIONS_HWM),
    "FL_EFFICIENCY_PERCENTAGE": Rule(OUTLIERS, (), efficiency),
    "GD_FC_HIT_RATIO_PCT": Rule(("HITS", "MISSES"), ("HITS", "MISSES"), _hit_ratio),
    "PDB_CPU_UTIL_COL": _busy("PDB_COLUMNS_TM", percent=True, disks=CPUS),
    "PDB_CPU_UTIL_SIO": _busy("PDB_SCAN_TM", percent=True, disks=CPUS),
    "PDB_SIO_OF_PCT": Rule(_SCANS, _SCANS, _offloaded),
}
"""Metrics with their own rule."""


def _of_tables(name: str) -> Rule | None:
    if name in _FORMER:
        return _value(_FORMER[name])
    if name in _MEANS:
        return _mean(*_MEANS[name])
    if name in _BUSY:
        time, percent = _BUSY[name]
        return _busy(time, percent=percent)
    return None


def _of_prefix(name: str) -> Rule | None:
    if name.startswith("GD_SP_IO_BY_") and name.endswith("_SEC"):
        return _growth(name.removesuffix("_SEC"), MINUTE * KIB)
    if name.startswith("EXW_IORM_RQ_"):
        return _growth(name, MINUTE * 1000)
    if name.startswith("N_IB_UTIL_"):
        return _utilisation("MB_RCVD" if name.endswith("RCV") else "MB_SENT")
    return None
