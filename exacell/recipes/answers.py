"""Decide from which statements a recipe may take a value, and which answers a KEEP may keep with its run. Pure."""

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
    """Return whether a recipe may take a value from a line's answer: the line must change nothing, and SQL must be a readable
    query.
    """
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
    """Return whether a line is a change that exacell plans; this includes SQL for a database that exacell can read."""
    if line.call is not None and line.call.command.words == ("sql",) and line.call.text_arg("user", OWNER) == OWNER:
        return read_change(one_line(line.call.text_arg("text"))) is not None
    return line.effect is Effect.WRITE


def only_reads(line: Line) -> bool:
    """Return whether a line only reads; this includes shell commands that exacell recognizes as harmless."""
    if line.call is not None and line.call.command.words in (("sh",), ("host",)):
        return command_findings(patterns_quoted(command_given(line.call, line.call.flags)[0])).harmless
    return reads(line)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What one KEEP saves with its run: a file of hosts, or the answer of a statement.

    Attributes:
        name: the name that the answer or file gets within its run.
        path: the path of the file on the host, or a pattern for several files; empty for a statement.
        hosts: the hosts before the path; empty if ON names them.
        line: the statement; None for a file.
    """

    name: str
    path: str = ""
    hosts: str = ""
    line: Line | None = None

    @property
    def effect(self) -> Effect:
        """Return the effect of KEEP itself: OPAQUE for a statement that may do more than read, otherwise LOCAL."""
        return Effect.OPAQUE if self.line is not None and not reads(self.line) else Effect.LOCAL


def read_kept(call: Call) -> Kept:
    """Return the file or answer that a KEEP saves.

    Raises:
        StatementError: ``what`` is neither a file that may be copied from hosts, nor a statement that reads, nor sh.
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
            f"`keep` needs a file on a host or a statement that only reads, not '{text}'",
            hint="such as: `keep @db:/tmp/x as=NAME`, `keep list cell as=NAME`, `keep on @db sh COMMAND as=NAME`",
        )
    return Kept(name=name, line=line)
