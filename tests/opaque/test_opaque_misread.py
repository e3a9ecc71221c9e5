"""What is told of a text that is unread, and statements of CellCLI's that are easily cut in the wrong place."""

from __future__ import annotations

import pytest

from exacell.opaque.findings import UnreadError
from exacell.opaque.shell import read_shell, statements_in
from exacell.opaque.table import table

TOLD = {
    # text -> its sign, a part of the reason, and a part of the way out
    "uptime\r": ("\\r", "a carriage return", ""),
    "uptime \x07": ("\\x07", "no printable ASCII", ""),
    "cellcli <<EOF": ("<<EOF", "without a line EOF", "-f FILE"),
    "cellcli <<A; cellcli <<B\nA\nB": ("<<B", "a second here-document", ""),
    "cellcli <<E |\nE\ncat": ("<<E", "whose line ends in |", ""),
    "uptime # \\\n": ("\\", "may go on in the next line", ""),
    "cat /etc/a*'b'": ("/etc/a*b", "quoted in part", ""),
    "grep =ls /etc/hosts": ("=ls", "the path of a command", "quote the whole statement"),
    "x=1; ls": ("x=1", "a variable that is set", "write its value"),
    "x=/usr/bin/ls ls": ("x=/usr/bin/ls", "a variable that is set", "write its value"),
    "host* -f": ("host*", "not in the table", ""),
    ">/dev/null df": (">", "a redirection before a command", ""),
    "</dev/null df": ("<", "a redirection before a command", ""),
    "<<E cellcli\nlist cell\nE": ("<", "a redirection before a command", ""),
    "df | >/dev/null cat": (">", "a redirection before a command", ""),
    "df>/dev/null": (">", "output to somewhere else", "> FILE"),
    "cellcli": ("cellcli", "not in the text", "-f FILE"),
    "sqlplus -s / as sysdba -e list cell": ("sqlplus", "not in the text", "-f FILE"),
    "cellcli -e list cell where name=a* or name=b*": ("name=a*", "a pattern in a statement", ""),
    "uptime ''": ("''", "an operand of uptime", ""),
    "uptime x": ("x", "an operand of uptime", ""),
    "ls -Z": ("-Z", "not among the options of ls", ""),
    "rpm -q -Z bash": ("-Z", "not among the options of rpm", ""),
    "sort -t*": ("-t*", "not among the options of sort", ""),
    # Of several shapes the one that fits farthest tells what is missing.
    "ipmitool sel wipe": ("wipe", "an operand of ipmitool", ""),
    "ipmitool wipe list": ("wipe", "an operand of ipmitool", ""),
    "grep x": ("grep", "nothing is piped into it", ""),
    "tr a b c": ("c", "an operand of tr", ""),
}


@pytest.mark.parametrize("text", TOLD, ids=ascii)
def test_sign_reason_and_way_out_are_told(text: str) -> None:
    """Each text is refused by the sign at fault, with what is the matter with it and the way to do it in exacell."""
    sign, why, instead = TOLD[text]
    with pytest.raises(UnreadError) as raised:
        read_shell(text)
    assert (raised.value.sign, why in raised.value.why) == (sign, True), raised.value
    assert instead in raised.value.instead and bool(instead) is bool(raised.value.instead)


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ("list cell -\n-- drop flashcache\n", ("list cell  -- drop flashcache",)),
        ("list cell -\nrem x\nlist lun\n", ("list cell  rem x", "list lun")),
        ("-- list cell\nlist lun -\n\n", ("list lun",)),
        ("help\nlist cell -\n detail\n", ("help", "list cell   detail")),
    ],
    ids=ascii,
)
def test_a_remark_within_a_statement_is_a_part_of_it(body: str, statements: tuple[str, ...]) -> None:
    """What looks like a remark behind a line that goes on belongs to the statement, and is judged with it."""
    assert statements_in(body) == statements


def test_a_command_without_what_it_needs_is_unread() -> None:
    """A row that is read with an option alone is unread without it, which is named."""
    rows = [row for row in table().rows.values() if row.needs]
    assert rows
    for row in rows:
        with pytest.raises(UnreadError, match=f"read with {row.needs[0]} alone"):
            read_shell(row.name)


@pytest.mark.parametrize(("length", "shown"), [(60, 60), (61, 60)])
def test_a_long_sign_is_cut_short(length: int, shown: int) -> None:
    """A sign of more than 60 characters is shown by its beginning, one of 60 whole."""
    said = UnreadError("x" * length, "why").message.removesuffix(": why")
    assert len(said) == shown and said.endswith("...") is (length > 60)
