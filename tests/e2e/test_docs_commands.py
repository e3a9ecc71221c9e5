"""The commands of README.md and docs/*.md: they run on an emulated rack, and what is printed behind them is what comes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest

from exacell.core.config import load
from exacell.core.errors import StatementError
from exacell.core.paths import Home
from exacell.language.calls import VERBS
from exacell.language.line import parse_line
from exacell.language.options import read_argv
from exacell.language.registry import commands
from exacell.recipes.checker import problems_of
from exacell.recipes.parsing import read_draft
from exacell.transport.ssh.resolving import Reader as SshConfigReader
from exacell.transport.ssh.sshconfig import SshConfigFiles
from tests.support.every import every
from tests.support.program import Done, InProcess, told
from tests.support.surroundings import ANY_LOAD, path_of

ROOT = Path(__file__).parents[2]
PATH = path_of(ANY_LOAD, str(ROOT))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROMPT = re.compile(r"(?:\w+ \d+ cells? R[OW] )?exacell> (.*)")

NOT_RUN = {
    "make ": "it makes the tree's own .venv; the rules are named, and CI runs make test",
    **dict.fromkeys(
        (
            "python3.11 -m ",
            "~/exacell/bin/",
            "tar xf exacell-1.0.0-wheels.tar",
            "sh exacell-1.0.0/install.sh ~/exacell",
            "install -D -m 755 exacell-",
        ),
        "it takes what make dist wrote, or downloads libraries; tests/real/test_real_install_page.py types it",
    ),
    **dict.fromkeys(
        ("sudo dnf install ", "man exacell"), "an RPM is installed; tests/real/test_real_dist.py does that with rpm"
    ),
    "ansible-playbook ": "it needs Ansible; tests/real/test_real_ansible.py carries it out",
    "apt-get ": "it installs packages on this machine",
    "python benchmarks/": "it takes minutes; that the program is there is looked at",
    "exacell emulator start t1 port22=yes": "it takes port 22; test_emulator_port22.py tries it where it may be had",
    "exacell emulator hosts t1 | sudo": "it changes /etc/hosts of this machine",
    "ssh -i ~/": "its rack is the reader's own, in ~/.config",
}
"""Beginnings of commands that are not carried out, and why."""

OTHERS = (
    "ansible-playbook",
    "apt-get",
    "install",
    "man",
    "python3.11",
    "sh",
    "ssh",
    "sudo",
    "tar",
    "~/exacell/bin/exacell",
    "~/exacell/bin/pip",
)
"""Programs of the machine, or of the environment that a page makes, which this project does not bring."""

STANDING_IN = {
    "exa1cel[01-14] --live tail -20 /var/log/messages": "exa1cel[01-03] --live uname",
    "journal show 12": "journal show 1",
}
"""What a reader has and the emulated rack has not: more cells, a file that grows, twelve changes."""

ENDS = {"show health": 1}
"""Exit codes other than 0 that a page means: there is something to find."""

PREPARED = {
    "show health": ("emulator fault t1 exa1cel01 flash-disk",),
    "-o json list griddisk attributes name,size where diskType=flashdisk | jq '.[].size'": (
        "emulator fault t1 all clear",
    ),
    "journal": ("disable flashlog db=SPOT -y", "undo -y"),
}
"""What must have happened before a statement is as its page has it."""


AT_A_TERMINAL = ("show health",)
"""Statements that look otherwise at a terminal than in a pipe."""


@dataclass(kw_only=True)
class Shown:
    """One command of a page with what the page prints behind it; ``typed`` is a statement at the prompt."""

    text: str
    typed: bool
    output: list[str] = field(default_factory=list)


def blocks(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, language, lines) for each fenced and each indented block of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        begin = place
        if line.startswith("```"):
            place = lines.index("```", place + 1)
            yield begin + 1, line[3:], lines[begin + 1 : place]
        elif line.startswith("    ") and (begin == 0 or not lines[begin - 1].strip()):
            while place < len(lines) and (lines[place].startswith("    ") or not lines[place].strip()):
                place += 1
            yield begin + 1, "", [text.strip() for text in lines[begin:place] if text.strip()]
        place += 1


def shown(path: Path) -> list[Shown]:
    """Return the commands of a page in their order."""
    found: list[Shown] = []
    for _, language, lines in blocks(path):
        if language in ("toml", "text", "exa", "exa wrong"):  # Recipes are run by test_docs_recipes.py.
            continue
        prompted = any(line.startswith("$ ") or PROMPT.match(line) for line in lines)
        for line in lines:
            typed = PROMPT.match(line)
            if typed:
                found.append(Shown(text=bare(typed[1]), typed=True))
            elif line.startswith("$ ") or not prompted:
                text = line.removeprefix("$ ")
                first = text.split()[0]
                found.append(Shown(text=bare(text), typed=first in {words[0] for words in commands()}))
            else:
                found[-1].output.append(line)
    return found


def bare(line: str) -> str:
    """Return a line of a block without what explains it: a comment, or a phrase behind three blanks."""
    return re.split(r"\s{2,}#? ?(?=\S)|\s{3,}", line)[0].strip()


def masked(text: str) -> str:
    """Return text as one line in which numbers, their widths and the journal's hash do not count."""
    one = re.sub(r"\bjournal \S+", "journal #", told(text))
    return re.sub(r"-{3,}", "---", re.sub(r"\d+(?:[.,]\d+)*", "#", one))


class Reader:
    """Somebody who types a page's commands, in a home of their own with the rack t1."""

    def __init__(self, folder: Path) -> None:
        self.program = InProcess(folder / "home")
        self.folder = folder
        tool = folder / "bin" / "exacell"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m exacell "$@"\n')
        tool.chmod(0o755)
        (folder / "cells").write_text("exa1cel01\nexa1cel02\nexa1cel03\n")
        (folder / "home" / "recipes").mkdir(parents=True)
        # The pages show what a person sees at a terminal.
        (folder / "home" / "config.toml").write_text('[settings]\nfold = "on"\n')
        (folder / "home" / "recipes" / "my_recipe.exa").write_text('recipe "Log again"\nenable flashlog db=SPOT\n')
        self._running = False

    def carry_out(self, command: Shown) -> Done:
        """Carry one command out as it stands and return what came; a stopped rack is started for it."""
        text = command.text
        for written, instead in STANDING_IN.items():
            text = text.replace(written, instead)
        words = text.removeprefix("exacell -r t1 ")
        if not self._running:
            self.program.ok("emulator", "start", "t1", "speed=600")
        self._running = text != "exacell emulator stop t1"
        for statement in PREPARED.get(words, ()):
            self.program.ok("-r", "t1", statement)
        if words in AT_A_TERMINAL or any(line.startswith("proceed?") for line in command.output):
            return self._at_a_terminal(text)
        if command.typed:
            return self.program("-r", "t1", text if re.search(r"-y$| > ", text) else f"{text} -y")
        env = {
            **self.program.env,
            "EXACELL_RACK": "t1",
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": PATH,
        }
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {text}"],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def _at_a_terminal(self, text: str) -> Done:
        """Carry a statement out as somebody at a terminal of 100 columns does, who says yes when a plan is asked about."""
        child = pexpect.spawn(
            sys.executable,
            ["-m", "exacell", "-r", "t1", text],
            cwd=str(self.folder),
            env={
                **os.environ,
                **self.program.env,
                "LC_ALL": "C.UTF-8",
                "NO_COLOR": "1",
                "PYTHONPATH": PATH,
            },
            dimensions=(50, 100),
            encoding="utf-8",
            timeout=300,
        )
        asked = ""
        if child.expect_exact(["proceed?", pexpect.EOF]) == 0:
            asked = child.before or ""
            child.sendline("y")
            child.expect(pexpect.EOF)
        child.close()
        seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", f"{asked}{child.before or ''}").replace("\r", "")
        return Done(child.exitstatus or 0, seen, "")


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader in a folder of their own, whose rack ends with the test."""
    monkeypatch.chdir(tmp_path)
    found = Reader(tmp_path)
    yield found
    found.program("-r", "t1", "confirm")  # What a page left to be taken back has a process that waits.
    found.program("emulator", "stop", "t1")


def reason_not_to(text: str) -> str:
    """Return why a command is not carried out; empty when it is."""
    return next((reason for start, reason in NOT_RUN.items() if text.startswith(start)), "")


@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_run_as_it_shows(page: Path, reader: Reader) -> None:
    """Each command of a page ends well, or is refused where the page says so, and prints what the page prints."""
    commands_of_page = shown(page)
    for place, command in enumerate(commands_of_page):
        following = commands_of_page[place + 1 :]
        if reason_not_to(command.text) or (command.text == "exacell -r t1" and following and following[0].typed):
            continue
        done = reader.carry_out(command)
        everything = masked(done.out + done.err)
        wanted = [line for line in masked_lines(command.output) if line]
        refused = any(" refused" in line for line in command.output)
        context = f"{page.name}: {command.text}\nexit {done.code}\n{done.out}{done.err}"
        assert done.code == (2 if refused else ENDS.get(command.text, 0)), context
        assert [line for line in wanted if line not in everything] == [], context


def masked_lines(lines: list[str]) -> list[str]:
    """Return what must come: each line masked, without the question that ``-y`` answers."""
    return [masked(line) for line in lines if not line.startswith("proceed?")]


@pytest.mark.parametrize("beginning", NOT_RUN)
def test_no_exception_is_left_over(beginning: str) -> None:
    """Each beginning of a command that is not carried out stands on a page."""
    assert any(command.text.startswith(beginning) for page in PAGES for command in shown(page))


def test_what_is_not_run_is_there() -> None:
    """Every program, every rule of make and every command of exacell that a page names and this test does not carry
    out exists."""
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        for command in shown(page):
            if reason_not_to(command.text):
                first, *rest = command.text.split()
                if first == "exacell":
                    there = tuple(rest[:2]) in commands()
                else:
                    there = first in OTHERS or rest[0] in rules or (ROOT / rest[0]).is_file()
                assert there, f"{page.name}: {command.text}"


def text_blocks(first: str) -> list[str]:
    """Return the blocks of plain text, of all pages, that begin with that word; all others if it is empty."""
    words = ("Host", "15")
    found = [
        (lines[0].split()[0], "\n".join(lines)) for page in PAGES for _, kind, lines in blocks(page) if kind == "text"
    ]
    return [text for word, text in found if (word == first if first else word not in words)]


@pytest.mark.parametrize("text", text_blocks(""), ids=lambda text: text.split("\n")[0])
def test_lines_for_a_recipe_are_lines_of_one(text: str) -> None:
    """Nothing is wrong with what a page shows as a part of a recipe, once the parameters that it names are declared."""
    head = 'recipe "A part"\nparam db : db = SPOT\nparam mixed : choice(yes|no) = no\n'
    assert problems_of(read_draft("part", f"{head}{text}\n")) == ()


@pytest.mark.parametrize("text", text_blocks("15"))
def test_a_line_for_cron_is_one(text: str) -> None:
    """Its five fields are cron's; the words behind them are a command line of exacell, and the shell reads all of it."""
    *when, command = text.split(maxsplit=5)
    assert all(re.fullmatch(r"\*|\d+", field) for field in when)
    assert "%" not in command, "cron makes a line feed of it"
    subprocess.run(["sh", "-n", "-c", command], check=True)
    words = shlex.split(command.partition("||")[0])
    line = read_argv(words[1:])
    assert Path(words[0]).is_absolute() and "monitor" in line.switches
    assert parse_line(" ".join(line.words)) is not None


@pytest.mark.parametrize("text", text_blocks("Host"))
def test_lines_for_ssh_config_are_read(text: str, tmp_path: Path) -> None:
    """What a page has for ssh_config is read, and leads to the cells through the host that it names."""
    (tmp_path / "config").write_text(f"{text}\n")
    read = SshConfigFiles.read(tmp_path / "config")
    answer = SshConfigReader(read, lambda command, condition: False, "exa1cel01", None, None).answer()
    (jump,) = re.findall(r"ProxyJump (\S+)", text)
    assert answer.options["proxyjump"] == jump


def test_the_configuration_in_the_readme_is_one(tmp_path: Path) -> None:
    """The sample of config.toml is read without complaint, and has the rack that it names as the default."""
    (sample,) = [lines for _, language, lines in blocks(ROOT / "README.md") if language == "toml"]
    (tmp_path / "config.toml").write_text("\n".join(sample))
    config = load(Home.from_env({"EXACELL_HOME": str(tmp_path)}), {})
    rack = config.racks[config.default_rack]
    assert rack.production and len(rack.cells) == 14 and rack.asm["main"].sid == "+ASM1"


SLIPS = {"show helth": "a word that the prompt puts right"}
"""Code spans that are no statements, and are meant to be none."""


def inline() -> Iterator[tuple[str, str]]:
    """Yield (page, text) for each code span in the prose of the pages that begins as a statement.

    Without those that hold a placeholder, that only name a statement, or that are keys pressed before a Tab.
    """
    heads = {words[0] for words in commands()} | {verb.lower() for verb in VERBS}
    for page in PAGES:
        prose = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
        for text in re.findall(r"(?<!`)`([^`\n]+)`(?!`| Tab)", prose):
            words = text.replace("\\|", "|").split()
            statement = len(words) > 1 and words[0] in heads and tuple(words) not in commands() and text not in SLIPS
            if statement and not re.search(r"[…<{$]|\.\.\.|\b[A-Z]\b|=[A-Z]+\b|\[|\d:[0-9a-f]{8}| FORMAT", text):
                yield page.name, " ".join(words)


@every(lambda: sorted(set(inline())))
def test_the_statements_in_the_prose_are_statements(page: str, text: str) -> None:
    """What the pages call a statement is one."""
    try:
        assert parse_line(text) is not None
    except StatementError as error:
        pytest.fail(f"{page}: {text}: {error.message}")
