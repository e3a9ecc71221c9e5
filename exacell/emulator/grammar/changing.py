"""The parser of the statements that change an emulated cell; also parses any other statement.

The grammar is that of reference cellcli.md 2.3; a comma between attribute settings may be left out, as published
examples do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from exacell.core.units import (
    GIB,
    KIB,
    MIB,
    TIB,
)
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import (
    CATPLAN_UNTIL,
    CLUSTERPLAN_SINCE,
    DISABLE_SERVICES_SINCE,
    EXASCALE_SINCE,
    IORM_ALWAYS_ACTIVE_SINCE,
    PRIMARY_MEDIA_SINCE,
    WRITE_BACK_SINCE,
)
from exacell.emulator.basics.schema import Release, object_types
from exacell.emulator.cell.iorm_models import Directive
from exacell.emulator.cell.models import EXASCALE_STATUS
from exacell.emulator.grammar.admin import FORMS, parse_admin, parse_calibrate
from exacell.emulator.grammar.changes import (
    AlterCell,
    AlterCellDisk,
    AlterFlashCache,
    AlterGridDisk,
    AlterIormPlan,
    CellAction,
    CellServices,
    Change,
    CreateFlashCache,
    CreateFlashLog,
    CreateGridDisk,
    DropFlashCache,
    DropFlashLog,
    DropGridDisk,
    Selection,
    Statement,
)
from exacell.emulator.grammar.reading import (
    Filter,
    filters_at,
    name_at,
    object_type_at,
    parse_describe,
    parse_help,
    parse_list,
    parse_set,
)
from exacell.emulator.grammar.security import parse_assign_key, parse_grant
from exacell.emulator.grammar.tokens import Kind, Token, TokenStream

SERVICES = ("RS", "MS", "CELLSRV", "ALL")
EXASCALE_SERVICES = tuple(EXASCALE_STATUS.values())
_ACTIONS = (
    *(("LED", "ON"), ("LED", "OFF")),
    *(("DONOTSERVICELED", "ON"), ("DONOTSERVICELED", "OFF", "FORCE"), ("DONOTSERVICELED", "OFF")),
    *(("VALIDATE", "MAIL"), ("VALIDATE", "SNMP"), ("VALIDATE", "CONFIGURATION")),
    *(("BBU", "DROP", "FOR", "REPLACEMENT"), ("BBU", "REENABLE")),
    *(("RESTART", "BMC"), ("CONFIGUREBMC",), ("CONFIGURE", "BMC")),
)
"""Actions of ALTER CELL besides attributes and services. Source: reference cellcli.md 2.3; public lists of CellCLI's statements
of 11.2 have CONFIGURE BMC as two words.
"""
_FACTORS = {"K": KIB, "M": MIB, "G": GIB, "T": TIB}
_SIZE = re.compile(r"[0-9]+(\.[0-9]+)?[KMGT]?", re.IGNORECASE)
_CHANGING = ("CREATE", "ALTER", "DROP", "ASSIGN", "EXPORT", "IMPORT", "GRANT", "REVOKE", "REGISTER", "DEREGISTER")


def size_of(text: str, attribute: str = "size") -> int:
    """Return the bytes of a CellCLI size: a number with K, M, G or T; without a letter it is in bytes.

    Raises:
        CellError: ``text`` is not a size.
    """
    if _SIZE.fullmatch(text) is None:
        raise CellError(Code.BAD_VALUE, value=text, attribute=attribute, rule="a number with K, M, G or T")
    number, factor = (text[:-1], _FACTORS[text[-1].upper()]) if text[-1].isalpha() else (text, 1)
    return int(Decimal(number) * factor)


def parse(text: str, release: Release) -> Statement:
    """Parse ``text`` as a statement for a cell of ``release`` and return it.

    Raises:
        CellError: it is not a statement; syntax errors have the offset of the first wrong token.
    """
    stream = TokenStream(text)
    verb_token = stream.peek()
    verb = verb_token.text.upper() if verb_token.kind is Kind.WORD else ""
    if verb in ("LIST", "DESCRIBE", "HELP", "SET"):
        stream.take()
        if verb == "LIST":
            return parse_list(stream, release)
        if verb == "DESCRIBE":
            return parse_describe(stream, release)
        return parse_help(stream) if verb == "HELP" else parse_set(stream)
    if verb == "CALIBRATE":
        stream.take()
        return parse_calibrate(stream)
    if verb not in _CHANGING:
        raise stream.error()
    stream.take()
    owner = object_type_at(stream, verb, release)
    if verb == "ASSIGN":
        return parse_assign_key(stream, release)
    if verb in ("GRANT", "REVOKE"):
        return parse_grant(stream, verb, owner.name, release)
    parser = _PARSERS.get((verb, owner.name))
    if (verb, owner.name) in FORMS:
        admin = parse_admin(stream, verb, owner, release)
        stream.expect_end()
        return admin
    if parser is None:
        raise CellError(Code.SYNTAX, position=verb_token.start)
    statement = parser(stream, release, owner.name)
    stream.expect_end()
    return statement


def listed(text: str) -> tuple[str, ...]:
    """Return the elements of a list's text."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _setting(stream: TokenStream, name: str) -> Token:
    stream.expect_word(name)
    stream.expect_symbol("=")
    return stream.expect_value()


def _size_at(stream: TokenStream) -> int | None:
    """Read ``[,] size=n`` if it comes next, and return the bytes; otherwise None."""
    behind_comma = 1 if stream.peek().is_symbol(",") else 0
    if not stream.peek(behind_comma).is_word("SIZE"):
        return None
    if behind_comma:
        stream.take()
    return size_of(_setting(stream, "SIZE").text)


def _members_at(stream: TokenStream) -> tuple[str, ...] | None:
    """Read ``ALL`` and return None, or read ``CELLDISK='fd[,fd]…'`` and return the names."""
    if stream.accept_word("ALL"):
        return None
    return listed(_setting(stream, "CELLDISK").text)


def _create_cache(stream: TokenStream, release: Release, owner: str) -> Change:
    if owner == "XRMEMCACHE" and stream.at_end:
        return CreateFlashCache(object_name=owner, bare=True)
    members = _members_at(stream)
    return CreateFlashCache(object_name=owner, members=members, size_bytes=_size_at(stream))


def _alter_cache(stream: TokenStream, release: Release, owner: str) -> Change:
    members = _members_at(stream)
    size = _size_at(stream) if owner == "FLASHCACHE" else None
    force = members is not None and stream.accept_word("FORCE") is not None
    action = (stream.accept_word("FLUSH", "CANCEL") or "") if release >= WRITE_BACK_SINCE else ""
    if action == "CANCEL":
        stream.expect_word("FLUSH")
    nowait = action == "FLUSH" and stream.accept_word("NOWAIT") is not None
    return AlterFlashCache(
        object_name=owner, members=members, size_bytes=size, force=force, action=action, nowait=nowait
    )


def _drop_cache(stream: TokenStream, release: Release, owner: str) -> Change:
    stream.accept_word("ALL")
    return DropFlashCache(object_name=owner)


def _create_log(stream: TokenStream, release: Release, owner: str) -> Change:
    members = _members_at(stream)
    if members is None and owner == "FLASHLOG":
        stream.accept_word("FLASHDISK")
    return CreateFlashLog(object_name=owner, members=members, size_bytes=_size_at(stream))


def _drop_log(stream: TokenStream, release: Release, owner: str) -> Change:
    stream.accept_word("ALL")
    return DropFlashLog(object_name=owner, force=stream.accept_word("FORCE") is not None)


def _media_at(stream: TokenStream, release: Release) -> str | None:
    optimized = stream.peek().is_word("PERFORMANCEOPTIMIZED", "CAPACITYOPTIMIZED")
    if optimized and release >= PRIMARY_MEDIA_SINCE:
        kind = stream.take().text.upper()
        stream.expect_word("FLASHDISK")
        return f"{kind} FLASHDISK"
    return stream.accept_word("FLASHDISK", "HARDDISK")


def _selection_at(stream: TokenStream, release: Release) -> Selection:
    if stream.accept_word("ALL"):
        return Selection(media=_media_at(stream, release))
    names = [name_at(stream, release)]
    while stream.accept_symbol(","):
        names.append(name_at(stream, release))
    return Selection(names=tuple(names))


def _raw_value_at(stream: TokenStream) -> str:
    """Read a value and return it; a text in parentheses is one value."""
    if not stream.peek().is_symbol("("):
        return stream.expect_value().text
    depth, parts = 0, []
    while True:
        token = stream.take()
        if token.kind is Kind.END:
            raise stream.error()
        depth += token.is_symbol("(") - token.is_symbol(")")
        parts.append(token.text)
        if depth == 0:
            return "".join(parts)


def values_at(stream: TokenStream, *, stop: tuple[str, ...] = ()) -> dict[str, str]:
    """Read ``[,] attribute=value`` pairs up to the end or to a word of ``stop``; return them by lower-case name."""
    values: dict[str, str] = {}
    while not stream.at_end and not stream.peek().is_word(*stop):
        if values:
            stream.accept_symbol(",")
        token = stream.peek()
        if token.kind is not Kind.WORD or not stream.peek(1).is_symbol("="):
            raise stream.error()
        head, dot, rest = stream.take().text.partition(".")
        # After a dot comes the name of an SNMP user, which keeps its case.
        name = head.lower() + dot + rest
        stream.take()
        if name in values:
            raise CellError(Code.SYNTAX, position=token.start)
        values[name] = _raw_value_at(stream)
    return values


def _create_grid_disk(stream: TokenStream, release: Release, owner: str) -> Change:
    if stream.accept_word("ALL"):
        media = _media_at(stream, release)
        prefixes = listed(_setting(stream, "PREFIX").text)
        stream.accept_symbol(",")
        return CreateGridDisk(media=media, prefixes=prefixes, values=values_at(stream))
    name = name_at(stream, release)
    cell_disk = _setting(stream, "CELLDISK").text
    stream.accept_symbol(",")
    return CreateGridDisk(name=name, cell_disk=cell_disk, values=values_at(stream))


def _alter_grid_disk(stream: TokenStream, release: Release, owner: str) -> Change:
    # Without ALL and names, a condition chooses the disks. Source: Oracle Exascale User's Guide, resize-pool-disks.
    unnamed = release >= EXASCALE_SINCE and stream.peek(1).is_symbol("=")
    which = Selection() if unnamed else _selection_at(stream, release)
    filters: tuple[Filter, ...] = ()
    if stream.accept_word("WHERE"):
        filters = filters_at(stream, object_types()["GRIDDISK"], release)
    action = stream.accept_word("ACTIVE", "INACTIVE", "FLUSH", "CANCEL") or ""
    if action == "CANCEL":
        stream.expect_word("FLUSH")
    values = {} if action else values_at(stream, stop=("WHERE", "NOWAIT"))
    if not action and not values:
        raise stream.error()
    if not action and not filters and stream.accept_word("WHERE"):
        filters = filters_at(stream, object_types()["GRIDDISK"], release)
    if unnamed and not filters:
        raise stream.error()
    force = action == "INACTIVE" and stream.accept_word("FORCE") is not None
    nowait = action != "CANCEL" and stream.accept_word("NOWAIT") is not None
    return AlterGridDisk(which=which, action=action, force=force, nowait=nowait, values=values, filters=filters)


def _drop_grid_disk(stream: TokenStream, release: Release, owner: str) -> Change:
    which = _selection_at(stream, release)
    prefixes = listed(_setting(stream, "PREFIX").text) if which.names is None else ()
    options: dict[str, str] = {}
    while not stream.at_end:
        stream.accept_symbol(",")
        token = stream.peek()
        pool = ("PREPARE", "CANCEL") if release >= EXASCALE_SINCE else ()
        word = stream.expect_word("ERASE", "FORCE", "NOWAIT", *pool)
        if word in options:
            raise CellError(Code.SYNTAX, position=token.start)
        options[word] = _erase_at(stream) if word == "ERASE" else word
    return DropGridDisk(
        which=which,
        prefixes=prefixes,
        force="FORCE" in options,
        pool="PREPARE" in options or "CANCEL" in options,
        erase=options.get("ERASE", ""),
        nowait="NOWAIT" in options,
    )


def _erase_at(stream: TokenStream) -> str:
    stream.expect_symbol("=")
    return stream.expect_word("1PASS", "3PASS", "7PASS")


def _alter_cell_disk(stream: TokenStream, release: Release, owner: str) -> Change:
    which = _selection_at(stream, release)
    action = stream.accept_word("FLUSH", "CANCEL") or ""
    if action == "CANCEL":
        stream.expect_word("FLUSH")
    nowait = action == "FLUSH" and stream.accept_word("NOWAIT") is not None
    values = {} if action else values_at(stream)
    if not action and not values:
        raise stream.error()
    return AlterCellDisk(which=which, action=action, nowait=nowait, values=values)


def _alter_cell(stream: TokenStream, release: Release, owner: str) -> Change:
    if stream.peek(1).is_word("SERVICES"):
        disable = ("DISABLE",) if release >= DISABLE_SERVICES_SINCE else ()
        action = stream.expect_word("SHUTDOWN", "STARTUP", "RESTART", *disable)
        stream.take()
        more = EXASCALE_SERVICES if release >= EXASCALE_SINCE else ()
        service = stream.expect_word(*(more if action == "DISABLE" else (*SERVICES, *more)))
        ignore = stream.accept_word("IGNORE") is not None
        if ignore:
            stream.expect_word("REDUNDANCY")
        return CellServices(action=action, service=service, ignore_redundancy=ignore)
    for words in _ACTIONS:
        if all(stream.peek(ahead).is_word(word) for ahead, word in enumerate(words)):
            for _word in words:
                stream.take()
            if words == ("VALIDATE", "SNMP") and stream.accept_word("TYPE"):
                stream.expect_symbol("=")
                stream.expect_word("ASR")
            return CellAction(words=words)
    if stream.peek().is_word("VALIDATE") and stream.peek(1).is_word("SYSLOGCONF"):
        stream.take()
        stream.take()
        return CellAction(words=("VALIDATE", "SYSLOGCONF"), argument=stream.expect_value().text)
    values = values_at(stream)
    if not values:
        raise stream.error()
    return AlterCell(values=values)


def _alter_iorm_plan(stream: TokenStream, release: Release, owner: str) -> Change:
    if release < IORM_ALWAYS_ACTIVE_SINCE and (word := stream.accept_word("ACTIVE", "INACTIVE")) is not None:
        return AlterIormPlan(active=word == "ACTIVE")
    known = {"OBJECTIVE", "DBPLAN"}
    known |= {"CATPLAN"} if release < CATPLAN_UNTIL else set()
    known |= {"CLUSTERPLAN"} if release >= CLUSTERPLAN_SINCE else set()
    objective: str | None = None
    plans: dict[str, tuple[Directive, ...]] = {}
    while not stream.at_end:
        if plans or objective is not None:
            stream.accept_symbol(",")
        token = stream.peek()
        word = stream.expect_word(*known)
        stream.expect_symbol("=")
        if word.lower() in plans or (word == "OBJECTIVE" and objective is not None):
            raise CellError(Code.SYNTAX, position=token.start)
        if word == "OBJECTIVE":
            objective = stream.expect_value().text
        else:
            plans[word.lower()] = _plan_at(stream)
    if objective is None and not plans:
        raise stream.error()
    return AlterIormPlan(objective=objective, plans=plans)


def _plan_at(stream: TokenStream) -> tuple[Directive, ...]:
    token = stream.peek()
    if token.kind is Kind.STRING and not token.text.strip():
        stream.take()
        return ()
    stream.expect_symbol("(")
    directives = [_directive_at(stream)]
    while stream.accept_symbol(","):
        directives.append(_directive_at(stream))
    stream.expect_symbol(")")
    return tuple(directives)


def _directive_at(stream: TokenStream) -> Directive:
    stream.expect_symbol("(")
    pairs: list[tuple[str, str]] = []
    while True:
        token = stream.peek()
        if token.kind is not Kind.WORD:
            raise stream.error()
        stream.take()
        stream.expect_symbol("=")
        pairs.append((token.text.lower(), stream.expect_value().text))
        if not stream.accept_symbol(","):
            break
    stream.expect_symbol(")")
    return Directive(attributes=tuple(pairs))


_PARSERS: Mapping[tuple[str, str], Callable[[TokenStream, Release, str], Change]] = {
    **{
        (verb, f"{memory}CACHE"): parser
        for memory in ("FLASH", "PMEM", "XRMEM")
        for verb, parser in (("CREATE", _create_cache), ("ALTER", _alter_cache), ("DROP", _drop_cache))
    },
    **{
        (verb, f"{memory}LOG"): parser
        for memory in ("FLASH", "PMEM", "XRMEM")
        for verb, parser in (("CREATE", _create_log), ("DROP", _drop_log))
    },
    ("CREATE", "GRIDDISK"): _create_grid_disk,
    ("ALTER", "GRIDDISK"): _alter_grid_disk,
    ("DROP", "GRIDDISK"): _drop_grid_disk,
    ("ALTER", "CELLDISK"): _alter_cell_disk,
    ("ALTER", "CELL"): _alter_cell,
    ("ALTER", "IORMPLAN"): _alter_iorm_plan,
}
