"""Which clauses LIST has for which object; a table that completion reads without loading the parser."""

from __future__ import annotations

from exacell.cellcli.schema import ObjectType

CLAUSES = ("WHERE", "ATTRIBUTES", "DETAIL", "ORDER", "LIMIT")
"""Words that begin a clause of every LIST."""
HISTORY_CLAUSES = ("OVER", "MEMORY")
"""Words that begin a clause of LIST METRICHISTORY only."""


def clauses_of(subject: ObjectType) -> tuple[str, ...]:
    """Return the words that may begin a clause of ``LIST subject``."""
    words = [word for word in CLAUSES if word != "WHERE" or subject.list_filter]
    if subject.name == "METRICHISTORY":
        words += HISTORY_CLAUSES
    if subject.name == "KEY":
        words.append("FOR")
    return tuple(words)
