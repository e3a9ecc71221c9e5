"""Import block limits of ``sg_vpd -p bl``, and queues of Linux block devices as ``grep -H . /sys/block/*/queue/*`` prints them.

Source: reference measurement.md 11 (sg3_utils, measured).
"""

from __future__ import annotations

import re

from exacell.measure.importers.model import Point, Run, UnreadableError

LIMITS_KIND, QUEUES_KIND = "sg_vpd", "queues"
SETTINGS = (LIMITS_KIND, QUEUES_KIND)
"""Kinds with settings instead of measured values; they are never added up."""

_TITLE = re.compile(r"^Block limits VPD page", re.MULTILINE)
_LIMIT = re.compile(r"^\s+(.+?): *(0x[0-9a-f]+|\d+)\s*(blocks?)?\s*(\[.*\])?\s*$", re.IGNORECASE)


def claims_limits(text: str) -> bool:
    """Return whether a text is the page of block limits."""
    return _TITLE.search(text) is not None


def read_limits(text: str, source: str) -> Run:
    """Return one point per limit, in blocks; limits that are "not reported" become a note."""
    points, not_told = [], []
    for line in text.splitlines():
        match = _LIMIT.match(line)
        if match is None:
            continue
        value = int(match[2], 16 if match[2].lower().startswith("0x") else 10)
        if match[4] and not value:
            not_told.append(f"{match[1]}: {match[4].strip('[]')}")
        else:
            points.append(Point(series=match[1], figures={"blocks" if match[3] else "value": value}))
    if not points and not not_told:
        raise UnreadableError(f"{source}: the page has no limit")
    return Run(kind=LIMITS_KIND, form="block limits", source=source, points=tuple(points), notes=tuple(not_told))


_SETTING = re.compile(r"^/sys/(?:class/)?block/([^/]+)/(?:device/)?(?:queue/)?([\w/]+):(.*)$", re.MULTILINE)


def claims_queues(text: str) -> bool:
    """Return whether a text is a list of queue settings."""
    return _SETTING.search(text) is not None


def read_queues(text: str, source: str) -> Run:
    """Return one point per device and setting that is a number; words such as the scheduler are conditions."""
    points, words = [], {}
    for device, name, value in _SETTING.findall(text):
        chosen = re.search(r"\[(\S+)\]", value)
        plain = chosen[1] if chosen else value.strip()
        if re.fullmatch(r"-?\d+", plain):
            points.append(Point(series=f"{device} {name}", figures={"value": float(plain)}))
        elif plain:
            words[f"{device} {name}"] = plain
    if not points:
        raise UnreadableError(f"{source}: it has no setting with a number")
    return Run(kind=QUEUES_KIND, form="settings", source=source, points=tuple(points), told=words)
