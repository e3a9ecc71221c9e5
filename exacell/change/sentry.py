"""Start the guardian of a change, which takes the change back if nobody confirms it in time, and give it its errand."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from exacell.core.paths import ensure_dir
from exacell.core.values import dataclass
from exacell.journal.record import Journal
from exacell.session.given import Services, Session

BEGIN = 30.0
"""Seconds within which a guardian must begin to wait; a loaded host starts programs slowly."""


@dataclass(frozen=True, kw_only=True)
class Errand:
    """The data that a guardian gets.

    Attributes:
        options: the fields of exacell.session.request.Options that say how to reach the rack; paths are absolute.
        settings: the fields of exacell.core.config.Settings, as they were in the shell.
    """

    rack: str
    change: int
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the errand as one word of a command line."""
        return json.dumps(asdict(self), separators=(",", ":"))


def errand_of(session: Session, change: int) -> Errand:
    """Return the errand for a guardian of ``change``; it has the options with which this session reaches the rack."""
    rack, options = session.need_rack(), session.options
    named = {"rack": rack.name} if rack.name in session.config.racks else {"rack": options.rack, "cells": options.cells}
    paths = {
        name: os.path.abspath(os.path.expanduser(path))
        for name, path in (("group_file", options.group_file), ("ssh_config", options.ssh_config))
        if path and (name == "ssh_config" or rack.name not in session.config.racks)
    }
    reach = {key: value for key, value in {**named, **paths, "login": options.login}.items() if value}
    return Errand(rack=rack.name, change=change, options=reach, settings=asdict(session.settings))


def log_of(state_dir: Path, rack: str, change: int) -> Path:
    """Return the path of the log in which the guardian of a change writes."""
    return state_dir / "guardians" / f"{rack}-{change}.log"


def spawn(session: Session, services: Services, change: int) -> int:
    """Start the guardian of a change; return its process id as soon as the journal records that it waits.

    Raises:
        OSError: it can't be started, ends at once or does not begin; it no longer runs then.
    """
    log = log_of(session.home.state_dir, session.need_rack().name, change)
    ensure_dir(log.parent)
    package_parent = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(entry for entry in (package_parent, session.env.get("PYTHONPATH", "")) if entry)
    with open(log, "ab") as stream:
        # -P: do not import a json.py from the directory in which it starts.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "exacell.change.guardian", errand_of(session, change).to_json()],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            close_fds=True,
            start_new_session=True,
            cwd="/",
            env={**session.env, "PYTHONPATH": path},
        )
    _await(services.journal, change, process, log)
    # Once we are gone, the init process waits for it; until then nobody does, and its end is read in /proc.
    process.returncode = 0
    return process.pid


def _await(journal: Journal, change: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the journal holds the guardian's row.

    Raises:
        ChildProcessError: the guardian ended without it, or did not begin in time; it does not run any more then.
    """
    deadline = time.monotonic() + BEGIN
    while True:
        # Ask this before reading the journal: while we are suspended, a guardian may begin, take the change back and end.
        over = process.poll() is not None or time.monotonic() > deadline
        if any(e.kind == "guardian" and e.who.pid == str(process.pid) for e in journal.entries(change=change)):
            return
        if over:
            # A guardian that begins late would take back a change that we report as staying.
            process.kill()
            process.wait()
            raise ChildProcessError(errno.ECHILD, f"it did not start; its log is {log}")
        time.sleep(0.02)
