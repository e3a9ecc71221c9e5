"""Help that teaches: codes, suggestions, examples that run, and the man page."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from exacell.cellcli.codes import CODES, find_code, metric_meaning
from exacell.cellcli.schema import find_object, metrics
from exacell.commands.help import manual, page
from exacell.core.errors import StatementError
from exacell.language.line import parse_line
from exacell.language.manual import EXAMPLES
from exacell.language.options import OPTIONS, read_argv, usage
from exacell.language.registry import Command, Effect, commands, handler_of
from exacell.output.render import lines
from exacell.output.result import Result
from tests.support.every import every

ROOT = Path(__file__).parents[2]


@every(sorted(CODES))
def test_each_code_has_a_page_whose_example_parses(code: str) -> None:
    """A code's page says what it means, in 80 columns, and its example is a statement."""
    shown = page([code])
    assert shown[0] == code
    assert all(len(line) < 80 for line in shown)
    example = next(line.removeprefix("Example: ") for line in shown if line.startswith("Example: "))
    assert parse_line(example) is not None or example.startswith("help ")


def test_codes_are_found_however_they_are_written() -> None:
    """Case and leading zeros do not count."""
    assert find_code("cell-2559") is find_code("CELL-02559")
    assert find_code("CELL-02559x") is None


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["CELL-01505"], "CELL-01504"),
        (["metric", "FL_DISK_FRIST"], "FL_DISK_FIRST"),
        (["attribute", "griddisk", "asmModStatus"], "asmModeStatus"),
        (["attribute", "gridisk", "name"], "griddisk"),
    ],
)
def test_did_you_mean(words: list[str], hint: str) -> None:
    """A topic that is misspelled is answered with the one that was meant."""
    with pytest.raises(StatementError) as caught:
        page(words)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "words",
    [["metric", "FL_DISK_FIRST"], ["attribute", "griddisk", "asmModeStatus"], ["list", "griddisk"], ["ack", "alert"]],
)
def test_examples_parse(words: list[str]) -> None:
    """What a page gives as an example is a statement."""
    for line in page(words):
        if line.startswith("Example: "):
            assert parse_line(line.removeprefix("Example: ")) is not None


def test_the_man_page_knows_every_statement() -> None:
    """The page names every statement with its example, every option and every exit status."""
    text = manual().replace(r"\-", "-")
    for found in commands().values():
        assert f"\\fB{found.name}\\fR" in text
        assert found.example.replace("\\", "\\(rs") in text
    for code in range(6):
        assert f"\\fB{code}\\fR" in text
    assert not re.search(r"^[.'](?!TH|ad|SH|SS|TP|B|RS|RE|IP|br)", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_man_page_is_read_without_complaint() -> None:
    """groff formats it without a warning."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"], input=manual(), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stderr == ""
    assert "tutorial" in done.stdout


def test_usage_fits_the_screen() -> None:
    """exacell --help leaves a line of 24 by 80 for the prompt, and names every option."""
    lines = usage().splitlines()
    assert len(lines) <= 23
    assert all(f"--{option.name}" in usage() for option in OPTIONS)
    assert all(len(line) < 80 for line in lines)


def test_the_man_page_in_the_tree_is_todays() -> None:
    """docs/man/exacell.1 is what make man writes now: run it after the words of a statement have changed."""
    assert (ROOT / "docs" / "man" / "exacell.1").read_text(encoding="utf-8") == manual(), "make man writes it anew"


@every([text for text, _ in EXAMPLES], name=str)
def test_examples_of_the_man_page_read(text: str) -> None:
    """Each example is a command line that exacell reads: options, and a statement of its own or of CellCLI."""
    program, *words = shlex.split(text)
    read = read_argv(words)
    line = parse_line(" ".join(read.words))
    assert program == "exacell"
    assert line is not None
    assert line.call is not None or line.cellcli is not None


@every(
    [name for name in metrics() if name.startswith(("FL_", "FC_IO_R", "FC_BY_D")) and "REPLACEMENT" not in name],
)
def test_metrics_of_the_flash_log_say_what_they_count(name: str) -> None:
    """Each has a meaning of its own besides type and unit; one a second says so."""
    said = metric_meaning(name)
    assert said
    assert said.endswith("a second") == name.endswith("_SEC")


def test_values_that_need_words_have_them() -> None:
    """help attribute says what each value of an enumeration means, and that a hidden attribute must be named."""
    text = " ".join("\n".join(page(["attribute", "griddisk", "asmModeStatus"])).split())
    assert "SYNCING it comes back: ASM copies what was written meanwhile" in text
    assert "name it after ATTRIBUTES" in text


def test_pages_of_changes_are_short() -> None:
    """Flags that all changing statements share are named on their pages and explained on one of their own."""
    pages = {found.name: page(found.words) for found in commands().values() if found.effect is Effect.WRITE}
    assert all(len(lines) <= 40 for lines in pages.values()), max(pages, key=lambda name: len(pages[name]))
    assert "(help flags)" in "\n".join(pages["resize flashcache"])
    assert "--confirm-within" in "\n".join(page(["flags"]))


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("drop flashcache", "resize flashcache"),
        ("alter flashcache", "only while its flush is proven"),
        ("drop flashlog", "FORCE throws such redo away"),
        ("drop griddisk", "never dropped, whatever is given"),
        ("alter iormplan", "set iorm"),
        ("alter cell", "restart service cellsrv"),
        ("create user", "Flags:"),
    ],
)
def test_pages_of_cellclis_own_changes_tell_their_guard(topic: str, said: str) -> None:
    """A CellCLI statement that changes something tells what guards it, the verb that does the work, and its flags."""
    shown = page(topic.split())
    assert said in " ".join(" ".join(shown).split())
    assert any("--accept-data-loss" in line for line in shown)
    assert max(map(len, shown)) < 80


def test_help_on_tells_what_may_stand_behind_on() -> None:
    """Each set of cells that help on shows can be typed, and it names every statement that takes ON behind."""
    shown = page(["on"])
    sets = [line.strip().split("  ")[0] for line in shown if line.startswith("  ") and line[2] != " "]
    for written in (each for named in sets for each in re.split(r", (?![^(]*\))", named)):
        assert parse_line(f"on {written.strip()} list cell"), written
    assert {"@up", "@failed"} <= {each for named in sets for each in named.split(", ")}
    behind = [found.name for found in commands().values() if found.on_after]
    assert behind and all(name in " ".join(shown) for name in behind)


def test_each_flags_meaning_is_told() -> None:
    """help flags says what --timeout means for a change and for a reading statement, and when a gate opens."""
    shown = " ".join(" ".join(page(["flags"])).split())
    assert "for a change: how long to wait for a gate to open (2h); for reads: how long to wait for each cell" in shown
    assert "gate opens when all grid disks in ASM use are ONLINE" in shown


def test_objects_of_care_are_known() -> None:
    """What the care statements read exists in the schema."""
    assert all(find_object(name) for name in ("alerthistory", "quarantine", "physicaldisk", "diagpack"))


@pytest.mark.parametrize("topic", [["safety"], ["flags"], ["resize", "flashcache"]])
def test_pages_fit_eighty_columns(topic: list[str]) -> None:
    """No line of what a new user reads first is cut by a pager on 80 columns."""
    assert max(map(len, page(topic))) < 80


def test_a_topic_in_quotes_is_the_topic() -> None:
    """help 'resize flashcache', as a shell or a habit quotes it, is help resize flashcache."""
    line = parse_line("help 'resize flashcache'")
    assert line is not None and line.call is not None
    assert handler_of(line.call.command)(None, None, line.call).text == "\n".join(page(["resize", "flashcache"]))


@every([each for each in commands().values() if each.params and each.params[-1].rest])
def test_what_takes_all_words_stands_last_in_the_usage(found: Command) -> None:
    """Nothing that a usage shows behind the statement or command that another one carries would be read as its own."""
    assert found.usage.endswith(found.params[-1].shape), found.usage


@pytest.mark.parametrize(
    ("text", "own"),
    [("watch 5 count=1 show flashcache", "count"), ("plan as=monday resize flashcache size=288g", "as")],
)
def test_a_statement_as_its_usage_shows_it_is_one(text: str, own: str) -> None:
    """A key in front of the statement that another one carries is that other one's."""
    line = parse_line(text)
    assert line is not None and line.call is not None and own in line.call.args


def test_a_page_shows_no_empty_default_and_no_flag_of_reads_for_a_change() -> None:
    """Nothing stands as a default where there is none, and --diff, which compares what is read, is no flag of a change."""
    for words, found in commands().items():
        shown = "\n".join(page(words))
        assert "(default )" not in shown
        assert found.effect is not Effect.WRITE or "--diff" not in shown


def test_the_first_screen_is_ascii_where_the_locale_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """LC_ALL=C gets help with as many lines and the same words, and no sign beyond ASCII."""
    first = Result(text="", draw=lambda width, color, header: iter(page([], width)))
    shown = {}
    for locale in ("C", "C.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        shown[locale] = list(lines(first, "table", width=80, color=False))
    assert all(line.isascii() for line in shown["C"])
    assert not all(line.isascii() for line in shown["C.UTF-8"])
    assert [re.findall(r"\w+", line) for line in shown["C"]] == [re.findall(r"\w+", line) for line in shown["C.UTF-8"]]
