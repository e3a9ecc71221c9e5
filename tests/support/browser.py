"""A real headless Chromium that looks at a page."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PACKAGE = importlib.util.find_spec("axe_playwright_python")
AXE = (
    Path(_PACKAGE.submodule_search_locations[0]) / "axe.min.js"
    if _PACKAGE and _PACKAGE.submodule_search_locations
    else None
)
"""The accessibility checker axe-core, which that package ships; the package itself is not imported."""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_ASKED = """
addEventListener('load', () => {
  const frame = document.querySelector('iframe'), page = frame.contentDocument, body = page.body;
  const box = page.querySelector('.verdict').getBoundingClientRect();
  const seen = t => t.textContent.trim() && t.getClientRects().length;
  const texts = [...page.querySelectorAll('svg text, figure li')].filter(seen);
  const out = texts.filter(t => { const own = t.getBoundingClientRect();
    const svg = (t.closest('svg') || t.closest('figure')).getBoundingClientRect();
    return own.right > svg.right + 1 || own.left < svg.left - 1 || own.bottom > svg.bottom + 1 || own.top < svg.top - 1; });
  document.title = JSON.stringify({ wide: page.documentElement.scrollWidth, verdict: box.top,
    svgs: page.querySelectorAll('svg').length,
    paper: getComputedStyle(body).backgroundColor, ink: getComputedStyle(body).color, texts: texts.length,
    line: getComputedStyle(page.querySelector('svg .series path, svg .series rect')).color,
    least: Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize) * (t.closest('svg') ? t.getScreenCTM().a : 1))),
    scrolled: [...page.querySelectorAll('.wide, figure, pre')].filter(e => e.scrollWidth > e.clientWidth + 1).length,
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
        # The page's own rule forbids the question otherwise.
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        told: dict[str, Any] = self._framed(bare, width, dark=dark, script=_ASKED)
        return told

    def faults(self, page: str, width: int, *, dark: bool = False) -> list[str]:
        """Return what axe-core finds wrong with the page in a window of that width: impact, rule and the first place of each."""
        assert AXE is not None
        asked = """axe.run(document, {resultTypes: ['violations']}).then(found => {
          const told = found.violations.map(v => `${v.impact} ${v.id}: ${v.nodes[0].html.slice(0, 200)}`);
          parent.document.title = JSON.stringify(told);
        }, error => { parent.document.title = JSON.stringify(['critical ' + error]); });"""
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        whole = bare.replace(
            "</body>", f"<script>{AXE.read_text(encoding='utf-8')}</script><script>{asked}</script></body>"
        )
        assert "axe.run" in whole, "the checker stands in the page"
        return list(self._framed(whole, width, dark=dark, waits=True))

    def _framed(self, page: str, width: int, *, dark: bool, script: str = "", waits: bool = False) -> Any:
        """Return the JSON that becomes the title of a page in which ``page`` stands in a frame of that width."""
        # A frame may be as narrow as a phone, a window may not.
        wrapper = self.folder / f"wrapper-{width}-{dark}.html"
        frame = f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(page)}"></iframe>'
        text = f"<!DOCTYPE html><meta charset=utf-8><title></title>{frame}<script>{script}</script>"
        wrapper.write_text(text, encoding="utf-8")
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        wait = ["--virtual-time-budget=60000"] if waits else []
        printed = self.run(scheme, *wait, "--dump-dom", f"file://{wrapper}")
        found = re.search(r"<title>(.*?)</title>", printed, re.DOTALL)
        assert found is not None and found[1], "the page was not looked at"
        return json.loads(html.unescape(found[1]))

    def picture(self, page: Path, picture: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Write a picture of the page as a window of that size shows it."""
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        self.run(scheme, f"--window-size={width},{height}", f"--screenshot={picture}", f"file://{page.resolve()}")

    def phone(self, page: Path, picture: Path, *, dark: bool = False) -> None:
        """Write a picture of the page 390 pixels wide, and of nothing beside it: a window can't be as narrow."""
        wrapper = self.folder / "phone.html"
        size = "390px; height: 1500px"
        wrapper.write_text(
            f"<!DOCTYPE html><style>body {{ margin: 0; background: #888; }} iframe {{ width: {size}; border: 0; }}</style>"
            f'<iframe src="file://{page.resolve()}"></iframe>'
        )
        self.picture(wrapper, picture, 500, 1500, dark=dark)

    def paper(self, page: Path, paper: Path) -> bytes:
        """Print the page and return the PDF."""
        self.run(f"--print-to-pdf={paper}", "--no-pdf-header-footer", f"file://{page.resolve()}")
        return paper.read_bytes()
