"""Two names that lead to one cell are told on reads, once a session, by what is known of them anyhow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from exacell.change.execute import execute
from exacell.core.config import RackConfig
from exacell.emulator.server.rack_world import RackWorld
from exacell.language.line import parse_line
from exacell.session.request import Request as Asking
from exacell.session.services import Fallbacks
from exacell.transport.base import FleetResult, Request
from tests.support.worlds import session_on

FIRST, SECOND = "exa1cel01", "exa1cel02"


def said_of(*statements: str, folder: Path, **rack: Any) -> tuple[list[str], int]:
    """Return what a session says of names of one cell while it reads, and how many round trips it made."""
    session, services, transport = session_on(RackWorld.create("t1", {}), folder)
    assert session.rack is None or session.rack.name == "t1"
    session.rack = replace(session.need_rack(), **rack)
    run, trips = transport.run, 0

    def twins(requests: Sequence[Request], **given: Any) -> FleetResult:
        nonlocal trips
        trips += 1
        found = run([replace(each, target=FIRST) if each.target == SECOND else each for each in requests], **given)
        again = {**found.replies, SECOND: replace(found.replies[FIRST], target=SECOND)}
        return FleetResult(targets=tuple(each.target for each in requests), replies=again)

    said: list[str] = []
    with (
        mock.patch.object(transport, "run", twins),
        mock.patch.object(services.console, "say", lambda text, *_: said.append(text)),
    ):
        for statement in statements:
            line = parse_line(statement)
            assert line is not None
            execute(session, services, Asking(), line)
    return [text for text in said if "they are the same cell" in text], trips


@pytest.mark.parametrize(
    "statement",
    [
        "list cell detail",
        "list cell attributes name, id",
        "list cell attributes id",
        "list cell attributes name, id -o json",
    ],
)
def test_an_id_that_two_names_have_is_told_once(statement: str, tmp_path: Path) -> None:
    """Where an answer to LIST CELL has the id, one that two cells have is told, once a session, and not on an emulated rack."""
    said, trips = said_of(statement, statement, folder=tmp_path / "a")
    assert len(said) == 1 and said[0].startswith("exa1cel[01-02] have one id, so they are the same cell")
    assert said_of(statement, folder=tmp_path / "b", emulated=True)[0] == []
    assert said_of(statement, folder=tmp_path / "c")[1] == trips - 1, "a look of its own was taken"


@pytest.mark.parametrize(
    "statement", ["list cell", "list celldisk", "describe cell", "list cell attributes name -o json"]
)
def test_no_round_trip_is_made_for_an_id(statement: str, tmp_path: Path) -> None:
    """Where no answer has the id nobody asks for it."""
    said, _ = said_of(statement, folder=tmp_path)
    assert said == []


def test_a_host_key_that_two_names_show_is_told_once() -> None:
    """Cells that show one host key are told, all names of one key together, each set once, on emulated racks as well; a node
    beside the cells, a cell alone with its key, and one that was not connected to are not."""
    rack = RackConfig(name="r", cells=("c1", "c2", "c3", "c4", "c5"), emulated=True)
    transport, console, fallbacks = mock.Mock(read_fallback=frozenset(), single_reads={}), mock.Mock(), Fallbacks()
    for keys in ({"c1": "a"}, {"c1": "a", "c2": "b", "db1": "a"}, {"c1": "a", "c2": "b", "c3": "a", "c4": "b"}):
        transport.host_keys = keys
        fallbacks.tell(transport, rack, console)
        fallbacks.tell(transport, rack, console)
    said = [call.args[0] for call in console.say.call_args_list]
    assert [text.split(" show one host key")[0] for text in said] == ["c[1,3]", "c[2,4]"]
