"""Connections that are begun before the SSH library is there."""

from __future__ import annotations

import socket
import time

import pytest

from exacell.transport.early import EarlyConnections, plain_place

PLAIN = {
    "Host *\nHostName 10.0.0.1\nPort 2222\n": ("10.0.0.1", 2222),
    "": ("cel1", 22),
    "Port=23\nPort 24\n": ("cel1", 23),
    'HostName "%h.example.com"\n': ("cel1.example.com", 22),
    "ProxyJump none\n": ("cel1", 22),
}
NOT_PLAIN = [
    "ProxyJump gate\n",
    "ProxyCommand nc %h %p\n",
    "Match host cel*\nPort 23\n",
    "HostName %n.example.com\n",
    "Port http\n",
    "CanonicalizeHostname yes\n",
    "BindAddress 10.0.0.9\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_places(text: str) -> None:
    """It should find host and port where ssh_config says them plainly."""
    assert plain_place(text, "cel1") == PLAIN[text]


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_places_that_need_more(text: str) -> None:
    """It should leave alone what a gateway, a condition or a token decides about."""
    assert plain_place(text, "cel1") is None


def taken(early: EarlyConnections, place: tuple[str, int], seconds: float) -> socket.socket | None:
    """Take a connection as soon as it has been begun."""
    deadline = time.monotonic() + 20
    while place not in early._begun and time.monotonic() < deadline:
        time.sleep(0.005)
    return early.take(place, time.monotonic() + seconds)


def test_a_connection_is_taken_once() -> None:
    """It should hand out a working connection once, and close what nobody takes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()
        early = EarlyConnections()
        early.begin([place, place])
        sock = taken(early, place, 20)
        assert sock is not None
        peer, _ = server.accept()
        sock.sendall(b"hello")
        assert peer.recv(5) == b"hello"
        assert early.take(place, time.monotonic() + 1) is None
        sock.close()
        peer.close()
        early.begin([place])
        other, _ = server.accept()
        while not early._begun:
            time.sleep(0.005)
        assert early.take(("127.0.0.1", 1), time.monotonic()) is None
        early.close()
        assert other.recv(1) == b""
        other.close()


def test_what_cannot_be_reached_is_not_handed_out(refusing_port: int) -> None:
    """It should hand out nothing for a port that refuses, for the usual way to say so."""
    place = ("127.0.0.1", refusing_port)
    early = EarlyConnections()
    early.begin([place, ("no.such.host.invalid", 22)])
    assert taken(early, place, 1) is None
