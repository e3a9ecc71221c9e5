"""Runs the emulated programs for sessions and shims; a failing program never ends the rack."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from exacell.emulator.basics.beneath import Files
from exacell.emulator.hosts.shell import Login
from exacell.emulator.rack.world import Launch, World
from exacell.emulator.server.driver import Console, ConsoleLost, drive
from exacell.emulator.state.fault_book import Kind

LOG = logging.getLogger("exacell.emulator")

UNREACHABLE = 255
"""Exit status of a program on a host that is down, the same as ssh's."""
CRASHED = 70
"""Exit status of a program that failed because of an error in the emulator, as EX_SOFTWARE of sysexits.h."""


class Programs:
    """Runs the rack's programs.

    Args:
        save: called with the host each time a statement on it may have ended.
        catch_up: brings the rack up to its clock.
    """

    def __init__(self, world: World, save: Callable[[str], None], catch_up: Callable[[], Awaitable[None]]) -> None:
        self._world = world
        self._save = save
        self._catch_up = catch_up

    async def run(
        self,
        name: str,
        login: Login,
        argv: Sequence[str],
        console: Console,
        *,
        env: Mapping[str, str],
        files: Files,
        tty: bool,
    ) -> int:
        """Run one program to its end and return its exit status.

        A program that fails is logged with its traceback and ends with status 70 and one line.

        Raises:
            ConsoleLost: the client is gone; the program has been closed.
        """
        if self._world.faults.holds(login.host.name, Kind.POWER_OFF):
            await console.write(f"{name}: {login.host.name} is switched off\n", err=True)
            return UNREACHABLE
        try:
            host, user = login.host.name, login.user
            await self._catch_up()
            program = self._world.program(
                Launch(name=name, host=host, login=user, argv=argv, env=env, files=files, tty=tty, has_stdin=True)
            )
            saving = partial(self._save, host)
            return await drive(program, console, wall_seconds=self._world.wall_seconds, between=saving)
        except ConsoleLost:
            raise
        except Exception:  # the only broad except of the emulator: an error in a program must not end the rack
            LOG.exception("%s %s failed on %s as %s", name, " ".join(argv), login.host.name, login.user)
            await console.write(f"{name}: the emulator failed here; its log tells why\n", err=True)
            return CRASHED
