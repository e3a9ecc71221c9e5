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
        details="copy from @db:/path DIR, or with ON: on @db copy from /path DIR. Each file becomes DIR/HOST/NAME; one that is "
        "here already is never replaced. Patterns stand for several files. A file that changed meanwhile, or did not come "
        "whole, leaves nothing here. Regular files alone are copied, and nothing changes on the host. --timeout is for each "
        "file (1h).",
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
                name="to", kind=Kind.FILE, positional=True, default=".", help="a folder here, made where it is missing"
            ),
        ),
        hosts=True,
        dry_runs=False,
        handler="exacell.commands.fetching:copy_from",
    ),
)
