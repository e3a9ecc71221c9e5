"""Build the toolbar's text: the error of the line, or what Enter will do. Only reads the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exacell.cellcli.condition import is_condition
from exacell.cellcli.nodes import Change, Grant, Verb
from exacell.core.cellset import CellSet
from exacell.core.errors import ExacellError
from exacell.core.units import counted
from exacell.language.calls import find_command
from exacell.language.line import Line
from exacell.language.registry import Call, Effect
from exacell.language.words import split_words
from exacell.output.faults import sentence
from exacell.plan.model import Risk
from exacell.prompt.appearance import AGAIN, IDLE, Fragments
from exacell.prompt.check import (
    PLAIN,
    Surroundings,
    carried,
    live_error,
    verdict,
    verdicts,
)
from exacell.session.state import Session


def toolbar_fragments(session: Session, text: str, cursor: int, around: Surroundings = PLAIN) -> Fragments:
    """Return the toolbar's text about the typed line: its error, else the effect of Enter, else the usage of its statement."""
    if text.strip() == AGAIN:
        return [("class:toolbar", " the last statement again")]
    wrong = live_error(text, cursor, around)
    if wrong is not None:
        return [("class:toolbar.wrong", " " + sentence(wrong[2]))]
    found = verdicts(text, around)
    if not found:
        return IDLE
    lines = [verdict.line for verdict in found if verdict.line is not None]
    short = found[-1].became
    if len(lines) < len(found):
        return [("class:toolbar", " " + (f"= {short}" if short else _usage(found[-1].segment.text)))]
    worst = max(lines, key=lambda line: _WEIGHT[line.effect])
    writes = _WEIGHT[worst.effect] > 1 or any(line.call is not None and line.call.command.runs for line in lines)
    style = "class:toolbar.write" if writes else "class:toolbar"
    said = intent(session, worst)
    return [(style, f" = {short} · {said}" if short else f" {said}")]


_WEIGHT = {Effect.LOCAL: 0, Effect.READ: 1, Effect.OPAQUE: 2, Effect.WRITE: 3}


def intent(session: Session, line: Line) -> str:
    """Return the effect of Enter: ``read on 3 cells as cellmonitor``, ``WRITE performance risk on 3 cells: plan first``.

    The risk is the usual worst of such a change; the plan judges the real state.
    """
    if line.shell:
        return "local shell command"
    effect = line.effect
    inner = verdict(carried(line))[0] if effect in (Effect.LOCAL, Effect.READ) and carried(line) else None
    if inner is not None and inner.effect is Effect.READ:
        return intent(session, replace(inner, on=inner.on or line.on))
    if inner is not None and inner.effect is Effect.WRITE:
        return f"plan for {_target(session, replace(inner, on=inner.on or line.on))}: nothing is sent"
    if line.call is not None and line.call.command.runs:
        return _running(session, line)
    if effect is Effect.LOCAL:
        return "changes only exacell's own state"
    if line.call is not None and not line.call.command.asks:
        return "shows what exacell has kept: no cell is asked"
    if line.call is not None and line.call.command.needs_hosts and not line.on:
        groups = session.rack.host_groups if session.rack is not None else ()
        return f"{line.call.command.name} is for hosts: on @{next(iter(groups), 'GROUP')} …"
    where = _target(session, line)
    dry = bool(line.flags.get("dry-run"))
    if line.call is not None and line.call.command.name in ("sql", "sql asm"):
        where, effect = line.call.text_arg("db") or "ASM", _of_sql(line.call)
        if effect is Effect.READ:
            return f"read on {where}"
    if effect is Effect.READ:
        user = _reader(session, line)
        return f"read on {where}" + (f" as {user}" if user else "")
    if dry:
        return f"plan for {where}: nothing is sent"
    if session.changes_nothing:
        return f"WRITE on {where}: refused, the session is read-only (set mode rw)"
    if effect is Effect.OPAQUE:
        return f"OPAQUE on {where}: exacell can't read what it does"
    risk = usual_risk(line)
    said = f"WRITE {risk} risk" if risk is not None and risk is not Risk.NONE else "WRITE"
    return f"{said} on {where}: plan first" + (", then without a question" if line.flags.get("yes") else "")


def _of_sql(call: Call) -> Effect:
    """Return the effect of an SQL text, judged in the same way as when it is entered."""
    from exacell.care.sqltext import one_line  # Imported only when SQL is typed.
    from exacell.opaque.sql import read_sql
    from exacell.plan.asmchange import read_asm_change
    from exacell.plan.dbchange import read_change

    try:
        sql = one_line(call.text_arg("text"))
        known = read_asm_change(sql) if call.command.name == "sql asm" else read_change(sql)
        if known is not None:
            return Effect.WRITE
        read_sql(f"{sql};")
    except ExacellError:
        return Effect.OPAQUE
    return Effect.READ


def _running(session: Session, line: Line) -> str:
    """Return a text about a statement that runs others, which are read only when it is entered."""
    where = _target(session, line)
    if line.flags.get("dry-run"):
        return f"shows what its statements would do on {where}: nothing is changed"
    if session.changes_nothing:
        return f"runs statements on {where}: those that change something are refused (set mode rw)"
    asked = ", then without a question" if line.flags.get("yes") else ""
    return f"runs statements on {where}: changes are planned first{asked}"


def _reader(session: Session, line: Line) -> str:
    """Return the user of the read; empty if ssh_config decides, or the hosts have several users."""
    rack = session.rack
    if rack is None:
        return ""
    try:
        named = session.selection.targets(line.on) if line.on and not is_condition(line.on) else ()
    except ExacellError:
        named = ()
    users = {group.user for host in named for group in rack.groups_of(host)}
    return session.options.login or (users.pop() if len(users) == 1 else "" if users else rack.read_user)


def _target(session: Session, line: Line) -> str:
    if is_condition(line.on):
        return f"the cells {line.on}"
    if line.on:
        try:
            named = CellSet.parse(line.on) if session.rack is None else session.selection.targets(line.on)
        except ExacellError:
            return line.on
        hosts = session.rack is not None and bool(len(named & CellSet(session.rack.host_names)))
        return counted(len(named), "host" if hosts else "cell")
    if session.rack is None:
        return "no rack yet (connect <rack>)"
    count = len(session.selected())
    return counted(count, "cell")


def _usage(text: str) -> str:
    try:
        words = split_words(text)
    except ExacellError as error:
        return sentence(error)
    command = find_command(words) if words else None
    if command is not None:
        return f"{command.usage}   {command.summary}"
    missing = verdict(text)[1]
    unfinished = missing is not None and (missing.start is None or missing.start >= len(text.rstrip()))
    return sentence(missing) if missing is not None and unfinished else ""


_OURS: Mapping[str, Risk] = {
    "flush flashcache": Risk.PERFORMANCE,
    "flush pmemcache": Risk.PERFORMANCE,
    "flush xrmemcache": Risk.PERFORMANCE,
    "resize flashcache": Risk.PERFORMANCE,
    "set flashcache mode": Risk.PERFORMANCE,
    "carve griddisk": Risk.PERFORMANCE,
    "release griddisk": Risk.DATA,
    "resize griddisk": Risk.PERFORMANCE,
    "create diskgroup": Risk.PERFORMANCE,
    "drop diskgroup": Risk.DATA,
    "enable flashlog": Risk.PERFORMANCE,
    "disable flashlog": Risk.PERFORMANCE,
    "set iorm": Risk.PERFORMANCE,
    "unset iorm": Risk.PERFORMANCE,
    "reset iorm": Risk.PERFORMANCE,
    "restore iorm": Risk.PERFORMANCE,
    "set rebalance": Risk.PERFORMANCE,
}

_CALM = frozenset(
    {"THRESHOLD", "ALERTHISTORY", "METRICDEFINITION", "USER", "ROLE", "PRIVILEGE", "DIAGPACK", "SOFTWAREHISTORY"}
)
"""Objects whose changes touch no data, no redundancy and no I/O."""

_STORED = frozenset({"GRIDDISK", "CELLDISK", "FLASHCACHE", "FLASHLOG", "LUN", "PMEMCACHE", "XRMEMCACHE"})
"""Objects whose DROP may lose data."""


def usual_risk(line: Line) -> Risk | None:
    """Return the usual worst risk of such a change; None if nothing is known about it."""
    if line.call is not None:
        return _OURS.get(line.call.command.name)
    statement = line.cellcli
    if isinstance(statement, Grant):
        return Risk.NONE
    if not isinstance(statement, Change):
        return None
    if statement.object in _CALM:
        return Risk.NONE
    if statement.has("FORCE") or (statement.verb is Verb.DROP and statement.object in _STORED):
        return Risk.DATA
    if statement.action == "INACTIVE" or statement.action.startswith(("SHUTDOWN", "RESTART")):
        return Risk.REDUNDANCY
    return Risk.PERFORMANCE
