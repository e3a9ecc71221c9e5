"""SQL*Plus reports: BREAK and COMPUTE, SPOOL and TERMOUT, bind variables."""

from __future__ import annotations

import pytest

DISKS = (
    "select * from (select failgroup, mode_status, disk_number, 10 mb from v$asm_disk where group_number = 2 and"
    " mod(disk_number, 12) < 2 order by disk_number) where disk_number < 24;\n"
)
BARE = "set feedback off tab off linesize 60 pagesize 50\ncolumn failgroup format a10\n"


def test_a_break_shows_a_value_once(lab):
    """A break column is printed once for equal rows, and SKIP leaves blank lines behind them."""
    out = lab.sql(BARE + "break on failgroup skip 1\n" + DISKS).out
    assert out == (
        "\n"
        "FAILGROUP  MODE_ST DISK_NUMBER         MB\n"
        "---------- ------- ----------- ----------\n"
        "EXA1CEL01  ONLINE            0         10\n"
        "           ONLINE            1         10\n"
        "\n"
        "EXA1CEL02  ONLINE           12         10\n"
        "           ONLINE           13         10\n"
        "\n"
    )


def test_totals_on_a_column_and_on_the_report(lab):
    """COMPUTE puts a rule and a line a function under a break, and REPORT's at the end with its label."""
    breaks = "break on failgroup skip 1 on report\ncompute sum avg of mb on failgroup\n"
    commands = breaks + "compute sum label TOTAL of mb on report\n"
    out = lab.sql(BARE + commands + DISKS).out
    assert out.endswith(
        "EXA1CEL02  ONLINE           12         10\n"
        "           ONLINE           13         10\n"
        "**********                     ----------\n"
        "avg                                    10\n"
        "sum                                    20\n"
        "\n"
        "                               ----------\n"
        "TOTAL                                  40\n"
    )


def test_a_break_can_begin_a_page(lab):
    """SKIP PAGE repeats the headings."""
    assert lab.sql(BARE + "break on failgroup page\n" + DISKS).out.count("FAILGROUP") == 2


def test_breaks_and_totals_are_cleared(lab):
    """CLEAR BREAKS and CLEAR COMPUTES end them and say so; BREAK tells what there is."""
    commands = "break on failgroup skip 2\ncompute sum of mb on failgroup\nbreak\nset feedback on\nclear breaks\nclear computes\n"
    ran = lab.sql(commands + "set feedback off\nbreak\n" + BARE + DISKS)
    assert ran.lines[:4] == [
        "break on failgroup skip 2 nodup",
        "breaks cleared",
        "computes cleared",
        "no break(s) defined",
    ]
    assert sum("EXA1CEL01" in line for line in ran.lines) == 2 and "**" not in ran.out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("break on", 'SP2-0158: unknown BREAK option "on"'),
        ("break on name frob", 'SP2-0158: unknown BREAK option "frob"'),
        ("compute total of mb on report", 'SP2-0158: unknown COMPUTE option "total"'),
        ("compute sum of mb", 'SP2-0158: unknown COMPUTE option "mb"'),
        ("compute", "no compute(s) defined"),
        ("spool a.lst sideways", "SP2-0768: Illegal SPOOL command"),
        ("spool /no/where", 'SP2-0606: Cannot create SPOOL file "/no/where.lst"'),
        ("spool", "not spooling currently"),
        ("spool off", "not spooling currently"),
        ("print nosuch", 'SP2-0552: Bind variable "NOSUCH" not declared.'),
        ("select :nosuch from dual;", 'SP2-0552: Bind variable "NOSUCH" not declared.'),
    ],
)
def test_what_is_wrong_is_named(lab, command, said):
    """A wrong BREAK, COMPUTE, SPOOL or bind variable is answered by SQL*Plus's message and sets no status."""
    ran = lab.sql(f"{command}\n")
    assert (ran.lines[0], ran.status) == (said, 0)


def test_spool_writes_what_is_printed(lab):
    """The spool file gets what is printed between SPOOL and SPOOL OFF, with .lst where no suffix is given."""
    query = "select name from v$asm_diskgroup order by 1;\n"
    ran = lab.sql(f"set feedback off pagesize 0\nprompt before\nspool rep\nspool\n{query}spool off\nprompt after\n")
    assert lab.files == {"rep.lst": "currently spooling to rep.lst\nDATA\nRECO\n"}
    assert ran.lines == ["before", "currently spooling to rep.lst", "DATA", "RECO", "after"]


def test_spool_modes(lab):
    """CREATE refuses a file that exists, APPEND writes behind it, and REPLACE, the default, begins anew."""
    lab.files["a.txt"] = "old\n"
    ran = lab.sql("spool a.txt create\nspool a.txt append\nprompt one\nspool off\n")
    assert ran.lines[0].startswith('SP2-0771: File "a.txt" already exists.')
    assert lab.files["a.txt"] == "old\none\n"
    lab.sql("spool a.txt\nprompt two\n")
    assert lab.files["a.txt"] == "two\n"


def test_termout_hides_scripts_only(lab):
    """TERMOUT OFF keeps a script's output from the screen and not from the spool file; typed lines are answered."""
    lab.files["s.sql"] = "set termout off\nspool s.txt\nprompt hidden\nspool off\n"
    ran = lab.sql("@s\nprompt shown\n")
    assert (ran.lines, lab.files["s.txt"]) == (["shown"], "hidden\n")


def test_bind_variables(lab):
    """VARIABLE declares, EXECUTE and blocks assign, statements use them, PRINT shows them."""
    ran = lab.sql(
        "set feedback off pagesize 0 serveroutput on\n"
        "variable g number\nvar name varchar2(30)\nexec :g := 1 + 1\n"
        "begin\n  select name into :name from v$asm_diskgroup where group_number = :g;\n"
        "  dbms_output.put_line('group ' || :g || ' is ' || :name);\n  null;\nend;\n/\n"
        "select count(*) from v$asm_disk where group_number = :g and ':g' <> 'x';\nprint name\n"
    )
    assert [line.strip() for line in ran.lines] == ["group 2 is RECO", "36", "RECO"]


@pytest.mark.parametrize(
    ("block", "codes"),
    [
        ("select name into :n from v$asm_diskgroup where name = 'X';", [1403, 6512]),
        ("select name into :n from v$asm_diskgroup;", [1422, 6512]),
        ("select group_number, name into :n from v$asm_diskgroup where name = 'DATA';", [6550, 6550]),
        ("select path into :n from v$asm_disk where group_number = 1 and disk_number = 0;", [6502, 6512]),
        ("execute immediate 'drop diskgroup nosuch';", [15039, 15001, 6512]),
        ("execute immediate 'alter diskgroup data rebalance power 3';", []),
    ],
)
def test_a_block_fails_as_its_statements_do(lab, block, codes):
    """A block ends with the error of the statement in it that fails, and with its line when it was running."""
    assert lab.sql(f"var n varchar2(9)\nbegin {block} end;\n/\n").codes == codes
