"""SQL: one line of it, what is exacell's own statement, and what SQL*Plus answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exacell.care.sqltext import END, ROWS, mounts, one_line, own_statement, read_rows
from exacell.errors import StatementError


@pytest.mark.parametrize("sql", ["select 1 from dual; drop table t", "", " ; ", "select 'a from dual", "/"])
def test_one_statement_only(sql: str) -> None:
    """A second statement, an open quote or nothing at all is an error before anything is sent."""
    with pytest.raises(StatementError):
        one_line(sql)


def test_no_line_is_a_command_to_sqlplus() -> None:
    """What stands on several lines is sent on one, so that no line of it is SQL*Plus's own word."""
    assert "\n" not in one_line("select 1 -- x\nfrom dual\nwhere 'a\n!rm b' is not null;\n")
    assert one_line("select 1\n-- x\nfrom dual;").split() == ["select", "1", "from", "dual"]


@given(st.text(max_size=60))
def test_whatever_is_given_is_one_line_or_an_error(text: str) -> None:
    """No text gets a line end through to SQL*Plus."""
    try:
        line = one_line(text)
    except StatementError:
        return
    assert "\n" not in line
    assert not line.endswith(";")


@pytest.mark.parametrize(
    ("sql", "own"),
    [
        ("drop diskgroup data_ssd", "drop diskgroup DATA_SSD"),
        ("DROP DISKGROUP x INCLUDING CONTENTS", "drop diskgroup X"),
        ("alter diskgroup data rebalance power 8", "set rebalance power=8 diskgroup=DATA"),
        ("drop diskgroup x force including contents", ""),
        ("alter diskgroup data add disk 'o/*/x'", ""),
    ],
)
def test_pasted_asm_statements_are_ours(sql: str, own: str) -> None:
    """What exacell has a statement for becomes that statement, and nothing more than it says does."""
    assert own_statement(sql) == own


def test_mount() -> None:
    """A plain mount is known, a forced one is not."""
    assert mounts("alter diskgroup data mount") == "DATA"
    assert mounts("alter diskgroup data mount force") == ""


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
