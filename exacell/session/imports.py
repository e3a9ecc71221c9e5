"""Read files of other programs on this machine and keep their texts under a name; each use parses the texts again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from exacell.core.errors import RefusedError
from exacell.core.units import counted
from exacell.measure.finding import Artifact
from exacell.measure.importers import drive
from exacell.measure.importers.drive import Driven
from exacell.measure.importers.findings import Imported
from exacell.measure.importers.kinds import read, together
from exacell.measure.importers.model import Run
from exacell.session.state import Session
from exacell.session.store import Store
from exacell.session.unpacking import opened

MOST = 64 << 20
"""The largest size of one file in bytes, after unpacking: a larger file is no summary."""


_TELLING = 1000
"""Two runs of at least so many bytes don't have the same text by chance."""


def read_set(name: str, paths: Mapping[Path, str], kind: str = "") -> Imported:
    """Return the content of all files as one set, each file with the name to show for it; gzip and UTF-16 are unpacked.

    Raises:
        RefusedError: a file can't be read or comes from no known program, or the files come from different programs.
    """
    return _set(name, [(shown, _content(path)) for path, shown in paths.items()], kind)


def keep(store: Store, found: Imported) -> None:
    """Keep a set with its files; a set with the same name is replaced."""
    files = [{"name": file.name, "text": file.content.decode("utf-8", "replace")} for file in found.files]
    taken = datetime.now(UTC).isoformat(timespec="milliseconds")
    body = {"name": found.name, "taken": taken, "kind": found.kind, "files": files}
    store.save_import(found.name, taken, json.dumps(body))


def keep_load(session: Session, name: str, change: int, load: Driven) -> str:
    """Add the figures of a load to those kept under ``name``, and return a note about it.

    Raises:
        RefusedError: the name holds figures of something else.
    """
    store = Store(session.home.state_dir / "store.db")
    refuse_other_kind(store, name)
    files = [(file.name, file.content) for each in _named(store, name) for file in each.files]
    found = _set(name, [*files, (f"{load.work}-{load.sessions}-{change}.txt", load.text.encode())], drive.KIND)
    keep(store, found)
    return f"kept as {name}, with {counted(len(found.files), 'load')}: `compare {name} OTHER` compares it"


def refuse_other_kind(store: Store, name: str) -> None:
    """Raise RefusedError if ``name`` holds figures that are not of a load.

    Raises:
        RefusedError: it holds an import of another program.
    """
    for each in _named(store, name):
        if each.kind != drive.KIND:
            raise RefusedError(
                f"as={name}: an import of another program has this name already", hint="give another name"
            )


def _named(store: Store, name: str) -> list[Imported]:
    return [kept(store, name)] if name.lower() in (str(body["name"]).lower() for body in store.imports()) else []


def kept(store: Store, name: str) -> Imported:
    """Return the set with that name, upper or lower case.

    Raises:
        StoreError: there is no such import; the message names the existing ones.
    """
    body = store.find_import(name)
    return _set(body["name"], [(file["name"], file["text"].encode()) for file in body["files"]], body["kind"])


def _set(name: str, files: Sequence[tuple[str, bytes]], kind: str) -> Imported:
    runs: list[Run] = []
    first: dict[bytes, str] = {}
    for source, content in files:
        if len(content) > _TELLING and content in first:
            same = f"{source} is a copy of {first[content]}, so it is not another run; the two count once"
            runs[-1] = replace(runs[-1], warnings=(*runs[-1].warnings, same))
            continue
        first[content] = source
        runs.append(read(content.decode("utf-8", "replace"), source, kind))
    artifacts = tuple(Artifact(name=source, content=content) for source, content in files)
    return Imported(name=name, runs=tuple(together(runs)), files=artifacts)


def _content(path: Path) -> bytes:
    with opened(path) as stream:
        content = stream.read(MOST + 1)
    if len(content) > MOST:
        raise RefusedError(f"{path} is larger than {MOST >> 20} MB", hint="import only the part that was measured")
    return content
