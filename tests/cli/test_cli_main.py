"""The command line in process: standard output, standard error and exit code together."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import exacell.cli
from exacell.cli import main
from exacell.core.errors import ExitCode
from tests.support.program import Program, told

HEAVY = ("fabric", "paramiko", "rich", "prompt_toolkit", "asyncio", "numpy", "importlib.metadata")
UNASKED = (
    *("sqlite3", "exacell.journal.reading", "exacell.journal.record", "exacell.plan.model", "exacell.care.health"),
    *("exacell.output.tofile", "exacell.transport.ssh.sending"),
)
"""Modules that a read needs none of, and the last one, which it needs."""


def imported(*argv: str, of: tuple[str, ...] = HEAVY) -> str:
    """Run the program in a fresh process and return which of these modules it imported."""
    code = (
        "import sys; from exacell.cli import main; main(sys.argv[1:]);"
        f"print(*[m for m in {of!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, check=True)
    return done.stderr.strip()


@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["--complete", "bash", "2", "exacell", "list", "f"]])
def test_start_up_imports_nothing_heavy(argv: list[str], home: Path) -> None:
    """--version, --help and completion import none of the heavy libraries."""
    assert imported(*argv) == ""


def test_a_read_imports_neither_journal_nor_plans(home: Path, tmp_path: Path) -> None:
    """A read imports nothing of the journal, of plans and of what judges cells, even where an ssh_config is named."""
    (tmp_path / "config").write_text("Host *\n  Port 1\n")
    argv = ("-q", "--ssh-config", str(tmp_path / "config"), "-c", "127.0.0.1", "list", "cell")
    said = imported(*argv, of=UNASKED).splitlines()
    assert said[-1] == UNASKED[-1] and "refused the connection" in said[0]


def test_a_statement_answers_in_json(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """Data goes to standard output as JSON and nothing else does."""
    assert main(["-r", "t1", "-o", "json", "racks"]) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert [record["name"] for record in json.loads(out)] == ["prod", "t1"] and err == ""


def test_equal_cells_are_folded_where_that_is_asked_for(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """LIST CELL on three equal cells is three rows for a program, and with --fold one."""
    assert main(["-r", "t1", "list", "cell"]) == ExitCode.DONE
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [[name, name, "online"] for name in ("exa1cel01", "exa1cel02", "exa1cel03")]
    assert main(["-r", "t1", "--fold", "list", "cell"]) == ExitCode.DONE
    assert capsys.readouterr().out.splitlines()[-1].split() == ["exa1cel[01-03]", "{cell}", "online"]


def test_a_wrong_statement_is_underlined_and_nothing_is_sent(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt object exits 2 with one line of reason, the suggestion, and marks below the word; no cell is asked."""
    assert main(["-r", "t1", "list", "flashcach"]) == ExitCode.NOT_EXECUTED
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and rack.asked == []  # type: ignore[attr-defined]
    assert lines[0].startswith("exacell: LIST has no object 'flashcach'") and lines[0].endswith(
        "did you mean flashcache?"
    )
    assert lines[2].index("^") == lines[1].index("flashcach") and lines[2].count("^") == len("flashcach")


def test_all_statements_are_checked_before_the_first_runs(rack: object, tmp_path: Path) -> None:
    """A mistake in the last statement of -e or -f means that none is run."""
    script = tmp_path / "s"
    script.write_text("list cell\nlist flashcach\n")
    assert main(["-r", "t1", "-e", "list cell; list flashcach"]) == ExitCode.NOT_EXECUTED
    assert main(["-r", "t1", "-f", str(script)]) == ExitCode.NOT_EXECUTED
    assert rack.asked == []  # type: ignore[attr-defined]


def test_a_mistake_in_a_file_names_its_line(rack: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error of a script names file and line."""
    script = tmp_path / "s"
    script.write_text("list cell\n\nlist flashcach\n")
    main(["-r", "t1", "-f", str(script)])
    assert f"{script}, line 3: " in capsys.readouterr().err


def test_execute_takes_unquoted_words_as_cellcli_does(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """-e list cell is -e 'list cell'."""
    assert main(["-r", "t1", "-o", "json", "-e", "list", "cell"]) == ExitCode.DONE
    assert len(json.loads(capsys.readouterr().out)) == 3


def test_statements_stop_behind_a_failure(rack: object, capsys: pytest.CaptureFixture[str]) -> None:
    """After a statement that failed the next ones are not run, and that is said."""
    rack.down.add("exa1cel02")  # type: ignore[attr-defined]
    assert main(["-r", "t1", "-e", "list cell; racks"]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert "exa1cel02" in err and "1 more statement was not run" in err and "prod" not in out


def test_a_script_comes_from_standard_input(
    rack: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a statement standard input is the script; EXIT ends it."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("-- hello\nracks\nexit\nlist cell\n"))
    assert main(["-o", "jsonl"]) == ExitCode.DONE
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize("stdin", [None, io.StringIO("")])
def test_no_input_at_all_is_nothing_to_do(stdin: object, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed or empty standard input is an empty script."""
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main([]) == ExitCode.DONE


def test_output_goes_through_a_pipe_or_into_a_file(
    rack: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """On a whole line | command and > file work as at the prompt."""
    target = tmp_path / "out.txt"
    assert main(["-r", "t1", "list cell | tr a-z A-Z"]) == ExitCode.DONE
    assert "ONLINE" in capfd.readouterr().out
    assert main(["-r", "t1", f"list cell > {target}"]) == ExitCode.DONE
    assert "online" in target.read_text() and capfd.readouterr().out == ""


def test_a_reader_that_leaves_is_no_error(home: Path) -> None:
    """exacell … | true is quiet."""
    script = f"for i in 1 2 3; do {sys.executable} -m exacell help; done | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_mistake_of_ours_is_one_line_and_a_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unexpected exception exits 70 with one line that names the file with the traceback."""

    def broken(words: list[str]) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(exacell.cli, "_main", broken)
    assert main(["cells"]) == 70
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "oops" in err
    assert "ZeroDivisionError" in Path(err.split("details in ")[1].strip()).read_text()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-r", "nowhere", "cells"], "nowhere"),
        (["-o", "xml", "cells"], "'xml' is not an output format"),
        (["-f", "/nonexistent/x"], "/nonexistent/x can't be read"),
        (["-f", "x", "cells"], "-f and a statement can't be given together"),
        (["-r"], "-r needs a value"),
        (["--no-such-thing", "cells"], "--no-such-thing is neither"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(
    argv: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong with the command line is said in one line, and nothing is executed."""
    assert main(argv) == ExitCode.NOT_EXECUTED
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.startswith("exacell: ") and "Traceback" not in err


def test_start_runs_a_script_and_echo_shows_it(
    rack: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """START file and @path/file run a script; SET ECHO ON prints its statements on standard error."""
    script = tmp_path / "s.scl"
    script.write_text("list cell\nracks\n")
    assert main(["-r", "t1", "-o", "jsonl", "-e", f"set echo on; start {script}"]) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 5 and "exacell> list cell" in err
    script.write_text(f"start {script}\n")
    assert main(["-r", "t1", f"@{script}"]) == ExitCode.NOT_EXECUTED
    assert "call each other" in capsys.readouterr().err


def test_flags_of_start_hold_for_each_statement(
    rack: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """START's flags and ON hold for every statement of the script and of those that it starts, and for none behind it."""
    inner, script = tmp_path / "inner.scl", tmp_path / "s.scl"
    inner.write_text("list cell\n")
    script.write_text(f"start {inner}\non exa1cel02 list cell --format=csv\n")
    started = f"on exa1cel01 start {script} --format=jsonl"
    assert main(["-r", "t1", "-e", f"{started}; list cell --format=tsv"]) == ExitCode.DONE
    first, *others = capsys.readouterr().out.splitlines()
    assert json.loads(first)["cell"] == "exa1cel01"
    assert [line.split(",")[0] for line in others[:2]] == ["cell", "exa1cel02"]
    assert [line.split("\t")[0] for line in others[2:]] == ["cell", "exa1cel01", "exa1cel02", "exa1cel03"]


def test_flags_before_the_statement_count_for_it() -> None:
    """Flags given before a statement are converted as its own, which win."""
    from exacell.language.line import parse_line, with_flags

    line = parse_line("flush flashcache --reason=own")
    assert line is not None
    merged = with_flags(line, {"yes": None, "reason": "early", "timeout": "90s"})
    assert merged.call is not None
    assert merged.call.flags == {"yes": True, "reason": "own", "timeout": 90.0} == merged.flags


def test_a_long_error_is_broken_between_words_on_a_terminal(tmp_path: Path) -> None:
    """On a narrow terminal the reason has lines of whole words, and the place that is wrong is marked below it."""
    with Program(tmp_path).at_terminal("show", "nothing", columns=60) as terminal:
        *reason, statement, marks = terminal.rest().splitlines()
    assert len(reason) > 1 and max(map(len, reason)) <= 60
    assert told(" ".join(reason)).endswith("services, setting, settings, transports, versions, xrmemcache")
    assert (statement, marks) == ("    show nothing", "         ^^^^^^^")
