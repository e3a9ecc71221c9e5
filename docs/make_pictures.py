"""Draw the pictures in docs/pictures from the real program: type into it in tmux and keep the screen as SVG.

Run: python docs/make_pictures.py. Needs tmux and rich; starts an emulated rack in a scratch folder and stops it.
"""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURES = Path(__file__).resolve().parent / "pictures"
WIDTH, HEIGHT = 108, 30
SMALL = 80, 24
THEME = TerminalTheme(
    (24, 26, 31),
    (214, 218, 226),
    [(40, 44, 52), (224, 108, 117), (140, 195, 120), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194),
     (190, 196, 206)],
    [(92, 99, 112), (240, 130, 138), (160, 215, 140), (240, 205, 140), (125, 195, 250), (215, 145, 235), (110, 200, 212),
     (240, 242, 246)],
)  # fmt: skip


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


class Screen:
    """The program in a tmux window of its own server."""

    def __init__(self, home: str, command: list[str], size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
        self._width, height = size
        self._socket = f"pictures-{os.getpid()}-{self._width}"
        env = {**os.environ, "EXACELL_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._tmux("new-session", "-d", "-x", str(self._width), "-y", str(height), *command, env=env)
        self._tmux("set", "-g", "status", "off")

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names; a text is typed as it stands."""
        self._tmux("send-keys", *keys)

    def line(self, text: str, until: str = "exacell> ") -> None:
        """Type a line and wait until the screen ends with ``until``."""
        self.keys("-l", text)
        self.keys("Enter")
        self.wait(until)

    def wait(self, text: str, seconds: float = 60) -> None:
        """Wait until the last written line of the screen holds ``text``."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.15)
            lines = [line for line in self._tmux("capture-pane", "-p").splitlines() if line.strip()]
            # A prompt that a statement stands behind is the old one.
            ends = text.endswith("> ")
            if any(line.rstrip().endswith(text.strip()) if ends else text in line for line in lines[-3:]):
                time.sleep(0.3)
                return
        raise SystemExit(f"'{text}' never came: {self._tmux('capture-pane', '-p')}")

    def picture(self, name: str, title: str) -> None:
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
        PICTURES.mkdir(exist_ok=True)
        svg = console.export_svg(title=title, theme=THEME, unique_id=name)
        (PICTURES / f"{name}.svg").write_text(_TEXT.sub(_without_blanks, svg))

    def close(self) -> None:
        """End the window's server."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


def statements(screen: Screen) -> None:
    """Draw the prompt, its menu, a table, a plan and what differs."""
    screen.wait("exacell> ")
    screen.line("show flashcache")
    screen.line("list flashcach attributes name,size")
    screen.keys("-l", "list griddisk attributes name, size where status = ina")
    time.sleep(1)
    screen.picture("prompt", "exacell on an emulated quarter rack")
    clear(screen)
    screen.keys("-l", "list metriccurrent FL_")
    screen.keys("Tab")
    time.sleep(1.5)
    screen.picture("completion", "Tab: metrics with what they mean")
    clear(screen)
    screen.line("resize flashcache size=288g", until="[y/N]")
    screen.picture("plan", "a plan: what would be sent where, and what it changes")
    screen.line("n")
    screen.line("on exa1cel03 resize flashcache size=288g -y", until="exacell> ")
    clear(screen)
    screen.line("list flashcache detail --diff")
    screen.line("list griddisk attributes name,size,status where name like 'DATA_CD_0[0-2].*'")
    screen.picture("diff", "what differs between the cells, and equal cells shown once")
    clear(screen)


def clear(screen: Screen) -> None:
    """Begin with an empty screen."""
    screen.keys("C-c")
    time.sleep(0.5)
    screen.keys("C-l")
    time.sleep(0.5)


def live(screen: Screen, start_load: list[str], env: dict[str, str]) -> None:
    """Draw watch and top while a database works."""
    screen.wait("exacell> ")
    load = subprocess.Popen(start_load, env=env, stdout=subprocess.DEVNULL)
    try:
        for line, name, title, seconds in (
            ("watch 1 list metriccurrent where name like 'FC_BY_DIRTY|FC_IO_RQ_R_SEC|FL_RQ_W'", "watch",
             "watch: what changed, and how it went", 14),
            ("top 1", "top", "top: the worst cells first", 14),
        ):  # fmt: skip
            screen.keys("-l", line)
            screen.keys("Enter")
            screen.wait("q quit")
            time.sleep(seconds)
            screen.picture(name, title)
            if name == "top":
                screen.keys("Enter")
                screen.wait("Esc back")
                time.sleep(2)
                screen.picture("top_cell", "top: Enter on a cell")
            screen.keys("q")
            screen.wait("exacell> ")
    finally:
        load.wait()


def main() -> None:
    """Draw them all."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EXACELL_HOME": home}
        exacell = [sys.executable, "-m", "exacell"]
        subprocess.run([*exacell, "emulator", "start", "t1"], check=True, env=env, stdout=subprocess.DEVNULL)
        try:
            screen = Screen(home, [*exacell, "-r", "t1"])
            try:
                statements(screen)
            finally:
                screen.close()
            screen = Screen(home, [*exacell, "-r", "t1"], SMALL)
            try:
                live(screen, [*exacell, "emulator", "load", "t1", "profile=mixed", "for=45m"], env)
            finally:
                screen.close()
        finally:
            subprocess.run([*exacell, "emulator", "stop", "t1"], check=True, env=env, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
