"""Find the files that come with exacell besides its code: tables, recipes and the pages of docs/, however it was installed.

In a checkout ``recipes``, ``docs`` and ``completions`` in ``exacell/data`` are links to the folders at its top; a wheel
contains their files as package data, so that they are next to the code: in a virtual environment, after ``pip install --user``
or ``--target``, and in a zip. Source: Python documentation, importlib.resources; setuptools documentation, Data Files Support.

This module also prepares pages for ``help docs`` on a terminal: links become names of pages, and names of files that an
installation does not have (programs that measure and test) are left out, because they would mislead there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from exacell.core.patterns import pattern
from exacell.core.values import dataclass

if TYPE_CHECKING:
    import zipfile
    from importlib.machinery import ModuleSpec

    Place = Path | zipfile.Path
    """A file or folder of the package: a path, or a part of the zip that exacell runs from."""

PAGES = (".md", ".toml")
"""Endings of files that are pages of the documentation."""

_DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data")


def packaged_folder(kind: str) -> Place:
    """Return the folder of the package's ``recipes``, ``docs`` or ``completions``."""
    found = Path(os.path.realpath(os.path.join(_DATA, kind)))
    if found.is_dir():
        return found
    from importlib.resources import files

    return cast("Place", files("exacell").joinpath("data", kind))


def has_source() -> bool:
    """Return whether exacell runs from its source tree, which has tests and benchmarks beside the package."""
    return os.path.isdir(os.path.join(os.path.dirname(os.path.realpath(os.path.join(_DATA, "docs"))), "benchmarks"))


def packaged_files(kind: str, *endings: str) -> dict[str, Place]:
    """Return file name without ending → file, for one of the package's folders, in the order of the names.

    Args:
        endings: only files with one of these endings (``.md``).
    """
    folder = packaged_folder(kind)
    if not folder.is_dir():
        return {}
    files = sorted((place for place in folder.iterdir() if place.name.endswith(endings)), key=lambda place: place.name)
    return {place.name[: place.name.rindex(".")]: place for place in files}


class _Loader(Protocol):
    def get_data(self, path: str) -> bytes:
        """Return a file's content. Source: Python documentation, importlib.abc.ResourceLoader."""


def data_beside(spec: ModuleSpec, name: str) -> str:
    """Return the text of ``data/name`` beside the module that has this ``__spec__``.

    Raises:
        OSError: there is no such file.
    """
    loader = cast("_Loader", spec.loader)
    return loader.get_data(os.path.join(os.path.dirname(str(spec.origin)), "data", name)).decode("utf-8")


_PICTURE = pattern(r"^!\[([^\]]*)\]\([^)]*\)$", re.MULTILINE)
_NAMED_LINK = pattern(r"\[(?:docs/)?([\w.-]+)\.(?:md|toml)\]\((?:docs/)?\1\.(?:md|toml)(?:#[\w-]*)?\)")
_LINK = pattern(r"\[([^\]]+)\]\((?:docs/)?([\w.-]+)\.(?:md|toml)(?:#[\w-]*)?\)")
_PLACE = pattern(r"\[([^\]]+)\]\(#[\w-]*\)")
_FILE = pattern(r"\bdocs/([\w.-]+?)\.(?:md|toml)\b")

_FOLDERS = r"tests|benchmarks|examples|\.ci"
_SAID = {
    "tests": "a test",
    "benchmarks": "a benchmark",
    "examples": "an example",
    ".ci": "a file for packaging",
    "make": "make",
}
_TARGETS = "demo|dist|faults|fuzz|install|lint|man|mutants|races|test"
_CODE = pattern(rf"`[^`\n]*(?<![\w/.-])(?:({_FOLDERS})/|make (?:{_TARGETS})\b)[^`\n]*`")
_LINE = pattern(rf"^(?:python )?({_FOLDERS})/([\w.-]+?)(?:\.py)?(?=\s|$)", re.MULTILINE)
_LOOSE = pattern(rf"(?<![\w/.-])({_FOLDERS})/[\w./*-]*\w")


def shown_page(text: str, *, source: bool) -> str:
    """Return a page as ``help docs`` shows it.

    Args:
        source: whether the source tree is available, so that the page may name its files.
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
    """Return the parts of a page by its headings, the page's own title first; without headings the first line is the title."""
    code = [match.span() for match in re.finditer(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)]
    found = [
        match
        for match in re.finditer(r"^#{1,4} +(.+)$", text, re.MULTILINE)
        if text.startswith("# ") and "\n## " in text and not any(start < match.start() < end for start, end in code)
    ]
    if not found:
        first, _, rest = text.partition("\n")
        return (Section(title=first.lstrip("# ").partition(": ")[0], text=rest),)
    ends = [*(match.start() for match in found[1:]), len(text)]
    return tuple(
        Section(title=match[1].strip(), text=text[match.end() : end].strip())
        for match, end in zip(found, ends, strict=True)
    )
