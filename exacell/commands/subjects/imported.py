"""Imports, and files that an import would read."""

from __future__ import annotations

from pathlib import Path

from exacell.commands.subjects.files import named_files
from exacell.commands.subjects.sort import Asked, Sort
from exacell.measure.finding import Finding
from exacell.measure.importers import findings
from exacell.measure.importers.findings import Imported
from exacell.session.imports import kept, read_set
from exacell.session.store import Store


def _store(asked: Asked) -> Store:
    return Store(asked.session.home.state_dir / "store.db")


def _has(asked: Asked, name: str) -> bool:
    return name.lower() in {str(body["name"]).lower() for body in _store(asked).imports()}


def _is_file(asked: Asked, name: str) -> bool:
    if name.endswith(".trc"):
        return False  # A trace file, which has its own sort.
    return any(path.is_file() for path in named_files(name)) if "*" in name else Path(name).expanduser().is_file()


def _found(asked: Asked, name: str) -> Imported:
    return kept(_store(asked), name) if _has(asked, name) else read_set(Path(name).name, named_files(name))


def _alone(asked: Asked, name: str) -> Finding:
    return findings.alone(_found(asked, name))


def _pair(asked: Asked, a: str, b: str) -> Finding:
    return findings.pair(_found(asked, a), _found(asked, b), anyway=asked.anyway)


IMPORTS = Sort(
    title="imports", has=lambda asked, name: _has(asked, name) or _is_file(asked, name), alone=_alone, pair=_pair
)
"""An import goes before a file of the same name."""
