"""What shell text for a cell would do, as far as it can be read: CellCLI changes, harmless reads, and the rest.

Commands that only show something need nothing. Changes by CellCLI come out as statements, to be judged like typed ones.
Everything else is named, so that a person can decide. Nothing here runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from exacell.care.asmlosses import asm_losses
from exacell.cellcli.statement import Change, Grant
from exacell.cellcli.statement import parse as parse_cellcli
from exacell.dcli.feeding import standard_input
from exacell.dcli.known import (
    DECLARING,
    PREFIXES,
    SHELLS,
    evaluated_by,
    judged_by_arguments,
    shows_only,
    steers,
    trusted_path,
)
from exacell.dcli.shell import Redirection, Script, Simple, read_shell
from exacell.dcli.shellvalues import Values
from exacell.dcli.shellwords import UnreadableError, Word
from exacell.errors import StatementError
from exacell.language.text import split_statements
from exacell.scripts import read_script
from exacell.values import dataclass

_READING = frozenset(("LIST", "DESCRIBE", "HELP", "SET", "EXIT", "QUIT", "REM", "REMARK"))
"""First words of CellCLI's statements that change nothing. Source: Oracle SAGUG, CellCLI commands."""

_CHANGING = re.compile(
    r"\s*(alter|create|drop|calibrate|assign|export|import|grant|revoke|(de)?register|start|@)", re.I
)
"""How a line begins that changes something, or reads a file that may."""

_CHANGE = re.compile(
    r"\b(?:alter|create|drop|calibrate|assign|export|import|grant|revoke)\s+"
    r"(?:flashcache|flashlog|pmemcache|pmemlog|xrmemcache|xrmemlog|griddisk|celldisk|cell|iormplan|lun|physicaldisk)\b"
    r"[^\n;|&\"'`<>$]*",
    re.IGNORECASE,
)
"""What a CellCLI change looks like inside of text that is not understood."""

_SETTING = re.compile(r"\$\{(\w+)(?:\[[^\]]*\])?:?=")
"""An expansion that sets a variable which has no value."""

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
        losses: what happens to which disk group in what is not read.
    """

    changes: list[FoundStatement] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    losses: dict[str, str] = field(default_factory=dict)

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
        _shell(text, findings, 0, arguments=False)
    _suspect(text, findings)
    return findings


def _suspect(text: str, findings: Findings) -> None:
    """Where something is not understood, take what looks like a CellCLI change for one: in doubt it is judged."""
    if not findings.unread:
        return
    findings.losses |= asm_losses(text)
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


def _shell(text: str, findings: Findings, depth: int, *, outer: Values | None = None, arguments: bool = True) -> None:
    if depth > _DEEPEST:
        findings.unread.append("commands inside commands, too deep to follow")
        return
    try:
        script = read_shell(text)
        values = Values(script, outer=outer, arguments=arguments)
        values.refuse_evaluated(script)
        judge = _Judge(findings, script, depth, values)
        for command in script.commands:
            judge.command(command)
    except UnreadableError as error:
        findings.unread.append(f"shell text that can't be followed: {error}")


@dataclass
class _Judge:
    findings: Findings
    script: Script
    depth: int
    values: Values

    def command(self, command: Simple) -> None:
        before = len(self.findings.changes)
        self._command(command)
        if command.repeats:
            self.findings.changes[before:] = [replace(found, repeats=True) for found in self.findings.changes[before:]]

    def _command(self, command: Simple) -> None:
        for word in (*command.assigned, *command.words, *(r.target for r in command.redirections)):
            self._expansions(word)
        for redirection in command.redirections:
            self._redirection(redirection)
        for word in command.assigned:
            if word.code or steers(word.text):
                self.findings.unread.append(_shown([word]))
        self._words(command, command.words)

    def _expansions(self, word: Word) -> None:
        """Read the commands in a word, and name the variables it sets by the way that steer other commands."""
        self.findings.unread += [found[0] for found in _SETTING.finditer(word.text) if steers(f"{found[1]}=")]
        for text in word.inner:
            _shell(text, self.findings, self.depth + 1, outer=self.values)

    def _redirection(self, redirection: Redirection) -> None:
        if redirection.body is not None:
            self._expansions(redirection.body)
        target = redirection.target
        if not redirection.operator.startswith((">", "&>", "<>")):
            return
        if redirection.operator == ">&" and re.fullmatch(r"\d+|-", target.text):
            return
        if not re.fullmatch(r"/dev/(null|stdout|stderr|tty)|/(var/)?tmp/[\w+][\w.+-]*", target.text):
            self.findings.unread.append(f"writes {target.text}")

    def _words(self, command: Simple, words: Sequence[Word]) -> None:
        if not words:
            return
        name = words[0].text.rpartition("/")[2]
        # A name that is expanded is like none of those that are known, nor is a path.
        if not trusted_path(words[0].text):
            self.findings.unread.append(_shown(words))
        elif command.own:
            return
        elif name == "cellcli":
            self._cellcli(command, words[1:])
        elif name == "command" and [word.text for word in words[1:2]] in (["-v"], ["-V"]):
            return
        elif name in PREFIXES:
            self._behind(command, words, name)
        elif name in SHELLS:
            self._nested(command, words, name)
        elif not self._shows(name, words[1:]):
            self.findings.unread.append(_shown(words))

    def _shows(self, name: str, words: Sequence[Word]) -> bool:
        """Whether a command changes nothing with any of the arguments that it may get."""
        if name in DECLARING and any(steers(word.text) for word in words):
            return False
        if not all(map(self.values.counts_plainly, evaluated_by(name, words))):
            return False
        if not judged_by_arguments(name):
            return shows_only(name, words)
        # A pattern may stand for a file that is called like an option.
        if any(word.glob and word.text.startswith("-") for word in words):
            return False
        arguments = self.values.arguments(words)
        return arguments is not None and all(shows_only(name, given) for given in arguments)

    def _behind(self, command: Simple, words: Sequence[Word], name: str) -> None:
        found = PREFIXES[name].behind(words[1:])
        if found is None or any(steers(word.text) for word in found[0]) or (name == "sudo" and not found[1]):
            self.findings.unread.append(_shown(words))
        else:
            self._words(command, found[1])

    def _nested(self, command: Simple, words: Sequence[Word], name: str) -> None:
        """Read the text that a shell gets with ``-c`` or as a here-document."""
        options = [word.text for word in words[1:]]
        place = next((n for n, text in enumerate(options) if re.fullmatch(r"-[a-z]*c|--command", text)), None)
        before = " ".join(options[:place])
        # Another word than an option is a script, which is run instead; su takes a user, and options behind the command.
        plain = (
            r"(-[a-z]*|--(login|norc|noprofile|posix)|-o \w+)( |$)"
            if name != "su"
            else r"(-[lmp]?|--login|\w[\w-]*)( |$)"
        )
        known = re.fullmatch(f"({plain})*", before) is not None
        body = standard_input(command, self.values)
        if place is not None and place + 1 < len(options) and known:
            text, more = words[place + 2], words[place + 3 :]
            if text.dynamic or text.braces or (name == "su" and more):
                self.findings.unread.append(_shown(words))
            else:
                _shell(text.text, self.findings, self.depth + 1, outer=self.values, arguments=not more)
        elif place is None and name != "su" and body is not None and not body.dynamic and known:
            _shell(body.text, self.findings, self.depth + 1, outer=self.values)
        else:
            self.findings.unread.append(_shown(words))

    def _cellcli(self, command: Simple, words: Sequence[Word]) -> None:
        texts = [word.text for word in words]
        execute = texts.index("-e") if "-e" in texts else None
        if any(word.dynamic or word.braces for word in words[:execute]):
            self.findings.unread.append(_shown(words))
            return
        if "-m" in texts[:execute]:
            return
        if execute is not None:
            given = words[execute + 1 :]
            safe = all(map(self._separates_nothing, given))
            text = " ".join(word.text for word in given)
            if safe and text[:5].upper() == "LIST ":
                # What is quoted inside of an expansion is no quote of CellCLI's.
                text = " ".join((self.values.texts(word) or ("",))[0] for word in given)
            dynamic = any(word.dynamic or word.braces or word.glob for word in given)
            _cellcli_line(text, dynamic, self.findings, safe=safe)
            return
        body = standard_input(command, self.values)
        if body is not None:
            _cellcli_script(body, self.findings, safe=self._separates_nothing(body))
        elif self.depth or len(self.script.commands) > 1 or any("<" in r.operator for r in command.redirections):
            # Alone it sees end-of-file at once; among others, a pipe or a redirection around it may feed it.
            self.findings.unread.append("cellcli, fed with something that is not in the text")

    def _separates_nothing(self, word: Word) -> bool:
        """Whether what is expanded in a word can't end a statement and begin another one."""
        texts = self.values.texts(word)
        # A \ in a value may become a line break where echo or printf write it.
        breaks = len(re.findall(r"[;\n\\]", word.text))
        return texts is not None and all(len(re.findall(r"[;\n\\]", text)) <= breaks for text in texts)


def _cellcli_script(body: Word, findings: Findings, *, safe: bool = True) -> None:
    """Read a CellCLI script: statements on lines, ``-`` at the end of a line continues it.

    Args:
        safe: what is expanded in it can't end a statement and begin another one.
    """
    lines = body.text.splitlines()
    starts: set[int] = set()
    try:
        for statement in read_script(lines):
            starts.add(statement.number)
            dynamic = body.dynamic and re.search(r"[$`]", statement.text) is not None
            _cellcli_line(statement.text, dynamic, findings, safe=safe)
    except StatementError as error:
        findings.unread.append(f"a CellCLI script that can't be read: {error.message}")
    # A cell may see a statement where an open quote or bracket makes us read on.
    inside = [line for number, line in enumerate(lines, start=1) if number not in starts and _CHANGING.match(line)]
    findings.unread += [f"cellcli: {line.strip()}" for line in inside]


def _cellcli_line(text: str, dynamic: bool, findings: Findings, *, safe: bool = True) -> None:
    try:
        statements = [found for line in text.splitlines() for found in split_statements(line)]
    except StatementError:
        findings.unread.append(f"cellcli: {text}")
        return
    for statement in statements:
        words = statement.upper().split(None, 1)
        comment = words[0].startswith("--")
        # A ; that is quoted or bracketed here may be none for a cell.
        if (words[0] in _READING or comment) and ";" not in statement and (safe or not dynamic):
            continue
        if re.fullmatch(r"SPO(O|OL)?", words[0]) and words[1:] in ([], ["OFF"]):
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
    text = " ".join(word.text for word in words).strip() or "''"
    return text if len(text) <= 60 else f"{text[:57]}..."
