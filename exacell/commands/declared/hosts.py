"""Declarations of the commands that :mod:`exacell.commands.hosts` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect

GROUP = "hosts"

COMMANDS = (
    Command(
        name="hosts",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the rack's hosts beside its cells, with their groups",
        details="@db are the database nodes; other groups are named in the configuration: [racks.t1.hosts.initiators] "
        'nodes = "ini[1-2]" (help docs hosts). on @db ..., on @initiators ... sends a statement there. Asks no host.',
        example="hosts",
        handler="exacell.commands.hosts:hosts",
    ),
)
