"""What is averaged, what counts as a run, which document is read and what is left out: imported figures that can be believed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from exacell.core.errors import RefusedError
from exacell.measure.importers import fio
from exacell.measure.importers.findings import Imported, alone, pair
from exacell.measure.importers.fiojson import amount_of, size_named
from exacell.measure.importers.kinds import read, together
from exacell.measure.importers.levels import Level, levels
from exacell.measure.importers.model import Run, by_host, json_texts, moment
from tests.support.every import every

DATA = Path(__file__).parent.parent / "data"
MADE = DATA / "importers"


def imported(*texts: tuple[str, str], name: str = "x") -> Imported:
    """Return a set of texts, each with its file's name."""
    return Imported(name=name, runs=tuple(together([read(text, source) for source, text in texts])))


def files(names: str) -> list[tuple[str, str]]:
    """Return the texts of files of this folder, by their names."""
    return [(name, (MADE / name).read_text()) for name in names.split()]


def at(found: Imported, series: str, load: float | None) -> Level:
    return next(level for level in levels(found.runs) if level.key == (series, load))


EXPECTED = [line.split("\t") for line in (MADE / "expected.tsv").read_text().splitlines()]


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: " ".join((row[0].split()[0], row[1], row[3])))
def test_a_figure_is_that_of_jq_or_awk(row: list[str]) -> None:
    """What is imported of a file is what jq and awk compute of it."""
    names, series, load, figure, value = row
    found = at(imported(*files(names)), series, None if load in ("none", "unknown") else float(load)).figure(figure)
    assert found is None if value == "none" else found == pytest.approx(float(value), rel=1e-6)


def test_each_file_has_a_value_from_outside() -> None:
    """No input lies there of which nothing is expected; the one that ended with an error has no figure."""
    named = {name for row in EXPECTED for name in row[0].split()}
    assert {path.name for path in MADE.iterdir()} - named == {"README.md", "make.sh", "expected.tsv", "fio-error.json"}


# -- parts and the whole -----------------------------------------------------------------------------------------------

HEAD = "Device            r/s     rkB/s r_await rareq-sz     w/s     wkB/s w_await wareq-sz  aqu-sz  %util\n"
BOOT = f"Linux 6.1.0 (h1) \t2026-11-28 \t_x86_64_\t(2 CPU)\n\n{HEAD}sda 9 9 9 9 9 9 9 9 9 9\n\n"


def _iostat(rows: Sequence[Sequence[float]]) -> str:
    return BOOT + "\n".join(f"{HEAD}sda {r} {r * k} {ms} {k} 0 0 0 0 {q} 1\n" for r, k, ms, q in rows)


def _esxtop(rows: Sequence[Sequence[float]]) -> str:
    names = ("Commands/sec", "Average Guest MilliSec/Command", "Average Driver MilliSec/Command", "Active Commands")
    head = ",".join(f'"\\\\esx1\\Physical Disk SCSI Device(naa.1)\\{name}"' for name in names)
    body = "\n".join(
        f'"05/11/2023 10:00:{5 * place:02}","{r}","{k}","{ms}","{q}"' for place, (r, k, ms, q) in enumerate(rows)
    )
    return f'"(PDH-CSV 4.0) (UTC)(0)",{head}\n{body}\n'


def _sar(rows: Sequence[Sequence[float]], lengths: Sequence[int] = ()) -> str:
    """Return what sar -d prints of reports of so many seconds each, of 5 where none are given: its columns once, above all."""
    now, body = 0, ""
    for (r, k, ms, q), seconds in zip(rows, lengths or [5] * len(rows), strict=True):
        now += seconds
        at = f"{now // 3600 % 24:02}:{now // 60 % 60:02}:{now % 60:02}"
        body += f"{at} sda {r} {r * k} 0.00 0.00 {k if r else 0} {q} {ms if r else 0} 1.00\n"
    columns = "DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util"
    return f"Linux 6.1.0 (h1) \t11/28/26 \t_x86_64_\t(2 CPU)\n\n00:00:00 {columns}\n{body}"


def _vscsi(rows: Sequence[Sequence[float]]) -> list[str]:
    of = "Histogram: IO lengths of commands,virtual machine worldGroupID,7,virtual disk handleID,8203 (scsi0:1)"
    return [
        f"{of}\nmin,1\nmax,{ms}\nmean,{k}\ncount,{r:.0f}\nFrequency,Histogram Bucket Limit\n{r:.0f},4096\n"
        for r, k, ms, _ in rows
        if r
    ]


def _slob(rows: Sequence[Sequence[float]]) -> str:
    head = "FILE|SESSIONS|ELAPSED|EXECUTES|PREADS|DFSR_LAT|PWRITES|DFPW_LAT|\n"
    return head + "".join(f"awr.txt.8|8|300|{q}|{r}|{k}|{r}|{ms}|\n" for r, k, ms, q in rows)


def _orion(rows: Sequence[Sequence[float]]) -> str:
    return "".join(
        f"ORION VERSION 12.1.0.1.0\nMaximum Small IOPS={r} @ Small=5 and Large=0\n"
        f"Small Read Latency: avg={k} us, min=1 us, max={ms} us, std dev=1 us @ Small=5 and Large=0\n"
        for r, k, ms, _ in rows
        if r
    )


def _awr(rows: Sequence[Sequence[float]]) -> list[str]:
    return [
        f"Elapsed: 10.00 (mins)\nLoad Profile  Per Second  Per Transaction\nRedo size: {q * 100}  {r + 1}\n\n"
        f"{'Event':14} {'Waits':>14} {'Time(s)':>14} {'Avg wait':>14}\n{' '.join(['-' * 14] * 4)}\n"
        f"{'log file sync':14} {r * 100:14} {r * k / 10:14} {k:12}ms\n"
        for r, k, _, q in rows
        if r and k
    ]


def _fio(iops: float, us: float, *, end: int = 1_700_000_000_000, seconds: float = 10, **job: Any) -> str:
    ios = int(iops * seconds)
    lat = {"min": 1, "max": int(us * 9000), "mean": us * 1000, "stddev": 1, "N": ios}
    way = {
        "iops": iops,
        "bw_bytes": iops * 8192,
        "runtime": seconds * 1000,
        "total_ios": ios,
        "lat_ns": lat,
        "clat_ns": {},
    }
    options = {"rw": "randread", "bs": "8k", "ioengine": "libaio", "iodepth": "8", **job.pop("options", {})}
    found = {"jobname": "q", "groupid": 0, "error": 0, "elapsed": seconds, "job options": options, "read": way, **job}
    return json.dumps({"fio version": "fio-3.33", "timestamp_ms": end, "jobs": [found]}, indent=1)


def _fios(rows: Sequence[Sequence[float]]) -> list[str]:
    return [_fio(r, k, end=1_700_000_000_000 + 60_000 * place) for place, (r, k, _, _) in enumerate(rows) if r]


ROWS = [
    (1000.0, 4.0, 10.0, 9.0),
    (0.0, 0.0, 0.0, 0.0),
    (10.0, 64.0, 1.0, 2.0),
    (0.0, 0.0, 0.0, 0.0),
    (300.0, 8.0, 5.0, 1.0),
]
"""Reads a second, and three figures beside them: two means of those reads, and how much was under way."""

Made = Callable[[Sequence[Sequence[float]]], "str | list[str]"]
KINDS: Mapping[str, tuple[Made, str, Mapping[str, str]]] = {
    "iostat": (_iostat, "readsPerS", {"readUs": "readsPerS", "readKib": "readsPerS", "queue": ""}),
    "esxtop": (_esxtop, "iops", {"latencyUs": "iops", "deviceUs": "iops", "queue": ""}),
    "slob": (_slob, "physicalReads", {"sequentialReadUs": "physicalReads", "parallelWriteUs": "physicalWrites"}),
    "orion": (_orion, "iops", {"latencyUs": "iops"}),
    "fio": (_fios, "iops", {"latencyUs": "iops"}),
    "awr": (_awr, "waits", {"averageUs": "waits"}),
    "sar": (_sar, "iops", {"kibPerIo": "iops", "latencyUs": "iops", "queue": ""}),
    "vscsistats": (_vscsi, "count", {"mean": "count"}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", range(1, len(ROWS)))
def test_parts_put_together_are_the_whole(kind: str, cut: int) -> None:
    """What is imported of two parts, weighted by how much each was of, is what is imported of both together."""
    make, rate, means = KINDS[kind]
    made = [make(rows) for rows in (ROWS, ROWS[:cut], ROWS[cut:])]
    texts = [[text] if isinstance(text, str) else text for text in made]
    sets = [
        imported(*((f"{place}.out", text) for place, text in enumerate(own))) if any(own) else None for own in texts
    ]
    assert sets[0] is not None
    series = next(level.key for level in levels(sets[0].runs) if rate in level.values)
    sizes = [
        sum(1 for row in rows if row[0] or kind in ("iostat", "esxtop", "slob", "sar"))
        for rows in (ROWS[:cut], ROWS[cut:])
    ]
    parts = [(at(one, *series), size) for one, size in zip(sets[1:], sizes, strict=True) if one is not None and size]
    found = at(sets[0], *series)
    total = sum((level.figure(rate) or 0.0) * size for level, size in parts)
    assert found.figure(rate) == pytest.approx(total / sum(sizes), rel=1e-6)
    for name, of in means.items():
        weights = [(level.figure(of) or 0.0) * size if of else size for level, size in parts]
        values = [level.figure(name) or 0.0 for level, _ in parts]
        whole = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
        assert found.figure(name) == pytest.approx(whole, rel=1e-6), name


def test_reports_of_awr_are_weighted_by_their_time_and_transactions() -> None:
    """A report of an hour weighs six of ten minutes; what is told of a transaction by the transactions that there were."""
    made = [
        (
            f"a{minutes}",
            f"Elapsed: {minutes}.00 (mins)\nLoad Profile  Per Second  Per Transaction\nRedo size: {second}  {each}\n",
        )
        for minutes, second, each in ((10, 100, 50), (60, 800, 100))
    ]
    found = at(imported(*made), "redo size", None)
    assert found.figure("perSecond") == pytest.approx((10 * 100 + 60 * 800) / 70)
    assert found.figure("perTransaction") == pytest.approx((10 * 100 + 60 * 800) / (10 * 2 + 60 * 8))


def test_what_was_not_measured_is_no_zero() -> None:
    """A disk that was idle has no latency in those reports: none is printed, counted, or compared."""
    idle = imported(("a", _iostat([(0, 0, 0, 0), (0, 0, 0, 0)])))
    assert {"readUs", "readKib"}.isdisjoint(at(idle, "sda", None).values)
    busy = imported(("a", _iostat([(100, 8, 10, 1)] * 4)), name="busy")
    half = imported(("b", _iostat([(100, 8, 10, 1), (0, 0, 0, 0)] * 2)), name="half")
    finding = pair(busy, half)
    assert finding.figures is not None
    row = next(row for row in finding.figures.rows if row["figure"] == "readUs")
    assert (row["a"], row["b"], row["ratio"]) == (10000, 10000, 1)


def test_the_time_of_a_report_weighs_its_rates() -> None:
    """A report of a minute counts for six of ten seconds, where the times tell."""
    assert (
        moment("05/11/2023 10:00:10 PM") == 22 * 3600 + 10 and moment("12:00:01 AM") == 1 and moment("no time") is None
    )


# -- all of a file -----------------------------------------------------------------------------------------------------


@every(
    [
        ("fio-status-interval.json", "the last of 4 documents counts: the others tell of the run on its way"),
        ("fio-appended.json", "2 runs are in one file"),
        ("iostat-appended.txt", "2 runs are in one file"),
        ("orion_twice_summary.txt", "2 runs are in one file"),
        ("iostat-idle.txt", "columns left out: rrqm/s, %rrqm, wrqm/s, %wrqm, dkB/s, drqm/s, %drqm, dareq-sz"),
        (
            "esxtop-idle.csv",
            "columns left out: all of Memory",
        ),
        ("awr_info-repeated.txt", "columns left out: DB CPU, DB Tm, TOP WAIT"),
        ("fio-two-jobs.json", "at the same time ran: randread 8k, write 128k"),
        ("fio-group-of-two.json", "group_reporting combined different jobs into one"),
        ("fio-rate-limited.json", "iodepth=32, but 95 % of its I/Os were alone: its load is 1"),
        ("fio-gtod.json", "fio did not measure the latency of all I/Os"),
        ("fio-2.2.json", "the file does not have the options of its jobs: rw, bs and load are unknown"),
        ("fio-row@ini1.json fio-row@ini2.json", "ini1, ini2 are parts of one run: their rates are added"),
    ]
)
def test_what_is_not_counted_is_named_once(names: str, said: str) -> None:
    """Documents, columns and jobs that a figure does not tell of are named, in one note."""
    notes = alone(imported(*files(names))).notes
    assert sum(said in note for note in notes) == 1, notes


def test_a_note_of_several_files_stands_once() -> None:
    """What all files of a set have in common is said once, without their names; else with the names of those it is of."""
    plain, more = _iostat([(100, 8, 10, 1)]), _iostat([(100, 8, 10, 1)]) + "sda 1 2\n"
    notes = alone(imported(("a", plain), ("b", more), ("c", plain))).notes
    assert [note for note in notes if "since boot" in note] == [
        "the first report was left out: without -y it tells of the time since boot"
    ]
    assert any(note.startswith("b: 1 line left out") for note in notes)


def test_the_last_document_counts_and_appended_runs_are_several() -> None:
    """Of one run's documents the last counts, by its start and its counters; of another start it is a further run."""
    end = 1_700_000_000_000
    first, last = (_fio(100, 5, end=end + 1000 * s, seconds=s) for s in (5, 10))
    assert at(imported(("a", first + last)), "randread 8k read", 8).runs() == 1
    assert fio.waited(first + last) == fio.waited(last) and fio.waited(last)[0] == 1000
    again = _fio(100, 5, end=end + 30_000)
    assert at(imported(("a", last + again)), "randread 8k read", 8).runs() == 2
    assert fio.waited(last + again)[0] == 2000
    # Without times of the day: the same jobs, further on.
    bare = [re.sub(r'"timestamp_ms": \d+,', "", text) for text in (first, last, last)]
    assert at(imported(("a", "".join(bare[:2]))), "randread 8k read", 8).runs() == 1
    assert at(imported(("a", "".join(bare[1:]))), "randread 8k read", 8).runs() == 2


def test_json_that_is_cut_is_told_and_the_whole_one_counts() -> None:
    """Of a run that was killed while it wrote, the last whole document counts, and it is said first."""
    text = _fio(100, 5) + "\n" + _fio(200, 5)[:400]
    finding = alone(imported(("a", text)))
    assert finding.verdict.startswith("a part of its JSON is cut or damaged and was left out")
    assert "100 I/Os per second" in finding.sentences[1]


@pytest.mark.parametrize(
    "before", ["", "fio: { no JSON }\n", "{\n", '{"a": 1}\n', "note: ${x}\n" * 50, "ssh: Warning\nfio: this is {odd\n"]
)
def test_text_before_a_document_is_no_part_of_it(before: str) -> None:
    """Warnings, shell text and other JSON may stand in front of fio's and of iostat's."""
    assert at(imported(("a", before + _fio(100, 5))), "randread 8k read", 8).figure("iops") == 100
    sysstat = before + (DATA / "imports" / "iostat.json").read_text()
    assert imported(("a", sysstat)).runs[0].form == "JSON"


@pytest.mark.parametrize("make", [_iostat, _esxtop, _slob, _orion], ids=lambda make: make.__name__.strip("_"))
def test_text_around_an_output_is_passed_over(make: Callable[[Sequence[Sequence[float]]], str]) -> None:
    """A prompt, a warning or a date before and behind the output change no figure."""
    text = make([(1000, 4, 10, 9), (10, 64, 1, 2)])
    around = (
        f"$ sudo ./collect.sh > out\nWarning: {{cache}} is cold\nSat Nov 28 22:16:15 UTC 2026\n\n{text}\n\n# done\n"
    )
    sets = [levels(imported(("a", one)).runs) for one in (text, around)]
    assert [level.totals for level in sets[0]] == [level.totals for level in sets[1]]


def test_braces_without_end_are_refused_soon() -> None:
    """A text of nothing but braces is damaged, and not looked at brace by brace."""
    with pytest.raises(RefusedError, match="cut or damaged"):
        json_texts('{\n"a":' * 20_000 + '"fio version"', "fio version", "x")


def test_a_device_that_some_reports_lack_is_named() -> None:
    """With -z an idle disk is not printed: its figures are of the reports that tell of it, and that is said."""
    text = _iostat([(100, 8, 10, 1)] * 3) + f"\n{HEAD}sdb 1 1 1 1 1 1 1 1 1 1\n"
    notes = imported(("a", text)).runs[0].notes
    assert any("of 4 reports not all tell of each device" in note and "sda in 3, sdb in 1" in note for note in notes)


def test_a_line_that_does_not_fit_is_named() -> None:
    """A row that is cut has no figures, and is told."""
    notes = imported(("a", _iostat([(100, 8, 10, 1)]) + "sda 1 2\n")).runs[0].notes
    assert any("1 line left out, which did not fit the head above: sda 1 2" in note for note in notes)


ROWS_OF_H = """Linux 6.18 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)

     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
    1.00      1.0k     3.75   9.3%    1.02    10.6k vda

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
    1.00      3.0M    97.74  19.6%    0.22     7.7k vda

     f/s f_await  aqu-sz  %util Device
  115.49    0.14    0.16   3.4% vda


     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
   50.00    400.0k     0.00   0.0%    2.00     8.0k vda

     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device
   98.00      2.0M     2.00   2.0%    0.14    17.3k vda

     f/s f_await  aqu-sz  %util Device
    9.00    0.11    0.02   1.2% vda
"""


def test_reports_of_h_are_one_of_three_tables() -> None:
    """iostat -h writes a report as several tables with the device last, and units at its numbers."""
    found = at(imported(("a", ROWS_OF_H)), "vda", None)
    figures = {"iops": 148, "readMibPerS": 400 / 1024, "writeMibPerS": 2, "readUs": 2000, "flushUs": 110, "queue": 0.02}
    assert {name: found.figure(name) for name in figures} == pytest.approx(figures)


def test_a_long_name_on_its_own_line_is_the_device() -> None:
    """Older iostat puts the figures of a long name on the next line."""
    text = f"{BOOT}{HEAD}/dev/mapper/data_long_name\n   100 800 2 8 0 0 0 0 1 1\n"
    assert at(imported(("a", text)), "/dev/mapper/data_long_name", None).figure("readUs") == 2000


def test_matrices_of_two_runs_in_one_file_are_two_runs() -> None:
    """The second matrix has a head of its own: its columns are no further rows of the first."""
    one = "IOPS of the small I/Os\nLarge/Small,      1,      2\n          0,   100,   200\n"
    two = "IOPS of the small I/Os\nLarge/Small,      2,      4\n          0,   300,   400\n"
    found = imported(("a", one + two))
    assert {level.load: level.values["iops"] for level in levels(found.runs)} == {1: (100,), 2: (200, 300), 4: (400,)}
    odd = imported(("a", one + "          1,   n/a,   7,   8\n"))
    assert any("n/a, 8" in note for note in odd.runs[0].notes)


def test_the_files_of_one_run_of_orion_are_one_run() -> None:
    """A summary tells the peak of a matrix once more: that is no second run. Other names pair by their order."""
    summary = "Maximum Small IOPS=200 @ Small=2 and Large=0\n"
    iops = "IOPS of the small I/Os\nLarge/Small,      1,      2\n          0,   100,   200\n"
    for names in (("o_1_summary.txt", "o_1_iops.csv"), ("a.txt", "b.csv")):
        found = imported(*zip(names, (summary, iops), strict=True))
        assert at(found, "small", 2).values["iops"] == (200,)
    twice = imported(("o_1_iops.csv", iops), ("o_2_iops.csv", iops), ("o_1_summary.txt", summary))
    assert at(twice, "small", 2).runs() == 2 and at(twice, "small", 1).runs() == 2


# -- parts of a run, and runs ------------------------------------------------------------------------------------------


def test_hosts_are_parts_and_files_of_one_host_are_runs() -> None:
    """Two hosts and two runs are two runs of both hosts, whose names pair them; the load is that of both."""
    texts = [
        (f"r{run}:row@ini{host}", _fio(1000 * run + host, 5, end=1_700_000_000_000 + 60_000 * run))
        for run in (3, 4)
        for host in (1, 2)
    ]
    found = at(imported(*texts), "randread 8k read", 16)
    assert found.values["iops"] == (6003, 8003)


def test_hosts_by_their_names_are_believed_and_by_their_text_if_the_times_agree() -> None:
    """NAME@HOST says that they ran together, with a warning where their times don't; a client's host alone does not."""
    early, late = (_fio(100, 5, end=1_700_000_000_000 + 3_600_000 * hour) for hour in (0, 1))
    named = imported(("a@ini1.json", early), ("a@ini2.json", late))
    assert at(named, "randread 8k read", 16).figure("iops") == 200
    assert alone(named).verdict.startswith("ini1, ini2 did not run at the same time, by the times in their files")
    texts = []
    for host, text in (("ini1", early), ("ini2", late)):
        body = json.loads(text)
        texts.append((host, json.dumps({**body, "client_stats": [{**body.pop("jobs")[0], "hostname": host}]})))
    assert {level.series for level in levels(imported(*texts).runs)} == {
        "randread 8k read on ini1",
        "randread 8k read on ini2",
    }


def test_files_of_one_name_in_folders_are_of_hosts_unless_their_times_say_otherwise() -> None:
    """What copy from put into a folder a host is a part of one run; folders of runs behind each other are runs."""
    for shift, runs, load in ((0, 2, 16), (200, 2, 16), (3_600_000, 4, 8)):
        texts = [
            (f"ini{host}/fio_{run}.json", _fio(100, 5, end=1_700_000_000_000 + 60_000 * run + shift * host))
            for run in (1, 2)
            for host in (1, 2)
        ]
        found = imported(*texts)
        assert (len(found.runs), levels(found.runs)[0].load) == (runs, load), shift
    matrix = "IOPS of the small I/Os\nLarge/Small,      1,      2\n          0,   100,   200\n"
    names = [("ini1/x_1_iops.csv", matrix), ("ini2/x_1_iops.csv", matrix), ("ini1/x_2_iops.csv", matrix)]
    assert {level.load: level.values["iops"] for level in levels(imported(*names).runs)} == {
        1: (100,), 2: (200, 200), 4: (400,)
    }  # fmt: skip
    slob = _slob([(1000, 4, 10, 9)])
    assert levels(imported(("r1/awr_info.txt", slob), ("r2/awr_info.txt", slob)).runs)[0].runs() == 2


def test_hosts_whose_files_have_other_names_pair_by_their_order() -> None:
    """ORION puts the minute into the name: the first file of a host is of the run of the first one of the other."""
    matrix = "IOPS of the small I/Os\nLarge/Small,      1\n          0,   100\n"
    names = [(f"x_{minute}_iops.csv@ini{host}", matrix) for host in (1, 2) for minute in (10 + host, 30 + host)]
    assert {level.load: level.values["iops"] for level in levels(imported(*names).runs)} == {2: (200, 200)}


def test_a_run_without_one_of_the_hosts_is_told() -> None:
    """Where a run is not of all hosts that the others are of, its rates are no repetition of theirs, and that is said first."""
    texts = [
        (f"{run}@ini{host}", _fio(100, 5, end=run * 10**8)) for run, host in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))
    ]
    said = alone(imported(*texts)).verdict
    assert said.endswith("ini1 ran without ini2: it is no repetition of the runs of all hosts.")
    assert "without" not in alone(imported(*texts[:4])).verdict


def test_lines_of_dcli_are_told_host_by_host() -> None:
    """What dcli put a host's name in front of is read of each host, as parts of one run."""
    text = "".join(f"ini{n}: {line}\n" for n in (1, 2) for line in _fio(45_000, 700 * n).splitlines())
    found = at(imported(("a", text)), "randread 8k read", 16)
    assert found.figure("iops") == 90_000 and found.figure("latencyUs") == 1050
    printed = imported(("a", "max_iops: 596\nlatency: 12\nmax_mbps: 74\n"))
    assert at(printed, "data files", None).figure("iops") == 596
    assert by_host("a: 1\nno host\n") == {} and by_host("a: 1\nb: 2\na:\n") == {"a": "1\n\n", "b": "2\n"}


def test_files_of_the_same_time_are_parts_and_copies_are_runs() -> None:
    """Runs that overlapped for the most part are parts of one; touching ends are none; one time to the millisecond is a copy."""
    end = 1_700_000_000_000
    for shift, runs in ((1500, 1), (4900, 1), (5100, 2), (10_000, 2), (0, 2)):
        found = imported(("a", _fio(100, 5, end=end)), ("b", _fio(100, 5, end=end + shift)))
        assert len(found.runs) == runs, shift
    assert any("carries the time of another file" in note for note in found.runs[1].notes)
    both = imported(("a", _fio(100, 5, jobname="p", end=end) + _fio(300, 5, jobname="q", end=end + 500)))
    assert at(both, "randread 8k read", 16).figure("iops") == 400
    assert "2 outputs of the same time are parts of one run: their rates are added" in both.runs[0].notes


def test_quantiles_of_parts_are_left_out() -> None:
    """A quantile of two hosts together is not told by those of each; of two runs the mean of both is."""
    clat = {"percentile": {"99.000000": 9000}}
    texts = [
        json.dumps({**json.loads(text), "jobs": [{**job, "read": {**job["read"], "clat_ns": clat}}]})
        for text in (_fio(100, 5), _fio(100, 5, end=1_700_000_060_000))
        for job in json.loads(text)["jobs"]
    ]
    assert "p99Us" in at(imported(("a", texts[0]), ("b", texts[1])), "randread 8k read", 8).values
    assert "p99Us" not in at(imported(("a@x", texts[0]), ("a@y", texts[0])), "randread 8k read", 16).values


def test_jobs_that_differ_are_series_of_their_own() -> None:
    """No series is called after what its job can't do."""
    names = {level.series for name in ("fio-two-jobs.json", "fio-group-of-two.json") for level in _levels(name)}
    assert names == {"randread 8k read", "write 128k write", "r and others read", "r and others write"}


def _levels(names: str) -> list[Level]:
    return levels(imported(*files(names)).runs)


@pytest.mark.parametrize(("seconds", "said"), [(10, False), (9.5, False), (5, True)])
def test_jobs_that_ran_for_unlike_times_are_told(seconds: float, said: bool) -> None:
    """Where one job ended long before the others, the sum of their rates is said to be that of the time they shared."""
    jobs = [json.loads(_fio(1000, 5, seconds=long))["jobs"][0] for long in (10, seconds)]
    run = fio.read(json.dumps({"fio version": "fio-3.33", "jobs": jobs}), "x")
    assert run.points[0].figures["iops"] == 2000
    assert any("only while all of them ran" in note for note in run.notes) is said


def test_the_spread_of_a_group_is_not_taken() -> None:
    """fio's samples of four jobs in one entry are those of single jobs: no interval comes of them; of one job it does."""
    (group,) = _levels("fio-group-of-four.json")
    (single,) = _levels("fio-rate-limited.json")
    assert not group.spread and single.spread["iops"] == (1.154701, 3)


@pytest.mark.parametrize("ends", [(1, 1), (3, 3), (1, 3)])
def test_several_files_are_not_one_run_against_another(ends: tuple[int, int]) -> None:
    """One run against one has no interval, and it is said; several have one; of one against several the single one is named."""
    sets = []
    for name, count in zip("ab", ends, strict=True):
        texts = [
            (
                f"{name}{n}",
                "IOPS of small\nLarge/Small,1,2,4\n0," + ",".join(str(100 * k + n) for k in (1, 2, 3)) + "\n",
            )
            for n in range(count)
        ]
        sets.append(imported(*texts, name=name))
    said = " ".join(pair(*sets).sentences)
    assert ("This compares one run with one other" in said) == (ends == (1, 1))
    assert ("a is a single run: import several files of it, too" in said) == (ends == (1, 3))
    assert ("At 0 of 3 loads the difference is more than chance makes (95 %, from 3 and 3 runs)" in said) == (
        ends == (3, 3)
    )


def test_samples_of_several_runs_are_runs() -> None:
    """Three outputs of iostat against three are three runs each, not their samples thrown together."""
    sets = [
        imported(*((f"{name}{n}", _iostat([(100 + n, 8, 10, 1)] * 5)) for n in range(3)), name=name)
        for name in ("a", "b")
    ]
    finding = pair(*sets)
    assert finding.figures is not None
    assert {row["basis"] for row in finding.figures.rows if row["figure"] == "iops"} == {"3 and 3 runs"}
    assert not any("One run stands against another" in text for text in finding.sentences)


def test_samples_tell_of_their_own_run_alone() -> None:
    """One output of iostat against one has an interval of its samples, and it is said that these are no runs."""
    sets = [
        imported(("x", _iostat([(k + n, 8, 10, 1) for n in range(6)])), name=name)
        for name, k in (("a", 100), ("b", 200))
    ]
    finding = pair(*sets)
    assert "from samples within a run each), more than chance makes within a run" in finding.verdict
    assert any("This compares one run with one other" in text for text in finding.sentences)


# -- load --------------------------------------------------------------------------------------------------------------

LEVEL = dict.fromkeys(("1", "2", "4", "8", "16", "32", ">=64"), 0.0)


@every(
    [
        ({"ioengine": "psync", "iodepth": "32"}, {}, 1),
        ({"ioengine": "psync", "iodepth": "32"}, {"1": 100.0}, 1),
        ({"ioengine": "psync", "iodepth": "32"}, {"32": 99.0}, 32),
        ({"ioengine": "", "iodepth": "32"}, {}, 1),
        ({"ioengine": "libaio", "iodepth": "32"}, {}, 32),
        ({"ioengine": "libaio", "iodepth": "0x10"}, {"16": 99.0}, 16),
        ({"ioengine": "libaio", "iodepth": "1k"}, {">=64": 99.0}, 1024),
        ({"ioengine": "libaio", "iodepth": "63"}, {"32": 99.0}, 63),
        ({"ioengine": "libaio", "iodepth": "64"}, {"32": 99.0}, None),
        ({"ioengine": "libaio", "iodepth": "32"}, {"1": 95.0, "2": 5.0}, 1),
        ({"ioengine": "libaio", "iodepth": "32"}, {"4": 80.0, "8": 20.0}, None),
        ({"ioengine": "libaio", "iodepth": "32"}, {"16": 45.0, "32": 40.0, "8": 15.0}, None),
        ({"ioengine": "libaio", "iodepth": "32"}, {"32": 50.0, "16": 49.0}, 32),
        ({"ioengine": "libaio", "iodepth": "32"}, {"32": 49.0, "16": 48.0}, None),
        ({"ioengine": "libaio", "iodepth": "(4*8)"}, {}, None),
        ({"ioengine": "libaio", "iodepth": "8", "numjobs": "0x4"}, {}, 32),
        ({"ioengine": "libaio", "iodepth": "8", "numjobs": "many"}, {}, None),
        ({"ioengine": "libaio", "iodepth": "8", "numjobs": "4"}, {"8": 100.0}, 32),
    ]
)
def test_a_load_is_what_was_outstanding(options: dict[str, str], level: dict[str, float], load: float | None) -> None:
    """What fio counted as outstanding is the referee of what its options asked for; else it is unknown, and said."""
    text = _fio(100, 5, options=options, iodepth_level={**LEVEL, **level} if level else {})
    (found,) = levels(imported(("a", text)).runs)
    assert found.load == load
    finding = alone(imported(("a", text)))
    assert finding.figures is not None and finding.figures.rows[0]["load"] == (load or "unknown")
    assert ("at an unknown load" in finding.verdict) == (load is None)


def test_one_entry_of_several_jobs_counts_them() -> None:
    """How long all jobs of an entry ran together tells how many they were, where numjobs does not."""
    for busy, load in ((40_000, 32.0), (10_000, 8.0), (36_000, None), (10_400, 8.0)):
        (found,) = levels(imported(("a", _fio(100, 5, job_runtime=busy))).runs)
        assert found.load == load, busy


@pytest.mark.parametrize(
    ("text", "value"),
    [("1k", 1024), ("0x10", 16), ("0X1f", 31), ("8KiB", 8192), ("8kb", 8192), ("1.5k", 1536), ("2m", 2 << 20), ("x", None),
     ("", None), ("4-8", None), ("1g", 1 << 30)],
)  # fmt: skip
def test_numbers_as_fio_takes_them(text: str, value: float | None) -> None:
    """Sizes, hexadecimal numbers and prefixes are read as fio reads them."""
    assert amount_of(text) == value


def test_a_size_has_one_name() -> None:
    """8192, 8k and 8KiB are one block size, in lists and ranges too; others stay as they are."""
    sizes = ("8192", "8K", "8kib", "4k,65536", "4096-16k", "odd", "8k/50:4096/50", "512")
    assert [size_named(one) for one in sizes] == ["8k", "8k", "8k", "4k,64k", "4k-16k", "odd", "8k/50:4k/50", "512"]


@pytest.mark.parametrize(
    ("options", "job", "series", "load"),
    [
        ({"bssplit": "4096/50:64k/50"}, {}, "randread 4k/50:64k/50 read", 8),
        ({"bsrange": "4k-64k"}, {}, "randread 4k-64k read", 8),
        ({"rw": "randwrite", "verify": "crc32c"}, {"job_runtime": 20_000}, "randwrite 8k read", 8),
        ({"rw": "randwrite"}, {}, "q and others read", None),
        ({"rw": "randwrite:4"}, {}, "q and others read", None),
        ({"rw": "randrw:8"}, {}, "randrw:8 8k read", 8),
        ({"rw": "trimwrite"}, {}, "q and others read", None),
    ],
)
def test_a_series_is_called_after_what_its_job_does(
    options: dict[str, str], job: dict[str, Any], series: str, load: float | None
) -> None:
    """Sizes are those of the job, and what its options can't have done was done by others beside it."""
    (found,) = levels(imported(("a", _fio(100, 5, options=options, **job))).runs)
    assert found.key == (series, load)


def test_groups_that_ran_together_are_no_repetitions() -> None:
    """new_group numbers a group that waits for none: as long as fio ran, they all did, and are one load."""
    body = json.loads(_fio(100, 5))
    for elapsed, runs, loads in ((21, 2, [8]), (11, 1, [16])):
        jobs = [{**body["jobs"][0], "groupid": n, "elapsed": elapsed} for n in (0, 1)]
        found = levels(imported(("a", json.dumps({**body, "jobs": jobs}))).runs)
        assert [level.load for level in found] == loads and found[0].runs() == runs


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ({"error": 5}, "q ended with error 5 (I/O error): its figures are not those of a whole run."),
        ({"error": 0, "total_err": 3}, "q had 3 errors."),
        ({"eta": 40}, "the run had not ended: 40 s were left."),
    ],
)
def test_what_went_wrong_is_said_first(job: dict[str, Any], said: str) -> None:
    """Errors of jobs, and runs that had not ended, stand before the figures, alone and in a comparison."""
    text = _fio(100, 5, **job)
    assert alone(imported(("a", text))).verdict == said
    assert pair(imported(("a", text), name="a"), imported(("b", _fio(100, 5)), name="b")).sentences[0] == f"a: {said}"


def test_jobs_that_did_nothing_are_named() -> None:
    """A job without an I/O is told beside those that made some; where none made any the file is refused, with the error."""
    body = json.loads(_fio(100, 5))
    idle = {**body["jobs"][0], "jobname": "z", "read": {}}
    assert alone(imported(("a", json.dumps({**body, "jobs": [*body["jobs"], idle]})))).verdict == "z did no I/O."
    with pytest.raises(RefusedError, match=r"none of its jobs did an I/O \(z did no I/O\)"):
        imported(("a", json.dumps({**body, "jobs": [idle]})))
    with pytest.raises(RefusedError, match=r"none of its jobs did an I/O \(e ended with error 28 \(no space left\)"):
        imported(*files("fio-error.json"))


def test_the_sum_of_all_clients_counts_where_it_stands_alone() -> None:
    """Old clients tell their sum alone: it is the run, not nothing."""
    body = json.loads(_fio(100, 5))
    jobs = [{**body.pop("jobs")[0], "jobname": "All clients", "hostname": "ini1", "job options": None}]
    run: Run = read(json.dumps({**body, "client_stats": jobs}), "a")
    assert run.points[0].figures["iops"] == 100


def test_another_disk_is_no_repetition() -> None:
    """Runs over other files or disks are series of their own, within one file and in several; over the same they are runs."""
    texts = [
        f"ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0\nName: /dev/vd{disk}\tSize: 21474836480\n"
        f"Maximum Small IOPS={iops} @ Small=5 and Large=0\n"
        for disk, iops in (("b", 100), ("c", 300), ("c", 500))
    ]
    expected = {"small on /dev/vdb": 1, "small on /dev/vdc": 2}
    for found in (imported(("a", "".join(texts))), imported(*((f"o_{n}_summary.txt", t) for n, t in enumerate(texts)))):
        assert {level.series: level.runs() for level in levels(found.runs)} == expected
    jobs = [
        ("a", _fio(100, 5, options={"filename": name}, end=end * 60_000))
        for name, end in (("x", 1), ("y", 2), ("y", 3))
    ]
    counts = {level.series: level.runs() for level in levels(imported(*jobs).runs)}
    assert counts == {"randread 8k read on x": 1, "randread 8k read on y": 2}


def test_runs_under_other_conditions_are_no_repetitions() -> None:
    """Where the runs of a set differ in what must be the same, it is said before their mean; rw and bs are in the names."""
    texts = [("a", _fio(100, 5)), ("b", _fio(100, 5, options={"ioengine": "psync"}, end=1_600_000_000_000))]
    assert (
        alone(imported(*texts)).verdict
        == "Its runs are not alike, so they are not repetitions: ioengine: libaio, psync."
    )
    texts = [("a", _fio(100, 5)), ("b", _fio(100, 5, options={"bs": "4k"}, end=1_600_000_000_000))]
    assert alone(imported(*texts)).verdict.startswith("randread 8k read")


def test_the_largest_of_reads_and_writes_is_the_largest() -> None:
    """ORION tells reads and writes apart: the largest and the smallest are of both, the means of each."""
    text = (
        "Maximum Small IOPS=918 @ Small=68 and Large=0\n"
        "Small Read Latency: avg=74 us, min=62 us, max=180 us, std dev=1 us @ Small=68 and Large=0\n"
        "Small Write Latency: avg=73 us, min=61 us, max=187 us, std dev=1 us @ Small=68 and Large=0\n"
    )
    figures = imported(("a", text)).runs[0].points[0].figures
    assert figures == {"iops": 918, "latencyUs": 74, "writeUs": 73, "minUs": 61, "maxUs": 187}


@pytest.mark.parametrize(
    ("name", "key", "figure", "values"),
    [
        ("calibrate.txt", ("exa1cel01 all flash disks", None), "iops", (151020, 151020)),
        ("vscsistats.csv", ("scsi0:1 IO lengths of Write commands", None), "count", (300,)),
        ("vflash.txt", ("read", None), "iops", (268,)),
        ("calibrate_io-query.txt", ("data files", None), "iops", (596, 596)),
    ],
)
def test_outputs_behind_each_other_are_several(
    name: str, key: tuple[str, None], figure: str, values: tuple[float, ...]
) -> None:
    """What stands twice in a file was measured twice, unless it counts on from a reset: then the last is all."""
    text = (DATA / "imports" / name).read_text()
    assert at(imported(("a", text + text)), *key).values[figure] == values


def test_what_a_histogram_says_of_itself_is_put_together() -> None:
    """The mean of two histograms is weighted by their counts, their ends are the outer ones."""
    text = "Histogram: IO lengths,worldGroupID,1,handleID,8203 (scsi0:1)\nmin,{}\nmax,{}\nmean,{}\ncount,{}\n"
    body = "Frequency,Histogram Bucket Limit\n{},4096\n"
    made = [
        ("a", text.format(512, 8192, 1000, 900) + body.format(900)),
        ("b", text.format(4096, 65536, 2000, 100) + body.format(100)),
    ]
    (found,) = levels(imported(*made).runs)
    assert [found.figure(name) for name in ("min", "max", "mean", "count")] == [512, 65536, 1100, 500]


ODD: list[Any] = [None, "x", -1, [], {}, [1], {"a": 1}, True, 1e300, ""]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_json_of_other_shapes_is_read_or_refused(value: Any) -> None:
    """Whatever stands in place of any value of fio's or iostat's JSON, the file is read or refused in a line."""
    for text in (_fio(100, 5, iodepth_level=LEVEL, job_runtime=9), (DATA / "imports" / "iostat.json").read_text()):
        for change in _changes(json.loads(text), value):
            try:
                alone(imported(("a", json.dumps(change))))
            except RefusedError as error:
                assert error.message.startswith("a: ")


def _changes(body: Any, value: Any) -> Iterator[Any]:
    """Yield the body with each of its values in turn replaced; of lists only the first and the last item is."""
    for key in list(body) if isinstance(body, dict) else sorted({0, len(body) - 1}):
        kept = body[key]
        body[key] = value
        yield body
        body[key] = kept
        if isinstance(kept, dict) or (isinstance(kept, list) and kept):
            for _ in _changes(kept, value):
                yield body


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1e999"])
def test_what_is_no_number_is_damage(number: str) -> None:
    """JSON that has NaN or a number beyond all bounds is damaged: no figure comes of it."""
    with pytest.raises(RefusedError, match="is not a number"):
        imported(("a", _fio(100, 5).replace('"iops": 100', f'"iops": {number}')))


def test_a_number_without_an_end_is_refused_with_its_line() -> None:
    """A number of hundreds of digits in a file of any program is refused, with its line and the way out."""
    with pytest.raises(RefusedError, match="line 2 has a number of 300 digits or more") as caught:
        read('{"fio version": "fio-3.33",\n"jobs": [{"eta": ' + "1" * 400 + "}]}", "x.json")
    assert caught.value.hint == "copy the file again, or remove that line"


def test_an_unclosed_cell_ends_where_a_table_begins() -> None:
    """In a page whose cell has no end, text in the next table's head belongs to no cell."""
    with pytest.raises(RefusedError):
        read("<table summary='This table displays load profile'><tr><th><table >text<tr>text\n", "x.html", "awr")


def test_a_curve_is_compared_where_both_measured_its_rate() -> None:
    """Of two files the loads at which one lacks the rate are left out of the curve; without three others there is none."""
    head = "FILE|SESSIONS|ELAPSED|EXECUTES|LFPW_LAT\n"
    whole, holed = (imported((name, head + rows)) for name, rows in (("a", WHOLE), ("b", HOLED)))
    assert any("Over 3 common loads" in line for line in pair(whole, holed, anyway=True).sentences)
    few = imported(("c", head + HOLED.replace("|8|10|500|", "|8|10||")))
    assert not any("common loads" in line for line in pair(whole, few, anyway=True).sentences)


WHOLE = "x|1|10|100|1\nx|2|10|200|1\nx|4|10|400|1\nx|8|10|500|1\n"
HOLED = "x|1|10|100|1\nx|2|10||1\nx|4|10|400|1\nx|8|10|500|1\n"
