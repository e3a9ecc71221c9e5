"""Everything at once, at moments that nobody chose: connections cut, answers garbled, deadlines, Ctrl-C, transports closed."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from exacell.transport.base import Reply
from tests.support.faulty import FaultyServer
from tests.support.requests import read, write
from tests.support.servers import MakeTransport

SECONDS = 2.0
COMMANDS = ("echo x", "echo y", "drop", "vanish", "exit 3", "cat", "garble", "hang", "signal")
TARGETS = [f"c{number}" for number in range(6)]


@pytest.fixture
def restless() -> Iterator[None]:
    """Have threads take turns far more often than usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
def test_a_storm(faulty: FaultyServer, transport_to: MakeTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    """It should account for every target of every run, make no mistake in any thread, and work as ever afterwards."""
    told: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda said: told.append(said.exc_value))
    transport = transport_to(faulty.ssh_config(), "u", timeout=30, connect_timeout=30)
    assert len(transport.run([read(target, "echo x") for target in TARGETS]).ok) == len(TARGETS)
    end = time.monotonic() + SECONDS
    accounted: list[bool] = []

    def cutting() -> None:
        chance = random.Random(0)
        while time.monotonic() < end:
            time.sleep(chance.uniform(0, 0.2))
            if chance.random() < 0.6:
                faulty.kill_connections()
            else:
                transport.close()

    def asking(seed: int) -> None:
        chance = random.Random(seed)

        def interrupted(reply: Reply) -> None:
            if chance.random() < 0.02:
                raise KeyboardInterrupt

        while time.monotonic() < end:
            requests = [
                chance.choice((read, write))(target, chance.choice(COMMANDS), timeout=chance.uniform(0.01, 0.5))
                for target in TARGETS
            ]
            try:
                result = transport.run(requests, on_reply=interrupted)
            except KeyboardInterrupt:
                continue
            accounted.append(list(result.replies) == TARGETS)

    threads = [threading.Thread(target=cutting), *(threading.Thread(target=asking, args=(n,)) for n in range(3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    assert told == [] and all(accounted)
    assert [reply.stdout for reply in transport.run([read(target, "echo z") for target in TARGETS]).ok] == [
        "z\n" for _ in TARGETS
    ]
