"""XML that is read without a parser is read as the parser reads it, and its values get the same types."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

from exacell.cellcli.reply import read_xml_documents
from exacell.cellcli.schema import values
from exacell.cellcli.tables import Table, TypedTable
from exacell.cellcli.xmlshape import plain_document

HEAD = '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c1" realm="" ossStartTimestamp="17"/>\n'
END = "</cli-output>\n"


def record(*pairs: tuple[str, str], tag: str = "metric") -> str:
    return f"<{tag}> " + "\n".join(f"<{name}>{value}</{name}>" for name, value in pairs) + f"\n</{tag}>\n"


def metric(name: str, value: str) -> str:
    return record(("name", name), ("metricValue", value), ("collectionTime", "1618139991000"))


def parsed(text: str) -> tuple[dict[str, str], list[dict[str, str]]] | None:
    """Return context and records by the XML parser alone; None where it refuses the document."""
    try:
        root = ElementTree.fromstring(text[: text.rindex("</cli-output>") + len("</cli-output>")].encode())
    except (ElementTree.ParseError, ValueError):
        return None
    context = {key: value for element in root if element.tag == "context" for key, value in element.attrib.items()}
    records = [
        {child.tag: "".join(child.itertext()).strip() for child in element}
        for element in root
        if element.tag != "context"
    ]
    return context, records


PLAIN = {
    "one": HEAD + metric("a", "1") + END,
    "many": HEAD + "".join(metric("FC_IO_BY_R_SEC", f"{n}.5") for n in range(30)) + END,
    "empty values": HEAD + metric("", " 1 ") + metric("b", "") + END,
    "one attribute": HEAD + "".join(record(("name", name)) for name in "abc") + END,
    "no blanks": '<?xml version="1.0"?><cli-output><a><b>1</b><c>2</c></a><a><b>3</b><c>4</c></a></cli-output>',
    "more behind": HEAD + metric("a > b", '"x"') + END + "CELL-00001: later\n",
}
ODD = {
    "a tag that an attribute has too": HEAD + record(("metric", "1"), ("name", "2")) * 2 + END,
    "context": HEAD + record(("a", "1"), tag="context") + END,
    "escape": HEAD + metric("a &amp; b", "1") + END,
    "another record": HEAD + metric("a", "1") + record(("name", "b")) + END,
    "another order": HEAD + record(("a", "1"), ("b", "2")) + record(("b", "1"), ("a", "2")) + END,
    "another tag": HEAD + metric("a", "1") + metric("b", "2").replace("metric>", "other>") + END,
    "other blanks": HEAD + metric("a", "1") + metric("b", "2").replace("\n", "  ") + END,
    "text between": HEAD + metric("a", "1") + "X" + metric("b", "2") + END,
    "text instead of a blank": HEAD + metric("a", "1")[:-1] + "X" + metric("b", "2") + END,
    "comment": HEAD + metric("a", "1") + "<!-- c -->\n" + metric("b", "2") + END,
    "cdata": HEAD + metric("a", "<![CDATA[<x>]]>") + END,
    "end of cdata": HEAD + metric("a", "]]>") + END,
    "child": HEAD + metric("a", "<b>1</b>") + END,
    "twice": HEAD + record(("a", "1"), ("a", "2")) + END,
    "return": HEAD + metric("a", "x\r\ny") + END,
    "control": HEAD + metric("a", "\x01") + END,
    "delete": HEAD + metric("a", "\x7f") + END,
    "beyond ascii": HEAD + metric("ü", "1") + END,
    "attribute": HEAD + metric("a", "1").replace("<metric>", '<metric x="1">') + END,
    "entity in the context": HEAD.replace('realm=""', 'realm="&lt;"') + metric("a", "1") + END,
    "context twice": HEAD.replace('realm=""', 'cell="x"') + metric("a", "1") + END,
    "another encoding": HEAD.replace("utf-8", "latin-1") + metric("a", "1") + END,
    "name": HEAD + record(("1a", "1")) + END,
    "end twice": HEAD + metric("a", "1") + END + END,
    "cut": HEAD + metric("a", "1")[:-12],
    "cut with an end": HEAD + metric("a", "1")[:-12] + END,
    "none": HEAD + END,
}


@pytest.mark.parametrize("name", PLAIN)
def test_records_that_look_the_same_are_read_as_the_parser_reads_them(name: str) -> None:
    """A document of equal records needs no parser, and has the parser's context and records."""
    plain = plain_document(PLAIN[name])
    assert plain is not None
    assert (plain.context, list(Table(plain.names, plain.columns))) == parsed(PLAIN[name])


@pytest.mark.parametrize("name", ODD)
def test_anything_else_is_left_to_the_parser(name: str) -> None:
    """A document that has anything but equal records without escapes is never read without the parser."""
    assert plain_document(ODD[name]) is None


_PIECES = [
    "<metric>", "</metric>", "<name>", "</name>", "<metricValue>", "</metricValue>", " ", "\n", "a", "17.5", "&", "<", "]]>",
    metric("a", "1"), metric("b", ""), record(("name", "x")), "\r", "é", "<!---->", "</cli-output>",
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=8), st.integers(0, 400), st.sampled_from(_PIECES))
def test_whatever_is_read_without_the_parser_the_parser_reads_too(pieces: list[str], place: int, odd: str) -> None:
    """No text, broken at any place, is read without the parser as anything else than the parser reads."""
    body = "".join(pieces) + metric("c", "2") + metric("d", "3")
    for text in (HEAD + body + END, HEAD + body[:place] + odd + body[place:] + END):
        plain = plain_document(text)
        if plain is not None:
            assert (plain.context, list(Table(plain.names, plain.columns))) == parsed(text)
            (document,) = read_xml_documents(text)
            assert list(document.records) == list(Table(plain.names, plain.columns))


_NAMES = ("name", "metricValue", "metricValueMax", "collectionTime", "metricObjectName", "unit", "size", "strange")
_TEXTS = ("", "0.0", "1204.5", "4 MB", "1,234 IO requests", "CD_IO_RQ_R_LG", "1618139991000", "NaN", "true", "a, b")


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from(["METRICHISTORY", "METRICCURRENT", "GRIDDISK", "ALERTHISTORY", "PHYSICALDISK"]))
def test_types_by_column_are_the_types_of_each_record(data: st.DataObject, object_type: str) -> None:
    """A table with types has the records, with their attributes in order, that each of its records gives with types."""
    names = data.draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=5, unique=True))
    rows = data.draw(st.lists(st.tuples(*[st.sampled_from(_TEXTS)] * len(names)), min_size=1, max_size=6))
    table = Table(names, tuple(zip(*rows, strict=True)))
    each = [values(one, object_type) for one in table]
    typed = TypedTable(table, object_type)
    assert [list(one.items()) for one in typed] == [list(one.items()) for one in each]
    assert len(typed) == len(each) and typed == each and typed[0] == each[0]
