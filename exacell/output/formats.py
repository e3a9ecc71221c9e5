"""Write records in the formats for programs: json, jsonl, csv, tsv, yaml, md. Pure: records in, lines out.

Sizes are integer bytes, absent values are null (or empty), and ``cell`` comes first. NaN and infinity become null in JSON.
Line ends are LF everywhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category

from exacell.core.patterns import pattern
from exacell.core.values import dataclass

Record = Mapping[str, Any]


def keys_of(records: Sequence[Record]) -> list[str]:
    """Return every key of ``records`` in order of first appearance, ``cell`` first when any record has it."""
    keys = dict.fromkeys(key for record in records for key in record)
    if "cell" in keys:
        return ["cell", *(key for key in keys if key != "cell")]
    return list(keys)


def json_value(value: Any) -> Any:
    """Return ``value`` as JSON can hold it: sequences as lists, NaN and infinity as None, unknown types as text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_value(part) for part in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    return str(value)


def json_record(record: Record) -> str:
    """Return one record as one line of JSON, ``cell`` first."""
    ordered = {key: json_value(record[key]) for key in keys_of([record])}
    return _escaped(json.dumps(ordered, ensure_ascii=False, allow_nan=False))


_UNSEEN = pattern(r"[^\x20-\x7e]")


def _escaped(text: str, *, yaml: bool = False) -> str:
    """Return JSON with its control and format characters escaped, so that its texts keep every character.

    Args:
        yaml: whether it is read as YAML, which has its own escape for characters beyond 16 bits. Source: YAML 1.2.2, 5.7.
    """
    if text.isprintable():
        return text

    def escape(found: re.Match[str]) -> str:
        sign = found[0]
        if sign.isprintable() or category(sign) == "Zs":
            return sign
        if yaml and ord(sign) > 0xFFFF:
            return f"\\U{ord(sign):08x}"
        return json.dumps(sign)[1:-1]

    return _UNSEEN.sub(escape, text)


def json_field(key: str, value: Any) -> str:
    """Return an attribute with its value as a JSON record contains it."""
    return _escaped(
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)}"
    )


def as_json(records: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of one JSON array, one record per line."""
    if not records:
        yield "[]"
        return
    last = len(records) - 1
    for index, record in enumerate(records):
        yield ("[" if index == 0 else " ") + json_record(record) + ("]" if index == last else ",")


def as_jsonl(records: Sequence[Record]) -> Iterator[str]:
    """Yield one JSON object per line."""
    for record in records:
        yield json_record(record)


def flat(value: Any) -> str:
    """Return ``value`` as one field of text: None is empty, sequences are joined with commas, floats in shortest form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, Mapping):
        return json.dumps(json_value(value), ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return ",".join(flat(part) for part in value)
    if isinstance(value, (set, frozenset)):
        return ",".join(sorted(flat(part) for part in value))
    return str(value)


def csv_field(text: str) -> str:
    """Return a field of CSV, quoted if necessary."""
    if "," in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def tsv_field(text: str) -> str:
    """Return a field of TSV."""
    return text.translate(_TSV)


def md_field(text: str) -> str:
    """Return a field of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", "<br>")


def as_yaml(records: Sequence[Record]) -> Iterator[str]:
    """Yield a YAML sequence of mappings; every text is double-quoted as in JSON, which YAML 1.2 reads in the same way."""
    if not records:
        yield "[]"
        return
    for record in records:
        lead = "- "
        for key in keys_of([record]):
            yield f"{lead}{yaml_field(key, record[key])}"
            lead = "  "
        if lead == "- ":
            yield "- {}"


def yaml_field(key: str, value: Any) -> str:
    """Return an attribute with its value as a YAML mapping contains it."""
    return f"{_yaml_key(key)}: {_escaped(json.dumps(json_value(value), ensure_ascii=False), yaml=True)}"


def _yaml_key(key: str) -> str:
    return (
        key
        if key.isidentifier() and key.lower() not in ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
        else json.dumps(key)
    )


@dataclass(frozen=True)
class Form:
    """How a format builds a row: the text before it, between its fields and after it, and the function that makes a field."""

    lead: str
    between: str
    tail: str
    field: Callable[[str, Any], str]


FORMS: Mapping[str, Form] = {
    "csv": Form("", ",", "", lambda key, value: csv_field(flat(value))),
    "tsv": Form("", "\t", "", lambda key, value: tsv_field(flat(value))),
    "md": Form("| ", " | ", " |", lambda key, value: md_field(flat(value))),
    "json": Form(" {", ", ", "}", json_field),
    "jsonl": Form("{", ", ", "}", json_field),
    "yaml": Form("- ", "\n  ", "", yaml_field),
}
"""All formats for programs."""

TITLED = ("csv", "tsv", "md")
"""The formats with a line of titles, and the same fields in each row."""


def titles(name: str, keys: Sequence[str]) -> Iterator[str]:
    """Yield the lines above the rows of a format with titles."""
    form = FORMS[name]
    yield form.lead + form.between.join(form.field("", key) for key in keys) + form.tail
    if name == "md":
        yield "|" + "|".join(" --- " for _ in keys) + "|"


def as_rows(records: Sequence[Record], name: str, *, header: bool = True) -> Iterator[str]:
    r"""Yield the lines of a format with titles.

    CSV is quoted as in RFC 4180, and a quoted field may contain line ends; in TSV tab, newline and backslash become ``\t``,
    ``\n``, ``\\``; Markdown is a pipe table.
    """
    form, keys = FORMS[name], keys_of(records)
    if header and keys:
        yield from titles(name, keys)
    for record in records:
        fields = form.between.join(form.field(key, record.get(key)) for key in keys)
        # A line with a single empty field is quoted, because readers of CSV skip empty lines.
        yield '""' if name == "csv" and not fields else form.lead + fields + form.tail
