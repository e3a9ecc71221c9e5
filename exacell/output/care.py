"""How the answers of cell care look: one screen for fourteen cells on 80 columns, whatever is wrong with them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from exacell.care.health import NO_ANSWER, Finding, Level
from exacell.care.readiness import Readiness
from exacell.core.cellset import fold
from exacell.output.folding import MASK, FoldedRecord, fold_records, masker, unmasked
from exacell.output.style import paint, wrapped

Record = Mapping[str, object]

_GAP = 2
_STYLES = {Level.BAD: "error", Level.WARN: "warning", Level.UNKNOWN: "dim"}
_FLASH = ("flash", "cache", "log")
"""Areas that a broken flash disk takes with it."""


def advice_lines(items: Iterable[tuple[str, str, str]], most: int, *, rest: str) -> list[str]:
    """Return one line for each thing that is wrong and its way out, with the cells that have it.

    Args:
        items: (cell, what, way out), the most pressing first; cells that differ only in their own names share a line.
        most: lines; more are counted.
        rest: the key under which ``-o json`` has all of them.
    """
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for cell, text, way in items:
        mask = masker(cell)
        found.setdefault((mask(text), mask(way)), []).append((cell, text, way))
    shown = [_advice(key, members) for key, members in found.items()]
    more = len(shown) - most
    return [*shown[:most], *([f"and {more} more: -o json has them all under {rest}"] if more > 0 else [])]


def _advice(masked: tuple[str, str], members: Sequence[tuple[str, str, str]]) -> str:
    cells = fold([cell for cell, _, _ in members])
    (text, way), first = masked, members[0]
    if len(members) == 1:
        _, text, way = first
    else:
        # A selection takes all of them at once; any other statement is about one, and the first one is as good.
        way = unmasked(way.replace(f"on {MASK} ", f"on {cells} "), first[0])
    return f"{cells}: {text}" + (f": {way}" if way else "")


def headlines(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of one cell that a reader acts upon: what a broken flash disk brought with it is one of them.

    Findings that only tell what could not be read are left out; so are those without a text.
    """
    told = [finding for finding in findings if finding.text and finding.level is not Level.UNKNOWN]
    broken = next((one for one in told if one.area == "flash" and one.text.startswith("physical disk")), None)
    if broken is None:
        return told
    others = [one for one in told if one is not broken and one.area in _FLASH and _brought(one)]
    if not others:
        return told
    words = ", ".join(dict.fromkeys(f"{'cell disk' if one.area == 'flash' else one.area} {one.word}" for one in others))
    text = f"{broken.text}, and with it: {words}"
    merged = Finding(area=broken.area, level=broken.level, word=broken.word, text=text, way=broken.way)
    return [merged if one is broken else one for one in told if one not in others]


def _brought(finding: Finding) -> bool:
    """Whether a broken flash disk is what explains a finding: another disk, a cache that does not cache or stale data
    want somebody of their own."""
    if finding.area == "flash":
        return finding.text.startswith("cell disk")
    return finding.word in ("degraded", "warning")


def matrix_lines(
    rows: Sequence[Record],
    findings: Mapping[str, Sequence[Finding]],
    areas: Sequence[str],
    *,
    width: int | None,
    color: bool,
    header: bool,
) -> Iterator[str]:
    """Yield the health matrix, equal cells once.

    Where the terminal is too narrow, areas that are ok everywhere are named below it instead of taking a column, and
    well cells are counted in it and named below, as are those that gave no answer. What is still too wide becomes a line for
    each kind of cell.
    """
    folded = fold_records([{"cell": row["cell"], **{area: row[area] for area in areas}} for row in rows])
    if not folded:
        return
    names = [fold(row.cells) for row in folded]
    shown, below = list(areas), []
    if width is not None and _wide(names, folded, shown) > width:
        silent = [cell for row in folded if _is_silent(row) for cell in row.cells]
        if silent and len(silent) < len(rows):
            folded = [row for row in folded if not _is_silent(row)]
            names = [fold(row.cells) for row in folded]
            below.append(f"{NO_ANSWER}: {fold(silent)}")
    if width is not None and _wide(names, folded, shown) > width:
        well = [area for area in shown if all(row.record[area] == "ok" for row in folded)]
        if well and len(well) < len(shown):
            shown = [area for area in shown if area not in well]
            # One line, because a bad week has many.
            said = f"{below.pop()}; ok on all others" if below else "ok on all of them"
            below.append(f"{said}: {', '.join(well)}")
        for index, row in enumerate(folded):
            if len(row.cells) > 2 and all(row.record[area] == "ok" for area in areas):
                below.append(f"{len(row.cells)} well cells: {names[index]}")
                names[index] = f"{len(row.cells)} well cells"
    if width is not None and _wide(names, folded, shown) > width:
        for name, row in zip(names, folded, strict=True):
            odd = [f"{area} {row.record[area]}" for area in areas if row.record[area] != "ok"]
            if odd or not name.endswith("well cells"):
                yield from wrapped(f"{name}: {', '.join(odd) or 'ok'}", width)
    else:
        texts = [names, *([str(row.record[area]) for row in folded] for area in shown)]
        levels = [_level_of(row, findings) for row in folded]
        yield from _grid(["cell", *shown], texts, levels, color=color, header=header)
    for line in below:
        yield from wrapped(line, width)


def _is_silent(row: FoldedRecord) -> bool:
    """Return whether these cells gave no answer."""
    return str(row.record["services"]) == NO_ANSWER


def _wide(names: Sequence[str], folded: Sequence[FoldedRecord], areas: Sequence[str]) -> int:
    columns = [max(len(area), *(len(str(row.record[area])) for row in folded)) for area in areas]
    return max(map(len, names)) + sum(_GAP + size for size in columns)


def _level_of(row: FoldedRecord, findings: Mapping[str, Sequence[Finding]]) -> dict[str, Level]:
    levels: dict[str, Level] = {}
    for finding in findings.get(row.cells[0], ()):
        levels[finding.area] = max(levels.get(finding.area, Level.OK), finding.level, key=lambda level: level.rank)
    return levels


def _grid(
    titles: Sequence[str],
    texts: Sequence[Sequence[str]],
    levels: Sequence[Mapping[str, Level]],
    *,
    color: bool,
    header: bool,
) -> Iterator[str]:
    sizes = [max(map(len, (title, *column))) for title, column in zip(titles, texts, strict=True)]
    if header:
        line = "  ".join(title.ljust(size) for title, size in zip(titles, sizes, strict=True))
        yield paint(line.rstrip(), "title", color=color)
        yield "  ".join("-" * size for size in sizes)
    for row, level in enumerate(levels):
        parts = []
        for title, column, size in zip(titles, texts, sizes, strict=True):
            style = _STYLES.get(level.get(title, Level.OK), "")
            padding = " " * (size - len(column[row]))
            parts.append((paint(column[row], style, color=color) if style else column[row]) + padding)
        yield "  ".join(parts).rstrip()


def check_lines(checks: Sequence[Readiness], width: int, *, color: bool) -> Iterator[str]:
    """Yield the checks for a narrow terminal: what is not ok as a line each, with what comes next; the others in one."""
    for check in checks:
        if check.level is not Level.OK:
            text = f"{check.level:<8} {check.check}: {check.found}" + (f": {check.way}" if check.way else "")
            lines = wrapped(text, width, indent=9)
            yield paint(lines[0], _STYLES[check.level], color=color)
            yield from lines[1:]
    well = [check.check for check in checks if check.level is Level.OK]
    if well:
        yield from wrapped(f"{Level.OK:<8} {', '.join(well)}", width, indent=9)
