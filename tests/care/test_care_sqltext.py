"""SQL: what only asks, what is exacell's own statement, and what SQL*Plus answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exacell.care.sqltext import END, ROWS, mounts, one_line, own_statement, read_rows, writes
from exacell.errors import StatementError


@pytest.mark.parametrize(
    "sql",
    [
        "select name from v$asm_diskgroup",
        "SELECT 'drop diskgroup x' FROM dual",
        'select "UPDATE" from t',
        "with a as (select 1 x from dual) select x from a",
        "select q'[it's; delete]' from dual",
        "select count(*), nvl(a, 0) from t where b in (1, 2)",
        "select /* insert */ 1 from dual -- delete",
        "with a (x, y) as (select 1, 2 from dual), b(z) as (select max(x) from a) select * from a, b where x in (1) and (y > 1)",
        "select rank() over (partition by a order by b), cast(c as char(10)), listagg(d, ',') within group (order by d) from t",
        "select round(sum(total_mb)/1024) gb, to_char(sysdate, 'HH24') from v$asm_diskgroup group by rollup(name)",
        "select d.name, v$asm_disk.path from v$asm_disk d, v$asm_disk where d.path = v$asm_disk.path",
        "select g.name, d.name from v$asm_diskgroup g left outer join v$asm_disk d on g.group_number = d.group_number",
        "select s.sid, sys.dba_users.username from sys.gv_$session s cross join sys.dba_users where sys.dba_users.user_id > 1",
        "select x.a from (select 1 a from dual) x where x.a = 1 union select y.b from t as y",
        'select "x".name, Z.name, "Z".name from v$log "x" inner join v$log z using (name)',
        "select extract(day from t.day), trim(leading '0' from t.a), t.b.c from t partition (p1) t",
        "select sysdate d, user, 'a' as b, 1.5, case when 1 = 1 then null else level end x from dual connect by level < 3",
        "select dummy, nvl(null, 1) from sys.dual d where d.dummy = 'X' order by dummy desc",
        "select kill_all from v$log",
        "select t.a from t@link.world t",
        "select count(distinct t.a) from t, lateral (select 1 from t) u",
        "select n'a', Q'[b]' from dual",
        "select x from (select 1 x from dual)",
        "select 1 one, 'a' b from dual",
        "select name from v$asm_disk d where exists (select 1 from v$asm_diskgroup g where g.group_number = d.group_number)",
    ],
)
def test_plain_queries_only_read(sql: str) -> None:
    """A SELECT without functions of packages is a read, whatever its literals and comments hold."""
    assert writes(one_line(sql)) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "drop diskgroup DATA",
        "alter system switch logfile",
        "select * from t for update",
        "select dbms_workload_repository.create_snapshot from dual",
        "select dbms_workload_repository.create_snapshot() from dual",
        "select my.pack.change(1) from dual",
        "select app.change(1) from dual",
        "select drop_all(1) from dual",
        "select count(*) from t where purge_it ( 'x' ) = 1",
        "with a(x) as (select 1 from dual) select b(x) from a",
        # Functions need no parentheses.
        "select 1 from (select 1 a from dual) order by 1, app.wipe",
        "select flag.wipe from a join b on flag = 1",
        "select 1 from t versions between scn app.wipe and 5",
        "select app.wipe from dual",
        "select app.wipe x from v$log l",
        "select a.b.wipe from dual",
        "select l.a, app.wipe from v$log l",
        'select "APP"."WIPE" from dual',
        'select "app".wipe from v$log app',
        "select 1 from dual where app.wipe = 1",
        "select extract(day from app.wipe) from dual",
        "select trim(app.wipe from 'a') from v$log",
        "select ids.nextval from dual",
        "select a.b from t order by app.wipe",
        "select a.b from t a join u on app.wipe = a.b",
        "select * from table(app.rows)",
        "select x.a from (select app.wipe a from dual) x",
        "select 1 from t where a in (select app.wipe from t)",
        "select t.a from t@app t where app.wipe > 1",
        "select wipe_all from dual",
        "select 1, wipe_all x from sys.dual",
        "select sysdate from dual where wipe_all = 1",
        "select 1 + wipe_all from dual",
        "select distinct wipe_all from dual",
        "select l.a from v$log l union select app.b from dual",
        "select t.a from t where t.b = 1 and app.c(t.b) = 1",
        "select case wipe_all when 1 then 2 end from dual",
        "select -wipe_all as x from dual",
        "select 'a' || wipe_all from dual",
        "with function f return number is begin delete from t; return 1; end; select f from dual",
        "begin null; end;",
        "select 1 into x from dual",
        "",
    ],
)
def test_anything_else_may_write(sql: str) -> None:
    """DML, DDL, PL/SQL, row locks and calls of packages are no reads."""
    assert writes(sql)


@pytest.mark.parametrize("sql", ["select 1 from dual; drop table t", "", " ; ", "select 'a from dual", "/"])
def test_one_statement_only(sql: str) -> None:
    """A second statement, an open quote or nothing at all is an error before anything is sent."""
    with pytest.raises(StatementError):
        one_line(sql)


def test_no_line_is_a_command_to_sqlplus() -> None:
    """What stands on several lines is sent on one, so that no line of it is SQL*Plus's own word."""
    assert "\n" not in one_line("select 1 -- x\nfrom dual\nwhere 'a\n!rm b' is not null;\n")
    assert one_line("select 1\n-- x\nfrom dual;").split() == ["select", "1", "from", "dual"]


SQL = "select from with as where join on using union ( ) , . @ * 'a' \"b\" dual t v$log app wipe order by 1 = a.b app.wipe"


@given(st.lists(st.sampled_from(SQL.split()), max_size=14).map(" ".join))
def test_any_words_are_judged(text: str) -> None:
    """No query, however malformed, makes the reader fall over."""
    assert isinstance(writes(f"select {text}"), str)


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
