"""Who the hosts of a session's rack are: production racks are known again under any other name.

A production rack is remembered by what its hosts have shown, whenever it is used. On any other rack a host that shows the
same has that rack's rules (:meth:`Session.owner`). No connection is made only to remember; before something is changed, its
target is asked who it is, on the connection over which the change goes.
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
"""Seconds within which the resolver must know an address that is only remembered; it is asked again by the next session."""


class Recognition:
    """Remembers the hosts of a production rack, and knows them again on another rack. Thread-safe.

    Args:
        fleet, store: what is open in the session.
        say: tells the user.
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
        """Take the connections that are used from now on; what was seen over others counts no more."""
        # Without the lock: whoever holds it may wait for these very connections.
        self._transport, self._noted, self._pinned, self._asked = transport, None, False, set()
        if transport is not None:
            transport.gate = self

    # -- another rack's hosts ------------------------------------------------------------------------------------------

    def recognise(self, targets: Iterable[str]) -> None:
        """Find out which of the targets are hosts of production racks; those that are not known yet are asked.

        Raises:
            StoreError: what is known of production racks can't be read.
        """
        with self._lock:
            self._known = self._elsewhere()
            if not self._known:
                return
            named = [target for target in dict.fromkeys(targets) if target]
            self._ask([target for target in named if target not in self._asked])
            for target in named:  # Those that were asked before, too: more may be known of production racks since.
                if not self._see(target).empty:
                    self._asked.add(target)

    def _ask(self, targets: Sequence[str]) -> None:
        """Have targets show their host keys, and cells their ids."""
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
        """Judge a target by what it has shown, and return that."""
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
        except (TransportError, ConfigError):  # It has no address, or ssh_config does not say where it is.
            shown = Identity()
        told = self._fleet().ids.get(target, "")
        return replace(shown, id="" if told and shown.keys & self._emulated() else told)

    def _emulated(self) -> frozenset[str]:
        """Return the host keys of all hosts that exacell's emulator runs here: ids of those are made up or copied."""
        from exacell.transport.ssh.hostkeys import KnownHostsCache  # Not where no host has shown anything.

        session, self._files = self._session, self._files or KnownHostsCache()
        racks = [session.rack, *session.config.racks.values()]
        beside = [rack.ssh_config.parent for rack in racks if rack is not None and rack.emulated and rack.ssh_config]
        folders = [
            *(session.home.state_dir / "emulator").glob("*"),
            *(one for one in beside if (one / "hosts").is_dir()),
        ]
        return self._files.get([Path(folder) / "known_hosts" for folder in dict.fromkeys(folders)]).fingerprints

    def _elsewhere(self) -> Mapping[Place, Identity]:
        """Return what is known of the hosts that production racks name now, this rack's own first where it is one."""
        racks = {name: one for name, one in self._session.config.racks.items() if one.production}
        if not self._others():
            return {}
        kept = self._store().identities(tuple(racks))
        found = {(name, host): one for (name, host), one in kept.items() if host in _hosts(racks[name])}
        own = self._session.need_rack().name
        return dict(sorted(found.items(), key=lambda item: item[0][0] != own))

    def _others(self) -> bool:
        """Whether another rack than this one is a production rack."""
        rack, racks = self._session.rack, self._session.config.racks.values()
        own = rack.name if rack is not None and rack.production else ""
        return rack is not None and any(one.production and one.name != own for one in racks)

    # -- the gate of the transport -------------------------------------------------------------------------------------

    def pass_all(self, targets: Sequence[str]) -> None:
        """Return when all targets may be changed; see :class:`exacell.transport.base.Gate`.

        Raises:
            RefusedError: one may not.
        """
        self.recognise(targets)
        self._session.refuse_closed(targets)

    def why_not(self, target: str) -> str:
        """Return why a target must not be changed by the host key that it shows now, empty when it may."""
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
        """Take note of what hosts have shown: a production rack's are remembered, those of another rack judged."""
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
        """Keep what hosts of a production rack have shown, and once what known_hosts has for the others, or their address.

        Nothing is kept of hosts that were reached another way than the rack's own: there its names may lead elsewhere.
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
                # It was not connected to, and known_hosts has nothing: its address is all there is.
                silent.append(host)
        found |= {host: Identity(addresses=places) for host, places in self._places(silent).items() if places}
        if found:
            store.keep_identities(rack.name, found)

    def _places(self, hosts: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the addresses of hosts, as far as the resolver has them within a short time."""
        assert self._transport is not None
        looking = {host: Meanwhile(partial(self._transport.shows, host, addresses=True)) for host in hosts}
        until = time.monotonic() + RESOLVED_S
        found = {}
        for host, look in looking.items():
            look.join(max(0.0, until - time.monotonic()))
            if not look.is_alive():
                with suppress(TransportError, ConfigError):  # It has none, or ssh_config does not say where it is.
                    found[host] = look.result().addresses
        return found

    def renew(self) -> tuple[list[str], list[str]]:
        """Ask all hosts of a production rack who they are, remember that instead of what was known, and return who has
        shown it, and who was not reached: of those what was known stands."""
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
    """Return all that a rack names: cells, database nodes and other hosts."""
    return tuple(dict.fromkeys((*rack.cells, *rack.dbnodes, *rack.host_names)))


def _role(rack: RackConfig, node: str) -> Role:
    return Role.ASM_READ if rack.asm_of(node) is not None else Role.HOST_READ
