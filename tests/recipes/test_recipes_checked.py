"""A recipe whose lines are wrong is told of before any of them runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from exacell.errors import ExitCode, RecipeError
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


@pytest.mark.parametrize(
    "statement", ["check recipe wrong", "run wrong", "@wrong", "run wrong -n", "run wrong deep=no -y"]
)
def test_a_wrong_line_is_told_before_anything_runs(rack: Session, statement: str) -> None:
    """The line is named although its condition would leave it out, and no cell is asked anything."""
    with pytest.raises(RecipeError, match=r"^recipe wrong, line 3: 'lst' is not a statement"):
        rack.say(statement)
    assert rack.answers.asked == []


def test_a_whole_recipe_is_checked_without_running(rack: Session) -> None:
    """check recipe asks no cell and counts the statements; run asks what its condition lets."""
    assert rack.say("check recipe whole").notes == ["recipe whole: 2 statements, well-formed"]
    assert rack.answers.asked == []
    assert rack.say("run whole").exit_code is ExitCode.DONE
    asked = " ".join(request.command.lower() for request in rack.answers.asked)
    assert "list cell" in asked and "griddisk" not in asked
