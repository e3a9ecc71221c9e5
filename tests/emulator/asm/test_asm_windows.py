"""Analytic functions, joins that stay small, sub-queries that run once, and X$KFDPARTNER."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab

THREE = "(select 1 a, 10 b from dual union all select 1, 20 from dual union all select 2, 5 from dual)"


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        ("count(*) over (partition by a)", "2 2 1"),
        ("count(distinct a) over ()", "2 2 2"),
        ("sum(b) over (partition by a)", "30 30 5"),
        ("sum(b) over (order by b)", "15 35 5"),
        ("max(b) over ()", "20 20 20"),
        ("row_number() over (order by b desc)", "2 1 3"),
        ("rank() over (order by a)", "1 1 3"),
        ("dense_rank() over (order by a)", "1 1 2"),
        ("lag(b, 1, 0) over (order by b)", "5 10 0"),
        ("lead(b) over (partition by a order by b)", "20 - -"),
        ("first_value(b) over (partition by a order by b)", "10 10 5"),
        ("last_value(b) over (order by b)", "10 20 5"),
        ("b - lag(b, 1, b) over (order by b)", "5 10 0"),
        ("round(100 * ratio_to_report(b) over ())", "29 57 14"),
    ],
)
def test_analytic_functions(lab: Lab, expression: str, column: str) -> None:
    """Each function sees its partition in its order, whatever the order of the rows."""
    query = f"select b, nvl(to_char({expression}), '-') from {THREE}"
    rows = [line.split() for line in lab.rows(query)]
    assert [row[1] for row in sorted(rows, key=lambda row: ["10", "20", "5"].index(row[0]))] == column.split()


def test_over_groups(lab: Lab) -> None:
    """An analytic function over group functions sees the groups."""
    assert [line.split() for line in lab.rows(f"select a, sum(sum(b)) over () from {THREE} group by a order by a")] == [
        ["1", "35"],
        ["2", "35"],
    ]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("select * from v$asm_disk where rank() over (order by path) = 1", 30483),
        ("select rank() from dual", 30484),
        ("select rank() over () from dual", 30485),
        ("select lag(dummy) over (partition by dummy) from dual", 30485),
        ("select upper(dummy) over () from dual", 904),
        ("select rank(dummy) over (order by dummy) from dual", 909),
        ("select count(*) over from dual", 30484),
        ("select sum(x) over (partition by dummy) from dual", 904),
    ],
)
def test_refusals(lab: Lab, query: str, code: int) -> None:
    """Wrong uses give Oracle's codes."""
    assert lab.sql(f"{query};\n").codes == [code]


def test_joins_of_many_views_are_possible(lab: Lab) -> None:
    """Four views with 72 rows or more each join by WHERE alone, without a million rows on the way."""
    query = (
        "select count(*) from x$kfdpartner p, v$asm_disk d, v$asm_disk o, v$asm_diskgroup g"
        " where p.grp = d.group_number and p.disk = d.disk_number and o.disk_number = p.number_kfdpartner"
        " and o.group_number = d.group_number and g.group_number = o.group_number and g.type = 'NORMAL'"
    )
    assert int(lab.rows(query)[0]) == 72 * 8


def test_outer_joins_keep_their_conditions(lab: Lab) -> None:
    """A condition of WHERE on the optional side still drops rows after the join, one in ON does not."""
    table = "(select 'RECO' name, 1 x from dual) o"
    base = f"select count(*) from v$asm_diskgroup g left join {table} on o.name = g.name"
    assert [int(lab.rows(query)[0]) for query in (base, f"{base} where o.x = 1", f"{base} where g.name = 'DATA'")] == [
        2,
        1,
        1,
    ]
    marks = f"select count(*) from v$asm_diskgroup g, {table} where o.name(+) = g.name and o.x is null"
    assert int(lab.rows(marks)[0]) == 1


def test_correlated_and_plain_subqueries(lab: Lab) -> None:
    """IN with a query works alone and with columns of the outer row."""
    plain = "select count(*) from v$asm_disk where group_number in (select group_number from v$asm_diskgroup where name='DATA')"
    outer = (
        "select count(*) from v$asm_diskgroup g where 'EXA1CEL02' in"
        " (select failgroup from v$asm_disk d where d.group_number = g.group_number)"
    )
    assert [int(lab.rows(query)[0]) for query in (plain, outer)] == [36, 2]


@pytest.mark.parametrize("cells", [2, 3, 14])
def test_partners_are_mutual_and_elsewhere(new_lab: Callable[..., Lab], cells: int) -> None:
    """A disk's partners are at most eight, in other failure groups, and it is a partner of each of them."""
    group = new_lab(cells=cells).asm.groups["DATA"]
    places = {disk.number: disk.fail_group for disk in group.disks.values()}
    partners = group.partners()
    assert set(partners) == set(places) and all(0 < len(others) <= 8 for others in partners.values())
    for number, others in partners.items():
        assert all(places[other] != places[number] and number in partners[other] for other in others)


def test_headings_keep_their_bars(lab: Lab) -> None:
    """The heading of an expression is its text on one line; only COLUMN … HEADING divides at a bar."""
    assert "NAME||'|'||STATE" in lab.sql("select name||'|'||state from v$asm_diskgroup;\n").lines
    divided = lab.sql("column name heading 'Disk|group' format a6\nselect name from v$asm_diskgroup;\n").lines
    assert [line.strip() for line in divided[:2]] == ["Disk", "group"]
