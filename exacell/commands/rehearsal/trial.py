"""Try a statement on an emulated copy of the rack's current state: nothing is sent to the rack, nothing enters its journal.

The rack's cells and disk groups are read once. The copy is a separate rack in a temporary home, with its own journal, and is
reached like any other. It is compared with the rack: differences are shown, or the rehearsal is refused. The copy ends with
the rehearsal.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from exacell.cellcli.fold import for_cell
from exacell.change.leftbehind import left_behind
from exacell.commands.emulator import copied_rack
from exacell.commands.rehearsal.copyreading import likeness_of, read_facts, read_groups, read_objects
from exacell.core.cellset import fold
from exacell.core.errors import RefusedError
from exacell.core.paths import Home
from exacell.core.units import counted, format_size
from exacell.output.console import Console, Progress as ConsoleProgress
from exacell.output.result import Column, Result
from exacell.output.tables import table_lines
from exacell.plan.copying import unlike
from exacell.plan.drift import Difference, Facts, from_baseline
from exacell.plan.model import Plan
from exacell.session.request import Request
from exacell.session.services import Services
from exacell.session.state import Options, Session
from exacell.session.wherecells import use_cells


def rehearse(session: Session, services: Services, carry_out: Callable[[Session, Services], Result]) -> Result:
    """Carry something out on a copy of the rack and return its effects, one record per change.

    Args:
        carry_out: carries it out, with a session on the copy.

    Raises:
        RefusedError: the rack can't be copied, or the statement was refused on the copy as it would be on the rack.
    """
    rack = session.need_rack()
    if len(rack.asm) > 1:
        raise RefusedError(
            f"rehearse: rack {rack.name} has the ASM clusters {', '.join(rack.asm)}, but a copy has only one",
            hint="-n shows the plan",
        )
    here, (groups, silent) = read_objects(services, Request(), rack.cells), read_groups(session, services)
    if silent:
        raise RefusedError(f"rehearse: {silent[0]}; the copy needs the answers of all clusters")
    with _copy(session, services, likeness_of(session, services, Request(), here)) as (copy_session, copy_services):
        before, problems = read_facts(copy_session, copy_services, Request())
        if problems:
            raise RefusedError(f"rehearse: the copy does not answer: {problems[0]}", hint="-n shows the plan")
        for said in unlike(here, read_objects(copy_services, Request(), rack.cells), groups, before):
            services.console.say(said)
        result = carry_out(copy_session, copy_services)
        after, problems = read_facts(copy_session, copy_services, Request())
        left = left_behind(copy_session, copy_services)
    rows = told(before, after)
    columns = [Column(name) for name in ("cell", "object", "name", "attribute", "before", "after")]

    def draw(width: int | None, color: bool, header: bool) -> Iterator[str]:
        return table_lines(
            told(before, after, together=True), columns, folded=True, width=width, color=color, header=header
        )

    notes = [f"rehearsed on a copy: {note}" for note in result.notes] + [f"it would leave: {said}" for said in left]
    if not rows:
        notes.append("it would change nothing on cells and disk groups")
    return Result(
        records=rows,
        columns=columns,
        data=True,
        fold=True,
        draw=draw if rows else None,
        notes=[*notes, "nothing was sent to the rack"],
        problems=[*result.problems, *problems],
        exit_code=result.exit_code,
    )


_DERIVED = frozenset(
    (
        "effectiveCacheSize",
        "cachedBy",
        "asmDiskName",
        "asmDiskSize",
        "asmDiskGroupType",
        "asmFailGroupName",
        "errorCount",
    )
)
"""Attributes that follow from others; they are not shown."""

_SIZES = frozenset(("size", "freeSpace", "virtualSize", "auSize"))


def told(before: Facts, after: Facts, *, together: bool = False) -> list[dict[str, object]]:
    """Return one record per cell, object and change, with each cell's own names.

    An object that is created or dropped is one change, not one for each of its attributes. New alerts are left out: they
    appear by themselves.

    Args:
        together: whether objects of a cell with the same change share a record, with their names folded.
    """
    whole: dict[tuple[str, str, str], list[Difference]] = {}
    for one in from_baseline(before, after):
        whole.setdefault((one.cell, one.object, one.name), []).append(one)
    were, are = _objects_in(before), _objects_in(after)
    names: dict[tuple[str, ...], list[str]] = {}
    for (cell, kind, name), changes in whole.items():
        there = (cell, kind, name) in were, (cell, kind, name) in are
        if kind == "alerthistory" and not there[0]:
            continue
        for attribute, old, new in _changes(changes, *there):
            names.setdefault((cell, kind, attribute, old, new), []).append(name)
    return [
        {
            "cell": cell,
            "object": kind,
            "name": name if together else for_cell(name, cell),
            "attribute": attribute or None,
            "before": (old if together else for_cell(old, cell)) or None,
            "after": (new if together else for_cell(new, cell)) or None,
        }
        for (cell, kind, attribute, old, new), objects in names.items()
        for name in ([_fold(objects)] if together else objects)
    ]


def _objects_in(facts: Facts) -> set[tuple[str, ...]]:
    return {(cell, *path.split("|", 2)[:2]) for cell, own in facts.items() for path, value in own.items() if value}


def _changes(found: Sequence[Difference], was: bool, stays: bool) -> list[tuple[str, str, str]]:
    """Return attribute, before and after for each change of one object; ``was`` and ``stays``: whether it existed before and
    after.
    """
    size = next((one for one in found if one.attribute == "size"), None)
    if not was:
        return [("", "", f"made, {_shown(size.attribute, size.value)}" if size else "made")]
    if not stays:
        return [("", _shown(size.attribute, size.expected) if size else "there", "gone")]
    kept = [one for one in found if one.attribute not in _DERIVED]
    return [(o.attribute, _shown(o.attribute, o.expected), _shown(o.attribute, o.value)) for o in kept]


def _shown(attribute: str, value: str) -> str:
    return format_size(int(value)) if attribute in _SIZES and value.isdigit() else value


def _fold(names: Sequence[str]) -> str:
    """Return names folded; ``{cell}`` in them is the cell's own name."""
    return (
        fold([name.replace("{cell}", "CELL") for name in names]).replace("CELL", "{cell}")
        if len(names) > 1
        else names[0]
    )


@contextmanager
def _copy(session: Session, services: Services, likeness: Mapping[str, Any]) -> Iterator[tuple[Session, Services]]:
    """Yield a session on a copy of the rack; the copy ends with the context, also when the program is asked to end."""
    rack = session.need_rack()
    name = f"{''.join(c if c.isalnum() or c in '-_' else '-' for c in rack.name)[:50]}-rehearsal"
    with services.while_changing(), tempfile.TemporaryDirectory(prefix="exacell-rehearsal-") as folder:
        home = Home.from_env({**session.env, "EXACELL_HOME": folder})
        if session.home.recipes_dir.is_dir():
            shutil.copytree(session.home.recipes_dir, home.recipes_dir)
        services.console.say(f"making a copy of {rack.name}: {counted(len(rack.cells), 'cell')} …")
        with copied_rack(Path(folder), name, likeness):
            copied_session = Session(
                home=home,
                config=session.config,
                options=Options(yes=True, flags=session.options.flags, quiet=session.options.quiet),
                env={**session.env, "EXACELL_HOME": folder, "EXACELL_RACK": ""},
            )
            copied_services = Services(copied_session, _Rehearsing(services.console))
            try:
                copied_services.connect(name)
                made = copied_session.need_rack()
                copied_session.rack = replace(
                    made,
                    asm=MappingProxyType(
                        {key: replace(only, name=key) for key in rack.asm for only in made.asm.values()}
                    ),
                    dbnodes=rack.dbnodes and made.dbnodes,
                    groups=rack.groups,
                    production=rack.production,
                )
                copied_session.read_only = False
                copied_session.settings = session.settings
                copied_session.interrupted = session.interrupted
                use_cells(copied_session, copied_services, ",".join(session.cells()))
                yield copied_session, copied_services
            finally:
                copied_services.close()


class _Rehearsing:
    """The session's console during a rehearsal: its messages are marked, and no question is asked."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Print one line of text."""
        self._console.say(f"rehearsal: {text}")

    def show_plan(self, plan: Plan, *, brief: bool = False) -> None:
        """Show a plan."""
        self._console.show_plan(plan)

    def confirm(self, question: str, details: Callable[[], None] | None = None) -> bool | None:
        """Return True: it is only a copy."""
        return True

    def ask(self, question: str) -> str | None:
        """Return None: a loss is accepted by the statement's own flag, as on the rack."""
        return None

    def edit(self, path: Path, env: Mapping[str, str]) -> bool:
        """Return False: nothing is written in a rehearsal."""
        return False

    def progress(self, progress: ConsoleProgress | None) -> None:
        """Show the progress of the plan."""
        self._console.progress(progress)

    def waiting(self, text: str | None) -> None:
        """Show the text about a wait."""
        self._console.waiting(text)

    def data(self, text: str) -> None:
        """Write data."""
        self._console.data(text)
