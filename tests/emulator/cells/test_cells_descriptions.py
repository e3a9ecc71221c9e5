"""What LIST METRICDEFINITION says of the metrics: sentences that are true to the unit, and each metric's own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from exacell.core.errors import EmulatorError
from exacell.emulator.basics.schema import metric_definitions
from exacell.emulator.metrics.words import description

MEASURES = {
    "%": "Percentage of|Percentage to",
    "C": "in Celsius",
    "GB": "Gigabytes",
    "KB": "Kilobytes|kilobytes",
    "MB": "Megabytes",
    "IO requests": "Number of",
    "IO": "Number of",
    "Watts": "Watts",
    "ms": "Milliseconds|milliseconds",
    "us": "Microseconds|microseconds",
    "packets": "Number of packets",
}
"""The words for a unit, without what it is divided by."""


def test_each_metric_has_a_sentence_of_its_own() -> None:
    """No two metrics are described alike, and no part of a name stands in a description untranslated."""
    texts = {name: description(definition) for name, definition in metric_definitions().items()}
    assert [text for text, count in Counter(texts.values()).items() if count > 1] == []
    for name, text in texts.items():
        assert text[0].isupper(), name
        assert "_" not in text or name == "IORM_MODE", name
        assert "{" not in text, name
        assert "  " not in text, name


def test_descriptions_name_the_unit() -> None:
    """What is counted, and whether it is a mean, a rate or a sum, is what the unit of the metric says."""
    for name, definition in metric_definitions().items():
        text = description(definition)
        amount, _, per = definition.unit.partition("/")
        words = MEASURES.get(amount, "Number of|Average|Power|Objective|Bytes|Percentage of").split("|")
        assert any(word in text for word in words), f"{name}: {text}"
        assert text.endswith(", per second") == (per == "sec"), f"{name}: {text}"
        assert text.endswith(", per minute") == (per == "min"), f"{name}: {text}"
        assert ("Mean m" in text) == (per == "request"), f"{name}: {text}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DB_FD_IO_RQ_SM_SEC", "Number of small I/O requests of a database to flash disks, per second"),
        ("CD_IO_TM_W_SM_LOG_RQ", "Mean microseconds that one of the small requests to write to a cell disk that carry redo took"),
        ("FC_IO_BYKEEP_R", "Megabytes of small reads that the flash cache served for KEEP objects"),
        ("FL_IO_W_SKIP_BUSY_MIN", "Number of redo writes that bypassed the flash log because of its backlog, per minute"),
        ("GD_SP_IO_BY_PARTIAL_SEC", "Kilobytes of reads that only a part of a sparse grid disk's data answered, per second"),
    ],
)  # fmt: skip
def test_a_description_reads_as_a_sentence(name: str, text: str) -> None:
    """The parts of a name become the words that they stand for."""
    assert description(metric_definitions()[name]) == text


def test_a_metric_that_no_sentence_fits_is_an_error() -> None:
    """A new metric with unknown parts is not described by guesses."""
    with pytest.raises(EmulatorError, match="describes the metric FC_IO_BY_X_NEW"):
        description(replace(metric_definitions()["FC_IO_BY_R"], name="FC_IO_BY_X_NEW"))
