"""The XML functions of the emulated SQL: EXTRACT, EXTRACTVALUE, XMLSEQUENCE and XMLTABLE over texts.

A path is steps with slashes, ``//``, ``@name``, ``text()`` and the predicates that ElementTree knows. Source: Oracle
Database SQL Language Reference, EXTRACT (XML), EXTRACTVALUE, XMLSEQUENCE, XMLTABLE.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.etree import ElementTree

from exacell.emulator.basics.ora_messages import OraError, ora


@lru_cache(maxsize=256)
def _parsed(text: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError:
        raise OraError(ora(31011)) from None


def nodes(text: str, path: str) -> list[ElementTree.Element | str]:
    """Return the nodes that a path finds: elements, or texts for ``text()`` and ``@name``.

    Raises:
        OraError: ORA-31011 if the text is not XML; ORA-31013 if the path is wrong.
    """
    plain = re.sub(r"\s*/\s*", "/", path.strip())
    plain = f"./{plain}" if plain.startswith("@") or plain == "text()" else plain
    plain, _, last = plain.rpartition("/") if re.search(r"/(?:text\(\)|@[\w.-]+)$", plain) else (plain, "", "")
    found = _elements(_parsed(text), plain)
    if last == "text()":
        return [element.text for element in found if element.text and element.text.strip()]
    if last:
        return [value for element in found if (value := element.get(last[1:])) is not None]
    return list(found)


def _elements(root: ElementTree.Element, path: str) -> list[ElementTree.Element]:
    if path == ".":
        return [root]
    try:
        if path.startswith("//"):
            holder = ElementTree.Element("holder")
            holder.append(root)
            return holder.findall(f".{path}")
        first, _, rest = path.lstrip("/").partition("/")
        name = re.sub(r"\[.*", "", first)
        if path.startswith("/") and name not in ("*", root.tag):
            return []
        if not path.startswith("/"):
            return root.findall(path)
        return root.findall(rest) if rest else [root]
    except (SyntaxError, KeyError):
        raise OraError(ora(31013)) from None


def extracted(text: str, path: str) -> str | None:
    """Return the result of EXTRACT: the nodes one after the other; None if there are none."""
    return "".join(_text_of(node) for node in nodes(text, path)) or None


def _text_of(node: ElementTree.Element | str) -> str:
    if isinstance(node, str):
        return node.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    copy = ElementTree.Element(node.tag, node.attrib)
    copy.text = node.text
    copy.extend(node)
    return ElementTree.tostring(copy, encoding="unicode").strip()


def one_value(text: str, path: str) -> str | None:
    """Return the result of EXTRACTVALUE.

    Raises:
        OraError: ORA-19025 if there are several nodes; ORA-19026 if the node contains others.
    """
    found = nodes(text, path)
    if len(found) > 1:
        raise OraError(ora(19025))
    if not found:
        return None
    node = found[0]
    if isinstance(node, str):
        return node.strip()
    if len(node):
        raise OraError(ora(19026))
    return (node.text or "").strip() or None


def sequence(text: str) -> list[str]:
    """Return the nodes that follow one another in a text, each as a text."""
    return [_text_of(node) for node in _parsed(f"<all>{text}</all>")]


def table(text: str, path: str, columns: tuple[tuple[str, str], ...]) -> list[tuple[str | None, ...]]:
    """Return the rows of XMLTABLE: for each node at ``path``, the values at the columns' paths."""
    rows: list[tuple[str | None, ...]] = []
    for node in nodes(text, path):
        if isinstance(node, str):
            rows.append(tuple(node for _ in columns))
        else:
            inner = ElementTree.tostring(node, encoding="unicode")
            rows.append(tuple(one_value(inner, way) if way != "." else node.text for _, way in columns))
    return rows
