"""Tablespaces: made on a disk group, filled by MOVE, dropped; where a table is decides what its reads cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asm_lab import Lab
from test_asm_reading import BARE, KEYS, counted, look_up

FLASH = "create tablespace fast datafile '+SSD' size 64m;\n"


@pytest.fixture
def flash(lab: Lab) -> Lab:
    """A rack with a disk group SSD on grid disks of flash."""
    lab.carve("ssd")
    lab.create("ssd", "ssd")
    return lab


def shown(lab: Lab, query: str) -> list[list[str]]:
    return [line.split() for line in lab.db(f"{BARE}{query};\n").lines if line.strip()]


def test_the_dictionary_shows_a_tablespace_with_its_file_and_its_segments(flash: Lab) -> None:
    """A tablespace on a group, and a table moved into it, are in the views of tablespaces, files and segments, as if they had
    always been there; after DROP they are gone, the file from ASM, too."""
    group = flash.asm.groups["SSD"]
    files = len(group.files)
    assert "Tablespace created." in flash.db(f"{KEYS.format(9)}{FLASH}").lines
    space = "select t.contents, t.status, f.bytes, v.ts# from dba_tablespaces t, dba_data_files f, v$tablespace v "
    space += "where t.tablespace_name = 'FAST' and f.tablespace_name = 'FAST' and v.name = 'FAST' and f.file_name like '+SSD/%'"
    assert [row[:3] for row in shown(flash, space)] == [["PERMANENT", "ONLINE", str(64 << 20)]]
    assert "Table altered." in flash.db("alter table k move tablespace fast;\n").lines
    moved = "select s.tablespace_name, t.tablespace_name from dba_segments s, dba_tables t "
    moved += "where s.segment_name = 'K' and t.table_name = 'K'"
    assert shown(flash, moved) == [["FAST", "FAST"]]
    assert len(group.files) == files + 1
    said = flash.db("drop tablespace fast including contents and datafiles;\n").lines
    assert "Tablespace dropped." in said and len(group.files) == files
    left = "select count(*) from dba_tablespaces where tablespace_name = 'FAST'"
    assert (
        shown(flash, left) == [["0"]]
        and "ORA-00942: table or view does not exist" in flash.db("select count(*) from k;\n").lines
    )


def test_a_bigfile_tablespace_is_shown_as_one(flash: Lab) -> None:
    """The dictionary and V$TABLESPACE say of each tablespace whether it was made as a bigfile one."""
    flash.db("create bigfile tablespace big datafile '+SSD' size 64m;\n")
    flash.db("create smallfile tablespace small datafile '+SSD' size 64m;\n")
    both = "select t.bigfile, v.bigfile from dba_tablespaces t, v$tablespace v "
    both += "where v.name = t.tablespace_name and t.tablespace_name = '{}'"
    assert shown(flash, both.format("BIG")) == [["YES", "YES"]]
    assert shown(flash, both.format("SMALL")) == [["NO", "NO"]]


@pytest.mark.parametrize("name", ["MiXed", "a;b", "fast"])
def test_a_quoted_name_is_another_name(flash: Lab, name: str) -> None:
    """A tablespace whose name stands in quotes is in the dictionary as written, and is dropped only by that name."""
    made = f"create tablespace \"{name}\" datafile '+SSD' size 64m;\n"
    assert "Tablespace created." in flash.db(made).lines
    there = "select count(*) from dba_tablespaces where tablespace_name = '{}'"
    assert shown(flash, there.format(name)) == [["1"]]
    assert shown(flash, there.format(name.upper())) == [["0"]]
    assert "Tablespace dropped." in flash.db(f'drop tablespace "{name}";\n').lines
    assert shown(flash, there.format(name)) == [["0"]]


@pytest.mark.parametrize(
    ("statement", "codes"),
    [
        ("create tablespace fast datafile '+SSD' size 64m", [1543]),
        ("create tablespace t datafile '+NOWHERE' size 64m", [1119, 17502, 15001]),
        ("create tablespace t datafile '+SSD' size 64t", [1119, 17502, 15041]),
        ("create tablespace t datafile '+SSD' size 64m autoextend perhaps", [2180]),
        ("create tablespace t", [2199]),
        ("alter table app.customers move tablespace fast", [1652]),
        ("alter table app.customers move tablespace slow", [959]),
        ("alter table app.orders move tablespace users", [14511]),
        ("alter table app.orders move partition p1999 tablespace users", [2149]),
        ("create table z (a number) tablespace slow", [959]),
        ("drop tablespace slow", [959]),
        ("drop tablespace fast", [1549]),
        ("drop tablespace system including contents", [1550]),
        ("drop tablespace sysaux", [13501]),
        ("drop tablespace undotbs1", [30013]),
        ("drop tablespace users", [12919]),
        ("drop tablespace users including contents", [12919]),
        ("drop tablespace temp", [12906]),
    ],
)
def test_what_a_database_refuses(flash: Lab, statement: str, codes: list[int]) -> None:
    """A statement about a tablespace that cannot be gets Oracle's codes, and changes nothing."""
    flash.db(f"{KEYS.format(9)}{FLASH}alter table k move tablespace fast;\n")
    spaces = shown(flash, "select tablespace_name, count(*) from dba_segments group by tablespace_name order by 1")
    assert flash.db(f"{statement};\n").codes == codes
    assert (
        shown(flash, "select tablespace_name, count(*) from dba_segments group by tablespace_name order by 1") == spaces
    )


def test_indexes_are_unusable_until_they_are_built_anew(lab: Lab) -> None:
    """MOVE of a table makes its indexes unusable; REBUILD makes them valid, one by one."""
    status = "select status from dba_indexes where index_name = 'CUSTOMERS_NAME_IX'"
    lab.db("create tablespace wide datafile '+DATA' size 400g;\nalter table app.customers move tablespace wide;\n")
    assert shown(lab, status) == [["UNUSABLE"]]
    assert "Index altered." in lab.db("alter index app.customers_name_ix rebuild;\n").lines
    assert shown(lab, status) == [["VALID"]]


def test_reads_from_flash_disks_are_the_fastest_and_touch_no_cache(flash: Lab) -> None:
    """As published: look-ups are fastest from a table on flash disks, close behind from the flash cache, slowest from disk.
    A table that moves there takes nothing of the cache with it, and its reads are none of the cache's."""
    flash.db(f"{KEYS.format(20_000)}{FLASH}")
    means = {}
    for place in ("disk", "cache", "flash"):
        if place == "flash":
            flash.db("alter table k move tablespace fast;\n")
            flash.pass_time(60)
            flash.rack.advance()
            before = counted(flash)
        _, waits = look_up(flash, 20_000, 20_000)
        means[place] = waits[1] / waits[0]
    flash.pass_time(60)
    flash.rack.advance()
    assert counted(flash) == before
    assert means["flash"] == pytest.approx(320, rel=0.05) and means["flash"] < 350 < means["disk"]
    flash.db("alter table k move tablespace users;\n")
    _, waits = look_up(flash, 100, 20_000)
    assert waits[1] / waits[0] > 1500


def test_a_tablespace_on_hard_disks_is_no_faster(lab: Lab) -> None:
    """What a read costs follows from the disks below the group, not from the tablespace: on DATA it is as before."""
    lab.db(f"{KEYS.format(2_000)}create tablespace other datafile '+DATA' size 64m;\n")
    lab.db("alter table k storage (cell_flash_cache none);\n")
    _, before = look_up(lab, 2_000, 2_000)
    lab.db("alter table k move tablespace other;\n")
    _, after = look_up(lab, 2_000, 2_000)
    assert after[1] / after[0] == pytest.approx(before[1] / before[0], rel=0.1)


def test_a_flash_cache_on_the_node_is_asked_first(new_lab: Callable[..., Lab]) -> None:
    """The second pass over a table is served by the instance's own flash cache, under that event; at size 0 it is emptied."""
    lab = new_lab(dbcache=1 << 30)
    lab.db(f"{KEYS.format(5_000)}alter table k storage (cell_flash_cache none);\n")
    look_up(lab, 5_000, 5_000)
    body = "k := trunc(dbms_random.value(1, 5001)); select n into v from k where id = k;"
    loop = f"declare k number; v number; begin for i in 1 .. 5000 loop {body} end loop; end;\n/\n"
    events = "select event, total_waits, time_waited_micro from v$session_event "
    events += "where sid = sys_context('userenv', 'sid') and event like '%single block%' order by total_waits desc"

    def waits() -> dict[str, int]:
        lines = lab.db(f"{BARE}{loop}{events};\n").lines
        rows = [line.rsplit(None, 2) for line in lines if "single block" in line]
        return {row[0].strip(): round(int(row[2]) / max(1, int(row[1]))) for row in rows if int(row[1])}

    found = waits()
    assert list(found) == ["db flash cache single block physical read"]
    assert found["db flash cache single block physical read"] == pytest.approx(450, rel=0.05)
    lab.db("alter system set db_flash_cache_size=0 scope=memory;\n")
    assert list(waits()) == ["cell single block physical read"]
    lab.db(f"alter system set db_flash_cache_size={1 << 30} scope=memory;\n")
    assert "cell single block physical read" in waits()
