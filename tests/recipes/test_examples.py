"""The recipes of examples/ run as they are told, and say what their page says beside the published figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import InProcess

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """The program on an emulated rack, which no example asks anything."""
    found = InProcess(tmp_path_factory.mktemp("examples") / "home")
    found.ok("emulator", "start", "t1", "cells=2")
    yield found
    found.ok("emulator", "stop", "t1")


def run(program: InProcess, name: str) -> str:
    return program.ok("-r", "t1", "run", str(EXAMPLES / name), f"data={EXAMPLES / 'data'}", "-y").out


def test_each_example_is_on_the_page() -> None:
    """The page names each recipe, and each recipe is there."""
    named = set(re.findall(r"^\| `(\w+)` \|", (EXAMPLES / "README.md").read_text(), re.MULTILINE))
    assert named == {path.stem for path in EXAMPLES.glob("*.exa")}


def test_orion_goes_from_18k_to_100k_in_three_steps(program: InProcess) -> None:
    """All peaks are the published ones, in one sentence and one table; each step's ratio to the first is that of the page."""
    out = run(program, "orion_targets.exa")
    verdict = next(line for line in out.splitlines() if line.startswith("small, at most: "))
    assert re.findall(r"(\d+,000) I/Os per second", verdict) == ["18,000", "30,000", "45,000", "100,000"]
    ratios = re.findall(r"\(([\d.]+) times\)", verdict)
    assert ratios == ["1.67", "2.50", "5.56"] and ", ".join(ratios[:2]) in (EXAMPLES / "README.md").read_text()
    assert re.search(r"^small +1,500 +iops .* 18,000 +30,000 +45,000 +100,000 ", out, re.MULTILINE)


def test_the_cold_pass_of_a_read_cache_is_set_apart(program: InProcess) -> None:
    """268 does not count as the cache's, which is 1.1 times the baseline as the page says."""
    out = run(program, "vfrc_cold_pass.exa")
    assert "set apart is 268 I/Os per second" in out and "1.1 times (95 %: 1.04 to 1.16" in out
    assert "1.10 times the baseline (95 %: 1.04 to 1.16)" in (EXAMPLES / "README.md").read_text()
