"""Imports from the command line: read, kept, listed, compared, drawn; CellCLI's own IMPORT stays its own."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from exacell.language.line import parse_line
from exacell.measure.finding import Chart, Form, Series
from exacell.output.charts import chart_lines, round_steps
from tests.support.program import InProcess

DATA = Path(__file__).parent.parent / "data" / "imports"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """The program with a home of its own, in the folder of fixtures."""
    monkeypatch.chdir(DATA)
    return InProcess(tmp_path)


def test_an_import_is_kept_listed_and_compared_by_name(program: InProcess) -> None:
    """Two sets kept under names are listed and compared, in any case of the names; a new one replaces the old."""
    program.ok("import", "as=limited", "fio-queue-1.json")
    program.ok("import", "as=free", "fio-queue-?.json")
    program.ok("import", "fio-queue-limited-1.json", "fio-queue-limited-2.json", "as=Limited")
    listed = program.ok("-o", "json", "imports").records
    assert [(row["name"], row["kind"], row["files"]) for row in listed] == [("free", "fio", 3), ("Limited", "fio", 2)]
    done = program.ok("-o", "json", "compare", "FREE", "limited").records
    assert "in Limited" in done[0]["says"] and "in free" in done[0]["says"]
    assert next(row for row in done if row.get("figure") == "iops")["basis"] == "3 and 2 runs"


def test_names_with_blanks_are_names_of_files(program: InProcess, tmp_path: Path) -> None:
    """A path with blanks, in quotes, is one file to import, to compare and in a pattern, not several."""
    folder = tmp_path / "my files"
    folder.mkdir()
    for place, name in enumerate(("run one.json", "run two.json"), start=1):
        shutil.copy(f"fio-queue-{place}.json", folder / name)
    one, two = (str(folder / f"run {name}.json") for name in ("one", "two"))
    program.ok("import", "as=one", one)
    found, plain = (
        [row["ratio"] for row in program.ok("-o", "json", "compare", *files).records if "ratio" in row]
        for files in ((one, two), ("fio-queue-1.json", "fio-queue-2.json"))
    )
    assert found and found == plain
    assert "2 files" in program.ok("import", "as=all", f"{folder}/run *.json").out


def test_files_are_compared_without_an_import(program: InProcess, tmp_path: Path) -> None:
    """Files stand for themselves, packed by gzip too; nothing is kept of them."""
    packed = tmp_path / "awr.txt.gz"
    packed.write_bytes(gzip.compress((DATA / "awr-19.txt").read_bytes()))
    done = program.ok("-o", "json", "compare", "awr-11.txt", str(packed)).records
    row = next(row for row in done if row.get("series") == "transactions")
    assert (row["a"], row["b"], row["ratio"]) == (2000, 2500, 1.25)
    assert program.ok("-o", "json", "imports").records == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("compare", "nosuch", "awr-11.txt"),
            "nosuch is not the name of an import, a file, a run's result, a snapshot, an experiment or a set of trace files",
        ),
        (("compare", "awr-11.txt", "fio-mixed.json"), "they measure different things"),
        (("import", "nosuch.json"), "nosuch.json: No such file or directory"),
        (
            ("import", "levels.fio"),
            "is a job file of fio, which `import` can't read; run fio with --output-format=json",
        ),
        (
            ("import", "fio-mixed.json", "awr-11.txt"),
            "files of fio and an AWR report can't be imported as one; import each by itself",
        ),
        (("import", "kind=fio", "awr-11.txt"), "it has nothing of fio"),
        (("import",), "import needs FILES"),
    ],
)
def test_what_can_not_be_is_refused_in_a_line(program: InProcess, words: tuple[str, ...], said: str) -> None:
    """Nothing is kept, the line says what was wrong, and the program ends with 2."""
    done = program(*words)
    assert done.code == 2 and said in done.err and "Traceback" not in done.err


def test_cellclis_import_stays_its_own() -> None:
    """IMPORT CELLDISK goes to the cells; a file of that name can be given with its folder."""
    own = parse_line("import celldisk all")
    assert own is not None and own.cellcli is not None and own.call is None
    ours = parse_line("import ./celldisk")
    assert ours is not None and ours.call is not None and ours.call.text_arg("files") == "./celldisk"


CURVE = Chart(
    title="rate",
    x="load",
    y="iops",
    log_x=True,
    series=(Series(name="one", points=((1, 10.0), (10, 90.0), (100, 95.0))),),
)


def test_a_chart_fits_the_terminal_and_its_signs() -> None:
    """Lines are no longer than the terminal is wide, in ASCII where it takes no more; a narrow one gets no chart."""
    wide = list(chart_lines(CURVE, 80, color=False, unicode=True))
    plain = list(chart_lines(CURVE, 80, color=False, unicode=False))
    assert wide and max(map(len, wide)) < 80 and "\x1b" not in "".join(wide)
    assert "".join(plain).isascii() and sum(line.count("a") for line in plain) >= 3
    assert not list(chart_lines(CURVE, 30, color=False, unicode=True))


def test_bars_are_as_long_as_their_values() -> None:
    """The longer bar is that of the larger value, and both values are written."""
    chart = Chart(
        title="t",
        x="",
        y="iops",
        form=Form.BARS,
        names=("x", "y"),
        series=(Series(name="s", points=((0.0, 5.0), (1.0, 50.0))),),
    )
    rows = [line for line in chart_lines(chart, 80, color=False, unicode=True) if "▇" in line]
    assert "5.00" in rows[0] and "50.00" in rows[1] and rows[1].count("▇") > 5 * rows[0].count("▇")


@pytest.mark.parametrize("most", [0.0, 0.003, 1, 7, 99, 100, 101, 101518])
def test_steps_of_an_axis_are_round_and_reach_the_top(most: float) -> None:
    """From 0 to the largest value in two to seven steps."""
    steps = round_steps(most)
    assert steps[0] == 0 and steps[-1] >= most and 2 <= len(steps) <= 7


def test_a_copy_counts_once(program: InProcess, tmp_path: Path) -> None:
    """A file that is a copy of another one is no further run, and that is said; short texts may be alike by chance."""
    first, copy = tmp_path / "a.json", tmp_path / "b.json"
    for path in (first, copy):
        path.write_bytes((DATA / "fio-queue-1.json").read_bytes())
    said = program.ok("import", "as=twice", str(first), str(copy))
    assert (
        "b.json is a copy of a.json, so it is not another run; the two count once" in said.out
        and "runs" not in said.out
    )
    assert program.ok("-o", "json", "compare", "twice", str(first)).records
    for path, text in ((first, "max_iops = 596\n"), (copy, "max_iops = 596\n")):
        path.write_text(text)
    assert "2 runs" in program.ok("import", str(first), str(copy)).out


@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_text_of_windows_is_read_and_kept(program: InProcess, tmp_path: Path, code: str) -> None:
    """UTF-16 and a mark at the beginning are no other program's: the figures are the same, kept ones too."""
    path = tmp_path / "x.json"
    mark = "\ufeff" if code == "utf-16-le" else ""
    path.write_text(mark + (DATA / "fio-queue-1.json").read_text(), encoding=code)
    program.ok("import", "as=kept", str(path))
    rows = program.ok("-o", "json", "compare", "kept", "fio-queue-1.json").records
    assert {row["ratio"] for row in rows if "ratio" in row} == {1}


@pytest.mark.parametrize("same", [True, False])
def test_limits_of_several_hosts_are_never_added(program: InProcess, tmp_path: Path, same: bool) -> None:
    """What two hosts' devices report of their limits stands once where it is the same, and else host by host."""
    page = (DATA / "sg_vpd-reported.txt").read_text()
    files = []
    for host, text in (("ini1", page), ("ini2", page if same else page.replace("8192", "1024"))):
        path = tmp_path / f"limits@{host}.txt"
        path.write_text(text)
        files.append(str(path))
    done = program.ok("-o", "json", "import", "as=limits", *files)
    most = {
        row["series"]: row["blocks"] for row in done.records if str(row.get("series")).startswith("Maximum transfer")
    }
    length = "Maximum transfer length"
    assert most == ({length: 8192} if same else {f"{length} on ini1": 8192, f"{length} on ini2": 1024})
    assert "added" not in done.err
