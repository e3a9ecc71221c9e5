"""Loops that only read one table are carried out as what they are: so many look-ups by key, so many scans."""

from __future__ import annotations

import json
import time

import pytest
from asm_lab import Lab

from exacell.emulator.asm.instances import Instance
from exacell.emulator.io.cache_fill import MAX_USED_SHARE
from exacell.emulator.io.table_reads import crowd_out
from exacell.emulator.work.reading import ReadTable, look_ups
from exacell.emulator.work.sessions import Work

BARE = "set feedback off heading off pagesize 0 linesize 200 serveroutput on\n"
MADE = "create table k (id number primary key, n number not null, f varchar2(200));\n"
KEYS = MADE + "insert into k select level, 7, rpad('x', 80, 'x') from dual connect by level <= {};\ncommit;\n"
LOOK_UPS = """declare k number; v number; t number := dbms_utility.get_time;
begin
  for i in 1 .. {count} loop
    k := trunc(dbms_random.value({low}, {high}));
    select n into v from k where id = k;
  end loop;
  dbms_output.put_line(v || ' ' || (dbms_utility.get_time - t));
end;
/
"""
EVENTS = (
    "select total_waits, time_waited_micro from v$session_event where sid = sys_context('userenv', 'sid') "
    "and event = 'cell single block physical read';\n"
)


def look_up(lab: Lab, count: int, keys: int, *, own: str = "") -> tuple[list[int], list[int]]:
    """Return the value that was found last with the hundredths that it took, and waits with their microseconds."""
    said = LOOK_UPS.format(count=count, low=1, high=keys + 1).replace("from k where", f"from {own or 'k'} where")
    out = [line.split() for line in lab.db(f"{BARE}{said}{EVENTS}").lines if line.strip()]
    return [int(word) for word in out[0]], [int(word) for word in out[1]]


def test_200_000_look_ups_over_1_000_000_keys_take_seconds(lab: Lab) -> None:
    """A published load: the table is filled and read in less than a minute, and each look-up is a read of one block."""
    began = time.monotonic()
    lab.db(KEYS.format(1_000_000))
    found, waits = look_up(lab, 200_000, 1_000_000)
    assert time.monotonic() - began < 60
    assert found[0] == 7 and waits[0] == 200_000
    assert found[1] * 10_000 == pytest.approx(waits[1] + 200_000 * 22, rel=0.01)


def test_a_table_of_a_million_rows_is_one_row_of_state(lab: Lab) -> None:
    """Rows that differ in a number alone are not stored one by one, and are rows like any other."""
    lab.db(KEYS.format(1_000_000))
    (table,) = [own["K"] for own in lab.rack.work.tables.values() if "K" in own]
    assert (len(table), table.rows) == (1_000_000, [])
    again = Work.from_state(json.loads(json.dumps(lab.rack.work.to_state())))
    (kept,) = [own["K"] for own in again.tables.values() if "K" in own]
    assert kept == table and kept.at_key(1_000_000)[:2] == (1_000_000, 7)


def test_numbered_rows_can_be_changed(lab: Lab) -> None:
    """UPDATE, DELETE and ROLLBACK on a table that INSERT numbered do what they do on any other."""
    lab.db(f"{KEYS.format(5)}update k set n = 8 where id = 3;\ndelete from k where id = 1;\ncommit;\n")
    query = f"{BARE}select id, n from k order by id;\n"
    assert [line.split() for line in lab.db(query).lines] == [["2", "7"], ["3", "8"], ["4", "7"], ["5", "7"]]
    lab.db(
        f"{MADE.replace(' k ', ' r ')}insert into r select level, 0, 'x' from dual connect by level <= 9;\nrollback;\n"
    )
    assert lab.db(f"{BARE}select count(*) from r;\n").lines[0].split() == ["0"]


def test_a_table_gets_warm_while_it_is_read(lab: Lab) -> None:
    """The second pass over a small table is served by flash, and takes a sixth of the time of the first one from disk."""
    lab.db(KEYS.format(20_000))
    _, cold = look_up(lab, 20_000, 20_000)
    _, warm = look_up(lab, 20_000, 20_000)
    assert warm[1] < cold[1]
    assert warm[1] / warm[0] == pytest.approx(350, rel=0.05)


@pytest.mark.parametrize(("clause", "first", "second"), [("NONE", 2250, 2250), ("KEEP", None, 350)])
def test_clauses_decide_what_comes_in(lab: Lab, clause: str, first: int | None, second: int) -> None:
    """A table with NONE stays on disk; one with KEEP is served by flash once it has been read."""
    lab.db(f"{KEYS.format(20_000)}alter table k storage (cell_flash_cache {clause});\n")
    means = [waits[1] / waits[0] for _, waits in (look_up(lab, 20_000, 20_000), look_up(lab, 20_000, 20_000))]
    assert first is None or means[0] == pytest.approx(first, rel=0.05)
    assert means[1] == pytest.approx(second, rel=0.05)


def test_none_leaves_what_is_cached(lab: Lab) -> None:
    """As published: a table that was read with DEFAULT is still served by flash when it has NONE, until the cache is emptied."""
    lab.db(KEYS.format(20_000))
    look_up(lab, 20_000, 20_000)
    look_up(lab, 20_000, 20_000)
    lab.db("alter table k storage (cell_flash_cache none);\n")
    _, waits = look_up(lab, 20_000, 20_000)
    assert waits[1] / waits[0] == pytest.approx(350, rel=0.05)


def test_keys_that_are_not_there_are_an_error(lab: Lab) -> None:
    """Keys beyond the table end the block with ORA-01403, as a look-up does that finds nothing."""
    lab.db(KEYS.format(10))
    said = LOOK_UPS.format(count=2000, low=1, high=1000)
    assert any("ORA-01403" in line for line in lab.db(f"{BARE}{said}").lines)


def test_scans_are_waits_for_smart_scans(lab: Lab) -> None:
    """A loop that counts all rows waits for a smart scan of the table's bytes each time, and finds how many rows there are."""
    lab.db(KEYS.format(1_000_000))
    body = "for i in 1 .. 3 loop select count(*) into v from k; end loop; dbms_output.put_line(v);"
    loop = f"declare v number; begin {body} end;\n/\n"
    events = EVENTS.replace("cell single block physical read", "cell smart table scan")
    out = [line.split() for line in lab.db(f"{BARE}{loop}{events}").lines if line.strip()]
    assert out[0] == ["1000000"] and int(out[1][0]) == 3 * -(-lab_size(lab) // (16 << 20))


def lab_size(lab: Lab) -> int:
    """Return the bytes of the table's segment."""
    return int(lab.db(f"{BARE}select bytes from dba_segments where segment_name = 'K';\n").lines[0])


def test_cells_count_every_read_while_their_clock_goes_on(lab: Lab) -> None:
    """What sessions read while minutes pass is counted by the cells to the last request, and by the database."""
    lab.db(KEYS.format(50_000))
    instance = Instance(asm=lab.asm, node=0, database=lab.asm.databases["SPOT"])
    before = instance.counted().get("physical read IO requests", 0), counted(lab)
    user = lab.rack.work.desk(instance).connect("test")
    table = ReadTable(name="SYS.K", clause="DEFAULT", size_bytes=lab_size(lab))
    for _ in look_ups(user, table, 20_000):
        lab.pass_time(30)
        lab.rack.advance()
    lab.pass_time(60)
    lab.rack.advance()
    assert counted(lab) - before[1] == 20_000
    assert instance.counted()["physical read IO requests"] - before[0] == 20_000


def counted(lab: Lab) -> float:
    """Return how many reads the caches of all cells have served, and how many they have not."""
    names = ("FC_IO_RQ_R", "FC_IO_RQ_R_MISS", "FC_IO_RQ_R_SKIP")
    return sum(metrics.counters.get(name, 0) for metrics in lab.rack.metrics.values() for name in names)


def test_other_data_takes_the_place_of_a_table_in_a_full_cache(lab: Lab) -> None:
    """A full cache into which other data comes loses of a table with DEFAULT, and keeps one with KEEP."""
    lab.db(KEYS.format(50_000))
    look_up(lab, 50_000, 50_000)
    caches = [cell.flash_cache for cell in lab.rack.cells.values() if cell.flash_cache is not None]
    for cell in lab.rack.cells.values():
        assert cell.flash_cache is not None
        for member in cell.flash_cache.members.values():
            member.used_bytes = int(member.size_bytes * MAX_USED_SHARE)
        crowd_out(cell, {"SPOT|SYS.OTHER"}, cell.flash_cache.size_bytes // 2)
    (left,) = {round(cache.tables["SPOT|SYS.K"] / lab_size(lab) * len(caches), 1) for cache in caches}
    assert left == 0.5
    for cell in lab.rack.cells.values():
        crowd_out(cell, {"SPOT|SYS.K"}, cell.flash_cache.size_bytes if cell.flash_cache else 0)
    assert all(cache.tables["SPOT|SYS.K"] for cache in caches)
