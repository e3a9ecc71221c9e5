"""What published scripts write in queries beyond the everyday: dates by units, intervals, rows as values, totals, frames."""

from __future__ import annotations

import pytest

VALUES = {
    # dates; the lab's clock stands at 2023-11-14 22:13:20
    "to_char(trunc(sysdate, 'hh24'), 'DD HH24:MI:SS')": "14 22:00:00",
    "to_char(trunc(sysdate, 'iw'), 'DY DD')": "MON 13",
    "to_char(trunc(sysdate, 'q'), 'YYYY-MM-DD')": "2023-10-01",
    "to_char(round(sysdate, 'yyyy'), 'YYYY-MM-DD')": "2024-01-01",
    "to_char(round(sysdate, 'dd'), 'DD')": "15",
    "to_char(add_months(date '2023-01-31', 1), 'YYYY-MM-DD')": "2023-02-28",
    "months_between(date '2023-03-31', date '2023-02-28')": "1",
    "to_char(next_day(date '2023-11-14', 'TUESDAY'), 'DD')": "21",
    "to_char(last_day(sysdate), 'DDTH')": "30TH",
    "extract(hour from systimestamp) * 100 + extract(minute from systimestamp)": "2213",
    "extract(day from (systimestamp - to_timestamp('2023-11-10 22:13:20', 'YYYY-MM-DD HH24:MI:SS')))": "4",
    "to_char(sysdate - interval '2' month, 'MM')": "09",
    "to_char(timestamp '2023-01-01 10:00:00' + interval '1 01:30' day to minute, 'DD HH24:MI')": "02 11:30",
    "to_char(sysdate, 'fmDay, Month DD, YYYY HH12:MI AM')": "Tuesday, November 14, 2023 10:13 PM",
    "to_char(to_date('7-FEB-99 03:04 PM', 'DD-MON-RR HH:MI AM'), 'YYYY-MM-DD HH24:MI')": "1999-02-07 15:04",
    "to_char(numtodsinterval(90, 'minute') * 24)": "1.5",
    # numbers
    "to_char(1234567.891, '9G999G990D99')": "1,234,567.89",
    "to_char(-1234.5, '$9,999.9')": "-$1,234.5",
    "to_char(-5, '99PR') || to_char(7, '9S') || to_char(255, 'fmXX')": "<5>7+FF",
    "to_char(12345, '9.99EEEE')": "1.23E+04",
    "to_number('1,234.5', '9,999.9') + to_number('ff', 'xx')": "1489.5",
    "bitand(12, 10) + remainder(7, 3) + power(4, 0.5) + sqrt(9)": "14",
    "dbms_random.string('U', 0) || length(dbms_random.string('X', 12))": "12",
    # texts
    "trim(leading '0' from '007') || trim(both 'x' from 'xxaxx')": "7a",
    "regexp_replace('abc123', '([a-z]+)([0-9]+)', '\\2-\\1')": "123-abc",
    "instr('CORPORATE FLOOR', 'OR', 3, 2) || ' ' || instr('CORPORATE FLOOR', 'OR', -3, 2)": "14 2",
    "instr('aaa', 'a', -1, 3) || instr('aaa', 'a', -1, 4) || instr('abc', 'c', -3) || instr('abc', 'c', 0)": "1000",
    "nvl(instr('abc', ''), 7) || nvl(instr('', 'a'), 8)": "78",
    "mod(1e20, 7) || ' ' || remainder(9999999999, -4)": "2 -1",
    "regexp_instr('data/1', '[[:digit:]]') || regexp_count('a,b,c', ',') || regexp_substr('a=b', '=(.*)', 1, 1, 'i', 1)": "62b",
    "userenv('instance') || '/' || lower(ora_database_name)": "1/spot",
    "(select count(*) from table(sys.odcinumberlist(4, 5, 6)) where column_value > 4)": "2",
    "case when 5 > all (1, 2) and 5 = any (select 5 from dual) and not 5 < some (1, 5) then 'y' end": "y",
    "case when (1, 'X') in (select 1, dummy from dual) and (1, 2) not in ((2, 1), (1, 1)) then 'y' end": "y",
    "case when lnnvl(1 = 2) and lnnvl(null = 1) then 'y' end": "y",
}


@pytest.mark.parametrize("expression", VALUES)
def test_what_expressions_give(lab, expression):
    """An expression of a published script has the value that Oracle documents for it."""
    (line,) = lab.db(f"set heading off feedback off pagesize 0 numwidth 20\nselect {expression} x from dual;\n").lines
    assert line.strip() == VALUES[expression]


QUERIES = {
    "select group_number g, count(*) from v$asm_disk group by rollup(group_number) order by 1": ["1 36", "2 36", "72"],
    "select grouping(name) || nvl(name, 'all') || sum(1) from v$asm_diskgroup group by cube(name)": [
        "0DATA1",
        "0RECO1",
        "1all2",
    ],
    "select name, grouping_id(name, type) from v$asm_diskgroup group by grouping sets ((name, type), (type), ())": [
        "DATA 0",
        "RECO 0",
        "2",
        "3",
    ],
    "select max(name) keep (dense_rank last order by total_mb), percentile_cont(0.25) within group (order by"
    " group_number) from v$asm_diskgroup": ["DATA 1.25"],
    "select a.n, b.n from (select 1 n from dual) a full outer join (select 2 n from dual) b on a.n = b.n": ["1", "2"],
    "select name from v$asm_diskgroup order by name fetch first 50 percent rows only": ["DATA"],
    "select name from v$asm_diskgroup where name like 'D%' for update of name nowait": ["DATA"],
    "with t (n) as (select 1 from dual union all select n + 1 from t where n < 4) select n from t": [
        "1",
        "2",
        "3",
        "4",
    ],
    "select median(n) || stddev(n) from (select level n from dual connect by level < 4)": ["21"],
}


@pytest.mark.parametrize("query", QUERIES)
def test_what_queries_find(lab, query):
    """Totals of groups, recursive and outer joined queries have the rows that Oracle documents for them."""
    assert [" ".join(row.split()) for row in lab.rows(query)] == QUERIES[query]


WRONG = {
    "select trunc(sysdate, 'fortnight') from dual": 1898,
    "select extract(century from sysdate) from dual": 30076,
    "select interval '1' fortnight from dual": 30089,
    "select sysdate - interval 'x' day from dual": 1867,
    "select numtodsinterval(1e9, 'DAY') from dual": 1873,
    "select numtodsinterval(1, 'DAY') * 1e10 from dual": 1873,
    "select instr('abc', 'c', 1, 0) from dual": 1428,
    "select dbms_random.string('x', 4001) from dual": 6502,
    "select to_date('2023-02-30', 'YYYY-MM-DD') from dual": 1847,
    "select to_date('2023-02-03 1', 'YYYY-MM-DD') from dual": 1830,
    "select next_day(sysdate, 'someday') from dual": 1846,
    "select sqrt(-1) from dual": 1428,
    "select 1 from dual where (1, 2) in (select 1 from dual)": 947,
    "select * from v$asm_disk pivot (count(*) for type in (1))": 439,
    "select * from v$asm_disk unpivot (v for n in (path))": 439,
    "select rank() over (order by path) from v$asm_disk": 439,
    "select 1 from dual where (1, 2) in (1, 2)": 920,
    "with t (n) as (select 1 from dual union all select n from t) select count(*) from t": 32044,
    "select * from table(dbms_output)": 22905,
}


@pytest.mark.parametrize("query", WRONG)
def test_what_they_are_refused(lab, query):
    """A wrong unit, interval, date or row value is refused with its code, and so is what is not emulated."""
    assert lab.sql(f"{query};\n").codes[:1] == [WRONG[query]]
