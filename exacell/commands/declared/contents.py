"""Declarations of the commands that :mod:`exacell.commands.contents` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "flash cache"

COMMANDS = (
    Command(
        name="show flashcachecontent",
        group=GROUP,
        effect=Effect.READ,
        summary="the objects that fill the flash cache, summed over the cells, with owner and name from the database",
        details="Each cell lists its 100 biggest objects; an object that is small on every cell is not counted. "
        "Names come from DBA_OBJECTS, read on a node that runs the database. Without database nodes, or with "
        "names=no, you see object numbers.",
        example="show flashcachecontent db=SPOT top=20",
        params=(
            Param(name="db", kind=Kind.DB, help="only this database's objects"),
            Param(name="top", kind=Kind.INT, default="20", help="so many objects, 1 to 100"),
            Param(name="names", kind=Kind.BOOL, default="yes", help="no: do not ask the database"),
        ),
        handler="exacell.commands.contents:show_contents",
    ),
)
