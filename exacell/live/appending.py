"""Turn a series of answers into text for files and pipes. Pure but for the time of each answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from io import StringIO

from exacell.output.folding import each_cell_apart
from exacell.output.formats import keys_of
from exacell.output.render import render
from exacell.output.result import Result


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


class Appending:
    """Turns answers into text that can be appended to the text before.

    table: a line ``-- time`` before each answer. jsonl, csv, tsv: records with ``at`` after ``cell``; csv and tsv have titles
    once, and the columns of the first answer. json, yaml, md: one document per answer. raw: the text as the cells print it.

    Args:
        columns: returns the present width of the terminal that shows the answers; None for a file or a pipe.
        folds: whether equal cells are shown once; None means only on a terminal.
    """

    def __init__(
        self,
        format: str,
        *,
        header: bool = True,
        now: Callable[[], str] = _now,
        columns: Callable[[], int | None] = lambda: None,
        folds: bool | None = None,
    ) -> None:
        self._format = format
        self._header = header
        self._now = now
        self._columns = columns
        self._folds = folds
        self._keys: list[str] = []

    def text(self, result: Result) -> str:
        """Return the text of the next answer."""
        at = self._now()
        buffer = StringIO()
        if self._format in ("table", "raw"):
            if self._format == "table":
                buffer.write(f"-- {at}\n")
            width = self._columns()
            shown = result if self._folds or (self._folds is None and width is not None) else each_cell_apart(result)
            render(shown, self._format, buffer, width=width, header=self._header)
            return buffer.getvalue()
        records = [
            {"cell": record.get("cell"), "at": at, **{key: value for key, value in record.items() if key != "cell"}}
            for record in result.records
        ]
        again = bool(self._keys)
        if self._format in ("csv", "tsv") and records:
            self._keys = self._keys or keys_of(records)
            records = [{key: record.get(key) for key in self._keys} for record in records]
        elif self._format in ("csv", "tsv"):
            return ""
        header = self._header and not (again and self._format in ("csv", "tsv"))
        if self._format == "yaml":
            buffer.write("---\n")
        render(replace(result, records=records, draw=None, data=True, columns=()), self._format, buffer, header=header)
        return buffer.getvalue()
