"""The gauges of a cell's processors, memory, fans and power: steady with some noise, and higher under load."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

_MODES = {"low_latency": 1, "balanced": 2, "high_throughput": 3}
"""IORM_MODE is printed as a whole number. Source: a published LIST METRICCURRENT."""
_REQUESTS_PER_PERCENT = 900.0
"""I/O requests a second that cost one percent of the processors."""

_NOISE: Mapping[str, tuple[float, float, int]] = {
    "CL_BBU_TEMP": (38.0, 1.0, 0),
    "CL_CPU_POWER_CONSUMPTION": (148.0, 5.0, 0),
    "CL_FSUT": (38.0, 0.0, 0),
    "CL_BBU_CHARGE": (92.0, 0.0, 1),
    "CL_MEMUT_MS": (1.4, 0.1, 1),
    "CL_POWER_CONSUMPTION": (412.0, 9.0, 0),
    "CL_RUNQ": (0.9, 0.5, 1),
    "CL_TEMP": (25.0, 0.6, 0),
    "CL_VIRTMEM_CS": (25_312.0, 0.0, 0),
    "CL_VIRTMEM_MS": (1_204.0, 0.0, 0),
    "N_NIC_KB_RCV_SEC": (2.1, 0.6, 3),
    "N_NIC_KB_TRANS_SEC": (3.4, 0.8, 3),
}
"""Per metric: value, how far it varies, decimals."""


def noise(key: str) -> float:
    """Return a number from -1 to 1 that depends only on ``key``."""
    return zlib.crc32(key.encode()) / 0x7FFFFFFF - 1.0


def ambient(
    key: str, *, cpus: int, memory_gb: int, fans: int, objective: str, requests_per_second: float
) -> dict[str, float]:
    """Return the metrics of the cell itself and of its operating system at one moment.

    Args:
        key: names the cell and the moment: the same key has the same noise.

    Returns:
        Values by metric name. Processor shares add up to 100, memory and swap to their totals.
    """
    found = {
        name: round(base + spread * noise(f"{key}|{name}"), places) for name, (base, spread, places) in _NOISE.items()
    }
    busy = min(80.0, requests_per_second / _REQUESTS_PER_PERCENT)
    load = busy * cpus / 100
    return {
        **found,
        **_processor_shares(key, busy),
        **_memory(key, memory_gb),
        "CL_CPU_COUNT": cpus,
        "CL_FANS": fans,
        "IORM_MODE": _MODES.get(objective, 3),
        "OS_CPU_LOAD1": round(found["CL_RUNQ"] + load, 2),
        "OS_CPU_LOAD5": round(0.9 + load, 2),
        "OS_CPU_LOAD15": round(0.9 + load, 2),
    }


def _processor_shares(key: str, busy: float) -> dict[str, float]:
    """Return how the processors' time is divided, in percent by metric name; ``busy`` is the percentage that I/O takes."""
    server = round(1.2 + 0.4 * noise(f"{key}|server") + busy, 1)
    management = round(0.3 + 0.1 * noise(f"{key}|management"), 1)
    system = round(0.6 + 0.2 * noise(f"{key}|system"), 1)
    waiting = round(min(5.0, busy / 10), 1)
    soft = round(0.1 + busy / 40, 1)
    interrupts = round(0.1 * (1 + noise(f"{key}|interrupts")) + busy / 100, 1)
    user = round(server + management, 1)
    total = round(user + system, 1)
    return {
        "CL_CPUT": total,
        "CL_CPUT_CS": server,
        "CL_CPUT_MS": management,
        "OS_CPU_USR_PCT": user,
        "OS_CPU_SYS_PCT": system,
        "OS_CPU_IOWAIT_PCT": waiting,
        "OS_CPU_SOFT_PCT": soft,
        "OS_CPU_IRQ_PCT": interrupts,
        "OS_CPU_IDLE_PCT": round(100.0 - user - system - waiting - soft - interrupts, 1),
        "OS_CPU_PCT": total,
    }


def _memory(key: str, memory_gb: int) -> dict[str, float]:
    """Return how the memory is divided, by metric name: in percent (UT, PCT), MB (OS_MEM), KB (OS_SWAP) and GB (EXW_CELLMEM)."""
    used_mb = memory_gb * 1024 * 0.41 + 40 * noise(f"{key}|memory")
    memory_mb = memory_gb * 1024.0
    swap_kb = 2_097_148.0
    cellsrv, offload, kernel = memory_gb * 0.27, memory_gb * 0.03, memory_gb * 0.02
    return {
        "CL_MEMUT": round(100 * used_mb / memory_mb),
        "CL_MEMUT_CS": 27.0,
        "CL_SWAP_USAGE": 0.0,
        "OS_MEM_BY_TOTAL": memory_mb,
        "OS_MEM_BY_USED": used_mb,
        "OS_MEM_BY_FREE": memory_mb - used_mb,
        "OS_MEM_BY_AVAIL": (memory_mb - used_mb) * 0.97,
        "OS_SWAP_BY_TOTAL": swap_kb,
        "OS_SWAP_BY_FREE": swap_kb,
        "EXW_CELLMEM_OS_TOTAL": memory_gb,
        "EXW_CELLMEM_OS_AVAIL": memory_gb * 0.57,
        "EXW_CELLMEM_OS_AVAIL_PCT": 57.0,
        "EXW_CELLMEM_OS_KNL": kernel,
        "EXW_CELLMEM_OS_USR": memory_gb * 0.43 - kernel,
        "EXW_CELLMEM_CELL_MAX": memory_gb * 0.6,
        "EXW_CELLMEM_CELL_CELLSRV": cellsrv,
        "EXW_CELLMEM_CELL_OFFLOAD": offload,
        "EXW_CELLMEM_CELL_KNL": kernel,
        "EXW_CELLMEM_OTHER_SERV": memory_gb * 0.03,
        "EXW_CELLMEM_CELL_AVAIL": memory_gb * 0.6 - cellsrv - offload - kernel,
        "EXW_CELLMEM_CELL_AVAIL_PCT": 100.0 * (0.6 - 0.27 - 0.03 - 0.02) / 0.6,
    }
