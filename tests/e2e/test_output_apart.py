"""Folding is for people: what a program reads has each cell's own rows, with every name written out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.cellcli.rows import Rows
from exacell.core.errors import StatementError
from exacell.core.formats import FOLDING
from exacell.output.folding import MOST_FOLDED, each_cell_apart, too_many_to_fold, wants_folding
from exacell.output.render import lines
from exacell.output.result import Column, Result
from tests.support.program import Done, InProcess, Program

FOLDED = re.compile(r"\w\[[\d,-]+\]|\{cell\}", re.IGNORECASE)
"""What stands for several cells, or for a cell's own name."""

STATEMENTS = (
    "list griddisk",
    "list griddisk detail",
    "list metriccurrent CD_IO_LOAD",
    "describe flashcache",
    "show health",
    "show griddisk",
    "show iorm",
    "show services",
    "sh id -un",
    "drift",
    "--diff list alerthistory attributes name,alertMessage,severity",
    "-n resize griddisk prefix=DATA size=300g",
    "-y on exa1cel01,exa1cel02 alter griddisk all comment=x",
    "journal show",
    "journal show 1",
    "racks",
    "emulator status",
    "rehearse alter griddisk DATA_CD_00_{cell} comment=y",
    "run health",
)


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program and its rack a: the second cell has an alert, the journal a change 1."""
    program = InProcess(tmp_path_factory.mktemp("apart") / "home")
    program.ok("emulator", "start", "a")
    program.ok("emulator", "fault", "a", "exa1cel02", "quarantine")
    program.ok("-r", "a", "-y", "alter griddisk all comment=seen")
    recipes = program.home / "recipes"
    recipes.mkdir()
    (recipes / "health.exa").write_text('recipe "Health and disks"\nlist griddisk\nlist celldisk\n')
    yield program
    program.ok("emulator", "stop", "a")


def said(rack: Program, statement: str, *options: str) -> Done:
    words = statement.split()
    given = [*options, *(word for word in words if word in ("-n", "-y", "--diff"))]
    return rack("-r", "a", *given, *(word for word in words if word not in given))


@pytest.mark.parametrize("form", ["table", "json", "csv"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_that_a_program_reads_is_folded(rack: Program, statement: str, form: str) -> None:
    """Off a terminal no set of cells and no {cell} is on standard output, whatever the statement and the format."""
    done = said(rack, statement, "-o", form)
    own = statement.partition("rehearse ")[2]
    assert done.code in (0, 1, 3, 5), done.err
    assert FOLDED.findall(done.out.replace(own, "") if own else done.out) == []


def test_a_program_counts_what_one_cell_has(rack: Program) -> None:
    """Each grid disk of a cell has a row of its own, the cell first: grep and wc -l count them."""
    found = said(rack, "list griddisk").out
    rows = [line.split() for line in found.splitlines()[2:]]
    for cell in ("exa1cel01", "exa1cel02", "exa1cel03"):
        own = [row for row in rows if row[0] == cell]
        assert len(own) == len([row for row in rows if cell in " ".join(row)]) == 24
        assert all(row[1].endswith(f"_{cell}") for row in own)


def test_detail_begins_each_line_with_its_cell(rack: Program) -> None:
    """DETAIL of several cells leaves nothing out and tells the cell in each line, as dcli does; that of one is the cell's own."""
    found = said(rack, "list cell detail").out.splitlines()
    assert {line.partition(":")[0] for line in found} == {"exa1cel01", "exa1cel02", "exa1cel03"}
    assert len([line for line in found if ":   id:" in line]) == 3
    assert said(rack, "on exa1cel01 list cell detail").out.startswith("  name:")


def test_pipes_and_files_behind_a_statement_hold_each_cell(rack: Program, tmp_path: Path) -> None:
    """| command, > file and SPOOL get each cell's rows, also where the statement is typed at a terminal."""
    program, target, spooled = Program(rack.home), tmp_path / "f", tmp_path / "s"
    with program.at_terminal("-r", "a", columns=120).ready() as prompt:
        assert "exa1cel[01-03]" in prompt.enter("show griddisk")
        assert "exa1cel[" not in prompt.enter("show griddisk | cat")
        prompt.enter(f"show griddisk > {target}")
        prompt.enter(f"spool {spooled}")
        assert "exa1cel[01-03]" in prompt.enter("show griddisk")
        prompt.enter("spool off")
        assert "exa1cel[01-03]" in prompt.enter("show griddisk --fold | cat")
        assert "exa1cel[" not in prompt.enter("show griddisk --no-fold")
        prompt.enter("set fold off")
        assert "exa1cel[" not in prompt.enter("show griddisk")
        assert "exa1cel[01-03]" in prompt.enter("show griddisk --fold")
        prompt.enter("set fold on")
        assert "exa1cel[01-03]" in prompt.enter("show griddisk | cat")
    assert target.read_text() == spooled.read_text()
    assert len(target.read_text().splitlines()) == 2 + 6


def test_the_setting_and_the_flags_choose() -> None:
    """A flag wins over the setting; auto leaves it to where the answer goes; both flags together are refused."""
    assert [wants_folding({}, setting) for setting in FOLDING] == [None, True, False]
    for setting in FOLDING:
        assert wants_folding({"fold": True}, setting) is True
        assert wants_folding({"no-fold": True}, setting) is False
    with pytest.raises(StatementError, match="--fold and --no-fold exclude each other"):
        wants_folding({"fold": True, "no-fold": True}, "auto")


def test_both_flags_send_nothing(rack: Program) -> None:
    """--fold with --no-fold is refused before a cell is asked."""
    done = said(rack, "list griddisk", "--fold", "--no-fold")
    assert done.code == 2 and "exclude each other" in done.err and not done.out


def test_a_statements_flag_wins_over_the_one_before_all_statements(rack: Program) -> None:
    """--fold before several statements holds for all of them but the one that says --no-fold itself."""
    done = rack("-r", "a", "--fold", "-e", "show iorm; show iorm --no-fold")
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines() if "SPOT" in line] == [
        "exa1cel[01-03]",
        "exa1cel01",
        "exa1cel02",
        "exa1cel03",
    ]


def test_thousands_of_rows_are_not_folded_and_that_is_said() -> None:
    """At 100,000 rows equal cells share rows still, one row more and none does."""
    names = [f"n{number}" for number in range(MOST_FOLDED // 2)]
    result = Result(records=Rows(["name"], [("c1", (names,)), ("c2", (names,))]), columns=[Column("name")], fold=True)
    assert too_many_to_fold(result) == ""
    assert next(line for line in lines(result, "table") if "n0" in line).split() == ["c[1-2]", "n0"]
    more = Result(records=Rows(["name"], [("c1", (names,)), ("c2", ([*names, "x"],))]), fold=True)
    assert (
        too_many_to_fold(more)
        == "100,001 rows: answers with more than 100,000 rows are not folded, each cell has its own rows"
    )
    assert [line.split() for line in lines(each_cell_apart(more), "table") if line.endswith(" n0")] == [
        ["c1", "n0"],
        ["c2", "n0"],
    ]
