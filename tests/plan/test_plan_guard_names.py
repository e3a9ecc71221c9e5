"""Names of disks that are each cell's own: which of them a statement for several cells sends to which."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_factory import CELLS, cell, grid, rack
from plan_guarding import guard

from exacell.cellcli.nodes import Group, Scalar
from exacell.cellcli.statement import Change, Grant, Setting, parse, render
from exacell.core.errors import RefusedError
from exacell.plan.guards.targets import own_of, takes_own_name, without_names

ONE, TWO, THREE = CELLS


def sent(text: str, accepted: tuple[str, ...] = ()) -> dict[str, str]:
    return {step.target: step.statement for step in guard(text, accepted=accepted).steps}


def change(text: str) -> Change:
    statement = parse(text)
    assert isinstance(statement, Change)
    return statement


def test_each_cell_is_sent_the_names_of_its_own_cell_disks() -> None:
    """ALTER CELLDISK that names disks of several cells goes to each with its own; a cell that has none gets nothing."""
    names = f"FD_00_{ONE},fd_01_{ONE},FD_00_{THREE}"
    found = sent(f"alter celldisk {names} comment=x")
    assert found == {
        ONE: f"ALTER CELLDISK FD_00_{ONE}, fd_01_{ONE} comment=x",
        THREE: f"ALTER CELLDISK FD_00_{THREE} comment=x",
    }
    assert sent("alter celldisk all comment=x") == dict.fromkeys(CELLS, "ALTER CELLDISK ALL comment=x")


def test_what_makes_a_cell_disk_keeps_its_name() -> None:
    """CREATE and IMPORT CELLDISK name what is not there yet: their names go as they are."""
    assert set(sent("create celldisk NEW lun=0_1").values()) == {"CREATE CELLDISK NEW lun=0_1"}
    assert set(sent("import celldisk NEW lun=0_1").values()) == {"IMPORT CELLDISK NEW lun=0_1"}


def test_a_grid_disk_is_made_with_each_cell_s_own_names() -> None:
    """CREATE GRIDDISK with {cell} sends, proves and takes back each cell's own disk."""
    plan = guard("create griddisk p_{cell} celldisk=FD_00_{cell}, size=112M")
    for step in plan.steps:
        own = f"p_{step.target}"
        assert step.statement == f"CREATE GRIDDISK {own} cellDisk=FD_00_{step.target}, size=112M"
        assert [check.where for check in step.proves] == [{"name": (own,)}] == [check.where for check in step.needs]
        assert plan.inverse[step.target] == (f"release griddisk name={own}",)
    assert plan.targets == tuple(rack())


@pytest.mark.parametrize("place", ["celldisk", "cellDisk"])
def test_own_names_stand_in_names_and_in_the_cell_disk_alone(place: str) -> None:
    """A comment keeps what stands in it, a list of values too, and what is left without the names tells of a {cell} there."""
    statement = change(f"create griddisk p_{{cell}} {place}='FD_00_{{CELL}}', comment='{{cell}}'")
    own = render(own_of(statement, "cel1"))
    assert "GRIDDISK p_cel1 " in own and "'FD_00_CEL1'" in own and "comment='{cell}'" in own
    rest = render(without_names(statement))
    assert "p_{cell}" not in rest and "{CELL}" not in rest and "comment='{cell}'" in rest
    several = Setting(attribute=place, value=Group(items=(Scalar(text="FD_00_{cell}"),)))
    listed = Change(verb=statement.verb, object="GRIDDISK", names=("p",), settings=(several,))
    assert own_of(listed, "cel1") == listed


@pytest.mark.parametrize(
    ("text", "kind", "short"),
    [
        ("drop celldisk fd_00", "cell disk", "FD_00"),
        ("alter celldisk FD_00 comment=x", "cell disk", "FD_00"),
        ("drop griddisk DATA_CD_00", "grid disk", "DATA_CD_00"),
        ("alter griddisk data_cd_00 inactive", "grid disk", "DATA_CD_00"),
    ],
)
def test_a_disk_named_without_its_cell_is_asked_about(text: str, kind: str, short: str) -> None:
    """A name that lacks the cell's at its end is offered with it, and the word for each cell's own where several have one."""
    typed = text.split()[2]
    with pytest.raises(RefusedError, match=f"there is no {kind} {typed}; nothing was sent") as refused:
        guard(text)
    assert refused.value.hint == f"did you mean {short}_{ONE}, or {typed}_{{cell}} for each cell's own?"
    with pytest.raises(RefusedError) as refused:
        guard(text, cell(TWO))
    assert refused.value.hint == f"did you mean {short}_{TWO}?"


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("alter griddisk DATA_CD_00_{cell} comment=x", True),
        ("create griddisk a_{cell} celldisk='FD_00_{cell}'", True),
        ("drop celldisk CD_00_{cell}", True),
        ("alter griddisk a comment='{cell}'", False),
        ("alter cell comment='{cell}'", False),
        ("create celldisk NEW_{cell} lun=0_1", False),
        ("alter cell comment=x", True),
        ("grant role r to user u", True),
    ],
)
def test_where_each_cell_gets_its_own_name(text: str, takes: bool) -> None:
    """{cell} is each cell's name in the names of disks and in what CREATE makes them on, and nowhere else."""
    statement = parse(text)
    assert isinstance(statement, (Change, Grant))
    assert takes_own_name(statement) is takes


def test_a_disk_of_that_very_name_is_no_slip() -> None:
    """A name that a disk has is meant as it stands, also where another disk is called so with its cell behind."""
    found = cell(grid_disks=(replace(grid("CD_00_x"), name="A"), replace(grid("CD_01_x"), name=f"A_{CELLS[0]}")))
    assert guard("alter griddisk A comment=x", found).steps
