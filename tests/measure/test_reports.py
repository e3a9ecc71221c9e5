"""Reports say all of a finding in one file, fetch nothing, and their archive proves itself."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from exacell.core.errors import RefusedError
from exacell.measure.finding import (
    Artifact,
    Change,
    Chart,
    Distribution,
    Finding,
    Form,
    Series,
    Side,
    Table,
    differences,
)
from exacell.measure.histogram import Histogram
from exacell.output.report.drawing import nines, tail_points
from exacell.output.report.page import Made, page
from exacell.output.report.text import as_json, markdown
from exacell.session.evidence import check, files_of, pack
from tests.support.program import InProcess

DATA = Path(__file__).parent.parent / "data" / "imports"
MADE = Made(at="2026-11-27T19:00:00+00:00", version="9.9", statement="report a b")
EVIL = '<img src="http://example.org/x.png"><script>alert(1)</script> a | b'
WAITS = Histogram.of({100: 9_000, 200: 900, 5_000: 99, 700_000: 1})


def finding(name: str = "a") -> Finding:
    return Finding(
        title="two runs",
        sentences=("b takes twice as long.", "One run each."),
        figures=Table(title="Figures", columns=("figure", "value"), rows=({"figure": "iops", "value": 1234.5678},)),
        distributions=(Distribution(name=name, what="log file sync", unit="µs", counts=WAITS),),
        sides=(
            Side(name=name, about="a file", passport={"release": "11.2", "mode": "writeback"}),
            Side(name="b", about="a file", passport={"release": "19.1", "mode": "writeback"}),
        ),
        changes=(
            Change(id="7", at="2026-11-27", statement="disable flashlog db=SPOT", outcome="exit 0", chained="ab12"),
        ),
        artifacts=(Artifact(name="run.json", content=b"{}"), Artifact(name="run.json", content=b"[]")),
        notes=("c was left out",),
    )


class _Tags(HTMLParser):
    """The tags of a page, and those attributes that lead somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.leading: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        leading = ("src", "href", "xlink:href", "data", "action", "srcset")
        texts = ("aria-label", "data-name")
        self.leading += [
            (name, value or "")
            for name, value in attrs
            if name in leading or ("://" in (value or "") and name not in texts)
        ]


@pytest.mark.parametrize("write", [page, markdown, as_json])
def test_each_form_says_all(write: object) -> None:
    """Verdict, figures, conditions, changes with their hash, the statement and notes are in each form, the verdict first."""
    assert callable(write)
    text = write(finding(), MADE)
    for part in ("b takes twice as long.", "One run each.", "11.2", "19.1", "disable flashlog db=SPOT", "ab12", "report a b",
                 "c was left out", "1,235" if write is not as_json else "1234.5678"):  # fmt: skip
        assert part in text, part
    assert text.index("b takes twice as long.") < text.index("iops")


def test_a_page_fetches_nothing_whatever_names_say() -> None:
    """Names of the data are text, not markup; there is no script, no address but those that name SVG, and a rule against both."""
    text = page(finding(EVIL), MADE)
    tags = _Tags()
    tags.feed(text)
    assert {"html", "svg", "table", "figure"} <= tags.names and not tags.names & {
        "script",
        "img",
        "link",
        "iframe",
        "image",
    }
    assert all(value.startswith("#") or name.startswith("xmlns") for name, value in tags.leading)
    assert "url(" not in text and "@import" not in text and "default-src 'none'" in text


def test_markdown_stays_a_table_whatever_names_say() -> None:
    """A bar in a name does not make another column."""
    lines = [line for line in markdown(finding(EVIL), MADE).splitlines() if line.startswith("| ")]
    assert lines and all(len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 6) for line in lines)


def test_json_has_the_histograms() -> None:
    """The counts come back exactly."""
    found = json.loads(as_json(finding(), MADE))["distributions"][0]["counts"]
    assert Histogram(tuple(found["values"]), tuple(found["counts"])) == WAITS


def test_what_differs_is_marked_and_comes_first() -> None:
    """Of two conditions the one that differs is marked, and stands above the one that does not."""
    assert differences(finding().sides) == {"release": ("11.2", "19.1")}
    text = page(finding(), MADE)
    assert "release (differs)" in text and text.index("release (differs)") < text.index(">mode<")


def test_the_tail_is_drawn_to_the_longest_wait() -> None:
    """The curve ends at the greatest value, each nine has the same width, and quantiles rise."""
    points = tail_points(Distribution(name="x", what="w", unit="µs", counts=WAITS))
    assert points[0] == (0.0, 100.0) and points[-1] == (pytest.approx(4.0), 700_000.0)
    assert [y for _, y in points] == sorted(y for _, y in points)
    assert nines(0.99) == pytest.approx(2.0) and nines(0.999) - nines(0.99) == pytest.approx(1.0)


def test_a_chart_has_legends_with_dashes_and_no_line_between_repetitions() -> None:
    """Each line of a curve has its dash and sign in the legend; points have none between them, but mean and interval."""
    levels = tuple(Series(name=f"s{place}", points=((1.0, place + 1.0), (2.0, 5.0))) for place in range(13))
    curve = page(replace(finding(), distributions=(), charts=(Chart(title="t", x="x", y="y", series=levels),)), MADE)
    keys = re.findall(r"<li>(<svg.*?</svg>)s\d+</li>", curve)
    assert len(keys) == len(set(keys)) == 13
    assert len({re.sub(r"series c\d", "", key) for key in keys}) == 13, "told apart without colour"
    one = Series(name="blocks", points=((0.0, -18.0), (1.0, -16.0)), mean=(-17.0, -18.5, -15.5))
    points = Chart(title="t", x="x", y="y", series=(one,), form=Form.POINTS)
    text = page(replace(finding(), distributions=(), charts=(points,)), MADE)
    (drawn,) = re.findall(r'<g class="series c0">(<rect.*?)</g>', text)
    assert drawn.count('class="interval"') == 1 and drawn.count('class="sign"') == 2
    (line,) = re.findall(r'class="line" d="([^"]+)"', drawn)
    assert re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+", line), "the mean, level"
    assert "L" not in line and "Pygal" not in text and "mean -17" in text


@pytest.mark.parametrize(
    ("values", "says"), [((0.0, 0.0), "0"), ((-3.0, -1.0), "-3"), ((1e-7, 2e-7), "e-07"), ((5e9, 9e9), "5,000,000,000")]
)
def test_an_axis_shows_whatever_is_measured(values: tuple[float, float], says: str) -> None:
    """Zeros alone, values below zero, tiny and huge ones have an axis with numbers, and nothing stands outside of it."""
    series = (Series(name="s", points=tuple(enumerate(values))),)
    for form in (Form.CURVE, Form.TIMELINE, Form.POINTS):
        text = page(
            replace(finding(), distributions=(), charts=(Chart(title="t", x="x", y="y", series=series, form=form),)),
            MADE,
        )
        assert says in " ".join(re.findall(r'<text class="y"[^>]*>([^<]*)<', text))
        assert all(0 <= float(up) <= 270 for up in re.findall(r"translate\([\d.]+ (-?[\d.]+)\)", text))


def test_an_archive_proves_itself(tmp_path: Path) -> None:
    """Packed files match their checksums, as sha256sum says; names stay apart; the same content has the same seal."""
    seal = pack(tmp_path / "a.zip", files_of(finding(), {"report.html": page(finding(), MADE)}))
    found = check(tmp_path / "a.zip")
    assert (found.seal, found.wrong, found.files) == (seal, (), 4)
    assert seal == pack(tmp_path / "b.zip", files_of(finding(), {"report.html": page(finding(), MADE)}))
    assert (tmp_path / "a.zip").stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "out")
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count(": OK") == 4
    assert (tmp_path / "out/distributions/a.csv").read_text().splitlines()[:2] == ["value,count", "100,9000"]
    assert {path.read_bytes() for path in (tmp_path / "out/files").iterdir()} == {b"{}", b"[]"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"report.html": b"better"}, "report.html: it was changed"),
        ({"report.html": None}, "report.html: it is missing"),
        ({"more.txt": b"x"}, "more.txt: it is not in SHA256SUMS"),
    ],
)
def test_a_changed_archive_is_found_out(tmp_path: Path, change: dict[str, bytes | None], said: str) -> None:
    """A file that was changed, taken away or added is named."""
    pack(tmp_path / "a.zip", files_of(finding(), {"report.html": "<p>"}))
    with zipfile.ZipFile(tmp_path / "a.zip") as old, zipfile.ZipFile(tmp_path / "b.zip", "w") as new:
        content = {name: old.read(name) for name in old.namelist()} | change
        for name, data in content.items():
            if data is not None:
                new.writestr(name, data)
    assert check(tmp_path / "b.zip").wrong == (said,)


def _doctored(path: Path, how: str) -> None:
    """Change an archive of a report without touching a file that its list names."""
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as old:
        content = [(info.filename, old.read(info)) for info in old.infolist()]
    if how == "more before":
        path.write_bytes(b"#!/bin/sh\n" + whole)
        return
    if how == "more behind":
        path.write_bytes(whole + b"x")
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        if how == "twice":
            content.insert(0, ("report.html", b"<p>better"))
        if how == "twice in another case":
            content.append(("REPORT.html", b"<p>better"))
        if how == "the list twice":
            content.append(("SHA256SUMS", content[-1][1]))
        if how == "a folder":
            content.append(("more/", b""))
        sums = dict(content)["SHA256SUMS"]
        lists = {
            "a line twice": sums + sums.splitlines(keepends=True)[0],
            "a line that is none": sums + b"hello\n",
            "a name outside": sums + b"0" * 64 + b"  ../x\n",
        }
        for name, data in content:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.comment = b"x" if how == "a file's comment" else b""
            info.extra = b"\x99\x99\x01\x00x" if how == "a further field" else b""
            info.external_attr = (0o120777 << 16) if how == "a link" and name == "report.html" else 0
            new.writestr(info, lists.get(how, data) if name == "SHA256SUMS" else data, zipfile.ZIP_DEFLATED)
        new.comment = b"x" if how == "a comment" else b""


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("twice", "report.html: it is twice in the archive"),
        ("twice in another case", "REPORT.html: it is twice in the archive"),
        ("the list twice", "SHA256SUMS: it is twice in the archive"),
        ("a folder", "more/: it is not in SHA256SUMS"),
        ("a line twice", "it is twice in SHA256SUMS"),
        ("a line that is none", "has a line that is not a checksum"),
        ("a name outside", "../x: its path leaves the folder"),
        ("a file's comment", "has a comment or further fields"),
        ("a further field", "has a comment or further fields"),
        ("a link", "report.html is not a file"),
        ("a comment", "there is more data after the files"),
        ("more before", "there is more data at"),
        ("more behind", "there is more data after the files"),
    ],
)
def test_an_archive_with_more_than_its_list_names_is_found_out(tmp_path: Path, how: str, said: str) -> None:
    """A name that comes twice, and whatever the list does not name, is told, wherever in the archive it hides."""
    pack(tmp_path / "a.zip", files_of(finding(), {"report.html": "<p>"}))
    assert not check(tmp_path / "a.zip").wrong
    _doctored(tmp_path / "a.zip", how)
    assert said in "\n".join(check(tmp_path / "a.zip").wrong)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    """A file that is cut, another ZIP file and none have one line each."""
    pack(tmp_path / "a.zip", {"x": b"y" * 1000})
    (tmp_path / "cut.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-40])
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("x", "y")
    for name, why in (("cut.zip", "damaged"), ("other.zip", "it has no SHA256SUMS"), ("none.zip", "No such file")):
        with pytest.raises(RefusedError, match=why):
            check(tmp_path / name)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """The program with a home of its own, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return InProcess(tmp_path / "home")


def test_reports_are_written_by_one_statement(program: InProcess, tmp_path: Path) -> None:
    """A page, Markdown and an archive; what exists is not written over without --replace; the archive verifies."""
    one, two = (str(DATA / name) for name in ("fio-levels.json", "fio-queue-1.json"))
    first = program.ok("-o", "json", "report", one).records[0]
    assert first["file"] == "fio-levels.json.html" and "at most" in first["verdict"]
    assert (tmp_path / "fio-levels.json.html").read_text().startswith("<!DOCTYPE html>")
    again = program("report", one)
    assert again.code == 2 and "fio-levels.json.html exists" in again.err
    program.ok("report", one, "--replace")
    program.ok("report", one, two, "md", "to=both.md")
    assert (tmp_path / "both.md").read_text().startswith("# ")
    seal = program.ok("-o", "json", "report", one, two, "--evidence", "to=both.zip").records[0]["seal"]
    checked = program.ok("-o", "json", "report", "verify", "both.zip").records[0]
    assert checked["whole"] and checked["seal"] == seal
    with zipfile.ZipFile("both.zip") as archive:
        assert archive.read("files/fio-levels.json") == (DATA / "fio-levels.json").read_bytes()
    (tmp_path / "both.zip").write_bytes(b"no zip")
    broken = program("report", "verify", "both.zip")
    assert broken.code == 2 and "damaged, or not an archive" in broken.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "nosuch"), "nosuch is not the name of an import"),
        (("report", "nosuch", "pdf"), "nosuch is not the name of an import"),
        (("report",), "this rack has no experiment to report"),
        (
            ("report", str(DATA / "fio-levels.json"), f"to={DATA / 'SOURCES.tsv'}/x.html"),
            "SOURCES.tsv/x.html: Not a directory",
        ),
    ],
)
def test_a_report_that_can_not_be_is_refused(program: InProcess, words: tuple[str, ...], said: str) -> None:
    """One line says why, and nothing is written."""
    done = program(*words)
    assert done.code == 2 and said in done.err
