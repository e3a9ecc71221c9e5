"""Injects, lists and clears faults of emulated racks from outside. Callers go through :mod:`exacell.emulator.control`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from exacell.core.units import parse_duration
from exacell.emulator.basics.store import Json
from exacell.emulator.server.requests import ask, existing_rack

Option = str | int | float | bool
Options = Mapping[str, Option]
FaultRow = Mapping[str, object]
"""Keys of a row: host, kind, state (waiting or active), begins, ends (rack seconds from now), match, every, nth, seen, struck,
options.
"""


def fault(home: Path, name: str, hosts: Sequence[str], kind: str, **options: Option) -> tuple[FaultRow, ...]:
    """Inject a fault into hosts of a rack; it stays until it is over or cleared, even if the rack is stopped and started.

    Args:
        hosts: cells; also database nodes, for the kinds that they can have.
        options: after, for, delay, down (seconds, or text such as ``2m``), every, nth, bytes, match, code, variant,
            disk, status, as :func:`exacell.emulator.state.fault_book.options_of` lists them for the kind.

    Returns:
        All faults of the rack.

    Raises:
        EmulatorError: the rack does not run, there is no such host, kind or option, or a value makes no sense.
    """
    request: Json = {"op": "fault", "hosts": list(hosts), "kind": kind, "options": _seconds(options)}
    return _fault_rows(ask(existing_rack(home, name), request))


def faults(home: Path, name: str) -> tuple[FaultRow, ...]:
    """Return the faults that were injected into a rack and are not over, by host.

    Raises:
        EmulatorError: the rack does not run.
    """
    return _fault_rows(ask(existing_rack(home, name), {"op": "faults"}))


def clear_faults(home: Path, name: str, hosts: Sequence[str] | None = None, kind: str | None = None) -> int:
    """End the faults of some hosts (None: of all hosts), or only those of one kind; return how many were ended.

    Raises:
        EmulatorError: the rack does not run, or there is no such host or kind.
    """
    wanted = None if hosts is None else list(hosts)
    answer = ask(existing_rack(home, name), {"op": "clear-faults", "hosts": wanted, "kind": kind})
    return int(str(answer["cleared"]))


def _seconds(options: Options) -> Json:
    return {
        name: parse_duration(value) if name in ("after", "for", "delay", "down") and isinstance(value, str) else value
        for name, value in options.items()
    }


def _fault_rows(answer: Json) -> tuple[FaultRow, ...]:
    rows = answer["faults"]
    assert isinstance(rows, list)
    return tuple(rows)
