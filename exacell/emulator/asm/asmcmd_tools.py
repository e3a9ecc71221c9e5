"""What the commands of ``asmcmd`` share: options, tables, and how they are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from exacell.emulator.asm.model import DiskGroup
from exacell.emulator.instances import Instance
from exacell.emulator.sql.values import Value, to_text
from exacell.emulator.sql.views import catalog
from exacell.emulator.text_table import TextColumn, text_table

Row = Mapping[str, Value]


class CommandError(Exception):
    """A command is refused; the text is what asmcmd prints."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Flags (letters and long names, with their values) and what is left."""

    flags: Mapping[str, str]
    rest: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of the flags was given."""
        return any(name in self.flags for name in names)


def options_of(
    words: Sequence[str], *, flags: str = "", long: Sequence[str] = (), valued: Sequence[str] = ()
) -> Options:
    """Split words into flags and the rest.

    Args:
        flags: letters without a value, which may be written together.
        long: ``--`` names without a value.
        valued: letters and long names that take the next word.

    Raises:
        CommandError: an option is none of them.
    """
    found: dict[str, str] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name = word.lstrip("-")
        if not word.startswith("-"):
            rest.append(word)
        elif name in valued and queue:
            found[name] = queue.pop(0)
        elif (word.startswith("--") and name in long) or (
            not word.startswith("--") and name and set(name) <= set(flags)
        ):
            found.update(dict.fromkeys([name] if word.startswith("--") else name, ""))
        else:
            raise CommandError(f"ASMCMD-8201: (Oracle ASM) unknown option: {name}")
    return Options(flags=found, rest=tuple(rest))


def described(options: Options, tag: str, what: str, example: str) -> ElementTree.Element:
    """Return the description in XML that a command was given, from which it takes a disk group's name and disks.

    Args:
        tag: its outermost element, which has a name.
        what: what is described, for messages.
        example: what it looks like, for messages.

    Raises:
        CommandError: ASMCMD-9395, it is no XML, or another element.
    """
    try:
        root = ElementTree.fromstring(" ".join(options.rest))
    except ElementTree.ParseError as error:
        raise CommandError(f"ASMCMD-9395: the description of {what} cannot be parsed: {error}") from error
    if root.tag != tag or not root.get("name"):
        raise CommandError(f"ASMCMD-9395: the description of {what} is {example}")
    return root


def rows_of(instance: Instance, view: str) -> list[Row]:
    """Return the rows of a view on the instance, by column; none when the release has no such view."""
    relation = catalog(instance)(view)
    if relation is None:
        return []
    names = [column.name for column in relation.columns]
    return [dict(zip(names, row, strict=True)) for row in relation.rows]


def mounted_group(instance: Instance, name: str) -> DiskGroup:
    """Return a disk group that is mounted here.

    Raises:
        CommandError: ASMCMD-8001, it is not, or there is none.
    """
    group = instance.asm.groups.get(name.strip("+/").upper())
    if group is None or instance.node not in group.mounted:
        raise CommandError(f"ASMCMD-8001: diskgroup '{name}' does not exist or is not mounted")
    return group


def table(titles: Sequence[tuple[str, str]], rows: Sequence[Row], options: Options) -> str:
    """Return rows as a table: titles with the columns that they show; without them for --suppressheader."""
    columns = [
        TextColumn(title=title, right=any(isinstance(row.get(key), int) for row in rows) or title == "Voting_files")
        for title, key in titles
    ]
    cells = [[to_text(row.get(key), "DD-MON-RR") or "" for _, key in titles] for row in rows]
    return text_table(columns, cells, heading=not options.has("suppressheader"))
