"""Forms of statements that are seldom used. Source: reference cellcli.md 1.7, 2.3, 6.6, 6.7, 7.1; on-line HELP of a 24.x cell."""

from __future__ import annotations

import pytest
from cells_bench import Bench

from exacell.emulator.basics.profiles import releases


def test_cell_disks_are_created_from_a_list() -> None:
    """CREATE CELLDISK ((name=…, lun=…), …) makes each of them, a line each, whatever the others answer."""
    bench = Bench(mode="writethrough")
    bench.e("drop celldisk CD_03_exa1cel01, CD_04_exa1cel01 force")
    answer = bench.e("create celldisk ((name=left, lun=0_3, comment='a'), (name=right, lun=0_5), (name=far, lun=0_4))")
    assert answer == (
        "CellDisk left successfully created\nCELL-02526: Pre-existing cell disk: CD_05_exa1cel01\n"
        "CellDisk far successfully created\n"
    )
    assert bench.one("list celldisk left attributes comment") == "a"
    assert bench.values("list lun 0_3 attributes cellDisk") == [["left"]]
    assert "CELL-01504" in bench.e("create celldisk ((lun=0_6))")
    assert "CELL-01504" in bench.e("create celldisk ((name=a, name=b, lun=0_6))")
    assert "CELL-02907" in bench.e("create celldisk ((name=a, colour=b))")


@pytest.mark.parametrize(("model", "release"), [("x8m", "22.1"), ("x10mef", "24.1"), ("x2", "19.3")])
def test_cell_disks_that_are_made_again_have_the_size_of_their_medium(model: str, release: str) -> None:
    """Dropping all cell disks and creating them again gives the same sizes: hard, flash, capacity flash and PMEM."""
    bench = Bench(model=model, release=release, mode="writethrough")
    sizes = "list celldisk attributes name, size, diskType"
    before = bench.values(sizes)
    bench.e("drop flashcache; drop flashlog; drop pmemcache; drop pmemlog")
    words = ["flashdisk", "harddisk", "pmem"] if model != "x10mef" else ["capacityoptimized flashdisk"]
    for word in words:
        bench.e(f"drop celldisk all {word} force")
        bench.e(f"create celldisk all {word}")
    assert bench.values(sizes) == before


def test_users_of_snmp() -> None:
    """ALTER CELL SNMPUSER.name= adds, replaces and removes a user of SNMP V3, whose passwords are never shown."""
    bench = Bench()
    bench.e("alter cell snmpUser.Ann=(authProtocol=SHA, authPassword=Secret12), snmpUser.bob=(authProtocol=MD5)")
    shown = bench.one("list cell attributes snmpUser")
    assert shown == "((name=Ann,authProtocol=SHA),(name=bob,authProtocol=MD5))"
    bench.e("alter cell snmpuser.Ann=''")
    assert bench.one("list cell attributes snmpUser") == "((name=bob,authProtocol=MD5))"
    assert "CELL-02917" in bench.e("alter cell snmpuser.cid=(authprotocol=SHA,authpassword=*)")
    bench.e("alter cell snmpuser.bob=''")
    assert bench.one("list cell attributes snmpUser") == ""


def test_the_service_led_of_disks_is_obsolete(bench: Bench) -> None:
    """ALTER PHYSICALDISK SERVICELED is answered by its own code, once."""
    obsolete = "CELL-04591: SERVICELED option on ALTER PHYSICALDISK is obsolete.\n"
    assert bench.e("alter physicaldisk 20:3 serviceled on") == obsolete
    assert bench.e("alter physicaldisk all harddisk serviceled off") == obsolete


def test_blanks_around_a_date_are_ignored(bench: Bench) -> None:
    """A date in quotes is a date with blanks before it too, as HELP's own examples have it."""
    bench.pass_time(300)
    last = bench.one("list metriccurrent CL_FSUT attributes collectionTime")
    for date in (last, f" {last}", f"{last} "):
        assert len(bench.values(f"list metrichistory CL_FSUT where collectionTime = '{date}'")) == 1
    assert bench.e(f"list metrichistory CL_FSUT where collectionTime > ' {last}'") == ""


def test_profiles_of_a_plan_are_listed() -> None:
    """LIST IORMPROFILE has the profiles of the dbplan; beside a catplan they are refused, and a ninth one by 12.1."""
    bench = Bench(model="x6", release="12.1.2")
    bench.e(
        "alter iormplan dbplan=((name=silver,share=2,type=profile),(name=gold,share=4,type=profile),(name=SPOT,share=1))"
    )
    assert bench.values("list iormprofile") == [["gold"], ["silver"]]
    assert bench.values("list iormprofile gold attributes name, asmClusterName") == [["gold", ""]]
    catplan = "catplan=((name=other,level=1,allocation=100))"
    assert "cannot be combined with a catplan" in bench.e(f"alter iormplan {catplan}")
    assert bench.e(f"alter iormplan dbplan='', {catplan}") == "IORMPLAN successfully altered\n"
    assert bench.e("list iormprofile") == ""
    bench.e("alter iormplan catplan=''")
    nine = ",".join(f"(name=p{n},share=1,type=profile)" for n in range(9))
    assert "more than 8 profiles" in bench.e(f"alter iormplan dbplan=({nine})")
    assert Bench(model="x6").e(f"alter iormplan dbplan=({nine})") == "IORMPLAN successfully altered\n"


def test_a_sparse_grid_disk_has_two_sizes() -> None:
    """virtualSize without size is refused; with both the disk is sparse."""
    bench = Bench(mode="writethrough")
    bench.e("drop flashcache")
    assert "CELL-02917" in bench.e("create griddisk s celldisk=FD_00_exa1cel01, virtualSize=10G")
    bench.e("create griddisk s celldisk=FD_00_exa1cel01, size=1G, virtualSize=10G")
    assert bench.values("list griddisk s attributes size, virtualSize, sparse") == [["1G", "10G", "TRUE"]]


def test_only_some_hardware_compresses() -> None:
    """flashCacheCompress can be switched off everywhere, and on nowhere here: X3 and X4 are not emulated."""
    bench = Bench(model="x6", mode="writethrough")
    assert "only X3 and X4" in bench.e("alter cell flashCacheCompress=true")
    assert bench.e("alter cell flashCacheCompress=false") == "Cell exa1cel01 successfully altered\n"


ATTRIBUTES = [
    ("CELL", "flashCacheMode", "11.2.3.2.1", ""),
    ("CELL", "flashCacheCompress", "11.2.3.3.1", "22.1"),
    ("CELL", "ramCacheMode", "19.3", "22.1"),
    ("CELL", "ramCacheMaxSize", "19.3", "22.1"),
    ("CELL", "storageIndexPersMode", "22.1", ""),
    ("CELL", "columnarCachePersMode", "22.1", ""),
    ("CELL", "metricStreamEndPoint", "22.1", ""),
    ("CELL", "metricStreamIntvlInSec", "22.1", ""),
    ("CELL", "egsStatus", "24.1", ""),
    ("GRIDDISK", "cachedBy", "11.2.3.2.1", ""),
    ("GRIDDISK", "cachingPolicy", "11.2.3.2.1", ""),
    ("GRIDDISK", "asmDiskSize", "12.1.2", ""),
    ("GRIDDISK", "sizeAllocated", "22.1", ""),
    ("GRIDDISK", "storagePool", "24.1", ""),
    ("GRIDDISK", "poolDiskStatus", "24.1", ""),
    ("DATABASE", "iormShare", "12.1.2", "22.1"),
    ("DATABASE", "iormDiskShare", "24.1", ""),
    ("DATABASE", "iormFlashShare", "24.1", ""),
    ("METRICCURRENT", "collection", "22.1", ""),
    ("METRICDEFINITION", "fineGrained", "22.1", ""),
    ("METRICDEFINITION", "streaming", "22.1", ""),
    ("METRICDEFINITION", "retentionPolicy", "22.1", ""),
    ("METRICDEFINITION", "persistencePolicy", "11.2.2.4", "19.3"),
]
"""Attributes with the first and the last release profile that have them. Source: reference cellcli.md 3.3 and 8."""


@pytest.mark.parametrize("release", list(releases()))
def test_a_release_describes_the_attributes_of_its_time(release: str) -> None:
    """DESCRIBE has an attribute on exactly the releases that know it, and LIST refuses it on the others."""
    order = list(releases())
    bench = Bench(model=releases()[release].models[0], release=release, mode="writethrough", cells=2)
    for owner, name, first, last in ATTRIBUTES:
        since, until = order.index(first), order.index(last) if last else len(order)
        known = {row[0] for row in bench.values(f"describe {owner}") if row}
        assert (name in known) == (since <= order.index(release) <= until), (owner, name)
        if name not in known and known:
            only = " where name='CL_FSUT'" if owner.startswith("METRIC") else ""
            assert "CELL-02907" in bench.e(f"list {owner} attributes {name}{only}")


WORDS = [
    ("share=2", "11.2.3.2.1"),
    ("limit=50", "11.2.2.4"),
    ("flashcache=off", "11.2.2.4"),
    ("flashlog=off", "11.2.2.4"),
    ("limit=50,role=primary", "11.2.2.4"),
    ("flashcachemin=1G", "12.1.2"),
    ("flashcachelimit=1G", "12.1.2"),
    ("share=2,type=profile", "12.1.2"),
    ("flashcachesize=1G", "19.3"),
    ("share=2,asmcluster=c1", "19.3"),
    ("pmemcache=off", "19.3"),
    ("pmemlog=off", "19.3"),
    ("xrmemcache=off", "24.1"),
    ("xrmemcachemin=1G", "24.1"),
]
"""Words of dbplan directives with the first release profile that knows them. Source: reference cellcli.md 7.1 and 8."""


@pytest.mark.parametrize("release", list(releases()))
def test_a_plan_has_the_words_of_its_release(release: str) -> None:
    """A directive's word is refused by the releases before it, and a refused plan leaves the old one."""
    order = list(releases())
    bench = Bench(model=releases()[release].models[0], release=release, cells=2)
    bench.e("alter iormplan dbplan=''")
    for words, first in WORDS:
        answer = bench.e(f"alter iormplan dbplan=((name=SPOT,{words}))")
        known = order.index(release) >= order.index(first)
        assert (answer == "IORMPLAN successfully altered\n") == known, (words, answer)
        assert (bench.one("list iormplan attributes dbPlan") != "") == known
        bench.e("alter iormplan dbplan=''")
