"""Commands of this machine: what changes cells is typed as a statement, not hidden in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.cli import main
from exacell.journal.actor import actor
from exacell.journal.record import Journal
from exacell.journal.rows import Entry


@pytest.mark.parametrize(
    ("text", "found"),
    {
        "ssh exa1cel01 cellcli -e drop flashcache": "drop flashcache",
        "ssh exa1cel01 'cellcli -e \"alter flashcache all flush\"'": "alter flashcache all flush",
        "for c in a b; do ssh $c cellcli -e drop griddisk all prefix=DATA; done": "drop griddisk all prefix=DATA",
        "asmcmd dropdg -r DATA": "DATA: it is dropped",
    }.items(),
)
def test_a_change_in_a_command_of_this_machine_is_refused(
    text: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A change of cells or disk groups in host should be refused in one line that names it, and not be run."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    ran = tmp_path / "ran"
    assert main([f"host touch {ran}; {text}"]) == 2
    assert f"it contains '{found}'" in capsys.readouterr().err.replace("\n", " ").replace("  ", " ")
    assert main([f"host --accept-opaque touch {ran}; {text}"]) == 2
    assert not ran.exists()
    assert main([f"host --accept-opaque touch {ran}; echo drop flashcach"]) == 0 and ran.exists()


REAL = '[racks.r1]\ncells = ["nowhere-cel01"]\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a rack that no command of these tests reaches."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(REAL)
    return tmp_path


def entries(home: Path) -> list[Entry]:
    return Journal(home / "journal.db").entries(rack="r1")


@pytest.mark.parametrize(
    ("before", "code", "runs"),
    [((), 2, False), (("--accept-opaque",), 0, True), (("--accept-opaque", "-n"), 0, False)],
)
def test_what_can_not_be_read_runs_when_it_is_accepted(
    before: tuple[str, ...], code: int, runs: bool, home: Path
) -> None:
    """It should run what it can't read on a real rack only with --accept-opaque and without -n, and journal it then."""
    ran = home / "ran"
    assert main(["-r", "r1", " ".join(["host", *before, "touch", str(ran)])]) == code
    assert ran.exists() is runs
    kinds = [entry.kind for entry in entries(home)]
    assert kinds == (["plan", "intent", "outcome", "end"] if runs else ["refused"] if code else [])


def test_the_journal_tells_how_it_ended(home: Path) -> None:
    """It should journal what was run, by whom, why, what it said and its status, and return that as a failure."""
    assert main(["-r", "r1", "--reason=test", "host --accept-opaque ./no-such-load 3"]) == 1
    plan, intent, outcome, end = entries(home)
    assert plan.body["statement"] == "host ./no-such-load 3" and plan.body["reason"] == "test"
    assert plan.body["opaque"] and plan.body["user"] and plan.body["host"] == intent.target == outcome.target
    assert (outcome.body["state"], outcome.body["reason"]) == ("failed", "exit status 127")
    assert "no-such-load" in outcome.body["reply"] and end.body["exitCode"] == 1


@pytest.mark.parametrize(("config", "option"), [("production = true\n", "--yes"), ("", "-m")])
def test_what_only_shows_something_runs_everywhere(
    config: str, option: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It should run a command that changes nothing on a production and on a read-only rack too, without a row."""
    (home / "config.toml").write_text(REAL + config)
    assert main(["-r", "r1", option, "host uname"]) == 0
    assert "Linux" in capsys.readouterr().err and entries(home) == []
    assert main(["-r", "r1", option, "host --accept-opaque ./load.sh"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert ": ./load.sh" in said and said.count("nothing was run") == 1
    assert [entry.kind for entry in entries(home)] == ["refused"]


def test_the_rack_that_nobody_named_counts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It should be refused on a production rack also where that is the default and was not needed before."""
    (home / "config.toml").write_text('default_rack = "r1"\n' + REAL + "production = true\n")
    assert main([f"host --accept-opaque touch {home / 'ran'}"]) == 2
    assert "rack r1 is a production rack" in " ".join(capsys.readouterr().err.split())
    assert not (home / "ran").exists()


@pytest.mark.parametrize("statement", ["host uname", "dcli -c nowhere.invalid hostname"])
@pytest.mark.parametrize(
    ("config", "told"),
    [
        ('default_rack = "r2"\n' + REAL, "default_rack in config.toml: there is no rack r2; configured racks: r1"),
        (REAL, ""),
    ],
)
def test_a_default_rack_that_is_none_is_told(
    config: str, told: str, statement: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What goes on without a rack should say once that the default one does not exist and which there are; else nothing."""
    (home / "config.toml").write_text(config)
    code = main([statement])
    said = " ".join(capsys.readouterr().err.split())
    assert code == (0 if statement.startswith("host") else 1)
    assert said.count("exacell continues without a rack") == bool(told) and told in said


def test_it_is_no_change_to_go_on_with(home: Path) -> None:
    """It should leave the newest change of the rack the newest one, so that resume and undo still mean that."""
    journal = Journal(home / "journal.db")
    change = journal.begin("r1", {"statement": "flush flashcache", "plan": {}, **actor()})
    assert main(["-r", "r1", f"host --accept-opaque touch {home / 'x'}"]) == 0
    newest = journal.newest_plan("r1")
    assert newest is not None and newest.change == change


# -- lines of a file ---------------------------------------------------------------------------------------------------


def given(home: Path, line: str, *before: str) -> int:
    """Carry out a file of one line; return the exit code."""
    (home / "lines.exa").write_text(f"{line}\n")
    return main([*before, "-f", str(home / "lines.exa")])


STARTED = ["racks | touch {ran}", "!touch {ran}"]


@pytest.mark.parametrize("line", STARTED)
@pytest.mark.parametrize("before", [("-r", "r1"), ()])
def test_a_line_of_a_file_obeys_the_door(
    before: tuple[str, ...], line: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file has run on this machine and nobody can read is refused, of a rack and of none, until it is accepted; both are
    journalled."""
    (home / "config.toml").write_text("")  # What is no rack of the configuration is none.
    if before:
        (home / "config.toml").write_text(REAL)
    line, rack = line.format(ran=home / "ran"), "r1" if before else ""
    assert given(home, line, *before) == 2 and not (home / "ran").exists()
    said = " ".join(capsys.readouterr().err.split())
    assert "nothing was run" in said and ("--accept-opaque before the file" in said) is not line.startswith("!")
    assert given(home, line, *before, "--accept-opaque") == 0 and (home / "ran").exists()
    rows = Journal(home / "journal.db").entries(rack=rack)
    assert [row.kind for row in rows if row.kind in ("refused", "plan", "end")] == ["refused", "plan", "end"]


@pytest.mark.parametrize(
    ("line", "opaque"),
    {
        "racks | touch {ran}": "touch",
        "!touch {ran}": "touch",
        "racks | grep r1": "",
    }.items(),
)
def test_the_journal_names_what_could_not_be_read(line: str, opaque: str, home: Path) -> None:
    """A row names just what was not read, with the reason and the ticket that were given, and empty ones where none was."""
    line, opaque = line.format(ran=home / "ran"), opaque.format(ran=home / "ran")
    assert given(home, line, "-r", "r1", "--accept-opaque") == 0
    assert given(home, line, "-r", "r1", "--accept-opaque", "--reason=why", "--ticket=CHG1", "--yes") == 0
    plans = [entry.body for entry in entries(home) if entry.kind == "plan"]
    assert [(body["reason"], body["ticket"]) for body in plans] == ([("", ""), ("why", "CHG1")] if opaque else [])
    for body in plans:
        (named,) = body["opaque"]
        assert (
            named.startswith(opaque) and body["risk"] == "unknown" and body["statement"] == line.replace("!", "host ")
        )


@pytest.mark.parametrize("line", STARTED)
def test_a_line_of_a_file_runs_nothing_with_n(line: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With -n what nobody can read is named and not run, though it was accepted; nothing is journalled."""
    assert given(home, line.format(ran=home / "ran"), "-r", "r1", "-n", "--accept-opaque") == 0
    told = capsys.readouterr()
    named = line.format(ran=home / "ran").replace("!", "host ").removeprefix("racks ")
    assert (
        f"-n: {named[:40]}" in told.err and "was not run" in told.err and ("r1" in told.out) is line.startswith("racks")
    )
    assert not (home / "ran").exists() and entries(home) == []
    assert given(home, line.format(ran=home / "ran"), "-r", "r1", "-n") == 2 and entries(home) == []


@pytest.mark.parametrize("line", STARTED)
@pytest.mark.parametrize(("flag", "runs"), [("-n", False), ("", True)])
def test_n_behind_start_is_for_all_lines_of_its_script(line: str, flag: str, runs: bool, home: Path) -> None:
    """A script that is started with -n runs nothing that nobody can read either, though it was accepted."""
    (home / "inner.exa").write_text(line.format(ran=home / "ran") + "\n")
    assert given(home, f"start {home / 'inner.exa'} {flag}", "-r", "r1", "--accept-opaque") == 0
    assert (home / "ran").exists() is runs and bool(entries(home)) is runs


def test_what_only_reads_runs_with_n(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A command of a file that only shows something runs with -n as a LIST does."""
    assert given(home, "!uname", "-r", "r1", "-n") == 0
    assert given(home, "racks | grep r1", "-r", "r1", "-n") == 0
    told = capfd.readouterr()
    assert "Linux" in told.out and "r1" in told.out and "was not run" not in told.err


@pytest.mark.parametrize(
    "line", ["racks | ssh exa1cel01 cellcli -e drop flashcache", "!ssh exa1cel01 cellcli -e drop flashcache"]
)
def test_a_change_in_a_line_of_a_file_is_refused(line: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A change of cells behind ``|`` or ``!`` is refused, whoever accepts what can't be read."""
    assert given(home, line, "-r", "r1", "--accept-opaque") == 2
    assert "it contains 'drop flashcache'" in " ".join(capsys.readouterr().err.split())


RECIPE = """recipe "runs a load"
risk none

host ./x
"""


@pytest.mark.parametrize(
    ("line", "way"), [("run r1load", "`run … --accept-opaque` allows it"), ("host ./x", "host --accept-opaque …")]
)
def test_the_way_out_fits_where_it_was_typed(
    line: str, way: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal says how to accept what was typed, and in a recipe how to accept it of the run."""
    (home / "recipes").mkdir()
    (home / "recipes" / "r1load.exa").write_text(RECIPE)
    assert main(["-r", "r1", line]) == 2
    assert way in " ".join(capsys.readouterr().err.split())
