"""Plan to switch traces of a database's sessions on and off with DBMS_MONITOR.

Source: Oracle PL/SQL Packages and Types Reference, DBMS_MONITOR; Database Reference, DBA_ENABLED_TRACES, V$SESSION; reference
measurement.md 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.errors import RefusedError, StatementError
from exacell.core.values import dataclass
from exacell.plan.dbchange import literal, quoted
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo
from exacell.plan.targets import DATABASE

Records = Mapping[str, Sequence[Mapping[str, Any]]]
"""``db.trace`` and ``db.session`` as :class:`exacell.session.dbclient.DatabaseClient` reads them."""

_SESSION = re.compile(r"\s*(\d{1,10})\s*,\s*(\d{1,10})\s*")
_NOTHING = "-"
"""The text in a record for a value that is not set."""


@dataclass(frozen=True, kw_only=True)
class Whose:
    """The sessions that are meant: one, those of a service or of a module in it, or all of the database.

    Attributes:
        session: SID and serial number, ``137,4711``; empty if no single session is meant.
    """

    service: str = ""
    module: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        """Raise StatementError if this combination is not possible."""
        if self.session and (self.service or self.module):
            raise StatementError("session= is one session: it can't be given with service= or module=")
        if self.module and not self.service:
            raise StatementError("module= needs service=: DBMS_MONITOR traces modules of a service")
        if any("'" in text and '"' in text for text in (self.service, self.module)):
            raise StatementError(
                "a name with both kinds of quotes can't be written in a statement", hint="choose a name with one kind"
            )
        if self.session and not _SESSION.fullmatch(self.session):
            raise StatementError(
                f"session={self.session} is not a session: give SID and serial number from V$SESSION, as session=137,4711"
            )

    @property
    def numbers(self) -> tuple[str, str]:
        """Return SID and serial number of the one session."""
        match = _SESSION.fullmatch(self.session)
        assert match is not None
        return str(int(match[1])), str(int(match[2]))

    @property
    def told(self) -> str:
        """Return the words for these sessions in messages."""
        if self.session:
            return f"session {','.join(self.numbers)}"
        module = f", module {self.module}" if self.module else ""
        return f"service {self.service}{module}" if self.service else "all sessions"

    def words(self, database: str) -> str:
        """Return the words of a statement that select these sessions."""
        given = {
            "service": self.service,
            "module": self.module,
            "session": ",".join(self.numbers) if self.session else "",
        }
        return " ".join([f"db={database}", *(f"{name}={_written(value)}" for name, value in given.items() if value)])

    @property
    def where(self) -> dict[str, str | tuple[str, ...]]:
        """Return column → value of the record that shows whether these sessions are traced."""
        if self.session:
            sid, serial = self.numbers
            return {"sid": sid, "serial": serial}
        kind = "SERVICE_MODULE" if self.module else "SERVICE" if self.service else "DATABASE"
        return {
            "type": kind,
            "service": self.service or _NOTHING,
            "module": self.module or _NOTHING,
            "instance": _NOTHING,
        }

    def call(self, *, on: bool) -> str:
        """Return the PL/SQL block that switches their trace."""
        arguments = {"waits": "TRUE", "binds": "FALSE"} if on else {}
        if self.session:
            sid, serial = self.numbers
            name, arguments = "session_trace", {"session_id": sid, "serial_num": serial, **arguments}
        elif self.service:
            module = {"module_name": literal(self.module)} if self.module else {}
            name, arguments = "serv_mod_act_trace", {"service_name": literal(self.service), **module, **arguments}
        else:
            name = "database_trace"
        given = ", ".join(f"{key} => {value}" for key, value in arguments.items())
        return f"BEGIN dbms_monitor.{name}_{'enable' if on else 'disable'}{f'({given})' if given else ''}; END"


def _written(text: str) -> str:
    return text if re.fullmatch(r"[\w.,#$-]+", text) else quoted(text)


def trace_plan(
    rack: str, records: Records, *, on: bool, database: str, node: str, whose: Whose, statement: str
) -> Plan:
    """Return the plan that switches a trace on or off; a plan without steps if that is done already.

    Args:
        records: the present records of the instance on ``node``.

    Raises:
        RefusedError: there is no such session, or it is traced without its waits.
    """
    found = [record for record in records[_object(whose)] if _selects(whose.where, record)]
    traced = [record for record in found if record["trace"] == "ENABLED"]
    name = database.upper()
    if whose.session and not found:
        if on:
            raise RefusedError(
                f"trace on: there is no {whose.told} on {node}",
                hint=f"sql db={name} \"select sid, serial#, module from v$session where type = 'USER'\"",
            )
        return Plan(statement=statement, rack=rack, done={node: f"{whose.told} has ended"})
    if traced and on and traced[0]["waits"] != "TRUE":
        raise RefusedError(
            f"trace on: {whose.told} of {name} is already traced, but without waits",
            hint=f"type `trace off {whose.words(name)}`, then this again",
        )
    if bool(traced) == on:
        return Plan(
            statement=statement, rack=rack, done={node: f"{whose.told} of {name}: trace is {_word(on)} already"}
        )
    step = Step(
        target=node,
        asm=DATABASE.written(name),
        statement=whose.call(on=on),
        what=f"trace {_word(on)} for {whose.told} of {name}",
        proves=_proofs(whose, on),
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT,
        inverse=whose.call(on=not on),
        changes=(Change(object="trace", name=whose.told, attribute="waits", before=_word(not on), after=_word(on)),),
    )
    return Plan(
        statement=statement,
        rack=rack,
        stages=(Stage(title=f"trace {_word(on)}", key="trace", steps=(step,)),),
        inverse={node: (f"trace {_word(not on)} {whose.words(name)}{f' node={node}' if whose.session else ''}",)},
        notes=_notes(whose) if on else (),
        risk=Risk.PERFORMANCE,
    )


def _object(whose: Whose) -> str:
    return "db.session" if whose.session else "db.trace"


def _word(on: bool) -> str:
    return "on" if on else "off"


def _selects(where: Mapping[str, str | tuple[str, ...]], record: Mapping[str, Any]) -> bool:
    return all(record[name] == wanted for name, wanted in where.items())


def _proofs(whose: Whose, on: bool) -> tuple[Check, ...]:
    if on:
        return (
            Check(object=_object(whose), attribute="waits", value="TRUE", where={**whose.where, "trace": "ENABLED"}),
        )
    return (Check(object=_object(whose), op=Op.ABSENT, where={**whose.where, "trace": "ENABLED"}),)


def _notes(whose: Whose) -> tuple[str, ...]:
    size = "each wait writes a line of some 120 bytes into the session's file on the node, and takes time of its own"
    if whose.session:
        return (size,)
    return (size, "sessions that are connected already are traced from their next call on")
