"""Reports as a real browser shows them: on a desk, on a phone, in the dark, on paper, without a network (make test-real)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from exacell.measure.finding import Finding
from exacell.measure.importers.findings import Imported, alone, pair
from exacell.measure.importers.kinds import read, together
from exacell.output.report.page import Made, page
from tests.support.browser import AXE, CHROMIUM, Browser
from tests.support.kept import kept_finding

DATA = Path(__file__).parent.parent / "data" / "imports"
REAL = os.environ.get("TEST_REAL") == "1"
MADE = Made(at="2026-11-27T19:00:00+00:00", version="9.9", statement="report a b")

pytestmark = [
    pytest.mark.skipif(not REAL, reason="make test-real starts the browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium (Debian: apt-get install chromium)"),
]


def imported(name: str, *files: str) -> Imported:
    return Imported(name=name, runs=tuple(together([read((DATA / file).read_text(), file) for file in files])))


FINDINGS = {
    "curves": lambda: alone(imported("levels", "fio-levels.json")),
    "pair": lambda: pair(imported("a", "fio-levels.json"), imported("b", "fio-levels.json")),
    "bars": lambda: pair(imported("before", "awr-11.txt"), imported("after", "awr-19.txt")),
    "samples": lambda: alone(imported("disk", "iostat-12.txt")),
    "experiment": kept_finding,
    "bins": lambda: alone(imported("vm", "vscsistats.csv")),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(tmp_path_factory.mktemp("browser"))


@pytest.fixture(params=FINDINGS)
def finding(request: pytest.FixtureRequest) -> Finding:
    found: Finding = FINDINGS[request.param]()
    return found


_WINDOWS = pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, False), (390, True), (1280, True)])


@_WINDOWS
def test_a_page_fits_its_window(browser: Browser, finding: Finding, width: int, dark: bool) -> None:
    """Nothing is wider than the window, the verdict is seen at once, no text of a chart is cut or too small to read."""
    seen = browser.seen(page(finding, MADE), width, dark=dark)
    assert seen["wide"] <= width and 0 <= seen["verdict"] < 200
    assert seen["svgs"] >= 1 and seen["texts"] > 5 and seen["out"] == []
    paper, ink = (sum(map(int, re.findall(r"\d+", seen[name])[:3])) for name in ("paper", "ink"))
    assert (paper < 200 and ink > 500) if dark else (paper > 700 and ink < 200)
    assert seen["line"].startswith("rgb(") and seen["least"] >= 11
    assert seen["scrolled"] == 0 or width > 390


@pytest.mark.skipif(AXE is None, reason="there is no axe-core (pip install --no-deps axe-playwright-python)")
@_WINDOWS
def test_a_checker_of_accessibility_finds_nothing_serious(
    browser: Browser, finding: Finding, width: int, dark: bool
) -> None:
    """axe-core has no serious and no critical remark: charts are named, contrast is enough, what scrolls is reached by keys."""
    found = browser.faults(page(finding, MADE), width, dark=dark)
    assert [fault for fault in found if fault.startswith(("serious", "critical"))] == []


@pytest.mark.skipif(AXE is None, reason="there is no axe-core (pip install --no-deps axe-playwright-python)")
@pytest.mark.parametrize(
    ("good", "bad", "rule"),
    [("aria-label=", "data-label=", "svg-img-alt"), ("--ink: #1b1f24", "--ink: #bbb", "color-contrast")],
)
def test_the_checker_finds_what_is_wrong(browser: Browser, good: str, bad: str, rule: str) -> None:
    """A chart without a name and text without contrast are found: that nothing is found means something."""
    text = page(kept_finding(), MADE)
    assert rule in " ".join(browser.faults(text.replace(good, bad), 1280))


def test_a_page_asks_for_nothing(browser: Browser, finding: Finding, tmp_path: Path) -> None:
    """The browser's own log of the network has no request but for the file itself."""
    report, log = tmp_path / "report.html", tmp_path / "net.json"
    report.write_text(page(finding, MADE), encoding="utf-8")
    browser.run(f"--log-net-log={log}", "--dump-dom", f"file://{report}")
    text = log.read_text(errors="replace")
    asked = {url for url in re.findall(r'"url":"([^"]+)"', text) if not url.startswith(("chrome", "data:", "about:"))}
    own = {json.loads(f'"{url}"') for url in asked if "google" not in url and "gvt1" not in url}
    assert own <= {f"file://{report}"}


_PAPER = 680
"""Pixels of A4 between its margins of 15 mm, which the page sets."""


def test_nothing_is_wider_than_paper(browser: Browser, finding: Finding) -> None:
    """By the rules for paper, where nothing can be scrolled, no table and no chart is wider than the sheet: hashes are broken."""
    text = page(finding, MADE)
    assert text.count("@media print") == 1
    assert browser.seen(text.replace("@media print", "@media all"), _PAPER)["wide"] <= _PAPER


def test_a_page_is_printed(browser: Browser, finding: Finding, tmp_path: Path) -> None:
    """On paper it takes a few pages, not one for each chart and row, and the first one is full."""
    report = tmp_path / "report.html"
    report.write_text(page(finding, MADE), encoding="utf-8")
    pdf = browser.paper(report, tmp_path / "report.pdf")
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert pdf.startswith(b"%PDF") and 1 <= sheets <= 8
    assert re.search(rb"/MediaBox\s*\[\s*0 0 59[45]", pdf), "the page asks for A4"
    if sheets > 1 and shutil.which("pdftotext"):
        assert _free(tmp_path / "report.pdf") < 0.15


def _free(pdf: Path) -> float:
    """Return which part of the first sheet is empty below its last word, the margin left out."""
    words = ["pdftotext", "-f", "1", "-l", "1", "-bbox", str(pdf), "-"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    last = max(float(end) for end in re.findall(r'yMax="([\d.]+)"', told))
    height, margin = 841.9, 42.5
    return (height - margin - last) / (height - 2 * margin)
