"""The guards that benchmarks/mutate_guards.py breaks are there to be broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.guard_breaking import mutants
from benchmarks.guard_equivalents import EQUIVALENT
from benchmarks.guard_mutants import ONLY_CALLS, TARGETS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("file", TARGETS)
def test_every_guard_that_is_named_can_be_broken(file: str) -> None:
    """Each file and function of TARGETS exists and has something to break, and the tests named beside it are there."""
    functions, tests = TARGETS[file]
    broken = {mutant.function for mutant in mutants(file, functions, ROOT / "exacell")}
    assert broken and set(functions) - set(ONLY_CALLS) <= broken
    assert all((ROOT / test.partition("::")[0]).exists() for test in tests)


def test_what_nobody_can_notice_is_a_breakage_of_today() -> None:
    """Each breakage that EQUIVALENT explains is one that is tried: a text of code that is gone explains nothing."""
    tried = {mutant.key for file in TARGETS for mutant in mutants(file, TARGETS[file][0], ROOT / "exacell")}
    assert not set(EQUIVALENT) - tried
