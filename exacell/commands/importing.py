"""Import the outputs of other programs: read, show and store them."""

from __future__ import annotations

from exacell.commands.subjects.files import named_files
from exacell.language.registry import Call
from exacell.measure.importers.findings import alone
from exacell.output.findings import shown
from exacell.output.result import Column, Result
from exacell.session.given import Services, Session
from exacell.session.imports import keep, read_set
from exacell.session.store import Store


def import_files(session: Session, services: Services, call: Call) -> Result:
    """Return one record per sentence, then one per series and load.

    Raises:
        StatementError: the names of the files can't be read.
        RefusedError: a file does not exist, can't be read or is of no known program, or the files are of different programs.
    """
    name = call.text_arg("as")
    files = named_files(session, services, call.text_arg("files"))
    found = read_set(name or next(iter(files.values())), files, call.text_arg("kind"))
    finding = alone(found)
    if name:
        keep(Store(session.home.state_dir / "store.db"), found)
    return shown(finding)


def imports(session: Session) -> Result:
    """Return one record per import: name, kind of program, time, number of files."""
    rows = [
        {
            "cell": None,
            "name": body["name"],
            "kind": body["kind"],
            "imported": body["taken"],
            "files": len(body["files"]),
        }
        for body in Store(session.home.state_dir / "store.db").imports()
    ]
    return Result(records=rows, data=True, columns=[Column(name) for name in ("name", "kind", "imported", "files")])
