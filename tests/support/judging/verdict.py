"""Whether what the shells started is what the reader said: the same words, input, surroundings and nothing left.

``echo`` no shell starts: each prints itself. So what it prints is compared, on the text's output or as the next command's input.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from exacell.opaque.shell import Command, Reading
from tests.support.judging.sandbox import Run, Started

ALLOWED_VARIABLES = frozenset(
    (
        *("PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/judge", "LC_ALL=C", "USER=nobody", "LOGNAME=nobody"),
        *("PWD=/judge/cwd", "OLDPWD=/judge/cwd", "OLDPWD", "_AST_FEATURES=UNIVERSE - ucb"),
    )
)
"""What a program finds in its environment: what every run begins with, and what shells add."""

STAND_IN_SAYS = b"touch evil\n"
"""What each stand-in prints (``recorder.c``)."""

_NO_MATCHES = re.compile(rb"(?:zsh|sh):[0-9]+: no matches found: [^\n]*\n")
"""What zsh says of a pattern that finds nothing: in a text as it is sent, on standard output."""

_TRACED = re.compile(r"#![^\n]*-[xv]\n")
"""The first line of a script whose shell tells what it reads and starts."""

_GOES_AWAY = re.compile(r"(?<![2&])>[ \t]*[^ \t&]*null")
"""A redirection of standard output to /dev/null."""

_SHELLS_OWN = re.compile(r"(?:SHLVL=\d|JUDGE_STATUS=[01]+|_=.*|A__z=.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Folders:
    """Which names the folders of a sandbox hold.

    Attributes:
        names: folder -> its names, None where they are not known.
        machines: the machine's own folders: what is in them, and below them, is not known either.
    """

    names: Mapping[str, Collection[str] | None]
    machines: tuple[str, ...] = ()

    def names_in(self, folder: str) -> Collection[str] | None:
        """Return the names in a folder, none where it is not there, None where they are not known."""
        path = "/" + "/".join(part for part in folder.split("/") if part not in ("", "."))
        if path in self.names:
            return self.names[path]
        return None if any(path == own or path.startswith(f"{own}/") for own in self.machines) else ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A text that a shell takes otherwise than the reader.

    Attributes:
        text: what was run.
        shell: in which shell.
        why: what is otherwise.
        expected: what the reader named, a pipeline a line.
        real: what was started.
    """

    text: str
    shell: str
    why: str
    expected: str
    real: str

    def __str__(self) -> str:
        return f"{self.shell}: {self.why}\n  text     {self.text!r}\n  expected {self.expected}\n  real     {self.real}"


def judge(text: str, reading: Reading, run: Run, folders: Folders, *, all_well: bool = False) -> Difference | None:
    """Return the difference between a reading and what a shell did, None when there is none.

    Args:
        text: what was run: the read text, or that text as it is sent.
        folders: what the sandbox holds; a pattern in a folder whose names are not known is compared name by name.
        all_well: every command ended well, so that nothing behind && is skipped.
    """
    why = "; ".join(dict.fromkeys(_faults(text, reading, run, folders, all_well=all_well)))
    if not why:
        return None
    expected = " ; ".join(
        " | ".join(str(list(command.words)) for command in pipeline) for pipeline in reading.pipelines
    )
    real = " ; ".join(str(list(started.argv)) for started in run.started)
    said = f" (it said: {run.said.strip()[:200]})" if run.said else ""
    return Difference(text, run.shell, why, expected, f"{real}, ended {run.ended}{said}")


def refused(run: Run) -> bool:
    """Return whether a shell refused all of a text and said why: it did nothing else than was read, because it did nothing."""
    return not run.started and not run.printed and bool(run.said) and run.ended not in ("0", "timeout")


def disordered(reading: Reading, run: Run, folders: Folders) -> bool:
    """Return whether nothing was started but what was to be: a shell that waits for the last command of a pipe alone goes on
    while the others still tell of themselves.
    """
    left = [command for pipeline in reading.pipelines for command in pipeline]
    for started in run.started:
        at = next((n for n, command in enumerate(left) if _is(command, started, folders)), None)
        if at is None:
            return False
        del left[at]
    return any(len(pipeline) > 1 for pipeline in reading.pipelines)


def _faults(text: str, reading: Reading, run: Run, folders: Folders, *, all_well: bool) -> Iterator[str]:
    if run.ended == "timeout":
        yield "it does not end"
    for name in run.left:
        yield f"it left {name}"
    for started in run.started:
        yield from _surroundings(started)
    traced = bool(_TRACED.match(text))
    if refused(run) or (not reading.closed and _only_earlier(reading, run, folders, traced=traced)):
        return
    skips = "||" in text or ("&&" in text and not all_well)
    nothing = any(_finds_nothing(command, folders) for p in reading.pipelines for command in p)
    told = "no matches found: " in run.said or _NO_MATCHES.search(run.printed) is not None
    stops = run.shell == "zsh" and (nothing or told)
    yield from _taken_otherwise(reading.pipelines, run.started, folders, skips=skips, stops=stops)
    if not _printed(reading.pipelines, run, some=skips or stops or bool(_GOES_AWAY.search(text)), traced=traced):
        yield "something else was printed than was read"


def _taken_otherwise(
    pipelines: Sequence[Sequence[Command]], left: Sequence[Started], folders: Folders, *, skips: bool, stops: bool
) -> list[str]:
    """Return what is otherwise than these pipelines in what was started; nothing if one way to skip some of them explains it.

    Args:
        skips: a pipeline may have been skipped, behind && or ||; of two that are alike either one.
        stops: zsh does not start a command whose pattern matches nothing, nor what follows it.
    """
    if not pipelines:
        return ["more was started than was read"] if left else []
    whole, later = pipelines[0], pipelines[1:]
    commands = _started_by_shells(whole)
    first = left[: len(commands)]
    if _same(commands, first, folders):
        fault = [] if _fed(whole, first, folders) else ["a command got something else than what echo prints"]
        fault += _taken_otherwise(later, left[len(commands) :], folders, skips=skips, stops=stops)
        if fault and skips and first and not _taken_otherwise(later, left, folders, skips=skips, stops=stops):
            return []
        return fault
    if stops:
        for command in commands:
            at = next((n for n, one in enumerate(left[: len(commands)]) if _same([command], [one], folders)), None)
            if at is not None:
                left = [*left[:at], *left[at + 1 :]]
    elif not skips:
        return ["not everything was started as it was read"]
    return _taken_otherwise(later, left, folders, skips=skips, stops=stops)


def _only_earlier(reading: Reading, run: Run, folders: Folders, *, traced: bool) -> bool:
    """Return whether a shell ran the lines before a document that ends with the file, and then refused the rest."""
    last = max(n for n, each in enumerate(reading.pipelines) if any(command.document is not None for command in each))
    left = list(run.started)
    for pipeline in reading.pipelines[:last]:
        commands = _started_by_shells(pipeline)
        first = left[: len(commands)]
        if not left:
            break
        if not _same(commands, first, folders) or not _fed(pipeline, first, folders):
            return False
        del left[: len(commands)]
    if not _printed(reading.pipelines[:last], run, some=True, traced=traced):
        return False
    return not left and bool(run.said) and run.ended not in ("0", "timeout")


def printed_by_echo(command: Command) -> bytes | None:
    """Return what a command prints that is the shells' own echo, None for one that they start."""
    if command.words[0] != "echo":
        return None
    bare = command.words[1:2] == ("-n",)
    return (" ".join(command.words[1 + bare :]) + "\n" * (not bare)).encode(errors="surrogateescape")


def _started_by_shells(pipeline: Sequence[Command]) -> list[Command]:
    return [command for command in pipeline if printed_by_echo(command) is None]


def _fed(pipeline: Sequence[Command], started: Sequence[Started], folders: Folders) -> bool:
    """Return whether each command behind an echo and its pipe got what echo prints."""
    for before, command in pairwise(pipeline):
        text = printed_by_echo(before)
        if text is not None and not any(_is(command, one, folders) and one.stdin == text for one in started):
            return False
    return True


def _printed(pipelines: Sequence[Sequence[Command]], run: Run, *, some: bool, traced: bool) -> bool:
    """Return whether on standard output came what each echo that ends a pipeline prints, in order, and nothing else.

    Args:
        some: any of them may be missing: a command before it failed, or its output goes to /dev/null.
        traced: other text may stand between: under 2>&1 ksh93 writes there what it traces.
    """
    left = run.printed.replace(STAND_IN_SAYS, b"")
    if run.shell == "zsh":
        left = _NO_MATCHES.sub(b"", left)
    for pipeline in pipelines:
        text = printed_by_echo(pipeline[-1])
        at = -1 if text is None else left.find(text)
        if text is not None and (at == 0 or (traced and at > 0)):
            left = left[at + len(text) :]
        elif text is not None and not some:
            return False
    return traced or not left


def _surroundings(started: Started) -> Iterator[str]:
    for pair in started.environment:
        if pair not in ALLOWED_VARIABLES and not _SHELLS_OWN.fullmatch(pair):
            yield f"{started.argv[0]} has {pair} in its environment"
    if started.folder != "/judge/cwd":
        yield f"{started.argv[0]} is in {started.folder}"
    if started.umask != "022":
        yield f"{started.argv[0]} has the umask {started.umask}"
    for number, what in started.descriptors.items():
        if number > 2 or what not in (("outer", "null", "pipe", "file") if number == 0 else ("outer", "null", "pipe")):
            yield f"{started.argv[0]} has {what} open as {number}"
    for number in range(3):
        if number not in started.descriptors:
            yield f"{started.argv[0]} has no {number} open"


def _same(commands: Sequence[Command], started: Sequence[Started], folders: Folders) -> bool:
    """Return whether these commands were started, each once, in any order."""
    if len(commands) != len(started):
        return False
    left = list(started)
    for command in commands:
        at = next((n for n, one in enumerate(left) if _is(command, one, folders)), None)
        if at is None:
            return False
        del left[at]
    return True


def _is(command: Command, started: Started, folders: Folders) -> bool:
    return _input(command, started) and _words(command, started.argv, folders)


def _input(command: Command, started: Started) -> bool:
    """Return whether standard input is what was read: its document, a pipe, nothing or the run's own."""
    what = started.descriptors.get(0, "")
    if command.document is not None:
        # bash and ksh93 give an empty one as /dev/null.
        place = ("pipe", "file") if command.document else ("pipe", "file", "null")
        return what in place and started.stdin == command.document.encode()
    return what in (("pipe", "null") if command.piped else ("outer", "null"))


def _words(command: Command, argv: Sequence[str], folders: Folders) -> bool:
    """Return whether these are the command's words, each pattern replaced by names that it matches."""
    at = 0
    for place, word in enumerate(command.words):
        if place not in command.globs:
            if argv[at : at + 1] != (word,):
                return False
            at += 1
            continue
        names = _expanded(word, folders)
        if names is None:
            # Names of a folder that is this machine's own: each has to match.
            start = at
            while at < len(argv) and _pattern(word).fullmatch(argv[at]):
                at += 1
            if at == start:
                return False
        else:
            wanted = names or [word]
            if Counter(argv[at : at + len(wanted)]) != Counter(wanted):
                return False
            at += len(wanted)
    return at == len(argv)


def _finds_nothing(command: Command, folders: Folders) -> bool:
    """Return whether one of the command's patterns is known to match nothing."""
    return any(_expanded(command.words[place], folders) == [] for place in command.globs)


def _expanded(word: str, folders: Folders) -> list[str] | None:
    """Return the names that a pattern matches, none where its folder is not there, None where its names are not known."""
    folder, _, last = word.rpartition("/")
    if re.search(r"[*?]", folder):
        each = _expanded(folder, folders)
        return None if each is None else [f"{one}/{last}" for one in each if last in (folders.names_in(one) or ())]
    names = folders.names_in(folder)
    if names is None:
        return None
    return [f"{folder}/{name}" for name in names if _pattern(last).fullmatch(name)]


def _pattern(word: str) -> re.Pattern[str]:
    folder, slash, last = word.rpartition("/")
    hidden = "" if last.startswith(".") else r"(?!\.)"
    return re.compile(
        re.escape(folder) + slash + hidden + re.escape(last).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    )
