"""Descriptions of metrics in our own words, made from the parts of their names.

``DB_FD_IO_RQ_SM_SEC`` is read as database, flash disks, requests, small, a second. The sentences are in
``data/metric_words.tsv``, what the parts of a name stand for in them is here. Source of the meanings: reference cellcli.md 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from exacell.emulator.schema import MetricDefinition, rows_of
from exacell.errors import EmulatorError

_TO_FROM = {"R": "read from", "W": "write to"}
_LARGE_WRITES = {
    "DATATEMP": "large writes to data and temporary files",
    "TEMPSPILL": "large writes of work areas that spill",
    "WRITEONLY": "large writes of data that nobody has read",
}
_SKIPPED = (
    ("", ""),
    ("_FC_THROTTLE", " because flash was overloaded"),
    ("_LG", " because they were too large"),
    ("_NCMIRROR", " because another mirror is the one to cache"),
)
_WORDS: Mapping[str, Mapping[str, str]] = {
    "owner": {
        "DB": "a database",
        "PDB": "a pluggable database",
        "CG": "a consumer group",
        "CLU": "an ASM cluster",
        "CT": "a category of databases",
        "VLT": "a vault",
        "VOL": "a volume",
    },
    "media": {
        "": "hard disks",
        "CF_": "capacity-optimized flash",
        "FC_": "the flash cache",
        "FD_": "flash disks",
        "FL_": "the flash log",
    },
    "cache": {"FC": "the flash cache", "PC": "the cache on persistent memory", "XRM": "the cache in memory"},
    "size": {"": "", "_LG": "large ", "_SM": "small "},
    "disk": {"CD": "a cell disk", "GD": "a grid disk"},
    "do": _TO_FROM,
    "done": {"R": "read from", "W": "written to"},
    "to": {"R": "read", "W": "write"},
    "what": {"BY": "{amount}", "RQ": "Number"},
    "kept": {"": "", "KEEP": " for KEEP objects"},
    "end": {"FAILED": "failed", "SUCCEEDED": "succeeded"},
    "kind": {"DW": "large", "OLTP": "small"},
    "act": {
        "R": "small reads that the flash cache served",
        "R_DW": "large reads that the flash cache served",
        "R_MISS": "small reads for which the flash cache needed disks",
        "R_MISS_DW": "large reads for which the flash cache needed disks",
        "R_ACTIVE_SECONDARY": "reads of active secondary mirrors that the flash cache served",
        "R_ACTIVE_SECONDARY_MISS": "reads of active secondary mirrors for which the flash cache needed disks",
        "R_DISK_WRITER": "reads from the flash cache by the disk writer",
        "R_PROXYREAD": "reads for partner cells that the flash cache served",
        "R_PROXYREAD_MISS": "reads for partner cells for which the flash cache needed disks",
        "W": "writes into the flash cache",
        "W_FIRST": "first writes of lines of the flash cache",
        "W_OVERWRITE": "writes over lines of the flash cache",
        "W_POPULATE": "writes that filled the flash cache after misses",
        "W_METADATA": "writes of the flash cache's metadata",
        "W_DISK_WRITER": "writes to hard disks by the disk writer",
        "W_LG_CHINT": "large writes that the flash cache kept because of a hint",
        "W_LG_DTAGE": "large writes that the flash cache kept for the ageing of data",
        "W_LG_MRCV": "large writes that the flash cache kept for media recovery",
        "DISK_WRITE": "writes from the flash cache to hard disks",
        **{f"R_SKIP{why}": f"reads that bypassed the flash cache{text}" for why, text in _SKIPPED},
        **{f"W_SKIP{why}": f"writes that bypassed the flash cache{text}" for why, text in _SKIPPED},
    },
    "large": _LARGE_WRITES,
    "reason": {
        "AGING": "because lines are old",
        "DSYNC": "to bring disks up to date",
        "LWDSYNC": "to bring disks up to date after large writes",
    },
    "first": {"DISK": "disk", "FLASH": "flash"},
    "bypass": {
        "BUSY": "because of its backlog",
        "DISABLED_GD": "because it is disabled for the grid disk",
        "IORM_LIMIT": "because of a disk limit of IORM",
        "IORM_PLAN": "because of the IORM plan",
        "LARGE": "because they were too large",
        "LOG_ON_FAST_DEV": "because the redo logs are on fast media themselves",
        "LOG_ON_FLASH": "because the redo logs are on flash themselves",
        "NO_BUFFER": "for want of buffers",
        "NO_FL_DISKS": "for want of usable flash disks",
    },
    "ground": {"BG": "background", "FG": "foreground"},
    "moved": {"RD": "read from", "WR": "wrote to"},
    "source": {"FC": "flash", "HD": "hard disks", "FC_HD": "flash and hard disks together"},
    "memory": {
        "R": "reads that the cache in memory served",
        "R_MISS": "reads that the cache in memory did not serve",
        "R_SKIP": "reads that bypassed the cache in memory",
        "W_POPULATE": "writes that filled the cache in memory",
    },
    "service": {"CS": "CELLSRV", "MS": "the Management Server"},
    "way": {"IN": "in", "OUT": "out"},
    "sent": {"RCV": "received", "TRANS": "sent"},
    "peer": {
        "DROP": "were dropped on the way to",
        "RDMA_DROP": "were dropped in RDMA on the way to",
        "RECEIVED": "came from",
        "RESENT": "were sent again to",
        "SENT": "were sent to",
    },
    "device": {"FLASH": "flash disks", "HDD": "hard disks"},
    "pool": {
        "1MBPOOL_ALLOC": "from its pool of 1 MB pieces",
        "LOWMEM_THRESHOLD": "because little was left",
        "NOMEM_THRESHOLD": "because none was left",
    },
    "memory_of": {
        "CELL_AVAIL": "memory set aside for Exadata's software that is free",
        "CELL_CELLSRV": "memory that CELLSRV takes",
        "CELL_KNL": "memory that the kernel takes for Exadata's software",
        "CELL_MAX": "memory set aside for Exadata's software",
        "CELL_OFFLOAD": "memory that offload servers take",
        "OS_AVAIL": "memory left to the operating system that is free",
        "OS_KNL": "memory that the kernel takes for itself",
        "OS_TOTAL": "memory left to the operating system",
        "OS_USR": "memory that other programs take",
        "OTHER_SERV": "memory that the other services of the cell take",
    },
    "rds": {
        "CONG_SEND_BLOCKED": "RDS sends that congestion held up",
        "CONG_SEND_ERROR": "RDS sends that congestion made fail",
        "CONN_RESET": "RDS connections that were reset",
        "IB_MR_1M_POOL_DEPLETED": "times that RDS found its pool of 1 MB memory regions empty",
        "IB_RDMA_MR_8K_POOL_DEPLETED": "times that RDS found its pool of 8 KB memory regions empty",
        "IB_TX_STALLED": "times that sending over RDS stalled",
    },
    "roce": {
        "LOCAL_ACK_TIMEOUT_ERR": "acknowledgements that came too late",
        "NP_CNP_SENT": "congestion notifications sent",
        "NP_ECN_MARKED_ROCE_PACKETS": "packets that came marked with congestion",
        "RNR_NAK_RETRY_ERR": "sends to receivers that were not ready",
        "RP_CNP_HANDLED": "congestion notifications obeyed",
        "RP_CNP_IGNORED": "congestion notifications ignored",
    },
    "port": {"RCV": "received", "XMIT": "sent"},
    "link": {"RX": "came in over", "TX": "went out over"},
    "minutes": {"1": "a minute", "5": "five minutes", "15": "fifteen minutes"},
    "state": {
        "GNICE": "on guests of low priority",
        "GUEST": "on guests",
        "IDLE": "idle",
        "IOWAIT": "idle while I/O is under way",
        "IRQ": "on interrupts",
        "NICE": "on programs of low priority",
        "SOFT": "on soft interrupts",
        "STEAL": "waiting for the hypervisor",
        "SYS": "in the kernel",
        "USR": "in programs",
    },
    "part": {"AVAIL": "that programs can get", "FREE": "that is free", "TOTAL": "in all", "USED": "that is in use"},
    "net": {"RX": "received", "TX": "sent"},
    "error": {"CRC": "a wrong checksum", "FRAME": "a broken frame"},
}
_AMOUNTS: Mapping[str, str] = {"GB": "Gigabytes", "KB": "Kilobytes", "MB": "Megabytes"}
_PER: Mapping[str, str] = {"_SEC": ", per second", "_MIN": ", per minute"}


@cache
def _sentences() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), text) for pattern, text in rows_of("metric_words.tsv", "emulator"))


def description(definition: MetricDefinition) -> str:
    """Return what a metric measures and in which unit, in one phrase.

    Raises:
        EmulatorError: no sentence fits the metric's name.
    """
    stem, per = definition.name, ""
    for suffix, text in _PER.items():
        if stem.endswith(suffix):
            stem, per = stem.removesuffix(suffix), text
    for pattern, sentence in _sentences():
        found = pattern.fullmatch(stem)
        words = found and {part: _WORDS[part].get(value) for part, value in found.groupdict().items()}
        if words is not None and None not in words.values():
            amount = _AMOUNTS.get(definition.unit.partition("/")[0], "Bytes")
            return sentence.format(amount="{amount}", **words).format(amount=amount) + per
    raise EmulatorError(f"no sentence of metric_words.tsv describes the metric {definition.name}")
