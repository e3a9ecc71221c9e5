"""Clocks that tests give: one that stands until it is told to pass, and a host's that is set back."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

import pytest


class Standing:
    """Seconds that pass when a test says so.

    Attributes:
        now: what it shows.
    """

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return what it shows."""
        return self.now


class LongAgo(datetime):
    """A clock that stands in the past."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> LongAgo:
        """Return a moment of 2001."""
        return cls(2001, 1, 1, tzinfo=UTC).astimezone(tz)


def set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all rows that the journal holds from now on be of a time before the others'."""
    monkeypatch.setattr("exacell.journal.record.datetime", LongAgo)
