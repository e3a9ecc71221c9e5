"""Sources of queries with rows made from an XML text in the rows before them: XMLSEQUENCE and XMLTABLE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.emulator.sql import tree
from exacell.emulator.sql.expressions import Expressions
from exacell.emulator.sql.scope import COLUMN_VALUE, Env, ResultColumn, Row, Scope
from exacell.emulator.sql.types import cast_type, cast_value
from exacell.emulator.sql.values import char, to_text
from exacell.emulator.sql.xml import sequence, table


def xml_columns(source: tree.XmlRows) -> tuple[ResultColumn, ...]:
    """Return the columns of a source of rows from XML.

    Raises:
        OraError: ORA-00902 if a column's type is unknown.
    """
    if not source.columns:
        return (ResultColumn(COLUMN_VALUE, char(4000)),)
    return tuple(ResultColumn(name, cast_type(kind, width)) for name, kind, width, _ in source.columns)


def xml_rows(source: tree.XmlRows, expressions: Expressions, scope: Scope) -> Callable[[Env], Sequence[Row]]:
    """Return a function that makes the rows of a source from XML."""
    document, _ = expressions.value(source.document, scope)
    columns = tuple((name, path) for name, _, _, path in source.columns)
    types = [cast_type(kind, width) for _, kind, width, _ in source.columns]
    date_format = expressions.settings.date_format

    def rows(env: Env) -> Sequence[Row]:
        text = to_text(document(env))
        if text is None:
            return ()
        if not source.path:
            return [(node,) for node in sequence(text)]
        if not columns:
            return [(value,) for (value,) in table(text, source.path, ((COLUMN_VALUE, "."),))]
        found = table(text, source.path, columns)
        return [tuple(cast_value(v, kind, date_format) for v, kind in zip(row, types, strict=True)) for row in found]

    return rows
