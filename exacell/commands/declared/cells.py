"""Declarations of the commands that :mod:`exacell.commands.cells` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="trust",
        group="racks",
        effect=Effect.LOCAL,
        summary="show a cell's host key and keep it in known_hosts after you agreed",
        details="Before you agree, compare the fingerprint with the one on the cell's console (ssh-keygen -lf "
        "/etc/ssh/ssh_host_ed25519_key.pub). A key that has changed or was revoked is never replaced here.",
        example="trust exa1cel01",
        params=(Param(name="cell", kind=Kind.CELL, positional=True, required=True, help="the cell or database node"),),
        recipe_ok=False,
        handler="exacell.commands.cells:trust",
    ),
)
