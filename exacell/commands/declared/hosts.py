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
        details="@db are the database nodes. The configuration names other groups: [racks.t1.hosts.initiators] "
        'nodes = "ini[1-2]" (help docs hosts). on @db ... or on @initiators ... sends a statement there. hosts '
        "itself asks no host.",
        example="hosts",
        handler="exacell.commands.hosts:hosts",
    ),
)
