"""What released versions have written: kept in tests/data/state, one archive for each version; none is ever made anew."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.support.program import Program

STATE = Path(__file__).parents[1] / "data" / "state"
VERSIONS = sorted(STATE.glob("*.tar.xz"), key=lambda file: [int(part) for part in file.name.split(".")[:3]])
RACK = 'cells = "exa1cel[01-03]"\n'


@pytest.fixture(params=VERSIONS, ids=lambda file: file.name.removesuffix(".tar.xz"))
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    """The program with the state that a version has left, on a rack that does not answer."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with tarfile.open(request.param) as archive:
        archive.extractall(home, filter="data")
    (home / "racks.d").mkdir(mode=0o700)
    (home / "racks.d" / "old.toml").write_text(RACK)
    (home / "racks.d" / "old.toml").chmod(0o600)
    return Program(home)


def test_state_of_every_released_version_is_read(program: Program) -> None:
    """An older version's journal is whole and says who changed what; its snapshots, plans and aliases are there."""
    assert program.ok("-r", "old", "journal", "verify").code == 0
    changes = program.ok("-r", "old", "-o", "json", "journal").records
    assert [change["statement"] for change in changes] == ["disable flashlog db=SPOT", "lock"]
    assert "version" in program.ok("-r", "old", "-o", "json", "journal", "export").out
    assert {row["name"] for row in program.ok("-r", "old", "-o", "json", "snaps").records} >= {"before", "after"}
    assert "flashWinPercent" in program.ok("-r", "old", "delta", "before", "after", "--anyway").out
    assert "later" in program.ok("-r", "old", "plans").out
    assert "show flashcache" in program.ok("-r", "old", "alias").out


def test_the_running_version_writes_what_it_can_read(program: Program) -> None:
    """A change is put into an older version's journal, whose chain stays whole."""
    before = len(program.ok("-r", "old", "-o", "json", "journal").records)
    program.ok("-r", "old", "unlock")
    rows = [json.loads(line) for line in program.ok("-r", "old", "-o", "jsonl", "journal").out.splitlines()]
    assert len(rows) >= before
    assert program.ok("-r", "old", "journal", "verify").code == 0


def test_there_is_one_of_each_released_version() -> None:
    """CHANGELOG's releases have one archive each."""
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    released = [line.split("]")[0].removeprefix("## [") for line in changelog.splitlines() if line.startswith("## [")]
    assert [file.name.removesuffix(".tar.xz") for file in VERSIONS] == sorted(set(released) - {"Unreleased"})
