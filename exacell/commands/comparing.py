"""Commands that compare measurements with each other, and write reports about them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from exacell.change.here import refuse_replacing
from exacell.commands.declared.comparing import FORMS
from exacell.commands.subjects.sort import Asked
from exacell.commands.subjects.sorts import finding_of, newest
from exacell.core.errors import ExitCode, RefusedError, StatementError, why_unreadable
from exacell.core.paths import at_home, replace_file
from exacell.core.version import __version__
from exacell.language.registry import Call
from exacell.measure.finding import Finding
from exacell.output.findings import shown
from exacell.output.report.page import Made, page
from exacell.output.report.text import as_json, markdown
from exacell.output.result import Result
from exacell.session.evidence import check, files_of, pack
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Session

_WRITERS = {"html": page, "md": markdown, "json": as_json}


def compare(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per sentence, then one per figure.

    Raises:
        StatementError: only one name was given.
        RefusedError: a name is unknown, or the measurements can't be compared.
    """
    names = (call.text_arg("a"), *call.texts_arg("b"))
    if len(names) == 1 and "*" not in names[0]:
        raise StatementError(
            "compare needs B …: what to compare with", hint=f"type `compare {names[0]} OTHER`; `imports` lists names"
        )
    return shown(finding_of(_asked(session, services, request, call), names))


def _asked(session: Session, services: Services, request: Request, call: Call) -> Asked:
    return Asked(session=session, services=services, request=request, anyway=call.flag("anyway"))


def report(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Write the report; return one record with its file, its verdict and, for an archive, its seal.

    Raises:
        RefusedError: a name is unknown, the measurements can't be compared, or the file exists or can't be written.
    """
    asked = _asked(session, services, request, call)
    words = [word for word in (call.text_arg("a"), *call.texts_arg("b")) if word]
    form = words.pop() if words and words[-1] in FORMS else "html"
    names = tuple(words) or (newest(asked),)
    evidence = call.flag("evidence")
    path = at_home(call.text_arg("to") or _file_name(names, "zip" if evidence else form))
    if path.exists() and not call.flag("replace"):
        raise RefusedError(f"{path} exists", hint="give another file with to=, or give --replace")
    refuse_replacing(session, "report to=", str(path))
    finding = finding_of(asked, names)
    made = Made(at=datetime.now(UTC).isoformat(timespec="seconds"), version=__version__, statement=call.text)
    seal = _write(path, finding, made, "" if evidence else form)
    record = {"cell": None, "file": str(path), "verdict": finding.verdict, **({"seal": seal} if seal else {})}
    said = f"{path}: {finding.verdict}" + (
        f"\nseal {seal}: give it to the receiver of the archive, not in the archive" if seal else ""
    )
    code = ExitCode.FAILED if finding.failed else ExitCode.DONE
    return Result(records=[record], text=said, data=True, notes=finding.notes, exit_code=code)


def _file_name(names: tuple[str, ...], end: str) -> str:
    plain = (re.sub(r"[^A-Za-z0-9._-]+", "_", Path(name).name).strip("._") or "traces" for name in names)
    return f"{'-'.join(plain)}.{end}"


def _write(path: Path, finding: Finding, made: Made, form: str) -> str:
    """Write the report in a form, or the archive if ``form`` is empty; return the archive's seal."""
    if not form:
        reports = {f"report.{name}": write(finding, made) for name, write in _WRITERS.items()}
        path.unlink(missing_ok=True)
        return pack(path, files_of(finding, reports))
    try:
        replace_file(path, _WRITERS[form](finding, made))
    except OSError as error:
        raise RefusedError(f"{path}: {why_unreadable(error)}") from error
    return ""


def verify_report(call: Call) -> Result:
    """Return one record: the number of files whose checksum is right, the seal, and the files whose checksum is wrong.

    Raises:
        RefusedError: the file can't be read, or is not the archive of a report.
    """
    path = at_home(call.text_arg("file"))
    found = check(path)
    record = {"cell": None, "file": str(path), "files": found.files, "seal": found.seal, "whole": not found.wrong}
    said = f"{path}: {found.files} files match their checksums; compare the seal with the sender's: {found.seal}"
    return Result(
        records=[{**record, "wrong": list(found.wrong)} if found.wrong else record],
        text=said if not found.wrong else "",
        data=True,
        problems=tuple(f"{path}: {what}" for what in found.wrong),
        exit_code=ExitCode.FAILED if found.wrong else ExitCode.DONE,
    )
