"""Declarations of the commands that :mod:`exacell.commands.flashcache` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "flash cache"

LIMIT = Flag(name="limit", value=Kind.DURATION, help="cancel a flush that takes longer, and switch caching on")
"""The flag ``--limit`` of the statements that flush a cache."""

COMMANDS = (
    Command(
        name="show flashcache",
        group=GROUP,
        effect=Effect.READ,
        summary="mode, size, dirty and used bytes, status, and whether the cache is caching",
        details="dirty and used come from the cell's last metric collection, once a minute by the cell's clock. "
        "caching is off while the status is flushing or flushed: every read then goes to disk until CANCEL FLUSH.",
        example="show flashcache",
        handler="exacell.commands.flashcache:show",
    ),
    Command(
        name="flush flashcache",
        group=GROUP,
        effect=Effect.WRITE,
        summary="empty the cache, prove that it is empty, and switch caching on again",
        details="FLUSH is sent NOWAIT and followed until every flash cell disk is complete and FC_BY_DIRTY is 0 in "
        "a later collection. Then CANCEL FLUSH is sent, without which caching would stay off. Refused while a flash "
        "disk is not normal, the cache is degraded, or a grid disk with dirty data can't be written. Ctrl-C, or the "
        "end of --limit, ends the wait and switches caching on. A write-back PMEM cache is flushed first and caches "
        "again last.",
        example="flush flashcache -y",
        flags=(LIMIT,),
        params=(
            Param(
                name="recreate",
                kind=Kind.CHOICE,
                choices=("never", "needed"),
                default="never",
                help="needed: drop and re-create the cache at its size if the flush left something in it",
            ),
        ),
        handler="exacell.commands.flashcache:flush",
    ),
    Command(
        name="resize flashcache",
        group=GROUP,
        effect=Effect.WRITE,
        summary="re-create the cache at another size on every cell",
        details="The size is per cell, over all its flash disks, rounded down to equal shares of 16M. A write-back "
        "cache is flushed first, and dropped while the flush is still proven. The flash log keeps its space, and "
        "grid disks on flash are not touched.",
        example="resize flashcache size=288g -y",
        params=(Param(name="size", kind=Kind.SIZE, required=True, help="of the cache per cell, such as 288g"),),
        handler="exacell.commands.flashcache:resize",
    ),
    Command(
        name="set flashcache",
        group=GROUP,
        effect=Effect.WRITE,
        summary="change the cache's mode by the whole procedure of each cell's release",
        details="To write-through: a write-back cache is flushed, proven, dropped while it is flushed, and "
        "re-created at its size; a write-back PMEM cache leaves write-back first. From 11.2.3.3.1 on CELLSRV keeps "
        "running. Before that release each cell's disks go offline and CELLSRV is stopped for the change: one cell "
        "at a time, with gates.",
        example="set flashcache mode=writethrough -y",
        params=(
            Param(
                name="mode",
                kind=Kind.CHOICE,
                choices=("writeback", "writethrough"),
                required=True,
                help="of the flash cache",
            ),
        ),
        handler="exacell.commands.flashcache:set_mode",
    ),
)
