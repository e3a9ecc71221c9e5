"""Experiments on each factor over the real chain: what is planted is named, what is not there is not, and all comes back."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import until
from tests.support.program import Done, InProcess, told

CLAUSE = "sql db=SPOT \"select cell_flash_cache c from dba_tables where table_name = 'CUSTOMERS'\""
PARAMETER = "sql db=SPOT \"select value from v$parameter where name = 'open_cursors'\""
PLAN = "list iormplan attributes dbPlan, objective"


@pytest.fixture
def rack(shared: InProcess) -> Iterator[InProcess]:
    """The module's rack, where no effect is planted before and after, and what a factor switches is as it was."""
    before = state(shared)
    yield shared
    shared.ok("emulator", "truth", "t1", "db=SPOT", "--forget")
    shared.ok("emulator", "truth", "t1", "db=ERP", "--forget")
    assert state(shared) == before
    assert "is not locked" in shared("-r", "t1", "unlock").err


def state(rack: InProcess) -> Any:
    return [rack.ok("-r", "t1", "-o", "json", query).records for query in (CLAUSE, PARAMETER, PLAN)]


def verdict(done: Done) -> dict[str, Any]:
    (found,) = [row for row in done.records if "finding" in row]
    return found


def says(done: Done) -> str:
    return "\n".join(row["says"] for row in done.records if "says" in row)


PLANTED = [
    # A table with KEEP has 95 % of its reads served, where other data has 60 %.
    ("factor=cell_flash_cache:app.customers levels=keep,default", "hits=60 cache=288g keeps=95", -4.7, "CUSTOMERS keep,"),
    # Kept out of the cache by NONE, none of it is served.
    ("factor=cell_flash_cache:app.customers levels=none,default", "hits=60 cache=288g", 8.0, "CUSTOMERS none,"),
    # Served by disks alone against 60 % from flash.
    ("factor=iorm:flashcache levels=off,on", "hits=60 cache=288g", 102.7, "flashcache off,"),
    ("factor=parameter:open_cursors levels=444,555", "adds=6 when=open_cursors=444", 6.0, "open_cursors 444,"),
]  # fmt: skip


@pytest.mark.parametrize(("factor", "truth", "percent", "words"), PLANTED)
def test_a_planted_effect_of_each_factor_is_named(
    rack: InProcess, factor: str, truth: str, percent: float, words: str
) -> None:
    """The verdict names the planted effect with its direction, and its interval is about it."""
    rack.ok("emulator", "truth", "t1", "db=SPOT", *truth.split())
    done = rack.ok("-r", "t1", "-o", "json", f"experiment {factor} db=SPOT aa=1 for=4m seed=3 -y")
    found = verdict(done)
    assert found["finding"] == "different" and words in says(done)
    half = (found["highPercent"] - found["lowPercent"]) / 2
    assert abs(found["effectPercent"] - percent) < max(2 * half, 0.5)
    assert "the factor has its old value again" in done.err


UNPLANTED = [
    "factor=cell_flash_cache:app.customers levels=keep,default",
    "factor=iorm:objective levels=low_latency,auto",
    "factor=parameter:open_cursors levels=444,555",
]


@pytest.mark.parametrize("factor", UNPLANTED)
def test_where_nothing_is_planted_none_that_matters_is_found(rack: InProcess, factor: str) -> None:
    """With the cache and the commits as they are whatever the factor is, a difference that matters is ruled out."""
    rack.ok("emulator", "truth", "t1", "db=SPOT", "hits=60", "cache=288g", "adds=0", "when=open_cursors=7")
    done = rack.ok("-r", "t1", "-o", "json", f"experiment {factor} db=SPOT aa=1 for=4m matters=3 -y")
    assert verdict(done)["finding"] in ("no difference that matters", "different, and smaller than what matters")


REFUSED = [
    ("factor=weather db=SPOT", "'weather' is not one of flashlog, cell_flash_cache:, iorm:, setting:, parameter:"),
    ("factor=iorm: db=SPOT levels=a,b", "factor=iorm: is unknown"),
    ("factor=iorm:flashcache db=SPOT", "give two to 6 different levels"),
    ("factor=iorm:flashcache db=SPOT levels=on,on", "give two to 6 different levels"),
    ("factor=iorm:flashcache levels=on,off", "db= is needed"),
    ("factor=iorm:flashcache db=SPOT levels=on,off on=@db", "on= is needed: the hosts whose setting is switched"),
    ("factor=iorm:flashcache db=SPOT levels=on,maybe", "flashCache=maybe is not possible; it can be on or off"),
    ("factor=setting:/proc/sys/vm/swappiness levels=1,2", "on= is needed: the hosts whose setting is switched"),
    ("factor=setting:/proc/sys/vm/swappiness levels=1,2 on=@db", "measure=fio needs workload="),
    ("factor=parameter:processes db=SPOT levels=1,2", "exacell sets only parameters that affect nothing but speed"),
    ("factor=cell_flash_cache:app.orders db=SPOT levels=keep,none", "each partition has its own CELL_FLASH_CACHE"),
    ("factor=cell_flash_cache:app.nothing db=SPOT levels=keep,none", "APP.NOTHING"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_what_no_factor_can_be_is_one_clear_line(rack: InProcess, words: str, why: str) -> None:
    """A factor or level that can't be is refused before anything is sent."""
    done = rack("-r", "t1", f"experiment {words} -y")
    assert done.code == 2 and why in told(done.err), done.err


def test_a_comparison_that_can_not_show_anything_is_refused_and_said(rack: InProcess) -> None:
    """With IORM keeping the database out of the flash cache a table's clause shows nothing; --anyway runs it."""
    rack.ok("-r", "t1", "set iorm db=SPOT flashcache=off -y")
    words = "experiment factor=cell_flash_cache:app.customers levels=keep,none db=SPOT blocks=1 aa=0 seed=24"
    done = rack("-r", "t1", f"{words} -y")
    again = rack.ok("-r", "t1", "-o", "json", f"{words} -y --anyway")
    rack.ok("-r", "t1", "unset iorm db=SPOT flashcache -y")
    assert done.code == 2 and "IORM does not let SPOT use the flash cache of exa1cel[01-03]" in told(done.err)
    assert "This was not a fair comparison: IORM does not let SPOT use the flash cache" in says(again)


def test_a_table_kept_by_default_and_left_out_ranks_as_published(alone: InProcess, tmp_path: Path) -> None:
    """Caches that are made new and warmed before each run serve no less with KEEP than with DEFAULT, and clearly less with NONE;
    warm-up, read hits and the page are shown, and the table and the size of the caches are as they were. It leaves cold caches,
    so it has a rack of its own."""
    rack = alone
    rack.ok("emulator", "start", "t1", "speed=600")
    sizes = ("-r", "t1", "-o", "json", "list flashcache attributes size")
    before = rack.ok(*sizes).records
    page = tmp_path / "cache.html"
    words = f"run cache_keep_off db=SPOT table=APP.CUSTOMERS blocks=1 warm=3 for=10m size=64g report={page}"
    done = rack.ok("-r", "t1", "-o", "json", words, "-y")
    assert "warm-up: the same, 3 times at most, until the hit rate is stable" in done.err
    (sentence,) = [row["says"] for row in done.records if str(row.get("says", "")).startswith("Read hits")]
    shares = {level: float(share) for share, level in re.findall(r"([\d.]+)% with (\w+)", sentence)}
    assert set(shares) == {"keep", "default", "none"}
    assert shares["keep"] > shares["default"] - 0.5 and shares["default"] > shares["none"] + 1
    assert "Read hits of the flash cache" in page.read_text()
    assert rack.ok(*sizes).records == before
    assert [row["C"] for row in rack.ok("-r", "t1", "-o", "json", CLAUSE).records] == ["DEFAULT"]


def test_a_warm_up_needs_the_hit_rate(rack: InProcess) -> None:
    """Where something else than reads is measured, warm= is refused before anything is sent."""
    words = "experiment factor=flashlog db=SPOT warm=3 seed=1"
    refused = rack("-r", "t1", words, "-y")
    assert refused.code == 2 and "warm=3: 2 to 200 passes, with measure=reads" in refused.err


def busy(rack: InProcess, lasts: str) -> subprocess.Popen[bytes]:
    """Let redo of the other database take ten times as long, for some of the rack's minutes."""
    rack.ok("emulator", "truth", "t1", "db=ERP", "adds=1000")
    words = ("emulator", "load", "t1", "db=ERP", "redo=4000", f"for={lasts}")
    return subprocess.Popen([sys.executable, "-m", "exacell", *words], env=rack.env, stdout=subprocess.DEVNULL)


def redo_ms(rack: InProcess) -> float:
    rows = rack.ok("-r", "t1", "-o", "json", "list metriccurrent where name = FL_RQ_TM_W_RQ").records
    return max(row["metricValue"] for row in rows) / 1000


YIELD = "experiment factor=flashlog db=SPOT aa=0 seed=24 for=4m yield=2ms -y"


def test_an_experiment_gives_way_while_production_waits_for_its_redo(rack: InProcess) -> None:
    """It waits until redo writes are below the limit again, makes each block once, and says how long it waited."""
    with busy(rack, "1h") as load:
        assert until(lambda: redo_ms(rack) > 2)
        done = rack.ok("-r", "t1", "-o", "json", YIELD)
        assert load.wait() == 0
    found = verdict(done)
    assert (
        "a redo write takes" in done.err
        and "Gives way: waits before a run while a redo write takes longer than 2 ms" in done.err
    )
    assert done.err.index(": pausing") < done.err.index(": continuing after") < done.err.index("[1/14] block 1")
    assert (found["blocks"], found["pauses"], found["madeAnew"]) == (7, 1, 0) and found["pausedSeconds"] > 0
    assert "It gave way once" in says(done) or "It gave way 1 time" in says(done)


def test_a_block_that_production_disturbs_is_made_anew(rack: InProcess) -> None:
    """What was measured while redo was slow is not counted: the block comes once more, and the verdict has seven whole ones."""
    words = [sys.executable, "-m", "exacell", "-r", "t1", "-o", "json", *YIELD.split(), "as=disturbed"]
    with subprocess.Popen(words, env=rack.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stdout is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "block 2, " in line and "load" not in locals():
                load = busy(rack, "30m")
        assert load.wait() == 0
        done = Done(process.wait(), process.stdout.read(), "".join(said))
    found = verdict(done)
    assert done.code == 0 and "was disturbed: a redo write took" in done.err
    assert found["blocks"] == 7 and found["madeAnew"] >= 1
    assert all(max(row["onUs"], row["offUs"]) < 1000 for row in done.records if "block" in row)


def test_giving_way_has_an_end(rack: InProcess) -> None:
    """A workload that is above the limit by itself is told after a block was made anew five times; nothing is left switched."""
    done = rack("-r", "t1", "experiment factor=flashlog db=SPOT aa=0 seed=24 for=4m yield=0.1ms as=tight -y")
    assert done.code == 1 and "was disturbed 6 times" in told(done.err)
    rack.ok("-r", "t1", "resume", "--abandon", "-y")


MISTAKEN = """\
recipe "Its load switches what is compared"
experiment factor=flashlog db=SPOT blocks=1 aa=0 seed=24 as=mistaken
  enable flashlog db=SPOT
  emulator load t1 db=SPOT for=1m
end
"""


def test_a_level_that_does_not_last_is_noticed(rack: InProcess) -> None:
    """Somebody who switches the factor in a run is told of with the verdict, and is not overwritten by giving it back."""
    (rack.home / "recipes").mkdir(exist_ok=True)
    (rack.home / "recipes" / "mistaken.exa").write_text(MISTAKEN)
    done = rack("-r", "t1", "-o", "json", "run mistaken -y")
    assert done.code == 1 and "run 2: flash log was on at its end, not off" in done.err
    assert "another condition in run 2 than in the first: flash log was on at its end, not off" in says(done)
    assert "undo of change" in done.err and "its factor may still be set for a run" in rack("-r", "t1", "cells").err
    rack.ok("-r", "t1", "undo -y")
    rack.ok("-r", "t1", "resume --abandon -y")
