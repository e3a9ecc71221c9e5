"""SQL pasted where a statement is expected."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, strategies as st

from exacell.care.sqltext import one_line
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.pasted_sql import sql_error, without_comments
from exacell.language.words import split_statements
from exacell.plan.dbchange import quoted
from exacell.prompt.check import segments
from tests.support.every import every

CREATE = (
    "create diskgroup DATA2 normal redundancy disk 'o/*/DATA2_*' attribute 'compatible.asm'='19.0.0.0', "
    "'au_size'='4M', 'cell.smart_scan_capable'='TRUE'"
)


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        (CREATE, "create diskgroup DATA2 prefix=DATA2 redundancy=normal compatible.asm=19.0.0.0 au_size=4M"),
        (CREATE.upper(), "create diskgroup DATA2 prefix=DATA2 redundancy=normal compatible.asm=19.0.0.0 au_size=4M"),
        (
            "CREATE DISKGROUP x\n  HIGH REDUNDANCY DISK 'o/*/ssd_disk_*';",
            "create diskgroup x prefix=ssd_disk redundancy=high",
        ),
        (
            "on exa1cel01 create diskgroup X disk 'o/*/P_*'",
            "create diskgroup X prefix=P redundancy=normal",
        ),
        ("drop diskgroup X including contents", 'sql asm "drop diskgroup X including contents"'),
        ("alter diskgroup DATA add disk 'o/*/x_*'", "sql asm \"alter diskgroup DATA add disk 'o/*/x_*'\""),
        ("select name from v$asm_diskgroup", 'sql asm "select name from v$asm_diskgroup"'),
    ],
)
def test_what_to_type_instead_is_told_and_parses(typed: str, own: str) -> None:
    """Pasted SQL is refused with the statement that does it, which is one; the mark is at the SQL."""
    with pytest.raises(StatementError) as raised:
        parse_line(typed)
    assert f"type: {own}".lower() in raised.value.hint.lower()
    assert typed[raised.value.start : raised.value.end].split()[0].lower() == own.removeprefix('sql asm "').split()[0]
    assert parse_line(own) is not None


@pytest.mark.parametrize(
    "typed",
    [
        "create diskgroup X external redundancy failgroup a disk 'o/*/A_*' failgroup b disk 'o/*/B_*'",
        "create diskgroup X normal redundancy disk 'o/c1/A_*','o/c2/A_*'",
        "create diskgroup X flex redundancy disk 'o/*/A_*'",
    ],
)
def test_no_statement_is_made_up(typed: str) -> None:
    """SQL that says more than our statement can is answered with its form only."""
    error = sql_error(typed)
    assert error is not None and "type:" not in error.hint and "prefix=p" in error.hint


@pytest.mark.parametrize("typed", ["create diskgroup X norml", "drop diskgroup", "alter griddisk x", "selct x", ""])
def test_a_mistyped_statement_is_not_taken_for_sql(typed: str) -> None:
    """What is no SQL keeps its own error."""
    assert sql_error(typed) is None


BLOCK = "declare a integer; b integer; begin dbms_resource_manager.calibrate_io(4, 10, a, b, a); end;"


def advised(text: str) -> str:
    """Return what is to be typed for a text of SQL."""
    with pytest.raises(StatementError) as raised:
        parse_line(text)
    found = re.match(r"type: (.*?)(?:; sql opens .*)?\Z", raised.value.hint, re.DOTALL)
    assert found is not None, raised.value.hint
    return found[1]


def sent(line: str) -> str:
    """Return the SQL that a statement has."""
    parsed = parse_line(line)
    assert parsed is not None and parsed.call is not None and parsed.call.command.words[0] == "sql", line
    return parsed.call.text_arg("text")


@every(
    [
        ('ALTER SYSTEM SET "_x"=TRUE', "sql db=NAME 'ALTER SYSTEM SET \"_x\"=TRUE'"),
        ("ALTER SYSTEM SET \"_x\"='y'", 'sql db=NAME "ALTER SYSTEM SET ""_x""=\'y\'"'),
        (
            "alter database add logfile group 9 ('+DATA') size 4g",
            "sql db=NAME \"alter database add logfile group 9 ('+DATA') size 4g\"",
        ),
        ("ALTER DATABASE DROP LOGFILE GROUP 9", 'sql db=NAME "ALTER DATABASE DROP LOGFILE GROUP 9"'),
        (
            "create table a (b number) storage (cell_flash_cache keep)",
            'sql db=NAME "create table a (b number) storage (cell_flash_cache keep)"',
        ),
        ("select a from b where c = 'x  --y'  -- note", "sql db=NAME \"select a from b where c = 'x  --y'\""),
        ("select 'asm_x' from dual", "sql db=NAME \"select 'asm_x' from dual\""),
        ("alter system set asm_power_limit=4", 'sql asm "alter system set asm_power_limit=4"'),
        ("insert into a values ('b;c')", "sql db=NAME \"insert into a values ('b;c')\""),
        (
            "exec dbms_stats.delete_schema_stats('APP')",
            "sql db=NAME \"begin dbms_stats.delete_schema_stats('APP'); end;\"",
        ),
        (
            "alter session set events '10046 x'",
            "sql db=NAME \"begin execute immediate 'alter session set events ''10046 x'''; end;\"",
        ),
        (BLOCK, f'sql db=NAME "{BLOCK}"'),
        ("on exa1db01 alter database mount", 'sql db=NAME "alter database mount"'),
    ]
)
def test_sql_is_answered_with_the_line_that_sends_it(text: str, way: str) -> None:
    """SQL, PL/SQL and EXECUTE are answered with one line that sends all of it, to ASM only where ASM is meant."""
    assert advised(text) == way and sent(way)


_WORDS = st.text(st.sampled_from("ab \"'_=;(),-/*|>."), max_size=24)


@given(_WORDS)
def test_the_advised_line_sends_the_same_text(said: str) -> None:
    """Whatever quotes of both kinds a statement holds, the line that is advised reads back to it."""
    text = f"alter system set x={said}"
    try:
        whole = one_line(text)
    except StatementError:
        assume(False)
    error = sql_error(text)
    assert error is not None
    found = sent(error.hint.removeprefix("type: "))
    literal = r"""('(?:[^']|'')*'|"[^"]*")|\s+"""
    assert found == re.sub(literal, lambda match: match[1] or " ", whole)


@given(st.text(st.characters(blacklist_categories=("Cc", "Cs"))))
def test_every_text_can_be_quoted(text: str) -> None:
    """A text in quotes is one word of a statement, which is that text, whatever quotes it holds."""
    assume(text.strip())
    assert sent(f"sql db=x {quoted(text)}") == text


def test_a_block_is_one_statement() -> None:
    """PL/SQL that is pasted, over lines and with its / behind it, is one statement, and what follows is another; SQL's comments
    take nothing of the next line with them."""
    assert split_statements(BLOCK) == [BLOCK]
    lines = BLOCK.replace("; ", ";\n")
    assert [each.text for each in segments(f"{lines}\n/\nlist cell")] == [BLOCK, "list cell"]
    (found,) = segments("select a -- first\n from b;")
    assert " ".join(found.text.split()) == "select a from b"


@pytest.mark.parametrize("text", ["'it''s -- a'", "q'[it's -- a]'", '"N -- n"', "/* -- a */"])
def test_a_comment_in_a_text_is_no_comment(text: str) -> None:
    """What looks like a comment inside a text, a name or another comment stays, and the comment behind it goes."""
    assert without_comments(f"select {text} from b -- c\n") == f"select {text} from b     \n"


@pytest.mark.parametrize(
    ("attributes", "own"),
    [
        ("'compatible.rdbms'='', 'compatible.asm'='', 'cell.smart_scan_capable'='TRUE', 'au_size'='4M'", " au_size=4M"),
        ("'compatible.rdbms' = ' ' , 'au_size'='4M'", " au_size=4M"),
        ("'cell.smart_scan_capable'='FALSE'", " cell.smart_scan_capable=FALSE"),
        ("'x'='a b'", ' x="a b"'),
        ("'x'='a', 'x'='b'", None),
        ("'x'='a' SIZE 4G", None),
    ],
)
def test_a_disk_group_is_advised_with_all_that_was_said_and_nothing_empty(attributes: str, own: str | None) -> None:
    """Each attribute with a value stands in the statement, none without; where something else is said, none is made up."""
    error = sql_error(f"create diskgroup D disk 'o/*/P_*' attribute {attributes}")
    assert error is not None
    assert error.hint.startswith("type:") is (own is not None)
    if own is not None:
        assert error.hint == f"type: create diskgroup D prefix=P redundancy=normal{own}"
        line = parse_line(error.hint.removeprefix("type: "))
        assert line is not None and line.call is not None and "" not in line.call.extra.values()


@pytest.mark.parametrize(
    "disks", ["'o/exa1cel01/P_*'", "'o/*/P_*' size 4g", "'o/*/P_*' force", "'o/*/P_CD_00_exa1cel01'"]
)
def test_a_disk_group_on_some_disks_is_not_advised_on_all(disks: str) -> None:
    """One cell's disks, some of their space, or force are no statement of exacell's own."""
    error = sql_error(f"create diskgroup D external redundancy disk {disks}")
    assert error is not None and not error.hint.startswith("type:")
