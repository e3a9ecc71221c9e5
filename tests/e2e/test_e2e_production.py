"""A production rack in a pty: red, read-only until its name is typed, and no write before that by any way."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pexpect
import pytest

RED = re.compile(r"\x1b\[[0-9;]*\b38;5;196\b[0-9;]*m\s*prod\b")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")


@pytest.fixture
def production(inside):
    """The program with the default emulated rack, which is also configured as the production rack ``prod``."""
    folder = inside.home / "racks.d"
    text = (folder / "t1.toml").read_text()
    (folder / "prod.toml").write_text(f"production = true\n{text}")
    return inside


@pytest.fixture
def child(production) -> Iterator[pexpect.spawn]:
    """The program at the prompt of ``prod``, in a terminal with colours."""
    env = {**production.env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    env.pop("NO_COLOR", None)
    spawned = pexpect.spawn(
        sys.executable, ["-m", "exacell", "-r", "prod"], env=env, encoding="utf-8", timeout=300, dimensions=(50, 160)
    )
    yield spawned
    spawned.close(force=True)


def until(child: pexpect.spawn, text: str) -> str:
    """Return what was shown until ``text`` comes, escapes included."""
    child.expect_exact(text)
    return str(child.before) + text


def until_prompt(child: pexpect.spawn, mode: str) -> str:
    """Return what was shown until the prompt stands there in a mode, escapes included."""
    child.expect(mode + r"(?:\x1b\[[0-9;]*m| )+exacell> ")
    return str(child.before) + str(child.after)


def plain(shown: str) -> str:
    return _ESCAPE.sub("", shown)


def test_a_production_rack_is_red_and_read_only_until_its_name_is_typed(production, child) -> None:
    """It should show red and RO, refuse a write, stay RO after a wrong name, and write only after the right one."""
    shown = until_prompt(child, "RO")
    assert RED.search(shown), repr(shown)
    assert "prod 3 cells RO exacell> " in plain(shown)
    child.sendline("disable flashlog db=SPOT -y")
    shown = plain(until_prompt(child, "RO"))
    while "is read-only" not in shown:
        shown = plain(until_prompt(child, "RO"))
    assert "set mode rw" in shown and "nothing was sent" in shown
    child.sendline("set mode rw")
    until(child, "type its name")
    child.sendline("t1")
    shown = plain(until(child, "its name was not typed"))
    assert "prod stays read-only" in shown
    until_prompt(child, "RO")
    child.sendline("set mode rw")
    until(child, "type its name")
    child.sendline("prod")
    shown = until_prompt(child, "RW")
    assert RED.search(shown), repr(shown)
    child.sendline("disable flashlog db=SPOT -y")
    until(child, "journal ")
    child.sendeof()
    child.expect(pexpect.EOF)
    rows = production("-r", "prod", "-o", "json", "journal", "show").records
    assert [row["statement"] for row in rows] == ["disable flashlog db=SPOT"]
    refused = production("-r", "t1", "unset", "iorm", "flashlog", "db=SPOT", "-y")
    assert refused.code == 2 and "of rack prod" in refused.err  # The same cells under another name.
    (production.home / "racks.d" / "prod.toml").unlink()
    production.ok("-r", "t1", "unset", "iorm", "flashlog", "db=SPOT", "-y")


STATEMENTS = [
    ("disable flashlog db=SPOT -y",),
    ("alter iormplan objective=basic -y",),
    ("drop flashlog -y --accept-data-loss=exa1cel01,exa1cel02,exa1cel03",),
    ("run reset_cold -y",),
    ("undo -y",),
    ("dcli cellcli -e alter cell notificationMethod=none",),
    ("host './load.sh'",),
    ("-e", "alter iormplan objective=basic -y"),
    ("apply kept -y",),
]


def test_no_surface_writes_to_a_production_rack_by_itself(production) -> None:
    """It should refuse every way of writing from the command line, where nobody can type the name, and send nothing."""
    before = production.ok("-r", "t1", "-o", "json", "list", "cell", "detail").records
    production.ok("-r", "prod", "plan", "as=kept", "resize", "flashcache", "size=288g")
    for words in STATEMENTS:
        refused = production("-r", "prod", *words)
        assert refused.code != 0, words
    keep = ("name", "notificationMethod", "flashCacheMode")
    after = production.ok("-r", "t1", "-o", "json", "list", "cell", "detail").records
    assert [[r[k] for k in keep] for r in after] == [[r[k] for k in keep] for r in before]
    rows = production("-r", "prod", "-o", "json", "journal", "show").records
    assert [(row["statement"], row["ended"]) for row in rows] == [("host './load.sh'", "refused")], rows
    plan = production.ok("-r", "t1", "-o", "json", "show", "iorm").records
    assert {row["objective"] for row in plan} == {"auto"}


def test_loss_is_accepted_by_typing_the_cells_name(t1) -> None:
    """It should ask for the name where a typed CellCLI statement would lose data, and send nothing for another word."""
    env = {**t1.env, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    spawned = pexpect.spawn(
        sys.executable, ["-m", "exacell", "-r", "t1"], env=env, encoding="utf-8", timeout=300, dimensions=(50, 160)
    )
    try:
        until_prompt(spawned, "RW")
        spawned.sendline("on exa1cel02 drop flashcache -y")
        until(spawned, "type exa1cel02 to accept it")
        spawned.sendline("yes")
        assert "data would be lost on exa1cel02" in plain(until(spawned, "nothing was sent"))
        until_prompt(spawned, "RW")
        spawned.sendline("on exa1cel02 drop flashcache -y")
        until(spawned, "type exa1cel02 to accept it")
        spawned.sendline("exa1cel02")
        until(spawned, "journal ")
    finally:
        spawned.close(force=True)
    rows = t1.ok("-r", "t1", "-o", "jsonl", "journal", "export").out
    assert rows.count('"kind": "intent"') == 1 and "DROP FLASHCACHE" in rows
