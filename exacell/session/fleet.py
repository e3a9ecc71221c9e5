"""Send CellCLI and SQL statements to many targets and return typed records: the layer between transport and commands.

Reads of several statements go to a cell in one round trip: ``cellcli -xml -e 'a; b; c'`` answers with one document per
statement, whose numbers are exact and whose end is clear. Changes are one statement each; the cell's text for each object
decides whether they succeeded, never the exit status alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from exacell.cellcli import framing
from exacell.cellcli.fold import for_cell
from exacell.cellcli.framing import can_be_fed
from exacell.cellcli.reply import cut_line, errors as reply_errors, read_columns, stray_line
from exacell.core.background import Meanwhile
from exacell.session.answers import Answer, Answers, answer_of, fit, object_of, problem_of
from exacell.session.hung import MUTE, PATIENCE, Hanging, KeptHung
from exacell.session.keptreleases import KeptReleases
from exacell.session.upon import Upon, pair_of
from exacell.session.vault import reveal
from exacell.transport.base import (
    Feed,
    FleetResult,
    Ours,
    Reply,
    ReplyHandler,
    Request,
    Role,
    State,
    Transport,
)

_GREETED = ("name", "releaseVersion", "id")
"""The attributes that each cell is asked for first."""

_GREETING = 1.0
"""Seconds to wait for cells that have not answered with their release, before the others are asked."""


class Fleet:
    """Sends statements to cells over one transport. Thread-safe if the transport is.

    Args:
        like: another fleet of the same rack; both share the releases learned and the cells that hung.
        patience: seconds that a read may take; a cell that hung gets at most this when it is asked again, and at most 10.
        kept: the record of hung cells that command lines share; None for none.
        kept_releases: the record of releases that command lines share; None for none.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        like: Fleet | None = None,
        patience: float = PATIENCE,
        kept: KeptHung | None = None,
        kept_releases: KeptReleases | None = None,
    ) -> None:
        self.transport = transport
        self._doubted: set[str] = set()
        """Cells whose remembered release gave no useful answer."""
        self._kept_releases: KeptReleases | None = like._kept_releases if like is not None else kept_releases
        self._hanging: Hanging = like._hanging if like is not None else Hanging(patience, kept)
        self._releases: dict[str, str] = like._releases if like is not None else {}
        self._ids: dict[str, str] = like._ids if like is not None else {}
        self._lives: dict[str, int] = like._lives if like is not None else {}
        self._lock: threading.Lock = like._lock if like is not None else threading.Lock()

    def run(
        self,
        requests: Sequence[Request],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> FleetResult:
        """Send requests unchanged; see :meth:`Transport.run`. Everything that this fleet sends goes through here.

        Cells that did not answer a read in time are remembered until they answer again.
        """
        result = self.transport.run(requests, on_reply=on_reply, cancel=cancel)
        self._hanging.learn(requests, result)
        return result

    def strangers(self, cells: Sequence[str]) -> list[str]:
        """Return the cells that hung, and those whose release is unknown or may have changed since a reconnection."""
        hung = set(self._hanging.among(cells))
        return [
            cell
            for cell in cells
            if cell in hung or cell not in self._releases or self.transport.lives(cell) != self._lives.get(cell)
        ]

    def releases(
        self,
        cells: Sequence[str],
        *,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> dict[str, str]:
        """Return ``releaseVersion`` of the cells that report it, and ask each cell only once; see :meth:`greet`."""
        self.greet(cells, on_reply=on_reply, cancel=cancel)
        # Each cell is looked up only once: another thread may forget all releases between two look-ups.
        return {cell: release for cell in cells if (release := self._releases.get(cell)) is not None}

    @property
    def ids(self) -> dict[str, str]:
        """Return cell → its id from LIST CELL, for the cells that have reported one."""
        with self._lock:
            return {cell: told for cell, told in self._ids.items() if told}

    def greet(
        self,
        cells: Sequence[str],
        *,
        timeout: float | None = None,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
    ) -> dict[str, Reply]:
        """Ask cells for their releases if these are unknown, or if the cells were reconnected to.

        A cell that gets another release restarts and is reconnected to, so a remembered release is up to date. ``on_reply`` gets
        each reply after its release is remembered. A cell that hung is waited for only a short time, unless ``timeout`` is given.

        Returns:
            the replies of the cells that did not answer at all (``MUTE``), so that nobody need wait for them again.
        """
        unknown = self.strangers(cells)
        if not unknown:
            return {}
        told: set[str] = set()

        def arrived(reply: Reply) -> None:
            told.add(reply.target)
            self._remember(reply)
            if on_reply is not None:
                on_reply(reply)

        asked = [f"list cell attributes {', '.join(_GREETED)}"]
        command, feed = framing.command(asked), _feed(asked)
        # A timeout that the caller gives is always used.
        short, hung = self._hanging.patience, set(self._hanging.among(unknown) if timeout is None else ())
        requests = [
            Request(target=c, command=command, role=Role.READ, timeout=short if c in hung else timeout, feed=feed)
            for c in unknown
        ]
        result = self.run(requests, on_reply=arrived, cancel=cancel)
        for reply in result.ok:
            if reply.target not in told:
                self._remember(reply)  # For transports that hand over replies only at the end.
        if self._kept_releases is not None:
            self._kept_releases.write({c: release for c in unknown if (release := self._releases.get(c))})
        mute = {reply.target: reply for reply in result.in_state(*MUTE)}
        return {cell: self._hanging.still(reply, short) if cell in hung else reply for cell, reply in mute.items()}

    def _remember(self, reply: Reply) -> None:
        if reply.state is not State.OK:
            return
        rows = read_columns(reply.stdout, _GREETED, "CELL")
        if stray_line(reply.stdout, indents=False) or cut_line(reply.stdout):
            return
        if rows and not reply_errors(reply.stdout):
            with self._lock:
                self._releases[reply.target] = rows[0].get("releaseVersion", "")
                self._ids[reply.target] = rows[0].get("id", "")
                self._lives[reply.target] = self.transport.lives(reply.target)

    def forget(self, cells: Sequence[str] | None = None) -> None:
        """Forget the releases of ``cells``, or of all cells."""
        with self._lock:
            for cell in list(self._releases if cells is None else cells):
                self._releases.pop(cell, None)

    def query(
        self,
        cells: Sequence[str],
        statements: Sequence[str],
        *,
        timeout: float | None = None,
        exact: bool = False,
        in_pieces: bool = False,
        on_answer: Callable[[Answer], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answers:
        """Return typed records for every LIST statement from every cell, in one round trip per cell.

        A cell is not asked for attributes and objects that its release doesn't have: the attributes are absent from its records,
        and the tables of such objects are empty.

        Args:
            statements: LIST statements without ``;``, in which ``{cell}`` stands for each cell's own name.
            timeout: seconds per cell.
            exact: send the statements unchanged, because the user typed them; the cell then reports what it doesn't have.
            in_pieces: leave a large answer on disk, as :class:`exacell.cellcli.rows.LargeRows`; only for one statement.
            on_answer: called with each answer as it comes.
        """
        ask = partial(
            self._query, statements=statements, timeout=timeout, exact=exact, in_pieces=in_pieces, on_answer=on_answer,
            cancel=cancel,
        )  # fmt: skip
        strangers = self.strangers(cells)
        if not strangers:
            return ask(cells)
        if exact and (remembered := self._remembered(strangers)):
            return self._by_memory(cells, remembered, ask, on_answer)
        # Cells that do not even answer with their release delay no other cell, and are not asked again.
        said: dict[str, Reply] = {}
        greeting = Meanwhile(
            partial(
                self.greet, strangers, timeout=timeout, on_reply=lambda r: said.update({r.target: r}), cancel=cancel
            )
        )
        answers: dict[str, Answer] = {}
        left = list(cells)
        parts: list[Meanwhile[Answers]] = []
        while left:
            greeting.join(_GREETING)
            over = not greeting.is_alive()
            if over:
                said.update(greeting.result())
            silent = [] if over else [cell for cell in strangers if cell not in said]
            here, left = [cell for cell in left if cell not in silent], [cell for cell in left if cell in silent]
            mute = [cell for cell in here if cell in said and said[cell].state in MUTE]
            for cell in mute:
                answers[cell] = Answer(cell=cell, problem=problem_of(said[cell]), reply=said[cell])
                if on_answer is not None:
                    on_answer(answers[cell])
            ready = [cell for cell in here if cell not in mute]
            if ready and not left and not parts and not answers:
                return ask(ready)
            if ready:
                parts.append(Meanwhile(partial(ask, ready)))
        greeting.result()
        for part in parts:
            answers.update(part.result().answers)
        return Answers(answers={cell: answers[cell] for cell in cells})

    def _remembered(self, cells: Sequence[str]) -> dict[str, str]:
        """Return the releases that these cells had when an earlier command line asked; empty if one of them is not known,
        hung, or gave no useful answer when it was asked by its remembered release."""
        if self._kept_releases is None or self._doubted.intersection(cells) or self._hanging.among(cells):
            return {}
        kept = self._kept_releases.read()
        return {cell: kept[cell] for cell in cells} if all(cell in kept for cell in cells) else {}

    def _by_memory(
        self,
        cells: Sequence[str],
        remembered: Mapping[str, str],
        ask: Callable[..., Answers],
        on_answer: Callable[[Answer], None] | None,
    ) -> Answers:
        """Return the answers of cells, asked in the form for their remembered releases.

        A cell whose answer can't be used is asked for its release, and then once more.
        """

        def useful(answer: Answer) -> bool:
            return answer.cell not in remembered or not answer.problem or answer.reply.state in MUTE

        def arrived(answer: Answer) -> None:
            if on_answer is not None and useful(answer):
                on_answer(answer)

        found = ask(cells, remembered=remembered, on_answer=arrived)
        wrong = [cell for cell in cells if not useful(found.answers[cell])]
        if not wrong:
            return found
        self._doubted.update(wrong)
        self.greet(wrong)  # They have just answered, so none of them hangs.
        again = ask(wrong, on_answer=on_answer)
        return Answers(answers={**found.answers, **again.answers})

    def _query(
        self,
        cells: Sequence[str],
        *,
        remembered: Mapping[str, str] | None = None,
        statements: Sequence[str],
        timeout: float | None,
        exact: bool,
        in_pieces: bool,
        on_answer: Callable[[Answer], None] | None,
        cancel: threading.Event | None,
    ) -> Answers:
        known = {cell: release for cell in cells if (release := self._releases.get(cell)) is not None}
        releases = self.releases(cells) if remembered is None else {**known, **remembered}
        objects = [object_of(statement) for statement in statements]
        fits = {} if exact else {release: fit(statements, release) for release in set(releases.values())}
        asked = {cell: fits.get(releases.get(cell, ""), tuple(statements)) for cell in cells}
        requests = []
        for cell in cells:
            sent = [for_cell(statement, cell) for statement in asked[cell] if statement is not None]
            requests.append(
                Request(
                    target=cell,
                    command=framing.command(sent, xml=True, release=releases.get(cell)),
                    role=Role.READ,
                    timeout=timeout,
                    feed=_feed(sent, xml=True, release=releases.get(cell)),
                    in_pieces=in_pieces and len(sent) == 1,
                )
            )

        made: dict[str, Answer] = {}

        def answer(reply: Reply) -> Answer:
            found = made.get(reply.target)
            if found is None or found.reply is not reply:  # Each reply is read once.
                found = made[reply.target] = answer_of(reply, asked[reply.target], objects)
            return found

        def arrived(reply: Reply) -> None:
            if on_answer is not None:
                on_answer(answer(reply))

        result = self.run(requests, on_reply=arrived if on_answer is not None else None, cancel=cancel)
        return Answers(answers={reply.target: answer(reply) for reply in result.replies.values()})

    def send_upon(
        self,
        statements: Mapping[str, Upon],
        *,
        ours: Ours,
        timeout: float | None = None,
        within: float = 60.0,
        login: str | None = None,
        on_reply: ReplyHandler | None = None,
    ) -> FleetResult:
        """Send each cell its statement after a read by the same CellCLI; see :mod:`exacell.transport.exchange`.

        Args:
            ours: checked right before each statement is sent.
            timeout: seconds that each statement may take.
            login: the user who logs in, instead of the configured user for changes.
            within: seconds that the reads before a statement may take.

        Raises:
            RefusedError: the transport is read-only, or can't read and write in one CellCLI.
        """
        # A cell that is reconnected to reports its release by itself; only cells whose release was never read must be asked.
        unknown = [cell for cell in statements if cell not in self._releases]
        releases = {**self._releases, **(self.releases(unknown) if unknown else {})}
        requests = [
            Request(
                target=cell,
                command=framing.command([upon.statement]),
                role=Role.WRITE,
                timeout=timeout,
                login=login,
                pair=pair_of(cell, upon, releases.get(cell), ours, within),
            )
            for cell, upon in statements.items()
        ]
        return self.run(requests, on_reply=on_reply)

    def send(
        self,
        statements: Mapping[str, str],
        *,
        role: Role = Role.WRITE,
        timeout: float | None = None,
        on_reply: ReplyHandler | None = None,
        cancel: threading.Event | None = None,
        ours: Ours | None = None,
        in_pieces: bool = False,
    ) -> FleetResult:
        """Send one statement to each cell and return the printed replies; ``{cell}`` in a read stands for the cell's name.

        Args:
            ours: checked right before each statement is sent.
            in_pieces: large answers may come as ``Reply.large``.

        Raises:
            RefusedError: the transport is read-only and the role changes something, or a statement holds a secret that is no
                longer known or that the transport could not hide from other users.
        """
        if role is Role.READ:
            statements = {cell: for_cell(statement, cell) for cell, statement in statements.items()}
        ways = {statement: _way(statement, role) for statement in set(statements.values())}
        requests = []
        for cell, statement in statements.items():
            command, stdin, feed = ways[statement]
            requests.append(
                Request(
                    target=cell,
                    command=command,
                    stdin=stdin,
                    role=role,
                    timeout=timeout,
                    feed=feed,
                    ours=ours,
                    in_pieces=in_pieces,
                )
            )
        hung = set(self._hanging.among(statements) if role is Role.READ and timeout is None else ())
        if not hung:
            return self.run(requests, on_reply=on_reply, cancel=cancel)
        late = [request for request in requests if request.target in hung]
        again = Meanwhile(partial(self._again, late, on_reply, cancel))
        others = [request for request in requests if request.target not in hung]
        replies = dict(self.run(others, on_reply=on_reply, cancel=cancel).replies) if others else {}
        replies |= again.result()
        return FleetResult(targets=tuple(statements), replies=replies)

    def _again(
        self, requests: Sequence[Request], on_reply: ReplyHandler | None, cancel: threading.Event | None
    ) -> dict[str, Reply]:
        """Send requests to cells that hung, if they answer a short read first; otherwise return the reply to that read."""
        mute = self.greet([request.target for request in requests], cancel=cancel)
        for reply in mute.values() if on_reply is not None else ():
            assert on_reply is not None
            on_reply(reply)
        well = [request for request in requests if request.target not in mute]
        return {**mute, **(self.run(well, on_reply=on_reply, cancel=cancel).replies if well else {})}


def _way(statement: str, role: Role) -> tuple[str, str | None, Feed | None]:
    """Return the command for a statement, its standard input, and the text for a long-lived CellCLI, if it can be used."""
    whole = reveal(statement)
    command = framing.command([whole])  # Raises if the statement is not one line.
    if whole != statement:
        return framing.session_command(monitor=False), f"{whole}\n", None  # Standard input is in no list of processes.
    return command, None, _feed([statement]) if role is Role.READ else None


def _feed(statements: Sequence[str], *, xml: bool = False, release: str | None = None) -> Feed | None:
    """Return the input for a long-lived CellCLI for these reads; None when one of them can't be fed to it."""
    lines = tuple(statement.strip().rstrip(";").rstrip() for statement in statements)
    if not all(can_be_fed(line) for line in lines):
        return None
    return Feed(program=framing.session_command(xml=xml, release=release), statements=lines)
