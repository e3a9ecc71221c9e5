"""Show facts about hosts, as records and folded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from exacell.commands.hosts import hosts_of
from exacell.core.cellset import fold, grouped
from exacell.core.errors import ExitCode, StatementError
from exacell.core.hostgroups import FACT_KINDS
from exacell.output.result import HOST, Column, Result
from exacell.output.tables import table_lines
from exacell.session.hostfacts import read_facts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from exacell.language.registry import Call
    from exacell.session.request import Request
    from exacell.session.services import Services
    from exacell.session.state import Session


def facts(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per host and object (a disk, a network card, a driver) with all facts about it.

    Raises:
        StatementError: a kind of facts is unknown, or the statement names no hosts.
    """
    hosts = hosts_of(session, call)
    kinds = call.text_arg("kinds").replace(",", " ").split() or list(FACT_KINDS)
    unknown = [kind for kind in kinds if kind not in FACT_KINDS]
    if unknown:
        raise StatementError(f"'{unknown[0]}' is not a kind of facts", hint=f"they are {', '.join(FACT_KINDS)}")
    answers = read_facts_of(
        services.fleet, hosts, kinds=kinds, timeout=request.read_timeout, cancel=session.interrupted
    )
    problems = [f"{host}: {answer.problem}" for host, answer in answers.items() if answer.problem]
    records = [{"cell": host, **fact} for host, answer in answers.items() for fact in answer.facts]
    code = ExitCode.DONE if not problems else ExitCode.FAILED if records else ExitCode.NOT_EXECUTED
    return Result(
        records=records,
        columns=(HOST, Column("kind"), Column("name")),
        fold=True,
        data=True,
        draw=partial(_drawn, records, folded=True),
        apart=partial(_drawn, records, folded=False),
        problems=problems,
        exit_code=code,
    )


def _drawn(
    records: Sequence[Mapping[str, object]], width: int | None, color: bool, header: bool, *, folded: bool
) -> Iterator[str]:
    """Yield the table with one sentence per object; objects of one host with the same facts share a line."""
    alike = grouped(((row["cell"], row["kind"], _sentence(row)), str(row["name"])) for row in records)
    rows = [
        {"cell": cell, "kind": kind, "name": _names(kind, names), "facts": told}
        for (cell, kind, told), names in alike.items()
    ]
    columns = (HOST, Column("kind"), Column("name"), Column("facts", "prose"))
    yield from table_lines(rows, columns, folded=folded, width=width, color=color, header=header)


def _names(kind: object, names: Sequence[str]) -> str:
    """Return the names of objects for display, folded unless a name has characters with a meaning in sets."""
    if names == [kind]:
        return ""
    plain = all(name.replace("-", "").replace("_", "").replace(".", "").isalnum() for name in names)
    return fold(names) if plain else ", ".join(names)


def _sentence(row: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("cell", "kind", "name"))
