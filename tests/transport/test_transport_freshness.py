"""What is remembered about cells cannot lie: facts are read anew, a release is asked again after a reconnect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exacell.session.fleet import Fleet
from exacell.transport.base import FleetResult, Reply, Request, State

DOCUMENT = (
    '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c"/>\n'
    "<celldisk> <name>FD_00_c</name>\n<freeSpace>{free}</freeSpace>\n</celldisk>\n</cli-output>\n"
)


class Changing:
    """A transport to one cell whose free space and release another hand changes."""

    read_only = False

    def __init__(self) -> None:
        self.free = "1G"
        self.release = "19.3.2.0.0.191119"
        self.life = 1
        self.sent: list[Request] = []

    def lives(self, target: str) -> int:
        return self.life

    def run(self, requests: Sequence[Request], **_: Any) -> FleetResult:
        self.sent += requests
        replies = {}
        for request in requests:
            xml = "xml" in request.command
            text = DOCUMENT.format(free=self.free) if xml else f"\t c\t {self.release}\n"
            replies[request.target] = Reply(target=request.target, state=State.OK, stdout=text, exit_status=0)
        return FleetResult(targets=tuple(replies), replies=replies)

    def close(self) -> None:
        pass


READ = "list celldisk attributes name, freeSpace"


def test_every_query_asks_the_cell() -> None:
    """It should send each query to the cell, however often it was asked before, and return what is true then."""
    cell = Changing()
    fleet = Fleet(cell)
    found = []
    for free in ("1G", "2G", "2G"):
        cell.free = free
        found.append(fleet.query(["c"], [READ]).rows()[0]["freeSpace"])
    assert found == [1 << 30, 2 << 30, 2 << 30]
    assert sum("xml" in request.command for request in cell.sent) == 3


def test_release_is_asked_once_a_life() -> None:
    """It should ask for the release once, and again when the cell has been reconnected to since."""
    cell = Changing()
    fleet = Fleet(cell)
    for _ in range(3):
        fleet.query(["c"], [READ])
    assert sum("releaseVersion" in request.command for request in cell.sent) == 1
    assert "-xml" in cell.sent[-1].command.split()
    cell.life, cell.release = 2, "24.1.0.0.0.240101"
    fleet.query(["c"], [READ])
    assert "--xml" in cell.sent[-1].command.split()
    assert cell.sent[-1].feed is not None and cell.sent[-1].feed.program.endswith("--xml")


def test_what_is_fed_is_what_is_sent() -> None:
    """It should offer a kept CellCLI the very statements of the command, for reads alone."""
    from exacell.transport.base import Role

    cell = Changing()
    fleet = Fleet(cell)
    fleet.send({"c": "LIST CELL;"}, role=Role.READ)
    assert cell.sent[-1].feed is not None and cell.sent[-1].feed.statements == ("LIST CELL",)
    fleet.send({"c": "ALTER CELL VALIDATE CONFIGURATION"})
    assert cell.sent[-1].feed is None
    fleet.send({"c": "list cell -"}, role=Role.READ)
    assert cell.sent[-1].feed is None
