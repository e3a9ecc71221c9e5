"""Which directive of an IORM plan is meant: by name, role, type and ASM cluster, and never by a guess.

Directives of one plan differ in these four alone. Source: Oracle SAGUG, alter-iormplan and its pages on name, role,
type, asmcluster; reference cellcli.md 7.1.
"""

from __future__ import annotations

from exacell.cellcli.directives import DATABASE, IDENTITY, Directive, IormPlan, quoted
from exacell.core.errors import RefusedError
from exacell.core.values import dataclass

NONE = "none"
"""How a directive is named that has no role, or no ASM cluster: ``role=none``."""
PROFILE = "profile"
"""The type of directives that databases name themselves."""


@dataclass(frozen=True, kw_only=True)
class DirectiveName:
    """What was said about a directive: its name, and as much of role, type and ASM cluster as was given.

    Attributes:
        name: of a database or profile, ``default`` or ``other``; compared in any case, as everything here.
        role, kind, asmcluster: empty where nothing was said; ``none`` for a directive without role or cluster. ``kind``
            is ``database`` or ``profile``.
    """

    name: str
    role: str = ""
    kind: str = ""
    asmcluster: str = ""

    def matches(self, directive: Directive) -> bool:
        """Whether ``directive`` is one of those that were said."""
        name, *parts = directive.identity
        if name != self.name.lower():
            return False
        return all(
            not said or own == said.lower() or (not own and said.lower() == NONE)
            for own, said in zip(parts, self._said, strict=True)
        )

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """The attributes with which a new directive of this name begins; what was not said is left out."""
        parts = zip(IDENTITY[1:], self._said, strict=True)
        told = ((key, said) for key, said in parts if said and said.lower() not in (NONE, DATABASE))
        return (("name", self.name), *told)

    @property
    def label(self) -> str:
        """For eyes, as it is typed behind ``db=``: ``SPOT role=standby``."""
        said = [f"{key}={value}" for key, value in zip(IDENTITY[1:], self._said, strict=True) if value]
        return " ".join([quoted(self.name), *said])

    @property
    def _said(self) -> tuple[str, str, str]:
        return self.role, self.kind, self.asmcluster


def find(plan: IormPlan, wanted: DirectiveName) -> Directive | None:
    """Return the one directive of ``plan`` that ``wanted`` names; None when it has none.

    Raises:
        RefusedError: there are several, or the only one is a profile's and no type was said. The hint says how to name
            each.
    """
    found = [directive for directive in plan.directives if wanted.matches(directive)]
    if len({directive.identity for directive in found}) < len(found):
        raise RefusedError(
            f"the plan has the directive {found[0].label} more than once; nothing was sent",
            hint="send a whole plan that has it once: alter iormplan dbplan=(…)",
        )
    if len(found) > 1:
        raise RefusedError(
            f"the plan has several directives for {wanted.label}: {', '.join(d.label for d in found)}; nothing was sent",
            hint=f"say which: {', or '.join(ways(found))}",
        )
    label = quoted(wanted.name)
    if found and not wanted.kind and found[0].identity[2] == PROFILE:
        raise RefusedError(
            f"the plan has no directive for a database {label}, but one for a profile of that name; nothing was sent",
            hint=f"db={label} type={PROFILE} is the profile's, db={label} type={DATABASE} the database's own",
        )
    return found[0] if found else None


def ways(directives: list[Directive]) -> list[str]:
    """Return how each of several directives is named: ``db=SPOT role=none``, with what tells it from the others alone."""
    told = []
    for directive in directives:
        parts = [f"db={directive.shown_name}"]
        for place, key in enumerate(IDENTITY[1:], 1):
            if len({other.identity[place] for other in directives}) > 1:
                parts.append(f"{key}={directive.identity[place] or NONE}")
        told.append(" ".join(parts))
    return told
