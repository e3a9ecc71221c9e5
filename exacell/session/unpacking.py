"""Open files of other programs as the bytes that the program wrote: gzip unpacked, UTF-16 as UTF-8, no byte order mark.

Other compression is refused, and the message names it.
"""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from exacell.core.errors import RefusedError, why_unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP = b"\x1f\x8b"
_PACKED = {
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ\0": ("xz", "unxz"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
    b"PK\x03\x04": ("zip", "unzip"),
    b"7z\xbc\xaf": ("7z", "7z x"),
}
"""First bytes of a file → the program that packed it, and the one that unpacks it. Source: each format's specification."""

_LOOK, _TAR = 512, slice(257, 262)
"""How many first bytes are examined; where a tar archive has "ustar". Source: POSIX pax, ustar interchange format."""


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader[Any]]:
    """Open a file and yield its content as UTF-8 or plain bytes, to be read once.

    Raises:
        RefusedError: it can't be read, is damaged, or is compressed by another program than gzip.
    """
    try:
        with io.BufferedReader(io.FileIO(path), 1 << 16) as file:
            plain = gzip.GzipFile(fileobj=file) if file.peek(_LOOK)[:2] == _GZIP else file
            yield _as_utf8(path, file if plain is file else io.BufferedReader(cast(io.RawIOBase, plain)))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RefusedError(f"{path}: {error}; `gzip -t` checks whether it is complete") from error
    except OSError as error:
        raise RefusedError(f"{path}: {why_unreadable(error)}") from error


def _as_utf8(path: Path, file: io.BufferedReader[Any]) -> io.BufferedReader[Any]:
    head = file.peek(_LOOK)[:_LOOK]
    for begin, (program, unpack) in _PACKED.items():
        if head.startswith(begin):
            raise RefusedError(f"{path} is compressed by {program}; exacell reads only gzip", hint=f"{unpack} {path}")
    if head[_TAR] == b"ustar":
        raise RefusedError(f"{path} is a tar archive", hint=f"type `tar -xf {path}`, then give the files in it")
    if head.startswith(BOM_UTF8):
        file.read(len(BOM_UTF8))
    encoding = _utf16(head)
    return io.BufferedReader(_Recoded(file, encoding), 1 << 16) if encoding else file


def _utf16(head: bytes) -> str:
    """Return the codec name of UTF-16 text, empty for other text. Without a mark, every second byte of Latin text is 0."""
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) < 8 or max(even, odd) * 2 < 0.9 * len(head) or min(even, odd):
        return ""
    return "utf-16-le" if odd else "utf-16-be"


class _Recoded(io.RawIOBase):
    """The text of a file as UTF-8."""

    def __init__(self, file: io.BufferedReader[Any], encoding: str) -> None:
        super().__init__()
        self._text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, room: WriteableBuffer, /) -> int:
        """Fill ``room`` with the next bytes, and return how many came: 0 at the end."""
        with memoryview(room).cast("B") as place:
            piece = self._text.read(len(place) // 4).encode()  # A character is four bytes at most.
            place[: len(piece)] = piece
            return len(piece)
