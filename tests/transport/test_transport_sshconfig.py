"""ssh_config files as one target sees them, compared with what the system's ssh -G makes of the same files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import paramiko
import pytest

from exacell.core.errors import ConfigError
from exacell.transport.ssh.route import Hop, Route, jump_hops
from exacell.transport.ssh.sshconfig import SshConfigFiles, expand_tokens, matches_list


def lookup(path: Path, target: str, user: str | None = None) -> paramiko.SSHConfigDict:
    return paramiko.SSHConfig.from_text(SshConfigFiles.read(path).text_for(target, user=user)).lookup(target)


CONFIGS = {
    "first value wins": "Host a\nPort 1\nHost *\nPort 2\n",
    "before any host": "Port 5\nHost a\nPort 6\n",
    "negation": "Host * !a\nPort 7\nHost a b\nPort 8\n",
    "question mark": "Host ce?\nPort 9\n",
    "equals and quotes": 'Host=a\n  Port = 10\n  User "some"\n',
    "match host": "Host a\nHostName real\nMatch host real\nPort 11\n",
    "match originalhost": "Match originalhost a\nPort 12\nMatch all\nPort 13\n",
    "match user": "Host a\nUser celladmin\nMatch user celladmin\nPort 14\n",
    "include": "Include {dir}/part*\nHost *\nPort 15\n",
    "include in host": "Host a\nInclude {dir}/part1\nHost *\nPort 16\n",
    "include goes on": "Host b\nInclude {dir}/part1\nPort 17\nHost *\nPort 18\n",
    "host in include in host": "Host b\nInclude {dir}/part2\nHost *\nPort 19\n",
    "include in match": "Match originalhost b\nInclude {dir}/part1\nMatch all\nPort 20\n",
    "comment": "# Host a\nHost a # b\nPort 21\n",
    "brackets are literal": "Host c[1-9]\nPort 22\nHost *\nPort 23\n",
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
def test_as_openssh_reads_it(tmp_path: Path, text: str) -> None:
    """It should come to the same host name, port and user as OpenSSH."""
    if shutil.which("ssh") is None:
        pytest.skip("no ssh program is installed (openssh-client)")
    (tmp_path / "part1").write_text("Port 101\n")
    (tmp_path / "part2").write_text("Host a\nPort 102\nHost b\nUser fromb\n")
    path = tmp_path / "config"
    path.write_text(text.format(dir=tmp_path))
    for target in ("a", "b", "cel", "c1"):
        output = subprocess.run(["ssh", "-G", "-F", path, target], capture_output=True, text=True, check=True).stdout
        theirs = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
        ours = lookup(path, target)
        assert (ours.get("hostname"), ours.get("port", "22")) == (theirs["hostname"], theirs["port"]), target
        if "user" in ours:
            assert ours["user"] == theirs["user"]


def test_certain_login_wins(tmp_path: Path) -> None:
    """It should put the role's login before every User, for Match and tokens too."""
    path = tmp_path / "c"
    path.write_text("Host *\nUser other\nProxyCommand nc %r %h\nMatch user me\nPort 99\n")
    found = lookup(path, "a", user="me")
    assert (found["user"], found["port"], found["proxycommand"]) == ("me", "99", "nc me a")


def test_only_relevant_text_is_kept(tmp_path: Path) -> None:
    """It should hand the parser only the blocks that can matter, however many hosts the file has."""
    path = tmp_path / "c"
    path.write_text("".join(f"Host cel{n}\nPort {n}\n" for n in range(1, 400)))
    text = SshConfigFiles.read(path).text_for("cel300")
    assert "Port 300" in text and len(text.splitlines()) < 6


def test_include_that_goes_wrong(tmp_path: Path) -> None:
    """It should name the file of an endless include, a missing file, and bad quoting."""
    loop = tmp_path / "loop"
    loop.write_text(f"Include {loop}\n")
    with pytest.raises(ConfigError, match="deeper than 16"):
        SshConfigFiles.read(loop)
    with pytest.raises(ConfigError, match="can't be read"):
        SshConfigFiles.read(tmp_path / "none")
    loop.write_text('Include "x\n')
    with pytest.raises(ConfigError, match="loop:1"):
        SshConfigFiles.read(loop)


def test_users_and_systems_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should read the user's file, relative includes beside it, when no file is given."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host z\nPort 1\nHost y\nInclude more\n")
    (tmp_path / ".ssh" / "more").write_text("Port 2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    text = SshConfigFiles.read(None).text_for("y")
    assert paramiko.SSHConfig.from_text(text).lookup("y")["port"] == "2"


PATTERNS = [
    (("cel*",), "cel01", True),
    (("cel*", "!cel01"), "cel01", False),
    (("!cel01", "cel*"), "cel02", True),
    (("!cel01",), "cel02", False),
    (("cel0?",), "cel012", False),
    (("[*]:22",), "[::1]:22", True),
    ((), "x", False),
]


@pytest.mark.parametrize(("patterns", "name", "expected"), PATTERNS)
def test_patterns(patterns: tuple[str, ...], name: str, expected: bool) -> None:
    """It should match pattern lists as OpenSSH does."""
    assert matches_list(patterns, name) is expected


def test_tokens() -> None:
    """It should replace known tokens, %% by %, and leave unknown ones."""
    assert expand_tokens("%d/%h-%%-%z", {"d": "/home", "h": "cel"}) == "/home/cel-%-%z"


HOPS = [
    ("gate", Hop(host="gate", user=None, port=None)),
    ("me@gate:2222", Hop(host="gate", user="me", port=2222)),
    ("ssh://me@gate:2222/", Hop(host="gate", user="me", port=2222)),
    ("[fe80::1]:22", Hop(host="fe80::1", user=None, port=22)),
]


@pytest.mark.parametrize(("text", "hop"), HOPS)
def test_hops(text: str, hop: Hop) -> None:
    """It should read a hop of ProxyJump in each of its forms."""
    assert Hop.parse(text) == hop


def test_hop_lists() -> None:
    """It should read none, lists, and not send a gateway through itself."""
    assert jump_hops("none", host="h", target="t") == ()
    assert jump_hops("a, b", host="h", target="t") == ("a", "b")
    assert jump_hops("gate", host="gate.example.com", target="gate") == ()
    with pytest.raises(ConfigError, match="not of the form"):
        jump_hops("a:b:c", host="h", target="t")


def route(**options: object) -> Route:
    return Route(target="c1", host="10.0.0.1", port=2222, user="u", options=options, hops=(), connect_timeout=1)


def test_known_hosts_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """It should find the default files, several, none, and tokens in their names."""
    monkeypatch.setenv("HOME", "/h")
    assert route().user_known_hosts == (Path("/h/.ssh/known_hosts"), Path("/h/.ssh/known_hosts2"))
    assert len(route().known_hosts) == 4
    options = {"userknownhostsfile": "~/a %d/%h-%p", "globalknownhostsfile": "none"}
    assert route(**options).known_hosts == (Path("/h/a"), Path("/h/10.0.0.1-2222"))
    assert route().key_names == ("[10.0.0.1]:2222", "10.0.0.1")
    assert route(hostkeyalias="rack").key_names == ("rack",)
    assert route().revoked_file is None
    assert route(revokedhostkeys="/r").revoked_file == Path("/r")


@pytest.mark.parametrize(("value", "asked"), [("~/.ssh/%r_%h", 0), ("/keys/%l/id", 1), ("/keys/id", 0)])
def test_the_own_name_is_asked_for_where_it_stands(monkeypatch: pytest.MonkeyPatch, value: str, asked: int) -> None:
    """DNS is asked for this host's full name for a text in which %l stands, never for another; tokens are expanded."""
    from exacell.transport.ssh.opener import FabricConnections

    calls: list[str] = []
    monkeypatch.setattr("socket.getfqdn", lambda *_: calls.append("asked") or "here.example.com")
    text = f"User ops\nHostName 10.0.0.7\nIdentityFile {value}\n"
    connection = FabricConnections().make("cel01", user=None, port=None, ssh_config=f"Host *\n{text}")
    home = os.path.expanduser("~")
    expected = value.replace("~", home).replace("%r", "ops").replace("%h", "10.0.0.7").replace("%l", "here.example.com")
    assert (connection.ssh_config["identityfile"], len(calls)) == ([expected], asked)
