"""Shipped recipes for cells, run on emulated racks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.program import InProcess, told

IN_ORDER = (
    ("run flashlog_recreate", "check list flashlog.size = 512m"),
    ("run cell_maintenance cell=exa1cel02 for=1s", "check no griddisk where asmModeStatus = OFFLINE"),
    ("run cache_resize size=200g", "check list flashcache.size = 200g"),
    ("run writeback_off", "check list cell.flashCacheMode = WriteThrough"),
    ("run flush_legacy", "check list flashcache.size = 200g"),
    ("run writeback_on", "check list cell.flashCacheMode = WriteBack"),
)
"""Recipes and what holds after each: it leaves the cache in the mode and at the size that the next one begins with."""


def test_a_recipe_does_what_it_says(alone: InProcess) -> None:
    """Each recipe is well-formed, plans with -n without a change, runs to its end, and leaves what it promises."""
    alone.ok("emulator", "start", "t1", "speed=600", "mode=writeback")
    for statement, holds in IN_ORDER:
        alone.ok("check", "recipe", statement.split()[1])
        before = alone.ok("-r", "t1", "-o", "json", "journal").records
        alone.ok("-r", "t1", statement, "-n")
        assert alone.ok("-r", "t1", "-o", "json", "journal").records == before, statement
        done = alone.ok("-r", "t1", statement, "-y")
        assert "[6/6]" in done.err, statement
        alone.ok("-r", "t1", holds)


def test_an_old_write_back_cache_is_not_dropped(inside: InProcess) -> None:
    """flush_legacy is for write-through caches: on write-back cells nothing of it runs."""
    done = inside("-r", "t1", "run flush_legacy", "-y")
    assert done.code == 2 and "needs mode=writethrough" in done.err and "[1/" not in done.err


def test_iorm_is_kept_and_given_back(inside: InProcess) -> None:
    """What iorm_save kept is what the cells have after iorm_restore, whatever was set in between."""
    inside.ok("-r", "t1", "run iorm_save name=kept", "-y")
    inside.ok("-r", "t1", "set iorm db=SPOT share=5", "-y")
    inside.ok("-r", "t1", "run iorm_restore name=kept", "-y")
    inside.ok("-r", "t1", "check show iorm.share of SPOT = 8")


def test_health_changes_nothing(inside: InProcess) -> None:
    """The recipe looks at every cell and makes no change."""
    before = inside.ok("-r", "t1", "-o", "json", "journal").records
    done = inside("-r", "t1", "run health")
    assert done.code in (0, 1) and "[4/4]" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == before


def test_calibrate_says_what_it_measured_and_is_for_root(inside: InProcess) -> None:
    """As celladmin nothing of calibrate_cells runs, so no cell goes offline for nothing; as root the cell's figures are said,
    the cell is back online, and what was printed can be read and imported."""
    refused = inside("-r", "t1", "run calibrate_cells cells=exa1cel02", "-y")
    assert refused.code == 2 and "CALIBRATE needs root, but writes would log in as celladmin" in refused.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []
    done = inside.ok("-r", "t1", "-l", "root", "run calibrate_cells cells=exa1cel02", "-y")
    assert re.search(r"exa1cel02: all hard disks [\d,]+ IOPS and [\d,]+ MB/s; all flash disks [\d,]+ IOPS", done.err)
    inside.ok("-r", "t1", "check no griddisk where asmModeStatus = OFFLINE")
    inside.ok("-r", "t1", "check list cell.cellsrvStatus = running")


def test_undo_run_of_what_the_run_put_back_takes_nothing_back(inside: InProcess, tmp_path: Path) -> None:
    """The cell is not taken offline once more: the journal has what put each step back, and from then on that counts as taken
    back. What somebody else changes later is theirs: undo run leaves it."""
    script = tmp_path / "statements"
    run = "run calibrate_cells cells=exa1cel02 media=flashdisk -y"
    script.write_text(f"{run}\nundo run -y\n")
    done = inside.ok("-r", "t1", "-l", "root", "-f", str(script))
    assert (
        "later ones of them restored the old values on exa1cel02, and it is so now; nothing is left to take back"
        in done.err
    )
    changes = [row["statement"] for row in inside.ok("-r", "t1", "-o", "json", "journal").records]
    assert changes[-1] == "online cell exa1cel02"
    other = f"{sys.executable} -m exacell -r t1 offline cell exa1cel02 -y"
    script.write_text(f"{run}\nhost --accept-opaque {other}\nundo run -y\n")
    left = inside.ok("-r", "t1", "-l", "root", "-f", str(script))
    assert "change 7 (calibrate flashdisk) left nothing that can be taken back" in left.err
    changes = [row["statement"] for row in inside.ok("-r", "t1", "-o", "json", "journal").records]
    assert changes[-1] == "offline cell exa1cel02"
    inside.ok("-r", "t1", "on exa1cel02 check all griddisk.status = inactive")
    inside.ok("-r", "t1", "online cell exa1cel02", "-y")


@pytest.mark.parametrize(
    "run", ["cell_maintenance cell=exa1cel02 for=1s", "calibrate_cells cells=exa1cel02 media=flashdisk"]
)
def test_a_cell_that_somebody_else_works_on_stays_offline(inside: InProcess, run: str) -> None:
    """Where its disks are offline already the recipe ends at its check, and its end does not bring back what it took nowhere."""
    inside.ok("-r", "t1", "offline cell exa1cel02", "-y")
    try:
        done = inside("-r", "t1", "-l", "root", f"run {run}", "-y")
        assert done.code == 1 and "this made no change, so there is nothing to take back" in done.err
        inside.ok("-r", "t1", "on exa1cel02 check all griddisk.status = inactive")
    finally:
        inside.ok("-r", "t1", "online cell exa1cel02", "-y")


def test_a_cell_on_which_calibrate_fails_comes_back(inside: InProcess, fault: Callable[..., None]) -> None:
    """CELLSRV, which it stopped, runs again and ASM has the disks ONLINE; no other cell is touched."""
    fault("exa1cel03", "error", "code=CELL-02559", "match=(?i)calibrate")
    done = inside("-r", "t1", "-l", "root", "run calibrate_cells cells=exa1cel03,exa1cel01 media=flashdisk", "-y")
    assert done.code == 1 and "CELL-02559" in done.err
    inside.ok("-r", "t1", "check list cell.cellsrvStatus = running")
    inside.ok("-r", "t1", "check no griddisk where asmModeStatus != ONLINE")
    changes = inside.ok("-r", "t1", "-o", "json", "journal").records
    assert {row["targets"] for row in changes} == {"exa1cel03"} and inside.ok("-r", "t1", "pending").code == 0


def test_cells_go_one_after_the_other_and_a_failure_ends_with_all_back(
    inside: InProcess, fault: Callable[..., None]
) -> None:
    """cell_maintenance has one cell away at a time; where the second one can't go, the first is back and the third untouched."""
    fault("exa1cel02", "error", "code=CELL-02559", "match=(?i)griddisk.*inactive")
    done = inside("-r", "t1", "run cell_maintenance cell=@all for=1s", "-y")
    assert done.code == 1
    assert "stopped in wave 2 of 3 (exa1cel02); exa1cel01 done; exa1cel03 not touched" in told(done.err)
    inside.ok("-r", "t1", "check no griddisk where asmModeStatus != ONLINE")
    changes = [(row["statement"], row["targets"]) for row in inside.ok("-r", "t1", "-o", "json", "journal").records]
    assert changes[:2] == [("offline cell", "exa1cel01"), ("online cell", "exa1cel01")]
    assert "exa1cel03" not in str(changes)


@pytest.mark.parametrize("verb", ["offline", "online"])
def test_a_cell_is_named_or_selected_alone(inside: InProcess, verb: str) -> None:
    """Without a name the one selected cell is meant; of several the way out is told, and nothing is sent."""
    done = inside("-r", "t1", f"{verb} cell", "-y")
    assert done.code == 2 and f"{verb} cell: selected are 3 cells: give one at a time" in told(done.err)
    one = inside.ok("-r", "t1", f"on exa1cel02 {verb} cell -n")
    assert "exa1cel02" in one.out + one.err and "exa1cel03" not in one.out + one.err


DATA = Path(__file__).parents[1] / "data/imports"
EXAMPLES = Path(__file__).parents[2] / "examples/data"


def test_two_cases_of_slob_are_compared(inside: InProcess, tmp_path: Path) -> None:
    """slob_compare reads what awr_info wrote for each case, keeps both, and says load by load what the second one is."""
    better = (DATA / "awr_info.txt").read_text().replace("|4000|90000|", "|8000|90000|")
    (tmp_path / "b.txt").write_text(better)
    done = inside.ok(
        "-r", "t1", "run slob_compare", f"a_files={DATA / 'awr_info.txt'}", f"b_files={tmp_path / 'b.txt'}"
    )
    assert "slob_b" in done.out and "slob_a" in done.out
    assert {row["name"] for row in inside.ok("-o", "json", "imports").records} == {"slob_a", "slob_b"}
    twice = [line.split() for line in done.out.splitlines() if line.split()[1:3] == ["8", "executes"]]
    assert [row[4:7] for row in twice] == [["4,000", "8,000", "2"]], done.out


ORION = """#!/bin/sh
# Stands in for ORION, which may not be passed on: it checks how it is called, and lays down published files.
[ "$1 $2 $3" = "-run advanced -testname" ] && [ "$9 ${10}" = "-num_large 0" ] || exit 9
cp /tmp/iet_iops.csv "$4_20130722_0953_iops.csv"; cp /tmp/iet_lat.csv "$4_20130722_0953_lat.csv"
"""


def test_a_row_of_orion_comes_here_and_is_kept(inside: InProcess, tmp_path: Path) -> None:
    """orion_row runs the published command on a host, brings its files here, and keeps them under the test's name. ORION itself
    is not here: a script that lays down published files stands in for it."""
    program = tmp_path / "orion"
    program.write_text(ORION)
    for path in (program, EXAMPLES / "iet_iops.csv", EXAMPLES / "iet_lat.csv"):
        inside.ok("-r", "t1", "--accept-opaque", f"on exa1db01 copy {path} to=/tmp", "-y")
    inside.ok("-r", "t1", "on exa1db01 sh --accept-opaque -y chmod 755 /tmp/orion")
    given = f"host=exa1db01 name=row1 to={tmp_path}/got orion=/tmp/orion"
    assert "-n: nothing was sent" in inside.ok("-r", "t1", f"run orion_row {given}", "-n").err
    assert not (tmp_path / "got").exists()
    inside.ok("-r", "t1", "--accept-opaque", f"run orion_row {given}", "-y")
    (row,) = inside.ok("-o", "json", "imports").records
    assert (row["name"], row["kind"], row["files"]) == ("row1", "orion", 2)


def test_sessions_with_a_target_are_shown_and_what_would_make_more_is_planned(inside: InProcess) -> None:
    """iscsi_sessions asks hosts without changing them; with a number -n shows the commands of open-iscsi, and sends none."""
    given = "hosts=@db target=iqn.2014-03.local.lab:t01 portal=10.0.0.5:3260"
    assert "[1/1]" in inside.ok("-r", "t1", f"run iscsi_sessions {given}").err
    planned = inside.ok("-r", "t1", f"run iscsi_sessions {given} sessions=4", "-n").err
    assert "-o update -n node.session.nr_sessions -v 4" in planned and planned.count("-n: nothing was sent") == 3
    assert "so this line is not checked" in planned
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []


def test_a_recipe_shows_what_commands_print_and_what_hosts_are(inside: InProcess, tmp_path: Path) -> None:
    """What a command prints on hosts, and facts with all that they tell, stand in a recipe's answer as they do by
    themselves, folded or host by host; as data, each host's text is a record."""
    recipe = tmp_path / "hosts.exa"
    recipe.write_text("on @db facts kernel\n")
    for folding in ("--fold", "--no-fold"):
        assert (
            inside.ok("-r", "t1", folding, f"run {recipe}").out
            == inside.ok("-r", "t1", folding, "on @db facts kernel").out
        )
    recipe.write_text("needs opaque\n\non @db facts kernel\non @db sh uname -r\n")
    alone = {folding: inside.ok("-r", "t1", folding, "on @db sh uname -r").out for folding in ("--fold", "--no-fold")}
    for folding, said in alone.items():
        assert inside.ok("-r", "t1", folding, f"run {recipe}", "-y", "--accept-opaque").out.endswith(f"\n\n{said}")
    assert alone["--fold"].count("4.14") == 1 and alone["--no-fold"].count("4.14") == 2
    records = inside.ok("-r", "t1", "-o", "json", f"run {recipe}", "-y", "--accept-opaque").records
    assert [(row["cell"], "text" in row) for row in records] == [
        ("exa1db01", False), ("exa1db02", False), ("exa1db01", True), ("exa1db02", True),
    ]  # fmt: skip


def test_answers_of_several_shapes_are_a_table_each(inside: InProcess) -> None:
    """What a recipe's queries and deltas answer stands in tables of their own, with the place that a matrix chose; as data it is
    one list."""
    done = inside.ok("-r", "t1", "run placement_ab db=SPOT table=APP.CUSTOMERS for=1s", "-y")
    heads = [
        line.split()
        for line in done.out.splitlines()
        if ("place" in line and "TOTAL_WAITS" in line) or "readHits" in line
    ]
    assert [head[0] for head in heads] == ["EVENT", "cell"] * 2 and all("passport" not in head for head in heads)


def test_reads_of_a_database_with_a_flash_cache_of_its_own_are_told_apart(alone: InProcess) -> None:
    """On disk it is off and nothing waits for it; as a place of its own it serves reads that cells do not see; then it is as
    it was."""
    alone.ok("emulator", "start", "t1", "speed=3000", "dbcache=64g")
    load = "emulator load t1 db=SPOT profile=oltp for=1m"
    words = f"load='{sys.executable} -m exacell {load}' table=APP.CUSTOMERS places=disk,dbcache"
    done = alone.ok("-r", "t1", "-o", "json", f"run placement_ab db=SPOT {words}", "-y", "--accept-opaque")
    waits = [row for row in done.records if str(row.get("EVENT", "")).startswith("db flash cache single")]
    assert [row["place"] for row in waits] == ["dbcache", "dbcache"]
    assert waits[1]["TOTAL_WAITS"] > waits[0]["TOTAL_WAITS"]
    reads = dict.fromkeys(("disk", "dbcache"), 0)
    for row in done.records:
        reads[row["place"]] += row.get("readHits", 0) + row.get("readMisses", 0)
    assert 0 < reads["dbcache"] < 0.6 * reads["disk"]
    sizes = "select value as bytes from gv$parameter where name = 'db_flash_cache_size'"
    assert {row["BYTES"] for row in alone.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{sizes}"').records} == {
        str(64 << 30)
    }


def test_a_database_without_a_flash_cache_of_its_own_is_not_measured_as_one(inside: InProcess) -> None:
    """The recipe stops at its check, and the table is as it was."""
    done = inside("-r", "t1", "run placement_ab db=SPOT table=APP.CUSTOMERS places=dbcache for=1s", "-y")
    assert done.code != 0 and "own_bytes" in done.err
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []
