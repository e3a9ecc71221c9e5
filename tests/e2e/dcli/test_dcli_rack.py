"""exacell dcli against emulated racks over real SSH, in process: output, stderr and exit code together."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dcli_bench import CELLS, SHORT, Dcli, flushcache, journalled

from exacell.cli import main
from exacell.emulator.basics.store import rack_files
from exacell.transport.base import FleetResult, Request
from exacell.transport.ssh import SshTransport
from tests.support.patience import patiently


def test_words_reach_the_remote_shell_joined_with_blanks(dcli: Dcli) -> None:
    """Quotes that our shell left in the words should be the remote shell's."""
    done = dcli("-c", "exa1cel01", "echo", "a  b", "'c  d'", "it\\'s", "-e", "--")
    assert done.out == "exa1cel01: a b c  d it's -e --\n"
    done = dcli(
        "-c",
        "exa1cel01",
        "cellcli -e \"list griddisk attributes name where status='active' and name like 'DATA_CD_00.*'\"",
    )
    assert done.out == "exa1cel01: DATA_CD_00_exa1cel01\n"


def test_targets_print_in_the_order_of_the_list(dcli: Dcli) -> None:
    """Output should stand target by target in list order, whoever was first."""
    Path("group").write_text("exa1cel03\n# exa1cel09\nexa1cel01\n")
    done = dcli("-g", "group", "-c", "exa1cel02,exa1cel01", "-t", "[ $(hostname) = exa1cel03 ] && sleep 0.2; hostname")
    assert done.lines[0] == "Target hosts: ['exa1cel03', 'exa1cel01', 'exa1cel02']"
    assert done.lines[1:] == [f"{c}: {c}" for c in ("exa1cel03", "exa1cel01", "exa1cel02")]


def test_t_alone_connects_to_nobody(dcli: Dcli) -> None:
    """-t should list targets that need not even exist."""
    done = dcli("-c", "nobody1,nobody2", "-t")
    assert (done.code, done.out, done.err) == (0, "Target hosts: ['nobody1', 'nobody2']\n", "")


def test_statuses_become_0_or_1(dcli: Dcli) -> None:
    """A remote status should make 1, and -n name the targets that did well."""
    assert dcli("-c", SHORT, "exit 3").code == 1
    done = dcli("-c", SHORT, "-n", "hostname | grep 01")
    assert (done.code, done.lines) == (1, ["OK: ['exa1cel01']"])


def test_r_names_and_hides(dcli: Dcli) -> None:
    """-r should print the targets that match and the lines that do not."""
    done = dcli("-c", SHORT, "-r", "exa1cel0", "hostname; echo '  x  y '")
    assert done.lines == ["exa1cel0: ['exa1cel01', 'exa1cel02']", "exa1cel01: x  y", "exa1cel02: x  y"]
    done = dcli("-c", SHORT, "-r", "(", "hostname")
    assert (done.code, done.out) == (1, "") and done.err.startswith("Error: -r (")


def test_an_unreachable_target_is_told_on_both_streams(dcli: Dcli) -> None:
    """Its reason should stand on stdout as ssh's text does, the list on stderr, and the others go on."""
    done = dcli("-c", "exa1cel01,no-such-host.invalid", "hostname")
    assert done.code == 1 and "exa1cel01: exa1cel01" in done.lines
    assert [line for line in done.lines if line.startswith("no-such-host.invalid:") and line[21] != " "]
    assert done.err == "Unable to connect to hosts: ['no-such-host.invalid']\n"


def test_a_remote_255_counts_as_unreachable(dcli: Dcli) -> None:
    """ssh cannot tell the two apart, and so dcli does not."""
    done = dcli("-c", "exa1cel01", "echo x; exit 255")
    assert (done.code, done.out, done.err) == (1, "exa1cel01: x\n", "Unable to connect to hosts: ['exa1cel01']\n")


def test_batches_have_their_own_output(dcli: Dcli) -> None:
    """Each batch should be a cycle of its own, with its own OK line."""
    done = dcli("-c", CELLS, "--batchsize", "2", "-n", "true")
    assert done.lines == ["OK: ['exa1cel01', 'exa1cel02']", "OK: ['exa1cel03']"]


def test_long_output_is_cut_or_comes_in_pieces(dcli: Dcli) -> None:
    """--maxlines should fail several targets, and lose nothing of one at a time, tails last."""
    done = dcli("-c", SHORT, "--maxlines", "2", "seq 4")
    assert done.code == 1 and done.err.count("\n\nError: ") == 1 and done.err.count("Error: ") == 2
    assert sorted(done.lines) == [f"{c}: {n}" for c in SHORT.split(",") for n in (1, 2, 3)]
    done = dcli("-c", SHORT, "--maxlines", "2", "--serial", "seq 4")
    a, b = SHORT.split(",")
    assert done.code == 0 and done.lines == [f"{c}: {n}" for c in (a, b) for n in (1, 2, 3)] + [f"{a}: 4", f"{b}: 4"]


def test_standard_error_is_merged_or_hidden(dcli: Dcli) -> None:
    """Remote standard error should be among the lines, or nowhere with --hidestderr."""
    assert dcli("-c", "exa1cel01", "echo e >&2; echo o").out == "exa1cel01: e\nexa1cel01: o\n"
    assert dcli("-c", "exa1cel01", "--hidestderr", "echo e >&2; echo o").out == "exa1cel01: o\n"


def test_a_timeout_ends_the_command_there(dcli: Dcli) -> None:
    """What was printed should stay, with a line about the limit, also around quotes in the command."""

    def in_time(seconds: float) -> None:
        done = dcli("-c", "exa1cel01", "--timeout", f"{seconds}", "echo 'it is'; exec sleep 60")
        assert done.code == 1 and done.lines[0] == "exa1cel01: it is"
        assert done.lines[1].startswith("exa1cel01: Timeout expired for pid ")
        assert done.lines[1].endswith("to exa1cel01...")

    patiently(in_time, 0.3, 3, 10)


def test_live_prints_lines_as_they_arrive(dcli: Dcli, monkeypatch: pytest.MonkeyPatch) -> None:
    """--live should print a line before its target ends, and each line once."""
    from exacell.output.terminal import TerminalConsole

    pieces: list[str] = []
    monkeypatch.setattr(TerminalConsole, "data", lambda self, text: pieces.append(text))
    assert dcli("--live", "-c", "exa1cel01", "echo ' a'; sleep 0.2; printf b").code == 0
    assert pieces == ["exa1cel01: a\n", "exa1cel01: b\n"]


def tmp_of(home: Path, cell: str) -> Path:
    """Where the rack wb keeps a cell's /tmp."""
    return rack_files(home, "wb").tree(cell) / "tmp"


def test_files_are_copied_where_d_says(dcli: Dcli, home: Path) -> None:
    """-f should copy several files into a directory that ends in / and is made, keeping what they hold and may."""
    Path("one").write_bytes(b"\0\xff" * 5000)
    Path("two").write_text("2")
    Path("two").chmod(0o755)
    done = dcli("-c", "exa1cel01", "-f", "one two", "-d", "/tmp/there/")
    assert (done.code, done.out) == (0, "")
    there = tmp_of(home, "exa1cel01") / "there"
    assert (there / "one").read_bytes() == Path("one").read_bytes()
    assert (there / "two").stat().st_mode & 0o777 == 0o755
    done = dcli("-c", "exa1cel01", "-f", "one")
    assert done.code == 0 and dcli("-c", "exa1cel01", "wc -c < one").out == "exa1cel01: 10000\n"


def test_a_file_may_be_copied_onto_itself(dcli: Dcli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a target's file is the very one that is copied, it keeps what it holds, and -x runs it."""
    assert dcli("-c", "exa1cel01", "ls /tmp").code == 0  # A host's folders come with its first command.
    monkeypatch.chdir(tmp_of(home, "exa1cel01"))
    path = Path("self.sh")
    path.write_text("#!/bin/sh\necho ran\n" + "# filler\n" * 9000)
    path.chmod(0o755)
    before = path.read_bytes()
    done = dcli("-c", SHORT, "-x", "self.sh", "-d", "/tmp")
    assert (done.code, done.lines) == (0, ["exa1cel01: ran", "exa1cel02: ran"]), done.err
    assert path.read_bytes() == before
    Path("short").write_text("x")
    assert dcli("-c", "exa1cel01", "-f", "short", "-d", "/tmp/self.sh").code == 0
    assert path.read_text() == "x"


def test_a_copy_that_fails_stops_the_target(dcli: Dcli, home: Path) -> None:
    """scp's sentence should be told and nothing be run behind it."""
    flushcache()
    done = dcli("-c", "exa1cel01", "-x", "flushcache.sh", "-d", "/tmp/none/x", rack="wt")
    assert done.code == 1 and done.out.startswith("exa1cel01:scp: ") and "No such file" in done.out
    Path("folder/in").mkdir(parents=True)
    Path("folder/in/f").write_text("x")
    done = dcli("-c", "exa1cel01", "-f", "folder")
    assert done.code == 1 and "not a regular file" in done.out
    done = dcli("-c", "exa1cel01", "-f", "folder", "--scp", "-r", "-d", "/tmp/copied")
    assert done.code == 0 and (tmp_of(home, "exa1cel01") / "copied/in/f").read_text() == "x"


def test_keys_come_and_go(dcli: Dcli) -> None:
    """-k should add the caller's key before the command runs, --unkey drop it behind."""
    Path(".ssh").mkdir()
    Path(".ssh/id_rsa.pub").write_text("ssh-rsa AAAAtest me@here\n")
    assert dcli("-c", "exa1cel02", "-k", "hostname").lines == ["exa1cel02: ssh key added", "exa1cel02: exa1cel02"]
    assert dcli("-c", "exa1cel02", "-k").lines == ["exa1cel02: ssh key already exists"]
    assert dcli("-c", "exa1cel02", "--unkey", "hostname").lines == [
        "exa1cel02: exa1cel02",
        "exa1cel02: ssh key dropped",
    ]
    assert dcli("-c", "exa1cel02", "--unkey").lines == ["exa1cel02: ssh key did not exist"]


def test_l_logs_in_as_somebody_else(dcli: Dcli) -> None:
    """-l should choose the login, on database servers too."""
    assert dcli("-c", "exa1cel01", "-l", "root", "whoami").out == "exa1cel01: root\n"
    assert dcli("-c", "exa1cel01", "whoami").out == "exa1cel01: celladmin\n"
    assert dcli("-c", "exa1db01", "-l", "oracle", "whoami; hostname").lines == [
        "exa1db01: oracle",
        "exa1db01: exa1db01",
    ]


def test_ssh_options_choose_the_connection(dcli: Dcli) -> None:
    """-s -p should really be another port, and what has no effect be told in one line."""
    done = dcli("-c", "exa1cel01", "-s", "-p 1 -o StrictHostKeyChecking=no", "hostname")
    assert done.code == 1 and "port 1 " in done.out
    assert "without effect here: -o StrictHostKeyChecking=no" in done.err.splitlines()[0]
    assert dcli("-c", "exa1cel01", "--ctimeout", "9", "hostname").out == "exa1cel01: exa1cel01\n"


def test_vmstat_shows_all_targets_in_one_table(dcli: Dcli) -> None:
    """--vmstat should print header, a row for each target and the summary."""
    done = dcli("-c", SHORT, "--vmstat", "")
    assert done.code == 0, done.err
    assert [line.split(":")[0].strip() for line in done.lines[2:]] == [
        *SHORT.split(","),
        "Minimum",
        "Maximum",
        "Average",
    ]
    done = dcli("-c", SHORT, "--vmstat", "-V")
    assert done.code == 0 and all(line.startswith("exa1cel0") for line in done.lines)


def test_usage_errors_print_the_options(dcli: Dcli) -> None:
    """A wrong combination should end with 2, one line on stderr and the option list on stdout."""
    done = dcli("-c", "exa1cel01", "--serial", "--batchsize", "2", "hostname")
    assert done.code == 2 and done.err.startswith("Error: ") and "--vmstat" in done.out
    done = dcli("hostname")
    assert done.code == 2 and "no target" in done.err and "--vmstat" in done.out
    done = dcli("-c", "exa1cel01", "-x", "/dev/null/none")
    assert (done.code, done.out) == (2, "") and done.err.startswith("Error: ")


def test_machine_formats_give_a_record_a_target(dcli: Dcli) -> None:
    """-o json should hold name, status and text, and nothing else be on stdout."""
    done = dcli("-c", SHORT, "-t", "hostname; exit 2", before=("-o", "json"))
    assert done.code == 1
    assert json.loads(done.out) == [{"cell": c, "exitStatus": 2, "text": c} for c in SHORT.split(",")]


def test_hosts_of_no_rack_are_reached_as_ssh_config_says(
    dcli: Dcli, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A host that no rack names should be reached over the user's ssh_config, beside the rack's own."""
    config = (home / "emulator" / "wb" / "ssh_config").read_text()
    block = next(block for block in config.split("\n\n") if "Host exa1cel02\n" in f"{block}\n")
    Path(".ssh").mkdir()
    Path(".ssh/config").write_text(block.replace("Host exa1cel02", "Host lonely"))
    done = dcli("-c", "exa1cel01,lonely,exa1db01", "-l", "root", "hostname")
    assert (done.code, done.err) == (0, "")
    assert done.lines == ["exa1cel01: exa1cel01", "lonely: exa1cel02", "exa1db01: exa1db01"]
    assert main(["dcli", "-c", "lonely", "hostname"]) == 0
    assert main(["dcli", "-c", "lonely", "touch x"]) == 2
    assert main(["dcli", "-c", "lonely", "cellcli -e drop flashcache"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "lonely: exa1cel02\n" and "--accept-opaque" in shown.err and "refused on lonely" in shown.err


def test_on_limits_the_targets(dcli: Dcli, capsys: pytest.CaptureFixture[str]) -> None:
    """ON should keep those of dcli's targets that it names, and be the targets where dcli names none."""
    assert main(["-r", "wb", f"on exa1cel02 dcli -c {SHORT} hostname"]) == 0
    assert main(["-r", "wb", "on exa1cel03 dcli hostname;"]) == 0
    assert main(["-r", "wb", "-c", "exa1cel01", "dcli", "hostname"]) == 0
    assert capsys.readouterr().out.split() == [w for c in ("2", "3", "1") for w in (f"exa1cel0{c}:", f"exa1cel0{c}")]


def test_a_second_ctrl_c_keeps_what_has_ended(dcli: Dcli, home: Path, tmp_path: Path) -> None:
    """One silent target hides no other: what has ended is printed and journalled, the rest is named, and the exit code is 4."""
    text = "touch seen; test $(hostname) = exa1cel02 && exec sleep 30; echo whole"
    argv = [sys.executable, "-m", "exacell", "-r", "wb", "dcli", "-v", "-c", SHORT, text]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            if line.startswith("end of exa1cel01"):
                break
        process.send_signal(signal.SIGINT)
        assert any(line.startswith("stopping") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (4, "exa1cel01: whole\n")
    assert err.splitlines() == [
        "No result from hosts: ['exa1cel02']",
        "interrupted; the cells finish the sent statements, but exacell no longer waits",
    ]
    rows = journalled(home, "dcli -v -c")
    assert [(kind, target) for kind, target, _ in rows if kind == "outcome"] == [("outcome", "exa1cel01")]
    assert main(["-r", "wb", "resume", "--abandon"]) == 0  # or the other tests' stderr would tell of it


def test_the_language_goes_with_the_text_alone(dcli: Dcli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's language goes with the text of dcli, and with nothing that exacell asks before and after."""
    sent: list[tuple[bool, str]] = []
    run = SshTransport.run

    def spy(self: SshTransport, requests: Sequence[Request], **how: Any) -> FleetResult:
        sent.extend((request.locale, request.command) for request in requests)
        return run(self, requests, **how)

    monkeypatch.setattr(SshTransport, "run", spy)
    assert dcli("-c", "exa1cel01", "hostname", before=("-y",)).code == 0
    assert dcli("-c", "exa1cel01", "cellcli -e alter cell comment=x", before=("-y",)).code == 0
    carried = [command for locale, command in sent if locale]
    assert [text in command for text, command in zip(("hostname", "alter cell"), carried, strict=True)] == [True, True]
    assert len(sent) > 2
