"""The real program at a real terminal."""

from __future__ import annotations

import json
import re
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.support.program import PROMPT, answer, plain

Start = Callable[..., pexpect.spawn]


def test_a_session(start: Start) -> None:
    """connect, set format json and a statement a line give parsable JSON, and exit leaves with 0."""
    child = start()
    assert "3 cells exa1cel[01-03]" in answer(child, "connect t1")
    answer(child, "set format json")
    shown = answer(child, "racks")
    records = json.loads(shown[shown.index("[{") : shown.rindex("]") + 1])
    assert [record["name"] for record in records if record["current"]] == ["t1"]
    child.sendline("exit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_the_prompt_shows_rack_cells_and_mode(start: Start) -> None:
    """The prompt is rack, number of cells and RO or RW in this order; a production rack starts RO."""
    child = start("-r", "t1")
    assert plain(child.before).endswith("t1 3 cells RW ")
    assert "use exa1cel02" not in answer(child, "use exa1cel02").splitlines()[-1]
    assert plain(child.before).endswith("t1 1/3 cells RW ")
    answer(child, "set mode ro")
    assert plain(child.before).endswith("t1 1/3 cells RO ")
    answer(child, "connect prod")
    assert plain(child.before).endswith("prod 2 cells RO ") and "\x1b[0;38;5;196;1mprod" in child.before


def test_a_production_rack_asks_for_its_name(start: Start) -> None:
    """set mode rw on a production rack wants its name; anything else keeps it read-only."""
    child = start("-r", "prod")
    child.sendline("set mode rw")
    child.expect_exact("type its name")
    child.sendline("yes")
    child.expect_exact(PROMPT)
    assert plain(child.before).endswith("prod 2 cells RO ")
    child.sendline("set mode rw")
    child.expect_exact("type its name")
    child.sendline("prod")
    child.expect_exact(PROMPT)
    assert plain(child.before).endswith("prod 2 cells RW ")


def test_a_bad_line_is_underlined_where_it_is_wrong(start: Start) -> None:
    """The marks stand in the columns of the wrong word as it was entered behind the prompt."""
    child = start("-r", "t1")
    shown = answer(child, "list flashcach detail").splitlines()
    marks = next(line for line in shown if "^" in line)
    before = len("t1 3 cells RW " + PROMPT + "list ")
    assert marks == " " * before + "^" * len("flashcach")
    assert any("did you mean flashcache?" in line for line in shown)


def test_ctrl_c_drops_the_line_and_ctrl_d_leaves(start: Start) -> None:
    """Ctrl-C at the prompt runs nothing, Ctrl-D on an empty line ends the session."""
    child = start()
    child.send("list flashc")
    child.sendintr()
    child.expect_exact(PROMPT)
    assert "is not" not in plain(child.before)
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_lines_continue(start: Start) -> None:
    """A last - and an open parenthesis continue the statement on the next line."""
    child = start()
    child.send("set -\rformat -\rjson\r")
    child.expect_exact(PROMPT)
    assert '"name": "t1"' in answer(child, "racks")


def test_history_is_private_and_without_secrets(start: Start, home: Path) -> None:
    """Entered lines are kept with mode 0600, lines with a password are not."""
    child = start()
    answer(child, "racks")
    answer(child, 'alter user x password="geheim"')
    shown = answer(child, "history")
    assert "racks" in shown and "geheim" not in shown.partition("history")[2]
    path = home / "history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and "geheim" not in path.read_text()


def test_enter_never_takes_a_suggestion(start: Start) -> None:
    """A greyed suggestion from history is not part of the line that Enter runs."""
    child = start()
    answer(child, "set format json")
    shown = answer(child, "set format")
    assert "needs" in shown and '"name"' in answer(child, "racks")


def test_tab_completes(start: Start) -> None:
    """Tab completes verbs and objects."""
    child = start()
    child.send("show transpor")
    child.expect_exact("ways to reach a rack")
    child.send("\t\r")
    child.expect_exact(PROMPT)
    assert "openssh" in plain(child.before)


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_plain_terminals_get_no_colour(start: Start, env: dict[str, str]) -> None:
    """With NO_COLOR or on a dumb terminal nothing is coloured and everything works."""
    child = start(**env)
    shown = answer(child, "racks")
    assert "exa1cel[01-03]" in shown and not re.search(r"\x1b\[[0-9;]*3[0-9]", child.before)


def test_pasted_lines_run_one_after_another(start: Start) -> None:
    """Several pasted lines are several statements, in order."""
    child = start()
    child.send("\x1b[200~set format json\nracks\x1b[201~\r")
    child.expect_exact('"name": "t1"')
    child.expect_exact(PROMPT)


def test_a_local_command_has_the_terminal(start: Start) -> None:
    """!command runs with echo and line editing, and gets what is typed meanwhile."""
    child = start()
    assert re.search(r"(?<!-)icanon.*(?<!-)echo\b", answer(child, "!stty -a").replace("\n", " "))


def test_typing_ahead_is_kept(start: Start, home: Path) -> None:
    """What is typed while a cell hangs runs after the answer, as if it had been typed at the next prompt."""
    hanging = socket.create_server(("127.0.0.1", 0))
    hanging.settimeout(60)
    (home / "ssh_config").write_text(f"Host slow\n HostName 127.0.0.1\n Port {hanging.getsockname()[1]}\n")
    (home / "racks.d" / "hang.toml").write_text(
        f'cells = "slow"\nssh_config = "{home}/ssh_config"\nconnect_timeout = "30s"\n'
    )
    child = start("-r", "hang")
    child.sendline("list cell")
    link, _ = hanging.accept()
    child.send("racks\r")
    link.close()
    hanging.close()
    child.expect_exact(PROMPT)
    shown = plain(child.before)
    assert 0 < shown.index("slow: ") < shown.index("exa1cel[01-03]")


def test_ctrl_c_twice_gives_the_prompt_back_from_a_hanging_cell(start: Start, home: Path) -> None:
    """The first Ctrl-C says that nothing new is started, the second one leaves the hanging cell alone."""
    hanging = socket.create_server(("127.0.0.1", 0))
    (home / "ssh_config").write_text(f"Host slow\n HostName 127.0.0.1\n Port {hanging.getsockname()[1]}\n")
    (home / "racks.d" / "hang.toml").write_text(
        f'cells = "slow"\nssh_config = "{home}/ssh_config"\nconnect_timeout = "60s"\n'
    )
    child = start("-r", "hang")
    child.send("list cell\r")
    child.expect_exact("\x1b[?2004l")
    child.sendintr()
    if child.expect_exact(["stopping", "interrupted"]) == 0:
        child.sendintr()
    child.expect_exact(PROMPT)
    hanging.close()
    assert "exa1cel01,exa1cel02,exa1cel03" in answer(child, "racks | cat")


def test_the_terminal_is_as_before_after_leaving(start: Start) -> None:
    """Leaving restores the terminal's modes."""
    child = start()
    answer(child, "racks")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    import termios

    flags = termios.tcgetattr(child.child_fd)[3]
    assert flags & termios.ECHO and flags & termios.ICANON
