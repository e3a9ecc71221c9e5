"""Hierarchical queries: the whole names of ASM's files as public scripts find them, levels, order, loops."""

from __future__ import annotations

import pytest

FULL_PATHS = (
    "select concat('+' || gname, sys_connect_by_path(aname, '/')) full_path from ("
    " select g.name gname, a.parent_index pindex, a.name aname, a.reference_index rindex, a.alias_directory"
    " from v$asm_alias a, v$asm_diskgroup g where a.group_number = g.group_number)"
    " where alias_directory = 'N' start with mod(pindex, power(2, 24)) = 0 connect by prior rindex = pindex"
)


def test_whole_names_of_files(lab):
    """The query that everybody uses for the names of files gives all files of the disk groups."""
    paths = lab.rows(f"{FULL_PATHS} order by 1")
    found = [
        "/".join((f"+{group.name}", *file.directories, file.alias))
        for group in lab.asm.groups.values()
        for file in group.files
    ]
    assert len(paths) > 30 and sorted(paths) == sorted(found)


def test_size_by_database(lab):
    """CONNECT_BY_ROOT gives the top directory of each file, the database it belongs to."""
    text = (
        "select db, count(*) from (select connect_by_root name db, alias_directory d from v$asm_alias"
        " start with mod(parent_index, power(2, 24)) = 0 connect by prior reference_index = parent_index)"
        " where d = 'N' group by db order by db"
    )
    known = lab.rows("select count(*) from v$asm_file")
    rows = [line.split() for line in lab.rows(text)]
    assert [name for name, _ in rows][-2:] == ["ERP", "SPOT"] or {"ERP", "SPOT"} <= {name for name, _ in rows}
    assert sum(int(count) for _, count in rows) == int(known[0])


_TREE = "(select 1 id, 0 up, 'a' n from dual union all select 2, 1, 'c' from dual union all select 3, 1, 'b' from dual"
_TREE += " union all select 4, 2, 'd' from dual)"
ROWS = {
    "select level from dual connect by level <= 3": ["1", "2", "3"],
    f"select lpad(' ', level) || n || connect_by_isleaf from {_TREE} start with up = 0 connect by prior id = up": [
        "a0",
        "c0",
        "d1",
        "b1",
    ],
    f"select n from {_TREE} start with up = 0 connect by prior id = up order siblings by n": ["a", "b", "c", "d"],
    f"select n || level from {_TREE} connect by prior id = up start with n = 'c'": ["c1", "d2"],
    f"select n from {_TREE} where n <> 'c' start with up = 0 connect by prior id = up": ["a", "d", "b"],
    f"select max(level), count(*) from {_TREE} start with up = 0 connect by prior id = up": ["3          4"],
    f"select connect_by_root n, count(*) from {_TREE} start with id in (2, 3) connect by prior id = up"
    " group by connect_by_root n order by 2 desc": ["c          2", "b          1"],
    f"select count(*) from {_TREE} start with id = 1 connect by nocycle prior id = id": ["1"],
}


@pytest.mark.parametrize("query", ROWS)
def test_rows_of_hierarchies(lab, query):
    """Each row comes behind the one above it, WHERE takes away rows but not those below them."""
    assert [" ".join(line.split()) for line in lab.rows(query)] == [" ".join(row.split()) for row in ROWS[query]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        (f"select count(*) from {_TREE} start with id = 1 connect by prior id = id", 1436),
        ("select level from dual", 1788),
        ("select prior dummy from dual", 1788),
        ("select 1 from dual start with 1 = 1", 1788),
        ("select 1 from dual connect by 1 = 1", 30009),
    ],
)
def test_what_is_no_hierarchy(lab, query, code):
    """A loop, LEVEL without CONNECT BY and a hierarchy without an end are refused."""
    assert lab.sql(f"{query};\n").codes == [code]
