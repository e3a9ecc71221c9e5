"""CellCLI on a cell: the command line that runs it, and how to find the end of each answer in a long session. Pure.

Without a prompt, ``cellcli -n -x`` prints nothing at the end of an answer. So a *marker* is sent after each batch: a statement
that only fails, with an error that repeats a name never used before. No public source shows a statement that does this on every
release; so the statement and the form of its error are learned at the start of a session (:class:`Probe`). If there is no such
statement, sessions are not used: such cells get a new CellCLI for each read.

A slow cell may answer the statements of the probe only after the probe has ended. So a *fence*, which is also a marker, can be
sent before a batch; output up to the fence is ignored.

Errors are never hidden: an answer that does not look exactly as learned is reported as lost, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from shlex import quote

from exacell.cellcli.schema import release_key
from exacell.cellcli.tokens import TokenKind, tokenize
from exacell.core.errors import ReplyError, StatementError
from exacell.core.patterns import pattern
from exacell.core.values import dataclass

_LONG_XML_SINCE = "24.1"


def command(statements: Sequence[str], *, xml: bool = False, release: str | None = None, monitor: bool = False) -> str:
    """Return the remote command that runs ``statements`` in one start of CellCLI, quoted for a POSIX shell.

    ``cellcli -e 'LIST CELL; LIST CELLDISK'``: the output of each statement follows that of the one before. With ``-e``
    neither banner nor prompt is printed.

    Args:
        statements: rendered, one line each; a ``;`` at the end is dropped.
        xml: whether to ask for XML; the option is ``--xml`` from 24.1 on.
        release: the release of the cell; None if it is not known yet.
        monitor: whether to add ``-m``, with which CellCLI refuses every change.

    Raises:
        StatementError: there is no statement, one has several lines, or one of several has a ``;`` inside quotes (CellCLI might
            end the statement there).

    Source: Oracle SAGUG, starting-cellcli.
    """
    texts = [statement.strip().rstrip(";").rstrip() for statement in statements]
    if not texts or not all(texts):
        raise StatementError("there is no statement to send")
    for text in texts:
        if "\n" in text or "\r" in text:
            raise StatementError("a statement for a cell has to be one line", hint="join its lines with blanks")
        if ";" in text and (len(texts) > 1 or any(token.kind is TokenKind.SEMICOLON for token in tokenize(text))):
            raise StatementError(f"the statement '{text}' has a ; inside", hint="send it without the ;, or alone")
    options = ["-m"] if monitor else []
    if xml:
        options += ["-n", "-x", _xml_option(release)]
    return " ".join(["cellcli", *options, "-e", quote("; ".join(texts))])


def session_command(*, xml: bool = False, release: str | None = None, monitor: bool = True) -> str:
    """Return the remote command that starts a CellCLI which reads statements from its standard input.

    Args:
        xml: as for :func:`command`.
        release: as for :func:`command`.
        monitor: whether to add ``-m``, with which CellCLI can only read.
    """
    return " ".join(["cellcli", *(["-m"] if monitor else []), "-n", "-x", *([_xml_option(release)] if xml else [])])


def _xml_option(release: str | None) -> str:
    modern = release is not None and release_key(release) >= release_key(_LONG_XML_SINCE)
    return "--xml" if modern else "-xml"


TEMPLATES = ("start {name}", "list celldisk {name}")
"""Statements that may repeat an unknown name in their error, best first: one that CellCLI itself answers, then one that the
Management Server must answer. Neither can do anything: there is no such file and no such disk.
"""

_READS = pattern(r"\s*(LIST|DESCRIBE)\s", re.IGNORECASE)


HOLD = 512 << 10
"""Bytes of an unfinished answer that a framer keeps; a longer answer is passed on, except its end."""
_KEPT = 64 << 10
"""Bytes at the end that are then kept, because the marker's error is searched in them."""


@lru_cache(maxsize=64)
def can_be_fed(statement: str) -> bool:
    """Return whether ``statement`` may be sent to a long-lived CellCLI: one line that only reads and is complete at its end."""
    text = statement.strip()
    unfit = any(sign in text for sign in ";\n\r") or text.endswith("-") or not text.isprintable()
    return bool(_READS.match(text + " ")) and not unfit


def can_be_fed_once(statement: str) -> bool:
    """Return whether ``statement`` ends with its line, so that a CellCLI that reads its input carries out nothing more."""
    text = statement.strip().rstrip(";").rstrip()
    return bool(text) and text.isprintable() and ";" not in text and not text.endswith("-")


@dataclass(frozen=True, kw_only=True)
class Marker:
    """A statement whose error repeats a name, and the text before the name in that error.

    Attributes:
        template: the statement, with ``{name}``.
        before: the error's text up to the name, without blank lines at its start.
        lead: the blank lines that this CellCLI prints before such an error; they are not part of the answer before it.
    """

    template: str
    before: bytes
    lead: bytes = b""

    def statement(self, name: str) -> str:
        """Return the marker statement with ``name``."""
        return self.template.format(name=name)


class Probe:
    """Learns at the start of a session which marker works in it.

    Args:
        names: two for each of :data:`TEMPLATES`, all different and never used before.
    """

    def __init__(self, names: Sequence[str]) -> None:
        if len(names) != 2 * len(TEMPLATES) or len(set(names)) != len(names):
            raise ValueError("a probe takes two names for each template")
        self._names = tuple(name.encode() for name in names)
        lines = [template.format(name=name) for template, name in zip(_doubled(), names, strict=True)]
        self.text = "".join(f"{line}\n" for line in lines).encode()
        """The statements to send."""
        self._seen = bytearray()

    def feed(self, data: bytes) -> bool:
        """Take output; return whether the line with the last name has arrived, so that the probe is complete."""
        self._seen += data
        return self._line_end(self._names[-1], 0) >= 0

    def found(self) -> Marker | None:
        """Return the best marker that works according to the output so far; None if no marker works."""
        for index, template in enumerate(TEMPLATES):
            found = self._before(*self._names[2 * index : 2 * index + 2])
            if found is not None:
                lead, before = found
                return Marker(template=template, before=before, lead=lead)
        return None

    def _before(self, first: bytes, second: bytes) -> tuple[bytes, bytes] | None:
        """Return the blank lines and the text before the name in a marker's error; None unless both errors are equal."""
        seen = bytes(self._seen)
        if seen.count(first) != 1 or seen.count(second) != 1 or self._line_end(second, 0) < 0:
            return None
        end, start = self._line_end(first, 0), seen.index(second)
        before = seen[end:start].lstrip(b"\r\n")
        # If there are several lines, they may be the end of the first error and the beginning of the second.
        alike = end <= start and seen[: seen.index(first)].endswith(before)
        if not (alike and before) or b"\n" in before:
            return None
        # It is known which blank lines belong to the error only if the first error is the first output.
        lead = seen[: seen.index(first) - len(before)]
        return (b"" if lead.strip(b"\r\n") else lead), before

    def _line_end(self, name: bytes, start: int) -> int:
        at = self._seen.find(name, start)
        newline = self._seen.find(b"\n", at) if at >= 0 else -1
        return newline + 1 if newline >= 0 else -1


class Framer:
    """Cuts the output of one session into answers, for one batch of statements at a time.

    Args:
        marker: the marker that ends an answer.
    """

    def __init__(self, marker: Marker) -> None:
        self._marker = marker
        self._fence: bytes | None = None
        self._name: bytes | None = None
        self._answer = bytearray()
        self._searched = 0
        self._settled = False

    @property
    def pending(self) -> bool:
        """Return whether an answer is awaited."""
        return self._name is not None

    @property
    def partial(self) -> bytes:
        """Return the part of the awaited answer that has arrived and was not passed on by :meth:`settle`."""
        return b"" if self._fence is not None else bytes(self._answer)

    @property
    def error_came(self) -> bool:
        """Return whether there is an error at the end of the answer so far: the cell's own, or a marker's that
        looks different from the one seen at the start.
        """
        return self._fence is None and b"CELL-" in self._answer[-4096:]

    def ask(self, statements: Sequence[str], name: str, *, fence: str | None = None) -> bytes:
        """Return the lines to send for a batch; its answer is the next one that :meth:`feed` returns.

        Args:
            name: a name never used before in any session.
            fence: another such name if output of earlier statements may still arrive; None if no such output can come.
        """
        if self.pending:
            raise ValueError("one batch at a time")
        if not all(can_be_fed(statement) for statement in statements):
            raise ValueError("only LIST and DESCRIBE, one line each, can be fed")
        self._name, self._fence = name.encode(), fence.encode() if fence is not None else None
        self._answer.clear()
        self._searched, self._settled = 0, False
        lines = [self._marker.statement(fence)] if fence is not None else []
        lines += [statement.strip() for statement in statements]
        lines.append(self._marker.statement(name))
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")

    def feed(self, data: bytes) -> bytes | None:
        """Take output; return the answer once it is complete, without blank lines around it, otherwise None. If :meth:`settle`
        has returned a part of the answer, return the rest.

        Raises:
            ReplyError: the output does not look as expected: the answer is lost, and the session can't be used any more.
        """
        if self._name is None:
            if data.strip():
                raise ReplyError("CellCLI printed text without a request")
            return None
        self._answer += data
        if self._fence is not None and self._line_with(self._fence):
            self._answer = self._answer[self._searched :]
            self._fence, self._searched = None, 0
        if self._fence is not None or not self._line_with(self._name):
            return None
        return self._ended(self._name)

    def settle(self) -> bytes:
        """Return the beginning of a large answer (whole lines that certainly belong to it) and remove it; empty for a small
        answer.

        It must be called after each :meth:`feed`, so that a large answer takes little memory here.
        """
        if self._name is None or self._fence is not None or len(self._answer) <= HOLD:
            return b""
        end = self._answer.rfind(b"\n", 0, len(self._answer) - _KEPT) + 1
        piece = bytes(self._answer[:end])
        del self._answer[:end]
        self._searched = max(0, self._searched - end)
        begun, self._settled = self._settled, self._settled or bool(piece.strip(b"\r\n"))
        return piece if begun else piece.lstrip(b"\r\n")

    def _line_with(self, name: bytes) -> bool:
        """Return whether a line with ``name`` has arrived completely; the searched part then ends with that line."""
        at = self._answer.find(name, self._searched)
        line_end = self._answer.find(b"\n", at) if at >= 0 else -1
        self._searched = line_end + 1 if line_end >= 0 else at if at >= 0 else max(0, len(self._answer) - len(name))
        return line_end >= 0

    def _ended(self, name: bytes) -> bytes:
        """Return the answer before the marker with ``name``."""
        text, rest = bytes(self._answer[: self._answer.index(name)]), self._answer[self._searched :]
        if not text.endswith(self._marker.before):
            raise ReplyError("the error that marks the end of an answer has changed since this CellCLI started")
        if rest.strip():
            raise ReplyError("CellCLI printed more than its answer")
        answer = text[: len(text) - len(self._marker.before)].removesuffix(self._marker.lead)
        if answer and not answer.endswith((b"\n", _XML_END)):
            raise ReplyError("the last line of its answer has no end")
        self._name = None
        self._answer.clear()
        return _trimmed(answer, begun=self._settled)


_XML_END = b"</cli-output>"
"""End of an answer in XML; there need not be a line end after it."""


def _trimmed(text: bytes, *, begun: bool) -> bytes:
    """Return ``text`` without blank lines at its end, and at its start unless it had ``begun`` before; it ends with a newline
    unless it is empty.
    """
    lines = (text if begun else text.lstrip(b"\r\n")).rstrip(b"\r\n")
    return lines + b"\n" if lines else b""


def _doubled() -> tuple[str, ...]:
    return tuple(template for template in TEMPLATES for _ in range(2))
