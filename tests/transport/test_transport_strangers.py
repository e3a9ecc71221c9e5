"""Cells whose release is not known yet are asked for it first; one that does not say it holds up no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from exacell.plan.facts import CELLDISK
from exacell.session.answers import Answer, Answers
from exacell.session.factreading import gather
from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Reply, Request, State
from tests.support.transports import Open

DOCUMENT = (
    '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c"/>\n'
    "<celldisk> <name>FD_00_c</name>\n</celldisk>\n</cli-output>\n"
)
READ = "list celldisk attributes name"


class Cells(Open):
    """Three cells: one answers, one is down, and one says nothing until it is let go; each on a thread of its own."""

    read_only = False

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.late = "c3"
        self.asked: list[str] = []

    def run(self, requests: Sequence[Request], *, on_reply: Callable[[Reply], None] | None, **_: Any) -> FleetResult:
        replies = {}
        self.asked += [request.target for request in requests]
        for request in sorted(requests, key=lambda request: request.target == self.late):
            if request.target == self.late:
                assert self.let_go.wait(300)
            reply = replies[request.target] = self._reply(request)
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(r.target for r in requests), replies=replies)

    def _reply(self, request: Request) -> Reply:
        if request.target == "c2":
            return Reply(target="c2", state=State.UNREACHABLE, problem="connection refused")
        text = DOCUMENT if "xml" in request.command else f"\t {request.target}\t 19.3.2.0.0.191119\n"
        return Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)

    def close(self) -> None:
        pass


def test_one_that_does_not_say_its_release_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others' answers are there while it is silent; at the end every cell has one, in the order asked."""
    monkeypatch.setattr("exacell.session.fleet._GREETING", 0.05)
    cells, came = Cells(), []
    fleet = Fleet(cells)  # type: ignore[arg-type]
    both = threading.Event()

    def answered(answer: Answer) -> None:
        came.append(answer.cell)
        if {"c1", "c2"} <= set(came):
            both.set()

    found: list[Any] = []
    asking = threading.Thread(
        target=lambda: found.append(fleet.query(["c3", "c2", "c1"], [READ], on_answer=answered)), daemon=True
    )
    asking.start()
    assert both.wait(300) and "c3" not in came
    assert fleet.strangers(["c1", "c2", "c3"]) == ["c2", "c3"]
    cells.let_go.set()
    asking.join(300)
    assert list(found[0].answers) == ["c3", "c2", "c1"] and list(found[0].good) == ["c3", "c1"]
    assert found[0].answers["c2"].problem == "connection refused" and sorted(came) == ["c1", "c2", "c3"]


def test_one_that_says_nothing_is_asked_once() -> None:
    """Whoever could not be reached, or let its deadline pass, when it was asked for its release is not waited for again."""
    cells = Cells()
    cells.let_go.set()
    fleet = Fleet(cells)  # type: ignore[arg-type]
    came: list[str] = []
    found = fleet.query(["c1", "c2"], [READ], on_answer=lambda answer: came.append(answer.cell))
    assert cells.asked.count("c2") == 1 and found.problems == ("c2: connection refused",)
    assert sorted(came) == ["c1", "c2"] and list(found.good) == ["c1"]


def test_planning_waits_once_for_a_cell_that_says_nothing() -> None:
    """The facts of the others are read, and the one that said nothing stands among the bad with its reply."""
    cells = Cells()
    cells.let_go.set()
    fleet = Fleet(cells)  # type: ignore[arg-type]
    asked: list[str] = []

    def query(wanted: Sequence[str], statements: Sequence[str]) -> Answers:
        asked.extend(wanted)
        return fleet.query(wanted, statements)

    found, bad = gather(fleet, query, [CELLDISK], ["c1", "c2", "c3"])
    assert list(found) == ["c1", "c3"] == asked
    assert {cell: reply.problem for cell, reply in bad.items()} == {"c2": "connection refused"}
    assert cells.asked.count("c2") == 1


def test_an_error_of_a_part_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong while some cells are asked reaches the caller, although another thread asked them."""
    monkeypatch.setattr("exacell.session.fleet._GREETING", 0.05)
    cells = Cells()
    fleet = Fleet(cells)  # type: ignore[arg-type]

    def answered(answer: Answer) -> None:
        cells.let_go.set()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fleet.query(["c1", "c3"], [READ], on_answer=answered)
