"""CellCLI statements that are refused as they were typed, before any cell is asked anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.cellcli.statement import parse
from exacell.core.errors import ExitCode, RefusedError, StatementError
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
        RefusedError, match=r"\(a cell's own name\) is allowed only in LIST, and in names of cell disks"
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
