"""Joins that stay small, sub-queries that run once, and X$KFDPARTNER."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab


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
