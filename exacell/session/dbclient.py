"""Ask and change one database through SQL*Plus, for the steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exacell.care.sqltext import query_script, sent_script
from exacell.plan.model import DATABASE
from exacell.session.dbrecords import looks, read_look
from exacell.session.dbsql import OWNER, database_request, home_of, problem_in, rows_of
from exacell.transport.base import Ours, Reply, Role

if TYPE_CHECKING:
    from exacell.plan.model import Check
    from exacell.session.asm import AsmClient
    from exacell.session.services import Services
    from exacell.session.state import Session


def sql_targets(session: Session, services: Services, names: Iterable[str]) -> dict[str, AsmClient | DatabaseClient]:
    """Return what the SQL steps of a plan are for, by the names that they have: ASM clusters, and databases.

    Raises:
        ConfigError: there is no ASM cluster of that name.
    """
    found: dict[str, AsmClient | DatabaseClient] = {}
    for name in names:
        if name.startswith(DATABASE):
            found[name] = DatabaseClient(session, services, name.removeprefix(DATABASE))
        else:
            found[name] = services.asm(name)
    return found


class DatabaseClient:
    """One database, reached through the node that a step names."""

    pairs = False
    """No statement for a database goes upon a look by the same SQL*Plus."""

    def __init__(self, session: Session, services: Services, database: str, *, user: str = OWNER) -> None:
        self._session, self._services, self.database, self._user = session, services, database, user

    def home(self) -> str:
        """Return the first node that answers and has an instance of the database; see :func:`home_of`."""
        return home_of(self._session, self._services, self.database, user=self._user)

    def records(self, node: str, checks: Sequence[Check]) -> dict[str, list[dict[str, Any]]]:
        """Return what an instance tells of the objects that checks speak of, by object; see :mod:`exacell.session.dbrecords`.

        Raises:
            ReplyError: the instance says ``ORA-``, or can't be asked.
        """
        found: dict[str, list[dict[str, Any]]] = {}
        for look, sql in looks(checks).items():
            request = database_request(self._session, self.database, node, query_script(sql), user=self._user)
            rows = rows_of(self._services.transport.run([request]).replies[node])
            found |= read_look(look, [tuple(row) for row in rows.rows], checks)
        return found

    def send(
        self, statements: Mapping[str, str], *, timeout: float, ours: Ours | None = None
    ) -> dict[str, tuple[Reply, str]]:
        """Run one statement on the instance of each node and return the replies with what is wrong, empty when all passed.

        Raises:
            RefusedError: the transport is read-only.
        """
        requests = [
            database_request(
                self._session,
                self.database,
                node,
                sent_script(sql),
                user=self._user,
                role=Role.ASM_WRITE,
                timeout=timeout,
                ours=ours,
            )
            for node, sql in statements.items()
        ]
        replies = self._services.transport.run(requests).replies
        return {node: (reply, problem_in(reply)) for node, reply in replies.items()}
