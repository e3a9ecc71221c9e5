"""Read XML whose records all look the same without an XML parser: exactly what the parser would read, or nothing. Pure.

CellCLI prints all records of one LIST alike: the same attributes in the same order, with the same blanks between them. A
pattern made from the first record then finds all of them; if the matches are as long as the whole, there is nothing else.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from exacell.core.patterns import pattern

_NAME = "[A-Za-z_][A-Za-z0-9_.-]*"
_BLANKS = "[ \t\n]*"
_FIRST = pattern(rf"{_BLANKS}(<({_NAME})>{_BLANKS})")
_CHILD = pattern(rf"<({_NAME})>[^<]*</\1>({_BLANKS})")
_HEAD = pattern(
    rf'<\?xml version="1\.0"(?: encoding="(?i:utf-8)")? ?\?>{_BLANKS}<cli-output>{_BLANKS}'
    rf'(?:<context((?: {_NAME}="[^"<&\t\n]*")*) ?/>{_BLANKS})?'
)
_PAIR = pattern(rf' ({_NAME})="([^"]*)"')
_END = "</cli-output>"
_SIGNS = bytes([*b"\t\n", *range(0x20, 0x7F)])
"""The characters that a document may have; the parser would change or refuse some of the others."""


class Plain(NamedTuple):
    """One document whose records look the same.

    Attributes:
        context: the attributes of ``context`` (cell, realm, …).
        names: the attributes of the records, all different.
        columns: their values by column, without blanks around them; at least one row.
    """

    context: dict[str, str]
    names: tuple[str, ...]
    columns: tuple[list[str], ...]


def plain_document(text: str) -> Plain | None:
    """Return a document that begins a text; None if it has to be read by an XML parser."""
    head = _HEAD.match(text)
    end = text.find(_END)
    if head is None or end < 0 or text.find(_END, end + 1) >= 0 or "]]>" in text or not _is_plain(text[:end]):
        return None
    context = _PAIR.findall(head[1] or "")
    found = _records(text[head.end() : end])
    if found is None or len(dict(context)) < len(context):
        return None
    return Plain(dict(context), *found)


def _is_plain(text: str) -> bool:
    return text.isascii() and not text.encode("ascii").translate(None, _SIGNS)


def _records(text: str) -> tuple[tuple[str, ...], tuple[list[str], ...]] | None:
    """Return the attributes and the values of records that look the same; None if a text is anything else."""
    first = _FIRST.match(text)
    # Looking for & by itself is faster than in each value.
    if first is None or first[2] == "context" or "&" in text:
        return None
    start, close = first.end(), f"</{first[2]}>"
    end = text.find(close, start)
    children = list(_CHILD.finditer(text, start, max(end, start)))
    names = tuple(child[1] for child in children)
    if not names or sum(len(child[0]) for child in children) != end - start or len(set(names)) < len(names):
        return None
    again = _FIRST.match(text, end + len(close))
    between = text[end + len(close) : again.start(1)] if again is not None else "\n"
    apart = [f"</{child[1]}>{child[2]}" for child in children]
    # The text around the values of a record, and the text between two records.
    around = [f"{first[1]}<{names[0]}>"]
    around += [f"{before}<{name}>" for before, name in zip(apart, names[1:], strict=False)]
    around.append(f"{apart[-1]}{close}{between}")
    rows = re.findall("([^<]*)".join(map(re.escape, around)), body := text.strip() + between)
    columns = [(row,) for row in rows] if len(names) == 1 else rows
    values = tuple(list(column) for column in zip(*columns, strict=True))
    found = len(rows) * sum(map(len, around)) + sum(len("".join(column)) for column in values)
    if not rows or found != len(body):
        return None
    return names, tuple([value.strip() for value in column] for column in values)
