"""MARKUP HTML of SQL*Plus: query results as tables, and what stands around them.

Source: Oracle SQL*Plus User's Guide, "Generating HTML Reports from SQL*Plus"; published reports.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from exacell.emulator.sql.date_masks import format_date
from exacell.emulator.sql.number_masks import format_number, is_number_mask
from exacell.emulator.sql.scope import Relation
from exacell.emulator.sql.values import Kind, Value, number_text
from exacell.emulator.sqlplus.columns import ColumnFormat
from exacell.emulator.sqlplus.settings import Settings

_TABLE = "border='1' width='90%' align='center' summary='Script output'"
_STYLE = (
    "<style type='text/css'> body {font:10pt Arial,Helvetica,sans-serif; color:black; background:White;} "
    "table,tr,td {font:10pt Arial,Helvetica,sans-serif; color:Black; background:#f7f7e7; padding:0px 0px 0px 0px; "
    "margin:0px 0px 0px 0px;} th {font:bold 10pt Arial,Helvetica,sans-serif; color:#336699; background:#cccc99;} "
    "</style><title>SQL*Plus Report</title>"
)


def html_table(relation: Relation, settings: Settings, columns: Mapping[str, ColumnFormat], date_format: str) -> str:
    """Return a query's rows as an HTML table; headings are repeated at each page."""
    shown = [n for n, c in enumerate(relation.columns) if not columns.get(c.name.upper(), ColumnFormat()).hidden]
    lines = ["<p>", f"<table {settings.html_table or _TABLE}>"]
    size = max(1, settings.pagesize - 1) if settings.pagesize else len(relation.rows)
    for number, row in enumerate(relation.rows):
        if number % size == 0 and settings.heading and settings.pagesize:
            lines.append("<tr>")
            for n in shown:
                chosen = columns.get(relation.columns[n].name.upper(), ColumnFormat())
                title = relation.columns[n].name if chosen.heading is None else chosen.heading.replace("|", " ")
                lines += ['<th scope="col">', _escaped(title, settings), "</th>"]
            lines.append("</tr>")
        lines.append("<tr>")
        for n in shown:
            column = relation.columns[n]
            right = column.type.kind is Kind.NUMBER
            text = _value(row[n], columns.get(column.name.upper(), ColumnFormat()), settings, date_format)
            lines += [
                '<td align="right">' if right else "<td>",
                text.rjust(settings.numwidth) if right else text,
                "</td>",
            ]
        lines.append("</tr>")
    return "".join(f"{line}\n" for line in [*lines, "</table>", "<p>"])


def _value(value: Value, chosen: ColumnFormat, settings: Settings, date_format: str) -> str:
    if value is None:
        null = settings.null if chosen.null is None else chosen.null
        return _escaped(null, settings) or "&nbsp;"
    if isinstance(value, int | Decimal):
        masked = chosen.format is not None and is_number_mask(chosen.format)
        return format_number(value, chosen.format or "") if masked else number_text(value)
    return _escaped(format_date(value, date_format) if isinstance(value, datetime) else value, settings)


def _escaped(text: str, settings: Settings) -> str:
    return html.escape(text).replace("\n", "<br>\n") if settings.html_entmap else text


def html_head(settings: Settings, version: str) -> str:
    """Return what a report begins with."""
    head = settings.html_head or _STYLE
    return (
        '<html>\n<head>\n<meta http-equiv="Content-Type" content="text/html; charset=US-ASCII">\n'
        f'<meta name="generator" content="SQL*Plus {version}">\n{head}\n</head>\n<body {settings.html_body}>\n'
    ).replace("<body >", "<body>")


HTML_FOOT = "</body>\n</html>\n"
"""What a report ends with."""
