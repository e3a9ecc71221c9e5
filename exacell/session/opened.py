"""What is open to the current rack: its transport, the fleet over it and its ASM clients, each made on first use.

Any thread may ask; two that ask at once get the same.
"""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING

from exacell.core.config import AsmConfig, RackConfig, Settings
from exacell.core.errors import ConfigError

if TYPE_CHECKING:
    # Imported where they are used: the prompt stands before most of this is loaded.
    from exacell.core.paths import Home
    from exacell.output.console import Console
    from exacell.session.asm import AsmClient
    from exacell.session.fleet import Fleet
    from exacell.transport.base import Transport


class Opened:
    """The connections of one rack at a time.

    Args:
        given: used for every rack instead of what its configuration says, and never closed; None for none.
    """

    def __init__(self, given: Transport | None = None) -> None:
        self._given = given
        self._transport: Transport | None = None
        self._fleet: Fleet | None = None
        self._patience = float("inf")
        self._asm: dict[str, AsmClient] = {}
        self._lock = threading.RLock()

    @property
    def given(self) -> bool:
        """Whether the transport is not ours to open."""
        return self._given is not None

    def over(self, fleet: Fleet) -> Opened:
        """Return the same connections with ``fleet`` as the fleet."""
        other = copy.copy(self)
        other._fleet = fleet
        return other

    def transport(self, rack: RackConfig, settings: Settings, *, read_only: bool, more_to_come: bool) -> Transport:
        """Return the transport of ``rack``.

        Args:
            read_only: refuse writes from now on.
            more_to_come: its cells will be read more than once, so that a CellCLI on each is worth keeping.

        Raises:
            ConfigError: the rack's transport cannot be had.
        """
        with self._lock:
            if self._transport is None:
                if self._given is not None:
                    self._transport = self._given
                else:
                    from exacell.transport.factory import make_transport

                    self._transport = make_transport(rack, settings)
            self._patience = rack.command_timeout or settings.timeout
            self._transport.read_only = read_only
            if more_to_come:
                self._transport.expects_more = True
            return self._transport

    def fleet(self, transport: Transport, home: Home, rack: str) -> Fleet:
        """Return what sends statements to cells over ``transport``; in ``home`` is kept which cells of ``rack`` hung."""
        from exacell.session.fleet import Fleet
        from exacell.session.hung import KeptHung

        with self._lock:
            if self._fleet is None:
                self._fleet = Fleet(transport, patience=self._patience, kept=KeptHung(home, rack))
            return self._fleet

    def asm(self, cluster: AsmConfig, transport: Transport, console: Console) -> AsmClient:
        """Return an ASM cluster to ask; says once when it is reached another way than the cells."""
        from exacell.session.asm import AsmClient

        with self._lock:
            if cluster.name not in self._asm:
                able = transport.capabilities
                if not able.nodes:
                    console.say(f"{able.name} reaches cells only: the ASM cluster {cluster.name} is asked over ssh")
                self._asm[cluster.name] = AsmClient(transport, cluster)
            return self._asm[cluster.name]

    def set_mode(self, *, read_only: bool) -> None:
        """Let what is open carry writes, or refuse them."""
        if self._transport is not None:
            self._transport.read_only = read_only

    def close(self) -> None:
        """End the connections; the next use opens them anew."""
        with self._lock:
            if self._transport is not None and self._transport is not self._given:
                self._transport.close()
            self._transport, self._fleet = None, None
            self._asm = {}


def cluster_of(rack: RackConfig, name: str) -> AsmConfig:
    """Return the ASM cluster ``name`` of ``rack``, its only one where the name is empty.

    Raises:
        ConfigError: there is none of that name, none at all, or several and none was named.
    """
    if not rack.asm:
        raise ConfigError(
            f"rack {rack.name} has no database nodes, so ASM can't be asked",
            hint=f"name them in the rack's file: [asm.main] nodes=…, home=…, sid=… ({rack.source or rack.name})",
        )
    if not name and len(rack.asm) > 1:
        raise ConfigError(f"rack {rack.name} has the ASM clusters {', '.join(rack.asm)}: say asm=NAME")
    name = name or next(iter(rack.asm))
    if name not in rack.asm:
        raise ConfigError(f"rack {rack.name} has no ASM cluster {name}: it has {', '.join(rack.asm)}")
    return rack.asm[name]
