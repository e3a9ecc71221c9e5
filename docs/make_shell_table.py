"""Write the list of commands in docs/shell-text.md from exacell/opaque/data/commands.toml."""

from __future__ import annotations

from pathlib import Path

from exacell.opaque.table import Row, table

PAGE = Path(__file__).with_name("shell-text.md")
BEGIN, END = "<!-- commands -->\n", "<!-- end of commands -->\n"


def _code(words: str) -> str:
    """Return words as code in a table's cell, with values as ``<count>``."""
    return "`" + " ".join(map(_value, words.split())).replace("|", "\\|") + "`"


def _value(word: str) -> str:
    kind = max((kind for kind in table().kinds if word.endswith(kind)), key=len, default="")
    return f"{word.removesuffix(kind)}<{kind.lower()}>" if kind else word


def _line(row: Row) -> str:
    letters = [f"-[{row.letters}]"] if row.letters else []
    # A trailing | in the file means that something has to be piped in.
    shapes = [
        f"… | {row.name} {shape.removesuffix('|')}" if shape.endswith("|") else f"{row.name} {shape}"
        for shape in row.operands
    ]
    taken = [_code(shape.strip()) for shape in shapes]
    options = [_code(option) for option in (*letters, *row.options)]
    needed = f", with {' '.join(map(_code, row.needs))}" if row.needs else ""
    return f"| {_code(row.name)} | {' '.join(options) or 'none'} | {', '.join(taken)}{needed} | {row.why} |"


def rendered() -> str:
    """Return the list: a line a command, in the order of their names."""
    head = "| command | options | forms that are read | why it changes nothing |\n|--|--|--|--|\n"
    rows = sorted(table().rows.values(), key=lambda row: row.name)
    return head + "".join(f"{_line(row)}\n" for row in rows)


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + rendered() + END + rest.partition(END)[2], encoding="utf-8")
