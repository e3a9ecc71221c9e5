"""Which logins may connect to which emulated instance, and the errors of a wrong environment.

Operating system groups decide: ``grid`` is in OSASM, ``oracle`` in OSDBA of the databases, ``root`` in none. An
ORACLE_SID without a running instance, or the wrong home for one, connects to an idle instance. Source: reference
asm.md section 1, environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from exacell.emulator.asm.instance import Asm
from exacell.emulator.asm.instances import Instance
from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.database.session import Privilege, SqlSession

_CONNECT = re.compile(
    r"\s*(?P<user>[^/\s@\"]*|\"[^\"]*\")\s*(?:/(?!as\s)(?P<password>[^@\s]*)|/)?\s*(?:@(?P<service>\S+))?"
    r"(?:(?:\s+|(?<=/))as\s+(?P<privilege>\w+))?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Logon:
    """The parts of a connection string. ``privilege`` is in upper case, empty if none was given."""

    user: str
    password: str
    service: str
    privilege: str


def parse_logon(text: str) -> Logon | None:
    """Parse ``[user][/password][@service] [as privilege]``; return None if the text has another form."""
    match = _CONNECT.fullmatch(text)
    if match is None:
        return None
    return Logon(
        user=match["user"] or "",
        password=match["password"] or "",
        service=match["service"] or "",
        privilege=(match["privilege"] or "").upper(),
    )


def sid_of(env: Mapping[str, str]) -> str:
    """Return ORACLE_SID.

    Raises:
        OraError: ORA-12162 if it is not set.
    """
    sid = env.get("ORACLE_SID", "")
    if not sid:
        raise OraError(ora(12162))
    return sid


def instance_of(asm: Asm, node: int, env: Mapping[str, str]) -> Instance | None:
    """Return the instance that ORACLE_SID and ORACLE_HOME select on a node; None if no such instance runs there.

    Raises:
        OraError: ORA-12162 if ORACLE_SID is not set.
    """
    sid = sid_of(env)
    # On the emulated nodes the Grid home ends in /grid, those of databases do not.
    in_grid_home = env.get("ORACLE_HOME", "").rstrip("/").endswith("/grid")
    if sid == f"+ASM{node + 1}":
        return Instance(asm=asm, node=node) if in_grid_home else None
    database = next((d for d in asm.databases.values() if f"{d.name}{node + 1}" == sid), None)
    return Instance(asm=asm, node=node, database=database) if database is not None and not in_grid_home else None


def log_on(asm: Asm, node: int, login: str, env: Mapping[str, str], logon: Logon) -> SqlSession | None:
    """Return a session; None if no instance runs, which SQL*Plus calls connected to an idle instance.

    Raises:
        OraError: ORA-12162, 12154, 01017 or 01031.
    """
    if logon.service:
        raise OraError(ora(12154))
    sid = sid_of(env)
    if logon.privilege not in Privilege.__members__:
        raise OraError(ora(1017))
    privilege = Privilege(logon.privilege)
    for_asm = sid.startswith("+")
    allowed = {
        ("grid", Privilege.SYSASM): for_asm,
        ("grid", Privilege.SYSDBA): for_asm,
        ("oracle", Privilege.SYSDBA): not for_asm,
    }
    if not allowed.get((login, privilege), False):
        raise OraError(ora(1031))
    instance = instance_of(asm, node, env)
    return None if instance is None else SqlSession(instance=instance, privilege=privilege)
