"""known_hosts: parsing, verdicts and messages; and what a real sshd's key comes to under each."""

from __future__ import annotations

import base64
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.core.errors import ConfigError, RefusedError, TransportError
from exacell.transport.base import State
from exacell.transport.ssh import SshTransport
from exacell.transport.ssh.hostkeys import (
    HostKey,
    KnownHosts,
    KnownHostsCache,
    Trust,
    append_key,
    is_revoked_by,
    lookup_names,
)
from tests.support.every import every
from tests.support.requests import CELLS, read
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]


def key(kind: str, tail: str) -> HostKey:
    name = kind.encode()
    return HostKey(key_type=kind, blob=len(name).to_bytes(4, "big") + name + tail.encode())


ED1, ED2, RSA = key("ssh-ed25519", "one"), key("ssh-ed25519", "two"), key("ssh-rsa", "three")


def line(names: str, of: HostKey, *, marker: str = "", comment: str = "") -> str:
    text = f"{names} {of.key_type} {base64.b64encode(of.blob).decode()}"
    return " ".join(part for part in (marker, text, comment) if part)


def trust_of(text: str, offered: HostKey, *names: str) -> Trust:
    return KnownHosts.parse(text, "f").judge(names or ("cel01",), offered).trust


CASES = [
    ("", ED1, ("cel01",), Trust.UNKNOWN),
    (line("cel01", ED1), ED1, ("cel01",), Trust.KNOWN),
    (line("CEL01,10.0.0.1", ED1, comment="root@x y"), ED1, ("cel01",), Trust.KNOWN),
    (line("cel01", ED2), ED1, ("cel01",), Trust.CHANGED),
    (line("cel01", RSA), ED1, ("cel01",), Trust.UNKNOWN),
    (line("cel02", ED1), ED1, ("cel01",), Trust.UNKNOWN),
    (line("cel01", ED2) + "\n" + line("cel01", ED1), ED1, ("cel01",), Trust.KNOWN),
    (line("cel*", ED1), ED1, ("cel01",), Trust.KNOWN),
    (line("cel0?,!cel01", ED1), ED1, ("cel01",), Trust.UNKNOWN),
    (line("[10.0.0.1]:2222", ED1), ED1, ("[10.0.0.1]:2222", "10.0.0.1"), Trust.KNOWN),
    (line("[*]:2222", ED1), ED1, ("[10.0.0.1]:2222", "10.0.0.1"), Trust.KNOWN),
    (line("10.0.0.1", ED1), ED1, ("[10.0.0.1]:2222", "10.0.0.1"), Trust.KNOWN),
    (line("10.0.0.1", ED2), ED1, ("[10.0.0.1]:2222", "10.0.0.1"), Trust.UNKNOWN),
    (line("*", ED1, marker="@revoked") + "\n" + line("cel01", ED1), ED1, ("cel01",), Trust.REVOKED),
    (line("cel01", ED2, marker="@revoked") + "\n" + line("cel01", ED1), ED1, ("cel01",), Trust.KNOWN),
    (line("10.0.0.1", ED1, marker="@revoked"), ED1, ("[10.0.0.1]:2222", "10.0.0.1"), Trust.REVOKED),
    (line("*.example.com,cel*", RSA, marker="@cert-authority"), ED1, ("cel01",), Trust.CA_ONLY),
    (line("cel*", ED1, marker="@cert-authority"), ED1, ("cel01",), Trust.CA_ONLY),
    (line("cel*", RSA, marker="@cert-authority") + "\n" + line("cel01", ED1), ED1, ("cel01",), Trust.KNOWN),
    ("\t " + line("cel01", ED1).replace(" ", "\t "), ED1, ("cel01",), Trust.KNOWN),
]


@every(CASES)
def test_verdicts(text: str, offered: HostKey, names: tuple[str, ...], trust: Trust) -> None:
    """It should judge a key as OpenSSH does."""
    assert trust_of(text, offered, *names) is trust


def test_hashed_by_ssh_keygen(tmp_path: Path) -> None:
    """It should find names hashed by ssh-keygen -H."""
    public = tmp_path / "k"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", public], check=True)
    kind, blob = (tmp_path / "k.pub").read_text().split()[:2]
    known = tmp_path / "known"
    known.write_text(f"cel01 {kind} {blob}\n[cel02]:2222 {kind} {blob}\n")
    subprocess.run(["ssh-keygen", "-H", "-f", known], check=True, capture_output=True)
    assert "cel01" not in known.read_text()
    offered = HostKey.from_blob(base64.b64decode(blob))
    hosts = KnownHosts.read([known])
    assert hosts.judge(lookup_names("cel01", 22), offered).trust is Trust.KNOWN
    assert hosts.judge(lookup_names("cel02", 2222), offered).trust is Trust.KNOWN
    assert hosts.judge(lookup_names("cel03", 22), offered).trust is Trust.UNKNOWN


BROKEN = [
    "cel01",
    "cel01 ssh-ed25519",
    "cel01 ssh-ed25519 !!!!",
    "cel01 ssh-ed25519 AAAA",
    "@unknown-marker " + line("cel01", ED1),
    "@revoked",
    "|1|abc " + line("x", ED1),
    line("|1|&|&", ED1),
    line(",", ED1),
    line("cel01", ED1).replace("ssh-ed25519 ", "ssh-rsa ", 1),
    "\udcff\udcfe \udcff \udcff",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_lines_are_noted(broken: str) -> None:
    """It should note a line that cannot be read, with its place, and use the others."""
    known = KnownHosts.parse(f"# comment\n\n{broken}\n{line('cel09', ED1)}\n", "file")
    assert known.judge(("cel09",), ED1).trust is Trust.KNOWN
    assert [note.split(": ")[0] for note in known.notes] == ["file:3"]


@given(st.text(alphabet=st.characters(codec="utf-8")), st.sampled_from(CASES))
def test_any_text_is_survived(text: str, case: tuple[str, HostKey, tuple[str, ...], Trust]) -> None:
    """It should read any text without an exception, and never trust a key because of it."""
    known, offered, names, trust = case
    assert trust_of(f"{text}\n", offered, *names) is Trust.UNKNOWN
    assert trust_of(f"{text}\n{known}", offered, *names) is trust


def test_messages_name_fingerprint_and_way_out() -> None:
    """It should say in one line what was offered, where the contrary stands, and what to do."""
    for text, trust, parts in (
        ("", Trust.UNKNOWN, ("is unknown", "`trust c1`", "ssh-keyscan cel01 >> f", "ssh_host_ed25519_key.pub")),
        (line("cel01", RSA), Trust.UNKNOWN, ("only its ssh-rsa key is",)),
        (line("cel01", ED2), Trust.CHANGED, ("CHANGED", "f:1", "ssh-keygen -R 'cel01' -f f", "`trust c1`")),
        (line("cel01", ED1, marker="@revoked"), Trust.REVOKED, ("is revoked by f:1",)),
        (line("cel01", RSA, marker="@cert-authority"), Trust.CA_ONLY, ("certificate authority", "f:1", "`trust c1`")),
    ):
        verdict = KnownHosts.parse(text, "f").judge(("cel01",), ED1)
        problem = verdict.problem("c1", scan="ssh-keyscan cel01")
        assert verdict.trust is trust
        assert ED1.fingerprint in problem and "\n" not in problem
        for part in parts:
            assert part in problem
    assert KnownHosts.parse(line("cel01", ED1), "f").judge(("cel01",), ED1).problem("c1") == ""


@pytest.mark.parametrize("hashed", [False, True])
def test_append_then_known(tmp_path: Path, hashed: bool) -> None:
    """It should add a line that makes the key known, on a line of its own, private to its owner."""
    path = tmp_path / "ssh" / "known_hosts"
    append_key(path, "cel01", ED1, hashed=hashed)
    path.write_text(path.read_text().rstrip("\n"))
    append_key(path, "[cel02]:2222", ED2, hashed=hashed)
    known = KnownHosts.read([path])
    assert known.notes == ()
    assert known.judge(("cel01",), ED1).trust is Trust.KNOWN
    assert known.judge(("[cel02]:2222",), ED2).trust is Trust.KNOWN
    assert ("cel" in path.read_text()) is not hashed
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_append_that_fails(tmp_path: Path) -> None:
    """It should say that the key is not trusted when the file cannot be written."""
    with pytest.raises(TransportError, match="the key of cel01 is not trusted"):
        append_key(tmp_path, "cel01", ED1)


def test_cache_sees_changes(tmp_path: Path) -> None:
    """It should hand out the same parse until a file changes or appears."""
    path = tmp_path / "known_hosts"
    cache = KnownHostsCache()
    assert cache.get([path]) is cache.get([path])
    append_key(path, "cel01", ED1)
    assert cache.get([path]).judge(("cel01",), ED1).trust is Trust.KNOWN
    assert cache.get([path]) is cache.get([path])


def test_unreadable_file_is_noted(tmp_path: Path) -> None:
    """It should note a known_hosts file that cannot be read and trust nothing by it."""
    assert len(KnownHosts.read([tmp_path]).notes) == 1


def test_revoked_host_keys_file(tmp_path: Path) -> None:
    """It should find a key in a RevokedHostKeys text file and refuse to go on with one that it cannot read."""
    path = tmp_path / "revoked"
    path.write_text(f"# gone\n{ED1.key_type} {base64.b64encode(ED1.blob).decode()} old cell\n")
    assert is_revoked_by(path, ED1)
    assert not is_revoked_by(path, ED2)
    path.write_bytes(b"SSHKRL\n\0\0\0")
    with pytest.raises(ConfigError, match="binary KRL"):
        is_revoked_by(path, ED1)
    with pytest.raises(ConfigError, match="no host key is trusted"):
        is_revoked_by(tmp_path / "none", ED1)


@pytest.mark.sshd
def test_unknown_key_is_rejected_before_login(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should reject an unknown key before authentication, say the way out, never add it, whatever ssh_config says."""
    known = sshd.known_hosts(
        "elsewhere ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
    )
    before = known.read_text()
    logged = len(sshd.log())
    config = sshd.ssh_config("StrictHostKeyChecking no")
    reply = transport_to(config, sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    assert reply.state is State.UNREACHABLE
    offered = HostKey.from_blob(base64.b64decode(sshd.public_key("host_ed25519").split()[1]))
    assert offered.fingerprint in reply.problem
    assert f"`trust {CELLS[0]}`" in reply.problem
    assert f"ssh-keyscan -p {sshd.port} 127.0.0.1 >> {known}" in reply.problem
    assert known.read_text() == before
    assert "Accepted" not in sshd.log()[logged:]


@pytest.mark.sshd
def test_changed_revoked_and_ca(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should refuse a changed and a revoked key and name a CA as unsupported."""
    name = f"[127.0.0.1]:{sshd.port}"
    own, other = sshd.public_key("host_ed25519"), sshd.public_key("stranger")
    for lines, part in (
        ((f"{name} {other}",), "has CHANGED"),
        ((f"@revoked * {own}", f"{name} {own}"), "is revoked"),
        ((f"@cert-authority * {other}",), "certificate authority"),
        ((f"@cert-authority * {other}", "@nonsense", "garbage", f"{name} {own}"), ""),
    ):
        sshd.known_hosts(*lines)
        reply = transport_to(sshd.ssh_config(), sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
        assert (reply.state is State.OK) is (part == "")
        assert part in reply.problem


@pytest.mark.sshd
def test_asks_for_the_kind_of_key_that_is_known(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should get along with a known_hosts that has only the host's RSA key."""
    sshd.known_hosts(f"[127.0.0.1]:{sshd.port} {sshd.public_key('host_rsa')}")
    assert transport_to(sshd.ssh_config(), sshd.user).run([read(CELLS[0], "true")]).ok


@pytest.mark.sshd
def test_alias_and_several_files(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should look the key up under HostKeyAlias and in every UserKnownHostsFile."""
    empty = sshd.directory / "empty"
    empty.write_text("")
    sshd.known_hosts(f"rack-{CELLS[0]} {sshd.public_key('host_ed25519')}")
    files = f"UserKnownHostsFile {empty} {sshd.directory / 'known_hosts'}"
    config = sshd.ssh_config(f"Host {CELLS[0]}", f"HostKeyAlias rack-{CELLS[0]}", "Host *", files)
    result = transport_to(config, sshd.user).run([read(cell, "true") for cell in CELLS[:2]])
    assert [reply.state for reply in result.replies.values()] == [State.OK, State.UNREACHABLE]


@pytest.mark.sshd
def test_trust_then_log_in(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should show the offered key, write it when told to, and log in from then on in the same transport."""
    known = sshd.known_hosts("# nothing yet")
    transport = transport_to(sshd.ssh_config("HashKnownHosts yes"), sshd.user)
    assert transport.run([read(CELLS[0], "true")]).problems
    offer = transport.host_key(CELLS[0])
    assert offer.verdict.trust is Trust.UNKNOWN
    assert offer.verdict.key.fingerprint in offer.problem
    assert transport.trust(offer).startswith("|1|")
    assert transport.run([read(CELLS[0], "true")]).ok
    again = transport.host_key(CELLS[0])
    assert (again.problem, transport.trust(again)) == ("", "")
    assert len(known.read_text().splitlines()) == 2


@pytest.mark.sshd
def test_trust_refuses_a_changed_key(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should not replace a known key by a word."""
    sshd.known_hosts(f"[127.0.0.1]:{sshd.port} {sshd.public_key('stranger')}")
    transport = transport_to(sshd.ssh_config(), sshd.user)
    with pytest.raises(RefusedError, match="CHANGED"):
        transport.trust(transport.host_key(CELLS[0]))


@pytest.mark.sshd
def test_gateways_key_is_judged_too(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should reject a gateway's unknown key, naming the gateway as what to trust."""
    sshd.known_hosts(f"cell {sshd.public_key('host_ed25519')}")
    config = sshd.ssh_config("Host exa*", "ProxyJump gate", "HostKeyAlias cell")
    reply = transport_to(config, sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    assert "is unknown" in reply.problem and "`trust gate`" in reply.problem


@pytest.mark.sshd
def test_the_host_key_of_each_target_is_known_when_it_was_connected_to(
    sshd: Sshd, transport_to: Callable[..., SshTransport]
) -> None:
    """Names that lead to one server show one host key; of a name that was not connected to none is known."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    assert transport.host_keys == {}
    assert transport.run([read(cell, "true") for cell in CELLS[:2]]).ok
    assert set(transport.host_keys) == set(CELLS[:2])
    (key,) = set(transport.host_keys.values())
    assert key.startswith("SHA256:")
