"""docs/recipes.md: its tables are the registry's, its examples are recipes that run, help shows its sections by their words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.cellcli.schema import find_object
from exacell.commands.help import page
from exacell.commands.pages.found import named_pages, told_of_recipes
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.recipewords import RECIPE_WORDS
from exacell.language.registry import commands
from exacell.recipes.checker import problems_of
from exacell.recipes.layout import laid_out
from exacell.recipes.needs import KNOWN, Need
from exacell.recipes.parsing import read_draft
from exacell.recipes.values import KINDS
from tests.support.program import Program

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
TEXT = PAGE.read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    """Return the blocks of the page in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def table(first: str) -> list[tuple[str, ...]]:
    """Return the rows of the page's table whose first title that is, without code marks."""
    found = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert found is not None
    rows = [re.split(r"(?<!\\)\|", line.strip("|\n"))[:3] for line in found[1].splitlines()]
    return [tuple(cell.strip().strip("`").replace("\\|", "|") for cell in row) for row in rows]


def titled(text: str) -> str:
    """Return the title of an example, or its first statement."""
    return (re.search(r'"(.*?)"', text) or [text, text])[1]


@pytest.mark.parametrize("text", examples("exa"), ids=titled)
def test_an_example_is_whole_and_laid_out(text: str) -> None:
    """Nothing is wrong with an example, and it has the usual layout."""
    assert problems_of(read_draft("example", text)) == ()
    assert laid_out(text) == text


@pytest.mark.parametrize("text", examples("exa wrong"))
def test_a_wrong_example_is_wrong(text: str) -> None:
    """What the page calls wrong is found line by line."""
    found = {problem.number for problem in problems_of(read_draft("example", text))}
    lines = text.splitlines()
    assert found == {number for number, line in enumerate(lines, start=1) if not line.startswith("--")}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program on an emulated rack, with the page's examples among its recipes."""
    found = Program(tmp_path_factory.mktemp("recipes") / "home")
    (found.home / "recipes").mkdir(parents=True)
    for place, text in enumerate(examples("exa")):
        (found.home / "recipes" / f"example{place}.exa").write_text(text)
    found.ok("emulator", "start", "t1", "speed=600")
    yield found
    found.ok("emulator", "stop", "t1")


@pytest.mark.parametrize("place", range(len(examples("exa"))))
def test_an_example_runs(program: Program, place: int) -> None:
    """Each example is planned and carried out on an emulated rack without a word given, and ends well."""
    program.ok("-r", "t1", "run", f"example{place}", "-n")
    program.ok("-r", "t1", "run", f"example{place}", "-y")


def test_the_table_of_words_is_the_registrys() -> None:
    """Each word of recipes is there as it is written and with what it is, in order."""
    assert table("word") == [(word.name, word.shape, word.about) for word in RECIPE_WORDS.values()]


def test_the_table_of_kinds_has_each_kind() -> None:
    """The kinds of parameters are those that the reader of recipes knows."""
    assert {kind for kind, _ in table("kind")} == {*KINDS, "choice(a|b)"}


def test_the_table_of_needs_has_each_need() -> None:
    """The needs are those that a recipe can have, and each example is one."""
    words = [Need.of(text).word for text, _ in table("need")]
    assert sorted(words) == sorted(Need.of(part.strip()).word for part in KNOWN.split(","))


def test_what_is_typed_is_a_statement() -> None:
    """What the page tells to type parses, and each statement on recipes is among it."""
    typed = [text for row in table("you type") for text in row[0].split("`, `")]
    assert all(parse_line(text) is not None for text in typed)
    names = {name for name in map(" ".join, commands()) if "recipe" in name}
    assert {name for name in names if not any(text.startswith(name) for text in typed)} == set()


@pytest.mark.parametrize("word", RECIPE_WORDS)
def test_each_word_has_its_page(word: str) -> None:
    """help of a word shows what the page says of it; where a statement has the name, its page leads there."""
    assert told_of_recipes(word)
    shown = "\n".join(page([word]))
    if (word,) in commands():
        assert "help docs recipes" in shown
    else:
        assert shown.startswith(told_of_recipes(word))
        assert (shown == told_of_recipes(word)) == (word not in named_pages()), "a page of that name follows"
        assert f"\n### {word}\n" in TEXT or word == "recipe"


def test_statements_of_recipes_lead_to_the_page() -> None:
    """help check, wait, prompt, confirm, run and undo run name the page that tells of them."""
    for words in (["check"], ["wait"], ["prompt"], ["confirm"], ["run"], ["undo", "run"], ["keep"], ["experiment"]):
        if tuple(words) in commands():
            assert "help docs recipes" in "\n".join(page(words))


@pytest.mark.parametrize("text", ["let x = list cell.name", "matrix size in 1,2", "param size : size", "FINALLY"])
def test_a_recipes_word_at_the_prompt_says_so(text: str) -> None:
    """A recipe's own word that is typed as a statement says what it is and how a recipe is made."""
    with pytest.raises(StatementError) as caught:
        parse_line(text)
    word = text.split()[0].lower()
    assert caught.value.message.startswith(f"{word} is a word of recipes")
    assert caught.value.hint == f"`help {word}` explains it; `new recipe NAME` begins a recipe"


def test_words_that_ask_something_are_answered_as_before() -> None:
    """when, which begins many questions, leads to their answer and not to recipes."""
    with pytest.raises(StatementError) as caught:
        parse_line("when did that change")
    assert "journal" in caught.value.hint
    assert all(find_object(word) is None for word in RECIPE_WORDS)
