"""The interface between an emulated program (cellcli, sqlplus, asmcmd, srvctl) and the code that runs it.

A program is a generator. It yields :class:`Out` for text, :class:`Pause` to let rack time pass, and :class:`Ask` for one
line of input, which is sent back into the generator (None at end of input). Its return value is the exit status. So programs do
not depend on sockets, threads or clocks, and one driver serves SSH exec requests, ptys and local shims.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True)
class Out:
    """Text for the program's standard output (or its standard error)."""

    text: str
    err: bool = False


@dataclass(frozen=True)
class Pause:
    """Let time pass, then resume the program.

    Attributes:
        seconds: length in rack seconds (wall seconds times the rack's speed), or in wall seconds if ``wall``.
        wall: True for wall-clock seconds, as for the start of a Java client.
    """

    seconds: float
    wall: bool = False


@dataclass(frozen=True)
class Ask:
    """Ask for one line of standard input; the driver sends it without its newline, or None at the end.

    Attributes:
        prompt: shown before; without a terminal only if the program prints prompts there too.
        unchanged: nothing has changed since the last event that must be stored now.
    """

    prompt: str = ""
    unchanged: bool = False


@dataclass(frozen=True)
class Cut:
    """Break the connection that carries the program's output; only injected faults yield it.

    Attributes:
        after: bytes of output that are still sent first; 0 breaks it at once.
    """

    after: int


Event = Out | Pause | Ask | Cut
Program = Generator[Event, str | None, int]
