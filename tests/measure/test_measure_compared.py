"""Two sets of trace files beside each other: the difference is found, and what it does not prove is said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean, variance

import pytest

from benchmarks.trace_files import write_files
from exacell.measure.compared import FEWEST_FILES, intervals, rows, sentences, welch_of_files
from exacell.measure.histogram import Histogram, merged
from exacell.measure.logwrites import PACK, LogWrites
from tests.support.program import InProcess

SYNC = "log file sync"


def files(*means: int, spread: int = 20) -> list[Histogram]:
    """Return a file's waits around each mean."""
    return [Histogram.of({mean + away: 10 for away in range(-spread, spread + 1)}) for mean in means]


def test_the_unit_of_a_test_may_be_a_file() -> None:
    """Three sessions a side whose means scatter as much as the sides differ show nothing, while every wait for itself does."""
    a, b = files(400, 500, 600), files(420, 520, 640)
    by_file = welch_of_files(a, b)
    assert by_file is not None and by_file.low < 0 < by_file.high
    told = " ".join(sentences(SYNC, a, b))
    assert "do not differ by more than chance" in told and "naive" in told and "one run with one other" in told
    naive = next(row for row in rows(a, b) if row["figure"] == "meanByWait")
    assert naive["low"] > 0 and naive["value"] == pytest.approx(26.667, abs=1e-3)


def test_a_difference_of_all_files_is_one() -> None:
    """Sessions that agree among themselves and differ between the sides differ by more than chance, with its size."""
    a, b = files(500, 501, 502), files(533, 534, 536)
    told = " ".join(sentences(SYNC, a, b))
    assert "the means differ by more than chance" in told and "b takes 33.33 µs more (6.7 % of a's mean)" in told
    found = {row["figure"]: row for row in rows(a, b)}
    assert found["meanByFile"]["low"] > 30 and found["bLarger"]["value"] > 90
    assert found["shift"]["value"] == pytest.approx(33, abs=1)


def test_with_few_files_no_file_is_a_unit() -> None:
    """Below three files a side only the naive test stands, and that is said."""
    a, b = files(500, 510), files(530, 540)
    assert welch_of_files(a, b) is None
    assert f"needs {FEWEST_FILES} files" in " ".join(sentences(SYNC, a, b))
    assert not any(row["figure"] == "meanByFile" for row in rows(a, b))


def test_a_cut_tail_is_told_of_the_side_that_has_it() -> None:
    """A set whose longest waits end just under a round number can't show outliers."""
    cut = [Histogram.of({**dict.fromkeys(range(400, 600), 5), **dict.fromkeys(range(3950, 4000), 1)})]
    told = list(sentences(SYNC, files(500), cut))
    assert [line for line in told if "was cut" in line] and "The tail of b was cut just under 4,000 µs" in " ".join(
        told
    )


@pytest.mark.parametrize(
    ("longest", "remarked"), [(3999, True), (3996, True), (3900, False), (4000, False), (999, True), (3, False)]
)
def test_a_longest_wait_just_under_a_round_number_is_remarked_on(longest: int, remarked: bool) -> None:
    """One wait of 3,999 µs, with no other near it, is worth a question: nothing says where the file's other waits went."""
    waits = [Histogram.of({**{value: 5 for value in range(100, 600) if value < longest}, longest: 1})]
    told = [line for line in sentences(SYNC, files(500), waits) if "were longer ones left out?" in line]
    assert bool(told) == remarked and all(f"The longest wait of b is {longest:,} µs" in line for line in told)


def test_a_heavy_tail_has_no_word_for_the_size_of_an_effect() -> None:
    """Where a few long waits make the standard deviation, no difference is called negligible, small or large; d stays."""
    words = ("negligible", "small", "medium", "large")
    plain = next(sentences(SYNC, files(500), files(505)))
    assert "The effect is medium" in plain
    tail = [Histogram.of({**dict(zip(one.values, one.counts, strict=True)), 900_000: 3}) for one in files(505)]
    for a, b in ((files(500), tail), (tail, files(500))):
        told = next(sentences(SYNC, a, b))
        assert not any(word in told for word in words) and " d is " in told and "heavy tail" in told


def test_waits_beyond_the_mean_and_quantiles_stand_side_by_side() -> None:
    """A tail of b alone is in its counts and in the quantiles' difference, with an interval where one is known."""
    a = files(500, 500, 500)
    b = [Histogram.of({**dict(zip(one.values, one.counts, strict=True)), 700_500: 10}) for one in a]
    found = {row["figure"]: row for row in rows(a, b, intervals(a, b))}
    over = found["meanPlus500ms"]
    assert (over["value"], over["means"]) == (30, "in b, longer than its mean by more; 0 in a")
    assert found["p99"]["value"] == merged(b).quantile(0.99) - merged(a).quantile(0.99)
    assert found["p50"]["low"] <= found["p50"]["value"] <= found["p50"]["high"]


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """Two folders of three made trace files each."""
    for side in ("off", "on"):
        (tmp_path / side).mkdir()
        write_files(tmp_path / side, 3, 400)
    return tmp_path


def test_files_are_compared_by_one_statement(traced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of files named with * become sentences and figures; the same files on both sides are refused."""
    program = InProcess(traced / "home")
    monkeypatch.chdir(traced)
    done = program.ok("-o", "json", "trace", "compare", f"event={SYNC}", "a=off/*.trc", "b=on/*.trc")
    says = [row["says"] for row in done.records if "says" in row]
    assert says[0].startswith(
        "log file sync: 1,200 waits of "
    ) and "With a file as the unit (3 files and 3 files)" in " ".join(says)
    assert {row["figure"] for row in done.records if "figure" in row} >= {
        "meanByWait",
        "meanByFile",
        "p99.9",
        "meanPlus500ms",
    }
    same = program("trace", "compare", f"event={SYNC}", "a=off/*.trc", "b=o*/*.trc")
    assert same.code == 2 and "is in both sets" in same.err
    none = program("trace", "compare", "event=nosuch", "a=off/*.trc", "b=on/*.trc")
    assert none.code == 2 and "the 3 files of a have no wait for 'nosuch'" in none.err


def shared(mean: int, count: int, waits: int, spread: int) -> LogWrites:
    """Return log writes of so many waits each, whose own means scatter by ``spread``."""
    return LogWrites.of((waits * PACK) + waits * (mean + (place % 21 - 10) * spread) for place in range(count))


def test_waits_for_one_log_write_are_one_value() -> None:
    """Where ten waits share each write, the interval by writes is about √10 times as wide, and decides what is said."""
    a, b = shared(500, 210, 10, 20), shared(516, 210, 10, 20)
    waits = [[Histogram.of(Counter(500 + (p % 21 - 10) * 20 for p in range(210) for _ in range(10)))]]
    waits += [[Histogram.of(Counter(516 + (p % 21 - 10) * 20 for p in range(210) for _ in range(10)))]]
    found = {row["figure"]: row for row in rows(waits[0], waits[1], None, (a, b))}
    naive, by_write = found["meanByWait"], found["meanByWrite"]
    assert by_write["value"] == naive["value"] == 16
    assert (by_write["high"] - by_write["low"]) / (naive["high"] - naive["low"]) == pytest.approx(10**0.5, rel=0.02)
    assert naive["low"] > 0 > by_write["low"]
    told = " ".join(sentences(SYNC, waits[0], waits[1], (a, b)))
    assert "In a burst, a log switch or a checkpoint slow writes follow each other" in told
    assert "3.2 times as wide" in told and "the means do not differ by more than chance" in told


def test_files_of_sessions_that_share_writes_are_no_unit() -> None:
    """Where waits of all files share writes, the interval by files gives no verdict."""
    a, b = shared(500, 210, 10, 20), shared(516, 210, 10, 20)
    told = " ".join(sentences(SYNC, files(500, 501, 502), files(516, 517, 518), (a, b)))
    assert "not a verdict, since sessions that work at the same time share log writes" in told


def test_without_numbers_of_writes_it_is_said() -> None:
    """Traces of releases whose waits do not name a log write have no such test, and that is said."""
    told = " ".join(sentences(SYNC, files(500), files(516)))
    assert "do not show which waits share a log write" in told
    assert not any(row["figure"] == "meanByWrite" for row in rows(files(500), files(516)))


def test_the_clustered_error_is_that_of_the_textbook() -> None:
    """The error of a mean of groups of unlike sizes equals what the formula gives when it is worked out group by group."""
    groups = [(3, 1500), (1, 700), (2, 900), (5, 2600), (1, 350), (4, 2100)]
    found = LogWrites.of(size * PACK + total for size, total in groups)
    waits = sum(size for size, _ in groups)
    mean = sum(total for _, total in groups) / waits
    error = (sum((total - mean * size) ** 2 for size, total in groups) * 6 / 5) ** 0.5 / waits
    assert found.mean_of_waits() == (pytest.approx(mean), pytest.approx(error))
    means = [total / size for size, total in groups]
    assert found.means() == (pytest.approx(fmean(means)), pytest.approx(variance(means)), 6)
