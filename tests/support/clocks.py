"""A host's clock that is set back."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

import pytest


class LongAgo(datetime):
    """A clock that stands in the past."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> LongAgo:
        """Return a moment of 2001."""
        return cls(2001, 1, 1, tzinfo=UTC).astimezone(tz)


def set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all rows that the journal holds from now on be of a time before the others'."""
    monkeypatch.setattr("exacell.journal.record.datetime", LongAgo)
