"""What HELP prints: the topics, and the form of each statement in our own words, from ``data/help.tsv``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from exacell.emulator.messages import CellError, Code
from exacell.emulator.profiles import XRMEM_SINCE
from exacell.emulator.schema import Release, object_types, rows_of

_LISTED = "LIST"


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


def help_text(topic: str, release: Release) -> str:
    """Return the list of topics, or the form and purpose of one statement.

    Raises:
        CellError: there is no such topic (CELL-01504).
    """
    topics = _topics(release)
    if not topic:
        return "HELP [topic]\n" + "".join(f"\t{line}\n" for line in ("Available Topics:", *sorted(topics)))
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
