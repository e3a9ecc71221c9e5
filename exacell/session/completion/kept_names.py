"""A rack's names in plain sorted files beside what was learned, for processes that complete one word: such a file is
searched as it is, where the whole of what was learned takes longer to read than anything else in a shell's Tab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import overload

from exacell.core.paths import replace_file
from exacell.language.registry import Kind
from exacell.language.suggestion import Fit, Vocabulary
from exacell.session.completion.names import NameCache, age_of


class SortedFile(Vocabulary):
    """Words searched by how they begin, in the text of a file: a line ``lower case, word, phrase`` each, in order.

    Args:
        text: the lines, each with a line feed in front.
        note: the phrase about words without one.
    """

    def __init__(self, text: str, *, note: str = "") -> None:
        self._lines = text
        self._told: dict[str, str] = {}
        self.note = note

    @cached_property
    def _all(self) -> dict[str, str]:
        return dict(_entry(line) for line in self._lines.split("\n")[1:])

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return tuple(self._all)[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def meta(self, word: str) -> str:
        """Return the phrase about ``word``."""
        told = self._told if word in self._told else self._all
        return told.get(word) or self.note

    def fitting(self, typed: str, most: int) -> list[tuple[str, Fit]]:
        """Return words that begin with what is typed, at most ``most``, the last of all among them; no other fit."""
        begin = "\n" + typed.lower()
        if "\t" in begin or "\n" in typed:
            return []
        found = list(islice(self._beginning(begin), most + 1))
        if len(found) > most:
            found[most - 1 :] = [self._line(self._lines.rfind(begin))]
        self._told = dict(_entry(line) for line in found)
        return [(word, Fit.PREFIX) for word in self._told]

    def _beginning(self, begin: str) -> Iterator[str]:
        place = self._lines.find(begin)
        while place >= 0 and self._lines.startswith(begin, place):
            yield self._line(place)
            place = self._lines.find("\n", place + 1)

    def _line(self, place: int) -> str:
        """Return the line whose line feed is at that place of the text."""
        end = self._lines.find("\n", place + 1)
        return self._lines[place + 1 :] if end < 0 else self._lines[place + 1 : end]


def _entry(line: str) -> tuple[str, str]:
    _, word, about = line.split("\t")
    return word, about


class KeptNames(NameCache):
    """What was learned from a rack, its names from one file a kind, ``big.griddisk.txt`` beside ``big.json``.

    Such a file counts while it was made of exactly this JSON file, whose time and size its first line holds. One that
    can't be read or written costs time, nothing else.
    """

    def vocabulary(self, kind: Kind) -> Vocabulary:
        """Return the names of that kind, searched by how they begin only."""
        path = self._path.with_name(f"{self._path.stem}.{kind.value}.txt")
        found = self._kept(path)
        if found is not None:
            return found
        made = super().vocabulary(kind)
        if self._stamp is not None:
            _write(path, f"{_head(self._stamp)} {self.learned_at or ''}", made)
        return made

    def _kept(self, path: Path) -> Vocabulary | None:
        try:
            status = self._path.stat()
            with open(path, encoding="utf-8", newline="\n") as stream:
                text = stream.read()
            head = text.partition("\n")[0]
            stamp, _, at = head.rpartition(" ")
            if stamp != _head((status.st_mtime_ns, status.st_size)):
                return None
            age = age_of(float(at)) if at else ""
        except (OSError, ValueError):
            return None
        return SortedFile(text[len(head) :], note=f"{path.suffixes[-2][1:]}, seen {age}" if age else "")


def _head(stamp: tuple[int, int]) -> str:
    return f"1 {stamp[0]} {stamp[1]}"


def _write(path: Path, head: str, words: Vocabulary) -> None:
    entries = sorted((word.lower(), word, " ".join(words.about.get(word, "").split())) for word in words)
    lines = [head, *("\t".join(entry) for entry in entries if entry[1].isprintable())]
    with suppress(OSError):
        replace_file(path, "\n".join(lines))
