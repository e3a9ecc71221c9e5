"""docs/emulator.md says what the emulator does."""

from __future__ import annotations

import re
from pathlib import Path

from exacell.emulator.basics.messages import Code, Evidence
from exacell.emulator.basics.profiles import models, releases
from exacell.emulator.basics.schema import object_types
from exacell.emulator.state.fault_book import Kind
from exacell.emulator.statements.listing import LISTED
from exacell.emulator.statements.metric_listing import OBJECT_TYPES
from exacell.language.line import parse_line

MANUAL = Path(__file__).parents[3] / "docs" / "emulator.md"


def tables() -> list[list[list[str]]]:
    """Return the tables of the manual as rows of cells, with their heads."""
    found: list[list[list[str]]] = [[]]
    for line in MANUAL.read_text(encoding="utf-8").splitlines():
        if line.startswith("|--"):
            continue
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return found


def table(head: str) -> list[list[str]]:
    """Return the rows of the table whose head begins with ``head``."""
    return next(rows[1:] for rows in tables() if rows and rows[0][0] == head)


def test_every_code_is_listed_with_its_evidence() -> None:
    """The table of codes has each code of the emulator once, and says of each how well it is known."""
    words = {"published": Evidence.CAPTURED, "code": Evidence.FAMILY, "emulated": Evidence.EMULATED}
    listed = {
        int(number): words[evidence.split()[0].rstrip(":")]
        for codes, _, evidence in table("code")
        for number in re.findall(r"[0-9]{5}", codes)
    }
    assert listed == {code.value.code: code.value.evidence for code in Code}


def test_the_table_of_models_and_releases_is_the_programs() -> None:
    """The models, the releases, which go together, and each model's default are those of the data files."""
    head = next(rows[0] for rows in tables() if rows and rows[0][0] == "model")
    assert head[4:] == list(releases())
    listed = {
        row[0]: {name: word for name, word in zip(head[4:], row[4:], strict=True) if word != "-"}
        for row in table("model")
    }
    assert listed == {
        name: {
            release.name: "default" if release.name == model.default_release else "yes"
            for release in releases().values()
            if name in release.models
        }
        for name, model in models().items()
    }


def test_every_kind_of_fault_is_explained() -> None:
    """The table of faults has each kind once."""
    assert sorted(row[0].strip("`") for row in table("kind")) == sorted(Kind)


def test_every_object_type_can_be_listed() -> None:
    """What the manual says holds: LIST answers for every object type that CellCLI can list."""
    assert "Every object type can be listed and described." in MANUAL.read_text(encoding="utf-8")
    listable = {name for name, kind in object_types().items() if "LIST" in kind.verbs}
    assert listable == set(LISTED) | OBJECT_TYPES


def test_the_statements_in_it_are_statements() -> None:
    """Each exacell statement in the manual is one of the language."""
    lines = [line.split(" #")[0].strip() for line in MANUAL.read_text(encoding="utf-8").splitlines()]
    statements = [line.removeprefix("exacell ") for line in lines if line.startswith("exacell emulator")]
    assert len(statements) > 6
    for statement in statements:
        assert parse_line(statement.split(" >")[0]) is not None
