"""SPOOL: copies all output of a session to a file. Source: reference cellcli.md 1.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exacell.emulator.basics.messages import CellError, Code

ReadFile = Callable[[str], str | None]
"""Returns the text of a file; None if there is no such file."""

WriteFile = Callable[[str, str, bool], bool]
"""Writes text to a file (the flag means: append) and returns whether that worked."""


@dataclass(frozen=True, kw_only=True)
class FileAccess:
    """The functions with which a program reads and writes files; None if it reads, or writes, none."""

    read: ReadFile | None = None
    write: WriteFile | None = None


NO_FILES = FileAccess()

_MODES = {"CRE": "CREATE", "REP": "REPLACE", "APP": "APPEND"}


class Spool:
    """The spool file of one session; nothing is written until a file is named."""

    def __init__(self, read_file: ReadFile | None, write_file: WriteFile | None) -> None:
        self._read = read_file
        self._write = write_file
        self._name = ""

    def command(self, words: list[str]) -> str:
        """Carry out ``SPOOL [file [CREATE|REPLACE|APPEND] | OFF]`` and return its output.

        Raises:
            CellError: the statement has another form, or the file cannot be written.
        """
        if not words:
            return f"currently spooling to {self._name}\n" if self._name else "not spooling currently\n"
        if len(words) == 1 and words[0].upper() == "OFF":
            self._name = ""
            return ""
        mode = _MODES.get(words[1].upper()[:3], "") if len(words) == 2 else "REPLACE"
        if len(words) > 2 or not mode or (len(words) == 2 and not mode.startswith(words[1].upper())):
            raise CellError(Code.SYNTAX)
        name = words[0].strip("'\"")
        if mode == "CREATE" and self._read is not None and self._read(name) is not None:
            raise CellError(Code.FILE_EXISTS, name=name)
        if self._write is None or not self._write(name, "", mode == "APPEND"):
            raise CellError(Code.FILE_WRITE, name=name)
        self._name = name
        return ""

    def copy(self, text: str) -> None:
        """Write output to the spool file, if there is one; an error in writing ends spooling."""
        if self._name and self._write is not None and not self._write(self._name, text, True):
            self._name = ""
