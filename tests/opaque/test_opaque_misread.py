"""What is told of a text that is unread, and statements of CellCLI's that are easily cut in the wrong place."""

from __future__ import annotations

import pytest

from exacell.opaque.findings import Door, UnreadError
from exacell.opaque.shell import read_shell, statements_in
from exacell.opaque.table import table

TOLD = {
    # text -> its sign, a part of the reason, and a part of the way out
    "uptime\r": ("\\r", "a carriage return (character 7)", "plain line ends"),
    "uptime \x07": ("\\x07", "no printable ASCII", "ASCII"),
    "cellcli <<EOF": ("<<EOF", "without a line EOF", "-f FILE"),
    "cellcli <<A <<B\nA\nB": ("<", "more than one source of input", "keep only one"),
    "cellcli <<A; cellcli <<B\nA\n": ("<<B", "without a line B", "end it with the line B"),
    "cellcli <<E |\nE\ncat": ("<<E", "whose line ends in |", "write what follows | on the line of <<E"),
    "uptime # \\\n": ("\\", "may go on in the next line", "leave out the backslash"),
    "cat /etc/a*'b'": ("/etc/a*b", "partly in quotes", "all of it in quotes"),
    "grep =ls /etc/hosts": ("=ls", "the path of a command", "put it in quotes: '=ls'"),
    "hostname\nuptime\n\ndf $x": ("$", "only the shell there knows (line 4, character 4)", "write the value itself"),
    "df $x": ("$", "only the shell there knows (character 4)", "write the value itself"),
    'grep "a $x" /etc/hosts': ("$", "only the shell there knows (character 9)", "write the value itself"),
    'grep "a': ('"', "not closed on its line (character 6)", "close it"),
    'grep "a\nb"': ('"', "not closed on its line (line 1, character 6)", "close it"),
    "hostname\nreboot x": ("reboot", "not in the table of commands that only read (line 2, character 1)", ""),
    "hostname\nls -Z; df": ("-Z", "not among the options of ls that exacell reads (line 2, character 4)", ""),
    "cellcli <<EOF\nlist cell\nlist $x\nEOF\n": (
        "$",
        "replaces it in a here-document (line 3, character 6)",
        "<<'EOF'",
    ),
    "cellcli <<!\nlist cell \\\n!\n": (
        "\\",
        "joins lines in a here-document (line 2, character 11)",
        "quote the mark: <<'!'",
    ),
    "cellcli <<'a`'\nlist cell\na`\n": (
        "<<",
        "whose mark shells read in different ways (line 1, character 9)",
        "<<'EOF'",
    ),
    "cellcli <<-E\nlist cell\n\tE) x\nE\n": (
        "E)",
        "some shells end the here-document there (line 3, character 1)",
        "a mark with which",
    ),
    "cellcli 2<<E\nE\n": ("2<<", "another descriptor", "a blank before <<"),
    "df\\\n-h": ("\\", "without a blank before the backslash", "put a blank before"),
    "df -h \\\n": ("\\", "where nothing follows", "leave out the backslash"),
    "df -h \\\n # x": ("\\", "where nothing follows, or a comment", "leave out the backslash"),
    "df -h \\": ("\\", "in different ways", "a blank before one that ends a line"),
    "df >/dev/null | cat": (">", "goes to /dev/null and into a pipe", "leave out >/dev/null"),
    "df 2>&1 2>/dev/null": ("2>", "two redirections of one descriptor of df", "keep only one of them"),
    "df </dev/null </dev/null": ("<", "two redirections of one descriptor of df", "keep only one of them"),
    "df >/dev/null 1>/dev/null": (">", "two redirections of one descriptor of df", "keep only one of them"),
    "cellcli -n [a -e list cell": ("[", "a test or a pattern that exacell does not follow (character 12)", "put it in"),
    "ls /etc/a[bc]": ("[", "a test or a pattern that exacell does not follow (character 10)", "put it in"),
    "cellcli -e list cell > /tmp/x": (">", "output other than to /dev/null", "> FILE"),
    "cellcli -e list cell 2>&1 > /tmp/x": (">", "output other than to /dev/null", "> FILE"),
    "grep where /etc/hosts > /tmp/x": (">", "output other than to /dev/null", "> FILE"),
    "df; ;df": (";", "an empty command", "write a command there"),
    "df |": ("|", "no command follows", "write a command there"),
    "x=1; ls": ("x=1", "an assignment to a variable", "write its value"),
    "x=/usr/bin/ls ls": ("x=/usr/bin/ls", "an assignment to a variable", "write its value"),
    "host* -f": ("host*", "not in the table", ""),
    ">/dev/null df": (">", "a redirection before a command", "after the command"),
    "</dev/null df": ("<", "a redirection before a command", "after the command"),
    "<<E cellcli\nlist cell\nE": ("<", "a redirection before a command", "after the command"),
    "df | >/dev/null cat": (">", "a redirection before a command", "after the command"),
    "df>/dev/null": (">", "output other than to /dev/null", "> FILE"),
    "cellcli": ("cellcli", "no statements for it", "-f FILE"),
    "sqlplus -s / as sysdba -e list cell": ("sqlplus", "no statements for it", "-f FILE"),
    "cellcli -e list cell where name=a* or name=b*": (
        "name=a*",
        "a pattern in a statement",
        "put the condition in quotes",
    ),
    "uptime ''": ("''", "an operand of uptime", ""),
    "uptime x": ("x", "an operand of uptime", ""),
    "ls -Z": ("-Z", "not among the options of ls", ""),
    "rpm -q -Z bash": ("-Z", "not among the options of rpm", ""),
    "sort -t*": ("-t*", "not among the options of sort", ""),
    # Of several shapes the one that fits farthest tells what is missing.
    "ipmitool sel wipe": ("wipe", "an operand of ipmitool", ""),
    "ipmitool wipe list": ("wipe", "an operand of ipmitool", ""),
    "grep x": ("grep", "no pipe leads to it", ""),
    "tr a b c": ("c", "an operand of tr", ""),
}


@pytest.mark.parametrize("text", TOLD, ids=ascii)
def test_sign_reason_and_way_out_are_told(text: str) -> None:
    """Each text is refused by the sign at fault, with what is the matter with it and the way to do it in exacell."""
    sign, why, instead = TOLD[text]
    with pytest.raises(UnreadError) as raised:
        read_shell(text)
    assert (raised.value.sign, why in raised.value.message) == (sign, True), raised.value
    assert instead in raised.value.instead and bool(instead) is bool(raised.value.instead)


def test_a_word_in_a_text_of_one_line_says_itself_where_it_stands() -> None:
    """A word that is not read has no place behind it where the text has one line."""
    with pytest.raises(UnreadError) as raised:
        read_shell("ls -Z\n")
    assert raised.value.message == "-Z: not among the options of ls that exacell reads"


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
        with pytest.raises(UnreadError, match=f"read only with {row.needs[0]}"):
            read_shell(row.name)


@pytest.mark.parametrize(("length", "shown"), [(60, 60), (61, 60)])
def test_a_long_sign_is_cut_short(length: int, shown: int) -> None:
    """A sign of more than 60 characters is shown by its beginning, one of 60 whole."""
    said = UnreadError("x" * length, "why").message.removesuffix(": why")
    assert len(said) == shown and said.endswith("...") is (length > 60)


@pytest.mark.parametrize(("where", "said"), [("", "what this does: x"), ("c[1-2]", "what this does on c[1-2]: x")])
def test_a_refusal_names_the_cells_where_there_are_some(where: str, said: str) -> None:
    """Work for cells is refused with their names, work for this machine without."""
    refusal = Door().refusal(["x"], accepted=False, where=where, undone="nothing was sent", accept="say so")
    assert refusal is not None and said in refusal.message
