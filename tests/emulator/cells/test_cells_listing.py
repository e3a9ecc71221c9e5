"""LIST and DESCRIBE: what is shown, in which order, and what WHERE lets through."""

from __future__ import annotations

import pytest
from cells_bench import IN_DATA, AsmStub, Bench

from exacell.emulator.basics.messages import CellError
from exacell.emulator.basics.schema import object_types
from exacell.emulator.grammar.changing import parse
from exacell.emulator.state.place import Place
from exacell.emulator.statements.objects import ROWS


def _names(bench: Bench, condition: str, owner: str = "griddisk") -> list[str]:
    return [row[0] for row in bench.values(f"list {owner} attributes name where {condition}")]


def test_the_default_rack(bench: Bench) -> None:
    """The default rack has three X2 cells with 364.75G of write-back cache, a 512M log and no free flash."""
    assert tuple(bench.rack.cells) == ("exa1cel01", "exa1cel02", "exa1cel03")
    assert bench.rack.dbnodes == ("exa1db01", "exa1db02")
    for host, cell in bench.rack.cells.items():
        assert bench.values("list flashcache attributes name,size,status", cell=host) == [
            [f"{host}_FLASHCACHE", "364.75G", "normal"]
        ]
        assert cell.flash_cache is not None and cell.flash_cache.size_bytes == 391_647_330_304
        assert 4 << 30 < cell.flash_cache.dirty_bytes < 8 << 30
        assert bench.one("list flashlog attributes size", cell=host) == "512M"
        assert bench.one("list cell attributes flashCacheMode", cell=host) == "WriteBack"
        flash = bench.values("list celldisk attributes name,size,freeSpace where diskType=flashdisk", cell=host)
        assert flash == [[f"FD_{n:02d}_{host}", "22.875G", "0"] for n in range(16)]
        grid_disks = bench.values("list griddisk attributes name,status", cell=host)
        expected = [f"{p}_CD_{n:02d}_{host}" for p in ("DATA", "RECO") for n in range(12)]
        assert grid_disks == [[name, "active"] for name in expected]
        plan = "((name=SPOT,share=8,limit=80),(name=ERP,share=4,flashcache=off),(name=default,share=1))"
        assert bench.values("list iormplan attributes dbplan,objective", cell=host) == [[plan, "auto"]]
    assert [cell.ip for cell in bench.rack.cells.values()] == ["192.168.10.11", "192.168.10.12", "192.168.10.13"]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_have_only_attributes_of_the_schema(bench: Bench, name: str) -> None:
    """No object of the emulator has an attribute that the schema does not know."""
    bench.rack.asm = AsmStub(IN_DATA)
    known = {a.name for a in object_types()[name].attributes}
    for row in ROWS[name](Place(bench.rack, bench.cell)):
        assert set(row) <= known


@pytest.mark.parametrize("verb", ["list {0}", "list {0} detail", "list {0} attributes all", "describe {0}"])
def test_every_emulated_object_can_be_listed(bench: Bench, verb: str) -> None:
    """LIST, DETAIL, ATTRIBUTES ALL and DESCRIBE work for each emulated object type of the release."""
    release = bench.rack.release.number
    for name in (*ROWS, "METRICDEFINITION", "METRICCURRENT"):
        if object_types()[name].exists_in(release):
            assert "CELL-0" not in bench.e(verb.format(name.lower())), name


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("size = 423G", 12),
        ("size != 423G", 12),
        ("size ! = 423G", 12),
        ("not_there = 1", 0),
        ("size > 105.6875G", 12),
        ("size < 1T", 24),
        ("size = '423G'", 12),
        ("size = '423g'", 12),
        ("size like '423G'", 12),
        ("diskType = harddisk and name like 'RECO.*'", 12),
        ("diskType = HARDDISK", 24),
        ("name like 'RECO'", 0),
        ("name like 'reco.*'", 0),
        ("name not like 'RECO.*'", 12),
        ("name NOT = DATA_CD_00_exa1cel01", 23),
        ("name = data_cd_00_EXA1CEL01", 1),
        ("name like 'DATA_CD_0[0-3]_.*'", 4),
        ("comment = NULL", 24),
        ("comment = ''", 24),
        ("comment != NULL", 0),
        ("cachedBy = null", 12),
        ("asmDiskGroupName = null", 24),
        ("creationTime > '2020-01-01T00:00:00+00:00'", 24),
        ("creationTime < '2020-01-01T00:00:00+00:00'", 0),
        ("errorCount > 0", 0),
        ("offset = 32M", 12),
    ],
)
def test_where(bench: Bench, condition: str, count: int) -> None:
    """Filters compare numbers as numbers, strings without case, patterns whole and with case, and know NULL."""
    if "not_there" in condition:
        assert "CELL-02907" in bench.e(f"list griddisk where {condition}")
    else:
        assert len(_names(bench, condition)) == count


def test_a_bad_pattern_is_refused(bench: Bench) -> None:
    """A pattern that is no regular expression is an error, not an empty list."""
    assert bench.e("list griddisk where name like '['").startswith("CELL-02920")


def test_named_objects(bench: Bench) -> None:
    """A name selects one object in any case; one that does not exist is an error."""
    assert bench.values("list celldisk fd_00_exa1CEL01") == [["FD_00_exa1cel01", "normal"]]
    assert bench.e("list celldisk FD_99_exa1cel01") == "CELL-02906: Cell disk does not exist: FD_99_exa1cel01\n"
    assert "CELL-02906" in bench.e("list metriccurrent FC_NO_SUCH_METRIC")


def test_order_and_limit(bench: Bench) -> None:
    """ORDER BY sorts by value, descending with DESC, and LIMIT cuts."""
    rows = bench.values("list celldisk attributes name,size order by size desc, name limit 3")
    assert [row[0] for row in rows] == [f"CD_{n:02d}_exa1cel01" for n in (2, 3, 4)]
    assert [row[0] for row in bench.values("list celldisk attributes name order by name desc limit 1")] == [
        "FD_15_exa1cel01"
    ]


def test_disks_are_listed_in_slot_order(bench: Bench) -> None:
    """Physical disks come in slot order, hard disks first, not in string order."""
    names = [row[0] for row in bench.values("list physicaldisk")]
    assert names[:12] == [f"20:{n}" for n in range(12)]
    assert names[12:] == [f"FLASH_{slot}_{fdom}" for slot in (1, 2, 4, 5) for fdom in range(4)]


def test_hidden_attributes_show_only_when_named(bench: Bench) -> None:
    """DETAIL leaves hidden attributes out; ATTRIBUTES with DETAIL shows them."""
    bench.rack.asm = AsmStub(IN_DATA)
    assert "asmModeStatus" not in bench.e("list griddisk DATA_CD_00_exa1cel01 detail")
    shown = bench.e("list griddisk DATA_CD_00_exa1cel01 attributes name, asmmodestatus detail")
    assert shown == "\t name:              \t DATA_CD_00_exa1cel01\n\t asmModeStatus:     \t ONLINE\n"


def test_what_asm_knows_is_left_out_when_it_knows_nothing(bench: Bench) -> None:
    """DETAIL has no asmDiskGroupName for a disk that was never in a group, and has it for one that is."""
    bench.rack.asm = AsmStub()
    assert "asmDiskGroupName" not in bench.e("list griddisk RECO_CD_00_exa1cel01 detail")
    assert bench.values("list griddisk RECO_CD_00_exa1cel01 attributes asmmodestatus,asmdeactivationoutcome") == [
        ["UNUSED", "Yes"]
    ]
    bench.rack.asm = AsmStub(IN_DATA)
    assert "asmDiskGroupName:  \t DATA\n" in bench.e("list griddisk DATA_CD_00_exa1cel01 detail")


def test_detail_separates_objects_by_an_empty_line(bench: Bench) -> None:
    """Objects in DETAIL are separated, not ended, by one empty line."""
    text = bench.e("list celldisk attributes name detail")
    assert text.count("\n\n") == 27 and not text.endswith("\n\n")


def test_xml_is_well_formed_and_escaped(bench: Bench) -> None:
    """XML output escapes what needs it and carries times in milliseconds and sizes in bytes."""
    from xml.etree import ElementTree

    bench.e("alter cell comment='a <b> & \"c\"'")
    document = ElementTree.fromstring(bench.run("-xml", "-e", "list cell detail"))
    assert document.find("cell/comment") is not None
    assert document.findtext("cell/comment") == 'a <b> & "c"'
    document = ElementTree.fromstring(bench.run("-xml", "-e", "list celldisk attributes name,size,creationTime"))
    assert document.findtext("celldisk/size") == str(int(528.734375 * 2**30))
    assert len(document.findtext("celldisk/creationTime") or "") == 13


def test_describe_says_what_can_be_altered(bench: Bench) -> None:
    """DESCRIBE lists the attributes in order with what can be modified and what is hidden."""
    lines = bench.e("describe celldisk").splitlines()
    assert lines[0] == "\t name           \t modifiable"
    assert "\t flushStatus    \t hidden" in lines
    assert "\t size           \t " in lines


def test_old_releases_do_not_order(bench: Bench) -> None:
    """ORDER BY and LIMIT exist from 12.1.2.1 on: 12.1.2.3 has them, 12.1.1 calls them a syntax error."""
    assert len(Bench(model="x6", release="12.1.2").values("list celldisk order by size limit 1")) == 1
    with pytest.raises(CellError, match="CELL-01504"):
        parse("list celldisk order by size limit 1", (12, 1, 1))


def test_flash_cache_content_follows_the_cache(bench: Bench) -> None:
    """Only databases that may be cached have content, it fits into what is used, and it goes with a flush."""
    rows = bench.values("list flashcachecontent attributes dbUniqueName,cachedSize")
    assert {row[0] for row in rows} == {"SPOT"}
    assert bench.cell.flash_cache is not None
    assert 0 < sum(int(row[1]) for row in rows) <= bench.cell.flash_cache.used_bytes
    bench.flush()
    assert bench.e("list flashcachecontent") == ""
