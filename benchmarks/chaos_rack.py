"""A running emulated rack with two operators' homes, for benchmarks/chaos.py."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matrix_rack
from matrix_audit import audited, read_audit
from matrix_rack import MORNING, MatrixRack, Prepared
from matrix_run import State, scratch, state_of

from exacell.emulator import control, fault_control
from exacell.emulator.store import rack_files
from exacell.errors import EmulatorError
from exacell.journal.actor import alive
from exacell.journal.record import Entry, Journal

RECIPES = Path(__file__).resolve().parent.parent / "tests" / "faults" / "recipes"
ENDS = 150.0
"""Seconds within which a process has to end that nothing holds any more."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: negative for a signal."""

    statement: str
    code: int
    text: str


@dataclass
class Started:
    """A process, and where its words go."""

    statement: str
    process: subprocess.Popen[bytes]
    out: Path
    began: float
    rows: int


class ChaosRack:
    """The rack, its operators and what is known of it.

    Args:
        options: what ``emulator start`` is given.
    """

    def __init__(self, options: Mapping[str, object], seed: int) -> None:
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="exacell-chaos-", dir="/dev/shm"))
        self.home, self.second = self.folder / "one", self.folder / "two"
        self.home.mkdir()
        self.expelled = self.degraded = False
        self.comment = ""
        with audited(self.folder / "audit.jsonl"):
            info, _ = control.start(self.home, "t1", options={"speed": 120, "seed": seed % 1000, **options}, timeout=90)
        self.info = info
        matrix_rack.CELLS, matrix_rack.NODES = info.cells, info.dbnodes
        fault_control.fault(self.home, "t1", list(info.cells), "unguarded")
        shutil.copytree(RECIPES, self.home / "recipes")
        self._share_lock()
        shutil.copytree(self.home / "racks.d", self.second / "racks.d")
        self.journal = Journal(self.home / "journal.db")
        self.other_journal = Journal(self.second / "journal.db")
        self.durations: dict[str, float] = {}
        self.rows: dict[str, int] = {}
        self._number = 0
        self._stop = threading.Event()
        self._load = threading.Thread(target=self._keep_loaded, daemon=True)
        self._load.start()

    def _share_lock(self) -> None:
        path = self.home / "racks.d" / "t1.toml"
        text = path.read_text()
        path.write_text(text.replace("emulated = true", f'emulated = true\nlock = "{self.folder}/t1.lock"'))

    def _keep_loaded(self) -> None:
        while not self._stop.wait(2):
            try:
                control.load(self.home, "t1", seconds=300, db="SPOT", redo=100, profile="oltp")
            except EmulatorError:
                continue

    # -- processes -------------------------------------------------------------------------------------------------

    def environment(self, home: Path) -> dict[str, str]:
        """Return what a process of an operator sees."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        return {**kept, "EXACELL_HOME": str(home), "HOME": str(home), "COLUMNS": "200"}

    def start(self, statement: str, *, home: Path | None = None) -> Started:
        """Start the program with one statement."""
        self._number += 1
        before = self.journal_rows()
        out = self.folder / f"out-{self._number}"
        with open(out, "wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "exacell", "-r", "t1", statement],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=self.environment(home or self.home),
                start_new_session=True,
            )
        return Started(statement, process, out, time.monotonic(), before)

    def wait(self, started: Started) -> Ended:
        """Return how a process ended; it gets the time it needs once nothing holds it."""
        process = started.process
        grace = time.monotonic() + 25
        while process.poll() is None and time.monotonic() < grace:
            time.sleep(0.05)
        if process.poll() is None:
            self.mend()
        try:
            code = process.wait(timeout=ENDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            process.wait()
            code = -99
        if code == 0:
            took = time.monotonic() - started.began
            key = self.key(started.statement)
            self.durations[key] = (self.durations.get(key, took) + took) / 2
            self.rows[key] = self.journal_rows() - started.rows
        return Ended(started.statement, code, started.out.read_text(errors="replace"))

    def key(self, statement: str) -> str:
        """Return by what a statement's usual duration is remembered."""
        return " ".join(statement.split()[:3])

    def expected(self, statement: str) -> float:
        """Return how long a statement usually takes, seconds."""
        return self.durations.get(self.key(statement), 4.0)

    def expected_rows(self, statement: str) -> int:
        """Return how many rows of the journal a statement usually makes, at least 1."""
        return max(1, self.rows.get(self.key(statement), 12))

    def end_guardians(self) -> None:
        """End the guardians that changes have left."""
        for entry in self.journal.entries(rack="t1"):
            if entry.kind == "guardian" and alive(entry.body):
                os.kill(int(entry.body["pid"]), signal.SIGKILL)

    # -- the rack --------------------------------------------------------------------------------------------------

    def fault(self, hosts: list[str], kind: str, **options: Any) -> str:
        """Inject a fault and return a line about it."""
        try:
            fault_control.fault(self.home, "t1", hosts, kind, **options)
        except EmulatorError as error:
            return f"{kind} on {hosts} was not possible: {error}"
        return f"{kind} on {', '.join(hosts)} {options or ''}"

    def mend(self) -> None:
        """End all faults but the rack's own."""
        for row in fault_control.faults(self.home, "t1"):
            if row["kind"] != "unguarded":
                fault_control.clear_faults(self.home, "t1", [str(row["host"])], str(row["kind"]))

    def parts(self) -> Mapping[str, Any]:
        """Return the rack's stored state."""
        for _ in range(50):
            try:
                return rack_files(self.home, "t1").read_state()
            except (EmulatorError, ValueError, OSError):
                time.sleep(0.05)
        return rack_files(self.home, "t1").read_state()

    def copy(self) -> MatrixRack:
        """Return the rack as it is, in this process, with what is under way ended."""
        files = {p.name: p.read_bytes() for p in self.home.iterdir() if p.is_file() and p.name.startswith("store.")}
        folder = scratch()
        copied = MatrixRack(folder / "rack", Prepared(json.dumps(self.parts()), MORNING, files))
        for fault in list(copied.world.faults):
            if str(fault.kind) != "unguarded":
                copied.world.clear_faults([fault.host], str(fault.kind))
        for cell in copied.rack.cells.values():
            cell.lost_dirty_bytes = 0
        copied.pass_time(3000)
        return copied

    def state(self) -> State:
        """Return what the rack is configured to be."""
        copied = self.copy()
        try:
            return state_of(copied)
        finally:
            discard(copied)

    def lost(self) -> int:
        """Return how many dirty bytes the cells have lost."""
        parts = self.parts()
        return sum(part["cell"]["lost_dirty_bytes"] for name, part in parts.items() if name.startswith("cell-"))

    # -- what is written down --------------------------------------------------------------------------------------

    def journal_rows(self) -> int:
        """Return the number of the journal's newest row."""
        rows = self.journal.entries()
        return rows[-1].seq if rows else 0

    def newest_change(self, since: int) -> int:
        """Return the number of the first change that was begun behind a row; 0 for none."""
        return next((e.change for e in self.journal.entries() if e.kind == "plan" and e.seq > since), 0)

    def rows_since(self, seq: int) -> list[Entry]:
        """Return the journal's rows behind one."""
        return [e for e in self.journal.entries() if e.seq > seq]

    def audit_size(self) -> int:
        """Return how long the audit is."""
        path = self.folder / "audit.jsonl"
        return path.stat().st_size if path.exists() else 0

    def audit(self, since: int) -> list[dict[str, Any]]:
        """Return what hosts were told behind a place of the audit."""
        return read_audit(self.folder / "audit.jsonl", since)

    def keep(self, folder: Path) -> None:
        """Copy what helps to find out what happened."""
        for path in (self.folder / "audit.jsonl", self.home / "journal.db", self.second / "journal.db"):
            if path.exists():
                shutil.copy(path, folder / f"{path.parent.name}-{path.name}")
        (folder / "state.json").write_text(json.dumps(self.parts(), default=str))
        log = rack_files(self.home, "t1").log
        if log.exists():
            shutil.copy(log, folder / "emulator.log")
        guardians = self.home / "guardians"
        if guardians.exists():
            shutil.copytree(guardians, folder / "guardians")

    def close(self) -> None:
        """Stop the rack and remove all."""
        self._stop.set()
        self.end_guardians()
        control.stop(self.home, "t1")
        self._load.join(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def discard(copied: MatrixRack) -> None:
    """Remove the files of a copy."""
    shutil.rmtree(copied.folder.parent, ignore_errors=True)
