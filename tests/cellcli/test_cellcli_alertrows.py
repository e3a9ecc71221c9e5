"""LIST ALERTHISTORY of several lines: each alert is one record, and no line of its message is lost."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from exacell.cellcli.reply import read_columns, read_detail
from exacell.cellcli.rows import read_rows
from tests.support.every import every

DEFAULT = ("name", "beginTime", "severity", "alertMessage")
MESSAGES = [
    ["Hard disk failed.", "Status        : FAILED", "Manufacturer  : HITACHI", "Slot number   : 3"],
    ["one line"],
    ["Flash disk failed. Flash cache exa1cel01_FLASHCACHE successfully dropped", "", "1 2", "12", "Serial: 5  of  9"],
    ['File system "/" is 81% full.', "/home\t 4.2G", "12\t 13\t 14", "done"],
]
"""Messages of alerts, line by line: blanks, empty lines, numbers, TABs and quotes in them."""

LEADS = {"TAB": "\t ", "TABs": "\t\t  ", "blanks": "          ", "nothing": ""}


CASES = list(product(LEADS, (True, False), (True, False)))
"""What leads a further line, whether the text is quoted, whether it came through dcli."""


def answer(lead: str, *, quoted: bool, stripped: bool = False) -> str:
    """Return what a cell prints; ``stripped`` as dcli leaves it, without what leads and ends a line."""
    lines = []
    for number, (first, *more) in enumerate(MESSAGES, 1):
        mark = '"' if quoted else ""
        text = [f"{mark}{first}", *(f"{lead}{line}" for line in more)]
        text[-1] += mark
        lines += [f"\t {number}_1\t 2021-01-2{number}T15:37:23+01:00\t critical\t {text[0]}", *text[1:]]
    return "".join(f"{line.strip() if stripped else line}\n" for line in lines)


@pytest.mark.parametrize(("lead", "quoted", "stripped"), CASES, ids=str)
def test_every_line_stays_with_its_alert(lead: str, quoted: bool, stripped: bool) -> None:
    """Quoted or not, led by a TAB, by blanks or by nothing, as printed or as dcli leaves it: so many alerts, all lines."""
    text = answer(LEADS[lead], quoted=quoted, stripped=stripped)
    records = read_columns(text, DEFAULT, "ALERTHISTORY")
    assert [record["name"] for record in records] == [f"{n}_1" for n in range(1, len(MESSAGES) + 1)]
    assert all(record["severity"] == "critical" and set(record) == set(DEFAULT) for record in records)
    read = [record["alertMessage"].split("\n") for record in records]
    assert [[" ".join(line.split()) for line in lines] for lines in read] == [
        [" ".join(line.split()) for line in lines] for lines in MESSAGES
    ]


def test_fourteen_alerts_of_a_cell_are_fourteen_rows() -> None:
    """A table of several cells has one row for each alert, whatever its message."""
    text = "".join(
        f"\t {n}\t 2021-01-01T00:00:{n:02}+01:00\t info\t message\n\t   with\n\t   five\n\t   more\n\t   lines\n"
        for n in range(1, 15)
    )
    rows = read_rows({"c1": text, "c2": text}, DEFAULT, "ALERTHISTORY")
    assert len(rows) == 28
    assert {row["alertMessage"] for row in rows} == {"message\nwith\nfive\nmore\nlines"}


@pytest.mark.parametrize("quoted", [True, False])
def test_columns_behind_the_message_are_on_its_last_line(quoted: bool) -> None:
    """A message between other columns keeps its lines, and the columns behind it are theirs."""
    mark = '"' if quoted else ""
    text = f"\t 3_1\t {mark}one\n\t  two\n\t  three{mark}\t critical\n\t 3_2\t {mark}clear{mark}\t clear\n"
    assert read_columns(text, ("name", "alertMessage", "severity"), "ALERTHISTORY") == [
        {"name": "3_1", "alertMessage": "one\ntwo\nthree", "severity": "critical"},
        {"name": "3_2", "alertMessage": "clear", "severity": "clear"},
    ]


def test_a_quoted_message_that_comes_first_keeps_its_lines() -> None:
    """Without the number a row is known by its columns and its quotes."""
    text = '\t "one\n\t  two"\t 3_1\n\t "three"\t 3_2\n'
    read = read_columns(text, ("alertMessage", "name"), "ALERTHISTORY")
    assert read == [{"alertMessage": "one\ntwo", "name": "3_1"}, {"alertMessage": "three", "name": "3_2"}]


def test_names_alone_and_nothing_at_all() -> None:
    """Numbers alone are rows, an empty answer has none, and what a login shows before them is none."""
    assert read_columns("\t 1_1\n\t 1_2\n\t 2\n", ("name",), "ALERTHISTORY") == [
        {"name": "1_1"}, {"name": "1_2"}, {"name": "2"},
    ]  # fmt: skip
    assert read_columns("", DEFAULT, "ALERTHISTORY") == []
    noisy = "Authorized use only\n\t 1_1\t critical\n"
    assert read_columns(noisy, ("name", "severity"), "ALERTHISTORY") == [{"name": "1_1", "severity": "critical"}]


@pytest.mark.parametrize("lead", ["\t ", "\t                    \t ", "      "])
@pytest.mark.parametrize("quoted", [True, False])
def test_detail_keeps_every_line_of_a_message(lead: str, quoted: bool) -> None:
    """In DETAIL a message's lines stay with it, also those that look like a label; the attributes behind it are read."""
    mark = '"' if quoted else ""
    lines = ["Hard disk failed.", "Details:", "Status: FAILED", "severity: none", f"Slot : 3{mark}"]
    text = "\t name:              \t 1_1\n\t alertMessage:      \t " + mark + lines[0] + "\n"
    text += "".join(f"{lead}{line}\n" for line in lines[1:])
    text += "\t endTime:           \t \n\t severity:          \t critical\n"
    (record,) = read_detail(text, "ALERTHISTORY")
    assert record["alertMessage"].split("\n") == [line.strip('"') for line in lines]
    assert (record["name"], record["endTime"], record["severity"]) == ("1_1", "", "critical")


VALUES = {
    "name": ["1_1", "2", "3_2"],
    "severity": ["critical", "warning", "clear"],
    "examinedBy": ["", "jdoe", ""],
    "alertMessage": [
        "one line",
        "Hard disk failed.\nStatus : FAILED\nSlot Number : 3",
        "Flash disk failed.\nSerial: 5  of  9",
    ],
}
"""Three alerts by attribute: two that nobody has examined, two with a message of several lines."""

ASKED = [columns for count in (1, 2, 3, 4) for columns in permutations(VALUES, count)]
"""Every choice of these attributes in every order."""


@every(ASKED)
def test_an_empty_value_takes_no_alert_away_and_moves_no_other_value(columns: tuple[str, ...]) -> None:
    """Whatever attributes are asked for, and in whatever order, each alert is a record, and a value stands under its own name."""
    rows = list(zip(*(VALUES[name] for name in columns), strict=True))
    for quoted in (True, False) if "alertMessage" in columns else (False,):
        text = "".join("".join(f"\t {_printed(value, quoted=quoted)}" for value in row) + "\n" for row in rows)
        records = read_columns(text, columns, "ALERTHISTORY")
        assert [tuple(record.values()) for record in records] == rows, text
        assert list(read_rows({"c1": text}, columns, "ALERTHISTORY")) == [
            {"cell": "c1", **record} for record in records
        ]


def _printed(value: str, *, quoted: bool) -> str:
    """Return a value as a row has it: further lines of a message are led by TAB and blanks."""
    mark = '"' if quoted and "\n" in value else ""
    return mark + value.replace("\n", "\n\t   ") + mark
