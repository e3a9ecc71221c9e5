"""A hundred statements with a slip, each answered with what was meant."""

from __future__ import annotations

import io
from pathlib import Path

from exacell.core.errors import ExitCode
from exacell.language.options import read_argv
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.opening import open_session, options_of

SLIPS = Path(__file__).parents[1] / "data" / "mistyped" / "statements.tsv"

VALUES = (
    ("list metriccurrent where name = FL_DSK_FIRST", "FL_DISK_FIRST"),
    ("list griddisk where asmModeStatus = ONLIN", "ONLINE"),
    ("list database where name = SPTO", "SPOT"),
)
"""Conditions that hold for nothing, each with the value that was meant."""


def test_each_slip_is_answered_with_what_was_meant(fast, monkeypatch) -> None:
    """Commands, options, objects, attributes, cells, groups, recipes, parameters, metrics, settings, databases, disk groups and
    disks: the answer to a slip asks whether the right one was meant, and nothing is done. So does an answer without rows."""
    said = io.StringIO()
    monkeypatch.setattr("sys.stderr", said)
    session, services = open_session(options_of(read_argv(["-r", "t1"])), TerminalConsole(), env=fast.env)
    try:
        runner = Runner(session, services, TerminalConsole(), out=io.StringIO())
        made = ("snap flashlog as=before", "plan as=monday flush flashcache", "save baseline as=golden")
        for statement in ("list griddisk", "list celldisk", "list physicaldisk", "list database", *made):
            assert runner.run_text(statement) is ExitCode.DONE
        rows = [row.split("\t") for row in SLIPS.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
        assert len(rows) >= 100
        wrong = []
        for text, meant in rows:
            said.seek(0)
            said.truncate()
            code = runner.run_text(text)
            asked = [line for line in said.getvalue().splitlines() if "did you mean" in line and meant in line]
            if not asked or code is ExitCode.DONE:
                wrong.append((text, meant, said.getvalue()))
        assert not wrong
        for text, meant in VALUES:
            said.seek(0)
            said.truncate()
            assert runner.run_text(text) is ExitCode.DONE
            assert f"did you mean {meant}?" in said.getvalue(), text
    finally:
        services.close()
