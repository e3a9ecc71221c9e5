"""A read in XML by a remembered release takes one start of CellCLI; a release that is old costs time, never an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from exacell.core.paths import Home
from exacell.session.answers import Answer, answer_of
from exacell.session.fleet import Fleet
from exacell.session.keptreleases import KeptReleases
from exacell.transport.base import FleetResult, Reply, Request, State
from tests.support.transports import Open

DOCUMENT = (
    '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c"/>\n'
    "<celldisk> <name>FD_00_c</name>\n</celldisk>\n</cli-output>\n"
)
READ = "list celldisk attributes name"
OLD, NEW = "19.3.2.0.0.191119", "24.1.0.0.0.240517"


class Cells(Open):
    """Cells with a release each, which take only the spelling of the XML option that their release has; c9 is down."""

    read_only = False

    def __init__(self, **releases: str) -> None:
        self.releases = releases
        self.asked: list[str] = []

    def run(
        self, requests: Sequence[Request], *, on_reply: Callable[[Reply], None] | None = None, **_: Any
    ) -> FleetResult:
        replies = {request.target: self._reply(request) for request in requests}
        self.asked += [request.target for request in requests]
        for reply in replies.values():
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(replies), replies=replies)

    def _reply(self, request: Request) -> Reply:
        release = self.releases.get(request.target)
        if release is None:
            return Reply(target=request.target, state=State.UNREACHABLE, problem="connection refused")
        words = request.command.split()
        if "-xml" in words or "--xml" in words:
            right = ("--xml" in words) == (release == NEW)
            text = DOCUMENT if right else "Usage: cellcli [options]\n"
            return Reply(target=request.target, state=State.OK, stdout=text, exit_status=0 if right else 1)
        return Reply(
            target=request.target, state=State.OK, stdout=f"\t {request.target}\t {release}\t id\n", exit_status=0
        )

    def close(self) -> None:
        pass


@pytest.fixture
def kept(tmp_path: Path) -> KeptReleases:
    return KeptReleases(Home.from_env({"EXACELL_HOME": str(tmp_path)}), "r")


def query(cells: Cells, kept: KeptReleases, *names: str) -> list[Answer]:
    """Return what a command line of its own is answered, in the order in which answers came, and check that all came."""
    came: list[Answer] = []
    found = Fleet(cells, kept_releases=kept).query(names, [READ], exact=True, on_answer=came.append)  # type: ignore[arg-type]
    assert list(found.answers) == list(names) and sorted(a.cell for a in came) == sorted(names)
    return came


def test_the_first_command_line_asks_for_the_release_and_the_second_does_not(kept: KeptReleases) -> None:
    """Two round trips to each cell become one, for both spellings of the option."""
    cells = Cells(c1=OLD, c2=NEW)
    assert all(not answer.problem for answer in query(cells, kept, "c1", "c2"))
    assert sorted(cells.asked) == ["c1", "c1", "c2", "c2"]
    cells.asked.clear()
    assert all(not answer.problem for answer in query(cells, kept, "c1", "c2"))
    assert sorted(cells.asked) == ["c1", "c2"]


def test_each_reply_is_read_once(kept: KeptReleases, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was handed over when it came is the one that is returned, not read a second time."""
    query(Cells(c1=OLD, c2=NEW), kept, "c1", "c2")
    read: list[str] = []

    def counted(reply: Reply, *rest: Any) -> Answer:
        read.append(reply.target)
        return answer_of(reply, *rest)

    monkeypatch.setattr("exacell.session.fleet.answer_of", counted)
    query(Cells(c1=OLD, c2=NEW), kept, "c1", "c2")
    assert sorted(read) == ["c1", "c2"]


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (NEW, OLD)])
def test_a_cell_that_was_updated_is_asked_again_and_remembered_anew(
    kept: KeptReleases, before: str, after: str
) -> None:
    """Its answer is right, comes once, and the next command line asks it once; the other cell is asked once all along."""
    query(Cells(c1=before, c2=OLD), kept, "c1", "c2")
    cells = Cells(c1=after, c2=OLD)
    assert all(not answer.problem and answer.tables[0] for answer in query(cells, kept, "c1", "c2"))
    assert sorted(cells.asked) == ["c1", "c1", "c1", "c2"]
    assert kept.read() == {"c1": after, "c2": OLD}
    cells.asked.clear()
    query(cells, kept, "c1", "c2")
    assert sorted(cells.asked) == ["c1", "c2"]


def test_a_cell_that_is_down_is_not_asked_twice(kept: KeptReleases) -> None:
    """A remembered cell that can't be reached is that cell's problem, at once."""
    query(Cells(c1=OLD, c9=OLD), kept, "c1", "c9")
    cells = Cells(c1=OLD)
    assert {a.cell: a.problem for a in query(cells, kept, "c1", "c9")} == {"c1": "", "c9": "connection refused"}
    assert sorted(cells.asked) == ["c1", "c9"]


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"r": 1}', '{"other": {"c1": "19.1"}}'])
def test_a_file_that_is_something_else_counts_as_empty(kept: KeptReleases, tmp_path: Path, text: str) -> None:
    """Nothing is known then, and what is learned is stored."""
    query(Cells(c1=OLD), kept, "c1")
    (file,) = tmp_path.rglob("releases")
    file.write_text(text)
    assert kept.read() == {}
    query(Cells(c1=OLD), kept, "c1")
    assert kept.read() == {"c1": OLD}
