"""Pages of the documentation as ``help docs`` shows them on a terminal: links name pages, and nothing that is not there is named.

A page is written for readers of the source tree too, where the programs that measure and test stand beside it. An installation
has none of them, so that their names would only mislead there.
"""

from __future__ import annotations

import re

from exacell.core.values import dataclass

_PICTURE = re.compile(r"^!\[([^\]]*)\]\([^)]*\)$", re.MULTILINE)
_NAMED_LINK = re.compile(r"\[(?:docs/)?([\w.-]+)\.(?:md|toml)\]\((?:docs/)?\1\.(?:md|toml)(?:#[\w-]*)?\)")
_LINK = re.compile(r"\[([^\]]+)\]\((?:docs/)?([\w.-]+)\.(?:md|toml)(?:#[\w-]*)?\)")
_PLACE = re.compile(r"\[([^\]]+)\]\(#[\w-]*\)")
_FILE = re.compile(r"\bdocs/([\w.-]+?)\.(?:md|toml)\b")

_FOLDERS = "tests|benchmarks"
_SAID = {"tests": "a test", "benchmarks": "a benchmark", "make": "make"}
_TARGETS = "demo|faults|fuzz|lint|man|mutants|races|test"
_CODE = re.compile(rf"`[^`\n]*\b(?:({_FOLDERS})/|make (?:{_TARGETS})\b)[^`\n]*`")
_LINE = re.compile(rf"^(?:python )?({_FOLDERS})/([\w.-]+?)(?:\.py)?(?=\s|$)", re.MULTILINE)
_LOOSE = re.compile(rf"\b({_FOLDERS})/[\w./*-]*\w")


def shown_page(text: str, *, source: bool) -> str:
    """Return a page as it is shown.

    Args:
        source: whether the source tree is there, so that what the page names of it may be named.
    """
    text = _PICTURE.sub(r"(a picture: \1)", text)
    text = _NAMED_LINK.sub(r"`help docs \1`", text)
    text = _LINK.sub(r"\1 (`help docs \2`)", text)
    text = _PLACE.sub(r"\1", text)
    text = _FILE.sub(r"`help docs \1`", text)
    if source:
        return text
    text = _CODE.sub(lambda match: f"{_SAID[match[1] or 'make']} in exacell's source", text)
    text = _LINE.sub(lambda match: f"({_SAID[match[1]]} in exacell's source: {match[2]})", text)
    return _LOOSE.sub(lambda match: f"{_SAID[match[1]]} in exacell's source", text)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: its heading, and the text below it."""

    title: str
    text: str


def sections(text: str) -> tuple[Section, ...]:
    """Return the parts of a page by its headings, the page's own title first; without any the first line is the title."""
    found = (
        list(re.finditer(r"^#{1,4} +(.+)$", text, re.MULTILINE)) if text.startswith("# ") and "\n## " in text else []
    )
    if not found:
        first, _, rest = text.partition("\n")
        return (Section(title=first.lstrip("# ").partition(": ")[0], text=rest),)
    ends = [*(match.start() for match in found[1:]), len(text)]
    return tuple(
        Section(title=match[1].strip(), text=text[match.end() : end].strip())
        for match, end in zip(found, ends, strict=True)
    )
