"""What is said of a statement that was nearly right: the way out, in the same line."""

from __future__ import annotations

import pytest

from exacell.cellcli.schema import objects_of
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.output.faults import sentence
from tests.support.every import every


@every([
        ("flush flashcache --help -y", "--help is not a flag of a statement; `help <statement>` explains a statement"),
        ("list cell -c exa1cel01",
         "not a flag of a statement; here, type `on exa1cel01 <statement>`; in a shell, `exacell -c … <statement>`"),
        ("list cell -c", "here, type `on <cells> <statement>`"),
        ("list cell -g cells", "-g is an option of exacell's command line, not a flag of a statement; exacell -g … <statement>"),
        ("!rsync --dry-run a b", "--dry-run comes after the command"),
        ("use exa1cel01 --formt=csv", "'--formt=csv' is not a flag of this statement: did you mean --format?"),
        ("flush flashcache exa1cel01", "; for some cells only: on exa1cel01 flush flashcache …"),
        ("flush flashcache exa1cel[01-03]", "; for some cells only: on exa1cel[01-03] flush flashcache …"),
        ("show flashcache @failed", "; for some cells only: on @failed show flashcache …"),
        ("resize flashcache siz=288g", "'siz' is not a parameter of resize flashcache: did you mean size?"),
        ("carve griddisk availableto=x prefx=y", "did you mean prefix?"),
        ("flush flashcache colour=red", "'colour' is not a parameter of flush flashcache: it takes recreate"),
        ("what changed", "'what' is not a statement; type `journal` (what changed?); `help changed` finds more"),
        ("metrics fl_disk_first", "metrics has no 'fl_disk_first'; type `show metric "
                                  "FL_DISK_FIRST`; `help metric"),
        ("FL_DISK_FIRST", "type `show metric FL_DISK_FIRST`"),
        ("status", "type `show health` (is the rack well?)"),
        ("griddisks", "type `list griddisk`; `help griddisk` shows its other statements"),
        ("FlashCache", "type `list flashcache`"),
        ("take down exa1cel02", "type `can offline exa1cel02` (may I take this cell down?)"),
        ("is flash logging worth it?", "type `run flashlog_ab db=<db> -n`"),
        ("reset the cache", "reset has no 'the'; type `run reset_cold -n`"),
        ("show status", "type `show health`"),
        ("show AlertHistory", "show has no 'AlertHistory'; type `list alerthistory`; `help alerthistory` shows"),
        ("show celldisk FD_00 attributes name, size", "type `list celldisk FD_00 attributes name, size`; `help celldisk` shows"),
        ("show griddisk where size > 1g", "type `list griddisk where size > 1g`; `help griddisk` shows"),
        ("show iormplan detail", "type `list iormplan detail`; `help iormplan` shows"),
        ("show diskgroup DATA detail", "leave it out; `show diskgroup … -o yaml` writes each value on its own line"),
        ("./mine.exa", "'./mine.exa' is not a statement; `run ./mine.exa` runs this recipe, `plan run ./mine.exa` shows"),
        ("mine.EXA", "`run mine.EXA` runs this recipe"),
        ("check cell.rsStatus = running", "; all cell.rsStatus = running, or no cell where …"),
        ("check sell.rsStatus = running", "'sell.rsStatus' can't begin a check; begin with all, no or same; such as: all"),
        ("flsh flashcache", "did you mean flush"),
        ("lst cell", "did you mean list"),
        ("why CELL-02559", "type `help CELL-02559`"),
        ("why did it fail", "type `journal show` (why did a change end like that?)"),
        ("set formt json", "did you mean format"),
        ("set timeut 5", "did you mean timeout"),
        ("watch show flashcache", "for example 90s or 1h30m; for example: watch 5 show flashcache"),
        ("undo abc", "'abc' is not a whole number; for example: undo 12 -y"),
        ("undo " + "9" * 5000, "'999999999999999999…' is too large a number; for example: undo 12 -y"),
    ])  # fmt: skip
def test_the_way_out_is_in_the_line(text: str, told: str) -> None:
    """A flag, an option, a cell or a word in the wrong place is answered with how it is said."""
    with pytest.raises(StatementError) as error:
        parse_line(text)
    assert told in sentence(error.value)


def test_show_leads_to_list_for_every_noun_of_cellcli() -> None:
    """show NOUN is a statement, or is answered with LIST and the same words."""
    for name in (found.name.lower() for found in objects_of("LIST")):
        try:
            parse_line(f"show {name} detail")
        except StatementError as error:
            assert f"type `list {name} detail" in sentence(error) or "leave it out" in sentence(error), name


@pytest.mark.parametrize("text", ["flush flashcache nonsense", "flush flashcache everything"])
def test_a_word_that_is_no_cell_is_not_taken_for_one(text: str) -> None:
    """Only names that end in a number, and groups, are answered with ON."""
    with pytest.raises(StatementError) as error:
        parse_line(text)
    assert "for some cells only" not in sentence(error.value)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("flush flashcache --help", "flush flashcache"),
        ("on exa1cel01 resize flashcache size=1g -h", "resize flashcache"),
        ("emulator --help", "emulator"),
        ("list griddisk where size > 1G --help", "list griddisk"),
        ("drop flashcache all --help;", "drop flashcache"),
        ("emulator fault t1 list --help | cat", "emulator fault"),
        ("watch 5 show flashcache --help", "watch"),
        ("nonsense --help", "nonsense"),
    ],
)
def test_help_behind_a_statement_is_help_for_it(text: str, topic: str) -> None:
    """--help and -h as the last word show the page of the statement's verb and object, and nothing is carried out."""
    line = parse_line(text)
    assert line is not None and line.call is not None and line.cellcli is None and not line.on
    assert (line.call.command.name, line.call.text_arg("topic")) == ("help", topic)


@pytest.mark.parametrize("text", ["!ls --help", "dcli -g cells ls --help", "sh df --help", "host df -h"])
def test_another_program_keeps_its_help(text: str) -> None:
    """What all words belong to is not taken for a statement that asks for help."""
    line = parse_line(text)
    assert line is not None and (line.call is None or line.call.command.name != "help")
