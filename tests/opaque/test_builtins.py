"""No row of the table is a command that a shell carries out itself: it would not be recorded, and differ between shells."""

from __future__ import annotations

import pytest

from exacell.opaque.scan import command_findings
from exacell.opaque.table import table
from tests.support.judging.sandbox import Sandbox, installed, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")


PRINTED_ALIKE = "echo"
"""The one builtin of the table: what is read of it all shells print alike, as the programs of that name do."""


@pytest.mark.parametrize("shell", installed())
def test_no_row_is_known_to_a_shell_itself(shell: str) -> None:
    """Where a program is installed, the shell starts it and nothing of its own; where none is, it finds no command."""
    names = sorted({*table().rows} - {PRINTED_ALIKE})
    with Sandbox(names, [], []) as sandbox:
        for name in names:
            (run,) = sandbox.run(f"{name} x", [shell])
            assert [started.argv for started in run.started] == [(name, "x")], f"{shell} carries {name} out itself"


@pytest.mark.parametrize("shell", installed())
def test_no_row_is_a_reserved_word_alias_or_function(shell: str) -> None:
    """The shell's own answer to what a name is, is the program's path: no keyword, alias, function or builtin."""
    names = sorted({*table().rows} - {PRINTED_ALIKE})
    with Sandbox([*names, "say"], [], []) as sandbox:
        for name in names:
            (run,) = sandbox.run(f'say "$(command -v {name})"', [shell])
            assert [started.argv for started in run.started] == [("say", f"/usr/bin/{name}")], run


WORDS = (
    "hello",
    "a -e -n",
    "'x  y' z",
    "''",
    "-n x",
    "-n a -n",
    "'%s %d' done",
    "a=b",
    "1 2 3",
    "'-' x'",
    "x -",
    "-n '' -e",
)
"""Words of echo: those that are read here and some that are not."""


def test_what_is_read_of_echo_is_printed_alike() -> None:
    """All shells print the same words for each command of echo that is read."""
    shells = installed()
    for words in WORDS:
        text = f"echo {words}"
        if command_findings(text).harmless:
            with Sandbox(["say"], [], []) as sandbox:
                said = {
                    tuple(one.argv for one in run.started) for run in sandbox.run(f'say "$({text}; echo .)"', shells)
                }
            assert len(said) == 1, (text, said)
    assert [words for words in WORDS if command_findings(f"echo {words}").harmless] != []


@pytest.mark.parametrize("shell", installed())
def test_the_judge_sees_what_a_shell_knows_itself(shell: str) -> None:
    """A builtin that the table must not have would be noticed: its start is not recorded."""
    with Sandbox(["echo", "pwd", "ls"], [], []) as sandbox:
        for text in ("echo x", "pwd"):
            (run,) = sandbox.run(text, [shell])
            assert run.started == (), text
