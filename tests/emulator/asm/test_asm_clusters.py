"""Several ASM clusters on one rack: what belongs to each, and what cells see across all of them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from asm_lab import DB_HOME, GRID_HOME, Lab

from exacell.core.errors import EmulatorError
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.clusters import make_clusters
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.programs.dbnode import program
from exacell.emulator.rack.rack import Rack
from exacell.emulator.rack.world import Launch
from exacell.emulator.server.rack_world import RackWorld


class TwoLab(Lab):
    """A rack with two clusters of two nodes each; ``node`` counts the database nodes of the rack."""

    def __init__(self) -> None:
        super().__init__(spec={})

    def __post_init__(self) -> None:
        spec = RackSpec(name="t2", dbnodes=4, clusters=2, db=("SPOT", "ERP", "HR"), mode="writethrough")
        self.rack = Rack(spec, RackClock(speed=60, wall=lambda: self.seconds))
        self.clusters = AsmClusters.default(self.rack)

    def ask(self, host: str, query: str, *, sid: str, login: str = "grid") -> list[str]:
        """Return what sqlplus says on a database node without headings."""
        env = {"ORACLE_SID": sid, "ORACLE_HOME": GRID_HOME if sid.startswith("+") else DB_HOME}
        words = ["-S", "-L", "/ as sysdba" if login == "oracle" else "/ as sysasm"]
        running = program("sqlplus", self.rack, host, login, words, env=env, tty=False)
        text = f"set feedback off heading off pagesize 0 linesize 32767\n{query};\n"
        return [line.strip() for line in self.drive(running, text).lines]


@pytest.fixture
def two() -> TwoLab:
    """A rack with the clusters c1 and c2."""
    return TwoLab()


def test_each_cluster_has_its_own(two: TwoLab) -> None:
    """Nodes in order, databases in turn, disk groups by the cluster's name; instances count from 1 on each."""
    one, other = two.clusters.all
    assert (one.nodes, other.nodes) == (("exa1db01", "exa1db02"), ("exa1db03", "exa1db04"))
    assert (list(one.databases), list(other.databases)) == (["SPOT", "HR"], ["ERP"])
    groups = "select name from v$asm_diskgroup order by 1"
    assert two.ask("exa1db02", groups, sid="+ASM2") == ["DATAC1", "RECOC1"]
    assert two.ask("exa1db03", groups, sid="+ASM1") == ["DATAC2", "RECOC2"]
    hosts = "select host_name from gv$instance order by 1"
    assert two.ask("exa1db04", hosts, sid="+ASM2") == ["exa1db03", "exa1db04"]
    assert two.ask("exa1db04", hosts, sid="+ASM4")[0].startswith(("ERROR", "select", "ORA-01034"))
    created = "select value from v$parameter where name in ('db_create_file_dest','db_recovery_file_dest') order by 1"
    assert two.ask("exa1db03", created, sid="ERP1", login="oracle") == ["+DATAC2", "+RECOC2"]


def test_discovery_sees_only_what_is_available(two: TwoLab) -> None:
    """A grid disk is offered to the clusters that availableTo names, to all when it names none."""
    free = "select count(*) from v$asm_disk where header_status = 'CANDIDATE'"
    for number in (1, 2, 3):
        for statement in (
            "drop flashcache",
            "create flashcache all size=288g",
            "create griddisk all flashdisk prefix=ssd",
        ):
            assert "CELL-" not in two.cell(statement, number).out
    assert two.ask("exa1db01", free, sid="+ASM1") == two.ask("exa1db03", free, sid="+ASM1") == ["48"]
    for number in (1, 2, 3):
        two.cell("alter griddisk all flashdisk availableTo='c2'", number)
        two.cell(f"alter griddisk ssd_FD_00_exa1cel0{number} availableTo='C1,c2'", number)
    assert two.ask("exa1db01", free, sid="+ASM1") == ["3"]
    assert two.ask("exa1db03", free, sid="+ASM1") == ["48"]


def test_cells_look_across_all_clusters(two: TwoLab) -> None:
    """Attributes of grid disks and the check of redundancy at shutdown know the disk groups of every cluster."""
    query = "list griddisk attributes name, asmDiskgroupName, asmModeStatus where cellDisk = 'CD_04_exa1cel01'"
    rows = [line.split() for line in two.cell(query).lines]
    assert [(row[0].split("_")[0], *row[1:]) for row in rows] == [
        (name, name, "ONLINE") for name in ("DATAC1", "DATAC2", "RECOC1", "RECOC2")
    ]
    two.cell("alter griddisk DATAC2_CD_03_exa1cel02 inactive", 2)
    lines = two.cell("list griddisk attributes name where asmDeactivationOutcome != 'Yes'").lines
    assert {line.split()[0].split("_")[0] for line in lines} == {"DATAC2"}
    assert "CELL-01548" in two.cell("alter cell shutdown services all").out


def test_a_group_may_have_the_same_name_twice(two: TwoLab) -> None:
    """Each cluster can have a FLASH; dropping one leaves the other, and its grid disks are free again."""
    for number in (1, 2, 3):
        for statement in ("drop flashcache", "create flashcache all size=200g"):
            two.cell(statement, number)
        for key in ("c1", "c2"):
            two.cell(f"create griddisk all flashdisk prefix=ssd{key}, size=4g, availableTo='{key}'", number)
    for host, key in (("exa1db01", "c1"), ("exa1db03", "c2")):
        made = two.ask(host, f"create diskgroup flash normal redundancy disk 'o/*/ssd{key}_*'", sid="+ASM1")
        assert made == []
    status = "list griddisk attributes asmModeStatus where name = 'ssd{}_FD_01_exa1cel02'"
    assert two.ask("exa1db01", "drop diskgroup flash", sid="+ASM1") == []
    assert [two.cell(status.format(key), 2).out.strip() for key in ("c1", "c2")] == ["DROPPED", "ONLINE"]
    assert "successfully dropped" in two.cell("drop griddisk all prefix=ssdc1 force", 2).out
    assert "CELL-" in two.cell("drop griddisk all prefix=ssdc2", 2).out


def test_clusters_survive_a_stop() -> None:
    """A stored rack comes back with its clusters, and what one of them changed."""
    world = RackWorld.create("t2", {"clusters": 2, "dbnodes": 2, "mode": "writethrough"})
    query = ["-S", "/ as sysasm"]
    env = {"ORACLE_SID": "+ASM1", "ORACLE_HOME": GRID_HOME}
    change = "alter diskgroup datac2 set attribute 'disk_repair_time'='5h';\n"

    def sql(on: RackWorld, text: str) -> str:
        launch = Launch(
            name="sqlplus",
            host="exa1db02",
            login="grid",
            argv=query,
            env=env,
            files=OwnFiles("/"),
            tty=False,
            has_stdin=True,
        )
        running = on.program(launch)
        return Lab().drive(running, text).out

    assert "Diskgroup altered." in sql(world, change)
    assert {"asm-c1", "asm-c2"} <= set(world.changed_parts("exa1db02"))
    again = RackWorld.from_state(json.loads(json.dumps(world.to_state())))
    shown = sql(again, "select value from v$asm_attribute where name='disk_repair_time' and group_number=1;\n")
    assert "5h" in shown
    assert [list(cluster.nodes) for cluster in again.clusters] == [["exa1db01"], ["exa1db02"]]


@pytest.mark.parametrize(("count", "nodes"), [(0, 2), (3, 2), (9, 20)])
def test_impossible_divisions_are_refused(count: int, nodes: int) -> None:
    """A rack has at least one cluster and each cluster a node of its own."""
    with pytest.raises(EmulatorError, match=f"clusters={count} is not possible"):
        make_clusters(count, [f"n{number}" for number in range(nodes)], ["SPOT"])


def test_one_cluster_is_as_before(new_lab: Callable[..., Lab]) -> None:
    """A rack with one cluster has DATA and RECO for everybody; availableTo with another client hides a disk from ASM."""
    lab = new_lab()
    assert list(lab.asm.groups) == ["DATA", "RECO"]
    assert {disk.available_to for disk in lab.rack.cells["exa1cel01"].grid_disks.values()} == {()}
    lab.carve()
    free = "select count(*) from v$asm_disk where header_status='CANDIDATE'"
    for client, seen in (("+ASM", 48), ("spot2", 47), ("", 48)):
        lab.cell(f"alter griddisk ssd_FD_00_exa1cel01 availableTo='{client}'")
        assert int(lab.rows(free)[0]) == seen
