"""Declarations of the commands that :mod:`exacell.commands.fetching` carries out."""

from __future__ import annotations

from exacell.commands.declared.hosts import GROUP
from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="copy from",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="bring files of hosts here, compared by checksum",
        details="copy from @db:/path DIR, or with ON: on @db copy from /path DIR. Each file becomes DIR/HOST/NAME; "
        "a file that exists here is never replaced. A pattern stands for several files. If a file changes during "
        "the copy, or does not arrive whole, nothing is left here. Only regular files are copied, and nothing "
        "changes on the host. --timeout counts for each file (1h). It is for hosts that are not cells; on exa1cel01 "
        "sh cat /path > FILE brings the text of a cell's file.",
        example="copy from @db:/etc/os-release /tmp/fetched",
        params=(
            Param(
                name="path",
                kind=Kind.TEXT,
                positional=True,
                required=True,
                help="[HOSTS:]/path there, with * for several files",
            ),
            Param(
                name="to", kind=Kind.FILE, positional=True, default=".", help="a folder here; created if it is missing"
            ),
        ),
        hosts=True,
        dry_runs=False,
        handler="exacell.commands.fetching:copy_from",
    ),
)
