"""What a preview counts as changed: each change as cells, ASM and databases themselves would show it afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.cellcli.statement import Change as CellChange, parse
from exacell.core.errors import RefusedError
from exacell.core.units import GIB, MIB
from exacell.plan.asmchange import NewGroup
from exacell.plan.asmfacts import AsmFacts
from exacell.plan.asmspace import Keeping
from exacell.plan.dbchange import Change, read_change
from exacell.plan.facts import CellFacts
from exacell.plan.foreseen import Foreseen
from exacell.plan.foreseen_rack import GroupAfter, after
from exacell.plan.model import Plan
from exacell.plan.planners.carve import Carving, carve_plan
from exacell.plan.planners.database import database_plan
from exacell.plan.planners.diskgroup import Wanted, create_plan, drop_plan
from exacell.plan.planners.flashcache import resize_plan
from exacell.plan.planners.griddisk import members, release_plan
from tests.plan.plan_factory import NODES, asm, asm_disk, cell, group, rack, sent

OVERRIDE = "_disk_sector_size_override"


def records() -> dict[str, list[dict[str, Any]]]:
    log = {"type": "log", "bytes": 4 << 30, "blockSize": 512, "diskgroups": ("DATA",)}
    return {
        "db.log": [{"name": str(n), "thread": 1, "status": "CURRENT" if n == 3 else "INACTIVE", **log} for n in (1, 2, 3)],
        "db.instance": [{"name": "SPOT1", "thread": 1, "host": "exa1db01"}],
        "db.diskgroup": [{"name": "DATA", "sectorSize": 512, "usableMb": 200}],
        "db.parameter": [
            {"name": OVERRIDE, "parameter": OVERRIDE, "sid": sid, "memory": None, "spfile": None} for sid in ("*", "SPOT1")
        ],
        "db.table": [{"owner": "APP", "name": "ORDERS", "cache": "DEFAULT"}],
    }  # fmt: skip


def change_of(sql: str) -> Change:
    found = read_change(sql)
    assert found is not None
    return found


def planned(sql: str, *earlier: str) -> Plan:
    """Return the plan of a statement after earlier ones that were only planned."""
    foreseen = Foreseen()
    for each in earlier:
        foreseen.note("spot", change_of(each))
    return database_plan(
        "t1",
        change_of(sql),
        foreseen.of("SPOT", records()),
        database="SPOT",
        node="exa1db01",
        nodes=("exa1db01",),
        statement=sql,
    )


ADD = "alter database add logfile thread 1 group 21 ('+DATA') size 64m blocksize 4096"
TRUE = f'alter system set "{OVERRIDE}"=TRUE scope=memory'


def test_a_parameter_that_an_earlier_line_sets_is_set() -> None:
    """Blocks of 4096 are refused alone, and planned after the line that lets them pass; set back, they are refused again."""
    with pytest.raises(RefusedError, match="ORA-01378"):
        planned(ADD)
    assert planned(ADD, TRUE).steps
    with pytest.raises(RefusedError, match="ORA-01378"):
        planned(ADD, TRUE, TRUE.replace("TRUE", "FALSE"))


def test_groups_that_earlier_lines_add_and_drop_count() -> None:
    """Two of three groups can be dropped only after another one is there; a group that is there is not added twice."""
    drop = "alter database drop logfile group {}"
    with pytest.raises(RefusedError, match="ORA-01567"):
        planned(drop.format(2), drop.format(1))
    assert planned(drop.format(2), TRUE, ADD, drop.format(1)).steps
    assert not planned(ADD, TRUE, ADD).steps
    assert not planned(drop.format(1), TRUE, ADD, drop.format(1)).steps


def test_room_that_earlier_lines_take_is_taken() -> None:
    """A group that fits alone does not fit after others have taken the room."""
    add = "alter database add logfile thread 1 group {} ('+DATA') size 90m"
    assert planned(add.format(22), add.format(21)).steps
    with pytest.raises(RefusedError, match="ORA-15041"):
        planned(add.format(23), add.format(21), add.format(22))


def test_a_table_s_clause_is_that_of_the_last_line() -> None:
    """KEEP after KEEP is nothing to do, and DEFAULT after KEEP is a change back."""
    clause = "alter table app.orders storage (cell_flash_cache {})"
    assert not planned(clause.format("keep"), clause.format("keep")).steps
    (step,) = planned(clause.format("default"), clause.format("keep")).steps
    assert step.changes[0].before == "KEEP"


def test_the_records_of_another_database_stay() -> None:
    """What is planned for one database changes nothing of another one, and nothing of what was read."""
    foreseen, before = Foreseen(), records()
    foreseen.note("ERP", change_of("alter database drop logfile group 1"))
    assert foreseen.of("SPOT", before) == before
    assert len(foreseen.of("erp", before)["db.log"]) == 2 and before == records()


# -- cells and ASM ---------------------------------------------------------------------------------------------------


def a_rack() -> tuple[dict[str, CellFacts], AsmFacts]:
    """Cells with 40G of flash cache on two disks with 1G free each, and an ASM with DATA on their hard disks."""
    facts = rack()
    grids = [(cell, grid) for cell, fact in facts.items() for grid in fact.grid_disks]
    member = {"group": 1, "header": "MEMBER", "mount": "CACHED"}
    disks = [
        asm_disk(g.name, f"192.168.10.{c[-1]}", failgroup=c.upper(), os_mb=g.size // MIB, **member) for c, g in grids
    ]
    return facts, asm([group()], disks)


class Lines:
    """Plans of flash for a disk group, each for the rack as the earlier ones will leave it; nothing is sent."""

    def __init__(self) -> None:
        self.facts, self.asm = a_rack()
        self.foreseen = Foreseen()

    def noted(self, plan: Plan) -> Plan:
        self.foreseen.note_plan(plan, self.now)
        return plan

    @property
    def now(self) -> dict[str, CellFacts]:
        return self.foreseen.on_cells(self.facts)

    def resize(self, size: int) -> Plan:
        return self.noted(resize_plan("t1", self.now, size=size, statement="resize flashcache"))

    def carve(self) -> Plan:
        carving = Carving(prefix="ssd", media="flash", keeping=Keeping(redundancy="normal"))
        return self.noted(carve_plan("t1", self.now, carving, statement="carve griddisk prefix=ssd"))

    def create(self) -> Plan:
        wanted = Wanted(name="FLASH", prefix="ssd", redundancy="normal", au_size=4 * MIB, attributes={})
        grids = members(self.now, "ssd")
        seen = self.foreseen.in_asm(self.asm)
        return self.noted(create_plan("t1", seen, grids, wanted, nodes=NODES, statement="create diskgroup FLASH"))

    def drop(self) -> Plan:
        seen = self.foreseen.in_asm(self.asm)
        return self.noted(drop_plan("t1", seen, "FLASH", nodes=NODES, accepted=(), statement="drop diskgroup FLASH"))

    def release(self) -> Plan:
        headers = self.foreseen.in_asm(self.asm).headers()
        return self.noted(
            release_plan("t1", self.now, prefix="ssd", headers=headers, regrow=True, statement="release griddisk")
        )


def test_room_that_an_earlier_line_frees_can_be_carved() -> None:
    """Without the smaller cache there is 1G for each grid disk; with it there is 11G."""
    assert "size=1G" in sent(Lines().carve())[0]
    lines = Lines()
    lines.resize(20 * GIB)
    assert sent(lines.carve()) == ["CREATE GRIDDISK ALL FLASHDISK PREFIX=ssd, size=11G"]
    assert not lines.carve().steps, "they are there then"


def test_a_disk_group_can_be_made_of_grid_disks_that_an_earlier_line_carves() -> None:
    """ASM sees them as candidates then; with the disk group made, they are its own, and it is there for databases too."""
    lines = Lines()
    with pytest.raises(RefusedError, match="there are no grid disks"):
        lines.create()
    lines.carve()
    assert "DISK 'o/*/ssd_*'" in lines.create().steps[0].statement
    assert not lines.create().steps
    with pytest.raises(RefusedError, match="disk group FLASH uses it"):
        lines.release()
    spaces = lines.foreseen.of("SPOT", {"db.diskgroup": []})["db.diskgroup"]
    assert [(row["name"], row["usableMb"] > 0) for row in spaces] == [("FLASH", True)]


@pytest.mark.parametrize(("attributes", "sectors"), [((), 512), ((("sector_size", "4096"),), 4096)])
def test_a_planned_disk_group_has_the_sectors_that_its_statement_gives(
    attributes: tuple[tuple[str, str], ...], sectors: int
) -> None:
    """Redo of 4K blocks is planned for a disk group that an earlier line makes with sectors of 4K."""
    made = NewGroup(group="F", redundancy="normal", search="o/*/ssd_*", attributes=attributes)
    (row,) = GroupAfter(cluster="main", change=made, grids={}).in_database([])
    assert row["sectorSize"] == sectors


def test_a_disk_group_that_an_earlier_line_drops_releases_its_grid_disks() -> None:
    """There and back: the cache is as large as before at the end, and the disk group's name is free again."""
    lines = Lines()
    lines.resize(20 * GIB)
    lines.carve()
    lines.create()
    lines.drop()
    assert any(statement.startswith("DROP GRIDDISK ssd_FD_00") for statement in sent(lines.release()))
    assert {fact.cache_size for fact in lines.now.values()} == {42 * GIB}, "regrow=yes takes all that is free"
    assert all(fact.grid_disks == lines.facts[name].grid_disks for name, fact in lines.now.items())
    assert lines.foreseen.in_asm(lines.asm) == lines.asm
    assert lines.foreseen.of("SPOT", {"db.diskgroup": []}) == {"db.diskgroup": []}


def test_what_is_taken_back_is_as_it_was() -> None:
    """After undo run, a preview plans for the rack as it was when that run began."""
    lines = Lines()
    lines.resize(20 * GIB)
    mark, before = lines.foreseen.mark, lines.now
    lines.carve()
    assert lines.now != before
    lines.foreseen.back_to(mark)
    assert lines.now == before


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP FLASHCACHE", "CREATE FLASHCACHE ALL"],
        ["DROP FLASHCACHE", "CREATE FLASHCACHE ALL size=7G", "DROP FLASHLOG", "CREATE FLASHLOG ALL"],
        [
            "DROP FLASHLOG",
            "CREATE GRIDDISK ALL FLASHDISK PREFIX=a, size=512M",
            "CREATE GRIDDISK ALL FLASHDISK PREFIX=b",
        ],
        ["CREATE GRIDDISK ALL HARDDISK PREFIX='x,y', size='32M,64M'", "DROP GRIDDISK ALL PREFIX=x"],
        [
            "CREATE GRIDDISK mine CELLDISK=FD_00_exa1cel01, size=100M",
            "ALTER GRIDDISK mine size=64M",
            "DROP GRIDDISK mine",
        ],
        [
            "ALTER GRIDDISK ALL INACTIVE",
            "DROP GRIDDISK ALL PREFIX=DATA FORCE",
            "ALTER CELL flashCacheMode=writethrough",
        ],
    ],
)
def test_no_byte_is_lost_or_made(statements: list[str]) -> None:
    """Whatever is dropped, created and resized: free space, cache, log and grid disks together stay as large as the disks."""

    def whole(fact: CellFacts) -> int:
        used = sum(grid.size for grid in fact.grid_disks) + fact.cache_size + fact.flash_log
        return used + sum(disk.free for disk in fact.cell_disks)

    fact = cell()
    size = whole(fact)
    for text in statements:
        statement = parse(text)
        assert isinstance(statement, CellChange)
        before, fact = fact, after(fact, statement)
        assert fact != before, text
        assert whole(fact) == size, text
