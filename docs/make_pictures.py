"""Draw the pictures in docs/pictures from the real program: type into it in tmux and keep the screen as SVG.

Run: python docs/make_pictures.py [FOLDER]. Needs tmux and rich; starts emulated racks in a scratch folder and stops them.
Ten plans are drawn at 80, 100 and 160 columns, on dark and on light; docs/pictures has those of 80 columns on dark.
"""

from __future__ import annotations

import html
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURES = Path(__file__).resolve().parent / "pictures"
SHELL = "exacell> ", "[y/N/d]", "d shows the plan: "
"""What the last line of a screen ends with when the program waits for somebody."""
WIDTH, HEIGHT = 108, 30
SMALL = 80, 24
DARK = TerminalTheme(
    (24, 26, 31),
    (214, 218, 226),
    [(40, 44, 52), (224, 108, 117), (140, 195, 120), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194),
     (190, 196, 206)],
    [(92, 99, 112), (240, 130, 138), (160, 215, 140), (240, 205, 140), (125, 195, 250), (215, 145, 235), (110, 200, 212),
     (240, 242, 246)],
)  # fmt: skip


LIGHT = TerminalTheme(
    (255, 255, 255),
    (36, 41, 47),
    [(36, 41, 47), (207, 34, 46), (17, 99, 41), (77, 45, 0), (9, 105, 218), (130, 80, 223), (27, 124, 131), (110, 119, 129)],
    [(87, 96, 106), (164, 14, 38), (26, 127, 55), (99, 60, 1), (33, 139, 255), (164, 117, 249), (49, 146, 170), (140, 149, 159)],
)  # fmt: skip

PLANS = {
    "resize": "resize flashcache size=200g",
    "carve": "carve griddisk prefix=more size=1g",
    "diskgroup": "create diskgroup FAST prefix=ssd redundancy=normal",
    "mode": "set flashcache mode=writethrough",
    "rolling": "alter cell restart services all --rolling",
    "iorm": "set iorm db=SPOT share=9",
    "undo": "undo",
    "recipe": "run reset_cold size=200g",
    "refusal": "drop diskgroup DATA",
    "unlike": "-r w14 resize flashcache size=64g",
}
"""The ten plans: name, statement; one begins with another rack."""

PREPARED = (
    *("-r t1 resize flashcache size=288g -y", "-r t1 carve griddisk prefix=ssd size=2g -y"),
    *(f"-r w14 on exa1cel{cell} resize flashcache size={size}g -y" for cell, size in
      (("01", 300), ("02", 280), ("03", 260), ("[04-05]", 240))),
)  # fmt: skip
"""What is done before the plans are drawn: room on flash, grid disks, and cells that are not alike."""

_CHARACTER = 12.2
"""Units that rich gives a character."""

_TEXT = re.compile(r'x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"([^>]*)>([^<]*)</text>')


def _without_blanks(match: re.Match[str]) -> str:
    """Return a piece of text that begins where its first character stands: some viewers drop blanks around a text."""
    text = html.unescape(match[4])
    bare = text.strip("\xa0")
    x = float(match[1]) + _CHARACTER * (len(text) - len(text.lstrip("\xa0")))
    written = html.escape(bare, quote=False).replace("\xa0", "&#160;")
    return f'x="{x:g}" y="{match[2]}" textLength="{_CHARACTER * len(bare):.1f}"{match[3]}>{written}</text>'


_NUMBERS = itertools.count()


class Screen:
    """The program in a tmux window of its own server."""

    def __init__(self, home: str, command: list[str], size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
        self._width, height = size
        self._socket = f"pictures-{os.getpid()}-{self._width}-{next(_NUMBERS)}"
        env = {**os.environ, "EXACELL_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._tmux("new-session", "-d", "-x", str(self._width), "-y", str(height), *command, env=env)
        self._tmux("set", "-g", "status", "off")

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names; a text is typed as it stands."""
        self._tmux("send-keys", *keys)

    def line(self, text: str, until: str | tuple[str, ...] = "exacell> ") -> None:
        """Type a line and wait until the screen ends with ``until``."""
        self.keys("-l", text)
        self.keys("Enter")
        self.wait(until)

    def wait(self, text: str | tuple[str, ...], seconds: float = 60) -> None:
        """Wait until one of the last written lines of the screen ends with ``text``, or with one of several."""
        ends_with = tuple(one.strip() for one in ([text] if isinstance(text, str) else text))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.15)
            lines = [line for line in self._tmux("capture-pane", "-p").splitlines() if line.strip()]
            # A prompt that a statement stands behind is the old one.
            if any(line.rstrip().endswith(ends_with) for line in lines[-3:]):
                time.sleep(0.3)
                return
        raise SystemExit(f"'{text}' never came: {self._tmux('capture-pane', '-p')}")

    def until(self, pattern: str, seconds: float = 90) -> None:
        """Wait until something on the screen matches ``pattern``."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self._tmux("capture-pane", "-p")):
            if time.monotonic() > end:
                raise SystemExit(f"'{pattern}' never came: {self._tmux('capture-pane', '-p')}")
            time.sleep(0.2)

    def picture(self, path: Path, title: str, theme: TerminalTheme = DARK) -> None:
        """Keep what is on the screen now."""
        shown = self._tmux("capture-pane", "-p", "-e").rstrip("\n")
        console = Console(
            record=True,
            width=self._width,
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
        )
        console.print(Text.from_ansi(shown), soft_wrap=True)
        path.parent.mkdir(exist_ok=True, parents=True)
        svg = console.export_svg(title=title, theme=theme, unique_id=path.stem)
        path.write_text(_TEXT.sub(_without_blanks, svg), encoding="utf-8")

    def close(self) -> None:
        """End the window's server."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


def plans(home: str, program: list[str], folder: Path) -> None:
    """Draw each of the ten plans with its question at 80, 100 and 160 columns, on dark and on light."""
    for width in (80, 100, 160):
        screen = Screen(home, [*program, "-r", "t1"], (width, 24))
        try:
            screen.wait("exacell> ")
            for name, given in PLANS.items():
                rack, statement = given.split(" ", 2)[1:] if given.startswith("-r ") else ("", given)
                if rack:
                    screen.line(f"connect {rack}")
                clear(screen)
                screen.keys("-l", statement)
                screen.keys("Enter")
                screen.until(r"\[y/N/d\]|refused")  # Before that, the prompt that it is typed at looks like an end.
                screen.wait(SHELL)
                screen.picture(folder / f"{name}-{width}.svg", statement)
                screen.picture(folder / f"{name}-{width}-light.svg", statement, LIGHT)
                screen.keys("C-c")
                screen.wait("exacell> ")
        finally:
            screen.close()


def statements(screen: Screen, folder: Path) -> None:
    """Draw the prompt, its menu, a table, a plan and what differs."""
    screen.wait("exacell> ")
    screen.line("show flashcache")
    screen.line("list flashcach attributes name,size")
    screen.keys("-l", "list griddisk attributes name, size where status = ina")
    time.sleep(1)
    screen.picture(folder / "prompt.svg", "exacell on an emulated quarter rack")
    clear(screen)
    screen.keys("-l", "list metriccurrent FL_")
    screen.keys("Tab")
    time.sleep(1.5)
    screen.picture(folder / "completion.svg", "Tab: metrics with what they mean")
    clear(screen)
    screen.line("resize flashcache size=288g", until="[y/N/d]")
    screen.picture(folder / "plan.svg", "a plan: what is done where, what is lost, what undo brings back")
    screen.line("n")
    screen.line("on exa1cel03 resize flashcache size=288g -y", until="exacell> ")
    clear(screen)
    screen.line("list flashcache detail --diff")
    screen.line("list griddisk attributes name,size,status where name like 'DATA_CD_0[0-2].*'")
    screen.picture(folder / "diff.svg", "what differs between the cells, and equal cells shown once")
    clear(screen)


def clear(screen: Screen) -> None:
    """Begin with an empty screen."""
    screen.keys("C-c")
    time.sleep(0.5)
    screen.keys("C-l")
    time.sleep(0.5)


def live(screen: Screen, start_load: list[str], env: dict[str, str], folder: Path) -> None:
    """Draw watch and top while a database works."""
    screen.wait("exacell> ")
    load = subprocess.Popen(start_load, env=env, stdout=subprocess.DEVNULL)
    try:
        for line, name, title in (
            ("watch 1 list metriccurrent where name like 'FC_BY_DIRTY|FC_IO_RQ_R_SEC|FL_RQ_W'", "watch",
             "watch: what changed, and how it went"),
            ("top 1", "top", "top: the worst cells first"),
        ):  # fmt: skip
            screen.keys("-l", line)
            screen.keys("Enter")
            screen.until("q quit")
            screen.until("[▁▂▃▄▅▆▇█]{6}")
            screen.picture(folder / f"{name}.svg", title)
            if name == "top":
                screen.keys("Enter")
                screen.until("Esc back")
                screen.picture(folder / "top_cell.svg", "top: Enter on a cell")
            screen.keys("q")
            screen.wait("exacell> ")
    finally:
        load.wait()


def main() -> None:
    """Draw them all."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EXACELL_HOME": home, "LANG": "C.UTF-8"}
        exacell = [sys.executable, "-m", "exacell"]

        def run(*words: str) -> None:
            subprocess.run([*exacell, *words], check=True, env=env, capture_output=True)

        try:
            run("emulator", "start", "t1")
            screen = Screen(home, [*exacell, "-r", "t1"])
            try:
                statements(screen, folder)
            finally:
                screen.close()
            screen = Screen(home, [*exacell, "-r", "t1"], SMALL)
            try:
                live(screen, [*exacell, "emulator", "load", "t1", "profile=mixed", "for=45m"], env, folder)
            finally:
                screen.close()
            run("emulator", "start", "t1", "reset=yes")
            run("emulator", "start", "w14", "cells=14", "mode=writethrough")
            for line in PREPARED:
                run(*line.split())
            drawn = folder / "plans" if folder != PICTURES else Path(home) / "plans"
            plans(home, exacell, drawn)
            if folder == PICTURES:
                for name in PLANS:
                    (folder / "plans").mkdir(exist_ok=True)
                    shutil.copy(drawn / f"{name}-80.svg", folder / "plans" / f"{name}.svg")
        finally:
            for rack in ("t1", "w14"):
                subprocess.run([*exacell, "emulator", "stop", rack], check=False, env=env, capture_output=True)


if __name__ == "__main__":
    main()
