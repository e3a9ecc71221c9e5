"""The corpus of shell texts that did, or would have done, something else than they show (tests/data/opaque/corpus.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "data" / "opaque" / "corpus.toml"


@dataclass(frozen=True, slots=True)
class Way:
    """A text, and what is the matter with it.

    Attributes:
        text: what a shell would get.
        why: what it does, or what in it shells read in different ways.
        about: the heading that it stands under.
        read: whether it only looks like one of the others, and is read.
    """

    text: str
    why: str
    about: str
    read: bool = False


@cache
def ways() -> tuple[Way, ...]:
    """Return all texts of the corpus in their order."""
    found = tomllib.loads(CORPUS.read_text(encoding="utf-8"))
    unread = [Way(text, why, group["about"]) for group in found["group"] for text, why in group["ways"]]
    return (*unread, *(Way(text, why, "reads", read=True) for text, why in found["reads"]["ways"]))
