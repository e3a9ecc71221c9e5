from __future__ import annotations

from pathlib import Path

import pytest
from engine_fakes import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A fresh rack of three fake cells with an engine and a journal."""
    return Bench(tmp_path)
