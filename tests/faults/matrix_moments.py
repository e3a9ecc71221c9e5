"""What goes wrong in a case of the fault matrix, and at which moment of a change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class KilledError(BaseException):
    """The operator's process is gone. No ``except Exception`` sees it, and nothing that it would clean up counts."""


class Phase(StrEnum):
    """The moments of a change, in the order in which they come; those from CHECK to OUTCOME once a stage."""

    FACTS = "facts"
    PLAN = "plan row"
    CHECK = "check"
    INTENT = "intent"
    SEND = "send"
    SETTLE = "settle"
    OUTCOME = "outcome"
    END = "end row"


@dataclass(frozen=True)
class Moment:
    """One moment: a phase, of which stage (1 and up; 0 outside of stages), and which read of it."""

    phase: Phase
    stage: int = 0
    nth: int = 1

    def __str__(self) -> str:
        stage = f" {self.stage}" if self.stage else ""
        return f"{self.phase}{stage}{f'.{self.nth}' if self.nth > 1 else ''}"


class Kind(StrEnum):
    """What goes wrong."""

    KILL = "kill -9"
    LINK = "link drop"
    HANG = "hang"
    ERROR = "error code"
    MS = "MS restart"
    CELLSRV = "CELLSRV restart"
    OTHER = "second operator"


@dataclass(frozen=True)
class Mishap:
    """One thing that goes wrong at one moment.

    Attributes:
        how: for journal moments ``before`` or ``after`` the row is written. For SEND: ``unsent`` (nothing was carried
            out), ``some`` (on the first target only), ``sent`` (everywhere, and no answer was seen), ``slow`` (carried
            out after the deadline) or ``late`` (carried out when the operator has given up). Otherwise empty.
        everywhere: all targets are struck instead of one.
        lasting: the link or the service stays away until the operator comes back to it.
        plan: strikes during the so-many-th plan that the process carries out.
    """

    kind: Kind
    at: Moment
    how: str = ""
    everywhere: bool = False
    lasting: bool = False
    plan: int = 1

    def __str__(self) -> str:
        words = [
            str(self.kind),
            "on all" if self.everywhere else "",
            self.how,
            "at" if not self.how else "",
            str(self.at),
        ]
        last = ("lasting" if self.lasting else "", f"of plan {self.plan}" if self.plan > 1 else "")
        return " ".join(word for word in (*words, *last) if word)
