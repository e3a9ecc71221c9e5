"""Draw the answers about the health of cells: one screen for fourteen cells on 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from exacell.care.examination import Check
from exacell.care.health import NO_ANSWER, Finding, Level
from exacell.care.readiness import Readiness
from exacell.core.cellset import fold, grouped
from exacell.output.folding import fold_records, masker
from exacell.output.style import paint, wrapped

Record = Mapping[str, object]

_STYLES = {Level.BAD: "error", Level.WARN: "warning", Level.UNKNOWN: "dim"}
_FLASH = ("flash", "cache", "log")
"""Areas in which a broken flash disk causes findings too."""


def advice_lines(items: Iterable[tuple[str, str, str]], most: int, *, rest: str) -> list[str]:
    """Return one line for each problem and its way out, with the cells that have it.

    Args:
        items: (cell, problem, way out), the most urgent first; cells that differ only in their own names share a line.
        most: the most lines; a last line counts further problems.
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
        # A statement with a selection repairs all of them at once; any other is about one cell, so the first one is shown.
        way = first[2].replace(f"on {first[0]} ", f"on {cells} ")
    return f"{cells}: {text}" + (f": {way}" if way else "")


def headlines(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings of one cell that need work; findings caused by a broken flash disk are merged into that disk's.

    Findings about what could not be read are left out; so are those without a text.
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
    """Return whether a broken flash disk explains a finding; another disk, a cache that does not cache and stale data need
    their own repair."""
    if finding.area == "flash":
        return finding.text.startswith("cell disk")
    return finding.word in ("degraded", "warning")


def matrix_lines(
    rows: Sequence[Record],
    findings: Mapping[str, Sequence[Finding]],
    areas: Sequence[str],
    *,
    color: bool,
    header: bool,
) -> Iterator[str]:
    """Yield the health matrix, one row for each group of equal cells, for pipes and files."""
    folded = fold_records([{"cell": row["cell"], **{area: row[area] for area in areas}} for row in rows])
    if folded:
        texts = [[fold(row.cells) for row in folded], *([str(row.record[area]) for row in folded] for area in areas)]
        levels = [_level_of(findings.get(row.cells[0], ())) for row in folded]
        yield from _grid(["cell", *areas], texts, levels, color=color, header=header)


def health_lines(
    rows: Sequence[Record],
    findings: Mapping[str, Sequence[Finding]],
    areas: Mapping[str, str],
    *,
    width: int,
    color: bool,
) -> list[str]:
    """Return one line per check for a terminal: the word for its worst result, then the cells that are not ok.

    If something is wrong, the checks that are ok share a line. The last line names the cells without an answer.

    Args:
        areas: the checks, each with the name that a DBA uses.
    """
    from exacell.output.draw import Look, grid  # rich is loaded when something is drawn.

    look = Look(width, color)
    told = [row for row in rows if row["services"] != NO_ANSWER]
    silent = [str(row["cell"]) for row in rows if row["services"] == NO_ANSWER]
    levels = {str(row["cell"]): _level_of(findings.get(str(row["cell"]), ())) for row in told}
    lines: list[tuple[str, tuple[str, str], str]] = []
    well = []
    for area, title in areas.items() if told else ():
        words: dict[tuple[int, str], list[str]] = {}
        for row in told:
            cell = str(row["cell"])
            words.setdefault((levels[cell].get(area, Level.OK).rank, str(row[area])), []).append(cell)
        (rank, word), *others = sorted(words, key=lambda key: -key[0])
        said = [fold(words[rank, word]), *(f"{each[1]} {fold(words[each])}" for each in others if each[0])]
        where = "; ".join(said) + (", others ok" if others and not others[-1][0] else "")
        if rank:
            lines.append((title, (word, _STYLES[list(Level)[rank]]), where))
        else:
            well.append(title)
    if silent:
        lines.append(("cells", (NO_ANSWER, "error"), fold(silent)))
    if not lines:
        return grid([(title, ("ok", "good")) for title in well], look)
    return grid([*lines, *([("the rest", ("ok", "good"), " · ".join(well))] if well else [])], look)


def _level_of(found: Sequence[Finding]) -> dict[str, Level]:
    levels: dict[str, Level] = {}
    for finding in found:
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
    """Yield the checks for a narrow terminal: one line for each that is not ok, with what to type; one for all others."""
    for check in checks:
        if check.level is not Level.OK:
            text = f"{check.level:<8} {check.check}: {check.found}" + (f": {check.way}" if check.way else "")
            lines = wrapped(text, width, indent=9)
            yield paint(lines[0], _STYLES[check.level], color=color)
            yield from lines[1:]
    well = [check.check for check in checks if check.level is Level.OK]
    if well:
        yield from wrapped(f"{Level.OK:<8} {', '.join(well)}", width, indent=9)


def doctor_lines(checks: Sequence[Check], width: int | None, *, color: bool) -> Iterator[str]:
    """Yield a line for each check: its level, its hosts, what was found and what to type.

    Checks that differ only in the names of their hosts share a line.
    """
    for hosts, check in _alike(checks):
        about = f"{hosts}: " if hosts else ""
        text = f"{check.level:<8} {about}{check.check}: {check.found}" + (f"; {check.way}" if check.way else "")
        lines = wrapped(text, width, indent=9)
        style = _STYLES.get(check.level)
        yield paint(lines[0], style, color=color) if style else lines[0]
        yield from lines[1:]


def _alike(checks: Sequence[Check]) -> Iterator[tuple[str, Check]]:
    """Yield each check with the folded names of the hosts that share it, in the order in which the checks came."""

    def key(one: Check) -> tuple[str, str, str, str, bool]:
        hide = masker(one.host) if one.host else str
        return one.check, one.level, hide(one.found), hide(one.way), bool(one.host)

    for members in grouped((key(one), one) for one in checks).values():
        yield fold([one.host for one in members if one.host]), members[0]
