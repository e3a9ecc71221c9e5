"""SQL text: which is a read, and the first word or sign of what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.opaque.findings import UnreadError
from exacell.opaque.sql import read_sql
from exacell.opaque.sqltokens import columns, functions, reserved, values, views
from tests.support.every import every

DATA = Path(__file__).parents[1] / "data/sql/reads.sql"


def texts() -> dict[str, str]:
    """Return the texts of the file by what is asked; its first line says so."""
    blocks = DATA.read_text(encoding="ascii").split("%% ")[1:]
    return {block.partition("\n")[0]: block.partition("\n")[2] for block in blocks}


READS = texts()


@every(READS)
def test_what_administrators_ask_is_read(name: str) -> None:
    """Queries of Oracle's own views with its own functions are reads, on one line or several, with settings around them."""
    assert read_sql(READS[name]).query


def test_a_reading_holds_query_views_and_commands() -> None:
    """The query comes without its ; and what SQL*Plus gets besides it is named."""
    found = read_sql("set lines 200\n\nselect name\nfrom v$asm_diskgroup, V$ASM_DISKGROUP d, sys.gv_$log;  \nEXIT\n\n")
    assert found.query == "select name\nfrom v$asm_diskgroup, V$ASM_DISKGROUP d, sys.gv_$log"
    assert found.views == ("V$ASM_DISKGROUP", "GV_$LOG")
    assert found.commands == ("set lines 200", "EXIT")


Q = "select name from v$log where {};"
UNREAD = [
    # What is no query.
    ("", "the end"),
    ("set lines 200", "the end"),
    ("exit", "the end"),
    ("drop diskgroup DATA;", "drop"),
    ("alter system switch logfile;", "alter"),
    ("begin null; end;", "begin"),
    ("exec dbms_x.y", "exec"),
    ("(select 1 from dual);", "("),
    ("select_x;", "select_x"),
    ("select$ from dual;", "select$"),
    ("/", "/"),
    (".", "."),
    ("prompt x", "prompt"),
    ("host rm x", "host"),
    ("spool x", "spool"),
    ("define x = 1", "define"),
    ("accept x", "accept"),
    ("start x.sql", "start"),
    ("edit x", "edit"),
    ("connect / as sysdba", "connect"),
    ("shutdown abort", "shutdown"),
    ("whenever sqlerror exit", "whenever"),
    ("variable x number", "variable"),
    ("explain plan for select 1 from dual;", "explain"),
    # Where SQL*Plus ends a query, and where it does not.
    ("select dummy from dual", "the end"),
    ("select dummy from dual\n/", "/"),
    ("select dummy from dual\n.\nrun", "."),
    ("select dummy from dual\n\n;", "the empty line"),
    ("select dummy from dual where\n \t\nhost=1;", "the empty line"),
    ("select dummy from dual; drop table t;", ";"),
    ("select dummy from dual;\ndrop table t;", "drop"),
    ("select dummy from dual;\nselect dummy from dual;", "select"),
    ("select dummy from dual;\nexit\nselect", "exit"),
    ("select dummy from dual;\n/", "/"),
    ("exit\nselect dummy from dual;", "exit"),
    ("select dummy from dual;\nexit sql.sqlcode", "exit"),
    ("select 'a;\nhost x' from dual;", "'a"),
    ("select 'a\nb' from dual;", "'a"),
    ("select 'a from dual;", "'a from dual"),
    ("select 1 -\n from dual;", "-"),
    ("select 1 - \t\n from dual;", "-"),
    ("set lines 200 -\nselect dummy from dual;", "-"),
    ("select 1\n!host\nfrom dual;", "!"),
    ("select 1\n$host\nfrom dual;", "$"),
    ("select 1\n@x\nfrom dual;", "@"),
    ("select 1\n#host x\nfrom dual;", "#"),
    ("select 1\n/ 2 from dual;", "/"),
    ("select 1\n.5 from dual;", "."),
    ("select " + "1," * 1250 + "1 from dual;", "select 1,1,1,1,1,1,1..."),
    # Signs.
    (Q.format("name = '&x'"), "&"),
    (Q.format("name != 'x'"), "!"),
    (Q.format("name like 'a\\_b' escape '\\'"), "\\"),
    (Q.format("name = 'a#'"), "#"),
    (Q.format("wipe# = 1"), "#"),
    (Q.format("group## = 1"), "#"),
    (Q.format("name = :x"), ":"),
    (Q.format("name = ?"), "?"),
    (Q.format("name ^= 'x'"), "^"),
    (Q.format("name = q'[x]'"), "q'"),
    (Q.format("name = n'x'"), "n'"),
    (Q.format("name = 'x'\r"), "\\r"),
    (Q.format("name = '\x00'"), "\\x00"),
    (Q.format("name = 'ü'"), "\\xfc"),
    (Q.format("name = '--'"), "'--'"),
    (Q.format("name = 'o/*/x'"), "'o/*/x'"),
    ("select /*+ full(l) */ status from v$log l;", "/*"),
    ("select status -- x\nfrom v$log;", "--"),
    ("-- x\nselect status from v$log;", "-"),
    ("rem x;\nselect status from v$log;", "rem"),
    ("select status from v$log@link;", "@"),
    ("select 1from dual;", "1from"),
    ('select "wipe" from dual;', '"wipe"'),
    ('select 1 "a;" from dual;', '"a;" from dual'),
    ('select 1 "a--b" from dual;', '"a--b"'),
    # Names.
    ("select wipe from dual;", "wipe"),
    ("select wipe wipe from dual;", "wipe"),
    ("select 1 wipe from dual where wipe = 1;", "wipe"),
    ("select 1 wipe from dual group by wipe;", "wipe"),
    ("select 1 wipe from dual order by wipe + 1;", "wipe"),
    ("select 1 from dual order by wipe;", "wipe"),
    ("select 1 a from dual union select 2 from dual order by wipe;", "wipe"),
    ("select a.wipe from v$log a;", "a.wipe"),
    ("select app.wipe from v$log;", "app.wipe"),
    ("select v$log.status from v$log l;", "v$log.status"),
    ("select a.b.c from v$log a;", "a.b"),
    ("select sys.v$log.status from sys.v$log;", "sys.v$log"),
    ("select app.wipe(1) from dual;", "app.wipe"),
    ("select wipe(1) from dual;", "wipe"),
    ("select wipe() from dual;", "wipe"),
    ("select status(1) from v$log;", "status"),
    ("select user() from dual;", "user"),
    ("select ids.nextval from dual;", "ids.nextval"),
    ("select dbms_workload_repository.create_snapshot from dual;", "dbms_workload_repository.create_snapshot"),
    ("select -wipe from dual;", "wipe"),
    ("select 'a' || wipe from dual;", "wipe"),
    ("select status, case wipe when 1 then 2 end from v$log;", "wipe"),
    ("select count(wipe) from v$log;", "wipe"),
    ("select count(*) over (partition by wipe) from v$log;", "wipe"),
    ("select count(*) over (order by wipe) from v$log;", "wipe"),
    ("select status s, count(*) over (order by s) from v$log;", "s"),
    ("select 1 from v$log a join v$logfile b on wipe = 1;", "wipe"),
    ("select 1 from v$log a join v$logfile b using (wipe);", "wipe"),
    ("select 1 from v$log where group# in (select wipe from v$logfile);", "wipe"),
    ("select 1 from v$log l, (select l.status from dual) x;", "l.status"),
    ("select x.a from (select wipe a from dual) x;", "wipe"),
    ("select name from (select name n from v$datafile);", "name"),
    ("select n from (select -name from v$datafile);", "n"),
    ("select name from (select -name from v$datafile);", "name"),
    ("select x.* from v$log l;", "x.*"),
    ("select 1 from dual connect by wipe = 1;", "wipe"),
    ("select sum(1) wipe from dual having wipe > 1;", "wipe"),
    ("with a as (select wipe x from dual) select x from a;", "wipe"),
    ("with a (x) as (select 1 from dual) select y from a;", "y"),
    ("with a as (select 1 x from dual), b as (select y from a) select 1 from b;", "y"),
    ("with v$log (status) as (select status from v$log) select status from v$log;", "v$log"),
    ("select 1 from (with a as (select 1 x from dual) select x from a), a;", "a"),
    # What stands in FROM.
    ("select 1 from app.t;", "app"),
    ("select 1 from t;", "t"),
    ("select 1 from sys.t;", "t"),
    ("select 1 from app.v$log;", "app"),
    ("select 1 from v$log.x;", "v$log"),
    ("select 1 from table(app.rows);", "table"),
    ("select 1 from xmltable('/' passing x);", "xmltable"),
    ("select 1 from v$log(1);", "v$log"),
    ("select 1 from lateral (select 1 from dual);", "lateral"),
    ("select 1 from v$log, the (select 1 from dual);", "the"),
    # Clauses.
    ("select status from v$log for update;", "for"),
    ("select status from v$log for update nowait;", "for"),
    ("select status into x from v$log;", "into"),
    ("select status bulk collect into x from v$log;", "collect"),
    ("select status from v$log as of scn wipe;", "of"),
    ("select status from v$log versions between scn 1 and 2;", "versions"),
    ("select status from v$log sample (1);", "sample"),
    ("select * from v$log pivot (count(*) for status in ('x'));", "pivot"),
    ("select status from v$log model dimension by (1 a);", "model"),
    ("with function f return number is begin return 1; end;\nselect f from dual;", ";"),
    ("with function f return number is begin return 1\nend select f from dual;", "function"),
    ("with procedure f select f from dual;", "procedure"),
    ("select cast(status as app.type) from v$log;", "app"),
    ("select xmltype('x') from dual;", "xmltype"),
    ("select cursor(select 1 from dual) from dual;", "cursor"),
    ("select json_value('x', 'y') from dual;", "json_value"),
    ("select 1 from dual where (select 1 from dual;", "the end"),
    ("select 1, from dual;", "from"),
    ("select " + "(" * 70 + "1" + ")" * 70 + " from dual;", "("),
    # SQL*Plus's settings.
    ("set sqlterminator x\n", "sqlterminator"),
    ("set sqlprefix x\n", "sqlprefix"),
    ("set cmdsep on\n", "cmdsep"),
    ("set escape on\n", "escape"),
    ("set editfile x\n", "editfile"),
    ("set define x\n", "define x"),
    ("set pause on\n", "pause on"),
    ("set autotrace on\n", "autotrace"),
    ("set autocommit on\n", "autocommit"),
    ("set appinfo on\n", "appinfo"),
    ("set errorlogging on\n", "errorlogging"),
    ("set markup html on spool on\n", "markup html"),
    ("set role dba;\n", "role"),
    ("set transaction read write;\n", "transaction"),
    ("set instance x\n", "instance"),
    ("set lines many\n", "lines many"),
    ("set lines\n", "lines"),
    ("set\n", "set"),
    ("set line 100 spool x\n", "spool"),
    ("set null 'x\n", "'"),
    ("set colsep 'a'host\n", "colsep 'a'host"),
    ("column x new_value y\n", "new_value"),
    ("column x format a30 entmap on\n", "entmap"),
    ("column 'a' format a3\n", "'a'"),
    ("column x format a30host\n", "format a30host"),
    ("column\n", "column"),
]  # fmt: skip


@every(UNREAD)
def test_everything_else_is_unread(text: str, sign: str) -> None:
    """What is outside the language is unread, and its first such word or sign is named."""
    with pytest.raises(UnreadError) as raised:
        read_sql(text)
    assert raised.value.sign.lower() == sign
    assert raised.value.why


def test_the_way_out_is_named() -> None:
    """Where there is another way to write it, the refusal tells it."""
    for text, way in (("name != 'x'", "<>"), ("name = '&x'", "the value itself"), ("1 = 1 -- x", "comment")):
        with pytest.raises(UnreadError) as raised:
            read_sql(Q.format(text))
        assert way in raised.value.instead


def test_the_tables_hold_together() -> None:
    """No column, function or value is a reserved word, and every name is in upper case and of Oracle's signs."""
    assert not reserved() & (columns() | functions() | values())
    assert all(
        name == name.upper() and name.replace("$", "").replace("_", "").replace("#", "").isalnum() for name in columns()
    )
    assert {"GV$SESSION", "ALL_TABLES", "CDB_DATA_FILES", "DUAL"} <= set(views())
    assert "INST_ID" in views()["GV$LOG"] and "INST_ID" not in views()["V$LOG"]


FOREIGN = (
    "wipe",
    "app.wipe",
    "wipe(1)",
    "app.wipe(1)",
    "@x",
    "&x",
    ":x",
    "!x",
    "\\",
    "/*x*/",
    "--",
    "\n\n",
    "\n/\n",
    ";\ndrop x;",
    "'",
    '"',
)


@given(st.sampled_from(sorted(READS)), st.data(), st.sampled_from(FOREIGN))
def test_foreign_words_make_a_read_unread(name: str, data: st.DataObject, foreign: str) -> None:
    """Whatever is not of the language, put between any two words of a read, leaves one query or makes it unread: no
    name that is no column, no sign of SQL*Plus and no second statement passes."""
    text = READS[name]
    places = [at for at in range(len(text)) if text[at] in " \n"]
    at = data.draw(st.sampled_from(places))
    changed = f"{text[:at]} {foreign} {text[at:]}"
    try:
        found = read_sql(changed)
    except UnreadError:
        return
    # An alias that nothing else names, or text inside a literal, is all that it can have become.
    outside = found.query.split("'")[::2]
    assert ";" not in "".join(outside)
    assert not any(sign in found.query for sign in "@&!\\")
    assert not any(foreign in piece for piece in outside) or foreign == "wipe" or not foreign.strip()


@given(st.text(alphabet=st.sampled_from("select from v$log status wipe,.()*'\";\n-/&#@!\\ "), max_size=60))
def test_any_text_is_judged(text: str) -> None:
    """No text, however malformed, is anything but read or unread."""
    for whole in (text, f"select {text} from v$log;"):
        try:
            found = read_sql(whole)
        except UnreadError:
            continue
        assert found.query and "\n\n" not in found.query
