"""A new collection is waited for as long as it may take, on the clock and not by the number of looks."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from exacell.core.config import RackConfig
from exacell.core.errors import ExitCode
from exacell.measure.snapshot import CellCounters
from exacell.session import sampling

if TYPE_CHECKING:
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


@pytest.mark.parametrize(
    ("look", "arrives", "code", "looks"),
    [(0.0, 30.0, ExitCode.DONE, 7), (40.0, 230.0, ExitCode.DONE, 6), (40.0, 500.0, ExitCode.FAILED, 6)],
)
def test_the_last_look_is_one_that_began_when_the_time_was_over(
    monkeypatch: pytest.MonkeyPatch, look: float, arrives: float, code: ExitCode, looks: int
) -> None:
    """Looks that take long do not make the wait longer; what the one that began behind its end shows counts."""
    now, began = [0.0], list[float]()

    class Never(threading.Event):
        """Nobody interrupts; the time that is waited passes."""

        def wait(self, timeout: float | None = None) -> bool:
            now[0] += timeout or 0.0
            return False

    def read(*_: object) -> tuple[dict[str, CellCounters], tuple[str, ...], ExitCode]:
        began.append(now[0])
        now[0] += look
        return {"c1": CellCounters(collected=2 if now[0] >= arrives else 1, values={}, passport={})}, (), ExitCode.DONE

    monkeypatch.setattr(sampling, "read_counters", read)
    ctx = SimpleNamespace(interrupted=Never(), need_rack=lambda: RackConfig(name="t1", cells=("c1",)))
    found = sampling.wait_for_collection(
        cast("Session", ctx), cast("Services", ctx), cast("Request", ctx), "flashcache", clock=lambda: now[0]
    )
    assert found[2] is code
    if code is ExitCode.FAILED:
        assert found[:2] == ({}, ("c1: no new collection within 2m30s",))
    assert len(began) == looks
