"""Frames on the control connection between the rack's process and the local programs that use it.

A frame is one kind byte, the payload's length as four big-endian bytes, and the payload. A connection starts with
either a REQUEST (from the command layer; answered by one ANSWER) or a RUN (from a program on a host's PATH; see
:mod:`exacell.emulator.hosts.shim`, which has its own copy of these bytes because it must start fast).
"""

from __future__ import annotations

REQUEST = b"Q"
"""JSON object with ``token`` and ``op``; answered by ANSWER."""
ANSWER = b"A"
"""JSON object: ``ok`` with the op's result, or ``error`` and ``hint``."""
RUN = b"R"
"""NUL-separated: token, host, login, "1" on a terminal, working directory, program, number of arguments,
arguments, then NAME=value environment entries.
"""
INPUT = b"I"
"""Bytes of standard input; an empty payload is its end. Sent only after WANT."""
OUTPUT = b"O"
"""Bytes for standard output."""
ERRORS = b"E"
"""Bytes for standard error."""
WANT = b"W"
"""The program waits for input; the payload is its prompt."""
EXIT = b"X"
"""The program's exit status in decimal; the last frame."""

HEADER = 5
LIMIT = 64 << 20
"""The most bytes in a payload; an argument list or a block of output is far smaller."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """Return the bytes of one frame."""
    return kind + len(payload).to_bytes(4, "big") + payload


def parse_header(header: bytes) -> tuple[bytes, int]:
    """Return a frame's kind and its payload's length from its first five bytes.

    Raises:
        ValueError: the length is larger than both sides allow.
    """
    length = int.from_bytes(header[1:HEADER], "big")
    if length > LIMIT:
        raise ValueError(f"a frame of {length} bytes is beyond the limit of {LIMIT}")
    return header[:1], length
