"""show lock for eyes."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from exacell.output.changes import lock_sentence

HELD = {
    "rack": "t1", "locked": True, "user": "root", "host": "adm1", "pid": "77", "since": "2026-11-21T22:09:30+00:00",
    "kept": True, "sudo": None, "change": None, "lives": True, "ageSeconds": 125,
}  # fmt: skip


def test_a_free_rack_is_said_to_be_free() -> None:
    """Without a holder the sentence is five words."""
    assert lock_sentence({"rack": "t1", "locked": False}) == "rack t1 is not locked"


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            {},
            "locked by root on adm1, process 77, since 2026-11-21 22:09:30 (2m05s), until unlock",
        ),
        ({"sudo": "ann"}, "locked by ann as root on adm1, process 77, since"),
        ({"sudo": "root"}, "locked by root on adm1"),
        ({"kept": False}, "(2m05s), while its change runs"),
        ({"kept": False, "change": 7}, "(2m05s), while change 7 runs"),
        ({"kept": False, "lives": False}, "process 77, which has ended, since"),
    ],
)
def test_who_since_when_and_until_when(other: dict[str, object], told: str) -> None:
    """One sentence names the person behind sudo, the host, the process, the age and what ends it."""
    assert told in lock_sentence(HELD | other)


def test_the_time_is_that_of_the_zone() -> None:
    """An operator reads the time of his own clock."""
    assert "since 2026-11-22 00:09:30" in lock_sentence(HELD, zone=timezone(timedelta(hours=2)))
