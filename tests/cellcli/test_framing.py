"""The framing of a long-lived CellCLI: whatever an answer contains and wherever it is cut, whole or lost."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli import framing
from exacell.cellcli.framing import TEMPLATES, Framer, Marker, Probe, can_be_fed
from exacell.core.errors import ReplyError
from tests.support.every import every

PROBE_NAMES = [f"probe{number}" for number in range(2 * len(TEMPLATES))]
TEXT = st.binary(max_size=200) | st.sampled_from(
    [
        b"",
        b"\n\n",
        b"\t a\t b\n",
        b"CELL-02921: Unable to read file other\n",
        b"CELL-02921: Unable to read file ",
        b"</cli-output>\n",
        b"no newline at its end",
        b"exacell0123456789abcde",
    ]
)
ANY = Marker(template="start {name}", before=b"no ")
CUTS = st.lists(st.integers(min_value=1, max_value=40), min_size=1, max_size=8)


@dataclass(frozen=True)
class Kind:
    """How one make of CellCLI answers an unknown file and an unknown disk."""

    start: str
    disk: str
    works: str | None

    def says(self, line: str) -> str:
        verb, _, name = line.rpartition(" ")
        return (self.start if verb == "start" else self.disk).format(name=name)


KINDS = {
    "one line each": Kind("E-1: no file {name}\n", "E-2: no disk {name}.\n", "start {name}"),
    "blank lines around": Kind("\nE-1: no file {name}\n\n", "\nE-2: no disk {name}\n\n", "start {name}"),
    "a line in front": Kind("Sorry.\nE-1: no file '{name}'\n", "E-2: no disk {name}\n", "list celldisk {name}"),
    "only the disk": Kind("E-1: cannot open it\n", "E-2: no disk {name}\n", "list celldisk {name}"),
    "says nothing of a file": Kind("", "E-2: no disk {name}\n", "list celldisk {name}"),
    "repeats it twice": Kind("no {name}, really no {name}\n", "E-2: no disk {name}\n", "list celldisk {name}"),
    "names first": Kind("{name}: not found\n", "{name}: not found\n", None),
    "says more behind": Kind("no file {name}\nTry HELP.\n", "no disk {name}\nTry HELP.\n", None),
    "names nothing": Kind("E-1\n", "E-2\n", None),
}


def probed(kind: Kind, noise: bytes = b"") -> Probe:
    probe = Probe(PROBE_NAMES)
    probe.feed(noise + "".join(kind.says(line) for line in probe.text.decode().splitlines()).encode())
    return probe


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    found, start, index = [], 0, 0
    while start < len(data):
        size = cuts[index % len(cuts)]
        found.append(data[start : start + size])
        start, index = start + size, index + 1
    return found


def trimmed(text: bytes) -> bytes:
    lines = text.strip(b"\r\n")
    return lines + b"\n" if lines else b""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("noise", [b"", b"Last login: never\n", b"Picked up JAVA_OPTIONS: -x\n\n"])
def test_probe_learns_the_marker(name: str, noise: bytes) -> None:
    """It should find the best statement whose error repeats a name the same way each time, and no other."""
    kind = KINDS[name]
    marker = probed(kind, noise).found()
    assert (marker.template if marker else None) == kind.works


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.works])
@given(answers=st.lists(TEXT, min_size=1, max_size=4), cuts=CUTS)
def test_answers_arrive_whole(name: str, answers: list[bytes], cuts: list[int]) -> None:
    """It should hand each answer, whatever is in it and wherever it is cut, to the batch that asked, whole."""
    kind = KINDS[name]
    marker = probed(kind).found()
    assert marker is not None
    framer = Framer(marker)
    for number, answer in enumerate(answers):
        nonce = f"nonce{number}-7e1"
        lines = framer.ask(["list cell", "describe cell"], nonce).decode().splitlines()
        assert lines[:2] == ["list cell", "describe cell"]
        whole = answer if not answer or answer.endswith(b"\n") else answer + b"\n"
        got = [framer.feed(piece) for piece in pieces(whole + kind.says(lines[2]).encode(), cuts)]
        done = [text for text in got if text is not None]
        assert done == [trimmed(whole)]
        assert not framer.pending


@given(before=TEXT, cuts=CUTS, other=TEXT)
def test_nothing_is_guessed(before: bytes, cuts: list[int], other: bytes) -> None:
    """It should report an answer as lost or still wait, and never return it, when its marker looks other than learned."""
    framer = Framer(Marker(template="start {name}", before=b"E-1: no file "))
    framer.ask(["list cell"], "nonce-1")
    text = before + b"\n" + b"E-9: another " + b"nonce-1" + other + b"\n"
    try:
        assert [answer for answer in (framer.feed(piece) for piece in pieces(text, cuts)) if answer is not None] == []
    except ReplyError:
        return
    assert framer.pending


def test_more_than_the_answer_is_lost() -> None:
    """It should refuse output behind the marker's error and output that without a request for."""
    framer = Framer(Marker(template="start {name}", before=b"no "))
    framer.ask(["list cell"], "n1")
    with pytest.raises(ReplyError, match="more than its answer"):
        framer.feed(b"a\nno n1\nb\n")
    idle = Framer(ANY)
    assert idle.feed(b"\n \n") is None
    with pytest.raises(ReplyError, match="printed text without a request"):
        idle.feed(b"surprise\n")


@given(late=TEXT, answer=TEXT, cuts=CUTS)
def test_what_comes_before_the_fence_is_no_answer(late: bytes, answer: bytes, cuts: list[int]) -> None:
    """It should give a batch what came behind its fence, whatever came before it, and show nothing earlier as a part of it."""
    framer = Framer(Marker(template="start {name}", before=b"E-1: no file "))
    sent = framer.ask(["list cell"], "end-7e1", fence="fence-7e1").decode().splitlines()
    assert sent == ["start fence-7e1", "list cell", "start end-7e1"]
    framer.feed(late)
    assert framer.partial == b"" and not framer.error_came
    whole = answer if not answer or answer.endswith(b"\n") else answer + b"\n"
    behind = b"\nE-1: no file fence-7e1\n" + whole + b"E-1: no file end-7e1\n"
    got = [framer.feed(piece) for piece in pieces(behind, cuts)]
    assert [text for text in got if text is not None] == [trimmed(whole)]
    framer.ask(["list cell"], "next-7e1")
    assert framer.feed(b"\t a\nE-1: no file next-7e1\n") == b"\t a\n"


FED = [
    "list cell",
    " LIST griddisk where name like 'a.*' detail",
    "describe cell",
    "list celldisk attributes name, size",
]
NOT_FED = [
    "drop flashcache",
    "alter cell name=x",
    "list cell; drop flashcache",
    "list cell -",
    "list cell\ndrop flashcache",
    "list cell\rdrop flashcache",
    "list cell\x00",
    "start file",
    "@file",
    "spool x",
    "set dateformat local",
    "quit",
    "listcell",
    "",
]


@pytest.mark.parametrize("statement", FED)
def test_reads_can_be_fed(statement: str) -> None:
    """It should feed LIST and DESCRIBE."""
    assert can_be_fed(statement)


@every(NOT_FED)
def test_nothing_else_can_be_fed(statement: str) -> None:
    """It should never feed what changes something, asks for more lines, or is several statements."""
    assert not can_be_fed(statement)
    with pytest.raises(ValueError, match="only LIST"):
        Framer(ANY).ask([statement], "x")


@given(st.text(max_size=80))
def test_only_reads_can_be_fed(statement: str) -> None:
    """It should feed nothing that does not begin with LIST or DESCRIBE or that has a second line."""
    if can_be_fed(statement):
        assert statement.strip().upper().startswith(("LIST", "DESCRIBE"))
        assert len(statement.strip().splitlines()) == 1


def test_one_batch_at_a_time() -> None:
    """It should refuse a second batch while an answer is awaited."""
    framer = Framer(ANY)
    framer.ask(["list cell"], "a")
    with pytest.raises(ValueError, match="one batch"):
        framer.ask(["list cell"], "b")


@pytest.mark.parametrize("piece", [100, 5000, 70_000, 1 << 20])
def test_a_large_answer_is_settled_while_it_comes(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is settled and the rest are the answer, without blank lines around it; little is kept meanwhile."""
    monkeypatch.setattr(framing, "HOLD", 20_000)
    monkeypatch.setattr(framing, "_KEPT", 4_000)
    framer = Framer(Marker(template="start {name}", before=b"E-1: no file "))
    for nonce in ("n1-7e1", "n2-7e1"):
        framer.ask(["list cell"], nonce)
        answer = b"".join(b"\t row %d\n" % number for number in range(30_000))
        data = b"\n\n" + answer + b"\n\nE-1: no file " + nonce.encode() + b"\n"
        got, whole = b"", None
        for place in range(0, len(data), piece):
            whole = framer.feed(data[place : place + piece])
            settled = framer.settle()
            got += settled
            assert whole is not None or len(framer.partial) <= max(20_000, 4_000 + piece)
        assert whole is not None and got + whole == answer and (got or piece > len(data))
        assert framer.settle() == b""
