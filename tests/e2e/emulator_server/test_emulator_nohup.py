"""A rack that was started where signals are ignored."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from exacell.emulator import control


def test_shells_of_a_rack_started_under_nohup_take_a_hangup(tmp_path: Path) -> None:
    """A shell on a host should end at SIGHUP, as on a real host, also where who started the rack ignores it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        info, _ = control.start(tmp_path, "t1", options={"cells": 2, "dbnodes": 1})
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        command = ["ssh", "-F", str(info.ssh_config), "exa1cel01", "kill -HUP $$; echo survived"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        control.stop(tmp_path, "t1")
    assert (done.returncode, done.stdout) == (255, ""), done
