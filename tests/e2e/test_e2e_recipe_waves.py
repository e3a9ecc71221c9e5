"""rolling … end of recipes on an emulated rack over SSH: waves of cells and of hosts, what a failure leaves, plans and copies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from tests.support.program import Done, InProcess, told

MARKED = "rolling\n  alter cell comment=done\n  list cell attributes name, comment\nend\n"
"""Each wave marks its cells."""


@pytest.fixture
def rolled(inside: InProcess) -> InProcess:
    """The program with the module's rack, whose cells have no mark."""
    if marks(inside) != {"exa1cel01": "", "exa1cel02": "", "exa1cel03": ""}:
        inside.ok("-r", "t1", "alter cell comment=''", "-y")
    return InProcess(inside.home)


def written(inside: InProcess, **recipes: str) -> None:
    folder = inside.home / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in recipes.items():
        (folder / f"{name}.exa").write_text(text)


def marks(inside: InProcess) -> dict[str, str]:
    """Return the comment of each cell, empty for none."""
    rows = inside.ok("-r", "t1", "-o", "json", "list cell attributes name, comment").records
    return {row["cell"]: row["comment"] or "" for row in rows}


def outline(done: Done) -> list[str]:
    """Return the list that a run begins with, without blanks in front."""
    return [line.strip() for line in done.err.partition("\n[1/")[0].splitlines()[1:]]


def carried(done: Done) -> list[str]:
    """Return the lines that were begun, in order."""
    return [line.partition("] ")[2] for line in done.err.splitlines() if line.startswith("[") and "/" in line[:5]]


def test_each_wave_goes_through_all_lines_before_the_next(rolled: InProcess) -> None:
    """Lines are listed and carried out wave by wave, the number of the wave is put in, and records tell their wave."""
    written(
        rolled,
        two="param n : int = 2\nrolling $n\n  alter cell comment=w${wave}\n  list cell attributes comment\nend\n",
    )
    done = rolled.ok("-r", "t1", "-o", "json", "run two", "-y")
    assert outline(done) == [
        *("wave 1 of 2: exa1cel[01-02]", "1  alter cell comment=w1", "2  list cell attributes comment"),
        *("wave 2 of 2: exa1cel03", "3  alter cell comment=w2", "4  list cell attributes comment"),
    ]
    assert marks(rolled) == {"exa1cel01": "w1", "exa1cel02": "w1", "exa1cel03": "w2"}
    assert [(row["cell"], row["wave"], row["comment"]) for row in done.records] == [
        *(("exa1cel01", 1, "w1"), ("exa1cel02", 1, "w1"), ("exa1cel03", 2, "w2")),
    ]


def test_more_cells_at_a_time_than_there_are_is_one_wave(rolled: InProcess) -> None:
    """A number above that of the cells in use takes them together."""
    written(rolled, nine=MARKED.replace("rolling", "rolling 9"))
    done = rolled.ok("-r", "t1", "-c", "exa1cel[02-03]", "run nine", "-y")
    assert outline(done)[0] == "wave 1 of 1: exa1cel[02-03]"
    assert marks(rolled) == {"exa1cel01": "", "exa1cel02": "done", "exa1cel03": "done"}


def test_lines_with_cells_of_their_own_are_for_those_of_the_wave(rolled: InProcess) -> None:
    """ON before rolling takes a condition; ON in it leaves the line out in a wave that has none of its cells."""
    text = (
        "on (where name != exa1cel01) rolling\n  on exa1cel[01-02] alter cell comment=own\n"
        "  on @db sh uname -r\n  prompt wave\nend\n"
    )
    written(rolled, own=text)
    done = rolled.ok("-r", "t1", "run own", "-y")
    assert outline(done) == [
        *("wave 1 of 2: exa1cel02", "1  alter cell comment=own", "2  on exa1db[01-02] sh uname -r", "3  prompt wave"),
        *("wave 2 of 2: exa1cel03", "4  on exa1db[01-02] sh uname -r", "5  prompt wave"),
    ]
    assert marks(rolled) == {"exa1cel01": "", "exa1cel02": "own", "exa1cel03": ""}


def test_a_failure_in_a_wave_leaves_the_next_ones_untouched(rolled: InProcess, fault: Callable[..., None]) -> None:
    """Where a cell of wave 2 refuses, wave 3 gets nothing, its cells are named, finally runs, and the exit code is that of a
    failure; the same run for the cells that are left goes on with them."""
    written(rolled, marked=MARKED + "finally\n  prompt over\nend\n")
    fault("exa1cel02", "error", "code=CELL-02559", "match=(?i)alter cell", "nth=1")
    done = rolled("-r", "t1", "run marked", "-y")
    assert done.code == 1
    assert marks(rolled) == {"exa1cel01": "done", "exa1cel02": "", "exa1cel03": ""}
    told = (
        "exa1cel01 done; exa1cel03 not touched; type `use exa1cel[02-03]`, then the same run again, to "
        "continue with them"
    )
    assert f"stopped in wave 2 of 3 (exa1cel02); {told}" in done.err
    assert [line.partition(":")[0] for line in carried(done) if "exa1cel03" in line] == []
    assert "over" in done.err.splitlines(), "finally ran"
    assert rolled.ok("-r", "t1", "-o", "json", "pending").records == []
    assert rolled("-r", "t1", stdin="use exa1cel[02-03]\nrun marked -y\n").code == 0
    assert set(marks(rolled).values()) == {"done"}


def test_a_check_between_waves_stops_them(rolled: InProcess) -> None:
    """A check that does not hold on the cells of a wave ends the run there, however it is on others."""
    written(rolled, strict="rolling\n  alter cell comment=done\n  on exa1cel02 check all cell.comment = fine\nend\n")
    done = rolled("-r", "t1", "run strict", "-y")
    assert done.code == 1 and "stopped in wave 2 of 3 (exa1cel02)" in done.err
    assert marks(rolled) == {"exa1cel01": "done", "exa1cel02": "done", "exa1cel03": ""}


@pytest.mark.parametrize(("head", "tail"), [("on @all rolling", ""), ("rolling", "finally\n  undo run\nend\n")])
def test_the_same_run_is_named_only_where_it_goes_on(rolled: InProcess, head: str, tail: str) -> None:
    """Where the recipe names its cells itself, or takes all back at its end, nobody is sent to use the cells that are left."""
    written(
        rolled, named=f"{head}\n  alter cell comment=done\n  on exa1cel02 check all cell.comment = fine\nend\n{tail}"
    )
    done = rolled("-r", "t1", "run named", "-y")
    assert "exa1cel01 done; exa1cel03 not touched" in done.err and "to continue with them" not in done.err


def test_a_gate_that_stays_closed_ends_the_run_before_its_wave(rolled: InProcess) -> None:
    """A cell whose disks are away holds the gate of the other cells: --timeout ends the wait, and nothing was touched."""
    written(rolled, marked="on exa1cel[01-02] " + MARKED)
    rolled.ok("-r", "t1", "offline cell exa1cel03", "-y")
    try:
        done = rolled("-r", "t1", "run marked --timeout=1s", "-y")
    finally:
        rolled.ok("-r", "t1", "online cell exa1cel03", "-y")
    assert done.code == 1
    assert "the gate before wave 1 stayed closed" in told(done.err) and "exa1cel03" in done.err
    assert "stopped before wave 1 of 2 (exa1cel01); exa1cel02 not touched" in done.err
    assert set(marks(rolled).values()) == {""}


def test_waves_of_hosts(rolled: InProcess) -> None:
    """Nodes take turns as cells do; what changes cells needs cells of its own there."""
    written(
        rolled,
        nodes="on @db rolling\n  keep sh uname -r as=r${wave}\nend\n",
        wrong="on @db rolling\n  alter cell comment=x\nend\n",
    )
    done = rolled.ok("-r", "t1", "run nodes", "-y")
    assert outline(done) == [
        *("wave 1 of 2: exa1db01", "1  keep sh uname -r as=r1"),
        *("wave 2 of 2: exa1db02", "2  keep sh uname -r as=r2"),
    ]
    refused = rolled("-r", "t1", "run wrong", "-y")
    assert refused.code == 2 and "the waves are of hosts (exa1db01)" in refused.err
    assert set(marks(rolled).values()) == {""}


def test_what_holds_between_waves(rolled: InProcess) -> None:
    """--pause=ask with nobody there means no; --not-after begins no wave behind its time; what is not begun is told."""
    written(rolled, marked=MARKED, plain="list cell\n")
    asked = rolled("-r", "t1", "run marked --pause=ask", "-y")
    assert asked.code == 4 and "there is no terminal for the question before wave 2" in asked.err
    assert "stopped before wave 2 of 3 (exa1cel02); exa1cel01 done; exa1cel03 not touched" in asked.err
    last = datetime.now() + timedelta(seconds=15)
    late = rolled("-r", "t1", f"run marked --pause=5m --not-after='{last:%Y-%m-%d %H:%M:%S}'", "-y")
    assert late.code == 4 and "no wave begins after" in late.err and "stopped before wave" in late.err
    assert marks(rolled) == {"exa1cel01": "done", "exa1cel02": "", "exa1cel03": ""}
    for flag in ("--not-after=05:00", "--pause=1s"):
        idle = rolled("-r", "t1", f"run plain {flag}", "-y")
        assert idle.code == 2 and "this recipe has no rolling block; nothing was sent" in idle.err
    wrong = rolled("-r", "t1", "run marked --rolling", "-y")
    assert wrong.code == 2 and "--rolling is a flag for one change" in wrong.err


def test_a_line_that_runs_a_recipe_may_say_what_holds_between_its_waves(rolled: InProcess) -> None:
    """What stands behind run in a recipe holds for the waves of that one, and is refused at once where it has none."""
    written(
        rolled,
        outer="@marked --pause=ask\n",
        marked=MARKED,
        wrong="list cell\n@plain --pause=1s\n",
        plain="list cell\n",
    )
    asked = rolled("-r", "t1", "run outer", "-y")
    assert asked.code == 4 and "there is no terminal for the question before wave 2" in asked.err
    assert marks(rolled) == {"exa1cel01": "done", "exa1cel02": "", "exa1cel03": ""}
    idle = rolled("-r", "t1", "run wrong", "-y")
    assert idle.code == 2 and "recipe wrong, line 2: --pause is for waves" in idle.err
    assert "[1/" not in idle.err


def test_rolling_within_rolling_is_found_before_anything_runs(rolled: InProcess) -> None:
    """A line of a rolling runs no recipe that rolls itself or experiments: check recipe says so, and so does run."""
    written(
        rolled,
        outer="rolling\n  @middle\nend\n",
        middle="@inner\n",
        inner=MARKED,
        tries="rolling\n  @tried\nend\n",
        tried="experiment factor=flashlog db=ERP blocks=1 aa=0 workload=cells\n",
    )
    for name, word in (("outer", "rolling"), ("tries", "experiment")):
        checked = rolled("-r", "t1", "-o", "json", f"check recipe {name}")
        assert checked.code == 2
        assert [(row["line"], f"rolling can't contain {word}, and" in row["problem"]) for row in checked.records] == [
            (2, True)
        ]
        refused = rolled("-r", "t1", f"run {name}", "-y")
        assert refused.code == 2 and f"rolling can't contain {word}, and" in told(refused.err)
    assert set(marks(rolled).values()) == {""}


def test_a_recipe_in_a_wave_is_for_its_cells(rolled: InProcess) -> None:
    """A recipe that a line of a rolling runs goes to the cells of the wave, and what it reads before the plan is theirs."""
    written(
        rolled,
        outer="rolling\n  @inner\nend\n",
        inner="let who = list cell.name\nalter cell comment=of_${who}\n",
    )
    rolled.ok("-r", "t1", "run outer", "-y")
    assert marks(rolled) == {cell: f"of_{cell}" for cell in ("exa1cel01", "exa1cel02", "exa1cel03")}


def test_a_plan_of_a_run_shows_waves_that_are_alike_once(rolled: InProcess) -> None:
    """plan @r has a record of each line of each wave; its table has the first wave, and one row for those like it."""
    written(rolled, marked=MARKED + "list cell\n")
    rows = rolled.ok("-r", "t1", "-o", "json", "plan @marked").records
    assert [row["line"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    table = rolled.ok("-r", "t1", "plan @marked").out.splitlines()
    assert [line.split()[0] for line in table[2:]] == ["1", "2", "3", "7"]
    assert "waves 2 to 3, as wave 1: exa1cel[02-03]" in table[4] and "the same: 2 steps" in table[4]
    assert set(marks(rolled).values()) == {""}


def test_a_rehearsal_goes_through_the_waves(rolled: InProcess) -> None:
    """rehearse carries the waves out on a copy, gates and all, and leaves the rack alone."""
    written(rolled, marked=MARKED)
    done = rolled.ok("-r", "t1", "-o", "json", "rehearse @marked")
    assert [row["cell"] for row in done.records] == ["exa1cel01", "exa1cel02", "exa1cel03"]
    assert "wave 3 of 3" in done.err
    assert set(marks(rolled).values()) == {""}
