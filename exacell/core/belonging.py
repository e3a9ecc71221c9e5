"""Which production rack a host belongs to, judged by what it shows of itself. Pure: what was read is handed in."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.core.values import dataclass

Place = tuple[str, str]
"""A rack's name and what the host is called there."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What tells one host from all others, whatever it is called.

    Attributes:
        keys: the fingerprints of its SSH host keys, ``SHA256:…``.
        id: what LIST CELL says; empty where the host is no cell or did not say, and for a host of exacell's emulator, whose
            id is made up or copied.
        addresses: ``address:port`` of its sshd, as this machine resolves its name. Private addresses repeat.
    """

    keys: frozenset[str] = frozenset()
    id: str = ""
    addresses: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.keys or self.id or self.addresses)


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The production rack that a target belongs to: ``host`` is what it is called there, ``by`` what both show."""

    target: str
    rack: str
    host: str
    by: str

    @property
    def phrase(self) -> str:
        """``other1 is exa1cel01 of rack prod (same host key)``."""
        return f"{self.target} is {self.host} of rack {self.rack} (same {self.by})"

    @property
    def named(self) -> str:
        """``prod (other1 is its exa1cel01, same host key)``: the rack, and why it is meant."""
        return f"{self.rack} ({self.target} is its {self.host}, same {self.by})"


def owner_of(target: str, shown: Identity, known: Mapping[Place, Identity]) -> Owner | None:
    """Return the production rack that a target belongs to; None where nothing that it shows is known of one.

    A host key or an id that both have decides. An address counts only between two hosts of which neither can be
    compared. Names never count.

    Args:
        shown: what the target shows.
        known: what is known of the hosts of production racks.
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
    """Return whether two hosts have shown the same kind of thing, so that no address need be looked at."""
    return bool((one.keys and other.keys) or (one.id and other.id))
