"""The instance to which sessions are connected, as their work sees it: :class:`exacell.emulator.asm.instances.Instance`."""

from __future__ import annotations

from typing import Protocol

from exacell.emulator.basics.versions import Version
from exacell.emulator.state.view import RackView
from exacell.emulator.storage.databases import Database
from exacell.emulator.storage.disk_groups import DiskGroup


class ConnectedAsm(Protocol):
    """The ASM cluster below an instance; ``groups`` are its disk groups by name."""

    groups: dict[str, DiskGroup]

    @property
    def rack(self) -> RackView:
        """Return the rack."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the cluster's database nodes."""

    @property
    def version(self) -> Version:
        """Return the release of the instances."""

    def now(self) -> float:
        """Return the rack's time in epoch seconds."""


class Connected(Protocol):
    """One running instance of a database."""

    @property
    def asm(self) -> ConnectedAsm:
        """Return the ASM cluster below it."""

    @property
    def node(self) -> int:
        """Return the place of its node among the cluster's."""

    @property
    def database(self) -> Database | None:
        """Return its database; None for an instance of ASM."""

    @property
    def name(self) -> str:
        """Return its name, which is its ORACLE_SID."""

    @property
    def started(self) -> float:
        """Return the rack time at which it started."""
