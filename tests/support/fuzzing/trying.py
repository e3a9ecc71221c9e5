"""Try a reader with some bytes, and tell what is wrong with it: an error that is not exacell's own, or too much time."""

from __future__ import annotations

import time
import traceback
from pathlib import Path

from exacell.core.values import dataclass
from tests.support.fuzzing.readers import Reader

LIMIT_S = 2.0
"""Seconds of processor time that a reader may take for at most 64 KB."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong: ``place`` names the error and where it came from, ``told`` is its last lines."""

    place: str
    told: str


def tried(reader: Reader, data: bytes) -> Fault | None:
    """Return what is wrong with the reader for these bytes; None if nothing is."""
    began = time.process_time()
    try:
        reader.reads(data)
    except reader.passes:
        pass
    except Exception as error:
        return Fault(place=where(error), told="".join(traceback.format_exception(error)[-4:]))
    took = time.process_time() - began
    return Fault(place=SLOW, told=f"{took:.1f} s for {len(data)} bytes") if took > LIMIT_S else None


SLOW = "too slow"


def where(error: BaseException) -> str:
    """Return the error's class and the last function of exacell that it came through."""
    name = type(error).__name__
    if name == "TooSlowError":
        return SLOW
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/exacell/" in frame.filename]
    if isinstance(error, RecursionError) or not frames:
        return f"{name} {Path(frames[0].filename).stem if frames else ''}".strip()
    return f"{name} in {Path(frames[-1].filename).stem}.{frames[-1].name}:{frames[-1].lineno}"
