"""Tab, and Ctrl-Z, at a real terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent, WordCompleter
from prompt_toolkit.document import Document

from exacell.prompt.keys import chosen, complete

PROMPT = "exacell> "
Start = Callable[..., pexpect.spawn]


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("can", "can offline "),
        ("CAN", "CAN offline "),
        ("show", "show "),
        ("list", "list"),
        ("can ", "can "),
        ("unknown", "unknown"),
        ("size=", "size="),
        ("si", "size="),
        ("ca", "can offline "),
        ("SHO", "show "),
    ],
)
def test_tab_goes_on_behind_a_whole_word(typed: str, becomes: str) -> None:
    """The only word that fits gets its end at once; behind a whole one come a blank and the word that must follow."""
    words = WordCompleter(["can", "show", "list", "listen", "size="], ignore_case=True)
    buffer = Buffer(completer=words, document=Document(typed, len(typed)))
    buffer.start_completion = lambda **how: None  # type: ignore[method-assign]
    complete(buffer)
    assert buffer.text == becomes


DISKS = WordCompleter(["DATA_CD_00", "DATA_CD_01", "RECO_CD_00", "cold", "cool", "coolest"], ignore_case=True)


def at(typed: str, *, menu: bool) -> Buffer:
    """A buffer with a text, and with its menu open or not."""
    buffer = Buffer(completer=DISKS, document=Document(typed, len(typed)))
    buffer.start_completion = lambda **how: None  # type: ignore[method-assign]
    if menu:
        offered = list(DISKS.get_completions(buffer.document, CompleteEvent()))
        buffer.complete_state = CompletionState(buffer.document, offered)
    return buffer


@pytest.mark.parametrize("menu", [True, False])
@pytest.mark.parametrize(
    ("typed", "becomes"), [("D", "DATA_CD_0"), ("data", "DATA_CD_0"), ("list c", "list co"), ("r", "RECO_CD_00 ")]
)
def test_tab_writes_what_all_words_have_in_common(typed: str, becomes: str, menu: bool) -> None:
    """Tab writes the letters that all words have in common, whether the menu is open already or not."""
    buffer = at(typed, menu=menu)
    complete(buffer)
    assert buffer.text == becomes


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [("co", ["cold", "cool", "coolest", "co"]), ("cool", ["coolest"]), ("DATA_CD_0", ["DATA_CD_00", "DATA_CD_01"])],
)
def test_tab_takes_the_next_word_of_the_menu(typed: str, becomes: list[str]) -> None:
    """Where nothing more is common, each Tab takes the menu's next word, but not first the one that is written."""
    buffer = at(typed, menu=True)
    for word in becomes:
        complete(buffer)
        assert buffer.text == word


def test_tab_writes_a_whole_statement(start: Start) -> None:
    """One Tab behind the first word goes on, over the only word that may follow, to the cells."""
    child = start("-r", "t1")
    child.send("can")
    child.expect_exact("can")
    child.send("\t")
    child.expect_exact("offline")
    child.expect_exact("@failed")
    child.send("exa1cel02")
    child.expect_exact("exa1cel02")
    child.send("\x03")
    child.expect_exact(PROMPT)


def test_what_is_typed_behind_tab_is_a_word_of_its_own(start: Start) -> None:
    """README's session as it is printed: a letter behind the word that Tab completed begins the next; a comma goes on with it."""
    child = start("-r", "t1")
    child.send("use exa1cel01\t,exa1cel02\r")
    child.expect_exact("using 2 of 3 cells: exa1cel[01-02]")
    child.expect_exact(PROMPT)
    child.send("show transp\t-o json\r")
    child.expect_exact('"openssh"')
    child.expect_exact(PROMPT)
    child.send("@flashlog_a\tnosuch=1\r")
    child.expect_exact("recipe flashlog_ab has no parameter nosuch")
    child.expect_exact(PROMPT)


def test_what_is_typed_behind_a_word_of_the_menu_is_a_word_of_its_own(start: Start) -> None:
    """A letter behind a word that several Tabs chose begins the next word; a comma goes on with the list."""
    child = start("-r", "t1")
    child.send("snap flash")
    child.expect_exact("flashcache")
    child.send("\t")
    child.expect_exact("flashlog")
    child.send("nosuch=1\r")
    child.expect_exact("'nosuch' is not a parameter of snap")
    child.expect_exact(PROMPT)


@pytest.mark.parametrize(("typed", "presses", "whole"), [("co", 1, True), ("co", 0, False), ("DATA_CD_0", 2, True)])
def test_the_menus_word_is_whole_once_it_was_chosen(typed: str, presses: int, whole: bool) -> None:
    """A word of the open menu is one only after Tab took it."""
    buffer = at(typed, menu=True)
    for _ in range(presses):
        complete(buffer)
    assert chosen(buffer) is whole


def test_a_tab_that_comes_with_the_letters_before_it_is_not_lost(start: Start) -> None:
    """Letters and Tab sent as one piece, faster than the menu of the letters, end in the word that they mean."""
    child = start("-r", "t1")
    for piece, word in (("show versi\t", "versions"), ("@flashlab\t", "@flashlog_ab")):
        child.send(piece)
        child.expect_exact(word)
        child.send("\x15")
    child.send("racks\r")
    child.expect_exact("production")


@pytest.fixture
def shell(home: Path) -> Iterator[pexpect.spawn]:
    """An interactive bash in a pty."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    # bash keeps its history in HOME.
    env = {**kept, "EXACELL_HOME": str(home), "HOME": str(home), "TERM": "xterm-256color", "PS1": "SH% "}
    child = pexpect.spawn(
        bash, ["--norc", "--noprofile", "-i"], env=env, encoding="utf-8", timeout=300, dimensions=(24, 100)
    )
    child.expect_exact("SH% ")
    yield child
    child.close(force=True)


def test_ctrl_z_suspends_and_fg_goes_on(shell: pexpect.spawn) -> None:
    """Ctrl-Z gives the terminal back to the shell as it was; after fg the line that was begun can be finished."""
    shell.sendline(f"{sys.executable} -m exacell -r t1")
    shell.expect_exact(PROMPT)
    shell.send("rac")
    shell.expect_exact("rac")
    shell.send("\x1a")
    shell.expect_exact("Stopped")
    shell.expect_exact("SH% ")
    shell.sendline("stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo | sort | tr '\\n' +; echo; fg")
    shell.expect_exact("echo+icanon+")
    shell.expect_exact(PROMPT)
    shell.send("ks | cat\r")
    shell.expect_exact("production")
    shell.expect_exact(PROMPT)
    assert "exa1cel01,exa1cel02,exa1cel03" in shell.before
    shell.send("\x04")
    shell.expect_exact("SH% ")


def test_a_question_is_shown_again_behind_fg(shell: pexpect.spawn) -> None:
    """What Ctrl-Z interrupted is asked again when the program goes on, and the answer to it counts."""
    shell.sendline(f"{sys.executable} -m exacell -r prod")
    shell.expect_exact(PROMPT)
    shell.send("set mode rw\r")
    shell.expect_exact("type its name")
    shell.send("\x1a")
    shell.expect_exact("Stopped")
    shell.expect_exact("SH% ")
    shell.sendline("fg")
    shell.expect_exact("type its name")
    shell.sendline("prod")
    shell.expect_exact(PROMPT)
    assert re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shell.before).endswith("RW ")
    shell.send("\x04")
    shell.expect_exact("SH% ")


def test_page_up_recalls_what_begins_with_the_typed_letters(start: Start) -> None:
    """Page Up goes over the menu to the newest entry that begins so, Page Down back to what was typed."""
    child = start("-r", "t1")
    for line in ("show settings", "cells", "racks"):
        child.sendline(line)
        child.expect_exact(PROMPT)
    child.send("s")
    child.expect_exact("show")
    child.send("\x1b[5~")
    child.expect_exact("settings")
    child.send("\x1b[6~")
    child.send("\x03")
    child.expect_exact(PROMPT)
    child.send("\x1b[5~\x1b[5~\r")
    child.expect_exact("inUse")
    child.expect_exact(PROMPT)
