"""A session on an emulated rack in this process: what is sent to its hosts runs at once, without SSH."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exacell.core.config import AsmConfig, Config, RackConfig
from exacell.core.paths import Home
from exacell.emulator.asm.clusters import AsmClusters
from exacell.emulator.basics.beneath import OwnFiles
from exacell.emulator.basics.clock import RackClock
from exacell.emulator.basics.names import GRID_HOME
from exacell.emulator.basics.program import Ask, Out, Pause
from exacell.emulator.basics.rack_spec import RackSpec
from exacell.emulator.rack.rack import Rack
from exacell.emulator.rack.world import Launch
from exacell.emulator.server.rack_world import RackWorld
from exacell.output.console import SilentConsole
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.transport.base import FleetResult, Reply, ReplyHandler, Request, State
from tests.support.transports import Open

MORNING = 1_700_000_000.0


class Wall:
    """A wall clock that tests turn by hand."""

    def __init__(self) -> None:
        self.now = MORNING

    def __call__(self) -> float:
        return self.now


def new_world(wall: Wall, **options: object) -> RackWorld:
    """Return a new rack; ``options`` are fields of RackSpec. A second of the wall is one of the rack's."""
    spec = RackSpec(**{"name": "t1", "speed": 1.0, **options})  # type: ignore[arg-type]  # each test's own
    rack = Rack(spec, RackClock(speed=spec.speed, wall=wall))
    return RackWorld(rack, AsmClusters.default(rack))


@dataclass
class WorldTransport(Open):
    """Runs requests on a rack's hosts, one after the other. Programs that wait turn the clock, when there is one to turn."""

    world: RackWorld
    folder: Path
    wall: Wall | None = None
    read_only: bool = False

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Carry requests out and return what programs print."""
        replies = {request.target: self._reply(request) for request in requests}
        for reply in replies.values():
            if on_reply is not None:
                on_reply(reply)
        return FleetResult(targets=tuple(replies), replies=replies)

    def _reply(self, request: Request) -> Reply:
        words = shlex.split(request.command)
        if words[0] == "env":
            words = words[1:]
        env: dict[str, str] = {}
        while "=" in words[0]:
            name, _, env[name] = words.pop(0).partition("=")
        login = "grid" if request.target in self.world.dbnodes else "celladmin"
        status, out, err = self.program(request.target, login, words, env=env, stdin=request.stdin)
        state = State.OK if status == 0 else State.FAILED
        return Reply(target=request.target, state=state, stdout=out, stderr=err, exit_status=status)

    def program(
        self,
        host: str,
        login: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
    ) -> tuple[int, str, str]:
        """Return the exit status of a program on a host, and what it printed on its two streams."""
        launch = Launch(
            name=argv[0],
            host=host,
            login=login,
            argv=argv[1:],
            env=env or {},
            files=OwnFiles(str(self.folder)),
            tty=False,
            has_stdin=stdin is not None,
        )
        program = self.world.program(launch)
        lines = iter((stdin or "").splitlines())
        shown: dict[bool, list[str]] = {False: [], True: []}
        answer: str | None = None
        while True:
            try:
                event = program.send(answer)
            except StopIteration as end:
                return int(end.value or 0), "".join(shown[False]), "".join(shown[True])
            answer = None
            if isinstance(event, Out):
                shown[event.err].append(event.text)
            elif isinstance(event, Ask):
                answer = next(lines, None)
            else:
                assert isinstance(event, Pause), event
                if self.wall is not None:
                    self.wall.now += self.world.wall_seconds(event)

    def cellcli(self, cell: str, statement: str) -> str:
        """Return what a statement prints on a cell."""
        return self.program(cell, "celladmin", ["cellcli", "-e", statement])[1]


def session_on(world: RackWorld, folder: Path, wall: Wall | None = None) -> tuple[Session, Services, WorldTransport]:
    """Return a session on a rack, and its transport, for statements of the test's own."""
    transport = WorldTransport(world, folder, wall)
    cluster = world.clusters[0]
    asm = AsmConfig(name=cluster.name, nodes=tuple(cluster.nodes), home=GRID_HOME, databases=tuple(cluster.databases))
    rack = RackConfig(name="t1", cells=world.cells, dbnodes=world.dbnodes, asm={cluster.name: asm})
    session = Session(
        home=Home.from_env({"EXACELL_HOME": str(folder)}),
        config=Config(default_rack="t1", racks={"t1": rack}),
        options=Options(),
        env={"EXACELL_HOME": str(folder)},
    )
    services = Services(session, SilentConsole(), transport)
    return session, services, transport
