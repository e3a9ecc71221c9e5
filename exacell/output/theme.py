"""Hold the only table of colours: the look of each meaning, in output, in rich's drawings and in the typed line. Pure.

Every colour has a meaning: red is lost or failed, yellow waits or needs attention, green is done, grey explains.
The colours are taken from the 256 that terminals know. Each is readable on black and on white, because a program can't find
out the background of a terminal. Source: ECMA-48, 8.3.117, SGR; xterm, ctlseqs, "88- and 256-color support"; WCAG 2.2,
relative luminance.
"""

from __future__ import annotations

COLOURS = {"red": 196, "yellow": 136, "green": 29, "grey": 244, "blue": 33, "cyan": 31, "magenta": 133}
"""Numbers among the 256 colours, 16 and above: the user's theme may change those below."""

MEANINGS = {
    "title": "bold",
    "error": "bold red",
    "warning": "yellow",
    "odd": "bold yellow",
    "good": "green",
    "dim": "grey",
    "changed": "reverse",
    "marked": "reverse",
}
"""For printed text: each meaning with its attributes and colour."""

TYPED = {
    "prompt": "green",
    "prompt.rack": "bold",
    "prompt.production": "bold red",
    "prompt.ro": "cyan",
    "prompt.rw": "yellow",
    "prompt.pending": "bold red",
    "prompt.recording": "bold yellow",
    "verb": "bold blue",
    "object": "cyan",
    "attribute": "green",
    "param": "green",
    "keyword": "blue",
    "metric": "magenta",
    "string": "green",
    "number": "magenta",
    "flag": "magenta",
    "cells": "cyan underline",
    "recipe": "magenta",
    "comment": "grey",
    "wrong": "underline red",
    "auto-suggestion": "grey",
    "bottom-toolbar": "noreverse",
    "toolbar": "grey",
    "toolbar.write": "bold yellow",
    "toolbar.wrong": "red",
}
"""For the typed line and around it: prompt_toolkit's name, with its attributes and colour."""

_ATTRIBUTES = {"bold": "1", "underline": "4", "reverse": "7"}

ASCII = str.maketrans({
    "·": "-", "→": "->", "←": "<-", "×": "x", "…": "...", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "±": "+/-",
    "✓": "ok", "✗": "x", "▸": ">", "▾": "v", "•": "*", "’": "'", "“": '"', "”": '"', "µ": "u", "█": "#", "░": ".",
})  # fmt: skip
"""ASCII replacements for the special characters of exacell's own texts."""


def escape(style: str) -> str:
    """Return the escape sequence that begins a style; empty for an empty style."""
    codes = [_ATTRIBUTES.get(word) or f"38;5;{COLOURS[word]}" for word in style.split()]
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a colour, each 0 to 255. Source: xterm's 256colres.h, a cube of six steps, then greys."""
    number = COLOURS[colour]
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return level, level, level
    steps = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(number - 16, 36)
    return steps[red], steps[rest // 6], steps[rest % 6]


def in_hexadecimal(style: str) -> str:
    """Return a style in prompt_toolkit's notation: ``bold #ff0000``."""
    return " ".join("#{:02x}{:02x}{:02x}".format(*rgb(word)) if word in COLOURS else word for word in style.split())


def for_rich(style: str) -> str:
    """Return a style in rich's notation: ``bold color(196)``."""
    return " ".join(f"color({COLOURS[word]})" if word in COLOURS else word for word in style.split())
