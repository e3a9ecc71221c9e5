"""No row of the table is a command that a shell carries out itself: it would not be recorded, and differ between shells."""

from __future__ import annotations

import pytest

from exacell.opaque.table import table
from tests.support.judging.sandbox import Sandbox, installed, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")


@pytest.mark.parametrize("shell", installed())
def test_no_row_is_known_to_a_shell_itself(shell: str) -> None:
    """Where a program is installed, the shell starts it and nothing of its own; where none is, it finds no command."""
    names = sorted(table().rows)
    with Sandbox(names, [], []) as sandbox:
        for name in names:
            (run,) = sandbox.run(f"{name} x", [shell])
            assert [started.argv for started in run.started] == [(name, "x")], f"{shell} carries {name} out itself"


@pytest.mark.parametrize("shell", installed())
def test_no_row_is_a_reserved_word_alias_or_function(shell: str) -> None:
    """The shell's own answer to what a name is, is the program's path: no keyword, alias, function or builtin."""
    names = sorted(table().rows)
    with Sandbox([*names, "say"], [], []) as sandbox:
        for name in names:
            (run,) = sandbox.run(f'say "$(command -v {name})"', [shell])
            assert [started.argv for started in run.started] == [("say", f"/usr/bin/{name}")], run


@pytest.mark.parametrize("shell", installed())
def test_the_judge_sees_what_a_shell_knows_itself(shell: str) -> None:
    """A builtin that the table must not have would be noticed: its start is not recorded."""
    with Sandbox(["echo", "pwd", "ls"], [], []) as sandbox:
        for text in ("echo x", "pwd"):
            (run,) = sandbox.run(text, [shell])
            assert run.started == (), text
