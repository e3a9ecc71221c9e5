"""Outputs that are recognized but not read, each with the form that can be read instead. Pure."""

from __future__ import annotations

import re

from exacell.core.errors import RefusedError
from exacell.core.values import dataclass


@dataclass(frozen=True)
class Sign:
    """A pattern by which an output is recognized.

    Attributes:
        pattern: the pattern, which is matched line by line.
        what: the program that wrote it, a phrase after "is".
        needed: what to type, or to import instead.
    """

    pattern: str
    what: str
    needed: str


FIO = "run fio with --output-format=json"
IOSTAT = "run iostat with -x, and -t: iostat -x -t 1 60"
SAR = "sar -n DEV -d -u prints what is read, and so does sadf -j FILE -- -n DEV -d -u"
ORION = "give the files that orion wrote: orion_DATE_summary.txt, with _iops.csv, _mbps.csv and _lat.csv"
CALIBRATE = "cellcli -e calibrate > calibrate.txt keeps what is read"
CALIBRATE_IO = (
    "print max_iops, latency and max_mbps of DBMS_RESOURCE_MANAGER.CALIBRATE_IO, or query DBA_RSRC_IO_CALIBRATE"
)
AWR = "make an AWR report of one instance by awrrpt.sql, as HTML or text"
SLOB = "run awr_info.sh of SLOB over its awr.txt files"
SG_VPD = "run sg_vpd -p bl DEVICE"
QUEUES = "run grep -H . /sys/block/*/queue/*"
VSCSI = "run vscsiStats -p all -c"
VFLASH = "run esxcli storage vflash cache stats get -c CACHE"
ASMCMD = "run asmcmd lsdsk -k, or asmcmd lsdg"
DRIVE = "keep the figures of a load by as=: drive lookups db=SPOT as=NAME"
ESXTOP = "run esxtop -b -d 5 -n 60 > esxtop.csv"

SIGNS = (
    Sign(r"^\[global\]|^(?:ioengine|rw|iodepth)\s*=", "a job file of fio", f"{FIO} over it, and import what it prints"),
    Sign(r"^\d+;fio-", "fio's terse output", FIO),
    Sign(r"\(groupid=\d+, jobs=\d+\)|^Run status group \d|^fio-\d+\.\d+", "fio's output for readers", FIO),
    Sign(r"\A(?:\d+, ?\d+, ?[0-2], ?\d+[^\n]*\n)+", "a log of fio (write_lat_log, write_iops_log, write_bw_log)", FIO),
    Sign(
        r"extended device statistics|^Disks:\s+% tm_act|^System configuration: lcpu=",
        "iostat of Solaris or AIX",
        f"read is iostat of Linux: {IOSTAT}",
    ),
    Sign(r'"disk_device"', "iostat's JSON without its extended columns", f"{IOSTAT}, with -o JSON before the times"),
    Sign(r"^Device:?\s+tps\b|^avg-cpu:", "iostat without its extended columns", IOSTAT),
    Sign(r"^# hostname;interval;timestamp", "sadf's output for databases (-d)", SAR),
    Sign(r"\A\ufffd\ufffd[p-z]!", "a binary file of sar", SAR),
    Sign(r"^procs -+memory", "vmstat's output", f"{IOSTAT}, or {SAR}"),
    Sign(r"^Linux \S+ \(.*?\)\s+\d", "output of sysstat without a table that is read", f"{SAR}; {IOSTAT}"),
    Sign(
        r"ORION: ORacle IO Numbers|^orion ?>|-run (?:simple|normal|advanced|oltp|dss)\b",
        "what orion prints while it runs",
        ORION,
    ),
    Sign(r"^TKPROF: ", "a summary of tkprof", "trace summarize FILE.trc reads the trace that it was made of"),
    Sign(
        r"^WAIT #\d+: nam='|^PARSING IN CURSOR #",
        "a trace file (10046)",
        "trace summarize FILE, trace compare a=FILE b=FILE",
    ),
    Sign(r"STATSPACK (?:statistics )?report", "a report of Statspack", AWR),
    Sign(r"\bASH Report\b", "a report of the active session history", AWR),
    Sign(r"\bADDM Report\b|^\s*FINDING \d+:", "a report of ADDM", AWR),
    Sign(r"WORKLOAD REPOSITORY SQL REPORT", "AWR's report of one statement", AWR),
    Sign(r"^NOTIFY\s*:|^UPDATE_PCT[=:]|^SLOB ", "what SLOB prints while it runs, or its configuration", SLOB),
    Sign(r"VPD page|VPD INQUIRY|^standard INQUIRY", "another page of sg_vpd", SG_VPD),
    Sign(r"^(?:max_sectors_kb|nr_requests|scheduler)\b", "settings of a queue without their device", QUEUES),
    Sign(r"^NAME\s+MAJ:MIN\b", "lsblk's output", QUEUES),
    Sign(r"^\s*min : \d+|^Histogram: .*\{", "vscsiStats without a whole histogram", VSCSI),
    Sign(r"^Virtual Machine worldGroupID", "vscsiStats' list of machines", VSCSI),
    Sign(r"\d+ worlds|CPU load average:", "a screen of esxtop", ESXTOP),
    Sign(r"^\s*(?:Cache )?(?:Mean|Max observed) (?:IOPS|cache)|vflash|VFFS", "another output of esxcli", VFLASH),
    Sign(
        r"\bCALIBRATE_IO\b|PL/SQL procedure successfully completed",
        "a call of CALIBRATE_IO without its results",
        CALIBRATE_IO,
    ),
    Sign(r"^\s*CALIBRATE\b|^CellCLI> *calibrate", "a call of CALIBRATE without its results", CALIBRATE),
    Sign(
        r"^\s*(?:[\w.-]+: )?\s*(?:FL|FC|CD|GD|SIO|CL|N|DB|CG|CT|PDB|IORM|XRM)_\w+\s+\S+\s+[\d,.]+ ",
        "what LIST METRICCURRENT printed",
        "delta BEFORE AFTER takes two such files",
    ),
)
"""All signs, in the order in which they are searched."""


def refusal(text: str, source: str) -> RefusedError | None:
    """Return the refusal of a text with one of the signs; None if it has no such sign."""
    for sign in SIGNS:
        if re.search(sign.pattern, text, re.MULTILINE | re.IGNORECASE):
            return RefusedError(f"{source} is {sign.what}, which `import` can't read", hint=sign.needed)
    return None
