"""What two snapshots mean is said in sentences that hold, and no more than holds."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from exacell.measure.delta import delta
from exacell.measure.explain import SKIPPED, Explanation, explain
from exacell.measure.snapshot import CellCounters, Snapshot

PASSPORT = {"release": "19.3.2", "flashCacheMode": "writeback", "flashLog": "512M normal", "memoryLog": "none"}
POST = (
    {"FL_DISK_FIRST": 32_669_310, "FL_FLASH_FIRST": 7_318_741, "FL_PREVENTED_OUTLIERS": 774_146, "FL_RQ_W": 0},
    {"FL_DISK_FIRST": 33_201_462, "FL_FLASH_FIRST": 7_337_931, "FL_PREVENTED_OUTLIERS": 774_146, "FL_RQ_W": 551_342},
)
"""One cell's counters. Source: reference procedures.md, P1."""


def said(
    kind: str,
    *cells: tuple[Mapping[str, float], Mapping[str, float]],
    passport: Mapping[str, str] = PASSPORT,
    seconds: float = 600,
) -> Explanation:
    """Return what is said of cells whose counters went from the first to the second mapping."""
    taken = []
    for place in (0, 1):
        counters = {
            f"c{number}": CellCounters(
                collected=round((1 + place * seconds) * 1000), values=dict(pair[place]), passport=passport
            )
            for number, pair in enumerate(cells, 1)
        }
        taken.append(Snapshot(rack="t1", name="ab"[place], kind=kind, taken="", cells=counters))
    names = {name for pair in cells for values in pair for name in values} - {"FC_BY_USED", "FL_BY_KEEP"}
    return explain(kind, *taken, delta(*taken, names))


def grown(**values: float) -> tuple[dict[str, float], dict[str, float]]:
    return dict.fromkeys(values, 0.0), dict(values)


def test_the_published_counters_say_3_48_percent() -> None:
    """The counters that were read by hand are 3.48 % of 551,342 races, not 3.8, and not the totals' 18.1 %; nothing was slow."""
    found = said("flashlog", POST)
    text = " ".join(found.sentences)
    assert "Flash answered first in 3.48 % (95 %: 3.43 to 3.53) of 551,342 redo writes that used the flash log" in text
    assert "(918.9 redo writes a second)" in text
    assert "Since these counters began it is 18.10 %" in text
    assert "No outlier (over 500 ms) was there to prevent." in text
    assert found.sentences[-1].startswith("None of this says that commits got faster: compare")
    wins = next(figure for figure in found.figures if figure.name == "flashWins")
    assert wins.value == 3.4806 and wins.low == pytest.approx(3.4325, abs=1e-3)


def test_outliers_have_their_efficiency_and_its_interval() -> None:
    """Prevented, actual, missed and those of flash alone are told apart; few outliers make a wide interval."""
    values = {"FL_RQ_W": 1000, "FL_FLASH_FIRST": 500, "FL_DISK_FIRST": 500, "FL_PREVENTED_OUTLIERS": 12}
    text = " ".join(
        said("flashlog", grown(**values, FL_ACTUAL_OUTLIERS=3, FL_SKIP_OUTLIERS=4, FL_FLASH_ONLY_OUTLIERS=5)).sentences
    )
    assert "Of 15 redo writes that were outliers on disk (over 500 ms) flash hid 12 and 3 were slow on both" in text
    assert "efficiency 80.0 % (95 %: 54.8 to 93.0)" in text
    assert "4 outliers were missed" in text and "5 writes were outliers on flash alone" in text
    one = " ".join(said("flashlog", grown(**values, FL_SKIP_OUTLIERS=1, FL_FLASH_ONLY_OUTLIERS=1)).sentences)
    assert "1 outlier was missed" in one and "1 write was an outlier on flash alone" in one


@pytest.mark.parametrize("counter", SKIPPED)
def test_each_reason_to_pass_the_flash_log_by_is_told(counter: str) -> None:
    """Every skip counter has its reason, with its share of all redo writes."""
    text = " ".join(
        said("flashlog", grown(FL_RQ_W=400, FL_FLASH_FIRST=1, FL_DISK_FIRST=299, **{counter: 100})).sentences
    )
    assert f"100 of 400 redo writes (25.0 %) did not use the flash log: 100 because {SKIPPED[counter]}." in text


def test_reasons_stand_in_the_order_of_their_weight() -> None:
    """What most writes were skipped for comes first; the two names of one counter are one reason."""
    text = " ".join(
        said(
            "flashlog",
            grown(FL_RQ_W=9, FL_IO_W_SKIP_LARGE=2, FL_IO_W_SKIP_LOG_ON_FLASH=3, FL_IO_W_SKIP_LOG_ON_FAST_DEV=4),
        ).sentences
    )
    assert "log: 7 because the redo logs are on flash themselves; 2 because the write was larger" in text


def test_nothing_is_explained_where_nothing_ran() -> None:
    """Without redo there is no share, no outlier and no advice about commits."""
    found = said("flashlog", grown(FL_RQ_W=0, FL_FLASH_FIRST=0, FL_DISK_FIRST=0, FL_PREVENTED_OUTLIERS=0))
    assert found.sentences == ("No redo was written in 10m00s: nothing to explain.",)
    assert all(figure.name != "flashWins" for figure in found.figures)
    none = said("flashlog", grown(FL_RQ_W=7, FL_FLASH_FIRST=0, FL_DISK_FIRST=0, FL_IO_W_SKIP_IORM_PLAN=7))
    assert none.sentences[0] == "7 redo writes in 10m00s, and none of them used the flash log."


def test_errors_and_kept_redo_come_with_what_to_do() -> None:
    """Writes that failed and redo that only flash has are said, with the cells."""
    values = {"FL_RQ_W": 9, "FL_FLASH_FIRST": 5, "FL_DISK_FIRST": 4, "FL_DISK_IO_ERRS": 3, "FL_BY_KEEP": 4096}
    text = " ".join(said("flashlog", grown(**values)).sentences)
    assert "3 writes failed on disk and 0 on flash: look at show health" in text
    assert "c1: 4,096 bytes of redo are on flash alone" in text and "don't drop the flash log" in text


def test_cells_that_differ_by_more_than_chance_are_named() -> None:
    """An interval of the sum says nothing of cells that behave otherwise; cells that are equal but for chance are not named."""
    alike = grown(FL_RQ_W=1000, FL_FLASH_FIRST=500, FL_DISK_FIRST=500)
    other = grown(FL_RQ_W=1000, FL_FLASH_FIRST=300, FL_DISK_FIRST=700)
    near = grown(FL_RQ_W=1000, FL_FLASH_FIRST=520, FL_DISK_FIRST=480)
    assert "c2" not in " ".join(said("flashlog", alike, near).sentences)
    text = " ".join(said("flashlog", alike, other).sentences)
    assert "The cells differ by more than chance: 30.0 % on c2, 50.0 % on c1" in text


def test_a_rack_without_a_figure_has_no_verdict() -> None:
    """Where one cell's counters began anew nothing is concluded, and the cell is named with why."""
    found = said("flashlog", POST, ({"FL_RQ_W": 9}, {"FL_RQ_W": 5}))
    (line,) = found.sentences
    assert (
        line.startswith("These snapshots say nothing about the rack. c2: FL_RQ_W fell from 9 to 5")
        and not found.figures
    )


def test_what_can_not_be_shown_comes_first() -> None:
    """On write-back cells from 20.1 on the first sentence says what the comparison can't show, and disk is named as it is."""
    found = said(
        "flashlog", POST, passport={**PASSPORT, "release": "22.1", "model": "ORACLE SERVER X8-2L High Capacity"}
    )
    assert found.sentences[0].startswith("A comparison of flash logging on and off can't show what flash logging does")
    means = {figure.name: figure.means for figure in found.figures}
    assert means["races"] == "sent to flash and to disk (here the write-back flash cache) at once"


def test_a_cache_that_was_filling_is_said_to() -> None:
    """Hits of a cache that still fills are not those of a warm one."""
    before = {"FC_IO_RQ_R": 0.0, "FC_IO_RQ_R_MISS": 0.0, "FC_BY_USED": 1000.0}
    text = " ".join(
        said("flashcache", (before, {"FC_IO_RQ_R": 90, "FC_IO_RQ_R_MISS": 10, "FC_BY_USED": 2000})).sentences
    )
    assert "The flash cache had 90.0 % (95 %: 82.6 to 94.5) of 100 small reads" in text
    assert "The cache was still filling: from 1,000 to 2,000 MB in use." in text
    warm = said("flashcache", (before, {"FC_IO_RQ_R": 90, "FC_IO_RQ_R_MISS": 10, "FC_BY_USED": 1010}))
    assert "filling" not in " ".join(warm.sentences)


@pytest.mark.parametrize(
    ("mode", "said_of"),
    [
        ("writeback", "Write-back: it took 8 writes, which go to disk later; 25.0 % of them overwrote"),
        ("writethrough", "Write-through: its 8 writes put blocks into it"),
    ],
)
def test_writes_mean_what_the_mode_makes_of_them(mode: str, said_of: str) -> None:
    """A write of a write-through cache is no write that disk was spared."""
    values = {"FC_IO_RQ_R": 1, "FC_IO_RQ_R_MISS": 1, "FC_IO_RQ_W": 8, "FC_IO_RQ_W_OVERWRITE": 2, "FC_IO_ERRS": 1}
    text = " ".join(said("flashcache", grown(**values), passport={**PASSPORT, "flashCacheMode": mode}).sentences)
    assert said_of in text and "1 reads or writes of the cache failed" in text


def test_a_cache_that_nothing_asked_has_no_share() -> None:
    """No reads, no share of hits, no advice about waits."""
    found = said("flashcache", grown(FC_IO_RQ_R=0, FC_IO_RQ_R_MISS=0))
    assert found.sentences == ("No small read asked the flash cache in 10m00s.",)


FULL = {
    "flashlog": {
        "FL_RQ_W": 1000, "FL_RQ_TM_W": 900_000, "FL_FLASH_FIRST": 500, "FL_DISK_FIRST": 500, "FL_PREVENTED_OUTLIERS": 12,
        "FL_ACTUAL_OUTLIERS": 4, "FL_SKIP_OUTLIERS": 3, "FL_IO_W_SKIP_BUSY": 7,
    },
    "flashcache": {
        "FC_IO_RQ_R": 900, "FC_IO_RQ_R_MISS": 100, "FC_IO_RQ_R_DW": 30, "FC_IO_RQ_R_MISS_DW": 10, "FC_IO_RQ_W": 50,
    },
}  # fmt: skip
LACKING = [
    ("flashlog", "FL_FLASH_FIRST", "Not known in how many redo writes flash answered first: no counter", ("flashWins", "races")),
    ("flashlog", "FL_DISK_FIRST", "Not known in how many redo writes flash answered first: no counter", ("flashWins", "races")),
    ("flashlog", "FL_RQ_W", "Not known how long a redo write took: no counter", ("redoWrites", "redoWriteMean")),
    ("flashlog", "FL_RQ_TM_W", "Not known how long a redo write took: no counter", ("redoWriteMean",)),
    ("flashlog", "FL_PREVENTED_OUTLIERS", "Not known how many outliers flash hid: no counter", ("efficiency", "prevented")),
    ("flashlog", "FL_ACTUAL_OUTLIERS", "Not known how many outliers flash hid: no counter", ("efficiency", "actual")),
    ("flashcache", "FC_IO_RQ_R", "Not known how many of the small reads the flash cache had: no counter", ("hits", "hitsEver")),
    ("flashcache", "FC_IO_RQ_R_MISS", "Not known how many of the small reads the flash cache had: no counter", ("hits",)),
    ("flashcache", "FC_IO_RQ_R_MISS_DW", "Not known how many of the large reads it had: no counter", ("scanMisses",)),
]  # fmt: skip


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize(("kind", "counter", "says", "without"), LACKING)
def test_where_a_cell_lacks_a_counter_there_is_no_share_of_it(
    kind: str, counter: str, says: str, without: tuple[str, ...], everywhere: bool
) -> None:
    """A counter that one cell lacks, or all of them, makes no share, no mean and no sum; the sentence names it with the cells."""
    part = {name: value for name, value in FULL[kind].items() if name != counter}
    found = said(kind, grown(**(part if everywhere else FULL[kind])), grown(**part))
    lines = [line for line in found.sentences if line.startswith("Not known") and counter in line]
    if counter == "FL_RQ_TM_W" and everywhere:  # A release that does not count it.
        assert not lines
    else:
        assert len(lines) == 1 and lines[0].startswith(says)
        assert lines[0].endswith(f"{counter} on {'c[1-2]' if everywhere else 'c2'}.")
    assert not {figure.name for figure in found.figures} & {*without}


def test_sums_that_leave_a_cell_out_say_so() -> None:
    """Writes that passed the flash log by are summed over the cells that count them, and the cell that does not is named."""
    part = {name: value for name, value in FULL["flashlog"].items() if name != "FL_IO_W_SKIP_BUSY"}
    found = said("flashlog", grown(**FULL["flashlog"]), grown(**part))
    assert any("FL_IO_W_SKIP_BUSY without c2" in line for line in found.sentences)
    assert not any("not of all cells" in line for line in said("flashlog", grown(**part), grown(**part)).sentences)
