"""SshTransport against a real OpenSSH sshd."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from exacell.core.errors import ExitCode, RefusedError
from exacell.transport.base import Request, Role, State
from exacell.transport.ssh import SshTransport
from tests.support.patience import patiently, until
from tests.support.requests import CELLS, read, write
from tests.support.sshd import Sshd

MakeTransport = Callable[..., SshTransport]

pytestmark = pytest.mark.sshd


def test_each_target_answers_once_in_order(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should return one OK reply a target, in the order asked, with output, status and the login key."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    seen: list[str] = []
    result = transport.run(
        [read(c, f"echo {c}; echo oops >&2") for c in CELLS], on_reply=lambda r: seen.append(r.target)
    )
    assert result.targets == CELLS
    assert sorted(seen) == sorted(CELLS)
    assert result.exit_code is ExitCode.DONE
    for cell, reply in result.replies.items():
        assert (reply.state, reply.stdout, reply.stderr, reply.exit_status) == (State.OK, f"{cell}\n", "oops\n", 0), (
            reply
        )
        assert reply.fingerprint.startswith("SHA256:")
        assert reply.seconds > 0


def test_failing_command(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should report another exit status as FAILED with the output kept, and a killed command as such."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    result = transport.run([read(CELLS[0], "echo x; exit 3"), read(CELLS[1], "kill -9 $$")])
    failed, killed = result.replies.values()
    assert (failed.state, failed.exit_status, failed.stdout) == (State.FAILED, 3, "x\n")
    assert failed.problem == "exit status 3"
    assert (killed.state, killed.exit_status) == (State.FAILED, None)
    assert "signal" in killed.problem


def test_stdin_is_sent_and_closed(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should send stdin whole, of any size, and end-of-file at once when there is none."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    big = "0123456789abcdef" * (1 << 18)
    result = transport.run(
        [read(CELLS[0], "cat", stdin="zwei Wörter\n"), read(CELLS[1], "cat"), read(CELLS[2], "cat", stdin=big)]
    )
    first, none, large = result.replies.values()
    assert first.stdout == "zwei Wörter\n"
    assert (none.state, none.stdout) == (State.OK, "")
    assert large.stdout == big


def test_undecodable_bytes(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should show bytes that are not UTF-8 as escapes, losing nothing."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    reply = transport.run([read(CELLS[0], r"printf 'a\377b\303\266'")]).replies[CELLS[0]]
    assert reply.stdout == "a\\xffbö"


def test_both_streams_large(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should read megabytes on both streams without blocking on either."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    command = "head -c 6000000 /dev/zero | tr '\\0' e >&2; head -c 8000000 /dev/zero | tr '\\0' o"
    reply = transport.run([read(CELLS[0], command)]).replies[CELLS[0]]
    assert (len(reply.stdout), len(reply.stderr)) == (8_000_000, 6_000_000)
    assert set(reply.stdout) == {"o"} and set(reply.stderr) == {"e"}


def test_connection_is_kept(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should use one connection for many commands, and open it anew after close()."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    ports = [transport.run([read(CELLS[0], "echo $SSH_CLIENT")]).replies[CELLS[0]].stdout for _ in range(3)]
    assert len(set(ports)) == 1
    transport.close()
    assert transport.run([read(CELLS[0], "echo $SSH_CLIENT")]).replies[CELLS[0]].stdout not in ports


def test_reconnects_after_sshd_restart(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should answer reads and writes after the host was restarted between two statements."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    assert transport.run([write(CELLS[0], "true")]).ok
    (connection,) = [
        slot.connection for slot in transport._sending().connections._slots.values() if slot.connection is not None
    ]
    sshd.stop()
    try:
        assert until(lambda: not connection.alive), (
            "a write that leaves before is one of which nobody knows what became"
        )
        refused = transport.run([write(CELLS[0], "true")]).replies[CELLS[0]]
    finally:
        sshd.start()
    assert refused.state is State.UNREACHABLE
    assert "refused the connection" in refused.problem
    assert transport.run([write(CELLS[0], "true")]).ok
    assert transport.run([read(CELLS[0], "true")]).ok


def test_command_deadline(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should time out a command at its own deadline, keep what came, and leave connection and others alone."""
    transport = transport_to(sshd.ssh_config(), sshd.user)

    def in_time(seconds: float) -> None:
        result = transport.run(
            [read(CELLS[0], "echo so far; exec sleep 600", timeout=seconds), read(CELLS[1], "echo fine", timeout=300)]
        )
        late, fine = result.replies.values()
        assert (late.state, late.stdout, late.exit_status) == (State.TIMED_OUT, "so far\n", None)
        assert f"no end within {seconds}s" in late.problem
        assert fine.state is State.OK

    patiently(in_time, 0.4, 3, 15)
    assert transport.run([read(CELLS[0], "echo again")]).replies[CELLS[0]].stdout == "again\n"


def test_background_child_keeps_output_open(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should judge a command that ended by its status although a child of it never closes the output."""
    transport = transport_to(sshd.ssh_config(), sshd.user)

    def in_time(seconds: float) -> None:
        reply = transport.run([read(CELLS[0], "echo started; sleep 600 & exit 0", timeout=seconds)]).replies[CELLS[0]]
        assert (reply.state, reply.stdout, reply.exit_status) == (State.OK, "started\n", 0)

    patiently(in_time, 0.5, 3, 15)


def test_read_only_refuses_before_sending(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should refuse a batch with any write while read-only, before anything is sent or connected."""
    transport = transport_to(sshd.ssh_config(), sshd.user, read_only=True)
    marker = sshd.directory / "marker"
    with pytest.raises(RefusedError, match=r"exa1cel\[02-03\]"):
        transport.run([read(CELLS[0], f"touch {marker}"), *(write(c, f"touch {marker}") for c in CELLS[1:])])
    assert not marker.exists()
    transport.read_only = False
    assert transport.run([write(CELLS[1], f"touch {marker}")]).ok
    marker.unlink()


def test_same_target_twice(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should raise ValueError when two requests have the same target."""
    with pytest.raises(ValueError, match="same target"):
        transport_to(sshd.ssh_config(), sshd.user).run([read(CELLS[0], "true"), read(CELLS[0], "true")])


def test_nothing_to_do(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should return an empty result for no requests."""
    assert transport_to(sshd.ssh_config(), sshd.user).run([]).targets == ()


def test_read_login_refused_falls_back(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should read as the write login with cellcli -m where the read login has no key, and say so."""
    transport = transport_to(sshd.ssh_config(), sshd.user, read_user="cellmonitor")
    for _ in range(2):
        reply = transport.run([read(CELLS[0], "cellcli -e list cell")]).replies[CELLS[0]]
        assert reply.stdout == "cellcli ran: -m -e list cell\n"
    assert transport.read_fallback == {CELLS[0]}
    wrote = transport.run([write(CELLS[0], "cellcli -e list cell")]).replies[CELLS[0]]
    assert wrote.stdout == "cellcli ran: -e list cell\n"


def test_login_refused(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should name login, tried keys and the way out when no key logs in."""
    config = sshd.ssh_config(key="stranger")
    reply = transport_to(config, sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    assert reply.state is State.UNREACHABLE
    assert f"login {sshd.user}@{CELLS[0]} was refused" in reply.problem
    assert "SHA256:" in reply.problem and "ssh-copy-id" in reply.problem
    assert "\n" not in reply.problem


def test_no_key_at_all(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should say that there is no key to log in with, and why a named one is of no use."""
    broken = sshd.directory / "broken"
    broken.write_text("not a key\n")
    reply = transport_to(sshd.ssh_config(key="broken"), sshd.user).run([read(CELLS[0], "true")]).replies[CELLS[0]]
    assert "no key to log in" in reply.problem and f"{broken} is not a usable private key" in reply.problem


def test_asm_roles_use_the_clusters_owner(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should log in on a database node as its cluster's owner and refuse a node that no cluster names."""
    from exacell.core.config import AsmConfig

    asm = {"main": AsmConfig(name="main", nodes=("exa1db01",), home="/u01/grid", user=sshd.user)}
    transport = transport_to(sshd.ssh_config(), "cellmonitor", asm=asm, dbnodes=("exa1db01",))
    requests = [Request(target=t, command="id -un", role=Role.ASM_READ) for t in ("exa1db01", "exa1db02")]
    known, stranger = transport.run(requests).replies.values()
    assert known.stdout == f"{sshd.user}\n"
    assert stranger.state is State.UNREACHABLE and "no ASM cluster" in stranger.problem


def test_cancel_starts_no_more(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should let commands in flight end and start none after cancel is set."""
    transport = transport_to(sshd.ssh_config(), sshd.user, fanout=1)
    cancel = threading.Event()
    result = transport.run([read(c, "echo done") for c in CELLS], on_reply=lambda r: cancel.set(), cancel=cancel)
    states = [reply.state for reply in result.replies.values()]
    assert states[0] is State.OK
    assert states[-1] is State.NOT_ATTEMPTED


def test_warm_opens_connections(sshd: Sshd, transport_to: MakeTransport) -> None:
    """It should open connections in the background that the next run then uses."""
    transport = transport_to(sshd.ssh_config(), sshd.user)
    transport.warm(CELLS).join(300)
    before = set(sshd.sessions())
    assert len(before) >= len(CELLS)
    assert len(transport.run([read(c, "true") for c in CELLS]).ok) == len(CELLS)
    assert set(sshd.sessions()) <= before
