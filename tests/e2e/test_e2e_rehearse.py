"""rehearse: a statement carried out on an emulated copy of the rack, by the real program."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from exacell.journal.record import Journal


@pytest.fixture
def t1(inside: Any) -> Any:
    """The program with the module's rack; each test leaves it as it was."""
    return inside


def changed(done: Any) -> list[tuple[str, str, str | None, str | None, str | None]]:
    return [(r["cell"], r["object"], r["attribute"], r["before"], r["after"]) for r in done.records]


def copies() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).glob("exacell-rehearsal-*")}


def test_a_resize_is_shown_as_it_would_leave_the_cells(t1: Any) -> None:
    """The copy ends as the rack would; the rack, its journal and the disk keep no trace of it, read-only or not."""
    left = copies()
    before = t1.ok("-r", "t1", "-o", "json", "list", "flashcache", "detail").records
    done = t1.ok("-m", "-r", "t1", "-o", "json", "rehearse", "resize", "flashcache", "size=288g")
    cells = ["exa1cel01", "exa1cel02", "exa1cel03"]
    assert [row for row in changed(done) if row[1] == "flashcache"] == [
        (cell, "flashcache", "size", "364.75G", "288G") for cell in cells
    ]
    disks = {(r["cell"], r["name"]) for r in done.records if r["object"] == "celldisk"}
    assert disks == {(cell, f"FD_{number:02}_{cell}") for number in range(16) for cell in cells}
    folded = t1.ok("-m", "-r", "t1", "--fold", "rehearse", "resize", "flashcache", "size=288g").out
    assert "exa1cel[01-03]  celldisk" in folded and "FD_[00-15]_{cell}" in folded
    assert "differs from the rack" not in done.err and "nothing was sent to the rack" in done.err
    assert t1.ok("-r", "t1", "-o", "json", "list", "flashcache", "detail").records == before
    assert not Journal(t1.home / "journal.db").entries()
    assert copies() <= left
    assert {row["name"] for row in t1.ok("-o", "json", "emulator", "status").records} <= {"t1"}


def test_several_statements_are_rehearsed_as_a_recipe(t1: Any) -> None:
    """A recipe is carried out as a whole; what its lines build on each other is built on the copy."""
    folder = t1.home / "recipes"
    folder.mkdir(exist_ok=True)
    (folder / "carved.exa").write_text(
        "resize flashcache size=288g\ncarve griddisk prefix=ssd media=flash size=4g\ncreate diskgroup FL prefix=ssd\n"
    )
    done = t1.ok("-r", "t1", "-o", "json", "rehearse", "run", "carved")
    told = changed(done)
    assert ("ASM main", "diskgroup", None, None, "made") in told
    assert ("exa1cel01", "griddisk", None, None, "made, 4G") in told
    assert not [r for r in t1.ok("-r", "t1", "-o", "json", "list griddisk").records if r["name"].startswith("ssd_")]


def test_what_is_set_on_the_rack_is_set_on_the_copy(t1: Any) -> None:
    """A plan, a comment or a threshold that a statement changes is told with what the rack has of it; nothing else is."""
    plan = "((name=interactive,level=1,allocation=80),(name=other,level=2,allocation=100))"
    for statement in (f"alter iormplan catplan={plan}", "alter griddisk DATA_CD_00_{cell} comment='set aside'"):
        t1.ok("-y", "-r", "t1", statement)
    done = t1.ok("-r", "t1", "-o", "json", "on exa1cel01 rehearse alter iormplan catplan=''")
    assert "differs from the rack" not in done.err
    assert [(r["cell"], r["object"], r["attribute"], r["before"], r["after"]) for r in done.records] == [
        ("exa1cel01", "iormplan", "catPlan", plan, None)
    ]
    done = t1.ok("-r", "t1", "-o", "json", "rehearse alter griddisk DATA_CD_00_{cell} comment=''")
    assert {(r["object"], r["attribute"], r["before"], r["after"]) for r in done.records} == {
        ("griddisk", "comment", "set aside", None)
    }
    done = t1.ok("-r", "t1", "-o", "json", "rehearse create threshold CL_TEMP comparison='>', warning=90")
    assert {r["object"] for r in done.records} == {"threshold"}
    for statement in ("alter iormplan catplan=''", "alter griddisk DATA_CD_00_{cell} comment=''"):
        t1.ok("-y", "-r", "t1", statement)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("drop", "flashcache"), "data would be lost on exa1cel[01-03]"),
        (("list", "cell"), "there is nothing to rehearse"),
        (("on", "@db", "list", "dbserver"), "there is nothing to rehearse"),
        (
            ("set", "setting", "/proc/sys/vm/swappiness=5", "on", "@db"),
            "a copy of a rack has no hosts: on @db set setting",
        ),
        (("sh", "uptime"), "a copy of a rack has no commands"),
        (("sql", "db=SPOT", "alter system set open_cursors=400"), "a copy of a rack has no databases"),
    ],
)
def test_what_the_rack_would_refuse_is_refused_on_the_copy(t1: Any, words: tuple[str, ...], message: str) -> None:
    """Guards and checks judge the copy as they judge the rack."""
    done = t1("-r", "t1", "rehearse", *words)
    assert done.code == 2 and message in done.err
