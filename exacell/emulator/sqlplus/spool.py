"""SPOOL and TERMOUT of SQL*Plus: the output of a session goes to a file, to the terminal, or to both.

Source: Oracle SQL*Plus User's Guide, "SPOOL" and "SET TERMOUT": TERMOUT OFF hides only the output of scripts, never the
output of commands that are typed or come from standard input; the file gets both. Simplified: lines in the file are trimmed
like those on the screen, with any TRIMSPOOL.
"""

from __future__ import annotations

from collections.abc import Callable

from exacell.emulator.basics.ora_messages import sp2
from exacell.emulator.basics.program import Ask, Out, Program
from exacell.emulator.basics.spool import ReadFile, WriteFile

_USAGE = "Usage: SPOOL { <file> | OFF | OUT }\nwhere <file> is file_name[.ext] [CRE[ATE]|REP[LACE]|APP[END]]\n"
_MODES = {"CREATE": 3, "REPLACE": 3, "APPEND": 3}


class SqlSpool:
    """The spool file of one session; nothing is written until a file is named."""

    def __init__(self, read_file: ReadFile | None, write_file: WriteFile | None) -> None:
        self._read = read_file
        self._write = write_file
        self._name = ""

    @property
    def running(self) -> bool:
        """Return whether there is a spool file."""
        return bool(self._name)

    def command(self, words: list[str]) -> str:
        """Carry out ``SPOOL [file [CREATE|REPLACE|APPEND] | OFF | OUT]`` and return its output."""
        if not words:
            return f"currently spooling to {self._name}\n" if self._name else "not spooling currently\n"
        if len(words) == 1 and words[0].upper() in ("OFF", "OUT"):
            said = "" if self._name else "not spooling currently\n"
            self._name = ""
            return said
        mode = _mode(words[1]) if len(words) == 2 else "REPLACE"
        if len(words) > 2 or not mode:
            return f"{sp2(768)}\n{_USAGE}"
        name = words[0] if "." in words[0].rpartition("/")[2] else f"{words[0]}.lst"
        if mode == "CREATE" and self._read is not None and self._read(name) is not None:
            return f"{sp2(771, name)}\n"
        if self._write is None or not self._write(name, "", mode == "APPEND"):
            return f"{sp2(606, name)}\n"
        self._name = name
        return ""

    def copy(self, text: str) -> None:
        """Write output or typed text to the file, if there is one; an error in writing ends spooling."""
        if self._name and text and self._write is not None and not self._write(self._name, text, True):
            self._name = ""


def _mode(word: str) -> str:
    upper = word.upper()
    return next((mode for mode, least in _MODES.items() if mode.startswith(upper) and len(upper) >= least), "")


def spooled(program: Program, spool: SqlSpool, hidden: Callable[[], bool]) -> Program:
    """Return the program with its output, its questions and the answers copied to the spool file.

    Args:
        hidden: returns whether present output is hidden from the terminal.
    """
    answer: str | None = None
    while True:
        try:
            event = program.send(answer)
        except StopIteration as end:
            return int(end.value)
        if isinstance(event, Out) and not event.err:
            spool.copy(event.text)
            answer = None
            if not hidden():
                yield event
            continue
        answer = yield event
        if isinstance(event, Ask) and event.prompt:
            spool.copy(f"{event.prompt}{answer or ''}\n")
