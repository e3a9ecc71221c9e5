"""What a preview counts as changed in a database: each change as the database itself would show it afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.core.errors import RefusedError
from exacell.plan.dbchange import Change, read_change
from exacell.plan.foreseen import Foreseen
from exacell.plan.model import Plan
from exacell.plan.planners.database import database_plan

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
