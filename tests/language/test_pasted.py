"""What people paste from scripts and other shells means what it meant there."""

from __future__ import annotations

import pytest

from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.pasted import here_document, pasted, without_shell
from exacell.language.pasted_sql import sql_goes_on
from exacell.language.shorthand import understood
from exacell.language.words import needs_more, split_statements
from exacell.prompt.check import segments
from exacell.session.scripts import read_script
from tests.support.every import every


@every([
        ("cellcli <<EOF\nlist cell\nEOF", ["list cell"]),
        ("cellcli <<!\nlist cell;\nlist lun;\n!\n", ["list cell", "list lun"]),
        ("cellcli <<\\E-1\nlist cell\nE-1\n", ["list cell"]),
        ("cellcli -e <<'EOF'\nlist cell;\n\n# note\nlist griddisk -\n where size > 1g\nexit\nEOF\n",
         ["list cell", "list griddisk   where size > 1g"]),
        ("on exa1cel01 cellcli <<-X\nCellCLI> list cell\nquit;\n\tX\n", ["on exa1cel01 list cell"]),
        ("dcli -g cells -l root <<EOF\ncellcli -e list cell\nhostname\nEOF",
         ["dcli -g cells -l root 'cellcli -e list cell\nhostname'"]),
        ("dcli -g cells cellcli -n <<EOF\nlist cell\nlist flashlog\nEOF",
         ["dcli -g cells 'cellcli -n -e '\"'\"'list cell'\"'\"'; cellcli -n -e '\"'\"'list flashlog'\"'\"''"]),
        ('dcli -g cells "cellcli <<EOF\nlist cell\nEOF\n"', ["dcli -g cells 'cellcli -e '\"'\"'list cell'\"'\"''"]),
        ("[root@db01 ~]# dcli -g cells \\\n-l root hostname", ["dcli -g cells  -l root hostname"]),
        ("CellCLI> list cell", ["list cell"]),
        ("hm 3 cells RW exacell> list cell", ["list cell"]),
        ("list cell", ["list cell"]),
    ])  # fmt: skip
def test_pasted_lines_are_the_statements_that_they_were(text: str, meant: list[str]) -> None:
    """A here-document, a prompt in front or a line broken by a shell becomes the statements; EXIT does not end the session."""
    assert split_statements(pasted(text)) == meant


def test_a_here_document_goes_on_until_its_end() -> None:
    """Enter behind the first lines of a here-document begins another line; behind its end the statement is complete."""
    assert needs_more("cellcli <<EOF") and needs_more("cellcli <<EOF\nlist cell\nit's open")
    assert not needs_more("cellcli <<EOF\nit's open\nEOF")
    assert here_document("list griddisk where size << 3") is None
    with pytest.raises(StatementError, match="the lines end with EOF alone on a line"):
        pasted("cellcli <<EOF\nlist cell")


def test_several_lines_are_several_statements() -> None:
    """A paste of CellCLI lines, a here-document and SQL among them, is cut where each ends."""
    text = "list cell\ncellcli <<EOF\nlist flashlog\nEOF\nlist flashcache;\nselect name\n from v$asm_disk;\nlist lun"
    assert [each.text for each in segments(text)] == [
        "list cell",
        "cellcli <<EOF\nlist flashlog\nEOF",
        "list flashcache",
        "select name  from v$asm_disk",
        "list lun",
    ]


def test_what_a_shell_is_to_read_keeps_its_lines() -> None:
    """A command in quotes for dcli over several lines reaches the shell with its lines."""
    (found,) = segments("dcli -g cells 'date\nhostname'")
    assert found.text == "dcli -g cells 'date\nhostname'"


def test_a_script_may_hold_here_documents() -> None:
    """A file of exacell's statements takes a here-document for cellcli as its statements, each with the line it begins on."""
    found = list(read_script(["list cell\n", "cellcli <<EOF\n", "list lun\n", "exit\n", "EOF\n", "list flashlog\n"]))
    assert [(each.number, each.text) for each in found] == [(1, "list cell"), (2, "list lun"), (6, "list flashlog")]


@pytest.mark.parametrize(
    "text",
    [
        "cellcli -e list cell",
        "cellcli -e 'list cell';",
        'cellcli -n -e "list cell"',
        "CellCLI> list cell;",
        "list cell;",
    ],
)
def test_a_line_for_another_program_is_its_statement_everywhere(text: str) -> None:
    """cellcli -e, a prompt in front and ; behind are left out by whoever reads a line; places stay what they were."""
    line = parse_line(text)
    assert line is not None and line.cellcli is not None
    assert len(without_shell(text)) == len(text)
    with pytest.raises(StatementError) as wrong:
        parse_line(text.replace("list", "lst"))
    assert wrong.value.start == text.index("list")


def test_desc_is_describe() -> None:
    """desc, as SQL*Plus has it, describes a cell's object at the prompt; of a view of Oracle's it says how SQL is sent."""
    assert understood("desc griddisk;", {})[0] == "describe griddisk"
    with pytest.raises(StatementError) as wrong:
        parse_line("desc v$asm_diskgroup")
    assert wrong.value.hint == 'type: sql asm "desc v$asm_diskgroup"'


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("select name,\n  state from v$asm_diskgroup;", 'type: sql asm "select name, state from v$asm_diskgroup"'),
        ("SQL> select 1 from dual;", 'type: sql db=NAME "select 1 from dual"'),
        ("select " + ", ".join(["value"] * 60) + " from v$sysstat", None),
    ],
)
def test_advice_quotes_pasted_sql_whole(text: str, hint: str | None) -> None:
    """SQL that is pasted is answered with the statement that sends all of it, however long it is."""
    with pytest.raises(StatementError) as wrong:
        parse_line(text.replace("\n", " "))
    assert wrong.value.hint == (hint or f'type: sql db=NAME "{text}"')
    assert sql_goes_on("select name") and not sql_goes_on("select name;") and not sql_goes_on("list cell")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ssh exa1cel01 cellcli -e list cell", "on exa1cel01 list cell"),
        ('ssh root@exa1cel01 "cellcli -e list griddisk where size > 1g"', "on exa1cel01 list griddisk where size > 1g"),
        ("ssh -q -l root exa1cel02 'cellcli -e \"list cell detail\"'", "on exa1cel02 list cell detail"),
        ("ssh exa1cel01 uptime", None),
        ("for c in a b; do ssh $c cellcli -e list cell; done", None),
    ],
)
def test_a_line_for_one_cell_over_ssh_is_on_that_cell(text: str, meant: str | None) -> None:
    """``ssh CELL cellcli -e`` is the statement on that cell; another command over ssh is told how it is run."""
    if meant is not None:
        assert understood(text, {})[0] == meant
    else:
        with pytest.raises(StatementError, match="is not a statement") as caught:
            understood(text, {})
        assert "type `!` before it for your own shell" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("exacell -r t2 list cell", "leave it and its options out here"),
        ("sqlplus / as sysasm", 'type `sql asm "select …"`'),
        ("asmcmd lsdg", "type `show diskgroup`"),
        ("srvctl status database -d SPOT", "type: on @db sh srvctl status database -d SPOT"),
    ],
)
def test_other_programs_lead_on(text: str, told: str) -> None:
    """The name of a program that gets pasted is answered with the statement that does the same."""
    with pytest.raises(StatementError) as caught:
        understood(text, {})
    assert told in caught.value.hint
