"""Commands of experiments: compare levels of a factor run after run, and show the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from secrets import randbelow

from exacell.change.changing import refuse_to_begin
from exacell.change.consent import ask
from exacell.change.experimenting import carry_out, ended, give_back, refuse_conducted
from exacell.change.experimentready import level_now, refuse_unready
from exacell.change.factors import FACTORS, factor_and_subject, factor_of, statements
from exacell.change.here import loads_in, pass_loads
from exacell.commands.keeping import listed, outlined, runs
from exacell.core.errors import ExacellError, RefusedError, StatementError
from exacell.language.line import with_call_flags
from exacell.language.registry import Call, Value
from exacell.measure.experiments.family import MOST_LEVELS
from exacell.measure.experiments.record import DONE, RUNNING, Design, Experiment
from exacell.measure.experiments.reported import charts
from exacell.measure.experiments.said import (
    EVENTS,
    block_rows,
    columns_of,
    schedule_lines,
    sentences,
    verdict_rows,
)
from exacell.measure.experiments.tail import size_rows
from exacell.output.explained import explained
from exacell.output.result import Column, Record, Result
from exacell.session.given import Request, Services, Session
from exacell.session.measuring import by_release, conditions, unfair
from exacell.session.trials import experiments, find

_MOST = 200

_SEEDS = 1_000_000
"""Number of seeds from which each experiment draws its own: a randomization test is valid only if the order is drawn at
random.
"""


def experiment(session: Session, services: Services, request: Request, call: Call) -> Result:
    """Return one record per sentence, the verdict first, then one per block.

    Raises:
        StatementError: a value is not possible for an experiment.
        RefusedError: the experiment can't show anything, the user did not agree, or its name is taken; nothing was sent.
    """
    rack, flags = session.need_rack(), session.options.over(call.flags)
    if flags.get("confirm-within"):
        raise StatementError("an experiment takes back its changes itself, so --confirm-within is not allowed")
    design = _design(session, call)
    known = experiments(services.store(), rack.name)
    line = f"{request.run} {request.place}" if request.run else ""
    earlier = next((each for each in known if line and each.line == line), None)
    if earlier is not None:  # The run was killed in the meantime.
        return told(earlier) if earlier.state == DONE else go_on(session, services, request, earlier, call.flags)
    name = _name(call.text_arg("as"), [each.name for each in known])
    cells = conditions(session, services, request)
    impossible = factor_of(design).cannot(design, cells)
    if impossible and not call.flag("anyway"):
        raise RefusedError(
            f"this comparison can't be made here: {'; '.join(impossible)}; nothing was sent",
            hint="--anyway runs it, and the verdict shows that",
        )
    refuse_unready(session, services, request, design, cells)
    now = level_now(services, request, design)
    found = Experiment(
        name=name,
        rack=rack.name,
        statement=call.text,
        design=design,
        began=datetime.now(UTC).isoformat(timespec="milliseconds"),
        now=now,
        line=line,
        noticed=(*impossible, *unfair(session, services, request, cells, design)),
        minded=by_release(session, services, design, cells),
    )
    for line in [
        *schedule_lines(found, *_spread(known, design)),
        *(f"  Unfair: {why}" for why in found.noticed),
        *(f"  By release: {why}" for why in found.minded),
    ]:
        services.console.say(line)
    if flags.get("dry-run"):
        return Result(notes=[f"-n: nothing was sent; seed={design.seed} gives the same schedule again"])
    loads = loads_in(design.workload)
    pass_loads(session, services, request, loads, statement=call.text, flags=flags)
    refuse_to_begin(session, services)
    for load in sorted(loads):
        services.console.say(f"each run starts on this machine: {load}")
    if not flags.get("yes"):
        ask(services.console, "experiment", hint="-y answers yes; -n shows only the schedule")
        # The load was shown and agreed to; other opaque work must be accepted explicitly.
        flags = {**flags, **({"accept-opaque": True} if loads and len(loads) == len(set(design.workload)) else {})}
    return told(*carry_out(session, services, request, found, flags))


def told(found: Experiment, stopped: ExacellError | None = None) -> Result:
    """Return the results of an experiment so far, and the error that stopped it."""
    columns = [Column(name, kind) for name, kind in columns_of(found.design)]
    result = explained(
        [
            f"Experiment {found.name}: {sentence}" if not place else sentence
            for place, sentence in enumerate(sentences(found))
        ],
        block_rows(found),
        columns=columns,
        below=size_rows(found),
        charts=tuple(charts(found)),
    )
    figures = [{"cell": None, **row} for row in verdict_rows(found)]
    place = sum("says" in record for record in result.records)
    records = [*result.records[:place], *figures, *result.records[place:]]
    return ended(found, stopped, replace(result, records=records))


def results(session: Session, services: Services, call: Call) -> Result:
    """Return the results of one experiment, or the files that a recipe's run has kept, or a list of all experiments and such
    runs.

    Raises:
        StoreError: there is none of that name; names the experiments that exist.
    """
    rack = session.need_rack().name
    kept = runs(services, rack)
    if call.flag("all"):
        rows: list[Record] = [
            {
                "cell": None,
                "name": each.name,
                "began": each.began,
                "state": each.state,
                "blocks": f"{len(each.blocks)} of {each.design.blocks}",
                "finding": str(each.verdict().finding),
                "statement": each.statement,
            }
            for each in experiments(services.store(), rack)
        ]
        columns = [Column(name) for name in ("name", "began", "state", "blocks", "finding", "statement")]
        rows = sorted([*rows, *outlined(kept)], key=lambda row: str(row["began"]))
        return Result(records=rows, columns=columns, data=True)
    name, known = call.text_arg("name"), experiments(services.store(), rack)
    run = next((key for key in reversed(kept) if not name or key.partition(" ")[0].lower() == name.lower()), "")
    newer = run and (not known or run.partition(" ")[2] > known[-1].began)
    if run and (newer or name) and not any(each.name.lower() == name.lower() for each in known):
        return listed(session, kept[run])
    found = find(services.store(), rack, name)
    result = told(found)
    left = (
        []
        if found.state == DONE
        else [f"{len(found.left)} of {len(found.schedule)} runs were not made ({found.state})"]
    )
    return replace(result, notes=[*result.notes, *left])


def _design(session: Session, call: Call) -> Design:
    factor, of = factor_and_subject(call.text_arg("factor"))
    known = FACTORS[factor]
    levels = call.args.get("levels") or known.levels[:2]
    given = tuple(str(level) for level in levels) if isinstance(levels, tuple) else ()
    if known.levels:
        given = tuple(level.lower() for level in given)
    if not 2 <= len(given) <= MOST_LEVELS or len({level.lower() for level in given}) < len(given):
        raise StatementError(
            f"levels={','.join(given)}: give two to {MOST_LEVELS} different levels",
            hint="of two levels, write the new one first (levels=on,off); of more, write first the one that the "
            "others are compared with (levels=1280,512,256)",
        )
    blocks, pairs = (call.int_arg(name) or 0 for name in ("blocks", "aa"))
    seed = call.int_arg("seed")
    if not 1 <= blocks <= _MOST or not 0 <= pairs <= _MOST:
        raise StatementError(f"blocks={blocks} aa={pairs}: blocks= may be 1 to {_MOST}, aa= 0 to {_MOST}")
    matters = call.float_arg("matters", 2.0)
    if not 0 < matters <= 100:
        raise StatementError(f"matters={matters:g}: percent, above 0 and at most 100")
    seconds, db, on = call.float_arg("for", 60.0), call.text_arg("db"), call.text_arg("on")
    measure = call.text_arg("measure") or known.measures[0]
    if not db and (factor != "setting" or measure in EVENTS):
        raise StatementError("db= is needed: the database whose waits are measured")
    if bool(on) != (factor == "setting"):
        raise StatementError(
            "on= is needed: the hosts whose setting is switched, as in factor=setting:PATH on=@initiators"
        )
    design = Design(
        factor=factor,
        of=of,
        on=on,
        levels=given,
        db=db,
        blocks=blocks,
        order=call.text_arg("order"),
        seed=1 + randbelow(_SEEDS) if seed is None else seed,
        pairs=pairs,
        matters=matters,
        measure=measure,
        workload=_workload(session, call, db, measure, seconds),
        seconds=seconds,
        settle=call.float_arg("settle", 0.0),
        reset=call.text_arg("reset"),
        limit=call.float_arg("yield", 0.0),
        warm=_passes(call, measure),
    )
    statements(design)
    return replace(design, said=known.said(design))


def _passes(call: Call, measure: str) -> int:
    passes = call.int_arg("warm") or 0
    if passes and (not 2 <= passes <= _MOST or measure != "reads"):
        raise StatementError(
            f"warm={passes}: 2 to {_MOST} passes, with measure=reads",
            hint="the workload runs before each run until the hit rate of the flash cache is stable, at most so often",
        )
    return passes


def _workload(session: Session, call: Call, db: str, measure: str, seconds: float) -> tuple[str, ...]:
    """Return the work of each run: the lines of a block, the given workload, or the load of an emulated rack."""
    given, load, rack = call.args.get("workload"), call.text_arg("load"), session.need_rack()
    found = given if isinstance(given, tuple) else (given,) if isinstance(given, str) and given else ()
    if load not in ("", "none"):
        if found:
            raise StatementError("workload= and load= both give the load of a run: give one of them")
        found = (f"host {load}",)
    if not found and measure == "fio":
        raise StatementError(
            "measure=fio needs workload=: a statement that runs fio and prints its JSON",
            hint="workload='on @initiators sh fio --output-format=json job.fio' (--accept-opaque lets it run)",
        )
    if not found and rack.emulated:
        found = (f"emulator load {rack.name} db={db} for={round(seconds)}s",)
    for name, text in (*(("workload", text) for text in found), ("reset", call.text_arg("reset"))):
        if text:
            _refuse_no_statement(name, text)
    return found


def _refuse_no_statement(name: str, text: str) -> None:
    try:
        line = with_call_flags(text, {})
    except StatementError as error:
        raise StatementError(f"{name}='{text}': {error.message}", hint=error.hint) from error
    if line.call is not None and line.call.command.name in ("experiment", "resume", "undo", "undo run"):
        raise StatementError(
            f"{name}='{text}': {line.call.command.name} can't be used in an experiment",
            hint="give a load or a read, such as emulator load or sh",
        )


def _name(asked: str, known: Sequence[str]) -> str:
    if not asked:
        return next(name for number in range(1, len(known) + 2) if (name := f"e{number}") not in known)
    if asked.lower() in (name.lower() for name in known):
        raise RefusedError(
            f"there is an experiment {asked} already; nothing was sent",
            hint=f"`results {asked}` shows it; as= gives another name",
        )
    return asked


def _spread(known: Sequence[Experiment], design: Design) -> tuple[float | None, str]:
    """Return the spread of the newest experiment on the same database with the same measure, and its name."""
    for each in reversed(known):
        alike = (each.design.db.lower(), each.design.on, each.design.measure) == (
            design.db.lower(), design.on, design.measure,
        )  # fmt: skip
        spread = each.verdict().spread if alike else None
        if spread is not None:
            return spread, each.name
    return None, ""


def go_on(
    session: Session, services: Services, request: Request, found: Experiment, flags: Mapping[str, Value]
) -> Result:
    """Show the remaining runs, and do them if the user agrees; return the results.

    Raises:
        RefusedError: a living process carries the experiment out, or the user did not agree; nothing was sent.
    """
    refuse_conducted(found)
    given = session.options.over(flags)
    found = replace(found.whole(), state=RUNNING)
    seen = found.verdict().same_spread
    for line in schedule_lines(found, seen, f"the A/A stretch of {found.name}" if seen is not None else ""):
        services.console.say(line)
    if given.get("dry-run"):
        return Result(notes=["-n: nothing was sent"])
    if not given.get("yes"):
        ask(services.console, f"resume of experiment {found.name}", hint="-y answers yes; -n shows only the schedule")
    return told(*carry_out(session, services, request, found, given))


def end(
    session: Session, services: Services, request: Request, found: Experiment, flags: Mapping[str, Value]
) -> Result:
    """Set the factor of an unfinished experiment back to its original value, and return the results; the experiment is not
    continued.

    Raises:
        RefusedError: a living process carries the experiment out.
        ExacellError: the factor can't be set back.
    """
    refuse_conducted(found)
    given = session.options.over(flags)
    if given.get("dry-run"):
        return Result(notes=["-n: nothing was sent"])
    return told(give_back(session, services, request, found, given))
