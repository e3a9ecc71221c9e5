"""Statements whose answer a recipe takes: which ones read, and what a KEEP keeps with its run. Pure."""

from __future__ import annotations

from exacell.care.sqltext import one_line
from exacell.core.errors import StatementError
from exacell.core.values import dataclass
from exacell.language.hostpath import file_named, read_remote_path
from exacell.language.line import Line, parse_line
from exacell.language.registry import Call, Effect
from exacell.language.shellwords import command_given
from exacell.opaque.findings import UnreadError
from exacell.opaque.lexing import patterns_quoted
from exacell.opaque.scan import command_findings
from exacell.opaque.sql import read_sql
from exacell.plan.dbchange import OWNER, read_change


def reads(line: Line) -> bool:
    """Whether a value may be taken from what a line answers: it changes nothing, and SQL is a query that exacell reads."""
    if line.call is None:
        return line.effect is Effect.READ
    if line.call.command.words in (("sql",), ("sql", "asm")):
        try:
            read_sql(f"{one_line(line.call.text_arg('text'))};")
        except UnreadError:
            return False
        return True
    return line.effect is Effect.READ and line.call.command.recipe_ok


def is_planned(line: Line) -> bool:
    """Whether a line is a change that exacell plans: SQL for a database among them, where it understands that."""
    if line.call is not None and line.call.command.words == ("sql",) and line.call.text_arg("user", OWNER) == OWNER:
        return read_change(one_line(line.call.text_arg("text"))) is not None
    return line.effect is Effect.WRITE


def only_reads(line: Line) -> bool:
    """Whether a line only reads, commands for a shell that exacell reads among them."""
    if line.call is not None and line.call.command.words in (("sh",), ("host",)):
        return command_findings(patterns_quoted(command_given(line.call, line.call.flags)[0])).harmless
    return reads(line)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a KEEP holds.

    Attributes:
        name: of what is kept, within its run.
        path: of the file there, or the pattern of several; empty where it is a statement.
        hosts: those that stand before the path; empty where ON names them.
        line: the statement; None where it is a file.
    """

    name: str
    path: str = ""
    hosts: str = ""
    line: Line | None = None

    @property
    def effect(self) -> Effect:
        """What keeping it may change."""
        return Effect.OPAQUE if self.line is not None and not reads(self.line) else Effect.LOCAL


def read_kept(call: Call) -> Kept:
    """Return what a KEEP holds.

    Raises:
        StatementError: it is neither a file of hosts that may be copied, nor a statement that reads, nor sh.
    """
    text, name = call.text_arg("what"), call.text_arg("as")
    file = file_named(text)
    if file is not None:
        return Kept(name=name, hosts=file[0], path=read_remote_path(file[1]))
    line = parse_line(text, shell=False)
    carries = line is not None and line.call is not None and line.call.command.words == ("sh",)
    streams = line is not None and line.call is not None and line.call.command.streams
    if line is None or streams or not (carries or reads(line)):
        raise StatementError(
            f"'{text}' is neither a file on a host nor a statement that reads; keep needs one of them",
            hint="such as: `keep @db:/tmp/x as=NAME`, `keep list cell as=NAME`, `keep on @db sh COMMAND as=NAME`",
        )
    return Kept(name=name, line=line)
