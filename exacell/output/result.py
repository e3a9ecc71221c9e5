"""What a command returns and a surface renders. Pure values; nothing is printed here."""

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
"""Takes the terminal's columns (None: no limit), whether colour is wanted and whether titles are; yields lines."""


@dataclass(frozen=True)
class Column:
    """A column of the table form.

    Attributes:
        kind: text, prose (sentences), cells (names, folded where equal cells are), size (integer bytes), mib, number,
            percent, time or bool: decides alignment and how eyes see it.
    """

    name: str
    kind: str = "text"
    title: str = ""


HOST = Column("cell", title="host")
"""The column of a record's host, which stands where a cell's record has its cell."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """A statement's outcome.

    Attributes:
        records: the data, for every machine format; empty when the statement answers with text alone.
        columns: which attributes the table shows, in order; empty: all of the first record's.
        text: what a table-form reader sees instead of a table (help, plans); the machine formats never print it
            while there are records.
        raw: (cell, text) as the cells answered, for ``-o raw`` and for folding.
        pieces: (cell, reads what it answered a piece of whole lines at a time), instead of ``raw`` where an answer is large.
        named: several cells were asked, so that raw lines begin with the cell's name even when only one answered.
        fold: equal cells may be shown once; ``draw``, where there is one, does so.
        notes: talk, one line each, for stderr.
        problems: one line per target that gave no good answer, for stderr.
        told: those of ``problems`` that the table tells as well: not said again where both go to one screen.
        shown: the plan that was just shown says all of it: a table is not needed where both go to one screen.
        exit_code: the statement's part of the process's exit code.
        planned: the plan that was only shown, and the facts it was made from; None for none.
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
    """True when an empty ``records`` is an answer (an empty list), not the absence of one."""
    draw: Draw | None = field(default=None, compare=False)
    """Yields the lines of the table form, where a plain table of the records would not do."""
    apart: Draw | None = field(default=None, compare=False)
    """Yields the lines of the table form with each cell by itself, where ``text`` or ``draw`` folds cells and a plain table of
    the records would not do."""


def worst(codes: Sequence[ExitCode]) -> ExitCode:
    """Return the code that several statements together end with: INTERRUPTED, FAILED, NOT_EXECUTED, DRIFT, CHANGES."""
    order = (ExitCode.INTERRUPTED, ExitCode.FAILED, ExitCode.NOT_EXECUTED, ExitCode.DRIFT, ExitCode.CHANGES)
    return next((code for code in order if code in codes), ExitCode.DONE)


def together(results: Sequence[Result]) -> Result:
    """Return what several statements of one kind answered as one: all that was said, each note once, the widest table, the
    worst code. What one of them printed stays so where no other has a table; beside one it has records."""
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
