"""Rows that are no cell's, and output that nothing has room for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exacell.output.result import Column
from exacell.output.streams import gone, let_go
from exacell.output.tables import table_lines
from exacell.output.terminal import TerminalConsole


def test_the_racks_own_row_is_called_rack() -> None:
    """Between rows of cells the one of the whole rack is called rack; one of a database node has no cell."""
    rows = [{"cell": "exa1cel01", "value": 1}, {"cell": None, "value": 3}]
    assert [line.split()[0] for line in table_lines(rows, (Column("value", "number"),))][2:] == ["exa1cel01", "rack"]
    rows = [{"cell": "exa1cel01", "node": None}, {"cell": None, "node": "exa1db01"}]
    assert [line.split()[0] for line in table_lines(rows, (Column("node"),))][2:] == ["exa1cel01", "-"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [("--help",), ("help",), ("-o", "json", "racks"), ("-o", "csv", "racks")])
def test_a_full_output_is_one_plain_line(words: tuple[str, ...], tmp_path: Path) -> None:
    """Standard output without room ends in one line that says so, and in exit code 1."""
    argv = [sys.executable, "-m", "exacell", *words]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, text=True, env={"EXACELL_HOME": str(tmp_path)}, timeout=300
        )
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("exacell: ")]
    assert told == [
        "exacell: standard output: no space left on device; the output is not complete; changes on cells are not affected"
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("statement", ["help", "watch 1 count=1 recipes"])
def test_a_full_file_is_one_plain_line(statement: str, tmp_path: Path) -> None:
    """A file behind ``>`` that takes no more is named in one line, and the exit code is 1; also where it is written while
    the statement goes on."""
    argv = [sys.executable, "-m", "exacell", "-c", "c1", f"{statement} > /dev/full"]
    done = subprocess.run(argv, capture_output=True, text=True, env={"EXACELL_HOME": str(tmp_path)}, timeout=300)
    assert done.returncode == 1
    assert "/dev/full: no space left on device; it is not complete" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_output_stops_no_change() -> None:
    """While cells are changed, data that nothing has room for stop nothing, and it is said once all is done."""
    console = TerminalConsole()
    went_on = []
    with open("/dev/full", "w", encoding="utf-8") as full:
        with pytest.raises(OSError, match="No space left"), console.diverted(full), console.unhindered():
            with console.unhindered():
                console.data("one\n")
            console.data("two\n")
            went_on.append(True)
        assert went_on


def test_talk_that_nobody_hears_stops_nothing() -> None:
    """Neither a reader of standard error that has gone nor a file without room for it ends what is done."""
    read, write = os.pipe()
    os.close(read)
    for path in (write, "/dev/full"):
        with open(path, "w", encoding="utf-8") as deaf:
            console = TerminalConsole(err=deaf)
            console.tell("one")
            console.say("two")
            assert console.ask("go on?") is None
            let_go(deaf)


def test_a_stream_without_a_reader_is_let_go() -> None:
    """What stands behind in a closed pipe's buffer goes nowhere, and what is written afterwards, too."""
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as stream:
        stream.write("one")
        with pytest.raises(BrokenPipeError) as caught:
            stream.flush()
        assert gone(caught.value)
        let_go(stream)
        stream.write("two")
