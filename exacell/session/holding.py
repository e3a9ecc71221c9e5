"""Describe a rack's holder of connections, for the statements that show it."""

from __future__ import annotations

from exacell.core.units import format_duration
from exacell.session.given import Services, Session
from exacell.transport.held.place import Hold
from exacell.transport.held.steering import Standing, Stands, standing


def holder_of(session: Session, services: Services) -> tuple[Hold, Standing] | None:
    """Return the session's holder and its state; None without a rack, or if its transport has no holder."""
    hold = services.hold() if session.rack is not None else None
    return None if hold is None else (hold, standing(hold))


def held_line(now: Standing) -> str:
    """Return a line about the holder, such as ``connections are held by pid 4711, which ends after 10m without a read``."""
    if now.stands is Stands.RUNNING:
        return f"connections are held by pid {now.pid}, which ends after {format_duration(round(now.seconds))} without a read"
    return "no connections are held" if now.stands is Stands.NONE else f"the holder (pid {now.pid}) does not answer"


def setting(session: Session, services: Services) -> str:
    """Return ``off`` or the time after which a holder ends, then a line about the holder if there is one."""
    found = holder_of(session, services)
    wished = found[0].seconds if found is not None else session.config.hold
    text = format_duration(round(wished)) if wished else "off"
    return text if found is None or found[1].stands is Stands.NONE else f"{text}; {held_line(found[1])}"
