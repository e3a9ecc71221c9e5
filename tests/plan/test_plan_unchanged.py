"""When CellCLI's own ALTER would change nothing, and when that can't be told for certain."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import DBPLAN, cell

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.cellcli.statement import Change, Scalar, Setting, Verb, parse
from exacell.plan.unchanged import holds_already, nothing_to_drop, same_iorm_plan, told_by

TOLD = {
    "alter cell comment='x'": "list cell attributes name, comment",
    "alter cell COMMENT='x', flashcachemode=writeback": "list cell attributes name, comment, flashCacheMode",
    "alter griddisk a,b size=1G, cachingPolicy=none": "list griddisk attributes name, size, cachingPolicy",
    "alter griddisk all harddisk comment=x": "list griddisk attributes name, comment",
    "alter celldisk all comment=x": "list celldisk attributes name, comment",
    # Not settings alone, not told by LIST, or done anew each time.
    "alter griddisk all active": "",
    "alter griddisk all flashdisk size=1G where size > 1G": "",
    "alter griddisk a size=1G force": "",
    "alter griddisk a size=1G active": "",
    "alter cell comment='x' restart services ms": "",
    "alter cell snmpuser.admin='x'": "",
    "alter cell restart services ms": "",
    "alter cell events='immediate cellsrv.x()'": "",
    "alter flashcache all size=1G": "",
    "alter flashcache all flush": "",
    "create griddisk a celldisk=b, size=1G": "",
    "drop griddisk a": "",
    "alter iormplan objective=auto": "",
    "grant role r to user u": "",
    "list cell": "",
}


@pytest.mark.parametrize(("text", "wanted"), TOLD.items())
def test_what_is_asked_to_tell_it(text: str, wanted: str) -> None:
    """Only settings of objects that LIST prints as they were given are compared; for all else nothing is asked."""
    assert told_by(parse(text)) == wanted


ROWS: tuple[dict[str, Any], ...] = (
    {"name": "A_CD_00", "size": 1 << 30, "comment": "x", "cachingPolicy": "none"},
    {"name": "B_CD_00", "size": 2 << 30, "comment": None, "cachingPolicy": "none"},
)
UNTOLD: tuple[dict[str, Any], ...] = ({"name": "C_CD_00", "size": None, "comment": "x", "cachingPolicy": None},)
HELD = [
    ("alter griddisk a_cd_00 size=1G", True),
    ("alter griddisk a_cd_00 size=1024M, comment='x'", True),
    ("alter griddisk a_cd_00 size=1G, comment='X'", False),
    ("alter griddisk a_cd_00,b_cd_00 size=1G", False),
    ("alter griddisk a_cd_00,b_cd_00 cachingPolicy=NONE", True),
    ("alter griddisk all cachingPolicy=none", True),
    ("alter griddisk all cachingPolicy=default", False),
    ("alter griddisk all harddisk size=2G", False),
    ("alter griddisk b_cd_00 comment=''", True),
    ("alter griddisk a_cd_00 comment=''", False),
    # A name that the cell does not know is the cell's to refuse.
    ("alter griddisk a_cd_00,nix size=1G", False),
    ("alter griddisk nix size=1G", False),
    # Nothing is known of what it did not print.
    ("alter griddisk a_cd_00 availableTo=''", False),
    # What a list of values looks like in LIST is not known.
    ("alter griddisk a_cd_00 comment=(x,y)", False),
]


@pytest.mark.parametrize(("text", "same"), HELD)
def test_only_what_is_equal_on_every_object_is_unchanged(text: str, same: bool) -> None:
    """An ALTER changes nothing when each object that it means has each value; a doubt counts as a change."""
    assert holds_already(parse(text), ROWS) is same  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", ["cachingPolicy=none", "size=1G", "comment=X"])
def test_a_value_that_was_not_printed_is_none_that_was_asked_for(setting: str) -> None:
    """A word of CellCLI does not match a value that the cell left empty, nor does any other value in another case."""
    assert not holds_already(parse(f"alter griddisk c_cd_00 {setting}"), UNTOLD)  # type: ignore[arg-type]


def test_a_cell_without_such_objects_is_sent_the_statement() -> None:
    """Where there is no such object nothing is unchanged: the cell says what it thinks."""
    assert not holds_already(parse("alter griddisk all comment=x"), ())  # type: ignore[arg-type]


PLANS = [
    ("objective=auto", True),
    ("objective=AUTO", True),
    ("objective=basic", False),
    (f"dbplan={DBPLAN}", True),
    ("dbplan=((name=ERP,share=4,flashCache=off),(name=SPOT,share=8,limit=80),(name=default,share=1))", True),
    ("dbplan=((name=SPOT,share=8))", False),
    ('dbplan=""', False),
    (f"dbplan='{DBPLAN}'", True),
    (f"dbplan={DBPLAN}, objective=auto", True),
    (f"dbplan={DBPLAN}, objective=basic", False),
    ('objective=auto, catplan=""', False),
    ("dbplan=((name=SPOT,nix=1))", False),
    ("active", False),
]


@pytest.mark.parametrize(("text", "same"), PLANS)
def test_an_iorm_plan_is_compared_by_its_directives(text: str, same: bool) -> None:
    """ALTER IORMPLAN changes nothing when objective and directives are those that the cell holds; others count as changes."""
    assert same_iorm_plan(parse(f"alter iormplan {text}"), cell()) is same


def test_an_unknown_iorm_plan_is_changed() -> None:
    """Where the cell told no plan nothing is unchanged."""
    assert not same_iorm_plan(parse('alter iormplan dbplan=""'), cell(iorm=None))
    for text in ("alter griddisk a size=1G", "alter cell comment=auto", "grant role r to user u", "list iormplan"):
        assert not same_iorm_plan(parse(text), cell())
    assert same_iorm_plan(parse('alter iormplan dbplan=""'), cell(iorm=parse_iorm("")))


OBJECTIVE = Setting(attribute="objective", value=Scalar(text="auto"))
NO_PLANS = {
    "nothing set": Change(verb=Verb.ALTER, object="IORMPLAN"),
    "another object": Change(verb=Verb.ALTER, object="CELL", settings=(OBJECTIVE,)),
    "another verb": Change(verb=Verb.CREATE, object="IORMPLAN", settings=(OBJECTIVE,)),
}


@pytest.mark.parametrize("why", NO_PLANS)
def test_only_what_sets_the_iorm_plan_leaves_it_as_it_is(why: str) -> None:
    """What sets nothing, or not the IORM plan, never counts as unchanged, whatever its settings are called."""
    assert not same_iorm_plan(NO_PLANS[why], cell())
    assert same_iorm_plan(Change(verb=Verb.ALTER, object="IORMPLAN", settings=(OBJECTIVE,)), cell())


DROPS = [
    ("drop flashcache", {}, ""),
    ("drop flashcache", {"flash_cache": None}, "it has no flash cache"),
    ("drop flashcache", {"flash_cache": None, "release": ""}, ""),
    ("drop flashlog", {}, ""),
    ("drop flashlog force", {"flash_log": 0}, "it has no flash log"),
    ("drop pmemcache", {}, ""),
    ("drop griddisk a", {"flash_cache": None, "flash_log": 0}, ""),
    ("drop celldisk all", {"flash_cache": None, "flash_log": 0}, ""),
    ("grant role r to user u", {"flash_cache": None}, ""),
    ("create flashcache all", {"flash_cache": None}, ""),
    ("alter flashcache all flush", {"flash_cache": None}, ""),
]


@pytest.mark.parametrize(("text", "changes", "why"), DROPS)
def test_what_is_not_there_is_not_dropped(text: str, changes: dict[str, Any], why: str) -> None:
    """DROP of a cache or log that the cell has not changes nothing; what was not read is left to the cell."""
    assert nothing_to_drop(parse(text), cell(**changes)) == why
