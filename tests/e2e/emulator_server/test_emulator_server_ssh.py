"""The emulated hosts as the system's own OpenSSH sees them."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from server_fakes import RunningRack

from tests.support.patience import must_come


def test_a_plain_command_is_answered_with_both_streams(rack: RunningRack) -> None:
    """ssh host cellcli … reaches the program of that host and login, with its words, stdout and stderr."""
    done = rack.ssh("exa1cel01", "cellcli -e list cell")
    assert (done.returncode, done.stdout) == (0, "cellcli exa1cel01 celladmin ['-e', 'list', 'cell'] tty=False\n")
    assert done.stderr == "told on stderr\n"


@pytest.mark.parametrize(
    "command",
    ["cellcli status 3", "cellcli status 3 | cat; exit 3", "kill -TERM $$", "exit 300", "sh -c 'kill -9 $$'; exit"],
)
def test_exit_statuses_are_passed_on(rack: RunningRack, command: str) -> None:
    """The client gets the program's or the shell's status; where a signal ended the shell, ssh makes 255 of it."""
    expected = {"kill -TERM $$": 255, "exit 300": 44, "sh -c 'kill -9 $$'; exit": 137}.get(command, 3)
    assert rack.ssh("exa1cel01", command).returncode == expected


def test_the_default_logins_and_no_others_get_in(rack: RunningRack) -> None:
    """Cells take root, celladmin, cellmonitor; database nodes root, grid, oracle; everybody else is refused."""
    for host, login in (("exa1cel01", "cellmonitor"), ("exa1cel02", "root"), ("exa1db01", "oracle")):
        assert rack.ssh(f"{login}@{host}", "whoami").stdout == f"{login}\n"
    assert rack.ssh("exa1db01", "whoami").stdout == "grid\n"
    for host, login in (("exa1cel01", "grid"), ("exa1db01", "celladmin"), ("exa1cel01", "../celladmin")):
        refused = rack.ssh(host, "whoami", options=["-l", login])
        assert refused.returncode == 255 and "Permission denied" in refused.stderr


def test_who_is_refused_is_told_by_what_means_he_could_get_in(rack: RunningRack) -> None:
    """A stranger's refusal names public keys, as that of a known login without a key does."""
    assert "Permission denied (publickey)." in rack.ssh("nobody@exa1cel01", "true").stderr


CELL01, CELL02 = (f"cellcli exa1cel0{n} celladmin [] tty=False\n" for n in (1, 2))
JUMPS = [
    ("-J oracle@exa1db01", "exa1cel02", CELL02),
    ("-J exa1db01 -o HostName=exa1cel01.example.com -p 22", "exa1cel01", CELL01),
    ("-J exa1db01 -o HostName=192.168.10.12 -p 22", "exa1cel02", CELL02),
    ("-J exa1db01 -p 1", "exa1cel01", "open failed: connect failed: no host of the rack: 127.0.0.1:1"),
    ("-J exa1db01 -o HostName=www.example.com -p 22", "exa1cel01", "no host of the rack: www.example.com:22"),
    ("-J exa1cel02", "exa1cel01", "administratively prohibited: open failed"),
]


@pytest.mark.parametrize(("options", "host", "wanted"), JUMPS)
def test_a_database_node_is_a_jump_host(
    rack: RunningRack, tmp_path: Path, options: str, host: str, wanted: str
) -> None:
    """ssh -J reaches other hosts of the rack by port, name or address over a node; nothing else, and not over a cell."""
    # ssh hands -F on to the jump in a text whose percent signs it expands: no such sign may be in the file's name.
    config = tmp_path / "config"
    config.write_text(rack.files.ssh_config.read_text())
    command = ["ssh", "-F", str(config), *options.split(), host, "cellcli"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert wanted in done.stdout + done.stderr


def test_a_subsystem_that_is_not_there_is_refused(rack: RunningRack) -> None:
    """Any other subsystem than sftp ends with 255 and says so; no shell is started for it."""
    done = rack.ssh("exa1cel01", "nosuch", options=["-s"])
    assert (done.returncode, done.stdout, done.stderr) == (255, "", "subsystem request failed on channel 0\n")


def test_another_key_gets_in_only_through_authorized_keys(rack: RunningRack, tmp_path: Path) -> None:
    """A key of one's own is refused until it stands in that login's authorized_keys, and then accepted for it only."""
    key = tmp_path / "own"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    config = rack.files.ssh_config.read_text().replace(str(rack.files.identity).replace("%", "%%"), str(key))
    own_config = tmp_path / "config"
    own_config.write_text(config)

    def whoami(login: str) -> str:
        command = ["ssh", "-F", str(own_config), "-l", login, "exa1cel02", "whoami"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout

    assert whoami("celladmin") == ""
    rack.ssh("exa1cel02", "cat >> ~/.ssh/authorized_keys", stdin=key.with_suffix(".pub").read_text())
    assert whoami("celladmin") == "celladmin\n" and whoami("cellmonitor") == ""


def test_a_pipeline_runs_in_a_shell_that_speaks_for_the_host(rack: RunningRack) -> None:
    """( hostname; cellcli … | egrep … ) 2>&1 works as on a cell, in the login's home directory."""
    done = rack.ssh(
        "exa1cel02", "( hostname; cellcli -e list flashcache detail | egrep flash; uname -n; id -un; pwd ) 2>&1"
    )
    assert done.returncode == 0 and done.stderr == ""
    assert sorted(done.stdout.splitlines()) == sorted(
        [
            "exa1cel02",
            "cellcli exa1cel02 celladmin ['-e', 'list', 'flashcache', 'detail'] tty=False",
            "told on stderr",
            "exa1cel02",
            "celladmin",
            "/home/celladmin",
        ]
    )


def test_id_tells_the_emulated_login(rack: RunningRack) -> None:
    """id speaks for the login, whoever runs the emulator."""
    done = rack.ssh("root@exa1cel01", "id; id -u; id -un; id cellmonitor; id -u nobody")
    assert done.stdout.splitlines()[:3] == ["uid=0(root) gid=0(root) groups=0(root)", "0", "root"]
    assert done.stdout.splitlines()[3].startswith("uid=1001(cellmonitor)")
    assert done.returncode == 1 and done.stderr == "id: nobody: no such user\n"


@pytest.mark.parametrize("command", ["cellcli ask -n", "cellcli ask -n | cat"])
def test_a_script_on_standard_input_is_read_line_by_line(rack: RunningRack, command: str) -> None:
    """Statements come from standard input, the last one with or without a line end, in process and in a shell alike."""
    assert rack.ssh("exa1cel01", command, stdin="list cell\n\nlist lun").stdout == "<list cell>\n<>\n<list lun>\n"


@pytest.mark.parametrize("command", ["cellcli ask", "cellcli ask | cat"])
def test_prompts_are_shown_without_a_terminal_when_the_program_asks_for_them(rack: RunningRack, command: str) -> None:
    """A program that prompts without a terminal shows one prompt for each line that it reads."""
    assert rack.ssh("exa1cel01", command, stdin="a\nb\n").stdout == "CellCLI> <a>\nCellCLI> <b>\nCellCLI> "


def test_a_program_without_need_leaves_standard_input_alone(rack: RunningRack) -> None:
    """In a loop over lines, a cellcli that reads nothing does not swallow the loop's input."""
    script = "while read word; do cellcli -e list $word 2>/dev/null; done"
    done = rack.ssh("exa1cel01", script, stdin="cell\nlun\n")
    assert [line.split("'")[5] for line in done.stdout.splitlines()] == ["cell", "lun"]


@pytest.mark.parametrize("command", ["cellcli big 30000", "cellcli big 30000 | cat"])
def test_long_output_arrives_whole(rack: RunningRack, command: str) -> None:
    """Three megabytes come through unchanged."""
    lines = rack.ssh("exa1cel01", command).stdout.splitlines()
    assert len(lines) == 30000 and all(line.startswith(f"{number:08d} ") for number, line in enumerate(lines))


@pytest.mark.parametrize("command", ["cat | wc -c", "sleep 0.1; wc -c", "tar xf - -O | wc -c"])
def test_long_input_arrives_whole(rack: RunningRack, tmp_path: Path, command: str) -> None:
    """Three megabytes on standard input reach a shell's command to the last byte, time after time, whoever is slow."""
    size = 3_000_000
    (tmp_path / "blob").write_bytes(os.urandom(size))
    source = ["tar", "-C", str(tmp_path), "-cf", "-", "blob"] if "tar" in command else ["cat", str(tmp_path / "blob")]
    for _ in range(5):
        with subprocess.Popen(source, stdout=subprocess.PIPE) as sender:
            line = ["ssh", "-F", str(rack.files.ssh_config), "exa1cel01", command]
            done = subprocess.run(line, stdin=sender.stdout, capture_output=True, text=True, timeout=300)
        assert (done.stdout.strip(), done.stderr) == (str(size), "")


def test_long_input_arrives_whole_on_a_terminal(rack: RunningRack) -> None:
    """Of a file that is sent through ssh -tt, the shell's command gets every line."""
    lines = "".join(f"{number:07d} {'x' * 60}\n" for number in range(20_000))
    command = "stty -echo; awk '/^END/ {print \"lines\", NR; exit}'"
    for _ in range(3):
        done = rack.ssh("exa1cel01", command, stdin=f"{lines}END\n", options=["-tt"])
        assert done.stdout.splitlines()[-1].endswith("lines 20001")


def test_a_terminal_is_as_large_as_the_clients_window(rack: RunningRack) -> None:
    """The shell's terminal has the size of the client's window, and takes on another one while a command runs."""
    line = ["-F", str(rack.files.ssh_config), "-tt", "exa1cel01"]
    watch = "trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.1; done"
    client = pexpect.spawn("ssh", [*line, f"bash -c {shlex.quote(watch)}"], dimensions=(33, 101), timeout=300)
    client.expect_exact("33 101")
    client.setwinsize(44, 120)
    client.expect_exact("44 120")
    client.expect(pexpect.EOF)
    client.close()


def test_input_that_nobody_reads_ends_with_the_command(rack: RunningRack) -> None:
    """A command that leaves its input unread ends the session with its own status at once."""
    done = rack.ssh("exa1db01", "head -c 3; exit 7", stdin="abc" * 1_000_000)
    assert (done.stdout, done.returncode) == ("abc", 7)


def test_a_failing_program_is_one_line_and_status_70(rack: RunningRack) -> None:
    """A fault in a program ends that program alone, keeps what it printed, and is not shown as a traceback."""
    done = rack.ssh("exa1cel01", "cellcli crash")
    assert (done.returncode, done.stdout) == (70, "so far\n")
    assert done.stderr == "cellcli: the emulator failed here; its log tells why\n"
    assert rack.ssh("exa1cel01", "cellcli status 0").returncode == 0


def test_an_unknown_program_fails_as_in_any_shell(rack: RunningRack) -> None:
    """What a host does not have is command not found, status 127; programs of the other kind of host included."""
    for host, program in (("exa1cel01", "sqlplus"), ("exa1db01", "cellcli"), ("exa1cel01", "no_such")):
        done = rack.ssh(host, program)
        assert done.returncode == 127 and "not found" in done.stderr


def test_programs_are_reached_where_they_are_installed(rack: RunningRack) -> None:
    """$ORACLE_HOME/bin/… works in plain commands and in shells, with the assignments in front of it."""
    path = "/u01/app/19.0.0.0/grid/bin/sqlplus"
    assert rack.ssh("exa1db01", f"ORACLE_SID=+ASM1 {path} env ORACLE_SID").stdout == "+ASM1\n"
    assert rack.ssh("exa1db01", ". ~/.bash_profile; $ORACLE_HOME/bin/sqlplus env ORACLE_SID").stdout == "+ASM1\n"


def test_a_client_that_leaves_ends_what_it_ran(rack: RunningRack) -> None:
    """When the client is gone, programs are closed and the processes of its shell end, whatever they wait for."""
    unique = 100_000 + os.getpid()
    for number, command in ((301, "cellcli sleep 301"), (302, f"cellcli sleep 302 | cat; sleep {unique}")):
        command_line = ["ssh", "-F", str(rack.files.ssh_config), "exa1cel01", command]
        client = subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert client.stdout is not None and client.stdin is not None
        assert client.stdout.readline() == b"asleep\n"
        client.kill()
        client.communicate()
        must_come(lambda number=number: f"sleep {number}" in rack.world.closed)
    assert subprocess.run(["pgrep", "-f", f"^sleep {unique}$"], capture_output=True).stdout == b""


def test_waiting_programs_do_not_hold_up_others(rack: RunningRack) -> None:
    """While one program waits, another session on the same host is served at once."""
    command_line = ["ssh", "-F", str(rack.files.ssh_config), "exa1cel01", "cellcli sleep 30400"]
    client = subprocess.Popen(command_line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert client.stdout is not None
    client.stdout.readline()
    assert rack.ssh("exa1cel01", "cellcli status 0").returncode == 0
    assert client.poll() is None, "it was served behind it"
    client.kill()
    client.communicate()


@pytest.mark.parametrize("mode", [[], ["-O"]])
def test_files_are_copied_both_ways(rack: RunningRack, tmp_path: Path, mode: list[str]) -> None:
    """scp, over SFTP and in its old protocol, copies files and trees to the home directory and back, modes included."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "script.sh").write_text("echo copied; cellcli status 5")
    (tree / "script.sh").chmod(0o755)
    where = f"dest{len(mode)}"
    assert rack.run("scp", "-q", *mode, "-r", "-p", str(tree), f"exa1cel01:{where}").returncode == 0
    done = rack.ssh("exa1cel01", f"./{where}/script.sh")
    assert (done.returncode, done.stdout) == (5, "copied\n")
    assert rack.run("scp", "-q", *mode, f"exa1cel01:{where}/script.sh", str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back").read_text() == (tree / "script.sh").read_text()
    missing = rack.run("scp", *mode, "exa1cel01:missing", str(tmp_path / "x"))
    assert missing.returncode == 1 and "No such file" in missing.stderr


def test_sftp_starts_in_the_home_directory(rack: RunningRack, tmp_path: Path) -> None:
    """sftp's batch commands work on the login's home directory and end with status 0."""
    (tmp_path / "f").write_text("x")
    batch = f"pwd\nput {tmp_path}/f up\nmkdir d\nrename up d/up\nsymlink up d/link\nls d\nget d/link {tmp_path}/back\n"
    done = rack.run("sftp", "-q", "-b", "-", "cellmonitor@exa1cel02", stdin=batch)
    assert done.returncode == 0, done.stderr
    assert "/home/cellmonitor" in done.stdout and "d/link" in done.stdout
    assert (tmp_path / "back").read_text() == "x"


def test_state_is_saved_when_a_statement_has_changed_something(rack: RunningRack) -> None:
    """The state file follows each statement that changes something, while the session is still open, and no other."""
    command_line = ["ssh", "-F", str(rack.files.ssh_config), "exa1cel01", "cellcli ask"]
    client = subprocess.Popen(command_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdin is not None
    before = rack.world.statements
    client.stdin.write(b"alter\n")
    client.stdin.flush()
    state = rack.files.state / "cell-exa1cel01.json"
    must_come(lambda: state.exists() and state.read_text() == f'{{"statements":{before + 1}}}\n')
    client.communicate()
    saved = state.stat().st_ino
    rack.ssh("exa1cel01", "cellcli -e list cell")
    assert state.stat().st_ino == saved


@pytest.fixture
def terminal(rack: RunningRack) -> Iterator[pexpect.spawn]:
    """A login shell on exa1cel01 in a terminal, at its prompt."""
    arguments = ["-F", str(rack.files.ssh_config), "exa1cel01"]
    child = pexpect.spawn("ssh", arguments, encoding="utf-8", timeout=300, dimensions=(30, 100), env=_TERMINAL)
    child.expect_exact("[celladmin@exa1cel01 ~]$ ")
    yield child
    child.close(force=True)


_TERMINAL = {"TERM": "dumb", "PATH": "/usr/bin:/bin"}


def test_a_login_shell_knows_its_terminal(terminal: pexpect.spawn) -> None:
    """Without a command there is a shell with the host's prompt, the client's window size, and its own exit status."""
    terminal.sendline("stty size")
    terminal.expect("30 100")
    terminal.setwinsize(40, 120)
    # ssh may pass on what is typed before it passes on the new size. No echo of the line looks like the answer.
    terminal.sendline("until stty size | grep '^40 .2'; do sleep 0.05; done; cd /")
    terminal.expect_exact("40 120")
    terminal.expect_exact("[celladmin@exa1cel01 /]$ ")
    terminal.sendline("exit 7")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 7


def test_a_program_in_a_terminal_has_line_editing(terminal: pexpect.spawn) -> None:
    """On a terminal the program prompts, recalls earlier lines with the up key, and ends at end of input."""
    terminal.sendline("cellcli ask")
    terminal.expect_exact("CellCLI> ")
    terminal.sendline("list cell")
    terminal.expect_exact("<list cell>")
    terminal.expect_exact("CellCLI> ")
    terminal.send("\x1b[A")
    terminal.sendline(" detail")
    terminal.expect_exact("<list cell detail>")
    terminal.expect_exact("CellCLI> ")  # a Ctrl-D that comes before line editing begins again is lost, as in bash
    terminal.sendeof()
    terminal.expect_exact("[celladmin@exa1cel01 ~]$ ")


def test_ctrl_c_interrupts_a_program_in_a_terminal(rack: RunningRack, terminal: pexpect.spawn) -> None:
    """Ctrl-C ends the running program, closes it in the rack, and leaves the shell."""
    terminal.sendline("cellcli sleep 305")
    terminal.expect_exact("asleep")
    terminal.sendintr()
    terminal.expect_exact("[celladmin@exa1cel01 ~]$ ")
    must_come(lambda: "sleep 305" in rack.world.closed)


def test_ssh_with_a_terminal_runs_one_program(rack: RunningRack) -> None:
    """ssh -t host cellcli is an interactive cellcli whose end ends the connection with its status."""
    arguments = ["-t", "-F", str(rack.files.ssh_config), "exa1cel01", "cellcli", "ask"]
    child = pexpect.spawn("ssh", arguments, encoding="utf-8", timeout=300, env=_TERMINAL)
    child.expect_exact("CellCLI> ")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
