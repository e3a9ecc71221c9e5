"""ALTER CELL: attributes, flash cache mode, and the services RS, MS and CELLSRV.

Source: reference cellcli.md 5 and 6.1; Oracle DBMMN, shutting-exadata-storage-server.
"""

from __future__ import annotations

import re
from datetime import datetime

from exacell.emulator.basics.clock import iso_time
from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.profiles import ONLINE_MODE_SINCE, REDUNDANCY_CHECK_SINCE, STOPPED_MODE_UNTIL
from exacell.emulator.basics.program import Pause
from exacell.emulator.basics.schema import Attribute
from exacell.emulator.cell.models import DISABLED, RUNNING, STOPPED, Cell
from exacell.emulator.grammar.changes import (
    AlterCell,
    CellServices,
)
from exacell.emulator.grammar.changing import EXASCALE_SERVICES
from exacell.emulator.grammar.settable import MAX_TEXT, attribute_of, checked
from exacell.emulator.metrics.scrubbing import alter_schedule
from exacell.emulator.state.place import Place
from exacell.emulator.statements import cell_attributes
from exacell.emulator.statements.effects import Effects, line, require_cellsrv

_SCRUB_INTERVAL, _SCRUB_START = "hardDiskScrubInterval", "hardDiskScrubStartTime"
_SNMP_USER = "snmpuser."
_FROM_EXACLI = frozenset(("securitypubkey", "securityprivkey", "securityprivkeypw"))
_EXASCALE_S = 5.0
_SERVICE_S = {"RS": 2.0, "MS": 6.0, "CELLSRV": 10.0}
"""Rack seconds that a service takes to stop or to start; ``_EXASCALE_S`` is for one of Exascale's services."""


class _Wanted:
    """The changes that ALTER CELL will make to a cell, collected before any is made."""

    def __init__(self, place: Place) -> None:
        self._place, self._cell = place, place.cell
        self.settings: dict[str, str] = {}
        self.resets: list[str] = []
        self.dump = False
        self.mode, self.pmem_mode, self.name = self._cell.mode, self._cell.pmem_mode, self._cell.name

    def take(self, name: str, text: str) -> None:
        """Add ``name=text`` to the changes.

        Raises:
            CellError: the attribute can't be set so.
        """
        if name.startswith(_SNMP_USER):
            before = self.settings.get("snmpUser", self._cell.settings.get("snmpUser", ""))
            self.settings["snmpUser"] = _snmp_users(before, name.removeprefix(_SNMP_USER), text)
            return
        attribute = attribute_of("CELL", name.removesuffix("+"), self._place.rack.release.number)
        if name.endswith("+") and attribute.name not in cell_attributes.LISTS:
            raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=name, object="CELL")
        if name in _FROM_EXACLI:
            # Source: Oracle SAGUG, alter-cell-security-certificate-attributes: only ExaCLI sets them; they are not shown.
            if not self._place.remote:
                raise CellError(Code.BAD_VALUE, value="***", attribute=attribute.name, rule="only ExaCLI sets it")
        elif name == "events" and text.lower().startswith("immediate"):
            require_cellsrv(self._cell)
            self.dump = True
        elif not attribute.written_only:
            self._set(attribute, text, more=name.endswith("+"))

    def _set(self, attribute: Attribute, text: str, *, more: bool) -> None:
        if not text and attribute.default:
            self.resets.append(attribute.name)
        elif attribute.name == "name":
            # Disks, cache and log keep the suffix with which they were made. Source: reference cellcli.md 6.9.
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", text):
                raise CellError(Code.BAD_NAME, name=text, rule="letters, digits, _ and - are allowed, at most 255")
            self.name = text
        elif attribute.name == "flashCacheMode":
            self.mode = _new_mode(self._place, attribute, text)
        elif attribute.name == "pmemCacheMode":
            self.pmem_mode = _new_pmem_mode(self._place, checked(attribute, text))
        else:
            value = _checked(attribute, text) if text else ""
            present = self._cell.settings.get(attribute.name, "")
            self.settings[attribute.name] = cell_attributes.added(present, value) if more else value


def alter(place: Place, statement: AlterCell) -> Effects:
    """Set attributes of the cell; nothing changes if one of them can't be set."""
    cell, wanted = place.cell, _Wanted(place)
    for name, text in statement.values.items():
        wanted.take(name, text)
    if wanted.pmem_mode == "WriteBack" and wanted.mode.lower() != "writeback" and place.rack.model.pmem is not None:
        altered = "flashCacheMode" if wanted.pmem_mode != cell.pmem_mode else "pmemCacheMode"
        raise CellError(Code.PMEM_NEEDS_FLASH, attribute=altered)
    cell.mode, cell.pmem_mode, cell.name = wanted.mode, wanted.pmem_mode, wanted.name
    cell.settings |= wanted.settings
    for reset in wanted.resets:
        cell.settings.pop(reset, None)
    _reschedule(place, wanted.settings)
    if wanted.dump:
        yield line(_dump(place))
    yield line(f"Cell {cell.name} successfully altered")


def _dump(place: Place) -> str:
    """Return the answer to an event that CELLSRV carries out at once: it writes a dump, and the event is not kept.

    Source: published statedumps of cells, in Expert Oracle Exadata (Apress) among others.
    """
    cell, dumps = place.cell, place.cell.records.setdefault("DUMP", {})
    number = len(dumps) + 1
    dumps[str(number)] = {"time": place.rack.now()}
    file = f"svtrc_{int(cell.cellsrv_start) % 32768}_{100 + number}.trc"
    return f"Dump sequence #{number} has been written to /opt/oracle/cell/log/diag/asm/cell/{cell.host}/trace/{file}"


def _snmp_users(present: str, name: str, text: str) -> str:
    """Return snmpUser with one user set, or removed if ``text`` is empty; passwords are not shown.

    Source: on-line HELP of ALTER CELL. What LIST CELL prints of them is the emulator's.
    """
    parts = [part.strip() for part in text.strip("()").split(",") if part.strip()]
    shown = [part for part in parts if "password" not in part.partition("=")[0].lower()]
    users = [user for user in present.strip("()").split("),(") if user]
    users = [user for user in users if user.split(",")[0].lower() != f"name={name}".lower()]
    if parts:
        users.append(",".join((f"name={name}", *shown)))
    return f"(({'),('.join(sorted(users))}))" if users else ""


def _new_mode(place: Place, attribute: Attribute, text: str) -> str:
    cell, mode, release = place.cell, checked(attribute, text), place.rack.release.number
    if release >= STOPPED_MODE_UNTIL:
        require_cellsrv(cell)
    elif release < ONLINE_MODE_SINCE and cell.cellsrv_up and mode.lower() != cell.mode.lower():
        raise CellError(Code.MODE_NEEDS_SHUTDOWN)
    if mode.lower() != cell.mode.lower() and cell.flash_cache is not None:
        raise CellError(Code.MODE_NEEDS_DROP, name=cell.flash_cache.name)
    return text if release < STOPPED_MODE_UNTIL else mode


def _new_pmem_mode(place: Place, mode: str) -> str:
    """Return the requested mode; it can be altered only while there is no PMEM cache. Source: Oracle DBMMN, enable- and
    disable-write-back-pmem-cache.
    """
    cell = place.cell
    require_cellsrv(cell)
    if place.rack.model.pmem is None:
        raise CellError(Code.NO_PMEM, cell=cell.name)
    if mode != cell.pmem_mode and cell.pmem_cache is not None:
        raise CellError(Code.PMEM_MODE_NEEDS_DROP, name=cell.pmem_cache.name)
    return mode


def _reschedule(place: Place, settings: dict[str, str]) -> None:
    """Change the schedule of scrubbing to the attributes that were set. Source: Oracle SAGUG,
    alter-cell-disk-scrubbing-attributes.
    """
    cell, now = place.cell, place.rack.now()
    start = settings.get(_SCRUB_START)
    if start == "now":
        cell.settings[_SCRUB_START] = iso_time(now)
        alter_schedule(cell, now, start=now)
    elif start is not None:
        alter_schedule(cell, now, start=datetime.fromisoformat(start).timestamp())
    if (interval := settings.get(_SCRUB_INTERVAL)) is not None:
        alter_schedule(cell, now, interval=interval)


def _checked(attribute: Attribute, text: str) -> str:
    if attribute.name == _SCRUB_START:
        if text.lower() == "now":
            return "now"
        try:
            return iso_time(datetime.fromisoformat(text).timestamp())
        except ValueError as error:
            rule = "now, or a time such as 2013-08-07T21:19:22-07:00"
            raise CellError(Code.BAD_VALUE, value=text, attribute=attribute.name, rule=rule) from error
    text = cell_attributes.checked(attribute.name, checked(attribute, text))
    if attribute.name == "flashCacheCompress" and text.upper() == "TRUE":
        # Source: reference cellcli.md 6.7; no emulated model is one of these.
        raise CellError(Code.BAD_VALUE, value=text, attribute=attribute.name, rule="only X3 and X4 cells compress")
    if len(text) > MAX_TEXT:
        raise CellError(Code.BAD_VALUE, value=text, attribute=attribute.name, rule=f"at most {MAX_TEXT} characters")
    return text


def services(place: Place, statement: CellServices) -> Effects:
    """Stop, start or restart services; before CELLSRV stops, it checks the redundancy of the disk groups."""
    everything = statement.service == "ALL"
    # ALL includes the Exascale services that are in use and not disabled. Source: on-line HELP of ALTER CELL.
    more = (name for name, state in place.cell.services.items() if name in EXASCALE_SERVICES and state != DISABLED)
    chosen = ("RS", "MS", "CELLSRV", *more) if everything else (statement.service,)
    if statement.action == "DISABLE":
        yield from _stop(place, statement.service)
        place.cell.services[statement.service] = DISABLED
        yield line(f"The DISABLE of {statement.service} services was successful.")
        return
    if statement.action in ("SHUTDOWN", "RESTART"):
        yield line(_announce("Stopping", statement.service) + ("" if everything else " "))
        if "CELLSRV" in chosen and place.cell.cellsrv_up and not statement.ignore_redundancy:
            groups = _groups_at_risk(place)
            if groups:
                yield line(f"The SHUTDOWN of {statement.service} services was not successful.")
                yield line(CellError(Code.SHUTDOWN_REFUSED, groups=", ".join(groups)).line)
                if everything:
                    yield from _states(place.cell)
                return
        for service in chosen:
            yield from _stop(place, service)
        yield line(f"The SHUTDOWN of {'' if everything else statement.service + ' '}services was successful.")
    if statement.action in ("STARTUP", "RESTART"):
        yield line(_announce("Starting", statement.service))
        if not everything and statement.service != "RS" and place.cell.services["RS"] == STOPPED:
            raise CellError(Code.RS_DOWN)
        for service in chosen:
            yield from _start(place, service)
        if everything:
            yield from _states(place.cell)
        else:
            yield line(f"The STARTUP of {statement.service} services was successful.")


def _announce(verb: str, service: str) -> str:
    return f"{verb} the RS, CELLSRV, and MS services..." if service == "ALL" else f"{verb} {service} services..."


def _states(cell: Cell) -> Effects:
    for service in ("RS", "CELLSRV", "MS"):
        yield line(f"Getting the state of {service} services...  {cell.services[service]}")


def _groups_at_risk(place: Place) -> list[str]:
    """Return the disk groups that could lose data if this cell went offline; empty on old releases, which do not check."""
    asm = place.rack.asm
    if asm is None or place.rack.release.number < REDUNDANCY_CHECK_SINCE:
        return []
    views = [asm.disk(place.cell.host, name) for name, disk in place.cell.grid_disks.items() if disk.status == "active"]
    return sorted(
        {view.disk_group for view in views if view and view.disk_group and view.deactivation_outcome != "Yes"}
    )


def _stop(place: Place, service: str) -> Effects:
    if place.cell.services.get(service, STOPPED) != RUNNING:
        return
    yield Pause(_SERVICE_S.get(service, _EXASCALE_S))
    place.rack.advance()
    if service == "CELLSRV":
        place.rack.stop_cellsrv(place.cell)
    else:
        place.cell.services[service] = STOPPED


def _start(place: Place, service: str) -> Effects:
    if place.cell.services.get(service, STOPPED) == RUNNING:
        return
    yield Pause(_SERVICE_S.get(service, _EXASCALE_S))
    place.rack.advance()
    if service == "CELLSRV":
        place.rack.start_cellsrv(place.cell)
    else:
        place.cell.services[service] = RUNNING
