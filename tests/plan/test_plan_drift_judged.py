"""What a difference means to whoever compares cells before and after a maintenance."""

from __future__ import annotations

from exacell.plan.drift import BETTER, CHANGED, DIFFERS, WORSE, Difference, between_cells, folded, judgement, told
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


def _shown(**cells: dict[str, str]) -> list[tuple[str, str, str, str, str]]:
    """The folded differences between cells: cell, name, value, expected and judgement."""
    facts = {cell: {f"griddisk|{path}": value for path, value in own.items()} for cell, own in cells.items()}
    found = folded(told(between_cells(facts), facts))
    return [(d.cell, d.name, d.value, d.expected, judgement(d)) for d in found]


def test_of_equally_many_cells_none_is_the_norm() -> None:
    """Where no value is on most cells, each cell's value is shown, none is expected, and only a bad state is worse; an
    object that is missing is told of the cells that lack it."""
    assert _shown(c1={"a|comment": "x"}, c2={"a|comment": "y"}) == [
        ("c1", "a", "x", "", DIFFERS),
        ("c2", "a", "y", "", DIFFERS),
    ]
    assert _shown(c1={"a|s": "1", "a|t": "2"}, c2={"a|s": "3", "a|t": "4"}) == [
        ("c1", "a", "1", "", DIFFERS),
        ("c2", "a", "3", "", DIFFERS),
        ("c1", "a", "2", "", DIFFERS),
        ("c2", "a", "4", "", DIFFERS),
    ]
    for failed, well in (("c1", "c2"), ("c2", "c1")):
        found = _shown(
            **{
                "c1": {"a|status": ""},
                "c2": {"a|status": ""},
                failed: {"a|status": "failed"},
                well: {"a|status": "normal"},
            }
        )
        assert sorted(found) == sorted([(failed, "a", "failed", "", WORSE), (well, "a", "normal", "", DIFFERS)])
    for lacks, has in (("c1", "c2"), ("c2", "c1")):
        both = {"b|s": "1", "b|t": "1"}
        (only,) = _shown(**{"c1": both, "c2": both, has: both | {"a|s": "1", "a|t": "2"}, lacks: both})
        assert only == (lacks, "a", "", "a", WORSE)
    four = {"c1": {"a|s": "1"}, "c2": {"a|s": "1"}, "c3": {"a|s": "2"}, "c4": {"a|s": "2"}}
    assert _shown(**four) == [("c[1-2]", "a", "1", "", DIFFERS), ("c[3-4]", "a", "2", "", DIFFERS)]
    assert _shown(c1={"a|s": "1"}, c2={"a|s": "1"}, c3={"a|s": "2"}) == [("c3", "a", "2", "1", CHANGED)]
