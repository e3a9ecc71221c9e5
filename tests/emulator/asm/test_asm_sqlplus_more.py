"""SQL*Plus beyond the everyday: COLUMN's options, SHOW, the buffer, ACCEPT, where scripts are found."""

from __future__ import annotations

import pytest

QUERY = "select name, state, total_mb from v$asm_diskgroup where name = 'DATA';\n"

COLUMNS = {
    "col name format a6 heading 'Disk|Group' justify right": ["  Disk", " Group STATE         TOTAL_MB"],
    "col name format a3 truncated": [
        "NAM STATE         TOTAL_MB",
        "--- ----------- ----------",
        "DAT MOUNTED       15593472",
    ],
    "col state noprint\ncol total_mb format $99,999,990": ["NAME                               TOTAL_MB"],
    "col name format a10 fold_after": ["NAME", "----------", "STATE         TOTAL_MB"],
    "col total_mb newline\ncol name format a5": ["NAME  STATE", "----- -----------", "  TOTAL_MB"],
    "col name format a2\ncol name off\ncol state noprint": ["NAME                             TOTAL_MB"],
    "col gb like total_mb\ncol name alias gr format a4\ncol state noprint": ["NAME   TOTAL_MB"],
    "set numformat 999,999,999\ncol name format a5\ncol state format a7": ["NAME  STATE       TOTAL_MB"],
    "set headsep !\ncol name heading 'A!B' format a4\ncol state noprint": ["A", "B      TOTAL_MB"],
}


@pytest.mark.parametrize("commands", COLUMNS)
def test_how_columns_look(lab, commands):
    """Each option of COLUMN changes headings, widths and lines as the manual says."""
    lines = lab.sql(f"set tab off\n{commands}\n{QUERY}").lines
    assert lines[: len(COLUMNS[commands])] == COLUMNS[commands]


SAYS = {
    "col name format a6\ncol name": ["COLUMN   NAME ON", "FORMAT   a6"],
    "col nosuch": ["SP2-0046: COLUMN 'NOSUCH' not defined"],
    "col name format q": ['SP2-0246: Illegal FORMAT string "q"'],
    "col name frob": ['SP2-0158: unknown COLUMN option "frob"'],
    "show feedback wrap define": [
        "FEEDBACK ON for 6 or more rows",
        "wrap : lines will be wrapped",
        'define "&" (hex 26)',
    ],
    "set feedback 1 linesize 99 null x\nshow feed lines null": [
        "FEEDBACK ON for 1 or more rows",
        "linesize 99",
        'null "x"',
    ],
    "set serveroutput on size unlimited\nshow serveroutput echo": [
        "serveroutput ON SIZE UNLIMITED FORMAT WORD_WRAPPED",
        "echo OFF",
    ],
    "ttitle left 'x' skip 2\nbti off\nselect 1 one from dual;": ["       ONE", "----------", "         1"],
    "show nosuch": ['SP2-0158: unknown SHOW option "nosuch"'],
    "show spool sqlcode": ["spool OFF", "sqlcode 0"],
    "show con_name": ["CON_NAME", "-" * 30, "+ASM"],
    "define _user\ndefine nosuch": ['DEFINE _USER           = "SYS" (CHAR)', 'SP2-0135: symbol "nosuch" is UNDEFINED'],
    "prompt &_connect_identifier": ["+ASM"],
    "set escape on\nprompt a\\&b": ["a&b"],
    "set concat !\ndefine x=1\nprompt &x!2": ["12"],
    "archive log list": ["ORA-15000: command disallowed by current instance type"],
    "startup": ["ORA-01081: cannot start already-running ORACLE - shut it down first"],
    "shutdown immediate": ["ORA-15097: cannot SHUTDOWN ASM instance with connected client"],
    "get x": ['SP2-0042: unknown command "get" - rest of line ignored.'],
    "set markup html on": ['SP2-0158: unknown SET MARKUP option "HTML"'],
    "set feedback only\nselect name from v$asm_diskgroup;": ["2 rows selected."],
    "set sqlprompt '_user>'\nselect 1 one from dual\n\nlist": ["  1* select 1 one from dual"],
    "set recsep each recsepchar .\nset linesize 5 heading off\nselect level from dual connect by level < 3;": [
        "    1",
        ".....",
        "    2",
        ".....",
    ],
    "select to_char(sysdate, 'YYYY-MM-DD') a, rpad('b', 3) b, substr('abcdef', 2, 4) c from dual;": [
        "A          B   C",
        "---------- --- ----",
        "2023-11-14 b   bcde",
    ],
    "select systimestamp s from dual;": ["S", "-" * 75, "14-NOV-23 10.13.20.000000 PM +00:00"],
    "set lines 100\nselect systimestamp - timestamp '2023-11-13 21:13:20' d from dual;": [
        "D",
        "-" * 75,
        "+000000001 01:00:00.000000",
    ],
}


@pytest.mark.parametrize("commands", SAYS)
def test_what_commands_say(lab, commands):
    """Commands of SQL*Plus itself print what the real ones do."""
    assert lab.sql(f"set tab off\n{commands}\n").lines == SAYS[commands]


def test_show_all_knows_every_option(lab):
    """SHOW ALL has a line for each option, in the order of the alphabet."""
    lines = lab.sql("show all\n").lines
    assert len(lines) > 60 and lines == sorted(lines, key=str.upper)


def test_scripts_beside_scripts(lab):
    """``@@`` finds a script in the folder of the one that calls it; START and @ do not."""
    lab.files["a/one.sql"] = "@@two x\n@two\n"
    lab.files["a/two.sql"] = "prompt two &1\n"
    assert lab.sql("@a/one\n").lines == ["two x", 'SP2-0310: unable to open file "two.sql"']


def test_accept_asks_until_it_is_right(lab):
    """ACCEPT NUMBER asks again after what is no number; an empty answer takes the default."""
    ran = lab.sql("accept n number prompt 'n: '\nabc\n5\naccept d default dd\n\nprompt &n &d\ndefine n\n")
    assert ran.lines[-2:] == ["n: 5 dd", "DEFINE N               =          5 (NUMBER)"]
    assert 'SP2-0425: "abc" is not a valid NUMBER' in ran.out


@pytest.mark.parametrize(
    ("words", "status"), [("exit :n", 7), ("exit st", 9), ("exit sql.sqlcode", 174), ("quit 300", 44)]
)
def test_exit_with_a_variable(lab, words, status):
    """EXIT takes bind and substitution variables, and the last error."""
    text = f"var n number\nexec :n := 7\ndefine st=9\nselect * from nosuch;\n{words}\n"
    assert lab.sql(text).status == status


def test_nothing_is_left_to_print(lab):
    """A query whose columns are all NOPRINT prints no column."""
    assert lab.sql("col name noprint\nselect name from v$asm_diskgroup;\n").lines == []
