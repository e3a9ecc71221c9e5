"""Space as ASM counts it, and disks that can't take part, on an emulated rack by the real program."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest


@pytest.fixture
def roomy(alone: Any) -> Any:
    """The program with a rack of its own whose flash has room beside the cache."""
    alone.ok("emulator", "start", "t1", "speed=600")
    alone.ok("-r", "t1", "resize", "flashcache", "size=0.28t", "-y")
    return alone


def test_usable_is_what_the_disk_group_then_has(roomy: Any) -> None:
    """usable= gives an empty disk group with that usable_file_mb or a little more, whatever its allocation unit."""
    for name, asked, au_size, redundancy in (
        ("one", 2, 4, "normal"),
        ("two", 8, 64, "high"),
        ("three", 1, 1, "external"),
    ):
        options = (f"au_size={au_size}m", f"redundancy={redundancy}")
        roomy.ok("-r", "t1", "carve", "griddisk", f"prefix={name}", f"usable={asked}g", *options, "-y")
        roomy.ok("-r", "t1", "create", "diskgroup", name, f"prefix={name}", *options, "-y")
        found = roomy.ok("-r", "t1", "-o", "json", "show", "diskgroup", name).records[0]
        copies = {"external": 1, "normal": 2, "high": 3}[redundancy]
        rounding = 48 * max(16, au_size) // copies
        assert 0 <= found["usableFileMb"] - asked * 1024 < rounding, name


def test_a_prefix_of_another_medium_and_a_failed_disk(roomy: Any) -> None:
    """carve and CREATE GRIDDISK refuse what could not be taken back or not be made, before anything is sent; what other hands
    have mixed comes apart."""
    statement = "create griddisk all flashdisk prefix=DATA, size=64M"
    for mixed in (("carve", "griddisk", "prefix=data", "size=64m"), (statement,)):
        refused = roomy("-r", "t1", *mixed, "-y")
        assert refused.code == 2 and "DATA_CD_[00-11]_exa1cel[01-03]" in refused.err
    config = roomy.home / "config-of-others"
    config.write_text(roomy.ok("emulator", "ssh-config", "t1").out, encoding="utf-8")
    for cell in ("exa1cel01", "exa1cel02", "exa1cel03"):
        by_hand = ["ssh", "-F", str(config), cell, f"cellcli -e {statement}"]
        assert "successfully created" in subprocess.run(by_hand, capture_output=True, text=True, timeout=300).stdout
    refused = roomy("-r", "t1", "release", "griddisk", "prefix=DATA", "-y")
    assert refused.code == 2 and "drop diskgroup" not in refused.err
    assert "`release griddisk prefix=DATA media=flash` releases only the unused ones" in refused.err
    roomy.ok("-r", "t1", "release", "griddisk", "prefix=DATA", "media=flash", "-y")
    assert {row["media"] for row in roomy.ok("-r", "t1", "-o", "json", "show", "griddisk").records} == {"hard"}
    roomy.ok("emulator", "fault", "t1", "exa1cel02", "flash-disk")
    refused = roomy("-r", "t1", "carve", "griddisk", "prefix=ssd", "size=64m", "-y")
    assert refused.code == 2 and "cell disk FD_00_exa1cel02 is not present" in refused.err
    roomy.ok("-r", "t1", "on", "exa1cel[01,03]", "carve", "griddisk", "prefix=ssd", "size=64m", "-y")
