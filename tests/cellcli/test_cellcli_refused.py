"""CellCLI statements that are refused as they were typed, before any cell is asked anything."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from exacell.cellcli.nodes import List
from exacell.cellcli.statement import parse
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.output.terminal import TerminalConsole
from exacell.runner import Runner
from exacell.transport.base import Capabilities
from exacell.transport.capabilities import EXACLI, EXACLI_CLOUD
from tests.support.sessions import Session


@pytest.mark.parametrize(
    "statement",
    [
        "alter griddisk all comment='{cell}'",
        "alter cell comment='{cell}'",
        "create griddisk p_{cell} celldisk=CD_00_{cell}, comment='{CELL}'",
        "create threshold ct_io_rq_{cell}.a warning=1",
        "drop quarantine {cell}",
        "grant role r_{cell} to user u",
    ],
)
def test_a_cells_own_name_stands_for_disks_only(tmp_path: Path, statement: str) -> None:
    """{cell} elsewhere than in the names of disks refuses a change: as text it would reach all cells as it is."""
    rack = Session(tmp_path)
    with pytest.raises(
        RefusedError, match=r"\(a cell's own name\) is allowed only in LIST, and in ALTER, DROP and CREATE GRIDDISK"
    ):
        rack.say(f"{statement} -y")
    assert rack.answers.asked == []


@pytest.mark.parametrize(
    ("able", "statement", "why"),
    [
        (EXACLI, "list cell attributes name, cellsrvStatus", "ExaCLI does not list the status of services"),
        (EXACLI, "show services", "ExaCLI does not list the status of services"),
        (EXACLI_CLOUD, "show services", "ExaCLI does not list the status of services"),
        (EXACLI, "list user", "ExaCLI does not manage users, roles and privileges"),
    ],
)
def test_what_a_transport_cannot_list_is_refused_whole(
    tmp_path: Path, able: Capabilities, statement: str, why: str
) -> None:
    """Over exacli a LIST that it does not have never comes out as an empty value."""
    rack = Session(tmp_path)
    rack.answers.capabilities = able  # type: ignore[attr-defined]
    with pytest.raises(RefusedError, match=f"can't go over the transport {able.name}: {why}; nothing was sent"):
        rack.say(statement)
    assert rack.answers.asked == []
    assert rack.say("list griddisk").exit_code is ExitCode.DONE


@pytest.mark.parametrize("sign", ["+", "-"])
def test_nothing_adds_to_an_iorm_plan(sign: str) -> None:
    """dbplan+= and dbplan-=, which no published CellCLI has, are refused with the rule and the statement for one directive."""
    with pytest.raises(
        StatementError, match=f"sets a plan as a whole: no published CellCLI adds to one by \\{sign}="
    ) as no:
        parse(f"alter iormplan dbplan{sign}=((name=SPOT,share=8))")
    assert "set iorm db=NAME share=8" in str(no.value.hint)


SPREAD = [
    ("list celldisk where diskType = flash disk", "list celldisk where diskType = 'flash disk'"),
    (
        "list physicaldisk where status=warning - poor performance detail",
        "list physicaldisk where status='warning - poor performance'",
    ),
    (
        "list griddisk where status != active and name like a b c attributes name",
        "list griddisk where name like 'a b c'",
    ),
    ("alter cell comment=two words", "alter cell … comment='two words'"),
    ("create griddisk all harddisk prefix=p, comment=two words, size=1g", "create griddisk … comment='two words'"),
]


@pytest.mark.parametrize(("statement", "whole"), SPREAD)
def test_a_value_whose_quotes_are_gone_is_named(statement: str, whole: str) -> None:
    """What a shell leaves of a quoted value of several words is refused with the value in quotes, here and in a shell; what is
    advised is read as that value."""
    with pytest.raises(StatementError) as told:
        parse(statement)
    spread = re.split(r" where | … ", whole)[1]
    assert told.value.hint == (
        f'put a value of several words in quotes: {spread}; in a shell quote the whole: exacell "{whole}"'
    )
    read = parse(whole.replace("…", "").replace("griddisk  comment", "griddisk all harddisk prefix=p, comment"))
    values = (
        [f.value for f in read.filters]
        if isinstance(read, List)
        else [s.value for s in read.settings if s.attribute == "comment"]
    )
    assert [value.text for value in values] == [spread.split("'")[1]]


@pytest.mark.parametrize(
    "clause", ["where name = a", "WHERE size > 1G and status = active", "attributes name, size", "order by name"]
)
def test_a_clause_in_quotes_of_its_own_is_no_name(clause: str) -> None:
    """Whoever quotes the condition alone is told to quote the whole, and not that no cell has a disk of that name."""
    with pytest.raises(StatementError, match="in quotes, so it is read as the name of an object") as told:
        parse(f'list griddisk "{clause}"')
    assert told.value.hint == f'in a shell quote the whole: exacell "list griddisk {clause}"'
    parse(f"list griddisk {clause}")


@pytest.mark.parametrize(
    "statement",
    [
        "list griddisk where name = a wher b = c",  # A clause that is misspelt.
        "list griddisk where name = 'a' b",
        "list griddisk a b",
        "list griddisk detail x",
        "list griddisk where size > 3g, name = a",
        "alter cell comment='a' b",
        "alter cell x=1 y=2",
        "drop griddisk a b",
    ],
)
def test_quotes_are_advised_for_nothing_else(statement: str) -> None:
    """Where the wrong word can't be the rest of a value nobody is told to quote something."""
    with pytest.raises(StatementError) as told:
        parse(statement)
    assert "several words" not in told.value.hint


@pytest.mark.parametrize(
    "statement",
    [
        "alter cell smtpPwd=welcome Hush1",
        "create user joe password=welcome Hush1",
        "alter cell smtpPwd=welcome Hush1, smtpPort=25",
        "alter cell snmpUser=((name=a,authPassword=welcome Hush1))",
        "create user joe password = welcome to Hush1",
    ],
)
def test_the_rest_of_a_password_is_shown_by_no_refusal(tmp_path: Path, statement: str) -> None:
    """A password whose quotes a shell took is masked whole in the error, its hint and what is written about it."""
    rack = Session(tmp_path)
    console = TerminalConsole(err=(said := io.StringIO()), stdin=io.StringIO())
    rack.services.console = console
    runner = Runner(rack.session, rack.services, console, out=(out := io.StringIO()), prefix="")
    assert int(runner.run_text(statement)) == 2
    shown = (
        said.getvalue()
        + out.getvalue()
        + "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    )
    assert "Hush1" not in shown and "welcome" not in shown and "exacell" not in out.getvalue()
    assert "***" in said.getvalue()
