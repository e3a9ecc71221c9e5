"""Rolling changes over the emulated rack: real SSH, ASM that takes disks offline and resyncs them, releases old and new."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.journal.record import Journal
from tests.support.overlaps import overlaps

ONE, TWO, THREE = "exa1cel01", "exa1cel02", "exa1cel03"


@pytest.fixture
def quick(inside: Any) -> Any:
    """The program with the module's rack."""
    return inside


def order(exacell: Any, kind: str = "intent") -> list[str]:
    """The cells in the order in which the journal's newest change touched them, each once."""
    rows = Journal(exacell.home / "journal.db").entries()
    newest = max(row.change for row in rows if row.kind == kind)
    return list(dict.fromkeys(row.target for row in rows if row.change == newest and row.kind == kind))


def never_two_away(exacell: Any) -> None:
    rows = Journal(exacell.home / "journal.db").entries()
    assert any(row.body.get("offline") for row in rows if row.kind == "intent")
    assert overlaps(rows) == ()


def modes(exacell: Any) -> set[tuple[str, str]]:
    rows = exacell.ok("-r", "t1", "-o", "json", "show", "flashcache").records
    return {(row["mode"].lower(), row["caching"]) for row in rows}


def test_the_old_procedure_rolls_by_itself_and_is_undone(alone: Any) -> None:
    """Before 11.2.3.3.1 a mode change takes each cell through the whole procedure, one after the other, and back."""
    alone.ok("emulator", "start", "t1", "speed=600", "release=11.2.3.2.1")
    alone.ok("-r", "t1", "set", "flashcache", "mode=writethrough", "-y")
    assert order(alone) == [ONE, TWO, THREE]
    assert modes(alone) == {("writethrough", "on")}
    alone.ok("-r", "t1", "undo", "-y")
    assert modes(alone) == {("writeback", "on")}
    never_two_away(alone)
    again = alone.ok("-r", "t1", "set", "flashcache", "mode=writeback", "-y")
    assert "already" in again.out


def test_pmem_leaves_write_back_first(alone: Any) -> None:
    """On an X8M with write-back PMEM the flash cache can be flushed, and leaves write-back after PMEM."""
    alone.ok("emulator", "start", "t1", "speed=1200", "model=x8m", "release=22.1", "pmem=writeback")
    alone.ok("-r", "t1", "flush", "flashcache", "--rolling=2", "-y")
    alone.ok("-r", "t1", "set", "flashcache", "mode=writethrough", "-y")
    assert modes(alone) == {("writethrough", "on")}
    rows = alone.ok("-r", "t1", "-o", "json", "-e", "list cell attributes name, pmemCacheMode").records
    assert {row["pmemCacheMode"].lower() for row in rows} == {"writethrough"}


def test_services_offline_and_online(quick: Any) -> None:
    """CELLSRV restarts cell by cell; while one cell is offline no other may leave, and a closed gate says what it waits on."""
    quick.ok("-r", "t1", "restart", "service", "cellsrv", "--canary=" + THREE, "-y")
    assert order(quick) == [THREE, ONE, TWO]
    both = quick("-r", "t1", "restart", "service", "cellsrv", "--rolling=2", "-y")
    assert both.code == 2 and "several failure groups offline at once" in both.err
    quick.ok("-r", "t1", "offline", "cell", TWO, "-y")
    refused = quick("-r", "t1", "offline", "cell", ONE, "-y")
    assert refused.code == 2 and "asmDeactivationOutcome is Cannot de-activate" in refused.err
    closed = quick("-r", "t1", "-c", ONE, "flush", "flashcache", "--rolling", "--timeout=1s", "-y")
    assert closed.code == 2 and f"{TWO}: griddisk" in closed.err and "asmModeStatus is OFFLINE" in closed.err
    quick.ok("-r", "t1", "online", "cell", TWO, "-y")
    rows = quick.ok("-r", "t1", "-o", "json", "show", "griddisk").records
    assert {row["asmModeStatus"] for row in rows} == {"ONLINE"}
    never_two_away(quick)


def test_cells_without_caching_do_not_hold_up_each_other(quick: Any) -> None:
    """Where the caches of all cells are flushed, what brings them back rolls without a wait; what a gate stopped is gone on
    with all together where the operator says so."""
    quick.ok("-r", "t1", "alter", "flashcache", "all", "flush", "-y")
    quick.ok("-r", "t1", "alter", "flashcache", "all", "cancel", "flush", "--rolling", "--timeout=1s", "-y")
    assert {caching for _, caching in modes(quick)} == {"on"}
    quick.ok("-r", "t1", "on", TWO, "alter", "flashcache", "all", "flush", "-y")
    stopped = quick(
        "-r", "t1", "-c", ONE, "alter", "iormplan", "objective=basic", "--canary", ONE, "--timeout=1s", "-y"
    )
    assert stopped.code == 2 and f"{TWO}: flashcache" in stopped.err
    quick.ok("-r", "t1", "resume", "--no-rolling", "-y")
    quick.ok("-r", "t1", "undo", "--no-rolling", "-y")
    quick.ok("-r", "t1", "on", TWO, "alter", "flashcache", "all", "cancel", "flush", "-y")


def test_resize_griddisk_and_rebalance(quick: Any) -> None:
    """A disk group shrinks in ASM first and then on the cells; undo brings both back; what does not fit is refused."""
    before = quick.ok("-r", "t1", "-o", "json", "show", "griddisk", "prefix=RECO").records
    size = before[0]["size"] * 3 // 4 // (16 << 20) * (16 << 20)
    quick.ok("-r", "t1", "resize", "griddisk", "prefix=RECO", f"size={size}", "-y")
    assert order(quick)[0] == "exa1db01"
    after = quick.ok("-r", "t1", "-o", "json", "show", "griddisk", "prefix=RECO").records
    assert {row["size"] for row in after} == {size}
    quick.ok("-r", "t1", "undo", "-y")
    assert order(quick)[-1] == "exa1db01"
    assert quick.ok("-r", "t1", "-o", "json", "show", "griddisk", "prefix=RECO").records == before
    tight = quick("-r", "t1", "resize", "griddisk", "prefix=RECO", "size=16m", "-y")
    assert tight.code == 2 and "it does not fit" in tight.err
    quick.ok("-r", "t1", "set", "rebalance", "power=1", "diskgroup=RECO", "-y")
    quick.ok("-r", "t1", "show", "rebalance")


def test_production_rolls_by_default(quick: Any) -> None:
    """On a production rack a change rolls one cell at a time unless --no-rolling says otherwise."""
    folder = quick.home / "racks.d"
    (folder / "prod.toml").write_text("production = true\n" + (folder / "t1.toml").read_text())
    planned = quick.ok("-r", "prod", "resize", "flashcache", "size=288g", "-n")
    assert "3 waves: exa1cel[01-03], one cell at a time" in planned.err
    together = quick.ok("-r", "prod", "resize", "flashcache", "size=288g", "-n", "--no-rolling")
    assert "waves" not in together.err
