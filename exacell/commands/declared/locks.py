"""Declarations of the commands that :mod:`exacell.commands.locks` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "change control"

COMMANDS = (
    Command(
        name="lock",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="keep the rack for yourself until unlock; without it a change locks the rack while it runs",
        details="The others are told who holds it and since when. A reason goes to your own journal: everybody on the "
        "host can read a lock, so it holds no text of yours.",
        example="lock reason='benchmark until noon'",
        params=(
            Param(name="reason", kind=Kind.TEXT, help="why, for your journal; --reason and --ticket say it as well"),
        ),
        recipe_ok=False,
        handler="exacell.commands.locks:lock",
    ),
    Command(
        name="unlock",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="give the rack's lock back; --takeover removes somebody else's",
        details="A change of a process that has ended on this host holds nothing, and needs no takeover. Who took "
        "over from whom, and why (--reason), is in the journal. A change that still runs elsewhere stops before its "
        "next statement.",
        example="unlock",
        flags=(Flag(name="takeover", help="remove it although somebody else holds it"),),
        recipe_ok=False,
        handler="exacell.commands.locks:unlock",
    ),
    Command(
        name="show lock",
        group=GROUP,
        effect=Effect.READ,
        summary="who holds the rack's lock, since when, and for which change",
        example="show lock",
        handler="exacell.commands.locks:show_lock",
    ),
)
