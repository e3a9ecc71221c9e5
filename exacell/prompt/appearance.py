"""What the prompt says and how everything on it is coloured. Reads the context only; loads little: it comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.styles import Style

from exacell.output.theme import TYPED, in_hexadecimal

if TYPE_CHECKING:
    from exacell.session.context import Context

Fragments = list[tuple[str, str]]

AGAIN = "/"
"""Runs the last statement again, as in SQL*Plus."""

IDLE: Fragments = [("class:toolbar", " Tab completes, help lists the statements, Ctrl-D leaves")]
"""The toolbar while nothing is typed."""

STYLE = Style.from_dict({name: in_hexadecimal(style) for name, style in TYPED.items()})


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
