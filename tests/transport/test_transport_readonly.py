"""A read-only transport refuses what changes something, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exacell.core.config import RackConfig, Reach
from exacell.core.errors import RefusedError
from exacell.transport.base import Request, Role, State, Upload
from exacell.transport.clush import ClushTransport
from exacell.transport.dcli import DcliTransport
from exacell.transport.exacli import ExacliTransport
from exacell.transport.openssh import OpensshTransport
from exacell.transport.rack_transport import RackTransport
from exacell.transport.ssh import SshTransport


@pytest.fixture
def transport(tmp_path: Path) -> SshTransport:
    """A read-only transport to a cell that can't be reached: its ssh_config does not exist."""
    rack = RackConfig(name="t", cells=("c1", "c2"), ssh_config=tmp_path / "none")
    return SshTransport(rack, read_only=True)


@pytest.mark.parametrize("role", [Role.READ, Role.ASM_READ])
def test_reads_are_tried(transport: SshTransport, role: Role) -> None:
    """A read goes its way on a read-only transport; here it ends as unreachable, like any other."""
    found = transport.run([Request(target="c1", command="cellcli -e 'list cell'", role=role)])
    assert found.replies["c1"].state is State.UNREACHABLE


@pytest.mark.parametrize("role", [Role.WRITE, Role.ASM_WRITE])
def test_one_write_refuses_the_batch(transport: SshTransport, role: Role) -> None:
    """One write among reads refuses all of them, naming the rack, the target and the way out."""
    requests = [
        Request(target="c1", command="cellcli -e 'list cell'", role=Role.READ),
        Request(target="c2", command="cellcli -e 'drop flashcache'", role=role),
    ]
    with pytest.raises(RefusedError, match="rack t is read-only: nothing was sent to c2") as caught:
        transport.run(requests)
    assert caught.value.hint == "set mode rw"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the programs by which cells are reached write when they are started; it is not there before that."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    for name in ("ssh", "dcli", "exacli", "clush"):
        program = folder / name
        program.write_text(f'#!/bin/sh\n[ "$1" = --help ] || echo {name} >> {log}\necho --serial\n')
        program.chmod(0o700)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return log


@pytest.mark.parametrize("kind", [ClushTransport, DcliTransport, ExacliTransport, OpensshTransport])
def test_every_transport_refuses_before_it_starts_a_program(log: Path, kind: type[RackTransport]) -> None:
    """Read-only, it should start none of the programs by which it reaches cells for a batch with a write in it; switched
    to read-only later as well."""
    transports = [kind(RackConfig(name="t", cells=("c1", "c2")), read_only=early) for early in (True, False)]
    transports[1].read_only = True
    for transport in transports:
        with pytest.raises(RefusedError, match="rack t is read-only: nothing was sent to c2"):
            transport.run(
                [
                    Request(target="c1", command="cellcli -e 'list cell'", role=Role.READ),
                    Request(target="c2", command="cellcli -e 'drop flashcache'", role=Role.WRITE),
                ]
            )
        transport.close()
    assert not log.exists()


@pytest.mark.parametrize(
    ("kind", "wrong", "why"),
    [
        (
            ClushTransport,
            {"upload": Upload(sources=(Path("f"),), destination="")},
            "the transport clush copies no files",
        ),
        (DcliTransport, {"stdin": "x"}, "the transport dcli can't send input to a command"),
        (ExacliTransport, {"command": "reboot"}, "the transport exacli carries only CellCLI statements"),
        (ExacliTransport, {"command": "cellcli -e calibrate"}, "ExaCLI has no CALIBRATE"),
        (ExacliTransport, {"command": "cellcli -e 'list cell; calibrate'"}, "ExaCLI has no CALIBRATE"),
    ],
)
def test_what_one_transport_cannot_carry_refuses_the_batch(
    log: Path, kind: type[RackTransport], wrong: dict[str, Any], why: str
) -> None:
    """It names the cell and the reason, and starts no program, also not for those cells whose request it could carry."""
    good = Request(target="c1", command="cellcli -e 'list cell'", role=Role.WRITE)
    with pytest.raises(RefusedError, match=f"^c2: {why}.*; nothing was sent"):
        kind(RackConfig(name="t", cells=("c1", "c2"))).run([good, replace(good, target="c2", **wrong)])
    assert not log.exists()


def refusing_dcli(folder: Path) -> tuple[Path, Path]:
    """A dcli that lets cellmonitor and guest in nowhere, and the file to which it writes each login and its command."""
    program, log = folder / "dcli", folder / "log"
    program.write_text(
        "#!/bin/sh\ncase $1 in --help) echo --serial; exit 0;; esac\n"
        "for last; do :; done\n"
        f'echo "$4 $(printf %s "$last" | grep -o "cellcli .*\\|hostname")" >> {log}\n'
        'case $4 in cellmonitor|guest) echo "c1:$4@c1: Permission denied (publickey)."; exit 1;; esac\n'
        'echo "c1: $(printf %s "$last" | grep -o "exacell-[0-9a-f]*" | head -n 1) 0"\n'
    )
    program.chmod(0o700)
    return program, log


AS_WRITER: list[tuple[Request, list[str]]] = [
    (Request(target="c1", command="cellcli -e list cell", role=Role.READ), ["celladmin cellcli -m -e list cell"]),
    (Request(target="c1", command="hostname", role=Role.READ), ["celladmin hostname"]),
    (Request(target="c1", command="cellcli -e drop flashcache", role=Role.WRITE), ["celladmin cellcli -e drop flashcache"]),
    (Request(target="c1", command="cellcli -e list cell", role=Role.READ, login="root"), ["root cellcli -e list cell"]),
    (Request(target="c1", command="cellcli -e list cell", role=Role.READ, login="guest"), ["guest cellcli -e list cell"]),
]  # fmt: skip


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(("request_", "sent"), AS_WRITER, ids=[f"{r.role}-{r.login}-{r.command}" for r, _ in AS_WRITER])
def test_only_reads_of_the_racks_own_login_become_the_writers(
    tmp_path: Path, request_: Request, sent: list[str], early: bool
) -> None:
    """Where the read login is refused its CellCLI reads run as the write login and can change nothing, other reads as they
    are; a change, and what a login named with it runs, stay what they are, before it is known and behind that."""
    program, log = refusing_dcli(tmp_path)
    transport = DcliTransport(RackConfig(name="t", cells=("c1",), reach=Reach(dcli=str(program))))
    if early:
        assert transport.run([AS_WRITER[0][0]]).ok and transport.read_fallback == {"c1"}
        log.unlink()
    reply = transport.run([request_]).replies["c1"]
    assert reply.state is (State.UNREACHABLE if request_.login == "guest" else State.OK), reply
    first = [] if early or request_.login or request_.role is Role.WRITE else [f"cellmonitor {request_.command}"]
    assert log.read_text().splitlines() == [*first, *sent]


def test_a_rack_with_one_login_tries_it_once(tmp_path: Path) -> None:
    """Where reads and changes have the same login there is no other one to try when it is refused."""
    program, log = refusing_dcli(tmp_path)
    rack = RackConfig(name="t", cells=("c1",), write_user="cellmonitor", reach=Reach(dcli=str(program)))
    transport = DcliTransport(rack)
    reply = transport.run([AS_WRITER[0][0]]).replies["c1"]
    assert reply.state is State.UNREACHABLE and transport.read_fallback == frozenset()
    assert len(log.read_text().splitlines()) == 1
