"""Define the read before a statement to a cell: its LIST statements, and how their answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exacell.cellcli import framing
from exacell.cellcli.fold import for_cell
from exacell.cellcli.framing import can_be_fed_once
from exacell.cellcli.reply import errors as reply_errors
from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
from exacell.session.answers import Record, answer_of, fit, object_of
from exacell.session.vault import reveal
from exacell.transport.base import Judgement, Ours, Pair, Reply, State

_DOCUMENT_END = "</cli-output>"
"""Ends the answer to one LIST in XML. Source: reference cellcli.md 3."""


@dataclass(frozen=True, kw_only=True)
class Upon:
    """A statement, and the read before it.

    Attributes:
        lists: LIST statements, as for :meth:`Fleet.query`; empty if the cell only has to answer.
        judge: gets the typed records of each LIST, and decides whether the statement may be sent.
    """

    statement: str
    lists: tuple[str, ...] = ()
    judge: Callable[[Sequence[Sequence[Record]]], Judgement]


def pair_of(cell: str, upon: Upon, release: str | None, ours: Ours, within: float) -> Pair:
    """Return the read of a cell, fitted to its release, and the statement after it.

    Raises:
        RefusedError: the statement can't be typed into an open CellCLI.
    """
    objects = [object_of(statement) for statement in upon.lists]
    asked = fit(upon.lists, release or "")
    sent = [for_cell(statement, cell) for statement in asked if statement is not None]
    extra = not sent
    lines = ["list cell attributes name"] if extra else sent
    if not can_be_fed_once(upon.statement):
        raise RefusedError(
            f"{cell}: '{upon.statement[:60]}' can't be typed into an open CellCLI, but exacell must do that to "
            f"check the cell right before; nothing was sent",
            hint="use no line ends in names and values, and no - at the end",
        )

    def whole(text: str) -> bool:
        return text.count(_DOCUMENT_END) >= len(lines) or bool(reply_errors(text))

    def judge(text: str) -> Judgement:
        reply = Reply(target=cell, state=State.OK, stdout=text, exit_status=0)
        if extra:
            answer = answer_of(reply, lines, ["CELL"])
            tables: Sequence[Sequence[Record]] = [() for _ in upon.lists]
        else:
            answer = answer_of(reply, asked, objects)
            tables = answer.tables
        if answer.problem:
            return Judgement(why=f"the look right before it failed: {answer.problem}; nothing was sent")
        return upon.judge(tables)

    return Pair(
        program=framing.session_command(xml=True, release=release, monitor=False),
        look="".join(f"{line.strip()}\n" for line in lines),
        whole=whole,
        judge=judge,
        statement=f"{reveal(upon.statement).strip().rstrip(';').rstrip()}\n",
        ours=ours,
        within=within,
    )
