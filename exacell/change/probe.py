"""Read the facts that checks need, from many targets at once, in as few round trips as possible.

Each cache that a change may have left off is asked whether it caches, as the cells report it now.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from exacell.core.background import unless_interrupted
from exacell.core.errors import ExacellError
from exacell.journal.left import GONE, UNTOLD
from exacell.plan import facts as f
from exacell.plan.asmchange import meant
from exacell.plan.asmfacts import AsmFacts, DiskGroup
from exacell.plan.checks import PLANS, failure
from exacell.plan.hostsettings import SETTING
from exacell.plan.model import Check, Step
from exacell.session.answers import Answer
from exacell.session.asm import AsmClient
from exacell.session.dbclient import DatabaseClient
from exacell.session.fleet import Fleet
from exacell.session.hostfiles import read_files, setting_rows
from exacell.session.upon import Upon
from exacell.transport.base import Judgement

_LISTS = {"flashcache": f.FLASHCACHE, "pmemcache": f.PMEMCACHE, "xrmemcache": f.XRMEMCACHE}


def seen(fleet: Fleet, cells: Sequence[str], cache: str) -> dict[str, str]:
    """Return for each cell ``on``, ``off`` (flushing or flushed), ``gone``, or ``untold`` if the cell has no flush.

    Args:
        cache: a value of :attr:`exacell.plan.model.Step.cache`.
    """
    asked = [_LISTS[cache]]
    caching = {}
    for cell, answer in fleet.query(cells, asked).good.items():
        fact = f.build(cell, asked, answer.tables)
        found = fact.flash_cache if cache == "flashcache" else fact.pmem_cache
        if found is None:
            caching[cell] = GONE
        else:
            caching[cell] = found.caching if found.status else UNTOLD
    return caching


def again(cache: str) -> str:
    """Return the statement that makes the cache cache again after a flush."""
    return f"alter {cache} all cancel flush"


NO_ANSWER = -1
"""The key under which a target that did not answer fails, instead of the place of a check."""

_STATEMENTS: Mapping[str, str] = {
    "cell": f.CELL,
    "service": "list cell attributes name, cellsrvStatus, msStatus, rsStatus",
    "pmemcache": f.PMEMCACHE,
    "xrmemcache": f.XRMEMCACHE,
    "pmem": "list cell attributes name, pmemCacheMode",
    "flashcache": f.FLASHCACHE,
    "flashlog": f.FLASHLOG,
    "celldisk": f.CELLDISK,
    "griddisk": f.GRIDDISK,
    "plain griddisk": f.GRIDDISK_PLAIN,
    "ASM griddisk": "list griddisk attributes name, asmDiskSize",
    "iormplan": f.IORMPLAN,
    "metriccurrent": f.FLASH_METRICS,
    "physicaldisk": f.FLASH_PHYSICALDISK,
    "alerthistory": "list alerthistory attributes name, examinedBy",
    "flashlogmetric": "list metriccurrent where name = 'FL_BY_KEEP'",
}

_OF_HOSTS = frozenset((SETTING, "dbserver"))
_NO_LONGER = "it was sent to DBMCLI, whose changes exacell neither makes nor takes back any more"
"""The reason for checks that an earlier version journalled."""

_ANY_ATTRIBUTE = frozenset(("cell", "celldisk", "griddisk", "iormplan"))
"""Objects whose attributes may all appear in checks."""


def asm_records(asm: AsmFacts) -> dict[str, list[dict[str, Any]]]:
    """Return ASM's facts as the records that checks and ``show`` use: asm.diskgroup, asm.disk, asm.mount …"""
    numbers = {group.number: group.name for group in asm.groups if group.number}
    disks = [
        {
            "name": disk.name or None,
            "gridDisk": disk.grid_disk or None,
            "path": disk.path,
            "header": disk.header,
            "mount": disk.mount,
            "mode": disk.mode,
            "state": disk.state,
            "osMb": disk.os_mb,
            "totalMb": disk.total_mb,
            "failgroup": disk.failgroup or None,
            "diskgroup": numbers.get(disk.group),
        }
        for disk in asm.disks
    ]
    mounts = [
        {"name": group.name, "instance": inst, "state": state}
        for group in asm.groups
        for inst, state in group.states.items()
    ]
    operations = [
        {
            "name": operation.kind,
            "told": asm.told(operation.diskgroup),
            "diskgroup": operation.diskgroup,
            "instance": operation.inst_id,
            "state": operation.state,
            "power": operation.power,
            "sofar": operation.sofar,
            "work": operation.work,
            "minutes": operation.minutes,
        }
        for operation in asm.running
    ]
    return {
        "asm.diskgroup": [_group_record(asm, group) for group in asm.groups],
        "asm.disk": disks,
        "asm.mount": mounts,
        "asm.operation": operations,
        "asm.attribute": [
            {"diskgroup": group.name, "name": name, "value": meant(name, value)}
            for group in asm.groups
            for name, value in group.attributes.items()
        ],
    }


def _group_record(asm: AsmFacts, group: DiskGroup) -> dict[str, Any]:
    members = asm.members(group)
    return {
        "name": group.name,
        "state": group.state,
        "type": group.type or None,
        "auSize": group.au_size,
        "disks": len(members),
        "failgroups": len({disk.failgroup for disk in members}),
        "totalMb": group.total_mb,
        "freeMb": group.free_mb,
        "requiredMirrorFreeMb": group.required_mirror_free_mb,
        "usableFileMb": group.usable_file_mb,
        "offlineDisks": group.offline_disks,
        "files": group.files,
        "clients": group.clients,
        "compatibleAsm": group.compatible_asm or None,
        "compatibleRdbms": group.compatible_rdbms or None,
        "mountedOn": tuple(i.host for i in asm.instances if group.states.get(i.inst_id) == "MOUNTED"),
    }


_NOT_YET = "no answer yet"
"""The reason for a target whose answer was not waited for."""


class Prober:
    """Finds the checks that fail, per target."""

    def __init__(self, fleet: Fleet, asm: Mapping[str, AsmClient | DatabaseClient]) -> None:
        self._fleet = fleet
        self._asm = asm
        self._seen: dict[str, AsmFacts] = {}

    def far(self, step: Step) -> tuple[str, float, float] | None:
        """Return the progress of the work in ASM that a step waits for, from the last look: in words, 0 to 1, seconds left."""
        facts = self._seen.get(step.asm)
        checks = [check for check in (*step.proves, *step.hopes) if check.object == "asm.operation"]
        names = {str(check.where.get("diskgroup", "")) for check in checks}
        for found in facts.running if facts is not None else ():
            if found.work and found.diskgroup in names and facts is not None:
                return facts.told(found.diskgroup), found.sofar / found.work, found.minutes * 60.0
        return None

    def cells(
        self, wanted: Mapping[str, Iterable[Check]], cancel: threading.Event | None = None
    ) -> dict[str, dict[int, str]]:
        """Return for each cell the checks that fail: the check's place → why.

        A cell that does not answer fails under the key NO_ANSWER, with its problem as the reason.

        Args:
            cancel: once set, silent cells are no longer waited for.
        """
        checks = {cell: list(items) for cell, items in wanted.items()}
        on_hosts = {host: items for host, items in checks.items() if any(check.object in _OF_HOSTS for check in items)}
        if on_hosts:
            others = self.cells({cell: items for cell, items in checks.items() if cell not in on_hosts}, cancel)
            return others | self._on_hosts(on_hosts, cancel)
        lists = lists_for([check for items in checks.values() for check in items])
        if not lists:
            return {cell: {} for cell in checks}
        answers = self._answers(list(checks), list(lists.values()), cancel)
        failures: dict[str, dict[int, str]] = {}
        for cell, items in checks.items():
            answer = answers.get(cell)
            if answer is None:
                failures[cell] = {NO_ANSWER: _NOT_YET}
                continue
            if answer.problem:
                failures[cell] = {NO_ANSWER: answer.problem}
                continue
            failures[cell] = judged(items, lists, answer.tables)
        return failures

    def _on_hosts(
        self, checks: Mapping[str, Sequence[Check]], cancel: threading.Event | None
    ) -> dict[str, dict[int, str]]:
        """Return for each host the checks of its settings that fail, as :meth:`cells` does."""
        old = {host for host, items in checks.items() if any(check.object != SETTING for check in items)}
        if old:
            rest = {host: items for host, items in checks.items() if host not in old}
            return (self._on_hosts(rest, cancel) if rest else {}) | {host: {NO_ANSWER: _NO_LONGER} for host in old}
        paths = {host: [str(check.where["name"]) for check in items] for host, items in checks.items()}
        look = partial(read_files, self._fleet, paths)
        found = look() if cancel is None else unless_interrupted(look, cancel)
        if found is None:
            return {host: {NO_ANSWER: _NOT_YET} for host in checks}
        return {
            host: {NO_ANSWER: files.problem}
            if files.problem
            else _failures(checks[host], {SETTING: setting_rows(files)})
            for host, files in found.items()
        }

    def _answers(
        self, cells: Sequence[str], statements: Sequence[str], cancel: threading.Event | None
    ) -> Mapping[str, Answer]:
        """Return the cells' answers; once ``cancel`` is set, only those that have arrived."""
        if cancel is None:
            return self._fleet.query(cells, statements).answers
        came: dict[str, Answer] = {}
        look = partial(
            self._fleet.query, cells, statements, on_answer=lambda answer: came.update({answer.cell: answer})
        )
        every = unless_interrupted(look, cancel)
        return dict(came) if every is None else every.answers

    def asm(
        self, cluster: str, checks: Sequence[Check], *, first: str = "", cancel: threading.Event | None = None
    ) -> dict[int, str]:
        """Return the checks that fail on an ASM cluster or a database, as :meth:`cells` does."""
        if not checks:
            return {}
        ask = partial(self._records, cluster, first, checks)
        try:
            records = ask() if cancel is None else unless_interrupted(ask, cancel)
        except ExacellError as error:
            return {NO_ANSWER: error.message}
        return {NO_ANSWER: _NOT_YET} if records is None else _failures(checks, records)

    def _records(self, cluster: str, first: str, checks: Sequence[Check]) -> dict[str, list[dict[str, Any]]]:
        client = self._asm[cluster]
        if isinstance(client, DatabaseClient):
            return client.records(first, checks)
        facts = client.facts(first=first)
        self._seen[cluster] = facts
        return asm_records(facts)


def upon(step: Step) -> Upon:
    """Return a step's statement with the look that its cell's CellCLI takes first.

    The look decides whether the statement is still needed and whether its preconditions hold.
    """
    checks = (*step.only_if, *step.needs)
    lists = lists_for(checks)
    return Upon(
        statement=step.statement,
        lists=tuple(lists.values()),
        judge=lambda tables: _meaning(step, judged(checks, lists, tables)),
    )


def upon_asm(step: Step) -> tuple[str, Callable[[AsmFacts], Judgement]]:
    """Return the same for an ASM step: its statement, and a function that judges the cluster's facts."""
    checks = (*step.only_if, *step.needs)
    return step.statement, lambda facts: _meaning(step, _failures(checks, asm_records(facts)))


def _meaning(step: Step, failed: Mapping[int, str]) -> Judgement:
    """Return the judgement that follows from the failed checks; those of ``only_if`` come before those of ``needs``."""
    unneeded = next((why for place, why in failed.items() if place < len(step.only_if)), "")
    return Judgement(why=unneeded, needless=True) if unneeded else Judgement(why=next(iter(failed.values()), ""))


def lists_for(checks: Sequence[Check]) -> dict[str, str]:
    """Return the LIST statement for each object in the checks, by object."""
    return {name: _statement(name, checks) for name in sorted({check.object for check in checks})}


def judged(
    checks: Sequence[Check], objects: Iterable[str], tables: Iterable[Sequence[Mapping[str, Any]]]
) -> dict[int, str]:
    """Return the checks that fail with a cell's answers: the check's place → why.

    Args:
        objects: the objects of ``tables``, in the same order, as in :func:`lists_for`.
    """
    return _failures(checks, {name: _normal(name, rows) for name, rows in zip(objects, tables, strict=True)})


def _statement(name: str, checks: Iterable[Check]) -> str:
    """Return the LIST for an object, with the attributes of the checks that LIST does not show by default."""
    statement = _STATEMENTS[name]
    if name not in _ANY_ATTRIBUTE:
        return statement
    listed = statement.lower().replace(",", " ").split()
    named = dict.fromkeys(check.attribute for check in checks if check.object == name)
    return ", ".join([statement, *(attribute for attribute in named if attribute.lower() not in listed)])


def _failures(checks: Sequence[Check], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[int, str]:
    found = {place: failure(check, tables[check.object]) for place, check in enumerate(checks)}
    return {place: why for place, why in found.items() if why}


def _normal(name: str, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows with each IORM plan as one text, which checks compare by its meaning."""
    if name != "iormplan":
        return list(rows)
    return [{**row, **{key: _text(value) for key, value in row.items() if key.lower() in PLANS}} for row in rows]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return "" if value is None else str(value)
