"""Files that come with exacell besides its code: recipes and the pages of docs/, wherever and however it was installed.

In a checkout ``exacell/data/recipes`` and ``exacell/data/docs`` are links to the folders at its top; a wheel holds their files as
package data, so that they are where the code is: in a virtual environment, after ``pip install --user`` or ``--target``, and in
a zip. Source: Python documentation, importlib.resources; setuptools documentation, Data Files Support.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import zipfile

    Place = Path | zipfile.Path
    """A file or folder of the package: a path, or a part of the zip that exacell runs from."""

PAGES = (".md", ".toml")
"""How files of the documentation end that are pages."""

_DATA = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data")


def packaged_folder(kind: str) -> Place:
    """Return the folder of the package's ``recipes`` or ``docs``."""
    found = Path(os.path.realpath(os.path.join(_DATA, kind)))
    if found.is_dir():
        return found
    from importlib.resources import files

    return cast("Place", files("exacell").joinpath("data", kind))


def has_source() -> bool:
    """Whether exacell runs from its source tree, where tests and benchmarks stand beside the package."""
    return os.path.isdir(os.path.join(os.path.dirname(os.path.realpath(os.path.join(_DATA, "docs"))), "benchmarks"))


def packaged_files(kind: str, *endings: str) -> dict[str, Place]:
    """Return the files of one of the package's folders by their names without ending, in the order of the names.

    Args:
        endings: only those that end so (``.md``).
    """
    folder = packaged_folder(kind)
    if not folder.is_dir():
        return {}
    files = sorted((place for place in folder.iterdir() if place.name.endswith(endings)), key=lambda place: place.name)
    return {place.name[: place.name.rindex(".")]: place for place in files}
