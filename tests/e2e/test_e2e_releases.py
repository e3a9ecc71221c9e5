"""The main verbs on the oldest release that has a flash log, and what the newest ones mean by the same words."""

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
    assert refused.code == 2 and "has no write-back flash cache" in refused.err


def test_an_experiment_goes_without_sizes_where_the_database_has_none(old: Any) -> None:
    """Databases of before 12.1 have no V$EVENT_HISTOGRAM_MICRO: the runs are measured all the same, and no size is shown."""
    words = ("experiment", "factor=flashlog", "db=SPOT", "blocks=1", "aa=0", "seed=24", "for=1s", "-y")
    done = old("-r", "old", "-o", "json", *words)
    assert done.code == 0, done.err
    assert [row["count"] > 0 for row in done.records if "block" in row] == [True]
    assert not [row for row in done.records if "shorterThanUs" in row]


@pytest.fixture
def new(program: Any) -> Iterator[Any]:
    """The program with a rack of a release in which ALL alone means hard disks."""
    program.ok("emulator", "start", "new", "cells=2", "model=x10m", "release=24.1", "speed=600")
    yield program
    program.ok("emulator", "stop", "new")


def test_all_means_what_the_release_says(new: Any) -> None:
    """On 24.1, ALL alone changes hard disks: only those are told, read back and taken back, and twice changes nothing."""
    done = new("-r", "new", "alter", "celldisk", "all", "comment=x", "-y")
    assert done.code == 0, done.err
    assert "FD_" not in done.err and "CD_[00-11]_{cell} comment: - -> x (12 objects)" in done.err
    assert "verified" in done.out
    again = new("-r", "new", "alter", "celldisk", "all", "harddisk", "comment=x", "-y")
    assert again.code == 0 and "already has these values" in again.out
    new.ok("-r", "new", "alter", "celldisk", "all", "flashdisk", "comment=y", "-y")
    back = new("-r", "new", "undo", "-y")
    assert back.code == 0 and "CD_" not in back.err + back.out, back.err
    rows = new.ok("-r", "new", "-o", "json", "list", "celldisk", "attributes", "name,comment").records
    assert {(row["name"][:2], row["comment"]) for row in rows} == {("CD", "x"), ("FD", None)}
