"""Sets of cell names: parse and combine them, and print them folded, in a form that can be typed again.

``exa1cel[01-03]``, ``a,b`` (union), ``a!b`` or ``a not b`` (difference), ``a&b`` (intersection), ``a^b`` (in one of both),
``@group`` (resolved by the caller: ``@up``, ``@failed``, groups of the configuration). Operators have equal precedence and are
applied from left to right, as in ClusterShell's NodeSet, which does the folding and the numbering.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from exacell.core.errors import CellSetError
from exacell.core.lookalikes import LookalikeError, refuse_lookalikes
from exacell.core.patterns import pattern

GroupResolver = Callable[[str], Iterable[str]]
K = TypeVar("K")
V = TypeVar("V")

_OPERATOR = pattern(r"\s+not\s+|(?:\s*[,!&^]\s*)", re.IGNORECASE)
_NAME = pattern(r"[A-Za-z0-9._:%\-\[\]/,]+")


_BRACKETS = pattern(r"\[([^\[\]]*)\]")
_SPAN = pattern(r"(\d+)(?:-(\d+)(?:/(\d+))?)?")

MOST = 10_000
"""The largest number of names that the pieces of a set may stand for together."""

_DIGITS = 4000
"""So many digits of a number are compared; Python converts no longer ones."""

_SHOWN = 40
"""So many characters of an overlong set are shown."""

_FEW, _RANGES = 200, 3
"""Up to so many names, or with so many numbers that differ, the shortest spelling of a set is found at once."""


def _no_groups(name: str) -> Iterable[str]:
    raise CellSetError(f"@{name} is not a known cell group", part=f"@{name}", hint="name the cells")


_PLAIN = pattern(r"([A-Za-z_][\w.\-]*?)(?:\[(\d+)-(\d+)\])?")
_ADDRESS = pattern(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")


def _expand(text: str) -> Iterable[str]:
    """Return the names in a piece; for plain names, IPv4 addresses and one range at the end, ClusterShell is not imported,
    because that is slow.
    """
    if "[" in text:
        _refuse_too_many(text)
    match = _PLAIN.fullmatch(text)
    if match is None:
        return (text,) if _ADDRESS.fullmatch(text) else cast("Iterable[str]", _nodeset(text))
    if match[2] is None:
        return (text,)
    first, last, width = int(match[2]), int(match[3]), len(match[2])
    if first > last or len(match[3]) < width or (width != len(match[3]) and match[2].startswith("0")):
        return cast("Iterable[str]", _nodeset(text))
    return (f"{match[1]}{number:0{width if match[2].startswith('0') else 1}d}" for number in range(first, last + 1))


def _refuse_too_many(text: str) -> None:
    """Raise CellSetError if the ranges in a piece stand for more than :data:`MOST` names; a longer set would fill the memory."""
    count = 1
    for inside in _BRACKETS.findall(text):
        in_it = 0
        for span in inside.split(","):
            match = _SPAN.fullmatch(span.strip())
            if match is None:
                continue
            if any(len(number or "") > _DIGITS for number in match.groups()):
                raise CellSetError(f"a number in '{text[:_SHOWN]}…' is too long: at most {_DIGITS:,} digits", part=text)
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            in_it += max(0, last - first) // max(1, step) + 1
        count *= max(1, in_it)
    if count > MOST:
        raise _too_many(text)


def _too_many(text: str) -> CellSetError:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return CellSetError(
        f"'{shown}' means more than {MOST:,} names", part=text, hint="give fewer, such as exa1cel[01-14]"
    )


def _varying(names: Iterable[str]) -> int:
    """Return in how many numbers, counted from the left, names differ."""
    found: dict[int, list[set[str]]] = {}
    for name in names:
        numbers = re.findall(r"\d+", name)
        for seen, number in zip(found.setdefault(len(numbers), [set() for _ in numbers]), numbers, strict=True):
            seen.add(number)
    return max(sum(len(seen) > 1 for seen in every) for every in found.values())


def _nodeset(text: str) -> Any:
    # Imported here, so that completion and --version don't load ClusterShell.
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    if not _NAME.fullmatch(text):
        raise CellSetError(f"'{text}' is not a cell name or range such as exa1cel[01-03]", part=text)
    try:
        return NodeSet(text, resolver=RESOLVER_NOGROUP)
    except (NodeSetException, ValueError) as error:  # ClusterShell's own error for "[--]" is one of Python.
        raise CellSetError(
            f"'{text}' is not a cell name or range such as exa1cel[01-03]: {error}", part=text
        ) from error


def label_of(cell: str) -> str:
    """Return a cell's name as its objects contain it: the first part of a host name, or a whole address."""
    label = cell.partition(".")[0]
    return cell if label.isdigit() or ":" in cell else label


def known_as(name: str, known: Iterable[str]) -> str:
    """Return the one known name of the same cell or host, short or in full; ``name`` itself if there is none, or more than one.

    ``exa1cel01`` and ``exa1cel01.example.com`` are one host; two full names with different domains are two.
    """
    wanted, label = name.lower(), label_of(name).lower()
    there = tuple(known)
    if name in there:
        return name
    found = [
        one
        for one in there
        if one.lower() == wanted or (label_of(one).lower() == label and (one.lower() == label) is not (wanted == label))
    ]
    return found[0] if len(found) == 1 else name


def as_known(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return each name → the known name of the same cell or host, see :func:`known_as`. A name is mapped to itself if there is
    none, or if it is a short name that may belong to two different full names.
    """
    named, there = tuple(names), tuple(known)
    pairs = {(label_of(one).lower(), one.lower()) for one in (*named, *there)}
    full = [label for label, one in pairs if label != one]
    return {name: known_as(name, there) if full.count(label_of(name).lower()) < 2 else name for name in named}


def called_now(kept: Mapping[str, V], hosts: Iterable[str]) -> dict[str, V]:
    """Return the values of ``kept`` under the names that the cells and hosts have now, see :func:`as_known`.

    If a host has values under both of its names, the later one is kept.
    """
    now = as_known(kept, hosts)
    return {now[name]: own for name, own in kept.items()}


class CellSet:
    """An immutable set of names, iterated in natural order (``cel2`` before ``cel10``)."""

    __slots__ = ("_names", "_order")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        self._order: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, text: str, *, groups: GroupResolver = _no_groups) -> CellSet:
        """Return the set of names in ``text``.

        Args:
            text: for example ``exa1cel[01-14]!exa1cel07`` or ``@up not @failed``.
            groups: returns the names in an ``@group``; raises CellSetError if there is no such group.

        Raises:
            CellSetError: ``text`` is empty, or a part of it is not a name, a range or a known group.
        """
        if not text.strip():
            raise CellSetError("no cell is given", hint="such as exa1cel[01-03] or @all")
        try:
            refuse_lookalikes(text, range(len(text)))
        except LookalikeError as error:
            raise CellSetError(
                f"cells '{text}': {error.message}", part=text[error.start or 0], hint=error.hint
            ) from error
        result = cls()
        operator, named = ",", 0
        for piece, following in _split(text.strip()):
            if not piece:
                raise CellSetError(
                    f"a cell name is missing in '{text}'",
                    part=text,
                    hint=", ! & and ^ need a name or a range on both sides",
                )
            operand = cls(groups(piece[1:])) if piece.startswith("@") else cls(_expand(piece))
            named += len(operand)
            if named > MOST:
                raise _too_many(text)
            if operator == ",":
                result = result | operand
            elif operator in ("!", "not"):
                result = result - operand
            elif operator == "&":
                result = result & operand
            else:
                result = result ^ operand
            operator = following
        return result

    def fold(self) -> str:
        """Return the shortest spelling, ``exa1cel[01-03]``; empty for the empty set.

        Of many names that differ in more than three numbers only the last number is folded: the shortest spelling of such a set
        takes hours to find.
        """
        if len(self._names) < 2:
            return "".join(self._names)
        from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

        found = NodeSet.fromlist(list(self), resolver=RESOLVER_NOGROUP)
        if len(self._names) > _FEW and _varying(self._names) > _RANGES:
            found.fold_axis = (-1,)
        return str(found)

    def __iter__(self) -> Iterator[str]:
        if self._order is None:
            self._order = tuple(sorted(self._names, key=natural_key))
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __or__(self, other: CellSet) -> CellSet:
        return CellSet(self._names | other._names)

    def __sub__(self, other: CellSet) -> CellSet:
        return CellSet(self._names - other._names)

    def __and__(self, other: CellSet) -> CellSet:
        return CellSet(self._names & other._names)

    def __xor__(self, other: CellSet) -> CellSet:
        return CellSet(self._names ^ other._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellSet) and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._names)

    def __str__(self) -> str:
        return self.fold()

    def __repr__(self) -> str:
        return f"CellSet({self.fold()!r})"


def fold(names: Iterable[str]) -> str:
    """Return names folded: ``exa1cel[01-03]``."""
    return CellSet(names).fold()


def fold_briefly(names: Sequence[str], longest: int = 300) -> str:
    """Return names folded; if that is longer than ``longest`` characters, the first name and how many more there are."""
    folded = fold(names)
    return folded if len(folded) <= longest else f"{names[0]} and {len(names) - 1} more"


def folded_names(names: Sequence[str]) -> str:
    """Return names in a form that can be typed again: folded in quotes if they fold to a range, otherwise with commas between
    them.

    Names that can't be folded without loss, such as those of disk groups, are joined by commas.
    """
    folded = folded_whole(names)
    return f"'{folded}'" if "[" in folded else ",".join(names)


def folded_whole(names: Sequence[str]) -> str:
    """Return names folded; empty if the folded form would not contain the same names."""
    try:
        folded = fold(names)
        same = {name.lower() for name in CellSet.parse(folded)} == {name.lower() for name in names}
    except CellSetError:
        return ""
    return folded if same else ""


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return first item → list of second items of the pairs, both in order of appearance."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def summed(pairs: Iterable[tuple[K, int]]) -> dict[K, int]:
    """Return first item → sum of second items of the pairs, in order of appearance."""
    return {key: sum(values) for key, values in grouped(pairs).items()}


def told_together(said: Iterable[tuple[str, str]]) -> list[str]:
    """Return ``exa1cel[01-03]: text`` for each different text about cells; the arguments are pairs of (cell, text)."""
    return [f"{fold(cells)}: {text}" for text, cells in grouped((text, cell) for cell, text in said).items()]


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts ``cel2`` before ``cel10``."""
    return tuple(
        (0, int(part[:_DIGITS]), part) if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
        if part
    )


def _split(text: str) -> Iterator[tuple[str, str]]:
    """Yield (operand, operator after it); commas inside brackets belong to the operand."""
    depth, start, position = 0, 0, 0
    while position < len(text):
        char = text[position]
        depth += (char == "[") - (char == "]")
        match = _OPERATOR.match(text, position) if depth == 0 else None
        if match is None:
            position += 1
            continue
        yield text[start:position].strip(), match[0].strip().lower()
        start = position = match.end()
    yield text[start:].strip(), ""
