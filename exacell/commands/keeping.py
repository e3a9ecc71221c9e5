"""Keep files and answers with a recipe's run, and show what runs have kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from exacell.change.dcli.told import in_own_words
from exacell.change.execute import execute
from exacell.commands.fetching import DEADLINE, bring
from exacell.commands.hosts import hosts_of
from exacell.core.cellset import fold
from exacell.core.errors import ExitCode, StatementError
from exacell.core.units import counted, human_size
from exacell.journal import rows
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Effect
from exacell.output.render import lines
from exacell.output.result import HOST, Column, Result
from exacell.recipes.answers import Kept, read_kept
from exacell.session.artifacts import Fresh, Keeping, kept, state_of
from exacell.session.given import Request, Services, Session


def keep(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Keep files of hosts, or the answer of a statement, and return a note about it.

    Raises:
        StatementError: there is nothing to keep, or no run to keep it with.
        RefusedError: it can't be kept.
        ExacellError: any error of the statement itself.
    """
    found = read_kept(call)
    flags = session.options.over(call.flags)
    if request.origin and flags.get("dry-run"):
        return _shown(session, services, request, call, found)
    if not request.run:
        raise StatementError(
            "keep works only in a recipe: it keeps files with a run",
            hint="at the prompt, `copy from @HOSTS:/path DIR` fetches a file, and `STATEMENT > FILE` writes an answer",
        )
    said = {"statement": call.text, "origin": request.origin, "place": request.place}
    reason = {name: str(flags[name]) for name in ("reason", "ticket") if flags.get(name)}
    keeping = Keeping(
        journal=services.journal,
        folder=session.home.state_dir,
        rack=session.need_rack().name,
        run=request.run,
        name=found.name,
        said={**said, **reason},
    )
    if found.line is None:
        with session.selection.on(found.hosts) if found.hosts else nullcontext():
            hosts = hosts_of(session, call)
            return _with_note(keeping, _files(session, services, keeping, call, found, hosts))
    if found.effect is Effect.OPAQUE:
        return _with_note(keeping, _output(session, services, request, keeping, call, found))
    return _with_note(keeping, _answer(session, services, request, keeping, call, found))


def _shown(session: Session, services: Services, request: Request, call: Call, found: Kept) -> Result:
    """Return the result with -n: what would be kept, and the parts of a command that exacell can't read."""
    notes = [f"-n: {call.text_arg('what')} would be kept as {found.name}"]
    if found.effect is Effect.OPAQUE:
        result = execute(session, services, request, with_call_flags(call.text_arg("what"), call.flags), inside=True)
        return replace(result, notes=[*result.notes, *notes])
    return Result(notes=notes)


def _with_note(keeping: Keeping, result: Result) -> Result:
    """Return the result with a note about the files that are now kept under the name."""
    own = [row for row in kept(keeping.journal, keeping.rack) if (row.run, row.name) == (keeping.run, keeping.name)]
    if not own:
        return result
    size = human_size(sum(row.size for row in own))
    hosts = fold([row.target for row in own if row.target])
    run, of = keeping.run.partition(" ")[0], f" of {hosts}" if hosts else ""
    said = f"kept with run {run} as {keeping.name}: {counted(len(own), 'file')}{of}, {size}"
    return replace(result, notes=[*result.notes, said])


def _files(
    session: Session, services: Services, keeping: Keeping, call: Call, found: Kept, hosts: Sequence[str]
) -> Result:
    """Copy the files of the hosts that have no kept file yet."""
    left = [host for host in hosts if host not in keeping.whole()]
    seconds = call.flags.get("timeout")
    timeout = float(seconds) if isinstance(seconds, (int, float)) else DEADLINE
    brought, problems = bring(session, services, left, found.path, keeping.place, f"keep {found.path}", timeout)
    whole = [host for host in left if not any(problem.startswith(f"{host}: ") for problem in problems)]
    keeping.record(
        [
            Fresh(host=host, path=goal, size=file.size, sha256=file.sha256, source=file.path)
            for host, file, goal in brought
            if host in whole
        ]
    )
    code = ExitCode.DONE if not problems else ExitCode.FAILED if whole else ExitCode.NOT_EXECUTED
    return Result(problems=problems, exit_code=code)


def _output(
    session: Session, services: Services, request: Request, keeping: Keeping, call: Call, found: Kept
) -> Result:
    """Run a command if its output is not kept yet; the function that runs it keeps each host's output."""
    assert found.line is not None
    line = with_call_flags(call.text_arg("what"), {**call.flags, "format": "json"})
    with session.selection.on(line.on) if line.on else nullcontext():
        targets = session.targets()
    left = [target for target in targets if target not in keeping.whole()]
    if not left:
        return Result()
    if len(left) < len(targets):
        line = replace(line, on=fold(left))
    result = execute(session, services, replace(request, keeping=keeping), line, inside=True)
    printed = {str(row.get("cell")): str(row.get("text") or "") for row in result.records}
    printed |= {target: text for target, text in result.raw or () if text}
    return replace(result, records=(), columns=(), problems=in_own_words(result.problems, printed))


def _answer(
    session: Session, services: Services, request: Request, keeping: Keeping, call: Call, found: Kept
) -> Result:
    """Keep a statement's answer in one file; if a cell or host did not answer, nothing is kept."""
    assert found.line is not None
    if "" in keeping.whole():
        return Result()
    format = str(found.line.flags.get("format") or "json")
    line = with_call_flags(call.text_arg("what"), {**call.flags, "format": format})
    result = execute(session, services, replace(request, line=None), line, inside=True)
    if result.problems or result.exit_code is not ExitCode.DONE:
        return Result(problems=result.problems, exit_code=result.exit_code)
    ending = {"table": "txt", "raw": "txt"}.get(format, format)
    keeping.text("", f"answer.{ending}", "".join(f"{line}\n" for line in lines(result, format)))
    return Result()


def runs(services: Services, rack: str) -> dict[str, list[rows.Kept]]:
    """Return run key → rows of what that run of the rack has kept, the oldest run first."""
    found: dict[str, list[rows.Kept]] = {}
    for row in kept(services.journal, rack):
        found.setdefault(row.run, []).append(row)
    return found


def listed(session: Session, own: Sequence[rows.Kept]) -> Result:
    """Return one record for each file that a run has kept; the exit code is 1 if a file has changed since."""
    folder = session.home.state_dir
    records, problems = [], []
    for row in own:
        path, wrong = folder / row.file, state_of(folder, row)
        records.append(
            {
                "cell": row.target or None,
                "name": row.name,
                "bytes": row.size,
                "file": str(path),
                "sha256": row.sha256,
                "source": row.source or row.statement,
                "run": row.run.partition(" ")[0],
                "change": row.change,
                "state": wrong or "whole",
            }
        )
        if wrong:
            problems.append(f"{path} {wrong}")
    columns = (HOST, Column("name"), Column("bytes", "number"), Column("file"), Column("sha256"))
    code = ExitCode.FAILED if problems else ExitCode.DONE
    name, _, began = own[0].run.partition(" ")
    notes = [f"run {name} of recipe {own[0].origin}, begun {began}"]
    return Result(records=records, columns=columns, data=True, problems=problems, notes=notes, exit_code=code)


def outlined(found: dict[str, list[rows.Kept]]) -> list[dict[str, object]]:
    """Return one record for each run that has kept something, in the form of the records of experiments."""
    return [
        {
            "cell": None,
            "name": run.partition(" ")[0],
            "began": run.partition(" ")[2],
            "finding": f"{counted(len(own), 'file')} kept, {human_size(sum(row.size for row in own))}",
            "statement": f"run {own[0].origin}",
        }
        for run, own in found.items()
    ]
