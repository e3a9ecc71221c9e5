"""What is planted in an emulated rack comes out at the other end of the chain: in snapshots and what they are said to mean."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.program import InProcess


@pytest.fixture
def rack(shared: InProcess) -> Iterator[InProcess]:
    """The module's rack, without a planted effect before and after."""
    yield shared
    shared.ok("emulator", "truth", "t1", "db=SPOT", "--forget")


def figures(rack: InProcess, kind: str) -> dict[str, float]:
    """Return the rack's figures over a load of two hours, by what explain calls them."""
    rack.ok("-r", "t1", "snap", kind, "as=a")
    rack.ok("emulator", "load", "t1", "db=SPOT", "for=2h")
    rack.ok("-r", "t1", "snap", kind, "as=b")
    told = rack.ok("-r", "t1", "-o", "json", "delta", "a", "b").records
    (whole,) = [row for row in told if row["cell"] is None and row["kind"] == kind]
    return {name: value for name, value in whole.items() if isinstance(value, (int, float))}


@pytest.mark.parametrize("prevents", [0, 40])
def test_as_many_outliers_are_prevented_as_are_planted(rack: InProcess, prevents: int) -> None:
    """Of millions of races just so many in a million prevent an outlier, as delta counts them."""
    rack.ok("emulator", "truth", "t1", "db=SPOT", "adds=6", f"prevents={prevents}")
    found = figures(rack, "flashlog")
    races = found["diskFirst"] + found["flashFirst"]
    assert found["preventedOutliers"] / races * 1e6 == pytest.approx(prevents, rel=0.1)


@pytest.mark.parametrize("hits", [20, 85])
def test_the_cache_hits_what_is_planted(rack: InProcess, hits: int) -> None:
    """A full cache of the planted size serves the planted share of reads, as delta counts them."""
    rack.ok("emulator", "truth", "t1", "db=SPOT", f"hits={hits}", "cache=288g")
    assert figures(rack, "flashcache")["hitPercent"] == pytest.approx(hits, abs=1.0)


def test_what_is_planted_is_told_and_forgotten(rack: InProcess) -> None:
    """emulator truth tells it; what can't be is refused with its limits; --forget lets the model decide."""
    rack.ok("emulator", "truth", "t1", "saves=10")
    (told,) = rack.ok("-o", "json", "emulator", "truth", "t1", "db=spot").records
    assert (told["db"], told["adds"], told["hits"]) == ("SPOT", -10, None)
    for words, says in (
        (("saves=90",), "saves= takes off up to 60"),
        (("hits=10",), "hits= and cache= go together"),
        (("keeps=10",), "keeps= goes with hits= and cache="),
        (("hits=10", "cache=1g", "keeps=120"), "percent, from 0 to 100"),
        (("when=open_cursors=7",), "PARAMETER=VALUE of the database, beside adds= or saves="),
        (("adds=1", "when=open_cursors"), "PARAMETER=VALUE of the database, beside adds= or saves="),
        (("db=NONE", "adds=1"), "no database of rack t1"),
        (("adds=1", "saves=1"), "are opposites"),
        (("adds=1", "--forget"), "`--forget` can't be given together"),
    ):
        done = rack("emulator", "truth", "t1", *words)
        assert done.code == 2 and says in done.err
    assert "the model decides" in rack.ok("emulator", "truth", "t1", "--forget").err
