"""How an emulated program (cellcli, sqlplus, asmcmd, srvctl) talks to whatever runs it.

A program is a generator. It yields :class:`Out` for text, :class:`Pause` to let rack time pass, and :class:`Ask` for one
line of input, which is sent back into the generator (None at end of input). Its return value is the exit status. So
programs know nothing of sockets, threads or clocks, and one driver serves SSH exec requests, ptys and local shims.
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
        seconds: how long; rack seconds (wall seconds times the rack's speed) unless ``wall``.
        wall: True for wall-clock seconds, as for the start of a Java client.
    """

    seconds: float
    wall: bool = False


@dataclass(frozen=True)
class Ask:
    """One line of standard input is wanted; the driver sends it without its newline, None at the end.

    Attributes:
        prompt: shown first when there is a terminal (and when the program prints prompts without one).
        unchanged: nothing has happened since the last event that has to be stored now.
    """

    prompt: str = ""
    unchanged: bool = False


@dataclass(frozen=True)
class Cut:
    """The connection that carries the program's output breaks; only injected faults yield it.

    Attributes:
        after: bytes of output that still leave first; 0 cuts it at once.
    """

    after: int


Event = Out | Pause | Ask | Cut
Program = Generator[Event, str | None, int]
