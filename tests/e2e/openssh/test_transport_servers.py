"""Real OpenSSH servers with settings of their own: what ssh gets of them our SSH gets, and it says why where both are refused."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from exacell.core.config import RackConfig, Settings
from exacell.core.values import dataclass
from exacell.transport.base import State
from exacell.transport.openssh import OpensshTransport
from exacell.transport.ssh import SshTransport
from tests.support import sshd as sshd_support
from tests.support.patience import until
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]

pytestmark = [
    pytest.mark.sshd,
    pytest.mark.skipif(sshd_support.PROGRAM is None, reason="no sshd program is installed (openssh-server)"),
]

CELL = CELLS[0]
_SSH_S = 120


@contextmanager
def serving(folder: Path, extra: str = "") -> Iterator[Sshd]:
    """Run a server with more lines in its sshd_config; its own key is known."""
    server = Sshd(folder, extra=extra)
    try:
        server.start()
        server.known_hosts()
        yield server
    finally:
        server.stop()


def ssh(config: Path, command: str, target: str = CELL) -> tuple[int, str]:
    """Return the exit status of the program ssh, and its output."""
    words = ["ssh", "-F", str(config), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", target, command]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_SSH_S, check=False)
    return done.returncode, done.stdout


@dataclass(frozen=True, kw_only=True)
class Case:
    """A server and what becomes of a command.

    Attributes:
        server: lines of sshd_config; ``{folder}`` is a folder with what they name.
        config: lines of ssh_config.
        command: what is run.
        problem: a part of our complaint; empty where the command is carried out.
    """

    server: str = ""
    config: tuple[str, ...] = ()
    command: str = "echo yes"
    problem: str = ""


_LONG = "head -c 10000000 /dev/zero | tr '\\0' x"
CASES = {
    "a banner": Case(server="Banner {folder}/banner"),
    "new keys every megabyte of a long answer": Case(server="RekeyLimit 1M", command=_LONG),
    "new keys every megabyte of a long answer without GCM": Case(
        server="RekeyLimit 1M\nCiphers chacha20-poly1305@openssh.com,aes128-ctr", command=_LONG
    ),
    "one session for each connection": Case(server="MaxSessions 1"),
    "no session at all": Case(server="MaxSessions 0", problem="the SSH server refused a session"),
    "a login script that speaks": Case(server="ForceCommand echo noise; eval \"$SSH_ORIGINAL_COMMAND\""),
    "an account that may not log in": Case(
        server="ForceCommand echo 'This account is currently not available.'; exit 1", problem="exit status 1"
    ),
    "keys that are not allowed": Case(server="PubkeyAuthentication no\nKbdInteractiveAuthentication yes", problem="refused"),
    "a user who is not allowed": Case(server="DenyUsers *", problem="was refused"),
    "an old key exchange": Case(
        server="KexAlgorithms diffie-hellman-group14-sha1", problem="set transport openssh"
    ),
    "the oldest key exchange": Case(server="KexAlgorithms diffie-hellman-group1-sha1", problem="set transport openssh"),
    "an old key exchange with groups": Case(
        server="KexAlgorithms diffie-hellman-group-exchange-sha1", problem="set transport openssh"
    ),
    "a key exchange of 2013": Case(server="KexAlgorithms diffie-hellman-group14-sha256"),
    "a key exchange with groups": Case(server="KexAlgorithms diffie-hellman-group-exchange-sha256"),
    "elliptic curves only": Case(server="KexAlgorithms ecdh-sha2-nistp256"),
    "SHA-1 signatures of the host only": Case(server="HostKeyAlgorithms ssh-rsa", problem="set transport openssh"),
    "an old cipher": Case(server="Ciphers aes128-cbc", problem="set transport openssh"),
    "the oldest cipher": Case(server="Ciphers 3des-cbc", problem="set transport openssh"),
    "the longest key": Case(server="Ciphers aes256-ctr"),
    "a code with SHA-1": Case(server="Ciphers aes128-ctr\nMACs hmac-sha1"),
    "a code with MD5": Case(server="Ciphers aes128-ctr\nMACs hmac-md5", problem="set transport openssh"),
    "delayed compression": Case(server="Compression delayed"),
    "an address of IPv6": Case(server="ListenAddress ::1", config=("HostName ::1", "HostKeyAlias six")),
    "an address of IPv6 that known_hosts has": Case(server="ListenAddress ::1", config=("HostName ::1",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_servers(name: str, tmp_path: Path, transport_to: MakeTransport) -> None:
    """A command is carried out where ssh carries it out, with the same output; where ssh is refused, we say why in one line."""
    case = CASES[name]
    (tmp_path / "banner").write_text("Only for those who may.\n" * 20)
    with serving(tmp_path / "server", case.server.format(folder=tmp_path)) as server:
        key = server.public_key("host_ed25519")
        server.known_hosts(*(f"{at} {key}" for at in (f"[127.0.0.1]:{server.port}", f"[::1]:{server.port}", "six")))
        config = server.ssh_config(*case.config)
        status, said = ssh(config, case.command)
        result = transport_to(config, server.user).run([read(CELL, case.command)])
        reply = result.replies[CELL]
        assert (reply.state is State.OK) is (status == 0), f"ssh {status} {said[:200]!r}; ours: {reply.problem}"
        assert (status == 0) is (case.problem == "")
        assert reply.stdout == said
        assert case.problem in reply.problem and "\n" not in reply.problem


def test_what_openssh_is_told_to_accept(tmp_path: Path) -> None:
    """Where only SHA-1 is in common, the transport that our message names reaches the host, by ssh_config."""
    with serving(tmp_path / "server", "KexAlgorithms diffie-hellman-group14-sha1") as server:
        config = server.ssh_config("KexAlgorithms +diffie-hellman-group14-sha1")
        rack = RackConfig(name="t", cells=CELLS, read_user=server.user, write_user=server.user, ssh_config=config)
        transport = OpensshTransport(rack, Settings())
        try:
            assert transport.run([read(CELL, "echo yes")]).replies[CELL].stdout == "yes\n"
        finally:
            transport.close()


@contextmanager
def chain(folder: Path, *, first: str = "", second: str = "") -> Iterator[tuple[Sshd, Sshd, Sshd, Path]]:
    """Run two gateways and a cell, each with keys of its own; yield them and known_hosts with all three."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serving(folder / name, extra))
            for name, extra in (("one", first), ("two", second), ("cell", ""))
        ]
        known = folder / "known"
        known.write_text("".join(f"{s.directory.name} {s.public_key('host_ed25519')}\n" for s in servers))
        yield servers[0], servers[1], servers[2], known


def chained(servers: tuple[Sshd, Sshd, Sshd], known: Path, *, nested: bool) -> Path:
    """Write the ssh_config of a chain: a list of two hops, or a gateway that has a gateway."""
    config = known.with_name("config")
    ways = {"one": "none", "two": "one" if nested else "none", "cell": "two" if nested else "one,two"}
    blocks = []
    for server in servers:
        name = server.directory.name
        blocks.append(
            f"Host {CELL if name == 'cell' else name}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n"
            f"  HostKeyAlias {name}\n  ProxyJump {ways[name]}\n  IdentityFile {server.directory / 'login'}\n"
        )
    common = f"Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile {known}\n  GlobalKnownHostsFile none\n"
    config.write_text("".join(blocks) + common)
    config.chmod(0o600)
    return config


@pytest.mark.parametrize("nested", [False, True])
def test_two_gateways(nested: bool, tmp_path: Path, transport_to: MakeTransport) -> None:
    """Through two gateways a cell gives ssh and us the same long answer, over one connection to each."""
    with chain(tmp_path) as (one, two, cell, known):
        config = chained((one, two, cell), known, nested=nested)
        status, said = ssh(config, _LONG)
        transport = transport_to(config, cell.user)
        reply = transport.run([read(CELL, _LONG)]).replies[CELL]
        assert (status, reply.state) == (0, State.OK), reply.problem
        assert reply.stdout == said
        assert transport.run([read(CELL, "echo again")]).ok
        assert [len(server.sessions()) for server in (one, two, cell)] == [1, 1, 1]


GATEWAYS = {
    "the second one's key is unknown": ("", "", "two", "`trust two`"),
    "the first one's key is unknown": ("", "", "one", "`trust one`"),
    "the cell's key is unknown": ("", "", "cell", f"`trust {CELL}`"),
    "the first one passes nothing on": (
        "AllowTcpForwarding no",
        "",
        "",
        "gateway one: the SSH server refused a tunnel",
    ),
    "the second one passes nothing on": (
        "",
        "AllowTcpForwarding no",
        "",
        "gateway two: the SSH server refused a tunnel",
    ),
    "the second one passes on to others only": (
        "",
        "PermitOpen 127.0.0.1:1",
        "",
        "gateway two: the SSH server refused",
    ),
    "the second one lets nobody in": ("", "DenyUsers *", "", "gateway two: login "),
}


@pytest.mark.parametrize("name", GATEWAYS)
def test_a_gateway_that_does_not_help(name: str, tmp_path: Path, transport_to: MakeTransport) -> None:
    """Where one of two gateways stands in the way of ssh, it does in ours, and we name it and what it lacks."""
    first, second, unknown, part = GATEWAYS[name]
    with chain(tmp_path, first=first, second=second) as (one, two, cell, known):
        config = chained((one, two, cell), known, nested=False)
        kept = [
            line for line in known.read_text().splitlines(keepends=True) if not unknown or line.split()[0] != unknown
        ]
        known.write_text("".join(kept))
        reply = transport_to(config, cell.user).run([read(CELL, "echo yes")]).replies[CELL]
        assert ssh(config, "echo yes")[0] == 255
        assert reply.state is State.UNREACHABLE
        assert part in reply.problem and "\n" not in reply.problem


def test_one_session_and_more_to_do(tmp_path: Path, transport_to: MakeTransport) -> None:
    """On a server with one session a connection, a CellCLI that is kept open takes no other command its place."""
    with serving(tmp_path / "server", "MaxSessions 1") as server:
        transport = transport_to(server.ssh_config(), server.user)
        for command in ("cellcli -e list cell", "echo a", "cellcli -e list cell", "cellcli -e list griddisk", "echo b"):
            reply = transport.run([read(CELL, command)]).replies[CELL]
            assert reply.state is State.OK, (command, reply)
            assert reply.stdout == ssh(server.ssh_config(), command)[1]


def test_too_many_that_log_in(tmp_path: Path, transport_to: MakeTransport) -> None:
    """A server that takes no more logins refuses ssh and us, we name MaxStartups, and once there is room both are let in."""
    with serving(tmp_path / "server", "MaxStartups 1:100:1\nLoginGraceTime 600") as server:
        config = server.ssh_config()
        transport = transport_to(config, server.user)
        with socket.create_connection(("127.0.0.1", server.port)) as idle:
            assert idle.recv(100).startswith(b"SSH-2.0")
            assert ssh(config, "echo yes")[0] == 255
            reply = transport.run([read(CELL, "echo yes")]).replies[CELL]
            assert reply.state is State.UNREACHABLE
            assert "MaxStartups" in reply.problem
        assert until(lambda: ssh(config, "echo yes")[0] == 0)
        assert transport.run([read(CELL, "echo yes")]).ok


def test_a_server_that_dies_in_the_middle(tmp_path: Path, transport_to: MakeTransport) -> None:
    """An answer whose server dies is never a good one, whatever came of it; the next read is answered whole."""
    with serving(tmp_path / "server") as server:
        config = server.ssh_config()
        command = "head -c 3000000 /dev/zero | tr '\\0' x; kill -9 $PPID; sleep 600"
        assert ssh(config, command)[0] == 255
        transport = transport_to(config, server.user)
        reply = transport.run([read(CELL, command)]).replies[CELL]
        assert reply.state in (State.FAILED, State.UNREACHABLE), reply
        assert "connection" in reply.problem and "\n" not in reply.problem
        reply = transport.run([read(CELL, "head -c 3000000 /dev/zero | tr '\\0' x")]).replies[CELL]
        assert (reply.state, reply.stdout) == (State.OK, "x" * 3_000_000)
