"""``hold``: start, end and show the process that keeps a rack's connections open for later command lines that read."""

from __future__ import annotations

from exacell.core.errors import RefusedError, why_unreadable
from exacell.core.units import format_duration
from exacell.language.registry import Call
from exacell.output.result import Column, Result
from exacell.session.given import Services, Session
from exacell.session.holding import held_line
from exacell.transport.held.place import Hold
from exacell.transport.held.steering import Stands, begin, end, standing

IDLE_S = 600.0
"""Idle seconds after which a holder ends, unless other seconds are given."""

_COLUMNS = ("rack", "state", "pid", "connections", "reads", "endsIn", "openFiles", "memory", "log")


def hold(session: Session, services: Services, call: Call) -> Result:
    """Start the rack's holder, end it, or return one record about it.

    Raises:
        RefusedError: the rack can't have a holder, or it can't be started or ended.
    """
    found = services.hold()
    rack = session.need_rack()
    if found is None:
        raise RefusedError(
            f"rack {rack.name} can't hold its connections: this needs Linux, a rack of the configuration with its "
            f"own settings of connect_timeout, fanout and max_answer, and the transport ssh",
            hint="leave out -c, -g, -l and --ssh-config, or type `set transport ssh`",
        )
    try:
        match call.text_arg("what"):
            case "on":
                return _on(session, found, call)
            case "off":
                return _off(found)
            case _:
                return _status(found)
    except OSError as error:
        raise RefusedError(
            f"the holder of rack {rack.name}: {why_unreadable(error)}", hint=f"look at {found.log}, then try again"
        ) from error


def _on(session: Session, found: Hold, call: Call) -> Result:
    idle = call.args.get("idle")
    seconds = float(idle) if isinstance(idle, (int, float)) else found.seconds or IDLE_S
    before = standing(found)
    if before.stands is Stands.RUNNING and idle is not None and before.seconds != seconds:
        end(found)
    now = begin(found, session.need_rack().cells, seconds, session.env)
    return Result(notes=(f"rack {found.rack}: {held_line(now)}; `hold off` ends it",))


def _off(found: Hold) -> Result:
    before = end(found)
    said = held_line(before) if before.stands is Stands.NONE else f"the holder (pid {before.pid}) has ended"
    again = "; the next command line that reads starts one" if found.seconds else ""
    return Result(notes=(f"rack {found.rack}: {said}{again}",))


def _status(found: Hold) -> Result:
    now = standing(found)
    runs = now.stands is Stands.RUNNING
    row = {
        "cell": None, "rack": found.rack, "state": str(now.stands), "pid": now.pid or None,
        "connections": now.connections if runs else None, "reads": now.reads if runs else None,
        "endsIn": format_duration(round(now.left)) if runs else None, "openFiles": now.descriptors if runs else None,
        "memory": now.memory if runs else None, "log": str(found.log) if found.log.exists() else None,
    }  # fmt: skip
    columns = [Column(name, "size") if name == "memory" else Column(name) for name in _COLUMNS[:-1]]
    return Result(records=[row], columns=columns, data=True)
