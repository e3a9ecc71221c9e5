"""Keep the prompt's history on disk, one entry per line, newest last, readable by its owner only and without secrets;
also the counts of used words, and aliases.

An entry is the rack on which it was typed, a tab, and the statement; a line without a tab belongs to no rack.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from exacell.cellcli.secrets import holds_secret
from exacell.core.config import trusted_group
from exacell.core.errors import ConfigError, StatementError, why_unreadable
from exacell.core.paths import Home, ensure_dir, replace_file
from exacell.core.sharedfile import sure
from exacell.core.trust import refuse_untrusted
from exacell.core.values import dataclass
from exacell.language.words import split_words

_SECRET = re.compile(
    r"\bpassword\s*=|\bidentified\s+by\b|\bsecret\s*=|\bsecurityKey\s*=|\bassign\s+key\b", re.IGNORECASE
)
"""Text that is never kept, with any value that follows it."""

_KEEP = 20_000
_ESCAPES = {"n": "\n", "t": "\t"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One statement that was entered; ``rack`` is empty if no rack was selected."""

    text: str
    rack: str = ""


def history_file(state_dir: Path) -> Path:
    """Return the path of the history file, which need not exist."""
    return state_dir / "history"


def is_secret(text: str) -> bool:
    """Return whether ``text`` may hold a password or a key and must not be kept."""
    return bool(_SECRET.search(text)) or holds_secret(text)


def read_entries(path: Path) -> list[Entry]:
    """Return the entries, oldest first; those of several lines get their lines back; empty when there is no file."""
    try:
        text = sure(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return [_entry(line) for line in text.splitlines()[-_KEEP:] if line]


def append_history(path: Path, entry: str, rack: str = "") -> str:
    """Add one entry unless it holds a secret; the file is created with mode 0600.

    Returns:
        why it could not be added, such as a full disk, and then no part of it is in the file; empty on success.
    """
    if is_secret(entry) or not entry.strip():
        return ""
    escaped = entry.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    line = (f"{rack}\t{escaped}\n" if rack else f"{escaped}\n").encode("utf-8", "replace")
    try:
        ensure_dir(path.parent)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        return error.strerror or str(error)
    try:
        before = os.fstat(descriptor).st_size
        written = os.write(descriptor, line)
        if written == len(line):
            return ""
        if os.fstat(descriptor).st_size == before + written:  # If it is larger, another session has written after it.
            os.ftruncate(descriptor, before)
        return os.strerror(errno.ENOSPC)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        os.close(descriptor)


def offered_on(rack: str, entries: Sequence[Entry]) -> list[str]:
    """Return the statements to offer on ``rack``, oldest first: its own, and from other racks those that change nothing."""
    return [entry.text for entry in entries if entry.rack == rack or not may_change(entry.text)]


@lru_cache(maxsize=_KEEP)
def may_change(text: str) -> bool:
    """Return whether a statement's first words show that it may change more than exacell's own state; True in doubt."""
    return any(_part_may_change(part.lower().split()) for part in re.split(r"[;\n]", text) if part.strip())


def _part_may_change(words: Sequence[str]) -> bool:
    from exacell.language.registry import commands

    if words[0] == "on":
        words = words[2:]
    if words[:1] in (["list"], ["describe"]):
        return False
    own = commands()
    found = next((own[key] for count in (3, 2, 1) if (key := tuple(words[:count])) in own), None)
    return found is None or found.may_change


def _entry(line: str) -> Entry:
    rack, _, text = line.rpartition("\t")
    return Entry(rack=rack, text=re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text))


_MOST = 3000
"""How many counts are kept; if there are more, the rarest are dropped."""


class Usage:
    """Counts words by the first word of their statement. A missing or damaged file counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: Counter[str] | None = None

    @property
    def _known(self) -> Counter[str]:
        if self._counts is None:
            try:
                data = json.loads(sure(self._path).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                data = {}
            pairs = data.items() if isinstance(data, dict) else ()
            self._counts = Counter({key: count for key, count in pairs if isinstance(count, int)})
        return self._counts

    def count(self, first: str, word: str) -> int:
        """Return how often ``word`` was used in statements that begin with ``first`` (empty: as the first word)."""
        return self._known[f"{first} {word.lower()}"]

    def note(self, statement: str) -> None:
        """Count the words of an entered statement and keep the counts on disk; does nothing if it holds a secret."""
        if is_secret(statement):
            return
        known = self._known
        known.update(set(words_of(statement)))
        if len(known) > _MOST:
            self._counts = known = Counter(dict(known.most_common(_MOST * 3 // 4)))
        with suppress(OSError):
            replace_file(self._path, json.dumps(known))


def words_of(statement: str) -> Iterator[str]:
    """Yield ``first word`` pairs of a statement, lower case: its words, keys of settings and items of lists."""
    try:
        words = [word for word in split_words(statement) if not word.quoted]
    except StatementError:
        return
    if words and words[0].value.lower() == "on":
        words = words[2:]
    if not words:
        return
    first = words[0].value.lower()
    yield f" {first}"
    for word in words[1:]:
        if word.raw.startswith("("):
            continue
        key, equals, value = word.value.lower().partition("=")
        for item in (*key.split(","), value if equals else ""):
            if item:
                yield f"{first} {item}"


class Aliases:
    """Names and the statements that they stand for; the file is read again after it has changed."""

    def __init__(self, home: Home) -> None:
        self.path = home.config_dir / "aliases"
        self._group = trusted_group(home)
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, str] = {}

    def all(self) -> Mapping[str, str]:
        """Return name → statement, in alphabetical order; empty when there is no file.

        Raises:
            ConfigError: the file can't be read, or others can write it.
        """
        refuse_untrusted(self.path, self._group)
        try:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._known = _read(sure(self.path).read_text(encoding="utf-8"))
                self._stamp = stamp
        except FileNotFoundError:
            self._known, self._stamp = {}, None
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.path} can't be read: {why_unreadable(error)}") from error
        return self._known

    def define(self, name: str, statement: str) -> None:
        """Keep an alias; an older one with that name is replaced.

        Raises:
            ConfigError: the file can't be written.
        """
        self._write({**self.all(), name.lower(): statement})

    def remove(self, name: str) -> bool:
        """Remove an alias and return whether there was one.

        Raises:
            ConfigError: the file can't be written.
        """
        left = {known: statement for known, statement in self.all().items() if known != name.lower()}
        if len(left) == len(self.all()):
            return False
        self._write(left)
        return True

    def _write(self, aliases: Mapping[str, str]) -> None:
        text = "# name statement: $1 to $9 are the words behind the name, $* all of them\n"
        text += "".join(f"{name} {statement}\n" for name, statement in sorted(aliases.items()))
        try:
            replace_file(self.path, text, synced=True)
        except OSError as error:
            raise ConfigError(
                f"{self.path} can't be written: {why_unreadable(error)}; the aliases are not changed"
            ) from error


def _read(text: str) -> dict[str, str]:
    lines = (line.strip().split(None, 1) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {parts[0].lower(): parts[1] for parts in sorted(lines) if len(parts) == 2}
