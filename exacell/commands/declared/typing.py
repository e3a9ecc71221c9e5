"""Declarations of the commands that :mod:`exacell.commands.typing` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Kind, Param

GROUP = "session"

HISTORY_SHOWN = 30

COMMANDS = (
    Command(
        name="history",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="the statements entered at the prompt, oldest first",
        details="Those of this rack, and of none; rack=NAME shows another rack's, rack=all every one. Kept on disk "
        "for its owner only; statements with passwords or keys are not kept.",
        example="history last=10",
        params=(
            Param(name="last", kind=Kind.INT, default=str(HISTORY_SHOWN), help="so many"),
            Param(name="rack", kind=Kind.RACK, words=("all",), help="where they were entered"),
            Param(name="word", kind=Kind.TEXT, positional=True, help="only those that contain it"),
        ),
        recipe_ok=False,
        handler="exacell.commands.typing:history",
    ),
    Command(
        name="alias",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="a short word for a statement at the prompt; alias alone lists them",
        details="$1 to $9 are the words behind the alias, ${1:-word} has a default, $* is all of them; words that no "
        "placeholder takes are added at the end. The definition takes the whole line, ';' and '|' included. Aliases "
        "are for the prompt: scripts and recipes do not know them.",
        example="alias fd list griddisk attributes name,size where name like ${1:-.*}",
        params=(Param(name="definition", kind=Kind.TEXT, positional=True, rest=True, help="a name and its statement"),),
        recipe_ok=False,
        handler="exacell.commands.typing:alias",
    ),
    Command(
        name="unalias",
        group=GROUP,
        effect=Effect.LOCAL,
        dry_runs=False,
        summary="remove an alias",
        example="unalias fd",
        params=(Param(name="name", kind=Kind.ALIAS, positional=True, required=True, help="of the alias"),),
        recipe_ok=False,
        handler="exacell.commands.typing:unalias",
    ),
    Command(
        name="edit",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="write a statement in $EDITOR: the last one, or the one of that number in history",
        details="What is saved stands at the next prompt, where Enter runs it. Ctrl-X Ctrl-E (v in vi's navigation "
        "mode) does the same with the line that is being typed.",
        example="edit 12",
        params=(Param(name="number", kind=Kind.INT, positional=True, help="as history shows it"),),
        recipe_ok=False,
        handler="exacell.commands.typing:edit",
    ),
)
