"""Declarations of the commands that :mod:`exacell.commands.readiness` carries out."""

from __future__ import annotations

from exacell.commands.declared.care import GROUP
from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="can offline",
        group=GROUP,
        effect=Effect.READ,
        summary="whether a cell can go offline now, and if not, why and what would change that",
        details="Each cell is judged alone, as if the others stay: several at a time is never possible, each is a "
        "failure group. Yes needs asmDeactivationOutcome Yes for every grid disk in use, the other cells' disks "
        "ONLINE and caches normal, and no rebalance. Without a cell all selected ones are judged. Exit code 1 when "
        "the answer is no for any.",
        example="can offline exa1cel02",
        params=(
            Param(name="cell", kind=Kind.CELLSET, positional=True, help="one cell, or several to be judged each alone"),
        ),
        handler="exacell.commands.readiness:can_offline",
    ),
    Command(
        name="check patch",
        group=GROUP,
        effect=Effect.READ,
        summary="whether the cells are ready to be patched one after the other, check by check",
        details="Health of every cell, alerts, one release, asmDeactivationOutcome of every grid disk, a quiet ASM, "
        "and room in the disk groups to mirror again what a lost cell held. What the patch itself needs, patchmgr "
        "checks. Exit code 1 when it is not ready.",
        example="check patch",
        handler="exacell.commands.readiness:check_patch",
    ),
)
