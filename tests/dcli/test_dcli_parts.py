"""ssh's options, files, keys and vmstat's table, each by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from exacell.change.dcli import files
from exacell.change.dcli.files import delivery_of
from exacell.change.dcli.options import DcliExit, SshOptions, parse_dcli, read_ssh_options
from exacell.change.dcli.output import Table, read_watch

SSH = {
    "-p 2222": (("Port 2222",), ()),
    "-p2222 -i ~/k -q": (("Port 2222", "IdentityFile ~/k"), ()),
    "-o Port=22 -oProxyJump=gw": (("Port 22", "ProxyJump gw"), ()),
    "-o 'ConnectTimeout 3' -4": (("ConnectTimeout 3", "AddressFamily inet"), ()),
    "-o StrictHostKeyChecking=no -o BatchMode=yes": ((), ("-o StrictHostKeyChecking=no",)),
    "-o StrictHostKeyChecking=yes": ((), ()),
    "-A -L 1:h:2": ((), ("-A", "-L 1:h:2")),
    "-J a,b -qT": (("ProxyJump a,b",), ()),
}


@pytest.mark.parametrize("text", SSH)
def test_ssh_options_are_understood_or_named(text: str) -> None:
    """Every option of -s should become a setting, be so anyway, or be told as without effect."""
    found = read_ssh_options(text, None)
    assert (found.settings, found.ignored) == SSH[text]


def test_scps_options_have_scps_meaning() -> None:
    """In --scp, -P should be the port and -p keep times."""
    found = read_ssh_options("-p 1", "-P 2 -r -p -F f")
    assert found == SshOptions(settings=("Port 1", "Port 2"), recursive=True, keep=True, config_file="f")


@pytest.mark.parametrize("text", ["-p", "-o 'x"])
def test_broken_ssh_options_are_usage_errors(text: str) -> None:
    """A missing value or quote should end with 2."""
    with pytest.raises(DcliExit) as end:
        read_ssh_options(text, None)
    assert end.value.status == 2


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "reset.sh"
    path.write_text("hostname\n")
    path.chmod(0o755)
    return path


DESTINATIONS = {
    "": ("reset.sh", "", "(if [ -d ./reset.sh ]; then ./reset.sh/reset.sh; else ./reset.sh; fi) 2>&1"),
    "/tmp/x": ("/tmp/x", "", "(if [ -d /tmp/x ]; then /tmp/x/reset.sh; else /tmp/x; fi) 2>&1"),
    "bin/": ("bin/", "bin/", "(if [ -d ./bin/ ]; then ./bin/reset.sh; else ./bin/; fi) 2>&1"),
    "\\~/x y": ("x y", "", "(if [ -d './x y' ]; then './x y/reset.sh'; else './x y'; fi) 2>&1"),
    "\\$HOME/x": ("x", "", "(if [ -d ./x ]; then ./x/reset.sh; else ./x; fi) 2>&1"),
}


@pytest.mark.parametrize("destination", DESTINATIONS)
def test_a_file_is_copied_and_run_where_d_says(script: Path, destination: str) -> None:
    """Relative destinations should start with ./ in the command, and one that ends in / be made first."""
    found = delivery_of(parse_dcli(["-x", str(script), "-d", destination]), SshOptions())
    assert found is not None and found.upload.keep
    assert (found.upload.destination, found.directory, found.run) == DESTINATIONS[destination]


def test_an_scl_file_is_fed_to_cellcli(tmp_path: Path) -> None:
    """A .scl file should be run by cellcli as a command file."""
    path = tmp_path / "a.scl"
    path.write_text("list cell\n")
    path.chmod(0o700)
    found = delivery_of(parse_dcli(["-x", str(path)]), SshOptions())
    assert found is not None
    assert found.run == "(if [ -d ./a.scl ]; then cellcli -e @./a.scl/a.scl; else cellcli -e @./a.scl; fi) 2>&1"


def test_root_works_in_its_own_directory(script: Path) -> None:
    """With --root-exadatatmp a relative destination should lie in /var/log/exadatatmp."""
    found = delivery_of(parse_dcli(["--root-exadatatmp", "-x", str(script)]), SshOptions())
    assert found is not None and found.upload.destination == "/var/log/exadatatmp/reset.sh"


def test_files_are_checked_before_anything_else(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing files, directories and files that may not be executed should be errors of the environment."""
    monkeypatch.setenv("SOMEWHERE", str(tmp_path))
    (tmp_path / "plain").write_text("x")
    gone = str(tmp_path / "none")
    for argv in (["-x", gone], ["-f", gone], ["-f", f"{gone}*"], ["-x", str(tmp_path)], ["-x", "$SOMEWHERE/plain"]):
        with pytest.raises(DcliExit) as end:
            delivery_of(parse_dcli(argv), SshOptions())
        assert (end.value.status, end.value.out) == (2, ""), argv
    with pytest.raises(DcliExit) as end:
        delivery_of(parse_dcli(["-d", "/tmp", "-k"]), SshOptions())
    assert end.value.out and "-d" in end.value.err
    found = delivery_of(parse_dcli(["-f", "$SOMEWHERE/*"]), SshOptions())
    assert found is not None and [p.name for p in found.upload.sources] == ["plain", "reset.sh"] and not found.run


def run_at(home: Path, command: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", command], env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_key_is_added_once_and_dropped_alone(tmp_path: Path) -> None:
    """-k should say whether the key was new, --unkey take away this key and no other."""
    file = tmp_path / ".ssh" / "authorized_keys"
    line = "ssh-rsa AAAA+/w== me@here"
    assert run_at(tmp_path, files.drop_command(line)) == "ssh key did not exist\n"
    assert run_at(tmp_path, files.push_command(line)) == "ssh key added\n"
    assert run_at(tmp_path, files.push_command(line)) == "ssh key already exists\n"
    assert file.read_text() == f"{line}\n" and file.stat().st_mode & 0o777 == 0o644
    file.write_text("ssh-ed25519 BBBB other")
    assert run_at(tmp_path, files.push_command(line)) == "ssh key added\n"
    assert file.read_text() == f"ssh-ed25519 BBBB other\n{line}\n"
    assert run_at(tmp_path, files.drop_command(line)) == "ssh key dropped\n"
    assert file.read_text() == "ssh-ed25519 BBBB other\n"


def test_the_rsa_key_is_preferred_and_made_when_there_is_none(tmp_path: Path) -> None:
    """The caller's key should be the RSA one, else another, else a new one where one may be made."""
    with pytest.raises(DcliExit):
        files.public_key(tmp_path, make=False)
    (tmp_path / "id_ed25519.pub").write_text("ssh-ed25519 AAAA x\n")
    assert files.public_key(tmp_path, make=False) == ("ssh-ed25519 AAAA x", "")
    line, said = files.public_key(tmp_path / "new", make=True)
    assert line.startswith("ssh-rsa ") and "id_rsa" in said
    assert (tmp_path / "new" / "id_rsa").stat().st_mode & 0o777 == 0o600
    assert files.public_key(tmp_path / "new", make=False) == (line, "")


WATCHES = {
    "": (True, None, 1, False, ["vmstat"]),
    "3": (True, 3, None, False, ["vmstat", "vmstat 3 2"]),
    "-a 3 2 -n": (True, 3, 2, True, ["vmstat -a", "vmstat -a 3 2"]),
    "-s": (False, None, None, False, ["vmstat -s"]),
    "3 0": (False, None, None, False, ["vmstat 3 0"]),
    "1 2 3": (False, None, None, False, ["vmstat 1 2 3"]),
    "-1": (False, None, None, False, ["vmstat -1"]),
}


@pytest.mark.parametrize("text", WATCHES)
def test_vmstats_words_are_told_apart(text: str) -> None:
    """Delay, count and -n should be dcli's, other words vmstat's, and what is not periodic run once as it is."""
    found = read_watch(text)
    periodic, delay, count, once, commands = WATCHES[text]
    assert (found.periodic, found.delay, found.count, found.header_once) == (periodic, delay, count, once)
    assert [found.command(n) for n in range(1, len(commands) + 1)] == commands


def test_vmstat_goes_on_as_often_as_asked() -> None:
    """A delay without a count should go on for ever, no delay end after one round."""
    assert [read_watch("3 2").goes_on(n) for n in (1, 2)] == [True, False]
    assert read_watch("3").goes_on(99) and not read_watch("").goes_on(1)


def test_vmstat_takes_no_shell() -> None:
    """Words that a shell would read should be refused."""
    with pytest.raises(DcliExit):
        read_watch("3; rm x")


OUT = "procs -----memory---\n r  b   swpd\n 1  0  {}\n"


def test_vmstat_stands_side_by_side_with_a_summary() -> None:
    """Rows should be right-justified behind names, with minimum, maximum and an average rounded half up."""
    table = Table(read_watch("1 2 -n"), ["a", "cel02"])
    assert table.lines({"a": OUT.format(5), "cel02": OUT.format(1234567)}, "10:11:12") == [
        "         procs -----memory---",
        "10:11:12  r  b    swpd",
        "       a: 1  0       5",
        "   cel02: 1  0 1234567",
        " Minimum: 1  0       5",
        " Maximum: 1  0 1234567",
        " Average: 1  0  617286",
    ]
    assert table.lines({"a": OUT.format(5), "cel02": OUT.format(6)}, "10:11:13")[0] == "       a: 1  0       5"


def test_one_target_needs_no_summary() -> None:
    """A single target should have its row alone."""
    assert len(Table(read_watch(""), ["a"]).lines({"a": OUT.format(5)}, "10:11:12")) == 3


def test_what_is_no_vmstat_is_refused() -> None:
    """Text without vmstat's header should raise, so that it is shown as it is."""
    with pytest.raises(ValueError, match="header"):
        Table(read_watch(""), ["a"]).lines({"a": "vmstat: not found"}, "x")
