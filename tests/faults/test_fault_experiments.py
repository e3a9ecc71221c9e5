"""Experiments that are killed at any moment, twice: gone on with, each block is whole and in its order, and all is given back."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from exacell.measure.experiments.schedule import schedule
from tests.support.program import InProcess, told

QUERIES = (
    "list iormplan attributes dbPlan, objective",
    "sql db=SPOT \"select cell_flash_cache c from dba_tables where table_name = 'CUSTOMERS'\"",
    "sql db=SPOT \"select value from v$parameter where name = 'open_cursors'\"",
    "sql db=SPOT \"select value from v$spparameter where name = 'open_cursors'\"",
)
FACTORS = {
    "flashlog": ("on", "off"),
    "cell_flash_cache:app.customers": ("keep", "none"),
    "iorm:flashcache": ("off", "on"),
    "parameter:open_cursors": ("444", "555"),
}
SEEDS = 2
LONGEST = 9.0
"""Seconds within which a process is killed: about what the whole experiment takes."""


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The default rack at ten times its usual speed."""
    program = InProcess(tmp_path_factory.mktemp("experiments") / "home")
    program.ok("emulator", "start", "t1", "speed=600")
    yield program
    program.ok("emulator", "stop", "t1")


def state(rack: InProcess) -> list[Any]:
    return [rack.ok("-r", "t1", "-o", "json", query).records for query in QUERIES]


def killed(rack: InProcess, seconds: float, *words: str) -> bool:
    """Carry a statement out in a process that is killed after that time; return whether it was, and did not end before."""
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-m", "exacell", "-r", "t1", *words, "-y"]
    with subprocess.Popen(command, env=rack.env, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("factor", FACTORS)
def test_a_killed_experiment_ends_as_one_that_nobody_killed(rack: InProcess, factor: str, seed: int) -> None:
    """Whenever it is killed, and its resume once more: what it switched is as it was, and each block is there in its order."""
    rng = random.Random(f"{factor}|{seed}")
    levels, blocks, before = FACTORS[factor], 3, state(rack)
    name = f"{factor.partition(':')[0]}{seed}"
    words = f"experiment factor={factor} levels={','.join(levels)} db=SPOT blocks={blocks} aa=1 seed={seed} as={name}"
    kills = [killed(rack, rng.uniform(0.3, LONGEST), *words.split())]
    if kills[0]:
        kills.append(killed(rack, rng.uniform(0.3, LONGEST), "resume"))
    done = rack("-r", "t1", "resume", "-y")
    assert done.code == 0, done.err
    found = rack("-r", "t1", "-o", "json", f"results {name}")
    if found.code:  # It was killed before it had begun.
        assert "there is no experiment" in told(found.err) or "has no experiment" in told(found.err)
    else:
        runs = schedule(levels, blocks=blocks, order="random", seed=seed, pairs=1, now=levels[1])
        orders = [" ".join(run.level for run in runs if run.block == block) for block in range(1, blocks + 1)]
        assert [(row["block"], row["order"]) for row in found.records if "block" in row] == [
            *enumerate(orders, start=1)
        ]
    assert state(rack) == before, kills
    assert "is not locked" in rack("-r", "t1", "unlock").err
    assert rack.ok("-r", "t1", "-o", "json", "pending").records == []
