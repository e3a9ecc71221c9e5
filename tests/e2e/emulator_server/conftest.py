"""One rack of invented programs for all tests of the servers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from server_fakes import FakeWorld, RunningRack

from exacell.emulator.basics.store import RackFiles, hold_running_lock
from exacell.emulator.server.daemon import Daemon
from tests.support.patience import must_come


@pytest.fixture(scope="session")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRack]:
    """A running rack in a directory whose path has a blank and a percent sign, as users' directories may."""
    files = RackFiles(tmp_path_factory.mktemp("a b%c") / "emulator" / "t1")
    files.root.mkdir(parents=True)
    lock = hold_running_lock(files)
    assert lock is not None
    world = FakeWorld()
    daemons: list[tuple[Daemon, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        daemon = Daemon(files, world, {})
        daemons.append((daemon, asyncio.get_running_loop()))
        await daemon.serve()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        must_come(files.control.exists)
        yield RunningRack(files, world)
    finally:
        daemon, loop = daemons[0]
        loop.call_soon_threadsafe(daemon.stop)
        thread.join(300)
        assert not thread.is_alive()
        assert not files.control.exists()
