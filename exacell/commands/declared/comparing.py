"""Declarations of the commands that :mod:`exacell.commands.comparing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "metrics"

_ANYWAY = Flag(name="anyway", help="also what is not alike, marked with what differs")

COMMANDS = (
    Command(
        name="compare",
        group=GROUP,
        effect=Effect.READ,
        summary="what B says beside A, and whether it is more than chance",
        details="A and B are imports or files that import reads, snapshots, or sets of trace files (with * and in quotes). "
        "Imports are compared load by load: the ratio, with an interval where runs or samples tell how much it varies. "
        "What was measured by other programs or under other conditions is refused with what differs.",
        example="compare before after",
        params=(
            Param(name="a", kind=Kind.MEASURED, positional=True, required=True, help="what is compared with"),
            Param(name="b", kind=Kind.MEASURED, positional=True, required=True, help="what is compared"),
        ),
        flags=(_ANYWAY,),
        handler="exacell.commands.comparing:compare",
    ),
)
