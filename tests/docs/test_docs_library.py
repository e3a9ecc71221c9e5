"""docs/library.md and the help of a recipe: what a shipped recipe does, what it follows, where it was run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exacell.commands.pages.found import told_of
from exacell.core.paths import Home
from exacell.language.line import parse_line
from exacell.recipes.files import load_recipe, shipped
from exacell.recipes.filled import values_of
from tests.e2e.recipes_on_racks import CASES, ELSEWHERE, RACKS
from tests.support.program import InProcess

RELEASES = {rack: next(word.partition("=")[2] for word in words if "release=" in word) for rack, words in RACKS.items()}
OTHERWISE = {"orion_row": "in its place", "slob_compare": "published files"}


def home_in(program: InProcess) -> Home:
    """The folders of the program."""
    return Home(config_dir=program.home, state_dir=program.home, cache_dir=program.home)


@pytest.fixture
def program(tmp_path: Path) -> InProcess:
    """The program in a home of its own, without a rack."""
    return InProcess(tmp_path / "home")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_recipe_has_its_section(name: str) -> None:
    """It says in these words what is done, what it follows and what stays."""
    section = told_of("library", name)
    assert [word in section for word in ("* Does: ", "* Stays: ", "* Run on: ")] == [True] * 3, section
    assert "* Published: " in section or "* Follows: " in section


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_example_of_a_section_could_be_typed(program: InProcess, name: str) -> None:
    """It is a statement that runs this recipe, with every parameter that has to be given, and each value is of its kind."""
    (example,) = re.findall(r"^\* Typed: `(run .*)`$", told_of("library", name), re.MULTILINE)
    line = parse_line(example)
    assert line is not None and line.call is not None and line.call.text_arg("name") == name
    recipe = load_recipe(home_in(program), name)
    assert [*values_of(recipe, line.call.extra)] == [param.name for param in recipe.params]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_section_names_where_the_tests_run_it(name: str) -> None:
    """The releases are those of the racks on which it is tried; what is tried elsewhere says so."""
    said = re.search(r"\* Run on: (.*?)\.\n", told_of("library", name) + "\n", re.DOTALL)
    assert said is not None
    run_by = {"calibrate_cell": "calibrate_cells"}.get(name, name)
    racks = {rack for case in CASES if case.name == run_by for rack in case.racks}
    if name in ELSEWHERE:
        assert OTHERWISE.get(name, "two Linux guests") in said[1]
    else:
        assert said[1] == f"emulated racks of {', '.join(RELEASES[rack] for rack in RACKS if rack in racks)}"


def test_there_is_no_section_without_a_recipe() -> None:
    """What is no longer shipped has left the page."""
    page = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^### (.*)$", page, re.MULTILINE)) == sorted(shipped())


@pytest.mark.parametrize("name", sorted(shipped()))
def test_help_of_a_recipe_is_its_section_beside_its_parameters(program: InProcess, name: str) -> None:
    """One page: how it is run, each parameter, what its section says, an example; hardly more than a screen."""
    lines = program.ok("help", "run", name).out.splitlines()
    recipe = load_recipe(home_in(program), name)
    assert lines[0].startswith(f"run {name}") and lines[-1].startswith(f"Example: run {name}")
    assert [param.name for param in recipe.params if not any(line.split()[:1] == [param.name] for line in lines)] == []
    assert any(line.startswith("* Does: ") for line in lines)
    assert len(lines) <= 26 and max(map(len, lines[:-1])) <= 79


def test_help_of_one_s_own_recipe_is_the_comment_at_its_head(program: InProcess) -> None:
    """The same page for what nobody ships; a name that statements have is theirs, and behind run it is the recipe's."""
    folder = program.home / "recipes"
    folder.mkdir(parents=True)
    (folder / "mine.exa").write_text(
        '# Before each\n# month.\nrecipe "Look"\nparam n : int "how often"\n\nshow flashcache\n'
    )
    told = program.ok("help", "mine").out
    assert told.splitlines() == [
        "run mine n=<int>",
        "",
        "Look.",
        "  n  how often",
        "",
        "Before each month.",
        "Text: show recipe mine",
        "Example: run mine n=<int> -n",
    ]
    assert program.ok("help", "recipe", "mine").out == told
    assert "Example: run health" not in program.ok("help", "health").out
    assert "Example: run health" in program.ok("help", "run", "health").out


def things() -> list[tuple[str, str]]:
    """Return the rows of the tables of published things: what it is, and what is typed or why nothing is."""
    page = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
    section = page.partition("## The posts, thing by thing\n")[2].partition("\n## ")[0]
    return [
        (row[0], row[1]) for row in re.findall(r"^\| (.*?) \| (.*) \|$", section, re.MULTILINE) if row[0] != "thing"
    ]


def test_the_published_things_are_85() -> None:
    """Each has a statement, or says that it is not here and why."""
    found = things()
    assert len(found) == 85
    assert [thing for thing, typed in found if not re.fullmatch(r"`[^`]+`|not here: .{20,}", typed)] == []


def test_what_is_typed_for_a_published_thing_could_be_typed(program: InProcess) -> None:
    """Each is a statement that is read; a recipe is there and takes the words that are given, a file of examples/ is there."""
    wrong = []
    root = Path(__file__).parents[2]
    for thing, typed in things():
        if not typed.startswith("`"):
            continue
        line = parse_line(typed.strip("`"))
        if line is None or (line.call is None and line.cellcli is None):
            wrong.append(thing)
        elif line.call is not None and line.call.command.name == "run":
            name = line.call.text_arg("name")
            recipe = load_recipe(home_in(program), str(root / name) if "/" in name else name)
            values_of(recipe, line.call.extra)
        wrong += [thing for path in re.findall(r"examples/\S+", typed) if not (root / path.strip("`")).exists()]
    assert wrong == []
