"""Words of other languages that people try in a recipe, and what recipes have in their place. Pure."""

from __future__ import annotations

LIKE_BLOCKS = frozenset(("repeat", "loop", "do"))
"""Words that open a block in other languages, or do so in people's minds, beside those of INSTEAD."""

INSTEAD = {
    "if": "a condition ends a statement: … when $name = value",
    **dict.fromkeys(
        ("for", "foreach"), "a statement goes to all cells, and matrix x in 1,2,4 writes lines out for each value"
    ),
    **dict.fromkeys(("while", "until"), "wait until … waits for something"),
    **dict.fromkeys(("case", "switch"), "a line of its own for each case: … when $name = value, … when $name = other"),
    **dict.fromkeys(("def", "function", "procedure"), "lines that are used again are a recipe of their own: run NAME"),
    **dict.fromkeys(("try", "begin"), "finally … end holds what runs in any case"),
}
"""What recipes have for the blocks of other languages."""

INLINE = {
    **dict.fromkeys(("else", "elif", "elsif"), "a line of its own for the other case: … when $name != value"),
    **dict.fromkeys(("include", "source", "."), "run NAME runs another recipe"),
    **dict.fromkeys(("echo", "print", "printf", "say"), 'prompt "…" says something'),
    "sleep": "wait 5s waits",
}
"""What recipes have for other words of theirs."""

CLOSING = frozenset(("fi", "done", "esac", "endif", "endfor", "endwhile", "endloop", "}"))
"""Words that close a block in other languages."""
