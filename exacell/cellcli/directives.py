"""IORM plans as values, parsed from both forms in which a cell prints them, and how to find one directive in a plan.

Unknown attributes are kept unchanged and in order. A directive is identified by name, role, type and ASM cluster only, and
never by a guess. Source: Oracle SAGUG, list-iormplan, alter-iormplan and its pages on name, role, type, asmcluster; reference
cellcli.md 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from exacell.cellcli.tokens import Token, TokenKind, is_word, tokenize
from exacell.core.errors import RefusedError, ReplyError, StatementError, UnitError
from exacell.core.units import parse_size
from exacell.core.values import dataclass

IDENTITY = ("name", "role", "type", "asmcluster")
"""Attributes that identify the database (or profile) of a directive."""
ALLOCATION = ("level", "allocation")
"""Attributes that divide by levels instead of by shares."""
NUMBERS = ("share", "limit", *ALLOCATION)
"""Attributes that are whole numbers."""
CACHES = ("flashcache", "pmemcache", "xrmemcache")
"""Caches that a directive can turn off, and divide with attributes that end in min, limit and size."""
QUOTAS = tuple(f"{cache}{part}" for cache in CACHES for part in ("min", "limit", "size"))
"""Attributes that are sizes."""
DATABASE = "database"
"""The type of a directive without ``type``."""


@dataclass(frozen=True, kw_only=True)
class DirectiveAttribute:
    """One ``attribute=value`` of a directive. Spelling and quotes are kept for writing; quotes are ignored in comparisons."""

    name: str
    value: str
    quote: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """Return the name in lower case."""
        return self.name.lower()

    @property
    def meaning(self) -> str | int:
        """Return the value for comparisons: bytes for sizes, the number for numbers, otherwise the text in lower case."""
        if self.key in NUMBERS and self.value.isascii() and self.value.isdigit():
            return int(self.value)
        if self.key in QUOTAS:
            try:
                return parse_size(self.value)
            except UnitError:
                return self.value.lower()
        return self.value.lower()

    def __str__(self) -> str:
        return f"{self.name}={quoted(self.value, self.quote)}"


def quoted(value: str, quote: str = "") -> str:
    """Return a value as a plan writes it: with its own quotes, or with quotes only if it needs them.

    CellCLI has no escape, so a value with both kinds of quotes cannot be written. Source: Oracle SAGUG,
    understanding-command-syntax-and-options-cellcli.
    """
    if not quote and not is_word(value):
        quote = '"' if "'" in value else "'"
    return f"{quote}{value}{quote}"


@dataclass(frozen=True, kw_only=True)
class Directive:
    """One directive of a plan: its attributes in order, with ``name``."""

    attributes: tuple[DirectiveAttribute, ...]

    def __post_init__(self) -> None:
        if not self.get("name"):
            raise ValueError("a directive has a name")

    @property
    def name(self) -> str:
        """Return the name of the database, category or cluster, in the cell's spelling."""
        return self.get("name") or ""

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return name, role, type and ASM cluster in lower case; no two directives of a plan have the same."""
        name, role, kind, cluster = ((self.get(key) or "").lower() for key in IDENTITY)
        return name, role, kind or DATABASE, cluster

    @property
    def label(self) -> str:
        """Return the name with role, type and ASM cluster for display (``SPOT role=standby``)."""
        extra = [f"{key}={self.get(key)}" for key in IDENTITY[1:] if self.get(key)]
        return " ".join([self.shown_name, *extra])

    @property
    def shown_name(self) -> str:
        """Return the name as it is typed: in quotes if it has blanks or special characters."""
        return quoted(self.name)

    @property
    def meaning(self) -> tuple[object, ...]:
        """Return the directive's content for comparisons: its identity, and the meaning of each attribute, sorted."""
        rest = sorted((found.key, str(found.meaning)) for found in self.attributes if found.key not in IDENTITY)
        return (self.identity, *rest)

    def get(self, attribute: str) -> str | None:
        """Return the value of ``attribute`` (in any case); None if it is not set."""
        found = self.find(attribute)
        return found.value if found else None

    def find(self, attribute: str) -> DirectiveAttribute | None:
        """Return the attribute itself (in any case); None if it is not set."""
        key = attribute.lower()
        return next((found for found in self.attributes if found.key == key), None)

    def with_value(self, attribute: str, value: str | None) -> Directive:
        """Return the directive with ``attribute`` set, at its old place or at the end; the value None removes it."""
        old = self.find(attribute)
        if old is not None and value is not None and old.value == value:
            return self
        new = DirectiveAttribute(name=old.name if old else attribute, value=value) if value is not None else None
        kept = [new if found is old else found for found in self.attributes]
        if old is None:
            kept.append(new)
        return Directive(attributes=tuple(found for found in kept if found is not None))

    def __str__(self) -> str:
        return f"({','.join(str(attribute) for attribute in self.attributes)})"


@dataclass(frozen=True, kw_only=True)
class IormPlan:
    """The directives of one plan (dbPlan, catPlan or clusterPlan), in their order; none for an empty plan."""

    directives: tuple[Directive, ...] = ()

    def named(self, name: str) -> tuple[Directive, ...]:
        """Return the directives for ``name`` (in any case); several if they differ in role, type or ASM cluster."""
        return tuple(found for found in self.directives if found.name.lower() == name.lower())

    def means(self, other: IormPlan) -> bool:
        """Return whether two plans are equal apart from order, case, quotes, ``type=database`` and the spelling of sizes."""
        return sorted(map(repr, (d.meaning for d in self.directives))) == sorted(
            map(repr, (d.meaning for d in other.directives))
        )

    @property
    def by_allocation(self) -> bool:
        """Return whether the plan divides by level and allocation."""
        return any(found.get(key) is not None for found in self.directives for key in ALLOCATION)

    @property
    def by_share(self) -> bool:
        """Return whether the plan divides by shares."""
        return any(found.get("share") is not None for found in self.directives)


def parse(text: str) -> IormPlan:
    """Return the plan in ``text``, in either form of LIST IORMPLAN: with ATTRIBUTES or in DETAIL.

    ``((name=SPOT,share=8),(name=default,share=1))`` or one directive per line without parentheses; blanks and quotes are
    optional. An empty text is an empty plan.

    Raises:
        ReplyError: ``text`` has neither form; the message contains the part that could not be read.
    """
    try:
        tokens = tokenize(text.strip())
    except StatementError as error:
        raise ReplyError(f"the IORM plan cannot be read: {error.message}") from error
    if all(token.kind is TokenKind.STRING and not token.value for token in tokens):
        return IormPlan()
    directives: list[list[DirectiveAttribute]] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind in (TokenKind.OPEN, TokenKind.CLOSE, TokenKind.COMMA):
            index += 1
            continue
        if index + 2 >= len(tokens) or not tokens[index + 1].is_operator("=") or token.kind is not TokenKind.WORD:
            raise _unreadable(text, token)
        value = tokens[index + 2]
        if value.kind not in (TokenKind.WORD, TokenKind.STRING):
            raise _unreadable(text, value)
        attribute = DirectiveAttribute(
            name=token.value, value=value.value, quote=value.text[0] if value.kind is TokenKind.STRING else ""
        )
        if attribute.key == "name":
            if not attribute.value:
                raise _unreadable(text, token)
            directives.append([])
        if not directives:
            raise _unreadable(text, token)
        directives[-1].append(attribute)
        index += 3
    plan = IormPlan(directives=tuple(Directive(attributes=tuple(attributes)) for attributes in directives))
    if not plan.directives and text.strip("() \t\r\n"):
        raise ReplyError(
            f"the IORM plan '{text.strip()}' has no directive", hint="`list iormplan detail` shows what the cell has"
        )
    return plan


def plan_in(text: str) -> IormPlan | None:
    """Return the plan in a text; None if the text is not one."""
    try:
        return parse(text)
    except ReplyError:
        return None


def render(plan: IormPlan) -> str:
    """Return the plan as it is written after ``dbPlan=``; ``""`` for an empty one."""
    return f"({','.join(str(directive) for directive in plan.directives)})" if plan.directives else '""'


def _unreadable(text: str, token: Token) -> ReplyError:
    return ReplyError(
        f"the IORM plan cannot be read at '{text.strip()[token.start : token.start + 20]}'",
        hint="`list iormplan detail` shows what the cell has",
    )


NONE = "none"
"""Written for a directive without a role or an ASM cluster: ``role=none``."""
PROFILE = "profile"
"""The type of directives for IORM profiles, which databases choose by name."""


@dataclass(frozen=True, kw_only=True)
class DirectiveName:
    """A directive as the user named it: its name, and role, type and ASM cluster if given.

    Attributes:
        name: name of a database or profile, ``default`` or ``other``; upper and lower case are equal in all attributes.
        role, kind, asmcluster: empty if not given; ``none`` for a directive without role or cluster. ``kind`` is ``database`` or
            ``profile``.
    """

    name: str
    role: str = ""
    kind: str = ""
    asmcluster: str = ""

    def matches(self, directive: Directive) -> bool:
        """Return whether ``directive`` matches the name and all given attributes."""
        name, *parts = directive.identity
        if name != self.name.lower():
            return False
        return all(
            not said or own == said.lower() or (not own and said.lower() == NONE)
            for own, said in zip(parts, self._said, strict=True)
        )

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """Return the attributes with which a new directive of this name begins; attributes that were not given are left out."""
        parts = zip(IDENTITY[1:], self._said, strict=True)
        told = ((key, said) for key, said in parts if said and said.lower() not in (NONE, DATABASE))
        return (("name", self.name), *told)

    @property
    def label(self) -> str:
        """Return the name as it is typed after ``db=``, for display: ``SPOT role=standby``."""
        said = [f"{key}={value}" for key, value in zip(IDENTITY[1:], self._said, strict=True) if value]
        return " ".join([quoted(self.name), *said])

    @property
    def _said(self) -> tuple[str, str, str]:
        return self.role, self.kind, self.asmcluster


def find(plan: IormPlan, wanted: DirectiveName) -> Directive | None:
    """Return the one directive of ``plan`` that ``wanted`` names; None if there is none.

    Raises:
        RefusedError: there are several, or the only one is for a profile and no type was given. The hint shows how to name each.
    """
    found = [directive for directive in plan.directives if wanted.matches(directive)]
    if len({directive.identity for directive in found}) < len(found):
        raise RefusedError(
            f"the plan has the directive {found[0].label} more than once; nothing was sent",
            hint="send a whole plan that has it once: `alter iormplan dbplan=(…)`",
        )
    if len(found) > 1:
        raise RefusedError(
            f"the plan has several directives for {wanted.label}: {', '.join(d.label for d in found)}; nothing was sent",
            hint=f"name one: {', or '.join(ways(found))}",
        )
    label = quoted(wanted.name)
    if found and not wanted.kind and found[0].identity[2] == PROFILE:
        raise RefusedError(
            f"the plan has no directive for a database {label}, but one for a profile of that name; nothing was sent",
            hint=f"db={label} type={PROFILE} means the directive of the profile, db={label} type={DATABASE} that of the database",
        )
    return found[0] if found else None


def ways(directives: list[Directive]) -> Iterator[str]:
    """Yield how to name each of several directives: ``db=SPOT role=none``, with only the attributes in which they differ."""
    for directive in directives:
        parts = [f"db={directive.shown_name}"]
        for place, key in enumerate(IDENTITY[1:], 1):
            if len({other.identity[place] for other in directives}) > 1:
                parts.append(f"{key}={directive.identity[place] or NONE}")
        yield " ".join(parts)
