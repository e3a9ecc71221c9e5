"""Words that a DBA acts on: what changes nothing, what can be taken back instead, who is stopped, what may be run by its path."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from exacell.commands.recipes import _drawn
from exacell.journal.record import Journal
from tests.support.program import InProcess


@pytest.mark.parametrize("statement", ["alter iormplan objective=auto", "alter cell flashCacheMode=writeback"])
def test_an_alter_that_changes_nothing_is_not_sent(inside: InProcess, statement: str) -> None:
    """CellCLI's own ALTER of values that all cells hold is nothing to do: exit 0, also with --detailed-exitcode, no change."""
    done = inside.ok("-r", "t1", "-o", "json", *statement.split(), "-y")
    assert {row["outcome"] for row in done.records} == {"nothing to do"}
    inside.ok("-r", "t1", *statement.split(), "-n", "--detailed-exitcode")
    assert inside.ok("-r", "t1", "-o", "json", "journal").records == []


def test_where_some_cells_hold_it_only_the_others_are_changed(inside: InProcess) -> None:
    """Of an ALTER that is in place on some cells only the rest is sent, and undo takes back just that."""
    inside.ok("-r", "t1", "on", "exa1cel02", "alter", "iormplan", "objective=basic", "-y")
    done = inside.ok("-r", "t1", "-o", "json", "alter", "iormplan", "objective=auto", "-y")
    assert {row["cell"]: row["outcome"] for row in done.records} == {
        "exa1cel01": "nothing to do",
        "exa1cel02": "done",
        "exa1cel03": "nothing to do",
    }


def test_bare_undo_names_the_older_change_that_can_be_undone(inside: InProcess) -> None:
    """Where the newest change has no way back, undo refuses and names the newest one that has."""
    inside.ok("-r", "t1", "disable", "flashlog", "db=SPOT", "-y")
    inside.ok("-r", "t1", "flush", "flashcache", "-y")
    refused = inside("-r", "t1", "undo", "-y")
    assert refused.code == 2
    assert "change 2 (flush flashcache) cannot be undone" in refused.err
    assert "`undo 1` takes back change 1 (disable flashlog db=SPOT)" in refused.err
    inside.ok("-r", "t1", "undo", "1", "-y")
    assert "takes back" not in inside("-r", "t1", "undo", "-y").err


def test_failed_is_the_last_change_in_every_session(inside: InProcess, fault: Callable[..., None]) -> None:
    """@failed is the newest change's failures, also in another process and after readings of it; a new change ends that."""
    fault("exa1cel02", "error", "code=CELL-02559", "match=alter iormplan", "nth=1")
    assert inside("-r", "t1", "set", "iorm", "db=SPOT", "share=9", "-y").code == 1
    for _ in range(2):
        done = inside.ok("-r", "t1", "-o", "json", "on", "@failed", "list", "cell")
        assert [row["cell"] for row in done.records] == ["exa1cel02"]
    assert len(inside.ok("-r", "t1", "-o", "json", "on", "@ok", "list", "cell").records) == 2
    inside.ok("-r", "t1", "retry", "failed", "-y")
    refused = inside("-r", "t1", "on", "@failed", "list", "cell")
    assert refused.code == 2
    assert "on @failed: no cell matches now" in refused.err
    assert "failed on no cell" in refused.err
    inside.ok("-r", "t1", "undo", "-y")


def test_stopped_cellsrv_names_the_way_back(inside: InProcess) -> None:
    """Where CELLSRV is stopped every verb names online cell, pending tells who stopped it, and online cell ends both."""
    inside.ok("-r", "t1", "offline", "cell", "exa1cel02", "-y")
    inside.ok("-r", "t1", "on", "exa1cel02", "alter", "cell", "shutdown", "services", "cellsrv", "-y")
    told = "left CELLSRV stopped on exa1cel02: `online cell exa1cel02` starts it and brings the grid disks online"
    (waiting,) = inside.ok("-r", "t1", "-o", "json", "pending").records
    assert (waiting["state"], waiting["mend"]) == ("service stopped", "online cell exa1cel02")
    assert told in waiting["says"]
    for words in (("restart", "service", "cellsrv"), ("flush", "flashcache")):
        refused = inside("-r", "t1", *words, "-y")
        assert refused.code == 2
        assert "CELLSRV of exa1cel02 is stopped: `online cell exa1cel02` starts it" in refused.err
        assert f"{told} (from the journal; `pending` asks the cells)" in refused.err
    inside.ok("-r", "t1", "online", "cell", "exa1cel02", "-y")
    assert inside.ok("-r", "t1", "-o", "json", "pending").records == []


def test_a_recipe_is_run_by_its_path(inside: InProcess, tmp_path: Any) -> None:
    """run takes a file's path as it takes a recipe's name; one that is not there is named, with no wrong place to put it."""
    path = tmp_path / "mine.exa"
    path.write_text('recipe "say"\nprompt "hello"\n')
    assert "hello" in inside.ok("-r", "t1", "run", str(path)).err
    refused = inside("-r", "t1", "run", str(tmp_path / "nix.exa"))
    assert refused.code == 2
    assert f"recipe {tmp_path}/nix.exa does not exist" in refused.err
    assert "put it into" not in refused.err


def test_cells_without_grid_disks_are_named(inside: InProcess) -> None:
    """A cell that has none of the grid disks that were asked for is told, not left out without a word."""
    done = inside.ok("-r", "t1", "-o", "json", "show", "griddisk", "prefix=nix")
    assert done.records == []
    assert "exa1cel[01-03]: no grid disks with prefix nix" in done.err
    assert "not grid disks" not in inside.ok("-r", "t1", "show", "griddisk", "prefix=data").err


def test_cellcli_s_own_create_griddisk_is_undone(inside: InProcess) -> None:
    """Grid disks that CREATE GRIDDISK made are made inactive and dropped by undo, by their names too."""
    inside.ok("-r", "t1", "resize", "flashcache", "size=288g", "-y")
    inside.ok("-r", "t1", "on exa1cel02 create griddisk z_1 celldisk=FD_00_exa1cel02, size=64M", "-y")
    inside.ok("-r", "t1", "undo", "-y")
    done = inside.ok("-r", "t1", "-o", "json", "list", "griddisk", "attributes", "name")
    assert "z_1" not in {row["name"] for row in done.records}
    inside.ok("-r", "t1", "undo", "1", "-y")


def test_a_change_that_failed_somewhere_names_what_repeats_it_and_what_takes_it_back(
    inside: InProcess, shared: InProcess
) -> None:
    """Behind the outcomes stands on which cells it is not complete, retry failed, and undo with its number; behind those of an
    undo that the same undo goes on."""
    fault = ("emulator", "fault", "t1", "exa1cel02", "error", "code=CELL-02559", "match=(?i)alter iormplan", "nth=1")
    shared.ok(*fault)
    done = inside("-r", "t1", "disable", "flashlog", "db=SPOT", "-y")
    shared.ok("emulator", "fault", "t1", "all", "clear")
    assert done.code == 1
    assert "not complete on exa1cel02: `retry failed` repeats it there, `undo 1` takes it back" in done.err
    again = inside.ok("-r", "t1", "retry", "failed", "-y")
    assert "not complete on" not in again.err
    shared.ok(*fault)
    half = inside("-r", "t1", "undo", "-y")
    shared.ok("emulator", "fault", "t1", "all", "clear")
    assert half.code == 1 and "not complete on exa1cel02: `undo 1` continues there" in half.err
    assert "not complete on" not in inside.ok("-r", "t1", "undo", "1", "-y").err


@pytest.mark.parametrize(
    "statement",
    ["show flashcache", "show services", "alter flashcache all cancel flush", "alter cell startup services rs"],
)
def test_a_damaged_journal_is_told_once(inside: InProcess, statement: str) -> None:
    """A statement that would note in the journal what it saw says no more of a damaged one than every statement does."""
    inside.ok("-r", "t1", "disable", "flashlog", "db=SPOT", "-y")
    inside.ok("-r", "t1", "undo", "-y")
    path = inside.home / "journal.db"
    path.write_bytes(path.read_bytes()[:100] + b"x" * 4000)
    done = inside.ok("-r", "t1", *statement.split(), "-y")
    (line,) = [line for line in done.err.splitlines() if "journal.db" in line]
    assert "exacell can't check what earlier changes left" in line


def test_pending_is_told_once(inside: InProcess) -> None:
    """The statement that lists what is pending is not preceded by the same lines as warnings."""
    ended = {"host": socket.gethostname(), "pid": "1", "started": "0"}
    Journal(inside.home / "journal.db").begin("t1", {"statement": "flush flashcache", "plan": {}, **ended})
    assert "never ended: resume finishes it" in inside.ok("-r", "t1", "show", "flashcache").err
    found = inside.ok("-r", "t1", "pending")
    assert "never ended: resume finishes it" in found.out and "never ended" not in found.err


@pytest.mark.parametrize("width", [60, 80, 132])
def test_recipes_fit_a_terminal(inside: InProcess, width: int) -> None:
    """On a terminal each recipe is named with what it does, its parameters below it, no line wider than the terminal; a
    pipe gets a table."""
    result = inside.ok("recipes").out
    assert result.splitlines()[0].split() == ["name", "title", "parameters"]
    rows = [dict(row) for row in inside.ok("-o", "json", "recipes").records]
    lines = list(_drawn(rows)(width, False, True))
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [row["name"] for row in rows]
    assert "[size=<size>|keep]" in " ".join(lines)


@pytest.mark.parametrize(
    ("on", "others"), [((), "on exa1cel[01,03] <statement>"), (("on", "exa1cel[01-02]"), "on exa1cel01 <statement>")]
)
def test_a_change_that_a_dead_cell_holds_up_names_the_statement_without_it(
    inside: InProcess, shared: InProcess, on: tuple[str, ...], others: str
) -> None:
    """A change is refused while a selected cell gives no answer, and names the other selected cells, never more of them."""
    shared.ok("emulator", "fault", "t1", "exa1cel02", "refuse")
    refused = inside("-r", "t1", *on, "flush", "flashcache", "-n")
    shared.ok("emulator", "fault", "t1", "all", "clear")
    assert refused.code == 2 and f"repair it, or leave it out: `{others}`" in refused.err
    alone = inside("-r", "t1", "on", "exa1cel02", "flush", "flashcache", "-n")
    assert alone.code == 0, alone.err


def test_undo_run_says_when_there_is_nothing_to_take_back(inside: InProcess) -> None:
    """A session that changed nothing is told so, and what takes back a change of another."""
    assert "this made no change" in inside.ok("-r", "t1", "undo", "run").err
