"""Checks the values of those cell attributes that have their own syntax, and keeps lists of subscribers.

Source: Oracle SAGUG, alter-cell-alert-notification-attributes, alter-cell-syslog-attributes, describe-cell; Oracle ASXQI,
configuring-snmp-subscriber; reference cellcli.md 2.3.
"""

from __future__ import annotations

import re

from exacell.emulator.basics.messages import CellError, Code

LISTS = ("emailSubscriber", "snmpSubscriber")
"""Attributes to which ``+=`` adds. Source: Oracle ASXQI, configuring-snmp-subscriber, for snmpSubscriber; that
emailSubscriber is like it is our guess."""

FACILITIES = frozenset(
    (
        *("auth", "authpriv", "cron", "daemon", "ftp", "kern", "lpr", "mail", "mark", "news", "security", "syslog"),
        *("user", "uucp", "none", "*"),
    )
) | {f"local{number}" for number in range(8)}
PRIORITIES = frozenset(
    ("alert", "crit", "debug", "emerg", "err", "error", "info", "notice", "panic", "warn", "warning", "none", "*")
)
_TARGET = re.compile(r"(?P<selector>\S+)\s+@{1,2}\S+")
_SNMP_TYPES = ("asr", "v3", "v3asr")


def checked(name: str, text: str) -> str:
    """Return the value to store for an attribute of a cell; lists are brought into one form.

    Raises:
        CellError: the attribute does not accept this value.
    """
    if name == "syslogConf":
        _check_rules(text)
    if name in LISTS:
        return "(" + ",".join(_subscriber(name, each) for each in subscribers(text)) + ")"
    return text


def added(present: str, more: str) -> str:
    """Return a list of subscribers with more subscribers appended."""
    return "(" + ",".join(f"({each})" for each in (*subscribers(present), *subscribers(more))) + ")"


def subscribers(text: str) -> list[str]:
    """Return the text of each subscriber in ``((host=a,port=162),(host=b))``; a single one needs no outer parentheses."""
    inner = text.strip()
    if inner.startswith("((") and inner.endswith("))"):
        inner = inner[1:-1]
    return [each.strip() for each in re.findall(r"\(([^()]*)\)", inner)]


def check_selector(selector: str) -> None:
    """Raise CellError if a syslog selector such as ``kern.info`` or ``*.err;authpriv.none`` is wrong.

    Raises:
        CellError: it contains an unknown facility or priority.
    """
    for part in selector.split(";"):
        facilities, dot, priority = part.strip().rpartition(".")
        known = all(facility in FACILITIES for facility in facilities.lower().split(","))
        if not dot or not known or priority.lower().lstrip("!=") not in PRIORITIES:
            raise CellError(Code.BAD_VALUE, value=part.strip(), attribute="syslogConf", rule="facility.priority")


def _check_rules(text: str) -> None:
    for rule in text.strip("() ").split(","):
        # Commas separate the facilities of one selector and also the rules: a part without a host continues in the next part.
        match = _TARGET.fullmatch(rule.strip().rpartition(",")[2])
        if match is not None:
            check_selector(match["selector"])
        elif rule.strip().lower() not in FACILITIES:
            raise CellError(
                Code.BAD_VALUE, value=rule.strip(), attribute="syslogConf", rule="'facility.priority @node'"
            )


def _subscriber(name: str, text: str) -> str:
    spelled = dict(_pair(part) for part in _parts(text))
    values = {key.lower(): value for key, value in spelled.items()}
    needed = "host" if name == "snmpSubscriber" else "email"
    if not values.get(needed):
        raise CellError(Code.BAD_VALUE, value=f"({text})", attribute=name, rule=f"each subscriber has {needed}")
    if (port := values.get("port")) is not None and not port.isdecimal():
        raise CellError(Code.BAD_VALUE, value=port, attribute=name, rule="port is a whole number")
    if name == "snmpSubscriber" and values.get("type", "asr").lower() not in _SNMP_TYPES:
        raise CellError(Code.BAD_VALUE, value=values["type"], attribute=name, rule="type is asr, v3 or v3asr")
    return "(" + ",".join(f"{key}={value}" for key, value in spelled.items()) + ")"


def _parts(text: str) -> list[str]:
    """Return the ``name=value`` pairs of one subscriber; text after a comma that has no name belongs to the value before."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and "=" not in piece:
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    return parts


def _pair(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name.strip(), value.strip().strip("'\"")
