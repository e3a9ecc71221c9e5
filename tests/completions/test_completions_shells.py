"""The completion files in real bash, zsh and fish."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]


def need(shell: str) -> str:
    """Return the path of a shell, or skip."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A PATH with an exacell of this tree, and a home with one rack."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "exacell"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m exacell "$@"\n')
    program.chmod(0o755)
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-02]"\n')
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "EXACELL_HOME": str(tmp_path), "HOME": str(tmp_path), "TERM": "xterm"}


CASES = [
    ("exacell li", "list"),
    ("exacell list flashl", "flashlog"),
    ("exacell -r t", "t1"),
    ("exacell run reset_c", "reset_cold"),
    ("exacell run reset_cold size=ke", "keep"),
    ("exacell @reset_c", "@reset_cold"),
    ("exacell list flashcache attributes name,siz", "name,size"),
    ("exacell flush flashcache --dry", "--dry-run"),
]


@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_bash(line: str, wanted: str, env: dict[str, str]) -> None:
    """bash's completion function puts the right words into COMPREPLY, wherever bash itself breaks words."""
    script = (
        f"source {ROOT}/completions/exacell.bash\n"
        f"COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}; _exacell 2>/dev/null\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    done = subprocess.run(
        [need("bash"), "--norc", "-c", script], env=env, capture_output=True, text=True, check=False, timeout=20
    )
    assert wanted in [word.strip() for word in done.stdout.splitlines()], done


@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_fish(line: str, wanted: str, env: dict[str, str]) -> None:
    """fish offers the whole word with its description."""
    script = f"source {ROOT}/completions/exacell.fish; complete -C {line!r}"
    done = subprocess.run(
        [need("fish"), "-N", "-c", script], env=env, capture_output=True, text=True, timeout=20, check=True
    )
    offered = [row.split("\t")[0] for row in done.stdout.splitlines()]
    assert any(word == wanted or word.endswith(f"={wanted}") for word in offered), done.stdout


def typed_in(shell: str, argv: list[str], setup: list[str], line: str, env: dict[str, str]) -> str:
    """Type a line and Tab into an interactive shell, then have it echo the line; return what it holds."""
    child = pexpect.spawn(need(shell), argv, env=env, encoding="utf-8", timeout=20, dimensions=(24, 200))
    try:
        for command in setup:
            child.sendline(command)
        child.sendline("echo rea''dy")
        child.expect_exact("ready\r\n")
        child.send(line)
        child.send("\t")
        child.send("\x01: ; echo LINE= \x05'<'\r")
        child.expect(r"LINE= (.*?)<\r?\n")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\x07\x08]", "", str(child.match[1])).strip()
    finally:
        child.close(force=True)


def test_zsh(env: dict[str, str]) -> None:
    """A Tab in an interactive zsh completes the statement's words."""
    zsh = need("zsh")
    setup = [
        "PS1='% '; unset zle_bracketed_paste; bindkey -e",
        f"fpath=({ROOT}/completions $fpath); autoload -Uz compinit; compinit -u -D",
    ]
    for line, wanted in (("exacell list flashl", "flashlog"), ("exacell run reset_c", "reset_cold")):
        assert typed_in(zsh, ["-f", "-i"], setup, line, env).endswith(wanted)


def test_bash_interactive(env: dict[str, str]) -> None:
    """A Tab in an interactive bash completes words behind = and @ without doubling them."""
    setup = ["PS1='$ '; bind 'set bell-style none'", f"source {ROOT}/completions/exacell.bash"]
    for line, wanted in (("exacell run reset_cold size=ke", "size=keep"), ("exacell @reset_c", "exacell @reset_cold")):
        assert typed_in("bash", ["--norc", "--noprofile", "-i"], setup, line, env).endswith(wanted)
