"""help is derived, complete, and fits the screen."""

from __future__ import annotations

import pytest

from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import metrics, objects, objects_of
from exacell.commands.help import page
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.registry import commands


def test_every_command_has_a_page_with_its_parameters() -> None:
    """The page of each command shows its usage, each parameter, its effect and its example, in 80 columns."""
    for words, command in commands().items():
        shown = page(words)
        text = "\n".join(shown)
        # An example stays on one line, so that it can be pasted.
        assert all(len(line) <= 80 or line.startswith("Example: ") for line in shown), command.name
        assert command.example in text, command.name
        for param in command.params:
            shape = param.choices[0] if len(param.shape) > 50 else param.shape.split("|")[0].strip("[]")[:10]
            assert shape in text, (command.name, param.name)


def test_every_example_is_a_statement() -> None:
    """The example of each command parses, and means that command."""
    for command in commands().values():
        line = parse_line(command.example)
        assert line is not None and line.call is not None and line.call.command is command, command.example


def test_the_first_screen_names_every_group_and_a_group_every_command() -> None:
    """help alone names all groups of statements, and CellCLI's verbs; help GROUP lists the group's statements."""
    text = "\n".join(page([]))
    for verb in Verb:
        assert verb.value.lower() in text
    for command in commands().values():
        assert f"\n  {command.group} " in text or command.group == "help"
        if (command.group.lower(),) not in commands():
            assert f"  {command.name} " in "\n".join(page(command.group.split()))


def test_every_cellcli_statement_has_a_page() -> None:
    """help VERB OBJECT works for every pair that CellCLI has, and help OBJECT lists the attributes."""
    for verb in Verb:
        for found in objects_of(verb):
            assert page([verb, found.name])
    for found in objects().values():
        text = "\n".join(page([found.name.lower()]))
        assert all(attribute.name in text for attribute in found.attributes.values()), found.name


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("attribute griddisk asmModeStatus", "ONLINE"),
        ("metric FL_DISK_FIRST", "cumulative metric of FLASHLOG, in IO requests"),
        ("fl_disk_first", "FLASHLOG"),
        ("safety", "--accept-data-loss"),
        ("flush", "flush flashcache"),
        ("create", "create diskgroup"),
        ("alter flashcache", "CANCEL FLUSH"),
    ],
)
def test_topics(topic: str, said: str) -> None:
    """Each kind of topic has its page."""
    assert said in "\n".join(page(topic.split()))


@pytest.mark.parametrize(
    ("topic", "near"),
    [("attribute griddisk asmmodestat", "asmModeStatus"), ("metric FL_DISK_FIRS", "FL_DISK_FIRST")],
)
def test_a_name_of_nothing_suggests_a_known_one(topic: str, near: str) -> None:
    """A misspelt attribute or metric is an error that names what was probably meant."""
    with pytest.raises(StatementError) as caught:
        page(topic.split())
    assert near in caught.value.suggestions


def test_metric_pages_exist_for_all() -> None:
    """Every metric has a page."""
    assert all(page(["metric", name]) for name in metrics())
