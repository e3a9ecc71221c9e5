"""What stands on the standard input of a command, where the shell text itself says it. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from exacell.dcli.shell import Simple
from exacell.dcli.shellvalues import Values
from exacell.dcli.shellwords import Word


def standard_input(command: Simple, values: Values) -> Word | None:
    """Return the text that a command reads; None when it does not stand in the script, or can't be told.

    Several here-documents count all, whatever descriptor they are for.
    """
    if any(re.fullmatch(r"\{\w+\}", word.text) for word in command.words[-1:]):
        return None  # It names a descriptor.
    bodies: list[Word] = []
    for redirection in command.redirections:
        if redirection.body is not None:
            bodies.append(redirection.body)
        elif "<" in redirection.operator:
            return None
    if bodies:
        text = "".join(f"{body.text}\n" for body in bodies)
        return Word(text=text, dynamic=any(b.dynamic for b in bodies), code=any(b.code for b in bodies))
    source = command.source
    if source is None or command.fed or not source.words or values.defines(source.words[0].text):
        return None
    name, rest = source.words[0].text, source.words[1:]
    if name == "cat" and not rest:
        return standard_input(source, values)
    if name == "echo":
        return _echoed(rest)
    return _printed(rest) if name == "printf" else None


def _echoed(words: Sequence[Word]) -> Word | None:
    """Return what echo prints; ``\\n`` counts as the line break that some shells make of it."""
    while words and re.fullmatch(r"-[neE]+", words[0].text):
        words = words[1:]
    text = " ".join(word.text for word in words).replace("\\n", "\n")
    return None if "\\" in text else _word(f"{text}\n", words)


def _printed(words: Sequence[Word]) -> Word | None:
    """Return what printf prints, where its format has no more than ``%s``, ``%%`` and line breaks."""
    if not words or words[0].dynamic or words[0].text.startswith("-"):
        return None
    layout = words[0].text.replace("\\n", "\n")
    if "\\" in layout or "%" in re.sub(r"%[s%]", "", layout):
        return None
    pieces = re.split(r"(%s|%%)", layout)
    given = [word.text for word in words[1:]]
    found: list[str] = []
    while True:
        for piece in pieces:
            found.append("%" if piece == "%%" else (given.pop(0) if given else "") if piece == "%s" else piece)
        if not given or "%s" not in pieces:
            return _word("".join(found), words)


def _word(text: str, words: Sequence[Word]) -> Word | None:
    """Return what is written of the words; None where the shell makes others of them."""
    if any(word.glob or word.braces for word in words):
        return None
    inner = tuple(one for word in words for one in word.inner)
    code = any(word.code for word in words)
    return replace(Word(text=text), dynamic=any(word.dynamic for word in words), inner=inner, code=code)
