"""Checks against facts: what holds, what does not, and how that is said."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.plan.checks import failure, selects
from exacell.plan.model import Check, Op

ROWS: list[dict[str, Any]] = [
    {"name": "ssd_FD_00_x", "status": "active", "size": 16, "asmModeStatus": "UNUSED"},
    {"name": "ssd_FD_01_x", "status": "inactive", "size": 32, "asmModeStatus": None},
    {"name": "DATA_CD_00_x", "status": "Active", "size": 64, "asmModeStatus": "ONLINE"},
]


def check(attribute: str = "name", op: Op = Op.EQ, value: Any = None, why: str = "", **where: Any) -> Check:
    return Check(object="griddisk", attribute=attribute, op=op, value=value, where=where, why=why)


HOLDS = [
    check("status", value="ACTIVE", name="ssd_FD_00_x"),
    check("STATUS", value="active", NAME="SSD_fd_00_X"),
    check("size", value=16.0, name="ssd_FD_00_x"),
    check("status", op=Op.IN, value=("active", "inactive")),
    check("size", op=Op.IN, value=(16, 32), name="ssd_*"),
    check("size", op=Op.ABOVE, value=15),
    check("size", op=Op.AT_LEAST, value=16),
    check("size", op=Op.BELOW, value=65),
    check("size", op=Op.AT_MOST, value=64),
    check("size", op=Op.NOT_ABOVE, value=64),
    check("status", op=Op.NOT_ABOVE, value=1),
    check("asmDiskSize", op=Op.NOT_ABOVE, value=1),
    check("size", op=Op.NE, value=8),
    check("asmModeStatus", value="", name="ssd_FD_01_x"),
    check("asmModeStatus", value=None, name="ssd_FD_01_x"),
    check(op=Op.ABSENT, name="nix*"),
    check(op=Op.COUNT, value=2, name="ssd_*"),
    check(op=Op.COUNT, value=2, name=("ssd_FD_00_x", "DATA_CD_00_x")),
    check(op=Op.COUNT, value=0, name="nix"),
    check(op=Op.COUNT, value=1, size="32"),
]

FAILS = [
    (check("status", value="active"), "griddisk ssd_FD_01_x: status is inactive, not active"),
    (check("size", value=16, name="ssd_*"), "griddisk ssd_FD_01_x: size is 32, not 16"),
    (check("size", op=Op.ABOVE, value=16), "griddisk ssd_FD_00_x: size is 16, not above 16"),
    (check("size", op=Op.AT_LEAST, value=17), "size is 16, not at least 17"),
    (check("size", op=Op.BELOW, value=64), "griddisk DATA_CD_00_x: size is 64, not below 64"),
    (check("size", op=Op.AT_MOST, value=63), "griddisk DATA_CD_00_x: size is 64, not at most 63"),
    (check("size", op=Op.NOT_ABOVE, value=63), "griddisk DATA_CD_00_x: size is 64, not at most 63"),
    (check("status", op=Op.ABOVE, value=1), "status is active, not above 1"),
    (check("size", op=Op.NE, value=16), "size is 16, which must not be"),
    (check("asmModeStatus", op=Op.IN, value=("UNUSED", "DROPPED")), "asmModeStatus is empty, not UNUSED or DROPPED"),
    (check("status", value=None), "status is active, not empty"),
    (check("status", value=()), "status is active, not empty"),
    (check("status", value="active", name="nix"), "there is no griddisk with name=nix"),
    (
        check(op=Op.ABSENT, name="ssd_*", why="the name is taken"),
        "griddisk ssd_FD_00_x, ssd_FD_01_x exists; the name is taken",
    ),
    (check(op=Op.COUNT, value=3, name="ssd_*"), "2 griddisk instead of 3"),
    (check("nosuch", value="x", name="ssd_FD_00_x"), "nosuch is empty, not x"),
]


@pytest.mark.parametrize("wanted", HOLDS, ids=lambda c: c.sentence)
def test_holds(wanted: Check) -> None:
    """A check that holds for every selected record gives no reason."""
    assert failure(wanted, ROWS) == ""


@pytest.mark.parametrize(("wanted", "reason"), FAILS, ids=[c.sentence for c, _ in FAILS])
def test_fails(wanted: Check, reason: str) -> None:
    """A check that does not hold names object, attribute, value and what was wanted, with the rule behind it."""
    assert failure(wanted, ROWS).endswith(reason)


def test_no_record_never_holds() -> None:
    """A fact about something that is not there does not hold; only absence and a count of nothing do."""
    assert failure(check("status", value="active"), []) == "there is no griddisk"
    assert failure(check("status", op=Op.NE, value="active"), [])
    assert failure(check(op=Op.ABSENT), []) == ""
    assert failure(check(op=Op.COUNT, value=0), []) == ""


def test_a_long_list_is_cut() -> None:
    """At most three names are given."""
    assert failure(check(op=Op.ABSENT), [*ROWS, *ROWS]) == "griddisk ssd_FD_00_x, ssd_FD_01_x, DATA_CD_00_x … exists"


@pytest.mark.parametrize(
    ("where", "selected"),
    [
        ({}, True),
        ({"name": "SSD_FD_00_X"}, True),
        ({"name": "ssd_*", "status": "active"}, True),
        ({"name": "ssd_*", "status": "inactive"}, False),
        ({"name": ("a", "ssd_FD_00_x")}, True),
        ({"name": ()}, False),
        ({"nosuch": ""}, True),
        ({"name": "ssd"}, False),
    ],
)
def test_selects(where: dict[str, Any], selected: bool) -> None:
    """All conditions must match: as text without case, as one of several, or as a prefix."""
    assert selects(check(**where), ROWS[0]) is selected


MEANS_THE_SAME = [
    (
        "dbPlan",
        "((name=SPOT,flashlog=off),(name=other,flashLog=on))",
        "((name='SPOT', flashLog=off),(name=other,flashlog=on))",
    ),
    (
        "dbPlan",
        "name=other,flashlog=on\nname=spot,flashlog=off",
        '((name="SPOT",flashLog=OFF),(name=OTHER,flashlog=on))',
    ),
    ("dbPlan", "((name=a,share=8,flashcachesize=10G))", "((name=a,flashCacheSize=10240m,share=08))"),
    ("dbPlan", "((name=a,level=1,allocation=5,type=database))", "((name=a,level=01,allocation=005))"),
    ("catPlan", "((name=batch,level=1,allocation=20))", "(( NAME = 'Batch' , level = 1 , allocation = 20 ))"),
    ("clusterPlan", "", '""'),
    ("comment", "moved on Friday", " moved on Friday "),
    ("availableTo", ("+ASM", "+ASM2"), ("+asm2", "+ASM")),
    ("availableTo", "+ASM,+ASM2", ("+asm2", "+ASM")),
    ("availableTo", None, ()),
]


@pytest.mark.parametrize(("attribute", "printed", "sent"), MEANS_THE_SAME)
def test_what_means_the_same_is_the_same(attribute: str, printed: Any, sent: Any) -> None:
    """A value is compared by what it means: order, case, quotes, blanks and how a number is written don't count."""
    assert not failure(check(attribute, value=sent), [{"name": "x", attribute: printed}])


MEANS_ANOTHER = [
    ("dbPlan", "((name=SPOT,flashlog=on))", "((name='SPOT', flashLog=off))"),
    ("dbPlan", "((name=a,share=8))", "((name=a,share=80))"),
    ("dbPlan", "((name=a,share=8))", ""),
    ("comment", "a  b", "a b"),
    ("availableTo", ("+ASM",), ("+ASM", "+ASM2")),
]


@pytest.mark.parametrize(("attribute", "printed", "sent"), MEANS_ANOTHER)
def test_what_means_another_thing_is_told(attribute: str, printed: Any, sent: Any) -> None:
    """A value that means something else than what was sent is called so, with both."""
    assert f"{attribute} is" in failure(check(attribute, value=sent), [{"name": "x", attribute: printed}])


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (check("size", value=288 << 30), "size is 364.75G, not 288G"),
        (check("size", value=391647330305), "size is 364.75G, not 364.8G"),
        (check("size", op=Op.AT_LEAST, value=25603700000000), "size is 364.75G, not at least 23.29T"),
    ],
)
def test_sizes_are_told_as_a_person_reads_them(wanted: Check, said: str) -> None:
    """No size of twelve digits stands in the reason why a check does not hold."""
    assert failure(wanted, [{"name": "d", "size": 391647330304}]) == f"griddisk d: {said}"
