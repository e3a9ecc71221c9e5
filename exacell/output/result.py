"""Hold the result that a statement returns and a surface shows. Pure values; nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.core.errors import ExitCode
from exacell.core.values import dataclass, field

if TYPE_CHECKING:
    from exacell.plan.model import Planned

Record = Mapping[str, Any]
"""One row: ``cell`` first (None for a rack's own record), then camelCase attributes; sizes are integer bytes."""


Draw = Callable[[int | None, bool, bool], Iterator[str]]
"""Gets the terminal's columns (None: no limit), whether colour is wanted, and whether titles are; yields lines."""


@dataclass(frozen=True)
class Column:
    """A column of the table form.

    Attributes:
        kind: text, prose (sentences), cells (names, folded if equal cells are), size (integer bytes), mib, number,
            percent, time or bool; it decides the alignment and the format of the values.
    """

    name: str
    kind: str = "text"
    title: str = ""


HOST = Column("cell", title="host")
"""The column of a record's host, in the place of ``cell`` in a cell's record."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """A statement's outcome.

    Attributes:
        records: the data, for every format for programs; empty if the answer is text only.
        columns: the attributes that the table shows, in order; empty means all of the first record.
        text: shown instead of a table (help, plans); the formats for programs don't contain it if there are
            records.
        raw: (cell, text) as the cells answered, for ``-o raw`` and for folding.
        pieces: (cell, function that reads its answer in pieces of whole lines), instead of ``raw`` for a large answer.
        named: several cells were asked, so raw lines begin with the cell's name even if only one answered.
        fold: whether equal cells may be shown once; ``draw``, if there is one, then does so.
        notes: messages for stderr, one line each.
        problems: one line per target that gave no good answer, for stderr.
        told: the members of ``problems`` that the table contains too; not repeated if both go to one screen.
        shown: whether the plan just shown contains all of it, so that the table is not needed on the same screen.
        exit_code: the statement's part of the process's exit code.
        planned: the plan that was only shown, with the facts it was made from; None for none.
    """

    records: Sequence[Record] = ()
    columns: Sequence[Column] = ()
    text: str = ""
    raw: Sequence[tuple[str, str]] = ()
    pieces: Sequence[tuple[str, Callable[[], Iterator[str]]]] = ()
    named: bool = False
    fold: bool = False
    notes: Sequence[str] = ()
    problems: Sequence[str] = ()
    told: Sequence[str] = ()
    shown: bool = False
    exit_code: ExitCode = ExitCode.DONE
    planned: Planned | None = None
    data: bool = field(default=False)
    """Whether empty ``records`` are an answer (an empty list), not a missing answer."""
    draw: Draw | None = field(default=None, compare=False)
    """Yields the lines of the table form, if a plain table of the records is not enough."""
    apart: Draw | None = field(default=None, compare=False)
    """Yields the lines of the table form with each cell separately, if ``text`` or ``draw`` folds cells and a plain table of
    the records is not enough."""


GOOD = (ExitCode.DONE, ExitCode.CHANGES, ExitCode.DRIFT)
"""The exit codes of statements that did not fail."""


def answered(result: Result) -> bool:
    """Return whether a result is an answer, which may be empty. A failure without data is not an answer, and neither is what an
    interrupted statement returns.
    """
    if result.exit_code is ExitCode.INTERRUPTED:
        return False
    return result.exit_code in GOOD or bool(result.records or result.text or result.raw or result.pieces)


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """Return the exit code of several statements: the first found of INTERRUPTED, FAILED, NOT_EXECUTED, DRIFT, CHANGES."""
    order = (ExitCode.INTERRUPTED, ExitCode.FAILED, ExitCode.NOT_EXECUTED, ExitCode.DRIFT, ExitCode.CHANGES)
    return next((code for code in order if code in codes), ExitCode.DONE)


def together(results: Sequence[Result]) -> Result:
    """Return the results of several statements of one kind as one: all data, each note once, the widest table's columns, the
    worst code. Printed text stays text if no result has a table; otherwise it becomes records."""
    tables = any(result.records for result in results)
    printed = [(cell, text) for result in results for cell, text in result.raw if text and not result.records]
    said = [[{"cell": cell, "text": text.rstrip()} for cell, text in result.raw if text] for result in results]
    return Result(
        records=[row for result, rows in zip(results, said, strict=True) for row in result.records or rows]
        if tables
        else [],
        raw=[] if tables else printed,
        columns=max((result.columns for result in results), key=len, default=()),
        notes=list(dict.fromkeys(note for result in results for note in result.notes)),
        problems=[problem for result in results for problem in result.problems],
        shown=bool(results) and all(result.shown for result in results),
        exit_code=worst([result.exit_code for result in results]),
        planned=next((result.planned for result in reversed(results) if result.planned is not None), None),
    )
