"""Find the production rack that a host belongs to, by its identity. Pure: the identities are arguments."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.values import dataclass

Place = tuple[str, str]
"""The name of a rack, and the host's name in it."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Marks of a host that don't depend on its name.

    Attributes:
        keys: the fingerprints of its SSH host keys, ``SHA256:…``.
        id: the id in LIST CELL; empty if the host is no cell, did not show it, or belongs to an emulated rack, whose ids are
            made up
            or copied.
        addresses: ``address:port`` of its sshd, as this machine resolves its name. Private addresses may occur on several hosts.
    """

    keys: frozenset[str] = frozenset()
    id: str = ""
    addresses: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Return whether nothing is known about the host."""
        return not (self.keys or self.id or self.addresses)


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The production rack of a target: ``host`` is the target's name in that rack, ``by`` the mark that both have."""

    target: str
    rack: str
    host: str
    by: str

    @property
    def phrase(self) -> str:
        """Return a sentence: ``other1 is exa1cel01 of rack prod (same host key)``."""
        return f"{self.target} is {self.host} of rack {self.rack} (same {self.by})"

    @property
    def named(self) -> str:
        """Return the rack with the reason: ``prod (other1 is its exa1cel01, same host key)``."""
        return f"{self.rack} ({self.target} is its {self.host}, same {self.by})"


def owner_of(target: str, shown: Identity, known: Mapping[Place, Identity]) -> Owner | None:
    """Return the production rack that a target belongs to; None if it shares no mark with a host of one.

    A common host key or id decides. An address counts only if two hosts can't be compared by host key or id. Names never count.

    Args:
        shown: the identity of the target.
        known: the identities of the hosts of production racks.
    """

    def found(place: Place, by: str) -> Owner:
        return Owner(target=target, rack=place[0], host=place[1], by=by)

    for place, one in known.items():
        if shown.keys & one.keys:
            return found(place, "host key")
    for place, one in known.items():
        if shown.id and shown.id == one.id:
            return found(place, "id")
    for place, one in known.items():
        if not comparable(shown, one) and shown.addresses & one.addresses:
            return found(place, "address and port")
    return None


def comparable(one: Identity, other: Identity) -> bool:
    """Return whether two hosts both have keys or both have an id, so that their addresses need not be compared."""
    return bool((one.keys and other.keys) or (one.id and other.id))
