"""Find the waits in many lines of a trace at once, with numpy (extra ``analysis``). Pure.

Every line that begins with ``WAIT #`` is compared, in words of eight bytes, with the shapes of lines seen earlier in the file:
the same event, and a cursor with the same number of digits. A line of an unknown shape, or with a time of more than seven
digits, is read with the expression of :mod:`exacell.measure.trace10046`. A test checks that both readers give the same counts.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from exacell.measure.logwrites import PACK

Places = NDArray[np.int64]
Words = NDArray[np.uint64]

_LINE = re.compile(rb"\nWAIT #([0-9]++): nam='([^'\n]*)' ela= *+(-?[0-9]++)")
_SHAPES = 64
"""Maximum number of shapes that are remembered; lines of other shapes are read with the expression."""

_HELD = 1 << 18
"""Number of waits of one shape after which they are counted, and after which the log writes are summed."""


def _each(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))


_WAIT, _WAIT_BYTES, _PARSING, _ERROR = _word(b"WAIT #"), _word(b"\xff" * 6), _word(b"PARSING "), _word(b"PARSE ER")
_BLANK, _FIRST, _ONE, _SEVEN = np.uint64(ord(" ")), np.uint64(0xFF), np.uint64(1), np.uint64(7)
_ZEROS, _HIGH, _LOW = _each(ord("0")), _each(0x80), _each(0x7F)
_DIGIT, _SAME = 0x76, 0x7F
"""Added to a byte that must be at most 9, or must be 0: a larger byte then sets the highest bit."""

_DIGITS = _each(_DIGIT)
_BUFFER, _SYNC = (_word(b" buffer#"), _word(b"buffer#=")), (_word(b" sync sc"), _word(b"ync scn="))
"""The text before a commit's buffer and before its log write, as words of its first and its last eight bytes."""

_SCN = re.compile(rb" sync scn=")
_TENS = np.array([10**power for power in range(9)], np.uint64)
_ENDS = np.array([0x80 << 8 * place for place in range(8)], np.uint64)
"""The bit of a word which shows that the digits end at this byte."""

_MOST_DIGITS = 18
"""Maximum number of digits of a number in 63 bits; log writes with a longer number are read with the expression."""


def _digits(words: Words) -> tuple[Words, Places]:
    """Return the value of the digits at the beginning of each word, and their number."""
    differs = words ^ _ZEROS
    stops = (((differs & _LOW) + _DIGITS) | differs) & _HIGH
    many = np.where(stops == 0, 8, np.searchsorted(_ENDS, stops & (~stops + _ONE)))
    left = (8 * (8 - many)).astype(np.uint64)
    value = np.where(many == 0, np.uint64(0), differs << np.minimum(left, np.uint64(63)))
    value = (value * np.uint64(2561)) >> np.uint64(8)
    value = ((value & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    value = ((value & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return value, many


class _Shape:
    """Lines of one event with the same number of digits in the cursor, up to the time of the wait."""

    def __init__(self, line: bytes, cursor: tuple[int, int], name: bytes) -> None:
        """Create the shape from the beginning of such a line and the place of its cursor's digits."""
        self.begin, self.name, self.size = line, name, len(line)
        first, after = cursor
        self.checks = [
            _check(line[place : place + 8], range(first - place, after - place)) for place in range(0, self.size, 8)
        ]
        self.last = self.size - 8 - len(b"' ela= ")
        self.ending = _word(line[self.last : self.last + 8])
        self.held: list[Words] = []
        self.hits = self.waiting = 0

    def which(self, text: bytearray, eight: Words, lines: Places) -> NDArray[np.bool_]:
        """Return which lines begin in this way; a fast check of the end of the name comes first."""
        found: NDArray[np.bool_] = eight[lines + self.last] == self.ending
        if not found.any():
            return found
        every = bool(found.all())
        near = lines if every else lines[found]
        width = 8 * len(self.checks)
        rows = np.ndarray((len(text) - width,), f"V{width}", text, strides=(1,))[near]
        columns = rows.view("<u8").reshape(-1, len(self.checks))
        wrong = np.zeros(len(near), np.uint64)
        for place, (told, more, mask) in enumerate(self.checks):
            differs = columns[:, place] ^ told
            if more is not None:
                differs |= (differs & _LOW) + more
            wrong |= differs & mask
        found[found] = wrong == 0
        return found


def _check(part: bytes, digits: range) -> tuple[np.uint64, np.uint64 | None, np.uint64]:
    """Return the check of one word: its bytes with 0 for each digit, the number that is then added (None without digits), and
    the bits of the result that must not be set.
    """
    told = _word(bytes(ord("0") if place in digits else byte for place, byte in enumerate(part)))
    if not any(place in digits for place in range(len(part))):
        return told, None, _word(b"\xff" * len(part))
    return (
        told,
        _word(bytes(_DIGIT if place in digits else _SAME for place in range(len(part)))),
        _word(b"\x80" * len(part)),
    )


class WaitLines:
    """The waits of one file, collected piece by piece.

    Args:
        event: the event whose waits are counted; empty for all events.
        behind: least number of bytes after each piece, so that whole words can be read at its end.
        shared: the expression that finds a wait and its log write; None if log writes are not wanted.
    """

    def __init__(self, event: str, behind: int, shared: re.Pattern[bytes] | None = None) -> None:
        self.event, self._behind, self._shared = event.encode(), behind, shared
        self._shapes: dict[bytes, _Shape] = {}
        self._seen: Counter[bytes] = Counter()
        self._writes: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._other: list[Places] = []
        self._pairs: list[tuple[bytes, bytes]] = []
        self._written = 0

    def look(self, text: bytearray, end: int) -> bool:
        """Count the waits in a piece whose last line ends at ``end``; at least ``behind`` bytes must follow it.

        Returns:
            Whether the piece may also contain statements or bind values.
        """
        breaks = np.flatnonzero(np.frombuffer(text, np.uint8, end) == ord("\n"))
        eight = np.ndarray((len(text) - 8,), "<u8", text, strides=(1,))
        begins = eight[breaks + 1]
        lines = breaks[(begins & _WAIT_BYTES) == _WAIT] + 1
        for shape in sorted(self._shapes.values(), key=lambda one: -one.hits):
            if not len(lines):
                break
            lines = self._count(shape, text, eight, lines)
        while len(lines):
            lines = self._learn(text, eight, lines)
        self._look_again(text, end)
        return bool(((begins == _PARSING) | (begins == _ERROR) | ((begins & _FIRST) == _BLANK)).any())

    def seen(self) -> Counter[bytes]:
        """Return time → how often it occurred, with times as in the groups of the expression."""
        for shape in self._shapes.values():
            self._settle(shape)
        return self._seen

    def writes(self) -> dict[int, int]:
        """Return number of a log write → its waits for the event, packed as in :data:`exacell.measure.logwrites.PACK`; without
        those of :meth:`pairs`.
        """
        numbers, waits = self._summed()
        return dict(zip(numbers.tolist(), waits.tolist(), strict=True))

    def pairs(self) -> list[tuple[bytes, bytes]]:
        """Return wait and log write of those lines of the last piece that only the expression could read."""
        found, self._pairs = self._pairs, []
        return found

    def _summed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        none = np.zeros(0, np.int64)
        numbers = np.concatenate([none, *(numbers for numbers, _ in self._writes)])
        waits = np.concatenate([none, *(waits for _, waits in self._writes)])
        if not len(numbers):
            return none, none
        order = np.argsort(numbers, kind="stable")
        numbers = numbers[order]
        first = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))
        return numbers[first], np.add.reduceat(waits[order], first)

    def _write(self, eight: Words, lines: Places, size: int) -> None:
        """Add the log writes of waits whose times begin ``size`` bytes after the beginning of their lines."""
        waits, many = _digits(eight[lines + size])
        place = lines + size + many
        so = (eight[place] == _BUFFER[0]) & (eight[place + 1] == _BUFFER[1])
        place += 9
        _, many = _digits(eight[place])
        place += many
        so &= (many > 0) & (many < 8) & (eight[place] == _SYNC[0]) & (eight[place + 2] == _SYNC[1])
        place += 10
        number, many = _digits(eight[place])
        so &= many > 0
        for word in (8, 16):
            more, further = _digits(eight[place + word])
            further = np.where(many == word, further, 0)
            number = number * _TENS[further] + np.where(further > 0, more, np.uint64(0))
            many = many + further
        so &= many <= _MOST_DIGITS
        self._writes.append((number[so].astype(np.int64), waits[so].astype(np.int64) + PACK))
        self._other.append(lines[~so])
        self._written += len(lines)
        if self._written > _HELD:
            self._writes, self._written = [self._summed()], 0

    def _look_again(self, text: bytearray, end: int) -> None:
        """Add, with the expression, the log writes of lines in an unusual form."""
        if self._shared is None:
            return
        others = np.sort(np.concatenate([*self._other, np.zeros(0, np.int64)]))
        self._other = []
        if not len(others):
            return
        marks = np.array([found.start() for found in _SCN.finditer(text, 0, end)], np.int64)
        places = np.searchsorted(others, marks, side="right") - 1
        for line in others[np.unique(places[places >= 0])].tolist():
            match = self._shared.match(text, line - 1)
            if match is not None and match[2] is not None:
                self._pairs.append((match[1], match[2]))

    def _count(self, shape: _Shape, text: bytearray, eight: Words, lines: Places) -> Places:
        """Add a shape's waits; return the other lines."""
        its = shape.which(text, eight, lines)
        times = eight[lines + shape.size]
        differs = times ^ _ZEROS
        stops = (((differs & _LOW) + _DIGITS) | differs) & _HIGH
        its &= (stops != 0) & ((stops & np.uint64(0x80)) == 0)
        every = bool(its.all())
        if not every:
            times, stops = times[its], stops[its]
        shape.hits += len(times)
        if not self.event or shape.name == self.event:
            if self._shared is not None:
                self._write(eight, lines if every else lines[its], shape.size)
            below = (stops & (~stops + _ONE)) - _ONE
            shape.held.append(times & (below >> _SEVEN))
            shape.waiting += len(times)
            if shape.waiting > _HELD:
                self._settle(shape)
        return lines[:0] if every else lines[~its]

    def _learn(self, text: bytearray, eight: Words, lines: Places) -> Places:
        """Read the first line with the expression; if its shape is new, also add all lines like it. Return the others."""
        match = _LINE.match(text, int(lines[0]) - 1)
        if match is None:
            return lines[1:]
        begin, start = bytes(text[lines[0] : match.start(3)]), int(lines[0])
        cursor = (match.start(1) - start, match.end(1) - start)
        known = begin[: cursor[0]] + b"0" * (cursor[1] - cursor[0]) + begin[cursor[1] :]
        if known not in self._shapes and len(self._shapes) < _SHAPES and 8 <= len(begin) < self._behind - 8:
            shape = self._shapes[known] = _Shape(begin, cursor, match[2])
            left, first = self._count(shape, text, eight, lines), lines[0]
            if not len(left) or left[0] != first:
                return left
            lines = left
        if not self.event or match[2] == self.event:
            if self._shared is not None:
                self._other.append(lines[:1])
            self._seen[match[3] if self.event else bytes(text[match.start(2) : match.end(3)])] += 1
        return lines[1:]

    def _settle(self, shape: _Shape) -> None:
        if not shape.waiting:
            return
        before = b"" if self.event else shape.begin[shape.begin.index(b"nam='") + 5 :]
        times, counts = np.unique(np.concatenate(shape.held), return_counts=True)
        for time, count in zip(times.tolist(), counts.tolist(), strict=True):
            self._seen[before + time.to_bytes(8, "little").rstrip(b"\0")] += count
        shape.held, shape.waiting = [], 0
