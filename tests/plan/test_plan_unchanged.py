"""When CellCLI's own statement would change nothing, and when that can't be told for certain."""

from __future__ import annotations

from typing import Any

import pytest
from plan_factory import CELLS, DBPLAN, cell

from exacell.cellcli.iorm import parse as parse_iorm
from exacell.cellcli.statement import Change, Scalar, Setting, Verb, parse
from exacell.plan.guards.unchanged import (
    doubt,
    holds_already,
    same_iorm_plan,
    services_of,
    told_by,
    with_changes,
)
from exacell.plan.model import Plan, Stage, Step, Undo
from tests.support.every import every

SERVICES_TOLD = (
    "list cell attributes name, rsStatus, msStatus, cellsrvStatus, egsStatus, ersStatus, sysEdsStatus, usrEdsStatus, "
    "bsmStatus, bswStatus, ifdStatus, releaseVersion"
)
TOLD = {
    "alter cell comment='x'": "list cell attributes name, comment",
    "alter cell COMMENT='x', flashcachemode=writeback": "list cell attributes name, comment, flashCacheMode",
    "alter griddisk a,b size=1G, cachingPolicy=none": "list griddisk attributes name, size, cachingPolicy",
    "alter griddisk all harddisk comment=x": "list griddisk attributes name, diskType, comment",
    "alter celldisk all comment=x": "list celldisk attributes name, diskType, comment",
    "alter threshold x warning=1, critical=2": "list threshold attributes name, warning, critical",
    "create threshold x comparison='>', critical=2": "list threshold attributes name, comparison, critical",
    "drop threshold x": "list threshold attributes name",
    "create role r": "list role attributes name",
    "drop role r": "list role attributes name",
    "drop user u": "list user attributes name",
    "drop user all": "",
    "drop role r force": "",
    "drop quarantine 1": "list quarantine attributes name",
    "drop quarantine all": "",
    "create user u password=x": "list user attributes name",
    "create celldisk a": "",
    # Not settings alone, not told by LIST, or done anew each time.
    "alter griddisk all active": "",
    "alter griddisk all flashdisk size=1G where size > 1G": "",
    "alter griddisk a size=1G force": "",
    "alter griddisk a size=1G active": "",
    "alter cell comment='x' restart services ms": "",
    "alter cell snmpuser.admin='x'": "",
    "alter cell restart services ms": "",
    "alter cell led on": "list cell attributes name, locatorLEDStatus",
    "alter cell donotserviceled off": "list cell attributes name, doNotServiceLEDStatus",
    "alter physicaldisk 20:0 serviceled on": "",
    # No cell tells that of a database server.
    "alter cell validate mail": "",
    "alter cell startup services ms": SERVICES_TOLD,
    "alter cell startup services all": SERVICES_TOLD,
    "alter cell shutdown services rs": SERVICES_TOLD,
    "alter cell startup services egs": SERVICES_TOLD,
    "alter cell shutdown services ifd": SERVICES_TOLD,
    # With MS stopped nobody answers, and a service that is disabled is more than one that is stopped.
    "alter cell disable services egs": "",
    "alter cell shutdown services ms": "",
    "alter cell shutdown services all": "",
    "alter threshold all warning=1": "list threshold attributes name, warning",
    "alter cell events='immediate cellsrv.x()'": "",
    "alter flashcache all size=1G": "",
    "alter flashcache all flush": "",
    "create griddisk a celldisk=b, size=1G": "",
    "drop griddisk a": "",
    "alter iormplan objective=auto": "",
    "grant role r to user u": "list user attributes name, roles",
    "revoke role r, s from user u": "list user attributes name, roles",
    "grant role all to user u": "",
    "revoke role r from user all": "",
    "grant privilege list on cell to role r": "",
    "grant privilege list on cell all attributes with all options to role r": "list role attributes name, privileges",
    "revoke privilege list on cell attributes name with options detail from role r": "list role attributes name, privileges",
    "grant privilege list on cell all attributes to role r": "",
    "grant privilege list on cell with all options to role r": "",
    "grant privilege list on cell all attributes with all options to role all": "",
    "grant privilege list, alter on cell all attributes with all options to role r": "",
    "grant privilege list on cell, griddisk all attributes with all options to role r": "",
    "create key": "",
    "describe privilege": "",
    "list cell": "",
}


@every(TOLD.items())
def test_what_is_asked_to_tell_it(text: str, wanted: str) -> None:
    """Only settings of objects that LIST prints as they were given are compared; for all else nothing is asked."""
    assert told_by(parse(text)) == wanted


LIMIT = Setting(attribute="warning", value=Scalar(text="1"))
UNREAL = {
    "a DROP that sets something": Change(verb=Verb.DROP, object="THRESHOLD", settings=(LIMIT,)),
    "another verb of a role": Change(verb=Verb.ALTER, object="ROLE", names=("r",)),
    "a role without a name": Change(verb=Verb.CREATE, object="ROLE"),
    "a service that is not a cell's": parse("alter dbserver startup services ms"),
    "a light that is not a cell's": parse("alter dbserver led on"),
}


@pytest.mark.parametrize("why", UNREAL)
def test_nothing_is_asked_for_what_cellcli_has_no_words_for(why: str) -> None:
    """What only looks like a statement of plain attributes, or like one by name, is told by no LIST."""
    assert told_by(UNREAL[why]) == ""


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


@every(HELD)
def test_only_what_is_equal_on_every_object_is_unchanged(text: str, same: bool) -> None:
    """An ALTER changes nothing when each object that it means has each value; a doubt counts as a change."""
    assert holds_already(parse(text), ROWS) is same  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", ["cachingPolicy=none", "size=1G", "comment=X"])
def test_a_value_that_was_not_printed_is_none_that_was_asked_for(setting: str) -> None:
    """A word of CellCLI does not match a value that the cell left empty, nor does any other value in another case."""
    assert not holds_already(parse(f"alter griddisk c_cd_00 {setting}"), UNTOLD)  # type: ignore[arg-type]


THRESHOLDS: tuple[dict[str, Any], ...] = (
    {"name": "DB_IO.x", "comparison": ">", "critical": 120.0, "warning": None, "occurrences": 1},
)
NAMED = [
    ("create threshold db_io.x comparison='>', critical=120", True),
    ("create threshold db_io.x comparison='>', critical=121", False),
    ("create threshold db_io.x comparison='>', warning=120", False),
    ("create threshold db_io.y comparison='>', critical=120", False),
    ("alter threshold DB_IO.X occurrences=1", True),
    ("alter threshold DB_IO.X occurrences=2", False),
    ("drop threshold db_io.x", False),
    ("drop threshold db_io.y", True),
    ("drop threshold db_io.y,db_io.x", False),
    ("create role db_io.x", True),
    ("create role other", False),
    ("drop role DB_IO.x", False),
    ("drop user other", True),
]


@every(NAMED)
def test_what_stands_under_a_name(text: str, same: bool) -> None:
    """A DROP of what is not there, and a CREATE of what is there with those values, change nothing."""
    assert holds_already(parse(text), THRESHOLDS) is same  # type: ignore[arg-type]
    assert holds_already(parse(text), ()) is text.startswith("drop")  # type: ignore[arg-type]


UP = {"name": "c", "rsStatus": "running", "msStatus": "running", "cellsrvStatus": "running", "releaseVersion": "19.3.2"}
EXASCALE = {f"{name}Status": "running" for name in ("egs", "ers", "sysEds", "usrEds", "bsm", "bsw", "ifd")} | {
    "releaseVersion": "24.1.0"
}
SERVICES: list[tuple[str, dict[str, Any], bool]] = [
    ("alter cell startup services ms", UP, True),
    ("alter cell startup services cellsrv", {**UP, "rsStatus": "stopped"}, True),
    ("alter cell startup services cellsrv", {**UP, "cellsrvStatus": "stopped"}, False),
    ("alter cell startup services cellsrv", {**UP, "cellsrvStatus": "unknown"}, False),
    ("alter cell startup services cellsrv", {**UP, "cellsrvStatus": None}, False),
    ("alter cell startup services all", UP, True),
    ("alter cell startup services all", {**UP, "rsStatus": "stopped"}, False),
    # From 24.1 on ALL may mean Exascale's services.
    ("alter cell startup services all", {**UP, "releaseVersion": "24.1.0"}, False),
    ("alter cell startup services all", {**UP, **EXASCALE, "egsStatus": "stopped"}, False),
    ("alter cell startup services all", {**UP, **EXASCALE, "ifdStatus": None}, False),
    ("alter cell startup services all", {**UP, **EXASCALE}, True),
    ("alter cell startup services all", {**UP, **EXASCALE, "rsStatus": "stopped"}, False),
    ("alter cell startup services all", {**UP, "releaseVersion": None}, False),
    ("alter cell startup services egs", {**UP, **EXASCALE}, True),
    ("alter cell startup services egs", {**UP, **EXASCALE, "egsStatus": "stopped"}, False),
    ("alter cell shutdown services egs", {**UP, **EXASCALE, "egsStatus": "stopped"}, True),
    ("alter cell shutdown services usreds", {**UP, **EXASCALE}, False),
    ("alter cell startup services egs", UP, False),
    ("alter cell startup services rs", {**UP, "releaseVersion": "24.1.0"}, True),
    ("alter cell shutdown services cellsrv", UP, False),
    ("alter cell shutdown services cellsrv", {**UP, "cellsrvStatus": "stopped"}, True),
]


@every(SERVICES)
def test_a_service_that_is_as_it_shall_be(text: str, row: dict[str, Any], same: bool) -> None:
    """STARTUP of what runs and SHUTDOWN of what is stopped change nothing; what LIST CELL does not tell is sent."""
    if told_by(parse(text)):
        assert holds_already(parse(text), (row,)) is same  # type: ignore[arg-type]
        assert not holds_already(parse(text), ())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (UP, ""),
        ({**UP, **EXASCALE}, ""),
        ({**UP, **EXASCALE, "rsStatus": "stopped", "egsStatus": "stopped"}, ""),
        ({**UP, **EXASCALE, "egsStatus": "stopped"}, "EGS does not, and cells don't show whether ALL starts it"),
        ({**UP, **EXASCALE, "egsStatus": "stopped", "bsmStatus": None}, "BSM, EGS do not, and cells don't show whether"),
    ],
)  # fmt: skip
def test_what_is_sent_though_it_may_change_nothing_is_said(row: dict[str, Any], said: str) -> None:
    """Where all runs that every cell has, the plan for ALL says which of Exascale's services make it be sent once more."""
    found = doubt(parse("alter cell startup services all"), {"c": (row,)}, ["c"])
    assert said in found and bool(found) is bool(said)
    for other in ("startup services egs", "shutdown services all", "restart services all"):
        assert not doubt(parse(f"alter cell {other}"), {"c": (row,)}, ["c"])


def test_which_services_were_seen_running() -> None:
    """What is told to run already is those that were asked for; a stopped one is none of them."""
    assert services_of(parse("alter cell startup services ms")) == ("ms",)
    assert services_of(parse("alter cell startup services all")) == ("rs", "ms", "cellsrv")
    assert (
        services_of(parse("alter cell shutdown services rs"))
        == services_of(parse("list cell"))
        == services_of(parse(GRANT))
        == ()
    )


GRANT = "grant privilege list on griddisk all attributes with all options to role r"
FULL = "object=griddisk, verb=list, attributes=all attributes, options= all options"
SOME = "object=cell, verb=alter, attributes=comment,name, options=all options"
EVERY = "object=all objects, verb=all actions, attributes=all attributes, options=all options"
PRIVILEGES: list[tuple[str, object, bool, bool]] = [
    # (statement, what LIST ROLE tells of the role, whether that is so already, whether it can be told)
    (GRANT, FULL, True, True),
    (GRANT, f"{FULL}; {SOME}", True, True),
    (GRANT, f"{SOME}\n{FULL}", True, True),
    (GRANT, (SOME, FULL), True, True),
    (GRANT, SOME, False, True),
    (GRANT, "", False, True),
    (GRANT, None, False, True),
    (GRANT, EVERY, False, True),
    # What is not wholly made of privileges tells nothing.
    (GRANT, f"{FULL}; and so on", False, False),
    (GRANT, f"{FULL}, role=x", False, False),
    (GRANT, "list on griddisk", False, False),
    (GRANT.replace("list", "LIST"), FULL.replace("griddisk", "GRIDDISK"), True, True),
    (GRANT.replace("all attributes", "attributes name"), FULL, False, True),
    ("grant privilege alter on cell attributes name, comment with all options to role r", SOME, True, True),
    (
        "grant privilege alter on cell attributes name, comment with all options to role r",
        SOME.replace("comment,", "comment,,"),
        True,
        True,
    ),
    ("grant privilege alter on cell attributes name with all options to role r", SOME, False, True),
    ("grant privilege all actions on all objects all attributes with all options to role r", EVERY, True, True),
    ("grant privilege all actions on all objects all attributes with all options to role r", FULL, False, True),
    (GRANT.replace("role r", "role r, s"), FULL, False, True),
    # A REVOKE changes nothing where no privilege of the role speaks of that action on that object.
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), "", True, True),
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), SOME, True, True),
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), FULL, False, True),
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), EVERY, False, True),
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), FULL.replace("all options", "detail"), False, True),
    (GRANT.replace("grant", "revoke").replace(" to ", " from "), "nix", False, False),
]


@every(PRIVILEGES)
def test_what_a_role_may_do_already(text: str, told: object, same: bool, sure: bool) -> None:
    """A privilege that a role has just so is not granted again; where that can't be told, the plan says so."""
    statement, rows = parse(text), ({"name": "R", "privileges": told}, {"name": "other", "privileges": "nix"})
    assert holds_already(statement, rows) is same  # type: ignore[arg-type]
    line = doubt(statement, {CELLS[0]: rows}, CELLS[:1])
    assert (line == "") is sure and ("LIST ROLE does not show" in line) is not sure


def test_a_privilege_that_is_granted_unasked_is_told() -> None:
    """A cell that gave no answer, and a statement for which there is no LIST, leave a doubt; other statements none."""
    rows = ({"name": "r", "privileges": SOME},)
    assert doubt(parse(GRANT), {CELLS[0]: rows}, CELLS[:2]) and not doubt(parse(GRANT), {CELLS[0]: rows}, CELLS[:1])
    assert doubt(parse("grant privilege list on cell to role r"), {}, CELLS[:1])
    assert not doubt(parse("create flashcache all"), {}, CELLS), "it names nothing that a cell may lack"
    for made in ("create role r", "create quarantine quarantineType='SQLID', sqlid='x'"):
        assert not doubt(parse(made), {CELLS[0]: ()}, CELLS[:1]), "what is made is not there before"
    assert not doubt(parse("grant role r to user u"), {}, CELLS) and not doubt(parse("describe privilege"), {}, CELLS)


def test_a_cell_without_such_objects_is_sent_the_statement() -> None:
    """Where there is no such object nothing is unchanged: the cell says what it thinks."""
    assert not holds_already(parse("alter griddisk all comment=x"), ())  # type: ignore[arg-type]


CHANGED = [
    ("alter griddisk a_cd_00 size=2G, comment=x", [("A_CD_00", "size", "1G", "2G")]),
    ("alter griddisk all comment=''", [("A_CD_00", "comment", "x", "-")]),
    (
        "alter griddisk all cachingPolicy=default",
        [("A_CD_00", "cachingPolicy", "none", "default"), ("B_CD_00", "cachingPolicy", "none", "default")],
    ),
    ("alter griddisk b_cd_00 comment=y", [("B_CD_00", "comment", "-", "y")]),
    ("alter griddisk nix comment=y", []),
    ("alter griddisk a_cd_00 comment=(x,y)", []),
    ("create griddisk a_cd_00 celldisk=x, size=2G", []),
    ("drop threshold a_cd_00", []),
    ("grant role r to user u", []),
]


@pytest.mark.parametrize(("text", "changes"), CHANGED)
def test_a_plan_says_what_becomes_of_each_attribute(text: str, changes: list[tuple[str, ...]]) -> None:
    """The step of an ALTER of plain attributes holds each value that becomes another, per object; a cell not asked has none."""
    steps = tuple(Step(target=cell, statement=text, what="w") for cell in CELLS[:2])
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="t", steps=steps),))
    told, silent = with_changes(plan, parse(text), {CELLS[0]: ROWS}).steps
    assert [(c.name, c.attribute, c.before, c.after) for c in told.changes] == changes
    assert silent.changes == ()


STATES = {**UP, "locatorLEDStatus": "off", "doNotServiceLEDStatus": "On"}
LIGHTS: list[tuple[str, dict[str, Any], bool]] = [
    ("alter cell led on", STATES, False),
    ("alter cell led off", STATES, True),
    ("alter cell led on", {**STATES, "locatorLEDStatus": "blinking"}, False),
    ("alter cell led on", {**STATES, "locatorLEDStatus": None}, False),
    ("alter cell donotserviceled on", STATES, True),
    ("alter cell donotserviceled off", STATES, False),
]


@pytest.mark.parametrize(("text", "row", "same"), LIGHTS)
def test_a_light_that_is_as_it_shall_be(text: str, row: dict[str, Any], same: bool) -> None:
    """A light that shines, or does not, as it shall is left alone; one that the cell does not tell is switched."""
    assert holds_already(parse(text), (row,)) is same  # type: ignore[arg-type]
    assert not holds_already(parse(text), ())  # type: ignore[arg-type]


STATES_CHANGED = [
    ("alter cell led on", {}, [("locatorLEDStatus", "off", "on")]),
    ("alter cell led off", {}, []),
    ("alter cell led on", {"locatorLEDStatus": None}, []),
    ("alter cell donotserviceled off", {}, [("doNotServiceLEDStatus", "On", "off")]),
    ("alter cell startup services cellsrv", {"cellsrvStatus": "stopped"}, [("cellsrvStatus", "stopped", "running")]),
    ("alter cell startup services cellsrv", {}, []),
    ("alter cell startup services cellsrv", {"cellsrvStatus": None}, []),
    ("alter cell shutdown services cellsrv", {}, [("cellsrvStatus", "running", "stopped")]),
    ("alter cell shutdown services cellsrv", {"cellsrvStatus": "stopped"}, []),
    ("alter cell startup services all", {"msStatus": "stopped"}, [("msStatus", "stopped", "running")]),
]


@pytest.mark.parametrize(("text", "row", "changes"), STATES_CHANGED)
def test_a_plan_says_what_becomes_of_services_and_lights(
    text: str, row: dict[str, Any], changes: list[tuple[str, str, str]]
) -> None:
    """The step says each state that becomes another; one that the cell did not tell, or that stays, is none of them."""
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="t", steps=(Step(target=CELLS[0], what="w"),)),))
    (step,) = with_changes(plan, parse(text), {CELLS[0]: ({**STATES, **row},)}).steps
    assert [(c.object, c.name) for c in step.changes] == [("cell", "c")] * len(changes)
    assert [(c.attribute, c.before, c.after) for c in step.changes] == changes


@pytest.mark.parametrize(
    ("text", "row", "before"),
    [
        ("alter griddisk x size=2G", {"size": None}, "-"),
        ("alter griddisk x size=2G", {"size": 1 << 30}, "1G"),
        ("alter threshold x occurrences=2048", {"occurrences": 1024}, "1024"),
    ],
)
def test_only_a_size_is_shown_as_one(text: str, row: dict[str, Any], before: str) -> None:
    """A plan shows a size with its unit, a number without one, and what the cell did not tell as nothing."""
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="t", steps=(Step(target=CELLS[0], what="w"),)),))
    (step,) = with_changes(plan, parse(text), {CELLS[0]: ({"name": "x", **row},)}).steps
    assert [c.before for c in step.changes] == [before]


@every([(True, "TRUE"), (False, "FALSE"), (None, "-")])
def test_a_boolean_stands_in_a_plan_as_cells_print_it(value: object, before: str) -> None:
    """A boolean attribute is shown in CellCLI's words, so that the value before can be set again."""
    plan = Plan(
        statement="s", rack="t1", stages=(Stage(title="t", steps=(Step(target=CELLS[0], statement="s", what="w"),)),)
    )
    rows = ({"name": CELLS[0], "metricCollection": value},)
    (told,) = with_changes(plan, parse(f"alter cell metricCollection={not value}"), {CELLS[0]: rows}).steps
    assert [change.before for change in told.changes] == [before]


def test_a_list_of_values_is_shown_as_it_is_typed() -> None:
    """What a cell told as a list stands in the plan with commas."""
    text = "alter griddisk c_cd_00 availableTo=c"
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="t", steps=(Step(target=CELLS[0], what="w"),)),))
    rows = ({"name": "C_CD_00", "availableTo": ("a", "b")},)
    (step,) = with_changes(plan, parse(text), {CELLS[0]: rows}).steps
    assert [(c.before, c.after) for c in step.changes] == [("a,b", "c")]


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


@every(PLANS)
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


ROLES = [{"name": "u", "roles": ("a", "b")}, {"name": "V", "roles": "a, c"}, {"name": "w", "roles": None}]


@every(
    {
        "grant role a to user u": True,
        "grant role A, b to user U": True,
        "grant role a to user u, v": True,
        "grant role a, b to user u, v": False,
        "grant role c to user u": False,
        "grant role a to user w": False,
        "grant role a to user x": False,
        "revoke role c from user u": True,
        "revoke role a from user w": True,
        "revoke role a, c from user u": False,
        "revoke role b from user u, v": False,
        "revoke role a from user x": False,
        "grant role none to user w": False,
        # Nobody has a role without a name.
        "grant role '' to user w": False,
        "grant role '' to user v": False,
        "revoke role '' from user w": True,
        "create user u password=x": True,
        "create user W password=x": True,
        "create user x password=x": False,
        "create role w": True,
        "create role x": False,
    }.items()
)
def test_what_is_there_is_neither_made_nor_granted_again(text: str, same: bool) -> None:
    """Users and roles by name, and the roles of users, should be known to be there; what is not there should be sent."""
    assert holds_already(parse(text), ROLES) == same


def test_names_that_no_cell_has_are_doubted_and_sent_all_the_same() -> None:
    """The plan names the nearest that there is, where every cell told and none has it; a quarantine is never held for dropped."""
    told = {"c1": [{"name": "1"}], "c2": [{"name": "12"}]}
    cases = {
        "drop quarantine 7": "there is no quarantine 7; there are: 1, 12",
        "drop quarantine 13": "there is no quarantine 13; did you mean 1?",
        "drop quarantine 12": "",
        "drop quarantine all": "",
        "alter threshold 7 warning=1": "there is no threshold 7; there are: 1, 12",
    }
    for text, said in cases.items():
        statement = parse(text)
        assert isinstance(statement, Change)
        assert doubt(statement, told, ["c1", "c2"]) == said, text
        assert doubt(statement, told, ["c1", "c2", "c3"]) == "", text
        if statement.verb == "DROP":
            assert not any(holds_already(statement, rows) for rows in told.values()), text


def test_a_quarantine_that_is_altered_tells_nothing() -> None:
    """Of ALTER QUARANTINE no LIST says whether it changes anything; of DROP by name the names do."""
    assert told_by(parse("alter quarantine 1 comment=x")) == ""
    assert told_by(parse("drop quarantine 1")) == "list quarantine attributes name"


@pytest.mark.parametrize(
    "text", ["create threshold x.y comparison='>', warning=1", "create role r", "create user u password=p"]
)
def test_what_is_created_is_dropped_to_take_it_back(text: str) -> None:
    """Undo drops a threshold, role or user where the cell showed that it was not there; elsewhere, and where the cell did not
    show it, there is no undo."""
    statement = parse(text)
    assert isinstance(statement, Change)
    steps = tuple(Step(target=each, statement=text, what="x", undo=Undo.IMPOSSIBLE, inverse="none") for each in CELLS)
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="send", steps=steps),))
    (name,) = statement.names
    taken = with_changes(plan, statement, {CELLS[0]: ({"name": "other"},), CELLS[1]: ({"name": name.upper()},)})
    drop = f"DROP {statement.object} {name}"
    assert taken.inverse == {CELLS[0]: (drop,)}
    assert [(step.undo, step.inverse) for step in taken.steps] == [
        (Undo.STATEMENT, drop),
        (Undo.IMPOSSIBLE, "none"),
        (Undo.IMPOSSIBLE, "none"),
    ]


@pytest.mark.parametrize("text", ["create griddisk g celldisk=CD_00_exa1cel01, size=1G", "grant role r to user u"])
def test_what_another_statement_creates_has_its_own_way_back(text: str) -> None:
    """A grid disk that is created by name, or a role that is granted, gets no DROP from here: other code plans its way back."""
    step = Step(target=CELLS[0], statement=text, what="x", undo=Undo.IMPOSSIBLE, inverse="none")
    plan = Plan(statement=text, rack="t1", stages=(Stage(title="send", steps=(step,)),))
    assert with_changes(plan, parse(text), {CELLS[0]: ({"name": "other"},)}) == plan
    assert with_changes(plan, UNREAL["a role without a name"], {CELLS[0]: ({"name": "other"},)}) == plan
