"""Values of a recipe's parameters where bytes leave: what reaches a cell, a database or a host differs by the value alone.

Each line runs twice on an emulated rack in this process: with a plain word, and with a value full of signs. What was sent is
read here by the rules of a POSIX shell and of CellCLI, which none of exacell's own readers has a part in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest

from exacell.commands.recipes import run
from exacell.core.errors import ExacellError
from exacell.language.registry import Call, commands
from exacell.session.request import Request as Asking
from exacell.transport.base import FleetResult, Reply, Request, Role, State
from tests.support.worlds import Wall, WorldTransport, new_world, session_on

PLAIN = "Mark1"
"""A word of letters and digits, which nothing sent on its own account holds."""

VALUES = (
    *("a b", "a;b", 'say "so"', "it's", "it's $(touch x) `touch x`", "$(touch x)", "`touch x`", "${PATH} $x ${x}"),
    *("a\nlist cell", "a\rb", "a\tb", "a\x00b", "a' or 'b", 'x" -y; drop griddisk all', "a\\", "\\'", "-y", "--force"),
    *(
        "(a,b)",
        "a=b,c",
        "a) (b",
        "@up",
        "é “x”",
        "a|b>c<d&e",
        "#c",
        "!ls",
        "*?[a-z]",
        "~root",
        "{cell}",
        "drop",
        "--",
        "",
    ),
    *(
        "x' ; drop griddisk all force ; '",
        'x"); drop griddisk all force; ("',
        "when $x = y",
        "end",
        "/etc/passwd",
        "../../x",
    ),
)

LINES = {
    "on exa1cel01 alter griddisk DATA_CD_00_exa1cel01 comment=$x": 8,
    "on exa1cel01 alter griddisk DATA_CD_00_exa1cel01 comment=a-${x}-b": 8,
    "list griddisk where name = $x attributes name": 25,
    "list griddisk where name like $x attributes name": 20,
    "list griddisk $x attributes name": 20,
    "list griddisk where name != $x and size > 1g attributes name, size": 25,
    "alter iormplan dbplan=((name=$x,share=8),(name=other,share=1))": 4,
    'sql db=SPOT "select count(*) from v$log where 1 = ${x}"': 0,
    "sql db=$x 'select count(*) from v$log'": 0,
    "on @db show setting /sys/block/${x}/queue/nr_requests": 0,
    "on @db copy from /tmp/${x}.json fetched": 0,
    "on @db sh echo $x": 20,
    "on @db sh echo a-${x}-b --y=$x": 20,
    "on @db sh logger $x": 20,
    "on @db sh logger a-${x}-b --y=$x": 20,
}
"""Lines, and how many of the values at least a cell gets with them; the others, and paths and SQL, take plain words alone.

Changes, which keep a journal on disk, are tried with every third value.
"""


class Recorded(WorldTransport):
    """Keeps what is sent; what is no program of the emulated rack's in this process answers nothing."""

    asked: list[Request]

    def run(self, requests: Sequence[Request], **how: object) -> FleetResult:  # type: ignore[override]
        """Keep requests and carry them out."""
        self.asked += requests
        return super().run(requests, **how)  # type: ignore[arg-type]  # as they came

    def _reply(self, request: Request) -> Reply:
        if not request.command.startswith(("cellcli", "env")):
            return Reply(target=request.target, state=State.OK, exit_status=0)
        return super()._reply(request)


NUMBERS = count()


def sent(folder: Path, line: str, value: str) -> tuple[list[Request], str]:
    """Return what a run of a line with a value sends, in order of the targets, and the error that stopped it."""
    home = folder / str(next(NUMBERS))
    (home / "recipes").mkdir(parents=True)
    (home / "recipes" / "r.exa").write_text(f"param x : text\n{line}\n")
    wall = Wall()
    world = new_world(wall, cells=2)
    session, services, _ = session_on(world, home, wall)
    transport = Recorded(world, home, wall)
    transport.asked = []
    services._given = transport
    call = Call(command=commands()[("run",)], args={"name": "r"}, extra={"x": value}, flags=FLAGS, text="run r")
    try:
        problems = run(session, services, Asking(), call).problems
    except ExacellError as error:
        problems = [error.message]
    return sorted(transport.asked, key=lambda request: request.target), "; ".join(problems)


FLAGS: Mapping[str, bool] = {"yes": True, "accept-opaque": True}


def shell_words(text: str) -> list[str]:
    """Return the words and operators of a command line as a POSIX shell has them; what it would expand stays marked.

    Source: POSIX.1-2017, Shell Command Language, 2.2 Quoting and 2.3 Token Recognition.
    """
    words: list[str] = []
    word: str | None = None
    place = 0
    while place < len(text):
        char = text[place]
        if char == "'":
            end = text.index("'", place + 1)
            word, place = (word or "") + text[place + 1 : end], end
        elif char == '"':
            word = word or ""
            place += 1
            while text[place] != '"':
                if text[place] == "\\" and text[place + 1] in '$`"\\\n':
                    place += 1
                elif text[place] in "$`":
                    word += "\0expanded:"
                word += text[place]
                place += 1
        elif char == "\\":
            place += 1
            word = (word or "") + text[place]
        elif char in " \t\n;|&<>()":
            words += [word] if word is not None else []
            words += [f"\0{char}"] if not char.isspace() or char == "\n" else []
            word = None
        else:
            word = (word or "") + (f"\0expanded:{char}" if char in "$`*?[~#!{}" else char)
        place += 1
    return [*words, word] if word is not None else words


def cell_words(text: str) -> list[str]:
    """Return the words and signs of a CellCLI statement, values without their quotes.

    Source: Oracle Exadata Storage Server Software User's Guide, CellCLI command syntax: text with other characters than
    letters and digits stands in single or double quotes.
    """
    found: list[str] = []
    for quoted, other, sign in re.findall(r"('[^']*'|\"[^\"]*\")|([^\s(),=<>!'\"]+)|([(),=<>!'\"])", text):
        found.append(quoted[1:-1] if quoted else other or f"\0{sign}")
    return found


def told(request: Request) -> list[str]:
    """Return all of what a request sends in words."""
    role, words = request.role, shell_words(request.command)
    if role is Role.HOST_READ and words[:2] == ["/bin/sh", "-c"]:
        # A text leaves so with a value with which it only reads, and as it was typed with another.
        role, (text,) = Role.HOST_WRITE, words[2:]
        words = shell_words(text)
    found = [request.target, str(role)]
    for word in words:
        found += (
            cell_words(word) if re.match(r"\w+ \w+.*", word, re.DOTALL) and "cellcli" in request.command else [word]
        )
    found += [] if request.stdin is None else request.stdin.split("\n")
    if request.pair is not None:
        found += [
            word for line in (request.pair.look + request.pair.statement).split("\n") for word in cell_words(line)
        ]
    return found


@pytest.mark.parametrize("line", LINES)
def test_only_the_value_differs(line: str, tmp_path: Path) -> None:
    """Whatever a value holds, each request is one that leaves for a plain word, too, with the value in its place."""
    plain, problem = sent(tmp_path, line, PLAIN)
    expected = [told(request) for request in plain]
    assert any(PLAIN in word for words in expected for word in words), f"nothing of {line} leaves: {problem}"
    whole = 0
    for value in VALUES[:: 3 if "alter " in line else 1]:
        asked, problem = sent(tmp_path, line, value)
        got = [told(request) for request in asked]
        wanted = [[word.replace(PLAIN, own(value, words[0])) for word in words] for words in expected]
        assert [words for words in got if words not in wanted] == [], f"{line} with {value!r}: {problem}"
        whole += got == wanted
    assert whole >= LINES[line]


def own(value: str, target: str) -> str:
    """Return a value as a target gets it: on a cell {cell}, wherever it stands, is its own name (docs/prompt.md)."""
    return value.replace("{cell}", target) if "cel" in target else value
