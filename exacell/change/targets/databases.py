"""Databases: SQL that is sent to the instance on one node. Each kind of target has a module of its own, however small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.change.targets.base import Going
from exacell.change.targets.sql import Records, SqlWay
from exacell.plan.foreseen import Foreseen
from exacell.plan.model import Check, Step
from exacell.session.dbclient import DatabaseClient
from exacell.session.given import Services, Session
from exacell.transport.base import Reply


class Databases(SqlWay):
    """The way to databases."""

    clients: Mapping[str, DatabaseClient]

    @staticmethod
    def opened(session: Session, services: Services, name: str, foreseen: Foreseen | None) -> DatabaseClient:
        """Return a client for the database; its records already have the changes in ``foreseen``."""
        return DatabaseClient(session, services, name, foreseen=foreseen)

    def records(self, owner: str, node: str, checks: Sequence[Check]) -> Records:
        """Return the records that the instance on the node shows."""
        return self.clients[owner].records(node, checks)

    def sent(self, owner: str, steps: Mapping[str, Step], going: Going) -> Mapping[str, tuple[Reply, str]]:
        """Run each node's statement on its instance; unlike ASM's, it is not sent by the SQL*Plus that has just looked."""
        statements = {node: step.statement for node, step in steps.items()}
        return self.clients[owner].send(statements, timeout=going.timeout, ours=going.ours)
