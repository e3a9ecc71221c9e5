"""Show the contents of the flash cache: the objects that use most of it, with their names in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exacell.core.errors import ExacellError, RefusedError, StatementError
from exacell.core.meant import did_you_mean, near
from exacell.language.registry import Call
from exacell.output.result import Column, Result
from exacell.plan import facts as f
from exacell.session.dbsql import query_database, records_of
from exacell.session.given import Request, Services, Session

_SUMMED = ("cachedSize", "cachedWriteSize", "cachedKeepSize", "hitCount", "missCount")
_MOST = 100
"""Largest LIMIT that CellCLI accepts with ORDER BY. Source: reference cellcli.md 2.1."""

_SPECIAL = {
    0: "(no object: temporary or file header)",
    4294967292: "(ADVM volume)",
    4294967293: "(redo)",
    4294967294: "(internal)",
    4294967295: "(internal)",
}
"""Object numbers with a special meaning. Source: reference cellcli.md 3.3, FLASHCACHECONTENT."""


def show_contents(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per object: its name and number, and the sums of its cached bytes, hits and misses over all cells.

    Raises:
        StatementError: ``top`` or ``db`` has a value that is not allowed.
        RefusedError: no object of the database is cached, and its name is similar to a known one.
    """
    top, database = call.int_arg("top") or 20, call.text_arg("db")
    if not 1 <= top <= _MOST:
        raise StatementError(f"top={top} is not possible: 1 to {_MOST}")
    if "'" in database:
        raise StatementError(
            f"db={database} can't be a database's name", hint="Tab after db= shows the databases that the cells know"
        )
    where = f" where dbUniqueName = '{database}'" if database else ""
    names = ", ".join(("dbUniqueName", "objectNumber", *_SUMMED))
    answers = services.query(
        f"list flashcachecontent attributes {names}{where} order by cachedSize desc limit {_MOST}",
        timeout=request.read_timeout,
    )
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in answers.rows():
        key = (str(row.get("dbUniqueName") or ""), int(row.get("objectNumber") or 0))
        into = found.setdefault(key, {**dict.fromkeys(_SUMMED, 0), "cells": 0})
        into["cells"] += 1
        for name in _SUMMED:
            into[name] += int(row.get(name) or 0)
    biggest = sorted(found.items(), key=lambda item: -item[1]["cachedSize"])[:top]
    notes: list[str] = []
    known = _names(session, services, [key for key, _ in biggest], notes) if call.args.get("names") else {}
    rows = []
    for key, sums in biggest:
        owner, name, kind = known.get(key, ("", _SPECIAL.get(key[1], ""), ""))
        reads = sums["hitCount"] + sums["missCount"]
        rows.append(
            {
                "cell": None,
                "db": key[0] or None,
                "owner": owner or None,
                "object": name or str(key[1]),
                "type": kind or None,
                "objectNumber": key[1],
                **sums,
                "hitPercent": round(100 * sums["hitCount"] / reads, 1) if reads else None,
            }
        )
    if database and not rows and answers.good:
        there = services.query(f.DATABASE, timeout=request.read_timeout).rows()
        if meant := did_you_mean(near(database, (str(row.get("name")) for row in there))):
            raise RefusedError(f"there is no database {database} on these cells", hint=meant)
        notes.append(
            f"these cells cache nothing of {database}: `list database` shows the databases, `show iorm` may show why"
        )
    columns = (
        Column("db"),
        Column("owner"),
        Column("object"),
        Column("type"),
        Column("cachedSize", "size", title="cached"),
        Column("cachedWriteSize", "size", title="dirty"),
        Column("cachedKeepSize", "size", title="keep"),
        Column("hitPercent", "percent", title="hits"),
    )
    return Result(
        records=rows,
        columns=columns,
        data=True,
        notes=notes,
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def _names(
    session: Session, services: Services, keys: Sequence[tuple[str, int]], notes: list[str]
) -> Mapping[tuple[str, int], tuple[str, str, str]]:
    """Return (database, object number) → owner, name and type, as far as the databases answer; ``notes`` gets the reason if
    one does not.

    An object number of the cache is the object's data_object_id. Source: Oracle SAGUG, LIST FLASHCACHECONTENT.
    """
    if not session.need_rack().asm:
        return {}
    found: dict[tuple[str, int], tuple[str, str, str]] = {}
    for database in dict.fromkeys(name for name, _ in keys if name):
        numbers = [str(number) for name, number in keys if name == database and number not in _SPECIAL]
        if not numbers:
            continue
        sql = (
            "select owner, object_name, subobject_name, object_type, data_object_id from dba_objects "
            f"where data_object_id in ({','.join(numbers)})"
        )
        try:
            _, rows = query_database(session, services, database, sql)
        except ExacellError as error:
            notes.append(f"names of {database}: {error.message}")
            continue
        for row in records_of(rows):
            upper = {name.upper(): value for name, value in row.items()}
            part = upper.get("SUBOBJECT_NAME")
            name = str(upper["OBJECT_NAME"]) + (f".{part}" if part else "")
            number = int(upper["DATA_OBJECT_ID"] or 0)
            found[database, number] = (str(upper["OWNER"]), name, str(upper["OBJECT_TYPE"]))
    return found
