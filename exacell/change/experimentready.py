"""Check before an experiment begins: the present level, and whether everything that it needs can be planned and read."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from exacell.change.execute import execute
from exacell.change.factors import factor_of, level_of, statements
from exacell.change.readings import values_read
from exacell.core.errors import ExitCode, RefusedError
from exacell.core.values import replace
from exacell.language.line import with_call_flags
from exacell.measure.experiments import fairness
from exacell.measure.experiments.record import Design
from exacell.measure.experiments.said import EVENTS
from exacell.measure.snapshot import CellCounters
from exacell.output.console import SilentConsole
from exacell.session.given import Request, Services, Session
from exacell.session.measuring import waited


def level_now(services: Services, request: Request, design: Design) -> str:
    """Return the present level.

    Raises:
        RefusedError: cells, hosts or instances have different levels; nothing was sent.
        ExacellError: the level can't be read.
    """
    aside, beside = services.aside(services.fleet, same_interruption=True, console=SilentConsole())
    read = read_back(aside, beside, request, design)
    level = level_of(design, [text for _, text in read])
    if not level:
        found = {level_of(design, [text]): about for about, text in read}
        told = "; ".join(f"{about}: {text or 'empty'}" for text, about in found.items())
        raise RefusedError(
            f"{design.said} is not the same everywhere ({told}); nothing was sent",
            hint=f"type `{statements(design)[0]}` first",
        )
    return level


def read_back(session: Session, services: Services, request: Request, design: Design) -> list[tuple[str, str]]:
    """Return (name, value) of each cell, host or instance that shows the factor.

    In a preview a table that an earlier line will have made counts as made.
    """
    if request.foreseen is not None and design.factor == "cell_flash_cache":
        made = request.foreseen.of(design.db, {"db.table": []})["db.table"]
        names = {f"{row['owner']}.{row['name']}": str(row["cache"]) for row in made}
        if (table := design.of.upper()) in names:
            return [(table, names[table])]
    read = values_read(session, services, request, factor_of(design).reading(design))
    return [(about, str(value or "")) for about, value in read]


def refuse_unready(
    session: Session, services: Services, request: Request, design: Design, cells: Mapping[str, CellCounters]
) -> None:
    """Raise an ExacellError if a level can't be planned now, or if the measure or the limit for pauses can't be read.

    Raises:
        ExacellError: names the part that can't be planned or read.
    """
    quiet = SilentConsole()
    aside, beside = services.aside(services.fleet, same_interruption=True, console=quiet)
    foreseeing = replace(request, foreseen=deepcopy(request.foreseen))  # Levels are tried one by one, none stays.
    for statement in statements(design):
        result = execute(aside, beside, foreseeing, with_call_flags(statement, {"dry-run": True}))
        if result.exit_code is not ExitCode.DONE:
            raise RefusedError(
                f"{statement}: {next(iter(result.problems), 'it can not be planned')}; nothing was sent",
                hint=f"`{statement} -n` shows more",
            )
    if design.limit and not (cells and all(fairness.REDO_RATE in counters.values for counters in cells.values())):
        raise RefusedError(
            f"yield= needs the metric {fairness.REDO_RATE}, which these cells don't have; nothing was sent",
            hint="leave yield= out",
        )
    if design.measure in EVENTS:
        waited(session, services, request, measure=design.measure, db=design.db)
    elif design.measure == "flashlog" and any("FL_RQ_TM_W" not in counters.values for counters in cells.values()):
        raise RefusedError(
            "these cells have no FL_RQ_TM_W: use measure=redo, which asks the database; nothing was sent"
        )
