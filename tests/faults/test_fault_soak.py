"""Slices of ``benchmarks/soak.py`` that once were not survived, played again on smaller racks; and what its judge sees."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from tests.support.surroundings import on_the_hosts_clock

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from chaos_rack import Ended
from soak import Neighbour, SoakRack, play, truth_of

CELLS = 3
SEEDS = (1, 20261132)
"""Those that found mistakes of the judge: it took the emulator's own processes for a host's programs, and could not read a lock
that was left."""


@pytest.fixture(scope="module")
def rack() -> Iterator[Any]:
    """A rack with two operators whose connections are held."""
    with on_the_hosts_clock():
        made = SoakRack({"cells": CELLS, "dbnodes": 2}, 1)
        yield made
        made.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_slice_is_survived(rack: Any, seed: int) -> None:
    """Whatever strikes two operators and their holders in a slice, all that its judge asks holds afterwards."""
    problems, story, counts = play(rack, truth_of(rack), seed, 1)
    assert not problems, "\n".join([*problems, *story])
    assert counts["turns"] == 1


def test_a_program_that_a_host_still_carries_out_is_seen(rack: Any) -> None:
    """The emulator's own processes are nobody's, and a program that was left running on a host is told."""
    assert rack.left_processes() == []
    host = rack.info.dbnodes[0]
    command = ["ssh", "-F", str(rack.info.ssh_config), "-n", f"root@{host}", "exec sleep 1234"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ssh:
        try:
            assert until(lambda: any("sleep 1234" in text for text in rack._processes()))
        finally:
            ssh.kill()


def test_an_answer_that_is_not_so_is_told(rack: Any) -> None:
    """A row less with exit code 0, and a row that no cell has with any, are faults; a part of the rows with another is none."""
    truth = [f"{cell},1" for cell in rack.info.cells]
    for code, rows, wrong in (
        (0, truth, 0),
        (0, truth[1:], 1),
        (0, [*truth[1:], f"{rack.info.cells[0]},2"], 1),
        (1, truth[1:], 0),
        (1, [*truth[1:], f"{rack.info.cells[0]},2"], 1),
        (2, ["exacell: nothing came"], 0),
    ):
        neighbour = Neighbour(rack, random.Random(0), {}, counts=Counter())
        neighbour._compare(Ended("list", code, "".join(f"{row}\n" for row in rows)), truth)
        assert len(neighbour.wrong) == wrong, (code, rows, neighbour.wrong)


def test_a_row_that_a_killed_process_had_begun_is_none(rack: Any) -> None:
    """What comes after the last line feed of a killed process is not taken for a row."""
    cell = rack.info.cells[0]
    neighbour = Neighbour(rack, random.Random(0), {}, counts=Counter())
    neighbour._compare(Ended("list", -9, f"{cell},1\n{cell},"), [f"{cell},12", f"{cell},1"])
    assert not neighbour.wrong
    neighbour._compare(Ended("list", -9, f"{cell},1\n{cell},\n"), [f"{cell},12", f"{cell},1"])
    assert neighbour.wrong


@pytest.mark.parametrize("kind", ["stopped", "killed", "disk full"])
def test_what_the_second_operator_does_is_struck(rack: Any, kind: str) -> None:
    """A verb that is struck is counted, its story names the blow, and a process that was stopped goes on to its end."""

    class Certain(random.Random):
        drawn = iter((0.6, 0.05))

        def random(self) -> float:
            return next(self.drawn)

        def choice(self, options: Any) -> Any:
            return kind if kind in options else options[0]

    neighbour = Neighbour(rack, Certain(), {}, counts=Counter())
    ended = neighbour._ask(rack.second, "-f", "-", typed="list cell\n" * 600)
    rack.end_holders()
    assert neighbour.counts[f"struck {kind}"] == 1 and f"[{kind} after 0.2s]" in neighbour.said[0]
    assert ended.code == -9 if kind == "killed" else ended.code != -9
    assert not neighbour.wrong
