"""Shell texts by chance over the wider forms that are read: marks, documents, backslashes, ``$``, ``=``, lines and files that end
in their own ways. Most of them are read; a few are changed in a place, or hold what is not read, and then mostly are not.

Each text is chosen by its number alone, so that a run can be had again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.support.judging.grammar import Text
from tests.support.judging.pieces import SPECIAL

FORMS = frozenset(
    (
        *("mark with other signs", "mark behind a backslash", "mark in single quotes", "mark in double quotes"),
        *("quoted mark with other signs", "<<-", "<< right behind a word", "blanks behind <<", "mark before ;"),
        *("mark before |", "mark before &&", "several documents in a line", "file that ends before the mark"),
        *("$ in a document", "escape in a document", "backslash that stays in a document", "document taken as it is"),
        *("backslash before a sign", "escape in double quotes", "backslash that stays in double quotes"),
        *(
            "$ in double quotes",
            "$ at a word's end",
            "= alone",
            "line that goes on",
            "line that goes on in double quotes",
        ),
        *(
            "file without #!",
            "#! and blanks",
            "#!/usr/bin/env bash",
            "#! with an option",
            "redirections of all descriptors",
        ),
    )
)
"""What is counted among the texts that are read."""

_NAMES = ("E", "EOF", "_x1", "END", "a", "fi", "done")
_SIGNED = (
    "!",
    "1",
    "E.F",
    "a,b",
    ":",
    "@",
    "a%b",
    "+",
    "a/b",
    "=",
    "=ls",
    "E=F",
    "a!b",
    "!E",
    "E-F",
    "E-",
    "12",
    ".",
    "/",
    "a=",
)
_QUOTED = (
    "E F",
    " ",
    "*",
    "?",
    "[a]",
    "a;b",
    "#",
    "a|b",
    "&",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "~",
    "^",
    "E!",
    "!",
    "-",
    " E",
    "a  b ",
)
_SAFE_DOLLAR = ("$ ", "$\t", '$"', "$%", "$'", "$)", "$,", "$.", "$/", "$:", "$;", "$|")
_PIECES = (
    *(
        "list cell",
        "a",
        "x1",
        " ",
        "  ",
        "\t",
        "'",
        '"',
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "!",
        "#",
        "&",
        "(",
        ")",
        "<",
        ">",
        ";",
        "|",
    ),
    *("=", "=ls", "%", "'a b'", '"c"', "<<E", "^", "E", "EOF", "# x", "touch", "-e"),
)
_VERBATIM = (
    "$x",
    "${x}",
    "$(ls)",
    "`ls`",
    "\\$x",
    "\\\\",
    "\\a",
    "$$",
    "$'a'",
    "\\",
    "$",
    "`",
    "$((1))",
    '"$x"',
    "\\`",
)
_WRONG = ("$x", "`ls`", "$(ls)", "${x}", "\\\n", "$-", "$$", "$'a'", '$"x"', "$\\", "$[1]", "$<", "\\\\\n", "'a\n'")
_COMMANDS = ("uptime", "hostname", "df -h", "ls -l /etc", "cat /etc/hosts", "date", "ls /etc/*", "ps -ef")
_FILTERS = ("cat", "grep x", "wc -l", "sort", "tail -5")


class Forms:
    """Makes texts."""

    def __init__(self) -> None:
        self._random = random.Random()
        self._uses: set[str] = set()

    def text(self, seed: int, number: int) -> tuple[Text, bool]:
        """Return the text of a number, the same every time, and whether it is a file that is run by itself."""
        self._random.seed(f"forms {seed} {number}")
        self._uses = set()
        script = self._often(0.45)
        parts = [self._part() for _ in range(self._random.choice((1, 1, 2, 2, 3)))]
        text = self._joined(parts)
        if script:
            if self._often(0.4):
                text = (text.rstrip("\n") + "\n" if parts[-1].endswith("\n") else text + "\n") + self._unclosed()
            text = self._first_line() + text
        elif self._often(0.08):
            text = self._first_line() + text
        if self._often(0.12):
            return Text(self._changed(text), frozenset(), frozenset(), "changed"), script
        return Text(text, frozenset(self._uses), frozenset(), "form"), script

    def _one(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)

    def _often(self, chance: float) -> bool:
        return self._random.random() < chance

    def _joined(self, parts: Sequence[str]) -> str:
        text = ""
        for part in parts:
            if text and not text.endswith("\n"):
                text += self._one(("; ", "\n", " && ", "\n\n", " ; \\\n"))
            text += part
        return text

    def _part(self) -> str:
        """Return a command, or a line of several with the lines of its documents."""
        chance = self._random.random()
        if chance < 0.5:
            return self._documents()
        if chance < 0.9:
            return self._words() + self._redirections()
        return self._one(_COMMANDS) + self._redirections()

    def _redirections(self) -> str:
        if self._often(0.6):
            return ""
        if self._often(0.5):
            self._uses.add("redirections of all descriptors")
            every = [
                self._one(("2>&1", "2>/dev/null")),
                self._one((">/dev/null", "1>/dev/null", "> /dev/null")),
                "</dev/null",
            ]
            self._random.shuffle(every)
            return " " + " ".join(every)
        return self._one(
            (
                " 2>&1",
                " >/dev/null",
                " </dev/null",
                " 2>/dev/null | cat",
                " 2>&1 | wc -l",
                " 2>&1 2>&1",
                " >/dev/null | cat",
            )
        )

    # Words.

    def _words(self) -> str:
        program = self._one(
            (
                "grep {} /etc/hosts",
                "grep -i {} /etc/hosts /etc/x",
                "cellcli -e list cell where {}",
                "cellcli -n -e list lun where {}",
            )
        )
        words = [self._word() for _ in range(self._random.choice((1, 1, 2, 3)) if "cellcli" in program else 1)]
        if "cellcli" in program and self._often(0.9):
            self._uses.add("= alone")
            words.insert(self._random.randint(0, len(words)), "=")
        text = program.format(self._blank().join(words))
        if self._often(0.25):
            self._uses.add("line that goes on")
            at = self._random.choice([n for n, c in enumerate(text) if c == " "])
            if text[:at].count("'") % 2 == 0 and text[:at].count('"') % 2 == 0:
                text = f"{text[:at]} \\\n{self._one(('', ' ', chr(9)))}{text[at + 1 :]}"
        return text

    def _blank(self) -> str:
        return self._one((" ", " ", "  ", "\t"))

    def _word(self) -> str:
        text = "".join(self._random.choice(self._makers)(self) for _ in range(self._random.choice((1, 2, 2, 3))))
        if self._often(0.25):
            self._uses.add("$ at a word's end")
            text += "$"
        return text if not text.startswith(("-", "=")) else f"a{text}"

    def _bare(self) -> str:
        return self._one(("a", "x1", "a=b", "/etc", "%", "@", "a!=b", "b,c", ":"))

    def _escaped(self) -> str:
        self._uses.add("backslash before a sign")
        return "".join(
            "\\" + chr(self._random.randint(32, 126)) for _ in range(self._random.choice((1, 1, 2)))
        ) + self._one(("", "a"))

    def _single(self) -> str:
        return (
            "'"
            + "".join(self._one((*_PIECES, *_VERBATIM)) for _ in range(self._random.choice((0, 1, 2)))).replace("'", "")
            + "'"
        )

    def _double(self) -> str:
        text = ""
        for _ in range(self._random.choice((1, 2, 2, 3, 4))):
            kind = self._random.random()
            if kind < 0.2:
                self._uses.add("escape in double quotes")
                text += "\\" + self._one(("\\", "$", "`", '"'))
            elif kind < 0.36:
                self._uses.add("backslash that stays in double quotes")
                text += "\\" + self._random.choice([c for c in map(chr, range(32, 127)) if c not in '\\$`"!'])
            elif kind < 0.56:
                self._uses.add("$ in double quotes")
                text += self._one([each for each in _SAFE_DOLLAR if each != '$"'])
            elif kind < 0.7:
                self._uses.add("line that goes on in double quotes")
                text += "\\\n"
            elif kind < 0.97:
                text += self._one(_PIECES).replace('"', "").replace("!", "")
            else:
                text += self._one(_WRONG)
        if self._often(0.15):
            self._uses.add("$ in double quotes")
            text += "$"
        return f'"{text}"'

    _makers: tuple[Callable[[Forms], str], ...] = (_bare, _escaped, _escaped, _double, _double, _single)

    # Documents.

    def _mark(self) -> tuple[str, str, bool]:
        """Return a mark as it is written, as it is, and whether it is quoted."""
        kind = self._random.random()
        plain = self._one(_NAMES)
        if self._often(0.5):
            plain = self._one(_SIGNED)
            self._uses.add("mark with other signs")
        if kind < 0.4:
            return plain, plain, False
        if kind < 0.6:
            self._uses.add("mark behind a backslash")
            return f"\\{plain}", plain, True
        if self._often(0.5):
            plain = self._one(_QUOTED)
            self._uses.add("quoted mark with other signs")
        if kind < 0.8:
            self._uses.add("mark in single quotes")
            return f"'{plain}'", plain, True
        self._uses.add("mark in double quotes")
        return f'"{plain}"', plain, True

    def _begun(self, program: str) -> tuple[str, str]:
        """Return a command with the beginning of a document, and the document's lines with its end."""
        written, mark, quoted = self._mark()
        strip = self._often(0.35)
        blanks = self._one(("", "", "", " ", "\t", "  "))
        if blanks:
            self._uses.add("blanks behind <<")
        elif not strip and written.startswith("-"):
            blanks = " "
        touching = self._often(0.35)
        if touching:
            self._uses.add("<< right behind a word")
        if strip:
            self._uses.add("<<-")
        lines = "".join(
            self._line(mark, quoted=quoted, strip=strip) + "\n" for _ in range(self._random.choice((0, 1, 1, 2, 3)))
        )
        end = f"{self._one(('', chr(9), chr(9) * 2)) if strip else ''}{mark}"
        return f"{program}{'' if touching else ' '}<<{'-' if strip else ''}{blanks}{written}", lines + end

    def _line(self, mark: str, *, quoted: bool, strip: bool) -> str:
        text = self._one(("", "\t", "\t\t", " \t")) if strip or self._often(0.1) else ""
        for _ in range(self._random.choice((0, 1, 2, 3, 4))):
            kind = self._random.random()
            if quoted and kind < 0.5:
                self._uses.add("document taken as it is")
                text += self._one(_VERBATIM)
            elif not quoted and kind < 0.2:
                self._uses.add("$ in a document")
                text += self._one(_SAFE_DOLLAR)
            elif not quoted and kind < 0.4:
                self._uses.add("escape in a document")
                text += "\\" + self._one(("\\", "$", "`"))
            elif not quoted and kind < 0.6:
                self._uses.add("backslash that stays in a document")
                text += "\\" + self._random.choice([c for c in map(chr, range(32, 127)) if c not in "\\$`"])
            elif kind < 0.7:
                # What is nearly the mark.
                text += self._one(
                    (
                        mark,
                        mark[:1],
                        f"{mark} ",
                        f"\\{mark}" if mark[0] not in "\\$`" else mark,
                        f"{mark}x",
                        mark + chr(self._random.randint(32, 126)),
                    )
                )
            else:
                text += self._one(_PIECES)
        if not quoted and self._often(0.08):
            self._uses.add("$ in a document")
            text += "$"
        if not quoted and self._often(0.015):
            text += self._one(_WRONG)
        return text + "." if text.rstrip().endswith("-") or text.lstrip("\t") == mark else text

    def _documents(self) -> str:
        count = self._random.choice((1, 1, 1, 2, 2, 3))
        line, lines = "", []
        for number in range(count):
            begun, body = self._begun(self._one(("cellcli", "cellcli -n", "/usr/local/bin/cellcli")))
            lines.append(body)
            line += begun
            tail = (
                self._one(("; ", ";", "&&", " && ", " | cat; ", "|cat && ", " || "))
                if number < count - 1
                else self._tail()
            )
            if tail.startswith(";"):
                self._uses.add("mark before ;")
            elif tail.startswith("|") and not tail.startswith("||"):
                self._uses.add("mark before |")
            elif tail.startswith("&&"):
                self._uses.add("mark before &&")
            line += tail
        if count > 1:
            self._uses.add("several documents in a line")
        return f"{line}\n" + "\n".join(lines) + "\n"

    def _tail(self) -> str:
        return self._one(
            (*("", "", "", " 2>&1", " >/dev/null", ";", "; uptime", "&&hostname", "&& date", " # it's"),
             *(f"|{self._one(_FILTERS)}", f" | {self._one(_FILTERS)}", " 2>&1 \\\n | cat", "|cat", "||uname -a")),
        )  # fmt: skip

    def _unclosed(self) -> str:
        self._uses.add("file that ends before the mark")
        begun, body = self._begun("cellcli")
        lines = body.rpartition("\n")[0]
        return f"{begun}{self._tail()}\n{lines or 'list cell'}\n"

    # Files.

    def _first_line(self) -> str:
        kind = self._random.random()
        if kind < 0.3:
            self._uses.add("file without #!")
            return self._one(("", "", "\n", "# x\n", " \n"))
        if kind < 0.56:
            self._uses.add("#! and blanks")
            return self._one(("#! /bin/sh\n", "#!\t/bin/bash\n", "#!  /bin/sh -e\n"))
        if kind < 0.77:
            self._uses.add("#!/usr/bin/env bash")
            return self._one(("#!/usr/bin/env bash\n", "#! /usr/bin/env bash\n"))
        self._uses.add("#! with an option")
        return f"#!/bin/{self._one(('sh', 'bash'))} -{self._random.choice('xvue')}\n"

    def _changed(self, text: str) -> str:
        """Return the text with one more, one less or another byte somewhere."""
        for _ in range(self._random.choice((1, 1, 2))):
            at, kind = self._random.randint(0, len(text)), self._random.random()
            other = self._random.choice(SPECIAL if self._often(0.3) else "\\$\"'`\n\t =<-;|& E!#")
            text = text[:at] + (other if kind < 0.7 else "") + text[at + (kind > 0.4) :]
        return text
