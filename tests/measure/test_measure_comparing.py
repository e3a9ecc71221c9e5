"""What a delta says when the cells can't be asked about the time in between, and when the journal can."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from exacell.journal.record import Row
from exacell.measure.snapshot import CellCounters, Snapshot
from exacell.output.terminal import TerminalConsole
from exacell.session.comparing import compare
from exacell.session.opening import open_session
from exacell.session.request import Request as Asking
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from tests.support.transports import Open

CELLS = ("exa1cel01", "exa1cel02")


class Away(Open):
    """Cells that can't be reached."""

    def __init__(self) -> None:
        self.read_only = False

    def run(
        self, requests: Sequence[Request], *, on_reply: ReplyHandler | None = None, cancel: Event | None = None
    ) -> FleetResult:
        """Refuse each request."""
        found = {r.target: Reply(target=r.target, state=State.UNREACHABLE, problem="refused") for r in requests}
        for reply in found.values() if on_reply is not None else ():
            assert on_reply is not None
            on_reply(reply)
        return FleetResult(targets=tuple(found), replies=found)


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Session, Services]:
    """A session with a rack of two cells that can't be reached."""
    (tmp_path / "racks.d").mkdir()
    (tmp_path / "racks.d" / "t1.toml").write_text('cells = "exa1cel[01-02]"\n')
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    session, services = open_session(Options(rack="t1"), TerminalConsole(quiet=True))
    services._given = Away()  # type: ignore[assignment]
    return session, services


def snapshot(
    name: str, taken: str, minute: int, value: float, *, began: str = "", cells: Sequence[str] = CELLS
) -> Snapshot:
    counters = CellCounters(collected=minute * 60_000, values={"FC_IO_RQ_W": value})
    return Snapshot(
        rack="t1", name=name, kind="flashcache", taken=taken, began=began, cells=dict.fromkeys(cells, counters)
    )


def test_what_could_not_be_asked_is_told(ctx: tuple[Session, Services]) -> None:
    """Where no cell answers, the figures stand, and it is said what nobody looked at."""
    session, services = ctx
    pair = (
        snapshot("a", "2026-01-01T10:00:00.000+00:00", 1, 10),
        snapshot("b", "2026-01-01T11:00:00.000+00:00", 61, 900),
    )
    found = compare(session, services, Asking(), [pair])
    assert found.deltas[0][-1].figures["writes"] == 1780
    unseen = (
        "exa1cel[01-02]: the metric history was not read (refused): a flush by somebody else in between would "
        "not be seen"
    )
    assert unseen in found.notes
    assert any(
        note.startswith("not compared, because it is missing in one of the snapshots: release") for note in found.notes
    )


def test_a_cell_that_left_the_rack_is_told(ctx: tuple[Session, Services]) -> None:
    """A cell of both snapshots that the rack has no more is named as one that was not asked."""
    session, services = ctx
    cells = (*CELLS, "exa1cel09")
    pair = (
        snapshot("a", "2026-01-01T10:00:00.000+00:00", 1, 10, cells=cells),
        snapshot("b", "2026-01-01T11:00:00.000+00:00", 61, 900, cells=cells),
    )
    notes = compare(session, services, Asking(), [pair]).notes
    assert any(
        note.startswith("exa1cel09: the metric history was not read (it is not in the rack now)") for note in notes
    )


@pytest.mark.parametrize(("began", "taken", "void"), [("", "+90s", True), ("+60s", "+90s", False), ("", "-90s", False)])
def test_the_journal_speaks_where_no_cell_does(
    ctx: tuple[Session, Services], began: str, taken: str, void: bool
) -> None:
    """A flush in the journal voids its cell, though its counters grew and nobody answers, if it lies between the snapshots.

    A snapshot that tells since when its collections may be is taken at its word; of one that does not, the last ninety seconds
    before it was taken count as in between.
    """
    session, services = ctx
    from datetime import UTC, datetime, timedelta

    def at(offset: str) -> str:
        return (now + timedelta(seconds=int(offset[:-1]))).isoformat(timespec="milliseconds") if offset else ""

    now = datetime.now(UTC)
    change = services.journal.begin("t1", {"statement": "flush flashcache"})
    body = {"what": "flush", "statement": "ALTER FLASHCACHE ALL FLUSH NOWAIT"}
    services.journal.append("t1", change, [Row(kind="intent", target="exa1cel01", body=body)])
    pair = (
        snapshot("a", at("+30s"), 1, 10, began=at(began)),
        snapshot("b", at(taken) if taken[0] == "+" else at("-1s"), 61, 900),
    )
    rows = {row.cell: row.invalid for row in compare(session, services, Asking(), [pair]).deltas[0]}
    assert rows["exa1cel01"] == ("change 1 flushed, or ended a flush in the meantime" if void else "")
    assert not rows["exa1cel02"]
    assert bool(rows[None]) is void
