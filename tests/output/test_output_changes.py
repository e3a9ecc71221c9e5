"""journal show for eyes: a line a change."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from exacell.output.changes import change_lines, ended_text

LONG = "create threshold CL_CPUT comparison='>', warning=0.5, critical=90, observation=5, occurrences=3"


def change(number: int, statement: str = LONG, user: str = "ann") -> dict[str, object]:
    return {
        "cell": None, "change": number, "rack": "t1", "at": "2026-11-21T16:03:07.307+00:00", "user": user, "host": "dbm01",
        "statement": statement, "targets": "exa1cel[01-14]", "risk": "performance", "ended": "exit 0, undone",
    }  # fmt: skip


@pytest.mark.parametrize("racks", [False, True])
@pytest.mark.parametrize("width", [80, 100, 132, 200])
def test_a_change_takes_one_line(width: int, racks: bool) -> None:
    """From 80 columns on no line is wider than the terminal, and number, time, statement and end are always there."""
    lines = list(change_lines([change(9), change(10, user="bob")], racks=racks, width=width, color=False, header=True))
    assert len(lines) == 4 and max(map(len, lines)) <= width
    for line, number in zip(lines[2:], (9, 10), strict=True):
        assert line.split()[0] == str(number)
        assert "2026-11-21 16:03:07" in line and "create threshold" in line and "done, undone" in line
    assert ("rack" in lines[0]) is racks


def test_a_narrow_terminal_gets_a_shorter_time() -> None:
    """On 60 columns a change still takes one line: its time loses year and seconds before statement or end lose more."""
    lines = list(change_lines([change(9), change(10)], racks=False, width=60, color=False, header=True))
    assert len(lines) == 4 and max(map(len, lines)) <= 60
    assert "  11-21 16:03  ann  create threshold" in lines[2] and lines[2].endswith("done, undone")
    tiny = list(change_lines([change(9), change(10)], racks=False, width=50, color=False, header=True))
    assert "  11-21 16:03  create threshold" in tiny[2]


def test_a_change_that_another_one_finished_names_that_one() -> None:
    """What counts is that it came to its end and where; a program is told both."""
    assert ended_text("did not end, finished by 21") == ended_text("exit 1, finished by 21") == "finished by 21"


def test_a_pipe_gets_all_of_it() -> None:
    """Without a width nothing is cut and nothing left out."""
    text = "\n".join(change_lines([change(1)], racks=False, width=None, color=False, header=True))
    assert LONG in text and "  ann  " in text and "exa1cel[01-14]" in text and "performance" in text


@pytest.mark.parametrize("width", [80, 100, 200, None])
def test_who_made_a_change_is_always_told(width: int | None) -> None:
    """Each line names the person, the one behind sudo where there is one, and the host where there are several."""
    mine = change(2) | {"user": "oracle", "sudoUser": "carla"}
    same = list(change_lines([change(1), mine], racks=False, width=width, color=False, header=True))
    assert "who" in same[0].split() and "  ann  " in same[2] and "  carla  " in same[3]
    other = change(2, user="bob") | {"host": "dbm02"}
    both = list(change_lines([change(1), other], racks=False, width=width, color=False, header=True))
    assert "ann@dbm01" in both[2] and "bob@dbm02" in both[3]


@pytest.mark.parametrize("verb", ["undo", "resume", "retry"])
@pytest.mark.parametrize("width", [80, None])
def test_a_change_made_for_another_one_says_for_which(verb: str, width: int | None) -> None:
    """What takes a change back or goes on with it names that change; one of a recipe's run names the recipe."""
    rows = [change(7) | {"recipe": f"{verb} 6"}, change(8) | {"recipe": "undo_all"}]
    lines = list(change_lines(rows, racks=False, width=width, color=False, header=True))
    assert f"  {verb} of 6: create" in lines[2] and "  undo_all: create" in lines[3]


def test_times_are_those_of_the_zone_that_is_asked_for() -> None:
    """A row of 16:03 UTC is told as 01:03 of the next day nine hours further east."""
    east = timezone(timedelta(hours=9))
    text = "\n".join(change_lines([change(1)], racks=False, width=None, color=False, header=True, zone=east))
    assert "2026-11-22 01:03:07" in text


@pytest.mark.parametrize(
    ("ended", "told"),
    [("exit 0", "done"), ("exit 1, undone", "failed, undone"), ("exit 2", "nothing sent"), ("exit 4", "interrupted"),
     ("did not end", "did not end"), ("restarted", "restarted")],
)  # fmt: skip
def test_exit_codes_are_told_as_words(ended: str, told: str) -> None:
    """How a change ended is a word for eyes; the records keep the code."""
    assert ended_text(ended) == told
