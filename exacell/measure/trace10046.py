"""Read 10046 trace files into an exact histogram of waits by event and microsecond. Pure: pieces of bytes in, counts out.

A wait is a line that begins with ``WAIT #<cursor>: nam='<event>' ela= <µs>``. The texts of statements and bind values may
contain any lines, also such ones: lines between PARSING IN CURSOR and END OF STMT, after PARSE ERROR, or in a bind value are
not waits. One compiled expression searches each piece; a piece with such texts is examined again. For large files numpy is
used instead, if installed, see :mod:`exacell.measure.waitlines`. Source of the format: reference measurement.md 1.1 and 1.2;
of the method's speed: the same, 3; of ``len=`` after PARSE ERROR and of ``avl=``, the length of a bind value: N. Debes,
Secrets of the Oracle Database, 2009, chapter 24.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING

from exacell.core.values import dataclass
from exacell.measure.histogram import Histogram, merged
from exacell.measure.logwrites import PACK

if TYPE_CHECKING:
    from exacell.measure.waitlines import WaitLines

Fill = Callable[[memoryview], int]
"""Puts the next bytes of a file into memory and returns their number, 0 at the end of the file."""

ROOM = 512 << 10
"""Bytes that are examined at a time, so that they fit into a processor's cache. The same memory is filled again and again."""

BEHIND = 256
"""Bytes of that memory that stay empty after the data: :mod:`exacell.measure.waitlines` reads whole words."""

HEAD = 4096
"""Bytes at the beginning of a file that contain its head."""

LIMITED = b"*** DUMP FILE SIZE IS LIMITED TO"
_BEGIN, _END = b"\nPARSING IN CURSOR #", b"\nEND OF STMT"
_FREE = re.compile(rb"\n(?:PARSING IN CURSOR #|PARSE ERROR #[0-9]++:len=([0-9]++)[^\n]*+\n|( ++value=\"))")
"""Beginning of a free text: a statement; a statement that could not be parsed, with its length; a bind value."""

_LENGTH = re.compile(rb"\bavl=([0-9]{1,5})\b")
_CLOSED = re.compile(rb'"\r?\n')
_RECORD = re.compile(
    rb"\n(?:(?:WAIT|PARSING IN CURSOR|PARSE|PARSE ERROR|EXEC|FETCH|CLOSE|STAT|BINDS|ERROR|UNMAP|SORT UNMAP|RPC (?:CALL|EXEC)"
    rb"|LOB[A-Z]+) ?#|XCTEND |={21}|\*\*\* )"
)
_SIGN = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:Trace file |Dump file |Oracle\w* .*Release |Instance name: |Unix process pid: |Windows thread id: )|"
    + _RECORD.pattern,
    re.M,
)
"""Pattern of the first lines of a trace file: its head, or a record."""

LONGEST_VALUE = 32_767
"""Bytes of the longest bind value; a larger ``avl`` is not a length. Source: Oracle Database Reference, MAX_STRING_SIZE."""

_FAKE = re.compile(rb"nam='([^'\n]*)' ela= *-?\d")
_HEADER = re.compile(
    rb"^(Oracle Database .*|Instance name: *\S+|Node name:\s*\S+|Unix process pid: *\d+|\*\*\* \d{4}-\d\d-\d\d.*"
    rb"|\*\*\* TRACE CONTINUED FROM FILE .*)",
    re.M,
)
CUT_BY_SIZE = "its size was limited (max_dump_file_size): what the session did later is missing"
IN_STATEMENT = "it ends within the text of a statement"
CUT = "its last line is cut"
ENDLESS = "a statement or bind value in it has no end"
"""Why a file is an incomplete sample."""

_FIRST = itemgetter(0)

DIGITS = 64
"""Maximum number of characters of a time, with blanks; a longer one is not read as a number."""

STATEMENT = 64 << 20
"""Bytes after which a statement without an end means that the file is damaged."""

MOST = 86_400_000_000
"""Microseconds of a day; a longer single wait means that the clock was wrong."""


def possible(wait: int) -> bool:
    """Return whether a wait of so many microseconds is possible: not below 0 (also not as an unsigned 32-bit number), and not
    longer than a day.
    """
    return 0 <= wait <= MOST and not (1 << 32) - 1_000_000 <= wait < 1 << 32


@dataclass(frozen=True, kw_only=True)
class Traced:
    """The contents of one or several trace files.

    Attributes:
        events: event → its waits in microseconds.
        lookalikes: number of lines like waits inside the text of a statement or a bind value; they are not counted as waits.
        odd: event → number of waits with an impossible time (see :func:`possible`); they are not counted as waits.
        broken: file → why it is an incomplete sample, as a clause.
        headers: file → the lines of its head about release, instance, node, process and time.
        files, size: number of files, and their bytes.
        writes: instance → number of a log write (``sync scn``) → its waits for the event, packed as in
            :data:`exacell.measure.logwrites.PACK`; only if it was asked for.
        recognised: whether something in it shows that it is a trace file.
    """

    events: Mapping[str, Histogram] = field(default_factory=dict)
    lookalikes: int = 0
    odd: Mapping[str, int] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: int = 0
    size: int = 0
    writes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    recognised: bool = True


def together(parts: list[Traced]) -> Traced:
    """Return the contents of several files together."""
    names = dict.fromkeys(name for part in parts for name in part.events)
    strange = dict.fromkeys(name for part in parts for name in part.odd)
    return Traced(
        events={name: merged(part.events[name] for part in parts if name in part.events) for name in names},
        lookalikes=sum(part.lookalikes for part in parts),
        odd={name: sum(part.odd.get(name, 0) for part in parts) for name in strange},
        broken={file: why for part in parts for file, why in part.broken.items()},
        headers={file: head for part in parts for file, head in part.headers.items()},
        files=sum(part.files for part in parts),
        size=sum(part.size for part in parts),
        writes=_shared(parts),
        recognised=all(part.recognised for part in parts),
    )


def _shared(parts: list[Traced]) -> dict[str, dict[int, int]]:
    """Return the waits of each log write over all files, because the sessions of an instance share log writes."""
    found: dict[str, dict[int, int]] = {}
    for part in parts:
        for instance, writes in part.writes.items():
            _add(found.setdefault(instance, {}), writes)
    return found


def _add(known: dict[int, int], more: Mapping[int, int]) -> None:
    """Add packed waits to those of the same log writes."""
    both = {number: known[number] + more[number] for number in known.keys() & more.keys()}
    known.update(more)
    known.update(both)


def filling(pieces: Iterable[bytes]) -> Fill:
    """Return a function that fills memory with pieces of bytes, one after the other."""
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
    """Return the waits in one trace file: for one event, or for all if ``event`` is empty.

    Args:
        grouped: whether to find out which waits for the event share a log write.
        quick: whether numpy searches for the waits, if installed; loading numpy takes as long as reading some MB.
    """
    grouped = grouped and bool(event)
    pattern, fakes, size = _pattern(event, grouped=grouped), 0, 0
    seen, writes = Counter[bytes](), _Writes()
    lines = _wait_lines(event, pattern if grouped else None) if quick else None
    head, tail, broken = b"", b"", ""
    text, kept = bytearray(b"\n" + bytes(ROOM + BEHIND)), 1
    while True:
        got = _more(fill, text, kept)
        size, until = size + got, kept + got
        head = head or bytes(text[kept : min(until, kept + HEAD)])
        end = text.rfind(b"\n", 0, until)
        if not got and end <= 0:  # Bytes kept back for an unfinished text are examined again at the end of the file.
            break
        if lines is None:
            found = pattern.findall(text, 0, end)
            seen.update(map(_FIRST, found) if grouped else found)
            again = bool(seen.pop(b"", 0))
        else:
            again, found = lines.look(text, end), lines.pairs()
        if grouped:
            writes.add(found)
        if again:
            blocks, whole = _free_texts(text, end, last=not got)
            for begin, close in (*blocks, (whole, end)):
                found = pattern.findall(text, begin, close)
                seen.subtract(map(_FIRST, found) if grouped else found)
                if grouped:
                    writes.take_away(found)
            seen.pop(b"", None)
            fakes += sum(_fakes(text, begin, close, event) for begin, close in blocks)
            if end - whole > STATEMENT:
                broken = ENDLESS
                break
            end = whole
        if got:
            tail = bytes(text[max(0, until - HEAD) : until])
        kept = until - end
        text[:kept] = text[end:until]
        if not got:
            break
    if not broken:
        rest = bytes(text[:kept])
        broken = _broken(rest, tail)
        fakes += _fakes(rest, 0, len(rest), event) if rest.startswith(_BEGIN) else 0
    if lines is not None:
        seen.update(lines.seen())
    of_writes = lines.writes() if lines is not None else {}
    _add(of_writes, writes.numbered())
    if 0 in of_writes.values():
        of_writes = {number: packed for number, packed in of_writes.items() if packed}
    told = headers(head)
    counts, odd = _counted(seen, event)
    return Traced(
        events={name: Histogram.of(waits) for name, waits in counts.items() if any(waits.values())},
        lookalikes=fakes,
        odd=odd,
        broken={file: broken} if broken else {},
        headers={file: told},
        files=1,
        size=size,
        writes={instance_in(told): of_writes} if of_writes else {},
        recognised=bool(counts or odd or fakes or not size or _SIGN.search(b"\n" + head)),
    )


def _counted(seen: Mapping[bytes, int], event: str) -> tuple[dict[str, dict[int, int]], dict[str, int]]:
    """Return event → wait → count, and event → number of waits with an impossible time.

    Args:
        seen: group of the expression → how often it occurred.
    """
    counts: dict[str, dict[int, int]] = {}
    odd: dict[str, int] = {}
    for key, count in seen.items():
        name, _, wait = (event.encode(), b"", key) if event else key.rpartition(b"' ela=")
        known = name.decode("utf-8", "replace")
        if not count:
            continue
        if len(wait) < DIGITS and possible(ela := int(wait)):
            waits = counts.setdefault(known, {})
            waits[ela] = waits.get(ela, 0) + count
        else:
            odd[known] = odd.get(known, 0) + count
    return counts, odd


def _more(fill: Fill, text: bytearray, kept: int) -> int:
    """Fill the memory after the part that is kept, and enlarge it if necessary; return the number of new bytes."""
    if len(text) - BEHIND - kept < ROOM:
        text.extend(bytes(max(ROOM, kept)))
    with memoryview(text) as all_of_it, all_of_it[kept:-BEHIND] as room:
        return fill(room)


def _wait_lines(event: str, shared: re.Pattern[bytes] | None) -> WaitLines | None:
    """Return the reader that finds an event's waits in many lines at once; None if numpy is not installed."""
    try:
        from exacell.measure.waitlines import WaitLines  # numpy is slow to load, and small files don't need it.
    except ImportError:
        return None
    return WaitLines(event, BEHIND, shared)


def headers(head: bytes) -> tuple[str, ...]:
    """Return the lines in the head of a file about release, instance, node, process and time."""
    return tuple(line.decode("utf-8", "replace").strip() for line in _HEADER.findall(head)[:5])


def instance_in(told: tuple[str, ...]) -> str:
    """Return the instance in a head; empty if it names none."""
    return next((line.partition(":")[2].strip() for line in told if line.startswith("Instance name:")), "")


class _Writes:
    """The waits of each log write, from the groups of the expression. There are few different waits, so each text is converted
    to a number only once.
    """

    def __init__(self) -> None:
        self._packed = _Packed()
        self._waits: defaultdict[bytes, int] = defaultdict(int)

    def add(self, found: Iterable[tuple[bytes, bytes]]) -> None:
        """Add waits, each with the number of its log write (empty if the line has none)."""
        waits, packed = self._waits, self._packed
        for wait, number in found:
            waits[number] += packed[wait]

    def take_away(self, found: Iterable[tuple[bytes, bytes]]) -> None:
        """Remove waits that were added before."""
        for wait, number in found:
            self._waits[number] -= self._packed[wait]

    def numbered(self) -> dict[int, int]:
        """Return number of a log write → its waits, packed; 0 if all of them were removed."""
        self._waits.pop(b"", None)
        found = {int(text[:DIGITS]): packed for text, packed in self._waits.items()}
        if len(found) < len(self._waits):  # Some numbers are written in two ways, with and without leading zeros.
            found = dict.fromkeys(found, 0)
            for text, packed in self._waits.items():
                found[int(text[:DIGITS])] += packed
        return found


class _Packed(dict[bytes, int]):
    """Text of a wait → the wait, packed for a log write; 0 for an impossible one."""

    def __missing__(self, wait: bytes) -> int:
        ela = int(wait[:DIGITS]) if wait else -1
        packed = self[wait] = PACK + ela if possible(ela) else 0
        return packed


def _pattern(event: str, *, grouped: bool) -> re.Pattern[bytes]:
    """Return the expression whose group is a wait's time, with its event if all events are wanted; where a piece must be
    examined again, it matches with an empty group.

    Args:
        grouped: whether a second group is the number of the log write of a wait for the event (empty if the line has none).
    """
    wait = rb"'" + re.escape(event.encode()) + rb"' ela= *+(-?[0-9]++)" if event else rb"'([^'\n]*' ela= *+-?[0-9]++)"
    write = rb"(?:(?: buffer#=[0-9]++|[^\n]*?) sync scn=([0-9]++))?" if grouped else b""
    return re.compile(
        rb"\n(?:WAIT #[0-9]++: nam="
        + wait
        + write
        + rb"|PARS(?:ING IN CURSOR|E ERROR) #| ++(?:value=\"|\w++=[^\n]*?\bavl=))"
    )


def _free_texts(text: bytearray, end: int, *, last: bool) -> tuple[list[tuple[int, int]], int]:
    """Return (start, end) of the free texts, and where the next piece must begin: at ``end``, or before a text that continues
    there, or before the line with a value's length.

    Args:
        end: end of the last line.
        last: whether nothing follows it.
    """
    found: list[tuple[int, int]] = []
    place = 0
    while (opened := _FREE.search(text, place, end + 1)) is not None:
        if opened[2] is not None:
            close = _value_end(text, opened, end, last=last)
        elif opened[1] is not None:
            close = _error_end(text, opened, end, last=last)
        else:
            close = text.find(_END, opened.end(), end)
        if close < 0:
            return found, _with_length(text, place, opened.start())
        found.append((opened.start(), close))
        place = close
    return found, end if last else _with_length(text, place, end)


def _with_length(text: bytearray, begin: int, end: int) -> int:
    """Return the begin of the line that ends at ``end`` if it contains the length of a value, otherwise ``end``."""
    line = text.rfind(b"\n", begin, end)
    return line if line >= 0 and _LENGTH.search(text, line, end) is not None else end


def _value_end(text: bytearray, opened: re.Match[bytes], end: int, *, last: bool) -> int:
    """Return the end of a bind value's last line; -1 if more bytes are needed.

    A value may contain quotes and lines of any kind; ``avl`` in the line before is its length. If that does not fit, as for a
    value that was cut, it ends at the first quote at the end of a line.
    """
    start = opened.end()
    length = _LENGTH.search(text, text.rfind(b"\n", 0, opened.start()) + 1, opened.start())
    if length is not None and (size := int(length[1])) <= LONGEST_VALUE:
        told = _end_of_text(text, start, size, opened.start(), end)
        close = _CLOSED.match(text, told, end + 1)
        if close is not None:
            return close.end() - 1
        if told >= end and not last:
            return -1
    close = _CLOSED.search(text, start, end + 1)
    return close.end() - 1 if close is not None else -1


def _error_end(text: bytearray, opened: re.Match[bytes], end: int, *, last: bool) -> int:
    """Return the end of the last line of a statement that could not be parsed; -1 if more bytes are needed.

    The line before contains its length. If no line ends there, as for a statement that was cut, it ends before the next record.
    """
    start = opened.end()
    close = _end_of_text(text, start, int(opened[1]), start - 1, end) if len(opened[1]) < DIGITS else end + STATEMENT
    if close > end and close - start < STATEMENT and not last:
        return -1
    if close <= end and text[close] == _NEW_LINE:
        return close
    if close < end and text[close : close + 2] == b"\r\n":
        return close + 1
    if close <= end and text[close - 1] == _NEW_LINE:
        return close - 1
    record = _RECORD.search(text, start - 1, end + 1)
    return record.start() if record is not None else end if last else -1


def _end_of_text(text: bytearray, start: int, size: int, line: int, end: int) -> int:
    """Return the end of a text of ``size`` characters. If the line before it ends with \\r (at ``line``), so does each line of
    the file, and a line end is one character of the text.
    """
    close = start + size
    if text[line - 1 : line] != b"\r":
        return close
    while close <= end and (told := start + size + text.count(b"\r\n", start, close + 1)) > close:
        close = told
    return close


_NEW_LINE = ord("\n")


def _fakes(text: bytes | bytearray, begin: int, close: int, event: str) -> int:
    """Return the number of lines like waits in a free text: for the event, or for any if ``event`` is empty."""
    return sum(not event or name == event.encode() for name in _FAKE.findall(text, begin, close))


def _broken(rest: bytes, tail: bytes) -> str:
    """Return why a file is an incomplete sample; empty if it is complete.

    Args:
        rest: the bytes after the last whole line.
        tail: the last bytes of the file.
    """
    if LIMITED in tail:
        return CUT_BY_SIZE
    if rest.startswith(_BEGIN):
        return IN_STATEMENT
    return CUT if rest not in (b"\n", b"") else ""
