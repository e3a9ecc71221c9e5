"""Find the files of this machine that a statement names: by their paths, or by the name under which a recipe's run kept them."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from exacell.core.errors import ConfigError, RefusedError, StatementError
from exacell.core.paths import at_home
from exacell.journal.rows import Kept
from exacell.session.artifacts import kept, state_of
from exacell.session.given import Services, Session

_KEPT = re.compile(r"(?:(?P<run>r[0-9]+):)?(?P<name>[^:@/*?]+)(?:@(?P<host>[^:@/*?]+))?", re.IGNORECASE)
"""Pattern of ``r3:fio_1280@ini1``; the run and the host may be left out."""


def named_files(session: Session, services: Services, text: str) -> dict[Path, str]:
    """Return file → its name for display, for the files that a statement names.

    Paths may contain * and ? as in a shell. Files that ``copy from`` put into folders of hosts are shown as NAME@HOST.
    ``[RUN:]NAME[@HOST]`` means the files that ``keep … as=NAME`` of a recipe has kept, of that host or of all hosts; the names
    then contain the host.

    Raises:
        StatementError: a quote is missing.
        RefusedError: there is no such file; or the name of a kept file is also a path, or the file has changed since it was kept.
    """
    found: dict[Path, str] = {}
    for word in [text] if glob.glob(text) else words_of(text):  # A name may have blanks.
        rows = kept_rows(session, services, word)
        found |= _whole(session, word, rows) if rows else dict.fromkeys(_paths(word), "")
    return _shown(session, found)


def _shown(session: Session, found: dict[Path, str]) -> dict[Path, str]:
    """Return file → its name for display; if there are several, a file in a host's folder gets the host's name."""
    hosts: tuple[str, ...] = ()
    with suppress(ConfigError):
        hosts = session.need_rack().host_names
    names = [path.name for path, shown in found.items() if not shown]

    def name(path: Path) -> str:
        if len(found) > 1 and path.parent.name in hosts:
            return f"{path.name}@{path.parent.name}"
        return f"{path.parent.name}/{path.name}" if names.count(path.name) > 1 else path.name

    return {path: shown or name(path) for path, shown in found.items()}


def trace_files(session: Session, services: Services, text: str) -> list[Path]:
    """Return the trace files that a statement names, without .trm files; errors as for :func:`named_files`.

    Raises:
        RefusedError: also if only .trm files are named.
    """
    found = [path for path in named_files(session, services, text) if path.suffix != ".trm"]
    if not found:
        raise RefusedError(".trm files contain no waits: give the .trc files in the same folder")
    return found


def words_of(text: str) -> list[str]:
    """Return the words of a statement's text, without their quotes.

    Raises:
        StatementError: a quote is missing.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise StatementError(f"{text}: {error}", hint="close the quote") from error


def kept_rows(session: Session, services: Services, word: str) -> Sequence[Kept]:
    """Return the rows of the kept files that a word names: of the given run, or of the newest run that kept such a name.

    Empty if there are none.
    """
    asked = _KEPT.fullmatch(word)
    if asked is None:
        return ()
    rows: list[Kept] = []
    with suppress(ConfigError):  # Without a rack there are no runs.
        rows = kept(services.journal, session.need_rack().name)
    rows = [row for row in rows if _is(row.name, asked["name"]) and _is(run_name(row), asked["run"])]
    return [row for row in rows if row.run == rows[-1].run and _is(row.target, asked["host"])]


def run_name(row: Kept) -> str:
    """Return the name of a row's run: r3."""
    return row.run.partition(" ")[0]


def _is(name: str, asked: str | None) -> bool:
    return asked is None or name.lower() == asked.lower()


def _whole(session: Session, word: str, rows: Sequence[Kept]) -> dict[Path, str]:
    folder, first = session.home.state_dir, rows[0]
    name = f"{run_name(first)}:{first.name}"
    if Path(word).exists():
        raise RefusedError(
            f"{word} is a file in this folder, and also a name that run {run_name(first)} kept",
            hint=f"write ./{word} for the file, {name} for what was kept",
        )
    for row in rows:
        if wrong := state_of(folder, row):
            raise RefusedError(
                f"{name}: {folder / row.file} {wrong}", hint=f"`results {run_name(row)}` checks each file"
            )
    targets = [row.target for row in rows]

    def shown(row: Kept) -> str:
        own = f"{name}@{row.target}" if row.target else name
        return own if targets.count(row.target) == 1 else f"{own}/{Path(row.file).name}"

    return {folder / row.file: shown(row) for row in rows}


def _paths(word: str) -> list[Path]:
    found = [Path(path) for path in sorted(glob.glob(word, recursive=True))] if glob.has_magic(word) else [Path(word)]
    if not found:
        raise RefusedError(
            f"{word}: no such file", hint="patterns are relative to the folder in which exacell was started"
        )
    asked = _KEPT.fullmatch(word)
    if asked is not None and not at_home(found[0]).exists():
        no_file = "" if asked["run"] or asked["host"] else "No such file or directory, and "
        raise RefusedError(
            f"{word}: {no_file}no run has kept such a name",
            hint="`results --all` lists the runs, `results r1` what r1 kept",
        )
    return [at_home(path) for path in found]
