"""What a difference means to whoever compares cells before and after a maintenance."""

from __future__ import annotations

from exacell.plan.drift import BETTER, CHANGED, WORSE, Difference, judgement
from tests.support.every import every

CASES = (
    ("status", "failed", "normal", WORSE),
    ("cellsrvStatus", "stopped", "running", WORSE),
    ("asmModeStatus", "OFFLINE", "ONLINE", WORSE),
    ("state", "DISMOUNTED", "MOUNTED", WORSE),
    ("status", "", "normal", WORSE),
    ("status", "normal", "warning - degraded", BETTER),
    ("status", "failed", "not present", CHANGED),
    ("name", "", "DATA_CD_00_{cell}", WORSE),
    ("name", "DATA_CD_00_{cell}", "", CHANGED),
    ("degradedCelldisks", "FD_00", "", WORSE),
    ("degradedCelldisks", "", "FD_00", BETTER),
    ("errorCount", "12", "2", WORSE),
    ("errorCount", "0", "2", BETTER),
    ("releaseVersion", "19.3", "19.2", CHANGED),
    ("size", "1", "2", CHANGED),
)


@every(CASES)
def test_a_difference_is_judged(attribute: str, value: str, expected: str, wanted: str) -> None:
    """Missing objects, states that are well no more and further errors are worse, the reverse is better, all else is changed."""
    found = Difference(cell="c1", object="o", name="n", attribute=attribute, value=value, expected=expected)
    assert judgement(found) == wanted
