"""Shell texts by chance, of a grammar far wider than what exacell reads: what shells understand, and what they nearly do.

Half of them are near what is read: commands of the table with options that it lists and with others, joined, quoted and
redirected in every way of the language; the other half are anything that one of six shells has a meaning for, and mutations
of both. Each text is chosen by its number alone, so that a run can be had again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.support.judging.pieces import (
    BUILTINS,
    CHANGES,
    CLIENT_WORDS,
    COMMON,
    COMPOUND,
    JOINS,
    LISTS,
    MARKS,
    NAMES,
    PATTERNS,
    PROGRAMS,
    READ_COMMENTS,
    READ_JOINS,
    READ_REDIRECTIONS,
    REDIRECTIONS,
    SPECIAL,
    SQL,
    STRAYS,
    VARIABLES,
)


@dataclass(frozen=True, slots=True)
class Text:
    """A generated text.

    Attributes:
        text: what a shell is to run.
        uses: the productions of the reader's language it was built of, by name; empty where it was mutated.
        rows: the programs of the table it was built of.
        kind: ``near``, ``wide`` or ``mutated``.
    """

    text: str
    uses: frozenset[str]
    rows: frozenset[str]
    kind: str


PRODUCTIONS = frozenset(
    {name for name, _ in (*READ_JOINS, *READ_REDIRECTIONS)}
    | {
        "last ;",
        "first line #!/bin/sh",
        "first line #!/bin/bash",
        "comment at a line's start",
        "comment behind a blank",
        "plain word",
    }
    | {
        "single quotes",
        "double quotes",
        "empty quotes",
        "pieces together",
        "glob *",
        "glob ?",
        "tab",
        "here-document, plain mark",
    }
    | {
        "here-document, quoted mark",
        "cellcli -e",
        "statements behind -e",
        "client word",
        "sqlplus",
        "awk",
        "blanks at both ends",
    }
)
"""Each of them has to occur in texts that are read, or a run fails."""


Sample = Callable[[random.Random, str, bool], tuple[str, ...]]
"""From a row's name, and whether it stands behind ``|``, to words of a command of it as they are written, by chance."""


class Grammar:
    """Makes texts.

    Args:
        rows: the programs of the table.
        sample: makes a command of one of them.
        filters: those that are read behind ``|`` alone.
    """

    def __init__(self, rows: Sequence[str], sample: Sample, filters: frozenset[str] = frozenset()) -> None:
        self._rows, self._sample, self._filters = rows, sample, filters
        self._random = random.Random()
        self._uses: set[str] = set()
        self._used_rows: set[str] = set()

    def text(self, seed: int, number: int) -> Text:
        """Return the text of a number; the same every time."""
        self._random.seed(f"{seed} {number}")
        self._uses, self._used_rows = set(), set()
        chance = self._random.random()
        if chance < 0.45:
            return Text(
                self._near(self._rows[number % len(self._rows)]),
                frozenset(self._uses),
                frozenset(self._used_rows),
                "near",
            )
        if chance < 0.62:
            return Text(self._wide(), frozenset(), frozenset(), "wide")
        return Text(self._mutated(number), frozenset(), frozenset(), "mutated")

    def _one(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)

    def _often(self, chance: float) -> bool:
        return self._random.random() < chance

    # What is near the language, and mostly in it.

    def _near(self, row: str) -> str:
        if self._often(0.16):
            return self._carried()
        count = self._random.choice((1, 1, 1, 2, 2, 3, 4))
        joins = [self._random.choice(READ_JOINS) for _ in range(count - 1)]
        if row in self._filters:
            joins = [("join |", " | "), *joins]
            text = self._command(self._one(self._rows), piped=False)
        else:
            text = self._command(row, piped=False)
        for n, (name, join) in enumerate(joins):
            other = row if n == 0 and row in self._filters else self._one(self._rows)
            part = self._command(other, piped=name in ("join |", "line feed behind |"))
            self._uses.add(name)
            comment = " " + self._one(READ_COMMENTS) if join.startswith("\n") and self._often(0.2) else ""
            if comment:
                self._uses.add("comment behind a blank")
            text += comment + join + part
        return self._framed(text)

    def _framed(self, text: str) -> str:
        """Return the text with what may stand before and behind it."""
        if self._often(0.1):
            text += ";"
            self._uses.add("last ;")
        if self._often(0.1):
            text = f" \t{text}" + ("" if "<<" in text else " \n")
            self._uses |= {"tab", "blanks at both ends"}
        if self._often(0.1):
            text = f"{self._one(READ_COMMENTS[:-3])}\n{text}"
            self._uses.add("comment at a line's start")
        if self._often(0.08):
            line = self._one(("#!/bin/sh", "#!/bin/bash"))
            text = f"{line}\n{text}"
            self._uses.add(f"first line {line}")
        return text

    def _command(self, row: str, *, piped: bool) -> str:
        """Return a command of a row, quoted and redirected in some way; sometimes with a word that the row may not list."""
        words = list(self._sample(self._random, row, piped))
        self._used_rows.add(row)
        if self._often(0.12):
            words.insert(self._random.randint(1, len(words)), self._stray())
        written = [words[0], *(self._quoted(word) for word in words[1:])]
        if row == "awk":
            self._uses.add("awk")
        if any("*" in word for word in words):
            self._uses.add("glob *")
        if any("?" in word for word in words):
            self._uses.add("glob ?")
        text = self._random.choice((" ", " ", " ", "  ", "\t")).join(written)
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 2))):
            name, redirection = self._random.choice(READ_REDIRECTIONS)
            if name == "</dev/null" and (piped or name in text) and self._often(0.9):
                continue
            self._uses.add(name)
            text += redirection
        return text

    def _quoted(self, word: str) -> str:
        """Return a word in one of the ways to write it."""
        if not word:
            self._uses.add("empty quotes")
            return self._one(("''", '""'))
        if any(sign in word for sign in "*?") and self._often(0.9):
            return word
        plain = all(c.isascii() and (c.isalnum() or c in "_./:,@%+=-") for c in word) and word[0] != "="
        kind = (
            self._random.choice(("plain", "plain", "plain", "single", "double", "pieces"))
            if plain
            else self._one(("single", "double"))
        )
        if kind == "double" and any(sign in word for sign in '"$`\\!'):
            kind = "single"
        if kind == "single" and "'" in word:
            kind = "double"
        if kind == "single":
            self._uses.add("single quotes")
            return f"'{word}'"
        if kind == "double":
            self._uses.add("double quotes")
            return f'"{word}"'
        if kind == "pieces":
            self._uses.add("pieces together")
            if self._often(0.3):
                self._uses.add("empty quotes")
                return self._one(
                    (f"''{word}", f'{word}""', f"{word[:1]}''{word[1:]}" if word[1:2] != "=" else f"{word}''")
                )
            cut = self._random.randint(0, len(word))
            return self._one(
                (
                    f"'{word[:cut]}'{word[cut:]}" if word[cut : cut + 1] != "=" else f"'{word}'",
                    f'{word[:cut]}"{word[cut:]}"',
                )
            )
        self._uses.add("plain word")
        return word

    def _stray(self) -> str:
        """Return a word that a row may take for something else than it is."""
        return self._one(STRAYS)

    def _carried(self) -> str:
        """Return a text for cellcli or sqlplus, from words or from a here-document."""
        if self._often(0.45):
            statements = self._one(LISTS) if self._often(0.8) else self._one(CHANGES)
            if self._often(0.3):
                statements += f"; {self._one((*LISTS, *CLIENT_WORDS))}"
                self._uses.add("statements behind -e")
            self._uses.add("cellcli -e")
            self._used_rows.add("cellcli")
            quote = "'" if '"' in statements else '"'
            text = (
                f"cellcli -e {quote}{statements}{quote}"
                if self._often(0.8)
                else f"cellcli -e {self._one(('list cell', 'list griddisk detail'))}"
            )
            if self._often(0.3):
                text += " | " + self._command(self._one(self._rows), piped=True)
            return self._framed(text)
        program = self._one(("cellcli", "cellcli", "sqlplus -s / as sysdba", "sqlplus -S / as sysdba"))
        self._used_rows.add(program.split()[0])
        if program == "cellcli":
            lines = [self._one(LISTS) for _ in range(self._random.randint(0, 3))]
            if self._often(0.4):
                lines.append(self._one(CLIENT_WORDS))
                self._uses.add("client word")
            if self._often(0.15):
                lines.append(self._one(CHANGES))
        else:
            lines = self._one(SQL).split("\n")
            self._uses.add("sqlplus")
        mark = self._one(MARKS)
        form = self._random.choice(("{}", "{}", "'{}'", '"{}"', "{}x", "\\{}", "-{}"))
        self._uses.add("here-document, quoted mark" if form[0] in "'\"" else "here-document, plain mark")
        tail = self._one(
            (
                "",
                "",
                "",
                " 2>&1",
                " | " + self._command(self._one(self._rows), piped=True),
                " >/dev/null",
                ";",
                " # x",
                " &&",
            )
        )
        body = "".join(f"{line}\n" for line in lines)
        end = "" if self._often(0.05) else mark
        behind = self._one(("", "\n", "\n" + self._command(self._one(self._rows), piped=False), "\n\n", " ", ";"))
        blanks = self._one(("", " ", "\t"))
        return self._framed(f"{program} <<{blanks}{form.format(mark)}{tail}\n{body}{end}{behind}")

    # What shells understand besides, each in its own way.

    def _wide(self) -> str:
        shape = self._one(COMPOUND)
        text = shape.format(*(self._any_command() for _ in range(3)))
        return (
            shape.format(text, self._any_command(), self._any_command())
            if self._often(0.15) and len(text) < 400
            else text
        )

    def _any_command(self) -> str:
        kind = self._random.random()
        if kind < 0.45:
            text = " ".join(self._sample(self._random, self._one(self._rows), self._often(0.3)))
        elif kind < 0.6:
            text = self._one(BUILTINS)
        elif kind < 0.75:
            text = self._one(PROGRAMS)
        elif kind < 0.8:
            text = f"{self._one(NAMES)}={self._any_word()} {self._one(('', 'ls', 'export x'))}"
        else:
            text = " ".join(self._any_word() for _ in range(self._random.randint(1, 4)))
        for _ in range(self._random.choice((0, 0, 1, 2))):
            text += self._one((" ", " ", "")) + (self._one(REDIRECTIONS) if self._often(0.5) else self._any_word())
        if self._often(0.15):
            text += self._one(JOINS) + self._one(("ls", "touch x", "# x", "", "rm x"))
        return text

    def _any_word(self) -> str:
        """Return something that stands where a word may."""
        pieces = []
        for _ in range(self._random.choice((1, 1, 1, 2, 3))):
            kind = self._random.random()
            if kind < 0.25:
                pieces.append(
                    self._one(
                        (
                            "x",
                            "ls",
                            "-o",
                            "/etc/hosts",
                            "/var/log/messages",
                            "a=b",
                            "1",
                            "-",
                            "%",
                            "@",
                            "time",
                            "do",
                            "in",
                            "{",
                            "}",
                        )
                    )
                )
            elif kind < 0.45:
                pieces.append(self._one(VARIABLES))
            elif kind < 0.6:
                pieces.append(self._one(PATTERNS))
            elif kind < 0.7:
                inner = "".join(self._random.choice(SPECIAL + "abc ") for _ in range(self._random.randint(0, 5)))
                pieces.append(
                    self._one(("'{}'", '"{}"', "$'{}'", '$"{}"', "`{}`", "'{}", '"{}', "\\{}")).replace("{}", inner)
                )
            elif kind < 0.78:
                pieces.append(f'"{self._one(VARIABLES)}"')
            elif kind < 0.86:
                pieces.append("\\" + self._random.choice(SPECIAL))
            else:
                pieces.append("".join(self._random.choice(SPECIAL) for _ in range(self._random.randint(1, 3))))
        return "".join(pieces)

    # One of both, changed in a few places.

    def _mutated(self, number: int) -> str:
        text = self._near(self._rows[number // 7 % len(self._rows)]) if self._often(0.85) else self._wide()
        for _ in range(self._random.choice((1, 1, 1, 1, 1, 2, 3))):
            text = self._random.choice(_MUTATIONS)(self, text)
        return text

    def insert(self, text: str) -> str:
        """Return the text with one more byte somewhere."""
        at = self._random.randint(0, len(text))
        return text[:at] + self._random.choice(SPECIAL if self._often(0.5) else COMMON) + text[at:]

    def insert_some(self, text: str) -> str:
        """Return the text with something that has a meaning put in somewhere."""
        at = self._random.randint(0, len(text))
        some = self._one(
            (
                *VARIABLES,
                *PATTERNS,
                *REDIRECTIONS,
                *JOINS,
                "\\\n",
                "\r\n",
                " -o ",
                " x=1 ",
                " -- ",
                "''",
                '""',
                " #",
                "\n#",
                " \\",
                "\\ ",
            )
        )
        return text[:at] + some + text[at:]

    def remove(self, text: str) -> str:
        """Return the text without one byte."""
        at = self._random.randint(0, max(len(text) - 1, 0))
        return text[:at] + text[at + 1 :]

    def replace(self, text: str) -> str:
        """Return the text with another byte somewhere."""
        return self.insert(self.remove(text))

    def splice(self, text: str) -> str:
        """Return the beginning of the text and the end of another."""
        other = self._near(self._one(self._rows)) if self._often(0.7) else self._wide()
        return text[: self._random.randint(0, len(text))] + other[self._random.randint(0, len(other)) :]

    def repeat(self, text: str) -> str:
        """Return the text with a part of it twice."""
        start, end = sorted((self._random.randint(0, len(text)), self._random.randint(0, len(text))))
        return text[:end] + text[start:end] + text[end:]

    def swap(self, text: str) -> str:
        """Return the text with two neighbours exchanged."""
        at = self._random.randint(0, max(len(text) - 2, 0))
        return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]

    def breaks(self, text: str) -> str:
        """Return the text with a line feed for one of its blanks, or a blank for one of its line feeds."""
        places = [n for n, c in enumerate(text) if c in " \n"]
        if not places:
            return text
        at = self._random.choice(places)
        return text[:at] + ("\n" if text[at] == " " else " ") + text[at + 1 :]


_MUTATIONS: tuple[Callable[[Grammar, str], str], ...] = (
    Grammar.insert,
    Grammar.insert,
    Grammar.insert_some,
    Grammar.insert_some,
    Grammar.remove,
    Grammar.remove,
    Grammar.replace,
    Grammar.splice,
    Grammar.repeat,
    Grammar.swap,
    Grammar.breaks,
)
