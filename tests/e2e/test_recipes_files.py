"""new recipe and fmt recipe: files, editors and terminals."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from exacell.commands.recipefiles import template
from exacell.core.errors import RecipeError
from exacell.core.paths import Home
from exacell.language.line import parse_line
from exacell.recipes.checker import problems_of
from exacell.recipes.files import load_draft, own_file
from exacell.recipes.layout import laid_out
from exacell.recipes.parsing import read_draft
from exacell.recipes.recorded import recipe_of
from tests.support.program import InProcess

Begin = Callable[..., pexpect.spawn]


@pytest.fixture
def program(tmp_path: Path) -> InProcess:
    return InProcess(tmp_path / "home")


@pytest.fixture
def begin(program: InProcess, tmp_path: Path) -> Iterator[Begin]:
    """Start the program at a terminal with an editor that carries out ``script`` on ``$1``."""
    started: list[pexpect.spawn] = []

    def run(script: str, *words: str, **env: str) -> pexpect.spawn:
        editor = tmp_path / "ed.sh"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)
        child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", *words],
            env={**program.env, "EDITOR": str(editor), "VISUAL": "", "TERM": "xterm", "NO_COLOR": "1", **env},
            dimensions=(40, 200),
            timeout=300,
            encoding="utf-8",
        )
        started.append(child)
        return child

    yield run
    for child in started:
        child.close(force=True)


def own(program: InProcess) -> Path:
    return program.home / "recipes"


def ended(child: pexpect.spawn) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_a_template_is_whole_and_laid_out() -> None:
    """What a new recipe begins with has no problem and the usual layout, is a recipe as soon as a mark is taken away, and an
    editor at 80 columns shows each of its lines whole."""
    text = template("weekly", Path("/home/oracle/.config/exacell/recipes/weekly.exa"))
    assert [line for line in text.splitlines() if len(line) > 78] == []
    assert problems_of(read_draft("weekly", text)) == ()
    assert laid_out(text) == text


def test_a_new_recipe_is_written_in_the_editor(program: InProcess, begin: Begin) -> None:
    """The template opens in $EDITOR; what is saved is checked, kept among the user's recipes, and can be run."""
    child = begin('sed -i "s/what it does/Weekly/" "$1"', "new", "recipe", "weekly")
    child.expect_exact("recipe weekly: 1 statement, well-formed; `run weekly -n` shows what it would do")
    assert ended(child) == 0
    assert 'recipe "Weekly"' in (own(program) / "weekly.exa").read_text()
    assert "Weekly" in program.ok("recipes", "weekly").out


def test_a_wrong_one_is_edited_again(program: InProcess, begin: Begin) -> None:
    """What is wrong is told line by line, and the editor opens again on what was written when that is wanted."""
    script = 'if grep -q lst "$1"; then echo list cell > "$1"; else printf "list cell\\nlst griddisk\\n" > "$1"; fi'
    child = begin(script, "new", "recipe", "weekly")
    child.expect_exact("line 2: 'lst' is not a statement")
    child.expect_exact("edit it again?")
    child.sendline("y")
    child.expect_exact("well-formed")
    assert ended(child) == 0
    assert (own(program) / "weekly.exa").read_text() == "list cell\n"


def test_a_wrong_one_is_kept(program: InProcess, begin: Begin) -> None:
    """Nothing that was written is lost: a recipe with problems stays, is said to be no use yet, and exit is 2."""
    child = begin('echo lst cell > "$1"', "new", "recipe", "weekly")
    child.expect_exact("edit it again?")
    child.sendline("n")
    child.expect(r"is\s+kept\s+but\s+can.t\s+run\s+like\s+this")
    assert ended(child) == 2
    assert (own(program) / "weekly.exa").read_text() == "lst cell\n"


@pytest.mark.parametrize(("script", "code", "said"), [
    ("true", 0, "nothing was written, so there is no recipe weekly"),
    ('echo > "$1"', 0, "nothing was written, so there is no recipe weekly"),
    ("exit 3", 2, "ended with status 3"),
    ("kill -9 $$", 2, "ended with signal 9"),
    ('rm "$1"', 0, "nothing was written, so there is no recipe weekly"),
])  # fmt: skip
def test_nothing_written_leaves_nothing(program: InProcess, begin: Begin, script: str, code: int, said: str) -> None:
    """An editor that is left without a change, or fails, leaves no recipe."""
    child = begin(script, "new", "recipe", "weekly")
    child.expect_exact(said)
    assert ended(child) == code
    assert list(own(program).iterdir()) == []


def test_a_failing_editor_loses_nothing(program: InProcess, begin: Begin) -> None:
    """What was saved before the editor failed stays."""
    child = begin('echo list cell > "$1"; exit 1', "new", "recipe", "weekly")
    child.expect(r"kept\s+as\s+you\s+left\s+it:\s+type\s+`check\s+recipe\s+weekly`")
    assert ended(child) == 2
    assert (own(program) / "weekly.exa").read_text() == "list cell\n"


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("/nonexistent/ed", r"the editor\s+/nonexistent/ed\s+can't\s+be\s+started:\s+No\s+such\s+file"),
        ('vi "', "No closing quotation"),
        (" ", r"the editor\s+vi\s+can't\s+be\s+started"),
    ],
)
def test_an_editor_that_can_not_be_started_leaves_nothing(
    program: InProcess, begin: Begin, editor: str, said: str
) -> None:
    """Its name and the reason are told; a name of blanks means the usual editor, never the recipe's file as a program."""
    child = begin("true", "new", "recipe", "weekly", EDITOR=editor, PATH="/nowhere")
    child.expect(said)
    assert ended(child) == 2
    assert list(own(program).iterdir()) == []


def test_a_recipe_is_never_written_over(program: InProcess, begin: Begin) -> None:
    """A recipe of that name stays as it is, and no editor opens."""
    own(program).mkdir(parents=True)
    (own(program) / "weekly.exa").write_text("list cell\n")
    child = begin('echo gone > "$1"', "new", "recipe", "weekly.exa")
    child.expect_exact("there is a recipe weekly")
    assert ended(child) == 2
    assert (own(program) / "weekly.exa").read_text() == "list cell\n"


def test_a_new_one_at_the_prompt(program: InProcess, begin: Begin) -> None:
    """At the prompt the editor has the terminal, and the prompt comes back behind it."""
    child = begin('echo I am the editor; read line < /dev/tty; echo "prompt \\"$line\\"" > "$1"')
    child.expect_exact("exacell> ")
    child.sendline("new recipe said")
    child.expect_exact("I am the editor")
    child.sendline("typed in the editor")
    child.expect_exact("recipe said: 1 statement, well-formed")
    child.expect_exact("exacell> ")
    assert (own(program) / "said.exa").read_text() == 'prompt "typed in the editor"\n'


def test_who_leaves_without_record_stop_has_the_recipe(program: InProcess, begin: Begin) -> None:
    """Ctrl-D while something is recorded writes it and says so: nobody types it again."""
    child = begin("true")
    child.expect_exact("exacell> ")
    child.sendline("record start left")
    child.expect_exact("`record stop` writes it")
    child.expect_exact("exacell> ")
    child.sendline('prompt "hello"')
    child.expect_exact("exacell> ")
    child.sendeof()
    child.expect_exact("recipe left: 1 statement")
    assert ended(child) == 0
    assert 'prompt "hello"' in (own(program) / "left.exa").read_text()


def test_without_a_terminal_there_is_no_editor(program: InProcess) -> None:
    """Off a terminal the way out is named, and nothing is left."""
    done = program("new", "recipe", "weekly")
    assert done.code == 2 and "which needs a terminal; write" in done.err
    assert list(own(program).iterdir()) == []


def test_fmt_writes_the_usual_layout_once(program: InProcess, tmp_path: Path) -> None:
    """A file is set anew with its mode, its comments and its meaning; --check only shows it and exits 3."""
    path = tmp_path / "mine.exa"
    path.write_text("# mine\nrisk  none\nlist   cell\n")
    path.chmod(0o640)
    shown = program("fmt", "recipe", str(path), "--check")
    assert shown.code == 3 and "-list   cell" in shown.out and path.read_text().startswith("# mine\nrisk  none")
    assert "3 lines formatted" in program.ok("fmt", "recipe", str(path)).err
    assert path.read_text() == "# mine\nrisk   none\n\nlist cell\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert program.ok("fmt", "recipe", str(path), "--check").out == ""
    assert "usual layout" in program.ok("fmt", "recipe", str(path)).err


def test_fmt_never_writes_a_shipped_recipe(program: InProcess) -> None:
    """A recipe that comes with exacell is not written; a copy among one's own is."""
    text = program.ok("show", "recipe", "health").out
    own(program).mkdir(parents=True)
    (own(program) / "health.exa").write_text(text.replace("show versions", "show    versions"))
    program.ok("fmt", "recipe", "health")
    assert "show versions" in (own(program) / "health.exa").read_text()
    (own(program) / "health.exa").unlink()
    with pytest.raises(RecipeError, match="recipe health is part of exacell and can't be changed"):
        own_file(Home.from_env({"EXACELL_HOME": str(program.home)}), "health")


TYPED = """\
record start weekly
racks
show flashcache
list cell   attributes name
resize flashcache size=300g -n
use exa1cel01
enable flashlog db=SPOT -y
on @db sh uptime
sql db=SPOT "select 1 as n from dual"
show diskgroup DATA
record stop
"""

WRITTEN = """\
recipe "weekly, as typed on t1"
param  db   : db = SPOT         "a database as LIST DATABASE shows it, or DEFAULT or OTHER"
param  name : diskgroup = DATA  "only this one"

racks
show flashcache
list cell attributes name
on exa1cel01 enable flashlog db=$db
on @db sh uptime
on exa1cel01 sql db=$db "select 1 as n from dual"
on exa1cel01 show diskgroup $name
"""


def test_what_is_typed_becomes_a_recipe(program: InProcess) -> None:
    """What was typed between record start and stop is a recipe with its names as parameters; it is whole, and runs."""
    program.ok("emulator", "start", "t1", "cells=2")
    try:
        done = program("-r", "t1", stdin=TYPED)
        assert done.code == 0, done.err
        assert "recipe weekly: 7 statements, takes [db=<db>] [name=<diskgroup>]" in done.err
        assert (own(program) / "weekly.exa").read_text() == WRITTEN
        program.ok("check", "recipe", "weekly")
        program.ok("-r", "t1", "run", "weekly", "db=ERP", "name=RECO", "-y")
        again = program("-r", "t1", stdin="record start weekly\n")
        assert again.code == 2 and "there is a recipe weekly" in again.err
    finally:
        program.ok("emulator", "stop", "t1")


@pytest.mark.parametrize(("typed", "code", "said"), [
    ("record stop", 2, "nothing is being recorded; type `record start NAME` to begin"),
    ("record start a\nrecord start b", 2, "recipe a is being recorded; type `record stop` to end it"),
    ("record start a\nrecord stop", 0, "you typed no statement for a recipe"),
    ("record start a\nset timing off\nrecord stop", 0, "you typed no statement for a recipe"),
])  # fmt: skip
def test_a_recording_that_comes_to_nothing(program: InProcess, typed: str, code: int, said: str) -> None:
    """A recording that was not begun, was begun twice or holds nothing for a recipe says so, and leaves no file."""
    done = program(stdin=typed + "\n")
    assert done.code == code and said in " ".join(done.err.split())
    assert not own(program).exists() or not list(own(program).iterdir())


@pytest.mark.parametrize(("typed", "line", "params"), [
    ("resize flashcache size = 288g", "resize flashcache size=$size", ["size : size = 288g"]),
    ("create diskgroup D1 prefix=p au_size=4m", "create diskgroup $name prefix=$prefix au_size=$au_size",
     ["name : diskgroup = D1"]),
    ("list griddisk where size > 1g", "list griddisk where size > 1g", []),
    ("on (where flashCacheMode=writeback) flush flashcache", "on (where flashCacheMode=writeback) flush flashcache", []),
])  # fmt: skip
def test_values_that_become_parameters(typed: str, line: str, params: list[str]) -> None:
    """Sizes and names of exacell's own statements become parameters; words, conditions and CellCLI's text do not."""
    parsed = parse_line(typed)
    assert parsed is not None
    text = recipe_of([parsed], "t")
    assert text.rstrip().endswith(line) and problems_of(read_draft("r", text)) == ()
    assert [param for param in params if re.search(param.replace(" ", " +"), text)] == params


def test_different_values_are_different_parameters() -> None:
    """The same value is one parameter, another one of the same name gets a number."""
    typed = ["resize flashcache size=288g", "resize flashcache size=320g", "resize flashcache size=288g"]
    text = recipe_of([line for line in map(parse_line, typed) if line is not None], "t")
    assert [line.split("=")[-1] for line in text.splitlines()[-3:]] == ["$size", "$size2", "$size"]


def test_a_recipe_is_found_with_the_end_of_its_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """reset_cold.exa is reset_cold; a file that only lies in this folder is not run, and its path is told."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.exa").write_text('recipe "Look"\nshow health\n')
    home = Home.from_env({"EXACELL_HOME": str(tmp_path / "home")})
    assert load_draft(home, "reset_cold.exa").recipe.name == "reset_cold"
    for name in ("mine", "mine.exa"):
        with pytest.raises(
            RecipeError, match=f"none of your recipes is named {name}; to run a file, give its path"
        ) as caught:
            load_draft(home, name)
        assert caught.value.hint == "./mine.exa"
    assert load_draft(home, "./mine.exa").recipe.name == "mine"
