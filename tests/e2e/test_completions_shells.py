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

from exacell.journal.record import Journal, Row
from exacell.language.line import parse_line
from exacell.language.registry import Kind
from exacell.output.result import Result
from exacell.session.completion.learning import learn_answer
from exacell.session.completion.names import NameCache
from exacell.session.saved import SavedPlan
from exacell.session.store import Store

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
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-02]"\nhosts.ini.nodes = "ini[1]"\n')
    journal = Journal(tmp_path / "journal.db")
    for run in ("r1 2026-01-01T00:00:00", "r2 2026-01-02T00:00:00"):
        kept = {"run": run, "name": "fio_1280", "origin": "m", "file": "x", "size": 1, "sha256": "0"}
        journal.note("t1", Row(kind="kept", target="ini1", body=kept))
    NameCache(tmp_path / "names" / "t1.json").learn({Kind.GRIDDISK: ["DATA_CD_00_exa1cel01"], Kind.DB: ["SPOT"]})
    store = Store(tmp_path / "store.db")
    store.save_plan(SavedPlan(name="monday", rack="t1", statement="x", cells=(), facts={}, stages=[], made="2026"))
    store.save_baseline("t1", "golden", {})
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    # Without XDG_RUNTIME_DIR fish makes /tmp/fish.USER, for all fishes of the user.
    own = dict.fromkeys(("EXACELL_HOME", "HOME", "XDG_RUNTIME_DIR"), str(tmp_path))
    return {**os.environ, **own, "PATH": path, "TERM": "xterm"}


CASES = [
    ("exacell li", "list"),
    ("exacell list flashl", "flashlog"),
    ("exacell -r t", "t1"),
    ("exacell run reset_c", "reset_cold"),
    ("exacell run reset_cold size=ke", "keep"),
    ("exacell @reset_c", "@reset_cold"),
    ("exacell list flashcache attributes name,siz", "name,size"),
    ("exacell flush flashcache --dry", "--dry-run"),
    ("exacell list griddisk DATA_CD", "DATA_CD_00_exa1cel01"),
    ("exacell enable flashlog db=SP", "SPOT"),
    ("exacell apply mon", "monday"),
    ("exacell drift baseline=gol", "golden"),
    ("exacell use exa1cel01,exa1cel0", "exa1cel01,exa1cel02"),
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
        [need("bash"), "--norc", "-c", script], env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert wanted in [word.strip() for word in done.stdout.splitlines()], done


@pytest.mark.parametrize(("line", "wanted"), CASES)
def test_fish(line: str, wanted: str, env: dict[str, str]) -> None:
    """fish offers the whole word with its description."""
    script = f"source {ROOT}/completions/exacell.fish; complete -C {line!r}"
    done = subprocess.run(
        [need("fish"), "-N", "-c", script], env=env, capture_output=True, text=True, timeout=300, check=True
    )
    offered = [row.split("\t")[0] for row in done.stdout.splitlines()]
    assert any(word == wanted or word.endswith(f"={wanted}") for word in offered), done.stdout


def typed_in(shell: str, argv: list[str], setup: list[str], line: str, env: dict[str, str]) -> str:
    """Type a line and Tab into an interactive shell, then have it echo the line; return what it holds."""
    child = pexpect.spawn(need(shell), argv, env=env, encoding="utf-8", timeout=300, dimensions=(24, 200))
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
    for line, wanted in (
        ("exacell list flashl", "flashlog"),
        ("exacell run reset_c", "reset_cold"),
        ("exacell list griddisk DATA", "DATA_CD_00_exa1cel01"),
        ("exacell apply mo", "apply monday"),
    ):
        assert typed_in(zsh, ["-f", "-i"], setup, line, env).endswith(wanted)


def test_bash_interactive(env: dict[str, str]) -> None:
    """A Tab in an interactive bash completes words behind = and @ without doubling them."""
    setup = ["PS1='$ '; bind 'set bell-style none'", f"source {ROOT}/completions/exacell.bash"]
    for line, wanted in (
        ("exacell run reset_cold size=ke", "size=keep"),
        ("exacell @reset_c", "exacell @reset_cold"),
        ("exacell list griddisk DATA", "DATA_CD_00_exa1cel01"),
        ("exacell enable flashlog db=S", "db=SPOT"),
    ):
        assert typed_in("bash", ["--norc", "--noprofile", "-i"], setup, line, env).endswith(wanted)


def test_fish_interactive(env: dict[str, str]) -> None:
    """A Tab in an interactive fish writes the only word that fits, with a live name as with a verb."""
    fish = need("fish")
    quiet = "function fish_prompt; echo -n '$ '; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0"
    for line, wanted in (("exacell list griddisk DATA", "DATA_CD_00_exa1cel01"), ("exacell apply mo", "monday")):
        child = pexpect.spawn(fish, ["-N", "-i"], env=env, encoding="utf-8", timeout=300, dimensions=(24, 200))
        try:
            child.sendline(f"{quiet}; source {ROOT}/completions/exacell.fish; echo rea''dy")
            child.expect_exact("ready")
            child.send(line)
            child.send("\t")
            child.expect_exact(wanted)
        finally:
            child.close(force=True)


INTERACTIVE = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        ["PS1='$ '; bind 'set bell-style none'", "source <(exacell completion bash)"],
    ),
    "zsh": (
        ["-f", "-i"],
        [
            "PS1='% '; unset zle_bracketed_paste; bindkey -e",
            "autoload -Uz compinit; compinit -u -D; source <(exacell completion zsh)",
        ],
    ),
    "fish": (
        ["-N", "-i"],
        [
            "function fish_prompt; echo -n '$ '; end; set -g fish_autosuggestion_enabled 0",
            "exacell completion fish | source",
        ],
    ),
}
"""How each shell is started without the user's own files, and what is typed first."""

QUOTED = [
    ('exacell "list flashl', 'exacell "list flashlog"'),
    ("exacell 'list griddisk DATA", "exacell 'list griddisk DATA_CD_00_exa1cel01'"),
    ('exacell "enable flashlog db=S', 'exacell "enable flashlog db=SPOT"'),
    ("exacell -e 'list flashl", "exacell -e 'list flashlog'"),
]


@pytest.mark.parametrize(("line", "whole"), QUOTED)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_statement_in_quotes_completes(shell: str, line: str, whole: str, env: dict[str, str]) -> None:
    """A Tab within quotes completes the statement's words in each shell, live names too, without a backslash in it."""
    argv, setup = INTERACTIVE[shell]
    child = pexpect.spawn(need(shell), argv, env=env, encoding="utf-8", timeout=300, dimensions=(24, 200))
    try:
        for command in (*setup, "echo rea''dy"):
            child.sendline(command)
        child.expect_exact("ready\r\n")
        child.send(line + "\t")
        child.expect_exact(whole[-12:])
    finally:
        child.close(force=True)


RECIPES = [
    ("exacell run cell_m", "exacell run cell_maintenance"),
    ("exacell run cell_maintenance ce", "exacell run cell_maintenance cell="),
    ("exacell run cell_maintenance cell=exa1cel01 fo", "exacell run cell_maintenance cell=exa1cel01 for="),
    ("exacell run calibrate_cells media=ha", "exacell run calibrate_cells media=harddisk"),
    ("exacell run commit_load db=S", "exacell run commit_load db=SPOT"),
    ("exacell @cell_maintenance cell=@ce", "exacell @cell_maintenance cell=@cells"),
    ("exacell plan @cell_maintenance cell=exa1cel01,exa1cel02,@fa", "cell=exa1cel01,exa1cel02,@failed"),
    ("exacell help recipe cell_m", "exacell help recipe cell_maintenance"),
    ("exacell on @fa", "exacell on @failed"),
    ("exacell on @cells,@fa", "exacell on @cells,@failed"),
    ("exacell on @in", "exacell on @ini"),
    ("exacell on @ini fact", "exacell on @ini facts"),
    ("exacell on in", "exacell on ini1"),
    ("exacell import fio_12", "exacell import fio_1280"),
    ("exacell compare fio_1280 r1:f", "exacell compare fio_1280 r1:fio_1280"),
]


@pytest.mark.parametrize(("line", "whole"), RECIPES)
@pytest.mark.parametrize("shell", INTERACTIVE)
def test_recipes_groups_and_kept_names_complete(shell: str, line: str, whole: str, env: dict[str, str]) -> None:
    """A Tab at run, behind a recipe's name, at a parameter's value, at ON @ and at a kept name writes the only word that fits."""
    argv, setup = INTERACTIVE[shell]
    assert typed_in(shell, argv, setup, line, env).endswith(whole)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("exacell run ", ("calibrate_cells", "writeback_on")),
        ("exacell run cell_maintenance ", ("cell=", "for=")),
        ("exacell run cell_maintenance cell=", ("@cells", "@failed", "exa1cel02")),
        ("exacell on @", ("@cells", "@failed", "@ini")),
    ],
)
@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_tab_lists_what_there_is(shell: str, line: str, offered: tuple[str, ...], env: dict[str, str]) -> None:
    """Where several words fit, one Tab lists them: recipes, parameters, groups and cells."""
    argv, setup = INTERACTIVE[shell]
    more = ["bind 'set show-all-if-ambiguous on'", "bind 'set page-completions off'"] if shell == "bash" else []
    child = pexpect.spawn(need(shell), argv, env=env, encoding="utf-8", timeout=300, dimensions=(90, 200))
    try:
        for command in (*setup, *more, "echo rea''dy"):
            child.sendline(command)
        child.expect_exact("ready\r\n")
        child.send(f"{line}\t")
        missing = set(offered)
        while missing:
            missing.remove(offered[child.expect_exact([word if word in missing else "\0" for word in offered])])
    finally:
        child.close(force=True)


def test_names_of_a_list_on_the_command_line_complete(env: dict[str, str], tmp_path: Path) -> None:
    """What a LIST on the command line showed is kept for Tab in shells, as it is at the prompt."""
    cache = NameCache(tmp_path / "names" / "t1.json")
    line = parse_line("list lun")
    assert line is not None
    learn_answer(cache, line, Result(records=[{"cell": "exa1cel01", "name": "0_7"}]))
    learn_answer(cache, line, Result(records=[{"cell": "exa1cel01", "name": "0_8"}]))
    done = subprocess.run(
        [sys.executable, "-m", "exacell", "--complete", "bash", "3", "exacell", "list", "lun", "0"],
        env={**env, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["0_7", "0_8"]
