"""help answers any words: what people ask, pages, codes, metrics, slips; its first screen fits 80 by 24."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.commands.help import page
from exacell.commands.pages.found import Own
from exacell.language.asked import ASKED, OVERVIEW, Question, typed
from exacell.language.registry import commands
from tests.support.every import every

ROOT = Path(__file__).parents[2]


def first(words: str) -> str:
    """Return what the best answer says to type."""
    return page(words.split(), own=lambda: Own(recipes=[("mine", "my own")]))[0].strip().partition("  ")[0]


@every(
    [
        ("status", "show health"),
        ("what changed?", "journal"),
        ("why", "why"),
        ("why did it fail", "journal show"),
        ("reset the cache", "run reset_cold -n"),
        ("a disk group on flash", "run flash_diskgroup cache=288g -n"),
        ("is flash logging worth it?", "run flashlog_ab db=<db> -n"),
        ("may I take this cell down?", "can offline <cell>"),
        ("repeat it tomorrow", "recipes"),
        ("use my dcli lines", "dcli -g cells -l root cellcli -e list cell"),
        ("writeback mode", "set flashcache mode=writeback"),
        ("prevented outliers", "help metric FL_PREVENTED_OUTLIERS"),
        ("repair time", "help attribute griddisk asmDiskRepairTime"),
        ("security keys differ", "help CELL-02630"),
        ("what is simplified", "help docs emulator"),
        ("rows of the chain edited", "journal verify"),
        ("mine", "run mine"),
        ("flush", "flush flashcache"),
        ("bye", "exit"),
    ]
)
def test_the_best_answer_stands_first(words: str, best: str) -> None:
    """What is asked in plain words, or looked for in metrics, attributes, codes and pages, is the first row."""
    assert first(words) == best


@pytest.mark.parametrize("question", ASKED, ids=lambda each: each.text)
def test_each_question_is_answered_by_its_own_words(question: Question) -> None:
    """help with the words of a question that help knows answers with its statement, and that is one."""
    shown = [line.strip().partition("  ")[0] for line in page(question.text.split())]
    assert typed(question) in shown[:3]
    statement = typed(question, ["c1"], ["SPOT"])
    assert statement.startswith(("help ", *(each.name for each in commands().values())))


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("fluhs flashcache", "flush flashcache"),
        ("safty", "help safety"),
        ("list gridisk", "help list griddisk"),
        ("resize flashcach", "resize flashcache"),
        ("flashcach", "flush flashcache"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(slip: str, meant: str) -> None:
    """Words that help does not know are read as those that they are slips for, and help says so."""
    assert any(line.strip().startswith(meant) for line in page(slip.split()))


def test_help_never_answers_with_nothing() -> None:
    """Words of which nothing speaks are answered with the first screen, below a line that says so."""
    shown = page(["qqqqqq", "zzzzzz"])
    assert shown[0].startswith("help has nothing about 'qqqqqq zzzzzz'.")
    assert any(OVERVIEW[0].type in line for line in shown)


def test_every_page_of_the_documentation_is_a_topic() -> None:
    """help NAME shows each file of docs/, or what else has its name with the way to the page."""
    for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.toml")):
        name = path.name.rpartition(".")[0]
        shown = "\n".join(page([name]))
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").partition(":")[0]
        assert title in shown, name
        assert title in "\n".join(page(["docs", name])), name


@pytest.mark.parametrize(("width", "most"), [(80, 21), (100, 21), (160, 21), (40, 21)])
def test_the_first_screen_fits_the_window(width: int, most: int) -> None:
    """The first screen has 21 rows, so that 24 hold it with the line before, the prompt and the bar; it uses the width."""
    shown = page([], width)
    assert len(shown) <= most
    assert max(map(len, shown)) < width or width < 80
    assert max(map(len, shown)) > min(width, 140) - 24


def test_the_first_screen_names_the_racks_own_cell_and_database() -> None:
    """Statements on the first screen can be typed as they stand: they name a cell and a database of the rack."""
    shown = "\n".join(page([], 80, own=lambda: Own(cells=["dm01cel01"], dbs=["PAY"])))
    assert "can offline dm01cel01" in shown
    assert "db=PAY" in shown


def test_answers_are_one_line_each_in_the_window() -> None:
    """What is found for words stands in at most 14 lines, none longer than the window."""
    shown = page(["cache", "size", "of", "the", "flash"], 80)
    assert len(shown) <= 14
    assert max(map(len, shown)) < 80


def test_a_page_names_what_is_about_the_same() -> None:
    """help OBJECT names our own statements about it; a statement with the name of a page names the page."""
    assert any("disable flashlog" in line for line in page(["flashlog"]))
    assert any("help docs journal" in line for line in page(["journal"]))
