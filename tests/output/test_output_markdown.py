"""Pages of the documentation as a terminal shows them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from exacell.commands.help import page
from exacell.output.draw import Look
from exacell.output.markdown import page_lines
from exacell.output.style import plain

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
@pytest.mark.parametrize("width", [60, 80, 160])
def test_a_page_fits_the_window_and_loses_no_word(path: Path, width: int) -> None:
    """No line is wider than the window, nothing is cut, and no two empty lines follow each other."""
    text = path.read_text(encoding="utf-8")
    lines = page_lines(text, Look(width))
    assert max(map(len, lines)) <= min(width - 1, 100)
    assert not any(not one and not other for one, other in pairwise(lines))
    assert sum(line.count("…") for line in lines) <= text.count("…")
    assert lines[0].startswith(text.partition("\n")[0].lstrip("# ").split()[0])


def test_marks_of_markdown_are_gone_and_code_stands_in() -> None:
    """Headings, lists and code show what they mean, without the marks; what is to be copied is indented and whole."""
    lines = page_lines("# Title\n\nA `word` and **more**.\n\n## Part\n\n* one\n\n```\nlist cell\n```\n", Look(80))
    assert lines == ["Title", "", "A word and more.", "", "Part", "", " • one", "", "  list cell"]


def test_colour_only_marks_what_stands_out() -> None:
    """Without colour the page is the same text; in ASCII it has no other sign of its own."""
    text = (DOCS / "rolling.md").read_text(encoding="utf-8")
    shown = page_lines(text, Look(80, True))
    assert any("\x1b[" in line for line in shown)
    assert [plain(line).rstrip() for line in shown if plain(line).strip()] == [
        line for line in page_lines(text, Look(80)) if line
    ]
    assert "".join(page_lines("# A\n\n* b\n\n| c | d |\n|--|--|\n| e | f |\n", Look(80, False, False))).isascii()


def test_help_shows_a_page_drawn_in_a_window_and_as_it_is_for_a_program() -> None:
    """help PAGE on a terminal has no marks of Markdown; into a pipe it is the page."""
    assert page(["docs", "rolling"], 80)[0] == "Rolling changes and gates"
    assert page(["docs", "rolling"])[0] == "# Rolling changes and gates"
    assert page(["config.example"], 80)[0].startswith("# exacell's configuration")
