"""How the mission's lines are given, and what came of each; the modules of tests/mission have one kind of rack each.

What is expected here was judged from the stories, before it was tried. It is never changed to fit the code.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.support.kernel import LOOP, NEEDED, Kernel, kernel_of
from tests.support.program import PROMPT, Done, InProcess, Terminal, plain, told

PROJECT = Path(__file__).parents[2]
RACKS = {"11.2": "release=11.2.2.4", "write-through": "mode=writethrough", "write-back": "mode=writeback"}
"""Kind of rack -> how the emulated one is started."""
KERNEL, DESK = "this kernel", "none"
CODES = {"done": {0}, "refused": {2}, "failed": {1}, "done or refused": {0, 2}}
"""What must come -> exit codes that say so; the prompt has none, there the words tell."""
_QUESTION = r"\[y/N/d\]|accept it, d shows the plan:"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a story, as the table has it."""

    story: str
    place: int
    line: str
    given: str
    rack: str
    comes: str
    what: str = ""
    replaced: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    script: str = ""
    ssh_config: str = ""
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    type: str = ""
    after: Mapping[str, Any] = field(default_factory=dict)
    fails: int = 0
    why: str = ""

    @property
    def name(self) -> str:
        """Where it stands, and how it begins."""
        return f"{self.story}:{self.place} {self.given} on {self.rack}: {' '.join(self.line.split())[:60]}"

    def put(self, text: str) -> str:
        """Return a text of the line with what may be replaced replaced."""
        for old, new in self.replaced.items():
            text = text.replace(old, LOOP if new == "the loop device" else new)
        return text


TABLES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted((PROJECT / "tests/mission/lines").glob("*.toml"))
}
AS_PRINTED = TABLES["p1_exadata_flash"]["files"]["flushcache.sh"]
LINES = [
    Line(
        story=story,
        place=place,
        **{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()},
    )
    for story, table in TABLES.items()
    for place, row in enumerate(table["line"], 1)
]


class Desk:
    """A home and a folder with the stories' files, in which lines are given one after the other."""

    def __init__(self, folder: Path, rack: str) -> None:
        self.program, self.folder, self.rack = InProcess(folder / "home"), folder / "files", rack
        self.terminal: Terminal | None = None
        self.folder.mkdir(parents=True)
        for table in TABLES.values():
            for name, source in table.get("copies", {}).items():
                shutil.copy(PROJECT / source, self.folder / name)
            for name, text in table.get("files", {}).items():
                (self.folder / name).write_text(text, encoding="utf-8")

    def tell(self, lines: list[Line]) -> dict[str, list[str]]:
        """Give the lines in their order; return what is not as it must be, by the line's name."""
        with contextlib.chdir(self.folder), self.running():
            return {line.name: self.problems(line) for line in lines}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Have the rack, if there is one, and end it and the terminal with the block."""
        if self.rack in RACKS:
            self.program.ok("emulator", "start", self.name, RACKS[self.rack], "speed=600")
        try:
            yield
        finally:
            if self.terminal is not None:
                self.terminal.child.close(force=True)
            if self.rack in RACKS:
                self.program.ok("emulator", "stop", self.name)

    @property
    def name(self) -> str:
        """The rack's name."""
        return self.rack.replace(".", "")

    def run(self, *words: str) -> Done:
        """Run the program on the rack, without a terminal."""
        return self.program(*(("-r", self.name) if self.rack in RACKS else ()), *words)

    def problems(self, line: Line) -> list[str]:
        """Give a line, and return what is not as it must be."""
        text, code = self.given(line)
        found = [] if code is None or code in CODES[line.comes] else [f"exit code {code}, and not {line.comes}"]
        if line.comes != "done or refused" or code == 2:
            found += [f"it does not say: {words}" for words in line.says if not _says(text, words)]
        found += [f"it says: {words}" for words in line.never if words in text]
        if "Traceback" in text:
            found += ["a traceback"]
        found += self.typed(line, text)
        found += self.state(line)
        return [*found, text] if found else []

    def given(self, line: Line) -> tuple[str, int | None]:
        """Give a line in its way; return what was shown, and the exit code where there is one."""
        said = line.put(line.line)
        script = self.folder / "flushcache.sh"
        script.write_text(line.script or AS_PRINTED, encoding="utf-8")
        script.chmod(0o755)
        if line.ssh_config:
            whole = self.program.ok("emulator", "ssh-config", self.name).out + "\n" + line.ssh_config
            (self.folder / "ssh_config").write_text(whole, encoding="utf-8")
        way, _, where = line.given.partition(" ")
        if way == "prompt":
            return self.at_the_prompt(said), None
        if way == "file":
            (self.folder / "lines.txt").write_text(said, encoding="utf-8")
        words = {
            "argv": [said],
            "shell": shlex.split(said),
            "file": ["-f", "lines.txt"],
            "sql": ["sql", where if where == "asm" else f"db={where}", said],
            "sh": ["on", where, "sh", said],
        }[way]
        done = self.program(*words[1:]) if words[0] == "exacell" else self.run("-y", *line.options, *words)
        return done.out + done.err, done.code

    def at_the_prompt(self, said: str) -> str:
        """Type a line at the prompt, answer its questions as one who wants it and loses no data, and return what is shown."""
        if self.terminal is None:
            self.terminal = self.program.at_terminal("-r", self.name, rows=60, columns=400).ready()
        child, shown = self.terminal.child, ""
        child.send(said + "\r")
        while (event := child.expect([re.escape(PROMPT), _QUESTION, pexpect.TIMEOUT])) == 1:
            shown += child.before + child.after
            child.send("y\r" if "y/N" in child.after else "n\r")
        if event == 2:
            self.terminal = child.close(force=True)
            return f"the prompt did not come back: {told(plain(child.before))}"
        return plain(shown + child.before).partition("\n")[2].rpartition("\n")[0]

    def typed(self, line: Line, text: str) -> list[str]:
        """Type what a refusal says to type, for the database SPOT; return what is wrong with it."""
        way = re.search(line.type, text) if line.type else None
        if way is None:
            return [f"it does not say to type: {line.type}"] if line.type and line.comes == "refused" else []
        done = self.run("-y", way[0].strip().replace("db=NAME", "db=SPOT"))
        return [] if done.code == 0 else [f"{way[0]}: exit code {done.code}", done.err]

    def state(self, line: Line) -> list[str]:
        """Read back what a line has to have left; return what is otherwise."""
        if not line.after:
            return []
        ask = line.put(line.after["ask"])
        done = self.run("-o", "json", ask)
        if done.code:
            return [f"{ask}: exit code {done.code}", done.err]
        rows, found = done.records, []
        if len(rows) != line.after["rows"]:
            found += [f"{ask}: {len(rows)} rows, and not {line.after['rows']}"]
        found += [
            f"{ask}: {key} of {row} is not {value}"
            for key, value in line.after.get("every", {}).items()
            for row in rows
            if row.get(key) != value
        ]
        return found + [
            f"{ask}: {words} is not in {row}"
            for words in line.after.get("has", ())
            for row in rows
            if words not in json.dumps(row)
        ]


class KernelDesk(Desk):
    """The same over this machine's kernel, a rack of one host."""

    def __init__(self, folder: Path, kernel: Kernel) -> None:
        super().__init__(folder, KERNEL)
        self.kernel = kernel

    def run(self, *words: str) -> Done:
        """Run the program on the host ini1."""
        return self.kernel(*words)


def _says(text: str, words: str) -> bool:
    """Whether a text has one of the alternatives, ``a | b``; of ``a & b`` both stand in one line. Case does not matter."""
    return any(
        all(re.search(_whole(part), line, re.IGNORECASE) for part in one.split(" & "))
        for one in words.split(" | ")
        for line in text.splitlines()
    )


def _whole(words: str) -> str:
    """Return the pattern of words that are no part of longer ones."""
    return r"\b" * words[0].isalnum() + re.escape(words) + r"\b" * words[-1].isalnum()


@pytest.fixture(scope="module")
def problems(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Line], list[str]]:
    """What is not as it must be with a line of the module's rack; all are given in order when the first is asked for.

    Of several workers one starts the rack, and the others wait for what came of its lines.
    """
    rack: str = request.module.RACK
    known: dict[str, list[str]] = {}

    def of(line: Line) -> list[str]:
        if not known:
            folder = tmp_path_factory.getbasetemp()
            shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
            told = shared / f"mission-{rack.replace(' ', '-')}.json"
            with told.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not told.exists():
                    told.write_text(json.dumps(_given(rack, tmp_path_factory.mktemp("mission"))), encoding="utf-8")
            known.update(json.loads(told.read_text(encoding="utf-8")))
        return known[line.name]

    return of


def _given(rack: str, folder: Path) -> dict[str, list[str]]:
    lines = [line for line in LINES if line.rack == rack]
    if rack != KERNEL:
        return Desk(folder, rack).tell(lines)
    with kernel_of(folder) as kernel:
        return KernelDesk(folder / "desk", kernel).tell(lines)


def lines_on(rack: str) -> pytest.MarkDecorator:
    """Return what gives a test each line for one kind of rack; a line that fails today is expected to."""
    return pytest.mark.parametrize("line", [_param(line) for line in LINES if line.rack == rack])


def _param(line: Line) -> Any:
    marks = list(NEEDED) if line.rack == KERNEL else []
    if line.fails:
        marks.append(pytest.mark.xfail(strict=True, raises=AssertionError, reason=f"issue {line.fails}: {line.why}"))
    return pytest.param(line, id=line.name, marks=marks)
