"""What HELP prints: the topics, and the form of each statement in our own words, from ``data/help.tsv``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from exacell.emulator.messages import CellError, Code
from exacell.emulator.profiles import METRIC_SWITCHES_SINCE, ONLINE_MODE_SINCE, XRMEM_SINCE
from exacell.emulator.schema import Release, object_types, rows_of

_LISTED = "LIST"
_VERBS = frozenset(("ALTER", "CREATE", "DEREGISTER", "DROP", "GRANT", "LIST", "REGISTER", "REVOKE"))
"""Verbs that HELP lists also by themselves. Source: HELP of 11.2.1.3.1 and 11.2.3.2.1 (Oracle Exadata Survival Guide); that
DonChu7/exacopilot leaves out just these lines, and the three before the topics, when it reads the topics of a 24.x cell."""

_UNLISTED = frozenset(("EXIT", "HELP", "QUIT", "REMARK", "LIST DISKMAP"))
"""Topics that HELP answers and does not list. Source: the same sessions."""

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
    """Return the topics that a release knows, those of LIST included."""
    types = {
        name: owner
        for name, owner in object_types().items()
        if owner.exists_in(release) and not (release >= XRMEM_SINCE and name.startswith("PMEM"))
    }
    plain = {topic for topic in _usage() if topic.rpartition(" ")[2] in (topic, *types)}
    return frozenset(plain | {f"{_LISTED} {name}" for name, owner in types.items() if _LISTED in owner.verbs})


def _listed(topics: frozenset[str], release: Release) -> list[str]:
    """Return the topics that HELP lists: verbs that have several, and the topics themselves."""
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
    if topic in _usage() and topic in topics:
        usage, purpose = _usage()[topic]
    elif topic in topics:
        usage, purpose = _usage()[_LISTED]
        usage = usage.replace("object_type", topic.removeprefix(f"{_LISTED} "))
    else:
        parts = [line for line in sorted(topics) if line.startswith(f"{topic} ")]
        if not parts:
            raise CellError(Code.SYNTAX, position=len("HELP "))
        return "".join(f"\tHELP {line}\n" for line in parts)
    return f"\n  Usage: {usage}\n\n  Purpose: {purpose}\n\n"
