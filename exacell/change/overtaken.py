"""Whether somebody has meant anew what a change did, though it looks as the change left it: then nobody's clock takes it back."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from exacell.core.errors import MovedError
from exacell.journal.record import Journal
from exacell.journal.rows import Planned
from exacell.journal.state import ChangeState, by_change

_PASSING = ("status",)
"""Attributes that a later change may prove without meaning the same thing: a flush leaves the status as it was."""

_Fact = tuple[str, str, str]
"""Target, object and attribute."""


def refuse_overtaken(journal: Journal, rack: str, changes: Collection[int]) -> None:
    """Return when no later change has settled what these changes did.

    A later change that is undone counts for nothing, as does what took it back, nor do those that went on with one of these
    changes or took it back.

    Raises:
        MovedError: names the later change; who made it means what is there.
        JournalError: the journal can't be read.
    """
    rows = [row for row in journal.of_kinds(rack, ("plan",)) if isinstance(row, Planned)]
    for number in sorted(changes):
        did = _proven(by_change(journal.chain(rack, number)))
        for row in rows:
            if row.change <= number or _belongs(row, changes) or row.undoes > number:
                continue
            later = by_change(journal.chain(rack, row.root))
            both = did & _proven(later)
            if both and not any(state.undone for state in later.values()):
                target, kind, attribute = min(both)
                who = row.who.sudo_user or row.who.user
                raise MovedError(
                    f"change {row.change} ({row.statement}) of {who} has set {kind} {attribute} of {target} since "
                    f"change {number}; nothing was sent",
                    hint=f"undo {number} takes it back all the same, confirm {number} keeps it",
                )


def _belongs(row: Planned, changes: Collection[int]) -> bool:
    return row.change in changes or row.finishes in changes or row.undoes in changes


def _proven(changes: Mapping[int, ChangeState]) -> set[_Fact]:
    """Return what the steps of changes that were done have proven by reading it back."""
    found: set[_Fact] = set()
    for change in changes.values():
        for step, state in change.carried:
            if step.statement and state == "done":
                found |= {(step.asm or step.target, check.object, check.attribute) for check in step.proves}
    return {fact for fact in found if fact[2] not in _PASSING}
