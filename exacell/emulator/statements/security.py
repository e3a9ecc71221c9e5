"""Keys of clients, and the users and roles of ExaCLI.

Roles apply only to callers of ExaCLI and REST: on the cell itself, cellcli knows its user by the login of the operating system.
Source: reference cellcli.md 1.5 and 2.3; Oracle SAGUG, assign-key, list-key, create-role, grant; Oracle DBMSQ,
creating-roles-and-getting-information-roles. Success lines that no public session shows follow those of other objects.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import Release
from exacell.emulator.cell.models import Record
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.changes import AssignKey, Grant
from exacell.emulator.grammar.settable import checked_values
from exacell.emulator.grammar.values import Lines, Row
from exacell.emulator.state.build import guid, new_id
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, named

_KEY = re.compile(r"[0-9A-Fa-f]{32}")
_CLUSTER = re.compile(r"[A-Za-z0-9-]{1,14}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
_PASSWORD_RULE = "8 to 40 characters with a digit, a lower-case and an upper-case letter"


def _records(place: Place, kind: str) -> dict[str, Record]:
    return place.cell.records.setdefault(kind, {})


# -- keys ------------------------------------------------------------------------------------------------------------


def create_key(place: Place, statement: AdminStatement) -> Effects:
    """Print a random key; it is not assigned."""
    new_id(place.cell, place.rack.spec.seed)
    text = f"{place.rack.spec.seed}|{place.cell.host}|key|{place.cell.created}"
    yield line(f"\t {guid(text).replace('-', '')}")


def assign_key(place: Place, statement: AssignKey) -> Effects:
    """Assign keys to clients; an empty key removes a client's key."""
    keys = _records(place, "KEY")
    for _client, key in statement.keys:
        if key and _KEY.fullmatch(key) is None:
            raise CellError(
                Code.BAD_VALUE, value=key, attribute="key", rule="32 hexadecimal digits, as CREATE KEY makes"
            )
    if statement.key_type == "LOCAL-CELL" and len(statement.keys) > 1:
        raise CellError(Code.BAD_VALUE, value=len(statement.keys), attribute="LOCAL CELL", rule="this cell has one key")
    for client, _key in statement.keys:
        if statement.key_type == "ASMCLUSTER" and _CLUSTER.fullmatch(client) is None:
            raise CellError(Code.BAD_NAME, name=client, rule="letters, digits and - are allowed, at most 14")
    for client, key in statement.keys:
        known = {name.lower(): name for name in keys}
        name = known.get(client.lower(), client)
        shown = client or "CELL"
        if not key:
            if name not in keys:
                yield line(CellError(Code.OBJECT_MISSING, kind="Key", name=shown).line)
                continue
            del keys[name]
            yield line(f"Key for {shown} successfully dropped")
            continue
        done = "updated" if name in keys else "created"
        keys[name] = {"key": key, "type": statement.key_type}
        yield line(f"Key for {shown} successfully {done}")


def key_rows(place: Place) -> list[Row]:
    """Return the rows of LIST KEY, by name; the key of all cells has no name."""
    rows: list[Row] = []
    for name, key in sorted(_records(place, "KEY").items()):
        row: Row = {"name": name} if name else {}
        row |= {"key": str(key["key"])} | ({"type": str(key["type"])} if key["type"] else {})
        rows.append(row)
    return rows


# -- roles and users -------------------------------------------------------------------------------------------------


def _new_name(name: str, known: Mapping[str, Record], noun: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise CellError(Code.BAD_NAME, name=name, rule="letters, digits, _ and - are allowed, at most 255")
    if name.lower() in (other.lower() for other in known):
        raise CellError(Code.OBJECT_EXISTS, kind=noun, name=name)


def create_roles(place: Place, statement: AdminStatement) -> Effects:
    """Create roles without any privilege."""
    roles = _records(place, "ROLE")
    for name in statement.names or ():
        try:
            _new_name(name, roles, "Role")
        except CellError as error:
            yield line(error.line)
            continue
        roles[name] = {"privileges": []}
        yield line(f"Role {name} successfully created")


def drop_roles(place: Place, statement: AdminStatement) -> Effects:
    """Drop roles; a role that users have needs FORCE, and the users lose it."""
    roles, users = _records(place, "ROLE"), _records(place, "USER")
    for found in named(statement.names, roles, "Role"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        having = sorted(name for name, user in users.items() if found in user["roles"])
        if having and "FORCE" not in statement.options:
            yield line(CellError(Code.ROLE_GRANTED, name=found, users=", ".join(having)).line)
            continue
        for name in having:
            users[name]["roles"].remove(found)
        del roles[found]
        yield line(f"Role {found} successfully dropped")


def role_rows(place: Place) -> list[Row]:
    """Return the rows of LIST ROLE, by name; each privilege is one line."""
    rows: list[Row] = []
    for name, role in sorted(_records(place, "ROLE").items()):
        lines = tuple(role["privileges"])
        rows.append({"name": name, "privileges": Lines(lines, "; ".join(lines)) if lines else ""})
    return rows


def _password(values: Mapping[str, str], release: Release) -> str:
    """Return the stored form of a password."""
    text = checked_values("USER", values, release)["password"]
    kinds = (str.isdecimal, str.islower, str.isupper)
    if not 8 <= len(text) <= 40 or not all(any(kind(char) for char in text) for kind in kinds):
        raise CellError(Code.BAD_VALUE, value="***", attribute="password", rule=_PASSWORD_RULE)
    return hashlib.sha256(text.encode()).hexdigest()


def create_user(place: Place, statement: AdminStatement) -> Effects:
    """Create a user without any role."""
    users = _records(place, "USER")
    (name,) = statement.names or ("",)
    _new_name(name, users, "User")
    users[name] = {"roles": [], "password": _password(statement.values, place.rack.release.number)}
    yield line(f"User {name} successfully created")


def password_fits(user: Record, password: str) -> bool:
    """Return whether a password is the user's."""
    return bool(user["password"] == hashlib.sha256(password.encode()).hexdigest())


def alter_user(place: Place, statement: AdminStatement) -> Effects:
    """Change a user's password; the same password again is refused."""
    users = _records(place, "USER")
    for found in named(statement.names, users, "User"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        password = _password(statement.values, place.rack.release.number)
        if password == users[found]["password"]:
            raise CellError(Code.BAD_VALUE, value="***", attribute="password", rule="another one than the present one")
        users[found]["password"] = password
        yield line(f"User {found} successfully altered")


def drop_users(place: Place, statement: AdminStatement) -> Effects:
    """Drop users."""
    users = _records(place, "USER")
    for found in named(statement.names, users, "User"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        del users[found]
        yield line(f"User {found} successfully dropped")


def user_rows(place: Place) -> list[Row]:
    """Return the rows of LIST USER, by name."""
    return [{"name": name, "roles": tuple(user["roles"])} for name, user in sorted(_records(place, "USER").items())]


# -- grants ----------------------------------------------------------------------------------------------------------


def grant(place: Place, statement: Grant) -> Effects:
    """Grant or revoke a privilege to roles, or roles to users; a grant that exists already stays as it is."""
    roles = _records(place, "ROLE")
    if statement.privilege:
        targets, noun, field, items = roles, "Role", "privileges", [statement.privilege]
    else:
        targets, noun, field = _records(place, "USER"), "User", "roles"
        found = list(named(statement.roles, roles, "Role"))
        missing = next((error for error in found if isinstance(error, CellError)), None)
        if missing is not None:
            raise missing
        items = [name for name in found if isinstance(name, str)]
    for target in named(statement.targets, targets, noun):
        if isinstance(target, CellError):
            yield line(target.line)
            continue
        has: list[str] = targets[target][field]
        absent = [item for item in items if item not in has]
        if statement.verb == "GRANT":
            has += absent
        elif absent:
            yield line(CellError(Code.NOT_GRANTED, item=absent[0], kind=noun.lower(), name=target).line)
            continue
        else:
            has[:] = [item for item in has if item not in items]
        yield line(f"{noun} {target} successfully altered")
