"""The forms that programs read: json, jsonl, csv, tsv, yaml, md. Pure: records in, lines out.

Sizes are integer bytes, absent values are null (or empty), and ``cell`` comes first. What is not a number in JSON
(NaN, infinity) becomes null. Line ends are LF everywhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import category

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


_UNSEEN = re.compile(r"[^\x20-\x7e]")


def _escaped(text: str, *, yaml: bool = False) -> str:
    """Return JSON with escapes for control and format characters in its texts: what they say stays the same to the last sign.

    Args:
        yaml: it is read as YAML, which has an escape of its own for signs beyond 16 bits. Source: YAML 1.2.2, 5.7.
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
    """Return an attribute as it stands in a record of JSON."""
    return _escaped(
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)}"
    )


def as_json(records: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of one JSON array, one record a line."""
    if not records:
        yield "[]"
        return
    last = len(records) - 1
    for index, record in enumerate(records):
        yield ("[" if index == 0 else " ") + json_record(record) + ("]" if index == last else ",")


def as_jsonl(records: Sequence[Record]) -> Iterator[str]:
    """Yield one JSON object a line."""
    for record in records:
        yield json_record(record)


def flat(value: Any) -> str:
    """Return ``value`` as one field of text: None is empty, sequences are joined with commas, floats are shortest."""
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


def as_csv(records: Sequence[Record], *, header: bool = True) -> Iterator[str]:
    """Yield CSV with a header line; quoting as RFC 4180 has it. A quoted field may hold line ends."""
    keys = keys_of(records)
    if header and keys:
        yield csv_line(keys)
    for record in records:
        yield csv_line([flat(record.get(key)) for key in keys])


def csv_line(fields: Sequence[str]) -> str:
    """Return a line of CSV."""
    # A line of one empty field is quoted: readers skip an empty line.
    return ",".join(map(csv_field, fields)) or '""'


def csv_field(text: str) -> str:
    """Return a field of CSV, quoted where it has to be."""
    if "," in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


_TSV = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def tsv_field(text: str) -> str:
    """Return a field of TSV."""
    return text.translate(_TSV)


def as_tsv(records: Sequence[Record], *, header: bool = True) -> Iterator[str]:
    r"""Yield tab-separated lines with a header; tab, newline and backslash in a value become ``\t``, ``\n``, ``\\``."""
    keys = keys_of(records)
    if header and keys:
        yield "\t".join(keys)
    for record in records:
        yield "\t".join(tsv_field(flat(record.get(key))) for key in keys)


def md_field(text: str) -> str:
    """Return a field of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", "<br>")


def as_md(records: Sequence[Record], *, header: bool = True) -> Iterator[str]:
    """Yield a Markdown pipe table."""
    keys = keys_of(records)
    if not keys:
        return
    if header:
        yield from md_titles(keys)
    for record in records:
        cells = (md_field(flat(record.get(key))) for key in keys)
        yield "| " + " | ".join(cells) + " |"


def md_titles(keys: Sequence[str]) -> Iterator[str]:
    """Yield the two lines of titles of a Markdown table."""
    yield "| " + " | ".join(keys) + " |"
    yield "|" + "|".join(" --- " for _ in keys) + "|"


def as_yaml(records: Sequence[Record]) -> Iterator[str]:
    """Yield a YAML sequence of mappings; every text is double-quoted, as JSON writes it, which YAML 1.2 reads alike."""
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
    """Return an attribute as it stands in a mapping of YAML."""
    return f"{_yaml_key(key)}: {_escaped(json.dumps(json_value(value), ensure_ascii=False), yaml=True)}"


def _yaml_key(key: str) -> str:
    return (
        key
        if key.isidentifier() and key.lower() not in ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
        else json.dumps(key)
    )
