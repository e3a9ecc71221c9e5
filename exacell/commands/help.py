"""``help``: all its pages are derived from the registry, the CellCLI schema and the metric definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from exacell.cellcli.codes import is_code
from exacell.cellcli.forms import FORMS, MODIFIABLE, Form
from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import ObjectType, find_object, metric, objects_of
from exacell.commands.pages.facts import attribute_page, code_page, metric_page, object_page
from exacell.commands.pages.found import Own, found_rows, groups, named_pages, overview, told_of_recipes
from exacell.commands.pages.lines import WIDTH, columns, short_rows, wrap
from exacell.commands.pages.ofrecipes import recipe_page
from exacell.core.errors import StatementError
from exacell.core.meant import closest
from exacell.core.packaged import PAGES, has_source, packaged_files, packaged_folder, shown_page
from exacell.language.manual import man_page
from exacell.language.recipewords import RECIPE_WORDS
from exacell.language.registry import COMMON_FLAGS, Call, Command, Effect, Flag, Kind, Param, commands
from exacell.output.render import document_lines
from exacell.output.result import Result
from exacell.output.style import wrapped
from exacell.session.completion.stored_names import recipe_titles

if TYPE_CHECKING:
    from exacell.core.packaged import Place
    from exacell.session.given import Services, Session

_MANY = 12
_LONG = 50
_USAGE = 4
"""Maximum number of lines of a full usage; a longer usage names only the required parts, since all parameters and flags are
explained below it.
"""


_EFFECTS = {
    Effect.READ: "reads; never asks",
    Effect.LOCAL: "local: changes nothing on a cell",
    Effect.WRITE: "changes cells or ASM: plan, confirmation, journal, verification",
    Effect.OPAQUE: "sends text to be run; text that exacell can't read needs --accept-opaque",
}
_RUNS = "runs statements; each change among them is planned and confirmed"

_SAFETY = """\
Safety in ten lines

 1. Reading never asks. Each change is planned, shown, confirmed, journalled, sent, and verified by reading back.
 2. -n shows the plan and sends nothing. -y answers yes, but never to a loss of data.
 3. The risk comes from what is there: a disk group with files or a cache with dirty lines is data, an empty one is not.
 4. Data is lost only if you type its name, or give --accept-data-loss=NAME.
 5. A grid disk that ASM uses is never dropped, whatever you type.
 6. A write-back cache is flushed, and the flush is proven, before the cache is dropped or resized.
 7. A production rack is red and starts read-only; set mode rw asks for its name. -m keeps a session read-only.
 8. Without a terminal and without -y the answer is no.
 9. After Ctrl-C, SIGTERM or a lost terminal cells finish their statement and no new one starts; a second Ctrl-C detaches.
10. exacell can't guard text that it can't read (dcli, sh, host, SQL it doesn't know): that is refused or needs your word.
"""

_WRITE_BACK = (
    "A write-back cache is dropped, resized or changed in mode only while its flush is proven and in force, or "
    "with the loss "
    "accepted by the cell's name (--accept-data-loss). "
)
_IN_USE = "A grid disk that ASM uses is never dropped, whatever is given. "
_GUARDS = {
    "FLASHCACHE": _WRITE_BACK + "resize flashcache, flush flashcache and set flashcache do all of it in one statement.",
    "PMEMCACHE": _WRITE_BACK + "flush pmemcache flushes it and lets it cache again.",
    "XRMEMCACHE": _WRITE_BACK + "flush xrmemcache flushes it and lets it cache again.",
    "FLASHLOG": "DROP FLASHLOG is refused while redo is saved on flash only. FORCE throws such redo away: only "
    "with the loss "
    "accepted by the cell's name (--accept-data-loss).",
    "GRIDDISK": _IN_USE
    + "carve griddisk, release griddisk and resize griddisk work on all cells alike; offline cell and "
    "online cell send INACTIVE and ACTIVE and wait for ASM.",
    "CELLDISK": _IN_USE + "Dropping a cell disk drops the grid disks and the part of the cache on it.",
    "IORMPLAN": "A plan is always replaced as a whole. set iorm, enable flashlog and disable flashlog change "
    "one directive "
    "and keep the others.",
    "DBSERVER": "It belongs to database nodes, and exacell only reads it: on @db list dbserver. "
    "on @db sh --accept-opaque dbmcli ... sends a change without a guard.",
    "CELL": _WRITE_BACK
    + "set flashcache mode=... does all of it; restart service cellsrv restarts one cell after the other, "
    "its disks offline meanwhile.",
}
"""Object of CellCLI → its guards for CellCLI's own statements, and the exacell statements that do the work with less typing."""

_LIST_SHAPE = "[ATTRIBUTES {ALL | a[, b]...}] [DETAIL] [ORDER BY a [ASC|DESC]] [LIMIT n]"


def help_(session: Session, services: Services, call: Call) -> Result:
    """Return a page of text, formatted for the width of the window."""
    words = call.text_arg("topic").rstrip(";?").replace("'", " ").replace('"', " ").split()

    def own() -> Own:
        cells = session.rack.cells if session.rack is not None else ()
        dbs = services.learned.get(Kind.DB) if cells else ()
        return Own(cells=cells, dbs=dbs, recipes=recipe_titles(session.home), page=partial(recipe_page, session.home))

    def drawn(width: int | None, color: bool, header: bool) -> Iterator[str]:
        yield from page(words, width, color=color, own=own)

    return Result(text="\n".join(page(words, own=own)), draw=drawn)


def completion(call: Call) -> Result:
    """Return the completion file for a shell."""
    shell = call.text_arg("shell")
    name = "_exacell" if shell == "zsh" else f"exacell.{shell}"
    return Result(text=packaged_folder("completions").joinpath(name).read_text("utf-8").rstrip("\n"))


def page(
    words: Sequence[str], width: int | None = None, *, color: bool = False, own: Callable[[], Own] = Own
) -> list[str]:
    """Return the lines of the help page for ``words``; words that name no page are searched in all texts of help.

    Args:
        width: columns of the window; None for no window, so that nothing is cut.

    Raises:
        StatementError: there is no attribute, metric, code or page of that name.
    """
    lower = [word.lower() for word in words]
    place = _document(lower)
    own_word = len(lower) == 1 and lower[0] in RECIPE_WORDS and tuple(lower) not in commands()
    texts = [told_of_recipes(lower[0])] if own_word else []
    texts += [shown_page(place.read_text(encoding="utf-8"), source=has_source())] if place is not None else []
    if texts:
        text = "\n\n".join(texts)
        if width is None or (place is not None and not place.name.endswith(".md")):
            return text.splitlines()
        return document_lines(text, width, color=color)
    if lower == ["man"]:
        return manual().splitlines()
    lines = _page(lower, words) if words else None
    if lines is None and (name := _recipe(words)):
        lines = list(own().page(name))
    if not lines:
        return list(_found(words, width, own(), color=color))
    # An example stays on one line, so that it can be copied.
    return [row for line in lines for row in ([line] if line.startswith("Example:") else wrapped(line, WIDTH))]


def _recipe(words: Sequence[str]) -> str:
    """Return the name that may be a recipe's; a single word that is part of a statement is not one."""
    if len(words) == 2 and words[0].lower() in ("recipe", "run"):
        return words[1]
    return words[0] if len(words) == 1 and not any(words[0].lower() in key for key in commands()) else ""


def _found(words: Sequence[str], width: int | None, own: Own, *, color: bool) -> Iterator[str]:
    """Yield the entries that mention ``words``, best first; without words or entries the first screen."""
    remark, rows = found_rows(words, own) if words else ("", [])
    if remark:
        yield from wrap(remark)
    if rows:
        yield from short_rows(rows, None if width is None else width - 1, color=color)
    else:
        yield from overview(width, own, color=color)


def _page(lower: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """Return the page with this name; None if there is none."""
    match lower:
        case ["safety"]:
            return _SAFETY.splitlines()
        case [word] if word in ("flags", "line", "syntax") or word.startswith("-"):
            return list(_flags())
        case ["on"]:
            return list(_on())
        case ["docs"]:
            return [*columns(list(named_pages().items())), "", "Example: help docs reliability"]
        case [code] if is_code(code):
            return list(code_page(code))
        case ["attribute", _, _]:
            return list(attribute_page(words[1], words[2]))
        case ["metric", _]:
            return list(metric_page(words[1]))
    own = commands().get(tuple(lower))
    if own is not None:
        return [*_command(own), *_also_a_page(lower)]
    group = groups().get(" ".join(words)) or groups().get(" ".join(lower))
    if group is not None:
        return [*_several(group), "", f"Example: help {group[0].name}"]
    begun = [found for key, found in commands().items() if key[: len(lower)] == tuple(lower)]
    verb = next((verb for verb in Verb if verb.value == words[0].upper()), None)
    if verb is not None and len(words) <= 2 and (len(words) == 1 or find_object(words[1]) is not None):
        return list(_cellcli(verb, words[1:], begun))
    if len(words) > 1:
        return None
    if begun and lower[0] in named_pages():
        return [*_several(begun), *_also_a_page(lower)]
    subject = find_object(words[0])
    if subject is not None:
        return list(object_page(subject))
    return list(metric_page(words[0])) if metric(words[0]) is not None else None


def _also_a_page(lower: Sequence[str]) -> list[str]:
    name = " ".join(lower)
    pages = [f"help docs {name}: {named_pages()[name]}"] if name in named_pages() else []
    pages += ["help docs recipes: what it does in a recipe"] if told_of_recipes(name) else []
    return ["", *(f"Page:    {page}" for page in pages)] if pages else []


def manual() -> str:
    """Return the man page."""
    return man_page(commands(), _SAFETY)


def _document(lower: Sequence[str]) -> Place | None:
    """Return the page of the documentation with this name; None if there is none, or a statement has the name.

    Raises:
        StatementError: the words ask for a page of the documentation that does not exist.
    """
    pages = packaged_files("docs", *PAGES)
    plain = "" if not lower else lower[-1].removeprefix("docs/")
    place = pages.get(plain) or pages.get(plain.rpartition(".")[0])
    if len(lower) == 2 and lower[0] == "docs" and place is None:
        near = closest(plain, pages)
        hint = "" if near else "`help docs` lists them"
        raise StatementError(f"the documentation has no page '{plain}'", suggestions=near, hint=hint)
    taken = len(lower) == 1 and any(key[0] == plain for key in commands())
    return None if taken or (len(lower) > 1 and lower[:-1] != ["docs"]) else place


def _command(found: Command) -> Iterator[str]:
    usage = found.usage
    for param in found.params:
        usage = usage.replace(param.shape, _brief_shape(param))
    shown = wrap(usage, indent="    ", first="")
    if len(shown) > _USAGE:
        needed = [_brief_shape(param) for param in found.params if param.required]
        shown = [" ".join([found.name, *needed, "[name=value ...]", *(["[--flag ...]"] if found.flags else [])])]
    yield from shown
    yield ""
    yield from wrap(found.summary[:1].upper() + found.summary[1:] + ".")
    if found.details:
        yield from wrap(found.details)
    yield ""
    rows = [(_brief_shape(param), _param_help(param)) for param in found.params]
    rows += [_flag_row(flag) for flag in found.flags]
    yield from columns(rows)
    if rows:
        yield ""
    if found.effect is Effect.WRITE:
        yield from _flag_names()
    yield f"Effect:  {_RUNS if found.runs else _EFFECTS[found.effect]}"
    yield f"Example: {found.example}"


def _flag_names() -> list[str]:
    meant = [flag for flag in COMMON_FLAGS if flag.name != "diff"]  # It compares the answers of reads.
    names = " ".join(f"-{flag.short}" if flag.short else f"--{flag.name}" for flag in meant)
    return wrap(f"Flags:   {names} (help flags)", indent="         ", first="")


def _flag_row(flag: Flag) -> tuple[str, str]:
    return (f"-{flag.short}, " if flag.short else "") + flag.shape, flag.help


def _flags() -> Iterator[str]:
    yield "[on <cells>] statement [-y] [-n] [--flag=value] [| command] [> file] [;]"
    yield ""
    yield "CellCLI's statements go to all selected cells unchanged: list flashcache detail"
    yield "A last - continues the line. # and rem begin comments. !command runs a local command. @recipe runs a recipe."
    yield ""
    yield "Flags of statements; they may stand before or after the statement."
    yield (
        "After dcli, sh, host and ! all words belong to the command: exacell's flags stand before it, and -- ends them."
    )
    yield ""
    yield from columns([_flag_row(flag) for flag in COMMON_FLAGS])
    yield ""
    yield from wrap(
        "A wave is the cells that change together. Its gate opens when all grid disks in ASM use are ONLINE, "
        "ASM can spare "
        "the disks that the wave takes offline, no rebalance is running, and the flash cache of the other cells "
        "is normal. A setting "
        "limits how long one changing statement may take (set write_timeout 5m). After that time nothing is "
        "taken back: the "
        "statement may still run on the cell."
    )
    yield ""
    yield "Example: resize flashcache size=288g --rolling -n"


_SETS = (
    ("exa1cel01", "a cell, or a host beside the cells; the end of a name will do: cel01"),
    ("exa1cel[01-03]", "several"),
    ("a,b", "both"),
    ("a!b, (a not b)", "the first without the second"),
    ("a&b", "what is in both"),
    ("@all", "every cell of the rack"),
    ("@db, @GROUP", "hosts, or a group that the configuration names"),
    ("@up, @down", "cells that gave their last answer, and cells that did not"),
    ("@ok, @failed", "cells on which the newest change is complete, and those on which it is not"),
    ("(where flashCacheMode=writeback)", "cells on which this is true now"),
)
"""Examples of what may follow ON, each with its meaning."""


def _on() -> Iterator[str]:
    yield "on <cells> statement"
    yield ""
    yield from wrap(
        "Sends one statement to these cells or hosts; without it a statement goes to the cells in use (use <cells>). "
        "A statement goes to cells or to hosts, never to both: statements for cells are refused on hosts."
    )
    yield ""
    yield from columns(list(_SETS))
    yield ""
    after = [command.name for command in commands().values() if command.on_after]
    yield from wrap(
        f"ON may also stand after {', '.join(after[:-1])} and {after[-1]}: facts on @db. Put a set with blanks in it "
        "into parentheses."
    )
    yield ""
    yield "Page:    help docs hosts; help docs recipes: what it does in a recipe"
    yield "Example: on @up!exa1cel03 list flashcache detail"


def _brief_shape(param: Param) -> str:
    """Return the parameter as usage shows it; a long list of choices is moved to its explanation."""
    if len(param.shape) <= _LONG:
        return param.shape
    name = param.name.upper() if param.positional else f"{param.name}={param.name.upper()}"
    return name if param.required else f"[{name}]"


def _param_help(param: Param) -> str:
    default = f" (default {param.default})" if param.default else ""
    choices = f": {', '.join((*param.words, *param.choices))}" if len(param.shape) > _LONG else ""
    return param.help + choices + default


def _several(found: Sequence[Command]) -> Iterator[str]:
    yield from columns([(item.name, item.summary) for item in found])


def _cellcli(verb: Verb, words: Sequence[str], own: Sequence[Command]) -> Iterator[str]:
    subjects = objects_of(verb)
    if not words:
        yield f"{verb} is CellCLI's; it goes to every selected cell."
        if subjects:
            yield from wrap("Objects: " + " ".join(found.name for found in subjects), indent="  ", first="")
        if own:
            yield ""
            yield f"exacell's own statements that begin with {verb.lower()}:"
            yield from _several(own)
        return
    subject = find_object(words[0])
    if subject is None or verb not in subject.verbs:
        near = closest(words[0], (item.name.lower() for item in subjects))
        raise StatementError(f"{verb} has no object '{words[0]}'", suggestions=near)
    yield from wrap(_shape(verb, subject), indent="    ", first="")
    yield ""
    reads = verb in (Verb.LIST, Verb.DESCRIBE)
    if not reads:
        if subject.name in _GUARDS:
            yield from wrap(_GUARDS[subject.name])
            yield ""
        yield from _flag_names()
    yield f"Effect:  {_EFFECTS[Effect.READ if reads else Effect.WRITE]}"
    if verb is Verb.LIST and subject.default_columns:
        yield f"Without ATTRIBUTES it shows {', '.join(subject.default_columns)}."
        yield f"help {subject.name.lower()} lists the attributes."
    if own:
        yield ""
        yield "See also:"
        yield from _several(own)


def _shape(verb: Verb, subject: ObjectType) -> str:
    if verb is Verb.DESCRIBE:
        return f"DESCRIBE {subject.name}"
    if verb is Verb.LIST:
        which = [
            word for word, allowed in (("name", subject.list_name), ("name, name...", subject.list_names)) if allowed
        ]
        which += ["WHERE attribute operator value [AND ...]"] if subject.list_filter else []
        choice = f"[{' | '.join(which)}] " if which else ""
        return f"LIST {subject.name} {choice}{_LIST_SHAPE}"
    form = FORMS.get((verb, subject.name))
    return f"{verb} {subject.name} " + (_form_shape(form, subject) if form is not None else "...")


def _form_shape(form: Form, subject: ObjectType) -> str:
    which = []
    if form.all:
        media = " | ".join(form.media)
        which.append("ALL" + (f" [{media}]" if media else ""))
    which += {1: ["name"], 2: ["name[, name]..."]}.get(form.names, [])
    parts = [("[" if form.bare else "{") + " | ".join(which) + ("]" if form.bare else "}")] if which else []
    if form.actions:
        parts.append("{" + " | ".join(_action(phrase, words) for phrase, words in form.actions.items()) + "}")
    if form.settings == MODIFIABLE:
        settings = [attribute.name for attribute in subject.attributes.values() if attribute.modifiable]
    else:
        settings = list(form.settings)
    if len(settings) > _MANY:
        parts.append(f"[attribute=value[, ...]] (help {subject.name.lower()} lists the modifiable ones)")
    elif settings:
        parts.append(" ".join("[attribute=value]" if name == "*" else f"[{name}=...]" for name in settings))
    parts += [f"[{flag}]" for flag in form.flags]
    if form.filters:
        parts.append("[WHERE ...]")
    return " ".join(parts)


def _action(phrase: str, words: Sequence[str]) -> str:
    if not words:
        return phrase
    return f"{phrase} " + ("..." if words == ("*",) else "{" + "|".join(words) + "}")
