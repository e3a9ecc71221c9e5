"""Answers that end early, and caches that stay off, are told: never taken for whole, never passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from matrix_moments import Kind, Mishap, Moment, Phase
from matrix_rack import CELLS, MatrixRack
from matrix_run import prepared, state_of

from exacell.cellcli.reply import cut_line
from exacell.change.execute import execute
from exacell.emulator.server.rack_world import RackWorld
from exacell.language.line import parse_line
from exacell.session.request import Request as Asking
from exacell.transport.base import FleetResult, Reply, Request, State
from exacell.transport.dcli_answers import Answers
from tests.support.worlds import WorldTransport, session_on


def cutting(transport: WorldTransport, size: int, seen: list[int], kept: dict[str, FleetResult]) -> Any:
    """Let the second cell's answers to LIST lose all behind so many characters; each is worked out once."""
    run = transport.run

    def cut(requests: Sequence[Request], **given: Any) -> FleetResult:
        command = requests[0].command
        found = kept[command] = kept[command] if command in kept else run(requests, **given)
        replies = dict(found.replies)
        if CELLS[1] in replies and "releaseVersion" not in requests[0].command:
            seen.append(len(replies[CELLS[1]].stdout))
            replies[CELLS[1]] = replace(replies[CELLS[1]], stdout=replies[CELLS[1]].stdout[:size])
        return FleetResult(targets=found.targets, replies=replies)

    return mock.patch.object(transport, "run", cut)


@pytest.mark.parametrize(
    "statement",
    [
        "list celldisk attributes name, size where name like 'FD.*'",
        "list flashcache detail",
        "describe flashlog",
        "list metriccurrent where name = 'FC_BY_DIRTY' -o json",
    ],
)
def test_an_answer_that_is_cut_anywhere_is_whole_or_a_failure(statement: str, tmp_path: Path) -> None:
    """What came of a cell whose answer was cut off is shown as nothing of it, except at a line's end of a text: that it is whole
    is for whatever carried it to prove."""
    session, services, transport = session_on(RackWorld.create("t1", {}), tmp_path)
    line, sizes = parse_line(statement), [0]
    assert line is not None
    size, whole, kept = 0, "", dict[str, FleetResult]()
    while size <= max(sizes):
        with cutting(transport, size if whole else 10**6, sizes, kept):
            found = execute(session, services, Asking(), line)
        records = repr([row for row in found.records if row.get("cell") == CELLS[1]])
        told = [problem for problem in found.problems if problem.startswith(f"{CELLS[1]}: ")]
        if not whole:
            assert not told and found.exit_code == 0
            whole = records
            continue
        if told:
            assert found.exit_code == 1 and records == "[]" and CELLS[1] not in dict(found.raw)
        elif records != whole or records == "[]":
            text = dict(found.raw).get(CELLS[1], "\n")
            assert cut_line(text) == "", (size, text)
        size += 1


@pytest.mark.parametrize("text", [b"\t a\t 1\n\t b\t 2", b"\t a", b"\t a\n"])
def test_dcli_gives_a_line_no_end_that_it_had_not(text: bytes) -> None:
    """Through dcli a line without its end stays one: the closing word stands right behind it."""
    answers = Answers(["c1"], "w1")
    for line in (text + b"w1 0\n").split(b"\n")[:-1]:
        answers.take(b"c1: " + line + b"\n")
    assert answers.ended()["c1"].text.encode() == text


def test_of_a_history_the_rows_that_came_are_shown(tmp_path: Path) -> None:
    """A cell whose history does not come by the limit shows the rows that came whole, and says how to ask for less."""
    session, services, transport = session_on(RackWorld.create("t1", {}), tmp_path)
    line = parse_line("list metrichistory")
    assert line is not None

    def late(requests: Sequence[Request], **given: Any) -> FleetResult:
        # As a cell prints it; a whole history is millions of rows, which the emulated cells would make first.
        rows = (f"\t CL_MEMUT\t exa1cel01\t 41 %\t 2026-11-21T22:{minute}:00+00:00\n" for minute in range(10, 60))
        cut = "".join(rows)[:300]
        half = {
            request.target: Reply(target=request.target, state=State.TIMED_OUT, stdout=cut, problem="no end within 60s")
            for request in requests
        }
        return FleetResult(targets=tuple(half), replies=half)

    with mock.patch.object(transport, "run", late):
        found = execute(session, services, Asking(), line)
    assert found.exit_code == 1 and {row["cell"] for row in found.records} == set(CELLS)
    assert all(text.endswith("\n") for _, text in found.raw)
    assert all(
        "rows came by the limit" in said and "ask for less: list metrichistory where" in said for said in found.problems
    )


@pytest.mark.parametrize(
    ("statement", "how", "stage"),
    [
        ("resize flashcache size=288g -y", "sent", 2),  # The drop.
        ("resize flashcache size=288g -y", "unsent", 2),
        ("resize flashcache size=288g -y", "sent", 1),
        ("set flashcache mode=writethrough -y", "unsent", 3),
        ("flush flashcache -y", "sent", 1),
    ],
)
def test_resume_never_ends_well_while_a_cache_is_off(statement: str, how: str, stage: int, tmp_path: Path) -> None:
    """Where links are cut while a change is under way, every cell caches behind a resume that ends well, and one that does not
    names the cells and a way out that brings caching back."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    operator = rack.operator(Mishap(kind=Kind.LINK, at=Moment(Phase.SEND, stage), how=how, lasting=True))
    operator.do(statement)
    operator.watch.mishaps = ()
    rack.mend()
    rack.pass_time(600)
    operator = rack.operator()
    said = operator.do("resume -y")
    off = [cell for cell in CELLS if not state_of(rack)[cell]["caching"]]
    assert (
        not off
        or (said.code == 1 and all(cell in said.text for cell in off) and "mends it" in said.text)
        or (said.code == 1 and "`retry failed` continues it" in said.text)
    ), (said, off)
    if off:
        operator.do("retry failed -y")
        assert not [cell for cell in CELLS if not state_of(rack)[cell]["caching"]]
        assert operator.do("resume -y").code == 0


def test_what_was_dropped_on_purpose_keeps_no_resume_from_ending_well(tmp_path: Path) -> None:
    """Behind a drop that was asked for and done, resume has nothing to settle, and ends with 0."""
    rack = MatrixRack(tmp_path / "rack", prepared(()))
    operator = rack.operator()
    assert operator.do(f"drop flashcache -y --accept-data-loss={','.join(CELLS)}").code == 0
    said = operator.do("resume -y")
    assert not any(state_of(rack)[cell]["caching"] for cell in CELLS)
    assert said.code == 0 and "nothing is unfinished" in said.text
