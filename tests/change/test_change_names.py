"""One cell has two names, a short one and one in full: what was done or kept under one of them holds for the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from exacell.change.execute import execute
from exacell.core.cellset import label_of
from exacell.core.errors import ExitCode
from exacell.emulator.server.rack_world import RackWorld
from exacell.journal.record import Journal, Row
from exacell.language.line import parse_line
from exacell.output.console import SilentConsole
from exacell.output.result import Result
from exacell.plan.model import Plan, Rolling, Stage, Step
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.transport.base import Reply, Request
from tests.support.worlds import WorldTransport, session_on

FULL = ".example.com"
WAYS = pytest.mark.parametrize(("before", "after"), [("", FULL), (FULL, "")], ids=["short first", "in full first"])


class InFull(WorldTransport):
    """Reaches a cell under both names."""

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(replace(request, target=label_of(request.target)))
        return replace(reply, target=request.target)


def run(world: RackWorld, folder: Path, domain: str, text: str) -> Result:
    """Return what a statement comes to where the cells' names end with ``domain``."""
    session, _, _ = session_on(world, folder)
    rack = session.config.racks["t1"]
    rack = replace(rack, cells=tuple(f"{cell}{domain}" for cell in rack.cells))
    session.config = replace(session.config, racks={"t1": rack})
    line = parse_line(text)
    assert line is not None
    return execute(session, Services(session, SilentConsole(), InFull(world, folder)), Asking(), line)


@WAYS
def test_what_was_changed_under_one_name_is_taken_back_under_the_other(tmp_path: Path, before: str, after: str) -> None:
    """Undo reaches the cell, brings back what was there, and a baseline and IORM plans of the other name fit."""
    world = RackWorld.create("t1", {})
    for text in ("save baseline as=golden", "save iorm as=quiet"):
        assert run(world, tmp_path, before, text).exit_code is ExitCode.DONE
    change = f"on exa1cel01{before} alter cell comment='x' -y"
    assert run(world, tmp_path, before, change).exit_code is ExitCode.DONE
    (moved,) = run(world, tmp_path, after, "drift baseline=golden").records
    assert (moved["cell"], moved["attribute"]) == (f"exa1cel01{after}", "comment")
    undone = run(world, tmp_path, after, "undo -y")
    assert (undone.exit_code, [row["cell"] for row in undone.records]) == (ExitCode.DONE, [f"exa1cel01{after}"])
    assert run(world, tmp_path, after, "drift baseline=golden").exit_code is ExitCode.DONE
    assert run(world, tmp_path, after, "restore iorm quiet -y").exit_code is ExitCode.DONE


def planned(folder: Path, *cells: str) -> tuple[Journal, int]:
    """Return a journal with a change of these cells whose statements have no outcome yet."""
    steps = tuple(Step(target=cell, what="a", statement="ALTER CELL x") for cell in cells)
    plan = Plan(
        statement="s",
        rack="t1",
        stages=(Stage(title="a", steps=steps),),
        inverse=dict.fromkeys(cells, ("alter cell y",)),
        rolling=Rolling(waves=tuple((cell,) for cell in cells), canary=cells[0], others=cells),
    )
    journal = Journal(folder / "journal.db")
    change = journal.begin("t1", {"statement": "s", "plan": asdict(plan)})
    rows = [Row(kind="intent", target=cell, body={"what": "a", "statement": "ALTER CELL x"}) for cell in cells]
    journal.append("t1", change, [*rows, Row(kind="gate", body={"wave": 1, "cells": list(cells), "open": True})])
    return journal, change


def told(journal: Journal, change: int) -> list[Sequence[str]]:
    """Return the names under which each part of a change has its cells."""
    state, rows = journal.state("t1", change), journal.entries(rack="t1", change=change)
    assert state.plan is not None
    assert state.plan.rolling is not None
    rolling = state.plan.rolling
    return [
        sorted(state.left), sorted(target for target, _ in state.unsettled), sorted(state.plan.inverse),
        [cell for wave in rolling.waves for cell in wave], rolling.others, [rolling.canary, *rolling.others[1:]],
        getattr(rows[-1], "cells", ()), [target for _, target in journal.targets_after("t1", change - 1)],
    ]  # fmt: skip


@WAYS
def test_each_part_of_a_change_calls_a_cell_as_it_is_called_now(tmp_path: Path, before: str, after: str) -> None:
    """Rows to act upon say the name that the cell has now, in the plan as in what was sent; rows for eyes the one written."""
    journal, change = planned(tmp_path, f"c1{before}", f"c2{before}")
    journal.hosts = lambda rack: (f"c1{after}", "c3") if rack == "t1" else ()
    now = [f"c1{after}", f"c2{before}"]
    assert [list(cells) for cells in told(journal, change)] == [now] * 8
    assert journal.unfinished("t1")[0].hash == journal.all_entries()[0].hash
    assert {row.target for row in journal.all_entries()} == {"", f"c1{before}", f"c2{before}"}
    assert journal.all_entries(target=f"c1{after}") == journal.all_entries(target=f"c1{before}") != []
    assert journal.all_entries(target=f"c3{after}") == []
    assert journal.verify() == ""


@pytest.mark.parametrize("now", ["c1", "c1.a.com", "c1.c.com"])
def test_a_short_name_that_may_be_either_of_two_cells_is_neither(tmp_path: Path, now: str) -> None:
    """Where a journal has two full names of one short one, no row is taken for another cell's."""
    cells = ("c1.a.com", "c1.b.com")
    journal, change = planned(tmp_path, *cells)
    journal.hosts = lambda rack: (now,)
    assert [sorted(names) for names in told(journal, change)] == [[*cells]] * 8


def test_another_racks_rows_keep_their_names(tmp_path: Path) -> None:
    """Where a session knows nothing of a rack, its rows say what was written."""
    journal, change = planned(tmp_path, "c1", "c2")
    journal.hosts = lambda rack: () if rack == "t1" else ("c1.example.com",)
    assert [sorted(names) for names in told(journal, change)] == [["c1", "c2"]] * 8
