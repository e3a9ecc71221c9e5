"""Weighted means, rates and percentiles of importers are R's of the same rows: R itself, where it is (make test-real)."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence

import pytest

from exacell.measure.importers.levels import levels
from tests.measure.test_measure_importers import (
    DATA,
    _awr,
    _esxtop,
    _fio,
    _iostat,
    _orion,
    _sar,
    _slob,
    _vscsi,
    imported,
)

pytestmark = [
    pytest.mark.skipif(os.environ.get("TEST_REAL") != "1", reason="make test-real starts R"),
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R (Debian: apt-get install r-base-core)"),
]

_R = """
for (line in readLines(file("stdin"))) {
  part <- strsplit(line, "\\t")[[1]]
  v <- as.numeric(strsplit(part[2], ",")[[1]])
  w <- as.numeric(strsplit(part[3], ",")[[1]])
  found <- if (part[1] == "mean") weighted.mean(v, w) else quantile(rep(v, w), as.numeric(part[1]), type = 7)
  cat(format(found, digits = 15), "\\n")
}
"""


def by_r(asked: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> list[float]:
    """Return what R gives of values with weights: their mean, or a quantile of each value as often as its weight."""
    lines = ["\t".join((what, *(",".join(map(repr, each)) for each in (v, w)))) for what, v, w in asked]
    done = subprocess.run(
        ["Rscript", "-e", _R], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


Rows = Sequence[tuple[int, int, int, int]]


def rates(rows: Rows) -> list[float]:
    return [float(row[0]) for row in rows]


def one(rows: Rows) -> list[float]:
    return [1.0] * len(rows)


def long(rows: Rows) -> list[float]:
    return [float(row[3]) for row in rows]


def ios(rows: Rows) -> list[float]:
    return [float(row[0] * row[3]) for row in rows]


def _fios(rows: Rows) -> list[str]:
    """Return a run of fio for each row, of so many seconds as its last number."""
    return [_fio(r, us, end=1_700_000_000_000 + 10**6 * at, seconds=long) for at, (r, us, _, long) in enumerate(rows)]


# figure → its value of a row (rate, size or latency, latency or maximum, queue), and the weight of that row.
Figures = Mapping[str, tuple[Callable[[Sequence[int]], float], Callable[[Rows], list[float]]]]

MADE: Mapping[str, tuple[Callable[[Rows], Sequence[str]], Figures]] = {
    "iostat": (
        lambda rows: [_iostat(rows)],
        {"readsPerS": (lambda r: r[0], one), "readKib": (lambda r: r[1], rates), "readUs": (lambda r: r[2] * 1000, rates)},
    ),
    "esxtop": (
        lambda rows: [_esxtop(rows)],
        {"iops": (lambda r: r[0], one), "latencyUs": (lambda r: r[1] * 1000, rates)},
    ),
    "slob": (
        lambda rows: [_slob(rows)],
        {"executes": (lambda r: r[3], one), "sequentialReadUs": (lambda r: r[1], rates)},
    ),
    "orion": (
        lambda rows: [_orion(rows)],
        {"iops": (lambda r: r[0], one), "latencyUs": (lambda r: r[1], rates)},
    ),
    "awr": (lambda rows: _awr(rows), {"averageUs": (lambda r: r[1] * 1000, rates)}),
    "fio": (
        _fios,
        {"iops": (lambda r: r[0], long), "latencyUs": (lambda r: r[1], ios), "mibPerS": (lambda r: r[0] / 128, long)},
    ),
    "sar": (
        lambda rows: [_sar(rows, [row[3] for row in rows])],
        {"iops": (lambda r: r[0], long), "latencyUs": (lambda r: r[2] * 1000, ios), "kibPerIo": (lambda r: r[1], ios)},
    ),
    "vscsistats": (lambda rows: _vscsi(rows), {"count": (lambda r: r[0], one), "mean": (lambda r: r[1], rates)}),
}  # fmt: skip


@pytest.mark.parametrize("kind", MADE)
def test_means_and_rates_are_rs(kind: str) -> None:
    """Of 20 sets of reports with rates from 1 to 100,000 each rate is R's mean, each latency and size its weighted.mean."""
    rng = random.Random(kind)
    make, figures = MADE[kind]
    asked, ours = [], []
    for _ in range(20):
        rows = [
            (rng.choice((1, 7, 100, 1000, 100_000)), rng.randint(1, 512), rng.randint(1, 90), rng.randint(1, 64))
            for _ in range(rng.randint(2, 9))
        ]
        texts = [(f"{place}.txt", text) for place, text in enumerate(make(rows))]
        found = levels(imported(*texts).runs)
        for figure, (value, weight) in figures.items():
            (figured,) = [level.figure(figure) for level in found if level.figure(figure) is not None]
            ours.append(figured)
            asked.append(("mean", [float(value(row)) for row in rows], weight(rows)))
    assert ours == pytest.approx(by_r(asked), rel=1e-9)


def test_percentiles_of_jobs_together_are_rs() -> None:
    """Of jobs of one kind that ran together the quantiles are R's of all their bins, and the latency its weighted.mean."""
    rng = random.Random("jobs")
    asked, ours = [], []
    for _ in range(10):
        jobs, every = [], dict[int, int]()
        for _ in range(rng.randint(2, 5)):
            bins = {rng.randrange(1_000, 9_000_000): rng.randint(1, 40) for _ in range(rng.randint(3, 60))}
            every |= {value: every.get(value, 0) + count for value, count in bins.items()}
            (job,) = json.loads(_fio(sum(bins.values()), rng.randint(50, 5000), seconds=1))["jobs"]
            job["read"]["clat_ns"]["bins"] = {str(value): count for value, count in bins.items()}
            jobs.append(job)
        text = json.dumps({"fio version": "fio-3.33", "timestamp_ms": 1_700_000_000_000, "jobs": jobs})
        (found,) = levels(imported(("jobs.json", text)).runs)
        counts = [float(every[value]) for value in sorted(every)]
        for name, p in (("p50Us", "0.5"), ("p99Us", "0.99"), ("p99.9Us", "0.999")):
            ours.append(found.figure(name))
            asked.append((p, [value / 1000 for value in sorted(every)], counts))
        ours.append(found.figure("latencyUs"))
        parts = [job["read"]["lat_ns"] for job in jobs]
        asked.append(("mean", [part["mean"] / 1000 for part in parts], [float(part["N"]) for part in parts]))
    assert ours == pytest.approx(by_r(asked), rel=1e-9)


def test_percentiles_of_fio_are_rs() -> None:
    """Of each load of json+ the median, p99 and p99.9 are R's quantiles of the bins, each as often as fio counted it."""
    text = (DATA / "imports" / "fio-levels.json").read_text()
    found = levels(imported(("fio-levels.json", text)).runs)
    jobs = json.loads(text)["jobs"]
    assert len(found) == len(jobs) > 3
    asked, ours = [], []
    for level, job in zip(found, jobs, strict=True):
        bins = {float(value): float(count) for value, count in job["read"]["clat_ns"]["bins"].items() if count}
        for name, p in (("p50Us", "0.5"), ("p99Us", "0.99"), ("p99.9Us", "0.999")):
            ours.append(level.figure(name))
            asked.append((p, [value / 1000 for value in bins], list(bins.values())))
    assert ours == pytest.approx(by_r(asked), rel=1e-9)
