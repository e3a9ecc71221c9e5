"""Tables with a column of sentences, such as the outcomes of a change."""

from __future__ import annotations

import pytest

from exacell.output.result import Column
from exacell.output.style import plain
from exacell.output.tables import table_lines

COLUMNS = [
    Column("cell"), Column("outcome"), Column("detail", "prose"),
    Column("dirtyAfterFlush", "size"), Column("usedAfterFlush", "size"),
]  # fmt: skip
DONE = {
    "cell": "exa1cel01", "outcome": "done", "detail": "2 statements, verified", "dirtyAfterFlush": 0, "usedAfterFlush": 5 << 30,
}  # fmt: skip
WHY = "flush: interrupted at the gate before wave 2 of 14, while RECO was rebalancing on +ASM1"
LEFT = [{"cell": f"exa1cel{n:02}", "outcome": "failed", "detail": WHY} for n in range(2, 15)]


def lines(width: int | None, *records: dict[str, object], color: bool = False, header: bool = True) -> list[str]:
    return list(table_lines(records, COLUMNS, folded=True, width=width, color=color, header=header))


def test_what_fits_is_a_table_like_any_other() -> None:
    """Cells that are all done have one line in the order of the columns."""
    assert lines(80, DONE) == [
        "cell       outcome  detail                  dirtyAfterFlush  usedAfterFlush",
        "---------  -------  ----------------------  ---------------  --------------",
        "exa1cel01  done     2 statements, verified                0              5G",
    ]


@pytest.mark.parametrize("width", [80, 90, 100, 130])
def test_sentences_are_broken_within_their_column(width: int) -> None:
    """At each width every group of cells keeps one line in front of its sentence, of which no word is lost."""
    found = lines(width, DONE, *LEFT)
    assert max(map(len, found)) <= width
    assert found[0].split() == ["cell", "outcome", "dirtyAfterFlush", "usedAfterFlush", "detail"]
    rows = [line for line in found[2:] if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == ["exa1cel01", "exa1cel[02-14]"]
    begin, odd = found[0].index("detail"), found.index(rows[1])
    assert " ".join(line[begin:].strip() for line in found[odd:]) == WHY


def test_columns_that_say_nothing_give_their_room() -> None:
    """Where nothing was flushed the sentence begins right behind the outcome."""
    assert lines(70, *LEFT)[0] == "cell            outcome  detail"


def test_a_pipe_gets_unbroken_lines() -> None:
    """Without a width nothing is broken and no column moves."""
    found = lines(None, DONE, *LEFT)
    assert any(WHY in line for line in found) and found[0].split()[2] == "detail"


def test_words_for_trouble_are_coloured_there_too() -> None:
    """``failed`` is red where sentences are broken as well; the text is the same without colour."""
    colored = lines(80, DONE, *LEFT, color=True)
    assert [plain(line) for line in colored] == lines(80, DONE, *LEFT)
    assert any("\x1b[1;38;5;196mfailed" in line for line in colored)


def test_a_narrow_terminal_gets_a_block_for_each() -> None:
    """Where no room is left for the sentence, each attribute has a line of its own."""
    assert any(line.startswith("detail:") for line in lines(60, DONE, *LEFT))


def test_titles_can_be_left_out() -> None:
    """Without titles the first line is the first target's."""
    assert lines(80, DONE, *LEFT, header=False)[0].startswith("exa1cel01       done")
