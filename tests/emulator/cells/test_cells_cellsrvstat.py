"""cellsrvstat of emulated cells: its list, its groups and columns, and counts that are those of the metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from cells_bench import MORNING, Bench

from exacell.emulator.basics.program import Event, Out, Pause
from exacell.emulator.programs.cellsrvstat import GROUPS, cellsrvstat, statistics

CELL = "exa1cel01"


def run(bench: Bench, *argv: str) -> tuple[int, str, str]:
    """Return exit status, output and errors; the rack's time passes while the program pauses."""
    texts: dict[bool, str] = {False: "", True: ""}
    program = cellsrvstat(bench.rack, CELL, argv)
    while True:
        try:
            event: Event = next(program)
        except StopIteration as end:
            return int(end.value), texts[False], texts[True]
        if isinstance(event, Pause):
            bench.pass_time(event.seconds)
        else:
            assert isinstance(event, Out)
            texts[event.err] += event.text


def numbers(text: str) -> dict[str, list[tuple[int, int]]]:
    """Return what each statistic gained and is, sample by sample."""
    found: dict[str, list[tuple[int, int]]] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"(\S.*?) +(-?\d+) +(-?\d+)", line):
            found.setdefault(match[1], []).append((int(match[2]), int(match[3])))
    return found


@pytest.mark.parametrize(
    ("release", "first", "line"),
    [
        ("11.2.3.3.1", "===Current Time===                                      Sun Sep 13 12:26:40 2020\n\n== Input/Output",
         "Number of disk IO errors                                        0              0"),
        ("19.3", "===Current Time===                                              Sun Sep 13 12:26:40 2020\n== Input/Output",
         "Number of disk IO errors                                           0              0"),
    ],
)  # fmt: skip
def test_the_columns_are_those_of_the_release(release: str, first: str, line: str) -> None:
    """Up to 11.2.3 numbers end in columns 65 and 80 and groups stand apart; from 12.1 on in 68 and 83, without blank lines."""
    bench = Bench(release=release)
    status, text, errors = run(bench)
    assert (status, errors) == (0, "") and text.startswith(first)
    assert line in text.splitlines()
    assert ("== FlashCache related stats ==" in text) is (release != "11.2.3.3.1")
    assert "\nEND SQL ids consuming the most CPU\n" in text
    assert bench.wall == MORNING


def test_the_list_names_all() -> None:
    """-list shows the groups and, for each statistic, its short name; those that are no counts have a star."""
    text = run(Bench(), "-list")[1]
    assert text.startswith("Statistic Groups:\nio                  Input/Output related stats                      ")
    assert "\nio_nbiorr_hdd       Number of hard disk block IO read requests \n" in text
    assert "\nsio_ns              Number of active smart IO sessions *\n" in text
    assert all(f"\n{row.name:<20}{row.description} " in text for row in statistics())
    assert "flashcache" not in run(Bench(release="11.2.3.3.1"), "-list")[1]


def test_counts_are_those_of_the_metrics(bench: Bench) -> None:
    """After a load that is over, reads and writes of disks, cache and scans are what METRICCURRENT adds up to."""
    bench.rack.start_load(db="SPOT", redo=None, seconds=300.0, profile="mixed")
    bench.pass_time(600)
    seen = {name: values[0][1] for name, values in numbers(run(bench)[1]).items()}

    def metric(name: str, where: str = "") -> float:
        text = bench.e(f"list metriccurrent where name='{name}' {where} attributes metricValue")
        return sum(float(word.replace(",", "")) for word in re.findall(r"^\t ([\d.,]+)", text, re.MULTILINE))

    for kind, word in (("R", "read"), ("W", "write")):
        for medium, prefix in (("hard", "CD"), ("flash", "FD")):
            disks = f"and metricObjectName like '{prefix}_.*'"
            expected = sum(metric(f"CD_IO_RQ_{kind}_{size}", disks) for size in ("SM", "LG"))
            assert expected > 0 and seen[f"Number of {medium} disk block IO {word} requests"] == expected
    assert seen["Number of read hits"] == seen["Number of reads from flash cache"] == metric("FC_IO_RQ_R") > 0
    assert seen["Size of IO avoided due to storage index (KB)"] == pytest.approx(metric("SIO_IO_SI_SV") * 1024) != 0
    hits = seen["Flash cache reads (KB)"]
    assert hits == pytest.approx(metric("FC_IO_BY_R") * 1024, rel=1e-3) and hits > 0


def test_several_samples_show_what_was_gained(bench: Bench) -> None:
    """-interval and -count print a sample each, of the groups asked for; the first column is the gain since the last."""
    bench.rack.start_load(db="SPOT", redo=3000.0, seconds=1200.0, profile="oltp")
    bench.pass_time(120)
    status, text, _ = run(bench, "-stat_group=io,exec", "-interval=120", "-count=3")
    assert status == 0 and text.count("===Current Time===") == 3 and "Memory related" not in text
    samples = numbers(text)["Number of writes to flash cache"]
    assert [gain for gain, _ in samples] == [0, samples[1][1] - samples[0][1], samples[2][1] - samples[1][1]]
    assert samples[1][0] > 0
    assert re.search(r"^ {10}CacheGet +[1-9]\d* +[1-9]\d*$", text, re.MULTILINE)


def test_a_start_of_cellsrv_begins_anew(bench: Bench) -> None:
    """While CELLSRV is down there is one line and status 1; afterwards the incarnation is higher and counts are 0."""
    bench.rack.start_load(db="SPOT", redo=3000.0, seconds=60.0, profile="oltp")
    bench.pass_time(180)
    first = numbers(run(bench, "-stat", "exec_incno,io_nwfc")[1])
    bench.e("alter cell shutdown services cellsrv")
    assert run(bench) == (1, "", "cellsrvstat: CELLSRV does not run\n")
    bench.e("alter cell startup services cellsrv")
    later = numbers(run(bench, "-stat=exec_incno,io_nwfc")[1])
    assert later["Incarnation number"][0][1] > first["Incarnation number"][0][1]
    assert (later["Number of writes to flash cache"][0][1], first["Number of writes to flash cache"][0][1] > 0) == (
        0,
        True,
    )


def test_short_names(bench: Bench) -> None:
    """-short prints a statistic's short name for its description."""
    assert list(numbers(run(bench, "-short", "-stat=io_nrfc,net_txb")[1])) == ["io_nrfc", "net_txb"]


@pytest.mark.parametrize(
    "argv",
    [
        ["-x"],
        ["-stat_group=disk"],
        ["-stat", "io_x"],
        ["-interval=0"],
        ["-count", "-1"],
        ["-count=x"],
        ["-stat"],
        ["io"],
    ],
)
def test_wrong_options_show_the_usage(bench: Bench, argv: Sequence[str]) -> None:
    """What it does not know is one line and the usage on stderr, status 1."""
    status, text, errors = run(bench, *argv)
    assert (status, text) == (1, "") and errors.startswith("cellsrvstat: ") and "\nUsage:\n" in errors


def test_every_statistic_is_well_formed() -> None:
    """Names are unique and short enough for the list, groups have titles, and counters are those that a load moves."""
    names = [row.name for row in statistics()]
    assert len(set(names)) == len(names) and all(len(name) < 20 for name in names)
    assert {row.group for row in statistics()} == set(GROUPS)
    bench = Bench(model="x10mef")
    bench.rack.start_load(db="SPOT", redo=None, seconds=300.0, profile="mixed")
    bench.pass_time(600)
    hard = Bench()
    hard.rack.start_load(db="SPOT", redo=None, seconds=300.0, profile="mixed")
    hard.pass_time(600)
    moved = {*bench.rack.metrics[CELL].counters, *hard.rack.metrics[CELL].counters}
    unmoved = {name for row in statistics() for name in row.counters} - moved
    kept = {"FC_IO_RQKEEP_R", "FC_IO_BYKEEP_R", "FC_IO_RQKEEP_R_MISS", "FC_IO_BYKEEP_R_MISS", "FC_IO_RQKEEP_R_SKIP"}
    assert unmoved <= {"H.ERRS", "F.ERRS", "C.ERRS", "FC_IO_RQKEEP_W", "FC_IO_BYKEEP_W", "SIO_IO_RV_OF", *kept}
