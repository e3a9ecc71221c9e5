"""Declarations of the commands that :mod:`exacell.commands.memorycache` carries out."""

from __future__ import annotations

from exacell.commands.declared.flashcache import GROUP, LIMIT
from exacell.language.registry import Command, Effect

_DETAILS = (
    "Both names mean the same cache: PMEMCACHE before release 23.1, XRMEMCACHE since. memory is pmem (X8M, X9M) or "
    "dram (X10M and later). used comes from the cell's last metric collection. dirty is 0 when the cache is "
    "write-through or its status is normal - flushed; cells have no metric for the dirty bytes of a write-back one. "
    "caching is off while the status is flushing or flushed, until ALTER PMEMCACHE ALL CANCEL FLUSH. A cell without "
    "such a cache has empty columns."
)

_FLUSH_DETAILS = (
    "Both names do the same: ALTER PMEMCACHE before release 23.1, ALTER XRMEMCACHE since. FLUSH is sent NOWAIT and "
    "followed until every PMEM cell disk is complete and the status is normal - flushed. Then CANCEL FLUSH is sent, "
    "without which the cache would stay off. Dirty data in write-back PMEM goes down to the flash cache; flush "
    "flashcache flushes both. Refused while the cache is degraded, or a grid disk with dirty data can't be written. "
    "Ctrl-C, or the end of --limit, ends the wait and lets it cache again. Not applicable from X10M on, where the "
    "cache is in DRAM, and on cells without one."
)

_NAMES = {
    "pmemcache": (
        "show xrmemcache by its name before release 23.1: mode, size, dirty and used bytes, status, caching",
        "flush xrmemcache by its name before release 23.1: flush PMEM, prove it flushed, let it cache again",
    ),
    "xrmemcache": (
        "the cache in memory of X8M and later: mode, size, dirty and used bytes, status, whether it is caching",
        "flush the cache on persistent memory (X8M, X9M), prove it flushed, and let it cache again",
    ),
}
"""The cache's names, one for each generation of releases, with the words for its show and flush commands."""

COMMANDS = (
    *(
        Command(
            name=f"show {name}",
            group=GROUP,
            effect=Effect.READ,
            summary=shown,
            details=_DETAILS,
            example=f"show {name}",
            handler="exacell.commands.memorycache:show",
        )
        for name, (shown, _) in _NAMES.items()
    ),
    *(
        Command(
            name=f"flush {name}",
            group=GROUP,
            effect=Effect.WRITE,
            summary=flushed,
            details=_FLUSH_DETAILS,
            example=f"flush {name} -y",
            flags=(LIMIT,),
            handler="exacell.commands.memorycache:flush",
        )
        for name, (_, flushed) in _NAMES.items()
    ),
)
