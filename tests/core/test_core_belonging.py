"""Which production rack a host belongs to, by what it shows."""

from __future__ import annotations

from exacell.core.belonging import Identity, Owner, comparable, owner_of
from tests.support.every import every


def shown(keys: str = "", told: str = "", addresses: str = "") -> Identity:
    return Identity(keys=frozenset(keys.split()), id=told, addresses=frozenset(addresses.split()))


KNOWN = {
    ("prod", "cel01"): shown("K1 K1rsa", "ID1", "10.0.0.1:22"),
    ("prod", "db01"): shown("K2", "", "10.0.0.9:22"),
    ("bank", "cel01"): shown("", "ID3", "10.0.0.3:22"),
    ("bank", "db01"): shown("", "", "10.0.0.4:2222"),
}

CASES = [
    (shown("K1", "ID1", "10.0.0.1:22"), ("prod", "cel01", "host key")),
    (shown("K1", "other"), ("prod", "cel01", "host key")),
    (shown("new K1rsa"), ("prod", "cel01", "host key")),
    (shown("new", "ID1"), ("prod", "cel01", "id")),
    (shown("", "ID1"), ("prod", "cel01", "id")),
    (shown("new", "ID3"), ("bank", "cel01", "id")),
    (shown("K2", "ID1"), ("prod", "db01", "host key")),  # A host key counts before an id.
    (shown("new", "new", "10.0.0.1:22"), None),  # Private addresses repeat.
    (shown("new", "", "10.0.0.1:22"), None),
    (shown("", "new", "10.0.0.1:22"), None),
    (shown("", "", "10.0.0.1:22"), ("prod", "cel01", "address and port")),
    (shown("", "", "10.0.0.1:23"), None),
    (shown("", "", "10.0.0.9:22"), ("prod", "db01", "address and port")),
    (shown("new", "", "10.0.0.3:22"), ("bank", "cel01", "address and port")),  # Key and id: nothing that both have.
    (shown("new", "new", "10.0.0.3:22"), None),
    (shown("new", "new", "10.0.0.4:2222"), ("bank", "db01", "address and port")),
    (shown("new", "new", "10.0.0.4:22"), None),
    (shown(), None),
]


@every(CASES)
def test_a_host_is_known_again(one: Identity, expected: tuple[str, str, str] | None) -> None:
    """An equal host key or id decides; an address does only between hosts that have neither in common; a name never does."""
    found = owner_of("cel01", one, KNOWN)
    assert (found and (found.rack, found.host, found.by)) == expected
    assert found is None or found.target == "cel01"
    assert owner_of("cel01", one, {}) is None


def test_what_can_be_compared() -> None:
    """Two hosts can be compared by what both have shown: host keys, or ids."""
    key, told, both, none = shown("K"), shown("", "I"), shown("K", "I"), shown()
    can = [(key, key), (told, told), (both, key), (both, told)]
    assert all(comparable(a, b) and comparable(b, a) for a, b in can)
    assert not any(comparable(a, b) for a, b in [(key, told), (told, key), (none, both), (both, none), (none, none)])
    assert none.empty and not any(one.empty for one in (key, told, shown("", "", "1:2")))


def test_it_is_named() -> None:
    """The phrases name the target, what it is called on the production rack, that rack, and why."""
    owner = Owner(target="other", rack="prod", host="exa1cel01", by="host key")
    assert owner.phrase == "other is exa1cel01 of rack prod (same host key)"
    assert owner.named == "prod (other is its exa1cel01, same host key)"
