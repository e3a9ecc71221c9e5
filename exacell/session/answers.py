"""Turn a cell's answer to LIST into typed records for each statement, or into one line about why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

from exacell.cellcli.releases import fitted
from exacell.cellcli.reply import errors as reply_errors, read_xml_documents, values
from exacell.cellcli.statement import parse as parse_cellcli
from exacell.cellcli.tables import Table, TypedTable
from exacell.core.errors import ExitCode, ReplyError
from exacell.core.units import counted
from exacell.core.values import dataclass
from exacell.transport.base import Reply, State

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one cell answered to a batch of reads.

    Attributes:
        tables: typed records per statement, in the order asked; empty when ``problem`` is set.
        problem: one line without the cell's name; empty when all statements were answered.
        cellsrv_start: when CELLSRV was started, epoch ms on the cell's clock, from the XML answers; 0 if they don't contain it.
    """

    cell: str
    tables: tuple[Sequence[Record], ...] = ()
    cellsrv_start: int = 0
    problem: str = ""
    reply: Reply


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Hold one Answer for each cell that was asked, in that order."""

    answers: Mapping[str, Answer] = field(default_factory=dict)

    @property
    def good(self) -> dict[str, Answer]:
        """Return the answers without a problem, by cell."""
        return {cell: answer for cell, answer in self.answers.items() if not answer.problem}

    @property
    def problems(self) -> tuple[str, ...]:
        """Return ``cell: problem`` for each cell that gave no good answer."""
        return tuple(f"{cell}: {answer.problem}" for cell, answer in self.answers.items() if answer.problem)

    @property
    def exit_code(self) -> ExitCode:
        """Return DONE, FAILED if a cell gave no answer, or NOT_EXECUTED if no cell could be reached."""
        bad = [a for a in self.answers.values() if a.problem]
        if not bad:
            return ExitCode.DONE
        never = (State.UNREACHABLE, State.NOT_ATTEMPTED)
        if len(bad) == len(self.answers) and all(a.reply.state in never for a in bad):
            return ExitCode.NOT_EXECUTED
        return ExitCode.FAILED

    def rows(self, index: int = 0) -> list[dict[str, Any]]:
        """Return all records of the statement number ``index``, each with the key ``cell`` first, in cell order."""
        return [{"cell": cell, **record} for cell, answer in self.good.items() for record in answer.tables[index]]

    def ids(self, statements: Sequence[str]) -> dict[str, str]:
        """Return cell → its id, for the cells whose answer to a LIST CELL among the statements contains one."""
        places = [place for place, statement in enumerate(statements) if object_of(statement) == "CELL"]
        return {
            cell: str(row["id"])
            for cell, answer in self.good.items()
            for place in places
            for row in answer.tables[place]
            if row.get("id")
        }


def answer_of(reply: Reply, asked: Sequence[str | None], objects: Sequence[str]) -> Answer:
    """Return the Answer that a reply to LIST statements in XML contains.

    Args:
        asked: the statements; None for one that was not sent, because the cell's release has no such object.
        objects: the object of each.
    """
    if reply.large is not None:
        return _large_answer(reply, objects[0])
    if reply.state is not State.OK and not reply.stdout.strip():
        return Answer(cell=reply.target, problem=problem_of(reply), reply=reply)
    found = reply_errors(reply.stdout) or reply_errors(reply.stderr)
    if found:
        # Each statement of a batch reports the same error when the cell as a whole has a problem.
        said = dict.fromkeys(f"{error.code}: {error.message}" for error in found)
        return Answer(cell=reply.target, problem="; ".join(said), reply=reply)
    if reply.state is not State.OK:
        return Answer(cell=reply.target, problem=problem_of(reply), reply=reply)
    try:
        documents = read_xml_documents(reply.stdout)
    except ReplyError as error:
        return Answer(cell=reply.target, problem=error.message, reply=reply)
    if not documents and not reply.stdout.strip():
        # In XML every LIST gives a document, even if there are no objects.
        return Answer(cell=reply.target, problem="no answer: CellCLI printed nothing", reply=reply)
    sent = sum(statement is not None for statement in asked)
    if len(documents) != sent:
        return Answer(
            cell=reply.target,
            problem=f"{counted(len(documents), 'document')} came for {sent} statements: {_start(reply.stdout)}",
            reply=reply,
        )
    left = iter(documents)
    tables = tuple(
        _typed(next(left).records, kind) if statement is not None else ()
        for statement, kind in zip(asked, objects, strict=True)
    )
    # Source: the context element of a captured XML answer, reference cellcli.md 3.1.
    starts = [document.context.get("ossStartTimestamp", "") for document in documents]
    started = max((int(text) for text in starts if text.isdecimal()), default=0)
    return Answer(cell=reply.target, tables=tables, cellsrv_start=started, reply=reply)


def _typed(records: Sequence[Mapping[str, str]], object_type: str) -> Sequence[Record]:
    if isinstance(records, Table):
        return TypedTable(records, object_type)
    return tuple(values(record, object_type) for record in records)


def _large_answer(reply: Reply, object_type: str) -> Answer:
    from exacell.session.largelist import xml_rows

    try:
        return Answer(cell=reply.target, tables=(xml_rows(reply, object_type),), reply=reply)
    except ReplyError as error:
        return Answer(cell=reply.target, problem=error.message, reply=reply)


def problem_of(reply: Reply) -> str:
    """Return one line about a reply that is not good: its own problem, or the first line that the target printed."""
    if reply.problem:
        return reply.problem
    return _start(reply.stderr) or _start(reply.stdout) or str(reply.state)


def _start(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]


@lru_cache(maxsize=256)
def object_of(statement: str) -> str:
    """Return the object type of a LIST statement; cached, because the same few statements are sent often."""
    return parse_cellcli(statement).object


def fit(statements: Sequence[str], release: str) -> tuple[str | None, ...]:
    """Return the statements without the parts that ``release`` doesn't know; unchanged if it knows none of their objects."""
    if not release:
        return tuple(statements)
    fits = tuple(fitted(statement, release) for statement in statements)
    return fits if any(fits) else tuple(statements)
