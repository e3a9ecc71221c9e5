"""The SQL of the emulated instances over their views: a case a line."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import example, given, settings, strategies as st

from exacell.emulator.basics.ora_messages import OraError
from exacell.emulator.sql.engine import run_query
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.functions import FUNCTIONS, GROUP_FUNCTIONS
from exacell.emulator.sql.scope import Relation, ResultColumn
from exacell.emulator.sql.syntax import parse_query
from exacell.emulator.sql.values import ColumnType, Kind, char
from exacell.emulator.sqlplus.format import render
from exacell.emulator.sqlplus.settings import Settings

G = "from v$asm_diskgroup"


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (f"select name {G} where name <> 'DATA'", ["RECO"]),
        (f"select name {G} where name != 'DATA' and total_mb > 1", ["RECO"]),
        (f"select name {G} where (name = 'DATA' or name = 'RECO') and not name like 'R%'", ["DATA"]),
        (f"select name {G} where name in ('X', 'RECO')", ["RECO"]),
        (f"select name {G} where name not in ('X', 'RECO')", ["DATA"]),
        (f"select name {G} where name like '_E%'", ["RECO"]),
        (f"select name {G} where name like 'data'", []),
        (f"select name {G} where total_mb between 3896064 and 4000000", ["RECO"]),
        (f"select name {G} order by total_mb desc", ["DATA", "RECO"]),
        (f"select name n {G} order by n desc", ["RECO", "DATA"]),
        (f"select name {G} order by 1 fetch first 1 rows only", ["DATA"]),
        (f"select count(*)||'' {G}", ["2"]),
        (f"select count(distinct type)||'/'||count(type) {G}", ["1/2"]),
        (f"select sum(group_number)||','||min(name)||','||max(name)||','||avg(group_number) {G}", ["3,DATA,RECO,1.5"]),
        (f"select nvl(name,'x')||decode(type,'NORMAL',2,'HIGH',3,1) {G} where name='DATA'", ["DATA2"]),
        (f"select upper(lower(name))||replace(name,'A','o')||substr(name,2,2)||length(name) {G} where rownum=1",
         ["DATADoToAT4"]),
        (f"select case when total_mb > 5000000 then 'big' else 'small' end {G} order by name", ["big", "small"]),
        (f"select case type when 'NORMAL' then 'n' end {G} where name='DATA'", ["n"]),
        (f"select listagg(name, ',') within group (order by name) {G}", ["DATA,RECO"]),
        (f"select g.name {G} g where exists (select 1 from v$asm_disk d where d.group_number=g.group_number"
         " and d.name like 'RECO%')", ["RECO"]),
        (f"select name {G} where group_number = (select max(group_number) {G})", ["RECO"]),
        (f"select name {G} where group_number in (select group_number from v$asm_disk where failgroup='EXA1CEL02')"
         " order by 1", ["DATA", "RECO"]),
        (f"with d as (select name, free_mb f {G}) select d.name from d where d.f > 0 order by 1", ["DATA", "RECO"]),
        (f"select name {G} union all select 'X' from dual order by 1", ["DATA", "RECO", "X"]),
        (f"select type {G} union select 'HIGH' from dual", ["NORMAL", "HIGH"]),
        (f"select name {G} minus select 'DATA' from dual", ["RECO"]),
        ("select g.name||count(*) from v$asm_disk d join v$asm_diskgroup g on g.group_number=d.group_number"
         " group by g.name order by 1", ["DATA36", "RECO36"]),
        ("select name||c from v$asm_diskgroup join (select group_number, count(*) c from v$asm_disk"
         " group by group_number) using (group_number) order by 1", ["DATA36", "RECO36"]),
        ("select d.failgroup from v$asm_disk d, v$asm_diskgroup g where d.group_number = g.group_number"
         " and g.name='DATA' group by d.failgroup having count(*) = 12 order by 1", ["EXA1CEL01", "EXA1CEL02", "EXA1CEL03"]),
        ("select g.name||nvl(o.state,'idle') from v$asm_diskgroup g, v$asm_operation o"
         " where g.group_number = o.group_number(+) order by 1", ["DATAidle", "RECOidle"]),
        ("select g.name||nvl(o.state,'idle') from v$asm_diskgroup g left join v$asm_operation o"
         " on g.group_number = o.group_number order by 1", ["DATAidle", "RECOidle"]),
        ("select count(*)||'' from gv$asm_operation where state<>'DONE'", ["0"]),
        ("select distinct header_status||'/'||mode_status from v$asm_disk", ["MEMBER/ONLINE"]),
        ("select instance_name||' '||status from gv$instance order by inst_id", ["+ASM1 STARTED", "+ASM2 STARTED"]),
        ("select 7/2||'' from dual", ["3.5"]),
        ("select round(10/3, 2)||'/'||trunc(2.9)||'/'||mod(7,3)||'/'||ceil(1.1) from dual", ["3.33/2/1/2"]),
        ("select to_char(1234567.891, 'FM999,999,990.00') from dual", ["1,234,567.89"]),
        ("select to_char(sysdate, 'YYYY-MM-DD HH24:MI:SS') from dual", ["2023-11-14 22:13:20"]),
        ("select to_char(to_date('2024-02-28','YYYY-MM-DD') + 2, 'DD-MON-RR') from dual", ["01-MAR-24"]),
        ("select 'it''s'||q'[ 'quoted' ]' from dual", ["it's 'quoted'"]),
        ("select 'x' from dual where null is null and '' is null and not 1 = 2", ["x"]),
        ("select 'x' from dual where null = null or 1 not in (2, null)", []),
        ("select nvl2(null, 'a', 'b')||coalesce(null, 'c')||lpad('7', 3, '0')||instr('abc', 'c') from dual", ["bc0073"]),
        ("select value from v$parameter where name = 'instance_type'", ["asm"]),
        ("select sys_context('userenv', 'instance_name')||user from dual", ["+ASM1SYS"]),
        ("select dbid from v$database", []),
    ],
)  # fmt: skip
def test_queries(lab, query, rows):
    """A query gives its rows."""
    assert lab.rows(query) == rows


@pytest.mark.parametrize(
    ("query", "code", "column"),
    [
        ("select nope from dual", 904, 7),
        ("select d.nope from dual d", 904, 9),
        ("select x.dummy from dual d", 904, 9),
        ("select * from nope", 942, 14),
        ("select name from v$asm_disk d, v$asm_diskgroup g", 918, 7),
        ("select name, count(*) from v$asm_disk", 937, 7),
        ("select name, count(*) from v$asm_disk group by path", 979, 7),
        ("select name from v$asm_disk where count(*) > 1", 934, 34),
        ("select name v$asm_disk", 923, 22),
        ("select from dual", 936, 7),
        ("select (1 from dual", 907, 10),
        ("select 1 from dual where", 936, 24),
        ("select 1 from dual nonsense words", 933, 28),
        ("select 1/0 from dual", 1476, None),
        ("select 1 from dual where 'a' = 1", 1722, None),
        ("select nofunction(1) from dual", 904, 7),
        ("select upper() from dual", 938, 7),
        ("select upper('a', 'b') from dual", 939, 7),
        ("select 'open from dual", 1756, 7),
        ("select ? from dual", 911, 7),
        ("select 1 from dual union select 1, 2 from dual", 1789, None),
        ("select (select name from v$asm_diskgroup) from dual", 1427, None),
        ("select 1 from dual order by 2", 1785, None),
        ("select to_char(sysdate, 'nonsense') from dual", 1821, None),
        ("frobnicate", None, None),
        ("insert into t values (1)", 1109, None),
        ("alter table t add x number", 940, None),
        ("select name from v$asm_disk@link", 942, None),
    ],
)
def test_errors(lab, query, code, column):
    """A wrong query fails with Oracle's code, marked where it is wrong."""
    ran = lab.sql(f"{query};\n")
    assert ran.codes == ([] if code is None else [code])
    if column is not None:
        assert ran.out.splitlines()[1].index("*") == column


def test_empty_view_still_checks_names(lab):
    """A wrong name fails although the view has no rows."""
    assert lab.sql("select nope from v$asm_operation;\n").codes == [904]


@given(st.text(alphabet="selctfromduaw'\"()|,.*=<> 0123456789\n-/ainv$_", max_size=60))
def test_any_text_parses_or_is_refused(text):
    """Whatever follows SELECT either parses or is an ORA error at a place inside the statement; nothing else."""
    statement = f"select {text}"
    try:
        parse_query(statement)
    except OraError as error:
        assert 0 <= error.at <= len(statement)


def test_database_views(lab):
    """A database's instance sees its own groups CONNECTED, its redo logs, and itself."""

    def rows(query, node=1):
        bare = "set feedback off heading off pagesize 0 linesize 32767 tab off\n"
        return lab.db(f"{bare}{query};\n", node=node).lines

    assert rows("select name||state from v$asm_diskgroup order by name") == ["DATACONNECTED", "RECOCONNECTED"]
    assert rows("select distinct header_status||mount_status from v$asm_disk") == ["UNKNOWNOPENED"]
    assert rows("select name||open_mode from v$database") == ["SPOTREAD WRITE"]
    assert rows("select instance_name from v$instance", node=2) == ["SPOT2"]
    assert rows("select thread#||status||count(*) from v$log group by thread#, status order by 1") == [
        "1CURRENT1", "1INACTIVE3", "2CURRENT1", "2INACTIVE3",
    ]  # fmt: skip
    assert rows("select count(*)||'' from v$logfile where member like '+DATA/SPOT/ONLINELOG/group_%'") == ["8"]


def test_redo_logs(carved):
    """Redo logs are added to a group, switched to, and dropped when nothing needs them any more."""
    carved.create()
    add = "alter database add logfile thread 1 group 11 ('+SSD') size 4096M blocksize {};\n"
    refused = carved.db(add.format(4096))
    assert refused.codes == [1378]
    sizes = "(media sector size is 512 and host sector size is 512)"
    what = "The logical block size (4096) of file +SSD is not compatible with the disk sector size"
    assert f"ORA-01378: {what} {sizes}" in refused.lines
    assert carved.db(add.format(512)).codes == []
    assert carved.db(add.format(512)).codes == [1184]
    assert carved.rows("select free_mb||'' from v$asm_diskgroup where name='SSD'") == [str(235572 - 8192)]
    assert carved.db("alter system switch logfile;\nalter database drop logfile group 11;\n").codes == [1623]
    carved.db("alter system switch logfile;\n")
    assert carved.db("alter database drop logfile group 11;\n").codes == [1624]
    assert carved.db("alter system checkpoint global;\nalter database drop logfile group 11;\n").codes == []
    assert carved.db("alter database drop logfile group 11;\n").codes == [1590]
    assert carved.rows("select free_mb||'' from v$asm_diskgroup where name='SSD'") == ["235572"]


def test_block_size_override(carved):
    """With _disk_sector_size_override 4096-byte redo is accepted on 512-byte sectors."""
    carved.create()
    carved.db('alter system set "_disk_sector_size_override"=TRUE scope=both;\n')
    assert carved.db("alter database add logfile group 12 ('+SSD') size 1g blocksize 4096;\n").codes == []
    assert carved.db("alter database add logfile group 13 ('+NOSUCH') size 1g;\n").codes == [17502, 15001]
    assert carved.db("alter database add logfile group 13 ('+SSD') size 2000g;\n").codes == [17502, 15041]


LEAVES = st.sampled_from(
    ["1", "0", "2.5", "-7", "1e125", "9" * 40, "'a'", "'12'", "''", "null", "sysdate", "n", "t", "d", "rownum",
     "'YYYY-MM-DD'", "'999'", "'%_'", "count(*)"]
)  # fmt: skip
FUNCTION_NAMES = sorted(FUNCTIONS) + sorted(GROUP_FUNCTIONS) + ["LISTAGG"]


def expressions(inner):
    """Return larger expressions made of ``inner`` ones."""
    operator = st.sampled_from(["+", "-", "*", "/", "||"])
    comparison = st.sampled_from(["=", "<>", "<", ">=", "like"])
    return st.one_of(
        st.tuples(inner, operator, inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from(FUNCTION_NAMES), st.lists(inner, min_size=1, max_size=4)).map(
            lambda parts: f"{parts[0]}({', '.join(parts[1])})"
        ),
        st.tuples(inner, comparison, inner, inner).map(
            lambda parts: f"case when {parts[0]} {parts[1]} {parts[2]} then {parts[3]} else {parts[0]} end"
        ),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(LEAVES, expressions, max_leaves=8))
@example("REGEXP_COUNT(1, 1, 1e125)")
@example("REGEXP_SUBSTR('a', 'a', 1, 1, 'i', -1)")
@example("ORA_HASH(1, -1)")
@example("REMAINDER(9999999999999999999999999999999999999999, -1)")
@example("MOD(1e125, 1e-130)")
@example("EXTRACT_FIELD('DAY', -1e125)")
@example("DBMS_RANDOM.STRING('x', 9999999999999999999999999999999999999999)")
@example("INSTR(3, 3, -1, 1e125)")
@example("INSTR('aaa', '', -1, 1e125)")
@example("INSTR('aaa', '', 1, 1e125)")
def test_any_expression_has_a_value_or_is_refused(expression):
    """Every expression gives a value that SQL*Plus can print, or an ORA error; nothing else."""
    number, text, date = ColumnType(Kind.NUMBER), char(10), ColumnType(Kind.DATE)
    columns = (ResultColumn("N", number), ResultColumn("T", text), ResultColumn("D", date))
    table = Relation(columns, ((5, "abc", datetime(2024, 2, 29)), (None, None, None), (Decimal("0.1"), "7", None)))
    try:
        query = parse_query(f"select {expression} x from t")
        result = run_query(query, lambda _: table, SqlSettings(now=datetime(2024, 1, 1)))
    except OraError as error:
        assert error.stack
    else:
        assert all(isinstance(row, tuple) for row in result.rows)
        render(result, Settings(), {}, "DD-MON-RR")


@pytest.mark.parametrize("text", ["(" * 5000 + "1", "1" + "+1" * 20000, "not " * 5000 + "1"])
def test_deep_nesting_is_refused(lab, text):
    """What is nested too deeply to be evaluated is an error of the statement, not of the program."""
    assert lab.sql(f"select {text} from dual;\n").codes in ([3001], [907], [936])


def test_huge_join_is_refused(lab):
    """A join that would hold up everybody else on the rack is refused."""
    views = ", ".join(f"v$asm_disk d{number}" for number in range(5))
    assert lab.sql(f"select count(*) from {views};\n").codes == [1652]


def test_groups_for_a_standby_database(carved):
    """They share numbers with the online ones, are UNASSIGNED, and go without a thread needing them; none of that number is
    ORA-01590."""
    add = "alter database add standby logfile thread 1 group {} ('+DATA') size 64m;\n"
    assert carved.db(add.format(31)).codes == [] and carved.db(add.format(1)).codes == [1184]
    assert carved.db("alter database add logfile thread 1 group 31 ('+DATA') size 64m;\n").codes == [1184]
    ask = "select s.status||f.type from v$standby_log s, v$logfile f where s.group# = f.group# and s.group# = 31;\n"
    assert "UNASSIGNEDSTANDBY" in carved.db(ask).out
    assert carved.db("alter database drop logfile group 31;\n").codes == [1590]
    assert carved.db("alter database drop standby logfile group 31;\n").codes == []
    assert carved.db("alter database drop standby logfile group 31;\n").codes == [1590]
    assert carved.db("alter database clear logfile group 31;\n").codes == [922]
