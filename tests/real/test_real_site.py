"""The site that make docs makes of docs/."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSER = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom")


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder with the site, made anew."""
    if not os.environ.get("TEST_REAL"):
        pytest.skip("the site is made by make test-real alone (TEST_REAL=1)")
    subprocess.run(["make", "docs"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return ROOT / "build/site"


def test_each_page_is_there_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Each page of docs/ is a page of the site, whose scripts, styles and pictures are files of the site."""
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages <= {path.stem for path in site.glob("*.html")}
    for page in site.glob("*.html"):
        text = page.read_text()
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="([^"]+)"', text)
        for name in loaded:
            assert (site / name.partition("?")[0].partition("#")[0]).is_file(), f"{page.name} loads {name}"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium")
def test_a_word_is_found_from_a_folder(site: Path) -> None:
    """In a browser that has only the folder, the search finds the page that has the word."""
    done = subprocess.run(
        [*BROWSER, f"file://{site}/search.html?q=noexec"], capture_output=True, text=True, check=True, timeout=120
    )
    assert "install.html" in done.stdout
    assert "Search finished" in done.stdout
