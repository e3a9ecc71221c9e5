"""Declarations of the commands that :mod:`exacell.commands.recipes` carries out."""

from __future__ import annotations

from exacell.language.registry import Command, Effect, Flag, Kind, Param

GROUP = "recipes"

_RECIPE = Param(name="name", kind=Kind.RECIPE, positional=True, required=True, help="the recipe")

_TEXT = Param(name="text", kind=Kind.TEXT, positional=True, required=True, rest=True, help="in quotes")

COMMANDS = (
    Command(
        name="recipes",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="list the recipes, with what they do and their parameters",
        details="A recipe is a file of statements, one a line. To make one, put the lines that history shows into "
        "NAME.exa in the folder recipes beside the configuration (~/.config/exacell/recipes). run NAME runs it; run "
        "NAME -n only shows what it would do.",
        example="recipes",
        params=(Param(name="word", kind=Kind.TEXT, positional=True, help="only those whose name or title holds it"),),
        handler="exacell.commands.recipes:recipes",
    ),
    Command(
        name="show recipe",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="a recipe's text",
        example="show recipe reset_cold",
        params=(_RECIPE,),
        handler="exacell.commands.recipes:show",
    ),
    Command(
        name="check recipe",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="check every word of a recipe without running anything",
        details="Checks header, blocks, conditions and every statement, with each word that a parameter may have. "
        "Objects, attributes, metrics and kinds must exist. Each mistake is listed on a line of its own. Exit code "
        "2 when there is one.",
        example="check recipe reset_cold",
        params=(_RECIPE,),
        recipe_ok=False,
        handler="exacell.commands.recipes:check_one",
    ),
    Command(
        name="run",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="run a recipe; @name does the same",
        details="Each changing statement is planned, shown, confirmed and journalled as if you typed it; -y "
        "confirms all of them. stdout has the answers of its reading statements, stderr has the rest. -n shows what "
        "would be done; it takes no snapshot and does not wait. --pause, --not-after and --timeout count between "
        "the waves of a rolling block.",
        example="run reset_cold size=288g -y",
        params=(_RECIPE,),
        flags=(Flag(name="accept-opaque", help="let host commands of the recipe run"),),
        open_keys=True,
        runs=True,
        handler="exacell.commands.recipes:run",
    ),
    Command(
        name="check",
        group=GROUP,
        effect=Effect.READ,
        summary="check a condition on every selected cell; if it is not true, the recipe stops",
        details="check all <object>.<attribute> <op> <value> [where a=b and …]: every such object; check no "
        "<object> [where …]: there is no such object; check same <object>.<attribute>, …: equal on all cells. check "
        '<statement that reads>.<column> [of <cell or name>] <op> <value> ["why"]: every value in that column of '
        "its answer. Operators are = != < <= > >=; sizes, durations and percents can be compared.",
        example="check all flashcache.status = normal",
        params=(
            Param(
                name="fact",
                kind=Kind.FACT,
                positional=True,
                required=True,
                rest=True,
                help="all …, no …, same … or STATEMENT.COLUMN …",
            ),
        ),
        handler="exacell.commands.recipes:check",
    ),
    Command(
        name="wait",
        group=GROUP,
        effect=Effect.READ,
        dry_runs=False,
        summary="wait for a time, or until a check holds",
        details="wait 60s, or wait until all flashcache.status = normal. With until the cells are read every every= "
        "(default: the rack's poll), for at most for= (1h). Ctrl-C ends the wait.",
        example="wait until all flashcache.status = normal every=5s for=1h",
        params=(
            Param(name="every", kind=Kind.DURATION, help="with until: between two looks at the cells"),
            Param(name="for", kind=Kind.DURATION, help="with until: when to give up"),
            Param(
                name="what", kind=Kind.UNTIL, positional=True, required=True, rest=True, help="a duration or until …"
            ),
        ),
        handler="exacell.commands.recipes:wait",
    ),
    Command(
        name="prompt",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="show a text to the operator",
        example='prompt "the caches are cold"',
        params=(_TEXT,),
        handler="exacell.commands.recipes:prompt",
    ),
    Command(
        name="confirm",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="keep a change made with --confirm-within; in a recipe, ask the operator a question",
        details="confirm alone keeps every change of this rack that waits; with a number only that change. With a "
        "text it asks a question: the answer no, or nobody at the terminal, ends the recipe.",
        example='confirm "is the load stopped?"',
        params=(
            Param(
                name="text",
                kind=Kind.TEXT,
                positional=True,
                rest=True,
                help="a change's number, or a question in quotes",
            ),
        ),
        handler="exacell.commands.recipes:confirm",
    ),
)
