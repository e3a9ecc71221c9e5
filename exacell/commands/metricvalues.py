"""Show the values of a metric over time, and export values of many metrics for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from math import ceil
from typing import Any

from exacell.cellcli.codes import metric_meaning
from exacell.cellcli.schema import metric, metrics
from exacell.core.errors import ExitCode, RefusedError, StatementError
from exacell.core.meant import ask_for
from exacell.language.registry import Call
from exacell.measure.metricseries import CUMULATIVE, finding, lines_of
from exacell.output.exposition import exposition
from exacell.output.findings import shown
from exacell.output.formats import FORMS, json_record, titles
from exacell.output.result import Result
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session

_ATTRIBUTES = "name, metricObjectName, metricValue, metricType, collectionTime"


def show_metric(services: Services, request: Request, call: Call) -> Result:
    """Return one record per sentence, then one per cell and object.

    Raises:
        RefusedError: no cell has a value of the metric.
    """
    name, item = call.text_arg("name").upper(), call.text_arg("object")
    asked = f"name = '{name}'" + (f" and metricObjectName = '{_plain(item)}'" if item else "")
    history = f"list metrichistory attributes {_ATTRIBUTES} where {asked} and ageInMinutes < {_minutes(call)}"
    current = f"list metriccurrent attributes {_ATTRIBUTES} where {asked}"
    answers = services.query(history, current, timeout=request.read_timeout)
    rows = {cell: [*chain.from_iterable(answer.tables)] for cell, answer in answers.good.items()}
    lines = [line for cell, found in rows.items() for line in lines_of(cell, found)]
    if not lines:
        what = f"{name} of {item}" if item else name
        question = ask_for(name, metrics()) if metric(name) is None else ""
        raise RefusedError(
            answers.problems[0] if not rows and answers.problems else f"no cell has a value of {what}",
            hint=question or f"`list metriccurrent where name like '{name}.*'` shows what there is",
        )
    types = {str(row.get("metricType") or "") for found in rows.values() for row in found}
    result = shown(finding(name, metric_meaning(name), lines, counter=types == {CUMULATIVE}))
    without = [f"{cell}: no value of {name}" for cell in rows if all(line.cell != cell for line in lines)]
    return replace(
        result,
        notes=[*result.notes, *without],
        problems=answers.problems,
        exit_code=answers.exit_code,
    )


def export(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Write the values while they are read, independent of `set format`; return notes about them.

    Raises:
        StatementError: the history is wanted in a form that has only one value of each metric.
    """
    form, like = call.own_format(session.options.format), call.text_arg("like")
    past = "last" in call.args
    if past and form == "prometheus":
        raise StatementError(
            "format=prometheus gives the current value of each metric, so last= is not allowed",
            hint="format=csv and format=jsonl give the history",
        )
    clauses = [f"name like '{_plain(like)}'"] if like else []
    if past:
        clauses.append(f"ageInMinutes < {_minutes(call)}")
    subject = "metrichistory" if past else "metriccurrent"
    where = f" where {' and '.join(clauses)}" if clauses else ""
    answers = services.query(
        f"list {subject} attributes {_ATTRIBUTES}{where}", in_pieces=True, timeout=request.read_timeout
    )
    tables = {cell: answer.tables[0] for cell, answer in answers.good.items()}
    if form == "prometheus":
        lines = exposition(
            {cell: rows.__iter__ for cell, rows in tables.items()},
            metric_meaning,
            lambda name: _type(name) == CUMULATIVE,
        )
    else:
        lines = _rows(tables, form)
    written = 0
    while not session.interrupted.is_set() and (some := list(islice(lines, _AT_ONCE))):
        services.console.data("".join(f"{line}\n" for line in some))
        written += len(some)
    problems, code = list(answers.problems), answers.exit_code
    if session.interrupted.is_set():
        problems.append("interrupted: not all values were written")
        code = ExitCode.INTERRUPTED
    title = int(form == "csv")
    question = ask_for(like, metrics()) if like and metric(like) is None else ""
    if "%" in like:
        question = f"a pattern is a regular expression, as in CellCLI: `{like.replace('%', '.*')}`"
    empty = "; ".join(filter(None, (f"no cell has a value of {like}" if like else "no values", question)))
    return Result(problems=problems, notes=[] if written > title or problems else [empty], exit_code=code)


_AT_ONCE = 256
"""Lines that are written at a time."""

_KEYS = ("cell", "name", "metricObjectName", "metricValue", "unit", "metricType", "collectionTime")


def _rows(tables: Mapping[str, Iterable[Mapping[str, Any]]], form: str) -> Iterator[str]:
    if form == "csv":
        yield from titles(form, _KEYS)
    look = FORMS[form]
    for cell, rows in tables.items():
        for row in rows:
            record = {**{key: row.get(key) for key in _KEYS}, "cell": cell}
            if form == "jsonl":
                yield json_record(record)
            else:
                yield look.between.join(look.field(key, value) for key, value in record.items())


def _type(name: str) -> str:
    known = metric(name)
    return known.metric_type if known is not None else ""


def _minutes(call: Call) -> int:
    return max(1, ceil(call.float_arg("last", 3600) / 60))


def _plain(text: str) -> str:
    """Return a text that is put between single quotes.

    Raises:
        StatementError: the text contains a single quote.
    """
    if "'" in text:
        raise StatementError(f"{text}: a name or a pattern can't contain a single quote", hint="leave the quote out")
    return text
