"""The command line that is sent, and what a release does not know."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.framing import command
from exacell.cellcli.releases import fitted, missing
from exacell.cellcli.statement import parse
from exacell.core.errors import StatementError
from tests.support.every import every


def test_a_statement_is_one_argument() -> None:
    """Blanks, quotes and comparison signs of a statement survive the cell's shell."""
    text = "LIST METRICCURRENT WHERE name LIKE 'FC_.*' AND metricValue > 3;"
    assert shlex.split(command([text])) == ["cellcli", "-e", text[:-1]]


def test_several_statements_go_in_one_start() -> None:
    """A batch is one -e with ; between the statements."""
    assert command(["LIST CELL;", "LIST LUN"]) == "cellcli -e 'LIST CELL; LIST LUN'"


@pytest.mark.parametrize(
    ("release", "option"),
    [(None, "-xml"), ("19.3.2.0.0", "-xml"), ("23.1.9", "-xml"), ("24.1.0.0.0", "--xml"), ("25.1", "--xml")],
)
def test_xml_is_asked_for_as_the_release_spells_it(release: str | None, option: str) -> None:
    """-xml up to 23.x and where the release is not known, --xml from 24.1 on; -m comes first."""
    expected = f"cellcli -m -n -x {option} -e 'LIST CELL'"
    assert command(["LIST CELL"], xml=True, release=release, monitor=True) == expected


@pytest.mark.parametrize("statements", [[], [" ; "], ["LIST CELL\nDETAIL"], ["LIST CELL; DROP CELL"], ["A 'x;y'", "B"]])
def test_what_could_become_another_statement_is_refused(statements: list[str]) -> None:
    """No line end and no ; reaches a cell where it could end a statement early."""
    with pytest.raises(StatementError):
        command(statements)


@given(st.text(alphabet="aB '\"$`\\!*?(){}<>|&#~%=", min_size=1).filter(str.strip))
def test_no_character_means_anything_to_the_shell(text: str) -> None:
    """Whatever a value holds, the shell hands it on unchanged."""
    assert shlex.split(command([f"x{text}"])) == ["cellcli", "-e", f"x{text}".strip()]


@every(
    [
        ("list flashcache", "11.2.2.3", []),
        ("list flashlog", "11.2.2.3", ["FLASHLOG exists from release 11.2.2.4 on; the cell runs 11.2.2.3"]),
        ("list pmemcache", "23.1.0", []),
        ("list griddisk attributes name,sizeAllocated", "19.3", ["GRIDDISK sizeAllocated exists from release 22.1"]),
        ("list griddisk order by name limit 3", "11.2.3.3.1", ["ORDER BY exists", "LIMIT exists"]),
        ("alter flashcache all flush", "11.2.3.1", ["ALTER FLASHCACHE FLUSH exists from"]),
        ("alter iormplan inactive", "12.1.2.1", ["ALTER IORMPLAN INACTIVE does not exist any more from"]),
        ("alter iormplan catplan=''", "25.1.2", ["IORMPLAN catPlan does not exist any more from release 25.1"]),
        ("create griddisk all capacityoptimized flashdisk prefix=p", "23.1", ["CAPACITYOPTIMIZED FLASHDISK exists"]),
        ("create griddisk all flashdisk prefix=p", "11.2.3.1", []),
        ("alter cell disable services egs", "24.1", ["ALTER CELL DISABLE SERVICES exists from release 25.1"]),
        ("list celldisk where flushstatus=null", "11.2.3.1", ["CELLDISK flushStatus exists from release 11.2.3.2.0"]),
        ("calibrate force", "11.2.3.1", []),
    ]
)
def test_what_a_release_does_not_know_is_named(text: str, release: str, expected: list[str]) -> None:
    """Objects, attributes, clauses and actions of other releases are named with the release that matters."""
    found = missing(parse(text), release)
    assert len(found) == len(expected)
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    "text, release, expected",
    [
        ("list cell attributes name, flashCacheMode", "11.2.2.4", "list cell attributes name"),
        ("list cell attributes name, flashCacheMode", "19.3", "list cell attributes name, flashCacheMode"),
        ("list database attributes name", "11.2.2.4", None),
        ("list iormplan attributes catPlan, dbPlan", "25.1.2", "list iormplan attributes dbPlan"),
        ("list flashcache", "11.2.2.4", "list flashcache"),
        ("list griddisk where cachingPolicy=none", "11.2.2.4", "list griddisk where cachingPolicy=none"),
    ],
)
def test_a_reading_is_fitted_to_its_release(text: str, release: str, expected: str | None) -> None:
    """Only attributes and objects that the release has are asked for; a condition is never left out."""
    found = fitted(text, release)
    assert (found and parse(found)) == (expected and parse(expected))
