"""Draw the pictures of docs/reports.md in a headless Chromium: python docs/make_report_pictures.py [folder]."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from exacell.measure.importers.findings import Imported, pair  # noqa: E402
from exacell.measure.importers.kinds import read, together  # noqa: E402
from exacell.output.report.page import Made, page  # noqa: E402
from tests.support.browser import Browser  # noqa: E402
from tests.support.kept import kept_finding  # noqa: E402

EXAMPLES = ROOT / "examples" / "data"


def made(statement: str) -> Made:
    """Return how a report of the pictures was made."""
    return Made(at="2026-11-27T19:00:00+00:00", version="0.1.0", statement=statement)


def imported(name: str, *files: str) -> Imported:
    """Return files of the examples as an import."""
    runs = [read((EXAMPLES / file).read_text(encoding="utf-8"), file) for file in files]
    return Imported(name=name, runs=tuple(together(runs)))


def main(folder: Path) -> None:
    """Write an experiment's page on a desk, on a phone, in the dark and on paper, and report-curves.png of two imports."""
    iet, scst = (imported(name, f"{name}_iops.csv", f"{name}_lat.csv") for name in ("iet", "scst"))
    with tempfile.TemporaryDirectory() as scratch:
        browser, report = Browser(Path(scratch)), Path(scratch) / "report.html"
        report.write_text(page(kept_finding(), made("report e2")), encoding="utf-8")
        browser.picture(report, folder / "report.png", 1280, 1600)
        browser.phone(report, folder / "report-phone.png")
        browser.phone(report, folder / "report-dark.png", dark=True)
        browser.paper(report, Path(scratch) / "report.pdf")
        sheet = [
            "-r",
            "70",
            "-png",
            "-gray",
            "-singlefile",
            str(Path(scratch) / "report.pdf"),
            str(folder / "report-paper"),
        ]
        subprocess.run(["pdftoppm", *sheet], check=True)
        report.write_text(page(pair(iet, scst), made("report iet scst")), encoding="utf-8")
        browser.picture(report, folder / "report-curves.png", 1280, 1600)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
