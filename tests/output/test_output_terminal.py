"""The console of a terminal or a pipe, error lines and progress."""

import io
import os
import pty
import threading
from dataclasses import replace
from time import monotonic

import pytest

from exacell.core.errors import ExacellError, StatementError
from exacell.output import terminal
from exacell.output.console import Progress
from exacell.output.faults import error_lines, sentence, underlined
from exacell.output.progress import ProgressLog, progress_lines
from exacell.output.style import wants_color
from exacell.output.terminal import TerminalConsole


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(number: int = 1, **states: str) -> Progress:
    return Progress(stage="flush", number=number, of=2, states=states, fraction={}, eta=65.0)


def test_nobody_is_asked_without_a_terminal() -> None:
    """Where standard input is no terminal, a question has no answer at all."""
    console = TerminalConsole(err=io.StringIO(), stdin=io.StringIO("y\n"))
    assert console.confirm("proceed?") is None and console.ask("name: ") is None


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", None)]
)
def test_only_yes_is_yes(typed: str, answer: bool | None) -> None:
    """Enter alone is no; the end of input is no answer."""
    err = Tty()
    assert TerminalConsole(err=err, stdin=Tty(typed)).confirm("Proceed?") is answer
    assert err.getvalue().startswith("Proceed? [y/N] ")


def test_progress_in_a_log_is_one_line_a_stage_and_one_a_failure() -> None:
    """Without a terminal each stage and each failure is said once, however often it is reported."""
    err = io.StringIO()
    console = TerminalConsole(err=err, stdin=io.StringIO())
    for states in (
        {"c1": "flushing", "c2": "flushing"},
        {"c1": "flushing", "c2": "failed: x"},
        {"c1": "done", "c2": "failed: x"},
    ):
        console.progress(progress(**states))
    console.progress(progress(2, c1="dropping"))
    console.progress(None)
    assert err.getvalue().splitlines() == ["[1/2] flush on c[1-2]", "  c2: failed", "[2/2] flush on c1"]


def test_a_log_says_what_is_waited_for_at_once_and_again_each_minute() -> None:
    """A closed gate is told with its reason when the waiting begins, and not again before a minute has passed."""
    log = ProgressLog()
    closed = progress(c1="waiting: griddisk D: asmModeStatus is SYNCING, not ONLINE")
    told = [(at, line) for at in range(0, 130, 5) for line in log.lines(closed, float(at))]
    reason = "  c1  waiting: griddisk D: asmModeStatus is SYNCING, not ONLINE"
    assert told == [(0, "[1/2] flush on c1"), (0, reason), (60, reason), (120, reason)]


def test_a_log_tells_each_minute_where_a_long_stage_stands() -> None:
    """A flush of minutes does not leave its log silent."""
    log = ProgressLog()
    flushing = Progress(
        stage="flush", number=1, of=1, states={"c1": "2G dirty", "c2": "failed: x"}, fraction={"c1": 0.5}
    )
    told = [(at, line) for at in (0, 30, 61, 90) for line in log.lines(flushing, float(at))]
    assert told == [
        (0, "[1/1] flush on c[1-2]"),
        (0, "  c2: failed"),
        (61, "  c1 [########........]  50%  2G dirty"),
    ]


def test_a_log_is_told_of_a_wait_at_a_calm_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal a wait is told when it has lasted ten seconds and then each minute; one that ends before is not,
    and quiet silences waits and progress, on a terminal as well."""
    clock = [0.0]
    monkeypatch.setattr("exacell.output.terminal.monotonic", lambda: clock[0])
    monkeypatch.setattr("exacell.output.terminal.WAIT_TOLD_AFTER", vars(terminal)["OWN_WAIT_TOLD_AFTER"])
    monkeypatch.setenv("TERM", "xterm")
    err, quiet, quiet_terminal = io.StringIO(), io.StringIO(), Tty()
    consoles = [TerminalConsole(err=err, stdin=io.StringIO())]
    consoles += [TerminalConsole(err=stream, stdin=io.StringIO(), quiet=True) for stream in (quiet, quiet_terminal)]
    for second in range(140):
        clock[0] = float(second)
        for console in consoles:
            console.waiting(None if second == 5 else f"waiting for c1, {second}s")
    assert err.getvalue().splitlines() == [f"waiting for c1, {at}s" for at in (16, 76, 136)]
    for console in consoles[1:]:
        console.progress(progress(c1="flushing"))
        console.progress(None)
    assert quiet.getvalue() == quiet_terminal.getvalue() == ""


@pytest.mark.parametrize(("locale", "bar"), [("en_US.UTF-8", "████████░░░░░░░░"), ("C", "[########........]")])
def test_a_terminal_gets_bars_in_its_signs_and_colours_for_what_they_mean(
    monkeypatch: pytest.MonkeyPatch, locale: str, bar: str
) -> None:
    """Done is green, a wait yellow, a failure red; LC_ALL=C has the same lines in ASCII."""
    for name, value in (("TERM", "xterm"), ("LC_ALL", locale), ("NO_COLOR", "")):
        monkeypatch.setenv(name, value)
    from exacell.output.style import paint

    leader, follower = pty.openpty()
    with os.fdopen(follower, "w", encoding="utf-8") as err:
        states = {"c1": "flushing, 2G dirty", "c2": "done", "c3": "failed: no", "c4": "waiting: D is not ONLINE"}
        TerminalConsole(err=err, stdin=io.StringIO()).progress(
            Progress(stage="flush", number=1, of=1, states=states, fraction={"c1": 0.5})
        )
        shown = os.read(leader, 4096).decode()
    os.close(leader)
    assert f"c1 {bar}  50%  flushing, 2G dirty" in shown
    for text, meaning in (
        ("  c2  done", "good"),
        ("  c3  failed: no", "error"),
        ("  c4  waiting: D is not ONLINE", "warning"),
    ):
        assert paint(text, meaning, color=True) in shown
    assert locale != "C" or shown.isascii()


class Watched(Tty):
    """A terminal that tells when a text is written on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.seen = text, threading.Event()

    def write(self, text: str) -> int:
        if self.text in text:
            self.seen.set()
        return super().write(text)


def test_the_clock_of_a_stage_moves_while_no_news_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without news the seconds of a stage go up and the time left goes down until nobody knows it any more; the clock
    ends with the display, and a question is not drawn over."""
    now = [100.0]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(terminal, "monotonic", lambda: now[0])
    monkeypatch.setattr(terminal, "TICK", 0.01)
    err = Watched("[1/2] flush, 25s, about 40s left\n")
    console = TerminalConsole(err=err, stdin=Tty("y\n"))
    console.progress(progress(c1="flushing"))
    assert err.getvalue().startswith("[1/2] flush, about 1m05s left\n")
    now[0] += 25
    assert err.seen.wait(300)
    now[0] += 100
    err.text = "[1/2] flush, 2m05s\n"
    err.seen.clear()
    assert err.seen.wait(300)
    assert console.confirm("proceed?")
    err.text = "["
    err.seen.clear()
    assert not err.seen.wait(0.2)
    console.progress(progress(2, c1="dropping"))
    assert "[2/2] flush, about 1m05s left\n" in err.getvalue()
    console.progress(None)
    clocks = [thread for thread in threading.enumerate() if thread.name == "exacell-clock"]
    for clock in clocks:
        clock.join(300)
    assert not any(clock.is_alive() for clock in clocks)


def test_live_progress_is_erased_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal progress is drawn in place, talk goes above it, and nothing of it is left."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    err = Tty()
    console = TerminalConsole(err=err, stdin=io.StringIO())
    console.progress(progress(c1="flushing"))
    console.say("a note")
    console.progress(None)
    assert err.getvalue().endswith("\x1b[2A\r\x1b[J") and "a note\n" in err.getvalue()


def test_progress_without_colour_is_drawn_in_place_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR takes the colours away and nothing else: lines are drawn over, and none is painted."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    err = Tty()
    console = TerminalConsole(err=err, stdin=io.StringIO())
    console.waiting("waiting for c1")
    console.progress(progress(c1="flushing"))
    console.progress(progress(c1="done"))
    console.progress(None)
    assert err.getvalue().split("\x1b[2A\r\x1b[J")[1].endswith("  c1  done\n")
    assert "\x1b[38;5;244m" not in err.getvalue() and err.getvalue().startswith("waiting for c1\n\x1b[1A")


def test_nothing_is_drawn_over_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """While an editor or a pager has the terminal no wait, bar or talk is written there; talk comes afterwards, in order.

    Nor is a wait drawn over an open question. Where talk goes to a file it is written at once.
    """
    monkeypatch.setenv("TERM", "xterm")
    err, log = Tty(), io.StringIO()
    console, logged = TerminalConsole(err=err, stdin=Tty()), TerminalConsole(err=log, stdin=io.StringIO())
    with console.lent(), console.lent(), logged.lent():
        console.waiting("waiting for c1, 2s")
        console.progress(progress(c1="flushing"))
        console.progress(None)
        for each in (console, logged):
            each.say("first")
            each.tell("second")
        assert err.getvalue() == "" and log.getvalue() == "first\nsecond\n"
    assert err.getvalue() == log.getvalue() and monotonic() - console.spoke < 60
    console.waiting("waiting for c1, 3s")
    assert "waiting for c1, 3s" in err.getvalue()
    shown: list[str] = []

    def answered(question: str) -> str:
        before = err.getvalue()
        console.waiting("waiting for c1, 4s")
        shown.append(err.getvalue().removeprefix(before))
        return "yes"

    console.read_line = answered
    assert console.ask("go on?") == "yes" and shown == [""]


def test_lines_that_a_narrower_terminal_has_broken_are_drawn_over_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that became narrower shows a line on two rows: both are gone when the next state is drawn; one that
    became wider has as many rows as before."""
    monkeypatch.setenv("TERM", "xterm")
    err = Tty()
    console = TerminalConsole(err=err, stdin=io.StringIO())
    for columns, rows in (("40", 4), ("100", 3), ("120", 3)):
        monkeypatch.setenv("COLUMNS", "100")
        console.progress(progress(c1="flushing " + "x" * 60, c2="x"))
        before = len(err.getvalue())
        monkeypatch.setenv("COLUMNS", columns)
        console.progress(progress(c1="done"))
        taken = err.getvalue()[before:]
        assert taken.startswith(f"\x1b[{rows}A\r\x1b[J"), columns
    console.progress(None)


def test_progress_folds_cells_in_the_same_state_failures_last() -> None:
    """Cells in the same state share a line, failed ones come last, and lines fit the width."""
    shown = list(progress_lines(progress(c1="failed: no", c2="flushing", c3="flushing"), 40))
    assert shown == ["[1/2] flush, about 1m05s left", "  c[2-3]  flushing", "  c1  failed: no"]
    assert all(len(line) < 20 for line in progress_lines(progress(c1="x" * 99), 20))


OTHERS = "c1 done; c[4-9] waiting for their wave"


@pytest.mark.parametrize(("height", "there"), [(None, True), (4, True), (3, False), (2, False)])
def test_progress_tells_of_the_other_waves_where_there_is_room(height: int | None, there: bool) -> None:
    """While a plan rolls one folded line says where the cells of the other waves are, in no more lines than there are."""
    now = replace(progress(c2="flushing", c3="failed: no"), others=OTHERS)
    shown = list(progress_lines(now, 80, height))
    assert (shown[-1] == f"  {OTHERS}") is there and (height is None or len(shown) <= height)
    assert len(list(progress_lines(now, 20))[-1]) < 20
    log = ProgressLog()
    assert OTHERS not in "".join([*log.lines(now, 0.0), *log.lines(now, 100.0)])


def test_what_a_gate_waits_for_is_told_whole_where_there_is_room() -> None:
    """A reason longer than the line goes on below it; on a terminal without room for that, and in a log, it is one line."""
    reason = "waiting: flashcache exa1cel02_FLASHCACHE: status is warning - degraded, not normal"
    now = replace(progress(c1=reason), others="c[2-3] waiting for their wave")
    assert list(progress_lines(now, 60, 24))[1:] == [
        "  c1  waiting: flashcache exa1cel02_FLASHCACHE: status is",
        "      warning - degraded, not normal",
        "  c[2-3] waiting for their wave",
    ]
    assert [line[-1] for line in progress_lines(now, 60, 3)][1:] == ["~", "e"]
    assert all(len(line) < 60 for height in range(2, 9) for line in progress_lines(now, 60, height))
    assert all(len(list(progress_lines(now, 60, height))) <= height for height in range(2, 9))


@pytest.mark.parametrize("height", [5, 12, 23])
def test_progress_of_many_cells_fits_the_terminal(height: int) -> None:
    """Of 64 cells that are all at another place those that failed or lag behind have a line each; the others share the
    last one, so that the display is never higher than the terminal."""
    cells = [f"exa1cel{n:02}" for n in range(1, 65)]
    states = {cell: f"flushing, {n}G dirty" for n, cell in enumerate(cells)} | {
        "exa1cel40": "failed: no",
        "exa1cel41": "done",
    }
    fraction = {cell: n / 100 for n, cell in enumerate(cells) if cell not in ("exa1cel40", "exa1cel41")}
    now = Progress(stage="flush", number=1, of=2, states=states, fraction=fraction)
    shown = list(progress_lines(now, 80, height))
    assert len(shown) == height and max(map(len, shown)) < 80
    assert shown[1] == "  exa1cel40  failed: no" and "exa1cel01" in shown[2] and "0%" in shown[2]
    assert f"  {64 - (height - 2)} more, " in shown[-1] and "to 63%: exa1cel[" in shown[-1]
    assert "exa1cel41" not in "".join(shown[1:-1])
    assert len(list(progress_lines(now, 80))) == 65


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {}])
def test_colour_is_not_used_where_it_is_not_wanted(env: dict[str, str]) -> None:
    """NO_COLOR and a dumb or unknown terminal get plain text."""
    assert not wants_color(Tty(), env) and wants_color(Tty(), {"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_color(io.StringIO(), {"TERM": "xterm"})


def test_the_faulty_word_is_underlined() -> None:
    """A bad statement is one line of reason, then the statement with marks exactly below the faulty word."""
    error = StatementError("'flashcach' is not an object", start=5, end=14, suggestions=("flashcache",))
    assert list(error_lines(error, text="list flashcach detail")) == [
        "exacell: 'flashcach' is not an object: did you mean flashcache?",
        "    list flashcach detail",
        "         ^^^^^^^^^",
    ]


@pytest.mark.parametrize(("start", "end"), [(0, 4), (150, 160), (295, 299), (299, 299)])
def test_a_long_statement_is_shown_around_its_fault(start: int, end: int) -> None:
    """Whatever the place, both lines fit the width and the marks stand below the faulty text."""
    text = "".join(chr(97 + n % 26) for n in range(299))
    shown, marks = underlined(text, start, end, width=60)
    assert len(shown) <= 60 and len(marks) <= 60
    at = marks.index("^")
    if end > start:
        assert shown[at : at + end - start] == text[start:end]


def test_a_hint_follows_on_the_same_line() -> None:
    """Message and hint are one line, even when the message had several."""
    assert sentence(ExacellError("a\nb.", hint="do c")) == "a b; do c"


def test_an_answer_can_be_typed_on_a_real_terminal() -> None:
    """On a pty the question is shown and the typed line returned without its end."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "r") as stdin:
        os.write(leader, b"t1\n")
        err = Tty()
        assert TerminalConsole(err=err, stdin=stdin).ask("rack?") == "t1"
        assert err.getvalue() == "rack? "
    os.close(leader)


def test_the_spool_gets_a_copy(tmp_path: os.PathLike[str]) -> None:
    """spool writes what is copied until it ends, and append adds to it."""
    from pathlib import Path

    path = Path(tmp_path) / "out.txt"
    console = TerminalConsole(err=io.StringIO(), stdin=io.StringIO())
    console.spool(path)
    console.copy("a\n")
    console.spool(path, append=True)
    console.copy("b\n")
    console.spool(None)
    console.copy("c\n")
    assert path.read_text() == "a\nb\n" and console.spooling is None
