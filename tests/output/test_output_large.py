"""Answers that are read from disk and written in pieces look as those that are held in memory."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.pieces import Pieces, XmlPieces, cut, holds, look_through, text_blocks
from exacell.cellcli.reply import errors, read_xml, stray_line, values
from exacell.cellcli.rows import LargeRows, Part, TypedRows, joined, read_rows
from exacell.cellcli.tables import Table, TypedTable
from exacell.core.errors import ReplyError
from exacell.output.render import lines, render
from exacell.output.result import Column, Result

COLUMNS = ("name", "metricObjectName", "metricValue", "collectionTime")
OBJECT = "METRICHISTORY"
MACHINE = ("csv", "tsv", "md", "json", "jsonl", "yaml")
CUTS = (1, 7, 64, 1 << 20)

TEXTS = {
    "plain": "".join(
        f"\t CD_IO_RQ_R_LG\t CD_{n:02d}_c\t {n * 1234567:,}.{n:03d} IO requests\t 2026-11-24T13:{n:02d}:00+01:00\n"
        for n in range(40)
    ),
    "odd": '\t a\t "two\n words"\t 1 MB\t x,y|z\n\n\t b\t \t 2.5 MB/sec\t "q""u\\o"\r\n\t ü\t \t\t \n\t c\t d\t none\t <&>\n',
    "few": "\t N_MB_SENT\t ib0\t 0.000 MB\t 2026-11-24T13:00:00+01:00\n",
    "numbers": "\t a\t b\t 1\t 5\n\t a\t b\t -2,000.5\t 77\n",
    "absent": "\t a\t\t\t\n\t b\t\t\t\n",
}

XML = '<?xml version="1.0" encoding="utf-8" ?>\n<cli-output>\n<context cell="c" realm=""/>\n{}</cli-output>\n'


def record(name: str, value: str, more: str = "", thing: str = "CD_00_c") -> str:
    return (
        f"<metric> <name>{name}</name>\n<metricObjectName>{thing}</metricObjectName>\n<metricValue>{value}</metricValue>\n"
        f"<collectionTime>1618139991000</collectionTime>\n{more}</metric>\n"
    )


VALUES = ("0.0", "1204.53125", "17", "1.0E-7", "1e-07", "-3.5", "", " 2.50 ", "NaN", "1,234.5", "00.5", "4 MB")
DOCUMENTS = {
    "plain": XML.format("".join(record("CD_IO_RQ_R_LG", f"{n}.5") for n in range(40))),
    "values": XML.format("".join(record("FC_IO_BY_R_SEC", value) for value in VALUES)),
    "mixed": XML.format(
        record("a", "1")
        + record("b", "2", "<alertState>normal</alertState>")
        + record("x &amp; &lt;y&gt;", "3", thing="ü, |")
    ),
    "blanks": XML.format(
        record("a", "1").replace("\n", "\r\n\t ") + record("b", "2").replace("\n", "\u00a0\n") + record("c", " 3\n")
    ),
    "none": XML.format(""),
    "one attribute": XML.format("<metric> <name>a</name>\n</metric>\n<metric> <name>b</name>\n</metric>\n"),
}


def in_pieces(text: str, size: int) -> Pieces:
    data = text.encode()
    return lambda: (data[place : place + size] for place in range(0, len(data), size))


def rows_of_texts(texts: dict[str, str], size: int, *, typed: bool) -> LargeRows:
    parts = [Part(cell, partial(text_blocks, in_pieces(text, size), COLUMNS, OBJECT)) for cell, text in texts.items()]
    return LargeRows(COLUMNS, parts, object_type=OBJECT if typed else "")


def rows_of_xml(texts: dict[str, str], size: int) -> LargeRows:
    tables = []
    for cell, text in texts.items():
        document = XmlPieces(in_pieces(text, size))
        parts = [Part(cell, partial(document.blocks, document.names))]
        tables.append(LargeRows(document.names, parts, object_type=OBJECT))
    return joined(tables)


def written(records: Sequence[object], form: str, columns: Sequence[Column] = (), *, header: bool = True) -> str:
    stream = io.StringIO()
    render(Result(records=records, columns=columns, data=True), form, stream, header=header)  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("size", CUTS)
@pytest.mark.parametrize("name", TEXTS)
def test_texts_in_pieces_are_read_as_whole_ones(name: str, size: int) -> None:
    """Rows cut anywhere are the rows of the whole text, and a table of them is the same table."""
    texts = {"c1": TEXTS[name], "c2": TEXTS["plain"]}
    if name == "numbers":
        texts = {"c1": TEXTS[name]}
    large, small = rows_of_texts(texts, size, typed=False), read_rows(texts, COLUMNS, OBJECT)
    assert list(large) == list(small) and len(large) == len(small) and bool(large) is bool(small)
    assert (large[0], large[-1], large[1:3]) == (small[0], small[-1], small[1:3])
    columns = [Column("cell"), *map(Column, COLUMNS)]
    for header in (True, False):
        assert written(large, "table", columns, header=header) == written(small, "table", columns, header=header)


@pytest.mark.parametrize("form", MACHINE)
@pytest.mark.parametrize("name", TEXTS)
def test_typed_texts_are_written_as_records(name: str, form: str) -> None:
    """Each format writes texts with types from disk as it writes records, with titles and without."""
    texts = {"c1": TEXTS[name], "c2": TEXTS["plain"]}
    small = [{**values(dict(row), OBJECT), "cell": row["cell"]} for row in read_rows(texts, COLUMNS, OBJECT)]
    whole = [
        {key: row.get(key) for key in ("cell", "name", "metricObjectName", "metricValue", "unit", "collectionTime")}
        for row in small
    ]
    large = rows_of_texts(texts, 64, typed=True)
    assert list(large) == whole
    for header in (True, False):
        assert written(large, form, header=header) == written(whole, form, header=header)
    assert list(lines(Result(records=large, data=True), form)) == written(whole, form).split("\n")[:-1]


@given(st.lists(st.sampled_from([b"", b"C", b"CE", b"ELL", b"LL-", b"-", b"L", b"xCELL", b"CELL-"]), max_size=8))
def test_a_word_is_found_wherever_it_is_cut(pieces: list[bytes]) -> None:
    """A word is found in pieces exactly if it is in the whole."""
    assert holds(lambda: iter(pieces), b"CELL-") is (b"CELL-" in b"".join(pieces))


@pytest.mark.parametrize("size", CUTS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_xml_in_pieces_is_read_as_a_whole_document(name: str, size: int) -> None:
    """Each format writes XML from disk as it writes the records of the whole document; an absent attribute is null."""
    text = DOCUMENTS[name]
    large = rows_of_xml({"c1": text}, size)
    typed = [values(one, OBJECT) for one in read_xml(text)]
    whole = [{"cell": "c1", **{key: row.get(key) for key in large.keys}} for row in typed]
    assert set(large.keys) == {key for row in typed for key in row}
    assert list(large) == whole
    for form in MACHINE if whole else ():
        assert written(large, form) == written(whole, form)
    if whole:
        asked = ["name", "metricValue", "unit", "nix"]
        chosen = [{"cell": "c1", **{key: row.get(key) for key in asked}} for row in typed]
        assert written(large.with_keys(asked), "jsonl") == written(chosen, "jsonl")
    columns = [Column(key) for key in large.keys]
    if name in ("plain", "mixed"):
        assert written(large, "table", columns).split() == written(whole, "table", columns).split()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DOCUMENTS["plain"].removesuffix("</cli-output>\n"), "cut short"),
        (DOCUMENTS["plain"] + "more", "more text after its end"),
        (DOCUMENTS["plain"] + DOCUMENTS["plain"], "more text after its end"),
        (XML.format(record("a", "1") + record("b\x07", "2")), "control characters"),
        (XML.format(record("a", "1") + record("b & c", "2")), "cannot be read"),
        (XML.format(record("a", "1") + "<metric> <name>b</nam></metric>"), "cannot be read"),
        ("Last login: today\n", "was asked for XML and answered 'Last login"),
        ("", "was asked for XML"),
    ],
)
def test_what_is_no_whole_document_is_told_before_a_row_is_used(text: str, said: str) -> None:
    """A document that is cut short, has more behind it, or is no XML is an error wherever it is cut."""
    for size in CUTS:
        with pytest.raises(ReplyError, match=said):
            XmlPieces(in_pieces(text, size))


@pytest.mark.parametrize("size", CUTS)
@pytest.mark.parametrize(
    "text",
    [
        *TEXTS.values(),
        "\t a\nCELL-01514: no MS\n\t b\n",
        "Last login\nnow\n",
        "\t a\x1b[2J\n\t b\n",
        "a\nb\n",
        "",
        "\n\n",
    ],
)
def test_errors_and_strange_lines_are_found_in_pieces(text: str, size: int) -> None:
    """Errors of the cell and lines that CellCLI never prints are found as in the whole text."""
    for indents in (True, False):
        looked = look_through(in_pieces(text, size), indents=indents)
        assert (looked.errors, looked.stray, looked.lines) == (
            errors(text),
            stray_line(text, indents=indents),
            text.count("\n"),
        )


def test_a_row_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that never ends a row is no answer, and is not gathered in memory to its end."""
    monkeypatch.setattr("exacell.cellcli.pieces.LONGEST_ROW", 1000)
    taken: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(1)
            yield b"x" * 100

    with pytest.raises(ReplyError, match="without the end of a row"):
        list(cut(endless(), b"\n", 1))
    assert len(taken) == 11


def test_what_a_row_has_beyond_its_columns_is_kept() -> None:
    """A column more than was asked for stays behind a TAB in the last one."""
    rows = LargeRows(
        ("a", "b"), [Part("c", partial(text_blocks, in_pieces("\t 1\t 2\t 3\n\t 4\t 5\n", 99), ("a", "b"), ""))]
    )
    assert list(rows) == [{"cell": "c", "a": "1", "b": "2\t3"}, {"cell": "c", "a": "4", "b": "5"}]


class _Nowhere(io.StringIO):
    def write(self, text: str) -> int:
        return len(text)


def peak_of(form: str, pieces: int) -> int:
    """Return the most bytes that writing an answer of so many pieces takes at a time."""
    row = TEXTS["plain"].split("\n")[1] + "\n"
    piece = (row * 2000).encode()

    def read() -> Iterator[bytes]:
        for _ in range(pieces):
            yield piece

    rows = LargeRows(COLUMNS, [Part("c", partial(text_blocks, read, COLUMNS, OBJECT))])
    result = Result(records=rows, data=True)
    if form == "raw":
        result = Result(pieces=[("c", lambda: map(bytes.decode, cut(read(), b"\n", 1)))], named=True)
    tracemalloc.start()
    try:
        render(result, form, _Nowhere())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["raw", "table", *MACHINE])
def test_memory_does_not_grow_with_the_answer(form: str) -> None:
    """An answer ten times as long takes as much memory as the shorter one."""
    peak_of(form, 2)  # What is made once is made.
    assert peak_of(form, 40) < 1.2 * peak_of(form, 4)


@pytest.mark.parametrize("keys", [(), ("name", "metricValue", "unit"), ("metricValueMax", "nix", "unit", "name")])
@pytest.mark.parametrize("form", MACHINE)
def test_typed_rows_in_memory_are_written_as_records(form: str, keys: tuple[str, ...]) -> None:
    """Each format writes answers in XML that are stored by column as it writes their records, whichever attributes are asked."""
    names = ("name", "metricValue", "metricValueMax", "metricObjectName")
    printed = [("CD_IO_RQ_R_LG", value or "0.0", "7 MB", "a,b") for value in VALUES]
    if keys:
        printed += [("x", "", "1", 'q"'), ("y", "", "", "ü")]
    more = [("metricObjectName",), ("name", "metricValue")] if keys else [names]
    tables = {"c1": TypedTable(Table(names, tuple(zip(*printed, strict=True))), OBJECT)}
    tables |= {
        f"d{n}": TypedTable(Table(some, (("FC_IO_BY_R_SEC", "0.25"),) * len(some)), OBJECT)
        for n, some in enumerate(more)
    }
    rows = TypedRows.of({**tables, "none": ()}, keys)
    assert rows is not None
    whole: list[dict[str, object]] = [{"cell": cell, **record} for cell, table in tables.items() for record in table]
    if keys:
        whole = [{"cell": row["cell"], **{key: row.get(key) for key in keys}} for row in whole]
    assert list(rows) == whole and len(rows) == len(whole)
    for header in (True, False):
        assert written(rows, form, header=header) == written(whole, form, header=header)
    assert list(lines(Result(records=rows, data=True), form)) == written(whole, form).removesuffix("\n").split("\n")


def test_records_that_differ_are_not_stored_as_typed_rows() -> None:
    """Answers without a common form, or with an attribute `cell`, are no typed rows."""
    plain = TypedTable(Table(("name", "metricValue"), (("a",), ("1",))), OBJECT)
    empty = TypedTable(Table(("name", "metricValue"), (("a",), ("",))), OBJECT)
    named = TypedTable(Table(("cell", "name"), (("a",), ("1",))), OBJECT)
    other = TypedTable(Table(("name",), (("a",),)), OBJECT)
    assert TypedRows.of({"c1": plain}, ()) is not None
    for tables in ({"c1": empty}, {"c1": named}, {"c1": plain, "c2": other}, {"c1": ({"name": "a"},)}, {"c1": ()}, {}):
        assert TypedRows.of(tables, ()) is None
