"""Aliases, short words, editor, history of a rack, vi keys, at a real terminal."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.support.program import PROMPT, answer, plain

Start = Callable[..., pexpect.spawn]


def test_an_alias_with_arguments_lives_until_it_is_removed(start: Start, home: Path) -> None:
    """alias keeps a statement, says what it became when it is used, lists it, outlives the session, and is removed."""
    child = start("-r", "t1")
    answer(child, "alias u use ${1:-exa1cel01}; cells > $HOME/x")
    assert "use ${1:-exa1cel01}; cells > $HOME/x" in answer(child, "alias").replace("\n", "")
    answer(child, "alias u = use ${1:-exa1cel01}")
    shown = answer(child, "u exa1cel03")
    assert "= use exa1cel03" in shown and "using 1 of 3 cells: exa1cel03" in shown
    assert stat.S_IMODE((home / "aliases").stat().st_mode) == 0o600
    again = start("-r", "t1")
    assert "using 1 of 3 cells: exa1cel01" in answer(again, "u")
    assert "is removed" in answer(again, "unalias u")
    assert "'u' is not a statement" in answer(child, "u")


def test_an_alias_never_hides_a_statement(start: Start) -> None:
    """A name that is already the first word of a statement is refused."""
    assert "is already the first word of a statement" in answer(start(), "alias list racks")


def test_a_word_cut_short_is_written_out_and_said(start: Start) -> None:
    """A verb and object that only one fits are taken, with what they became; several possible ones are not."""
    child = start()
    shown = answer(child, "show transp")
    assert "= show transports" in shown and "openssh" in shown
    assert "'re' is not a statement" in answer(child, "re")
    assert "setting or settings" in answer(child, "show sett")


def test_edit_opens_the_last_statement_in_the_editor(start: Start, tmp_path: Path) -> None:
    """What is saved in $EDITOR stands at the next prompt; Enter runs it."""
    editor = tmp_path / "ed.sh"
    editor.write_text('#!/bin/sh\nsed -i s/cells/racks/ "$1"\n')
    editor.chmod(0o755)
    child = start("-r", "t1", VISUAL="", EDITOR=str(editor))
    answer(child, "cells")
    child.sendline("edit")
    child.expect_exact(PROMPT)
    child.expect_exact("racks")
    child.send("\r")
    child.expect_exact(PROMPT)
    assert "exa1cel[01-03]" in plain(child.before) and "production" in plain(child.before)


@pytest.mark.skipif(shutil.which("vi") is None, reason="there is no vi")
def test_nothing_is_written_over_an_editor(start: Start, home: Path) -> None:
    """While a recipe is written in a real vi, for seconds longer than any wait is told after, only vi writes to the terminal."""
    child = start("-r", "t1", VISUAL="", EDITOR="vi -u NONE -i NONE -N")
    child.sendline("new recipe mine")
    child.expect_exact("mine.exa")
    shown = ""
    for number in range(4):
        child.send(f"o# line {number}\x1b")
        child.expect_exact(f"line {number}")
        shown += str(child.before)
        with pytest.raises(pexpect.TIMEOUT):  # Whatever is written in the next second.
            child.expect_exact("waiting", timeout=1)
        shown += str(child.buffer)
    assert "waiting" not in shown
    child.send(":q!\r")
    child.expect_exact("nothing was written, so there is no recipe mine")
    child.expect_exact(PROMPT)


def test_vi_keys_can_be_switched_on(start: Start) -> None:
    """set editing_mode vi works from the next line on, without a new session."""
    child = start()
    answer(child, "set editing_mode vi")
    child.send("rackx\x1b")
    child.expect_exact("rackx")
    child.send("x")
    child.send("as\r")
    child.expect_exact(PROMPT)
    assert "exa1cel[01-03]" in plain(child.before)


def test_writes_of_another_rack_are_never_offered(start: Start, home: Path) -> None:
    """Up, and so the greyed suggestion, gives this rack's statements and other racks' reads, never their writes."""
    (home / "history").write_text("prod\tflush flashcache\nprod\tlist celldisk\nt1\tlist lun\n")
    child = start("-r", "t1")
    child.send("\x1b[A")
    child.expect_exact("lun")
    child.send("\x1b[A")
    child.expect_exact("celldisk")
    child.send("\x1b[A\x1b[A\x1b[B\x03")
    child.expect_exact(PROMPT)
    assert "flush" not in plain(child.before)
    child.send("flu")
    child.expect_exact("flashcache")
    child.send("\x03")
    child.expect_exact(PROMPT)
    shown = answer(child, "history rack=all")
    assert "flush flashcache" in shown
    assert "flush flashcache" not in answer(child, "history")


def test_ctrl_r_searches_history(start: Start, home: Path) -> None:
    """Ctrl-R finds an earlier statement by any part of it."""
    (home / "history").write_text("t1\tracks\nt1\tshow settings\n")
    child = start("-r", "t1")
    child.send("\x12ack\r\r")
    child.expect_exact("production")
    child.expect_exact(PROMPT)


def test_fast_typing_after_ctrl_c_is_not_echoed_twice(start: Start) -> None:
    """What is typed right behind Ctrl-C stands on the next prompt's line only."""
    child = start()
    child.send("list fla\x03racks\r")
    child.expect_exact("production")
    child.expect_exact(PROMPT)
    lines = [line for line in plain(child.before).splitlines() if line.strip() == "racks"]
    assert lines == []
