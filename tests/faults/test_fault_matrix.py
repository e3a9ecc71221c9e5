"""Whatever goes wrong wherever in a change: afterwards the rack is as intended or as it was, and nothing was lost."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from matrix_cases import COLUMNS
from matrix_run import carry_out, sample
from matrix_verbs import NO_ROW, VERBS, Verb

from exacell.language.registry import Effect, commands

STEP = int(os.environ.get("EXACELL_FAULTS_STEP", "20"))
"""Each so-many-th case is carried out; 1 takes all of them, which benchmarks/fault_matrix.py does."""


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_cases_survive(verb: Verb, record_property: Callable[[str, object], None]) -> None:
    """After resume, retry or undo the rack is as intended or as it was, caching, with a whole journal and no loss."""
    bad = []
    # All columns in one test: what a row is without a mishap is found once, whichever process runs it.
    for column in COLUMNS:
        verdicts = [carry_out(case) for case in sample(verb, column, step=STEP)]
        lost = [verdict for verdict in verdicts if not verdict.survived]
        record_property("faults", (verb.name, column, len(verdicts), len(verdicts) - len(lost)))
        bad += lost
    assert not bad, "\n".join(map(str, bad))


def test_every_changing_command_has_a_row() -> None:
    """Each command that changes cells or ASM is a row of the matrix, or is named with the reason why it is none."""
    changing = {found.name for found in commands().values() if found.effect is Effect.WRITE}
    rows = {name for name in changing for verb in VERBS if f"{verb.statement} ".startswith(f"{name} ")}
    missing = changing - rows - set(NO_ROW)
    assert not missing, f"give them a row in matrix_verbs.VERBS, or a reason in NO_ROW: {sorted(missing)}"
    stale = {name for name in NO_ROW if name not in changing or name in rows}
    assert not stale, f"these need no reason in NO_ROW: {sorted(stale)}"
    assert all(NO_ROW.values())
