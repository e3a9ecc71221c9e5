"""Health, alerts and offline readiness, judged from facts in a table."""

from __future__ import annotations

from typing import Any

import pytest

from exacell.care import health
from exacell.care.alerts import ALERTS, alerts_of, headline, short_message
from exacell.care.health import AREAS, Level, Observed, examine, words, worst
from exacell.care.readiness import obstacles
from exacell.plan import facts as f
from exacell.plan.asmfacts import Operation
from tests.support.every import every

CELL = {
    "name": "c1",
    "status": "online",
    "releaseVersion": "19.3.2.0.0.191119",
    "cellsrvStatus": "running",
    "msStatus": "running",
    "rsStatus": "running",
    "fanStatus": "normal",
    "powerStatus": "normal",
    "temperatureStatus": "normal",
}
GRID = {
    "name": "DATA_CD_00_c1",
    "cellDisk": "CD_00_c1",
    "diskType": "HardDisk",
    "size": 1 << 30,
    "status": "active",
    "asmDiskGroupName": "DATA",
    "asmModeStatus": "ONLINE",
    "asmDeactivationOutcome": "Yes",
}
TABLES: dict[str, list[dict[str, Any]]] = {
    health.CELL: [CELL],
    health.PHYSICAL: [{"name": "20:0", "diskType": "HardDisk", "status": "normal"}],
    f.CELLDISK: [{"name": "FD_00_c1", "diskType": "FlashDisk", "size": 1, "freeSpace": 0, "status": "normal"}],
    f.FLASHCACHE: [{"name": "c1_FLASHCACHE", "size": 1, "status": "normal", "degradedCelldisks": None}],
    health.FLASHLOG: [{"name": "c1_FLASHLOG", "size": 1, "status": "normal", "degradedCelldisks": None}],
    f.GRIDDISK: [GRID],
    f.IORMPLAN: [{"name": "c1_IORMPLAN", "dbPlan": "name=SPOT,share=8", "objective": "auto"}],
    f.FLASH_METRICS: [],
    ALERTS: [],
    health.QUARANTINES: [],
}


def observed(cell: str = "c1", **changed: list[dict[str, Any]]) -> Observed:
    names = {"cells": health.CELL, "physical": health.PHYSICAL, "celldisks": f.CELLDISK, "cache": f.FLASHCACHE}
    names |= {"log": health.FLASHLOG, "grids": f.GRIDDISK, "plan": f.IORMPLAN, "metrics": f.FLASH_METRICS}
    names |= {"alerts": ALERTS, "quarantines": health.QUARANTINES}
    return Observed(cell=cell, tables={**TABLES, **{names[key]: rows for key, rows in changed.items()}})


def alert(name: str, severity: str = "critical", by: str = "", end: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "severity": severity,
        "beginTime": name,
        "alertMessage": "m",
        "examinedBy": by,
        "endTime": end,
    }


def test_a_well_cell_has_no_findings() -> None:
    """A cell on which all is normal is ok in every area."""
    found = examine({"c1": observed()})["c1"]
    assert found == ()
    assert words(found) == dict.fromkeys(AREAS, "ok")


@every(
    [
        ({"cells": [{**CELL, "cellsrvStatus": "stopped"}]}, "services", "cellsrv stopped", Level.BAD),
        ({"cells": [{**CELL, "status": "offline"}]}, "services", "offline", Level.BAD),
        ({"cells": [{**CELL, "fanStatus": "warning"}]}, "hw", "fan", Level.WARN),
        ({"physical": [{"name": "20:0", "diskType": "HardDisk", "status": "failed"}]}, "disks", "failed", Level.BAD),
        (
            {"physical": [{"name": "F", "diskType": "FlashDisk", "status": "warning - predictive failure"}]},
            "flash",
            "warning",
            Level.WARN,
        ),
        ({"cache": [{"name": "x", "size": 1, "status": "normal - flushed"}]}, "cache", "off", Level.BAD),
        (
            {"cache": [{"name": "x", "size": 1, "status": "normal", "degradedCelldisks": "FD_01_c1"}]},
            "cache",
            "degraded",
            Level.BAD,
        ),
        ({"cache": []}, "cache", "none", Level.WARN),
        ({"metrics": [{"name": "FC_BY_STALE_DIRTY", "metricValue": 3.0}]}, "cache", "stale", Level.BAD),
        ({"log": []}, "log", "none", Level.WARN),
        ({"log": [{"status": "warning - degraded", "degradedCelldisks": "x"}]}, "log", "degraded", Level.WARN),
        ({"grids": [{**GRID, "asmModeStatus": "OFFLINE"}]}, "asm", "1 offline", Level.BAD),
        ({"grids": [{**GRID, "asmModeStatus": "SYNCING"}]}, "asm", "1 syncing", Level.WARN),
        ({"alerts": [alert("3_1")]}, "alerts", "1 critical", Level.BAD),
        ({"alerts": [alert("3_1", "warning")]}, "alerts", "1 open", Level.WARN),
        ({"quarantines": [{"name": "1"}]}, "alerts", "1 quarant.", Level.WARN),
    ]
)
def test_each_trouble_is_found(changed: dict[str, Any], area: str, word: str, level: Level) -> None:
    """What is not normal shows in its own area, with its level and with what to do."""
    found = examine({"c1": observed(**changed)})["c1"]
    assert words(found)[area] == word
    assert worst(found) is level
    assert all(item.way for item in found)


@pytest.mark.parametrize(
    "rows",
    [
        [{**GRID, "asmModeStatus": "UNUSED", "asmDiskGroupName": None}],
        [{**GRID, "asmModeStatus": "DROPPED", "status": "inactive"}],
    ],
)
def test_unused_grid_disks_are_no_trouble(rows: list[dict[str, Any]]) -> None:
    """A grid disk that no disk group uses is well, active or not."""
    assert examine({"c1": observed(grids=rows)})["c1"] == ()


def test_the_odd_cell_is_named() -> None:
    """Release and IORM plan are compared with most cells; spelling does not count."""
    spelled = [{"name": "p", "dbPlan": "((name=SPOT, share=8))", "objective": "AUTO"}]
    other = [{"name": "p", "dbPlan": "((name=SPOT,share=9))", "objective": "auto"}]
    found = examine(
        {
            "c1": observed("c1"),
            "c2": observed("c2", plan=spelled),
            "c3": observed("c3", plan=other, cells=[{**CELL, "releaseVersion": "19.2.1.0.0.190510"}]),
        }
    )
    assert found["c1"] == found["c2"] == ()
    assert words(found["c3"])["iorm"] == "differs"
    assert words(found["c3"])["image"] == "19.2.1.0.0"


def test_what_was_not_answered_is_not_well() -> None:
    """Areas that a cell without CELLSRV can't tell are unknown, never ok."""
    seen = Observed(cell="c1", tables={statement: TABLES[statement] for statement in health.PLAIN})
    row = words(examine({"c1": seen})["c1"])
    assert {area for area, word in row.items() if word == "?"} == {"cache", "log", "asm", "iorm"}


def test_alert_sequences() -> None:
    """A sequence is open until its last member is clear; a stateless alert until somebody has examined it."""
    rows = [
        alert("3_1"),
        alert("3_2", "clear"),
        alert("4_1", "warning"),
        alert("4_2", "critical", by="eve"),
        alert("5", by="eve"),
        alert("4"),
        alert("6_1", end="x"),
        alert("7_9", "warning"),
        alert("7_10", "critical"),
    ]
    found = {item.name: item for item in alerts_of(rows)}
    assert {name for name, item in found.items() if item.open} == {"4_2", "4", "7_10"}
    assert found["4_2"].examined_by == "eve"
    assert not found["3_2"].critical


def cell(name: str, **grid: Any) -> f.CellFacts:
    row = {**GRID, "name": f"DATA_CD_00_{name}", **grid}
    return f.build(name, [f.CELL, f.GRIDDISK, f.FLASHCACHE], [[CELL], [row], TABLES[f.FLASHCACHE]])


def running(state: str = "RUN", work: int = 10) -> Operation:
    return Operation(inst_id="1", diskgroup="DATA", kind="REBAL", state=state, power=4, sofar=1, work=work, minutes=3)


def test_a_cell_that_can_go() -> None:
    """With all disks spared, the others online and ASM quiet nothing stands in the way."""
    assert obstacles("c1", {"c1": cell("c1"), "c2": cell("c2")}, []) == ()


@pytest.mark.parametrize(
    ("own", "other", "operations", "said"),
    [
        ({"asmDeactivationOutcome": "Cannot de-activate due to x"}, {}, [], "Cannot de-activate"),
        ({"asmDeactivationOutcome": None}, {}, [], "unknown"),
        ({}, {"asmModeStatus": "OFFLINE", "status": "inactive"}, [], "c2: griddisk DATA_CD_00_c2"),
        ({}, {"asmModeStatus": "SYNCING"}, [], "SYNCING"),
        ({}, {}, [running()], "REBAL in DATA"),
    ],
)
def test_what_keeps_it_online(own: Any, other: Any, operations: list[Operation], said: str) -> None:
    """Each reason is named with its object, and with what would change it."""
    found = obstacles("c1", {"c1": cell("c1", **own), "c2": cell("c2", **other)}, operations)
    assert said in found[0].reason
    assert found[0].way


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Flash disk failed. Status : FAILED Manufacturer : MARVELL", "Flash disk failed"),
        ("File system / is 84% full.", "File system / is 84% full"),
        ("A threshold was crossed. Metric Name : CL_FSUT", "A threshold was crossed. Metric Name : CL_FSUT"),
        ("x" * 91, "x" * 87 + "..."),
    ],
)
def test_an_alert_is_told_by_its_first_sentence(message: str, said: str) -> None:
    """The headline is the first sentence, the whole text of a crossed threshold, and never longer than a line."""
    assert headline(message) == said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Flash disk failed. Status : FAILED Manufacturer : MARVELL Size : 23GB", "Flash disk failed"),
        ("Hard disk entered confinement status.", "Hard disk entered confinement status"),
        ("A sentence that is longer than all that a menu has room for beside a name", "A sentence that is longer than all th..."),
        (
            "The warning threshold for the following metric has been crossed. Metric Name : CL_FSUT Object Name : / "
            "Current Value : 90.0 % Threshold Value : 80.0 %",
            "CL_FSUT / 90.0 % 80.0 %",
        ),
    ],
)  # fmt: skip
def test_a_short_message_is_a_whole_thought(message: str, said: str) -> None:
    """What a table or a menu shows of an alert ends with its first sentence, not in the middle of the next one."""
    assert short_message(message) == said


def test_an_alert_that_somebody_looks_after_is_named() -> None:
    """An open alert that is acknowledged is shown with who did so, and does not make the cell less well."""
    row = {"name": "3_1", "severity": "critical", "beginTime": "2026-11-24T18:00:00+01:00", "endTime": ""}
    row |= {"alertMessage": "The disk is worn. Look.", "examinedBy": "jane"}
    (found,) = examine({"c1": Observed(cell="c1", tables={**TABLES, ALERTS: [row]})})["c1"]
    assert (found.text, found.level) == ("alert 3_1, critical, acknowledged by jane", Level.OK)
    assert words([found])["alerts"] == "ok"
    ended = {**row, "name": "3_2", "severity": "clear", "endTime": "2026-11-24T19:00:00+01:00"}
    assert examine({"c1": Observed(cell="c1", tables={**TABLES, ALERTS: [row, ended]})})["c1"] == ()
