"""What ssh_config says of one target: our own reader, the ssh program where it has to be asked, and who runs what."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from exacell.core.errors import ConfigError
from exacell.transport.ssh import answer as answering, programs
from exacell.transport.ssh.answer import SshConfig
from exacell.transport.ssh.programs import Program
from exacell.transport.ssh.resolving import local_user
from exacell.transport.ssh.route import Hop, Route, jump_hops
from exacell.transport.ssh.sshconfig import SshConfigFiles, expand_tokens, matches_list

Write = Callable[[str], SshConfig]


@pytest.fixture
def config(tmp_path: Path) -> Write:
    """Make a configuration of one file from its text."""

    def make(text: str) -> SshConfig:
        path = tmp_path / "config"
        path.write_text(text)
        return SshConfig(path)

    return make


@pytest.fixture
def fake_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program ssh alone on PATH, which notes its words in a file and knows every host's name; returns that file."""
    folder, noted = tmp_path / "bin", tmp_path / "noted"
    folder.mkdir()
    (folder / "ssh").write_text(
        f'#!/bin/sh\necho "$@" >>{noted}\nfor last; do :; done\necho "hostname $last.asked"\necho "port 2222"\n'
        'echo "user me"\necho "identityfile ~/.ssh/%h"\necho "proxycommand nc %h %p"\n'
        'echo "userknownhostsfile /k/one /k/my two ~/three"\n'
    )
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return noted


@pytest.fixture
def no_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program ssh on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))


def test_certain_login_wins(config: Write) -> None:
    """The role's login and a hop's port stand before every User and Port, for Match and tokens too."""
    found = config("Host *\nUser other\nPort 1\nProxyCommand nc %r %h:%p\nMatch user me\nHostName h\n").answer(
        "a", user="me", port=99
    )
    assert found.proxy is not None
    assert (found.user, found.port, found.host, found.proxy.command) == ("me", 99, "h", "nc me h:99")


def test_the_files_are_read_once(config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are read once, however many hosts are asked for."""
    reads = []
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, **how: reads.append(path) or read_text(path, **how))
    hosts = config("".join(f"Host cel{n}\nPort {n}\n" for n in range(1, 400)))
    assert [hosts.answer(f"cel{n}").port for n in range(1, 65)] == list(range(1, 65))
    assert len(reads) == 1


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
    """It should read the user's file before the system's, relative includes beside each, when no file is given."""
    for folder, name, included in ((".ssh", "config", "Port 2\n"), ("etc", "ssh_config", "Port 3\nUser system\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("Host z\nPort 1\nHost y\nInclude more\n")
        (tmp_path / folder / "more").write_text(included)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("exacell.transport.ssh.sshconfig.SYSTEM_CONFIG", str(tmp_path / "etc" / "ssh_config"))
    found = SshConfig(None).answer("y")
    assert (found.port, found.user) == (2, "system")


WRONG = [
    ("Port many", "port can't be 'many'"),
    ("Port 0", "port can't be '0'"),
    ("Port 65536", "port can't be '65536'"),
    ("Port", "port needs a value"),
    ('User "x', 'a quote " is not closed: close the quote'),
    ("ConnectTimeout soon", "connecttimeout can't be 'soon'"),
    ("ConnectTimeout 1m2", None),
    ("AddressFamily ipx", "addressfamily can't be 'ipx'"),
    ("IdentitiesOnly perhaps", "identitiesonly can't be 'perhaps'"),
    ("IdentitiesOnly true", None),
    ('SomethingElse "x', None),
    ("Ciphers", None),
]


@pytest.mark.parametrize(("line", "problem"), WRONG)
def test_a_line_that_is_wrong(config: Write, line: str, problem: str | None) -> None:
    """A wrong value is refused with its file and line where it concerns the target and us, and nowhere else."""
    hosts = config(f"Host a\n  {line}\nHost b\n  Port 5\n")
    assert hosts.answer("b").port == 5
    if problem is None:
        hosts.answer("a")
        return
    with pytest.raises(ConfigError) as caught:
        hosts.answer("a")
    assert problem in caught.value.message and "config:2" in caught.value.message


UNREAD = [
    ("Match tagged exa\n  Port 9", "config:1: 'Match tagged'"),
    ("Match localnetwork 10.0.0.0/8 host a\n  User x", "config:1: 'Match localnetwork'"),
    ("Match sessiontype shell\n  Match\nMatch sessiontype shell\n  ProxyJump x", "config:3: 'Match sessiontype'"),
    ("Match version OpenSSH_10* exec true\n  IdentityFile x", "config:1: 'Match version'"),
    ("Match host\n  HostName x", "config:1: 'Match host' needs a value, which"),
    ("Match all host a\n  HostName x", "config:1: 'all' must be alone in a Match line, which"),
    ('Match host "a\n  HostName x', "config:1: '\"a' can't be read: close the quote, which"),
    ('Host "a\n  HostName x', 'config:1: a quote " is not closed, which'),
    ("CanonicalizeHostname yes\nCanonicalDomains example.com", "config:1: CanonicalizeHostname yes"),
]


@pytest.mark.parametrize(("text", "what"), UNREAD)
@pytest.mark.usefixtures("no_ssh")
def test_what_nobody_can_read(config: Write, text: str, what: str) -> None:
    """Without an ssh program, what can't be read here is told with file, line and the way out."""
    with pytest.raises(ConfigError) as caught:
        config(text + "\n").answer("a")
    assert what in caught.value.message and "no ssh program" in caught.value.message
    assert "install openssh-clients" in caught.value.message and "--ssh-config" in caught.value.message


HARMLESS = [
    "Match tagged x host other*\n  Port 99",
    "Match host other* tagged x\n  Port 99",
    "Match host=other* localnetwork 10.0.0.0/8\n  Port 99",
    "Host other\nMatch tagged x !all\n  Port 99",
    "Match tagged x\n  ForwardX11 yes\n  SetEnv A=b",
    "Port 5\nMatch tagged x\n  Port 99",
    "Match !host a tagged x\n  Include {dir}/none*\n  Port 99",
    "Match tagged x",
    "ProxyJump none\nMatch tagged x\n  ProxyJump y",
    "Host other\n  Include {dir}/strange",
    'Host "other\nHost b\nMatch host "o\n  ForwardX11 yes',
    "CanonicalizeHostname no\nCanonicalDomains example.com",
]


@pytest.mark.parametrize("text", HARMLESS)
@pytest.mark.usefixtures("no_ssh")
def test_what_cannot_concern_the_target(tmp_path: Path, config: Write, text: str) -> None:
    """A block that can't concern the target, or sets nothing that counts, refuses nothing and asks nobody."""
    (tmp_path / "strange").write_text("Match tagged x\n  Port 99\n")
    found = config(text.replace("{dir}", str(tmp_path)) + "\nMatch all\nPort 5\nUser u\n").answer("a")
    assert (found.port, found.user, found.asked) == (5, "u", "")


def test_ssh_is_asked(config: Write, fake_ssh: Path) -> None:
    """What can't be read here is what ssh -G says of the same file, login and port; tokens that it leaves are replaced."""
    hosts = config("Match tagged x\n  HostName z\n")
    found = hosts.answer("a", user="me", port=7)
    home = os.path.expanduser("~")
    assert (found.host, found.port, found.user) == ("a.asked", 2222, "me")
    assert found.lists["identityfile"] == (f"{home}/.ssh/a.asked",)
    assert found.lists["userknownhostsfile"] == ("/k/one", "/k/my two", f"{home}/three")
    assert found.proxy == Program(what="ProxyCommand", command="nc a.asked 2222", where="a", own=False)
    assert "'Match tagged' is read by ssh -G" in found.asked
    assert fake_ssh.read_text().startswith("-G -F ") and fake_ssh.read_text().endswith("config -l me -p 7 -- a\n")


def test_ssh_is_asked_once_a_host(config: Write, fake_ssh: Path) -> None:
    """ssh is asked once for each host, however often and from however many threads, and anew by the next process."""
    hosts = config("Match tagged x\n  Port 9\n")
    with ThreadPoolExecutor(8) as pool:
        names = [f"cel{n % 4}" for n in range(32)]
        assert [found.host for found in pool.map(hosts.answer, names)] == [f"{name}.asked" for name in names]
    assert sorted(line.split()[-1] for line in fake_ssh.read_text().splitlines()) == ["cel0", "cel1", "cel2", "cel3"]
    config("Match tagged x\n  Port 9\n").answer("cel0")
    assert len(fake_ssh.read_text().splitlines()) == 5


def test_hosts_are_asked_for_side_by_side(config: Write, fake_ssh: Path, tmp_path: Path) -> None:
    """One host's question does not wait for another's: here each waits until both are asked."""
    program = fake_ssh.parent / "bin" / "ssh"
    program.write_text(
        f"#!/bin/sh\nfor last; do :; done\n: >{tmp_path}/$last\n"
        f"until [ -e {tmp_path}/one ] && [ -e {tmp_path}/two ]; do sleep 0.01; done\necho hostname $last\n"
    )
    hosts = config("Match tagged x\n  Port 9\n")
    with ThreadPoolExecutor(2) as pool:
        assert [found.host for found in pool.map(hosts.answer, ["one", "two"])] == ["one", "two"]


def test_ssh_that_cannot_read_it_either(config: Write, fake_ssh: Path) -> None:
    """What ssh says of a file that it can't read is told in its words, beside file and line; the next one tries again."""
    program = fake_ssh.parent / "bin" / "ssh"
    said = program.read_text()
    program.write_text("#!/bin/sh\necho 'config line 1: Unsupported Match attribute tagged' >&2\nexit 255\n")
    hosts = config("Match tagged x\n  Port 9\n")
    with pytest.raises(ConfigError, match=r"config:1: 'Match tagged' .* Unsupported Match attribute tagged"):
        hosts.answer("a")
    program.write_text(said)
    assert hosts.answer("a").host == "a.asked"


def test_ssh_reads_the_same_files(tmp_path: Path, fake_ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HOME is not the home of the passwd file, ssh gets a file that includes the user's and the system's."""
    program = fake_ssh.parent / "bin" / "ssh"
    program.write_text(f'#!/bin/sh\n[ "$2" = -F ] && cat "$3" >{fake_ssh}\necho hostname found\n')
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Match tagged x\n  Port 9\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert SshConfig(None).answer("a").host == "found"
    assert fake_ssh.read_text() == f"Include {tmp_path}/.ssh/config\nMatch all\nInclude /etc/ssh/ssh_config\n"


def test_what_runs_passes_one_door(config: Write, fake_ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Match exec, ssh -G and each Match exec that ssh -G would run pass the one function that says what may run here."""
    asked: list[tuple[str, str, bool]] = []
    monkeypatch.setattr(programs, "check", lambda program: asked.append((program.what, program.command, program.own)))
    monkeypatch.setattr(answering, "check", programs.check)
    hosts = config('Match exec "test %h = a"\n  Port 9\nHost b\nMatch tagged x exec "touch /never"\n  User y\n')
    hosts.answer("a")
    own, *given, ssh = asked
    assert own == ("Match exec", "test a = a", False)
    assert given == [("Match exec", "test %h = a", False), ("Match exec", "touch /never", False)]
    assert ssh[0] == "ssh -G" and ssh[1].startswith("-G -F ")


def test_a_door_that_is_shut(config: Write, fake_ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the door refuses, nothing runs: neither here nor through ssh -G."""

    def shut(program: Program) -> None:
        raise ConfigError(f"{program.where}: {program.what} may not run")

    monkeypatch.setattr(programs, "check", shut)
    monkeypatch.setattr(answering, "check", shut)
    with pytest.raises(ConfigError, match="config:1: Match exec may not run"):
        config(f'Match exec "touch {fake_ssh}"\n  Port 9\n').answer("a")
    with pytest.raises(ConfigError, match="config:3: Match exec may not run"):
        config(f'Match tagged x\n  Port 9\nMatch exec "touch {fake_ssh}"\n').answer("a")
    assert not fake_ssh.exists()


def test_whose_file_names_a_program(tmp_path: Path, config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is the user's own when ~/.ssh/config names it, also where another file includes that one."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host a\n  Include more\n")
    (tmp_path / ".ssh" / "more").write_text("ProxyCommand nc a\n")
    hosts = config(f"Include {tmp_path}/.ssh/config\nProxyCommand nc b\n")
    found = [hosts.answer(name).proxy for name in ("a", "b")]
    assert [(proxy.command, proxy.own, proxy.where.rpartition("/")[2]) for proxy in found if proxy is not None] == [
        ("nc a", True, "more:1"),
        ("nc b", False, "config:2"),
    ]


def test_a_match_exec_is_run_once(tmp_path: Path, config: Write) -> None:
    """A Match exec with the same words runs once for all hosts and both passes, and its output goes nowhere."""
    hosts = config(f'Match exec "echo x; echo x >>{tmp_path}/runs"\n  Port 9\nMatch final all\n  User f\n')
    start = threading.Barrier(4)

    def ask(name: str) -> int:
        start.wait()
        return hosts.answer(name).port

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, "abcd")) == [9] * 4
    assert (tmp_path / "runs").read_text() == "x\n"


def test_a_match_exec_that_does_not_end(config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Match exec that does not end is ended, and told with file and line."""
    monkeypatch.setattr(answering, "PROGRAM_S", 0.1)
    with pytest.raises(ConfigError, match=r"config:1: Match exec 'sleep 100' did not end within 0\.1s"):
        config('Match exec "sleep 100"\n  Port 9\n').answer("a")


def test_a_user_without_a_name(config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user id that the system has no name for reads ssh_config, and is nobody to log in as."""

    def nobody(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    local_user.cache_clear()
    try:
        hosts = config("Match localuser root\n  Port 1\nHost b\n  User celladmin\n  IdentityFile /k/%u/%i\n")
        assert (hosts.answer("a").user, hosts.answer("a").port) == ("", 22)
        assert hosts.answer("b").lists["identityfile"] == (f"/k//{os.getuid()}",)
    finally:
        local_user.cache_clear()


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


def route(**options: str) -> Route:
    return Route(
        target="c1", host="10.0.0.1", port=2222, user="u", options=options, lists={}, hops=(), connect_timeout=1
    )


def test_known_hosts_files(config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should find the default files, several, none, and tokens in their names."""
    monkeypatch.setenv("HOME", "/h")
    usual = config("").answer("c1").lists
    assert usual["userknownhostsfile"] == ("/h/.ssh/known_hosts", "/h/.ssh/known_hosts2")
    assert len(usual["globalknownhostsfile"]) == 2
    text = (
        "UserKnownHostsFile ~/a %d/%h-%p ${NO_SUCH_NAME}/x\nGlobalKnownHostsFile none\nHostName 10.0.0.1\nPort 2222\n"
    )
    named = config(text).answer("c1").lists
    assert named["userknownhostsfile"] == ("/h/a", "/h/10.0.0.1-2222")
    assert named["globalknownhostsfile"] == ()
    assert route().key_names == ("[10.0.0.1]:2222", "10.0.0.1")
    assert route(hostkeyalias="rack").key_names == ("rack",)
    assert route().revoked_file is None
    assert route(revokedhostkeys="/r").revoked_file == Path("/r")


def test_the_own_name_is_not_asked_for(config: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """%l is the name that the host gives itself, as with ssh; DNS is asked for nothing."""
    monkeypatch.setattr("socket.gethostname", lambda: "here.example.com")
    monkeypatch.setattr("socket.getfqdn", lambda *_: pytest.fail("DNS was asked"))
    found = config("IdentityFile /k/%l/%L\n").answer("a")
    assert found.lists["identityfile"] == ("/k/here.example.com/here",)
