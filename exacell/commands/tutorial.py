"""``tutorial``: twelve steps at the real prompt of an emulated rack; each step is checked."""

from __future__ import annotations

from exacell.core.errors import RefusedError
from exacell.language.registry import Call
from exacell.output.result import Result
from exacell.session.given import Services, Session
from exacell.session.services import no_companion
from exacell.session.tutorial import Tutorial


def tutorial(session: Session, services: Services, call: Call) -> Result:
    """Return the current step as text.

    Raises:
        RefusedError: the rack is not emulated; the steps would change it.
    """
    where = call.text_arg("where")
    lesson = Tutorial(session.home.state_dir)
    if where == "quit":
        services.companion = no_companion
        return Result(text=f"The tutorial waits at step {lesson.place + 1}: type `tutorial` to continue.")
    if session.rack is None or not session.rack.emulated:
        known = sorted(name for name, rack in session.config.racks.items() if rack.emulated)
        raise RefusedError(
            "the tutorial changes the rack that it runs on, so it needs an emulated one",
            hint=f"type `connect {known[0]}`, then `tutorial`"
            if known
            else "type `emulator start demo`, then `connect demo`, then `tutorial`",
        )
    if where in ("skip", "next", "back", "restart"):
        lesson.move(0 if where == "restart" else lesson.place + (-1 if where == "back" else 1))
    services.companion = lesson.watch(session, services)
    return Result(text="\n".join(lesson.page()).strip("\n"))
