"""When the daemon has to look at the faults again."""

from __future__ import annotations

import pytest

from exacell.emulator.basics.clock import RackClock
from exacell.emulator.state.fault_book import Fault, FaultBook, Kind


@pytest.mark.parametrize(
    ("begins", "ends", "applied", "left"),
    [
        (10.0, None, False, 10.0),
        (-10.0, None, True, None),
        (-10.0, 5.0, True, 5.0),
        (-10.0, -5.0, True, 0.0),
        (-10.0, None, False, 0.0),
    ],
    ids=["to begin", "without an end", "to end", "over, not put back", "begun, not applied"],
)
def test_what_is_due_is_due_until_it_was_seen_to(
    begins: float, ends: float | None, applied: bool, left: float | None
) -> None:
    """It should ask for a look at once at what has passed unseen, so that no fault outlives its end."""
    clock = RackClock()
    book = FaultBook(clock)
    now = clock.now()
    fault = Fault(host="c1", kind=Kind.CELLSRV_DOWN, begins=now + begins, ends=None if ends is None else now + ends)
    fault.applied = applied
    book.put(fault)
    found = book.next_change()
    if left is None:
        assert found is None
    else:
        assert found is not None and found <= left / clock.speed and (found > 0) is (left > 0)
