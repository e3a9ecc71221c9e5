"""Reading what cells print: published layouts, each also as other ways of transport leave it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli import reply
from exacell.cellcli.messages import CellError, Success, errors, is_message, successes
from exacell.core.errors import ReplyError
from tests.support.every import every

DATA = Path(__file__).parent.parent / "data" / "cellcli"
LAYOUTS = sorted(path.name for path in DATA.glob("layout_*.txt"))
NOISE = "Authorized use only: all activity is logged\nstty: standard input: Inappropriate ioctl\n"


class Layout:
    """One file: how to read it, its text with real TABs, the records that have to come out."""

    def __init__(self, name: str) -> None:
        self.name = name
        raw: list[str] = []
        self.expected: list[dict[str, object]] = []
        self.marks: set[str] = set()
        for line in (DATA / name).read_text("utf-8").splitlines():
            if line.startswith("= "):
                self.expected.append(json.loads(line[2:]))
            elif line.startswith("! ") and line.split()[1] in ("keep-tabs", "no-noise"):
                self.marks.add(line[2:])
            elif line.startswith("! "):
                self.how, self.object, *columns = line[2:].split()
                self.columns = columns[0].split(",") if columns else []
            elif not line.startswith("# "):
                raw.append(line.replace("→", "\t").replace("·", " "))
        self.text = "\n".join(raw) + "\n"

    def read(self, text: str) -> list[dict[str, object]]:
        if self.how == "columns":
            return [dict(record) for record in reply.read_columns(text, self.columns, self.object)]
        if self.how == "detail":
            return [dict(record) for record in reply.read_detail(text, self.object)]
        if self.how == "describe":
            return [asdict(row) for row in reply.read_describe(text)]
        return [dict(record) for record in reply.read_xml(text)]


def layouts(*, without: str = "") -> pytest.MarkDecorator:
    """Parametrize a test with every layout, but those that carry the mark ``without``."""
    chosen = [layout for layout in map(Layout, LAYOUTS) if without not in layout.marks]
    return pytest.mark.parametrize("layout", chosen, ids=lambda layout: layout.name)


@layouts()
def test_a_published_layout_is_read_without_loss(layout: Layout) -> None:
    """Every value of a published session comes out under its attribute."""
    assert layout.read(layout.text) == layout.expected


@layouts()
def test_line_ends_do_not_matter(layout: Layout) -> None:
    """The carriage returns that a pty adds change nothing."""
    assert layout.read(layout.text.replace("\n", "\r\n")) == layout.expected


@layouts()
def test_a_missing_last_line_end_does_not_matter(layout: Layout) -> None:
    """The last row counts also without a line end, and empty lines around the answer do not."""
    assert layout.read("\n\n" + layout.text.removesuffix("\n")) == layout.expected


# Without the leading TABs an empty first column cannot be told.
@layouts(without="keep-tabs")
def test_dcli_s_stripping_loses_nothing(layout: Layout) -> None:
    """Lines stripped on both sides, as dcli prints them, give the same records."""
    stripped = "\n".join(line.strip() for line in layout.text.splitlines())
    assert layout.read(stripped) == layout.expected


# Without any TABs a banner cannot be told from rows.
@layouts(without="no-noise")
def test_a_banner_is_no_data(layout: Layout) -> None:
    """Text that a login or a shell puts around the answer never becomes a record."""
    assert layout.read(NOISE + layout.text + "logout\n") == layout.expected


@layouts()
def test_no_published_layout_is_stray(layout: Layout) -> None:
    """A published answer, with a banner around it, is taken for an answer; without its TABs it is where those get lost."""
    tabbed = "\t" in layout.text and layout.how != "xml"
    assert reply.stray_line(NOISE + layout.text, indents=tabbed) == ""
    assert reply.stray_line(layout.text.replace("\t", " "), indents=False) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("\n \n", ""),
        ("\r\nCELL-02559: There is a communication error between MS and CELLSRV.\r\n", ""),
        ("Flash cache a_FLASHCACHE altered successfully\n", ""),
        ("-bash: cellcli: command not found\n", "-bash: cellcli: command not found"),
        ("exa1cel01 online\n", "exa1cel01 online"),
        ("\t a\t b\n\t c\x00\x07d\t e\n", "c\\x00\\x07d\\t e"),
        ("\x00" * 300, "\\x00" * 60),
    ],
)
def test_what_is_no_answer_is_told(text: str, shown: str) -> None:
    """Nothing and messages are answers; a line of a shell, or one that is no text, is shown so that it can be printed."""
    assert reply.stray_line(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("-bash: no\n", "-bash: no"), ("\ue841\x1b[2J\n", "\\ue841\\x1b[2J"), ("x" * 300, "x" * 60)]
)
def test_what_is_no_xml_is_told(text: str, shown: str) -> None:
    """Where XML was asked for, what came instead is shown so that it can be printed, and no more than its beginning."""
    with pytest.raises(ReplyError) as raised:
        reply.read_xml_documents(text)
    assert raised.value.message == f"the cell was asked for XML and answered '{shown}'"


@given(st.binary(min_size=64, max_size=300))
def test_bytes_are_no_answer(noise: bytes) -> None:
    """Of bytes that are no answer either none is read as a row, or they are told apart."""
    text = noise.decode("utf-8", "surrogateescape")
    shown = reply.stray_line(text)
    assert shown.isprintable()
    assert shown or not text.strip() or "\t" in text or is_message(text)


@layouts()
def test_messages_are_no_data(layout: Layout) -> None:
    """Errors, their caret and success lines never become a record."""
    around = "                 ^\nCELL-01504: Invalid command syntax.\n"
    after = "Flash cache a_FLASHCACHE altered successfully\n\n"
    assert layout.read(around + layout.text + after) == layout.expected


def test_rows_with_lost_or_further_columns_are_kept_whole() -> None:
    """Empty columns that were stripped at the end are filled up; columns that nobody named are kept."""
    text = "FD_00\nFD_01\tcompleted\tnone\textra\n"
    assert reply.read_columns(text, ["name", "flushstatus", "flusherror"], "CELLDISK") == [
        {"name": "FD_00", "flushStatus": "", "flushError": ""},
        {"name": "FD_01", "flushStatus": "completed", "flushError": "none", "column4": "extra"},
    ]


def test_no_row_is_no_record() -> None:
    """An empty answer gives no records, and so does an error alone."""
    for text in ("", "\n\n", "\nCELL-02559: There is a communication error between MS and CELLSRV.\n"):
        assert reply.read_columns(text, ["name"], "CELL") == []
        assert reply.read_detail(text, "CELL") == []
        assert reply.read_describe(text) == []
        assert reply.read_xml(text) == []


def test_the_context_of_each_xml_document_is_kept() -> None:
    """A batch gives one document a statement, with the cell that answered."""
    documents = reply.read_xml_documents(Layout("layout_xml_metric.txt").text)
    assert [len(document.records) for document in documents] == [2, 1]
    assert documents[0].context["cell"] == "exa1cel01" and documents[0].context["iormResetTimestamp"] == "0"


def test_cut_xml_is_an_error() -> None:
    """A document that ends too early is never taken for a short answer."""
    text = Layout("layout_xml_metric.txt").text
    whole = text.index("</cli-output>")
    for cut in range(text.index("<cli-output>"), whole + len("</cli-output>") - 1, 7):
        with pytest.raises(ReplyError):
            reply.read_xml(text[:cut])


@every([line for line in (DATA / "messages.txt").read_text("utf-8").splitlines() if not line.startswith("#")])
def test_messages_are_understood(case: str) -> None:
    """Each published message gives its success or its error, and other lines give neither."""
    line, _, told = case.partition("::")
    line = line.rstrip()
    parts = [part.strip() for part in told.split(", ", 2)]
    if told.strip().startswith("CELL-"):
        code, message = told.strip().split(", ", 1)
        assert errors(f"x\n{line}\r\n") == (CellError(code=code, message=message),) and successes(line) == ()
        assert is_message(line)
    elif told.strip():
        kind, name, what = parts
        assert successes(f"\n{line}\r\n") == (Success(kind=kind, name=name, what=what),) and errors(line) == ()
    else:
        assert successes(line) == () and errors(line) == ()


def test_a_partial_failure_is_reported_object_by_object() -> None:
    """Successes and errors of one statement are both found, each in its order."""
    text = (
        "GridDisk p_FD_00_c successfully created\nCELL-02701: Cannot create grid disk on cell disk FD_01_c because its "
        "status is not normal.\nGridDisk p_FD_02_c successfully created\n"
    )
    assert [success.name for success in successes(text)] == ["p_FD_00_c", "p_FD_02_c"]
    assert [str(error) for error in errors(text)] == [
        "CELL-02701: Cannot create grid disk on cell disk FD_01_c because its status is not normal."
    ]


CELLS = st.text(alphabet="ab1 :;,.-_()=", max_size=8).map(str.strip)


@given(st.lists(st.tuples(CELLS.filter(bool), CELLS, CELLS), min_size=1, max_size=5), st.booleans())
def test_whatever_stands_in_the_columns_comes_back(rows: list[tuple[str, str, str]], quoted: bool) -> None:
    """Rows printed in CellCLI's layout, texts with blanks in quotes, are read back unchanged."""
    printed = [[f'"{cell}"' if quoted and " " in cell else cell for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in printed) for column in range(3)]
    text = "".join(
        "".join(f"\t {cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + "\n" for row in printed
    )
    assert [tuple(record.values()) for record in reply.read_columns(text, ["name", "b", "c"])] == rows


@given(st.text(alphabet="ab:\t\n \"'<>?xml/=CELL-01", max_size=80))
def test_no_text_breaks_the_readers(text: str) -> None:
    """Whatever arrives, the readers of text return records, and the XML reader at most a ReplyError."""
    reply.read_columns(text, ["name", "status"], "CELL")
    reply.read_detail(text, "CELL")
    reply.read_describe(text)
    try:
        reply.read_xml(f"<?xml {text}")
    except ReplyError:
        return


PLAIN_CELL = st.text(
    st.characters(codec="ascii", exclude_characters='\t\n\r"^', exclude_categories=("Cc",)), max_size=8
)


@given(st.lists(st.lists(PLAIN_CELL, min_size=1, max_size=4), max_size=6))
def test_plain_rows_read_the_same(rows: list[list[str]]) -> None:
    """It should read an answer of nothing but rows as it reads any other: the short way changes nothing."""
    text = "".join("".join(f"\t {cell}" for cell in row) + "\n" for row in rows)
    names = ["name", "status", "size"]
    plain = reply.plain_columns(text, 3)
    records = [reply._record(cells, names) for cells in reply._rows(text, 3)]
    assert plain is None or [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)] == records


@pytest.mark.parametrize("encoding", ["", "utf7", "t", "utf-16", "windows-1252"])
def test_a_document_is_read_whatever_encoding_it_declares(encoding: str) -> None:
    """The text of a reply is decoded already: the encoding in its declaration changes nothing, also one that nobody knows."""
    head = f'<?xml version="1.0" encoding="{encoding or "utf-8"}" ?>'
    text = f"{head}\n<cli-output>\n<cell> <name>é</name>\n</cell>\n</cli-output>\n"
    assert reply.read_xml(text) == [{"name": "é"}]
