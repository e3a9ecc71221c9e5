"""Whatever carried an answer proves its end: one that is cut, at a line's end or to nothing, is never taken for whole."""

from __future__ import annotations

from typing import Any
from unittest import mock

import paramiko
import pytest
from paramiko import common

from exacell.cellcli.framing import Framer, Marker
from exacell.core.errors import ReplyError
from exacell.transport.base import Request, Role, State
from exacell.transport.capture import Capture, End, Ending
from exacell.transport.dcli_answers import Answers
from exacell.transport.local_process import Ended
from exacell.transport.replies import reply_of_program
from exacell.transport.ssh.connection import ending_of
from exacell.transport.ssh.exchanges import may_stay_open
from exacell.transport.ssh.stream import Stream

TEXTS = [b"", b"\n", b"\t a\t 1\n", b"\t a\t 1\n\t b\t 2\n", b"name: a\nsize: 1\n\nname: b\nsize: 2\n"]


@pytest.mark.parametrize("lead", [b"", b"\n"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_kept_cellcli_has_answered_when_its_marker_has(text: bytes, lead: bytes) -> None:
    """Of what a kept CellCLI says no beginning is an answer, wherever it is cut."""
    said = text + lead + b"E-1: no file w1\n"
    for size in range(len(said) + 1):
        framer = Framer(Marker(template="start {name}", before=b"E-1: no file ", lead=lead))
        framer.ask(["list celldisk"], "w1")
        try:
            found = framer.feed(said[:size])
        except ReplyError:
            found = None
        assert (found is None) == (size < len(said)), size


@pytest.mark.parametrize("second", TEXTS)
@pytest.mark.parametrize("first", TEXTS)
def test_a_cell_of_dcli_has_answered_when_its_closing_line_has(first: bytes, second: bytes) -> None:
    """Of what dcli prints no beginning of a cell's part counts as ended, wherever it is cut."""
    parts = {
        name: b"".join(b"%s: %s\n" % (name.encode(), line) for line in (text + b"w1 0").split(b"\n"))
        for name, text in (("c1", first), ("c2", second))
    }
    said, end = parts["c1"] + parts["c2"], {"c1": len(parts["c1"]), "c2": len(parts["c1"] + parts["c2"])}
    for size in range(len(said) + 1):
        answers = Answers(["c1", "c2"], "w1")
        answers.take(said[:size])
        for name, found in answers.ended().items():
            text = first if name == "c1" else second
            whole = size >= end[name] - 1  # Its last newline says nothing any more.
            assert (found.status == 0) == whole and (not whole or found.text.encode() == text), (size, name)


@pytest.mark.parametrize("eof", [True, False])
@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("status", [-1, 0, 1])
def test_a_status_before_the_link_broke_proves_no_end(eof: bool, alive: bool, status: int) -> None:
    """On a plain channel a status counts when the output came to its end, or the server closed the channel on a living link."""
    channel = mock.Mock(eof_received=eof)
    channel.recv_exit_status.return_value = status
    channel.get_transport.return_value.is_active.return_value = alive
    found = ending_of(channel)
    if status >= 0 and (eof or alive):
        assert found == Ending(end=End.STATUS, exit_status=status)
    else:
        assert found == Ending(end=End.NO_STATUS if alive else End.LOST)


def _message(*parts: Any) -> paramiko.Message:
    message = paramiko.Message()
    for part in parts:
        match part:
            case bool():
                message.add_boolean(part)
            case int():
                message.add_int(part)
            case _:
                message.add_string(part)
    return paramiko.Message(message.asbytes())


STATUS = (common.MSG_CHANNEL_REQUEST, ("exit-status", False, 0))
DATA, EOF, CLOSE = (
    (common.MSG_CHANNEL_DATA, (b"\t a\t 1\n",)),
    (common.MSG_CHANNEL_EOF, ()),
    (common.MSG_CHANNEL_CLOSE, ()),
)
ORDERS = [[STATUS, DATA, EOF, CLOSE], [DATA, STATUS, EOF, CLOSE], [DATA, EOF, STATUS, CLOSE], [DATA, DATA, CLOSE]]


@pytest.mark.parametrize("order", ORDERS)
def test_a_command_on_the_reader_has_ended_with_its_status_and_its_output(
    order: list[tuple[int, tuple[Any, ...]]],
) -> None:
    """However many of a server's messages came when the link breaks, the command has ended well with status and end of output
    alone."""
    for count in range(len(order) + 1):
        ends: list[Ending] = []
        stream = Stream(mock.MagicMock(), "cellcli -e list cell", Capture(None), stdin=None, on_end=ends.append)
        for kind, parts in order[:count]:
            stream.receive(kind, _message(*parts))
        stream.lost()
        came = order[:count]
        whole = STATUS in came and (EOF in came or CLOSE in came)
        assert (ends[0].end is End.STATUS) == whole and len(ends) == 1, count


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("status", [-15, -9, 1, 127, 255])
def test_a_program_that_ends_otherwise_than_with_0_has_given_no_whole_answer(text: bytes, status: int) -> None:
    """What an ssh, exacli or dcli program printed before it failed, or was killed, is never a good answer."""
    flight = mock.Mock()
    reply_of_program(flight, Ended(status=status, stdout=text.decode(), stderr=""), None)
    assert flight.reply.call_args.args[0] is State.FAILED


@pytest.mark.parametrize(
    ("command", "role", "may"),
    [
        ("cellcli -e 'list celldisk'", Role.READ, False),
        ("cellcli -n -x --xml -e 'list cell; list celldisk'", Role.READ, False),
        ("cellcli -e 'alter cell restart services all'", Role.WRITE, True),
        ("nohup work.sh &", Role.READ, True),
        ("df -h", Role.WRITE, True),
    ],
)
def test_what_cellcli_reads_out_is_whole_when_its_output_is_closed(command: str, role: Role, may: bool) -> None:
    """A command that has left something running ends by the limit with what it said; a LIST whose output was not closed by then
    has not come whole."""
    assert may_stay_open(Request(target="c1", command=command, role=role)) is may
