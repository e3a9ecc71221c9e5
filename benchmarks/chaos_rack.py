"""A running emulated rack with two operators' homes, for benchmarks/chaos.py."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import matrix_rack
from matrix_audit import audited, read_audit
from matrix_rack import MORNING, MatrixRack, Prepared
from matrix_run import State, scratch, state_of

from exacell.core.errors import EmulatorError
from exacell.emulator import control
from exacell.emulator.basics.store import rack_files
from exacell.journal.actor import alive
from exacell.journal.record import Journal
from exacell.journal.rows import Entry

FAKED = Path(os.environ.get("FAKETIME_LIBRARY", "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"))
"""Lets a process see another time of day; FAKETIME_LIBRARY says where it is elsewhere. Source: libfaketime's README."""
RECIPES = Path(__file__).resolve().parent.parent / "tests" / "faults" / "recipes"
_KEEPER = "/sbin/init"
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
        options: what ``emulator start`` is given; besides, ``clocks`` says whose clocks can be set: those of all if True, those
            of the operators if ``operators``.
    """

    def __init__(self, options: Mapping[str, object], seed: int) -> None:
        self.options = options
        given = {"speed": 120, "seed": seed % 1000, **options}
        clocks = given.pop("clocks", False)
        self.skewed = bool(clocks) and FAKED.exists()
        self.rack_skewed = self.skewed and clocks != "operators"
        patience = str(given.pop("write_timeout", ""))
        self.folder = Path(tempfile.mkdtemp(prefix="exacell-chaos-", dir="/dev/shm"))
        self.place, self.home, self.second = (self.folder / name for name in ("rack", "one", "two"))
        self.place.mkdir()
        self.expelled = self.degraded = False
        self.comments: set[str] = set()
        """What the second operator has called the cells, or tried to."""
        self.set_clock("operator", 0)
        self.set_clock("rack", 0)
        with audited(self.folder / "audit.jsonl"), self._clocked("rack"):
            info, _ = control.start(self.place, "t1", options=given, timeout=90)
        self.info = info
        matrix_rack.CELLS, matrix_rack.NODES = info.cells, info.dbnodes
        control.fault(self.place, "t1", list(info.cells), "unguarded")
        self._share_lock()
        for home in (self.home, self.second):
            shutil.copytree(self.place / "racks.d", home / "racks.d")
            if patience:
                (home / "config.toml").write_text(f'[settings]\nwrite_timeout = "{patience}"\n')
        shutil.copytree(RECIPES, self.home / "recipes")
        self.journal = Journal(self.home / "journal.db")
        self.other_journal = Journal(self.second / "journal.db")
        self.durations: dict[str, float] = {}
        self.rows: dict[str, int] = {}
        self._number = 0
        self._stop = threading.Event()
        self._load = threading.Thread(target=self._keep_loaded, daemon=True)
        self._load.start()

    def _share_lock(self) -> None:
        path = self.place / "racks.d" / "t1.toml"
        text = path.read_text()
        path.write_text(text.replace("emulated = true", f'emulated = true\nlock = "{self.folder}/t1.lock"'))

    # -- clocks ----------------------------------------------------------------------------------------------------

    def set_clock(self, whose: str, seconds: float) -> None:
        """Set the clock of ``operator`` or ``rack`` so many seconds before or behind the true time."""
        path = self.folder / f"{whose}.clock"
        path.with_suffix(".new").write_text(f"{seconds:+}\n")
        path.with_suffix(".new").replace(path)

    def _clock(self, whose: str) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(FAKED),
            "FAKETIME_TIMESTAMP_FILE": str(self.folder / f"{whose}.clock"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def _clocked(self, whose: str) -> Any:
        return mock.patch.dict(os.environ, self._clock(whose)) if self.rack_skewed else nullcontext()

    def _keep_loaded(self) -> None:
        while not self._stop.wait(2):
            try:
                control.load(self.place, "t1", seconds=300, db="SPOT", redo=100, profile="oltp")
            except EmulatorError:
                continue

    # -- processes -------------------------------------------------------------------------------------------------

    def environment(self, home: Path) -> dict[str, str]:
        """Return what a process of an operator sees."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EXACELL")}
        clock = self._clock("operator") if self.skewed else {}
        return {**kept, "EXACELL_HOME": str(home), "HOME": str(home), "COLUMNS": "200", **clock}

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
            if entry.kind == "guardian" and alive(entry.who):
                os.kill(int(entry.who.pid), signal.SIGKILL)

    # -- the rack --------------------------------------------------------------------------------------------------

    def fault(self, hosts: list[str], kind: str, **options: Any) -> str:
        """Inject a fault and return a line about it."""
        try:
            control.fault(self.place, "t1", hosts, kind, **options)
        except EmulatorError as error:
            return f"{kind} on {hosts} was not possible: {error}"
        return f"{kind} on {', '.join(hosts)} {options or ''}"

    def mend(self) -> None:
        """End all faults but the rack's own, and whatever else is not as it was."""
        self.set_clock("operator", 0)
        self.set_production(False)
        for row in control.faults(self.place, "t1"):
            if row["kind"] != "unguarded":
                control.clear_faults(self.place, "t1", [str(row["host"])], str(row["kind"]))

    def set_production(self, wanted: bool) -> None:
        """Let the operators' racks be one in production, which is read-only, or none."""
        for home in (self.home, self.second):
            path = home / "racks.d" / "t1.toml"
            text = path.read_text().removeprefix("production = true\n")
            new = path.with_suffix(".new")
            new.write_text(f"production = true\n{text}" if wanted else text)
            new.replace(path)

    @contextmanager
    def moved_home(self) -> Iterator[Path]:
        """Move the operator's directory away for a while; yields where whatever a process makes in its place is kept."""
        away, made = self.folder / "one.away", self.folder / f"one.made-{self._number}"
        self.home.rename(away)
        try:
            yield made
        finally:
            if self.home.exists():
                self.home.rename(made)
            away.rename(self.home)

    # -- what is left ------------------------------------------------------------------------------------------------

    def left_processes(self) -> list[str]:
        """Return the processes of the operators that still run, and the programs that the rack's hosts still carry out."""
        wait = time.monotonic() + 10
        while (found := self._processes()) and time.monotonic() < wait:
            time.sleep(0.3)
        return found

    def _processes(self) -> list[str]:
        homes = {f"EXACELL_HOME={home}".encode() for home in (self.home, self.second)}
        place, found = f"/{self.folder.name}/".encode(), []
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or int(entry.name) == os.getpid():
                    continue
                text = (
                    (entry / "cmdline").read_bytes().replace(bytes(1), b" ").decode(errors="backslashreplace").strip()
                )
                own = homes & set((entry / "environ").read_bytes().split(b"\0"))
                # Behind a host's fence all is mounted from the rack's folder; what starts programs there stays.
                fenced = place in (entry / "mountinfo").read_bytes() and text != _KEEPER
                if text and (own or fenced):
                    found.append(f"{entry.name} {text[:200]}")
            except OSError:
                continue  # It has ended.
        return found

    def open_connections(self) -> list[str]:
        """Return the connections that the rack's hosts still hold, waiting some seconds for their end."""
        ports = {int(port) for port in re.findall(r"(?m)^\s*Port (\d+)", self.info.ssh_config.read_text())}
        wait = time.monotonic() + 10
        while (found := _established(ports)) and time.monotonic() < wait:
            time.sleep(0.3)
        return found

    def odd_files(self) -> list[str]:
        """Return what was to be there for a moment only and still is: half-written files and SQLite's rollback files."""
        ends = (".new", ".tmp", "~", "-journal", "-wal", "-shm", ".part")
        homes = [home for home in (self.home, self.second) if home.exists()]
        return [
            str(path) for home in homes for path in home.rglob("*") if path.name.endswith(ends) and path.stat().st_size
        ]

    def parts(self) -> Mapping[str, Any]:
        """Return the rack's stored state."""
        for _ in range(50):
            try:
                return rack_files(self.place, "t1").read_state()
            except (EmulatorError, ValueError, OSError):
                time.sleep(0.05)
        return rack_files(self.place, "t1").read_state()

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
        crashes = [crash for home in (self.home, self.second) for crash in home.glob("crash-*")]
        for path in (self.folder / "audit.jsonl", self.home / "journal.db", self.second / "journal.db", *crashes):
            if path.exists():
                shutil.copy(path, folder / f"{path.parent.name}-{path.name}")
        (folder / "state.json").write_text(json.dumps(self.parts(), default=str))
        log = rack_files(self.place, "t1").log
        if log.exists():
            shutil.copy(log, folder / "emulator.log")
        guardians = self.home / "guardians"
        if guardians.exists():
            shutil.copytree(guardians, folder / "guardians")

    def close(self) -> None:
        """Stop the rack and remove all."""
        self._stop.set()
        self.end_guardians()
        control.stop(self.place, "t1")
        self._load.join(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def _established(ports: set[int]) -> list[str]:
    """Return the connections to local ports. Source: proc(5), /proc/net/tcp: the second field is the local address, the
    fourth the state, 01 for an established one."""
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state = line.split()[:4]
        port = int(local.rpartition(":")[2], 16)
        if state == "01" and port in ports:
            found.append(f"port {port}")
    return found


def discard(copied: MatrixRack) -> None:
    """Remove the files of a copy."""
    shutil.rmtree(copied.folder.parent, ignore_errors=True)
