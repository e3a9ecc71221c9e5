"""Two snapshots are compared only when they were taken under the same conditions."""

from __future__ import annotations

import pytest

from exacell.measure.delta import CONDITIONS, unlike, untold
from exacell.measure.snapshot import CellCounters, Snapshot

PASSPORT = {
    "release": "19.3.2", "flashCacheMode": "writeback", "cacheSize": str(288 << 30), "flashLog": "512M normal",
    "memoryLog": "none",
    "services": "cellsrv running, ms running, rs running", "objective": "auto", "catPlan": "", "clusterPlan": "",
    "dbPlan": "((name=SPOT,share=8),(name=default,share=1))",
}  # fmt: skip


def taken(**cells: dict[str, str]) -> Snapshot:
    counters = {cell: CellCounters(collected=1, passport=passport) for cell, passport in cells.items()}
    return Snapshot(rack="t1", name="a", kind="flashlog", taken="", cells=counters)


CHANGED = [
    ("release", "20.1.0", "release: 19.3.2 → 20.1.0"),
    ("flashCacheMode", "writethrough", "flash cache mode: writeback → writethrough"),
    ("cacheSize", str(144 << 30), "flash cache size: 288G → 144G"),
    ("flashLog", "none", "flash log: 512M normal → none"),
    ("memoryLog", "9.9375G normal", "memory log: none → 9.9375G normal"),
    ("services", "cellsrv stopped, ms running, rs running",
     "services: cellsrv running, ms running, rs running → cellsrv stopped, ms running, rs running"),
    ("objective", "basic", "IORM objective: auto → basic"),
    ("dbPlan", "((name=SPOT,share=8,flashlog=off),(name=default,share=1))", "IORM dbPlan: SPOT flashlog: not set → off"),
    ("catPlan", "((name=a,level=1,allocation=5))", "IORM catPlan: a: not set → (name=a,level=1,allocation=5)"),
    ("clusterPlan", "((name=c,share=2))", "IORM clusterPlan: c: not set → (name=c,share=2)"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "line"), CHANGED, ids=[case[0] for case in CHANGED])
def test_each_condition_that_differs_is_named(key: str, value: str, line: str) -> None:
    """A difference is told by what it is, with both values, and cells with the same one are told together."""
    other = {**PASSPORT, key: value}
    both = unlike(taken(c1=PASSPORT, c2=PASSPORT, c3=PASSPORT), taken(c1=other, c2=other, c3=PASSPORT))
    assert both == [f"c[1-2]: {line}"]


def test_every_condition_is_tried() -> None:
    """No condition is left out of the cases above."""
    assert {case[0] for case in CHANGED} == set(CONDITIONS)


def test_alike_is_what_means_the_same() -> None:
    """Order, case and quotes of an IORM plan and the case of a mode are no difference."""
    other = {**PASSPORT, "dbPlan": "((NAME='default', share=1),(name=spot,SHARE=8))", "flashCacheMode": "WriteBack"}
    assert unlike(taken(c1=PASSPORT), taken(c1=other)) == []


def test_a_plan_that_cannot_be_read_is_compared_as_text() -> None:
    """A plan that exacell can't read and that changed is a difference all the same."""
    other = {**PASSPORT, "dbPlan": "((name="}
    assert unlike(taken(c1=PASSPORT), taken(c1=other)) == [f"c1: IORM dbPlan: {PASSPORT['dbPlan']} → ((name="]


def test_what_one_snapshot_does_not_tell_is_not_compared() -> None:
    """A condition that an older snapshot lacks is no difference, and is told to be unknown."""
    old = {key: PASSPORT[key] for key in ("release", "flashCacheMode", "dbPlan")}
    assert unlike(taken(c1=old), taken(c1=PASSPORT)) == []
    assert untold(taken(c1=old), taken(c1=PASSPORT)) == [
        "flash cache size", "flash log", "memory log", "services", "IORM objective", "IORM catPlan", "IORM clusterPlan",
    ]  # fmt: skip
    assert untold(taken(c1=PASSPORT), taken(c1=PASSPORT)) == []
