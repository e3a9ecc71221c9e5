"""Every way of the corpus, sent by dcli and sh to a production rack whose cells refuse nothing by themselves."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.language.argv import argv_line
from exacell.opaque.scan import command_findings
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.opening import open_session
from exacell.session.state import Options
from tests.support.program import InProcess
from tests.support.ways import ways

LOOK = ("-r", "t1", "-o", "json", "list flashcache attributes id, size, status, creationTime")
REFUSED = ("exacell: rack prod is a production rack", "exacell: rack prod is read-only")
SENT = (("sh", "--"), ("dcli", "-c", "exa1cel01,exa1cel02"))


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program with the rack prod, which is in production; its cells are those of t1."""
    program = InProcess(tmp_path_factory.mktemp("corpus") / "home")
    program.ok("emulator", "start", "t1", "cells=2", "dbnodes=1")
    program.ok("emulator", "fault", "t1", "all", "unguarded")
    config = program.home / "emulator" / "t1" / "ssh_config"
    (program.home / "racks.d" / "prod.toml").write_text(
        f'cells = "exa1cel[01-02]"\nssh_config = "{config}"\nproduction = true\n'
    )
    yield program
    program.ok("emulator", "stop", "t1")


def refusals(home: Path) -> list[str]:
    """Return the statements that the journal calls refused, in order."""
    with sqlite3.connect(home / "journal.db") as connection:
        rows = connection.execute("select kind, body from entry order by seq").fetchall()
    assert {kind for kind, _ in rows} <= {"refused"}, rows
    return [json.loads(body)["statement"] for _, body in rows]


def test_no_way_of_the_corpus_reaches_a_production_rack(
    production: InProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is refused with exit code 2 and a row in the journal, nothing leaves, and the dirty caches stay as they were."""
    before = production.ok(*LOOK).records
    # Blanks of all kinds around a statement are no part of it: one text is a plain ls then.
    texts = [way.text for way in ways() if not way.read and not command_findings(way.text.strip()).harmless]
    assert len(texts) > 400
    # One session for all: what is opened for a command line is the same each time.
    told = io.StringIO()
    console = TerminalConsole(err=told)
    session, services = open_session(Options(rack="prod"), console, env=production.env)
    runner = Runner(session, services, console)
    runner.typed = True
    sent = 0
    try:
        for text in texts:
            for words in SENT:
                code = runner.run_text(argv_line((*words, text)), shell=False)
                said, out = told.getvalue(), capsys.readouterr().out
                told.seek(0)
                told.truncate()
                assert (code, out) == (2, ""), (words, text, said)
                if not said.startswith(REFUSED):
                    # A quote without its other half, or a sign from a web page, is no statement; - begins an option of dcli's.
                    assert "every character is kept" in said or "is never closed" in said or "no such option" in said, (
                        words,
                        text,
                        said,
                    )
                    continue
                sent += 1
    finally:
        services.close()
    assert len(refusals(production.home)) == sent > len(texts)
    assert production.ok(*LOOK).records == before
