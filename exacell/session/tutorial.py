"""Run the tutorial: a new DBA types its steps at the real prompt, each step is checked, and the place is kept.

It is a companion of the session: it looks at every statement that has ended and shows what comes next. The place is kept
on disk, so that quitting loses nothing.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.core.errors import ExacellError, ExitCode
from exacell.core.paths import replace_file
from exacell.core.values import dataclass

if TYPE_CHECKING:
    from exacell.language.line import Line
    from exacell.session.services import Services
    from exacell.session.state import Session

Check = Callable[["Session", "Services", "Line", ExitCode], str]
"""Returns why a step is not done yet; empty when it is done, ``-`` if the statement had nothing to do with the step."""

ELSEWHERE = "-"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        text: the explanation, in a few lines.
        type: the statement to type.
    """

    title: str
    text: str
    type: str
    check: Check


def _words_of(line: Line) -> tuple[str, ...]:
    if line.call is not None:
        return line.call.command.words
    return tuple(line.text.lower().split()[:2])


def said(*words: str, flag: str = "", refused: bool = False) -> Check:
    """Return a check that a statement with these first words succeeded, or was refused."""

    def check(session: Session, services: Services, line: Line, code: ExitCode) -> str:
        if _words_of(line)[: len(words)] != words:
            return ELSEWHERE
        if flag and not line.flags.get(flag):
            return f"almost: add {'-n' if flag == 'dry-run' else '--' + flag} at the end"
        if refused:
            return "" if code is ExitCode.NOT_EXECUTED else "it should have been refused"
        return (
            "" if code is ExitCode.DONE else f"it ended with exit code {int(code)}: try again, or type `tutorial skip`"
        )

    return check


_GOING_ON = (("resume",), ("retry",))
"""Statements that finish one that was stopped."""


def seen(
    words: tuple[str, ...], statement: str, wanted: str, holds: Callable[[list[dict[str, object]]], bool]
) -> Check:
    """Return a check that reads the cells after a statement which begins with ``words`` and tests the records by ``holds``."""

    def check(session: Session, services: Services, line: Line, code: ExitCode) -> str:
        if _words_of(line)[: len(words)] != words and _words_of(line)[:1] not in _GOING_ON:
            return ELSEWHERE
        if line.flags.get("dry-run"):
            return "that was only the plan: type it again without -n"
        if code is ExitCode.INTERRUPTED:
            return "it was interrupted: type `resume` to finish it"
        answers = services.fleet.query(session.need_rack().cells, [statement])
        return "" if not answers.problems and holds(answers.rows()) else f"not yet: {wanted}"

    return check


_SIZE = 288 << 30


def _sizes(rows: list[dict[str, object]]) -> bool:
    return bool(rows) and all(row.get("size") == _SIZE for row in rows)


def _regrown(rows: list[dict[str, object]]) -> bool:
    sizes = [row.get("size") for row in rows]
    return bool(sizes) and all(isinstance(size, int) and size > _SIZE for size in sizes)


def _carved(rows: list[dict[str, object]]) -> bool:
    return any(str(row.get("name")).startswith("tut_") for row in rows)


def _group(words: tuple[str, ...], there: bool) -> Check:
    def check(session: Session, services: Services, line: Line, code: ExitCode) -> str:
        if _words_of(line)[: len(words)] != words:
            return ELSEWHERE
        found = services.asm().facts().group("TUT")
        there_now = found is not None and found.state == "MOUNTED"
        return "" if there_now is there else f"not yet: disk group TUT should {'be mounted' if there else 'be gone'}"

    return check


STEPS: tuple[Step, ...] = (
    Step(
        title="Where am I?",
        text="The prompt shows the rack, how many cells a statement goes to, and RO or RW. Tab completes "
        "everything; Enter on an empty line does nothing.",
        type="cells",
        check=said("cells"),
    ),
    Step(
        title="CellCLI, on every cell at once",
        text="CellCLI's own statements work as on one cell. Cells with the same answer share one line.",
        type="list flashcache attributes name, size, status",
        check=said("list", "flashcache"),
    ),
    Step(
        title="Are the cells well?",
        text="One line for each area, with the cells that are not ok; below it what to type next.",
        type="show health",
        check=said("show", "health"),
    ),
    Step(
        title="Help",
        text="help lists the statements. help with a statement, an object, a metric or an error code explains it.",
        type="help resize flashcache",
        check=said("help"),
    ),
    Step(
        title="A plan first",
        text="-n shows what a change would send to each cell, and sends nothing. This cache is write-back and "
        "has dirty data: the plan flushes it first.",
        type="resize flashcache size=288g -n",
        check=said("resize", "flashcache", flag="dry-run"),
    ),
    Step(
        title="The change",
        text="Without -n you see the plan and are asked. Answer y: each cache is flushed, proven empty, dropped and "
        "created again, smaller, so that some flash is free.",
        type="resize flashcache size=288g",
        check=seen(("resize", "flashcache"), "list flashcache attributes name, size", "each cache is 288G", _sizes),
    ),
    Step(
        title="Flash for ASM",
        text="carve creates one grid disk on each flash disk in the free space, equal on all cells. -y answers the "
        "question in advance.",
        type="carve griddisk prefix=tut -y",
        check=seen(("carve", "griddisk"), "list griddisk attributes name", "grid disks tut_... on the cells", _carved),
    ),
    Step(
        title="A disk group",
        text="Create it on these grid disks: one failure group for each cell, mounted on every node.",
        type="create diskgroup TUT prefix=tut redundancy=normal -y",
        check=_group(("create", "diskgroup"), there=True),
    ),
    Step(
        title="A guard",
        text="Try to drop the grid disks under the disk group. It is refused, whatever you add.",
        type="drop griddisk all flashdisk prefix=tut force",
        check=said("drop", "griddisk", refused=True),
    ),
    Step(
        title="Taking it back",
        text="undo takes the last change back: here the disk group, which is empty. It is planned like any other "
        "change.",
        type="undo -y",
        check=_group(("undo",), there=False),
    ),
    Step(
        title="The flash belongs to the cache again",
        text="release drops the grid disks; regrow=yes gives their space back to the flash cache.",
        type="release griddisk prefix=tut regrow=yes -y",
        check=seen(
            ("release", "griddisk"), "list flashcache attributes name, size", "each cache has grown again", _regrown
        ),
    ),
    Step(
        title="What happened",
        text="The journal has everything that was sent: who, when, what, and the cells' answers. Output longer "
        "than the screen opens a pager: q leaves it.",
        type="journal show",
        check=said("journal", "show"),
    ),
)


class Tutorial:
    """The DBA's place in the tutorial. ``place`` counts from 0; len(STEPS) means that it is over."""

    def __init__(self, state_dir: Path) -> None:
        self._file = state_dir / "tutorial.json"
        self.place = self._read()
        self._unkept = ""

    def _read(self) -> int:
        try:
            place = json.loads(self._file.read_text(encoding="utf-8"))["place"]
        except (OSError, ValueError, KeyError, TypeError):
            return 0  # Never begun, or another program has overwritten the file.
        return min(max(place, 0), len(STEPS)) if isinstance(place, int) else 0

    def move(self, place: int) -> None:
        """Go to a step and save the place."""
        self.place = min(max(place, 0), len(STEPS))
        try:
            replace_file(self._file, json.dumps({"place": self.place}))
        except OSError as error:
            self._unkept = error.strerror or str(error)
        else:
            self._unkept = ""

    @property
    def over(self) -> bool:
        """Return whether the last step is done."""
        return self.place >= len(STEPS)

    def page(self) -> list[str]:
        """Return the present step as lines."""
        if self.over:
            return [
                "That was the tutorial. Next: help safety, recipes, top, help docs",
                "Type `tutorial restart` to start again.",
            ]

        step = STEPS[self.place]
        return [
            "",
            f"[{self.place + 1} of {len(STEPS)}] {step.title}",
            *textwrap.wrap(step.text, 78),
            f"    type:  {step.type}",
            *([f"    (this place can't be saved: {self._file}: {self._unkept})"] if self._unkept else []),
        ]

    def watch(self, session: Session, services: Services) -> Callable[[Line, ExitCode], Sequence[str]]:
        """Return the companion that checks each statement against the present step."""

        def companion(line: Line, code: ExitCode) -> Sequence[str]:
            if self.over or _words_of(line)[:1] == ("tutorial",):
                return ()
            try:
                why = STEPS[self.place].check(session, services, line, code)
            except ExacellError as error:
                why = error.message
            if why == ELSEWHERE:
                return ()
            if why:
                return (f"tutorial: {why}",)
            self.move(self.place + 1)
            return ("tutorial: done.", *self.page())

        return companion
