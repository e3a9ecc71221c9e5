"""Our statistics are R's on the same data: fixtures that R wrote, and R itself where it is (make test-real)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from math import exp, log10
from pathlib import Path

import pytest

from exacell.measure.distributions import LN10, log_two_sided_normal, log_two_sided_t, t_quantile
from exacell.measure.experiments.power import analytic, reached
from exacell.measure.experiments.verdict import _F_LIMIT, Block, Finding, Verdict, judge
from exacell.measure.histogram import Histogram, as_r_prints, summary
from exacell.measure.proportion import share
from exacell.measure.twosets import above_mean, cohens_d, hodges_lehmann, mann_whitney, moments, welch

DATA = Path(__file__).parent.parent / "data" / "r"
REAL = os.environ.get("TEST_REAL") == "1"


def read(folder: Path) -> tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]]:
    """Return set → side → histogram, and set → what → what R says."""
    sets: dict[str, dict[str, Histogram]] = {}
    for line in (folder / "sets.tsv").read_text().splitlines():
        name, side, values = line.split("\t")
        sets.setdefault(name, {})[side] = Histogram.of(Counter(map(int, values.split(","))))
    expected: dict[str, dict[str, str]] = {}
    for line in (folder / "expected.tsv").read_text().splitlines():
        name, what, value = line.split("\t")
        expected.setdefault(name, {})[what] = value.strip()
    return sets, expected


SETS, EXPECTED = read(DATA)


@pytest.fixture(params=["kept", "real"] if REAL else ["kept"])
def r(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]]:
    """What R wrote once, and what it writes now."""
    if request.param == "kept":
        return SETS, EXPECTED
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("there is no R (Debian: apt-get install r-base-core)")
    subprocess.run([program, str(DATA / "make.R"), str(tmp_path)], check=True, timeout=300)
    return read(tmp_path)


def near(expected: str, rel: float = 1e-12) -> object:
    return pytest.approx(float(expected), rel=rel, abs=1e-14)


def test_every_set_is_summed_up_as_r_does(r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]]) -> None:
    """Quantiles of type 7, mean, variance, the printed summary and the counts above the mean are R's."""
    sets, expected = r
    for name, pair in sets.items():
        for side, found in pair.items():
            said = {what[2:]: value for what, value in expected[name].items() if what.startswith(f"{side}.")}
            assert {f"q{p}": found.quantile(float(p)) for p in (k[1:] for k in said if k[0] == "q")} == {
                what: near(value) for what, value in said.items() if what[0] == "q"
            }
            assert found.mean == near(said["mean"]) and found.variance == near(said["var"])
            assert " ".join(as_r_prints(summary(found).values())) == said["summary"], name
            assert above_mean(found, (1, 5, 100, 1000)) == [int(said[f"above{d}"]) for d in (1, 5, 100, 1000)]


def test_every_pair_is_compared_as_r_does(r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]]) -> None:
    """Welch's t, its degrees of freedom, interval and p, Mann-Whitney, Hodges-Lehmann and d are R's."""
    sets, expected = r
    for name, pair in sets.items():
        x, y, said = pair["x"], pair["y"], expected[name]
        t, ranks = welch(moments(x), moments(y)), mann_whitney(x, y)
        assert t is not None and ranks is not None
        assert (t.t, t.df) == (near(said["welch.t"]), near(said["welch.df"]))
        assert (t.low, t.high) == (near(said["welch.low"], 1e-10), near(said["welch.high"], 1e-10))
        assert t.p == near(said["welch.p"], 1e-9) and ranks.p == near(said["mw.p"], 1e-10)
        assert ranks.w == float(said["mw.w"]) and 10**ranks.log10_p == pytest.approx(float(said["mw.p"]), rel=1e-9)
        assert hodges_lehmann(x, y) == float(said["hl"])
        assert cohens_d(moments(x), moments(y)) == near(said["d"])


def test_tails_too_small_for_a_float_are_rs(
    r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]],
) -> None:
    """log10 of p, t's and normal quantiles and intervals of shares are R's, the post's t of 263.2 among them."""
    _, expected = r
    for what, value in expected["log10p"].items():
        t, df = map(float, what.split())
        # R itself approximates beyond 400,000 degrees of freedom.
        assert log_two_sided_t(t, df) / LN10 == pytest.approx(
            float(value), rel=1e-9 if df > 4e5 else 1e-12, abs=1e-13
        ), what
    for what, value in expected["t95"].items():
        assert t_quantile(0.95, float(what)) == pytest.approx(float(value), rel=1e-10)
    for what, value in expected["log10z"].items():
        assert log_two_sided_normal(float(what)) / LN10 == pytest.approx(float(value), rel=1e-9)
    for what, value in expected["wilson"].items():
        part, whole, end = what.split()
        found = share(float(part), float(whole))
        assert found is not None and getattr(found, end) / 100 == pytest.approx(float(value), rel=1e-9, abs=1e-12)


def judged(said: dict[str, str], matters: float, order: str = "random") -> Verdict:
    """Return what blocks that R computed say."""
    on, off, first = (said[name].split(",") for name in ("on", "off", "first"))
    blocks = [Block(a=float(b), b=float(a), b_first=own == "1") for a, b, own in zip(on, off, first, strict=True)]
    return judge(blocks, order=order, matters=matters)


BLOCKS = [name for name in EXPECTED if name.startswith("blocks")]


@pytest.mark.parametrize("name", BLOCKS)
def test_an_experiments_verdict_is_rs(
    r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]], name: str
) -> None:
    """Effect, spread, the test over all schedules and the interval that it does not refuse are R's; equivalence holds from R's
    90 % interval on."""
    said = r[1][name]
    found, within = judged(said, 2.0), float(said["within"])
    assert (found.effect, found.spread) == (near(said["effect"], 1e-10), near(said["spread"], 1e-10))
    assert (found.low, found.high) == (near(said["low"], 1e-9), near(said["high"], 1e-9))
    assert found.p == float(said["flip"])
    if "abba.low" in said:
        twos = judged(said, 2.0, "abba")
        assert (twos.low, twos.high) == (near(said["abba.low"], 1e-9), near(said["abba.high"], 1e-9))
        assert twos.p == float(said["abba.flip"])
    inside = {Finding.SAME, Finding.NEGLIGIBLE}
    assert judged(said, within * 1.0001).finding in inside and judged(said, within * 0.9999).finding not in inside


@pytest.mark.parametrize("name", BLOCKS)
def test_an_experiments_doubts_are_rs(
    r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]], name: str
) -> None:
    """A trend (lm) and an influence of the order (t.test) are told with R's p where that is below 1 %, and only then."""
    said = r[1][name]
    wanted = {"trend": float(said["trend"]), "carry-over": float(said["carry"])}
    found = {doubt.what: doubt.p for doubt in judged(said, 2.0).doubts}
    assert found == {what: pytest.approx(p, rel=1e-9) for what, p in wanted.items() if p < 0.01}


def test_what_blocks_detect_is_rs_power(r: tuple[dict[str, dict[str, Histogram]], dict[str, dict[str, str]]]) -> None:
    """The analytic size is power.t.test's of a paired test; the limit of F below which no spread is doubted is qf's."""
    for name in BLOCKS:
        blocks = int(name.removeprefix("blocks"))
        assert analytic(blocks) == pytest.approx(float(r[1][name]["power"]), rel=1e-4)
        at = reached(blocks, "random")
        assert analytic(blocks, alpha=at) == pytest.approx(float(r[1][name]["reached"]), rel=1e-4)
    assert pytest.approx(float(r[1]["-"]["f99"]), rel=2e-3) == _F_LIMIT


def test_the_fixtures_have_both_doubts_and_none() -> None:
    """What is compared with R has a trend, an influence of the order, and blocks with neither."""
    least = {what: min(float(EXPECTED[name][what]) for name in BLOCKS) for what in ("trend", "carry")}
    assert max(least.values()) < 0.01 < max(float(EXPECTED[name]["trend"]) for name in BLOCKS)


def test_the_fixtures_name_their_r() -> None:
    """Whoever reads the fixtures knows which R wrote them."""
    assert EXPECTED["-"]["R"].startswith("R version ")


ON, OFF, N = (542.3583, 185.7), (508.6763, 176.1), 4_000_000
"""Means of the published waits, and the standard deviations that its t, df and n determine. Source: measurement.md 2.2."""


def test_the_published_test_is_reproduced() -> None:
    """Sets of the published means, deviations and n give t 263.2, 33.43 to 33.93, d 0.186, and a p that no float holds."""
    found = welch((ON[0], ON[1] ** 2, N), (OFF[0], OFF[1] ** 2, N))
    assert found is not None
    assert found.t == pytest.approx(263.2139, abs=0.01) and found.df == pytest.approx(7_977_922, rel=1e-4)
    assert (found.low, found.high) == pytest.approx((33.43124, 33.93285), abs=1e-4)
    assert found.p == 0.0 and found.log10_p == pytest.approx(-14_982, abs=2)
    d = cohens_d((ON[0], ON[1] ** 2, N), (OFF[0], OFF[1] ** 2, N))
    assert d == pytest.approx(0.186, abs=5e-4)
    assert exp(found.log10_p) == 0.0 and log10(abs(d)) < 0
