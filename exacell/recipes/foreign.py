"""Words of other languages that people try in a recipe, and what to write instead. Pure.

It is separate from the parser, because it is a table: a new word is one entry here.
"""

from __future__ import annotations

LIKE_BLOCKS = frozenset(("repeat", "loop", "do"))
"""More words that open a block in other languages, or that people expect to; INSTEAD has the others."""

INSTEAD = {
    "if": "put the condition at the end of a statement: `STATEMENT when $name = value`",
    **dict.fromkeys(
        ("for", "foreach"), "a statement is sent to all cells at once; `matrix x in 1,2,4` repeats lines for each value"
    ),
    **dict.fromkeys(("while", "until"), "`wait until …` waits for something"),
    **dict.fromkeys(("case", "switch"), "write one line for each case: `STATEMENT when $name = value`"),
    **dict.fromkeys(
        ("def", "function", "procedure"), "put lines that you need twice into a recipe and write `run NAME`"
    ),
    **dict.fromkeys(("try", "begin"), "`finally` … `end` holds the lines that always run"),
}
"""What to write in a recipe instead of the blocks of other languages."""

INLINE = {
    **dict.fromkeys(("else", "elif", "elsif"), "write a line for the other case: `STATEMENT when $name != value`"),
    **dict.fromkeys(("include", "source", "."), "`run NAME` runs another recipe"),
    **dict.fromkeys(("echo", "print", "printf", "say"), '`prompt "…"` prints a text'),
    "sleep": "`wait 5s` waits",
}
"""What to write in a recipe instead of other words of those languages."""

CLOSING = frozenset(("fi", "done", "esac", "endif", "endfor", "endwhile", "endloop", "}"))
"""Words that close a block in other languages."""
