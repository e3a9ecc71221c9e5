"""Find what carried text for a cell would do: CellCLI changes, reads, and unread parts. Nothing here runs anything.

Commands that only show something need no acceptance. CellCLI changes are returned as statements and judged like typed ones.
Text that is not read is still searched for CellCLI changes and losses of disk groups, so that guards can refuse them even if
the user accepts the unread rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from exacell.care.sqltext import asm_absences, asm_losses
from exacell.cellcli.statement import Change, Grant, parse as parse_cellcli
from exacell.cellcli.tokens import tokenize
from exacell.core.errors import StatementError
from exacell.core.lookalikes import LookalikeError, refuse_lookalikes
from exacell.opaque.findings import Absence, Findings, FoundStatement, UnreadError
from exacell.opaque.here import without_less
from exacell.opaque.lexing import refuse_bytes
from exacell.opaque.shell import Reading, change_in, read_shell, statements_in

_CHANGE = re.compile(
    r"(?:\b|(?<=\\[nrt]))(?:alter|create|drop|calibrate|assign|export|import|grant|revoke)\s+"
    r"(?:flashcache|flashlog|pmemcache|pmemlog|xrmemcache|xrmemlog|griddisk|celldisk|cell|iormplan|lun|physicaldisk)\b"
    r"[^\n;|&\"'`<>$\\]*",
    re.IGNORECASE,
)
"""Pattern of a CellCLI change inside unread text."""

_CONTROL = r"\bsystemctl\s+(?:-\S+\s+)*"
_AWAY = {
    r"\bpatchmgr\b[^;\n]*?\s--?(?:patch|upgrade|rollback)(?![\w-])": "patch",
    r"\balter\s+softwareupdate\s+upgrade\b": "patch",
    rf"(?<![\w./-])(?:/\w+)*/?reboot\b|{_CONTROL}(?:(?:isolate|start)\s+)?(?:reboot|kexec|soft-reboot|runlevel6)\b": "reboot",
    r"\bshutdown\s+(?:\S+\s+)*?(?:-\w*r\w*|--reboot)|\b(?:tel)?init\s+6\b|\bkexec\s+-e\b|\bsysrq-trigger\b": "reboot",
    r"\b(?:power|chassis)\s+(?:power\s+)?(?:cycle|reset|diag)\b|\breset\s+(?:-\S+\s+)*/Sys(?:tem)?\b": "reboot",
    r"\bComputerSystem\.Reset\b(?![^;\n]*(?:Off|Shutdown))": "reboot",
    r"\b(?:service|/?(?:etc/)?init\.d/)\s*celld\s+restart\b|\bsystemctl\s+(?:-\S+\s+)*[\w-]*restart\s+celld": "service",
    r"\b[ps]?kill(?:all)?\b[^;\n]*\bcellsrv\b|\bcellsrv\b[^\n]*\bkill\b": "service",
    rf"\b(?:service|/?(?:etc/)?init\.d/)\s*celld\s+stop\b|{_CONTROL}(?:stop|kill|mask)\s+(?:-\S+\s+)*celld": "",
    r"\bsystemctl\s(?=[^;\n]*--now\b)(?:-\S+\s+)*disable\s+(?:-\S+\s+)*celld": "",
    rf"{_CONTROL}(?:(?:isolate|start)\s+)?(?:rescue|emergency|suspend|hibernate|hybrid-sleep|runlevel[01])\b": "",
    r"\b(?:poweroff|halt)\b|\bshutdown\b(?!\s+(?:services|\S+\s+-c\b|-c\b))(?!\s+(?:\S+\s+)*?(?:-\w*r|--reboot))": "",
    r"\b(?:tel)?init\s+[01s]\b|\b(?:power|chassis)\s+(?:power\s+)?(?:off|soft|down)\b|\bstop\s+(?:-\S+\s+)*/Sys(?:tem)?\b": "",
    r"\bComputerSystem\.Reset\b(?=[^;\n]*(?:Off|Shutdown))|\bkill\s+(?:-\S+\s+)+-1\b|\bkillall5\b": "",
}
"""Pattern of a command in unread text that takes all disks of a cell away → the kind of work; empty if it is not known when
the disks come back. Source: Oracle DBMMN, Powering Off Oracle Exadata Storage Servers, Performing Exadata Storage Server
Updates; SAGUG, celld; shutdown(8), systemctl(1), ipmitool(1), kill(1); Oracle ILOM, "start, stop and reset"; DMTF Redfish,
ComputerSystem.
"""

_REACHING = re.compile(r"\b(?:ssh|dcli|exacli|exadcli|patchmgr|ipmitool|cellcli)\b")
"""Programs with which a text can reach other cells."""

_LONGEST = 200
"""Maximum number of words of a change in unread text."""


def command_findings(text: str) -> Findings:
    """Return what a shell would do with ``text``.

    Raises:
        LookalikeError: a CellCLI statement in it has a non-ASCII character in place of a quote, an operator or a blank.
    """
    _refuse_typography(text, lambda plain: _all_statements(read_shell(plain)))
    findings = Findings()
    try:
        _take(read_shell(text), findings)
    except UnreadError as error:
        _unread(error, findings)
    _suspect(text, findings)
    return findings


_FED = "uptime | "
"""Put before a filter when it is judged: a filter reads exacell's output."""


def filter_findings(command: str) -> Findings:
    """Return what a shell would do with ``command`` after a pipe, such as ``| grep x`` or a pager; less only displays text."""
    rest = without_less(command)
    return command_findings(f"{_FED}{rest}") if rest.strip() or rest == command else Findings()


def script_findings(data: bytes, name: str) -> Findings:
    """Return what a script file does: CellCLI's if its name ends in ``.scl``, otherwise a shell's.

    Args:
        name: the file's name, for messages.

    Raises:
        LookalikeError: as :func:`command_findings`.
    """
    _refuse_typography(
        data.decode("utf-8", "replace"),
        statements_in if name.endswith(".scl") else lambda plain: _all_statements(read_shell(plain, script=True)),
        cellcli=name.endswith(".scl"),
    )
    findings = Findings()
    # Non-ASCII text is never read; the rest may still contain something like a change.
    text = data.decode("latin-1")
    try:
        if name.endswith(".scl"):
            refuse_bytes(text)
            _statements(statements_in(text), findings)
        else:
            _take(read_shell(text, script=True), findings)
    except UnreadError as error:
        _unread(error, findings)
    _suspect(text, findings)
    return findings


def _take(reading: Reading, findings: Findings) -> None:
    for pipeline in reading.pipelines:
        findings.programs |= {command.row for command in pipeline}
        for command in pipeline:
            _statements(command.statements, findings)


def _all_statements(reading: Reading) -> tuple[str, ...]:
    return tuple(each for pipeline in reading.pipelines for command in pipeline for each in command.statements)


_STANDS_FOR = "qZ{}Zq"
"""A word of plain letters that replaces a character; it contains the character's offset in the text."""


def _refuse_typography(text: str, statements: Callable[[str], Iterable[str]], *, cellcli: bool = False) -> None:
    """Raise LookalikeError if a CellCLI statement in a text has a non-ASCII character in place of a quote, an operator or a
    blank.

    A user who gives --accept-opaque does not expect that ``= ‘No’`` finds nothing. In unread text, a character counts if fewer
    than two pairs of quotes (the shell's and CellCLI's) enclose it.

    Args:
        statements: returns the statements of a text in which letters replace all non-ASCII characters.
        cellcli: whether the text is CellCLI's own, without a shell.

    Raises:
        LookalikeError: there is such a character; its column counts in the text.
    """
    if text.isascii() or not (cellcli or "cellcli" in text):
        return
    plain = "".join(char if char.isascii() else _STANDS_FOR.format(place) for place, char in enumerate(text))
    try:
        found = tuple(statements(plain))
    except UnreadError:
        refuse_lookalikes(text, _hardly_quoted(text, 1 if cellcli else 2), inside=True)
        return
    for statement in found:
        places = [int(number) for number in re.findall(_STANDS_FOR.format(r"(\d+)"), statement)]
        written = re.sub(_STANDS_FOR.format(r"(\d+)"), lambda one: text[int(one[1])], statement)
        try:
            tokenize(written)
        except LookalikeError as error:
            before = sum(not char.isascii() for char in written[: error.start])
            raise LookalikeError(text, places[before], inside=True) from None
        except StatementError:
            continue  # Other errors in it are reported elsewhere.


def _hardly_quoted(text: str, enough: int) -> Iterator[int]:
    """Yield the offsets in a text that fewer than ``enough`` pairs of ASCII quotes enclose, without comment lines."""
    open_: dict[str, int] = {}
    at_start = comment = False
    for place, char in enumerate(f"\n{text}", start=-1):
        if char == "\n":
            at_start, comment = True, False
            continue
        comment = comment or (at_start and char == "#")
        at_start = at_start and char in " \t"
        if comment:
            continue
        if char in open_:
            if (last := max(open_.values())) > open_[
                char
            ]:  # The quote that was opened last is not an ASCII one, so it is not closed here.
                yield from range(last + 1, place)
            open_ = {quote: begun for quote, begun in open_.items() if begun < open_[char]}
        elif char in "'\"":
            open_[char] = place
        elif len(open_) < enough:
            yield place


def _statements(statements: tuple[str, ...], findings: Findings) -> None:
    """Sort CellCLI's statements into changes, reads and unread parts."""
    for statement in statements:
        try:
            change = change_in(statement)
        except UnreadError as error:
            _unread(error, findings)
        else:
            if change is not None:
                findings.changes.append(FoundStatement(text=statement, statement=change))


def _unread(error: UnreadError, findings: Findings) -> None:
    findings.unread.append(error.message)
    findings.instead = findings.instead or error.instead


def _suspect(text: str, findings: Findings) -> None:
    """If a part is unread, add everything in it that looks like a CellCLI change, so that guards judge it."""
    if not findings.unread:
        return
    findings.losses |= asm_losses(text)
    findings.absences = absences_in(text)
    lines = [line for line in text.splitlines() if not re.match(r"\s*(#|--|rem\b)", line, re.IGNORECASE)]
    known = {" ".join(found.text.lower().split()) for found in findings.changes}
    for match in _CHANGE.finditer("\n".join(lines)):
        words = match[0].split()[:_LONGEST]
        # The text after a statement may not belong to it: the longest beginning that is a statement counts.
        for end in range(len(words), 1, -1):
            candidate = " ".join(words[:end])
            try:
                parsed = parse_cellcli(candidate)
            except StatementError:
                continue
            if isinstance(parsed, (Change, Grant)) and candidate.lower() not in known:
                known.add(candidate.lower())
                findings.changes.append(FoundStatement(text=candidate, statement=parsed))
            break


def absences_in(text: str) -> tuple[Absence, ...]:
    """Return the commands in unread text that would take disks away from ASM."""
    text = re.sub(r"\\\n\s*", " ", text)  # A shell joins the two lines.
    elsewhere = bool(_REACHING.search(text))
    found = {
        " ".join(match[0].split()): kind
        for pattern, kind in _AWAY.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    }
    groups = [Absence(words=f"offline of {name}", group=name, elsewhere=True) for name in asm_absences(text)]
    return (*(Absence(words=words, kind=kind, elsewhere=elsewhere) for words, kind in found.items()), *groups)


def wrapped(text: str, errors: str = "2>&1") -> str:
    """Return the text as one group of commands whose errors are redirected as in ``errors``.

    The line feed before the parenthesis ends a comment or the last line of a here-document. A text that begins with a
    parenthesis or a comment gets a blank before it: ``((`` would begin arithmetic, and some shells read ``(#`` as a pattern.
    """
    blank = " " if text.startswith(("(", "#")) else ""
    return f"({blank}{text}\n) {errors}"


def arguments(text: str) -> str:
    """Return the command line with which ``/bin/sh`` carries out ``text``, independent of the account's login shell.

    Within the single quotes there are only characters that all shells leave unchanged; ``'``, ``!`` (which csh expands even in
    quotes) and ``\\`` (which fish changes) are written with a backslash outside of the quotes. A login shell like csh refuses
    a line feed between quotes and then runs nothing. Source: POSIX.1-2017, Shell Command Language, 2.2; csh(1), History
    substitutions; fish, Quotes.
    """
    quoted = re.sub(r"['!\\]", lambda found: f"'\\{found[0]}'", text)
    return f"/bin/sh -c '{quoted}'"


def carried(text: str, *, read: bool) -> str:
    """Return the command line that carries a text. A text that was read goes to ``/bin/sh``, whose rules were used to read it;
    any other text goes to the account's login shell, for which it was written, as dcli sends it.
    """
    return arguments(text) if read else text
