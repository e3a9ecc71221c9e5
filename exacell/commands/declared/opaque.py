"""Declarations of the commands that :mod:`exacell.commands.opaque` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param
from exacell.language.shellwords import ACCEPT, DETACH

_SQL = Param(name="text", kind=Kind.TEXT, positional=True, required=True, help="one statement, in quotes")

COMMANDS = (
    Command(
        name="sql asm",
        group="ASM",
        effect=Effect.OPAQUE,
        summary="run one SQL statement on an ASM instance; a query is answered at once",
        details="A block of PL/SQL counts as one statement. Statements that affect only their session (alter "
        "session) are refused. A query of Oracle's own views with SQL's own functions only reads, and never asks. create and "
        "drop diskgroup, and alter diskgroup ... mount, dismount, rebalance power, set attribute, add, drop, "
        "resize, online and offline of disks are planned, guarded, proven and can be undone (help docs sql). "
        "exacell can't read anything else: it is refused on production and read-only racks; elsewhere it needs "
        "--accept-opaque and is confirmed and journalled.",
        example='sql asm "select name, state, free_mb from v$asm_diskgroup"',
        params=(_SQL, Param(name="asm", kind=Kind.ASM, help="which ASM cluster, if the rack has several")),
        flags=(ACCEPT,),
        handler="exacell.commands.opaque:sql_asm",
    ),
    Command(
        name="sql",
        group="ASM",
        effect=Effect.OPAQUE,
        summary="run one SQL statement on a database, as SYSDBA on the first node that runs it; a query is answered at once",
        details="The instance is found by its process and its home by oraenv, as the owner of the database "
        "software. A block of PL/SQL counts as one statement. Statements that affect only their session (alter "
        "session) are refused. A query of Oracle's own views with SQL's own functions only reads. ALTER SYSTEM SET "
        "and RESET of parameters that change speed, ADD and DROP [STANDBY] LOGFILE, and STORAGE (CELL_FLASH_CACHE ...) are "
        "planned, proven and can be undone (help docs sql). exacell can't read anything else, also a query of "
        "users' tables: it is refused on production and read-only racks; elsewhere it needs --accept-opaque and is "
        "confirmed and journalled.",
        example='sql db=SPOT "select name, open_mode from v$database"',
        params=(
            _SQL,
            Param(name="db", kind=Kind.DB, required=True, help="the database"),
            Param(name="user", kind=Kind.NAME, default="oracle", help="who logs in on the node"),
        ),
        flags=(ACCEPT,),
        handler="exacell.commands.opaque:sql_db",
    ),
    Command(
        name="sh",
        group="racks",
        effect=Effect.OPAQUE,
        summary="a shell command on every selected cell, or on hosts (on @db sh uname -r); equal answers shown once",
        details="All words after sh are the command. Commands that exacell knows as reads (uptime, df -h, "
        "imageinfo, cellcli -e list ...; help docs shell-text lists all) run at once. CellCLI changes in it are "
        "guarded like typed ones. Text that exacell can't read is refused on production and read-only racks; "
        "elsewhere it needs --accept-opaque, and is always journalled. exacell's own flags come before the command: "
        "sh --accept-opaque -y ...; -- ends them. Cells from release 26.1 on accept few commands besides "
        "cellcli. On hosts, --detach runs a long command in the background: it continues if the connection breaks "
        "or exacell ends, and resume gets its result.",
        example="sh uptime",
        params=(
            Param(
                name="command", kind=Kind.COMMAND, positional=True, required=True, rest=True, help="for /bin/sh there"
            ),
        ),
        flags=(ACCEPT, DETACH),
        hosts=True,
        handler="exacell.commands.opaque:sh",
    ),
    Command(
        name="copy",
        group="racks",
        effect=Effect.OPAQUE,
        summary="copy a local file to every selected cell, or to hosts (on @db copy …), as scp does",
        details="exacell can't know what a file does. So it is refused on production and read-only racks; elsewhere "
        "it needs --accept-opaque. It is journalled. Cells from release 26.1 on accept no files.",
        example="copy patch.log to=/tmp",
        params=(
            Param(name="file", kind=Kind.FILE, positional=True, required=True, help="a local file"),
            Param(
                name="to", kind=Kind.TEXT, default="", help="a file or directory there; the login's home when left out"
            ),
            Param(name="recursive", kind=Kind.BOOL, default="no", help="yes: a directory with all that is in it"),
        ),
        flags=(ACCEPT,),
        hosts=True,
        handler="exacell.commands.opaque:copy",
    ),
)
