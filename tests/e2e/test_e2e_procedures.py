"""Published procedures, step by step, by three ways: the emulated rack and exacell go along with what their pages show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.procedures import Procedure, procedures, running

WAYS = {"ssh": "exa1cel01", "typed": "exa1cel02", "dcli": "exa1cel03"}
"""Each way has a cell of its own."""
ALL = procedures()


@pytest.mark.parametrize("procedure", ALL, ids=lambda procedure: procedure.name)
def test_a_published_procedure(procedure: Procedure, tmp_path: Path) -> None:
    """Every step prints and leaves what its page shows: by plain ssh, by CellCLI typed at exacell, and by exacell dcli."""
    with running(procedure, tmp_path / "home") as run:
        for way, cell in WAYS.items():
            run.carry_out(way, cell)


def test_there_are_enough_of_them() -> None:
    """At least twelve procedures are retold, each with its source and at least three steps that compare something."""
    assert len(ALL) >= 12
    for procedure in ALL:
        assert procedure.title and procedure.source
        compared = [step for step in procedure.steps if (step.prints, step.shows, step.all) != (None, None, None)]
        assert len(compared) >= 3
