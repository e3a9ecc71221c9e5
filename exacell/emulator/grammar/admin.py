"""Administrative statements: thresholds, alerts, metric definitions, cell disks, LUNs, physical disks, ports, calibration.

They share one shape, ``verb object {ALL | name[, name]…} [words] [attribute=value]… [WHERE filters]``, so they share one
class and one parser; which parts a statement has is a table. Source: reference cellcli.md 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import MAINTAIN_REDUNDANCY_SINCE, PRIMARY_MEDIA_SINCE
from exacell.emulator.basics.schema import ObjectType, Release
from exacell.emulator.grammar.reading import Filter, filters_at, name_at
from exacell.emulator.grammar.tokens import Kind, TokenStream


@dataclass(frozen=True, kw_only=True)
class AdminStatement:
    """One administrative statement.

    Attributes:
        names: None for ALL, empty when the object takes no name.
        media: the media word after ALL.
        words: the action in upper case, ``("DROP", "FOR", "REPLACEMENT")``; empty when ``values`` are set.
        options: FORCE or NOWAIT, and ERASE with its value.
        values: attributes by lower-case name, in their order.
        tuples: the attributes of each object in ``CREATE CELLDISK ((name=…, lun=…), …)``.
    """

    verb: str
    object_name: str
    names: tuple[str, ...] | None = ()
    media: str | None = None
    words: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    filters: tuple[Filter, ...] = ()
    tuples: tuple[Mapping[str, str], ...] = ()

    @property
    def title(self) -> str:
        """Return the verb and the object, as ``ALTER LUN``."""
        return f"{self.verb} {self.object_name}"


@dataclass(frozen=True, kw_only=True)
class Form:
    """Which parts a statement may or must have.

    Attributes:
        names: ``one``, ``several``, ``many`` (or ALL), ``optional`` (one, ALL or none), or empty.
        media: media words that may follow ALL.
        actions: word sequences; the statement may have one of them.
        values: attributes may be set; without an action they must be set.
        filters: WHERE is allowed.
        options: words that may follow.
    """

    names: str = ""
    media: tuple[str, ...] = ()
    actions: tuple[tuple[str, ...], ...] = ()
    values: bool = False
    filters: bool = False
    options: tuple[str, ...] = ()


_DISK_OPTIONS = ("ERASE", "FORCE", "NOWAIT")

FORMS: Mapping[tuple[str, str], Form] = MappingProxyType(
    {
        ("CREATE", "THRESHOLD"): Form(names="one", values=True),
        ("ALTER", "THRESHOLD"): Form(names="many", values=True),
        ("DROP", "THRESHOLD"): Form(names="many"),
        ("ALTER", "ALERTHISTORY"): Form(names="many", values=True),
        ("DROP", "ALERTHISTORY"): Form(names="many"),
        ("ALTER", "METRICDEFINITION"): Form(names="many", values=True, filters=True),
        ("CREATE", "CELLDISK"): Form(
            names="many", media=("FLASHDISK", "HARDDISK", "PMEM"), values=True, options=("FORCE",)
        ),
        ("DROP", "CELLDISK"): Form(names="many", media=("FLASHDISK", "HARDDISK", "PMEM"), options=_DISK_OPTIONS),
        ("ALTER", "LUN"): Form(names="many", actions=(("REENABLE",),), options=("FORCE",)),
        ("ALTER", "PHYSICALDISK"): Form(
            names="many",
            media=("HARDDISK",),
            actions=(
                ("DROP", "FOR", "REPLACEMENT", "MAINTAIN", "REDUNDANCY"),
                ("DROP", "FOR", "REPLACEMENT"),
                ("REENABLE",),
                ("POWERCYCLE",),
                *(("SERVICELED", "ON"), ("SERVICELED", "OFF")),
            ),
            options=("FORCE", "NOWAIT"),
        ),
        ("CREATE", "ESCLUSTER"): Form(names="one"),
        ("ALTER", "ESCLUSTER"): Form(actions=(("START",),), values=True),
        ("ALTER", "ESNODE"): Form(values=True),
        ("REGISTER", "ESNODE"): Form(values=True),
        ("DEREGISTER", "ESNODE"): Form(values=True),
        ("CREATE", "KEY"): Form(),
        ("CREATE", "ROLE"): Form(names="several"),
        ("DROP", "ROLE"): Form(names="many", options=("FORCE",)),
        ("CREATE", "USER"): Form(names="one", values=True),
        ("ALTER", "USER"): Form(names="one", values=True),
        ("DROP", "USER"): Form(names="many"),
        ("CREATE", "QUARANTINE"): Form(values=True),
        ("ALTER", "QUARANTINE"): Form(names="many", values=True),
        ("DROP", "QUARANTINE"): Form(names="many"),
        ("CREATE", "DIAGPACK"): Form(values=True),
        ("DROP", "SOFTWAREHISTORY"): Form(names="many"),
        ("EXPORT", "CELLDISK"): Form(names="many"),
        ("IMPORT", "CELLDISK"): Form(names="optional", values=True, options=("FORCE",)),
        ("CREATE", "CELL"): Form(names="optional", values=True),
        ("DROP", "CELL"): Form(options=("ERASE", "FORCE")),
        ("ALTER", "IBPORT"): Form(names="many", actions=(("RESET", "COUNTERS"),)),
        ("ALTER", "OFFLOADGROUP"): Form(names="many", actions=(("STARTUP",), ("RESTART",), ("SHUTDOWN",)), values=True),
        ("ALTER", "SOFTWAREUPDATE"): Form(
            actions=(("VALIDATE", "PREREQ"), ("UPGRADE",)), values=True, options=("FORCE",)
        ),
    }
)


def parse_admin(stream: TokenStream, verb: str, owner: ObjectType, release: Release) -> AdminStatement:
    """Parse the rest of an administrative statement, after its verb and object, and return it.

    Raises:
        CellError: the statement does not have the form that the table gives.
    """
    form = FORMS[verb, owner.name]
    names: tuple[str, ...] | None = ()
    media: str | None = None
    if (verb, owner.name) == ("CREATE", "CELLDISK") and stream.peek().is_symbol("("):
        return AdminStatement(verb=verb, object_name=owner.name, names=None, tuples=_tuples_at(stream))
    if form.names:
        names, media = _names_at(stream, form, release)
    filters = _filters_at(stream, form, owner, release)
    action = stream.peek()
    words = _action_at(stream, form)
    if "MAINTAIN" in words and release < MAINTAIN_REDUNDANCY_SINCE:
        raise CellError(Code.SYNTAX, position=action.start)
    values: dict[str, str] = {}
    if form.values and not words:
        values = _values_at(stream, (*form.options, "WHERE"))
    options = _options_at(stream, form)
    filters = filters or _filters_at(stream, form, owner, release)
    bare = form.names == "optional" or (verb, owner.name) == ("CREATE", "CELLDISK")
    if (form.actions or form.values) and not words and not values and not bare:
        raise stream.error()
    return AdminStatement(
        verb=verb,
        object_name=owner.name,
        names=names,
        media=media,
        words=words,
        options=options,
        values=values,
        filters=filters,
    )


def _names_at(stream: TokenStream, form: Form, release: Release) -> tuple[tuple[str, ...] | None, str | None]:
    if form.names in ("many", "optional") and stream.accept_word("ALL"):
        if form.media and stream.peek(1).is_word("FLASHDISK") and release >= PRIMARY_MEDIA_SINCE:
            kind = stream.accept_word("PERFORMANCEOPTIMIZED", "CAPACITYOPTIMIZED")
            if kind:
                return None, f"{kind} {stream.expect_word('FLASHDISK')}"
        return None, stream.accept_word(*form.media) if form.media else None
    if form.names == "optional" and (stream.at_end or stream.peek(1).is_symbol("=")):
        return (), None
    names = [name_at(stream, release)]
    while form.names in ("many", "several") and stream.accept_symbol(","):
        names.append(name_at(stream, release))
    return tuple(names), None


def _filters_at(stream: TokenStream, form: Form, owner: ObjectType, release: Release) -> tuple[Filter, ...]:
    if form.filters and stream.accept_word("WHERE"):
        return filters_at(stream, owner, release)
    return ()


def _action_at(stream: TokenStream, form: Form) -> tuple[str, ...]:
    for words in form.actions:
        if all(stream.peek(ahead).is_word(word) for ahead, word in enumerate(words)):
            for _word in words:
                stream.take()
            return words
    return ()


def _values_at(stream: TokenStream, stop: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    while not stream.at_end and not stream.peek().is_word(*stop):
        if values or stream.peek().is_symbol(","):
            stream.accept_symbol(",")
        token = stream.peek()
        if token.kind is not Kind.WORD or not stream.peek(1).is_symbol("="):
            raise stream.error()
        name = stream.take().text.lower()
        stream.take()
        if name in values:
            raise CellError(Code.SYNTAX, position=token.start)
        values[name] = stream.expect_value().text
    return values


def _tuples_at(stream: TokenStream) -> tuple[Mapping[str, str], ...]:
    """Parse ``((name=value[, attribute=value]…)[, (…)]…)`` and return the attributes of each pair of parentheses."""
    stream.expect_symbol("(")
    found: list[Mapping[str, str]] = []
    while True:
        stream.expect_symbol("(")
        token = stream.peek()
        values: dict[str, str] = {}
        while not values or stream.accept_symbol(","):
            name = stream.expect_value()
            stream.expect_symbol("=")
            if name.text.lower() in values:
                raise CellError(Code.SYNTAX, position=name.start)
            values[name.text.lower()] = stream.expect_value().text
        if "name" not in values:
            raise CellError(Code.SYNTAX, position=token.start)
        stream.expect_symbol(")")
        found.append(values)
        if not stream.accept_symbol(","):
            stream.expect_symbol(")")
            return tuple(found)


def _options_at(stream: TokenStream, form: Form) -> dict[str, str]:
    options: dict[str, str] = {}
    while not stream.at_end and stream.peek().is_word(*form.options):
        token = stream.peek()
        word = stream.expect_word(*form.options)
        if word in options:
            raise CellError(Code.SYNTAX, position=token.start)
        options[word] = word
        if word == "ERASE":
            stream.expect_symbol("=")
            options[word] = stream.expect_word("1PASS", "3PASS", "7PASS")
        stream.accept_symbol(",")
    return options


def parse_calibrate(stream: TokenStream) -> AdminStatement:
    """Parse the rest of a CALIBRATE statement, after its verb, and return it."""
    media = stream.accept_word("HARDDISK", "FLASHDISK")
    names: list[str] = []
    while media is None and stream.peek().is_value and not stream.peek().is_word("FORCE"):
        names.append(stream.take().text)
        stream.accept_symbol(",")
    force = stream.accept_word("FORCE")
    stream.expect_end()
    return AdminStatement(
        verb="CALIBRATE",
        object_name="LUN",
        names=tuple(names) or None,
        media=media,
        options={"FORCE": force} if force else {},
    )
