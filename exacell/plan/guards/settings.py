"""What shows that ALTER has set plain attributes: those that LIST prints as they were given. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from exacell.cellcli.schema import objects
from exacell.cellcli.statement import Change, Scalar
from exacell.cellcli.typed import typed_value
from exacell.plan.model import Check, Op

_AS_GIVEN = frozenset(
    (
        "availableto",
        "cachingpolicy",
        "comment",
        "diaghistorydays",
        "location",
        "metriccollection",
        "metrichistorydays",
        "rackname",
        "sitename",
        "smtpfrom",
        "smtpfromaddr",
        "smtpport",
        "smtpserver",
        "smtpusessl",
    )
)
"""Attributes of which no cell is known to print another spelling than it was given."""


_WORDS = _AS_GIVEN - {"availableto", "cachingpolicy", "metriccollection", "metrichistorydays"}
"""Those that nothing but reports, mails and people read."""


def only_words(statement: Change) -> bool:
    """Return whether a statement does nothing but set attributes that touch no data, no redundancy and no I/O."""
    names = {setting.attribute.lower() for setting in statement.settings}
    return not statement.action and not names - _WORDS


def settings_proof(statement: Change, names: Sequence[str] = ()) -> tuple[Check, ...]:
    """Return what is read back when a statement has set attributes; nothing for those that LIST may print otherwise.

    Args:
        names: the disks that it means on the cell; none for the cell itself.
    """
    known, where = objects()[statement.object].attributes, {"name": tuple(names)} if names else {}
    found = []
    for setting in statement.settings:
        name, value = setting.attribute.lower(), setting.value
        if not isinstance(value, Scalar):
            continue
        if name == "name" and len(names) == 1:
            found.append(Check(object=statement.object.lower(), op=Op.COUNT, value=1, where={"name": value.text}))
            where = {"name": (value.text,)}
        elif name in _AS_GIVEN:
            attribute = known[name]
            found.append(
                Check(
                    object=statement.object.lower(),
                    attribute=attribute.name,
                    value=typed_value(value.text, attribute.kind),
                    where=where,
                )
            )
    return tuple(found)
