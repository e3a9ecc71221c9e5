"""What all tests share: Ctrl-C as a terminal has it, examples without a time limit, and a table of the fault matrix behind it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how loaded the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A job that a shell starts in the background ignores SIGINT, and so would every program that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases of the fault matrix were carried out, and how many survived."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    for report in reports:
        for name, value in getattr(report, "user_properties", ()):
            if name == "faults":
                row, column, cases, survived = value
                counts[row, column] = (cases, survived)
    if not counts:
        return
    folder = str(Path(__file__).parent / "faults")
    sys.path.insert(0, folder)
    try:
        from matrix_table import table
    finally:
        sys.path.remove(folder)
    terminalreporter.section("fault matrix: cases, or survivors of cases")
    for line in table(counts, list(dict.fromkeys(row for row, _ in counts))):
        terminalreporter.write_line(line)
