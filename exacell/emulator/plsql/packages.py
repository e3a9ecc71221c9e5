"""The packaged procedures that PL/SQL blocks may call: DBMS_OUTPUT, sleeping, naming a session.

Source: Oracle Database PL/SQL Packages and Types Reference, DBMS_OUTPUT, DBMS_LOCK, DBMS_SESSION, DBMS_APPLICATION_INFO.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from exacell.emulator.basics.ora_messages import OraError, OraLine, ora
from exacell.emulator.database.io_calibration import CALIBRATE_IO
from exacell.emulator.sql.values import Value, to_number, to_text
from exacell.emulator.work.monitor import MONITOR, NAMING

_LONGEST_LINE = 32767
_SILENT = (
    "DBMS_OUTPUT.ENABLE", "DBMS_OUTPUT.DISABLE", "DBMS_APPLICATION_INFO.SET_CLIENT_INFO", "DBMS_SESSION.SET_IDENTIFIER",
    "DBMS_SESSION.CLEAR_IDENTIFIER", "DBMS_RANDOM.SEED", "DBMS_RANDOM.INITIALIZE",
)  # fmt: skip
_SLEEPING = ("DBMS_LOCK.SLEEP", "DBMS_SESSION.SLEEP")
_WRITING = ("DBMS_OUTPUT.PUT_LINE", "DBMS_OUTPUT.PUT", "DBMS_OUTPUT.NEW_LINE")
SNAPSHOT = "DBMS_WORKLOAD_REPOSITORY.CREATE_SNAPSHOT"
PROCEDURES = frozenset(
    (*_SILENT, *_SLEEPING, *_WRITING, *MONITOR, *NAMING, SNAPSHOT, CALIBRATE_IO, "RAISE_APPLICATION_ERROR")
)
"""Procedures that a block may call besides its own."""


@dataclass
class Output:
    """The buffer of DBMS_OUTPUT: complete lines, and the line that PUT began."""

    lines: list[str] = field(default_factory=list)
    begun: str = ""

    def put(self, text: str) -> None:
        """Add text to the unfinished line.

        Raises:
            OraError: ORA-20000 with ORU-10028 if the line is too long.
        """
        self.begun += text
        if len(self.begun) > _LONGEST_LINE:
            raise OraError(OraLine(20000, f"ORU-10028: line length overflow, limit of {_LONGEST_LINE} bytes per line"))

    def end_line(self) -> None:
        """End the unfinished line."""
        self.lines.append(self.begun)
        self.begun = ""


def call_packaged(name: str, arguments: Sequence[Value], output: Output, date_format: str) -> float:
    """Carry out one of :data:`PROCEDURES` and return the rack seconds that it sleeps.

    Raises:
        OraError: ORA-06553 if the arguments do not fit the procedure; the error that RAISE_APPLICATION_ERROR raises.
    """
    texts = [to_text(value, date_format) or "" for value in arguments]
    if name == "RAISE_APPLICATION_ERROR":
        return _application_error(arguments, texts)
    if name in _SILENT:
        return 0
    wanted = 0 if name == "DBMS_OUTPUT.NEW_LINE" else 1
    if len(arguments) != wanted:
        raise OraError(ora(6553, name))
    if name in _SLEEPING:
        return max(0.0, float(to_number(arguments[0]) or 0))
    output.put(texts[0] if texts else "")
    if name != "DBMS_OUTPUT.PUT":
        output.end_line()
    return 0


def _application_error(arguments: Sequence[Value], texts: Sequence[str]) -> float:
    if len(arguments) not in (2, 3):
        raise OraError(ora(6553, "RAISE_APPLICATION_ERROR"))
    code = -int(to_number(arguments[0]) or 0)
    if not 20000 <= code <= 20999:
        raise OraError(ora(21000, -code))
    raise OraError(OraLine(code, texts[1]))
