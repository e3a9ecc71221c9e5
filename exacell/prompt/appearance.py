"""Build the prompt's text and colours. Only reads the session, and imports little, because it is loaded first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.styles import Style

from exacell.core.units import counted
from exacell.output.theme import TYPED, in_hexadecimal

if TYPE_CHECKING:
    from exacell.session.state import Session

Fragments = list[tuple[str, str]]

AGAIN = "/"
"""Runs the last statement again, as in SQL*Plus."""

IDLE: Fragments = [("class:toolbar", " Tab completes, help lists the statements, Ctrl-D leaves")]
"""The toolbar while nothing is typed."""

STYLE = Style.from_dict({name: in_hexadecimal(style) for name, style in TYPED.items()})


def prompt_fragments(session: Session, *, pending: int = 0, done: bool = False) -> Fragments:
    """Return the prompt: ``t1 3 cells RW exacell> ``, red on a production rack; only ``exacell> `` without a rack. While a
    recipe is recorded, ``rec NAME`` comes before ``exacell``.

    Args:
        pending: number of open warnings; shown as ``!`` and the number.
        done: whether the line was entered. The text stays the same, but the ``>`` gets its own style, so that a
            program that waits for a prompt in the terminal's raw stream matches only prompts that wait for input.
    """
    fragments: Fragments = []
    if session.rack is not None:
        production = session.in_production()
        fragments.append(("class:prompt.production" if production else "class:prompt.rack", session.rack.name))
        fragments.append(("class:prompt", f" {_cells(session)} "))
        fragments.append(("class:prompt.ro", "RO") if session.changes_nothing else ("class:prompt.rw", "RW"))
        if pending:
            fragments.append(("class:prompt.pending", f" !{pending}"))
        fragments.append(("class:prompt", " "))
        style = "class:prompt.production" if production else "class:prompt"
    else:
        style = "class:prompt"
    if session.recorded is not None:
        fragments += [("class:prompt.recording", f"rec {session.recorded.name}"), ("class:prompt", " ")]
    if done:
        return [*fragments, (style, "exacell"), (f"{style} bold", "> ")]
    return [*fragments, (style, "exacell> ")]


def _cells(session: Session) -> str:
    assert session.rack is not None
    if not session.rack.cells:
        return counted(len(session.rack.host_names), "host")
    total, count = len(session.rack.cells), len(session.selected())
    noun = "cell" if total == 1 else "cells"
    return f"{count} {noun}" if count == total else f"{count}/{total} {noun}"
