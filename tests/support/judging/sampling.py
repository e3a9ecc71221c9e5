"""Commands of the table by chance: each row with options that it lists and operands of the shapes that it takes."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Sequence
from re import _constants as codes, _parser as patterns
from typing import Any

from exacell.opaque import table as places
from exacell.opaque.findings import UnreadError
from exacell.opaque.shell import read_shell
from exacell.opaque.table import Row, table

FILES = (
    "/var/log/messages", "/etc/hosts", "/etc/redhat-release", "/proc/meminfo", "/var/log//messages", "/etc/./hosts",
    "/var/log/a b", "/dev/null", "/opt/oracle/x", "/var/log/-o", "/etc/--output=x", "/boot/x", "/etc/a=b", "/etc/x:y",
    "/etc/x,y@z%1+2",
)  # fmt: skip
GLOBS = (
    "/var/log/*", "/etc/*release", "/var/log/mess*", "/etc/*", "/var/log/?", "/var/log/*x", "/etc/a*b", "/opt/oracle/*.log",
    "/var/log/a?b", "/etc/*=x", "/var/log/m?ss*", "/usr/share/none*", "/var/log//*", "/etc/./h*", "/var/log/zz*",
    "/sys/block/*/queue/scheduler", "/sys/block/sd?/queue/max_sectors_kb", "/dev/sd*",
)  # fmt: skip
HERE = ("/etc/hosts", "/etc/passwd", "/dev/null", "/proc/meminfo", "/etc//./hosts")
HERE_GLOBS = ("/etc/host*", "/etc/p?sswd", "/etc/*.conf")
"""What each machine has of them."""
HERE_VALUES = {
    "NAME": "root", "TEXT": "localhost", "KEYWORD": "bios-version", "PACKAGE": "bash", "COUNT": "2", "START": "2",
    "SECONDS": "1", "TIMES": "1", "INTERFACE": "lo",
}  # fmt: skip
"""Values of these kinds with which a command ends soon."""
CARRIED = ("cellcli", "sqlplus")
"""Rows whose statements come from elsewhere: Grammar makes those."""


def names() -> tuple[str, ...]:
    """Return the rows of the table that a command can be made of."""
    return tuple(name for name in table().rows if name not in CARRIED)


def filters() -> frozenset[str]:
    """Return the rows of which no command stands anywhere but behind ``|``."""
    return frozenset(name for name in names() if all(shape.endswith("|") for shape in table().rows[name].operands))


def sample(chance: random.Random, name: str, piped: bool) -> tuple[str, ...]:
    """Return the words of a command of a row, patterns as they are written; mostly one that fits to whether it is ``piped``."""
    row = table().rows[name]
    words = [chance.choice((name,) * 9 + (f"/bin/{name}", f"/usr/sbin/{name}"))]
    options = [word for need in row.needs for word in _needed(chance, row, need)]
    for _ in range(chance.choice((0, 0, 1, 1, 1, 2, 2, 3))):
        options += _option(chance, row)
    fitting = [shape for shape in row.operands if shape.endswith("|") == piped] if chance.random() < 0.95 else []
    operands = _operands(chance, chance.choice(fitting or row.operands))
    if chance.random() < 0.1:
        options, operands = operands, options
    return (*words, *options, *operands)


def texts_of(name: str) -> list[str]:
    """Return texts of a row that are read, in which each of its options and each shape of its operands occurs.

    They end soon, and name files and interfaces that each machine has.
    """
    row, chance = table().rows[name], _Here(name)
    needed = [word for need in row.needs for word in _needed(chance, row, need)]
    found = []
    options = [(), *((f"-{letter}",) for letter in row.letters), *(_one(chance, option) for option in row.options)]
    for option, shapes in [((), [shape]) for shape in row.operands] + [(option, row.operands) for option in options]:
        # Each option with the first shape that it is read with.
        texts = (_text(name, (*needed, *option, *_operands(chance, shape)), shape) for shape in shapes)
        found += [text for text in texts if _is_read(text)][:1]
    return list(dict.fromkeys(found))


def _text(name: str, words: Sequence[str], shape: str) -> str:
    text = " ".join([name, *(word if word in HERE_GLOBS else shlex.quote(word) for word in words)])
    return f"cat /etc/hosts | {text}" if shape.endswith("|") else text


def _is_read(text: str) -> bool:
    try:
        read_shell(text)
    except UnreadError:
        return False
    return True


class _Here(random.Random):
    """Chooses what is there: of files those that each machine has, of counts small ones."""

    def choice(self, seq: Any) -> Any:
        if seq is FILES:
            return super().choice(HERE)
        return super().choice(HERE_GLOBS if seq is GLOBS else seq)


def _needed(chance: random.Random, row: Row, need: str) -> Sequence[str]:
    option = next((option for option in row.options if option.partition(" ")[0] == need), need)
    return _one(chance, option)


def _option(chance: random.Random, row: Row) -> Sequence[str]:
    if row.letters and (not row.options or chance.random() < 0.5):
        return ("-" + "".join(chance.choice(row.letters) for _ in range(chance.choice((1, 1, 2, 3)))),)
    return _one(chance, chance.choice(row.options)) if row.options else ()


def _one(chance: random.Random, option: str) -> Sequence[str]:
    """Return an option as it is written, a value for the kind that stands in it."""
    return tuple(_value(chance, word) for word in option.split(" "))


def _value(chance: random.Random, word: str) -> str:
    kinds = table().kinds
    kind = max((kind for kind in kinds if word.endswith(kind)), key=len, default="")
    if isinstance(chance, _Here) and kind in HERE_VALUES:
        return word.removesuffix(kind) + HERE_VALUES[kind]
    return word.removesuffix(kind) + matching(chance, kinds[kind]) if kind else word


def _operands(chance: random.Random, shape: str) -> list[str]:
    found: list[str] = []
    for part in shape.split():
        if part == "|":
            continue
        if part in ("FILES", "PLACES"):
            found += [chance.choice(GLOBS if chance.random() < 0.4 else FILES) for _ in range(chance.choice((1, 1, 2)))]
        elif part in ("FILE", "PLACE"):
            found.append(chance.choice(FILES) if chance.random() < 0.8 else matching(chance, places.SINGLE.pattern))
        else:
            found.append(_value(chance, part))
    return found


def matching(chance: random.Random, pattern: str) -> str:
    """Return a text that a regular expression matches, of the simple kind that the table has."""
    return "".join(_piece(chance, code, argument) for code, argument in patterns.parse(pattern, re.ASCII))


def _piece(chance: random.Random, code: object, argument: object) -> str:
    if code is codes.LITERAL:
        return chr(argument)  # type: ignore[arg-type]
    if code is codes.IN:
        return chance.choice(_members(argument))
    if code is codes.ANY:
        return chance.choice("aZ9 -'*;|$(")
    if code is codes.NOT_LITERAL:
        return chance.choice([c for c in "aZ9 -'*;|$(" if c != chr(argument)])  # type: ignore[arg-type]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, high, inner = argument  # type: ignore[misc]
        most = min(int(high), int(low) + chance.choice((0, 1, 1, 4)))
        return "".join(_piece(chance, *part) for _ in range(chance.randint(int(low), most)) for part in inner)
    if code is codes.SUBPATTERN:
        return "".join(_piece(chance, *part) for part in argument[3])  # type: ignore[index]
    if code is codes.BRANCH:
        return "".join(_piece(chance, *part) for part in chance.choice(argument[1]))  # type: ignore[index]
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return ""
    raise ValueError(f"a pattern with {code}")


def _members(argument: object) -> list[str]:
    found: set[str] = set()
    inverted = False
    for code, value in argument:  # type: ignore[attr-defined]
        if code is codes.NEGATE:
            inverted = True
        elif code is codes.LITERAL:
            found.add(chr(value))
        elif code is codes.RANGE:
            found |= {chr(n) for n in range(value[0], value[1] + 1)}
        elif code is codes.CATEGORY:
            found |= {c for c in map(chr, range(32, 127)) if re.fullmatch(_CATEGORIES[value], c)}
    return sorted({chr(n) for n in range(32, 127)} - found if inverted else found)


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_NOT_WORD: r"\W",
    codes.CATEGORY_NOT_SPACE: r"\S",
}
