"""The cache in memory on emulated racks of several releases and models, by the real program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.program import InProcess

WORDS = ("show xrmemcache", "show pmemcache")
CASES: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (
        ("model=x8m", "release=22.1", "pmem=writeback"),
        {"memory": "pmem", "mode": "writeback", "dirty": None, "status": "normal", "caching": "on"},
    ),
    (
        ("model=x8m", "release=22.1"),
        {"memory": "pmem", "mode": "writethrough", "dirty": 0, "status": "normal", "caching": "on"},
    ),
    (
        ("model=x8m", "release=24.1"),
        {"memory": "pmem", "mode": "writethrough", "dirty": 0, "status": "normal", "caching": "on"},
    ),
    (("model=x10m",), {"memory": "dram", "mode": "writethrough", "dirty": 0, "status": None, "caching": "on"}),
    ((), dict.fromkeys(("memory", "mode", "size", "dirty", "used", "status", "caching"))),
    (("release=11.2.2.4",), dict.fromkeys(("memory", "mode", "size", "dirty", "used", "status", "caching"))),
)


@pytest.fixture(params=CASES, ids=lambda case: " ".join(case[0]) or "x2")
def started(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[tuple[InProcess, dict[str, Any]]]:
    """A running rack m of two cells, and what each of its cells is expected to show."""
    options, expected = request.param
    program = InProcess(tmp_path / "home")
    program.ok("emulator", "start", "m", "cells=2", *options)
    yield program, expected
    program.ok("emulator", "stop", "m")


def test_the_cache_in_memory_is_shown_by_both_names(started: tuple[InProcess, dict[str, Any]]) -> None:
    """Each cell shows its cache, one without is no failure but named, and both words say the same of every release."""
    program, expected = started
    for words in WORDS:
        done = program.ok("-r", "m", "-o", "json", words)
        assert [row["cell"] for row in done.records] == ["exa1cel01", "exa1cel02"]
        for row in done.records:
            assert {key: row[key] for key in expected} == expected
            if expected["memory"] is None:
                assert "exa1cel[01-02] has no memory cache" in done.err
            else:
                assert 0 < row["used"] <= row["size"]
                assert row["name"].startswith(row["cell"])


def test_a_flushed_cache_is_shown_as_not_caching(tmp_path: Any) -> None:
    """While a write-back cache is flushed nothing in it is dirty and it is not caching; a cell that is down is no record."""
    program = InProcess(tmp_path / "home")
    program.ok("emulator", "start", "m", "cells=2", "model=x8m", "release=22.1", "pmem=writeback", "speed=1200")
    try:
        program.ok("-r", "m", "on exa1cel01 alter pmemcache all flush -y --accept-data-loss=exa1cel01")
        shown = [
            (row["status"], row["dirty"], row["caching"])
            for row in program.ok("-r", "m", "-o", "json", "show pmemcache").records
        ]
        assert shown == [("normal - flushed", 0, "off"), ("normal", None, "on")]
        program.ok("emulator", "fault", "m", "exa1cel02", "refuse")
        done = program("-r", "m", "-o", "json", "show pmemcache")
        assert done.code == 1
        assert "exa1cel02" in done.err
        assert [row["cell"] for row in done.records] == ["exa1cel01"]
    finally:
        program.ok("emulator", "stop", "m")


def test_pmem_that_was_left_off_is_pending_until_it_caches(tmp_path: Any) -> None:
    """A flush of PMEM by itself is pending on its cells; undo ends it, and so does the statement that pending names."""
    program = InProcess(tmp_path / "home")
    program.ok("emulator", "start", "m", "cells=2", "model=x8m", "release=22.1", "pmem=writeback", "speed=1200")
    try:
        for mended in ("undo -y", "on exa1cel[01-02] alter pmemcache all cancel flush -y"):
            program.ok("-r", "m", "alter pmemcache all flush -y")
            told = program("-r", "m", "pending")
            assert "left pmemcache not caching on exa1cel[01-02]" in told.out + told.err
            program.ok("-r", "m", mended)
            shown = program.ok("-r", "m", "-o", "json", "show pmemcache").records
            assert [row["caching"] for row in shown] == ["on", "on"]
            told = program("-r", "m", "pending")
            assert "not caching" not in told.out + told.err
    finally:
        program.ok("emulator", "stop", "m")


@pytest.mark.parametrize(
    ("options", "word"), [(("release=22.1", "pmem=writeback"), "pmemcache"), (("release=24.1",), "xrmemcache")]
)
def test_a_flush_of_memory_is_proven_and_ends_caching(tmp_path: Any, options: tuple[str, ...], word: str) -> None:
    """flush xrmemcache sends the release's own statement by either name, proves every cell flushed, lets it cache again, and
    one that was left off by another hand is gone on with; undo says why nothing comes back."""
    program = InProcess(tmp_path / "home")
    program.ok("emulator", "start", "m", "cells=2", "model=x8m", "speed=1200", *options)
    try:
        for asked in ("flush xrmemcache", "flush pmemcache"):
            done = program.ok("-r", "m", "-o", "json", f"{asked} -y")
            assert [(row["outcome"], row["dirtyAfterFlush"], row["usedAfterFlush"]) for row in done.records] == [
                ("done", 0, 0)
            ] * 2
            assert f"ALTER {word.upper()} ALL FLUSH NOWAIT" in done.err
        refused = program("-r", "m", "undo -y")
        assert refused.code == 2
        assert "cannot be undone" in refused.err
        program.ok("-r", "m", f"on exa1cel01 alter {word} all flush -y")
        program.ok("-r", "m", f"flush {word} -y")
        shown = program.ok("-r", "m", "-o", "json", f"show {word}").records
        assert [row["caching"] for row in shown] == ["on", "on"]
        assert program.ok("-r", "m", "-o", "json", "pending").records == []
    finally:
        program.ok("emulator", "stop", "m")


def test_a_flush_of_memory_that_takes_too_long_is_cancelled(tmp_path: Any) -> None:
    """--limit ends the wait: the cells fail, cache again, and nothing is pending; where there is nothing to flush it is said."""
    program = InProcess(tmp_path / "home")
    program.ok("emulator", "start", "m", "cells=2", "model=x8m", "release=22.1", "pmem=writeback", "speed=1")
    program.ok("emulator", "start", "d", "cells=2", "model=x10m")
    try:
        done = program("-r", "m", "-o", "json", "flush pmemcache --limit=1s -y")
        assert (done.code, {row["outcome"] for row in done.records}) == (1, {"failed"})
        assert "not flushed within 1.0s (--limit)" in done.err
        shown = program.ok("-r", "m", "-o", "json", "show pmemcache").records
        assert [row["caching"] for row in shown] == ["on", "on"]
        assert program.ok("-r", "m", "-o", "json", "pending").records == []
        rows = program.ok("-r", "d", "-o", "json", "flush xrmemcache -y").records
        assert {row["outcome"] for row in rows} == {"not applicable"}
        assert "in DRAM" in rows[0]["detail"]
    finally:
        for rack in ("m", "d"):
            program.ok("emulator", "stop", rack)
