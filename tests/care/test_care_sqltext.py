"""SQL: one line of it, what is exacell's own statement, and what SQL*Plus answers."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from exacell.care.sqltext import (
    END,
    ROWS,
    is_unit,
    one_line,
    read_rows,
    refuse_session_bound,
    sent_script,
)
from exacell.core.errors import RefusedError, StatementError


@pytest.mark.parametrize("sql", ["select 1 from dual; drop table t", "", " ; ", "select 'a from dual", "/"])
def test_one_statement_only(sql: str) -> None:
    """A second statement, an open quote or nothing at all is an error before anything is sent."""
    with pytest.raises(StatementError):
        one_line(sql)


def test_no_line_is_a_command_to_sqlplus() -> None:
    """What stands on several lines is sent on one, so that no line of it is SQL*Plus's own word."""
    assert "\n" not in one_line("select 1 -- x\nfrom dual\nwhere 'a\n!rm b' is not null;\n")
    assert one_line("select 1\n-- x\nfrom dual;").split() == ["select", "1", "from", "dual"]


UNITS = [
    "begin null; end;",
    "BEGIN null; end;\n/\n",
    "begin null; end; /",
    "declare n number; begin null; end;",
    "<<a>> begin null; end;",
    "/* why */ begin null; end;",
    "create or replace procedure p is begin null; end;",
    "create editionable package p as x number; end;",
    "create or replace trigger t after insert on x begin null; end;\n/",
    "with function f return number is begin return 1; end; select f from dual;",
]


@pytest.mark.parametrize("sql", UNITS)
def test_plsql_is_one_statement_that_a_slash_sends(sql: str) -> None:
    """PL/SQL, with or without its own slash, is sent with one ; at its end and one line that holds only a slash."""
    line = one_line(sql)
    assert is_unit(line)
    lines = sent_script(line).splitlines()
    assert [row for row in lines if row.strip() == "/"] == ["/"]
    place = lines.index("/")
    assert lines[place - 1] == f"{line};" and not line.endswith((";", "/"))
    assert lines[place + 1] == f"prompt {END}"


@pytest.mark.parametrize(
    "sql", ["alter system switch logfile", "delete from t where a = 'begin'", "create table p (a int)"]
)
def test_sql_is_sent_by_its_semicolon_alone(sql: str) -> None:
    """What is no PL/SQL gets no slash, which would run it a second time."""
    assert "/" not in sent_script(one_line(f"{sql}\n/")).splitlines()


def test_a_slash_behind_a_semicolon_is_a_second_run() -> None:
    """SQL*Plus would run SQL twice that ends with both, so it is refused."""
    with pytest.raises(StatementError, match="there is more after ;"):
        one_line("delete from t;\n/")


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("alter session set nls_date_format = 'YYYY'", "alter session"),
        ("ALTER\n SESSION enable parallel dml", "alter session"),
        ("-- why\nset role none", "set role"),
        ("set transaction read only", "set transaction"),
        ("savepoint a", "savepoint"),
        ("commit", "commit"),
        ("rollback", "rollback"),
        ("lock table t in exclusive mode", "lock table"),
        ("create private temporary table t (a int)", "create private temporary table"),
    ],
)
def test_what_ends_with_its_session_is_refused(sql: str, what: str) -> None:
    """A statement whose effect is gone when its session ends is refused with that reason and a way to send it."""
    with pytest.raises(RefusedError, match=f"^{what} lasts only for its session") as caught:
        refuse_session_bound(one_line(sql))
    assert "in one block" in caught.value.hint


@pytest.mark.parametrize(
    "sql", ["begin execute immediate 'alter session set x=1'; end", "alter system set x=1", "select 'commit' from dual"]
)
def test_what_lasts_is_not_refused(sql: str) -> None:
    """A block, and what only names such a statement, pass."""
    refuse_session_bound(sql)


@given(st.text(max_size=60))
def test_whatever_is_given_is_one_line_or_an_error(text: str) -> None:
    """No text gets a line end through to SQL*Plus."""
    try:
        line = one_line(text)
    except StatementError:
        return
    assert "\n" not in line
    assert not line.endswith(";")


CSV = '\n"NAME","N","NOTE"\n"A ""q"", b",12,\n"two\nlines",1.5,"x"\n'
WIDE = "\nNAME             N NOTE\n------- ---------- ----\nA b            -12\nC               .5 x\n"


def test_answers_are_read() -> None:
    """CSV and, of old releases, columns become names and typed values."""
    csv = read_rows(f"{ROWS}\n{CSV}{END}\n")
    assert csv.columns == ("NAME", "N", "NOTE")
    assert csv.rows == (('A "q", b', 12, None), ("two\nlines", 1.5, "x"))
    wide = read_rows(f"SP2-0158: unknown SET option\n{ROWS}\n{WIDE}{END}\n")
    assert wide.columns == ("NAME", "N", "NOTE")
    assert wide.rows == (("A b", -12, None), ("C", 0.5, "x"))


def test_no_rows() -> None:
    """An empty answer has no rows."""
    assert read_rows(f"{ROWS}\n\n{END}\n").rows == ()
