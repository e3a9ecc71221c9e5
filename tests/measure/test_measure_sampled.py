"""What sar and vscsiStats print at several times: how long each report is, which day it is of, and what counts on."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from exacell.measure.importers.levels import levels
from tests.measure.test_measure_importers import MADE, at, imported

_LINUX = "Linux 5.4.17 (exadb01) \t11/28/2026 \t_x86_64_\t(96 CPU)\n\n"
_CPU = "CPU     %user     %nice   %system   %iowait    %steal     %idle"
_DISK = "DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util"


def _clock(second: int, *, noon: bool) -> str:
    hour, rest = divmod(second % 86400, 3600)
    shown = f"{(hour - 1) % 12 + 1 if noon else hour:02}:{rest // 60:02}:{rest % 60:02}"
    return shown + (" PM" if hour >= 12 else " AM") * noon


@given(
    lengths=st.lists(st.integers(1, 40_000), min_size=1, max_size=12),
    values=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5000), st.integers(1, 90)), min_size=12, max_size=12),
    begin=st.integers(0, 86_399),
    page=st.integers(1, 12),
    noon=st.booleans(),
)
def test_a_night_of_sar_is_weighted_by_the_lengths_of_its_reports(
    lengths: list[int], values: list[tuple[int, int, int]], begin: int, page: int, noon: bool
) -> None:
    """Wherever a page ends and midnight falls, rates and shares weigh their seconds, and latencies the I/Os in them."""
    moments = [begin]
    for seconds in lengths:
        moments.append(moments[-1] + seconds)
    text = _LINUX
    for columns, name in ((_CPU, "all"), (_DISK, "sda")):
        for place, (before, now) in enumerate(pairwise(moments)):
            user, iops, ms = values[place]
            if not place % page:
                text += f"\n{_clock(before, noon=noon)} {columns}\n"
            cells = f"{user}.00 0.00 0.00 0.00 0.00 {100 - user}.00"
            if name == "sda":
                cells = f"{iops}.00 0.00 0.00 0.00 8.00 0.10 {ms}.00 1.00"
            text += f"{_clock(now, noon=noon)} {name} {cells}\n"
        text += f"Average: {name} {cells}\n\n"
    found = imported(("night.txt", text))
    rows = list(zip(lengths, values[: len(lengths)], strict=True))
    share = sum(seconds * user for seconds, (user, _, _) in rows) / sum(lengths)
    assert at(found, "CPU all", None).figure("userPercent") == pytest.approx(share)
    ios = sum(seconds * iops for seconds, (_, iops, _) in rows)
    assert at(found, "sda", None).figure("iops") == pytest.approx(ios / sum(lengths))
    took = sum(seconds * iops * ms * 1000 for seconds, (_, iops, ms) in rows)
    assert at(found, "sda", None).figure("latencyUs") == (pytest.approx(took / ios) if ios else None)


def test_two_days_behind_each_other_are_two_runs() -> None:
    """Reports of one time of two days are not one report, and each start of sar is a run."""
    found = imported(("sar.txt", (MADE / "sar-two-days.txt").read_text()))
    assert at(found, "ib0", None).values["rxPacketsPerS"] == (150, 550)
    assert "2 runs are in one file" in found.runs[0].notes


def test_a_machine_that_was_started_within_is_told() -> None:
    """What sar wrote before and after a restart counts, the time between does not, and the restart is named once."""
    text = (
        f"{_LINUX}23:50:01 {_CPU}\n23:55:01 all 10.00 0.00 0.00 0.00 0.00 90.00\n\n23:57:10     LINUX RESTART\t(96 CPU)\n\n"
        f"00:00:01 {_CPU}\n00:10:01 all 40.00 0.00 0.00 0.00 0.00 60.00\n"
    )
    found = imported(("sar.txt", text))
    assert at(found, "CPU all", None).figure("userPercent") == pytest.approx((300 * 10 + 600 * 40) / 900)
    assert found.runs[0].notes == ("columns left out: %nice", "the machine was restarted during these reports")


def test_what_is_not_read_of_sar_is_named_once() -> None:
    """Columns without a figure, and whole tables, stand in the notes, each once for all reports; of JSON as well."""
    text = (MADE / "sar-all.txt").read_text() + "\n23:16:42 kbmemfree kbavail\n23:16:43 100 200\n"
    (run,) = imported(("sar.txt", text)).runs
    assert run.notes == (
        "tables left out: kbmemfree kbavail",
        "columns left out: %nice, dkB/s, rxcmp/s, txcmp/s, rxmcst/s",
    )
    (run,) = imported(("sadf.json", (MADE / "sadf-dev.json").read_text())).runs
    assert run.notes == ("columns left out: rxcmp, txcmp, rxmcst",)


_BLOCK = "Histogram: latency of IOs in Microseconds (us),virtual machine worldGroupID,7,virtual disk handleID,8203 (scsi0:1)\n"


def _csv(counts: list[int], limits: list[str], most: int) -> str:
    rows = "".join(f"{count},{limit}\n" for count, limit in zip(counts, limits, strict=True))
    return f"{_BLOCK}min,1\nmax,{most}\nmean,9\ncount,{sum(counts)}\nFrequency,Histogram Bucket Limit\n{rows}"


@pytest.mark.parametrize("last", [">100000", "> 100000", "100000"])
def test_the_last_bin_is_open_however_it_is_printed(last: str) -> None:
    """What lies above the last limit is the largest value at most, also where the limit only stands there twice."""
    found = imported(("v.csv", _csv([5, 3, 2], ["1000", "100000", last], 987_654)))
    (bins,) = found.runs[0].distributions
    assert dict(zip(bins.counts.values, bins.counts.counts, strict=True)) == {1000: 5, 100_000: 3, 987_654: 2}


def test_without_parentheses_a_disk_is_its_handle() -> None:
    """Two disks of a machine are two series, also where only their handles are printed."""
    text = _csv([5], ["1000"], 900).replace(" (scsi0:1)", "")
    found = imported(("v.csv", text + text.replace("8203", "8204")))
    assert [level.series.split()[0] for level in levels(found.runs)] == ["8203", "8204"]


def test_what_was_counted_anew_is_a_run_of_its_own() -> None:
    """A later histogram that counts less in some bin began anew: both count; one that counts on takes the other's place."""
    limits = ["1000", "100000", ">100000"]
    first, on, anew = (_csv(counts, limits, 500_000) for counts in ([5, 3, 2], [9, 3, 2], [1, 40, 2]))
    series = "scsi0:1 latency of IOs in Microseconds (us)"
    assert at(imported(("v.csv", first + on)), series, None).values["count"] == (14,)
    assert at(imported(("v.csv", first + on + anew)), series, None).values["count"] == (14, 43)


def test_bins_that_do_not_add_up_are_told() -> None:
    """Of an output that was cut within its bins the histogram is named with both numbers."""
    text = _csv([5, 3, 2], ["1000", "100000", ">100000"], 500_000)
    (run,) = imported(("v.csv", text.removesuffix("2,>100000\n"))).runs
    assert any("(8 in bins of 10)" in note for note in run.notes)
