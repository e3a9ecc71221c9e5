"""The output of HELP: the topics, and the form of each statement in our own words, from ``data/help.tsv``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import (
    KEY_TYPES_SINCE,
    METRIC_SWITCHES_SINCE,
    ONLINE_MODE_SINCE,
    ORDER_BY_SINCE,
    XRMEM_SINCE,
)
from exacell.emulator.basics.schema import Release, object_types, rows_of

_LISTED = "LIST"
_VERBS = frozenset(("ALTER", "CREATE", "DEREGISTER", "DROP", "GRANT", "LIST", "REGISTER", "REVOKE"))
"""Verbs that HELP lists also by themselves. Source: HELP of 11.2.1.3.1 and 11.2.3.2.1 (Oracle Exadata Survival Guide);
DonChu7/exacopilot skips just these lines, and the three before the topics, when it reads the topics of a 24.x cell.
"""

_UNLISTED = frozenset(("EXIT", "HELP", "QUIT", "REMARK", "LIST DISKMAP", "LIST OFFLOADPACKAGE"))
"""Topics that HELP answers but does not list. Source: the same sessions."""

_ARGUMENTS: Mapping[str, str] = {
    "<name>:": "the object to show",
    "<name1>:": "the metrics to show",
    "<filters>:": "WHERE attribute operator value [AND attribute operator value]...; operators are = != < > LIKE",
    "<attribute_list>:": "ATTRIBUTES {ALL | attribute [, attribute]...}",
    "[DETAIL]:": "shows an attribute on each line",
    "<order_list>:": "attribute [ASC | DESC] [, attribute [ASC | DESC]]...",
}
"""Clauses that may follow LIST, in our own words."""

_LISTED_SINCE: Mapping[str, Release] = {
    "ALTER FLASHCACHE": ONLINE_MODE_SINCE,
    "ALTER METRICDEFINITION": METRIC_SWITCHES_SINCE,
}
"""Topics that HELP lists on these releases and later ones. Source: HELP of 11.2.3.2.1; reference cellcli.md 8."""


@cache
def _usage() -> Mapping[str, tuple[str, str]]:
    return MappingProxyType(
        {topic: (usage, purpose) for topic, usage, purpose in rows_of("help.tsv", folder="emulator")}
    )


@cache
def _topics(release: Release) -> frozenset[str]:
    """Return the topics that a release knows, including those of LIST."""
    types = {
        name: owner
        for name, owner in object_types().items()
        if owner.exists_in(release) and not (release >= XRMEM_SINCE and name.startswith("PMEM"))
    }
    plain = {topic for topic in _usage() if topic != _LISTED and topic.rpartition(" ")[2] in (topic, *types)}
    return frozenset(plain | {f"{_LISTED} {name}" for name, owner in types.items() if _LISTED in owner.verbs})


def _listed(topics: frozenset[str], release: Release) -> list[str]:
    """Return the topics that HELP lists: verbs with several topics, and the topics themselves."""
    shown = {t for t in topics - _UNLISTED if release >= _LISTED_SINCE.get(t, release)}
    verbs = {verb for topic in shown if (verb := topic.partition(" ")[0]) in _VERBS}
    return sorted(shown | verbs)


def help_text(topic: str, release: Release) -> str:
    """Return the list of topics, or the form and purpose of one statement.

    Raises:
        CellError: there is no such topic (CELL-01504).
    """
    topics = _topics(release)
    if not topic:
        return "\n HELP [topic]\n   Available Topics:\n" + "".join(f"\t{line}\n" for line in _listed(topics, release))
    if topic in topics:
        known = _usage().get(topic)
        usage, purpose = known or (_list_usage(topic.removeprefix(f"{_LISTED} "), release), _usage()[_LISTED][1])
        explained = "" if known else _arguments(usage)
        return f"\n  Usage: {usage}\n\n  Purpose: {purpose}\n\n{explained}"
    listed = _listed(topics, release)
    parts = [line.removeprefix(f"{topic} ") for line in listed if line.startswith(f"{topic} ")]
    if not parts:
        raise CellError(Code.SYNTAX, position=len("HELP "))
    return f"\n  HELP {topic} <object_type> shows the form of one.\n    <object_type>:  {{{' | '.join(parts)}}}\n\n"


def _list_usage(name: str, release: Release) -> str:
    """Return the form of LIST for one object type. Source: on-line HELP of a 24.x cell; a published HELP LIST of 11.2."""
    forms = object_types()[name].list_forms
    which = ""
    if "names" in forms:
        which = "[<name1>[, <name2>]... ] [<filters>] "
    elif "name" in forms:
        which = "[<name> | <filters>] "
    elif "filter" in forms:
        which = "[<filters>] "
    columns = "" if name == "DIAGPACK" else "[<attribute_list>] "
    usage = f"{_LISTED} {name} {which}{columns}[DETAIL]"
    if name == "METRICHISTORY":
        usage += " [OVER <minutes> [MAX] [MIN] [AVG]] [MEMORY]"
    if release >= ORDER_BY_SINCE and name != "DIAGPACK":
        usage += " [ORDER BY <order_list>] [LIMIT <number>]"
    if name == "KEY" and release >= KEY_TYPES_SINCE:
        usage += f"\n         {_LISTED} KEY [FOR {{ASMCLUSTER | CELL | LOCAL CELL | REMOTE CELL}}] [DETAIL]"
    return usage


def _arguments(usage: str) -> str:
    shown = [f"    {word:<18}{text}\n" for word, text in _ARGUMENTS.items() if word.rstrip(":") in usage]
    return f"  Arguments:\n{''.join(shown)}\n"
