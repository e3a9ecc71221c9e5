"""Ask and change ASM through SQL*Plus on a database node."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from exacell.plan.foreseen import Foreseen


def in_grid(config: AsmConfig, node: str, program: str) -> str:
    """Return the remote command line that runs ``program`` on a node with the home and SID of an ASM cluster.

    Source: reference asm.md section 1; the sudo form is for racks where only root or a personal login is allowed.
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
    """One ASM cluster, asked through the first of its nodes that answers. Thread-safe if the transport is."""

    def __init__(self, transport: Transport, config: AsmConfig) -> None:
        self._transport = transport
        self.config = config
        self._node: str | None = None
        self._foreseen: Foreseen | None = None

    def foreseeing(self, foreseen: Foreseen | None) -> AsmClient:
        """Return a client whose facts are as the earlier statements of a preview leave them; this one outside of previews."""
        if foreseen is None:
            return self
        other = copy(self)
        other._foreseen = foreseen
        return other

    def command(self, node: str, program: str = "sqlplus -S -L '/ as sysasm'") -> str:
        """Return the remote command line that runs ``program`` in the Grid home's environment; see :func:`in_grid`."""
        return in_grid(self.config, node, program)

    def facts(self, *, first: str = "", timeout: float | None = None) -> AsmFacts:
        """Return the facts of the cluster, from the node that answered last or the first that answers now.

        Args:
            first: the node to ask before the others, because a node shows a disk group's disks only if it is mounted there.
            timeout: seconds that each node may take; None means the rack's setting.

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
                found = read_facts(self.config.name, node, reply.stdout)
                return found if self._foreseen is None else self._foreseen.in_asm(found)
            problems.append(f"{node}: {_said(reply)}")
        raise TransportError(
            f"no database node of the ASM cluster {self.config.name} answered: {'; '.join(problems)}",
            hint="check nodes, home, sid and user of the rack's [asm.…] table",
        )

    def problems(self, *, timeout: float | None = None) -> dict[str, str]:
        """Return node → why ASM can't be asked through it, or an empty text; all nodes are asked at the same time.

        Args:
            timeout: seconds that each node may take; None means the rack's setting.
        """
        requests = [
            Request(target=node, command=self.command(node), role=Role.ASM_READ, stdin=facts_script(), timeout=timeout)
            for node in self.config.nodes
        ]
        replies = self._transport.run(requests).replies
        return {node: "" if _answered(reply) else _said(reply) for node, reply in replies.items()}

    def sizes(self, node: str) -> tuple[Told, ...]:
        """Return the size that each ASM instance has recorded for the grid disks of its disk groups, asked on one node.

        Raises:
            TransportError: the node can't be reached.
            ReplyError: its answer is an error.
        """
        reply = self._ask(node, SIZES_SCRIPT, Role.ASM_READ)
        if not _answered(reply):
            raise TransportError(f"{node}: {_said(reply)}", hint="`sql asm 'select 1 from dual'` shows how it answers")
        return read_sizes(node, reply.stdout)

    def _ask(self, node: str, script: str, role: Role, timeout: float | None = None) -> Reply:
        request = Request(target=node, command=self.command(node), role=role, stdin=script, timeout=timeout)
        return self._transport.run([request]).replies[node]

    def send(
        self, statements: Mapping[str, str], *, timeout: float, ours: Ours | None = None
    ) -> dict[str, tuple[Reply, str]]:
        """Run one SQL statement on each node and return by node the reply and its problem, empty if the statement passed.

        Args:
            timeout: seconds for each: a CREATE, DROP or MOUNT writes to every disk's header.
            ours: checked right before each statement is sent.

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
        """Return whether a statement can be sent to the same SQL*Plus that read the facts right before."""
        return self._transport.capabilities.pairs

    def send_upon(
        self,
        statements: Mapping[str, tuple[str, Callable[[AsmFacts], Judgement]]],
        *,
        ours: Ours,
        timeout: float,
        within: float,
    ) -> dict[str, tuple[Reply, str]]:
        """Run one SQL statement on each node in the SQL*Plus that has just read the facts; returns as :meth:`send` does.

        Args:
            statements: by node, the statement and the function that judges the facts before it.
            ours: checked right before each statement is sent.
            timeout: seconds for each.
            within: seconds that reading the facts may take.

        Raises:
            RefusedError: the transport is read-only, or can't read and write in one SQL*Plus.
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
        """Return the judgement of the facts in ``text``; facts that can't be read forbid the statement."""
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
    """Return whether the instance is up: an ORA- error of a query counts as an answer, an idle instance doesn't."""
    if reply.state in (State.UNREACHABLE, State.TIMED_OUT, State.NOT_ATTEMPTED) or not reply.stdout.strip():
        return False
    dead = ("ORA-01034", "ORA-12162", "ORA-27101", "ORA-01017", "ORA-01031", "SP2-0640", "SP2-0667")
    return not any(error.startswith(dead) for error in sql_errors(reply.stdout))


def _said(reply: Reply) -> str:
    errors = sql_errors(reply.stdout)
    return errors[0] if errors else problem_of(reply)
