"""Read the changes of ASM disk groups that exacell understands from their SQL; other SQL is not read here. Pure.

The text that is read is not sent: plans write their own statements from it.

Source: Oracle SQL Language Reference, CREATE, ALTER and DROP DISKGROUP; reference asm.md sections 2 and 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from exacell.core.errors import UnitError
from exacell.core.patterns import pattern
from exacell.core.sqllexer import Kind, pieces_of
from exacell.core.units import parse_size
from exacell.core.values import dataclass
from exacell.plan.asmfacts import ATTRIBUTES, TIMES

CREATE_ONLY = ("au_size", "cell.sparse_dg", "sector_size")
"""Attributes that only CREATE DISKGROUP can set. Source: reference asm.md section 3."""


@dataclass(frozen=True, kw_only=True)
class NewGroup:
    """CREATE DISKGROUP on the disks of one search string; ``attributes`` in the given order, with names in lower case.

    ``redundancy`` is external, normal or high.
    """

    group: str
    redundancy: str
    search: str
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class DropGroup:
    """DROP DISKGROUP, with or without INCLUDING CONTENTS."""

    group: str


@dataclass(frozen=True, kw_only=True)
class MountGroup:
    """ALTER DISKGROUP … MOUNT or DISMOUNT."""

    group: str
    mount: bool


@dataclass(frozen=True, kw_only=True)
class SetPower:
    """ALTER DISKGROUP … REBALANCE POWER; ``starts`` is False for MODIFY POWER, which starts no rebalance."""

    group: str
    power: int
    starts: bool = True


@dataclass(frozen=True, kw_only=True)
class SetAttribute:
    """ALTER DISKGROUP … SET ATTRIBUTE; the attribute's name is in lower case."""

    group: str
    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class NewDisk:
    """A DISK string of ADD; ``failgroup`` and ``name`` are empty if the statement does not give them."""

    search: str
    failgroup: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class AddDisks:
    """ALTER DISKGROUP … ADD DISK."""

    group: str
    disks: tuple[NewDisk, ...]
    power: int | None = None
    wait: bool = False


@dataclass(frozen=True, kw_only=True)
class DropDisks:
    """ALTER DISKGROUP … DROP DISK or DISKS IN FAILGROUP, without FORCE."""

    group: str
    disks: tuple[str, ...] = ()
    failgroups: tuple[str, ...] = ()
    power: int | None = None
    wait: bool = False


@dataclass(frozen=True, kw_only=True)
class ResizeDisks:
    """ALTER DISKGROUP … RESIZE; without names all disks, without a size to the size on their cells.

    ``size`` in bytes.
    """

    group: str
    disks: tuple[str, ...] = ()
    failgroups: tuple[str, ...] = ()
    size: int | None = None
    power: int | None = None
    wait: bool = False


@dataclass(frozen=True, kw_only=True)
class SwitchDisks:
    """ALTER DISKGROUP … ONLINE or OFFLINE; without names all disks. ``drop_after`` as written: ``8h``."""

    group: str
    online: bool
    disks: tuple[str, ...] = ()
    failgroups: tuple[str, ...] = ()
    drop_after: str = ""
    power: int | None = None
    wait: bool = False


Change = NewGroup | DropGroup | MountGroup | SetPower | SetAttribute | AddDisks | DropDisks | ResizeDisks | SwitchDisks


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The beginning of a CREATE, ALTER or DROP DISKGROUP statement, and its rest, which exacell may not understand.

    Attributes:
        verb: CREATE, ALTER or DROP.
        group: the disk group, without quotes and in upper case; empty if there is no name.
        written: the word after DISKGROUP, unchanged.
        tail: the text after the group's name; in a longer text, up to the next ``;``.
        after: the same text after the whole word ``written``.
    """

    verb: str
    group: str
    written: str
    tail: str
    after: str

    @property
    def clause(self) -> tuple[str, ...]:
        """Return the words right after the name, in upper case, up to the first thing that is not a plain word."""
        words = _WORDS.match(self.after)
        return tuple(words[0].upper().split()) if words is not None else ()

    @property
    def forced(self) -> bool:
        """Return whether the word FORCE is anywhere after DISKGROUP."""
        return re.search(r"\bFORCE\b", self.written + self.after, re.IGNORECASE) is not None


_STARTS = pattern(r"\b(?=(?:create|alter|drop)\s+diskgroup\s)", re.IGNORECASE)
_OUTLINE = pattern(
    r"\b(create|alter|drop)\s+diskgroup\s+(?=(?P<written>\S*))\"?\+?(?P<group>[\w$#]*)\"?", re.IGNORECASE
)
_WORDS = pattern(r"(?:\s+\w+\b)*")


def outline_of(sql: str) -> Outline | None:
    """Return the outline of the disk group statement with which a text begins; None if it begins otherwise."""
    found = _OUTLINE.match(sql)
    return None if found is None else _outlined(found, len(sql))


def outlines_in(text: str) -> Iterator[Outline]:
    """Yield the outlines of all disk group statements anywhere in a text: a script, a block, a text in quotes."""
    for found in filter(None, (_OUTLINE.match(text, start.start()) for start in _STARTS.finditer(text))):
        if found["group"]:
            yield _outlined(found, text.find(";", found.start()) % (len(text) + 1))  # -1 becomes the end of the text.


def _outlined(found: re.Match[str], end: int) -> Outline:
    return Outline(
        verb=found[1].upper(),
        group=found["group"].upper(),
        written=found["written"],
        tail=found.string[found.end() : end],
        after=found.string[found.end("written") : end],
    )


_SEARCH = pattern(r"o/[\w.*:;-]+/[\w.*-]+")
"""A path of grid disks. Source: reference asm.md section 2."""
_VALUE = pattern(r"[\w. +*/-]*")


class _UnreadError(Exception):
    """Raised if a statement is not one that is read here."""


def read_asm_change(sql: str) -> Change | None:
    """Return the change that a one-line statement makes; None if exacell does not understand it."""
    try:
        reader = _Reader(sql)
        verb = reader.one_of("CREATE", "ALTER", "DROP")
        reader.need("DISKGROUP")
        change = {"CREATE": _create, "ALTER": _alter, "DROP": _drop}[verb](reader, reader.name())
        reader.end()
    except _UnreadError:
        return None
    return change


class _Reader:
    """Reads the tokens of one statement: names and words in upper case, texts without quotes."""

    def __init__(self, sql: str) -> None:
        self._tokens = list(_tokens(sql))
        self._at = 0

    def _here(self, kind: str) -> str | None:
        found, text = self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")
        return text if found == kind else None

    def take(self, kind: str) -> str:
        """Return the next token, which must be of this kind."""
        text = self._here(kind)
        if text is None:
            raise _UnreadError
        self._at += 1
        return text

    def name(self) -> str:
        """Return a name of at most 30 characters."""
        text = self.take("word")
        if len(text) > 30 or text in ("ALL", "FORCE", "NOFORCE"):
            raise _UnreadError
        return text

    def accept(self, *words: str) -> bool:
        """Skip these words if all of them come next; return whether they did."""
        coming = self._tokens[self._at : self._at + len(words)]
        if coming != [("word", word) for word in words]:
            return False
        self._at += len(words)
        return True

    def need(self, *words: str) -> None:
        """Skip these words, which must come next."""
        if not self.accept(*words):
            raise _UnreadError

    def one_of(self, *words: str) -> str:
        """Return which of the words comes next; one of them must."""
        text = self.take("word")
        if text not in words:
            raise _UnreadError
        return text

    def comma(self) -> bool:
        """Skip a comma if one comes next; return whether it did."""
        found = self._here("sign") == ","
        self._at += found
        return found

    def listed(self, one: Callable[[], str]) -> tuple[str, ...]:
        """Return items that are separated by commas."""
        found = [one()]
        while self.comma():
            found.append(one())
        return tuple(found)

    def equals(self) -> None:
        """Skip ``=``, which must come next."""
        if self.take("sign") != "=":
            raise _UnreadError

    def whole(self) -> int:
        """Return a whole number."""
        return int(self.take("number"))

    def size(self) -> int:
        """Return a size in bytes."""
        number, unit = self.take("number"), ""
        if self._here("word") in ("K", "M", "G", "T"):
            unit = self.take("word")
        try:
            return parse_size(number + unit)
        except UnitError:
            raise _UnreadError from None

    def end(self) -> None:
        """Raise an error unless this is the end."""
        if self._at < len(self._tokens):
            raise _UnreadError


def _tokens(sql: str) -> Iterator[tuple[str, str]]:
    for kind, text in pieces_of(sql):
        if kind is Kind.WORD:
            yield "word", text.upper()
        elif kind is Kind.NUMBER:
            yield "number", text
        elif kind is Kind.TEXT and text[0] == "'":
            yield "text", text[1:-1].replace("''", "'")
        elif kind is Kind.SIGN and text in ",=":
            yield "sign", text
        elif kind is not Kind.BLANK:
            raise _UnreadError


def _create(reader: _Reader, group: str) -> Change:
    redundancy = "normal"
    if not reader.accept("DISK"):
        redundancy = reader.one_of("EXTERNAL", "NORMAL", "HIGH").lower()
        reader.need("REDUNDANCY", "DISK")
    search, attributes = _search(reader), []
    if reader.accept("ATTRIBUTE"):
        attributes.append(_attribute(reader))
        while reader.comma():
            attributes.append(_attribute(reader))
    if len({name for name, _ in attributes}) < len(attributes):
        raise _UnreadError
    return NewGroup(group=group, redundancy=redundancy, search=search, attributes=tuple(attributes))


def _drop(reader: _Reader, group: str) -> Change:
    if not reader.accept("INCLUDING", "CONTENTS"):
        reader.accept("EXCLUDING", "CONTENTS")
    return DropGroup(group=group)


def _alter(reader: _Reader, group: str) -> Change:
    match reader.take("word"):
        case "MOUNT" | "DISMOUNT" as verb:
            reader.accept("NOFORCE")
            return MountGroup(group=group, mount=verb == "MOUNT")
        case "SET":
            reader.need("ATTRIBUTE")
            name, value = _attribute(reader)
            if name not in (*ATTRIBUTES, *CREATE_ONLY):
                raise _UnreadError
            return SetAttribute(group=group, name=name, value=value)
        case "REBALANCE":
            modify = reader.accept("MODIFY")
            reader.need("POWER")
            power = reader.whole()
            reader.accept("NOWAIT")
            return SetPower(group=group, power=power, starts=not modify)
        case "MODIFY":
            reader.need("POWER")
            return SetPower(group=group, power=reader.whole(), starts=False)
        case "ADD":
            return AddDisks(group=group, disks=_new_disks(reader), **_rebalance(reader))
        case "DROP":
            disks, failgroups = _chosen(reader)
            return DropDisks(group=group, disks=disks, failgroups=failgroups, **_rebalance(reader))
        case "RESIZE":
            disks, failgroups = _chosen(reader, everything=True)
            if len(disks) > 1:  # Each disk may have its own size.
                raise _UnreadError
            size = reader.size() if reader.accept("SIZE") else None
            return ResizeDisks(group=group, disks=disks, failgroups=failgroups, size=size, **_rebalance(reader))
        case "ONLINE":
            disks, failgroups = _chosen(reader, everything=True)
            more = _rebalance(reader, word=False)
            return SwitchDisks(group=group, online=True, disks=disks, failgroups=failgroups, **more)
        case "OFFLINE":
            disks, failgroups = _chosen(reader)
            after = _drop_after(reader) if reader.accept("DROP", "AFTER") else ""
            return SwitchDisks(group=group, online=False, disks=disks, failgroups=failgroups, drop_after=after)
    raise _UnreadError


def _attribute(reader: _Reader) -> tuple[str, str]:
    name = reader.take("text")
    reader.equals()
    value = reader.take("text")
    if not re.fullmatch(r"[A-Za-z][\w.]*", name) or not _VALUE.fullmatch(value):
        raise _UnreadError
    return name.lower(), value


def _search(reader: _Reader) -> str:
    text = reader.take("text")
    if not _SEARCH.fullmatch(text):
        raise _UnreadError
    return text


def _new_disks(reader: _Reader) -> tuple[NewDisk, ...]:
    found: list[NewDisk] = []
    failgroup = reader.name() if reader.accept("FAILGROUP") else ""
    while True:
        reader.need("DISK")
        while True:
            search = _search(reader)
            name = reader.name() if reader.accept("NAME") else ""
            reader.accept("NOFORCE")
            found.append(NewDisk(search=search, failgroup=failgroup, name=name))
            if not reader.comma():
                break
        if not reader.accept("FAILGROUP"):
            return tuple(found)
        failgroup = reader.name()


def _chosen(reader: _Reader, *, everything: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the named disks and the named failure groups; with ``everything``, no name means all."""
    if everything and reader.accept("ALL"):
        return (), ()
    if reader.accept("DISKS", "IN", "FAILGROUP"):
        return (), reader.listed(reader.name)
    reader.need("DISK")
    return reader.listed(reader.name), ()


def _drop_after(reader: _Reader) -> str:
    number = reader.take("number")
    return number + reader.one_of("M", "H").lower()


def _rebalance(reader: _Reader, *, word: bool = True) -> dict[str, Any]:
    """Return power and wait of the clause after a change of disks."""
    power, wait = None, False
    if not word or reader.accept("REBALANCE"):
        power = reader.whole() if reader.accept("POWER") else None
        wait = reader.accept("WAIT")
        if not wait:
            reader.accept("NOWAIT")
    return {"power": power, "wait": wait}


def meant(name: str, value: str) -> str:
    """Return an attribute's value in one normal form: times in seconds, versions with five parts.

    Empty if it is not a valid time or version.
    """
    if name in TIMES:
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([mh]?)", value.strip().lower())
        return f"{float(found[1]) * (60 if found[2] == 'm' else 3600):g}s" if found else ""
    if name.startswith("compatible."):
        found = re.fullmatch(r"\d{1,3}(\.\d{1,6}){1,4}", value.strip())
        return ".".join([*value.strip().split("."), *"000"][:5]) if found else ""
    return value.strip().upper()
