"""The dcli program as transport: what it is called with, and how its one stream becomes one answer a cell."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from exacell.core.config import RackConfig, Reach, Settings
from exacell.core.errors import ConfigError, RefusedError
from exacell.transport import dcli
from exacell.transport.base import State
from exacell.transport.capture import End
from exacell.transport.dcli import DcliTransport
from exacell.transport.dcli_answers import Answer, Answers, ascii_only, at_most, closing
from tests.support.patience import patiently
from tests.support.requests import read, write

OLD_HELP = "Options:\n  --serial\n  --maxlines=N\n"
NEW_HELP = OLD_HELP + "  --preserve-spaces\n  --ctimeout=N\n"


def fake(path: Path, help_text: str, body: str) -> Path:
    """Write a dcli that tells its arguments to a file, then runs ``body``."""
    program = path / "dcli"
    program.write_text(
        f"#!/bin/sh\ncase $1 in --help) cat <<'E'\n{help_text}E\nexit 0;; esac\n"
        f"printf '%s\\n' \"$*\" >> {path}/calls\nfor last; do :; done\n"
        f"word=$(printf '%s' \"$last\" | grep -o 'exacell-[0-9a-f]*' | head -1)\n{body}\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def transport_to(path: Path, help_text: str, body: str, **settings: float) -> DcliTransport:
    program = fake(path, help_text, body)
    rack = RackConfig(name="x", cells=("c1", "c2", "c3"), read_user="u", write_user="u", reach=Reach(dcli=str(program)))
    return DcliTransport(rack, Settings(**settings))


def calls(path: Path) -> list[str]:
    text = (path / "calls").read_text()
    return [line for line in text.splitlines() if line.startswith("-c ")]


ANSWERS = {
    "whole": ("c1: a\nc1: W 0\nc2: W 3\n", "", {"c1": Answer(text="a\n", status=0), "c2": Answer(status=3)}),
    "mixed up": (
        "c2: b\nc1: a\nc2: W 0\nc1: W 0\n",
        "",
        {"c1": Answer(text="a\n", status=0), "c2": Answer(text="b\n", status=0)},
    ),
    "blanks kept": ("c1: \t x\nc1:  y\nc1: W 0\n", "", {"c1": Answer(text="\t x\n y\n", status=0), "c2": Answer()}),
    "empty lines": ("c1: \nc1: W 0\n", "", {"c1": Answer(text="\n", status=0), "c2": Answer()}),
    "no end": ("c1: a\nc1: b\n", "", {"c1": Answer(text="a\nb\n"), "c2": Answer()}),
    "a last line without its end": ("c1: aW 0\n", "", {"c1": Answer(text="a", status=0), "c2": Answer()}),
    "a colon inside": ("c1: x: y\nc1: W 0\n", "", {"c1": Answer(text="x: y\n", status=0), "c2": Answer()}),
    "a stranger's line": ("c9: a\nno prefix\nc1: W 0\n", "", {"c1": Answer(status=0), "c2": Answer()}),
    "ssh's own words": (
        "c1:ssh: connect to host c1 port 22: Connection refused\n\nc2: W 0\n",
        "Unable to connect to hosts: ['c1']\n",
        {"c1": Answer(said="ssh: connect to host c1 port 22: Connection refused", unreachable=True), "c2": Answer(status=0)},
    ),
    "ssh's words over several lines": (
        "c1:@@@@\n@  CHANGED: c2: @\nHost key verification failed.\n\nc2: W 0\n",
        "Unable to connect to hosts: ['c1']\n",
        {
            "c1": Answer(said="@@@@; @  CHANGED: c2: @; Host key verification failed.", unreachable=True),
            "c2": Answer(status=0),
        },
    ),
    "an old dcli's word": (
        "",
        "Unable to connect to cells: ['c1', 'c2']\n",
        {"c1": Answer(unreachable=True), "c2": Answer(unreachable=True)},
    ),
}  # fmt: skip


def read_answers(targets: list[str], word: str, stdout: str, stderr: str, *, step: int = 7) -> dict[str, Answer]:
    """Return what is made of dcli's output that comes in pieces of so many bytes."""
    answers = Answers(targets, word)
    data = stdout.encode()
    for start in range(0, len(data), step):
        answers.take(data[start : start + step])
    return answers.ended(stderr)


@pytest.mark.parametrize("case", ANSWERS)
def test_the_stream_is_taken_apart(case: str) -> None:
    """dcli's output becomes one answer a target, complete only with its closing line."""
    stdout, stderr, wanted = ANSWERS[case]
    for step in (1, 2, 7, 4096):
        assert read_answers(["c1", "c2"], "W", stdout, stderr, step=step) == wanted


def test_a_stream_cut_anywhere_gives_no_false_end() -> None:
    """Whatever dcli had printed when it was broken off, no cell without its closing line has a status."""
    whole = "c1: one\nc1: two\nc1: exacell-12ab 0\nc2: three\nc2: exacell-12ab 1\n"
    for length in range(len(whole)):
        answers = read_answers(["c1", "c2"], "exacell-12ab", whole[:length], "")
        if answers["c1"].status is not None:
            assert answers["c1"] == Answer(text="one\ntwo\n", status=0)
        if answers["c2"].status is not None:
            assert answers["c2"] == Answer(text="three\n", status=1)


@pytest.mark.parametrize("command", ["true", "false", "exit 9", "cat <<E\nx\nE", "echo a # comment", "printf x"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        ascii_only,
        lambda text: at_most(text, "W", 99),
        lambda text: ascii_only(at_most(text, "W", 99)),
    ],
)
def test_the_closing_line_comes_whatever_the_command_is(command: str, wrap: Any) -> None:
    """Behind any command a shell prints the word and the command's own status."""
    import subprocess

    own = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    done = subprocess.run(["sh", "-c", wrap(closing(command, "W"))], capture_output=True, text=True, check=False)
    assert done.stdout == f"{own.stdout}W {own.returncode}\n"


def test_a_cell_whose_lines_pass_the_limit_fails_alone() -> None:
    """In dcli's one stream the answer that grows larger than it may is dropped, also a line without an end; the rest stands."""
    for flood in (b"c1: x\n" * 40, b"c1: " + b"x" * 200, b"c1: x\nc1: W cut\n", b"c1:ssh says\n" + b"more of it\n" * 9):
        answers = Answers(["c1", "c2"], "W", 60)
        for piece in (flood, b"\nc2: b\nc1: W 0\nc2: W 0\n"):
            answers.take(piece)
        assert answers.broken_off == {"c1"}
        found = answers.ended()
        assert (found["c1"].text, found["c1"].broken_off) == ("", End.TOO_LARGE)
        assert found["c2"] == Answer(text="b\n", status=0)


@pytest.mark.parametrize("tools", ["head and wc", "neither"])
def test_a_host_cuts_what_is_too_long_where_it_can(tmp_path: Path, tools: str) -> None:
    """With head(1) there no more leaves the host than may, and it says so; without, all comes and is cut here."""
    import subprocess

    for name in ("sh", "cat", "seq", *(("head", "wc") if tools == "head and wc" else ())):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    done = subprocess.run(
        ["sh", "-c", at_most(closing("seq 100000", "W"), "W", 1000)],
        capture_output=True, text=True, check=True, env={"PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.endswith("\nW cut\n" if tools == "head and wc" else "\nW 0\n")
    assert (len(done.stdout) < 1100) is (tools == "head and wc")


def test_equal_reads_are_one_run_and_writes_one_each(tmp_path: Path) -> None:
    """Three cells that read the same are one run of dcli; changes are one run a cell."""
    body = 'for c in $(echo $2 | tr , " "); do echo "$c: $word 0"; done'
    transport = transport_to(tmp_path, NEW_HELP, body)
    assert len(transport.run([read(c, "cellcli -e 'list cell'") for c in ("c1", "c2", "c3")]).ok) == 3
    assert [line.split()[1] for line in calls(tmp_path)] == ["c1,c2,c3"]
    assert len(transport.run([write(c, "cellcli -e 'alter cell x=y'") for c in ("c1", "c2", "c3")]).ok) == 3
    assert sorted(line.split()[1] for line in calls(tmp_path)[1:]) == ["c1", "c2", "c3"]


@pytest.mark.parametrize(
    ("help_text", "has", "has_not", "indents"),
    [
        (OLD_HELP, ["--maxlines 1000000000", "-l u"], ["--preserve-spaces", "--ctimeout"], False),
        (NEW_HELP, ["--maxlines 1000000000", "--preserve-spaces", "--ctimeout 5"], [], True),
    ],
)
def test_only_options_that_this_dcli_knows_are_given(
    tmp_path: Path, help_text: str, has: list[str], has_not: list[str], indents: bool
) -> None:
    """An old dcli gets no option that it doesn't know, and the transport says that blanks are lost."""
    transport = transport_to(tmp_path, help_text, 'echo "c1: $word 0"')
    transport.run([read("c1", "cellcli -e 'list cell'")])
    (line,) = calls(tmp_path)
    assert all(option in line for option in has) and not any(option in line for option in has_not)
    assert transport.capabilities.indents is indents


def test_a_run_that_hangs_is_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a run for several reads does not end, each cell is asked alone, and only the silent one is timed out."""
    body = (
        'case $2 in *c2*) sleep 60;; esac; for c in $(echo $2 | tr , " "); do echo "$c: ok"; echo "$c: $word 0"; done'
    )

    def taken_apart(seconds: float) -> None:
        monkeypatch.setattr(dcli, "_GRACE_S", seconds)
        transport = transport_to(tmp_path, NEW_HELP, body, timeout=seconds, connect_timeout=0.1)
        result = transport.run([read(c, "cellcli -e 'list cell'") for c in ("c1", "c2", "c3")])
        assert {t: r.state for t, r in result.replies.items()} == {
            "c1": State.OK, "c2": State.TIMED_OUT, "c3": State.OK,
        }  # fmt: skip

    patiently(taken_apart, 0.2, 2, 8)


def test_a_usage_error_reaches_nobody(tmp_path: Path) -> None:
    """A dcli that ends with status 2 has reached no cell, and its own word is the reason."""
    transport = transport_to(tmp_path, NEW_HELP, "echo 'Error: no such option' >&2; exit 2")
    reply = transport.run([read("c1", "cellcli -e 'list cell'")]).replies["c1"]
    assert (reply.state, reply.problem) == (State.UNREACHABLE, "dcli did not start: Error: no such option")


def test_a_lost_connection_behind_a_change_is_not_known(tmp_path: Path) -> None:
    """A change whose answer has no end is failed, and the reader is told that it may have been done."""
    transport = transport_to(tmp_path, NEW_HELP, 'echo "c1: half of an answer"')
    reply = transport.run([write("c1", "cellcli -e 'alter cell x=y'")]).replies["c1"]
    assert reply.state is State.FAILED
    assert "the command may or may not have finished" in reply.problem


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("Connection to c1 closed by remote host.", State.FAILED),
        ("client_loop: send disconnect: Broken pipe", State.FAILED),
        ("celladmin@c1: Permission denied (publickey).", State.UNREACHABLE),
        ("ssh: connect to host c1 port 22: No route to host", State.UNREACHABLE),
        ("Host key verification failed.", State.UNREACHABLE),
    ],
)
def test_a_change_is_unreachable_only_before_the_login(tmp_path: Path, said: str, state: State) -> None:
    """A change without an answer has not been carried out where ssh says so, and may have been everywhere else."""
    transport = transport_to(tmp_path, NEW_HELP, f'echo "c1:{said}"; exit 1')
    assert transport.run([read("c1", "cellcli -e 'list cell'")]).in_state(State.UNREACHABLE)
    reply = transport.run([write("c1", "cellcli -e 'alter cell x=y'")]).replies["c1"]
    assert reply.state is state
    assert ("the command may or may not have finished" in reply.problem) is (state is State.FAILED)


def test_a_change_is_run_once_even_when_its_output_is_no_utf8(made: Any) -> None:
    """dcli runs a command again whose output it can't decode; a change over the transport is run once all the same."""
    transport = made(DcliTransport)
    text = "rm -f ~/count; printf 'x\\351\\n'; echo once >> ~/count"
    assert transport.run([write("exa1cel01", "rm -f ~/count")]).ok
    reply = transport.run([write("exa1cel01", "printf 'x\\351\\n'; echo once >> ~/count")]).replies["exa1cel01"]
    assert (reply.state, reply.stdout) == (State.OK, "x?\n"), text
    count = transport.run([write("exa1cel01", "cat ~/count; rm ~/count")]).replies["exa1cel01"]
    assert count.stdout == "once\n"


def test_input_and_copies_are_refused(made: Any, tmp_path: Path) -> None:
    """What dcli can't carry is refused with the transport's name before anything is sent."""
    with pytest.raises(RefusedError, match="transport dcli can't send input to a command"):
        made(DcliTransport).run([read("exa1cel01", "cat", stdin="x")])


@pytest.mark.parametrize(
    ("host", "login"), [("c1;id", "u"), ("$(id)", "u"), ("-oProxyCommand=id", "u"), ("c1", "u;id")]
)
def test_names_never_reach_a_shell(tmp_path: Path, host: str, login: str) -> None:
    """dcli pastes hosts and login into a shell's line; what is more than a name is refused before dcli is started."""
    transport = transport_to(tmp_path, NEW_HELP, "")
    with pytest.raises(RefusedError, match="puts it into a shell command"):
        transport.run([read(host, "cellcli -e 'list cell'", login=login)])
    assert not (tmp_path / "calls").exists()


def test_no_more_does_the_login_that_stands_in_for_reads(tmp_path: Path) -> None:
    """The write login, as which a read would run where its own is refused, is looked at before that is tried."""
    program = fake(tmp_path, NEW_HELP, 'echo "c1:u@c1: Permission denied (publickey)."; exit 1')
    rack = RackConfig(name="x", cells=("c1",), read_user="u", write_user="w;id", reach=Reach(dcli=str(program)))
    transport = DcliTransport(rack)
    with pytest.raises(RefusedError, match="'w;id' is not safe for dcli, which puts it into a shell command"):
        transport.run([read("c1", "cellcli -e 'list cell'")])
    assert not (tmp_path / "calls").exists()
    assert transport.run([read("c1", "cellcli -e 'list cell'", login="u")]).in_state(State.UNREACHABLE)


@pytest.mark.parametrize("body", ["", "#!/bin/sh\nexit 3\n", "#!/bin/sh\necho usage\n"])
def test_a_program_that_is_no_dcli_is_refused(tmp_path: Path, body: str) -> None:
    """A missing program, or one whose help is not dcli's, can't be chosen."""
    program = tmp_path / "other"
    if body:
        program.write_text(body)
        program.chmod(0o755)
    with pytest.raises(ConfigError, match="dcli"):
        DcliTransport(RackConfig(name="x", cells=("c1",), reach=Reach(dcli=str(program))))
