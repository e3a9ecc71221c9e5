"""Our own pager, its rows and when a pager is wanted."""

import io
import os
import pty
import termios

import pytest

from exacell.output.pager import LESS, Pages, pager_command, pager_env, wants_pager
from exacell.output.style import cut, paint, plain, rows_of
from tests.support.every import every

TEXT = [f"line {number}" for number in range(1, 101)]


def shown(pages: Pages, height: int = 11) -> list[str]:
    return [row for row in pages.view(60, height)[:-1] if row]


@every(
    [
        ((" ",), "line 11"),
        ((" ", " ", "b"), "line 11"),
        (("j", "down", "enter"), "line 4"),
        (("j", "k", "up"), "line 1"),
        (("G",), "line 91"),
        (("G", "g"), "line 1"),
        (("d",), "line 6"),
        (("d", "u"), "line 1"),
        ((*"/", *"line 42", "enter"), "line 42"),
        ((*"/", *"line 4", "enter", "n"), "line 40"),
        ((*"/", *"line 4", "enter", "n", "N"), "line 4"),
        ((*"/", *"x", "backspace", *"77", "enter"), "line 77"),
        (("z", "left", "%"), "line 1"),
    ]
)
def test_keys_move_as_in_less(keys: tuple[str, ...], first: str) -> None:
    """Each key leads to the page that less would show; unknown keys do nothing."""
    pages = Pages(TEXT)
    pages.view(60, 11)
    for key in keys:
        pages.press(key)
    assert plain(shown(pages)[0]) == first and not pages.ended


@pytest.mark.parametrize("key", ["q", "Q", "escape"])
def test_q_leaves(key: str) -> None:
    """The reader leaves with q or Escape."""
    pages = Pages(TEXT)
    pages.view(60, 11)
    pages.press(key)
    assert pages.ended


def test_a_search_that_finds_nothing_says_so_and_stays() -> None:
    """The page is the same and the status names the pattern."""
    pages = Pages(TEXT)
    pages.view(60, 11)
    for key in (*"/zebra", "enter"):
        pages.press(key)
    assert shown(pages)[0] == "line 1" and "no zebra below" in pages.view(60, 11)[-1]


def test_the_place_is_kept_when_the_terminal_changes() -> None:
    """After a change of width the page shows about the same part of the text."""
    pages = Pages(["x" * 70 for _ in range(50)])
    pages.view(80, 11)
    pages.press("G")
    assert "50 of 50" in pages.view(80, 11)[-1]
    assert "of 100" in pages.view(40, 11)[-1] and "1-10 of" not in pages.view(40, 11)[-1]


def test_rows_keep_every_character_and_their_colours() -> None:
    """A long coloured line is cut into rows that together hold its text; each row ends its colour."""
    line = "ab" + paint("c" * 25, "odd", color=True) + "d" * 9
    rows = rows_of(line, 10)
    assert "".join(map(plain, rows)) == plain(line) and all(len(plain(row)) <= 10 for row in rows)
    assert rows[1].startswith("\x1b[1;38;5;136m") and rows[1].endswith("\x1b[0m")
    assert plain(cut(line, 5)) == "abccc" and cut("short", 10) == "short"


def test_no_pager_without_a_terminal() -> None:
    """Into a file or a pipe nothing is paged, however long."""
    assert not wants_pager(TEXT, "on", io.StringIO())


@pytest.mark.parametrize(
    ("size", "rows", "paged"),
    [((24, 80), 23, False), ((24, 80), 24, True), ((50, 80), 49, False), ((0, 0), 23, False), ((0, 0), 24, True)],
)
def test_what_fits_the_screen_is_not_paged(
    size: tuple[int, int], rows: int, paged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pager is for more rows than stand above the prompt; a terminal that tells no size has 24 by 80."""
    monkeypatch.setattr("exacell.output.pager.fits_screen", lambda out: True)
    main, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, size)
    with os.fdopen(main), os.fdopen(terminal, "w") as out:
        assert wants_pager(["x" * 79] * rows, "on", out) is paged
        assert wants_pager(["x" * 161] + ["x"] * (rows - 3), "on", out) is paged


@pytest.mark.parametrize(
    ("setting", "env", "command"),
    [
        ("more -d", {}, "more -d"),
        ("auto", {"PAGER": "sh -c cat"}, "sh -c cat"),
        ("on", {"EXACELL_PAGER": "sh", "PAGER": "cat"}, "sh"),
    ],
)
def test_the_setting_wins_over_the_environment(setting: str, env: dict[str, str], command: str) -> None:
    """A command that was set is taken; else $EXACELL_PAGER, then $PAGER."""
    assert pager_command(setting, env) == command


def test_a_pager_that_is_not_installed_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Without less and with a $PAGER that does not exist our own pager is used."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pager_command("auto", {"PAGER": "no-such-pager"}) == ""


def test_less_is_told_to_be_secure_and_how_to_be_left() -> None:
    """The environment of a pager forbids less its shells and files whatever is set, and has our prompt before the user's
    own options, which win."""
    for given, options in (({}, LESS), ({"LESS": "-R -Pmine$"}, "-R -Pmine$"), ({"LESS": "", "LESSSECURE": "0"}, LESS)):
        made = pager_env(given)
        assert made["LESSSECURE"] == "1" and made["LESSCHARSET"] == "utf-8"
        prompt, _, rest = made["LESS"].partition("$ ")
        assert prompt.startswith("-Psq leaves") and rest == options
    assert pager_env({"LESSCHARSET": "latin1"})["LESSCHARSET"] == "latin1"
