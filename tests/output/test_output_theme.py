"""The one table of colours, and what is drawn with it."""

import ast
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from exacell.core.errors import ExacellError, JournalError, RefusedError, StatementError, TransportError, UnitError
from exacell.output.draw import Look, grid
from exacell.output.faults import head_of, meaning_of, sentence
from exacell.output.style import paint, painted_lines, plain, readable, takes_unicode, wrapped
from exacell.output.theme import COLOURS, MEANINGS, TYPED, escape, in_hexadecimal, rgb
from tests.support import sources

ROOT = sources.ROOT
BACKGROUNDS = {
    "black": (0, 0, 0), "white": (255, 255, 255), "dark grey": (40, 44, 52), "paper": (253, 246, 227), "ink": (0, 43, 54),
}  # fmt: skip
"""Black, white, and what widely used themes have behind their texts."""


def luminance(colour: tuple[int, int, int]) -> float:
    """Return how light a colour is, 0 to 1. Source: WCAG 2.2, relative luminance."""
    parts = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("behind", BACKGROUNDS)
def test_each_colour_can_be_read_on_light_and_on_dark(colour: str, behind: str) -> None:
    """Each colour stands out by at least 3 to 1 from light and from dark backgrounds (WCAG 2.2, 1.4.11)."""
    light, dark = sorted((luminance(rgb(colour)), luminance(BACKGROUNDS[behind])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3.0


def test_a_colour_means_something() -> None:
    """Red is lost or failed, yellow wants a look, green is done, grey explains; no other meaning has one of them."""
    coloured = {name: word for name, style in MEANINGS.items() for word in style.split() if word in COLOURS}
    assert coloured == {"error": "red", "warning": "yellow", "odd": "yellow", "good": "green", "dim": "grey"}


def test_output_prompt_and_drawings_have_one_table() -> None:
    """What is painted, what is typed and what rich draws get the same colour for the same meaning."""
    from exacell.prompt.appearance import STYLE

    assert paint("x", "warning", color=True) == f"{escape('yellow')}x\x1b[0m" == "\x1b[38;5;136mx\x1b[0m"
    assert grid([[("x", "warning")]], Look(20, True)) == [paint("x", "warning", color=True)]
    assert dict(STYLE.style_rules)["toolbar.wrong"] == in_hexadecimal("red") == "#ff0000"
    assert set(dict(STYLE.style_rules)) == set(TYPED)


def test_only_the_table_knows_escape_codes_of_colours() -> None:
    """No other module of the product spells a colour, and only what draws imports rich."""
    for path in sources.trees():
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if name.startswith("emulator/") or name == "output/theme.py":
            continue
        assert "38;5" not in source and " ansi" not in source and '"ansi' not in source, name
        modules = {
            module
            for node in sources.nodes(path)
            for module in (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        drawn = name in ("output/draw.py", "output/markdown.py")
        assert drawn or not any(module.split(".")[0] == "rich" for module in modules), name


START = """
import sys
from exacell.cli import main
try:
    code = main({words!r})
except SystemExit as left:
    code = left.code
print("rich" in sys.modules, code, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["--complete", "bash", "1", "exacell", ""], ["help"], ["racks", "-o", "json"]]
)
def test_rich_is_loaded_when_something_is_drawn(words: list[str], tmp_path: Path) -> None:
    """Version, help, completion and what a pipe reads load no rich."""
    env = {**os.environ, "EXACELL_HOME": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", START.format(words=words)], env=env, capture_output=True, text=True, check=True
    )
    assert run.stderr.splitlines()[-1].startswith("False "), run.stderr


def test_drawings_fit_and_lose_no_word() -> None:
    """At 40 columns as at 100 a grid is no wider than the window and holds every word."""
    text = "resize flashcache brings back 364.75G on exa1cel[01-14] when nothing else was changed since then"
    words = text.split(" ")
    for width in (40, 100):
        drawn = grid([("undo", text), ("risk", "none")], Look(width), indent=2)
        assert max(map(len, drawn)) <= width
        assert [word for line in drawn for word in line.split() if word in words] == words


def test_without_colour_or_unicode_everything_is_still_said() -> None:
    """Without colour nothing but the colour is gone; in ASCII each sign has a spelling."""
    rows = [(("364.75G → 288G · cold", "error"), "exa1cel[01-03]")]
    assert [plain(line) for line in grid(rows, Look(60, True))] == grid(rows, Look(60, False))
    assert grid(rows, Look(60, False, False)) == ["364.75G -> 288G - cold  exa1cel[01-03]"]


def test_a_text_drives_no_terminal() -> None:
    """Control characters and what rich would read as its own markup stand as they are, spelt out."""
    assert grid([("\x1b[31mred [bold]x[/bold] :smile:", "b")], Look(60, True)) == [
        "\\x1b[31mred [bold]x[/bold] :smile:  b"
    ]


@pytest.mark.parametrize(
    ("encoding", "env", "takes"),
    [
        ("utf-8", {}, True),
        ("utf-8", {"LANG": "de_DE.UTF-8"}, True),
        ("utf-8", {"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, False),
        ("utf-8", {"LC_CTYPE": "POSIX"}, False),
        ("iso8859-1", {"LANG": "de_DE"}, False),
    ],
)
def test_a_plain_locale_gets_ascii(
    encoding: str, env: dict[str, str], takes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LC_ALL=C means ASCII, although Python writes UTF-8 there; another locale decides by its encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert takes_unicode(stream, env) is takes
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert readable("16 × 18G → 288G", stream) == ("16 × 18G → 288G" if takes else "16 x 18G -> 288G")


ERRORS = [
    (RefusedError("no; nothing was sent", hint="resize it"), "warning"),
    (StatementError("'x' is not a statement", hint="did you mean y?"), "warning"),
    (UnitError("'x' is no size"), "warning"),
    (TransportError("c1: no answer within 60s", hint="doctor"), "error"),
    (JournalError("the chain is broken"), "error"),
]


@pytest.mark.parametrize(("error", "meaning"), ERRORS, ids=lambda one: type(one).__name__)
def test_only_what_failed_is_red(error: ExacellError, meaning: str) -> None:
    """Where nothing was sent the error is yellow, what failed is red; the way out behind it has no colour."""
    assert meaning_of(error) == meaning
    said = sentence(error)
    lines = painted_lines(said, meaning, 30, head=head_of(error), color=True)
    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines] == wrapped(said, 30)
    coloured = " ".join(part for line in lines for part in re.findall(r"\x1b\[[\d;]+m(.*?)\x1b\[0m", line))
    assert "".join(coloured.split()) == "".join(head_of(error).split())
