"""The recipes of examples/ run as they are told, and say what their page says beside the published figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import InProcess

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
PAGE = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ELSEWHERE = {
    "block_limits": ROOT / "tests/real/test_real_recipes.py",
    "exadata_flash": ROOT / "tests/e2e/test_e2e_examples.py",
}
"""Those that measure on hosts or change a rack, and the tests that run them."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program on an emulated rack, which no example here asks anything."""
    found = InProcess(tmp_path_factory.mktemp("examples") / "home")
    found.ok("emulator", "start", "t1", "cells=2")
    yield found
    found.ok("emulator", "stop", "t1")


def run(program: InProcess, name: str) -> str:
    return program.ok("-r", "t1", "run", str(EXAMPLES / f"{name}.exa"), f"data={EXAMPLES / 'data'}", "-y").out


def row(name: str) -> str:
    """Return what the page says that an example says."""
    found = re.search(rf"^\| `{name}` \|.*?\| (.*) \|$", PAGE, re.MULTILINE)
    assert found is not None
    return found[1]


def test_each_example_is_on_the_page() -> None:
    """The page names each recipe, and each recipe is there."""
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert named == {path.stem for path in EXAMPLES.glob("*.exa")}


def test_each_example_is_run() -> None:
    """Each recipe is run by a test of this file, or by another one that names it."""
    here = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.exa"):
        by = ELSEWHERE.get(path.stem)
        assert f'run(program, "{path.stem}")' in here if by is None else path.name in by.read_text(encoding="utf-8")


def test_orion_goes_from_18k_to_100k_step_by_step(program: InProcess) -> None:
    """All peaks are the published ones, in one sentence and one table; each step's ratio to the first is that of the page."""
    out = run(program, "iscsi_ssd")
    verdict = next(line for line in out.splitlines() if line.startswith("small, at most: "))
    peaks = [int(peak.replace(",", "")) // 1000 for peak in re.findall(r"(\d+,000) I/Os per second", verdict)]
    assert peaks == [18, 30, 45, 45, 45, 80, 80, 100, 180]
    ratios = re.findall(r"\(([\d.]+) times\)", verdict)
    assert f"{', '.join(ratios[:-2])} and {ratios[-2]} times the first, and {ratios[-1]} in the target" in row(
        "iscsi_ssd"
    )
    last = next(line for line in out.splitlines() if re.match(r"small +1,500 +iops ", line) and "180,000" in line)
    assert re.findall(r"\d+,000", last) == [f"{peak},000" for peak in peaks]


def test_network_queues_help_below_20_readers_alone(program: InProcess) -> None:
    """Queues of network cards bring 5 to 10 thousand more at 4 to 16 readers, nothing at the peak, as published."""
    out = run(program, "iscsi_ssd")
    for load, least, most in ((4, 5000, 10000), (16, 5000, 10000), (1500, 0, 0)):
        line = next(
            line for line in out.splitlines() if re.match(rf"small +{load:,} +iops ", line) and "180,000" in out
        )
        rates = [
            int(number.replace(",", "")) for number in re.findall(r"\s(\d[\d,]*)(?=\s)", line.partition("second")[2])
        ]
        assert least <= rates[3] - rates[2] <= most


def test_the_cold_pass_of_a_read_cache_is_set_apart(program: InProcess) -> None:
    """268 does not count as the cache's, which is 1.1 times the baseline as the page says; hits and sizes are published ones."""
    out = run(program, "flash_read_cache")
    assert "set apart is 268 I/Os per second" in out and "1.1 times (95 %: 1.04 to 1.16" in out
    assert "1.10 times the baseline (95 %: 1.04 to 1.16)" in row("flash_read_cache")
    assert re.search(r"^read +29 ", out, re.MULTILINE)
    assert "IO lengths of commands: mostFrequent 4,096." in out and "Write commands: mostFrequent 8,192." in out


def test_three_limits_of_virtual_disks_end_in_a_sentence_each(program: InProcess) -> None:
    """What the raw disk alone reports, fio at three limits and SLOB in three cases, as the page says."""
    out = run(program, "virtual_disks")
    assert re.search(r"^Maximum transfer length +- +8,192$", out, re.MULTILINE)
    fio = [line for line in out.splitlines() if line.startswith("read 8m mixed at 4 ")]
    assert [line.endswith("no more than chance makes.") for line in fio if " times (95 %" in line] == [True, True]
    executes = re.search(r"^SLOB +32 +executes .* ([\d.]+) +([\d.]+)", out, re.MULTILINE)
    assert executes is not None and f"executes {executes[1]} and {executes[2]} times" in row("virtual_disks")
