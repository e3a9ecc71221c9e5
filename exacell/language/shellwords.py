"""Parse shell commands inside a statement: exacell's own flags before the command, ``--`` that ends the flags, and stray flags.

After ``sh``, ``host``, ``dcli`` and ``!`` all words belong to the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.core.errors import StatementError
from exacell.language.calls import take_flags
from exacell.language.registry import COMMON_FLAGS, Call, Flag, Value
from exacell.language.words import Word, split_words

ACCEPT = Flag(name="accept-opaque", help="run text that exacell can't read and can't guard")

DETACH = Flag(
    name="detach", help="on hosts: run it in the background of the host, so that it continues if the link is lost"
)

_OURS = frozenset(
    f"--{name}"
    for name in (
        *("accept-opaque", "accept-data-loss", "detailed-exitcode", "dry-run", "no-rolling", "rolling"),
        *("on-error", "confirm-within", "reason", "ticket", "group-file", "ssh-config"),
    )
)
"""Long flags of exacell that few other commands have."""


def stray_flag(words: Sequence[str]) -> str:
    """Return the first word of a command that is a flag of exacell; empty if there is none.

    Args:
        words: the command's words; those after ``--`` are not given.
    """
    return next((word for word in words if word.partition("=")[0] in _OURS), "")


def bang_command(text: str, base: int) -> str:
    """Return the command after ``!``, without a ``--`` before it.

    Args:
        base: offset of ``text`` in the line, for the places of errors.

    Raises:
        StatementError: there is no command, or a flag of exacell is among its words.
    """
    first, *rest = text[1:].split(None, 1) or [""]
    if first == "--":
        command = "".join(rest).strip()
    else:
        command = text[1:].strip()
        stray = stray_flag(command.split())
        if stray:
            place = base + text.index(stray)
            raise StatementError(
                f"{stray} comes after the command, so it would be part of the command; nothing was run",
                start=place,
                end=place + len(stray),
                hint="if it is meant for the command, write !-- …",
            )
    if not command:
        raise StatementError("a command is missing after !", start=base + 1, end=base + 1, hint="such as: !ls")
    return command


def command_given(call: Call, flags: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
    """Return the shell command of a statement, without quotes around the whole command, and the statement's flags.

    exacell's flags come before the command, and ``--`` ends them: everything after it belongs to the command.

    Args:
        flags: the flags that the statement already has.

    Raises:
        StatementError: there is no command, or a flag of exacell is among its words.
    """
    name = call.command.name
    text, flags, ended = _without_flags(call.text_arg("command"), flags, call.command.flags)
    words = split_words(text)
    if not words:
        raise StatementError(f"{name} needs a command: {call.command.example}")
    stray = "" if ended else stray_flag([word.raw for word in words])
    if stray:
        ours = f"{name} {stray} …" if _flag_of(stray) is not None else f"exacell {stray} … {name} …"
        raise StatementError(
            f"{name}: {stray} comes after the command, so it would be part of the command; nothing was sent",
            hint=f"for exacell's flag, write `{ours}`; if it is meant for the command, write `{name} -- …`",
        )
    return words[0].value if len(words) == 1 else text, flags


def _flag_of(word: str, own: Sequence[Flag] = (ACCEPT,)) -> Flag | None:
    """Return the flag that a word is or begins with; None if there is none. ``own`` are the flags of the command itself."""
    name = word.partition("=")[0]
    return next((f for f in (*COMMON_FLAGS, *own) if name in (f"--{f.name}", f"-{f.short}")), None)


def leading_flags(words: Sequence[Word], own: Sequence[Flag]) -> int:
    """Return how many words before a command are exacell's flags and their values; ``own`` are the flags of SH or HOST only."""
    count = 0
    while count < len(words) and (flag := _flag_of(words[count].raw, own)) is not None:
        count += 1 if flag.value is None or flag.optional or "=" in words[count].raw else 2
    return count


def _without_flags(text: str, flags: Mapping[str, Value], own: Sequence[Flag]) -> tuple[str, Mapping[str, Value], bool]:
    """Return the command without the flags before it, all flags, and whether ``--`` ended them.

    Raises:
        StatementError: a flag lacks its value, or takes no value.
    """
    words = split_words(text)
    count = leading_flags(words, own)
    _, found = take_flags(words[:count], (*COMMON_FLAGS, *own))
    ended = [word.raw for word in words[count : count + 1]] == ["--"]
    rest = words[count + ended :]
    return text[rest[0].start :] if rest else "", {**flags, **found}, ended
