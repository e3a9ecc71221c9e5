"""The door before the operator's own machine: lines of attackers and everyday ones, each with what has to come of it."""

from __future__ import annotations

import io
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exacell.change.dcli.options import DcliExit, read_ssh_options
from exacell.change.here import loads_given, loads_in, note_config
from exacell.cli import main
from exacell.core.errors import ConfigError, JournalError
from exacell.journal.record import Journal
from exacell.journal.rows import Entry
from exacell.opaque.here import WAYS, Does, Whose, is_held, replaces
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.session.state import Options
from exacell.transport.ssh.answer import SshConfig
from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named
from tests.support.recipes import parse_recipe
from tests.support.sessions import Session

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "doors.toml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(line, by, on, group["comes"], id=f"{on} {by}: {line}")
    for group in DATA["group"]
    for by in (("file", "typed") if group["by"] == "both" else (group["by"],))
    for on in group["on"]
    for line in group["lines"]
]
OLD = "what was there\n"


class Door:
    """A runner on a rack of a kind, in a folder of its own."""

    def __init__(self, folder: Path, by: str, on: str, *, accept: bool = False) -> None:
        self.folder = folder
        self.found = Session(folder, options=Options(monitor=on == "monitor"), production=on == "production")
        self.err, self.out = io.StringIO(), io.StringIO()
        console = TerminalConsole(err=self.err, stdin=io.StringIO())
        self.found.services.console = console
        flags: dict[str, str | None] = {"accept-opaque": None} if accept else {}
        self.runner = Runner(self.found.session, self.found.services, console, out=self.out, flags=flags, prefix="")
        self.runner.typed = by == "typed"
        for name, text in (("old", OLD), ("cfg", f"Host *\n  ProxyCommand touch {folder / 'ran'}\n"), ("plain", "")):
            (folder / name).write_text(text)

    def run(self, text: str) -> int:
        names = {name: self.folder / name for name in ("ran", "old", "cfg", "plain")}
        code = int(self.runner.run_text(text.format(**names)))
        self.runner.console.spool(None)
        return code

    @property
    def ran(self) -> bool:
        return (self.folder / "ran").exists()

    @property
    def old(self) -> str:
        return (self.folder / "old").read_text()

    @property
    def rows(self) -> list[Entry]:
        journal = self.found.services.journal
        return journal.entries(rack="r") if journal.exists else []


@pytest.mark.parametrize(("text", "by", "on", "comes"), CASES)
def test_what_has_to_come_of_a_line(text: str, by: str, on: str, comes: str, tmp_path: Path) -> None:
    """Nothing starts or is lost on the operator's machine that the door forbids, and what only reads needs nothing."""
    door = Door(tmp_path, by, on)
    code, kinds = door.run(text), [row.kind for row in door.rows]
    said = door.err.getvalue()
    if comes in ("refused", "held", "accepted"):
        assert code == 2 and not door.ran and door.old == OLD, said
        assert "nothing was" in " ".join(said.split())
        assert kinds == ([] if "the file exists" in said else ["refused"])
        assert door.found.answers.asked == []
    if comes == "accepted":
        other = tmp_path / "other"
        other.mkdir()
        again = Door(other, by, on, accept=True)
        assert again.run(text) == 0 and again.ran, again.err.getvalue()
        assert again.rows[0].kind == "plan" and again.rows[-1].kind == "end"
        assert again.found.services.journal.unfinished("r") == []
    if comes == "runs":
        assert code == 0 and door.ran and kinds == ["plan", "end"], said
    if comes == "reads":
        assert code == 0 and not door.ran and door.old == OLD and kinds == [], said
    if comes == "writes":
        assert code == 0 and door.ran and kinds == [], said
    if comes == "replaces":
        assert code == 0 and door.old != OLD and kinds == [], said


def test_a_file_behind_a_line_of_a_script_is_asked_for(tmp_path: Path) -> None:
    """On a lab rack > over a file that is there needs --accept-opaque in a file, which is journalled."""
    door = Door(tmp_path, "file", "lab")
    assert door.run("show settings > {old}") == 2 and door.old == OLD
    (tmp_path / "x").mkdir()
    again = Door(tmp_path / "x", "file", "lab", accept=True)
    assert again.run("show settings > {old}") == 0 and again.old != OLD
    assert [row.kind for row in again.rows] == ["plan", "end"]


@pytest.mark.parametrize("by", ["file", "typed"])
def test_a_link_is_no_new_file(by: str, tmp_path: Path) -> None:
    """A link that leads nowhere yet is there: > on a production rack writes nothing through it."""
    door = Door(tmp_path, by, "production")
    (tmp_path / "link").symlink_to(tmp_path / "ran")
    assert door.run(f"show settings > {tmp_path / 'link'}") == 2 and not door.ran
    assert door.run(f"spool {tmp_path / 'link'}") == 2 and not door.ran


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("monitor", [True, False])
@pytest.mark.parametrize("production", [True, False])
def test_each_alone_is_enough(typed: bool, monitor: bool, production: bool) -> None:
    """A file as the source, -m, a production rack: each of them has the door stand there; the last two keep files, too."""
    assert is_held(typed=typed, monitor=monitor, production=production) is (not typed or monitor or production)
    assert replaces(monitor=monitor, production=production) is (not monitor and not production)


def test_the_list_is_one() -> None:
    """Each way stands once in the list, and what its line names passes the door: none of them is the operator's own."""
    names = [way.name for way in WAYS]
    assert len(names) == len(set(names)) and {way.does for way in WAYS} == set(Does)
    lines = [line for group in DATA["group"] for line in group["lines"]]
    typed = [
        way.name
        for way in WAYS
        if way.whose is Whose.LINE and way.name in ("!", "|", "host", "set pager", ">", "spool")
    ]
    assert all(any(name in line for line in lines) for name in typed) and len(typed) == 6


RECIPE = """recipe "runs a load"
param load : command|none = none "a load"
param text = none "no load"
risk none

host $load when $load != none
host $text when $text != none
"""


class Yes(TerminalConsole):
    """Somebody who says yes, and what they were asked."""

    asked: list[str]

    def confirm(self, question: str, details: Any = None) -> bool | None:
        self.asked.append(question)
        return True


@pytest.mark.parametrize(
    ("by", "on", "code"),
    [
        ("typed", "lab", 0),
        ("typed", "production", 0),
        ("file", "production", 2),
        ("typed", "monitor", 2),
        ("file", "lab", 0),
    ],
)
def test_the_load_of_a_recipe_is_what_the_operator_typed(by: str, on: str, code: int, tmp_path: Path) -> None:
    """A load that is typed is shown, asked for once and started, on a production rack, too; one that a file gives is not
    there, and none is under -m, before anything of the run is begun."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "loaded.exa").write_text(RECIPE)
    door = Door(tmp_path, by, on)
    console = door.runner.console
    console.__class__, console.asked = Yes, []  # type: ignore[attr-defined]
    assert door.run("run loaded load='touch {ran}'") == code, door.err.getvalue()
    assert door.ran is (code == 0)
    if code:
        assert [row.kind for row in door.rows] == ["refused"] and console.asked == []  # type: ignore[attr-defined]
    else:
        assert console.asked == ["run 1 command unguarded?"]  # type: ignore[attr-defined]
        assert f"touch {tmp_path / 'ran'}" in " ".join(door.err.getvalue().split())


def test_no_load_is_what_a_recipe_starts_itself(tmp_path: Path) -> None:
    """On a production rack a value that is no load starts nothing, though it was typed; nor does it before set mode rw."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "loaded.exa").write_text(RECIPE)
    door = Door(tmp_path, "typed", "production")
    assert door.run("run loaded text='touch {ran}' --accept-opaque") == 2 and not door.ran
    door.found.session.read_only = True
    assert door.run("run loaded load='touch {ran}' --accept-opaque") == 2 and not door.ran


def test_a_pager_that_was_set_elsewhere_is_not_taken_along(tmp_path: Path) -> None:
    """A pager that exacell does not read, set on a lab rack, is left away where the rack is one of production."""
    door = Door(tmp_path, "typed", "lab")
    session = door.found.session
    assert door.run("set pager 'touch {ran}'") == 0
    assert door.runner._pager().startswith("touch")
    assert session.rack is not None
    session.rack = replace(session.rack, production=True)
    assert door.runner._pager() == "auto"
    session.settings = session.settings.with_value("pager", "less -F")
    assert door.runner._pager() == "less -F"


PROGRAMS = "Host *\n  ProxyCommand touch {ran}\n"
CONFIG = '[racks.p]\ncells = ["nowhere-cel01"]\nproduction = {production}\n'


@pytest.mark.parametrize(
    ("before", "production", "starts"),
    [((), False, True), (("-m",), False, False), ((), True, False), (("-m",), True, False)],
)
@pytest.mark.parametrize("config", [PROGRAMS, 'Match exec "touch {ran}"\n  Port 9\n'])
def test_programs_of_an_ssh_config_that_is_named(
    config: str,
    before: tuple[str, ...],
    production: bool,
    starts: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What --ssh-config names is started and journalled on a rack of none, and started neither under -m nor in production."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(CONFIG.format(production=str(production).lower()))
    (tmp_path / "cfg").write_text(config.format(ran=tmp_path / "ran"))
    main(["-r", "p", *before, "--ssh-config", str(tmp_path / "cfg"), "list cell"])
    assert (tmp_path / "ran").exists() is starts
    rows = Journal(tmp_path / "journal.db").entries(rack="p") if starts else []
    assert [row.kind for row in rows] == (["plan", "end"] if starts else [])


def test_what_the_racks_own_file_names_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ProxyCommand in the ssh_config of a rack's own file runs on a production rack and under -m as ever."""
    monkeypatch.setenv("EXACELL_HOME", str(tmp_path))
    (tmp_path / "cfg").write_text(PROGRAMS.format(ran=tmp_path / "ran"))
    (tmp_path / "cfg").chmod(0o600)
    own = f'ssh_config = "{tmp_path / "cfg"}"\n'
    (tmp_path / "config.toml").write_text(CONFIG.format(production="true") + own)
    main(["-r", "p", "-m", "list cell"])
    assert (tmp_path / "ran").exists()


def test_what_names_a_program_is_an_allow_list(tmp_path: Path) -> None:
    """A keyword that is not known to start nothing counts as one that starts a program; none of them and Match all do not."""
    text = "Host a\n Port 22\n ProxyCommand none\nMatch all\n User u\n KnownHostsCommand /x\n Strange y\nMatch exec z\n Port 1\n"
    (tmp_path / "cfg").write_text(text)
    found = [named.partition(": ")[2] for named in programs_named(SshConfigFiles.read(tmp_path / "cfg"))]
    assert found == ["knownhostscommand", "strange", "Match exec"]


@pytest.mark.parametrize("name", ["a;b", "$(x)", "a b", "`x`", "a|b", "-oX", "a\nb", "a'b", "a{b"])
def test_a_name_that_a_shell_would_read_reaches_no_command(name: str, tmp_path: Path) -> None:
    """A host name or login in ssh_config's commands holds no sign that a shell takes as its own."""
    (tmp_path / "cfg").write_text("Host *\n  ProxyCommand nc %h %p %r\n")
    for target, user in ((name, None), ("cel01", name)):
        with pytest.raises(ConfigError, match="a meaning for a shell"):
            SshConfig(tmp_path / "cfg").answer(target, user=user)
    assert SshConfig(tmp_path / "cfg").answer("exa1cel01.lab", user="celladmin").proxy is not None


@pytest.mark.parametrize("words", ["-o 'Port=22\nProxyCommand=x'", "-F 'a\nb'", "-p '22\nProxyCommand x'"])
def test_an_option_of_dcli_is_one_line(words: str) -> None:
    """A line's end in an option of -s would be another line of ssh_config: it is refused."""
    with pytest.raises(DcliExit, match="line end"):
        read_ssh_options(words, None)


@pytest.mark.parametrize(
    ("on", "why"), [("monitor", "since -m was given,"), ("production", "since rack r is a production rack,")]
)
def test_a_file_that_stays_is_told_with_the_reason(on: str, why: str, tmp_path: Path) -> None:
    """Who may not replace a file is told what forbids it, -m or the rack, and no other reason."""
    door = Door(tmp_path, "typed", on)
    door.run("show settings > {old}")
    said = " ".join(door.err.getvalue().split())
    assert why in said and ("-m was given" in said) is (on == "monitor")


def rows_of(door: Door) -> list[Entry]:
    journal = door.found.services.journal
    return journal.entries() if journal.exists else []


def given(door: Door, flags: dict[str, Any]) -> None:
    session = door.found.session
    session.options = replace(session.options, flags={**session.options.flags, **flags})


@pytest.mark.parametrize("by", ["typed", "file"])
def test_n_journals_nothing(by: str, tmp_path: Path) -> None:
    """-n runs no program of this machine and leaves no row, wherever the line stands."""
    door = Door(tmp_path, by, "lab", accept=True)
    given(door, {"dry-run": True})
    door.run("host touch {ran}")
    door.run("set pager {ran}")
    assert rows_of(door) == [] and not door.ran


@pytest.mark.parametrize(("by", "runs"), [("typed", True), ("file", False)])
def test_a_journal_that_can_not_be_written(
    by: str, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that the operator typed runs, with a line about it; one that was accepted in a file does not run."""
    door = Door(tmp_path, by, "lab", accept=True)

    def full(*given: Any, **more: Any) -> None:
        raise JournalError("the disk is full")

    monkeypatch.setattr("exacell.change.here.journal_accepted", full)
    assert (door.run("show settings | touch {ran}") == 0) == runs and door.ran == runs
    assert ("this could not be journalled: the disk is full" in door.err.getvalue()) == runs


def test_the_rows_say_why_and_of_which_rack(tmp_path: Path) -> None:
    """What passes the door, or does not, stands in the journal with reason, ticket and rack, or without one."""
    door = Door(tmp_path, "typed", "production")
    given(door, {"reason": "disk swap", "ticket": "CHG1"})
    assert door.run("host touch {ran}") == 2
    (refused,) = rows_of(door)
    assert (refused.rack, refused.kind) == ("r", "refused")
    assert (refused.body["reason"], refused.body["ticket"]) == ("disk swap", "CHG1")
    (tmp_path / "none").mkdir()
    nowhere = Door(tmp_path / "none", "file", "lab")
    nowhere.found.session.rack = None
    assert nowhere.run("host touch {ran}") == 2 and not nowhere.ran
    given(nowhere, {"accept-opaque": True})
    assert nowhere.run("host touch {ran}") == 0 and nowhere.ran
    rows = rows_of(nowhere)
    assert {row.rack for row in rows} == {""} and rows[0].kind == "refused"
    assert {row.body[word] for row in rows for word in ("reason", "ticket") if word in row.body} == {""}


@pytest.mark.parametrize(
    ("by", "on", "hint"), [("typed", "lab", False), ("file", "lab", True), ("typed", "production", True)]
)
def test_a_pager_is_offered_where_it_is_refused(by: str, on: str, hint: bool, tmp_path: Path) -> None:
    """Who may not set a program of his own is told what pages; who may is not."""
    door = Door(tmp_path, by, on)
    code = door.run("set pager {ran}")
    assert (code == 2, "set pager on" in door.err.getvalue()) == (hint, hint)


@pytest.mark.parametrize(("on", "noted"), [("lab", True), ("monitor", False), ("production", False), ("", True)])
def test_an_ssh_config_is_journalled_where_its_programs_may_start(on: str, noted: bool, tmp_path: Path) -> None:
    """A named file with programs leaves a row only where one of them may be started, also without a rack."""
    door = Door(tmp_path, "typed", on or "lab")
    if not on:
        door.found.session.rack = None
    note_config(door.found.session, door.found.services, str(tmp_path / "cfg"))
    assert bool(rows_of(door)) is noted


def test_what_counts_as_a_load() -> None:
    """Of a recipe's parameters those of kind command, of an experiment's lines those that begin with host; quotes around all of
    it are none of it, and none is no load."""
    recipe = parse_recipe("loaded", RECIPE)
    for value, loads in {
        "'fio a.fio'": {"fio a.fio"},
        "fio 'a b'": {"fio 'a b'"},
        "none": set(),
        " ": set(),
        "": set(),
    }.items():
        assert loads_given(recipe, {"LOAD": value, "text": "touch x"}) == loads, value
    lines = ["host 'touch x'", "host --accept-opaque fio a.fio", "list cell", "set timeout 9s", "alter cell comment=x"]
    assert loads_in(lines) == {"touch x", "fio a.fio"}


@pytest.mark.parametrize(("by", "on", "way"), [("file", "production", True), ("typed", "monitor", False)])
def test_who_may_type_a_load_is_told_so(by: str, on: str, way: bool, tmp_path: Path) -> None:
    """A load that a file gives can be typed on a production rack, and that is said; one that was typed under -m is not."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "loaded.exa").write_text(RECIPE)
    door = Door(tmp_path, by, on)
    assert door.run("run loaded load='touch {ran}'") == 2
    assert ("type that run yourself, with its load" in " ".join(door.err.getvalue().split())) is way
