"""Generated shell texts that are called reads, judged by bash, dash, mksh, ksh93, busybox sh and zsh in a sandbox."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exacell.opaque.shell import read_shell
from tests.support.judging.fuzzing import LEAST_SHARE, Judge, fuzz_together
from tests.support.judging.sandbox import SHELLS, Sandbox, installed, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")

TEXTS, FORMED, SEED = 2000, 600, 16
"""How many texts each run of the tests makes; ``make fuzz`` makes a hundred times as many of another seed."""


def test_shells_take_texts_as_they_were_read(record_property: Callable[[str, object], None]) -> None:
    """Of 2,000 generated texts at least a quarter are reads, with every row and every production, and no shell differs."""
    tally = fuzz_together(TEXTS, SEED, all_wrapped=False)
    record_property("judged", tally.sentence())
    assert not tally.differences, "\n".join(map(str, tally.differences[:5]))
    assert tally.share >= LEAST_SHARE, tally.sentence()
    assert not tally.missing


def test_shells_take_the_wider_forms_as_they_were_read(record_property: Callable[[str, object], None]) -> None:
    """Of generated texts over the wider forms most are reads, each form among them, and no shell differs."""
    tally = fuzz_together(FORMED, SEED, forms=True)
    record_property("judged", tally.sentence())
    assert not tally.differences, "\n".join(map(str, tally.differences[:5]))
    assert tally.reads > FORMED // 2, tally.sentence()
    assert not tally.rare(FORMED // 50)


FORM_TEXTS = {
    "cellcli <<E\nlist cell\n": "cellcli <<E\nlist lun\n",
    "#!/bin/sh -u\nhostname; uptime\n": "hostname; uptime; hostname\n",
    "hostname\n": "#!/bin/sh -e\nuptime\nhostname\n",
    "hostname\ncellcli <<E\nlist cell\n": "uptime\ncellcli <<E\nlist cell\n",
}
"""A file as it was read -> the one that is run in its place."""


@pytest.mark.parametrize("read", FORM_TEXTS, ids=ascii)
def test_the_judge_notices_what_files_do(read: str) -> None:
    """A file that does otherwise than was read is a difference in every shell; one whose document its end ends may be refused."""
    reading = read_shell(read, script=True)
    with Judge() as judge:
        assert judge.differences_of_form(read, reading, script=True, wrap=False) == []
        found = judge.differences_of_form(FORM_TEXTS[read], reading, script=True, wrap=False)
    # mksh takes no part in what ends without its mark.
    lenient = {"mksh"} if FORM_TEXTS[read].startswith("cellcli") else set()
    assert {difference.shell for difference in found} == set(installed()) - lenient


WRONG = {
    "another option": ("ls -a", "ls -l"),
    "a quote": ("ls '/etc/a b'", "ls /etc/a b"),
    "one command more": ("ls; ls", "ls; ls; ls"),
    "one command less": ("ls; ls", "ls"),
    "a program that was not named": ("ls | grep x", "ls | sh"),
    "a variable": ("ls", "A=1 ls"),
    "a folder": ("ls", "cd /etc; ls"),
    "a descriptor": ("ls", "ls 5</dev/zero"),
    "output to a device": ("ls", "ls >/dev/full"),
    "no output": ("ls", "ls >&-"),
    "a umask": ("ls", "umask 0; ls"),
    "input from a file": ("ls", "ls </proc/version"),
    "another document": ("cellcli <<E\nlist cell\nE\n", "cellcli <<E\nlist celldisk\nE\n"),
    "a file": ("cellcli <<E\nlist cell\nE\n", "cellcli <<E\nlist cell\nE\necho >/tmp/x"),
    "a pattern": ("ls /etc/a*", "ls /etc/*"),
    "another word of echo": ("echo x", "echo y"),
    "no echo": ("echo x; ls", "ls"),
    "one echo more": ("echo x; ls", "echo x; ls; echo x"),
    "echo without its line end": ("echo x", "echo -n x"),
    "an echo that comes later": ("echo x; echo y", "echo y; echo x"),
    "what echo gives a filter": ("echo x | grep x", "echo y | grep x"),
    "a filter without its echo": ("echo x | grep x", "ls | grep x"),
    "what nobody reads": ("ls", "ls; echo x"),
    "an endless loop": ("ls", "ls; while :; do :; done"),
}
"""What is otherwise -> a text as it was read, and the one that is run in its place."""


@pytest.mark.parametrize("name", WRONG)
def test_the_judge_notices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a shell does otherwise than was read comes out as a difference, in every shell."""
    monkeypatch.setattr("tests.support.judging.sandbox.SECONDS", 2)
    read, real = WRONG[name]
    with Judge() as judge:
        assert judge.differences(read, read_shell(read)) == []
        found = judge.differences_of(real, read_shell(read))
    assert {difference.shell for difference in found} == set(installed())


def test_nothing_can_be_done_in_the_sandbox() -> None:
    """A text there is another user's, reaches no network, and can write nowhere; nor does it find another program."""
    text = "echo $(</proc/self/loginuid) >/dev/null; id; for f in / /etc /tmp /dev /home/judge /judge /judge/cwd /usr/bin /proc;"
    text += " do echo x > $f/x && ls -l $f; done; ls >/etc/hosts; ls >/judge/stdin; ls 3<>/dev/tcp/127.0.0.1/22"
    with Sandbox(["ls", "id"], ["/etc"], ["hosts"]) as sandbox:
        for run in sandbox.run(text, installed()):
            assert [started.argv for started in run.started] == [("id",)], run
    with Sandbox(["id"], [], []) as sandbox:
        (run,) = sandbox.run("while read -r x; do case $x in Uid:*) id $x;; esac; done < /proc/self/status", ["dash"])
        assert run.started[0].argv[2:] == ("65534",) * 4


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_is_there(shell: str) -> None:
    """Each of the six shells is asked; one that is not installed is named."""
    if shell not in installed():
        pytest.skip(f"{shell} is not installed: texts are not judged by it")
    with Sandbox(["ls"], [], []) as sandbox:
        (run,) = sandbox.run("ls a", [shell])
    assert [started.argv for started in run.started] == [("ls", "a")]
