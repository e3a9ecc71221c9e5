"""Name the three arguments of every statement: its session, the session's services, and the request to carry out."""

from __future__ import annotations

from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session

__all__ = ["Request", "Services", "Session"]
