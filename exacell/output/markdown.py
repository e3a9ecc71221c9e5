"""Show pages of the documentation on a terminal: Markdown drawn by rich, headings on the left, code unchanged."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from exacell.output.draw import RULE, Look, lines_of
from exacell.output.style import plain
from exacell.output.theme import ASCII, MEANINGS, for_rich

_READABLE = 100
"""The greatest width of a page, in columns: longer lines are hard to read."""

_BOLD, _GREY = for_rich(MEANINGS["title"]), for_rich(MEANINGS["dim"])
_STYLES = dict.fromkeys(("code", "h1", "h2", "h3", "h4", "strong", "table.header"), _BOLD)
_STYLES |= dict.fromkeys(("item.bullet", "item.number", "block_quote", "link", "em", "code_block"), "none")
_STYLES |= dict.fromkeys(("link_url", "table.border", "hr"), _GREY)
_THEME = Theme({f"markdown.{name}": style for name, style in _STYLES.items()})


class _Heading(Heading):
    """A heading on the left, with an empty line above."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield Text("")
        yield self.text


class _Code(CodeBlock):
    """Code, unchanged and without colour, because it is there to be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(Text(str(self.text).rstrip(), overflow="fold"), (0, 0, 0, 2))


class _Table(TableElement):
    """A table with only a rule below its titles; long words are wrapped, not cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=RULE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        titles = self.header.row.cells if self.header is not None and self.header.row is not None else []
        for each in titles:
            table.add_column(each.content, overflow="fold", header_style=_BOLD)
        for row in self.body.rows if self.body is not None else []:
            table.add_row(*(each.content for each in row.cells))
        yield table


class _Page(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements, "heading_open": _Heading, "fence": _Code, "code_block": _Code, "table_open": _Table,
    }  # fmt: skip

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with console.use_theme(_THEME):
            yield from super().__rich_console__(console, options)


def page_lines(text: str, look: Look) -> list[str]:
    """Return the lines of a Markdown page, no wider than the look and than 100 columns, with single empty lines only."""
    width = min(look.width - 1 if look.width else _READABLE, _READABLE)
    lines = lines_of(_Page(text, hyperlinks=False), look._replace(width=width))
    runs = ((shown, list(each)) for shown, each in groupby(lines, key=lambda line: bool(plain(line).strip())))
    found = [line for shown, run in runs for line in (run if shown else [""])]
    found = found[1:] if found[:1] == [""] else found
    return found if look.unicode else [line.translate(ASCII) for line in found]
