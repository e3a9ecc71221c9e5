"""What carried text would do: changes of CellCLI's, what is not read, and what of that still looks like a change."""

from __future__ import annotations

import pytest

from exacell.cellcli.nodes import Verb
from exacell.opaque.scan import command_findings, script_findings

CHANGES: dict[str, list[str]] = {
    "cellcli -e drop flashcache": ["drop flashcache"],
    "cellcli -e 'list cell; drop flashcache; list lun'": ["drop flashcache"],
    "cellcli -e drop flashcache; cellcli -e create flashcache all": ["drop flashcache", "create flashcache all"],
    "cellcli -m -e drop flashcache": ["drop flashcache"],
    "cellcli -e alter flashcache all flush | cat": ["alter flashcache all flush"],
    "cellcli <<EOF\nalter griddisk -\n all inactive\nEOF": ["alter griddisk   all inactive"],
    "cellcli <<EOF\nrem x; drop flashcache\nEOF": ["drop flashcache"],
    "cellcli <<EOF\n-- x; drop flashcache\nEOF": ["drop flashcache"],
    "cellcli <<EOF\n-- x -\ndrop flashcache\nEOF": ["drop flashcache"],
    "cellcli <<EOF\nexit\ndrop flashcache\nEOF": ["drop flashcache"],
    "cellcli -e grant role x to user y": ["grant role x to user y"],
    "CELLCLI=1; cellcli -e drop flashcache": ["drop flashcache"],
}
"""A text → the changes that are found in it."""


@pytest.mark.parametrize("text", CHANGES, ids=ascii)
def test_changes_come_out_as_statements(text: str) -> None:
    """Each change that CellCLI would make comes out as a statement, in order, and the text is not harmless."""
    found = command_findings(text)
    assert [change.text for change in found.changes] == CHANGES[text]
    assert all(isinstance(change.statement.verb, Verb) for change in found.changes)
    assert not found.harmless


READS = [
    "cellcli -e list cell",
    "cellcli -e 'LIST CELL; Describe griddisk; help alter flashcache; set dateformat local; rem x; exit'",
    "cellcli -e quit",
    "cellcli -e rem drop flashcache",
    "cellcli <<EOF\nset echo on\nlist cell detail;\nremark x\nREM\nquit\nEOF",
    "cellcli -e \"list griddisk where name like 'DATA.*' and size > 1G\"",
    "cellcli -e \"list metriccurrent where objecttype = 'FLASHCACHE'\"",
]


@pytest.mark.parametrize("text", READS, ids=ascii)
def test_cellclis_reads_are_reads(text: str) -> None:
    """LIST, DESCRIBE, HELP, REM, SET, EXIT and QUIT are read and change nothing."""
    assert command_findings(text).harmless


UNREAD: dict[str, str] = {
    "cellcli -e spool x": "spool",
    "cellcli -e spool off": "spool",
    "cellcli -e start x": "start",
    "cellcli -e @x": "@x",
    "cellcli -e 'list cell; sta x'": "sta",
    "cellcli -e list nothing": "list",
    "cellcli -e 'list cell where name = \"a;b\"'": "list",
    "cellcli <<EOF\n# x\nEOF": "#",
    "cellcli <<EOF\nlist cell -\nspool x\nEOF": "spool",
    "cellcli <<EOF\nlist cell x-\nEOF": "-",
    "cellcli <<EOF\nhelp -\nEOF": "-",
    "frobnicate": "frobnicate",
    "uptime; for i in 1; do ls; done": "for",
    "uptime\r": "\\r",
    "": "''",
    "   ": "''",
    "# x": "# x",
}
"""A text → the sign that is named first."""


@pytest.mark.parametrize("text", UNREAD, ids=ascii)
def test_the_first_unread_sign_is_named_first(text: str) -> None:
    """What is not read is named by its first word or sign."""
    found = command_findings(text)
    assert found.unread[0].startswith(f"{UNREAD[text]}: ")


@pytest.mark.parametrize("word", ["spool", "SPOOL", "Spo", "spoo"])
@pytest.mark.parametrize("rest", ["/tmp/x", "x append", "x rep", "off", ""])
@pytest.mark.parametrize(
    "shape", ["cellcli <<!\nlist cell\n  {}\nlist lun\n!", "cellcli <<'E'\nlist cell; {};\nE", "cellcli -e '{}'"]
)
def test_spool_is_a_file_on_the_cell(word: str, rest: str, shape: str) -> None:
    """SPOOL in a text for CellCLI, however it is spelt and wherever it stands, is told as a file that CellCLI writes there."""
    found = command_findings(shape.format(f"{word} {rest}".strip()))
    assert found.unread[0] == f"{word}: with it CellCLI writes a file on the cell, or replaces one"
    assert not found.harmless and not found.changes


@pytest.mark.parametrize("statement", ["start /tmp/x", "STA x", "@x", "@ /tmp/x.scl"])
def test_start_is_a_file_on_the_cell(statement: str) -> None:
    """What CellCLI runs from a file of the cell is told as that."""
    found = command_findings(f"cellcli <<!\n{statement}\n!")
    assert "with it CellCLI runs a file on the cell" in found.unread[0]


def test_a_read_statement_beside_an_unread_one_is_still_a_change() -> None:
    """In one cellcli, what is read comes out as a change though something else there is unread."""
    found = command_findings("cellcli -e 'drop flashcache; spool x'")
    assert [change.text for change in found.changes] == ["drop flashcache"]
    assert len(found.unread) == 1


def test_the_first_way_out_is_told() -> None:
    """Of several statements that are not read, the way out of the first that has one is told."""
    assert (
        command_findings("cellcli -e 'spool x; list cells; list griddik'").instead == "did you mean cell or celldisk?"
    )


SUSPECT = [
    "echo alter flashcache all flush | cellcli",
    "for c in 1 2; do cellcli -e alter flashcache all flush; done",
    "ssh cel01 'cellcli -e alter flashcache all flush'",
    "x='alter flashcache all flush'; cellcli -e $x",
    "printf 'list cell\\nalter flashcache all flush\\n' | cellcli",
    "bash -c \"cellcli -e 'ALTER FLASHCACHE ALL FLUSH'\"",
    "cat <<EOF | cellcli\nalter flashcache all flush\nEOF",
]


@pytest.mark.parametrize("text", SUSPECT, ids=ascii)
def test_what_looks_like_a_change_in_unread_text_is_judged(text: str) -> None:
    """A change in text that is not read is found all the same, so that its guard refuses it whatever was accepted."""
    found = command_findings(text)
    assert found.unread
    assert [change.text.lower() for change in found.changes] == ["alter flashcache all flush"]


def test_losses_in_unread_text_are_found() -> None:
    """A disk group that is dropped in text that is not read is named with what happens to it."""
    found = command_findings('su - grid -c "asmcmd dropdg -r DATA"')
    assert list(found.losses) == ["DATA"]
    assert command_findings("# drop diskgroup DATA\nuptime").losses == {}


def test_remarks_in_unread_text_are_no_changes() -> None:
    """A line that is a comment is not taken for a change where the rest is not read."""
    found = command_findings("frobnicate\n# drop flashcache\n-- drop flashcache\nrem drop flashcache")
    assert found.changes == []


SCRIPTS: dict[tuple[bytes, str], str] = {
    (b"#!/bin/sh\nuptime\n", "x.sh"): "",
    (b"#!/bin/bash\nuptime; df -h\n", "x"): "",
    (b"uptime\n", "x.sh"): "",
    (b"# x\nuptime\n", "x.sh"): "",
    (b"#!/usr/bin/perl\nunlink 1;\n", "x.pl"): "#!/usr/bin/perl: ",
    (b"#!/bin/sh\r\nuptime\r\n", "x.sh"): "\\r: ",
    (b"\x7fELF\x00\x01", "x"): "\\x7f: ",
    (b"#!/bin/sh\ncat /etc/h\xc3\xa4\n", "x.sh"): "\\xc3: ",
    (b"", "x.sh"): "'': ",
    (b"list cell\nlist lun detail\n", "x.scl"): "",
    (b"list cell -\n  detail", "x.scl"): "",
    (b"", "x.scl"): "",
    (b"list cell\nspool x\n", "x.scl"): "spool: ",
    (b"# list cell\n", "x.scl"): "#: ",
    (b"list cell\r\n", "x.scl"): "\\r: ",
    (b"list cell -\n", "x.scl"): "-: ",
    (b"#!/bin/sh\nuptime\n", "x.scl"): "#!/bin/sh: ",
    (b"uptime\n", "x.scl"): "uptime: ",
}
"""A file's bytes and name → how what is unread begins; empty where it only reads."""


@pytest.mark.parametrize("data, name", SCRIPTS, ids=ascii)
def test_scripts_are_read_by_their_name_and_first_line(data: bytes, name: str) -> None:
    """A .scl file is CellCLI's, any other a shell's, for which its first line may say so."""
    found = script_findings(data, name)
    expected = SCRIPTS[data, name]
    assert (found.unread[0] if found.unread else "").startswith(expected)
    assert found.harmless is not bool(expected)


def test_changes_in_scripts_are_found() -> None:
    """Changes come out of both kinds of scripts, and out of what is no script, too."""
    for data, name in (
        (b"drop flashcache\n", "x.scl"),
        (b"#!/bin/sh\ncellcli -e drop flashcache\n", "x.sh"),
        (b"\x7fELF\x00 x\ncellcli -e drop flashcache\n", "x"),
    ):
        assert [change.text for change in script_findings(data, name).changes] == ["drop flashcache"]
