"""What takes an ALTER of plain attributes back, and where nothing does."""

from __future__ import annotations

from plan_factory import CELLS

from exacell.cellcli.statement import parse
from exacell.plan.guards.steps import NO_INVERSE, with_inverse
from exacell.plan.model import Change, Plan, Stage, Step, Undo
from tests.support.every import every


def change(kind: str, name: str, attribute: str, before: str) -> Change:
    return Change(object=kind, name=name, attribute=attribute, before=before, after="new")


def plan(*changes: Change, inverse: str = NO_INVERSE) -> Plan:
    steps = [
        Step(target=CELLS[0], statement="s", what="w", undo=Undo.IMPOSSIBLE, inverse=inverse, changes=changes),
        Step(target=CELLS[1], statement="s", what="w", undo=Undo.IMPOSSIBLE, inverse=inverse),
    ]
    return Plan(statement="s", rack="t1", stages=(Stage(title="t", steps=tuple(steps)),))


BACK = [
    ([("cell", "c", "comment", "old words")], ("ALTER CELL comment='old words'",)),
    ([("cell", "c", "comment", "-"), ("cell", "c", "location", "row 3")], ("ALTER CELL comment='', location='row 3'",)),
    (
        [("griddisk", "A_CD_00", "comment", "x"), ("griddisk", "B_CD_00", "cachingPolicy", "none")],
        ("ALTER GRIDDISK A_CD_00 comment='x'", "ALTER GRIDDISK B_CD_00 cachingPolicy=none"),
    ),
    # Disks that held the same get it back together.
    (
        [
            ("celldisk", "CD_00", "comment", "x"),
            ("celldisk", "CD_01", "comment", "-"),
            ("celldisk", "CD_02", "comment", "x"),
        ],
        ("ALTER CELLDISK CD_00,CD_02 comment='x'", "ALTER CELLDISK CD_01 comment=''"),
    ),
    ([("threshold", "T.x", "critical", "120.0")], ("ALTER THRESHOLD T.x critical=120.0",)),
    ([("threshold", "T.x", "critical", "-")], ()),
    ([("cell", "c", "metricCollection", "TRUE")], ("ALTER CELL metricCollection=TRUE",)),
    ([("cell", "c", "enableSmartStorage", "FALSE")], ("ALTER CELL enableSmartStorage=FALSE",)),
    ([("cell", "c", "smtpUseSSL", "-")], ()),
    # They decide which disks a cell has.
    ([("cell", "c", "eighthRack", "FALSE")], ()),
    ([("cell", "c", "flashCacheCompress", "TRUE")], ()),
    # States that LIST CELL tells and an action sets; another word than these two is no state of a light.
    ([("cell", "c", "locatorLEDStatus", "off")], ("ALTER CELL LED OFF",)),
    ([("cell", "c", "doNotServiceLEDStatus", "On")], ("ALTER CELL DONOTSERVICELED ON",)),
    ([("cell", "c", "locatorLEDStatus", "-")], ()),
    ([("cell", "c", "locatorLEDStatus", "fast blink")], ()),
    ([("cell", "c", "cellsrvStatus", "running")], ("ALTER CELL STARTUP SERVICES CELLSRV",)),
    ([("cell", "c", "rsStatus", "running")], ("ALTER CELL STARTUP SERVICES RS",)),
    ([("cell", "c", "cellsrvStatus", "stopped")], ()),
    ([("cell", "c", "cellsrvStatus", "unknown")], ()),
    ([("cell", "c", "comment", "it's")], ()),
    ([("cell", "c", "comment", "x"), ("cell", "c", "notificationMethod", "mail,snmp")], ()),
    ([("griddisk", "A_CD_00", "size", "1073741824")], ()),
    ([("griddisk", "A_CD_00", "name", "A_CD_00")], ()),
    ([("griddisk", "A_CD_00", "availableTo", "-")], ()),
]


@every(BACK)
def test_old_values_are_given_back(told: list[tuple[str, str, str, str]], back: tuple[str, ...]) -> None:
    """Each object gets its old values in one statement of CellCLI's; where one of them can't be given back, none does."""
    found = with_inverse(plan(*(change(*item) for item in told)))
    first, silent = found.steps
    assert dict(found.inverse) == ({CELLS[0]: back} if back else {})
    assert (first.undo is Undo.STATEMENT, first.inverse) == (bool(back), "; ".join(back) or NO_INVERSE)
    assert (silent.undo, silent.inverse) == (Undo.IMPOSSIBLE, NO_INVERSE)
    for text in back:
        parse(text)


def test_what_is_lost_for_another_reason_stays_lost() -> None:
    """A step that can't be undone for a reason of its own keeps that reason."""
    found = with_inverse(plan(change("cell", "c", "flashCacheMode", "WriteBack"), inverse="the blocks are gone"))
    assert found.inverse == {} and all(step.inverse == "the blocks are gone" for step in found.steps)
