"""Rows of a terminal, when a pager is wanted, and which."""

import io
import os
import pty
import termios

import pytest

from exacell.output.pager import LESS, page, pager_command, pager_env, wants_pager
from exacell.output.style import cut, paint, plain, rows_of

TEXT = [f"line {number}" for number in range(1, 101)]


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
    """Without less and with a $PAGER that does not exist nothing pages, and whoever asks is told so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("exacell.output.pager.fits_screen", lambda out: True)
    assert pager_command("auto", {"PAGER": "no-such-pager"}) == ""
    assert not page(TEXT, "no-such-pager", io.StringIO())


def test_less_is_told_to_be_secure_and_how_to_be_left() -> None:
    """The environment of a pager forbids less its shells and files whatever is set, and has our prompt before the user's
    own options, which win."""
    for given, options in (({}, LESS), ({"LESS": "-R -Pmine$"}, "-R -Pmine$"), ({"LESS": "", "LESSSECURE": "0"}, LESS)):
        made = pager_env(given)
        assert made["LESSSECURE"] == "1" and made["LESSCHARSET"] == "utf-8"
        prompt, _, rest = made["LESS"].partition("$ ")
        assert prompt.startswith("-Psq leaves") and rest == options
    assert pager_env({"LESSCHARSET": "latin1"})["LESSCHARSET"] == "latin1"
