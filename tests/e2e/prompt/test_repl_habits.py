"""What fingers type that learned it elsewhere, and what somebody meets who has no rack yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory

from exacell.core.errors import StatementError
from exacell.language.shorthand import understood
from exacell.prompt.app import ShortSuggestions
from tests.support.program import answer, plain

Start = Callable[..., pexpect.spawn]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("exacell emulator status", "emulator status"),
        ("exacell 'show flashcache'", None),
        ("cellcli -e list cell detail", "list cell detail"),
        ("cellcli -e 'list cell detail'", "list cell detail"),
        ('CellCLI -e "list cell";', "list cell"),
        ("exacell @reset_cold", "@reset_cold"),
        ("?", "help"),
        ("\\q", "exit"),
        ("quit();", "exit"),
        (".quit", "exit"),
        ("\\l", "racks"),
        ("\\timing", "set timing on"),
        ("\\c t1", "connect t1"),
        ("\\h flush flashcache", "help flush flashcache"),
        ("\\o /tmp/answers.txt", "spool /tmp/answers.txt"),
        ("\\o", "spool off"),
        ("\\i weekly.scl", "start weekly.scl"),
        ("\\watch 5 list flashcache", "watch 5 list flashcache"),
        ("\\! ls -l", "!ls -l"),
        ("ed", "edit"),
        ("clear screen", "!clear"),
    ],
)
def test_lines_for_a_shell_are_understood(typed: str, meant: str | None) -> None:
    """A line as it is given to exacell or cellcli in a shell, and other shells' words, mean the statement."""
    if meant is None:
        with pytest.raises(StatementError):
            understood(typed, {})
    else:
        became, line = understood(typed, {})
        assert became == meant and line is not None


def test_an_alias_comes_before_nothing_of_that() -> None:
    """Words that only begin like these are left as they are."""
    assert understood("list cell", {})[0] == "list cell"
    with pytest.raises(StatementError, match="cellcli is a program"):
        understood("cellcli list cell", {})


def test_a_slash_runs_the_last_statement_again(start: Start) -> None:
    """/ says what it repeats and repeats it, also twice; with nothing before it says so."""
    child = start("-r", "t1")
    assert "there is no earlier statement" in answer(child, "/")
    answer(child, "cells")
    for _ in range(2):
        shown = answer(child, "/")
        assert "= cells" in shown and "exa1cel[01-03]" in shown


def test_timing_says_how_long_it_took(start: Start) -> None:
    """set timing on adds a line to each statement, set timing off ends that."""
    child = start("-r", "t1")
    assert "elapsed" not in answer(child, "cells")
    answer(child, "set timing on")
    assert re.search(r"elapsed \d+\.\d\ds", answer(child, "cells"))
    answer(child, "set timing off")
    assert "elapsed" not in answer(child, "cells")


def test_without_a_rack_the_way_to_one_is_a_statement(start: Start, home: Path) -> None:
    """What needs a rack names CONNECT and the racks that there are; where none is configured, an emulated one."""
    child = start()
    assert "no rack yet: connect prod or connect t1" in plain(child.before)
    shown = answer(child, "show flashcache")
    assert "no rack is chosen; connect prod or connect t1" in shown and "EXACELL_RACK" not in shown
    for name in ("t1", "prod"):
        (home / "racks.d" / f"{name}.toml").unlink()
    assert "`emulator start demo`, then `connect demo`" in answer(child, "cells").replace("\n    ", " ")


def test_demo_at_the_prompt_stays(start: Start) -> None:
    """demo makes an emulated rack the present one and leaves it running; demo STATEMENT goes back to where one was."""
    child = start("-r", "t1")
    try:
        assert "exa1cel[01-03]" in answer(child, "demo list cell attributes name")
        assert plain(child.before).endswith("t1 3 cells RW ")
        assert "type `tutorial` to learn exacell" in answer(child, "demo")
        assert plain(child.before).endswith("demo 3 cells RW ")
        assert "exa1cel[01-03]" in answer(child, "list cell")
    finally:
        shown = answer(child, "emulator stop demo")
    assert "stopped" in shown


def test_what_is_wrong_in_a_script_is_shown_with_its_place(start: Start, tmp_path: Path) -> None:
    """The faulty line of the script is shown and marked, and file and number are said."""
    script = tmp_path / "two.scl"
    script.write_text("show settings\nlist flashcach\nshow settings\n")
    shown = answer(start("-r", "t1"), f"@{script}")
    rows = shown.splitlines()
    marks = next(number for number, row in enumerate(rows) if "^" in row)
    place = rows[marks].index("^")
    assert rows[marks - 1][place:] == "flashcach"
    assert f"{script}, line 2: 1 more statement was not run" in shown.replace("\n    ", " ")


def test_a_long_entry_is_not_offered_in_grey() -> None:
    """A pasted line of thousands of characters does not cover the screen of whoever types its first letter."""
    offered = ShortSuggestions()
    for entry, wanted in (("list cell detail", " cell detail"), ("list " + "name," * 100, None)):
        buffer = Buffer(history=InMemoryHistory([entry]))
        buffer.history.append_string(entry)
        found = offered.get_suggestion(buffer, Document("list"))
        assert (found.text if found is not None else None) == wanted


def test_of_what_was_pasted_by_mistake_the_beginning_is_quoted() -> None:
    """A word of thousands of characters does not make a message of thousands."""
    with pytest.raises(StatementError) as caught:
        understood("x" * 9000, {})
    assert len(caught.value.message) < 100 and "xxx..." in caught.value.message
