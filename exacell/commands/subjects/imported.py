"""Imports as subjects of a report; and files that could be imported, some of them kept by runs of recipes."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from exacell.commands.subjects.files import kept_rows, named_files
from exacell.commands.subjects.sort import Asked, Sort
from exacell.core.paths import at_home
from exacell.measure.finding import Finding
from exacell.measure.importers import findings
from exacell.measure.importers.findings import Imported
from exacell.measure.importers.several import several
from exacell.session.imports import kept, read_set
from exacell.session.store import Store


def _store(asked: Asked) -> Store:
    return Store(asked.session.home.state_dir / "store.db")


def _has(asked: Asked, name: str) -> bool:
    return name.lower() in {str(body["name"]).lower() for body in _store(asked).imports()}


def _fitting(asked: Asked, pattern: str) -> Sequence[str]:
    names = [str(body["name"]) for body in _store(asked).imports()]
    return [name for name in names if fnmatchcase(name.lower(), pattern.lower())]


def _is_file(asked: Asked, name: str) -> bool:
    if rows := kept_rows(asked.session, asked.services, name):
        return not rows[0].file.endswith(".trc")
    if name.endswith(".trc"):
        return False  # A trace file, which has its own sort.
    if "*" in name:
        return any(path.is_file() for path in named_files(asked.session, asked.services, name))
    return at_home(name).is_file()


def _found(asked: Asked, name: str) -> Imported:
    if _has(asked, name):
        return kept(_store(asked), name)
    files = named_files(asked.session, asked.services, name)
    return read_set(next(iter(files.values())) if len(files) == 1 else Path(name).name, files)


def _alone(asked: Asked, name: str) -> Finding:
    return findings.alone(_found(asked, name))


def _pair(asked: Asked, a: str, b: str) -> Finding:
    return findings.pair(_found(asked, a), _found(asked, b), anyway=asked.anyway)


def _several(asked: Asked, names: Sequence[str]) -> Finding:
    return several([_found(asked, name) for name in names], anyway=asked.anyway)


IMPORTS = Sort(
    title="imports",
    has=lambda asked, name: _has(asked, name) or _is_file(asked, name),
    alone=_alone,
    pair=_pair,
    several=_several,
    fitting=_fitting,
)
"""If an import and a file have the same name, the import is used."""
