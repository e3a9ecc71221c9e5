"""Read text that people paste from scripts and other shells: here-documents for cellcli and dcli, lines with a prompt. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from exacell.core.errors import StatementError
from exacell.core.patterns import pattern

_MARK = r"<<(?P<strip>-?)\s*\\?(?P<quote>['\"]?)(?P<end>[\w.,:@%+/=!-]+)(?P=quote)"
_BEGUN = pattern(rf"\s*(?P<head>(?:on\s+\S+\s+)?(?:(?:dcli|cellcli)\b[^\n]*?))\s*{_MARK}[ \t]*(?:\n|$)", re.IGNORECASE)
"""``cellcli <<EOF`` and ``dcli … <<EOF`` up to the end of that line. Source: POSIX, Shell Command Language, 2.7.4."""

_QUOTED = pattern(
    rf"\s*(?P<head>(?:on\s+\S+\s+)?dcli\b[^\n]*?)\s+(?P<around>['\"])\s*(?P<program>cellcli\b[^\n]*?)\s*{_MARK}[ \t]*\n"
    r"(?P<body>.*?)^[ \t]*(?P=end)[ \t]*\n?\s*(?P=around)\s*;?\s*$",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""The same in the quoted command of dcli."""

_PROMPT = pattern(
    r"\s*(?:(?:CellCLI|SQL|ASMCMD(?:\s+\[[^\]]*\])?)>|(?:\S+ \d+(?: of \d+)? cells? )?(?:R[OW] )?(?:!\d+ )?exacell>"
    r"|\[?\w[\w.-]*@[\w.-]+[^\n\]$#]*\]?\s*[$#](?=\s))\s*",
    re.IGNORECASE | re.ASCII,
)
"""The prompt of the shell from which a line was copied."""

_LEAVES = ("exit", "quit")


def here_document(text: str) -> bool | None:
    """Return whether the here-document at the beginning of ``text`` is complete; None if ``text`` does not begin with one."""
    begun = _BEGUN.match(_bare(text))
    return None if begun is None else _body(_bare(text), begun) is not None


def goes_on(text: str) -> bool:
    """Return whether a line for dcli continues after a backslash at its end, as in a shell."""
    return text.endswith("\\") and re.match(r"\s*(?:on\s+\S+\s+)?dcli\b", text, re.IGNORECASE) is not None


def pasted(text: str) -> str:
    """Return the statements in pasted text; ``text`` itself if it is not a here-document.

    A here-document for cellcli becomes its statements; an EXIT at its end is left out, because it would end this session. One
    for dcli becomes a dcli statement that contains them, or the lines as one shell command for each target.

    Raises:
        StatementError: the end of the here-document is missing.
    """
    bare = _bare(text)
    quoted = _QUOTED.match(bare)
    if quoted is not None:
        return _for_dcli(f"{quoted['head']} {quoted['program']}", quoted["body"].splitlines())
    begun = _BEGUN.match(bare)
    body = _body(bare, begun) if begun is not None else None
    if begun is not None and body is None:
        raise StatementError(f"the lines end with {begun['end']} alone on a line", start=len(text), end=len(text))
    if begun is None or body is None:
        return re.sub(r"\\\n", " ", bare) if goes_on(bare.partition("\n")[0]) else bare
    head = begun["head"]
    program = re.match(r"\s*(?P<on>on\s+\S+\s+)?(?P<name>\w+)", head, re.IGNORECASE)
    if program is not None and program["name"].lower() == "cellcli":
        return "; ".join(f"{program['on'] or ''}{each}" for each in _statements(body))
    return _for_dcli(head, body)


def without_shell(text: str) -> str:
    """Return ``text`` with blanks in place of shell parts: a prompt in front, ``cellcli -e``, and quotes around the statement.
    All offsets stay the same.
    """
    led = _PROMPT.match(text)
    text = " " * led.end() + text[led.end() :] if led is not None else text
    called = re.match(r"\s*cellcli\s+(?:-(?!e\b)\w+\s+)*-e\s+", text, re.IGNORECASE | re.ASCII)
    if called is None:
        return text
    rest = text[called.end() :]
    bare = rest.strip().rstrip("; ")
    if len(bare) > 1 and bare[0] in "'\"" and bare[0] == bare[-1] and bare[0] not in bare[1:-1]:
        place = rest.index(bare)
        rest = f"{rest[:place]} {bare[1:-1]} {rest[place + len(bare) :]}"
    return " " * called.end() + rest


def _for_dcli(head: str, body: Sequence[str]) -> str:
    """Return a dcli statement with the lines of a here-document for CellCLI, or for a shell."""
    program = re.search(r"\s+cellcli(?P<options>(?:\s+-\w+)*)$", head, re.IGNORECASE)
    if program is None:
        return f"{head} {shlex.quote(chr(10).join(line for line in body if line.strip()))}"
    options = " ".join(each for each in program["options"].split() if each != "-e")
    called = f"cellcli {options}".rstrip()
    command = "; ".join(f"{called} -e {shlex.quote(each)}" for each in _statements(body))
    return f"{head[: program.start()]} {shlex.quote(command)}"


def _bare(text: str) -> str:
    """Return the text without a prompt in front."""
    return re.sub(_PROMPT.pattern, "", text, count=1, flags=_PROMPT.flags) if _PROMPT.match(text) else text


def _body(text: str, begun: re.Match[str]) -> list[str] | None:
    """Return the lines of a here-document; None if its end is missing."""
    lines = text[begun.end() :].split("\n")
    for place, line in enumerate(lines):
        if (line.lstrip("\t") if begun["strip"] else line).rstrip() == begun["end"]:
            return lines[:place]
    return None


def _statements(lines: Sequence[str]) -> list[str]:
    """Return the CellCLI statements of these lines: continued lines are joined; comments, prompts and EXIT are left out."""
    joined = re.sub(r"(?<=\s)-[ \t]*\n", " ", "\n".join(_bare(line) for line in lines))
    found = [line.strip().rstrip("; ") for line in joined.split("\n")]
    return [
        each
        for each in found
        if each and each.lower() not in _LEAVES and not re.match(r"#|--|rem(?:ark)?(?:\s|$)", each, re.IGNORECASE)
    ]
