"""Programs of sed and awk, as far as it takes to tell whether they only show something. Nothing is run.

Source: POSIX.1-2017, sed and awk; the manuals of GNU sed 4.8 (e, w, W, s///e, s///w) and gawk 5 (indirect calls, pipes,
options that load or write files).
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def sed_shows(words: Sequence[str]) -> bool:
    """Return whether sed with these arguments only prints; False where its script can't be read."""
    scripts: list[str] = []
    rest = list(words)
    files: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0))
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif re.fullmatch(
            r"-[nErusz]+|--(quiet|silent|regexp-extended|posix|unbuffered|separate|null-data|debug)", word
        ):
            continue
        elif re.fullmatch(r"-[nErusz]+e", word) and rest:
            scripts.append(rest.pop(0))
        elif word.startswith("-") and word != "-":
            return False
        else:
            files.append(word)
    if not scripts:
        scripts = files[:1]
    return all(_sed_script(script) for script in scripts)


_ADDRESS = re.compile(r"\s*(\d+(~\d+)?|\$|[+~]\d+)")
_PLAIN = frozenset("dDgGhHlnNpPqQxz=}{")


def _sed_script(text: str) -> bool:
    """Return whether each command of a script is read, and none runs a command, reads or writes a file."""
    at = 0
    while at < len(text):
        if text[at] in " \t\n;":
            at += 1
            continue
        found = _sed_addresses(text, at)
        if found is None or found >= len(text):
            return False
        command, at = text[found], found + 1
        if command in "sy":
            end = _delimited(text, at, parts=2)
            if end is None:
                return False
            at = end
            while command == "s" and at < len(text) and text[at] in "gpIiMm0123456789":
                at += 1
        elif command == "#":
            at += len(text[at:].partition("\n")[0])
        elif command in _PLAIN:
            number = re.compile(r"\s*\d*").match(text, at) if command in "lqQ" else None
            at = number.end() if number is not None else at
        else:
            return False
        if command != "{" and at < len(text) and text[at] not in " \t\n;}":
            return False
    return True


def _sed_addresses(text: str, at: int) -> int | None:
    """Return where the command behind the addresses stands; None where they can't be read."""
    for _ in range(2):
        while at < len(text) and text[at] in " \t":
            at += 1
        if at < len(text) and text[at] in "/\\":
            end = _delimited(text, at + (text[at] == "\\"), parts=1)
            if end is None:
                return None
            at = end
            while at < len(text) and text[at] in "IM":
                at += 1
        elif (number := _ADDRESS.match(text, at)) is not None:
            at = number.end()
        else:
            break
        if at < len(text) and text[at] == ",":
            at += 1
        else:
            break
    while at < len(text) and text[at] in " \t!":
        at += 1
    return at


def _delimited(text: str, at: int, *, parts: int) -> int | None:
    """Return where ``/…/`` (or ``/…/…/`` for two parts) that begins at ``at`` has ended; None when it does not."""
    if at >= len(text) or text[at] in "\\\n":
        return None
    mark = text[at]
    at += 1
    for _ in range(parts):
        while at < len(text) and text[at] != mark:
            at += 2 if text[at] == "\\" else 1
        if at >= len(text):
            return None
        at += 1
    return at


_AWK_VALUED = ("-F", "-v", "--field-separator", "--assign")
_AWK_ALONE = re.compile(r"-F.+|-v.+|--(field-separator|assign)=.*|--(posix|traditional|re-interval|sandbox)|--")


def awk_shows(words: Sequence[str]) -> bool:
    """Return whether awk with these arguments only prints: nothing in its program starts, reads or writes anything."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in _AWK_VALUED and rest:
            rest.pop(0)
        elif not _AWK_ALONE.fullmatch(option):
            return False
    if not rest:
        return False
    program = rest[0]
    bare = _bare(program)
    if bare is None:
        return False
    # A | that is not || feeds a command or reads one; @ calls what a variable names, or loads something.
    if "system" in program or "getline" in program or re.search(r"@|(?<!\|)\|(?!\|)", bare):
        return False
    # What stands behind > after a print is a file.
    return re.search(r"print[^;}]*>", bare) is None


_ESCAPED = re.compile(r"\\.|\[[:.=]\w*[:.=]\]")
_BRACKETED = re.compile(r"\[\^?+\]?+[^\]]*\]")
"""What stands in brackets in a pattern; a ``/`` in it does not end the pattern."""
_BEFORE_PATTERN = frozenset(("print", "printf", "return", "in", "else", "do", "case"))


def _divides(before: str) -> bool:
    """Return whether an operand stands at the end of a part of an awk program, so that a ``/`` behind it divides."""
    last = re.search(r"\w+\s*$", before)
    if last is not None:
        return last[0].strip() not in _BEFORE_PATTERN
    # Behind the condition of an if, a pattern may stand alone.
    return before.rstrip(" \t").endswith("]") or (
        before.rstrip(" \t").endswith(")") and not re.search(r"\b(if|while|for)\b", before)
    )


def _bare(program: str) -> str | None:
    """Return an awk program with its strings, patterns and comments emptied; None when it can't be told what is what.

    A ``/`` divides where an operand stands before it. Where it may also begin a pattern, a quote or a ``#`` behind it may
    be a part of that pattern.
    """
    found: list[str] = []
    at, before = 0, "\n"
    while at < len(program):
        char = program[at]
        if char == '"' or (char == "/" and before in "(,~!&|{;\n"):
            end = _delimited(program, at, parts=1)
            if end is None or (char == "/" and "[" in _BRACKETED.sub("", _ESCAPED.sub("x", program[at:end]))):
                return None
            found.append(char * 2)
            at, before = end, char
            continue
        if char == "#":
            at += len(program[at:].partition("\n")[0])
            continue
        if char == "\\" or (char == "/" and re.search(r'["#/]', program[at:][1:]) and not _divides("".join(found))):
            return None
        found.append(char)
        before = before if char in " \t" else char
        at += 1
    return "".join(found)
