"""What published pages change is applied, read back and called done, however they quote, space and spell it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from exacell.cellcli.messages import errors
from exacell.cellcli.releases import fitted
from exacell.cellcli.reply import read_xml_documents, values
from exacell.cellcli.statement import Change, parse
from exacell.change.targets.cells import judged, lists_for
from exacell.core.errors import ExacellError
from exacell.plan import facts as f
from exacell.plan.guards.choice import facts_needed, guard_plan
from tests.emulator.cells.cells_bench import AsmStub, Bench

DATA = Path(__file__).parents[1] / "data"
CELL = "exa1cel01"
PREPARED = (
    "alter flashcache all flush",
    "drop flashcache",
    "create flashcache all size=300g",
    f"create griddisk TEST_FD_00_{CELL} celldisk=FD_00_{CELL}, size=160m",
)
"""What some of them need to be there: room on flash, and a grid disk that nobody uses."""


def published() -> list[tuple[str, str]]:
    """Return release and statement of each line of the data file."""
    found = []
    for line in (DATA / "cellcli" / "changes.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            release, _, text = line[1:].partition(" ") if line.startswith("@") else ("19.3", "", line)
            found.append((release, text))
    return found


def elsewhere() -> list[tuple[str, str]]:
    """Return release and statement of what other published data of these tests sets."""
    lines = [line.partition(" => ")[0] for line in (DATA / "cellcli" / "statements.txt").read_text().splitlines()]
    for path in sorted((DATA / "captures").glob("*.txt")):
        lines += [line[2:] for line in path.read_text().splitlines() if line.startswith("$ ")]
    return [("19.3", line) for line in dict.fromkeys(lines) if _sets(line)]


def _sets(line: str) -> bool:
    try:
        statement = parse(line)
    except ExacellError:
        return False
    return isinstance(statement, Change) and bool(statement.settings) and statement.verb in ("ALTER", "CREATE")


def spellings(text: str) -> list[str]:
    """Return a statement in other spellings: upper case, more blanks, the other quotes, more quotes, none."""
    quoted = re.compile(r"'[^'\"]*'|\"[^'\"]*\"")
    swapped = text.translate(str.maketrans("'\"", "\"'"))
    spaced = re.sub(r"('[^']*'|\"[^\"]*\")|\s*([=,()])\s*", lambda m: m[1] or f"  {m[2]}  ", text)
    more = re.sub(r"=(\w+)(?=[,)\s]|$)", r"='\1'", text)
    none = quoted.sub(lambda m: m[0][1:-1] if m[0][1:-1].isalnum() else m[0], text)
    return [*dict.fromkeys((text, text.upper(), text.lower(), spaced, swapped, more, none))]


def rack(release: str) -> Bench:
    """Return a rack of that release, the smallest that there is, with its first cell prepared."""
    bench = Bench(release=release, model="x2" if release == "19.3" else "x8m", cells=2)
    bench.rack.asm = AsmStub()
    for statement in PREPARED:
        assert not errors(bench.e(statement)), statement
    return bench


def ask(bench: Bench, statements: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Return the typed records of LIST statements, as a fleet reads them."""
    release = bench.one("list cell attributes releaseVersion")
    tables: list[list[dict[str, Any]]] = []
    for statement in statements:
        asked = fitted(statement, release)
        if asked is None:
            tables.append([])
            continue
        (document,) = read_xml_documents(bench.run("-xml", "-e", asked))
        tables.append([values(record, parse(asked).object) for record in document.records])
    return tables


def applied(bench: Bench, text: str) -> str | None:
    """Send a statement as exacell sends it, and read back; return what is called wrong, None where the guards refuse it."""
    statement = parse(text)
    assert isinstance(statement, Change)
    release = bench.one("list cell attributes releaseVersion")
    asked = f.statements_for(*facts_needed(statement), release=release)
    fact = f.build(CELL, asked, ask(bench, asked))
    try:
        plan = guard_plan("t1", {CELL: fact}, statement, text=text, accepted=(CELL,), headers=None)
    except ExacellError:
        return None
    for step in plan.steps:
        if found := errors(bench.e(step.statement)):
            return f"{step.statement}: {found[0].code}"
        lists = lists_for(step.proves)
        wrong = judged(step.proves, lists, ask(bench, list(lists.values())))
        if wrong:
            return f"reading back: {'; '.join(wrong.values())}"
    return ""


@pytest.mark.parametrize(("release", "text"), published(), ids=[text for _, text in published()])
def test_a_published_change_is_done(release: str, text: str) -> None:
    """What a page says is applied as it stands there, and what is read back means the same."""
    assert not errors(rack(release).e(text))
    assert applied(rack(release), text) == ""


@pytest.mark.parametrize(("release", "text"), [*published(), *elsewhere()], ids=lambda value: str(value))
def test_other_spellings_of_it_are_done_as_well(release: str, text: str) -> None:
    """Whatever spelling of it a cell takes is applied by exacell, and is not called failed then."""
    untouched = rack(release)
    for spelling in spellings(text):
        if not _sets(spelling) or errors(untouched.e(spelling)):
            continue  # What is refused changes nothing: the next spelling finds the rack as it was.
        assert applied(rack(release), spelling) in ("", None), spelling
        untouched = rack(release)
