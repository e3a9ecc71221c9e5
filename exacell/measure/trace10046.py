"""10046 trace files: an exact histogram of waits by event and microsecond. Pure: pieces of bytes in, counts out.

A wait is a line that begins with ``WAIT #<cursor>: nam='<event>' ela= <µs>``. The texts of statements and bind values are free
and may hold such lines: what stands between PARSING IN CURSOR and END OF STMT, behind PARSE ERROR, or in a bind value, is no
wait. One compiled expression goes over each piece; a piece with free texts is looked at again. Over large files numpy goes
instead, where it is, see :mod:`exacell.measure.waitlines`. Source of the format: reference measurement.md 1.1 and 1.2; of the
method's speed: the same, 3; of ``len=`` behind PARSE ERROR and of ``avl=``, the length of a bind value: N. Debes, Secrets of
the Oracle Database, 2009, chapter 24.
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
"""Puts the next bytes of a file into memory and returns how many, 0 at its end."""

ROOM = 512 << 10
"""Bytes that are looked at together: what a processor keeps close to it. The same memory is filled again and again."""

BEHIND = 256
"""Bytes of that memory that stay empty behind what came: :mod:`exacell.measure.waitlines` reads whole words."""

HEAD = 4096
"""Bytes at the beginning of a file that tell whose it is."""

LIMITED = b"*** DUMP FILE SIZE IS LIMITED TO"
_BEGIN, _END = b"\nPARSING IN CURSOR #", b"\nEND OF STMT"
_FREE = re.compile(rb"\n(?:PARSING IN CURSOR #|PARSE ERROR #[0-9]++:len=([0-9]++)[^\n]*+\n|( ++value=\"))")
"""How a free text begins: a statement, one that could not be parsed with its length, a bind value."""

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
"""What a trace file has in its first lines: its head, or a record."""

LONGEST_VALUE = 32_767
"""Bytes of the longest bind value; a larger ``avl`` is none. Source: Oracle Database Reference, MAX_STRING_SIZE."""

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
"""Why a file is no whole sample."""

_FIRST = itemgetter(0)

DIGITS = 64
"""Characters of a time, with blanks; a longer one is no number that is read."""

STATEMENT = 64 << 20
"""Bytes after which a statement without an end is none: a file that is damaged."""

MOST = 86_400_000_000
"""Microseconds of a day: a session that waits longer for one thing has a wrong clock."""


def possible(wait: int) -> bool:
    """Return whether a wait can have lasted so many microseconds: not below 0, also not as 32 bits without a sign, nor over
    a day."""
    return 0 <= wait <= MOST and not (1 << 32) - 1_000_000 <= wait < 1 << 32


@dataclass(frozen=True, kw_only=True)
class Traced:
    """What one or several trace files hold.

    Attributes:
        events: event → its waits in microseconds.
        lookalikes: waits that stand inside the text of a statement or of a bind value, not counted.
        odd: event → waits with a time that can't be (see :func:`possible`), not counted.
        broken: why a file is no whole sample, a clause each, by file.
        headers: what its head says of release, instance, node, process and time, by file.
        files, size: how many, and their bytes.
        writes: instance → number of a log write (``sync scn``) → its waits for the event, packed as
            :data:`exacell.measure.logwrites.PACK` says; only where it was asked for.
        recognised: something in it says that it is a trace file.
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
    """Return what several files hold together."""
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
    """Return the waits of each log write over all files: the sessions of an instance share them."""
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
        if not got and end <= 0:  # What an unfinished text has kept back is looked at once more at the end of the file.
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
    """Return event → wait → how often, and event → how many waits can't have lasted so long.

    Args:
        seen: how often each group of the expression came.
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
    """Fill the memory behind what is kept in it, which is made larger where too little is left; return how many bytes came."""
    if len(text) - BEHIND - kept < ROOM:
        text.extend(bytes(max(ROOM, kept)))
    with memoryview(text) as all_of_it, all_of_it[kept:-BEHIND] as room:
        return fill(room)


def _wait_lines(event: str, shared: re.Pattern[bytes] | None) -> WaitLines | None:
    """Return what finds an event's waits in many lines at once; None where numpy is not installed."""
    try:
        from exacell.measure.waitlines import WaitLines  # numpy takes its time, and small files do without.
    except ImportError:
        return None
    return WaitLines(event, BEHIND, shared)


def headers(head: bytes) -> tuple[str, ...]:
    """Return what the head of a file says of release, instance, node, process and time."""
    return tuple(line.decode("utf-8", "replace").strip() for line in _HEADER.findall(head)[:5])


def instance_in(told: tuple[str, ...]) -> str:
    """Return the instance that a head names, empty where it names none."""
    return next((line.partition(":")[2].strip() for line in told if line.startswith("Instance name:")), "")


class _Writes:
    """The waits of each log write, as the groups of the expression name them: there are few different waits, so that each is
    made a number once."""

    def __init__(self) -> None:
        self._packed = _Packed()
        self._waits: defaultdict[bytes, int] = defaultdict(int)

    def add(self, found: Iterable[tuple[bytes, bytes]]) -> None:
        """Add waits, each with the number of the log write that it was for, which is empty where the line names none."""
        waits, packed = self._waits, self._packed
        for wait, number in found:
            waits[number] += packed[wait]

    def take_away(self, found: Iterable[tuple[bytes, bytes]]) -> None:
        """Take waits away that were added."""
        for wait, number in found:
            self._waits[number] -= self._packed[wait]

    def numbered(self) -> dict[int, int]:
        """Return number of a log write → its waits, packed; 0 where all of them were taken away."""
        self._waits.pop(b"", None)
        found = {int(text[:DIGITS]): packed for text, packed in self._waits.items()}
        if len(found) < len(self._waits):  # Some numbers are written in two ways, with and without zeros before them.
            found = dict.fromkeys(found, 0)
            for text, packed in self._waits.items():
                found[int(text[:DIGITS])] += packed
        return found


class _Packed(dict[bytes, int]):
    """Text of a wait → the wait as one of a log write, packed; 0 for one that can't be."""

    def __missing__(self, wait: bytes) -> int:
        ela = int(wait[:DIGITS]) if wait else -1
        packed = self[wait] = PACK + ela if possible(ela) else 0
        return packed


def _pattern(event: str, *, grouped: bool) -> re.Pattern[bytes]:
    """Return the expression whose group is a wait's time, with its event where all are wanted; it also stops, with an empty
    group, where a piece must be looked at again.

    Args:
        grouped: a second group is the number of the log write that a wait for the event was for, empty where none is named.
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
    """Return the free texts, and where the next piece must begin: at ``end``, or before a text that goes on there or the line
    that tells a value's length.

    Args:
        end: where the last line ends.
        last: nothing comes behind it.
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
    """Return where the line that ends at ``end`` begins, if it tells the length of a value, and otherwise ``end``."""
    line = text.rfind(b"\n", begin, end)
    return line if line >= 0 and _LENGTH.search(text, line, end) is not None else end


def _value_end(text: bytearray, opened: re.Match[bytes], end: int, *, last: bool) -> int:
    """Return where a bind value's last line ends; -1 where more must come.

    A value may have quotes and lines of any kind in it: ``avl`` of the line before tells its length. Where that is not so, as of
    a value that was cut, it ends at the first quote that ends a line.
    """
    start = opened.end()
    length = _LENGTH.search(text, text.rfind(b"\n", 0, opened.start()) + 1, opened.start())
    if length is not None and (size := int(length[1])) <= LONGEST_VALUE:
        told = _behind(text, start, size, opened.start(), end)
        close = _CLOSED.match(text, told, end + 1)
        if close is not None:
            return close.end() - 1
        if told >= end and not last:
            return -1
    close = _CLOSED.search(text, start, end + 1)
    return close.end() - 1 if close is not None else -1


def _error_end(text: bytearray, opened: re.Match[bytes], end: int, *, last: bool) -> int:
    """Return where the last line of a statement that could not be parsed ends; -1 where more must come.

    The line before tells its length. Where no line ends there, as of a statement that was cut, it ends before the next record.
    """
    start = opened.end()
    close = _behind(text, start, int(opened[1]), start - 1, end) if len(opened[1]) < DIGITS else end + STATEMENT
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


def _behind(text: bytearray, start: int, size: int, line: int, end: int) -> int:
    """Return where a text of so many characters ends. Where the line that told them ends with \\r, at ``line``, each line of the
    file does, and what ends a line is one character of the text.
    """
    close = start + size
    if text[line - 1 : line] != b"\r":
        return close
    while close <= end and (told := start + size + text.count(b"\r\n", start, close + 1)) > close:
        close = told
    return close


_NEW_LINE = ord("\n")


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
