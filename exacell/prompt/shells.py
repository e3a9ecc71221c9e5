"""Complete words for bash, zsh and fish: ``exacell --complete <shell> <index> <word>…``.

The files in ``completions/`` call it. They are small and static; this hidden option finds all that they offer in the registry,
the schema and names on disk, and never connects to anything or imports a large library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TextIO

from exacell.core.errors import ExacellError, ExitCode
from exacell.core.formats import FORMATS
from exacell.core.paths import Home
from exacell.language.options import OPTIONS, Option, is_option
from exacell.language.registry import Kind
from exacell.language.suggestion import Known
from exacell.language.words import takes_all_words

SHELLS = ("bash", "zsh", "fish")


def complete(args: Sequence[str], out: TextIO) -> int:
    """Print the candidates for one word, one per line, with a description after a tab for zsh and fish.

    Args:
        args: the shell, the index of the word at the cursor, and the words, beginning with the program's name. The word at
            the cursor may be missing if it is empty.

    A candidate replaces the whole word. If nothing is known the output is empty, never an error, because a shell's prompt
    is no place for messages.
    """
    if len(args) < 2 or args[0] not in SHELLS or not args[1].isdigit():
        print(f"usage: exacell --complete {{{'|'.join(SHELLS)}}} INDEX WORD...", file=sys.stderr)
        return ExitCode.NOT_EXECUTED
    shell, index = args[0], int(args[1])
    words = list(args[2:])[: index + 1]
    words += [""] * (index + 1 - len(words))
    try:
        found = list(candidates(words[1:], os.environ))
    except ExacellError:
        # A broken configuration is reported by the statement itself, not while it is being typed.
        found = []
    lines = []
    for text, meta in dict(found).items():
        # A description must be one line, even if the registry's text has several.
        note = " ".join(meta.split())
        lines.append(f"{text}\t{note}\n" if note and shell != "bash" else f"{text}\n")
    out.write("".join(lines))
    return ExitCode.DONE


def candidates(words: Sequence[str], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (whole word, description) for the last of ``words``, which are the words after the program's name."""
    *rest, typed = words or [""]
    values: dict[str, str] = {}
    known = _known(values, env)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        if rest[0] == "--":
            yield from _statement(rest[1:], typed, known)
            return
        open_option = _take(rest, values)
        if open_option is not None:
            yield from _option_values(open_option, typed, known)
            return
    if rest and not takes_all_words(" ".join(rest)):
        kept: list[str] = []
        while rest:
            if not is_option(rest[0]):
                kept.append(rest.pop(0))
                continue
            open_option = _take(rest, values)
            if open_option is not None:
                yield from _option_values(open_option, typed, known)
                return
        rest = kept
        if typed.startswith("-"):
            yield from _statement(rest, typed, known)
            # A statement is already there, so that no other one can follow.
            ours = (pair for pair in _options(typed, known) if is_option(pair[0]))
            yield from (pair for pair in ours if pair[0] not in ("-e", "--execute", "-f", "--file"))
            return
    if not rest and typed.startswith("-"):
        yield from _options(typed, known)
    elif "execute" not in values:
        yield from _statement(rest, typed, known)


def _take(rest: list[str], values: dict[str, str]) -> Option | None:
    """Remove the option at the start of ``rest`` and its value; return the option if its value is being typed."""
    option, value = _option(rest.pop(0))
    if option is None or not option.value:
        return None
    if not value and not rest:
        return option
    values[option.name] = value or rest.pop(0)
    return None


def _option(word: str) -> tuple[Option | None, str]:
    """Return the option in ``word``, and the value attached to it."""
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        return next((option for option in OPTIONS if option.name == name), None), value
    for place, letter in enumerate(word[1:], start=1):
        option = next((option for option in OPTIONS if option.short == letter), None)
        if option is None or option.value:
            return option, word[place + 1 :].removeprefix("=")
    return None, ""


def _options(typed: str, known: Known) -> Iterator[tuple[str, str]]:
    name, equals, value = typed.partition("=")
    if equals and typed.startswith("--"):
        option, _ = _option(name)
        if option is not None:
            for text, meta in _option_values(option, value, known):
                yield f"{name}={text}", meta
        return
    for option in OPTIONS:
        for text in (f"--{option.name}", f"-{option.short}" if option.short else ""):
            if text and text.startswith(typed):
                yield text, option.help


def _option_values(option: Option, typed: str, known: Known) -> Iterator[tuple[str, str]]:
    if option.name == "execute":
        yield from _statement([], typed, known)
    elif option.name == "rack":
        yield from _beginning(known.names(Kind.RACK), typed, "rack")
    elif option.name == "format":
        yield from ((name, "") for name in FORMATS if name.startswith(typed.lower()))
    elif option.name == "cells":
        cut = max(typed.rfind(mark) for mark in ",!&^") + 1
        found = _beginning(known.names(Kind.CELL), typed[cut:], "cell")
        yield from ((typed[:cut] + name, meta) for name, meta in found)


def _beginning(names: Sequence[str | tuple[str, str]], typed: str, meta: str) -> Iterator[tuple[str, str]]:
    for entry in names:
        name = entry if isinstance(entry, str) else entry[0]
        if name.startswith(typed):
            yield name, meta


def _statement(before: Sequence[str], typed: str, known: Known) -> Iterator[tuple[str, str]]:
    """Yield each suggestion as a whole word of the command line, with the part of the word before the suggestion."""
    from exacell.language.suggest import suggest

    line = "".join(word + " " for word in before) + typed
    begin = len(line) - len(typed)
    for found in suggest(line, known):
        yield line[begin : found.start] + found.text, found.meta


def _known(values: Mapping[str, str], env: Mapping[str, str]) -> Known:
    """Return the source of names: files only, read when the first name is needed."""

    @cache
    def ready() -> Known:
        from exacell.session.completion.kept import kept_racks
        from exacell.session.completion.knowledge import knowledge, name_cache

        home = Home.from_env(env)
        kept = kept_racks(home, env)
        rack = kept.chosen(values.get("rack", ""))
        return knowledge(home, lambda: kept.racks, rack, name_cache(home, rack))

    def names(kind: Kind) -> Sequence[str | tuple[str, str]]:
        return () if kind is Kind.ALIAS else ready().names(kind)  # Aliases work only at the prompt.

    return Known(
        names=names,
        recipe_params=lambda recipe: ready().recipe_params(recipe),
        seen=lambda subject, attribute: ready().seen(subject, attribute),
        files=lambda typed: ready().files(typed),
        hosts_of=lambda rack: ready().hosts_of(rack),
        pages=lambda: ready().pages(),
    )
