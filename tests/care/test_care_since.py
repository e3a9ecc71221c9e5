"""What changed on cells since a moment: kept whenever it changes, told once, with an exit code for cron."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from exacell.care.health import Finding, Level, silent
from exacell.care.since import broken, changed, compared_with, moment, told
from exacell.core.errors import StatementError
from exacell.session.store import Store

NOW = datetime(2026, 11, 24, 7, 0, 30, tzinfo=timezone(timedelta(hours=1)))


def finding(text: str, level: Level = Level.WARN, area: str = "flash") -> Finding:
    return Finding(area=area, level=level, word="x", text=text, way="")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("yesterday", "2026-11-24T00:00:00+01:00"),
        ("24h", "2026-11-23T07:00:30+01:00"),
        ("7d", "2026-11-17T07:00:30+01:00"),
        ("2026-11-20", "2026-11-20T00:00:00+01:00"),
        ("2026-11-20 18:00", "2026-11-20T18:00:00+01:00"),
        ("2026-11-20T18:00+00:00", "2026-11-20T19:00:00+01:00"),
    ],
)
def test_a_moment_in_words(text: str, wanted: str) -> None:
    """yesterday is the end of yesterday, a duration so long ago, a date its beginning, in the host's zone."""
    assert moment(text, NOW) == datetime.fromisoformat(wanted).timestamp()


@pytest.mark.parametrize("text", ["soon", "2026-11-25", "-1h", "99999999999d"])
def test_what_is_no_past_moment_is_refused(text: str) -> None:
    """Nothing is compared with a time that is to come, or that nobody can read."""
    with pytest.raises(StatementError, match="--since="):
        moment(text, NOW)


def test_a_state_holds_until_it_changes(tmp_path: Path) -> None:
    """What was found is known for every moment between two looks; looks that found the same are one; another rack's are not."""
    store = Store(tmp_path / "store.db")
    bad, worse = finding("disk 1"), finding("disk 2")
    for at, found in ((10.0, [bad]), (20.0, [bad]), (30.0, [bad, worse]), (40.0, [])):
        store.keep_health("r", at, {"c1": told(found)})
    store.keep_health("other", 35.0, {"c1": told([])})
    assert {at: (p.at, p.told) for at in (5.0, 10.0, 29.0, 30.0, 99.0) for p in store.health_at("r", at).values()} == {
        5.0: (10.0, told([bad])),
        10.0: (10.0, told([bad])),
        29.0: (10.0, told([bad])),
        30.0: (30.0, told([bad, worse])),
        99.0: (40.0, ()),
    }


def test_old_states_go_but_the_last_one(tmp_path: Path) -> None:
    """After a hundred days states go that another one followed; what still holds stays however old it is."""
    store, day = Store(tmp_path / "store.db"), 86400.0
    for at, text in ((1, "a"), (2, "b"), (150, "c")):
        store.keep_health("r", at * day, {"c1": told([finding(text)])})
    assert store.health_at("r", 0.0)["c1"].at == 2 * day
    assert store.health_at("r", 149 * day)["c1"].told == told([finding("b")])


def test_new_findings_come_first_and_gone_ones_last(tmp_path: Path) -> None:
    """The worst new finding is in front; the same finding on another cell is new there; nothing else is told."""
    store = Store(tmp_path / "store.db")
    stays, goes = finding("stays"), finding("goes", area="asm")
    store.keep_health("r", 1.0, {"c1": told([stays, goes]), "c2": ()})
    dead = finding("dead", Level.BAD)
    found = changed(store.health_at("r", 2.0), {"c1": [stays], "c2": [stays, dead]})
    assert [(one.cell, one.area, one.change, one.finding) for one in found] == [
        ("c2", "flash", "new", "dead"),
        ("c2", "flash", "new", "stays"),
        ("c1", "asm", "gone", "goes"),
    ]
    assert broken(found) and not broken(found[1:])


def test_a_silent_cell_is_told_once_and_nothing_is_gone_from_it(tmp_path: Path) -> None:
    """A cell that gives no answer is new once, whatever the reason is called next time; its findings are not gone."""
    store = Store(tmp_path / "store.db")
    store.keep_health("r", 1.0, {"c1": told([finding("stays")])})
    (one,) = changed(store.health_at("r", 1.0), {"c1": [silent("no end within 60s")]})
    assert (one.change, one.finding) == ("new", "no end within 60s")
    store.keep_health("r", 2.0, {"c1": told([silent("no end within 60s")])})
    assert changed(store.health_at("r", 2.0), {"c1": [silent("no answer within 10s")]}) == []


def test_what_is_not_kept_is_said(tmp_path: Path) -> None:
    """Cells of which nothing so old is kept are counted, with the time from which on something is."""
    store = Store(tmp_path / "store.db")
    store.keep_health("r", 1_700_000_000.0, {"c1": ()})
    before = store.health_at("r", 1.0)
    said = compared_with(before, ["c1", "c2"], 1.0)
    assert "no earlier health of 1 cell is known" in said and "what is kept of 1 cell begins at 2023-11-1" in said
    assert compared_with(before, ["c1"], 1_700_000_001.0) == ""
    assert [one.cell for one in changed(before, {"c2": [finding("x")]})] == ["c2"]


def test_cron_hears_of_changes_only(rack) -> None:
    """The same state is one line and exit code 0; what is new or gone again is a row, told once, and exit code 5."""
    rack.say("show health")
    same = rack.say("show health --since=0s")
    assert (same.code, same.out) == (0, "")
    assert "nothing changed since" in same.err
    rack.fault("exa1cel02", "flash-disk", "status=warning - predictive failure")
    try:
        rows = rack.json("show health --since=0s")
        assert {(row["cell"], row["change"]) for row in rows} == {("exa1cel02", "new")}
        (disk,) = [row for row in rows if "status is warning - predictive failure" in row["finding"]]
        assert disk["area"] == "flash"
        assert rack.say("show health --since=0s").code == 0
    finally:
        rack.mend("care")
    done = rack.say("show health --since=0s")
    assert "gone" in done.out and disk["finding"] in done.out
    assert done.code == 5
