from __future__ import annotations

import pytest
from cells_bench import Bench


@pytest.fixture
def bench() -> Bench:
    """A new default rack."""
    return Bench()
