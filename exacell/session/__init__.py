"""A session: its state, what is open to its rack, one request at a time, and how that is carried out.

What every statement gets stands here by name, for annotations alone: at run time each comes from its own module.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exacell.session.request import Request as Request
    from exacell.session.services import Services as Services
    from exacell.session.state import Session as Session
