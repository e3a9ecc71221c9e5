"""Commands for a shell inside a statement: exacell's own flags before them, ``--`` that ends those, and one among them.

Behind ``sh``, ``host``, ``dcli`` and ``!`` all words are the command's.
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
"""Long flags that are exacell's and few other commands'."""


def stray_flag(words: Sequence[str]) -> str:
    """Return the first word of a command that is a flag of exacell's; empty when there is none.

    Args:
        words: the command's own, behind ``--`` not asked.
    """
    return next((word for word in words if word.partition("=")[0] in _OURS), "")


def bang_command(text: str, base: int) -> str:
    """Return the command behind ``!``, without a ``--`` that stands before it.

    Args:
        base: where ``text`` begins in the line, for the places of errors.

    Raises:
        StatementError: there is none, or a flag of exacell's stands among its words.
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
                f"{stray} comes after the command, so it would be passed to the command; nothing was run",
                start=place,
                end=place + len(stray),
                hint="if it is meant for the command, write !-- …",
            )
    if not command:
        raise StatementError("a command is missing after !", start=base + 1, end=base + 1, hint="such as: !ls")
    return command


def command_given(call: Call, flags: Mapping[str, Value]) -> tuple[str, Mapping[str, Value]]:
    """Return the command for a shell that a statement holds, without the quotes around all of it, and its flags.

    exacell's flags stand before the command, and ``--`` ends them: behind that everything is the command's.

    Args:
        flags: those that the statement has already.

    Raises:
        StatementError: there is none, or a flag of exacell's stands among its words.
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
            f"{name}: {stray} comes after the command, so it would be passed to the command; nothing was sent",
            hint=f"for exacell's flag, write `{ours}`; if it is meant for the command, write `{name} -- …`",
        )
    return words[0].value if len(words) == 1 else text, flags


def _flag_of(word: str, own: Sequence[Flag] = (ACCEPT,)) -> Flag | None:
    """Return the flag of a statement that a word is or begins with, None when it is none; ``own`` are the command's."""
    name = word.partition("=")[0]
    return next((f for f in (*COMMON_FLAGS, *own) if name in (f"--{f.name}", f"-{f.short}")), None)


def leading_flags(words: Sequence[Word], own: Sequence[Flag]) -> int:
    """Return how many words before a command are exacell's flags and their values; ``own`` are those of SH or HOST alone."""
    count = 0
    while count < len(words) and (flag := _flag_of(words[count].raw, own)) is not None:
        count += 1 if flag.value is None or flag.optional or "=" in words[count].raw else 2
    return count


def _without_flags(text: str, flags: Mapping[str, Value], own: Sequence[Flag]) -> tuple[str, Mapping[str, Value], bool]:
    """Return the command without the flags that stand before it, all flags, and whether ``--`` ended them.

    Raises:
        StatementError: a flag lacks its value, or takes none.
    """
    words = split_words(text)
    count = leading_flags(words, own)
    _, found = take_flags(words[:count], (*COMMON_FLAGS, *own))
    ended = [word.raw for word in words[count : count + 1]] == ["--"]
    rest = words[count + ended :]
    return text[rest[0].start :] if rest else "", {**flags, **found}, ended
