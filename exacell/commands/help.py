"""help: everything is derived from the registry, the CellCLI schema and the metric definitions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from exacell.cellcli.codes import CODES, find_code, is_code, metric_meaning, value_meanings
from exacell.cellcli.forms import FORMS, MODIFIABLE, Form
from exacell.cellcli.nodes import Verb
from exacell.cellcli.schema import Attribute, ObjectType, find_object, metric, metrics, objects, objects_of
from exacell.cellcli.suggest import closest
from exacell.core.errors import StatementError
from exacell.core.packaged import has_source, packaged_files
from exacell.core.pages import shown_page
from exacell.language.manual import man_page
from exacell.language.registry import COMMON_FLAGS, Call, Command, Effect, Flag, Param, commands
from exacell.output.result import Result
from exacell.output.style import wrapped

_WIDTH = 79
_PAGES = (".md", ".toml")
"""How files of the documentation end that are pages."""
_MANY = 12
_LONG = 50

_EFFECTS = {
    Effect.READ: "reads; never asks",
    Effect.LOCAL: "local: sends nothing that changes a cell",
    Effect.WRITE: "changes cells or ASM: plan, confirmation, journal, verification",
    Effect.OPAQUE: "carries text: what exacell can't read in it needs --accept-opaque",
}
_RUNS = "runs other statements: each change among them is planned, confirmed, journalled"

_SAFETY = """\
Safety in ten lines

 1. Reading never asks; every change is planned, shown, confirmed, journalled, sent, and verified by reading back.
 2. -n shows the plan and sends nothing; -y answers yes, but never to a loss of data.
 3. Risk is judged from what is there: a disk group with files or a cache with dirty lines is data, an empty one is not.
 4. Data is lost only where you type its name, or give it: --accept-data-loss=NAME.
 5. A grid disk that ASM uses is never dropped, whatever is given.
 6. A write-back cache is flushed, proven flushed, and only then dropped or resized.
 7. A production rack starts read-only and is red; set mode rw asks for its name. -m keeps a session read-only.
 8. Without a terminal and without -y the answer is no.
 9. Ctrl-C, SIGTERM or a lost terminal lets cells finish and starts no more; a second Ctrl-C detaches. All are journalled.
10. The guard ends at text that exacell can't read (dcli, sh, host, SQL it doesn't know): that is refused or named.
"""

_LINE = """\
[on <cells>] statement [-y] [-n] [--flag=value] [| command] [> file] [;]

CellCLI's statements go to all selected cells as they are: list flashcache detail
A last - continues the line. # and rem begin comments. !command runs a local command. @recipe runs a recipe."""

_WRITE_BACK = (
    "A write-back cache is dropped, resized or changed in mode only while its flush is proven and in force, or with the loss "
    "accepted by the cell's name (--accept-data-loss). "
)
_IN_USE = "A grid disk that ASM uses is never dropped, whatever is given. "
_GUARDS = {
    "FLASHCACHE": _WRITE_BACK + "resize flashcache, flush flashcache and set flashcache do all of it in one statement.",
    "PMEMCACHE": _WRITE_BACK + "flush pmemcache flushes it and lets it cache again.",
    "XRMEMCACHE": _WRITE_BACK + "flush xrmemcache flushes it and lets it cache again.",
    "FLASHLOG": "DROP FLASHLOG is refused while redo is saved on flash only. FORCE throws such redo away: only with the loss "
    "accepted by the cell's name (--accept-data-loss).",
    "GRIDDISK": _IN_USE
    + "carve griddisk, release griddisk and resize griddisk work on all cells alike; offline cell and "
    "online cell say INACTIVE and ACTIVE and wait for ASM.",
    "CELLDISK": _IN_USE + "Dropping a cell disk drops the grid disks and the part of the cache on it.",
    "IORMPLAN": "A plan is replaced as a whole. set iorm, enable flashlog and disable flashlog change one directive and keep "
    "the others.",
    "CELL": _WRITE_BACK
    + "set flashcache mode=... does all of it; restart service cellsrv restarts one cell after the other, "
    "its disks offline meanwhile.",
}
"""What guards CellCLI's own statements about an object, and what does the work with less typing."""

_LIST_SHAPE = "[ATTRIBUTES {ALL | a[, b]...}] [DETAIL] [ORDER BY a [ASC|DESC]] [LIMIT n]"


def help_(call: Call) -> Result:
    """Return a page of text."""
    words = call.text_arg("topic").rstrip(";").replace("'", " ").replace('"', " ").split()
    return Result(text="\n".join(page(words)))


def page(words: Sequence[str]) -> list[str]:
    """Return the lines of the help page for ``words``.

    Raises:
        StatementError: there is no such topic; close ones are suggested.
    """
    lines = _page(words)
    if words and words[0].lower() in ("man", "docs"):
        return lines
    # An example stays one line: it is there to be copied.
    return [row for line in lines for row in ([line] if line.startswith("Example:") else wrapped(line, _WIDTH))]


def _page(words: Sequence[str]) -> list[str]:
    if not words:
        return list(_overview())
    lower = [word.lower() for word in words]
    if lower == ["safety"]:
        return _SAFETY.splitlines()
    if lower == ["flags"]:
        return list(_flags())
    if lower == ["man"]:
        return manual().splitlines()
    if lower[0] == "docs" and len(words) <= 2:
        return _docs(lower[1]) if len(words) == 2 else list(_pages())
    if len(words) == 1 and is_code(words[0]):
        return list(_code(words[0]))
    if lower[0] == "attribute" and len(words) == 3:
        return list(_attribute(words[1], words[2]))
    if lower[0] == "metric" and len(words) == 2:
        return list(_metric(words[1]))
    own = commands().get(tuple(lower))
    if own is not None:
        return list(_command(own))
    begun = [found for key, found in commands().items() if key[: len(lower)] == tuple(lower)]
    verb = next((verb for verb in Verb if verb.value == words[0].upper()), None)
    if verb is not None and len(words) <= 2:
        return list(_cellcli(verb, words[1:], begun))
    if begun:
        return list(_several(begun))
    if len(words) == 1:
        subject = find_object(words[0])
        if subject is not None:
            return list(_object(subject))
        if metric(words[0]) is not None:
            return list(_metric(words[0]))
    second = [found for key, found in commands().items() if lower[0] in key]
    if second and len(words) == 1:
        return list(_several(second))
    raise _no_topic(words)


def manual() -> str:
    """Return the man page."""
    return man_page(commands(), _SAFETY)


def _pages() -> Iterator[str]:
    """Yield the names of the documentation's pages with their titles."""
    titles = []
    for name, place in packaged_files("docs", *_PAGES).items():
        first = place.read_text(encoding="utf-8").partition("\n")[0]
        titles.append((name, first.lstrip("# ").partition(": ")[0]))
    yield from _columns(titles)
    yield ""
    yield "Example: help docs reliability"


def _docs(name: str) -> list[str]:
    """Return the lines of a page of the documentation, without names of files that are not there."""
    pages = packaged_files("docs", *_PAGES)
    plain = name.removeprefix("docs/")
    place = pages.get(plain) or pages.get(plain.rpartition(".")[0])
    if place is None:
        near = closest(plain, pages)
        raise StatementError(
            f"the documentation has no page '{name}'", suggestions=near, hint="" if near else "help docs lists them"
        )
    return shown_page(place.read_text(encoding="utf-8"), source=has_source()).splitlines()


def _code(text: str) -> Iterator[str]:
    found = find_code(text)
    if found is None:
        near = closest(text.upper(), [code for code in CODES if code[:4] == text[:4].upper()])
        raise StatementError(
            f"{text.upper()} is in no table of exacell's: the public sources do not show it",
            suggestions=near,
            hint="" if near else "the cell's own text says what it means; list alerthistory may tell more",
        )
    yield found.code
    yield ""
    yield from _wrap(found.meaning)
    yield from _wrap(found.way)
    if not found.confirmed:
        yield from _wrap("The code is told of, but no public session shows it: your release may print another one.")
    yield ""
    yield "Source:  public documents and captures; exacell never depends on the code alone"
    yield f"Example: {found.example}"


def _no_topic(words: Sequence[str]) -> StatementError:
    text = " ".join(words)
    topics = [found.name for found in commands().values()]
    topics += (
        [name.lower() for name in objects()]
        + [verb.value.lower() for verb in Verb]
        + ["safety", "flags", "man", "docs", "metric", "attribute"]
    )
    near = closest(text, topics) or closest(words[-1].upper(), metrics())
    return StatementError(
        f"there is no help for '{text}'", suggestions=near, hint="" if near else "help lists the topics"
    )


def _wrap(text: str, *, indent: str = "", first: str | None = None) -> list[str]:
    lead = indent if first is None else first
    return textwrap.wrap(
        text, _WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def _overview() -> Iterator[str]:
    yield from _LINE.splitlines()
    yield ""
    groups: dict[str, list[str]] = {}
    for found in commands().values():
        groups.setdefault(found.group, []).append(found.name)
    label = max(len(group) for group in groups) + 2
    verbs = [verb.value.lower() for verb in Verb]
    for group, names in (*groups.items(), ("CellCLI", verbs)):
        yield from _wrap(" · ".join(names), indent=" " * label, first=f"{group:<{label}}")
    yield ""
    yield from _wrap(
        "More: help <statement>, help <object>, help metric <name>, help CELL-02559, help safety, help flags, help docs. "
        "New here? tutorial."
    )


def _command(found: Command) -> Iterator[str]:
    usage = found.usage
    for param in found.params:
        usage = usage.replace(param.shape, _brief_shape(param))
    yield from _wrap(usage, indent="    ", first="")
    yield ""
    yield from _wrap(found.summary[:1].upper() + found.summary[1:] + ".")
    if found.details:
        yield from _wrap(found.details)
    yield ""
    rows = [(_brief_shape(param), _param_help(param)) for param in found.params]
    rows += [_flag_row(flag) for flag in found.flags]
    yield from _columns(rows)
    if rows:
        yield ""
    if found.effect is Effect.WRITE:
        yield from _flag_names()
    yield f"Effect:  {_RUNS if found.runs else _EFFECTS[found.effect]}"
    yield f"Example: {found.example}"


def _flag_names() -> list[str]:
    meant = [flag for flag in COMMON_FLAGS if flag.name != "diff"]  # It compares what is read.
    names = " ".join(f"-{flag.short}" if flag.short else f"--{flag.name}" for flag in meant)
    return _wrap(f"Flags:   {names} (help flags)", indent="         ", first="")


def _flag_row(flag: Flag) -> tuple[str, str]:
    return (f"-{flag.short}, " if flag.short else "") + flag.shape, flag.help


def _flags() -> Iterator[str]:
    yield "Flags of statements, which may stand before or behind them."
    yield "Behind dcli, sh, host and ! all words are the command's: exacell's flags stand before it, and -- ends them."
    yield ""
    yield from _columns([_flag_row(flag) for flag in COMMON_FLAGS])
    yield ""
    yield from _wrap(
        "A wave is the cells that go together. Its gate opens when all grid disks in ASM use are ONLINE, ASM can spare those "
        "that the wave takes offline, no rebalance runs and the flash cache of the other cells is normal. How long one changing "
        "statement may take is a setting (set write_timeout 5m). A deadline that passes takes nothing back: what was sent may "
        "still run on the cell."
    )
    yield ""
    yield "Example: resize flashcache size=288g --rolling -n"


def _brief_shape(param: Param) -> str:
    """Return the parameter as usage shows it; a long list of choices stands with its explanation."""
    if len(param.shape) <= _LONG:
        return param.shape
    name = param.name.upper() if param.positional else f"{param.name}={param.name.upper()}"
    return name if param.required else f"[{name}]"


def _param_help(param: Param) -> str:
    default = f" (default {param.default})" if param.default else ""
    choices = f": {', '.join((*param.words, *param.choices))}" if len(param.shape) > _LONG else ""
    return param.help + choices + default


def _columns(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    label = min(max((len(left) for left, _ in rows), default=0) + 4, 34)
    for left, right in rows:
        head = f"  {left:<{label - 2}}"
        if len(left) + 3 > label:
            yield from _wrap(left, indent="      ", first="  ")
            head = " " * label
        yield from _wrap(right, indent=" " * label, first=head) or [head.rstrip()]


def _several(found: Sequence[Command]) -> Iterator[str]:
    yield from _columns([(item.name, item.summary) for item in found])


def _cellcli(verb: Verb, words: Sequence[str], own: Sequence[Command]) -> Iterator[str]:
    subjects = objects_of(verb)
    if not words:
        yield f"{verb} is CellCLI's; it goes to every selected cell."
        if subjects:
            yield from _wrap("Objects: " + " ".join(found.name for found in subjects), indent="  ", first="")
        if own:
            yield ""
            yield f"exacell's own statements that begin with {verb.lower()}:"
            yield from _several(own)
        return
    subject = find_object(words[0])
    if subject is None or verb not in subject.verbs:
        near = closest(words[0], (item.name.lower() for item in subjects))
        raise StatementError(f"'{words[0]}' is not an object that {verb} knows", suggestions=near)
    yield from _wrap(_shape(verb, subject), indent="    ", first="")
    yield ""
    reads = verb in (Verb.LIST, Verb.DESCRIBE)
    if not reads:
        if subject.name in _GUARDS:
            yield from _wrap(_GUARDS[subject.name])
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
        parts.append(f"[attribute=value[, ...]] (help {subject.name.lower()} says which are modifiable)")
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


def _object(subject: ObjectType) -> Iterator[str]:
    yield f"{subject.name}: " + ", ".join(verb for verb in Verb if verb in subject.verbs)
    if subject.lifetime.since or subject.lifetime.until:
        until = f", gone in {subject.lifetime.until}" if subject.lifetime.until else ""
        yield f"since release {subject.lifetime.since or '?'}{until}"
    yield ""
    yield from _columns([(attribute.name, _kind(attribute)) for attribute in subject.attributes.values()])


def _kind(attribute: Attribute) -> str:
    parts = [str(attribute.kind)]
    parts += ["modifiable"] if attribute.modifiable else ["given with CREATE"] if attribute.created else []
    parts += ["hidden"] if attribute.hidden else []
    parts += [f"since {attribute.lifetime.since}"] if attribute.lifetime.since else []
    parts += [f"until {attribute.lifetime.until}"] if attribute.lifetime.until else []
    return ", ".join(parts) + (f": {attribute.about}" if attribute.about else "")


def _attribute(object_name: str, name: str) -> Iterator[str]:
    subject = find_object(object_name)
    if subject is None:
        near = closest(object_name, (item.lower() for item in objects()))
        raise StatementError(f"'{object_name}' is not a CellCLI object", suggestions=near)
    attribute = subject.attribute(name)
    if attribute is None:
        near = closest(name, (item.name for item in subject.attributes.values()))
        raise StatementError(f"{subject.name} has no attribute '{name}'", suggestions=near)
    yield f"{subject.name} {attribute.name}"
    yield from _wrap(_kind(attribute), indent="    ")
    values = value_meanings(subject.name, attribute.name)
    if values:
        yield ""
        yield from _columns(values)
    if not attribute.printed:
        yield from ["", "It is only written: cells do not print it."]
        return
    if attribute.hidden:
        yield from ["", "DETAIL leaves it out: name it behind ATTRIBUTES."]
    yield ""
    yield f"Example: list {subject.name.lower()} attributes name, {attribute.name}"


def _metric(name: str) -> Iterator[str]:
    found = metric(name)
    if found is None:
        raise StatementError(f"'{name}' is not a metric", suggestions=closest(name.upper(), metrics()))
    yield f"{found.name}: {found.metric_type.lower()} metric of {found.object_type}, in {found.unit}"
    what = metric_meaning(found.name)
    if what:
        yield from _wrap(what[:1].upper() + what[1:] + ".", indent="    ")
    else:
        yield from _wrap(f"list metricdefinition {found.name} detail tells what the cells say about it.", indent="    ")
    meaning = {
        "Cumulative": "It counts up since CELLSRV started or its object was created: snap and delta tell the difference.",
        "Rate": "It is the average over the last collection period.",
        "Instantaneous": "It is the value at the moment of collection.",
    }.get(found.metric_type)
    if meaning:
        yield from _wrap(meaning, indent="    ")
    yield from _wrap("Collected once a minute on each cell's own clock.", indent="    ")
    yield ""
    yield f"Example: list metriccurrent {found.name}"
