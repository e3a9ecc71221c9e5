"""Who may connect to which emulated instance, and what a wrong environment gives.

Operating system groups decide: ``grid`` is in OSASM, ``oracle`` in OSDBA of the databases, ``root`` in none. An
ORACLE_SID without a running instance, or the wrong home for one, connects to an idle instance. Source: reference
asm.md section 1, environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from exacell.emulator.asm.instance import Asm
from exacell.emulator.instances import Instance
from exacell.emulator.ora_messages import OraError, ora
from exacell.emulator.sql.session import Privilege, SqlSession

_CONNECT = re.compile(
    r"\s*(?P<user>[^/\s@\"]*|\"[^\"]*\")\s*(?:/(?!as\s)(?P<password>[^@\s]*)|/)?\s*(?:@(?P<service>\S+))?"
    r"(?:(?:\s+|(?<=/))as\s+(?P<privilege>\w+))?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Logon:
    """A connection string taken apart. ``privilege`` is upper case, empty when none was asked for."""

    user: str
    password: str
    service: str
    privilege: str


def parse_logon(text: str) -> Logon | None:
    """Return what ``[user][/password][@service] [as privilege]`` asks for; None when it is not of that form."""
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
        OraError: ORA-12162, it is not set.
    """
    sid = env.get("ORACLE_SID", "")
    if not sid:
        raise OraError(ora(12162))
    return sid


def instance_of(asm: Asm, node: int, env: Mapping[str, str]) -> Instance | None:
    """Return the instance that ORACLE_SID and ORACLE_HOME select on a node; None when it would be an idle one.

    Raises:
        OraError: ORA-12162, ORACLE_SID is not set.
    """
    sid = sid_of(env)
    # Grid homes end in /grid on the emulated nodes, those of databases do not.
    in_grid_home = env.get("ORACLE_HOME", "").rstrip("/").endswith("/grid")
    if sid == f"+ASM{node + 1}":
        return Instance(asm=asm, node=node) if in_grid_home else None
    database = next((d for d in asm.databases.values() if f"{d.name}{node + 1}" == sid), None)
    return Instance(asm=asm, node=node, database=database) if database is not None and not in_grid_home else None


def log_on(asm: Asm, node: int, login: str, env: Mapping[str, str], logon: Logon) -> SqlSession | None:
    """Return a session; None when there is no instance, which SQL*Plus calls connected to an idle instance.

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
