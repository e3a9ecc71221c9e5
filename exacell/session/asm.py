"""Ask and change ASM through SQL*Plus on a database node."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from exacell.core.config import AsmConfig
from exacell.core.errors import ReplyError, TransportError
from exacell.plan.asmfacts import (
    AsmFacts,
    change_lines,
    change_script,
    check_sql,
    facts_look,
    facts_script,
    has_ended,
    read_facts,
    sql_errors,
)
from exacell.plan.asmspace import SIZES_SCRIPT, Told, read_sizes
from exacell.session.answers import problem_of
from exacell.transport.base import Judgement, Ours, Pair, Reply, Request, Role, State, Transport


def in_grid(config: AsmConfig, node: str, program: str) -> str:
    """Return the remote command line that runs ``program`` on a node with the home and the instance of an ASM cluster.

    Source: reference asm.md section 1; the sudo form is for racks where only root's or one's own login is allowed.
    """
    home = config.home
    settings = (
        f"ORACLE_HOME={shlex.quote(home)} ORACLE_SID={shlex.quote(config.sid_on(node))} "
        f"LD_LIBRARY_PATH={shlex.quote(home + '/lib')} PATH={shlex.quote(home + '/bin')}:$PATH"
    )
    if config.sudo:
        return f"sudo -n -u {shlex.quote(config.user)} env {settings} {program}"
    return f"env {settings} {program}"


class AsmClient:
    """One ASM cluster, reached through the first of its nodes that answers. Thread-safe as the transport is."""

    def __init__(self, transport: Transport, config: AsmConfig) -> None:
        self._transport = transport
        self.config = config
        self._node: str | None = None

    def command(self, node: str, program: str = "sqlplus -S -L '/ as sysasm'") -> str:
        """Return the remote command line that runs ``program`` in the Grid home's environment; see :func:`in_grid`."""
        return in_grid(self.config, node, program)

    def facts(self, *, first: str = "", timeout: float | None = None) -> AsmFacts:
        """Return what the cluster knows, from the node that answered last or the first that answers now.

        Args:
            first: the node that is asked before the others: a disk group shows its disks only where it is mounted.
            timeout: seconds that each node may take; None leaves it to the rack.

        Raises:
            TransportError: no node could be reached.
            ReplyError: a node was reached and its answer is an error.
        """
        order = [n for n in (first, self._node, *self.config.nodes) if n]
        problems: list[str] = []
        for node in dict.fromkeys(order):
            reply = self._ask(node, facts_script(), Role.ASM_READ, timeout)
            if _answered(reply):
                if not first:
                    self._node = node
                return read_facts(self.config.name, node, reply.stdout)
            problems.append(f"{node}: {_said(reply)}")
        raise TransportError(
            f"no database node of the ASM cluster {self.config.name} answered: {'; '.join(problems)}",
            hint="check nodes, home, sid and user of the rack's [asm.…] table",
        )

    def problems(self, *, timeout: float | None = None) -> dict[str, str]:
        """Return node → why ASM can't be asked through it, empty where it can; all nodes are asked at the same time.

        Args:
            timeout: seconds that each node may take; None leaves it to the rack.
        """
        requests = [
            Request(target=node, command=self.command(node), role=Role.ASM_READ, stdin=facts_script(), timeout=timeout)
            for node in self.config.nodes
        ]
        replies = self._transport.run(requests).replies
        return {node: "" if _answered(reply) else _said(reply) for node, reply in replies.items()}

    def sizes(self, node: str) -> tuple[Told, ...]:
        """Return how large each instance takes the grid disks of its disk groups to be, as one node tells.

        Raises:
            TransportError: the node can't be reached.
            ReplyError: its answer is an error.
        """
        reply = self._ask(node, SIZES_SCRIPT, Role.ASM_READ)
        if not _answered(reply):
            raise TransportError(f"{node}: {_said(reply)}", hint="sql asm 'select 1 from dual' shows how it answers")
        return read_sizes(node, reply.stdout)

    def _ask(self, node: str, script: str, role: Role, timeout: float | None = None) -> Reply:
        request = Request(target=node, command=self.command(node), role=role, stdin=script, timeout=timeout)
        return self._transport.run([request]).replies[node]

    def send(
        self, statements: Mapping[str, str], *, timeout: float, ours: Ours | None = None
    ) -> dict[str, tuple[Reply, str]]:
        """Run one SQL statement on each node and return the replies with what is wrong, empty when all passed.

        Args:
            timeout: seconds for each: a CREATE, DROP or MOUNT writes to every disk's header.
            ours: asked right before each leaves.

        Raises:
            RefusedError: the transport is read-only.
        """
        requests = [
            Request(
                target=node,
                command=self.command(node),
                role=Role.ASM_WRITE,
                stdin=change_script([sql]),
                timeout=timeout,
                ours=ours,
            )
            for node, sql in statements.items()
        ]
        return self._sent(requests)

    @property
    def pairs(self) -> bool:
        """Whether a statement can go upon a look by the same SQL*Plus."""
        return self._transport.capabilities.pairs

    def send_upon(
        self,
        statements: Mapping[str, tuple[str, Callable[[AsmFacts], Judgement]]],
        *,
        ours: Ours,
        timeout: float,
        within: float,
    ) -> dict[str, tuple[Reply, str]]:
        """Run one SQL statement on each node upon a look by the very SQL*Plus that then gets it, as :meth:`send` does.

        Args:
            statements: by node, each with what the facts mean for it.
            ours: asked right before each leaves.
            timeout: seconds for each.
            within: seconds that the looks may take.

        Raises:
            RefusedError: the transport is read-only, or can't do that.
        """
        requests = [
            Request(
                target=node,
                command=self.command(node),
                role=Role.ASM_WRITE,
                timeout=timeout,
                pair=Pair(
                    program=self.command(node),
                    look=facts_look(),
                    whole=has_ended,
                    judge=partial(self._judged, node, judge),
                    statement=change_lines([sql]),
                    ours=ours,
                    within=within,
                ),
            )
            for node, (sql, judge) in statements.items()
        ]
        return self._sent(requests)

    def _judged(self, node: str, judge: Callable[[AsmFacts], Judgement], text: str) -> Judgement:
        """Return what a look's answer means; one that can't be read forbids the statement."""
        try:
            facts = read_facts(self.config.name, node, text)
        except ReplyError as error:
            return Judgement(why=f"the look right before it failed: {error.message}; nothing was sent")
        return judge(facts)

    def _sent(self, requests: Sequence[Request]) -> dict[str, tuple[Reply, str]]:
        return {r.target: (r, self._problem(r)) for r in self._transport.run(requests).replies.values()}

    @staticmethod
    def _problem(reply: Reply) -> str:
        if not reply.stdout.strip() and reply.state is not State.OK:
            return problem_of(reply)
        try:
            check_sql(reply.stdout)
        except ReplyError as error:
            return error.message
        return ""


def _answered(reply: Reply) -> bool:
    """Whether the node is up: an ORA- error of a query is an answer, an idle instance is not."""
    if reply.state in (State.UNREACHABLE, State.TIMED_OUT, State.NOT_ATTEMPTED) or not reply.stdout.strip():
        return False
    dead = ("ORA-01034", "ORA-12162", "ORA-27101", "ORA-01017", "ORA-01031", "SP2-0640", "SP2-0667")
    return not any(error.startswith(dead) for error in sql_errors(reply.stdout))


def _said(reply: Reply) -> str:
    errors = sql_errors(reply.stdout)
    return errors[0] if errors else problem_of(reply)
