"""Where a table is stored, changed and taken back through the program on an emulated rack."""

from __future__ import annotations

from tests.support.program import InProcess

PLACES = "select (select count(*) from dba_tablespaces where tablespace_name = 'WIDE') as spaces, t.tablespace_name as place, "
PLACES += "i.status as status from dba_tables t, dba_indexes i where t.owner = 'APP' and t.table_name = 'CUSTOMERS' "
PLACES += "and i.index_name = 'CUSTOMERS_NAME_IX'"


def places(program: InProcess) -> list[object]:
    (row,) = program.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{PLACES}"').records
    return [row["SPACES"], row["PLACE"], row["STATUS"]]


def test_a_tablespace_and_a_move_are_made_and_taken_back(alone: InProcess) -> None:
    """Two typed statements make a tablespace and move a table with its index; undo, newest first, leaves all as it was."""
    alone.ok("emulator", "start", "t1", "cells=3", "release=19.3", "model=x6")
    before = places(alone)
    alone.ok("-r", "t1", "sql db=SPOT \"create bigfile tablespace wide datafile '+DATA' size 2t\"", "-y")
    alone.ok("-r", "t1", 'sql db=SPOT "alter table app.customers move tablespace wide"', "-y")
    assert [str(each) for each in places(alone)] == ["1", "WIDE", "VALID"]
    refused = alone("-r", "t1", 'sql db=SPOT "drop tablespace wide"', "-y")
    assert refused.code and "ORA-01549" in refused.err
    alone.ok("-r", "t1", "undo", "-y")
    alone.ok("-r", "t1", "undo", "-y")
    assert places(alone) == before
