"""Guards for DBMCLI's ALTER DBSERVER on database nodes: texts that nothing but mails and people read. Pure.

Source: Oracle DBMMN, alter-dbserver ("attribute_name = attribute_value"), describe-dbserver (what each attribute is); that a list
stands in quotes, its items behind commas: SAGUG, alter-cell, alert notification attributes, which both servers have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exacell.cellcli.nodes import Change as DbmChange, Scalar
from exacell.cellcli.schema import attributes_of
from exacell.core.errors import RefusedError
from exacell.plan.guards.steps import guarded_plan, guarded_step, with_inverse
from exacell.plan.guards.unchanged import holds_already, with_changes
from exacell.plan.model import Check, FactValue, Plan, Risk

DBSERVER = "dbserver"
"""The object of checks that ask DBMCLI."""

_TEXTS = frozenset(("comment", "location", "smtpfrom", "smtpfromaddr", "emailformat"))
_LISTS = frozenset(("smtptoaddr", "notificationmethod", "notificationpolicy"))


def dbserver_plan(rack: str, statement: DbmChange, text: str, told: Mapping[str, Sequence[Mapping[str, Any]]]) -> Plan:
    """Return the plan that gives database servers other texts, proven and taken back as those of a cell are.

    Args:
        told: host -> the row of LIST DBSERVER.

    Raises:
        RefusedError: it does something else; says what exacell plans and what carries the rest.
    """
    names = {setting.attribute.lower() for setting in statement.settings}
    odd = sorted(
        setting.attribute for setting in statement.settings if setting.attribute.lower() not in _TEXTS | _LISTS
    )
    plain = all(isinstance(setting.value, Scalar) for setting in statement.settings)
    if statement.action or statement.flags or odd or not plain:
        known = attributes_of(DBSERVER)
        what = odd[0] if odd else statement.action or "a value in parentheses or a word behind the attributes"
        raise RefusedError(
            f"{text}: of DBSERVER exacell plans "
            f"{', '.join(known[name].name for name in sorted(_TEXTS | _LISTS))}, which "
            f"nothing but mails and people read, and not {what}; nothing was sent",
            hint="on HOST sh --accept-opaque dbmcli -e '…' sends it without guards and without undo",
        )
    done = {host: "it already has these values" for host, rows in told.items() if holds_already(statement, rows)}
    going = {host: rows for host, rows in told.items() if host not in done}
    steps = [
        replace(
            guarded_step(host, statement, Risk.NONE, proves=_values(statement)),
            host=True,
            needs=tuple(_check(name, rows[0].get(name, "")) for name in _spelled(names)),
        )
        for host, rows in going.items()
    ]
    if not steps:
        return Plan(statement=text, rack=rack, done=done)
    return with_inverse(with_changes(guarded_plan(rack, text, steps, done=done), statement, going))


def _spelled(names: set[str]) -> list[str]:
    known = attributes_of(DBSERVER)
    return [known[name].name for name in sorted(names)]


def _values(statement: DbmChange) -> tuple[Check, ...]:
    return tuple(
        replace(_check(setting.attribute, setting.value.text), why="")
        for setting in statement.settings
        if isinstance(setting.value, Scalar)
    )


def _check(name: str, text: str) -> Check:
    """Return the check of an attribute; the items of a list may be printed with blanks or in another order."""
    value: FactValue = tuple(text.split(",")) if name.lower() in _LISTS and text else text
    return Check(object=DBSERVER, attribute=name, value=value, why="its value has changed since it was read")
