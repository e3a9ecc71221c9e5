"""The published story of flash on Exadata, run as it is told on an emulated rack of the story's release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.program import InProcess

EXAMPLES = Path(__file__).parents[2] / "examples"
NUMBERS = r"([\d.,]+) +([\d.,]+) +([\d.,]+) +([\d.]+) +([\d.]+)"


def test_flash_on_a_quarter_rack_is_told_again(alone: InProcess) -> None:
    """The flash log's share is the published one; a table is read fastest from flash disks, then from the flash cache, the
    database's own one, and disk: five places in one sentence; redo on flash is slower with blocks of 512 bytes, more so with ten
    sessions, and near SAS with 4096. The rack is as it was."""
    alone.ok("emulator", "start", "t1", "release=11.2.2.4", "speed=600", "dbcache=16g")
    groups = "select count(*) as n, max(group#) as last from v$log"
    before = alone.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{groups}"').records
    words = "db=SPOT lookups=20000 keys=100000 commits=150"
    done = alone.ok("-r", "t1", f"run {EXAMPLES / 'exadata_flash.exa'} {words} data={EXAMPLES / 'data'}", "-y")
    out = done.out
    assert re.search(r"rack +flashlog +- +532,152 +19,190 +3\.481", out)
    told = next(line for line in out.splitlines() if line.startswith("look-ups: p1_place_disk "))
    times = {
        place: float(ratio) for place, ratio in re.findall(r"p1_place_(\w+) [\d,]+ per second \(([\d.]+) times\)", told)
    }
    assert list(times) == ["default", "cache", "flash", "dbcache"]
    assert times["flash"] > times["cache"] > times["dbcache"] > 4
    assert times["default"] == pytest.approx(times["cache"], rel=0.02) and times["flash"] < 1.2 * times["cache"]
    waits = {row[0]: [float(n.replace(",", "")) for n in row[1:]] for row in _rows(out)}
    (_, _, _, one_512, one_4k), (_, _, _, ten_512, ten_4k) = waits["1"], waits["10"]
    assert 4 < one_512 < 7 and ten_512 > 1.5 * one_512
    assert one_4k < 0.4 * one_512 and ten_4k < 0.3 * ten_512
    after = alone.ok("-r", "t1", "-o", "json", f'sql db=SPOT "{groups}"').records
    assert after[0]["N"] == before[0]["N"]
    assert "DATA_SSD" not in alone.ok("-r", "t1", "-o", "json", "show", "diskgroup").out


def _rows(out: str) -> list[tuple[str, ...]]:
    """Return the rows of mean waits for commits beside each other at three places, by the number of sessions."""
    return re.findall(rf"^commits +(\d+) +averageUs +\S+ +{NUMBERS}", out, re.MULTILINE)
