"""Draw the pictures in docs/pictures from the real program: types into it in tmux and keeps the screen as SVG.

Run: python docs/make_pictures.py. Needs tmux and rich; starts an emulated rack in a scratch folder and stops it.
"""

from __future__ import annotations

import io
import os
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
THEME = TerminalTheme(
    (24, 26, 31),
    (214, 218, 226),
    [(40, 44, 52), (224, 108, 117), (140, 195, 120), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194),
     (190, 196, 206)],
    [(92, 99, 112), (240, 130, 138), (160, 215, 140), (240, 205, 140), (125, 195, 250), (215, 145, 235), (110, 200, 212),
     (240, 242, 246)],
)  # fmt: skip


class Screen:
    """The program in a tmux window of its own server."""

    def __init__(self, home: str, command: list[str]) -> None:
        self._socket = f"pictures-{os.getpid()}"
        env = {**os.environ, "EXACELL_HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._tmux("new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), *command, env=env)
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
            if any(text.strip() in line for line in lines[-3:]):
                time.sleep(0.3)
                return
        raise SystemExit(f"'{text}' never came: {self._tmux('capture-pane', '-p')}")

    def picture(self, name: str, title: str) -> None:
        """Keep what is on the screen now."""
        shown = self._tmux("capture-pane", "-p", "-e").rstrip("\n")
        console = Console(
            record=True,
            width=WIDTH,
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            legacy_windows=False,
        )
        console.print(Text.from_ansi(shown), soft_wrap=True)
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / f"{name}.svg").write_text(console.export_svg(title=title, theme=THEME, unique_id=name))

    def close(self) -> None:
        """End the window's server."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True)


def main() -> None:
    """Draw them all."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EXACELL_HOME": home}
        exacell = [sys.executable, "-m", "exacell"]
        subprocess.run([*exacell, "emulator", "start", "t1"], check=True, env=env, stdout=subprocess.DEVNULL)
        screen = Screen(home, [*exacell, "-r", "t1"])
        try:
            screen.wait("exacell> ")
            screen.line("show flashcache")
            screen.line("list flashcach attributes name,size")
            screen.keys("-l", "list celldisk attributes name, fr")
            screen.keys("Tab")
            time.sleep(1)
            screen.picture("prompt", "exacell on an emulated quarter rack")
            screen.keys("C-c")
            screen.keys("C-l")
            screen.line("resize flashcache size=288g", until="[y/N]")
            screen.picture("plan", "a plan: what would be sent where, and what it changes")
            screen.line("n")
        finally:
            screen.close()
            subprocess.run([*exacell, "emulator", "stop", "t1"], check=True, env=env, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
