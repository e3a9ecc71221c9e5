"""Recognise the hosts of production racks, also when another rack has other names for them.

When a production rack is used, the keys, ids or addresses that its hosts show are remembered. A host of any other rack
that shows the same gets the rules of the production rack (:meth:`Session.owner`). No connection is made only to remember;
before a change, the target is asked for its identity on the connection that the change will use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.background import Meanwhile
from exacell.core.belonging import Identity, Owner, Place, comparable, owner_of
from exacell.core.errors import ConfigError, ExacellError, TransportError
from exacell.core.values import replace
from exacell.transport.base import Role, Transport

if TYPE_CHECKING:
    from exacell.core.config import RackConfig
    from exacell.session.fleet import Fleet
    from exacell.session.state import Session
    from exacell.session.store import Store
    from exacell.transport.ssh.hostkeys import KnownHostsCache


RESOLVED_S = 2.0
"""Seconds in which the resolver must answer for an address that is only remembered; the next session asks again."""


class Recognition:
    """Remembers the hosts of a production rack, and recognises them on another rack. Thread-safe.

    Args:
        fleet, store: return those of the session.
        say: shows a line to the user.
    """

    def __init__(
        self, session: Session, fleet: Callable[[], Fleet], store: Callable[[], Store], say: Callable[[str], object]
    ) -> None:
        self._session, self._fleet, self._store, self._say = session, fleet, store, say
        self._lock = threading.RLock()
        self._transport: Transport | None = None
        self._known: Mapping[Place, Identity] = {}
        self._asked: set[str] = set()
        self._files: KnownHostsCache | None = None
        self._noted: object = None
        self._pinned = False

    def over(self, transport: Transport | None) -> None:
        """Use these connections from now on, and forget what hosts showed over earlier ones."""
        # Without the lock: its holder may be waiting for these very connections.
        self._transport, self._noted, self._pinned, self._asked = transport, None, False, set()
        if transport is not None:
            transport.gate = self

    # -- another rack's hosts ------------------------------------------------------------------------------------------

    def recognise(self, targets: Iterable[str]) -> None:
        """Find out which targets are hosts of production racks; targets not known yet are asked.

        Raises:
            StoreError: the stored identities of production racks can't be read.
        """
        with self._lock:
            self._known = self._elsewhere()
            if not self._known:
                return
            named = [target for target in dict.fromkeys(targets) if target]
            self._ask([target for target in named if target not in self._asked])
            for target in named:  # Also those asked before: more may be known about production racks since then.
                if not self._see(target).empty:
                    self._asked.add(target)

    def _ask(self, targets: Sequence[str]) -> None:
        """Connect to the targets so that hosts show their host keys, and cells their ids."""
        rack = self._session.need_rack()
        fleet = self._fleet()
        cells = [target for target in targets if target not in rack.host_names]
        if cells:
            fleet.greet([cell for cell in cells if cell not in fleet.ids], cancel=self._session.interrupted)
        shown = fleet.transport.host_keys
        for role in (Role.ASM_READ, Role.HOST_READ):
            nodes = [node for node in targets if node not in cells and node not in shown and _role(rack, node) is role]
            if nodes:
                fleet.transport.logins(nodes, role)

    def _see(self, target: str) -> Identity:
        """Store in the session which production rack a target belongs to, if any, and return the target's identity."""
        identity = self._identity(target)
        owner = owner_of(target, identity, self._known)
        if owner is None and not all(comparable(identity, one) for one in self._known.values()):
            identity = self._identity(target, addresses=True)
            owner = owner_of(target, identity, self._known)
        self._take(target, owner)
        return identity

    def _take(self, target: str, owner: Owner | None) -> None:
        session, rack = self._session, self._session.rack
        if owner is not None and not (rack is not None and rack.production and rack.name == owner.rack):
            session.owners[target] = owner
        else:
            session.owners.pop(target, None)

    def _identity(self, target: str, *, addresses: bool = False) -> Identity:
        assert self._transport is not None
        try:
            shown = self._transport.shows(target, addresses=addresses)
        except (TransportError, ConfigError):  # It has no address, or ssh_config has no place for it.
            shown = Identity()
        told = self._fleet().ids.get(target, "")
        return replace(shown, id="" if told and shown.keys & self._emulated() else told)

    def _emulated(self) -> frozenset[str]:
        """Return the host keys of all hosts of exacell's emulator here: their ids are invented or copied."""
        from exacell.transport.ssh.hostkeys import KnownHostsCache  # Imported only once a host has shown a key.

        session, self._files = self._session, self._files or KnownHostsCache()
        racks = [session.rack, *session.config.racks.values()]
        beside = [rack.ssh_config.parent for rack in racks if rack is not None and rack.emulated and rack.ssh_config]
        folders = [
            *(session.home.state_dir / "emulator").glob("*"),
            *(one for one in beside if (one / "hosts").is_dir()),
        ]
        return self._files.get([Path(folder) / "known_hosts" for folder in dict.fromkeys(folders)]).fingerprints

    def _elsewhere(self) -> Mapping[Place, Identity]:
        """Return the identities of all hosts that production racks name now; if this rack is one, its own come first."""
        racks = {name: one for name, one in self._session.config.racks.items() if one.production}
        if not self._others():
            return {}
        kept = self._store().identities(tuple(racks))
        found = {(name, host): one for (name, host), one in kept.items() if host in _hosts(racks[name])}
        own = self._session.need_rack().name
        return dict(sorted(found.items(), key=lambda item: item[0][0] != own))

    def _others(self) -> bool:
        """Return whether a rack other than this one is a production rack."""
        rack, racks = self._session.rack, self._session.config.racks.values()
        own = rack.name if rack is not None and rack.production else ""
        return rack is not None and any(one.production and one.name != own for one in racks)

    # -- the gate of the transport -------------------------------------------------------------------------------------

    def pass_all(self, targets: Sequence[str]) -> None:
        """Raise RefusedError if one of the targets may not be changed; see :class:`exacell.transport.base.Gate`.

        Raises:
            RefusedError: a target is protected.
        """
        self.recognise(targets)
        self._session.refuse_closed(targets)

    def why_not(self, target: str) -> str:
        """Return why a target must not be changed, judged by the host key that it shows now; empty if it may be."""
        transport = self._transport
        if transport is None or not self._known:
            return ""
        if target in transport.host_keys:
            owner = owner_of(target, transport.shows(target), self._known)
            if owner is not None:
                self._take(target, owner)
        closed = self._session.closed((target,))
        return f"{closed.phrase}, a production rack" if closed is not None else ""

    # -- a statement has ended -----------------------------------------------------------------------------------------

    def note(self) -> None:
        """Store the identities that the hosts of a production rack have shown, or judge the hosts of another rack by them."""
        with self._lock:
            transport, rack = self._transport, self._session.rack
            if transport is None or rack is None:
                return
            shown = (dict(transport.host_keys), self._fleet().ids)
            if shown == self._noted or not any(shown) or not (rack.production or self._others()):
                return
            self._noted = shown
            seen = {target for told in shown for target in told}
            try:
                if rack.production:
                    self._remember(rack, seen)
                self._known = self._elsewhere()
                for target in seen if self._known else ():
                    self._see(target)
            except ExacellError as error:
                self._say(f"the identities of {rack.name}'s hosts can't be stored: {error.message}")

    def _remember(self, rack: RackConfig, seen: Iterable[str], *, anew: bool = False) -> None:
        """Store the identities of a production rack's hosts; the first time, also known_hosts keys or addresses of the rest.

        Nothing is stored for hosts that were reached with another ssh_config than the rack's: names may lead elsewhere there.
        """
        configured = self._session.config.racks.get(rack.name)
        if configured is None or configured.ssh_config != rack.ssh_config:
            return
        store, hosts = self._store(), _hosts(rack)
        kept = {} if anew else store.identities((rack.name,))
        targets = [host for host in hosts if host in set(seen)]
        if not self._pinned and not anew:
            self._pinned = True
            targets += [host for host in hosts if host not in targets and (rack.name, host) not in kept]
        found, silent = {}, []
        for host in targets:
            before = kept.get((rack.name, host), Identity())
            now = self._identity(host)
            now = replace(now, keys=now.keys or before.keys, id=now.id or before.id)
            if anew or replace(before, addresses=frozenset()) != now:
                with_address = self._identity(host, addresses=True).addresses
                found[host] = replace(now, addresses=with_address or before.addresses)
            elif now.empty:
                # It was not connected to, and known_hosts has no key: only its address is known.
                silent.append(host)
        found |= {host: Identity(addresses=places) for host, places in self._places(silent).items() if places}
        if found:
            store.keep_identities(rack.name, found)

    def _places(self, hosts: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the addresses of the hosts that the resolver finds within RESOLVED_S seconds."""
        assert self._transport is not None
        looking = {host: Meanwhile(partial(self._transport.shows, host, addresses=True)) for host in hosts}
        until = time.monotonic() + RESOLVED_S
        found = {}
        for host, look in looking.items():
            look.join(max(0.0, until - time.monotonic()))
            if not look.is_alive():
                with suppress(TransportError, ConfigError):  # It has no address, or ssh_config has no place for it.
                    found[host] = look.result().addresses
        return found

    def renew(self) -> tuple[list[str], list[str]]:
        """Ask all hosts of a production rack for their identities, and store them.

        Return the hosts that answered, and the hosts that did not. A host that did not answer keeps its old identity.
        """
        with self._lock:
            rack = self._session.need_rack()
            hosts = _hosts(rack)
            self._fleet().forget()
            self._ask(hosts)
            told = {*self._fleet().transport.host_keys, *self._fleet().ids}
            reached = [host for host in hosts if host in told]
            self._remember(rack, reached, anew=True)
            return reached, [host for host in hosts if host not in told]


def _hosts(rack: RackConfig) -> tuple[str, ...]:
    """Return all names of a rack: cells, database nodes and other hosts."""
    return tuple(dict.fromkeys((*rack.cells, *rack.dbnodes, *rack.host_names)))


def _role(rack: RackConfig, node: str) -> Role:
    return Role.ASM_READ if rack.asm_of(node) is not None else Role.HOST_READ
