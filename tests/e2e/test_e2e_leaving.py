"""Ctrl-C while a change waits for a cell that hangs: the wait ends, what other cells did is told, resume finds out the rest."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

from exacell.journal.record import Journal
from tests.support.patience import until
from tests.support.program import InProcess, Program


def test_ctrl_c_does_not_wait_for_a_cell_that_hangs(
    shared: InProcess, outside: Program, fault: Callable[..., None]
) -> None:
    """The first Ctrl-C ends the reading back of a restart though a read may take an hour; resume then completes it."""
    (outside.home / "config.toml").write_text("[settings]\ntimeout = 3600\n")
    fault("exa1cel02", "hang", "match=(?i)list")
    process = subprocess.Popen(
        [sys.executable, "-m", "exacell", "-r", "t1", "restart", "service", "ms", "-y"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=outside.env, text=True,
    )  # fmt: skip
    journal = Journal(outside.home / "journal.db")
    assert until(lambda: any(entry.kind == "intent" for entry in journal.entries()), step=0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 4
    states = {cells: state for cells, state, *_ in map(str.split, out.splitlines()[2:])}
    assert states == {"exa1cel01": "done", "exa1cel02": "unknown", "exa1cel03": "done"}
    assert "interrupted while waiting; no answer yet" in err and "exacell did not wait for exa1cel02" in err
    shared.ok("emulator", "fault", "t1", "exa1cel02", "clear")
    assert "there is nothing left to do" in outside.ok("-r", "t1", "resume", "-y").err
