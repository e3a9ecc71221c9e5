"""What is said of a rack's holder of connections by those who look at other things."""

from __future__ import annotations

from exacell.core.units import format_duration
from exacell.session.given import Services, Session
from exacell.transport.held.place import Hold
from exacell.transport.held.steering import Standing, Stands, standing


def holder_of(session: Session, services: Services) -> tuple[Hold, Standing] | None:
    """Return the holder of the session's rack and how it stands; None without a rack, and where it can have none."""
    hold = services.hold() if session.rack is not None else None
    return None if hold is None else (hold, standing(hold))


def held_line(now: Standing) -> str:
    """Return ``connections are held by pid 4711, which ends after 10m without a read``; how else it stands."""
    if now.stands is Stands.RUNNING:
        return f"connections are held by pid {now.pid}, which ends after {format_duration(round(now.seconds))} without a read"
    return "no connections are held" if now.stands is Stands.NONE else f"the holder (pid {now.pid}) does not answer"


def setting(session: Session, services: Services) -> str:
    """Return ``off``, or after how long a holder ends; with its process where one runs."""
    found = holder_of(session, services)
    wished = found[0].seconds if found is not None else session.config.hold
    text = format_duration(round(wished)) if wished else "off"
    return text if found is None or found[1].stands is Stands.NONE else f"{text}; {held_line(found[1])}"
