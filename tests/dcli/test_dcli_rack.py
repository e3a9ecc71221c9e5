"""exacell dcli against emulated racks over real SSH, in process: output, stderr and exit code together."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from exacell.cli import main
from exacell.emulator import control

CELLS = "exa1cel01,exa1cel02,exa1cel03"
SHORT = "exa1cel01,exa1cel02"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a write-through rack wt, a write-back one wb, and two racks that reach wb's cells as if they were real."""
    path = tmp_path_factory.mktemp("home")
    small = {"cells": 3, "dbnodes": 1}
    control.start(path, "wt", options={**small, "mode": "writethrough"})
    control.start(path, "wb", options=small)
    config = path / "emulator" / "wb" / "ssh_config"
    text = f'cells = "exa1cel[01-03]"\nssh_config = "{config}"\n'
    (path / "racks.d" / "real.toml").write_text(text)
    (path / "racks.d" / "prod.toml").write_text(text.replace("exa1cel[01-03]", "exa1cel03") + "production = true\n")
    yield path
    control.stop(path, "wt")
    control.stop(path, "wb")


@pytest.fixture
def dcli(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run ``exacell -r RACK … dcli …`` in a scratch directory that is also HOME."""
    for name, value in {"EXACELL_HOME": str(home), "HOME": str(tmp_path), "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("EXACELL_RACK", raising=False)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(*words: str, rack: str = "wb", before: tuple[str, ...] = ()) -> Done:
        code = main(["-r", rack, *before, "dcli", *words])
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    return run


Dcli = Callable[..., Done]


def caches(home: Path, rack: str) -> list[Any]:
    """What the cells of a rack say about their caches now."""
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        assert main(["-r", rack, "-o", "json", "list flashcache attributes id, size, status"]) == 0
        return json.loads(sys.stdout.getvalue())
    finally:
        sys.stdout = out


def journalled(home: Path, statement: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The rows of the changes whose statement begins so."""
    with sqlite3.connect(home / "journal.db") as connection:
        rows = connection.execute("select change, kind, target, body from entry order by seq").fetchall()
    numbers = {n for n, kind, _, body in rows if kind == "plan" and json.loads(body)["statement"].startswith(statement)}
    return [(kind, target, json.loads(body)) for n, kind, target, body in rows if n in numbers]


BLOG = """\
    #!/bin/bash
    cellcli <<EOF
    drop flashcache
    create flashcache all
    EOF
    """


def flushcache(mark: bool = True) -> Path:
    text = dedent(BLOG)
    path = Path("flushcache.sh")
    path.write_text(text if mark else text.removesuffix("EOF\n"))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("mark", [True, False])
def test_the_flush_script_runs_on_a_write_through_rack(dcli: Dcli, home: Path, mark: bool) -> None:
    """The script of the blog post should run as it is, with and without its closing mark, key and all."""
    flushcache(mark)
    before = {row["id"] for row in caches(home, "wt")}
    done = dcli("-c", CELLS, "--serial", "-k", "-l", "celladmin", "-x", "flushcache.sh", rack="wt")
    assert done.code == 0, done.err
    for cell in CELLS.split(","):
        ours = [line for line in done.lines if line.startswith(f"{cell}: ")]
        assert ours[0] == f"{cell}: ssh key added" or ours[0] == f"{cell}: ssh key already exists"
        assert sum("successfully dropped" in line for line in ours) == 1
        assert sum("successfully created" in line for line in ours) == 1
    assert [line.partition(":")[0] for line in done.lines] == sorted(line.partition(":")[0] for line in done.lines)
    after = caches(home, "wt")
    assert {row["status"] for row in after} == {"normal"} and not before & {row["id"] for row in after}


def test_the_flush_script_is_refused_on_dirty_write_back_caches(dcli: Dcli, home: Path) -> None:
    """With dirty data in the cache nothing should be sent, exit 2, and every cell be named with the reason."""
    flushcache().rename("refused.sh")
    before = caches(home, "wb")
    done = dcli("-c", CELLS, "--serial", "-k", "-l", "celladmin", "-x", "refused.sh")
    assert (done.code, done.out) == (2, "")
    assert "drop flashcache: refused on exa1cel[01-03]" in done.err and "only copy of data" in done.err
    assert caches(home, "wb") == before
    assert "refused.sh" not in dcli("-c", CELLS, "ls").out


@pytest.mark.parametrize(
    "words",
    [
        ("cellcli -e drop flashcache",),
        ("cellcli", "-e", "drop", "flashcache"),
        ("echo drop flashcache | cellcli",),
        ("cellcli -e 'alter cell flashCacheMode=writethrough'",),
        ("CMD='drop flashcache'; cellcli -e $CMD",),
    ],
)
def test_a_change_in_a_command_is_guarded_like_a_typed_one(dcli: Dcli, home: Path, words: tuple[str, ...]) -> None:
    """However a dangerous CellCLI change is wrapped, it should be refused with 2 before anything is sent."""
    before = caches(home, "wb")
    done = dcli("-c", CELLS, *words)
    assert (done.code, done.out) == (2, "") and "refused on" in done.err and caches(home, "wb") == before


def test_accepted_loss_lets_it_through(dcli: Dcli, home: Path) -> None:
    """Naming every cell should send what the guard refuses; the cell then has its own say."""
    done = dcli("-c", "exa1cel03", "cellcli -e drop flashcache", before=("--accept-data-loss=exa1cel03",))
    assert "refused on" not in done.err and done.out.startswith("exa1cel03: CELL-")


def test_a_scl_script_is_guarded_too(dcli: Dcli) -> None:
    """A .scl file should be run by cellcli, and refused when a line of it is."""
    path = Path("a.scl")
    path.write_text("list cell attributes name\nREM end\n")
    path.chmod(0o755)
    done = dcli("-c", SHORT, "-x", "a.scl")
    assert (done.code, done.lines) == (0, ["exa1cel01: exa1cel01", "exa1cel02: exa1cel02"])
    path.write_text("list cell\ndrop flashcache all\n")
    assert dcli("-c", SHORT, "-x", "a.scl").code == 2


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
    assert done.code == 2 and "Error: -r (" in done.err


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
    assert done.code == 1 and done.err.count("Error: ") == 4
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
    done = dcli("-c", "exa1cel01", "--timeout", "0.3", "echo 'it is'; exec sleep 9")
    assert done.code == 1 and done.lines[0] == "exa1cel01: it is"
    assert done.lines[1].startswith("exa1cel01: Timeout expired for pid ") and done.lines[1].endswith("to exa1cel01...")


def test_live_prints_lines_as_they_arrive(dcli: Dcli, monkeypatch: pytest.MonkeyPatch) -> None:
    """--live should print a line before its target ends, and each line once."""
    from exacell.output.terminal import TerminalConsole

    pieces: list[str] = []
    monkeypatch.setattr(TerminalConsole, "data", lambda self, text: pieces.append(text))
    assert dcli("--live", "-c", "exa1cel01", "echo ' a'; sleep 0.2; printf b").code == 0
    assert pieces == ["exa1cel01: a\n", "exa1cel01: b\n"]


def test_files_are_copied_where_d_says(dcli: Dcli, tmp_path: Path) -> None:
    """-f should copy several files into a directory that ends in / and is made, keeping what they hold and may."""
    Path("one").write_bytes(b"\0\xff" * 5000)
    Path("two").write_text("2")
    Path("two").chmod(0o755)
    done = dcli("-c", "exa1cel01", "-f", "one two", "-d", f"{tmp_path}/there/")
    assert (done.code, done.out) == (0, "")
    assert (
        Path("there/one").read_bytes() == Path("one").read_bytes() and Path("there/two").stat().st_mode & 0o777 == 0o755
    )
    done = dcli("-c", "exa1cel01", "-f", "one")
    assert done.code == 0 and dcli("-c", "exa1cel01", "wc -c < one").out == "exa1cel01: 10000\n"


def test_a_copy_that_fails_stops_the_target(dcli: Dcli, tmp_path: Path) -> None:
    """scp's sentence should be told and nothing be run behind it."""
    flushcache()
    done = dcli("-c", "exa1cel01", "-x", "flushcache.sh", "-d", f"{tmp_path}/none/x", rack="wt")
    assert done.code == 1 and done.out.startswith("exa1cel01:scp: ") and "No such file" in done.out
    Path("folder/in").mkdir(parents=True)
    Path("folder/in/f").write_text("x")
    done = dcli("-c", "exa1cel01", "-f", "folder")
    assert done.code == 1 and "not a regular file" in done.out
    done = dcli("-c", "exa1cel01", "-f", "folder", "--scp", "-r", "-d", f"{tmp_path}/copied")
    assert done.code == 0 and Path("copied/in/f").read_text() == "x"


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
    done = dcli("-c", "exa1cel01", "-x", "/none")
    assert (done.code, done.out) == (2, "") and done.err.startswith("Error: ")


def test_machine_formats_give_a_record_a_target(dcli: Dcli) -> None:
    """-o json should hold name, status and text, and nothing else be on stdout."""
    done = dcli("-c", SHORT, "-t", "hostname; exit 2", before=("-o", "json"))
    assert done.code == 1
    assert json.loads(done.out) == [{"cell": c, "exitStatus": 2, "text": c} for c in SHORT.split(",")]


def test_opaque_work_is_journalled_and_reads_are_not(dcli: Dcli, home: Path) -> None:
    """A command that can't be read should leave plan, intent, outcome and end; a read nothing."""
    dcli("-c", "exa1cel01", "touch marker-of-this-test")
    rows = journalled(home, "dcli -c exa1cel01 'touch marker-of-this-test'")
    assert [kind for kind, _, _ in rows] == ["plan", "intent", "outcome", "end"]
    assert rows[0][2]["opaque"] == ["touch marker-of-this-test"] and rows[2][2]["state"] == "done"
    dcli("-c", "exa1cel01", "echo only a read")
    assert not journalled(home, "dcli -c exa1cel01 'echo only a read'")


def test_a_real_rack_needs_opaque_work_to_be_accepted(dcli: Dcli) -> None:
    """Elsewhere than on an emulated rack the unreadable should need --accept-opaque before dcli, and reads nothing."""
    assert dcli("-c", "exa1cel01", "hostname", rack="real").code == 0
    done = dcli("-c", "exa1cel01", "touch x", rack="real")
    assert (done.code, done.out) == (2, "") and "--accept-opaque" in done.err
    assert dcli("-c", "exa1cel01", "touch x", rack="real", before=("--accept-opaque",)).code == 0


def test_a_real_rack_asks_before_a_cellcli_change(dcli: Dcli) -> None:
    """A change that the guard lets pass should need a yes like a typed one."""
    words = ("-c", "exa1cel01", "cellcli -e alter iormplan objective=basic")
    done = dcli(*words, rack="real")
    assert (done.code, done.out) == (2, "") and "-y" in done.err and "ALTER IORMPLAN" in done.err
    assert dcli(*words, rack="real", before=("-y",)).code == 0


def test_production_and_read_only_racks_refuse_the_unreadable(dcli: Dcli) -> None:
    """Neither -y nor --accept-opaque should let opaque work on a production rack, nor -m anything but reads."""
    for rack, before in (("prod", ("--accept-opaque", "-y")), ("wb", ("-m",))):
        done = dcli("-c", "exa1cel03", "touch x", rack=rack, before=before)
        assert (done.code, done.out) == (2, ""), rack
        assert dcli("-c", "exa1cel03", "cellcli -e list cell", rack=rack, before=before).code == 0
        done = dcli("-c", "exa1cel03", "-k", rack=rack, before=before)
        assert (done.code, done.out) == (2, ""), rack


def test_a_copy_beside_a_command_is_judged_too(dcli: Dcli) -> None:
    """-f with a command that only shows something should be refused as the copy alone is."""
    Path("one").write_text("x")
    for rack, before in (("prod", ("--accept-opaque", "-y")), ("wb", ("-m",)), ("real", ("-y",))):
        done = dcli("-c", "exa1cel03", "-f", "one", "hostname", rack=rack, before=before)
        assert (done.code, done.out) == (2, "") and "copy one to the home directory" in done.err, rack
    done = dcli("-c", "exa1cel03", "-f", "one", "hostname", rack="wb")
    assert (done.code, done.out) == (0, "exa1cel03: exa1cel03\n")


def test_a_production_cell_is_known_without_its_rack(
    dcli: Dcli, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Naming a host of a production rack without -r should not get around the rack's mark."""
    assert main(["--accept-opaque", "dcli", "-c", "exa1cel03", "touch x"]) == 2
    assert "prod" in capsys.readouterr().err


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


def test_plan_only_sends_nothing(dcli: Dcli) -> None:
    """-n before dcli should show what was found and send nothing, with 3 where that is asked for."""
    done = dcli("-c", "exa1cel01", "touch never-made", before=("-n", "--detailed-exitcode"))
    assert (done.code, done.out) == (3, "") and "can't be read: touch never-made" in done.err
    assert dcli("-c", "exa1cel01", "ls never-made").code == 1


def test_on_limits_the_targets(dcli: Dcli, capsys: pytest.CaptureFixture[str]) -> None:
    """ON should keep those of dcli's targets that it names, and be the targets where dcli names none."""
    assert main(["-r", "wb", f"on exa1cel02 dcli -c {SHORT} hostname"]) == 0
    assert main(["-r", "wb", "on exa1cel03 dcli hostname;"]) == 0
    assert main(["-r", "wb", "-c", "exa1cel01", "dcli", "hostname"]) == 0
    assert capsys.readouterr().out.split() == [w for c in ("2", "3", "1") for w in (f"exa1cel0{c}:", f"exa1cel0{c}")]


AT_ONCE = [
    "alter cell restart services cellsrv",
    "alter cell shutdown services all",
    "alter griddisk all inactive",
]


@pytest.mark.parametrize("serial", [(), ("--serial",)])
@pytest.mark.parametrize("change", AT_ONCE)
def test_two_failure_groups_never_go_together(dcli: Callable[..., Done], change: str, serial: tuple[str, ...]) -> None:
    """What takes disks of several cells offline is refused before anything is sent, one after the other as well unless each
    cell has its disks back before the next one."""
    done = dcli("-c", SHORT, *serial, f"cellcli -e {change}", before=("-y",))
    assert done.code == 2
    assert "offline together; each cell is a failure group; nothing was sent" in done.err
