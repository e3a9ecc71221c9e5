"""An auditor inside the emulated rack's process: writes down what each host was told, and what was offline afterwards.

Python imports a module of this name by itself from its path. It acts only where EXACELL_CHAOS_AUDIT names a file, one JSON
object a line: ``told`` when a host takes a statement, ``ended`` behind it. Source: docs.python.org, library/site.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from typing import Any


def install(path: str) -> None:
    """Watch every program that the rack carries out."""
    from exacell.emulator.basics.program import Ask
    from exacell.emulator.server.rack_world import RackWorld
    from exacell.emulator.storage.disk_groups import DiskMode

    original = RackWorld.program
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def note(**values: object) -> None:
        os.write(log, (json.dumps({"at": time.time(), **values}) + "\n").encode())

    def offline(world: Any) -> list[str]:
        groups = [g for g in world._rack.asm.groups.values() if g.mounted]
        return sorted({d.cell for g in groups for d in g.disks.values() if d.mode is not DiskMode.ONLINE})

    def program(world: Any, launch: Any) -> Any:
        return watched(world, original(world, launch), launch.name, launch.host, launch.login, list(launch.argv))

    def watched(world: Any, inner: Any, name: str, host: str, login: str, argv: list[str]) -> Generator[Any, Any, int]:
        writes = login not in ("cellmonitor",)
        before = offline(world) if writes else []
        if writes:
            note(kind="told", program=name, host=host, login=login, text=" ".join(argv))
        answer = None
        try:
            while True:
                try:
                    event = inner.send(answer)
                except StopIteration as end:
                    return int(end.value or 0)
                answer = yield event
                if writes and isinstance(event, Ask) and answer:
                    note(kind="told", program=name, host=host, login=login, text=answer)
        finally:
            if writes:
                after = offline(world)
                note(kind="ended", program=name, host=host, text=" ".join(argv), before=before, after=after)
            inner.close()

    RackWorld.program = program  # type: ignore[method-assign]


if os.environ.get("EXACELL_CHAOS_AUDIT"):
    install(os.environ["EXACELL_CHAOS_AUDIT"])
