"""Draw docs/pictures/architecture.svg from the imports: each package a box, each arrow what it leans on.

Run: python benchmarks/draw_house.py. A package stands above all that it imports; an arrow is left out where another
way of arrows says the same. A test draws it again and compares.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import house  # noqa: E402

PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
WIDTH, HEIGHT, ACROSS, DOWN = 118, 44, 26, 46
"""Units of a box and of the room between two boxes."""


def leans(found: Mapping[str, house.Module]) -> dict[str, set[str]]:
    """Return for each package, and each module beside them, the others that its modules import."""
    graph: dict[str, set[str]] = {}
    for name, targets in house.arrows(found).items():
        if name.count("."):
            own = name.split(".")[1]
            others = {target.split(".")[1] for target in targets if target.count(".")} - {own}
            graph.setdefault(own, set()).update(others)
    # The one command module that starts an emulator is no reason to draw it below the commands.
    return {name: targets - {"emulator"} for name, targets in graph.items()}


def reduced(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph, which has no circle, without arrows that a longer way replaces."""
    return {
        name: {target for target in targets if not any(target in reach(graph, other) for other in targets - {target})}
        for name, targets in graph.items()
    }


def reach(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """Return all that ``start`` leads to."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def rows(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the packages in rows, the uppermost first: each stands one row above the highest that it leans on."""
    height: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((of(target) for target in graph[name]), default=-1)
        return height[name]

    for name in graph:
        of(name)
    return [sorted(name for name in graph if height[name] == level) for level in range(max(height.values()), -1, -1)]


def drawn(found: Mapping[str, house.Module]) -> str:
    """Return the picture of these modules as SVG."""
    graph = leans(found)
    lines = rows(graph)
    sizes = {name: sum(own.split(".")[1:2] == [name] for own in found) for name in graph}
    widest = max(len(line) for line in lines)
    full = widest * (WIDTH + ACROSS) + ACROSS
    at = {
        name: (full / 2 + (place - (len(line) - 1) / 2) * (WIDTH + ACROSS), DOWN / 2 + row * (HEIGHT + DOWN))
        for row, line in enumerate(lines)
        for place, name in enumerate(line)
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full:g} {len(lines) * (HEIGHT + DOWN):g}" '
        'font-family="sans-serif" font-size="15" text-anchor="middle">',
        "<style>rect{fill:#f3f5f8;stroke:#4a5568}path{fill:none;stroke:#8794a8}text{fill:#1a202c}"
        "text.s{fill:#5a6780;font-size:11px}@media(prefers-color-scheme:dark){rect{fill:#232833;stroke:#8794a8}"
        "path{stroke:#66738a}text{fill:#e6eaf2}text.s{fill:#9aa7bd}}</style>",
        '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8" style="stroke-width:1.5"/></marker>',
    ]
    for name, targets in sorted(reduced(graph).items()):
        for target in sorted(targets):
            (x, y), (to_x, to_y) = at[name], at[target]
            begin, end, bend = y + HEIGHT, to_y - 2, (to_y - y - HEIGHT) / 2
            parts.append(
                f'<path d="M{x:g} {begin:g}C{x:g} {begin + bend:g} {to_x:g} {end - bend:g} {to_x:g} {end:g}" '
                'marker-end="url(#a)"/>'
            )
    for name, (x, y) in sorted(at.items()):
        parts.append(f'<rect x="{x - WIDTH / 2:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>')
        parts.append(f'<text x="{x:g}" y="{y + 20:g}">{html.escape(name)}</text>')
        count = f"{sizes[name]} modules" if sizes[name] > 1 else "one module"
        parts.append(f'<text class="s" x="{x:g}" y="{y + 36:g}">{count}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawn(house.modules()), encoding="utf-8")
