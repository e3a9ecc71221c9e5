"""A recipe whose lines are wrong is told of before any of them runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.core.errors import ExitCode, RecipeError
from tests.support.sessions import Session

WRONG = """\
param deep : choice(no|yes) = no
list cell
lst griddisk when $deep = yes
"""


@pytest.fixture
def rack(tmp_path: Path) -> Session:
    """A session with two recipes of its own: one is whole, one is wrong in a line that its parameter leaves out."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "wrong.exa").write_text(WRONG)
    (folder / "whole.exa").write_text(WRONG.replace("lst", "list"))
    return Session(tmp_path)


@pytest.mark.parametrize("statement", ["run wrong", "@wrong", "run wrong -n", "run wrong deep=no -y"])
def test_a_wrong_line_is_told_before_anything_runs(rack: Session, statement: str) -> None:
    """The line is named although its condition would leave it out, and no cell is asked anything."""
    with pytest.raises(RecipeError, match=r"^recipe wrong, line 3: 'lst' is not a statement"):
        rack.say(statement)
    assert rack.answers.asked == []


def test_check_recipe_lists_every_problem(rack: Session) -> None:
    """check recipe answers with a record a problem, in the order of lines, exits 2, and asks no cell; run tells how many."""
    text = "recipe Not quoted\nlist cel\nlst griddisk atributes nme\nfinaly\nundo run\nend\n"
    (rack.session.home.recipes_dir / "worse.exa").write_text(text)
    result = rack.say("check recipe worse")
    assert [record["line"] for record in result.records] == [1, 2, 3, 3, 3, 4]
    assert result.records[-1]["hint"] == "did you mean finally?"
    assert result.exit_code is ExitCode.NOT_EXECUTED
    assert result.problems == ["recipe worse: 6 problems; no line was run"]
    with pytest.raises(RecipeError, match=r"^recipe worse, line 1: the title needs quotes") as caught:
        rack.say("run worse")
    assert caught.value.hint == 'write `recipe "Not quoted"`; `check recipe worse` lists 1 more'
    assert rack.answers.asked == []
    assert "recipe Not quoted" in rack.say("show recipe worse").text


def test_a_parameter_in_quotes_is_told_of(rack: Session) -> None:
    """check recipe and run say on which line a parameter stands in quotes, where it is no value; that is no error."""
    (rack.session.home.recipes_dir / "quoted.exa").write_text("param p : prefix = p\nlist griddisk where name = '$p'\n")
    rack.answers.rules.append(("list cell", lambda cell: f"\t {cell}\t online\n"))
    said = "line 2: $p is in quotes, where it is not replaced; write it without quotes (in SQL write ${name})"
    assert rack.say("check recipe quoted").notes == [said, "recipe quoted: 1 statement, well-formed"]
    told: list[str] = []
    rack.console.say = told.append  # type: ignore[method-assign]
    assert rack.say("run quoted").exit_code is ExitCode.DONE and said in told


def test_a_whole_recipe_is_checked_without_running(rack: Session) -> None:
    """check recipe asks no cell and counts the statements; run asks what its condition lets."""
    rack.answers.rules.append(("list cell", lambda cell: f"\t {cell}\t online\n"))
    assert rack.say("check recipe whole").notes == ["recipe whole: 2 statements, well-formed"]
    assert rack.answers.asked == []
    assert rack.say("run whole").exit_code is ExitCode.DONE
    asked = " ".join(request.command.lower() for request in rack.answers.asked)
    assert "list cell" in asked and "griddisk" not in asked
