"""Journals of tests live in memory where the host has a file system for that: each row is synced, which disks take long for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory of the test's own, in memory where that is possible."""
    if not os.access(MEMORY, os.W_OK | os.X_OK):
        yield tmp_path_factory.mktemp("journal")
        return
    with tempfile.TemporaryDirectory(prefix="exacell-test-", dir=MEMORY) as folder:
        yield Path(folder)
