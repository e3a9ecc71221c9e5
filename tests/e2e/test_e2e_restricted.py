"""Cells of release 26.1, where celladmin may run only CellCLI and a few commands that only read: the rest is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

CELL = "exa1cel01"


@pytest.fixture(scope="module")
def rack(program: Any) -> Iterator[Any]:
    """The program with a rack of two cells of release 26.1."""
    program.ok("emulator", "start", "r26", "cells=2", "model=x10m", "release=26.1")
    yield program
    program.ok("emulator", "stop", "r26")


@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-y", "touch /tmp/x"),
        ("sh", "-y", "cellcli -e list cell; touch /tmp/x"),
        ("copy", "/etc/hostname"),
        ("dcli", "--accept-opaque", "-c", CELL, "-f", "/etc/hostname"),
        ("dcli", "--accept-opaque", "-c", CELL, "-x", "/etc/hostname"),
        ("dcli", "-c", CELL, "-k"),
        ("dcli", "-c", CELL, "cellcli -e list cell | grep x"),
        ("dcli", "-c", CELL, "--timeout=5", "cellcli -e list cell"),
        ("dcli", "-c", CELL, "--vmstat=1 1"),
    ],
)
def test_what_is_more_than_a_command_is_refused_before_it_is_sent(rack: Any, words: tuple[str, ...]) -> None:
    """Scripts, copies, pipes and keys are refused with the release and the login named, instead of by the cell."""
    done = rack("-r", "r26", *words)
    assert done.code == 2 and "run release 26.1 or later, where celladmin may run only CellCLI" in done.err, done
    assert "not allowed for celladmin" not in done.out + done.err


def rows(done: Any) -> dict[str, str]:
    return {row["cell"]: row["text"].strip() for row in done.records}


def test_cellcli_goes_through(rack: Any) -> None:
    """One CellCLI statement, a change as well, reaches the cell by dcli and sh as it does when it is typed."""
    assert rack.ok("-r", "r26", "dcli", "-c", CELL, "hostname").out == f"{CELL}: {CELL}\n"
    rack.ok("-r", "r26", "-y", "dcli", "-c", CELL, "cellcli -e alter cell comment=seen")
    shown = rack.ok("-r", "r26", "-o", "json", "sh", "cellcli -e list cell attributes comment")
    assert rows(shown)[CELL] == "seen"
    rack.ok("-r", "r26", "sh", "-y", "cellcli -e alter cell comment=again")
    shown = rack.ok("-r", "r26", "-o", "json", "dcli", "-c", CELL, "cellcli -e list cell attributes comment")
    assert rows(shown)[CELL] == "again"


def test_another_login_may_do_more(rack: Any) -> None:
    """root is not restricted, so dcli -l root runs a shell."""
    assert rack.ok("-r", "r26", "dcli", "-c", CELL, "-l", "root", "uptime | wc -l").out == f"{CELL}: 1\n"
