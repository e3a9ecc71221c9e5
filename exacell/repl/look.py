"""What the prompt and its toolbar say: rack, cells, RO or RW, and what Enter will do. Reads the context only."""

from __future__ import annotations

from prompt_toolkit.styles import Style

from exacell.cellset import CellSet
from exacell.context import Context
from exacell.errors import ExacellError
from exacell.language.line import Line, find_command
from exacell.language.registry import Effect
from exacell.language.words import split_words
from exacell.output.faults import sentence
from exacell.repl.check import live_error, verdicts

Fragments = list[tuple[str, str]]

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "prompt.rack": "bold",
        "prompt.production": "ansired bold",
        "prompt.ro": "ansicyan",
        "prompt.rw": "ansiyellow",
        "prompt.pending": "ansired bold",
        "verb": "bold ansiblue",
        "object": "ansicyan",
        "attribute": "ansigreen",
        "param": "ansigreen",
        "keyword": "ansiblue",
        "metric": "ansimagenta",
        "string": "ansiyellow",
        "number": "ansimagenta",
        "flag": "ansimagenta",
        "cells": "ansicyan underline",
        "recipe": "ansimagenta",
        "comment": "ansibrightblack",
        "wrong": "underline ansired",
        "auto-suggestion": "ansibrightblack",
        "bottom-toolbar": "noreverse",
        "toolbar": "ansibrightblack",
        "toolbar.write": "ansiyellow",
        "toolbar.wrong": "ansired",
    }
)


def prompt_fragments(ctx: Context, *, pending: int = 0, done: bool = False) -> Fragments:
    """Return the prompt: ``t1 3 cells RW exacell> ``, red on a production rack; just ``exacell> `` without a rack.

    Args:
        pending: number of warnings that wait; shown as ``!``.
        done: the line was entered. The text stays the same; the ``>`` is drawn in a style of its own, so that a
            program that waits for a prompt in the terminal's raw stream sees the waiting ones only.
    """
    fragments: Fragments = []
    if ctx.rack is not None:
        production = ctx.rack.production
        fragments.append(("class:prompt.production" if production else "class:prompt.rack", ctx.rack.name))
        fragments.append(("class:prompt", f" {_cells(ctx)} "))
        fragments.append(("class:prompt.ro", "RO") if ctx.read_only else ("class:prompt.rw", "RW"))
        if pending:
            fragments.append(("class:prompt.pending", f" !{pending}"))
        fragments.append(("class:prompt", " "))
        style = "class:prompt.production" if production else "class:prompt"
    else:
        style = "class:prompt"
    if done:
        return [*fragments, (style, "exacell"), (f"{style} bold", "> ")]
    return [*fragments, (style, "exacell> ")]


def _cells(ctx: Context) -> str:
    assert ctx.rack is not None
    total, count = len(ctx.rack.cells), len(ctx.selected())
    noun = "cell" if total == 1 else "cells"
    return f"{count} {noun}" if count == total else f"{count}/{total} {noun}"


def toolbar_fragments(ctx: Context, text: str, cursor: int) -> Fragments:
    """Return what the toolbar says about what is typed: the error, else what Enter will do, else how it goes on."""
    wrong = live_error(text, cursor)
    if wrong is not None:
        return [("class:toolbar.wrong", " " + sentence(wrong[2]))]
    found = verdicts(text)
    if not found:
        return [("class:toolbar", " Tab completes, help lists the statements, Ctrl-D leaves")]
    lines = [verdict.line for verdict in found if verdict.line is not None]
    if len(lines) < len(found):
        return [("class:toolbar", " " + _usage(found[-1].segment.text))]
    worst = max(lines, key=lambda line: _WEIGHT[line.effect])
    style = "class:toolbar.write" if _WEIGHT[worst.effect] > 1 else "class:toolbar"
    return [(style, " " + intent(ctx, worst))]


_WEIGHT = {Effect.LOCAL: 0, Effect.READ: 1, Effect.OPAQUE: 2, Effect.WRITE: 3}


def intent(ctx: Context, line: Line) -> str:
    """Return what Enter will do: ``read on 3 cells as cellmonitor``, ``WRITE on 3 cells: plan first``."""
    if line.shell:
        return "local shell command"
    effect = line.effect
    if effect is Effect.LOCAL:
        return "changes only exacell's own state"
    where = _target(ctx, line)
    dry = bool(line.flags.get("dry-run"))
    if effect is Effect.READ:
        user = f" as {ctx.options.login or ctx.rack.read_user}" if ctx.rack is not None else ""
        return f"read on {where}{user}"
    if dry:
        return f"plan for {where}: nothing is sent"
    if ctx.read_only:
        return f"WRITE on {where}: refused, the session is read-only (set mode rw)"
    if effect is Effect.OPAQUE:
        return f"OPAQUE on {where}: exacell can't read what it does"
    return f"WRITE on {where}: plan first" + (", then without a question" if line.flags.get("yes") else "")


def _target(ctx: Context, line: Line) -> str:
    if line.on:
        try:
            count = len(CellSet.parse(line.on)) if ctx.rack is None else len(ctx.resolve(line.on))
        except ExacellError:
            return line.on
        return f"{count} cell{'' if count == 1 else 's'}"
    if ctx.rack is None:
        return "no rack yet (connect <rack>)"
    count = len(ctx.selected())
    return f"{count} cell{'' if count == 1 else 's'}"


def _usage(text: str) -> str:
    try:
        words = split_words(text)
    except ExacellError as error:
        return sentence(error)
    command = find_command(words) if words else None
    return f"{command.usage}   {command.summary}" if command is not None else ""
