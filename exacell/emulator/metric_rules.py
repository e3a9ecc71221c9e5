"""How each metric follows from the counters of its object: a rule for each name, made from the parts of the name.

Rates are the derivatives of cumulative metrics, means the growth of time over the growth of requests, utilisations the
share of the minute that devices were busy. A rule takes the base values of one object at a collection and at the one a
minute before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from exacell.emulator.clock import MINUTE
from exacell.emulator.schema import MetricDefinition, metric_definitions

Base = Mapping[str, float]
Rule = Callable[[Base, Base], float]

DISKS = "disks"
"""Name under which a base says over how many devices its busy time spreads; 1 when it does not."""

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
"""Metrics that have another name today."""

_RENAMED_RATES: Mapping[str, str] = {
    "N_HCA_MB_RCV_SEC": "MB_RCVD",
    "N_HCA_MB_TRANS_SEC": "MB_SENT",
    "N_IB_MB_RCV_SEC": "MB_RCVD",
    "N_IB_MB_TRANS_SEC": "MB_SENT",
    "OS_NET_RX_BY_SEC": "MB_RCVD",
    "OS_NET_TX_BY_SEC": "MB_SENT",
    "EXW_ROCE_RX_BY_SEC": "EXW_ROCE_PORT_RCV_BY",
    "EXW_ROCE_TX_BY_SEC": "EXW_ROCE_PORT_XMIT_BY",
}
LINK_MB_SEC = 4000.0
"""Megabytes that one port of the RDMA network carries in a second: QDR InfiniBand, 32 Gbit/s of payload."""


def _value(name: str) -> Rule:
    return lambda now, before: now.get(name, 0)


def _growth(name: str, divisor: float) -> Rule:
    def rule(now: Base, before: Base) -> float:
        return (now.get(name, 0) - before.get(name, 0)) / divisor

    return rule


def _mean(amount: str, count: str) -> Rule:
    def rule(now: Base, before: Base) -> float:
        requests = now.get(count, 0) - before.get(count, 0)
        return (now.get(amount, 0) - before.get(amount, 0)) / requests if requests else 0.0

    return rule


def _busy(time: str, *, percent: bool) -> Rule:
    def rule(now: Base, before: Base) -> float:
        load = (now.get(time, 0) - before.get(time, 0)) / _BUSY_US
        return min(100.0, 100.0 * load / (now.get(DISKS, 0) or 1)) if percent else load

    return rule


def _utilisation(of: str) -> Rule:
    def rule(now: Base, before: Base) -> float:
        return (now.get(of, 0) - before.get(of, 0)) / MINUTE / LINK_MB_SEC * 100

    return rule


def _hit_ratio(now: Base, before: Base) -> float:
    hits, misses = (now.get(n, 0) - before.get(n, 0) for n in ("HITS", "MISSES"))
    return 100.0 * hits / (hits + misses) if hits + misses else 0.0


def efficiency(now: Base, before: Base) -> float:
    """Return the percentage of would-be outliers that were prevented; 100 when there were none."""
    prevented, actual = (now.get(n, 0) - before.get(n, 0) for n in ("FL_PREVENTED_OUTLIERS", "FL_ACTUAL_OUTLIERS"))
    return 100.0 * prevented / (prevented + actual) if prevented + actual else 100.0


def _of_iorm(name: str) -> Rule | None:
    """Return the rule of a LOAD or UTIL of IORM; None for its other metrics."""
    head, found, tail = name.partition("_IO_")
    if not found or head.partition("_")[0] not in ("DB", "PDB", "CG", "CLU", "VLT", "VOL"):
        return None
    if tail == "LOAD":
        return _busy(f"{head}_IO_TM", percent=False)
    if tail.startswith("UTIL"):
        return _scaled(f"{head}_IO_TM{tail.removeprefix('UTIL')}", f"{head}_{DISKS}")
    return None


def _scaled(time: str, disks: str) -> Rule:
    def rule(now: Base, before: Base) -> float:
        load = (now.get(time, 0) - before.get(time, 0)) / _BUSY_US
        return min(100.0, 100.0 * load / (now.get(disks, 0) or 1))

    return rule


def _mean_of(name: str) -> Rule:
    """Return the rule of ``…_TM_…_RQ`` or ``…_WT_…_RQ``: growth of that time over growth of its requests."""
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
    if name == "FL_EFFICIENCY_PERCENTAGE":
        return lambda now, before: efficiency(now, {})
    if name in _FORMER:
        return _value(_FORMER[name])
    if name == "GD_FC_HIT_RATIO_PCT":
        return _hit_ratio
    if name in _MEANS:
        return _mean(*_MEANS[name])
    if name in _BUSY:
        time, percent = _BUSY[name]
        return _busy(time, percent=percent)
    if name.startswith("N_IB_UTIL_"):
        return _utilisation("MB_RCVD" if name.endswith("RCV") else "MB_SENT")
    iorm = _of_iorm(name)
    if iorm is not None:
        return iorm
    if name.startswith(("CL_", "N_NIC_")):
        return _value(name)
    if name in _RENAMED_RATES:
        return _growth(_RENAMED_RATES[name], MINUTE)
    if definition.unit in ("us/request", "ms/request"):
        return _mean_of(name)
    if name.endswith("_SEC"):
        return _growth(name.removesuffix("_SEC"), MINUTE)
    if name.endswith("_MIN"):
        return _growth(name.removesuffix("_MIN"), 1.0)
    return _value(name)
