"""Whatever goes wrong wherever in a change: afterwards the rack is as intended or as it was, and nothing was lost."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from matrix_cases import COLUMNS
from matrix_run import carry_out, sample
from matrix_verbs import VERBS, Verb

STEP = int(os.environ.get("EXACELL_FAULTS_STEP", "12"))
"""Each so-many-th case is carried out; 1 takes all of them, which benchmarks/fault_matrix.py does."""


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_cases_survive(verb: Verb, column: str, record_property: Callable[[str, object], None]) -> None:
    """After resume, retry or undo the rack is as intended or as it was, caching, with a whole journal and no loss."""
    verdicts = [carry_out(case) for case in sample(verb, column, step=STEP)]
    bad = [verdict for verdict in verdicts if not verdict.survived]
    record_property("faults", (verb.name, column, len(verdicts), len(verdicts) - len(bad)))
    assert not bad, "\n".join(map(str, bad))
