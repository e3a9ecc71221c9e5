"""Another user of the machine on which an emulated rack runs: they reach neither its process, nor its port, nor its hosts."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from exacell.emulator import control
from exacell.emulator.basics.store import RackFiles, rack_files
from exacell.emulator.server import wire

NEIGHBOUR = pwd.getpwnam("nobody").pw_uid

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user: the neighbour is not tried"),
]


@pytest.fixture(scope="module")
def files() -> Iterator[RackFiles]:
    """A running rack with a shell open on a cell, in a home that its owner has left open to everybody."""
    place = Path(tempfile.mkdtemp(prefix="exacell-neighbour-", dir="/var/tmp"))
    place.chmod(0o755)
    home = place / "home"
    control.start(home, "t1", options={"cells": 2, "dbnodes": 1})
    home.chmod(0o755)
    found = rack_files(home, "t1")
    found.root.parent.chmod(0o755)
    assert as_root(found, "celladmin", "cd /tmp; echo secret > kept; cat kept").stdout == "secret\n"
    yield found
    control.stop(home, "t1")
    shutil.rmtree(place)


def as_root(files: RackFiles, login: str, text: str) -> subprocess.CompletedProcess[str]:
    words = ["ssh", "-F", str(files.ssh_config), "-l", login, "exa1cel01", text]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)


def neighbour(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a program as the neighbour, in /."""
    return subprocess.run(
        argv, user=NEIGHBOUR, group=NEIGHBOUR, extra_groups=[], cwd="/", env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_the_neighbour_is_somebody_else(files: RackFiles) -> None:
    """The tries below should be another user's, and work where they may."""
    assert neighbour("id", "-u").stdout.strip() == str(NEIGHBOUR)
    assert neighbour("ls", str(files.root.parent)).returncode == 0


def asked(files: RackFiles, token: str, kind: bytes) -> bytes:
    """Return what the rack's process answers at its port to somebody with that token."""
    place = json.loads(files.control.read_text())
    if kind == wire.REQUEST:
        payload = json.dumps({"token": token, "op": "status"}).encode()
    else:
        payload = "\0".join((token, "exa1cel01", "celladmin", "0", "/", "cellcli", "2", "-e", "list cell")).encode()
    with socket.create_connection(("127.0.0.1", place["port"]), timeout=300) as connection:
        connection.sendall(wire.frame(kind, payload))
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_the_control_port_is_the_owners(files: RackFiles) -> None:
    """Its token should be readable by the rack's owner alone; without it the port runs nothing and answers nothing."""
    done = neighbour("cat", str(files.control))
    assert (done.returncode, done.stdout) != (0, "") and "Permission denied" in done.stderr
    assert b"the token is not this rack's" in asked(files, "0" * 32, wire.REQUEST)
    assert asked(files, "0" * 32, wire.RUN) == b""
    assert b"exa1cel01" in asked(files, json.loads(files.control.read_text())["token"], wire.RUN)


def test_the_process_is_left_alone(files: RackFiles) -> None:
    """The neighbour should neither signal the rack's process nor look into it or enter its hosts."""
    pid = control.status(files.root.parent.parent, "t1")[0].pid
    assert pid is not None
    for words in (
        ("kill", "-0", str(pid)),
        ("cat", f"/proc/{pid}/environ"),
        ("ls", f"/proc/{pid}/fd"),
        ("nsenter", "-t", str(pid), "-m", "true"),
    ):
        assert neighbour(*words).returncode != 0, words


def test_no_file_of_a_host_is_open_to_them(files: RackFiles) -> None:
    """Keys, state, and what is in the directories of emulated hosts should not be read, and nothing be left there."""
    tree = files.tree("exa1cel01")
    assert (tree / "tmp" / "kept").read_text() == "secret\n"
    for path in (
        files.identity,
        files.host_key("exa1cel01"),
        files.log,
        tree / "tmp" / "kept",
        tree / "etc" / "passwd",
    ):
        done = neighbour("cat", str(path))
        assert done.returncode != 0 and done.stdout == "", path
    assert neighbour("sh", "-c", f"echo x > {tree}/tmp/theirs").returncode != 0
    assert not (tree / "tmp" / "theirs").exists()


@pytest.mark.parametrize("login", ["root", "celladmin", "cellmonitor"])
def test_a_port_lets_in_only_who_has_the_key(files: RackFiles, login: str) -> None:
    """The hosts' ports are everybody's to knock at, and nobody gets a shell there without the rack's key."""
    port = next(
        line.split()[1]
        for line in files.ssh_config.read_text().splitlines()
        if line.strip().lower().startswith("port ")
    )
    options = ("-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
    words = ("ssh", *options, "-o", "BatchMode=yes", "-p", port, f"{login}@127.0.0.1", "echo in")
    done = neighbour(*words)
    assert done.returncode == 255 and done.stdout == "" and "Permission denied" in done.stderr, done.stderr
