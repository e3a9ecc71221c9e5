"""A real headless Chromium that looks at a page."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_ASKED = """
addEventListener('load', () => {
  const frame = document.querySelector('iframe'), page = frame.contentDocument, body = page.body;
  const box = page.querySelector('.verdict').getBoundingClientRect();
  const texts = [...page.querySelectorAll('svg text')].filter(t => t.textContent.trim());
  const out = texts.filter(t => { const own = t.getBoundingClientRect(), svg = t.closest('svg').getBoundingClientRect();
    return own.right > svg.right + 1 || own.left < svg.left - 1 || own.bottom > svg.bottom + 1 || own.top < svg.top - 1; });
  document.title = JSON.stringify({ wide: page.documentElement.scrollWidth, verdict: box.top,
    svgs: page.querySelectorAll('svg').length,
    paper: getComputedStyle(body).backgroundColor, ink: getComputedStyle(body).color, texts: texts.length,
    line: getComputedStyle(page.querySelector('svg .series path, svg .series rect')).stroke,
    out: out.map(t => t.textContent) });
});
"""


@dataclass(frozen=True)
class Browser:
    """Chromium with a profile of its own, without a network.

    Attributes:
        folder: where the profile and wrappers go.
    """

    folder: Path

    def run(self, *words: str) -> str:
        """Run it once and return what it prints."""
        assert CHROMIUM is not None
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder / 'profile'}", *words]  # fmt: skip
        env = {**os.environ, "HOME": str(self.folder)}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=env).stdout

    def seen(self, page: str, width: int, *, dark: bool = False) -> dict[str, Any]:
        """Return what the page looks like in a window of that width: its own width, colours, texts that are cut."""
        # A frame may be as narrow as a phone, a window may not; the page's own rule forbids the question otherwise.
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        wrapper = self.folder / f"wrapper-{width}-{dark}.html"
        frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(bare)}"></iframe>'
        wrapper.write_text(f"<!DOCTYPE html><meta charset=utf-8><title></title>{frame}<script>{_ASKED}</script>")
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        found = re.search(r"<title>(.*?)</title>", self.run(scheme, "--dump-dom", f"file://{wrapper}"), re.DOTALL)
        assert found is not None and found[1], "the page was not looked at"
        told: dict[str, Any] = json.loads(html.unescape(found[1]))
        return told

    def picture(self, page: Path, picture: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Write a picture of the page as a window of that size shows it."""
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        self.run(scheme, f"--window-size={width},{height}", f"--screenshot={picture}", f"file://{page.resolve()}")

    def paper(self, page: Path, paper: Path) -> bytes:
        """Print the page and return the PDF."""
        self.run(f"--print-to-pdf={paper}", "--no-pdf-header-footer", f"file://{page.resolve()}")
        return paper.read_bytes()
