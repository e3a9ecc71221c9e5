"""Passwords given as ``*``: CellCLI asks for them, twice.

Source: Oracle SAGUG, create-user, alter-cell-alert-notification-attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.program import Event
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changes import AlterCell, Statement

Question = Generator[Event, str | None, str | None]
_ASKED = "*"
_SNMP_USER = "snmpuser."


def typed(statement: Statement, ask: Callable[[str], Question]) -> Generator[Event, str | None, Statement]:
    """Ask for the passwords that a statement gives as ``*``, and return it with them; other statements are returned unchanged.

    Args:
        ask: shows a prompt and returns the typed line; None at the end of input.

    Raises:
        CellError: the input has ended, or the two answers differ.
    """
    match statement:
        case AdminStatement(object_name="USER", values={"password": "*"}):
            password = yield from _twice(ask, "password: ", "Confirm password: ", "password")
            return replace(statement, values={**statement.values, "password": password})
        case AlterCell() if any(name.startswith(_SNMP_USER) for name in statement.values):
            values = dict(statement.values)
            for name in values:
                if name.startswith(_SNMP_USER):
                    values[name] = yield from _snmp_user(ask, name.removeprefix(_SNMP_USER), values[name])
            return replace(statement, values=values)
        case _:
            return statement


def _snmp_user(ask: Callable[[str], Question], user: str, text: str) -> Generator[Event, str | None, str]:
    parts = []
    for part in text.strip("()").split(","):
        name, _, value = part.partition("=")
        if value.strip() == _ASKED:
            prompt = f"snmpUser {user} {name.strip()}: "
            value = yield from _twice(ask, prompt, f"Confirm {prompt}", "snmpUser")
            part = f"{name}={value}"
        parts.append(part)
    return f"({','.join(parts)})" if text else ""


def _twice(
    ask: Callable[[str], Question], prompt: str, again: str, attribute: str
) -> Generator[Event, str | None, str]:
    first = yield from ask(prompt)
    second = yield from ask(again) if first is not None else _nothing()
    if first is None or second is None:
        raise CellError(
            Code.BAD_VALUE, value=_ASKED, attribute=attribute, rule="the cell asks for it, and nobody answered"
        )
    if first != second:
        raise CellError(Code.BAD_VALUE, value="***", attribute=attribute, rule="the second answer is not the first")
    return first


def _nothing() -> Question:
    return None
    yield
