"""The text of 10046 trace files. Source of every form: reference measurement.md 1.1 and 1.2.

It stands apart from sessions.py, because it is text alone: no form depends on the state of a session.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zlib import crc32

_CLIENT = 1650815232
"""``driver id`` of a client that came through a pipe, "beq" in letters."""

_FAMILIES = {"INSERT": 2, "SELECT": 3, "UPDATE": 6, "DELETE": 7}
"""V$SQLCOMMAND's numbers, which are ``oct`` in a trace file."""


def moment(at_us: int, version: tuple[int, ...]) -> str:
    """Return a time in the form of lines that begin with three stars: with offset and microseconds from 12.2 on."""
    time = datetime.fromtimestamp(at_us / 1e6, UTC)
    return (
        time.isoformat(timespec="microseconds")
        if version >= (12, 2)
        else f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d}"
    )


def head(path: str, banner: str, home: str, node: str, instance: str, thread: int, process: int, pid: int) -> str:
    """Return the first lines of a trace file."""
    return (
        f"Trace file {path}\n{banner}\nORACLE_HOME:    {home}\nSystem name:\tLinux\nNode name:\t{node}\nMachine:\tx86_64\n"
        f"Instance name: {instance}\nRedo thread mounted by this instance: {thread}\nOracle process number: {process}\n"
        f"Unix process pid: {pid}, image: oracle@{node} (TNS V1-V3)\n\n\n"
    )


def began(stamp: str, sid: int, serial: int, service: str, module: str) -> str:
    """Return the lines that identify the session."""
    return (
        f"*** {stamp}\n*** SESSION ID:({sid}.{serial}) {stamp}\n*** CLIENT ID:() {stamp}\n*** SERVICE NAME:({service}) {stamp}\n"
        f"*** MODULE NAME:({module}) {stamp}\n*** ACTION NAME:() {stamp}\n \n"
    )


def cursor_of(statement: str) -> int:
    """Return the number of a statement's cursor; from 11.2.0.2 on it is an address."""
    return 140_000_000_000_000 + crc32(statement.encode()) * 8


def parsed(cursor: int, statement: str, tim: int) -> str:
    """Return the block that shows a statement's text."""
    family = _FAMILIES.get(statement.split(None, 1)[0].upper(), 0)
    number = crc32(statement.encode())
    return (
        f"=====================\nPARSING IN CURSOR #{cursor} len={len(statement.encode())} dep=0 uid=0 oct={family} lid=0 "
        f"tim={tim} hv={number} ad='{number:x}' sqlid='{_sql_id(number)}'\n{statement}\nEND OF STMT\n"
        f"PARSE #{cursor}:c=0,e=38,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=0,tim={tim}\n"
    )


def executed(cursor: int, elapsed: int, rows: int, tim: int) -> str:
    """Return the lines of one execution, and of the message to the client."""
    return (
        f"EXEC #{cursor}:c={elapsed},e={elapsed},p=0,cr=1,cu=3,mis=0,r={rows},dep=0,og=1,plh=0,tim={tim}\n"
        f"{_to_client(cursor, tim)}"
    )


def committed(wait: int, buffer: int, scn: int, tim: int) -> str:
    """Return the lines of a COMMIT that waited for the log writer until ``tim``."""
    return (
        f"XCTEND rlbk=0, rd_only=0, tim={tim - wait}\n"
        f"WAIT #0: nam='log file sync' ela= {wait} buffer#={buffer} sync scn={scn} p3=0 obj#=-1 tim={tim}\n{_to_client(0, tim)}"
    )


def rolled_back(tim: int) -> str:
    """Return the line of a ROLLBACK."""
    return f"XCTEND rlbk=1, rd_only=0, tim={tim}\n{_to_client(0, tim)}"


def asked(cursor: int, wait: int, tim: int) -> str:
    """Return the WAIT line for the time until the client's next call."""
    return f"WAIT #{cursor}: nam='SQL*Net message from client' ela= {wait} driver id={_CLIENT} #bytes=1 p3=0 obj#=-1 tim={tim}\n"


def _to_client(cursor: int, tim: int) -> str:
    return (
        f"WAIT #{cursor}: nam='SQL*Net message to client' ela= 1 driver id={_CLIENT} #bytes=1 p3=0 obj#=-1 tim={tim}\n"
    )


def _sql_id(number: int) -> str:
    letters = "0123456789abcdfghjkmnpqrstuvwxyz"
    digits = number * 0x9E3779B97F4A7C15 % (1 << 64)
    return "".join(letters[digits >> 5 * place & 31] for place in reversed(range(13)))
