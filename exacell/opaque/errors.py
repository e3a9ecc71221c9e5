"""What is raised where carried text stops being readable. Pure."""

from __future__ import annotations

from exacell.core.errors import ExacellError


class UnreadError(ExacellError):
    """A text holds something that exacell does not read, so that nobody can say what it would do.

    Attributes:
        sign: the first word or sign that was not read.
        why: what is the matter with it, in a phrase.
        instead: the way to do it in exacell; empty when there is none to name.
    """

    def __init__(self, sign: str, why: str, instead: str = "") -> None:
        sign = sign or "''"  # What is not seen is no name for anything.
        shown = sign if len(sign) <= 60 else f"{sign[:57]}..."
        super().__init__(f"{shown}: {why}", hint=instead)
        self.sign = sign
        self.why = why
        self.instead = instead
