"""Words, quotes, batches and the place at which a wrong statement is wrong."""

from __future__ import annotations

import pytest

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import object_types
from exacell.emulator.grammar.changing import parse, size_of
from exacell.emulator.grammar.tokens import is_comment, statements_of
from tests.support.every import every

R19, R121, R24 = (19, 3), (12, 1, 2), (24, 1)

VALID = """
list cell
LIST CELL DETAIL;
list griddisk attributes name,size where size > 1G
list griddisk where asmDeactivationOutcome != 'Yes' attributes name
list griddisk where not_a_clash = 1
list metriccurrent cl_cput, cl_runq detail
list metriccurrent where name not like 'FC_.*' order by name desc limit 5
list metrichistory cl_cput over 5 max min memory
list alerthistory where examinedBy = NULL
describe flashcache
help alter flashcache
set echo on
create flashcache all size=288g
create flashcache celldisk='FD_00_c,FD_01_c', size=20g
alter flashcache all flush nowait
alter flashcache celldisk='FD_00_c' flush
alter flashcache all cancel flush
drop flashcache all
create flashlog all flashdisk size=512m
drop flashlog force
create griddisk all flashdisk prefix=a
create griddisk all harddisk prefix='a,b', size='1g,2g'
create griddisk a celldisk=CD_00_c size=100M
create griddisk a celldisk=CD_00_c, size=100M, comment="two words"
alter griddisk all inactive
alter griddisk a,b inactive force nowait
alter griddisk all harddisk comment='x' where size > 1G
alter griddisk a where status=active inactive
drop griddisk all flashdisk prefix=a force
drop griddisk a,b erase=3pass nowait
alter celldisk all flashdisk flush nowait
alter cell comment='x', location=here
alter cell snmpsubscriber=((host='a',port=162),(host=b))
alter cell restart services cellsrv
alter cell shutdown services all ignore redundancy
alter iormplan objective=auto, dbplan=((name=a,share=1),(name='b c',limit=5))
alter iormplan dbplan="" catplan=''
""".strip().splitlines()

INVALID = [
    ("list flashcache wher size > 1G", "wher"),
    ("list flashcach", "flashcach"),
    ("lst cell", "lst"),
    ("list", ""),
    ("list flashcache where size > 1G", "where"),
    ("list flashcache foo", "foo"),
    ("list griddisk a,b", ","),
    ("list griddisk where size >= 1G", "= 1G"),
    ("list griddisk where size > 1G or size < 2G", "or"),
    ("list griddisk where size in (1)", "in"),
    ("list griddisk attributes name size", "size"),
    ("list griddisk detail detail", "detail"),
    ("list griddisk where name like 'x", "'x"),
    ("list cell limit 0", "0"),
    ("list cell over 5", "over"),
    ("desc cell", "desc"),
    ("describe cell detail", "detail"),
    ("create iormplan", "iormplan"),
    ("alter flashlog all size=1g", "flashlog"),
    ("create flashcache", ""),
    ("create flashcache all size", ""),
    ("alter flashcache all cancel", ""),
    ("drop griddisk all", ""),
    ("drop griddisk all flashdisk", ""),
    ("drop griddisk all prefix=a erase=2pass", "2pass"),
    ("create griddisk a size=1g", "size"),
    ("alter griddisk a", ""),
    ("alter iormplan", ""),
    ("alter iormplan dbplan=(name=a,share=1)", "name"),
    ("alter iormplan dbplan=((name=a,share=1)", ""),
    ("alter iormplan active", "active"),
    ("alter cell shutdown services", ""),
    ("alter cell shutdown services egs", "egs"),
    ("drop flashcache;;x y", "x"),
]


@every([line for line in VALID if "not_a_clash" not in line])
def test_valid_statements_are_parsed(text: str) -> None:
    """Every form of the documented grammar is a statement."""
    for statement in statements_of(text):
        parse(statement, R19)


@pytest.mark.parametrize(("text", "wrong"), INVALID, ids=lambda part: part if " " in part else "")
def test_a_syntax_error_points_at_the_first_wrong_token(text: str, wrong: str) -> None:
    """CELL-01504 comes with the offset of the token at which the statement stops being one."""
    with pytest.raises(CellError) as caught:
        for statement in statements_of(text):
            parse(statement, R19)
            text = text[len(statement) :].lstrip(";")
    assert caught.value.code is Code.SYNTAX
    expected = text.rindex(wrong) if wrong else len(text)
    assert caught.value.position == expected


def test_unknown_attributes_are_named() -> None:
    """An attribute that the object does not have is refused by its name."""
    with pytest.raises(CellError, match="Attribute nme is not an attribute of GRIDDISK"):
        parse("list griddisk attributes nme", R19)


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("list cluster", R19),
        ("list pmemcache", R121),
        ("list cell attributes flashCacheCompress", R24),
        ("alter iormplan clusterplan=''", R19),
        ("create griddisk all performanceoptimized flashdisk prefix=a", R19),
    ],
)
def test_what_a_release_does_not_have_is_refused(text: str, release: tuple[int, ...]) -> None:
    """Objects, attributes and words of other releases are errors."""
    with pytest.raises(CellError):
        parse(text, release)


def test_order_by_needs_a_limit_for_metrics_only() -> None:
    """ORDER BY without LIMIT is CELL-02026 for METRICCURRENT and fine elsewhere."""
    with pytest.raises(CellError, match="CELL-02026"):
        parse("list metriccurrent order by name", R19)
    parse("list celldisk order by size desc", R19)


def test_batches_are_split_outside_quotes() -> None:
    """A semicolon separates statements except inside quotes; empty statements vanish."""
    assert statements_of("list cell; ;alter cell comment='a;b';") == ["list cell", "alter cell comment='a;b'"]
    assert statements_of("list cell 'x; list lun") == ["list cell 'x; list lun"]


def test_comments_are_whole_lines() -> None:
    """REM, REMARK and -- begin a comment only as the first word of a line."""
    assert all(map(is_comment, ("REM x", "remark", "-- x", "--x")))
    assert not any(map(is_comment, ("remove", "list cell -- x", "")))


@pytest.mark.parametrize(
    ("text", "size"), [("288g", 288 << 30), ("0.5G", 1 << 29), ("100", 100), ("1.1K", 1126), ("16M", 16 << 20)]
)
def test_sizes(text: str, size: int) -> None:
    """K, M, G and T are powers of 1024 in either case; parts of a byte are dropped."""
    assert size_of(text) == size


@pytest.mark.parametrize("text", ["", "big", "-1G", "1GB", "1 G", "1e3"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """A size is a plain number with at most one unit letter."""
    with pytest.raises(CellError, match="Invalid value"):
        size_of(text)


def test_every_verb_of_every_object_has_a_parser() -> None:
    """No statement that the schema says cells know is a syntax error for want of a parser."""
    for name, owner in object_types().items():
        for verb in owner.verbs - {"LIST", "DESCRIBE", "GRANT", "REVOKE", "ASSIGN"}:
            with pytest.raises(CellError) as caught:
                parse(f"{verb} {name} =", (26, 1) if owner.until is None else R19)
            assert caught.value.position != 0, f"{verb} {name}"
