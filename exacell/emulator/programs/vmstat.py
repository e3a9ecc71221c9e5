"""vmstat of an emulated host: one line of figures for each report, from :class:`exacell.emulator.programs.machine.Machine`.

Source: vmstat(8) of procps-ng, and its output for wrong arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from exacell.emulator.basics.program import Out, Pause, Program
from exacell.emulator.programs.machine import Machine
from exacell.emulator.programs.proc import memory_figures

MOST = 1000
"""The most reports of one call without a number of reports, so that no forgotten call runs for ever."""

_USAGE = "\nUsage:\n vmstat [options] [delay [count]]\n\nFor more details see vmstat(8).\n"
_GROUPS = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
_TITLES = " r  b   swpd   free {} {}   si   so    bi    bo   in   cs us sy id wa st\n"
_LONG = {"active": "a", "one-header": "n", "wide": "w", "version": "V", "unit": "S"}
_UNITS = {"k": 1000, "K": 1024, "m": 1_000_000, "M": 1 << 20}


class _WrongError(Exception):
    """vmstat's arguments are wrong; the text is vmstat's own message."""


@dataclass(frozen=True)
class _Asked:
    """The parsed arguments of vmstat.

    Attributes:
        active: show inactive and active memory instead of buffers and cache.
        unit: bytes in one unit of memory.
    """

    active: bool
    version: bool
    unit: int
    interval: int
    reports: int


def vmstat(look: Callable[[], Machine], argv: Sequence[str]) -> Program:
    """Run ``vmstat [-a] [-n] [-w] [-S unit] [-V] [delay [count]]``."""
    try:
        asked = _read(argv)
    except _WrongError as error:
        yield Out(str(error), err=True)
        return 1
    if asked.version:
        yield Out("vmstat from procps-ng 3.3.10\n")
        return 0
    yield Out(_GROUPS + _TITLES.format(*((" inact", "active") if asked.active else ("  buff", " cache"))))
    for number in range(asked.reports):
        if number:
            yield Pause(asked.interval)
        yield Out(_line(look(), asked))
    return 0


def _line(machine: Machine, asked: _Asked) -> str:
    figures = memory_figures(machine)
    names = ("MemFree", "Inactive", "Active") if asked.active else ("MemFree", "Buffers", "Cached")
    free, first, second = (figures[name] * 1024 // asked.unit for name in names)
    user, system, waiting, _idle = (round(share) for share in machine.shares)
    moved = [round(sum(device.rates[place] for device in machine.devices)) for place in (2, 3)]
    requests = round(sum(device.rates[0] + device.rates[1] for device in machine.devices))
    return (
        f"{round(machine.load[0]):>2} {0:>2} {0:>6} {free:>6} {first:>6} {second:>6}"
        f" {0:>4} {0:>4} {moved[0]:>5} {moved[1]:>5} {requests + 900:>4} {requests * 2 + 1500:>4}"
        f" {user:>2} {system:>2} {100 - user - system - waiting:>2} {waiting:>2} {0:>2}\n"
    )


def _read(argv: Sequence[str]) -> _Asked:
    """Return the parsed arguments.

    Raises:
        _WrongError: an option is unknown, or a number is wrong.
    """
    letters, unit, numbers = "", 1024, []
    words = iter(argv)
    for word in words:
        if not word.startswith("-") or word == "-":
            numbers.append(word)
            continue
        found = _letters(word)
        letters += found
        if found.endswith("S"):
            value = next(words, "")
            if value not in _UNITS:
                raise _WrongError("vmstat: -S requires k, K, m or M (default is KiB)\n")
            unit = _UNITS[value]
    if len(numbers) > 2:
        raise _WrongError(_USAGE)
    delay, count = _positive(numbers)
    return _Asked(active="a" in letters, version="V" in letters, unit=unit, interval=delay, reports=count)


def _letters(word: str) -> str:
    """Return the short options in a word."""
    if word.startswith("--"):
        if word[2:] not in _LONG:
            raise _WrongError(f"vmstat: unrecognized option '{word}'\n{_USAGE}")
        return _LONG[word[2:]]
    for letter in word[1:]:
        if letter not in _LONG.values():
            raise _WrongError(f"vmstat: invalid option -- '{letter}'\n{_USAGE}")
    return word[1:]


def _positive(words: Sequence[str]) -> Iterator[int]:
    """Yield delay and count: one report if both are missing, many if only the delay is given."""
    for word in words:
        if not word.isdecimal():
            raise _WrongError(f"vmstat: failed to parse argument: '{word}'\n")
    if words and not int(words[0]):
        raise _WrongError("vmstat: delay must be positive integer\n")
    yield int(words[0]) if words else 1
    yield int(words[1]) if len(words) == 2 else MOST if words else 1
