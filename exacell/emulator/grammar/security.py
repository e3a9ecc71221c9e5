"""The parser of ASSIGN KEY, GRANT and REVOKE.

::

    ASSIGN KEY FOR [ASMCLUSTER | LOCAL CELL | REMOTE CELL] 'client'='key'[, …]      ASSIGN KEY FOR CELL 'key'
    {GRANT | REVOKE} PRIVILEGE {ALL ACTIONS | verb} ON {ALL OBJECTS | object} [ALL ATTRIBUTES | ATTRIBUTES a[, a]…]
        [WITH {ALL OPTIONS | OPTIONS o[, o]…}] {TO | FROM} ROLE {ALL | role[, role]…}
    {GRANT | REVOKE} ROLE {ALL | role[, role]…} {TO | FROM} USER {ALL | user[, user]…}

Source: reference cellcli.md 2.3; Oracle SAGUG, assign-key, grant, revoke.
"""

from __future__ import annotations

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import KEY_TYPES_SINCE
from exacell.emulator.basics.schema import Release, object_types
from exacell.emulator.grammar.changes import AssignKey, Grant
from exacell.emulator.grammar.tokens import TokenStream


def key_type_at(stream: TokenStream, release: Release) -> str:
    """Read the kind of key after FOR and return its type as LIST KEY shows it; empty for a database's key."""
    if release < KEY_TYPES_SINCE:
        return ""
    for words, kind in (
        (("ASMCLUSTER",), "ASMCLUSTER"),
        (("LOCAL", "CELL"), "LOCAL-CELL"),
        (("REMOTE", "CELL"), "REMOTE-CELL"),
        (("CELL",), "CELL"),
    ):
        named = any(stream.peek(ahead + 1).is_symbol("=") for ahead in range(len(words)))
        if not named and all(stream.peek(ahead).is_word(word) for ahead, word in enumerate(words)):
            for _word in words:
                stream.take()
            return kind
    return ""


def parse_assign_key(stream: TokenStream, release: Release) -> AssignKey:
    """Parse the rest of an ASSIGN KEY statement and return it."""
    stream.expect_word("FOR")
    kind = key_type_at(stream, release)
    if kind == "CELL" and not stream.peek(1).is_symbol("="):
        key = stream.expect_value().text
        stream.expect_end()
        return AssignKey(key_type=kind, keys=(("", key),))
    keys: list[tuple[str, str]] = []
    while True:
        client = stream.expect_value().text
        stream.expect_symbol("=")
        keys.append((client, stream.expect_value().text))
        if not stream.accept_symbol(","):
            break
    stream.expect_end()
    return AssignKey(key_type=kind, keys=tuple(keys))


def parse_grant(stream: TokenStream, verb: str, what: str, release: Release) -> Grant:
    """Parse the rest of a GRANT or REVOKE statement, after its verb and PRIVILEGE or ROLE, and return it."""
    privilege = _privilege_at(stream, release) if what == "PRIVILEGE" else ""
    roles = _names_at(stream) if what == "ROLE" else ()
    stream.expect_word("TO" if verb == "GRANT" else "FROM")
    stream.expect_word("ROLE" if what == "PRIVILEGE" else "USER")
    targets = _names_at(stream)
    stream.expect_end()
    return Grant(verb=verb, privilege=privilege, roles=roles, targets=targets)


def grantable(verb: str, object_name: str) -> bool:
    """Return whether a privilege can be granted; upper and lower case are equal. Source: Oracle DBMMN, grant-privilege."""
    kept_back = object_name.upper() in ("USER", "ROLE") and verb.upper() in ("CREATE", "DROP")
    return verb.upper() not in ("GRANT", "REVOKE") and not kept_back


def _names_at(stream: TokenStream) -> tuple[str, ...] | None:
    if stream.accept_word("ALL"):
        return None
    names = [stream.expect_value().text]
    while stream.accept_symbol(","):
        names.append(stream.expect_value().text)
    return tuple(names)


def _privilege_at(stream: TokenStream, release: Release) -> str:
    """Read a privilege and return it as LIST ROLE shows it."""
    verbs = sorted({verb for owner in object_types().values() for verb in owner.verbs} | {"CALIBRATE"})
    action = "all actions"
    if stream.accept_word("ALL"):
        stream.expect_word("ACTIONS")
    else:
        action = stream.expect_word(*verbs).lower()
    stream.expect_word("ON")
    owner = "all objects"
    if stream.accept_word("ALL"):
        stream.expect_word("OBJECTS")
    else:
        token = stream.peek()
        known = object_types().get(token.text.upper())
        if known is None or not known.exists_in(release):
            raise CellError(Code.SYNTAX, position=token.start)
        owner = stream.take().text.lower()
    attributes, options = "all attributes", "all options"
    if stream.accept_word("ALL"):
        stream.expect_word("ATTRIBUTES")
    elif stream.accept_word("ATTRIBUTES"):
        attributes = ",".join(_names_at(stream) or ())
    if stream.accept_word("WITH"):
        if stream.accept_word("ALL"):
            stream.expect_word("OPTIONS")
        else:
            stream.expect_word("OPTIONS")
            options = ",".join(_options_at(stream))
    if not grantable(action, owner):
        what = f"{action} on {owner}"
        raise CellError(Code.BAD_VALUE, value=what, attribute="privilege", rule="this cannot be granted")
    return f"object={owner}, verb={action}, attributes={attributes}, options={options}"


def _options_at(stream: TokenStream) -> list[str]:
    """Read and return names of options; ORDER BY is one option of two words."""
    found: list[str] = []
    while not found or stream.accept_symbol(","):
        name = stream.expect_value().text
        by = stream.accept_word("BY") if name.upper() == "ORDER" else None
        found.append(f"{name} {by.lower()}" if by else name)
    return found
