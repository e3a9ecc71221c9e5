"""What stands on a terminal of 24 rows by 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.screen import Window


@pytest.fixture
def window(home: Path) -> Iterator[Callable[..., Window]]:
    """Opens the program on a terminal once its prompt stands there."""
    opened: list[Window] = []

    def begin(*argv: str) -> Window:
        opened.append(Window(argv, {"EXACELL_HOME": str(home), "EXACELL_PAGER": "", "PAGER": ""}))
        opened[-1].until("exacell>")
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def test_help_stands_on_one_screen(window: Callable[..., Window]) -> None:
    """help shows its seven tasks and all groups at once, with the line above and the prompt below, without a pager."""
    shown = window("-r", "t1")
    shown.press("help", "Enter")
    rows = shown.until("New? tutorial")
    assert rows[0].endswith("exacell> help")
    assert "reset the cache before a run  run reset_cold -n" in rows[1]
    assert any(row.startswith("  CellCLI ") for row in rows)
    assert sum(row.rstrip().endswith("exacell>") for row in rows) == 1
    assert not any("q leaves" in row for row in rows)


def test_an_answer_stays_in_sight_until_the_next_line_is_begun(window: Callable[..., Window]) -> None:
    """The rows for the menu are taken when something is typed, not before: 21 rows of an answer are seen below the prompt."""
    shown = window("-r", "t1")
    shown.press("help", "Enter")
    before = shown.until("New? tutorial")
    shown.press("flu")
    after = shown.until("flush  flashcache")
    assert len([row for row in before if row]) > len([row for row in after if row])
    assert any(row.rstrip().endswith("exacell> flu") for row in after)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("status", "show health"),
        ("what changed", "journal"),
        ("why did it fail", "journal show"),
        ("take it down", "can offline"),
    ],
)
def test_what_people_say_is_answered_and_not_carried_out(window: Callable[..., Window], words: str, told: str) -> None:
    """Words of everyday say which statement answers them; nothing is sent."""
    shown = window("-r", "t1")
    shown.press(words, "Enter")
    rows = shown.until("type `")
    assert told in " ".join(rows)


def test_a_pasted_here_document_runs_as_it_stands(window: Callable[..., Window]) -> None:
    """A here-document for cellcli, pasted with its EXIT and entered, is its statements, and the session goes on."""
    shown = window("-r", "t1")
    shown.paste("cellcli <<EOF\nhelp metric FL_DISK_FIRST\nhelp CELL-02559\nexit\nEOF\n")
    shown.until("-> EOF")
    shown.press("Enter")
    rows = shown.until("Example: list metriccurrent FL_DISK_FIRST")
    assert any(row == "= help metric FL_DISK_FIRST; help CELL-02559" for row in rows)
    assert any(row.startswith("CELL-02559") for row in rows)
    assert any(row.endswith("exacell>") for row in rows)


def test_pasted_sql_is_quoted_whole(window: Callable[..., Window]) -> None:
    """SQL over several lines is one answer: the statement that sends it, all of it."""
    shown = window("-r", "t1")
    shown.paste("SELECT name\n  FROM v$asm_diskgroup\n WHERE state = 'MOUNTED';")
    shown.until("MOUNTED")
    shown.press("Enter")
    rows = " ".join(row.strip() for row in shown.until("write `sql` before it"))
    assert "sql asm \"SELECT name FROM v$asm_diskgroup WHERE state = 'MOUNTED'\"" in rows
