"""One emulated rack, named care, for a module of tests of care, tutorial and opaque work: each leaves it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.program import Done, InProcess


class Rack(InProcess):
    """Runs ``exacell -r care`` in this process with a scratch home."""

    @property
    def env(self) -> dict[str, str]:
        """As everywhere, without a pager."""
        return {**super().env, "TERM": "xterm", "PAGER": "cat"}

    def say(self, *words: str) -> Done:
        """Run a statement on the rack."""
        return self("-r", "care", *words)

    def json(self, *words: str) -> list[dict[str, Any]]:
        """Run a statement and return its records."""
        return self("-r", "care", "-o", "json", *words).records

    def fault(self, hosts: str, *words: str) -> None:
        done = self("emulator", "fault", "care", hosts, *words)
        assert done.code == 0, done.err


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """The rack care, running; stopped behind the module."""
    found = Rack(tmp_path_factory.mktemp("care") / "home")
    started = found("emulator", "start", "care")
    assert started.code == 0, started.err
    yield found
    found("emulator", "stop", "care")
