"""The main verbs on the oldest release that has a flash log, which lacks much of what they ask for elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

VERBS = (
    "flush flashcache",
    "resize flashcache size=288g",
    "disable flashlog db=SPOT",
    "carve griddisk prefix=ssd",
    "create diskgroup SSD prefix=ssd redundancy=normal",
    "drop diskgroup SSD",
    "release griddisk prefix=ssd regrow=yes",
)


@pytest.fixture
def old(program: Any) -> Iterator[Any]:
    """The program with a rack of the oldest release."""
    program.ok("emulator", "start", "old", "release=11.2.2.4", "speed=600")
    yield program
    program.ok("emulator", "stop", "old")


def test_the_oldest_release_takes_every_verb(old: Any) -> None:
    """On 11.2.2.4 each verb plans with what the cells have; only what the user typed is told to be missing."""
    script = "\n".join(f"{verb} -y" for verb in VERBS)
    done = old("-r", "old", stdin=script)
    assert done.code == 0, done.err
    assert "misspelt" in done.err
    shown = old.ok("-r", "old", "-o", "json", "show", "flashcache").records
    assert {(row["mode"], row["size"], row["caching"]) for row in shown} == {(None, int(364.75 * 2**30), "on")}
    plan = old.ok("-r", "old", "-o", "json", "show", "iorm").records
    assert {(row["cell"], row["name"], row["flashlog"]) for row in plan} == {
        (f"exa1cel0{number}", "SPOT", "off") for number in (1, 2, 3)
    }
    typed = old("-r", "old", "list", "cell", "attributes", "flashCacheMode")
    assert typed.code == 1 and "CELL-02907" in typed.err
    refused = old("-r", "old", "set", "flashcache", "mode=writeback", "-y")
    assert refused.code == 2 and "knows no write-back flash cache" in refused.err
