"""-r a,b: several racks are asked at once, and only asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exacell.core.errors import ExitCode
from tests.support.program import InProcess

RACKS = ("one", "two")
CELLS = ("exa1cel01", "exa1cel02")


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """Two emulated racks of two cells with the same names."""
    inside = InProcess(tmp_path_factory.mktemp("racks") / "home")
    for rack in RACKS:
        started = inside("emulator", "start", rack, "cells=2", "dbnodes=1")
        assert started.code == 0, started.err
    yield inside
    for rack in RACKS:
        inside("emulator", "stop", rack)


def test_each_row_names_its_rack(racks: InProcess) -> None:
    """A LIST and exacell's own statements answer for all racks in their order; every record, row and raw line names the rack."""
    wanted = [(rack, cell) for rack in RACKS for cell in CELLS]
    for statement in ("list flashcache", "show flashcache", "show health"):
        done = racks("-r", "one,two", "-o", "json", statement)
        assert (done.code, [(row["rack"], row["cell"]) for row in done.records]) == (0, wanted)
    rows = racks("-r", "one,two,one", "list cell attributes name").out.splitlines()[2:]
    assert [tuple(row.split()) for row in rows] == [(cell, rack, cell) for rack, cell in wanted]
    raw = racks("-r", "one,two", "-o", "raw", "list cell attributes name").out.splitlines()
    assert [line.split(":")[0] for line in raw] == [f"{rack}/{cell}" for rack, cell in wanted]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("flush flashcache", "does not only read"),
        ("alter cell comment=x", "does not only read"),
        ("sh 'rm -f x'", "does not only read"),
        ("list cell; drop flashlog all", "does not only read"),
        ("emulator fault one exa1cel01 hang", "does not only read"),
        ("run reset_cold", "does not only read"),
        ("watch 5 list cell", "runs until it is stopped"),
        ("", "is for statements that read"),
    ],
)
def test_what_does_more_is_refused_for_all(racks: InProcess, statement: str, said: str) -> None:
    """A change, carried text, a recipe and what never ends are refused before any rack is asked, -y or not."""
    done = racks("-r", "one,two", "-y", *([statement] if statement else []))
    assert (done.code, done.out) == (ExitCode.NOT_EXECUTED, "") and said in done.err


def test_a_rack_that_can_not_be_asked_hides_no_other(racks: InProcess) -> None:
    """What one rack has not is its problem, by name, and the exit code's; the other's rows stand; an unknown rack is refused."""
    assert racks("emulator", "stop", "two").code == 0
    try:
        done = racks("-r", "one,two", "-o", "json", "list cell")
        assert (done.code, {row["rack"] for row in done.records}) == (ExitCode.FAILED, {"one"})
        assert all(line.startswith("two: ") for line in done.err.splitlines())
        assert "exa1cel02" in done.err and "emulator start two" in done.err
    finally:
        assert racks("emulator", "start", "two").code == 0
    done = racks("-r", "one,nix", "list cell")
    assert (done.code, done.out) == (ExitCode.NOT_EXECUTED, "") and "there is no rack nix" in done.err
