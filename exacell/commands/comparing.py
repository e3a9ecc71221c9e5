"""Two things that were measured, beside each other."""

from __future__ import annotations

from exacell.commands.subjects.sort import Asked
from exacell.commands.subjects.sorts import finding_of
from exacell.language.registry import Call
from exacell.output.findings import shown
from exacell.output.result import Result
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session


def compare(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per sentence, then one per figure.

    Raises:
        RefusedError: a name is nothing that is known, or the two are unlike.
    """
    asked = Asked(session=session, services=services, request=request, anyway=call.flag("anyway"))
    return shown(finding_of(asked, (call.text_arg("a"), call.text_arg("b"))))
