"""A sample of the recorded sessions says what it said when it was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import Player, Scene, kept

SAMPLED = {"help": 4, "examples": 5, "aside": 4, "dcli": 4, "shell": 4}
"""Scenes whose statements do not lean on each other, and each how many of them is played."""


@pytest.mark.parametrize("scene", [scene for scene in kept() if scene.name in SAMPLED], ids=lambda scene: scene.name)
def test_sessions_say_what_they_said(scene: Scene, tmp_path: Path) -> None:
    """Exit code, output and messages are as recorded; ``python benchmarks/sessions.py`` compares all of them."""
    differ = Player(tmp_path).compare(scene, every=SAMPLED[scene.name])
    assert differ == [], "benchmarks/sessions.py --record, if people are meant to see this"


def test_the_record_is_large() -> None:
    """At least 400 sessions are kept, nine in ten of them to the letter."""
    said = [said for scene in kept() for said in scene.said]
    assert len(said) >= 400
    assert sum(one.level == "exact" for one in said) > 0.9 * len(said)
