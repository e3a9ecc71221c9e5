"""The tutorial at the real prompt, typed as a person would."""

from __future__ import annotations

import sys

import pexpect

from exacell.core.errors import ExitCode
from exacell.language.line import parse_line
from exacell.session.tutorial import ELSEWHERE, STEPS, Tutorial

PROMPT = "exacell> "


def test_each_step_parses() -> None:
    """Every step says a statement that is one."""
    for step in STEPS:
        assert parse_line(step.type) is not None, step.title


def test_the_place_is_kept(tmp_path) -> None:
    """Moving keeps the place on disk, within the steps; a broken file begins anew."""
    Tutorial(tmp_path).move(3)
    assert Tutorial(tmp_path).place == 3
    Tutorial(tmp_path).move(-5)
    assert Tutorial(tmp_path).place == 0
    Tutorial(tmp_path).move(99)
    assert Tutorial(tmp_path).over
    (tmp_path / "tutorial.json").write_text("nonsense")
    assert Tutorial(tmp_path).place == 0


def test_typed_through(rack) -> None:
    """Typing what each step says, and nothing else, leads through the whole tutorial; back, skip and quit work."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "exacell", "-r", "care"],
        env=rack.env,
        encoding="utf-8",
        timeout=300,
        dimensions=(40, 150),
    )
    try:
        child.expect_exact(PROMPT)

        def enter(text: str) -> None:
            child.send(text + "\r")

        enter("tutorial")
        child.expect_exact(f"[1 of {len(STEPS)}]")
        enter("tutorial skip")
        child.expect_exact("[2 of")
        enter("tutorial back")
        child.expect_exact("[1 of")
        enter("tutorial quit")
        child.expect_exact("waits at step 1")
        enter("tutorial")
        child.expect_exact("[1 of")
        for number, step in enumerate(STEPS, start=1):
            enter(step.type)
            if step.type == "resize flashcache size=288g":
                child.expect_exact("proceed?")
                enter("y")
            child.expect_exact(f"[{number + 1} of" if number < len(STEPS) else "That was the tutorial")
        enter("exit")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert rack.json("list flashcache attributes name, size")[0]["size"] > 288 << 30


def test_a_change_that_was_stopped_is_no_step_and_resume_may_finish_it() -> None:
    """Ctrl-C leaves the step where it is and says how to go on; what resume finishes counts."""

    class Cells:
        def __init__(self, *sizes: int) -> None:
            self.sizes = sizes

        @property
        def fleet(self):
            return self

        def need_rack(self):
            return self

        cells = ("c1", "c2")
        problems = ()

        def query(self, cells, statements):
            return self

        def rows(self):
            return [{"name": "c", "size": size << 30} for size in self.sizes]

    step = next(step for step in STEPS if step.type.startswith("release griddisk"))
    release, resume, other = (parse_line(text) for text in (step.type, "resume", "show health"))
    assert "type `resume` to finish it" in step.check(cells := Cells(288, 288), cells, release, ExitCode.INTERRUPTED)
    assert "has grown again" in step.check(cells := Cells(300, 288), cells, resume, ExitCode.DONE)
    assert step.check(cells := Cells(300, 300), cells, resume, ExitCode.DONE) == ""
    assert step.check(cells := Cells(300, 300), cells, other, ExitCode.DONE) == ELSEWHERE
