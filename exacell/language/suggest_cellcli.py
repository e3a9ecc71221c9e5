"""Suggest the words that may come next in a half-typed CellCLI statement. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from exacell.cellcli.forms import ANY, FORMS, MODIFIABLE, Form
from exacell.cellcli.nodes import Verb
from exacell.cellcli.query import clauses_of
from exacell.cellcli.schema import Attribute, ObjectType, find_object, objects_of
from exacell.core.values import replace
from exacell.language.registry import Kind
from exacell.language.suggestion import NAMED, Known, Piece, Suggestion, described_metrics, matching

_TIGHT = re.compile(r"(\w+)(!=|=|>|<)(.*)", re.DOTALL)
_PLAIN = re.compile(r"""[^\s<>=!(),;|'"]+""")
"""A value that needs no quotes."""

_OPERATORS = (
    ("=", ""),
    ("!=", ""),
    (">", ""),
    ("<", ""),
    ("like", "regular expression, whole value"),
    ("not like", ""),
)
_CLAUSE_META = {
    "WHERE": "only those that match a condition",
    "ATTRIBUTES": "which attributes, in this order",
    "DETAIL": "each attribute on its own line",
    "ORDER": "order the rows of each cell by attribute [asc|desc]",
    "LIMIT": "at most this many rows of each cell",
}
_LIVE = {**NAMED, "CELL": Kind.CELL}
"""Objects with known names → the kind of these names."""


def suggest_cellcli(verb: Verb, parts: Sequence[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions after ``verb``; ``parts`` are the pieces after it, and the last one is being typed."""
    typed = parts[-1]
    if verb is Verb.CALIBRATE:
        yield from _change(verb, FORMS[(verb, "")], None, parts, known)
        return
    if len(parts) == 1:
        offered = (
            found.name.lower()
            for found in objects_of(verb)
            if not known.release or found.lifetime.includes(known.release)
        )
        yield from matching(offered, typed.text, typed.start)
        return
    subject = find_object(parts[0].text)
    if subject is None:
        return
    if verb is Verb.LIST:
        yield from _list(subject, parts[1:], known)
    elif (verb, subject.name) in FORMS:
        yield from _change(verb, FORMS[(verb, subject.name)], subject, parts[1:], known)


def suggest_condition(object_name: str, parts: Sequence[Piece], known: Known) -> Iterator[Suggestion]:
    """Yield suggestions after WHERE in a condition on objects of that name; the last piece is being typed."""
    subject = find_object(object_name)
    if subject is not None:
        yield from _where(subject, parts[:-1], parts[-1], (), known)


def _list(subject: ObjectType, parts: Sequence[Piece], known: Known) -> Iterator[Suggestion]:
    done, typed = parts[:-1], parts[-1]
    clause, since = "", 0
    clauses = clauses_of(subject)
    used = set()
    for index, piece in enumerate(done):
        word = piece.text.upper()
        if word in clauses:
            clause, since = word, index + 1
            used.add(word)
    behind = done[since:] if clause else done
    more = [(word.lower(), _CLAUSE_META.get(word, "")) for word in clauses if word not in used]
    match clause:
        case "ATTRIBUTES":
            yield from _attribute_list(subject, behind, typed, more, known)
        case "WHERE":
            yield from _where(subject, behind, typed, more, known)
        case "ORDER":
            yield from _order(subject, behind, typed, more, known)
        case "":
            if not behind or _open_list(behind, typed):
                yield from _object_names(subject, behind, typed, known)
            if not _open_list(behind, typed):
                yield from matching(more, typed.text, typed.start)
        case "LIMIT" if not behind:
            return
        case _:
            yield from matching(more, typed.text, typed.start)


def _open_list(behind: Sequence[Piece], typed: Piece) -> bool:
    """Return whether a comma shows that one more item follows."""
    return "," in typed.text or (bool(behind) and behind[-1].text.endswith(",")) or typed.text.startswith(",")


def _item(typed: Piece) -> tuple[str, int]:
    """Return the typed text after the last comma, and its offset."""
    cut = typed.text.rfind(",") + 1
    return typed.text[cut:], typed.start + cut


def _attribute_list(
    subject: ObjectType, behind: Sequence[Piece], typed: Piece, more: Sequence[tuple[str, str]], known: Known
) -> Iterator[Suggestion]:
    if behind and not _open_list(behind, typed):
        yield from matching(more, typed.text, typed.start)
        return
    text, start = _item(typed)
    taken = [word for piece in (*behind, typed) for word in piece.text.split(",")]
    taken = taken[: -1 or None]
    if not behind and "," not in typed.text:
        yield from matching([("all", "every attribute")], text, start)
    yield from matching(_attributes(subject, known), text, start, exclude=taken)


def _attributes(subject: ObjectType, known: Known) -> list[tuple[str, str]]:
    return [
        (attribute.name, _about(attribute))
        for attribute in subject.attributes.values()
        if attribute.printed and (not known.release or attribute.lifetime.includes(known.release))
    ]


def _about(attribute: Attribute) -> str:
    extra = ", modifiable" if attribute.modifiable else ""
    return f"{attribute.kind}{extra}" + (f": {attribute.about}" if attribute.about else "")


def _where(
    subject: ObjectType, behind: Sequence[Piece], typed: Piece, more: Sequence[tuple[str, str]], known: Known
) -> Iterator[Suggestion]:
    conditions: list[str] = []
    for piece in behind:
        conditions = [] if piece.lower == "and" else [*conditions, piece.text]
    text = " ".join(conditions)
    whole = re.fullmatch(r"(\w+)\s*(not\s+like|not\s*=|!\s*=|like|=|>|<)?\s*(.*)", text, re.IGNORECASE | re.DOTALL)
    tight = _TIGHT.fullmatch(typed.text)
    if not text and tight:
        yield from _values(subject, tight[1], tight[3], typed.start + tight.start(3), known)
    elif not text or whole is None:
        yield from matching(_attributes(subject, known), typed.text, typed.start)
    elif not whole[2]:
        operator = re.fullmatch(r"(!=|=|>|<)(.*)", typed.text, re.DOTALL)
        if operator and operator[2]:
            yield from _values(subject, whole[1], operator[2], typed.start + operator.start(2), known)
        else:
            yield from matching(_OPERATORS, typed.text, typed.start)
    elif not whole[3]:
        yield from _values(subject, whole[1], typed.text, typed.start, known)
    else:
        yield from matching([("and", "one more condition"), *more], typed.text, typed.start)


def _values(subject: ObjectType, attribute_name: str, typed: str, start: int, known: Known) -> Iterator[Suggestion]:
    attribute = subject.attribute(attribute_name)
    if attribute is None:
        return
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    if attribute.name == "name" and subject.name.startswith("METRIC"):
        found: Iterable[Suggestion] = matching(described_metrics(known), typed[len(quote) :], start)
    else:
        found = _seen_values(subject, attribute, typed[len(quote) :], start, known)
    for suggestion in found:
        text = f"{quote}{suggestion.text}{quote}"
        if not quote and not _PLAIN.fullmatch(text):
            text = f"'{text}'"
        yield Suggestion(text=text, start=start, meta=suggestion.meta, fit=suggestion.fit)


def _seen_values(
    subject: ObjectType, attribute: Attribute, typed: str, start: int, known: Known
) -> Iterator[Suggestion]:
    published = values_of(attribute)
    listed = {word.lower() for word in published}
    seen = [(word, "seen on this rack") for word in known.seen(subject.name, attribute.name)]
    yield from matching(published, typed, start)
    yield from matching((each for each in seen if each[0].lower() not in listed), typed, start)
    if attribute.name == "name" and subject.name in _LIVE:
        yield from matching(known.names(_LIVE[subject.name]), typed, start)


def values_of(attribute: Attribute) -> tuple[str, ...]:
    """Return the known values of ``attribute``; empty if any value may be allowed."""
    return ("TRUE", "FALSE") if attribute.kind == "bool" else attribute.values


def _order(
    subject: ObjectType, behind: Sequence[Piece], typed: Piece, more: Sequence[tuple[str, str]], known: Known
) -> Iterator[Suggestion]:
    if not behind:
        yield from matching(["by"], typed.text, typed.start)
    elif len(behind) == 1 or _open_list(behind, typed):
        text, start = _item(typed)
        yield from matching(_attributes(subject, known), text, start)
    else:
        yield from matching(["asc", "desc", *more], typed.text, typed.start)


def _object_names(subject: ObjectType, behind: Sequence[Piece], typed: Piece, known: Known) -> Iterator[Suggestion]:
    if not subject.list_name:
        return
    text, start = _item(typed)
    if subject.name.startswith("METRIC"):
        # Before anything is typed, a list of 854 names is no help; so the clauses come first.
        if text:
            taken = [word for piece in behind for word in piece.text.split(",")]
            yield from matching(described_metrics(known), text, start, exclude=taken)
    elif subject.name in _LIVE and not behind:
        yield from matching(known.names(_LIVE[subject.name]), text, start)


def _change(
    verb: Verb, form: Form, subject: ObjectType | None, parts: Sequence[Piece], known: Known
) -> Iterator[Suggestion]:
    done, typed = parts[:-1], parts[-1]
    words = [piece.text.upper().rstrip(",") for piece in done]
    key, equals, value = typed.text.rpartition(",")[2].partition("=")
    if equals:
        attribute = subject.attribute(key) if subject else None
        if attribute is not None:
            start = typed.start + len(typed.text) - len(value)
            for found in matching(values_of(attribute), value.strip("'\""), start):
                yield found if _PLAIN.fullmatch(found.text) else replace(found, text=f"'{found.text}'")
        return
    offered: list[tuple[str, str]] = []
    if not done and form.all:
        offered.append(("all", ""))
    phrases = [*form.actions, *form.flags]
    if not form.all or words[-1:] == ["ALL"] or words[:1] == ["ALL"]:
        phrases = [*form.media, *phrases]
    for phrase in phrases:
        heads = phrase.split()
        begun = next((n for n in range(len(heads) - 1, 0, -1) if words[-n:] == heads[:n]), 0)
        if begun or heads[0] not in words:
            offered.append((heads[begun].lower(), phrase.lower() if len(heads) > 1 else ""))
    for phrase, arguments in form.actions.items():
        heads = phrase.split()
        if arguments != ANY and words[-len(heads) :] == heads:
            offered = [(argument.lower(), "") for argument in arguments] + offered
    if form.filters and done and "WHERE" not in words:
        offered.append(("where", _CLAUSE_META["WHERE"]))
    text, start = _item(typed)
    if "," not in typed.text:
        yield from matching(dict(offered).items(), typed.text, typed.start)
    if text and not done and verb is Verb.CREATE and subject is not None and subject.name == "THRESHOLD":
        yield from matching(described_metrics(known), text, start)
    takes_names = subject is not None and subject.name in _LIVE and verb is not Verb.CREATE
    if takes_names and subject is not None and "ALL" not in words and (not done or _open_list(done, typed)):
        taken = [word for piece in done for word in piece.text.split(",")]
        yield from matching(known.names(_LIVE[subject.name]), text, start, exclude=taken)
    settings = [piece.text.partition("=")[0].lstrip(",") for piece in done]
    yield from matching(_settings(form, subject), text, start, end="=", exclude=settings)


def _settings(form: Form, subject: ObjectType | None) -> list[tuple[str, str]]:
    known = subject.attributes if subject else {}
    if form.settings == MODIFIABLE:
        return [(a.name, _about(a)) for a in known.values() if a.modifiable] + [(word, "") for word in form.extra]
    if form.settings == ANY:
        return [(a.name, _about(a)) for a in known.values() if a.name != "name"]
    return [(word, _about(known[word.lower()]) if word.lower() in known else "") for word in form.settings]
