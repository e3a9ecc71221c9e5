"""Decide by rack and session whether work that exacell does not read may be done, and journal each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.cellcli.secrets import without
from exacell.core.config import RackConfig
from exacell.core.errors import ConfigError, JournalError, RefusedError
from exacell.core.racks import NoRackError
from exacell.core.values import dataclass, replace
from exacell.language.registry import Value
from exacell.opaque.findings import Door
from exacell.session.given import Request, Services, Session


def current_rack(session: Session, services: Services) -> RackConfig | None:
    """Return the rack of the session; None if no rack was asked for and no rack is current.

    If the default rack can't be read, one line says so, because its production mark has no effect then.

    Raises:
        ConfigError: the rack that was asked for does not exist.
    """
    if session.rack is None:
        try:
            session.choose_rack()
        except NoRackError:
            return None
        except ConfigError as error:
            if session.options.rack or session.env.get("EXACELL_RACK"):
                raise
            default = session.config.default_rack
            of = "default_rack in config.toml: " if default and default in error.message else ""
            way = f" ({error.hint})" if error.hint else ""
            services.console.say(f"{of}{error.message}{way}: exacell continues without a rack")
    return session.rack


def door_of(session: Session, targets: Sequence[str] | None = None) -> Door:
    """Return the rules for unread work of the session's rack; without a rack, only those of the session's mode.

    Args:
        targets: the work's targets; None for this machine. A target of a production rack brings that rack's rules.
    """
    rack, door = session.rack, Door(read_only=session.read_only, monitor=session.options.monitor)
    if rack is None:
        return door
    door = replace(door, rack=rack.name, production=rack.production, allows=rack.opaque == "allow")
    owner = None if rack.production else session.owner(targets)
    if owner is None:
        return door
    closed = session.closed(targets) is not None
    return replace(door, rack=owner.named, production=True, read_only=door.read_only or closed)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work that exacell can read only in part.

    Attributes:
        statement: as it was given.
        flags: the statement's: whether the work was accepted, and the reason for it.
        accept: how to accept the work, if that is possible.
        where: the cells that it goes to, for messages.
        undone: words for a refusal: the work that was not done.
        instead: another way to do it, in exacell or elsewhere.
        named: the rack's configuration names the unread programs, so that production alone does not refuse them.
        targets: the targets that it goes to; None for this machine.
    """

    statement: str
    flags: Mapping[str, Value]
    accept: str
    where: str = ""
    undone: str = "nothing was sent"
    instead: str = ""
    named: bool = False
    targets: Sequence[str] | None = None


def refuse_unread(session: Session, services: Services, request: Request, unread: Sequence[str], work: Work) -> None:
    """Raise RefusedError if unread work may not be done here, and journal that refusal.

    Raises:
        RefusedError: the rack is read-only or in production, or nobody accepted it.
    """
    if not unread:
        return
    door = door_of(session, work.targets)
    refusal = (replace(door, production=False) if work.named else door).refusal(
        unread,
        accepted=bool(work.flags.get("accept-opaque")),
        where=work.where,
        undone=work.undone,
        accept=work.accept,
        instead=work.instead,
    )
    if refusal is None:
        return
    journal_refusal(session, services, request, refusal, unread, statement=work.statement, flags=work.flags)
    raise refusal


def journal_accepted(
    session: Session,
    services: Services,
    request: Request,
    unread: Sequence[str],
    *,
    statement: str,
    flags: Mapping[str, Value],
) -> None:
    """Record, before it runs, that a line with unread text runs on this machine; its outcome is not recorded.

    Raises:
        JournalError: the journal can't be written; nothing was run.
    """
    from exacell.journal.reading import HERE  # The journal's modules take 7 ms to import, and reads need none of them.
    from exacell.journal.record import Row

    rack = "" if session.rack is None else session.rack.name
    change = services.journal.begin(rack, _body(request, unread, statement, flags) | {"on": HERE})
    services.journal.append(rack, change, [Row(kind="end", body={"exitCode": 0})])


def _body(request: Request, unread: Sequence[str], statement: str, flags: Mapping[str, Value]) -> dict[str, object]:
    from exacell.journal.actor import actor

    return {
        "statement": statement,
        "reason": str(flags.get("reason") or ""),
        "ticket": str(flags.get("ticket") or ""),
        "origin": request.origin,
        **actor(),
        "risk": "unknown",
        "opaque": [without(statement, phrase) for phrase in unread],
    }


def journal_refusal(
    session: Session,
    services: Services,
    request: Request,
    refusal: RefusedError,
    unread: Sequence[str],
    *,
    statement: str,
    flags: Mapping[str, Value],
) -> None:
    """Write a refusal into the journal, as a change with one row; not with ``-n``.

    If the journal can't be written, a message reports this.
    """
    if flags.get("dry-run"):
        return
    from exacell.journal.record import Row

    body = _body(request, unread, statement, flags) | {"refused": without(statement, refusal.message)}
    try:
        services.journal.note("" if session.rack is None else session.rack.name, Row(kind="refused", body=body))
    except JournalError as error:
        services.console.say(f"this refusal could not be journalled: {error.message}")
