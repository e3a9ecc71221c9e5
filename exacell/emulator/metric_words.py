"""Descriptions of metrics in our own words, made from the parts of their names.

``FC_IO_RQ_R_SKIP_SEC`` is read as family FC, count of requests, reads, skipped, a second. What a part means is the
table's business, so that a new metric with known parts describes itself. Source of the meanings: reference cellcli.md 4.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.emulator.schema import MetricDefinition

_OBJECTS: Mapping[str, str] = {
    "CELL": "of the cell",
    "CELLDISK": "of a cell disk",
    "CELL_FILESYSTEM": "of a file system of the cell",
    "DEVICE": "of a RoCE device",
    "DISK": "of a block device",
    "DISKGROUP": "of a disk group",
    "FLASHCACHE": "of the flash cache",
    "FLASHLOG": "of the flash log",
    "GRIDDISK": "of a grid disk",
    "HOST_INTERCONNECT": "exchanged with a database host",
    "IBPORT": "of an InfiniBand port",
    "INPUTOUTPUT": "in the queues of IORM",
    "IORM_CATEGORY": "of a category of databases",
    "IORM_CLUSTER": "of an ASM cluster",
    "IORM_CONSUMER_GROUP": "of a consumer group",
    "IORM_DATABASE": "of a database",
    "IORM_PLUGGABLE_DATABASE": "of a pluggable database",
    "IORM_VAULT": "of a vault",
    "IORM_VOLUME": "of a volume",
    "MEMORY": "of CELLSRV's memory pools",
    "NETDEV_QUEUE": "of a queue of a network device",
    "NET_INTERFACE": "of a network interface",
    "PMEMCACHE": "of the cache on persistent memory",
    "SERVER": "of the cell's operating system",
    "SMARTIO": "of smart scans",
    "XRMEMCACHE": "of the cache in memory",
}

_PHRASES: tuple[tuple[str, str], ...] = (
    ("R_ACTIVE_SECONDARY_MISS", "reads of an active secondary mirror not served by the cache"),
    ("R_ACTIVE_SECONDARY", "reads of an active secondary mirror served by the cache"),
    ("R_PROXYREAD_MISS", "forwarded reads not served by the cache"),
    ("R_PROXYREAD", "forwarded reads served by the cache"),
    ("R_DISK_WRITER", "reads by the disk writer"),
    ("W_DISK_WRITER", "writes by the disk writer"),
    ("DISK_WRITE", "written from the cache to hard disks"),
    ("R_MISS_DW", "large reads partly served by disk"),
    ("R_MISS", "small reads partly served by disk"),
    ("R_DW", "large reads served by the cache"),
    ("SKIP_FC_THROTTLE", "bypassing the cache because flash is overloaded"),
    ("SKIP_NCMIRROR", "bypassing the cache because of the mirror they are for"),
    ("SKIP_LG", "bypassing the cache because of their size"),
    ("SKIP_BUSY", "bypassing the flash log because of its backlog"),
    ("SKIP_DISABLED_GD", "bypassing the flash log because it is disabled for the grid disk"),
    ("SKIP_IORM_LIMIT", "bypassing the flash log because of a disk limit of IORM"),
    ("SKIP_IORM_PLAN", "bypassing the flash log because of the IORM plan"),
    ("SKIP_LARGE", "bypassing the flash log because of their size"),
    ("SKIP_LOG_ON_FLASH", "bypassing the flash log because the redo itself is on flash"),
    ("SKIP_LOG_ON_FAST_DEV", "bypassing the flash log because the redo itself is on fast media"),
    ("SKIP_NO_BUFFER", "bypassing the flash log for want of buffers"),
    ("SKIP_NO_FL_DISKS", "bypassing the flash log for want of usable disks"),
    ("SKIP", "bypassing"),
    ("W_FIRST", "first writes of a line"),
    ("W_OVERWRITE", "rewrites of a cached line"),
    ("W_POPULATE", "writes that fill the cache after a miss"),
    ("W_METADATA", "writes of cache metadata"),
    ("W_LG_CHINT", "large writes kept because of a hint"),
    ("W_LG_DTAGE", "large writes kept for data ageing"),
    ("W_LG_MRCV", "large writes kept for media recovery"),
    ("ALLOCATED_DIRTY", "allocated for dirty lines"),
    ("ALLOCATED_OLTP", "allocated for small I/O"),
    ("ALLOCATED", "allocated"),
    ("STALE_DIRTY", "dirty without a reachable grid disk"),
    ("FC_DIRTY", "dirty in the flash cache"),
    ("DIRTY", "not yet on disk"),
    ("SYNCED", "dirty lines already copied"),
    ("USED", "valid data"),
    ("PREVENTED_OUTLIERS", "slow disk writes of redo hidden by flash"),
    ("ACTUAL_OUTLIERS", "slow writes of redo on disk and flash alike"),
    ("FLASH_ONLY_OUTLIERS", "slow writes of redo on flash while disk was fast"),
    ("SKIP_OUTLIERS", "slow disk writes while the flash log was not used"),
    ("EFFICIENCY_PERCENTAGE", "share of would-be outliers that were prevented"),
    ("DISK_FIRST", "redo writes that disk finished first"),
    ("FLASH_FIRST", "redo writes that flash finished first"),
    ("UTIL", "share of the time that devices were busy"),
    ("LOAD", "average load of devices"),
    ("WT", "waiting in IORM's queue"),
    ("TM", "latency"),
    ("EL_OF", "eligible for offload"),
    ("OF_RE", "returned after offload"),
    ("PA_TH", "passed through unprocessed"),
    ("RV_OF", "sent back to balance processors"),
    ("SI_SV", "saved by storage indexes"),
    ("RD_FC_HD", "read from flash and disk"),
    ("RD_RQ_FC_HD", "read from flash and disk"),
    ("RD_FC", "read from flash"),
    ("RD_RQ_FC", "read from flash"),
    ("RD_HD", "read from disk"),
    ("RD_RQ_HD", "read from disk"),
    ("WR_FC", "written to flash"),
    ("WR_RQ_FC", "written to flash"),
    ("WR_HD", "written to disk"),
    ("WR_RQ_HD", "written to disk"),
    ("CPU", "processor use"),
    ("SCRUB", "by scrubbing"),
    ("ERRS", "errors"),
    ("R", "reads"),
    ("W", "writes"),
)
_WHOLE: Mapping[str, str] = {
    "FL_BY_KEEP": "bytes of redo kept on flash because the write to disk failed",
    "FL_IO_DB_BY_W": "redo written to disk through the flash log",
    "FL_IO_FL_BY_W": "redo written to flash, with padding",
    "FL_IO_TM_W": "latency of redo writes on disk and flash",
    "FL_IO_W": "redo writes that used the flash log",
    "FL_RQ_TM_W": "latency of redo requests with network and other overhead",
    "FL_RQ_W": "redo write requests, through the flash log or past it",
    "FL_DISK_IO_ERRS": "errors of redo writes to disk",
    "FL_FLASH_IO_ERRS": "errors of redo writes to flash",
    "IORM_MODE": "objective in force: 1 low_latency, 2 balanced, 3 high_throughput",
    "REBAL_POWER": "power of the running rebalance",
    "CL_IO_RQ_NODATA": "requests that carry no data",
}
"""What is measured, for names whose parts do not tell it; of a rate or mean the name without its last part."""
_SIZES: Mapping[str, str] = {"LG": "large", "SM": "small", "KEEP": "of KEEP objects"}
_MEDIA: Mapping[str, str] = {"CF": "on capacity flash", "COL": "of columnar data", "FD": "on flash disks"}
_KINDS: Mapping[str, str] = {"Cumulative": "total", "Rate": "rate", "Instantaneous": "current value"}
_UNITS: Mapping[str, str] = {"Number": "a number", "%": "percent", "": "percent"}


def description(definition: MetricDefinition) -> str:
    """Return what a metric measures, in one phrase."""
    name = definition.name
    padded = f"_{name.replace('KEEP', '_KEEP')}_"
    whole = _WHOLE.get(name) or _WHOLE.get(name.removesuffix("_SEC").removesuffix("_RQ"))
    what = whole or next((phrase for part, phrase in _PHRASES if f"_{part}_" in padded), _last_words(name))
    parts = set(padded.strip("_").split("_"))
    sizes = [word for part, word in _SIZES.items() if part in parts and word not in what]
    media = [word for part, word in _MEDIA.items() if part in parts]
    subject = " ".join((*(s for s in sizes if s != "of KEEP objects"), what))
    kept = ["of KEEP objects"] if "KEEP" in parts and whole is None else []
    unit = _UNITS.get(definition.unit, definition.unit)
    kind = _KINDS.get(definition.metric_type, "value")
    origin = "ExaWatcher's " if name.startswith("EXW_") else ""
    where = _OBJECTS.get(definition.object_type, definition.object_type.lower())
    if whole is not None:
        return f"{kind}: {whole} ({unit})"
    return " ".join((f"{origin}{kind}:", subject, *media, *kept, where, f"({unit})"))


def _last_words(name: str) -> str:
    """Return the parts of a name that has no known phrase, as words."""
    words = name.removeprefix("EXW_").split("_")
    return " ".join(word.lower() for word in (words[1:] or words) if word not in ("SEC", "MIN", "PCT", "RQ"))
