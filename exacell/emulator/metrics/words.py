"""Descriptions of metrics in our own words, made from the parts of their names.

``DB_FD_IO_RQ_SM_SEC`` is read as database, flash disks, requests, small, a second. The sentences are in
``data/metric_words.tsv``, the meanings of the parts of a name in ``data/metric_parts.tsv``. Source of the meanings: reference
cellcli.md 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.schema import MetricDefinition, rows_of

_AMOUNTS: Mapping[str, str] = {"GB": "Gigabytes", "KB": "Kilobytes", "MB": "Megabytes"}
_PER: Mapping[str, str] = {"_SEC": ", per second", "_MIN": ", per minute"}


@cache
def _sentences() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), text) for pattern, text in rows_of("metric_words.tsv", "emulator"))


@cache
def _parts() -> Mapping[str, Mapping[str, str]]:
    """Return the meaning of letters, by part of a name."""
    parts: dict[str, dict[str, str]] = {}
    for part, *pair in rows_of("metric_parts.tsv", "emulator"):
        letters, text = ("" if field == "-" else field for field in pair)
        parts.setdefault(part, {})[letters] = text
    return parts


def description(definition: MetricDefinition) -> str:
    """Return a phrase that says what a metric measures, and in which unit.

    Raises:
        EmulatorError: no sentence fits the metric's name.
    """
    stem, per = definition.name, ""
    for suffix, text in _PER.items():
        if stem.endswith(suffix):
            stem, per = stem.removesuffix(suffix), text
    for pattern, sentence in _sentences():
        found = pattern.fullmatch(stem)
        words = found and {part: _parts()[part].get(value) for part, value in found.groupdict().items()}
        if words is not None and None not in words.values():
            amount = _AMOUNTS.get(definition.unit.partition("/")[0], "Bytes")
            phrase = sentence.format(amount="{amount}", **words).format(amount=amount)
            return " ".join(phrase.split()) + per  # A part without a meaning leaves one blank too many.
    raise EmulatorError(f"no sentence of metric_words.tsv describes the metric {definition.name}")
