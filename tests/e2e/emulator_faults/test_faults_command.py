"""``emulator fault`` and ``emulator path`` as statements."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults_bench import C1, C2, Bench

from exacell.emulator.state.fault_book import DISK_STATUS, VARIANTS, Kind, options_of
from exacell.language.registry import commands


def exacell(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EXACELL_HOME": str(home), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "exacell", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env
    )


def test_the_command_knows_what_the_emulator_knows() -> None:
    """The kinds, options, variants and states of the statement are exactly those of the emulator."""
    command = commands()["emulator", "fault"]
    params = {param.name: param for param in command.params}
    assert params["kind"].choices == (*Kind, "clear") and params["only"].choices == tuple(Kind)
    keyed = {param.name for param in command.params if not param.positional}
    assert keyed == {option for kind in Kind for option in options_of(kind)}
    assert (params["variant"].choices, params["status"].choices) == (VARIANTS, DISK_STATUS)


def test_faults_by_statement(bench: Bench) -> None:
    """A fault for several cells is injected, listed as data, and cleared, by kind or all."""
    words = ("slow", "delay=100ms", "match=list flash", "every=2", "after=1h")
    rows = json.loads(exacell(bench.home, "-o", "json", "emulator", "fault", "t1", "exa1cel[01-02]", *words).stdout)
    assert [(row["cell"], row["host"], row["kind"], row["state"]) for row in rows] == [
        (None, C1, "slow", "waiting"),
        (None, C2, "slow", "waiting"),
    ]
    assert rows[0]["options"] == "delay=0.1" and 3500 < rows[0]["begins"] <= 3600
    assert json.loads(exacell(bench.home, "-o", "json", "emulator", "fault", "t1", "list").stdout)[1]["every"] == 2
    bench.fault("hang")
    assert "1 fault cleared" in exacell(bench.home, "emulator", "fault", "t1", C1, "clear", "hang").stderr
    assert "2 faults cleared" in exacell(bench.home, "emulator", "fault", "t1", "all", "clear").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("exa1cel01",), "a fault needs hosts and a kind"),
        (("list", "hang"), "a fault needs hosts and a kind"),
        (("exa1cel01", "clear", "delay=3s"), "delay= needs a kind of fault, not clear"),
        (("exa1cel01", "hang", "slow"), "'slow' is a second kind"),
        (("exa1cel01", "hang", "delay=3s"), "a hang fault takes no delay="),
    ],
)
def test_wrong_statements(bench: Bench, words: tuple[str, ...], message: str) -> None:
    """What makes no sense is refused with exit 2 and says what is wrong."""
    done = exacell(bench.home, "emulator", "fault", "t1", *words)
    assert done.returncode == 2 and message in done.stderr


def test_the_path_by_statement(bench: Bench) -> None:
    """``emulator path`` prints nothing but the directory, which holds cellcli and sqlplus."""
    path = Path(exacell(bench.home, "emulator", "path", "t1").stdout.removesuffix("\n"))
    assert {"cellcli", "sqlplus", "hostname"} <= {entry.name for entry in path.iterdir()}
