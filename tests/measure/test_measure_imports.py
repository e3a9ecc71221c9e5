"""Outputs of other programs are read as they are, whatever their release, and only like things are compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exacell.core.errors import RefusedError, StatementError
from exacell.language.line import parse_line
from exacell.measure.importers import fio
from exacell.measure.importers.calibrate import read_database
from exacell.measure.importers.findings import Imported, alone, pair
from exacell.measure.importers.kinds import KINDS, PUBLISHED, read, together
from exacell.measure.importers.levels import curves, effective, knee, levels, peak
from exacell.measure.importers.model import Run, UnreadableError, number
from exacell.measure.importers.several import several
from tests.support.every import every
from tests.support.program import InProcess

DATA = Path(__file__).parent.parent / "data" / "imports"
FILES = sorted(path.name for path in DATA.iterdir() if path.suffix not in (".tsv", ".fio"))

KIND_OF = {
    "awr": "awr", "awr_info": "slob", "calibrate": "calibrate", "calibrate_io": "calibrate_io", "esxtop": "esxtop",
    "fio": "fio", "iostat": "iostat", "orion": "orion", "queues": "queues", "sg_vpd": "sg_vpd", "vflash": "vflash",
    "vscsistats": "vscsistats",
}  # fmt: skip


def run(name: str) -> Run:
    return read((DATA / name).read_text(), name)


def imported(name: str, *files: str) -> Imported:
    return Imported(name=name, runs=tuple(together([run(file) for file in files])))


def figures(name: str) -> dict[tuple[str, float | None], dict[str, float]]:
    """Return the figures of a fixture by series and load; the last of samples."""
    return {(point.series, point.load): dict(point.figures) for point in run(name).points}


def test_every_fixture_names_its_source() -> None:
    """A file of other programs is there with the command that made it, or the publication whose form it has."""
    told = dict(line.split("\t") for line in (DATA / "SOURCES.tsv").read_text().splitlines())
    assert set(told) == set(FILES) and all(len(source) > 20 for source in told.values())


@every(FILES)
def test_a_file_is_recognised_by_its_content(name: str) -> None:
    """Each output is claimed by its own program's reader alone, has points, and says so where nobody ran that program here."""
    text = (DATA / name).read_text()
    claiming = [kind for kind, one in KINDS.items() if one.claims(text)]
    stem = name.partition(".")[0]
    expected = next(KIND_OF[part] for part in (stem, stem.partition("-")[0], stem.partition("_")[0]) if part in KIND_OF)
    assert claiming == [expected]
    found = run(name)
    assert found.points and (PUBLISHED in found.notes) == KINDS[expected].published
    finding = alone(Imported(name="x", runs=(found,)))
    assert finding.verdict.endswith(".") and finding.figures is not None and finding.figures.rows


@every([
        # sums over the groups' jobs, as python -m json.tool shows them in the fixtures
        ("fio-mixed.json", "randrw 8k read", 1, {"iops": 10171.414293}),
        ("fio-redo.json", "write 4k sync", 1, {"latencyUs": 903.76}),
        ("orion_20130722_0953_summary.txt", "small", 17, {"iops": 9899, "latencyUs": 1711, "minUs": 791, "maxUs": 12316}),
        ("orion_20130722_0953_summary.txt", "small", 1, {"latencyUs": 123.58, "maxUs": 4496}),
        ("orion_11_summary.txt", "small", 1, {"latencyUs": 370}),
        ("orion_11_summary.txt", "large", 2, {"mbPerS": 418.07}),
        ("orion_11_mbps.csv", "large", 1, {"mbPerS": 302.66}),
        ("calibrate.txt", "exa1cel01 all flash disks", None, {"mbPerS": 3210.4, "iops": 151020}),
        ("calibrate-lun.txt", "LUN 0_2 on 20:2", None, {"mbPerS": 168.21, "iops": 419}),
        ("calibrate_io-query.txt", "data files", None, {"iops": 596, "latencyUs": 12000, "oneProcessMbPerS": 60}),
        ("awr-11.txt", "physical read", None, {"perSecond": 1234.5, "perTransaction": 0.6}),
        ("awr-11.txt", "log file sync", None, {"waits": 600000, "totalS": 3000, "averageUs": 5000}),
        ("awr-11.txt", "cell single block physical read", None, {"waits": 200000, "totalS": 100}),
        ("awr-19.txt", "physical read", None, {"perSecond": 1300}),
        ("awr-19.txt", "log file sync", None, {"waits": 750000, "averageUs": 3000}),
        ("awr-19.txt", "log file parallel write", None, {"averageUs": 512.3}),
        ("awr.html", "physical write", None, {"perSecond": 2500, "perTransaction": 1}),
        ("awr.html", "log file sync", None, {"waits": 750000, "totalS": 2250, "averageUs": 3000}),
        ("awr_info.txt", "SLOB", 32, {"executes": 9800, "logWriteUs": 700}),
        ("sg_vpd-reported.txt", "Maximum transfer length", None, {"blocks": 8192}),
        ("queues.txt", "vda max_sectors_kb", None, {"value": 4096}),
        ("vscsistats.csv", "scsi0:1 IO lengths of Write commands", None, {"mostFrequent": 8192, "count": 300}),
        ("vflash.txt", "read", None, {"hitPercent": 29, "iops": 268, "maxIops": 608}),
        ("vflash.txt", "cache", None, {"usedPercent": 61, "failedDiskIos": 0}),
        ("esxtop.csv", "naa.6001", None, {"iops": 1900, "writeMibPerS": 475, "latencyUs": 1100, "deviceUs": 1000}),
        ("iostat-10.txt", "sdk", None, {"readsPerS": 9600, "kibPerIo": 8, "latencyUs": 3130, "queue": 30.1}),
        ("iostat-11.txt", "sdb", None, {"writeMibPerS": 6.25, "writeUs": 1600, "writeKib": 128}),
        ("iostat-comma.txt", "sdk", None, {"readsPerS": 20.1, "readUs": 1000}),
    ])  # fmt: skip
def test_figures_are_those_of_the_file(name: str, series: str, load: float | None, expected: dict[str, float]) -> None:
    """What the file says stands under one name and one unit, whatever the release wrote it in."""
    found = figures(name)[series, load]
    for figure, value in expected.items():
        assert found[figure] == pytest.approx(value, rel=1e-4), figure


def test_a_page_that_reports_no_lengths_says_so() -> None:
    """A disk that reports no transfer length has no figure for it: 0 would be read as a limit."""
    found = run("sg_vpd-not-reported.txt")
    assert "Maximum transfer length: not reported" in found.notes
    assert "Maximum transfer length" not in {point.series for point in found.points}


def test_jobs_of_a_group_run_together_and_clients_do() -> None:
    """Three clones and two clients are one load with their rates added, without fio's own sum of all clients."""
    assert set(figures("fio-alone.json")) == {("randread 8k read", 3.0)}
    clients = figures("fio-clients.json")
    assert set(clients) == {("randread 8k read", 2.0)}
    text = (DATA / "fio-clients.json").read_text()
    sums = [float(line.split(":")[1].strip(" ,")) for line in text.splitlines() if '"iops" :' in line]
    reads = [value for value in sums if value > 0]
    assert clients["randread 8k read", 2.0]["iops"] == pytest.approx(reads[0] + reads[1], rel=1e-6)


def test_stonewalled_jobs_are_loads_of_one_curve() -> None:
    """Jobs behind each other become a curve, with its distributions from json+."""
    found = imported("levels", "fio-levels.json")
    line = curves(levels(found.runs))["randread 8k read"]
    assert [level.load for level in line] == [1, 2, 4, 8, 32]
    assert len(found.runs[0].distributions) == 5
    assert found.runs[0].distributions[0].counts.n > 1000


def test_unified_reporting_is_one_mixed_series() -> None:
    """With unified_rw_reporting reads and writes are one."""
    assert {series for series, _ in figures("fio-unified.json")} == {"randrw 8k mixed"}


@pytest.mark.parametrize("name", ["iostat-12.txt", "iostat-12-m.txt", "iostat.json"])
def test_the_report_since_boot_is_left_out(name: str) -> None:
    """Of n reports n - 1 count, and it is said; JSON and text agree on the figures' names."""
    found = run(name)
    reports = (DATA / name).read_text().count('"disk":' if name.endswith("json") else "Device ")
    assert len(found.points) == reports - 1 and any("since boot" in note for note in found.notes)
    told = {name for point in found.points for name in point.figures}
    assert {"readsPerS", "writesPerS", "readMibPerS", "writeUs", "queue", "utilPercent"} <= told


def test_a_matrix_without_a_unit_gets_it_from_its_rates() -> None:
    """Latencies of an old ORION are milliseconds by Little's law with the IOPS beside them; alone they stay without a unit."""
    both = imported("old", "orion_11_iops.csv", "orion_11_lat.csv")
    at_five = next(level for level in levels(both.runs) if level.load == 5)
    assert at_five.values["latencyUs"] == (680.0,) and at_five.values["iops"] == (7344.0,)
    lonely = imported("old", "orion_11_lat.csv")
    assert "latencyUs" not in levels(lonely.runs)[0].values
    assert any("together with its _iops.csv" in note for note in alone(lonely).notes)
    with pytest.raises(RefusedError, match="it is not clear what it measured"):
        read((DATA / "orion_11_iops.csv").read_text(), "numbers.csv")


def test_a_cold_first_pass_is_set_apart() -> None:
    """268 before 655, 661 and 640 is the cold cache and not counted; a first pass within the others' spread is."""
    cold = alone(imported("cache", "calibrate_io.txt"))
    assert cold.verdict == "data files: 652 I/Os per second, 640 to 661 in 3 runs."
    assert "set apart is 268 I/Os per second" in cold.sentences[1]
    text = (DATA / "calibrate_io.txt").read_text().replace("max_iops = 268", "max_iops = 630")
    assert "4 runs" in alone(Imported(name="warm", runs=(read(text, "warm"),))).verdict


def test_a_query_of_calibrate_io_may_have_columns_of_others() -> None:
    """What stands between the columns, as a recipe's pass does, moves no figure to another name."""
    text = "MAX_IOPS pass MAX_MBPS LATENCY NUM_PHYSICAL_DISKS\n--- --- --- --- ---\n12,736 one 7,429 11 36\n"
    (point,) = read_database(text, "x").points
    assert point.figures == {"iops": 12736, "mbPerS": 7429, "latencyUs": 11000}


def test_peak_and_knee_are_marked() -> None:
    """The peak is the largest rate, the knee the load with most rate per latency."""
    line = curves(levels(imported("new", "orion_12_iops.csv", "orion_12_lat.csv").runs))["small"]
    assert (peak(line).load, knee(line).load) == (32, 8)


def test_repeated_runs_give_a_ratio_with_an_interval() -> None:
    """Three runs against three whose rate was limited to a fifteenth: the interval leaves 1 out, and worse is said."""
    names = [[f"fio-queue{which}-{at}.json" for at in (1, 2, 3)] for which in ("", "-limited")]
    finding = pair(imported("free", *names[0]), imported("limited", *names[1]))
    assert finding.figures is not None
    row = next(row for row in finding.figures.rows if row["figure"] == "iops")
    assert row["basis"] == "3 and 3 runs" and row["low"] < row["ratio"] < row["high"] < 0.2
    assert "more than chance makes, and worse" in finding.verdict
    same = pair(imported("free", *names[0]), imported("again", *names[0]))
    assert "no more than chance makes" in same.verdict


def test_a_single_run_has_no_interval_from_nowhere() -> None:
    """Where nothing tells how much a figure varies there is none, and it is said what would."""
    finding = pair(imported("a", "awr-11.txt"), imported("b", "awr-19.txt"))
    assert finding.figures is not None and all(row["low"] is None for row in finding.figures.rows)
    assert any("import several files of each" in sentence for sentence in finding.sentences)
    assert any(note.startswith("only in a: ") for note in finding.notes)


def test_three_sets_and_more_stand_in_one_table_and_one_chart() -> None:
    """Each set has its column, its ratio to the first and its line, also one whose name stands there already."""
    sets = [imported(name, f"orion_{file}_iops.csv") for name, file in (("iet", 11), ("scst", 12), ("iet", 11))]
    finding = several(sets)
    assert finding.figures is not None
    names = ("iet", "scst", "iet (3)")
    assert finding.figures.columns[-5:] == (*names, "scst/iet", "iet (3)/iet")
    assert all(row["iet (3)/iet"] == 1 and row["iet (3)"] == row["iet"] for row in finding.figures.rows)
    assert [series.name for series in finding.charts[0].series] == [f"{name} small" for name in names]
    assert "iet (3) " in finding.verdict and finding.verdict.endswith("(1.00 times).")
    assert [side.name for side in finding.sides] == ["iet", "scst", "iet"]
    assert {row["set"] for row in finding.records} == {"scst", "iet (3)"}


def test_of_three_sets_bars_and_intervals_are_told() -> None:
    """Sets without a curve have a bar each; each interval is said to be one by itself; unlike ones are refused as of two."""
    free, limited = ([f"fio-queue{which}-{at}.json" for at in (1, 2, 3)] for which in ("", "-limited"))
    sets = [imported("free", *free), imported("limited", *limited), imported("again", *free)]
    finding = several(sets)
    (chart,) = finding.charts
    assert [series.name for series in chart.series] == ["free", "limited", "again"] and chart.names
    assert all(len(series.points) == len(chart.names) for series in chart.series)
    assert "intervals is one of 95 % by itself" in finding.sentences[-1]
    with pytest.raises(RefusedError, match="they measure different things"):
        several([*sets, imported("other", "queues.txt")])


def test_a_note_says_of_which_set_it_is() -> None:
    """What only one of two disks does not report is told with its name."""
    notes = pair(imported("vmdk", "sg_vpd-not-reported.txt"), imported("rdm", "sg_vpd-reported.txt")).notes
    assert any(note.startswith("vmdk: ") and note.endswith(": not reported") for note in notes)


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("fio-mixed.json", "orion_12_iops.csv", "they measure different things"),
        (
            "fio-mixed.json",
            "fio-redo.json",
            r"differ in more than the load: bs: 8k → 4k; rw: randrw → write; ioengine: psync → sync",
        ),
        ("vscsistats.csv", "vscsistats.csv", ""),
        ("sg_vpd-reported.txt", "queues.txt", "they measure different things"),
        ("orion_11_iops.csv", "orion_11_mbps.csv", "have nothing in common: a holds small, b large"),
    ],
)
def test_unlike_is_refused(a: str, b: str, why: str) -> None:
    """Other programs, other conditions and other series are not compared; what differs is named."""
    if not why:
        assert pair(imported("a", a), imported("b", b)).figures is not None
        return
    with pytest.raises(RefusedError, match=why):
        pair(imported("a", a), imported("b", b))


def test_anyway_compares_and_says_what_differs() -> None:
    """What is unlike stands in the first sentence where it is compared all the same."""
    text = (DATA / "fio-mixed.json").read_text().replace('"psync"', '"libaio"')
    other = Imported(name="b", runs=(read(text, "b"),))
    finding = pair(imported("a", "fio-mixed.json"), other, anyway=True)
    assert finding.verdict.startswith("They are not alike, so the figures show that, too: ioengine: psync → libaio")


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        ("hello\n", "", "does not know the program"),
        ("", "", "is empty"),
        ('{"fio version": "fio-3.33", "jobs": [', "", "cut or damaged"),
        ('{"fio version": "fio-3.33", "jobs": []}', "", "none of its jobs did an I/O"),
        ("Device r/s w/s %util\n", "", "no report of devices"),
        ("hello\n", "fio", "it has nothing of fio"),
        ("FILE|SESSIONS|ELAPSED|\n", "", "no report after the header"),
    ],
)
def test_what_is_no_output_is_refused_in_a_line(text: str, kind: str, why: str) -> None:
    """A file that is cut, empty or of something else has one clear line."""
    with pytest.raises(RefusedError, match=why):
        read(text, "f", kind)


@every(FILES)
def test_files_that_are_cut_never_end_in_a_fault(name: str) -> None:
    """Cut at any of many places a file is read or refused, by an error that says why."""
    text = (DATA / name).read_text()
    for end in range(0, len(text), max(1, len(text) // 60)):
        try:
            found = read(text[:end], name)
        except RefusedError as error:
            assert error.message
        else:
            assert alone(Imported(name="x", runs=(found,))).sentences


def test_signs_of_two_programs_are_asked_about() -> None:
    """A file with the output of two programs is not guessed about: kind= says which is meant."""
    text = (DATA / "iostat-10.txt").read_text() + (DATA / "calibrate.txt").read_text()
    with pytest.raises(RefusedError, match="it looks like iostat -x and CellCLI's CALIBRATE") as refused:
        read(text, "both.txt")
    assert "kind=iostat|calibrate" in (refused.value.hint or "")
    assert read(text, "both.txt", "calibrate").kind == "calibrate"


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,234.5", 1234.5), ("31.4K", 31400), ("1.2345E+10", 1.2345e10), ("-", None), ("12 apples", None), (" 7 ", 7)],
)
def test_numbers_as_reports_write_them(text: str, value: float | None) -> None:
    """Thousands, powers and K and M are read; what is no number is none."""
    assert number(text) == value


def test_samples_that_follow_each_other_count_for_less() -> None:
    """A slow wave of 100 samples is worth few independent ones; alternating ones are not worth more than they are."""
    assert effective([float(at) for at in range(100)]) < 10
    assert effective([1.0, 2.0] * 50) == 100


@pytest.mark.parametrize("name", ["fio-alone.json", "fio-clients.json", "fio-unified.json", "fio-redo.json"])
def test_fio_s_ios_and_their_time_are_those_of_its_jobs(name: str) -> None:
    """The sum that fio adds for all clients is left out, and a sync is time of the write before it, and no I/O."""
    text = (DATA / name).read_text(encoding="utf-8")
    found = json.loads(text[text.index("{") :])
    jobs = [job for job in found.get("client_stats") or found["jobs"] if job["jobname"] != "All clients"]
    parts = [job[way]["lat_ns"] for job in jobs for way in ("read", "write", "trim", "mixed") if way in job]
    syncs = [job["sync"]["lat_ns"] for job in jobs if "sync" in job]
    count, micros = fio.waited(text)
    assert count == sum(part["N"] for part in parts) > 0
    assert micros == pytest.approx(sum(part["N"] * part["mean"] for part in (*parts, *syncs)) / 1000)


def test_output_of_fio_without_an_io_is_refused() -> None:
    """JSON that was cut and a job that did nothing are errors, never a latency of 0."""
    for text in ('{"fio version": "fio-3.33", "jobs": [', '{"fio version": "fio-3.33", "jobs": [{"jobname": "j"}]}'):
        with pytest.raises(UnreadableError):
            fio.waited(text)


def test_compare_takes_any_number_of_names() -> None:
    """Each bare word behind the first is one more set, also for a report, whose form stands last; flags may stand among them."""
    call = parse_line("compare iet scst --anyway 'a b' uek3").call
    assert call is not None and call.text_arg("a") == "iet" and call.texts_arg("b") == ("scst", "a b", "uek3")
    call = parse_line("report iet scst uek3 html to=/tmp/x.html").call
    assert call is not None and call.texts_arg("b") == ("scst", "uek3", "html") and call.text_arg("to") == "/tmp/x.html"
    with pytest.raises(StatementError, match="compare needs A"):
        parse_line("compare")


def test_a_pattern_stands_for_the_imports_that_it_fits(tmp_path: Path) -> None:
    """scst* is every import of such a name, the first kept first; one name alone is nothing to compare."""
    program = InProcess(tmp_path / "home")
    for name in ("iet", "scst", "scst-tuned"):
        program.ok("import", f"as={name}", str(Path("examples/data") / f"{name}_iops.csv"))
    assert program.ok("compare", "scst*").out == program.ok("compare", "scst", "scst-tuned").out
    done = program("compare", "iet")
    assert done.code == 2 and "compare needs B" in done.err and "compare iet OTHER" in done.err
