"""What OpenSSH's own ssh accepts or refuses of a server, our SSH accepts or refuses; and it says why in one line."""

from __future__ import annotations

import base64
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exacell.core.values import dataclass
from exacell.transport.base import State
from exacell.transport.ssh import SshTransport
from exacell.transport.ssh.certificates import Certificate
from exacell.transport.ssh.hostkeys import HostKey
from tests.support import sshd as sshd_support
from tests.support.requests import read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]

pytestmark = pytest.mark.sshd

CELL = "exa1cel01"
_SSH_S = 60


def keygen(*words: str | Path) -> None:
    """Run ssh-keygen, which must succeed."""
    subprocess.run(["ssh-keygen", "-q", *map(str, words)], check=True, capture_output=True)


def sign(authority: Path, key: Path, *words: str, to: Path) -> Path:
    """Have an authority sign a public key and return the certificate's file."""
    copy = to.with_name(to.name.removesuffix("-cert.pub") + ".pub")
    if copy != key:
        copy.write_bytes(key.read_bytes())
    keygen("-s", authority, "-I", "test", *words, copy)
    return to


def told_by_ssh(config: Path, target: str, command: str) -> tuple[bool, str]:
    """Return whether the program ssh carried out a command, and its output or its complaint."""
    words = ["ssh", "-F", str(config), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", target, command]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_SSH_S, check=False)
    return done.returncode == 0, done.stdout or done.stderr


class Authorities:
    """A server whose host key, and a user whose key, were signed; and strangers' authorities."""

    def __init__(self, folder: Path) -> None:
        self.server = Sshd(
            folder / "server",
            extra=f"ListenAddress ::1\nHostCertificate {folder}/server/host-cert.pub\n"
            f"TrustedUserCAKeys {folder}/users.pub\nAuthorizedPrincipalsFile none",
        )
        self.folder = folder
        for name in ("hosts", "users", "strangers", "alone"):
            keygen("-t", "ed25519", "-N", "", "-C", name, "-f", folder / name)
        keygen("-t", "rsa", "-b", "2048", "-N", "", "-C", "rsa", "-f", folder / "rsa")
        keygen("-t", "ecdsa", "-N", "", "-C", "ecdsa", "-f", folder / "ecdsa")
        self._shown: tuple[str, ...] = ()
        self.show()

    def show(self, *words: str, by: str = "hosts") -> None:
        """Have the host show this certificate; sshd reads it when it starts."""
        folder = self.server.directory
        words = words or ("-h", "-n", "127.0.0.1,cell")
        if self._shown == (by, *words):
            return
        self._shown = (by, *words)
        self.server.stop()
        sign(self.folder / by, folder / "host_ed25519.pub", *words, to=folder / "host-cert.pub")
        self.server.start()

    def public(self, name: str) -> str:
        """Return type and base64 of an authority's key."""
        return " ".join((self.folder / f"{name}.pub").read_text().split()[:2])


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authorities]:
    if sshd_support.PROGRAM is None:
        pytest.skip("no sshd program is installed (openssh-server)")
    made = Authorities(tmp_path_factory.mktemp("authorities"))
    yield made
    made.server.stop()


def judged(config: Path, user: str, transport_to: MakeTransport, command: str = "echo yes") -> tuple[bool, str]:
    """Return whether both carried a command out, and our complaint.

    Raises:
        AssertionError: only one of both did, or they had other answers.
    """
    theirs, said = told_by_ssh(config, CELL, command)
    transport = transport_to(config, user)
    try:
        reply = transport.run([read(CELL, command)]).replies[CELL]
    finally:
        transport.close()
    ours = reply.state is State.OK
    assert ours is theirs, f"ssh: {said!r}; ours: {reply.problem!r}"
    assert not ours or reply.stdout == said
    assert "\n" not in reply.problem
    return ours, reply.problem


@dataclass(frozen=True, kw_only=True)
class HostCase:
    """What a host shows, what known_hosts says, and what becomes of it.

    Attributes:
        shows: the words of ssh-keygen for the host's certificate.
        by: who signs it.
        known: the lines of known_hosts; ``{name}`` is the host's, ``{own}`` its key, the others are authorities.
        problem: a part of our complaint; empty where the host is accepted.
    """

    known: tuple[str, ...]
    problem: str
    shows: tuple[str, ...] = ()
    by: str = "hosts"
    config: tuple[str, ...] = ()
    revoked: str = ""


GOOD, DAYS = ("-h", "-n", "127.0.0.1"), "20200101:20200102"
HOSTS = [
    HostCase(known=("{name} {own}",), problem=""),
    HostCase(known=("# nothing",), problem="is unknown"),
    HostCase(known=("{name} {stranger}",), problem="has CHANGED"),
    HostCase(known=("@revoked * {own}", "{name} {own}"), problem="is revoked by"),
    HostCase(known=("@revoked * {strangers}", "{name} {own}"), problem=""),
    HostCase(known=("@cert-authority * {hosts}",), problem=""),
    HostCase(known=("@cert-authority 127.0.0.1 {hosts}",), problem=""),
    HostCase(known=("@cert-authority {name} {hosts}",), problem=""),
    HostCase(known=("@cert-authority 10.* {hosts}",), problem="is unknown"),
    HostCase(known=("@cert-authority *,!127.0.0.1,![*]:* {hosts}",), problem="is unknown"),
    HostCase(known=("@cert-authority * {strangers}",), problem="which signed it, is not trusted"),
    HostCase(known=("@cert-authority * {strangers}", "{name} {own}"), problem=""),
    HostCase(known=("@cert-authority * {hosts}", "{name} {stranger}"), problem=""),
    HostCase(known=("@cert-authority * {hosts}", "@revoked * {own}"), problem="is revoked by"),
    HostCase(known=("@cert-authority * {hosts}", "@revoked * {hosts}"), problem="is revoked by"),
    HostCase(known=("@cert-authority * {hosts}",), shows=("-h", "-n", "cell"), problem="it is for cell, not for 127.0.0.1"),
    HostCase(known=("@cert-authority * {hosts}",), shows=("-h", "-n", "cell"), config=("HostKeyAlias cell",), problem=""),
    HostCase(known=("@cert-authority * {hosts}",), shows=("-h", "-n", "127.*"), problem="not for 127.0.0.1"),
    HostCase(known=("@cert-authority * {hosts}",), shows=("-h",), problem=""),
    HostCase(known=("@cert-authority * {hosts}",), shows=(*GOOD, "-V", DAYS), problem="it was valid until 2020-01-02"),
    HostCase(known=("@cert-authority * {hosts}",), shows=(*GOOD, "-V", "20990101:20990102"), problem="before 2099-01-01"),
    HostCase(known=("@cert-authority * {hosts}", "{name} {own}"), shows=(*GOOD, "-V", DAYS), problem=""),
    HostCase(known=("@cert-authority * {hosts}", "{name} {stranger}"), shows=(*GOOD, "-V", DAYS), problem="has CHANGED"),
    HostCase(known=("@cert-authority * {rsa}",), by="rsa", shows=GOOD, problem=""),
    HostCase(known=("@cert-authority * {ecdsa}",), by="ecdsa", shows=GOOD, problem=""),
    HostCase(known=("@cert-authority * {rsa}",), by="rsa", shows=(*GOOD, "-t", "ssh-rsa"), problem="signed with SHA-1"),
    HostCase(known=("@cert-authority * {hosts}",), revoked="hosts", problem="is revoked by"),
    HostCase(known=("{name} {own}",), revoked="own", problem="is revoked by"),
    HostCase(known=("{name} {own}",), revoked="strangers", problem=""),
]  # fmt: skip


@pytest.mark.parametrize("case", HOSTS, ids=lambda case: f"{case.problem or 'accepted'}: {' + '.join(case.known)}")
def test_hosts(case: HostCase, signed: Authorities, transport_to: MakeTransport) -> None:
    """A host's key or certificate is accepted where ssh accepts it, and refused with the reason where ssh refuses it."""
    server = signed.server
    keys = {name: signed.public(name) for name in ("hosts", "strangers", "rsa", "ecdsa")}
    keys |= {"own": server.public_key("host_ed25519"), "stranger": server.public_key("stranger")}
    signed.show(*case.shows, by=case.by)
    server.known_hosts(*(line.format(name=f"[127.0.0.1]:{server.port}", **keys) for line in case.known))
    config = case.config
    if case.revoked:
        (signed.folder / "revoked").write_text(f"{keys[case.revoked]} gone\n")
        config = (*config, f"RevokedHostKeys {signed.folder / 'revoked'}")
    accepted, problem = judged(server.ssh_config(*config), server.user, transport_to)
    assert accepted is (case.problem == "")
    assert case.problem in problem


def test_a_hashed_known_hosts(signed: Authorities, transport_to: MakeTransport) -> None:
    """A host whose name stands hashed in known_hosts is accepted, and one whose key changed there is refused."""
    signed.show()
    server = signed.server
    for key, problem in (("host_ed25519", ""), ("stranger", "has CHANGED")):
        known = server.known_hosts(f"[127.0.0.1]:{server.port} {server.public_key(key)}")
        keygen("-H", "-f", known)
        assert "127.0.0.1" not in known.read_text()
        accepted, told = judged(server.ssh_config(), server.user, transport_to)
        assert (accepted, problem in told) == (problem == "", True)


def test_trust_needs_nothing_for_a_certified_host(signed: Authorities, transport_to: MakeTransport) -> None:
    """Of a host whose certificate is accepted nothing is written, and its key is known to other runs by its plain fingerprint."""
    signed.show()
    server = signed.server
    known = server.known_hosts(f"@cert-authority * {signed.public('hosts')}")
    before = known.read_text()
    transport = transport_to(server.ssh_config(), server.user)
    offer = transport.host_key(CELL)
    assert (offer.problem, transport.trust(offer), known.read_text()) == ("", "", before)
    assert transport.run([read(CELL, "true")]).ok
    listed = subprocess.run(
        ["ssh-keygen", "-lf", server.directory / "host_ed25519.pub"], capture_output=True, text=True, check=True
    )
    assert transport.host_keys == {CELL: listed.stdout.split()[1]}


def test_a_certified_host_without_the_reader(
    signed: Authorities, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where paramiko has other private names, a certificate is asked for and judged just so."""
    monkeypatch.setattr("exacell.transport.ssh.opener.supported", lambda: False)
    signed.show()
    server = signed.server
    server.known_hosts(f"@cert-authority * {signed.public('hosts')}")
    assert judged(server.ssh_config(), server.user, transport_to)[0]
    server.known_hosts(f"@cert-authority * {signed.public('strangers')}")
    assert "is not trusted" in judged(server.ssh_config(), server.user, transport_to)[1]


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_other_kinds_of_certified_keys(kind: str, tmp_path: Path, transport_to: MakeTransport) -> None:
    """A certificate over an RSA or ECDSA key is accepted, too, also through a change of keys under way."""
    keygen("-t", "ed25519", "-N", "", "-f", tmp_path / "hosts")
    keygen("-t", kind, "-N", "", "-f", tmp_path / "key")
    sign(tmp_path / "hosts", tmp_path / "key.pub", "-h", "-n", "127.0.0.1", to=tmp_path / "key-cert.pub")
    server = Sshd(
        tmp_path / "server",
        extra=f"HostKey {tmp_path}/key\nHostCertificate {tmp_path}/key-cert.pub\nRekeyLimit 256K",
    )
    server.start()
    try:
        authority = " ".join((tmp_path / "hosts.pub").read_text().split()[:2])
        server.known_hosts(f"@cert-authority * {authority}")
        command = "head -c 1500000 /dev/zero | tr '\\0' x"
        assert judged(server.ssh_config(), server.user, transport_to, command)[0]
    finally:
        server.stop()


BROKEN = [b"", b"\0\0\0\x20ssh-ed25519-cert-v01@openssh.com", b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(32)]


def test_a_damaged_certificate_confirms_nothing(signed: Authorities) -> None:
    """Whatever byte of a certificate is changed or missing, it is read without an exception and confirms no host of ours."""
    signed.show("-h", "-n", "127.0.0.1")
    blob = base64.b64decode((signed.server.directory / "host-cert.pub").read_text().split()[1])
    authority = HostKey.from_blob(base64.b64decode(signed.public("hosts").split()[1]))
    now = time.time()

    def confirms(text: bytes) -> bool:
        found = Certificate.read(text)
        return found.authority == authority and not found.problem("127.0.0.1", now)

    assert confirms(blob)
    for number in range(len(blob)):
        changed = blob[:number] + bytes([blob[number] ^ 1]) + blob[number + 1 :]
        assert not confirms(changed), number
        assert not confirms(blob[:number]), number
    assert not any(map(confirms, (*BROKEN, blob + b"x")))


@dataclass(frozen=True, kw_only=True)
class UserCase:
    """What of a user's keys and certificates there is.

    Attributes:
        words: those of ssh-keygen for the certificate; empty for none.
        named: whether CertificateFile names it, and it does not stand beside the key.
        agent: whether key and certificate are in an agent and not named.
        kind: the kind of the key.
        known: whether the key alone may log in, too.
        problem: a part of our complaint; empty where the login is accepted.
    """

    words: tuple[str, ...]
    problem: str
    by: str = "users"
    named: bool = False
    agent: bool = False
    kind: str = "ed25519"
    known: bool = False


USERS = [
    UserCase(words=("-n", "{user}"), problem=""),
    UserCase(words=("-n", "{user}"), kind="rsa", problem=""),
    UserCase(words=("-n", "{user}"), kind="ecdsa", problem=""),
    UserCase(words=("-n", "{user}"), named=True, problem=""),
    UserCase(words=("-n", "{user}"), agent=True, problem=""),
    UserCase(words=("-n", "{user}"), agent=True, kind="rsa", problem=""),
    UserCase(words=("-n", "{user}"), agent=True, named=True, problem=""),
    UserCase(words=(), problem="was refused, tried"),
    UserCase(words=("-n", "nobody-else"), problem="was refused, tried"),
    UserCase(words=("-n", "{user}", "-V", DAYS), problem="certificate"),
    UserCase(words=("-n", "{user}"), by="strangers", problem="certificate"),
    UserCase(words=("-n", "{user}", "-O", "source-address=10.1.1.1/32"), problem="certificate"),
    UserCase(words=("-n", "{user}", "-V", DAYS), known=True, problem=""),
    UserCase(words=("-n", "{user}"), by="strangers", known=True, agent=True, problem=""),
    UserCase(words=("-n", "{user}", "-O", "force-command=echo forced"), problem=""),
]


@pytest.mark.parametrize("case", USERS, ids=str)
def test_users(
    case: UserCase, signed: Authorities, tmp_path: Path, transport_to: MakeTransport, agent: Callable[[Path], None]
) -> None:
    """A user's certificate logs in where it does with ssh, from beside the key, from CertificateFile and from an agent."""
    server = signed.server
    signed.show()
    server.known_hosts(f"[127.0.0.1]:{server.port} {server.public_key('host_ed25519')}")
    key = tmp_path / "alone"
    keygen("-t", case.kind, "-N", "", "-f", key)
    lines = [f"IdentityFile {key}", "IdentitiesOnly no"]
    if case.words:
        words = (word.format(user=server.user) for word in case.words)
        sign(signed.folder / case.by, tmp_path / "alone.pub", *words, to=tmp_path / "alone-cert.pub")
    allowed = server.directory / "authorized_keys" / server.user
    before = allowed.read_text()
    if case.known:
        allowed.write_text((tmp_path / "alone.pub").read_text())
    if case.agent:
        agent(key)
        lines[0] = "IdentityAgent SSH_AUTH_SOCK"
    if case.named:
        (tmp_path / "alone-cert.pub").rename(tmp_path / "elsewhere.pub")
        lines.append(f"CertificateFile {tmp_path / 'elsewhere.pub'}")
    config = server.ssh_config(*lines, key="stranger" if not case.agent else "nothing-there")
    try:
        accepted, problem = judged(config, server.user, transport_to)
    finally:
        allowed.write_text(before)
    assert accepted is (case.problem == "")
    assert case.problem in problem
