"""A difference over which nothing happened says so, instead of a column of zeros."""

from __future__ import annotations

import pytest

from exacell.measure.delta import delta, without_load
from exacell.measure.snapshot import CellCounters, Snapshot


def between(kind: str, **grown: float) -> str:
    """Return what is said of two snapshots of one cell between which these counters grew."""
    names = ("FL_RQ_W", "FC_IO_RQ_R", "FC_IO_RQ_R_MISS", "FC_IO_RQ_W")
    taken = [
        Snapshot(
            rack="t1",
            name=name,
            kind=kind,
            taken="",
            cells={"c1": CellCounters(collected=minute * 60_000, values=values)},
        )
        for name, minute, values in (
            ("a", 1, dict.fromkeys(names, 5.0)),
            ("b", 2, {key: 5.0 + grown.get(key, 0) for key in names}),
        )
    ]
    return without_load(kind, delta(taken[0], taken[1], names)[-1])


@pytest.mark.parametrize(
    ("kind", "grown", "said"),
    [
        ("flashlog", {}, "no redo was written in between, so the flash log's figures say nothing"),
        ("flashlog", {"FC_IO_RQ_R": 9.0}, "no redo was written in between, so the flash log's figures say nothing"),
        ("flashlog", {"FL_RQ_W": 1.0}, ""),
        ("flashcache", {}, "nothing was read or written through the flash cache in between"),
        ("flashcache", {"FC_IO_RQ_R": 1.0}, ""),
        ("flashcache", {"FC_IO_RQ_R_MISS": 1.0}, ""),
        ("flashcache", {"FC_IO_RQ_W": 1.0}, ""),
    ],
)
def test_a_delta_without_load_says_so(kind: str, grown: dict[str, float], said: str) -> None:
    """Each kind of snapshot is quiet when none of its own requests grew, whatever else did."""
    assert between(kind, **grown) == said
