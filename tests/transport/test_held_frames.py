"""What a program that asks and a holder of connections say to each other, and what a holder carries."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli import framing
from exacell.transport.base import Feed, Reply, Request, Role, State
from exacell.transport.held.frames import (
    Batch,
    FrameError,
    Seen,
    batches_of,
    decode,
    encode,
    heard_batches,
    heard_reply,
    is_answer,
    requests_of,
    told_batches,
    told_reply,
)
from exacell.transport.held.judging import refusal

CELLS = ("c1", "c2")
STATEMENTS = st.sampled_from(("list cell", "LIST GRIDDISK DETAIL", "describe cell", "list celldisk where size > 1"))
XML = st.sampled_from(("", "-xml", "--xml"))
RELEASES = {"": None, "-xml": "19.3", "--xml": "24.1"}


def read(target: str, statements: tuple[str, ...], xml: str) -> Request:
    """Return a read as a fleet makes it."""
    release = RELEASES[xml]
    return Request(
        target=target,
        command=framing.command(statements, xml=bool(xml), release=release),
        role=Role.READ,
        timeout=5.0,
        feed=Feed(program=framing.session_command(xml=bool(xml), release=release), statements=statements),
    )


@given(st.lists(STATEMENTS, min_size=1, max_size=3), XML)
def test_a_read_arrives_as_it_was_meant(statements: list[str], xml: str) -> None:
    """A holder sends the statements that a program has, in the same form, told to change nothing."""
    asked = [read(cell, tuple(statements), xml) for cell in CELLS]
    batches = batches_of(asked, lambda request: request.timeout or 0.0)
    assert batches is not None
    sent = requests_of(heard_batches(decode(encode({"batches": told_batches(batches)}))["batches"]))
    assert [one.feed for one in sent] == [one.feed for one in asked]
    assert [one.target for one in sent] == list(CELLS)
    assert [one.command for one in sent] == [one.command.replace("cellcli ", "cellcli -m ", 1) for one in asked]
    assert refusal(batches, CELLS) == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"role": Role.WRITE},
        {"role": Role.HOST_READ},
        {"feed": None},
        {"stdin": "x"},
        {"login": "root"},
        {"ours": lambda: ""},
        {"locale": True},
        {"on_output": print},
        {"command": "cellcli -e 'drop flashcache'"},
        {"command": "cellcli -e 'list cell'; reboot"},
        {"feed": Feed(program="cellcli", statements=("list cell",))},
    ],
)
def test_whatever_is_no_plain_read_is_not_asked(changes: dict[str, object]) -> None:
    """A program asks a holder nothing but plain reads: for anything else, beside one too, it goes its own way."""
    plain = read("c1", ("list cell",), "")
    assert batches_of([plain], lambda _: 5.0) is not None
    other = Request(**{**vars(read("c2", ("list cell",), "")), **changes})
    assert batches_of([plain, other], lambda _: 5.0) is None


@given(st.text(max_size=60))
def test_a_holder_carries_nothing_but_reads(text: str) -> None:
    """Whatever text a statement is, a holder refuses it unless it begins with LIST or DESCRIBE and is one statement."""
    if refusal([Batch(statements=(text,), cells=CELLS, seconds=1.0)], CELLS) == "":
        assert text.split()[0].upper() in ("LIST", "DESCRIBE", "DESC")
        assert not set(";\n\r") & set(text.strip())


@pytest.mark.parametrize(
    "changing", ["alter", "create", "drop", "calibrate", "grant", "start", "spool", "help", "quit"]
)
@pytest.mark.parametrize(
    "form", ["{} cell", "list cell; {} cell", "list cell\n{} cell", "{} list cell", "list {}", "describe cell {}"]
)
def test_a_holder_refuses_other_verbs(changing: str, form: str) -> None:
    """No other verb of CellCLI gets through, whatever stands before it."""
    batch = Batch(statements=("list cell", form.format(changing)), cells=CELLS, seconds=1.0)
    assert refusal([batch], CELLS) != ""


@pytest.mark.parametrize(
    "batch",
    [
        Batch(statements=("list cell",), cells=("c3",), seconds=1.0),
        Batch(statements=("list cell",), cells=("c1", "c1"), seconds=1.0),
        Batch(statements=("list cell",), cells=(), seconds=1.0),
        Batch(statements=(), cells=CELLS, seconds=1.0),
        Batch(statements=("list cell",), cells=CELLS, seconds=0.0),
        Batch(statements=("list cell",), cells=CELLS, seconds=1e9),
    ],
)
def test_a_holder_serves_its_rack_within_limits(batch: Batch) -> None:
    """A holder asks each cell of its rack once, something, for some time."""
    assert refusal([batch], CELLS) != ""


REPLIES = st.builds(
    Reply,
    target=st.sampled_from(CELLS),
    state=st.sampled_from(State),
    stdout=st.text(max_size=80),
    stderr=st.text(max_size=20),
    exit_status=st.none() | st.integers(0, 255),
    seconds=st.floats(0, 1e6),
    problem=st.text(max_size=20),
    fingerprint=st.text(max_size=20),
    banner=st.text(max_size=20),
)
SEEN = st.builds(
    Seen,
    host_key=st.text(max_size=9),
    keys=st.lists(st.text(max_size=9)).map(tuple),
    lives=st.integers(0, 99),
    single=st.text(max_size=9),
    fallback=st.booleans(),
)


@given(REPLIES, SEEN)
def test_a_reply_arrives_as_it_was(reply: Reply, seen: Seen) -> None:
    """A reply is the same on both sides, and so is what is known of its cell."""
    heard = heard_reply(decode(encode(told_reply(reply, seen))))
    assert (heard.reply, heard.seen, heard.carried) == (reply, seen, "")
    assert not is_answer(reply) or reply.exit_status is not None or reply.state is State.TIMED_OUT


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(JSON, st.dictionaries(st.sampled_from(sorted(told_reply(Reply(target="c", state=State.OK), Seen()))), JSON))
def test_whatever_comes_is_a_frame_or_an_error(told: object, changes: dict[str, object]) -> None:
    """Nothing that arrives ends a program in any other way than by the error of a frame."""
    whole = told_reply(Reply(target="c", state=State.OK), Seen())
    for hear, value in (
        (heard_batches, told),
        (heard_batches, [told]),
        (heard_reply, told),
        (heard_reply, {**whole, **changes}),
    ):
        try:
            hear(value)
        except FrameError:
            continue


@given(st.binary(max_size=60))
def test_bytes_are_a_frame_or_an_error(data: bytes) -> None:
    """A message that is no JSON object is refused as such."""
    try:
        assert isinstance(decode(data), dict)
    except FrameError:
        return


def test_a_frame_has_a_limit() -> None:
    """What is larger than a socket takes is not sent."""
    with pytest.raises(FrameError):
        encode({"what": "x" * (200 << 10)})
    assert json.loads(encode({"what": "x"})) == {"what": "x"}
