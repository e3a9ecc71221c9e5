"""What every statement is given: its session, the services that are open to it, and the request that it is carried out for."""

from __future__ import annotations

from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session

__all__ = ["Request", "Services", "Session"]
