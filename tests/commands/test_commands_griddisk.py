"""What the commands about grid disks and cell disks show of a rack."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.change.execute import execute
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.language.line import parse_line
from exacell.output.result import Result
from exacell.session.request import Request as Asking
from tests.support.worlds import Wall, WorldTransport, new_world, session_on

CELLS = ("exa1cel01", "exa1cel02")
GIB = 1 << 30


def shown(folder: Path, *statements: str, text: str = "show celldisk") -> Result:
    """Return what a statement shows of a rack on whose first cell CellCLI's own statements were run."""
    wall = Wall()
    session, services, on = session_on(new_world(wall, cells=2), folder, wall)
    run(on, *statements)
    line = parse_line(text)
    assert line is not None
    return execute(session, services, Asking(), line)


def run(on: WorldTransport, *statements: str) -> None:
    for statement in statements:
        assert "CELL-0" not in on.cellcli(CELLS[0], statement), statement


def test_disks_that_differ_in_nothing_are_one_row(tmp_path: Path) -> None:
    """Each cell has a row for each media and size of disk, with their number."""
    rows = shown(tmp_path).records
    assert [(row["cell"], row["media"], row["disks"]) for row in rows if row["cell"] == CELLS[1]] == [
        (CELLS[1], "hard", 2),
        (CELLS[1], "hard", 10),
        (CELLS[1], "flash", 16),
    ]
    assert {row["status"] for row in rows} == {"normal"}


def test_free_is_of_all_disks_and_least_of_the_fullest(tmp_path: Path) -> None:
    """A grid disk on one of 16 flash disks takes its space from the sum, and decides what every disk can still give."""
    rows = shown(
        tmp_path,
        "alter flashcache all flush",
        "drop flashcache",
        f"create griddisk X_FD_00_{CELLS[0]} celldisk=FD_00_{CELLS[0]}, size=10g",
    ).records
    first = next(row for row in rows if row["cell"] == CELLS[0] and row["media"] == "flash")
    other = next(row for row in rows if row["cell"] == CELLS[1] and row["media"] == "flash")
    whole = first["leastFree"] + 10 * GIB
    assert first["free"] == 16 * whole - 10 * GIB
    assert (other["free"], other["leastFree"]) == (0, 0)


def test_a_cell_without_cell_disks_is_named(tmp_path: Path) -> None:
    """A cell that has no cell disks has no row, and a note says so."""
    found = shown(tmp_path, "alter flashcache all flush", "drop flashcache", "drop flashlog", "drop celldisk all force")
    assert {row["cell"] for row in found.records} == {CELLS[1]}
    assert list(found.notes) == [f"{CELLS[0]}: no cell disks"]


@pytest.mark.parametrize(
    "name", ["DATA_*", "all", "DATA_CD_0?_{cell}", "DATA_CD_[00-03]_{cell}", "DATA_CD_00_{cell},RECO_%"]
)
def test_a_pattern_is_no_name_of_a_grid_disk(tmp_path: Path, name: str) -> None:
    """`release griddisk name=` refuses what may mean several disks, and does not say that there is no such disk."""
    with pytest.raises(StatementError, match="whole names"):
        shown(tmp_path, text=f"release griddisk name={name}")


def test_a_grid_disk_that_no_cell_has_is_refused(tmp_path: Path) -> None:
    """release names the nearest disk that there is; a disk that only some of the cells lack is released on the others, and
    what is taken back or continued may be gone already."""
    wall = Wall()
    session, services, on = session_on(new_world(wall, cells=2), tmp_path, wall)
    run(on, "alter flashcache all flush", "drop flashcache", f"create griddisk ONE celldisk=FD_00_{CELLS[0]}, size=1g")

    def release(name: str, origin: str = "") -> Result:
        line = parse_line(f"release griddisk name={name} -n")
        assert line is not None
        return execute(session, services, Asking(origin=origin), line)

    for name in ("nope", "ONE,nope", "nope_{cell}"):
        with pytest.raises(RefusedError, match=r"exa1cel\[01-02\] has no such grid disk nope"):
            release(name)
    with pytest.raises(RefusedError) as caught:
        release("DATA_CD_77_{cell}")
    assert "did you mean DATA_CD_" in caught.value.hint
    planned = release("ONE").planned
    assert planned is not None and planned.plan.targets == CELLS[:1] and [*planned.plan.done] == [CELLS[1]]
    assert release("nope", "undo 3").exit_code is ExitCode.DONE
