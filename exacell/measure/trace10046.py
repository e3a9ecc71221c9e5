"""10046 trace files: an exact histogram of waits by event and microsecond. Pure: pieces of bytes in, counts out.

A wait is a line that begins with ``WAIT #<cursor>: nam='<event>' ela= <µs>``. The texts of statements and bind values are free
and may hold such lines: what stands between PARSING IN CURSOR and END OF STMT, or in a value of several lines, is no wait.
One compiled expression goes over each piece; a piece with statements or bind values is looked at again. Over large files
numpy goes instead, where it is, see :mod:`exacell.measure.waitlines`. Source of the format: reference measurement.md 1.1
and 1.2; of the method's speed: the same, 3.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram, merged
from exacell.measure.logwrites import PACK

if TYPE_CHECKING:
    from exacell.measure.waitlines import WaitLines

Fill = Callable[[memoryview], int]
"""Puts the next bytes of a file into memory and returns how many, 0 at its end."""

ROOM = 512 << 10
"""Bytes that are looked at together: what a processor keeps close to it. The same memory is filled again and again."""

BEHIND = 256
"""Bytes of that memory that stay empty behind what came: :mod:`exacell.measure.waitlines` reads whole words."""

HEAD = 4096
"""Bytes at the beginning of a file that tell whose it is."""

LIMITED = b"*** DUMP FILE SIZE IS LIMITED TO"
_OPEN = b' value="'
_BEGIN, _END = b"\nPARSING IN CURSOR #", b"\nEND OF STMT"
_VALUE = re.compile(rb'\n +value="[^"\n]*\n[^"]*"')
_FAKE = re.compile(rb"nam='([^'\n]*)' ela= *\d")
_HEADER = re.compile(
    rb"^(Oracle Database .*|Instance name: *\S+|Node name:\s*\S+|Unix process pid: *\d+|\*\*\* \d{4}-\d\d-\d\d.*"
    rb"|\*\*\* TRACE CONTINUED FROM FILE .*)",
    re.M,
)
CUT_BY_SIZE = "its size was limited (max_dump_file_size): what the session did later is missing"
IN_STATEMENT = "it ends within the text of a statement"
CUT = "its last line is cut"
ENDLESS = "a statement in it has no end"
"""Why a file is no whole sample."""

STATEMENT = 64 << 20
"""Bytes after which a statement without an end is none: a file that is damaged."""


@dataclass(frozen=True, kw_only=True)
class Traced:
    """What one or several trace files hold.

    Attributes:
        events: event → its waits in microseconds.
        lookalikes: waits that stand inside the text of a statement or of a bind value, not counted.
        broken: why a file is no whole sample, a clause each, by file.
        headers: what its head says of release, instance, node, process and time, by file.
        files, size: how many, and their bytes.
        writes: instance → number of a log write (``sync scn``) → its waits for the event, packed as
            :data:`exacell.measure.logwrites.PACK` says; only where it was asked for.
    """

    events: Mapping[str, Histogram] = field(default_factory=dict)
    lookalikes: int = 0
    broken: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: int = 0
    size: int = 0
    writes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


def together(parts: list[Traced]) -> Traced:
    """Return what several files hold together."""
    names = dict.fromkeys(name for part in parts for name in part.events)
    return Traced(
        events={name: merged(part.events[name] for part in parts if name in part.events) for name in names},
        lookalikes=sum(part.lookalikes for part in parts),
        broken={file: why for part in parts for file, why in part.broken.items()},
        headers={file: head for part in parts for file, head in part.headers.items()},
        files=sum(part.files for part in parts),
        size=sum(part.size for part in parts),
        writes=_shared(parts),
    )


def _shared(parts: list[Traced]) -> dict[str, dict[int, int]]:
    """Return the waits of each log write over all files: the sessions of an instance share them."""
    found: dict[str, dict[int, int]] = {}
    for part in parts:
        for instance, writes in part.writes.items():
            known = found.setdefault(instance, {})
            for scn, packed in writes.items():
                known[scn] = known.get(scn, 0) + packed
    return found


def filling(pieces: Iterable[bytes]) -> Fill:
    """Return what fills memory with pieces of bytes, one after another."""
    left, more = b"", iter(pieces)

    def fill(room: memoryview) -> int:
        nonlocal left
        while not left:
            piece = next(more, None)
            if piece is None:
                return 0
            left = piece
        size = min(len(left), len(room))
        room[:size], left = left[:size], left[size:]
        return size

    return fill


def summarize(fill: Fill, event: str = "", file: str = "", *, grouped: bool = False, quick: bool = False) -> Traced:
    """Return the waits of one trace file: of one event, or of all where none is named.

    Args:
        grouped: tell which waits for the event share a log write, too.
        quick: let numpy find the waits, where it is installed; to load it takes as long as to read some MB.
    """
    seen: Counter[bytes] = Counter()
    lines = _wait_lines(event) if quick else None
    pattern, fakes, size = _pattern(event), 0, 0
    shared, writes = _write_pattern(event) if grouped else None, dict[int, int]()
    head, tail, broken = b"", b"", ""
    text, kept = bytearray(b"\n" + bytes(ROOM + BEHIND)), 1
    while got := _more(fill, text, kept):
        size, until = size + got, kept + got
        head = head or bytes(text[kept : min(until, kept + HEAD)])
        end = text.rfind(b"\n", 0, until)
        if lines is None:
            seen.update(pattern.findall(text, 0, end))
        again = seen.pop(b"", 0) if lines is None else lines.look(text, end)
        pairs = shared.findall(text, 0, end) if shared is not None else []
        if again:
            whole = _whole(text, end)
            blocks = _free_texts(text, whole)
            for begin, close in (*blocks, (whole, end)):
                seen.subtract(pattern.findall(text, begin, close))
            seen.pop(b"", None)
            if shared is not None:
                pairs = _less(
                    pairs, [p for begin, close in (*blocks, (whole, end)) for p in shared.findall(text, begin, close)]
                )
            fakes += sum(_fakes(text, begin, close, event) for begin, close in blocks)
            if end - whole > STATEMENT:
                broken = ENDLESS
                break
            end = whole
        for wait, scn in pairs:
            number = int(scn)
            writes[number] = writes.get(number, 0) + PACK + int(wait)
        tail = bytes(text[max(0, until - HEAD) : until])
        kept = until - end
        text[:kept] = text[end:until]
    else:
        rest = bytes(text[:kept])
        broken = _broken(rest, tail)
        fakes += _fakes(rest, 0, len(rest), event) if rest.startswith(_BEGIN) else 0
    if lines is not None:
        seen.update(lines.seen())
    counts: dict[str, dict[int, int]] = {}
    for key, count in seen.items():
        name, _, wait = (event.encode(), b"", key) if event else key.rpartition(b"' ela=")
        waits = counts.setdefault(name.decode("utf-8", "replace"), {})
        waits[int(wait)] = waits.get(int(wait), 0) + count
    told = headers(head)
    return Traced(
        events={name: Histogram.of(waits) for name, waits in counts.items() if any(waits.values())},
        lookalikes=fakes,
        broken={file: broken} if broken else {},
        headers={file: told},
        files=1,
        size=size,
        writes={instance_in(told): writes} if writes else {},
    )


def _more(fill: Fill, text: bytearray, kept: int) -> int:
    """Fill the memory behind what is kept in it, which is made larger where too little is left; return how many bytes came."""
    if len(text) - BEHIND - kept < ROOM:
        text.extend(bytes(max(ROOM, kept)))
    with memoryview(text) as all_of_it, all_of_it[kept:-BEHIND] as room:
        return fill(room)


def _wait_lines(event: str) -> WaitLines | None:
    """Return what finds an event's waits in many lines at once; None where numpy is not installed."""
    try:
        from exacell.measure.waitlines import WaitLines  # numpy takes its time, and small files do without.
    except ImportError:
        return None
    return WaitLines(event, BEHIND)


def headers(head: bytes) -> tuple[str, ...]:
    """Return what the head of a file says of release, instance, node, process and time."""
    return tuple(line.decode("utf-8", "replace").strip() for line in _HEADER.findall(head)[:5])


def instance_in(told: tuple[str, ...]) -> str:
    """Return the instance that a head names, empty where it names none."""
    return next((line.partition(":")[2].strip() for line in told if line.startswith("Instance name:")), "")


def _write_pattern(event: str) -> re.Pattern[bytes]:
    """Return the expression whose groups are a wait's time and the log write that it was for."""
    name = re.escape(event.encode())
    return re.compile(rb"\nWAIT #[0-9]++: nam='" + name + rb"' ela= *+([0-9]++)[^\n]*? sync scn=([0-9]++)")


def _less(pairs: list[tuple[bytes, bytes]], gone: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    left = Counter(pairs)
    left.subtract(gone)
    return list(left.elements())


def _pattern(event: str) -> re.Pattern[bytes]:
    """Return the expression whose only group is a wait's time, with its event where all are wanted; it also stops, with an
    empty group, where a piece must be looked at again."""
    wait = rb"'" + re.escape(event.encode()) + rb"' ela= *+([0-9]++)" if event else rb"'([^'\n]*' ela= *+[0-9]++)"
    return re.compile(rb"\n(?:WAIT #[0-9]++: nam=" + wait + rb"|PARSING IN CURSOR #| ++value=\")")


def _whole(text: bytearray, end: int) -> int:
    """Return where the next piece must begin: at ``end``, or before a statement or bind value that goes on there."""
    begin = text.rfind(_BEGIN, 0, end)
    if begin >= 0 and text.find(_END, begin, end) < 0:
        return begin
    value = text.rfind(_OPEN, 0, end)
    if value >= 0 and text.find(b'"', value + len(_OPEN), end) < 0:
        return text.rfind(b"\n", 0, value)
    return end


def _free_texts(text: bytearray, end: int) -> list[tuple[int, int]]:
    """Return the statements, and the bind values of several lines outside of them."""
    found = list(_statements(text, end))
    ends = [close for _, close in found]
    for match in _VALUE.finditer(text, 0, end):
        place = bisect_left(ends, match.start())
        if place == len(ends) or found[place][0] >= match.end():
            found.append(match.span())
    return found


def _statements(text: bytearray, end: int) -> Iterator[tuple[int, int]]:
    place = text.find(_BEGIN, 0, end)
    while place >= 0:
        close = text.find(_END, place, end)
        yield place, close
        place = text.find(_BEGIN, close, end)


def _fakes(text: bytes | bytearray, begin: int, close: int, event: str) -> int:
    """Return how many waits stand in a free text: of the event, or of any where none is named."""
    return sum(not event or name == event.encode() for name in _FAKE.findall(text, begin, close))


def _broken(rest: bytes, tail: bytes) -> str:
    """Return why a file is no whole sample, empty where it is.

    Args:
        rest: what is left after the last whole line; tail: the last bytes of the file.
    """
    if LIMITED in tail:
        return CUT_BY_SIZE
    if rest.startswith(_BEGIN):
        return IN_STATEMENT
    return CUT if rest not in (b"\n", b"") else ""
