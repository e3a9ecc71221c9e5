"""The risk that a change of some kind usually has, for the toolbar; the plan judges what is really there."""

from __future__ import annotations

from collections.abc import Mapping

from exacell.cellcli.nodes import Change, Grant, Verb
from exacell.language.line import Line
from exacell.plan.model import Risk

_OURS: Mapping[str, Risk] = {
    "flush flashcache": Risk.PERFORMANCE,
    "flush pmemcache": Risk.PERFORMANCE,
    "flush xrmemcache": Risk.PERFORMANCE,
    "resize flashcache": Risk.PERFORMANCE,
    "set flashcache mode": Risk.PERFORMANCE,
    "carve griddisk": Risk.PERFORMANCE,
    "release griddisk": Risk.DATA,
    "resize griddisk": Risk.PERFORMANCE,
    "create diskgroup": Risk.PERFORMANCE,
    "drop diskgroup": Risk.DATA,
    "enable flashlog": Risk.PERFORMANCE,
    "disable flashlog": Risk.PERFORMANCE,
    "set iorm": Risk.PERFORMANCE,
    "unset iorm": Risk.PERFORMANCE,
    "reset iorm": Risk.PERFORMANCE,
    "restore iorm": Risk.PERFORMANCE,
    "set rebalance": Risk.PERFORMANCE,
}

_CALM = frozenset(
    {"THRESHOLD", "ALERTHISTORY", "METRICDEFINITION", "USER", "ROLE", "PRIVILEGE", "DIAGPACK", "SOFTWAREHISTORY"}
)
"""Objects whose changes touch no data, no redundancy and no I/O."""

_STORED = frozenset({"GRIDDISK", "CELLDISK", "FLASHCACHE", "FLASHLOG", "LUN", "PMEMCACHE", "XRMEMCACHE"})
"""Objects whose DROP may lose data."""


def usual_risk(line: Line) -> Risk | None:
    """Return the risk that such a change has at its usual worst; None when nothing is said about it."""
    if line.call is not None:
        return _OURS.get(line.call.command.name)
    statement = line.cellcli
    if isinstance(statement, Grant):
        return Risk.NONE
    if not isinstance(statement, Change):
        return None
    if statement.object in _CALM:
        return Risk.NONE
    if statement.has("FORCE") or (statement.verb is Verb.DROP and statement.object in _STORED):
        return Risk.DATA
    if statement.action == "INACTIVE" or statement.action.startswith(("SHUTDOWN", "RESTART")):
        return Risk.REDUNDANCY
    return Risk.PERFORMANCE
