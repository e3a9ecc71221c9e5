"""The messages between a program that asks and a holder of connections, as plain data. Pure.

A frame is a JSON object, one message of a socket that keeps messages apart; nothing in it is code. A program that asks sends
batches of statements, never a command line: the holder builds the command line itself. The holder answers with ``ack``, then
``beat`` while it works, a ``reply`` for each cell, and ``over`` at the end. If it refuses the batches, it answers ``no``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from exacell.cellcli import framing
from exacell.core.values import dataclass
from exacell.transport.base import Feed, Reply, Request, Role, State

LARGEST = 96 << 10
"""Bytes of one frame. A socket's buffer holds two such; what is larger goes as a descriptor, or not at all."""
INLINE = 24 << 10
"""Characters of standard output that go within a frame; JSON may write each as several bytes."""

_RELEASES: Mapping[str, str | None] = {"-xml": None, "--xml": "24.1"}
"""The words that ask for XML, and a release whose CellCLI takes each."""

_OPTIONAL = {"stdin", "login", "on_output", "upload", "pair", "ours"}


class FrameError(Exception):
    """The message is not a frame of exacell."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Reads that are the same for several cells.

    Attributes:
        statements: LIST and DESCRIBE, one line each.
        xml: the word that asks for XML; empty for plain text.
        seconds: how long each cell may take.
        in_pieces: a large answer may come as a file.
    """

    statements: tuple[str, ...]
    cells: tuple[str, ...]
    seconds: float
    xml: str = ""
    in_pieces: bool = False


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a holder knows about a cell besides its answer; see :class:`exacell.transport.base.Transport`.

    Attributes:
        host_key: the key that the cell has shown.
        keys: that key, and those in known_hosts.
        single: why each read starts a new CellCLI; empty if reads share one.
        fallback: whether reads use the write login.
    """

    host_key: str = ""
    keys: tuple[str, ...] = ()
    lives: int = 0
    single: str = ""
    fallback: bool = False


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A reply as it came, and what the holder knows about the cell.

    Attributes:
        reply: the reply without the part that comes as a descriptor.
        carried: what the descriptor is, ``text`` or ``large``; empty without one.
    """

    reply: Reply
    seen: Seen = field(default_factory=Seen)
    carried: str = ""


def encode(frame: Mapping[str, Any]) -> bytes:
    """Return a frame's bytes.

    Raises:
        FrameError: it is too large.
    """
    data = json.dumps(frame, separators=(",", ":")).encode("ascii")
    if len(data) > LARGEST:
        raise FrameError(f"a frame of {len(data)} bytes is larger than {LARGEST}")
    return data


def decode(data: bytes) -> dict[str, Any]:
    """Return a message decoded as a frame.

    Raises:
        FrameError: it is not a frame.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame is not JSON") from error
    if not isinstance(found, dict):
        raise FrameError("a frame is not a JSON object")
    return found


# -- requests ---------------------------------------------------------------------------------------------------------


def batches_of(requests: Sequence[Request], seconds: Callable[[Request], float]) -> tuple[Batch, ...] | None:
    """Return these requests as batches for a holder; None if one of them is not for a holder.

    Args:
        seconds: how long a request may take.
    """
    found: dict[tuple[object, ...], list[str]] = {}
    for request in requests:
        xml = _xml_of(request)
        if xml is None or request.feed is None:
            return None
        key = (request.feed.statements, xml, seconds(request), request.in_pieces)
        found.setdefault(key, []).append(request.target)
    return tuple(
        Batch(statements=key[0], xml=key[1], seconds=key[2], in_pieces=key[3], cells=tuple(cells))  # type: ignore[arg-type]  # as it was made above
        for key, cells in found.items()
    )


def _xml_of(request: Request) -> str | None:
    """Return the word with which a plain read asks for XML, empty for plain text; None if the request is not a plain read."""
    if request.role is not Role.READ or request.locale or any(getattr(request, name) is not None for name in _OPTIONAL):
        return None
    feed = request.feed
    for xml in ("", *_RELEASES) if feed is not None else ():
        assert feed is not None
        if feed == _feed(feed.statements, xml) and request.command == _command(feed.statements, xml):
            return xml
    return None


def _feed(statements: tuple[str, ...], xml: str) -> Feed:
    return Feed(program=framing.session_command(xml=bool(xml), release=_RELEASES.get(xml)), statements=statements)


def _command(statements: Sequence[str], xml: str, *, monitor: bool = False) -> str:
    return framing.command(statements, xml=bool(xml), release=_RELEASES.get(xml), monitor=monitor)


def requests_of(batches: Sequence[Batch]) -> list[Request]:
    """Return the requests that a holder sends for accepted batches; each can only read (``cellcli -m``)."""
    return [
        Request(
            target=cell,
            command=_command(batch.statements, batch.xml, monitor=True),
            role=Role.READ,
            timeout=batch.seconds,
            feed=_feed(batch.statements, batch.xml),
            in_pieces=batch.in_pieces,
        )
        for batch in batches
        for cell in batch.cells
    ]


def told_batches(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """Return batches in the JSON form of a frame."""
    return [
        {
            "statements": list(batch.statements), "xml": batch.xml, "cells": list(batch.cells),
            "seconds": batch.seconds, "in_pieces": batch.in_pieces,
        }
        for batch in batches
    ]  # fmt: skip


def heard_batches(told: object) -> tuple[Batch, ...]:
    """Return the batches of a frame.

    Raises:
        FrameError: the frame has no valid batches.
    """
    if not isinstance(told, list) or not told:
        raise FrameError("there is no batch")
    return tuple(map(_heard_batch, told))


def _heard_batch(told: object) -> Batch:
    one = _Fields(told)
    batch = Batch(
        statements=one.texts("statements"),
        xml=one.text("xml"),
        cells=one.texts("cells"),
        seconds=one.number("seconds"),
        in_pieces=one.flag("in_pieces"),
    )
    if batch.xml and batch.xml not in _RELEASES:
        raise FrameError("a batch asks for XML in no known way")
    return batch


# -- replies ----------------------------------------------------------------------------------------------------------


def told_reply(reply: Reply, seen: Seen, *, carried: str = "") -> dict[str, Any]:
    """Return a reply in the JSON form of a frame, without the part that is ``carried`` by a descriptor."""
    told: dict[str, Any] = {
        "target": reply.target, "state": str(reply.state), "stderr": reply.stderr, "exit": reply.exit_status,
        "seconds": reply.seconds, "problem": reply.problem, "fingerprint": reply.fingerprint, "banner": reply.banner,
        "carried": carried, "stdout": "" if carried else reply.stdout, "host_key": seen.host_key,
        "keys": list(seen.keys), "lives": seen.lives, "single": seen.single, "fallback": seen.fallback,
    }  # fmt: skip
    return told


def heard_reply(told: object) -> Heard:
    """Return the reply of a frame.

    Raises:
        FrameError: it is not a frame.
    """
    one = _Fields(told)
    state, carried = one.text("state"), one.text("carried")
    if state not in set(State) or carried not in ("", "text", "large"):
        raise FrameError("a reply is in no known state")
    reply = Reply(
        target=one.text("target"),
        state=State(state),
        stdout=one.text("stdout"),
        stderr=one.text("stderr"),
        exit_status=None if one.get("exit") is None else int(one.number("exit")),
        seconds=one.number("seconds"),
        problem=one.text("problem"),
        fingerprint=one.text("fingerprint"),
        banner=one.text("banner"),
    )
    seen = Seen(
        host_key=one.text("host_key"),
        keys=one.texts("keys"),
        lives=int(one.number("lives")),
        single=one.text("single"),
        fallback=one.flag("fallback"),
    )
    return Heard(reply=reply, seen=seen, carried=carried)


def is_answer(reply: Reply) -> bool:
    """Return whether a program may use a holder's reply: the cell answered, or had all its time.

    Any other outcome may be a problem of the holder: then the program asks the cell itself, and reports what it finds.
    """
    return reply.exit_status is not None or reply.state is State.TIMED_OUT


class _Fields:
    """A JSON object whose values must have the expected types."""

    def __init__(self, told: object) -> None:
        if not isinstance(told, dict):
            raise FrameError("a part of a frame is not a JSON object")
        self._told = told

    def get(self, key: str) -> object:
        if key not in self._told:
            raise FrameError(f"a frame has no {key}")
        return self._told[key]

    def text(self, key: str) -> str:
        found = self.get(key)
        if not isinstance(found, str):
            raise FrameError(f"{key} is not a text")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        found = self.get(key)
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise FrameError(f"{key} is not a list of texts")
        return tuple(found)

    def number(self, key: str) -> float:
        found = self.get(key)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not -1e12 < found < 1e12:
            raise FrameError(f"{key} is not a number")
        return found

    def flag(self, key: str) -> bool:
        found = self.get(key)
        if not isinstance(found, bool):
            raise FrameError(f"{key} is neither true nor false")
        return found
