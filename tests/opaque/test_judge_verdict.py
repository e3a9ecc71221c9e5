"""Whether what a shell started is what was read: patterns, and the folders in which they look."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exacell.opaque.shell import read_shell
from tests.support.judging.fuzzing import Judge, held
from tests.support.judging.sandbox import Run, Started, installed, missing
from tests.support.judging.verdict import Folders, judge

FOLDERS = Folders({"/etc": ("a.log", "hosts"), "/usr": None}, ("/proc",))


def _run(shell: str, *argvs: tuple[str, ...], given: str = "outer") -> Run:
    descriptors = {0: given, 1: "outer", 2: "outer"}
    started = tuple(Started(argv, (), "/judge/cwd", "022", descriptors, b"") for argv in argvs)
    return Run(shell, started, (), "", "1")


def _why(text: str, run: Run) -> str:
    difference = judge(text, read_shell(text), run, FOLDERS)
    return difference.why if difference else ""


@pytest.mark.parametrize("pattern", ["/etc/zz*", "/etc/nothing/*", "/opt/oracl/*.log", "/opt//./oracl/*"])
def test_zsh_starts_nothing_where_a_pattern_finds_nothing(pattern: str) -> None:
    """A pattern that matches nothing, its folder there or not, lets zsh start nothing; other shells pass the pattern itself."""
    text = f"(ls {pattern}\n) 2>&1"
    reading = read_shell(f"ls {pattern}")
    assert judge(text, reading, _run("zsh"), FOLDERS) is None
    assert judge(text, reading, _run("bash", ("ls", pattern)), FOLDERS) is None
    assert judge(text, reading, _run("bash"), FOLDERS) is not None
    assert judge(text, reading, _run("zsh", ("rm", pattern)), FOLDERS) is not None


@pytest.mark.parametrize("argv", [("ls", "/etc/a.log"), ("ls",), ("ls", "/opt/oracl/x"), ("ls", "/opt/oracl/*", "-l")])
def test_a_folder_that_is_not_there_has_no_names(argv: tuple[str, ...]) -> None:
    """A shell that puts anything but the pattern itself in the place of a pattern whose folder is not there differs."""
    assert _why("ls /opt/oracl/*", _run("bash", argv))
    assert not _why("ls /opt/oracl/*", _run("bash", ("ls", "/opt/oracl/*")))


def test_zsh_has_to_start_what_finds_something() -> None:
    """zsh that starts nothing though the pattern matches, or though it could for all that is known, differs."""
    assert _why("ls /etc/*.log", _run("zsh"))
    assert _why("ls /usr/*", _run("zsh"))
    assert _why("ls /etc/hosts", _run("zsh"))


def test_zsh_may_say_that_nothing_matches_on_either_stream() -> None:
    """In a folder whose names are not known zsh's own word counts, on its errors and, as a text is sent, on its output."""
    text = "ls /usr/x*"
    said = _run("zsh")
    assert _why(text, said)
    assert not _why(text, replace(said, said="zsh:1: no matches found: /usr/x*\n"))
    assert not _why(text, replace(said, printed=b"zsh:1: no matches found: /usr/x*\n"))


def test_folders_of_the_machine_are_compared_name_by_name() -> None:
    """In a folder whose names are not known each name has to match, and one at least has to be there."""
    for argv, differs in ((("ls", "/usr/x1", "/usr/x2"), False), (("ls", "/usr/y"), True), (("ls",), True)):
        assert bool(_why("ls /usr/x*", _run("bash", argv))) is differs
    assert FOLDERS.names_in("/proc/1") is None
    assert FOLDERS.names_in("/procs") == ()


def test_what_the_sandbox_holds() -> None:
    """The folders that a sandbox is made with are known with all their names, those above them too; the machine's are not."""
    folders = held(["/etc", "/var/log", "/sys/class/net/eth0"])
    assert "hosts" in set(folders.names_in("/etc") or ())
    assert folders.names_in("/etc/sub") == set()
    assert folders.names_in("/var") == {"log"}
    assert folders.names_in("/sys/class") == {"net"}
    assert folders.names_in("/var/lo") == ()
    assert folders.names_in("/etc/hosts") == ()
    for machine in ("/", "/usr", "/usr/bin", "/usr/lib/locale", "/proc/net"):
        assert folders.names_in(machine) is None


@pytest.mark.skipif(bool(missing()), reason=missing() or "a sandbox is there")
@pytest.mark.parametrize(
    "text",
    [
        "du '--max-depth=3' '-'hkx /opt/oracl/*.log '/etc/redhat-release'",
        "ls\t/etc/*=x\t/var/lo/* >/dev/null",
        "ls /opt/*.none; ls /home/x* /etc/sub/*; ls /var/*",
    ],
)
def test_real_shells_and_patterns_that_find_nothing(text: str) -> None:
    """No shell differs over patterns in folders that are not there, sent as they are and in exacell's wrapping."""
    with Judge() as shells:
        assert shells.differences(text, read_shell(text)) == []
        assert set(shells.runs) == set(installed())


def test_of_two_commands_alike_either_one_may_be_the_skipped_one() -> None:
    """What && and || may have skipped is any command that explains the run; what no way to skip explains differs."""
    text = "uptime || date; uptime || date; date | uptime"
    ran = [("uptime",), ("uptime",), ("date",), ("uptime",)]
    assert not _why(text, _run("bash", *ran, given="null"))
    assert _why(text, _run("bash", *ran, ("id",), given="null"))
    assert _why(text, _run("bash", ("date",), ("uptime",), ("uptime",), ("uptime",), given="null"))
    assert not _why("id && date || uptime; date; id", _run("bash", ("id",), ("date",), ("id",)))
    assert _why("uptime; date", _run("bash", ("date",)))
