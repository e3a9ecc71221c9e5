"""Quarantines and diagnostic packages: the records that a cell keeps after a failure.

Source: reference cellcli.md 2.3; Oracle SAGUG, create-quarantine, alter-quarantine, create-diagpack, list-diagpack.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from exacell.emulator.basics.messages import CellError, Code
from exacell.emulator.basics.schema import object_types
from exacell.emulator.cell.models import Record
from exacell.emulator.faults.quarantines import add_quarantine
from exacell.emulator.grammar.admin import AdminStatement
from exacell.emulator.grammar.settable import checked_values
from exacell.emulator.grammar.values import Row, Time
from exacell.emulator.state.place import Place
from exacell.emulator.statements.effects import Effects, line, named

_NEEDED = ("quarantineType", "quarantinePlan", "dbUniqueName")
_START = re.compile(r"[0-9]{4}_[0-9]{2}_[0-9]{2}T[0-9]{2}_[0-9]{2}_[0-9]{2}")
_OLDEST_S, _PACKING_S = 7 * 86400.0, 300.0


def _quarantines(place: Place) -> dict[str, Record]:
    return place.cell.records.setdefault("QUARANTINE", {})


def create_quarantine(place: Place, statement: AdminStatement) -> Effects:
    """Create a quarantine by hand; its name is the next number."""
    release = place.rack.release.number
    texts = checked_values("QUARANTINE", statement.values, release, creating=True)
    known = object_types()["QUARANTINE"].attributes_in(release)
    numbers = {attribute.name for attribute in known if attribute.kind == "int"}
    values: Record = {name: int(text) if name in numbers else text for name, text in texts.items()}
    missing = next((name for name in _NEEDED if name not in values), None)
    if missing is not None:
        raise CellError(Code.BAD_VALUE, value="''", attribute=missing, rule=f"{', '.join(_NEEDED)} must be given")
    reason = {"quarantineMode": "FULL Quarantine", "quarantineReason": "Manual"}
    name = add_quarantine(place.rack, place.cell, {**reason, **values})
    yield line(f"Quarantine {name} successfully created")


def alter_quarantines(place: Place, statement: AdminStatement) -> Effects:
    """Set the comment of quarantines, their only attribute that can be altered."""
    values = checked_values("QUARANTINE", statement.values, place.rack.release.number)
    for found in named(statement.names, _quarantines(place), "Quarantine"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        _quarantines(place)[found] |= values
        yield line(f"Quarantine {found} successfully altered")


def drop_quarantines(place: Place, statement: AdminStatement) -> Effects:
    """Drop quarantines: smart scans may use the quarantined objects again."""
    for found in named(statement.names, _quarantines(place), "Quarantine"):
        if isinstance(found, CellError):
            yield line(found.line)
            continue
        del _quarantines(place)[found]
        yield line(f"Quarantine {found} successfully dropped")


def quarantine_rows(place: Place) -> list[Row]:
    """Return the rows of LIST QUARANTINE, by number."""
    rows: list[Row] = []
    for name, values in sorted(_quarantines(place).items(), key=lambda item: int(item[0])):
        row: Row = {"name": name, **values, "creationTime": Time(values["creationTime"])}
        rows.append(row)
    return rows


# -- diagnostic packages ---------------------------------------------------------------------------------------------


def create_diagpack(place: Place, statement: AdminStatement) -> Effects:
    """Begin a package of logs and traces, for a time or for an alert; it is complete some minutes later."""
    packs, values, now = place.cell.records.setdefault("DIAGPACK", {}), dict(statement.values), place.rack.now()
    alert = values.pop("alertname", None)
    start, hours = values.pop("packstarttime", None), values.pop("durationinhrs", "1")
    kind = values.pop("packtype", None)
    if values:
        raise CellError(Code.UNKNOWN_ATTRIBUTE, attribute=next(iter(values)), object="DIAGPACK")
    if kind is not None and kind.lower() not in ("compact", "sundiag", "netdiag"):
        raise CellError(Code.BAD_VALUE, value=kind, attribute="packType", rule="compact, sundiag or netdiag")
    if hours not in ("1", "2", "3", "4", "5", "6"):
        raise CellError(Code.BAD_VALUE, value=hours, attribute="durationInHrs", rule="a whole number from 1 to 6")
    if alert is not None:
        if alert not in (known.name for known in place.cell.alerts):
            raise CellError(Code.OBJECT_MISSING, kind="Alert", name=alert)
        name = f"{place.cell.name}_{_stamp(now)}_{alert}"
    else:
        moment = now if start is None or start.lower() == "now" else _moment(start, now)
        name = f"{place.cell.name}_diag_{_stamp(moment)}_{len(packs) + 1}"
    packs[name] = {"time": now, "alert": alert or "", "ready": now + _PACKING_S, "kind": kind or "Custom package"}
    yield line(f"Processing: {name}")
    yield line("Use 'list diagpack' for detail.")


def _stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y_%m_%dT%H_%M_%S")


def _moment(text: str, now: float) -> float:
    rule = "now, or yyyy_MM_ddTHH_mm_ss within the last 7 days"
    if _START.fullmatch(text) is None:
        raise CellError(Code.BAD_VALUE, value=text, attribute="packStartTime", rule=rule)
    try:
        moment = datetime.strptime(text, "%Y_%m_%dT%H_%M_%S").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise CellError(Code.BAD_VALUE, value=text, attribute="packStartTime", rule=rule) from error
    if not now - _OLDEST_S <= moment <= now:
        raise CellError(Code.BAD_VALUE, value=text, attribute="packStartTime", rule=rule)
    return moment


def diagpack_text(place: Place, *, detail: bool) -> str:
    """Return the output of LIST DIAGPACK, newest first; it has a special layout. Source: Oracle SAGUG, list-diagpack."""
    now = place.rack.now()
    texts: list[str] = []
    for name, pack in sorted(place.cell.records.get("DIAGPACK", {}).items(), key=lambda item: -item[1]["time"]):
        minutes = int((now - pack["time"]) // 60)
        ago = f"{minutes} minutes ago"
        done = now >= pack["ready"]
        file = f"{name}.tar.bz2" if done else name
        if not detail:
            forced = f" for alert: {pack['alert']}" if pack["alert"] else ""
            texts.append(f"{file}\t({ago if done else 'Processing...'}{forced})\n")
            continue
        time = datetime.fromtimestamp(pack["time"], UTC).strftime("%a, %d %b %Y %H:%M:%S")
        rows = [("Name:", file), ("Time:", f"{time} ({ago})")]
        if pack["alert"]:
            message = next((a.message for a in place.cell.alerts if a.name == pack["alert"]), "")
            rows += [("Alert ID:", pack["alert"]), ("Alert description:", message)]
        else:
            rows.append(("Type:", pack["kind"]))
        texts.append("".join(f"{label.ljust(20)}{value}\n" for label, value in rows))
    return ("\n" if detail else "").join(texts)
