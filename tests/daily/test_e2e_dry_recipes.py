"""-n on recipes and on what keeps something, with recipes on an emulated rack."""

from __future__ import annotations

import time

import pytest

from tests.support.program import InProcess

STEPS = """recipe "Two snapshots and what lies between"
risk none
snap flashlog as=ab_on_before
wait 10m
snap flashlog as=ab_on_after
delta ab_on_before ab_on_after
"""


UNREAD = """recipe "A table that SQL makes which exacell can't read"
needs opaque
param disks : int
sql db=SPOT "create table app.made (id number)"
sql db=SPOT "alter table app.made storage (cell_flash_cache keep)"
"""


def test_a_dry_run_keeps_nothing_and_waits_for_nothing(inside: InProcess) -> None:
    """-n takes no snapshot, so that one of the same name stays, leaves out what would compare them, and does not wait."""
    (inside.home / "recipes").mkdir()
    (inside.home / "recipes" / "steps.exa").write_text(STEPS, encoding="utf-8")
    inside.ok("-r", "t1", "snap", "flashlog", "as=ab_on_before", "fresh=no")
    before = inside.ok("-r", "t1", "-o", "json", "snaps").records
    began = time.monotonic()
    done = inside.ok("-r", "t1", "run", "steps", "-n")
    assert time.monotonic() - began < 300, "wait 10m was waited for"
    assert "-n: wait was not carried out" in done.err and "-n: snap was not carried out" in done.err
    assert "-n: ab_on_before was not kept, so this is left out" in done.err and done.out == ""
    assert inside.ok("-r", "t1", "-o", "json", "snaps").records == before


def test_what_a_dry_run_can_not_reach_is_told_with_the_way_out(inside: InProcess) -> None:
    """Where a statement needs what exacell can't foresee of an earlier one, the refusal names rehearse and the recipe."""
    (inside.home / "recipes").mkdir()
    (inside.home / "recipes" / "made.exa").write_text(UNREAD, encoding="utf-8")
    done = inside("-r", "t1", "run", "made", "disks=48", "-n")
    assert done.code == 2 and "SPOT has no table APP.MADE" in done.err
    assert "`rehearse run made disks=48` runs all lines on a copy of the rack" in done.err


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("save baseline as=b", "save baseline"),
        ("save iorm as=i", "save iorm"),
        ("lock reason=x", "lock"),
        ("snap flashcache as=s", "snap"),
    ],
)
def test_what_keeps_something_is_left_out_of_a_dry_run(inside: InProcess, statement: str, name: str) -> None:
    """Behind -n neither baselines nor IORM plans, locks and snapshots are kept."""
    done = inside.ok("-r", "t1", statement, "-n")
    assert (done.out, done.err) == ("", f"-n: {name} was not carried out\n")
    assert not list(inside.home.rglob("*.lock")) and not list(inside.home.rglob("store.db"))
