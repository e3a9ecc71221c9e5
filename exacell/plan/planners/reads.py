"""Plan a load that reads: sessions of SQL*Plus on a database node look up keys in a table, or scan it.

Each session runs one block of PL/SQL: no statement crosses the network for each look-up, so that the reads themselves are
measured. The key is drawn before the query, because in a WHERE Oracle would draw it again for each row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from exacell.core.errors import RefusedError, StatementError
from exacell.core.values import dataclass
from exacell.plan.model import Change, Check, Op, Plan, Risk, Stage, Step, Undo
from exacell.plan.targets import DATABASE

TABLE = "EXACELL_KEYS"
"""The table that the load creates and drops; it has a row for each key."""

DROP = f"DROP TABLE {TABLE} PURGE"

MODULE = "exacell reads"
"""V$SESSION.MODULE of the load's sessions."""

FILLER = 80
"""Characters of a row besides its key: a block of 8K has about 80 rows."""

MOST_SESSIONS, MOST_TIMES, MOST_KEYS = 200, 100_000_000, 100_000_000

_EACH_S = {"look-ups": 0.0005, "scans": 1.0}
"""Rough number of seconds that a session takes for one look-up or scan. An assumption."""


class What(StrEnum):
    """The work that a session repeats."""

    LOOK_UPS = "look-ups"
    SCANS = "scans"


_QUERY = {
    What.LOOK_UPS: f"SELECT n FROM {TABLE} WHERE id = <a key from 1 to {{}}>",
    What.SCANS: f"SELECT COUNT(*) FROM {TABLE} (of {{}} keys)",
}
_TEXT = {
    what: re.compile(r"(\d+) x (\d+): " + re.escape(query).replace(re.escape("{}"), r"(\d+)"))
    for what, query in _QUERY.items()
}


@dataclass(frozen=True, kw_only=True)
class ReadLoad:
    """A number of sessions that each repeat their work a number of times, over a table with a number of keys."""

    what: What
    sessions: int
    times: int
    keys: int

    def __post_init__(self) -> None:
        """Raise StatementError if no load can have these values."""
        if not 1 <= self.sessions <= MOST_SESSIONS:
            raise StatementError(f"sessions={self.sessions} is not possible: 1 to {MOST_SESSIONS}")
        if not 1 <= self.times <= MOST_TIMES:
            word = "lookups" if self.what is What.LOOK_UPS else "scans"
            raise StatementError(f"{word}={self.times} is not possible: 1 to {MOST_TIMES:,} in each session")
        if not 1 <= self.keys <= MOST_KEYS:
            raise StatementError(f"keys={self.keys} is not possible: 1 to {MOST_KEYS:,}")

    @property
    def text(self) -> str:
        """Return the text that a plan shows and a step stores."""
        return f"{self.sessions} x {self.times}: {_QUERY[self.what].format(self.keys)}"

    @classmethod
    def read(cls, text: str) -> ReadLoad | None:
        """Return the load that a step's text describes; None for another text."""
        for what, pattern in _TEXT.items():
            if (match := pattern.fullmatch(text)) is not None:
                return cls(what=what, sessions=int(match[1]), times=int(match[2]), keys=int(match[3]))
        return None

    @property
    def block(self) -> str:
        """Return the PL/SQL of each session; it reads, and prints the time in hundredths of a second."""
        body = (
            f"k := trunc(dbms_random.value(1, {self.keys + 1})); select n into v from {TABLE} where id = k;"
            if self.what is What.LOOK_UPS
            else f"select count(*) into v from {TABLE};"
        )
        return (
            "declare k number; v number; t number := dbms_utility.get_time; "
            f"begin for i in 1 .. {self.times} loop {body} end loop; "
            "dbms_output.put_line('{mark} ' || (dbms_utility.get_time - t)); end;"
        )


def read_plan(
    rack: str,
    records: Mapping[str, Sequence[Mapping[str, Any]]],
    load: ReadLoad,
    *,
    database: str,
    node: str,
    statement: str,
    stays: bool = False,
    sent: frozenset[str] | None = None,
) -> Plan:
    """Return the plan that creates the table, lets the sessions read, and drops the table.

    An existing table with as many keys is used as it is, and stays.

    Args:
        records: the present records of the instance on ``node``.
        stays: the table is left for the next load.
        sent: the statements that the continued attempt has sent; None if this continues none.

    Raises:
        RefusedError: the table exists with other rows, or such a load runs.
    """
    name, told = database.upper(), f"drive {'lookups' if load.what is What.LOOK_UPS else 'scans'}"
    if any(record["module"] == MODULE for record in records["db.session"]):
        raise RefusedError(f"{told}: sessions of an earlier load still run on {node}", hint="wait until they end")
    tables = records["db.keys"]
    if not tables and sent is not None and DROP in sent:
        return Plan(statement=statement, rack=rack, done={node: "all have read, and the table is dropped"})
    made = sent is not None and any(text.startswith("CREATE TABLE") for text in sent)
    rows = tables[0]["rows"] if tables else None
    if rows is not None and rows != load.keys and not (made and not rows):
        raise RefusedError(
            f"{told}: table {TABLE} of {name} has {rows:,} keys, not {load.keys:,}",
            hint=f"type keys={rows}, or `drive end db={name}` to drop the table",
        )
    steps = _steps(node, name, load, stays=stays or (rows is not None and not made))
    left = steps[0 if rows is None else 1 if not rows else 2 :]
    return Plan(
        statement=statement,
        rack=rack,
        stages=tuple(Stage(title=step.what, key=step.what, steps=(step,)) for step in left),
        inverse={node: (f"drive end db={name}",)} if rows is None or made else {},
        notes=(f"{load.sessions * load.times:,} {load.what} in all",),
        risk=Risk.PERFORMANCE,
    )


def _steps(node: str, name: str, load: ReadLoad, *, stays: bool) -> list[Step]:
    there = {"name": TABLE}
    columns = f"id NUMBER PRIMARY KEY, n NUMBER NOT NULL, filler VARCHAR2({FILLER})"
    filled = f"INSERT INTO {TABLE} SELECT LEVEL, 0, RPAD('x', {FILLER}, 'x') FROM dual CONNECT BY LEVEL <= {load.keys}"
    rows = (Change(object="table", name=TABLE, attribute="rows", before="-", after=str(load.keys)),)
    each = "looks {:,} keys up" if load.what is What.LOOK_UPS else "reads the table {:,} times"
    idle = Check(
        object="db.session",
        op=Op.ABSENT,
        where={"module": MODULE},
        why="sessions of a load are running: wait until they end",
    )
    steps = [
        replace(
            _step(node, name, f"CREATE TABLE {TABLE} ({columns})", "make the table"),
            proves=(Check(object="db.keys", value=TABLE, where=there),),
            undo=Undo.STATEMENT,
            inverse=DROP,
            changes=rows,
        ),
        replace(
            _step(node, name, filled, "fill it"),
            proves=(Check(object="db.keys", attribute="rows", value=load.keys, where=there),),
            estimate=load.keys / 200_000,
        ),
        replace(
            _step(node, name, load.text, f"each session {each.format(load.times)}"),
            needs=(idle,),
            estimate=load.times * _EACH_S[load.what],
        ),
        drop_keys(node, name),
    ]
    return steps[:3] if stays else steps


def drop_keys(node: str, database: str) -> Step:
    """Return the step that drops the table."""
    gone = Check(object="db.keys", op=Op.ABSENT, where={"name": TABLE})
    return replace(_step(node, database, DROP, f"drop table {TABLE}"), proves=(gone,))


def _step(node: str, database: str, statement: str, what: str) -> Step:
    return Step(target=node, asm=DATABASE.written(database), statement=statement, what=what, risk=Risk.PERFORMANCE)
