"""Logins by role, and commands on this host without SSH."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

import pytest

from exacell.core.config import AsmConfig, RackConfig
from exacell.core.errors import ConfigError
from exacell.transport.base import FleetResult, Request, Role, State
from exacell.transport.local import LocalRunner, own_names
from exacell.transport.rack_transport import Login, login_for, read_only_cellcli
from exacell.transport.ssh import SshTransport


def rack(*, user: str = "", sudo: bool = False, emulated: bool = False) -> RackConfig:
    asm = AsmConfig(name="main", nodes=("db01", "db02"), home="/g", user=user or getpass.getuser(), sudo=sudo)
    return RackConfig(
        name="x",
        cells=("c1",),
        dbnodes=("db01", "db02"),
        asm={"main": asm},
        emulated=emulated,
        ssh_config=Path("/nonexistent/ssh_config"),
    )


def run(config: RackConfig, command: str, *, target: str = "db01", timeout: float = 20, **details: str) -> FleetResult:
    transport = SshTransport(config, local=LocalRunner(config, names=frozenset({"db01"})))
    return transport.run([Request(target=target, command=command, role=Role.ASM_READ, timeout=timeout, **details)])


def test_logins_by_role() -> None:
    """It should log in on cells as the rack's readers and writers and on nodes as the ASM owner."""
    assert login_for(rack(), "c1", Role.READ) == Login(user="cellmonitor")
    assert login_for(rack(), "c1", Role.WRITE) == Login(user="celladmin")
    assert login_for(rack(user="grid"), "db02", Role.ASM_WRITE) == Login(user="grid")
    with pytest.raises(ConfigError, match="has a node db09"):
        login_for(rack(), "db09", Role.ASM_READ)


def test_sudo_quotes_the_command() -> None:
    """It should leave the login to ssh_config and wrap the command, whatever is in it, in sudo that never asks."""
    login = login_for(rack(user="grid", sudo=True), "db01", Role.ASM_READ)
    assert login == Login(user=None, become="grid")
    assert login.command("echo 'a b'") == """sudo -n -u grid -- /bin/sh -c 'echo '"'"'a b'"'"''"""


def test_own_instance_without_ssh() -> None:
    """It should run ASM commands for this very host in a local shell, with stdin, output and status."""
    reply = run(rack(), "read line; echo got $line; echo err >&2; exit 4", stdin="hello\n").replies["db01"]
    assert (reply.state, reply.stdout, reply.stderr, reply.exit_status) == (State.FAILED, "got hello\n", "err\n", 4)
    assert run(rack(), "id -un").replies["db01"].stdout == f"{getpass.getuser()}\n"


def test_local_deadline_and_signal() -> None:
    """It should kill a local command with its children at its deadline, and tell an end by signal."""
    assert run(rack(), "sleep 600; echo x", timeout=0.1).replies["db01"].state is State.TIMED_OUT
    assert "signal 9" in run(rack(), "kill -9 $$").replies["db01"].problem


def test_other_hosts_and_emulated_racks_go_through_ssh() -> None:
    """It should use SSH for every other node, for cells, and for an emulated rack's node of the same name."""
    assert "ssh_config" in run(rack(), "true", target="db02").replies["db02"].problem
    emulated = rack(emulated=True)
    assert not LocalRunner(emulated).takes(Request(target="db01", command="x", role=Role.ASM_READ))
    local = LocalRunner(rack(), names=frozenset({"db01", "c1"}))
    assert not local.takes(Request(target="c1", command="x", role=Role.READ))
    assert not local.takes(Request(target="db01", command="x", role=Role.READ))
    assert local.takes(Request(target="db01.example.com", command="x", role=Role.ASM_READ)) is False


def test_unknown_owner() -> None:
    """It should say that the owner does not exist here (as root), or leave it to SSH."""
    reply = run(rack(user="no-such-user"), "true").replies["db01"]
    assert reply.state is State.UNREACHABLE
    assert ("no-such-user" if os.geteuid() == 0 else "ssh_config") in reply.problem


def test_own_names() -> None:
    """It should know this host by its full and its short name."""
    assert os.uname().nodename.lower() in own_names()


def test_read_rewrite() -> None:
    """It should tell cellcli to change nothing and leave other commands alone."""
    assert read_only_cellcli("cellcli -e 'list cell'") == "cellcli -m -e 'list cell'"
    assert read_only_cellcli("uname -a") == "uname -a"
