"""The pictures of README and docs, drawn from the program."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.make_pictures import PICTURES, PLANS

ROOT = Path(__file__).resolve().parents[2]
TEXT = re.compile(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
CHARACTER = 12.2


def shown(picture: Path) -> list[str]:
    """Return the lines of the screen that a picture keeps."""
    rows: dict[float, str] = {}
    found = [(float(y), float(x), html.unescape(text)) for x, y, text in TEXT.findall(picture.read_text("utf-8"))]
    for y, x, text in sorted(found):
        rows[y] = rows.get(y, "").ljust(round(x / CHARACTER)) + text.replace("\xa0", " ")
    return [row.rstrip() for _, row in sorted(rows.items())]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pictures, drawn anew."""
    if shutil.which("tmux") is None:
        pytest.skip("pictures are drawn in tmux")
    folder = tmp_path_factory.mktemp("pictures")
    script = [sys.executable, str(ROOT / "docs" / "make_pictures.py"), str(folder)]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return folder


def test_each_plan_stands_on_one_screen_with_its_question(drawn: Path) -> None:
    """At 80, 100 and 160 columns and 24 rows title, risk and question of each plan are seen together; a refusal is, too."""
    for name in PLANS:
        for width in (80, 100, 160):
            lines = shown(drawn / "plans" / f"{name}-{width}.svg")
            text = "\n".join(lines)
            assert len(lines) <= 24 and max(map(len, lines)) <= width, name
            if name == "refusal":
                assert "drop diskgroup DATA refused" in text
                continue
            assert "Plan on " in text and "  Risk:" in text and "  Time:" in text, (name, width)
            assert lines[-1].startswith("proceed? [y/N/d]"), (name, width)


def test_dark_and_light_show_the_same(drawn: Path) -> None:
    """A picture on light differs from the one on dark in its colours alone."""
    for name in PLANS:
        dark, light = (drawn / "plans" / f"{name}-80{kind}.svg" for kind in ("", "-light"))
        assert shown(dark) == shown(light) and "#ffffff" in light.read_text() and "#ffffff" not in dark.read_text()


@pytest.mark.parametrize("name", PLANS)
def test_the_plans_in_docs_are_what_the_program_shows(name: str, drawn: Path) -> None:
    """The kept picture of a plan has the words of the one that is drawn now; times and numbers of changes may differ."""

    def words(picture: Path) -> list[str]:
        return [re.sub(r"roughly \S+|change \d+", "…", line) for line in shown(picture)]

    assert words(PICTURES / "plans" / f"{name}.svg") == words(drawn / "plans" / f"{name}-80.svg")


def test_the_pictures_of_readme_are_all_drawn(drawn: Path) -> None:
    """Every picture that README and docs show comes from the script, and none of them is empty."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    named = {one for page in pages for one in re.findall(r"pictures/([\w-]+)\.svg", page.read_text("utf-8"))}
    assert {"plan", "prompt", "top", "watch", "diff"} <= named
    for name in named - {"architecture"}:
        assert len(shown(drawn / f"{name}.svg")) > 5, name
    text = "\n".join(shown(drawn / "plan.svg"))
    assert "Plan on t1: resize flashcache size=288g" in text and "proceed? [y/N/d]" in text
