"""Turn the outcomes of a shell command on many targets into a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.change.dcli.output import UNREACHABLE, Outcome
from exacell.core.errors import ExitCode
from exacell.output.result import HOST, Column, Result


def told(outcomes: Sequence[Outcome], *, printing: bool, hosts: bool) -> Result:
    """Return the result of the outcomes: the output of each cell if it is printed, else one record per cell."""
    good = [o for o in outcomes if o.ran and o.status != UNREACHABLE]
    failed = [o for o in outcomes if o.status]
    rows = [{"cell": o.target, "exitStatus": o.status, "text": "\n".join(o.lines).rstrip()} for o in good]
    problems = [f"{o.target}: {o.refused or o.said.strip() or _status(o.status, ran=o.ran)}" for o in failed]
    code = ExitCode.DONE if not failed else ExitCode.FAILED if good else ExitCode.NOT_EXECUTED
    if not printing:
        return Result(records=rows, fold=True, problems=problems, exit_code=code)
    if any(row["text"] for row in rows):
        shown = [(str(row["cell"]), f"{row['text']}\n") for row in rows]
        return Result(raw=shown, named=len(outcomes) > 1, fold=True, problems=problems, exit_code=code)
    done = [{"cell": row["cell"], "outcome": "failed" if row["exitStatus"] else "done"} for row in rows]
    columns = [HOST if hosts else Column("cell"), Column("outcome")]
    return Result(records=done, columns=columns, fold=True, problems=problems, exit_code=code)


def _status(status: int, *, ran: bool) -> str:
    return f"{_ENDED} {status}" if ran else "no result"


_ENDED = "exit status"


def in_own_words(problems: Sequence[str], printed: Mapping[str, str]) -> list[str]:
    """Return the problems, each exit status with the last printed line of the program in front.

    Args:
        printed: by target, the output of its program.

    >>> in_own_words(["db01: exit status 51"], {"db01": "sg_vpd: no such page"})
    ['db01: sg_vpd: no such page (exit status 51)']
    """
    found = []
    for problem in problems:
        target, _, ended = problem.partition(": ")
        words = printed.get(target, "").rstrip().rpartition("\n")[2].strip()
        found.append(f"{target}: {words} ({ended})" if words and ended.startswith(f"{_ENDED} ") else problem)
    return found
