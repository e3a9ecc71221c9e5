"""The contract of transports: what may be asked of each, and that nobody asks in another way."""

from __future__ import annotations

import ast
import inspect
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from exacell.core.config import RackConfig, Settings
from exacell.transport.base import FleetResult, Reply, Request, Role, State, Transport
from exacell.transport.capabilities import CLUSH, DCLI, EXACLI, EXACLI_CLOUD, OPENSSH, SSH
from exacell.transport.clush import ClushTransport
from exacell.transport.dcli import DcliTransport
from exacell.transport.exacli import ExacliTransport
from exacell.transport.factory import CompositeTransport, over_ssh
from exacell.transport.fanout import Flight
from exacell.transport.openssh import OpensshTransport
from exacell.transport.ssh import SshTransport, packets, wire
from tests.support.patience import until
from tests.support.requests import read
from tests.support.sources import ROOT, nodes, trees

ALL = (SshTransport, OpensshTransport, DcliTransport, ExacliTransport, ClushTransport, CompositeTransport)


class Least(Transport):
    """A transport that says no more than it has to."""

    def run(self, requests: Sequence[Request], **_: Any) -> FleetResult:
        """Return that every target answered."""
        replies = {request.target: Reply(target=request.target, state=State.OK) for request in requests}
        return FleetResult(targets=tuple(replies), replies=replies)

    def close(self) -> None:
        """Nothing is open."""


def test_a_transport_that_says_nothing_has_an_answer_to_everything() -> None:
    """Two methods make a transport: it keeps nothing, warms nothing, and tries no login without running something."""
    least = Least()
    assert (least.read_fallback, dict(least.single_reads), least.lives("h1")) == (frozenset(), {}, 0)
    assert least.warm(["h1"]) is None and least.logins(["h1"], Role.READ) is None
    assert (least.read_only, least.expects_more) == (False, False)
    assert least.capabilities.pairs and least.capabilities.programs and not least.capabilities.known_hosts


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_what_a_transport_overrides_is_called_in_the_same_way(kind: type[Transport]) -> None:
    """Each transport is one by its base class, and takes what the contract's methods take, by the same names."""
    assert issubclass(kind, Transport)
    for name, ours in inspect.getmembers(Transport, inspect.isfunction):
        if not name.startswith("_"):
            assert list(inspect.signature(getattr(kind, name)).parameters) == list(
                inspect.signature(ours).parameters
            ), name


def _probes(there: Iterable[ast.AST]) -> list[str]:
    """Return the places where something is asked whether it is a certain transport, or has a certain name of one."""
    contract = {name for name in vars(Transport) if not name.startswith("_")} | set(Transport.__annotations__)
    found = []
    for node in there:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2:
            asked = node.args[1]
            if node.func.id in ("getattr", "hasattr") and isinstance(asked, ast.Constant) and asked.value in contract:
                found.append(ast.unparse(node))
            if node.func.id in ("isinstance", "issubclass") and any(
                kind.__name__ in ast.unparse(asked) for kind in ALL
            ):
                found.append(ast.unparse(node))
    return found


def test_nobody_probes_a_transport() -> None:
    """Outside of the package nobody asks a transport by getattr or by its class what it can do: the contract says it."""
    found = {
        str(path.relative_to(ROOT)): probes
        for path in trees()
        if "transport" not in path.relative_to(ROOT).parts
        if (probes := _probes(nodes(path)))
    }
    assert found == {}


def test_host_keys_are_asked_for_over_ssh_alone() -> None:
    """``trust`` asks over the transport itself where that is ours over SSH, else over a new one, and not at all where hosts
    show no keys, as over exacli or a transport that says nothing of them."""
    rack, settings = RackConfig(name="r", cells=("c1",)), Settings()
    ours = SshTransport(rack, settings)
    assert over_ssh(ours, rack, settings) is ours
    assert isinstance(over_ssh(OpensshTransport(rack, settings, program="/bin/true"), rack, settings), SshTransport)
    able = {
        able.name: able.known_hosts for able in (SSH, OPENSSH, DCLI, CLUSH, EXACLI, EXACLI_CLOUD, Least.capabilities)
    }
    assert [name for name, known in able.items() if not known] == ["exacli", "other"]


@pytest.mark.parametrize("make", [OpensshTransport, SshTransport])
def test_whom_a_run_still_waits_for_is_told(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While runs go on, ``awaited`` has the targets without a reply, of all of them; behind them none."""
    rack = RackConfig(name="r", cells=("c1", "c2", "c3"), read_user="celladministrator", write_user="celladministrator")
    transport = make(rack, Settings(), **({} if make is SshTransport else {"program": "/bin/true"}))
    go_on = threading.Event()

    def work(flight: Flight) -> Reply:
        if flight.request.target != "c1":
            go_on.wait(300)
        return flight.reply(State.OK)

    monkeypatch.setattr(transport, "_perform", work)
    monkeypatch.setattr(transport, "_start", None, raising=False)
    assert transport.awaited == ()
    runs = [
        threading.Thread(target=transport.run, args=([read(cell, "list cell") for cell in cells],), daemon=True)
        for cells in (("c1", "c2"), ("c3",))
    ]
    for run in runs:
        run.start()
    assert until(lambda: set(transport.awaited) == {"c2", "c3"})
    go_on.set()
    for run in runs:
        run.join(300)
    assert transport.awaited == ()


def _names(there: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the packages that a module imports anywhere, and the names that it looks up on something but itself."""
    imported, looked_up = set(), set()
    for node in there:
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
            looked_up.add(node.attr)
    return imported, looked_up


def test_one_package_knows_the_ssh_library_and_two_modules_its_private_names() -> None:
    """Only transport/ssh imports paramiko and fabric, for type checkers too, but for ``dcli -k``, which makes a key; private
    names of theirs stand in wire and packets alone, which say what is done without them."""
    package = ROOT / "transport" / "ssh"
    private = {
        *packets.NEEDED,
        *packets.NEEDED_ATTRIBUTES,
        *wire.NEEDED,
        *wire.NEEDED_ATTRIBUTES,
        "_active_threads",
        "_unlink",
    }
    private = {name for name in private if name.startswith("_")}
    for path in trees():
        imported, looked_up = _names(nodes(path))
        if package not in path.parents:
            makes_keys = {"paramiko"} if path == ROOT / "change" / "dcli" / "files.py" else set()
            assert not imported & {"paramiko", "fabric", "invoke"} - makes_keys, path
        elif path.stem not in ("wire", "packets"):
            assert not looked_up & private, path
