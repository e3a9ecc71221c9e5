"""What LIST METRICCURRENT printed, saved as two texts, is subtracted like two snapshots, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.core.errors import RefusedError
from exacell.measure.delta import delta
from exacell.measure.listing import UNNAMED, read_listing
from exacell.measure.snapshot import UNTIMED, Snapshot

NAMES = ("FL_DISK_FIRST", "FL_FLASH_FIRST", "FL_PREVENTED_OUTLIERS")
BEFORE, AFTER = ("32,669,310", "7,318,741", "774,146"), ("33,201,462", "7,337,931", "774,146")
"""As published: procedures.md, P1. 19,190 / (19,190 + 532,152) is 3.4806 %, as bc says."""


def printed(values: tuple[str, ...], form: str) -> str:
    """Return a listing in one of the forms in which CellCLI or dcli print it."""
    lines = {
        "rows": [f"\t {name:22}\t FLASHLOG\t {value} IO requests" for name, value in zip(NAMES, values, strict=True)],
        "times": [
            f"\t {name}\t FLASHLOG\t {value} IO requests\t 2011-11-30T11:0{len(values[0]) % 10}:00-05:00"
            for name, value in zip(NAMES, values, strict=True)
        ],
        "detail": [
            line
            for name, value in zip(NAMES, values, strict=True)
            for line in (f"\t name:\t {name}", "\t metricObjectName:\t FLASHLOG", f"\t metricValue:\t {value} IO requests", "")
        ],
    }[form.split()[0]]  # fmt: skip
    if form.endswith("dcli"):
        lines = [f"{cell}: {line.strip()}" for cell in ("exa1cel01", "exa1cel02") for line in lines if line]
    if form.endswith("prompt"):
        lines = ["[root@exa1cel01 ~]# cellcli", "CellCLI: Release 11.2.3.2.1 - Production", "", *lines, "quitting", ""]
        lines[2:2] = ["CellCLI> list metriccurrent where objectType = 'FLASHLOG'"]
        lines[-2:-2] = ["CellCLI> exit"]
    return "\n".join(lines) + ("\n" if not form.endswith("cut") else "")


@pytest.mark.parametrize(
    "form", ["rows", "rows dcli", "rows prompt", "rows cut", "times", "times dcli", "detail", "detail dcli"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_published_listing_gives_the_share_that_follows_from_it(form: str, end: str) -> None:
    """In every form in which it is printed the share of flash is 3.4806 %."""
    shots = []
    for values in (BEFORE, AFTER):
        found, strange = read_listing(printed(values, form).replace("\n", end), "x.txt")
        assert list(found) == ["flashlog"] and not strange
        shots.append(Snapshot(rack="", name="x", kind="flashlog", taken="", cells=found["flashlog"]))
    for counters in shots[0].cells.values():
        assert (counters.collected == UNTIMED) is ("times" not in form)
    shots = shots if "times" not in form else [shots[0], Snapshot(**{**vars(shots[1]), "cells": later(shots[1])})]
    *cells, rack = delta(shots[0], shots[1], NAMES)
    assert [cell.cell for cell in cells] == (["exa1cel01", "exa1cel02"] if "dcli" in form else [UNNAMED])
    assert rack.figures["flashWinPercent"] == 3.4806 and rack.figures["preventedOutliers"] == 0
    assert rack.measured == (60 if "times" in form else None)


def later(shot: Snapshot) -> dict[str, object]:
    """Return the cells of a snapshot a minute later."""
    return {cell: type(own)(**{**vars(own), "collected": own.collected + 60_000}) for cell, own in shot.cells.items()}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no counter of LIST METRICCURRENT"),
        ("root:x:0:0:root:/root:/bin/bash\n", "line 1: 'root:x"),
        ("\t CD_00_exa1cel01\t active\n", "is not a row of LIST METRICCURRENT"),
        ("\t FL_DISK_FIRST\t FLASHLOG\t 32.669.310 IO requests\n", "not clear which number '32.669.310"),
        ("\t FL_DISK_FIRST\t FLASHLOG\t 32,66,310 IO requests\n", "not clear which number"),
        ("\t FL_DISK_FIRST\t FLASHLOG\t #### IO requests\n", "not clear which number"),
        (
            "\t FL_DISK_FIRST\t FLASHLOG\t 5 IO requests\n\t FL_DISK_FIRST\t FLASHLOG\t 6 IO requests\n",
            "is in it twice",
        ),
        ("\t FL_NOSUCH_ONE\t FLASHLOG\t 5 IO requests\n", "no counter of LIST METRICCURRENT"),
        ("\t FL_DISK_FIRST\t FLASHLOG\t 5 IO requests\nCELL-00001: error\n", "line 2: 'CELL-00001"),
    ],
)
def test_what_is_no_such_listing_is_refused(text: str, why: str) -> None:
    """A line that is no row, a number of unknown form, and a second listing are refused with the line."""
    with pytest.raises(RefusedError) as refused:
        read_listing(text, "x.txt")
    assert (why in str(refused.value) and "list metriccurrent" in f"{refused.value.hint}".lower()) or "CellCLI" in str(
        refused.value.hint
    )


def test_counters_of_many_objects_are_told_apart(tmp_path: Path) -> None:
    """Of disks each has its own counter; what is no counter is left out."""
    text = (
        "\t CD_IO_RQ_R_SM\t CD_00_exa1cel01\t 1,000 IO requests\n\t CD_IO_RQ_R_SM\t CD_01_exa1cel01\t 5 IO requests\n"
    )
    text += "\t CD_IO_LOAD\t CD_00_exa1cel01\t 1.5\n"
    found, _ = read_listing(text, "x.txt")
    assert found["celldisk"][UNNAMED].values == {
        "CD_IO_RQ_R_SM CD_00_exa1cel01": 1000,
        "CD_IO_RQ_R_SM CD_01_exa1cel01": 5,
    }
