"""The exacli program as transport: what ExaCLI has, who is logged in, and what is never sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exacell.cellcli.tokens import cut_statements
from exacell.core.config import RackConfig, Reach
from exacell.core.errors import ConfigError, RefusedError
from exacell.transport.base import State
from exacell.transport.capabilities import EXACLI, EXACLI_CLOUD, statements_in
from exacell.transport.exacli import ExacliTransport, without_services
from tests.support.requests import read, write

NEVER = [
    "ALTER CELL RESTART SERVICES ALL",
    "alter cell  shutdown services ms",
    "alter cell startup services cellsrv",
    "CREATE USER a PASSWORD=*",
    "GRANT ROLE r TO USER a",
    "revoke role r from user a",
    "list user detail",
    "CALIBRATE FORCE",
    "DESCRIBE CELL",
    "list cell attributes msStatus",
]
ALWAYS = [
    "list cell",
    "list cell attributes name",
    "alter griddisk all active",
    "alter cell comment='restart'",
    "drop flashcache",
]
CLOUD = {
    "list griddisk": True,
    "alter iormplan objective=auto": True,
    "create diagpack packStartTime=now": True,
    "list quarantine": True,
    "drop quarantine 1": True,
    "alter cell comment=x": False,
    "drop flashcache all": False,
}


@pytest.mark.parametrize("statement", NEVER)
def test_what_exacli_does_not_have_is_said(statement: str) -> None:
    """Statements that ExaCLI does not have are named by the capabilities, each with its rule."""
    assert "ExaCLI" in EXACLI.problem(statement)


@pytest.mark.parametrize("statement", ALWAYS)
def test_what_exacli_has_is_let_through(statement: str) -> None:
    """CellCLI's other statements are ExaCLI's, too."""
    assert EXACLI.problem(statement) == ""


@pytest.mark.parametrize("statement", CLOUD)
def test_a_cloud_customer_may_do_less(statement: str) -> None:
    """A cloud customer's login lists, alters the IORM plan, and manages diagpacks and quarantines only."""
    assert (EXACLI_CLOUD.problem(statement) == "") is CLOUD[statement]


COMMANDS = {
    "cellcli -e 'list cell; list griddisk where name = \"a;b\"'": ("list cell", 'list griddisk where name = "a;b"'),
    "cellcli -n -x -xml -e 'list cell'": ("list cell",),
    "cellcli -e list cell": ("list cell",),
    "( cellcli -e 'list cell') 2>&1": None,
    "cellcli -e 'list cell' | wc -l": ("list cell | wc -l",),
    "hostname": None,
    "cellcli": None,
    "cellcli -e": None,
    "cellcli -n -x": None,
    "cellcli start -e list cell": None,
    "echo -e list cell": None,
    "cellcli -e 'unended": None,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_only_one_run_of_cellcli_is_read_as_statements(command: str) -> None:
    """A remote command line that is more than one run of cellcli -e has no statements that exacli could be given."""
    assert statements_in(command) == COMMANDS[command]


def test_quotes_protect_semicolons() -> None:
    """A ; inside of quotes ends no statement; an unended quote is text."""
    assert cut_statements("a 'x;y'; b \";\" ; c it's; d") == ["a 'x;y'", 'b ";"', "c it's", "d"]
    assert cut_statements("a; ;b;") == ["a", "b"]


SERVICES = {
    "list cell attributes name, cellsrvStatus, makeModel": "list cell attributes name, makeModel",
    "LIST CELL ATTRIBUTES name,msStatus DETAIL": "LIST CELL ATTRIBUTES name DETAIL",
    "list cell attributes cellsrvStatus": "list cell attributes cellsrvStatus",
    "list cell attributes name": "list cell attributes name",
    "list cell attributes name,makeModel": "list cell attributes name,makeModel",
    "list griddisk attributes name, msStatus": "list griddisk attributes name, msStatus",
    "list cell": "list cell",
}


@pytest.mark.parametrize("statement", SERVICES)
def test_the_status_of_services_is_left_out(statement: str) -> None:
    """What plans ask besides the status of services is still asked; a list of nothing else stays and is refused."""
    assert without_services(statement) == SERVICES[statement]


def test_without_a_cookie_the_way_to_one_is_said(made: Any, tmp_path: Path) -> None:
    """A cell on which nobody is logged in is unreachable, with the command that logs in."""
    jar = tmp_path / "empty"
    reply = (
        made(ExacliTransport, cookie_jar=str(jar))
        .run([read("exa1cel01", "cellcli -e 'list cell'")])
        .replies["exa1cel01"]
    )
    assert reply.state is State.UNREACHABLE
    assert f"--cookie-jar {jar} -e 'list cell'" in reply.problem


def test_exacli_gets_the_statements_that_it_has(tmp_path: Path) -> None:
    """A plan's read goes without the status of services, and a change as it is; what is refused starts no program."""
    program, log = tmp_path / "exacli", tmp_path / "log"
    program.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$last" >> {log}\n')
    program.chmod(0o700)
    transport = ExacliTransport(RackConfig(name="t", cells=("c1",), reach=Reach(exacli=str(program))))
    assert transport.run([read("c1", "cellcli -e 'list cell attributes name, msStatus; list griddisk'")]).ok
    assert transport.run([write("c1", "cellcli -e 'alter cell comment=x'")]).ok
    with pytest.raises(RefusedError, match="ExaCLI does not list the status of services"):
        transport.run([read("c1", "cellcli -e 'list cell attributes msStatus'")])
    assert log.read_text() == "list cell attributes name; list griddisk\nalter cell comment=x\n"


def test_a_command_line_is_never_given_to_exacli(made: Any) -> None:
    """Anything but CellCLI statements is refused, naming the transport."""
    with pytest.raises(RefusedError, match="transport exacli carries only CellCLI statements"):
        made(ExacliTransport).run([write("exa1cel01", "hostname")])


def test_a_read_that_changes_something_is_refused(made: Any) -> None:
    """ExaCLI has no -m: a statement that is no LIST is never sent as a read."""
    with pytest.raises(RefusedError, match="is not a read"):
        made(ExacliTransport).run([read("exa1cel01", "cellcli -m -e 'alter cell comment=x'")])


def test_the_cells_errors_come_back(made: Any) -> None:
    """What the Management Server answers is the reply's text, whatever it is."""
    reply = made(ExacliTransport).run([read("exa1cel01", "cellcli -e 'list nothing'")]).replies["exa1cel01"]
    assert "CELL-01504" in reply.stdout


def test_a_missing_program_is_said() -> None:
    """Where there is no exacli the transport can't be chosen, and the error says how to name it."""
    rack = RackConfig(name="x", cells=("c1",), reach=Reach(exacli="/nowhere/exacli"))
    with pytest.raises(ConfigError, match="/nowhere/exacli") as error:
        ExacliTransport(rack)
    assert "exacli =" in error.value.hint


def test_the_emulated_exacli_knows_what_it_does_not_have(rack: Any) -> None:
    """The emulated program refuses the same statements by itself: the two were not written from one another."""
    jar = rack.config.reach.cookie_jar
    for statement in NEVER:
        done = rack.exacli("-c", "exa1cel01", "-l", "celladmin", "--cookie-jar", jar, "-e", statement)
        assert "CELL-02913" in done.stdout, (statement, done)


def test_the_emulated_exacli_asks_for_a_password(rack: Any, tmp_path: Path) -> None:
    """Without a cookie a password is asked for; a jar keeps what was granted, readable by its owner only."""
    jar = tmp_path / "jar"
    call = ("-c", "celladmin@exa1cel01", "--cookie-jar", str(jar), "-e", "list cell")
    assert rack.exacli(*call).returncode == 1
    assert "exa1cel01" in rack.exacli(*call, stdin="secret\n").stdout
    assert jar.stat().st_mode & 0o777 == 0o600
    assert rack.exacli(*call).returncode == 0
