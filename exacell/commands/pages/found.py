"""Help's answer to words that name no page: entries that mention them, best first; and the first screen of help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from exacell.cellcli.codes import CODES, metric_meaning
from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import metrics, objects
from exacell.commands.pages.lines import short_rows
from exacell.core.meant import closest
from exacell.core.packaged import PAGES, Section, has_source, packaged_files, sections, shown_page
from exacell.core.values import dataclass
from exacell.language.asked import OVERVIEW, answers, asked_words, typed
from exacell.language.finding import Entry, find
from exacell.language.recipewords import RECIPE_WORDS
from exacell.language.registry import COMMON_FLAGS, Command, commands

Row = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Own:
    """The rack's and the user's own names: cells and databases for example statements, recipes with their titles, and the page
    of a recipe.
    """

    cells: Sequence[str] = ()
    dbs: Sequence[str] = ()
    recipes: Sequence[Row] = ()
    page: Callable[[str], Iterator[str]] = lambda _: iter(())


_MOST = 14
"""Maximum number of answers that are shown: with the prompt they fill a screen of 24 lines."""

_UNLISTED = ("help",)
"""Groups that the first screen leaves out, because its reader already uses them."""


def groups() -> dict[str, list[Command]]:
    """Return group name → commands, in help's order."""
    found: dict[str, list[Command]] = {}
    for command in commands().values():
        found.setdefault(command.group, []).append(command)
    return found


def overview(width: int | None, own: Own, *, color: bool) -> Iterator[str]:
    """Yield the first screen: common tasks with the statement for each, then all statements by group.

    Args:
        width: columns of the window, at which lines are cut; None cuts nothing.
        own: names for the statements.
    """
    room = None if width is None else width - 1
    tasks = [(question.text, typed(question, own.cells, own.dbs)) for question in OVERVIEW]
    yield from short_rows(tasks, room, color=color, typed=1)
    yield ""
    names = {group: [each.name for each in found] for group, found in groups().items() if group not in _UNLISTED}
    names["CellCLI"] = [verb.value.lower() for verb in Verb]
    label = max(map(len, names)) + 2
    for group, each in names.items():
        shown = _joined(_folded(each), None if room is None else room - label - 2)
        yield f"  {group}{' ' * (label - len(group))}{shown}"
    yield (
        "help <words> finds anything: flush · FL_DISK_FIRST · CELL-02559 · flash cache · docs"
        if room is None or room > 86
        else "help <words> finds anything: flush · CELL-02559 · flash cache. New? tutorial"
    )


def _folded(names: Sequence[str]) -> list[str]:
    """Return names, with those joined that have the same object, or else the same verb: ``show|carve griddisk``, ``show
    health|alerts``.
    """
    pairs = [name.partition(" ") for name in names]
    shared = Counter(behind for _, _, behind in pairs if behind)
    found: dict[tuple[bool, str], list[str]] = {}
    for first, _, behind in pairs:
        by_object = shared[behind] > 1
        found.setdefault((by_object, behind if by_object else first), []).append(first if by_object else behind)
    return [
        f"{'|'.join(words)} {common}" if by_object else f"{common} {'|'.join(filter(None, words))}".strip()
        for (by_object, common), words in found.items()
    ]


def _joined(names: Sequence[str], room: int | None) -> str:
    """Return names in one line, as many as fit."""
    text = " · ".join(names)
    if room is None or len(text) <= room:
        return text
    at_word, at_bar = text.rfind(" · ", 0, room - 3), text.rfind("|", 0, room - 1)
    of_verb = at_bar > at_word and " " in text[at_word + len(" · ") : at_bar]
    return text[:at_bar] + "|…" if of_verb else text[: max(at_word, 0)] + " · …"


def named_pages() -> dict[str, str]:
    """Return page of the documentation → its title."""
    return {page: told[0].title for page, told in _page_sections().items()}


def found_rows(words: Sequence[str], own: Own) -> tuple[str, list[Row]]:
    """Return a remark on how ``words`` were found, and the entries of help for them, best first: what to type, and a sentence.

    Without entries, no text of help mentions the words, not even in another spelling.
    """
    text = " ".join(words)
    asked = asked_words(text)
    known = (*_entries(), *(Entry(type=f"run {name}", name=name, about=title) for name, title in own.recipes))
    meant = [word if find([word], known) or answers(word) else _nearest(word) or word for word in asked]
    rows = _rows(text if meant == list(asked) else " ".join(meant), meant, own, known)
    if not rows:
        return f"help has nothing about '{text}'. It has these topics:", []
    return "" if meant == list(asked) else f"help has nothing about '{text}'; this is about '{' '.join(meant)}':", rows


def _rows(text: str, asked: Sequence[str], own: Own, known: Sequence[Entry]) -> list[Row]:
    begun = text.lower() + " "
    first = [(each.name, each.summary) for each in commands().values() if f"{each.name} ".startswith(begun)]
    cells = [cell for cell in own.cells if cell.lower() in asked] or own.cells
    meant = [(typed(each, cells, own.dbs), each.text) for each in answers(text)]
    hits = [(each.type, each.about) for each in find(asked, known)]
    rows: dict[str, str] = {}
    for type_, about in (*first, *meant, *hits):
        rows.setdefault(type_, about)
    return list(rows.items())[: max(_MOST, len(first))]


def _nearest(word: str) -> str:
    """Return the similar word in help that may have been meant; empty for none."""
    return next(iter(closest(word, _vocabulary(), limit=1)), "")


@cache
def _vocabulary() -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for name in (*groups(), *(e.name for e in _entries())) for word in name.split()))


@cache
def _entries() -> tuple[Entry, ...]:
    """Return all entries of help; they are made once per process."""
    return (*_statements(), *_facts(), *_sections())


def _statements() -> Iterator[Entry]:
    for found in commands().values():
        told = [found.details, found.group, *(f"{each.name} {each.help}" for each in found.params)]
        told += [f"{each.name} {each.help}" for each in found.flags]
        body = "" if found.name == "help" else " ".join(told)  # Its examples mention too many words.
        yield Entry(type=found.name, name=found.name, about=found.summary, body=body, weight=2.0)
    yield Entry(type="help safety", name="safety guard rules", about="what exacell never does", body="loss data risk")
    yield Entry(
        type="help flags", name="flags line syntax", about="flags, and how a line is written", body="comment pipe"
    )
    for word in RECIPE_WORDS.values():
        yield Entry(type=f"help {word.name}", name=f"{word.name} recipe", about=f"in recipes: {word.about}")
    for flag in COMMON_FLAGS:
        yield Entry(type="help flags", name=f"--{flag.name}", about=f"--{flag.name}: {flag.help}")


def _facts() -> Iterator[Entry]:
    """Yield the entries about CellCLI: objects, their attributes, metrics, codes."""
    for code in CODES.values():
        yield Entry(type=f"help {code.code}", name=code.code, about=code.meaning, body=code.way)
    for subject in objects().values():
        name = subject.name.lower()
        yield Entry(type=f"help {name}", name=name, about="CellCLI object", weight=1.2)
        for verb in Verb:
            if verb in subject.verbs:
                whole = f"{verb.lower()} {name}"
                yield Entry(type=f"help {whole}", name=whole, about="CellCLI statement", weight=0.6)
        for each in subject.attributes.values():
            told = each.about or f"attribute of {name}"
            yield Entry(type=f"help attribute {name} {each.name}", name=each.name, about=told, body=name, weight=0.5)
    for name, metric in metrics().items():
        about = metric_meaning(name) or f"metric of {metric.object_type}, in {metric.unit}"
        yield Entry(type=f"help metric {name}", name=name, about=about, weight=0.5)


def _sections() -> Iterator[Entry]:
    """Yield the entries for the sections of the documentation."""
    for page, told in _page_sections().items():
        for section in told:
            about = section.title if section is told[0] else f"{told[0].title.partition(':')[0]}: {section.title}"
            name = f"{page} {section.title}" if section is told[0] else section.title
            yield Entry(type=f"help docs {page}", name=name, about=about, body=section.text)


def told_of_recipes(name: str) -> str:
    """Return the section about a word or statement in the page about recipes, as Markdown; for ``recipe`` the page's first
    section.

    Empty if there is no section of that name.
    """
    first = _page_sections()["recipes"][0]
    text = first.text.strip() if name == "recipe" else told_of("recipes", name)
    title = first.title if name == "recipe" else name
    return f"# {title}\n\n{text}\n\n`help docs recipes` is the whole page." if text else ""


def told_of(page: str, title: str) -> str:
    """Return the section of a page of the documentation, as Markdown; empty if no section has that title."""
    return next((each.text.strip() for each in _page_sections()[page][1:] if each.title == title), "")


@cache
def _page_sections() -> dict[str, tuple[Section, ...]]:
    found = packaged_files("docs", *PAGES)
    source = has_source()
    return {
        name: sections(shown_page(place.read_text(encoding="utf-8"), source=source)) for name, place in found.items()
    }
