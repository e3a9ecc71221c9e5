"""What the journal says of statements that make counters begin anew: flushes, new caches and logs, restarts of CELLSRV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from exacell.core.values import dataclass
from exacell.journal.rows import Entry, Outcome, StepRow

FLASHCACHE, FLASHLOG = "flashcache", "flashlog"

_NOT_DONE = ("failed", "not done")
"""States of a statement that did nothing, as far as that is known."""

_RESETS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    r"\bSERVICES?\s+(?:CELLSRV|ALL)\b|\bservice\s+celld\s+\w*st(?:art|op)\b|\bsystemctl\s+\w*st(?:art|op)\s+celld\b": (
        "stopped or started CELLSRV",
        (FLASHCACHE, FLASHLOG),
    ),
    r"\b(?:reboot|shutdown\s+-|poweroff|init\s+[06])": ("restarted the host", (FLASHCACHE, FLASHLOG)),
    r"\bALTER\s+(?:FLASHCACHE|CELLDISK|GRIDDISK)\b[^;]*\bFLUSH\b": ("flushed, or ended a flush", (FLASHCACHE,)),
    r"\b(?:CREATE|DROP)\s+FLASHCACHE\b|\bALTER\s+FLASHCACHE\b[^;]*\b(?:SIZE|CELLDISK)\s*=": (
        "made the flash cache anew",
        (FLASHCACHE,),
    ),
    r"\bALTER\s+CELL\b[^;]*\bFLASHCACHEMODE\s*=": ("changed the flash cache's mode", (FLASHCACHE,)),
    r"\b(?:CREATE|DROP)\s+FLASHLOG\b": ("made the flash log anew", (FLASHLOG,)),
    r"\b(?:CREATE|DROP)\s+CELL\b": ("made the cell anew", (FLASHCACHE, FLASHLOG)),
}
"""What a statement's text holds → what it did, and which counters begin anew.

Source: reference cellcli.md 4 and 6.2: FC_* begin anew with CANCEL FLUSH and a new cache, FL_* with a new log, all with CELLSRV.
"""


@dataclass(frozen=True, kw_only=True)
class Reset:
    """A change that made counters of a cell begin anew, or may have: its answer may have been lost.

    Attributes:
        kinds: of counters: ``flashcache``, ``flashlog``.
    """

    change: int
    cell: str
    did: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return f"change {self.change} {self.did} in between"


def resets(rows: Iterable[Entry]) -> list[Reset]:
    """Return what made counters begin anew, in the rows' order; what a cell refused to do is left out.

    Args:
        rows: intents and outcomes, in order. An outcome without its intent counts as its intent would.
    """
    found: dict[tuple[int, tuple[str, str]], list[Reset]] = {}
    for row in rows:
        if not isinstance(row, StepRow):
            continue
        key = (row.change, row.key)
        if isinstance(row, Outcome) and row.state in _NOT_DONE:
            found.pop(key, None)
        elif key not in found:
            text = f"{row.statement} {row.what}"
            found[key] = [
                Reset(change=row.change, cell=row.target, did=did, kinds=kinds) for did, kinds in _done_by(text)
            ]
    return [reset for some in found.values() for reset in some]


def _done_by(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [said for pattern, said in _RESETS.items() if re.search(pattern, text, re.IGNORECASE)]
