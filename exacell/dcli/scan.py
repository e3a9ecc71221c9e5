"""What shell text for a cell would do, as far as it can be read: CellCLI changes, harmless reads, and the rest.

Commands that only show something need nothing. Changes by CellCLI come out as statements, to be judged like typed ones.
Everything else is named, so that a person can decide. Nothing here runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from exacell.cellcli.statement import Change, Grant
from exacell.cellcli.statement import parse as parse_cellcli
from exacell.dcli.known import PREFIXES, SHELLS, shows_only
from exacell.dcli.shell import Redirection, Script, Simple, read_shell
from exacell.dcli.shellwords import UnreadableError, Word
from exacell.errors import StatementError
from exacell.language.text import split_statements
from exacell.scripts import read_script
from exacell.values import dataclass

_READING = frozenset(("LIST", "DESCRIBE", "HELP", "SET", "EXIT", "QUIT", "REM", "REMARK"))
"""First words of CellCLI's statements that change nothing. Source: Oracle SAGUG, CellCLI commands."""

_CHANGE = re.compile(
    r"\b(?:alter|create|drop|calibrate|assign|export|import|grant|revoke)\s+"
    r"(?:flashcache|flashlog|pmemcache|pmemlog|xrmemcache|xrmemlog|griddisk|celldisk|cell|iormplan|lun|physicaldisk)\b"
    r"[^\n;|&\"'`<>$]*",
    re.IGNORECASE,
)
"""What a CellCLI change looks like inside of text that is not understood."""

_DEEPEST = 6


@dataclass(frozen=True, kw_only=True)
class FoundStatement:
    """A changing CellCLI statement and how it was written; ``repeats`` where a loop or a function may send it again."""

    text: str
    statement: Change | Grant
    repeats: bool = False


@dataclass
class Findings:
    """What a text would do.

    Attributes:
        changes: CellCLI's changing statements in order.
        unread: a phrase for each thing that can't be read, in order.
    """

    changes: list[FoundStatement] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def harmless(self) -> bool:
        """Whether nothing is changed, as far as can be told, and everything was read."""
        return not self.changes and not self.unread


def scan_command(text: str) -> Findings:
    """Return what a shell would do with ``text``."""
    findings = Findings()
    _shell(text, findings, 0)
    _suspect(text, findings)
    return findings


def scan_script(data: bytes, name: str) -> Findings:
    """Return what a script file does: CellCLI's when its name ends in ``.scl``, else a shell's.

    Args:
        name: the file's name, for what is said about it.
    """
    findings = Findings()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    first = text.partition("\n")[0]
    if "\0" in text:
        findings.unread.append(f"{name} is a program")
    elif name.endswith(".scl"):
        _cellcli_script(Word(text=text, quoted=True), findings)
    elif first.startswith("#!") and not re.search(r"\b(ba|da|k|z)?sh\b", first):
        findings.unread.append(f"{name} is a script for {first[2:].strip()}")
    else:
        _shell(text, findings, 0)
    _suspect(text, findings)
    return findings


def _suspect(text: str, findings: Findings) -> None:
    """Where something is not understood, take what looks like a CellCLI change for one: in doubt it is judged."""
    if not findings.unread:
        return
    lines = [line for line in text.splitlines() if not re.match(r"\s*(#|--|rem\b)", line, re.IGNORECASE)]
    known = {" ".join(found.text.lower().split()) for found in findings.changes}
    for match in _CHANGE.finditer("\n".join(lines)):
        words = match[0].split()
        # What follows a statement in other text may be no part of it: the longest start that is one counts.
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


def _shell(text: str, findings: Findings, depth: int) -> None:
    if depth > _DEEPEST:
        findings.unread.append("commands inside commands, too deep to follow")
        return
    try:
        script = read_shell(text)
        for command in script.commands:
            _Judge(findings, script, depth).command(command)
    except UnreadableError as error:
        findings.unread.append(f"shell text that can't be followed: {error}")


@dataclass
class _Judge:
    findings: Findings
    script: Script
    depth: int

    def command(self, command: Simple) -> None:
        before = len(self.findings.changes)
        self._command(command)
        if command.repeats:
            self.findings.changes[before:] = [replace(found, repeats=True) for found in self.findings.changes[before:]]

    def _command(self, command: Simple) -> None:
        for word in (*command.assigned, *command.words, *(r.target for r in command.redirections)):
            self._inner(word)
        for redirection in command.redirections:
            self._redirection(redirection)
        self._words(command, command.words)

    def _inner(self, word: Word) -> None:
        for text in word.inner:
            _shell(text, self.findings, self.depth + 1)

    def _redirection(self, redirection: Redirection) -> None:
        if redirection.body is not None:
            self._inner(redirection.body)
        target = redirection.target
        if not redirection.operator.startswith((">", "&>", "<>")) or redirection.operator in ("<&",):
            return
        if redirection.operator == ">&" and re.fullmatch(r"\d+|-", target.text):
            return
        if target.dynamic or not re.fullmatch(r"/dev/(null|stdout|stderr|tty)|/(var/)?tmp/[\w.+-]+", target.text):
            self.findings.unread.append(f"writes {target.text}")

    def _words(self, command: Simple, words: Sequence[Word]) -> None:
        if not words:
            return
        name = words[0].text.rpartition("/")[2]
        if words[0].dynamic or (words[0].glob and name not in ("[", "[[")):
            self.findings.unread.append(_shown(words))
        elif name == "cellcli":
            self._cellcli(command, words[1:])
        elif name == "command" and [word.text for word in words[1:2]] in (["-v"], ["-V"]):
            return
        elif name in PREFIXES:
            self._words(command, PREFIXES[name](words[1:]))
        elif name in SHELLS:
            self._nested(command, words)
        elif name in self.script.functions:
            return
        elif not shows_only(name, words[1:]):
            self.findings.unread.append(_shown(words))

    def _nested(self, command: Simple, words: Sequence[Word]) -> None:
        """Read the text that a shell gets with ``-c`` or as a here-document."""
        options = [word.text for word in words[1:]]
        place = next((n for n, text in enumerate(options) if re.fullmatch(r"-[a-z]*c|--command", text)), None)
        body = _standard_input(command)
        if place is not None and place + 1 < len(options):
            text = words[place + 2]
            if text.dynamic:
                self.findings.unread.append(_shown(words))
            else:
                _shell(text.text, self.findings, self.depth + 1)
        elif body is not None and not body.dynamic and not [text for text in options if not text.startswith("-")]:
            _shell(body.text, self.findings, self.depth + 1)
        else:
            self.findings.unread.append(_shown(words))

    def _cellcli(self, command: Simple, words: Sequence[Word]) -> None:
        texts = [word.text for word in words]
        execute = texts.index("-e") if "-e" in texts else None
        if "-m" in texts[:execute]:
            return
        if execute is not None:
            given = words[execute + 1 :]
            joined = Word(
                text=" ".join(word.text for word in given),
                dynamic=any(word.dynamic or (word.glob and not word.quoted) for word in given),
            )
            _cellcli_line(joined.text, joined.dynamic, self.findings)
            return
        body = _standard_input(command)
        if body is not None:
            _cellcli_script(body, self.findings)
        elif self.depth or len(self.script.commands) > 1 or any(r.operator == "<" for r in command.redirections):
            # Alone it sees end-of-file at once; among others, a pipe or a redirection around it may feed it.
            self.findings.unread.append("cellcli, fed with something that is not in the text")


def _standard_input(command: Simple) -> Word | None:
    """Return the text on the command's standard input when it stands in the script, None when it does not."""
    for redirection in reversed(command.redirections):
        if redirection.operator in ("<<", "<<-", "<<<"):
            return redirection.body
        if redirection.operator in ("<", "<&"):
            return None
    source = command.source
    if source is None or command.fed or not source.words:
        return None
    name, rest = source.words[0].text, source.words[1:]
    if name == "cat" and not rest:
        return _standard_input(source)
    if name in ("echo", "printf"):
        while rest and re.fullmatch(r"-[neE]+", rest[0].text):
            rest = rest[1:]
        text = " ".join(word.text for word in rest).replace("\\n", "\n")
        return Word(text=text + "\n", dynamic=any(w.dynamic or w.glob for w in rest))
    return None


def _cellcli_script(body: Word, findings: Findings) -> None:
    """Read a CellCLI script: statements on lines, ``-`` at the end of a line continues it."""
    try:
        for statement in read_script(body.text.splitlines()):
            _cellcli_line(statement.text, body.dynamic and "$" in statement.text, findings)
    except StatementError as error:
        findings.unread.append(f"a CellCLI script that can't be read: {error.message}")


def _cellcli_line(text: str, dynamic: bool, findings: Findings) -> None:
    try:
        statements = split_statements(text)
    except StatementError:
        findings.unread.append(f"cellcli: {text}")
        return
    for statement in statements:
        first = statement.split(None, 1)[0].upper()
        if first in _READING or first.startswith("--"):
            continue
        if re.fullmatch(r"SPO(O|OL)?", first) and statement.split(None, 1)[1:] in ([], ["OFF"], ["off"]):
            continue
        try:
            parsed = None if dynamic else parse_cellcli(statement)
        except StatementError:
            parsed = None
        if isinstance(parsed, (Change, Grant)):
            findings.changes.append(FoundStatement(text=statement, statement=parsed))
        else:
            findings.unread.append(f"cellcli: {statement}")


def _shown(words: Sequence[Word]) -> str:
    text = " ".join(word.text for word in words)
    return text if len(text) <= 60 else f"{text[:57]}..."
