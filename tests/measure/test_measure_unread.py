"""What is refused says which form is needed, for every program that is known by name."""

from __future__ import annotations

import pytest

from exacell.core.errors import RefusedError
from exacell.measure.importers import unread
from exacell.measure.importers.kinds import KINDS, read
from tests.support.every import every

OTHERS = {
    "fio's text": (
        "q: (g=0): rw=randread\nfio-3.33\nq: (groupid=0, jobs=1): err= 0: pid=77: Sat\n  read: IOPS=95.1k\n",
        "FIO",
    ),
    "fio's last lines": ("Run status group 0 (all jobs):\n   READ: bw=371MiB/s\n", "FIO"),
    "fio's terse form": ("3;fio-3.33;q;0;0;1;2;3\n", "FIO"),
    "a job file": ("[global]\nioengine=libaio\n[row]\nrw=write\n", "FIO"),
    "iostat": ("Linux 6.1 (h)\n\nDevice             tps    kB_read/s\nvda   1.0  2.0\n", "IOSTAT"),
    "a log of fio": ("500, 123456, 0, 8192, 0\n1000, 234567, 0, 8192, 0\n", "FIO"),
    "iostat of Solaris": ("    extended device statistics\n    r/s    w/s   kr/s   kw/s wait actv\n", "IOSTAT"),
    "iostat of AIX": (
        "System configuration: lcpu=4 drives=3\n\nDisks:  % tm_act  Kbps  tps\nhdisk0 1.0 2.0 3.0\n",
        "IOSTAT",
    ),
    "iostat -o JSON": (
        '{"sysstat": {"hosts": [{"statistics": [{"disk": [{"disk_device": "vda", "tps": 1.0}]}]}]}}',
        "IOSTAT",
    ),
    "iostat -c": ("Linux 6.1 (h)\n\navg-cpu:  %user   %nice\n   1.0 2.0\n", "IOSTAT"),
    "sadf -d": ("# hostname;interval;timestamp;IFACE;rxpck/s\nvm;1;2026-11-28 23:16:43 UTC;lo;5\n", "SAR"),
    "sar -r": (
        "Linux 6.1 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)\n\n23:16:37 kbmemfree kbavail\n23:16:38 100 200\n",
        "SAR",
    ),
    "sar -w of sysstat 7": ("Linux 2.6.18 (vm) \t11/28/2026\n\n10:00:00 AM   cswch/s\n10:00:01 AM  2.0\n", "SAR"),
    "sar -o": ("\ufffd\ufffdu!\x0c\x06\0\0", "SAR"),
    "vmstat": ("procs -----------memory---------- ---swap--\n r  b   swpd   free\n 1  0  0  1\n", "IOSTAT"),
    "orion on the screen": (
        "ORION: ORacle IO Numbers -- Version 11.2.0.1.0\nTest will take approximately 9 minutes\n",
        "ORION",
    ),
    "Statspack": ("STATSPACK report for\n\nDatabase    DB Id\n", "AWR"),
    "ASH": ("ASH Report For SPOT/spot1\n", "AWR"),
    "ADDM": ("          ADDM Report for Task 'TASK_1'\n", "AWR"),
    "a statement's report": ("WORKLOAD REPOSITORY SQL Report\n", "AWR"),
    "SLOB on the screen": ("NOTIFY  : 2023.05.02-09:15:44 : Run time 301 seconds.\n", "SLOB"),
    "slob.conf": ("UPDATE_PCT=100\nRUN_TIME=300\n", "SLOB"),
    "another page": ("Device Identification VPD page:\n  Addressed logical unit:\n", "SG_VPD"),
    "queues without names": ("max_sectors_kb 1280\nnr_requests 256\n", "QUEUES"),
    "lsblk": ("NAME MAJ:MIN RM SIZE RO TYPE\nsda 8:0 0 1G 0 disk\n", "QUEUES"),
    "vscsiStats -l": ("Virtual Machine worldGroupID: 21, Virtual Machine Display Name: db, {\n", "VSCSI"),
    "vscsiStats that was cut off": (
        "Histogram: IO lengths of commands : virtual machine worldGroupID : 21 {\n min : 512\n",
        "VSCSI",
    ),
    "esxtop's screen": (" 9:00:01am up 21 days  2:11, 512 worlds, 3 VMs, 9 vCPUs; CPU load average: 0.11\n", "ESXTOP"),
    "esxcli's list": ("vflash cache list\nName  Size\n", "VFLASH"),
    "a call alone": (
        "declare l integer; begin\ndbms_resource_manager.calibrate_io(12, 10, i, m, l); end;\n/\n",
        "CALIBRATE_IO",
    ),
    "SQL*Plus": ("PL/SQL procedure successfully completed.\n", "CALIBRATE_IO"),
    "CellCLI": ("CellCLI> calibrate force\n", "CALIBRATE"),
}
"""What a text is → its first lines, and the name of the form that it needs."""


@every(OTHERS)
def test_another_form_of_a_known_program_is_told_with_the_one_that_is_needed(name: str) -> None:
    """The refusal says what the file is and how the program is run instead."""
    text, needed = OTHERS[name]
    with pytest.raises(RefusedError) as refused:
        read(text, "x.txt")
    assert str(refused.value).startswith("x.txt is ") and getattr(unread, needed) in str(refused.value.hint)


def test_each_program_says_what_it_needs_by_its_own_name() -> None:
    """Where kind= names the program, the form is told, too."""
    for name, kind in KINDS.items():
        with pytest.raises(RefusedError) as refused:
            read("nothing of the kind\n", "x.txt", kind=name)
        assert kind.needs in str(refused.value.hint)


def test_a_cut_output_says_how_to_make_a_whole_one() -> None:
    """A damaged output of fio is refused with the option that it needs."""
    with pytest.raises(RefusedError) as refused:
        read('{\n  "fio version" : "fio-3.33",\n  "jobs" : [\n    {\n', "x.json")
    assert "--output-format=json" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Trace file /u01/x.trc\nWAIT #1: nam='log file sync' ela= 5\n", "trace summarize"),
        ("TKPROF: Release 19.0.0.0.0\n", "trace summarize"),
        ("\t FL_DISK_FIRST\t FLASHLOG\t 32,669,310 IO requests\n", "delta BEFORE AFTER"),
    ],
)
def test_what_another_statement_reads_names_it(text: str, what: str) -> None:
    """Traces and listings of counters are refused with the statement that reads them."""
    with pytest.raises(RefusedError) as refused:
        read(text, "x.txt")
    assert what in str(refused.value.hint)


def test_an_empty_file_is_called_empty() -> None:
    """Whoever names a file that holds nothing is told that, also with kind=."""
    for kind in ("", "fio"):
        with pytest.raises(RefusedError, match="is empty"):
            read(" \n", "x.txt", kind=kind)


def test_a_text_of_nobody_names_the_programs_that_are_known() -> None:
    """Without a sign of any program the refusal lists those that are read."""
    with pytest.raises(RefusedError, match="does not know the program"):
        read("hello, world\n", "x.txt")


@pytest.mark.parametrize(
    "text",
    [
        "FILE|SESSIONS|ELAPSED|EXECUTES|PREADS|READ_MBS|\nawr.txt.8|8|300|2500|10|320,5|\n",
        "Maximum Large MBPS=418,07 @ Small=0 and Large=2\n",
        "max_iops = 1.596,5\nlatency = 12\n",
        "Aggregate random read throughput across all hard disk luns: 1304,5 MBPS\n",
        '"(PDH-CSV 4.0) (UTC)(0)","\\\\esx\\Physical Disk SCSI Device(naa.1)\\Commands/sec"\n"11/28/2026 10:00:00","12,5"\n',
        "  Read:\n    Cache hit rate (as a percentage): 12,5\n",
    ],
    ids=["SLOB", "ORION", "CALIBRATE_IO", "CALIBRATE", "esxtop", "vflash"],
)
def test_a_number_whose_form_can_not_be_told_is_refused(text: str) -> None:
    """A comma before the decimals is neither read as one of thousands nor left out in silence."""
    with pytest.raises(RefusedError, match="not clear which number"):
        read(text, "x.txt")
