"""The moment of the drop, over real SSH, on cells that refuse nothing: what becomes of a proof between look and statement."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from exacell.emulator import control
from exacell.emulator.basics.store import rack_files
from exacell.journal.record import Journal
from exacell.journal.rows import Entry
from exacell.output.console import SilentConsole
from exacell.session.opening import open_session
from exacell.session.services import Services
from exacell.session.state import Options
from tests.support.surroundings import on_the_hosts_clock

CELLS = ("exa1cel01", "exa1cel02", "exa1cel03")
HIT, SLOW = "exa1cel02", "exa1cel01"


@dataclass(frozen=True)
class Kind:
    """A rack, and what takes the proof of a resize away on it."""

    options: Mapping[str, str]
    cancel: str


KINDS = {
    "flash": Kind({}, "alter flashcache all cancel flush"),
    "pmem": Kind({"model": "x8m", "release": "22.1", "pmem": "writeback"}, "alter pmemcache all cancel flush"),
}


@dataclass
class Night:
    """A running rack, one operator's process, and another operator with a home of his own."""

    home: Path
    other: Path
    env: dict[str, str]
    kind: Kind
    open: list[Services] = field(default_factory=list)

    def start(self, statement: str) -> subprocess.Popen[str]:
        """Start the operator's process."""
        return self._process(statement, self.env)

    def another(self, *words: str) -> str:
        """Run a command as the other operator and return what it says."""
        home = {"EXACELL_HOME": str(self.other), "EXACELL_RACK": "t1"}
        said, _ = self._process(*words, env={**self.env, **home}).communicate(timeout=300)
        return said

    def _process(self, *words: str | dict[str, str], env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        given = env or next(word for word in words if isinstance(word, dict))
        command = [sys.executable, "-m", "exacell", "-r", "t1", *(word for word in words if isinstance(word, str))]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=given, text=True, **streams)  # type: ignore[call-overload, no-any-return]

    def told(self, cell: str, statement: str) -> None:
        """Tell a cell something without exacell's locks and plans, as dcli would."""
        sent = self.open[0].fleet.send({cell: statement}, timeout=30)
        assert "success" in sent.replies[cell].stdout, sent.replies[cell]

    def dirty_again(self, cell: str) -> None:
        """Take the proof of a cell's caches away, and let the databases write."""
        self.told(cell, self.kind.cancel)
        control.load(self.home, "t1", db="SPOT", seconds=120)

    def rows(self) -> list[Entry]:
        """Return the journal's rows."""
        return Journal(self.home / "journal.db").entries() if (self.home / "journal.db").exists() else []

    def lost(self) -> dict[str, int]:
        """Return the cells that dropped dirty bytes, and how many."""
        parts: Mapping[str, Any] = rack_files(self.home, "t1").read_state()
        lost = {name: part["cell"]["lost_dirty_bytes"] for name, part in parts.items() if name.startswith("cell-")}
        return {name: size for name, size in lost.items() if size}

    def fault(self, cells: tuple[str, ...], match: str, delay: float) -> None:
        """Make cells slow."""
        control.fault(self.home, "t1", list(cells), "slow", delay=delay, match=match)


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Night]:
    """A running rack whose cells refuse nothing by themselves."""
    kind = KINDS[request.param]
    home, other = tmp_path / "one", tmp_path / "two"
    other.mkdir()
    info, _ = control.start(home, "t1", options={"speed": 600, **kind.options})
    control.fault(home, "t1", list(info.cells), "unguarded")
    (other / "racks.d").symlink_to(home / "racks.d")
    with on_the_hosts_clock():
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
    found = Night(home, other, {**kept, "EXACELL_HOME": str(home), "HOME": str(home)}, kind)
    session, services = open_session(Options(rack="t1", yes=True), SilentConsole(), env=found.env)
    session.need_rack()
    services.transport.read_only = False
    found.open.append(services)
    try:
        for cell in CELLS:  # Connected to before anything has to be quick.
            found.told(cell, "alter cell comment='x'")
        yield found
    finally:
        for named in found.open:
            named.close()
        control.stop(home, "t1")


def until(condition: Callable[[], object], process: subprocess.Popen[str], timeout: float = 90.0) -> None:
    """Wait until a condition holds while the operator's process runs."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)


def drops(rows: list[Entry], kind: str) -> list[Entry]:
    """Return the intents or outcomes of DROP FLASHCACHE."""
    return [row for row in rows if row.kind == kind and str(row.body.get("what")).startswith("drop flashcache")]


def flushed(rows: list[Entry]) -> bool:
    """Whether every cell's flash cache is proven flushed."""
    done = {row.target for row in rows if row.kind == "outcome" and row.body["what"] == "flush flashcache"}
    return done == set(CELLS)


def test_a_proof_that_went_while_a_neighbour_was_slow(night: Night) -> None:
    """A flush that is cancelled while another cell keeps the wave waiting: nothing dirty is dropped there, and it is told."""
    night.fault((SLOW,), "(?i)list flashcache attr", 4.0)
    process = night.start("resize flashcache size=288g -y")
    until(lambda: flushed(night.rows()), process)
    night.dirty_again(HIT)
    said, _ = process.communicate(timeout=300)
    assert night.lost() == {}
    assert process.returncode in (1, 2) and HIT in said, said
    assert any(row.target == HIT and row.body["state"] == "refused" for row in drops(night.rows(), "outcome")), said


@pytest.mark.parametrize("takes_over", [True, False], ids=["taken over", "cancelled"])
def test_a_process_that_stood_still_between_intent_and_statement(night: Night, takes_over: bool) -> None:
    """A process that is stopped behind its intents, while another operator takes the rack over or cancels the flush and the
    databases write, drops nothing dirty when it goes on; behind a takeover it sends nothing at all."""
    night.fault(CELLS, "(?i)list (flash|pmem)cache", 1.0)
    process = night.start("resize flashcache size=288g -y")
    until(lambda: drops(night.rows(), "intent"), process)
    os.kill(process.pid, signal.SIGSTOP)
    before = night.rows()[-1].seq  # A busy host stops it late: the drops may be refused and something mended by then.
    try:
        if takes_over:
            said = night.another("unlock", "--takeover", "-y")
            assert "taken over" in said or "held by" in said or "locked" in said or not said.strip(), said
        for cell in CELLS:
            night.told(cell, night.kind.cancel)
        control.load(night.home, "t1", db="SPOT", seconds=120)
    finally:
        os.kill(process.pid, signal.SIGCONT)
    said, _ = process.communicate(timeout=300)
    assert night.lost() == {}
    ended = drops(night.rows(), "outcome")
    assert {row.target for row in ended} == set(CELLS) and {row.body["state"] for row in ended} == {"refused"}, said
    if takes_over:
        intents = [row for row in night.rows() if row.kind == "intent"]
        assert all(row.seq <= before for row in intents), "something was to leave behind it"
        assert "taken over" in said, said
