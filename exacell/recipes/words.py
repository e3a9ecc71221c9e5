"""Check words that the grammar accepts but that may not exist: metrics, names in LIST, shell flags, SQL. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from exacell.care.sqltext import one_line, refuse_session_bound
from exacell.cellcli.condition import FactCheck, is_condition
from exacell.cellcli.nodes import Change, Filter, List, Operator
from exacell.cellcli.schema import Kind as AttributeKind, find_object, metric, metrics
from exacell.core.errors import ExacellError
from exacell.core.meant import closest, ratio
from exacell.language.hostpath import file_named
from exacell.language.kinds import convert
from exacell.language.line import Line, parse_line
from exacell.language.reading import Reading, ReadingCheck, read_fact, read_until
from exacell.language.registry import Call, Kind, Param
from exacell.language.shellwords import command_given
from exacell.language.words import split_words
from exacell.opaque.scan import command_findings
from exacell.recipes.answers import read_kept, reads

_OF_METRICS = ("METRICCURRENT", "METRICHISTORY", "METRICDEFINITION", "METRICSTREAM")
"""Objects whose names are names of metrics."""


_INSTEAD = {
    "use": "write `on CELLS` before a statement",
    "connect": "a recipe runs on one rack: `exacell -r RACK run NAME`",
    "start": "`run NAME` runs another recipe",
    "spool": "write the answers of the whole run to a file: `run NAME > FILE`",
    "watch": "`wait until …` waits for something",
    "set format": "the whole run has one format: `run NAME -o json`",
    "rehearse": "rehearse the whole recipe: `rehearse run NAME`",
    "plan": "show the plan of the whole recipe: `run NAME -n`",
}
"""What to write in place of statements that are not allowed in recipes."""


def unknown_words(line: Line, anything: Collection[str], *, guessed: bool = False) -> dict[str, str]:
    """Return message → hint for the wrong words of a parsed line.

    Args:
        anything: sample words in place of values that are not known yet; they are not judged.
        guessed: whether misspelt words of the line were replaced by likely corrections.
    """
    found = _of_cells(line.on)
    if line.call is None:
        return found | _of_cellcli(line, anything)
    if line.call.command.recipe_ok:
        return found | dict(_of_call(line.call, anything))
    name = line.call.command.name
    return found if guessed else {**found, f"{name} can't be used in a recipe": _INSTEAD.get(name, "")}


def _of_cells(on: str) -> dict[str, str]:
    """Return message → hint for the cells after ON; groups and conditions are not resolved."""
    if not on or is_condition(on):
        return {}
    try:
        convert(Param(name="on", kind=Kind.CELLSET, help=""), on, 0, len(on))
    except ExacellError as error:
        return {error.message: error.hint}
    return {}


def _of_cellcli(line: Line, anything: Collection[str]) -> dict[str, str]:
    if isinstance(line.cellcli, List):
        asked = line.cellcli
        names = asked.names if asked.object in _OF_METRICS else ()
        of_values = of_filters(asked.object, asked.filters, anything)
        return dict([*_of_metrics(asked.object, names, asked.filters, anything), *of_values])
    if isinstance(line.cellcli, Change):
        change = line.cellcli
        names = change.names if change.object == "METRICDEFINITION" else ()
        names += tuple(name.partition(".")[0] for name in change.names) if change.object == "THRESHOLD" else ()
        of_values = of_filters(change.object, change.filters, anything)
        return dict([*_of_metrics(change.object, names, change.filters, anything), *of_values])
    return {}


def _of_call(call: Call, anything: Collection[str]) -> Iterator[tuple[str, str]]:
    command = call.command
    if command.words == ("undo", "run") and call.args:
        yield "in a recipe, undo run takes no name: it takes back what this run has changed", "write `undo run`"
    try:
        if command.words in (("sql",), ("sql", "asm")):
            refuse_session_bound(one_line(call.text_arg("text")))
        elif command.words in (("sh",), ("host",)):
            command_findings(command_given(call, call.flags)[0])  # It refuses typographic quotes.
        elif command.words == ("keep",):
            yield from _of_kept(call, anything)
    except ExacellError as error:
        yield error.message, error.hint
    for param in command.params:
        value = call.args.get(param.name)
        if param.kind is Kind.METRIC and value is not None:
            yield from _of_names([str(value)], anything)
        elif param.kind is Kind.SETTING and value is not None:
            yield from _of_settings(str(value), anything)
        elif param.kind is Kind.NAMES and param.choices and isinstance(value, tuple):
            known = {choice.lower() for choice in param.choices}
            for word in value:
                if word.lower() not in known and word not in anything:
                    yield f"'{word}' must be one of {', '.join(param.choices)}", _did_you_mean(word, param.choices)
        elif param.kind in (Kind.FACT, Kind.UNTIL) and value is not None:
            check = read_fact(str(value)) if param.kind is Kind.FACT else read_until(str(value), bounded=False)
            if isinstance(check, ReadingCheck):
                yield from of_reading(check.reading, anything)
            if isinstance(check, FactCheck):
                yield from _of_facts(check, anything)


def _of_facts(check: FactCheck, anything: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (message, hint) for wrong names and values in a check on facts."""
    for fact in check.facts:
        yield from _of_metrics(fact.object.upper(), (), check.filters, anything)
        yield from of_filters(fact.object, check.filters, anything)
        if fact.operator in ("=", "!=") and str(fact.value) not in anything:
            yield from of_value(fact.object, fact.attribute, str(fact.value))
        if fact.attribute == "name" and fact.object.upper() in _OF_METRICS:
            yield from _of_names([str(fact.value)], anything)


def _of_settings(text: str, anything: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (message, hint) for each ``PATH`` or ``PATH=VALUE`` whose path is not that of a setting."""
    from exacell.plan.hostsettings import read_path  # Only needed for lines about settings.

    for word in split_words(text):
        path = word.value.partition("=")[0]
        try:
            if not any(sample in path for sample in anything):
                read_path(path)
        except ExacellError as error:
            yield error.message, error.hint


def _of_kept(call: Call, anything: Collection[str]) -> Iterator[tuple[str, str]]:
    text = call.text_arg("what")
    file = file_named(text)
    if text.strip("\"'") in anything or (file is not None and any(word in file[1] for word in anything)):
        return
    inner = read_kept(call).line
    if inner is not None:
        yield from unknown_words(inner, anything).items()


def _is_sample(line: Line, anything: Collection[str]) -> bool:
    """Return whether a line is SQL whose text is not known yet."""
    call = line.call
    return call is not None and call.command.words[0] == "sql" and call.text_arg("text") in anything


def of_reading(reading: Reading, anything: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (message, hint) for the statement and the column of a reading."""
    try:
        line = parse_line(reading.statement, shell=False)
    except ExacellError as error:
        yield error.message, error.hint
        return
    if line is None or not (reads(line) or _is_sample(line, anything)):
        yield f"'{reading.statement}' is not a statement that gives a value", ""
        return
    yield from unknown_words(line, anything).items()
    asked = line.cellcli
    found = find_object(asked.object) if isinstance(asked, List) else None
    if isinstance(asked, List) and found is not None and reading.column not in anything:
        listed = asked.attributes or tuple(each.name for each in found.attributes.values())
        if reading.column.lower() not in (name.lower() for name in listed):
            yield f"'{reading.column}' is not one of the columns that it lists", _did_you_mean(reading.column, listed)


def _of_metrics(
    subject: str, names: Sequence[str], filters: Sequence[Filter], anything: Collection[str]
) -> Iterator[tuple[str, str]]:
    yield from _of_names(names, anything)
    if subject not in _OF_METRICS:
        return
    for each in filters:
        text = each.value.text
        if text in anything:
            continue
        if each.attribute == "name":
            yield from _of_names([text], anything) if each.operator is Operator.EQUAL else _of_pattern(each)
        elif each.attribute == "objectType" and each.operator is Operator.EQUAL:
            known = sorted({found.object_type for found in metrics().values()})
            if text.upper() not in known:
                yield f"no metric has the objectType '{text}'", _did_you_mean(text, known)


def _of_names(names: Sequence[str], anything: Collection[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if name in anything or metric(name) is not None:
            continue
        # In a check, name=FL_* stands for all names with that beginning.
        begun = name[:-1].upper() if name.endswith("*") else ""
        if not begun or not any(known.startswith(begun) for known in metrics()):
            yield f"'{name}' is not a metric", _did_you_mean(name, metrics())


def _of_pattern(condition: Filter) -> Iterator[tuple[str, str]]:
    if condition.operator is not Operator.LIKE:
        return
    try:
        pattern = re.compile(condition.value.text, re.IGNORECASE)
    except re.error:
        return  # CellCLI uses Java's patterns: one that Python can't read may still be correct.
    if not any(pattern.fullmatch(name) for name in metrics()):
        yield f"no metric has a name like '{condition.value.text}'", ""


def _did_you_mean(word: str, known: Collection[str]) -> str:
    near = closest(word, known)
    return f"did you mean {' or '.join(near)}?" if near else ""


_SLIP = 0.8
"""How similar two words must be (difflib's ratio; 1 is equal) for one to be a slip for the other."""


def of_filters(subject: str, filters: Sequence[Filter], anything: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (message, hint) for wrong values in a WHERE.

    Args:
        subject: the object, as LIST takes it.
        anything: sample words in place of values that are not known yet; they are not judged.
    """
    for each in filters:
        if each.operator is Operator.EQUAL and each.value.text not in anything:
            yield from of_value(subject, each.attribute, each.value.text)


def of_value(subject: str, attribute: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield (message, hint) if a value is wrong for its attribute; nothing if it may be right."""
    found = find_object(subject)
    known = found.attribute(attribute) if found is not None else None
    if known is None or known.kind is not AttributeKind.ENUM or not known.values or not text or text.endswith("*"):
        return
    if text.lower() in (value.lower() for value in known.values):
        return
    slips = [value for value in closest(text, known.values) if _is_slip(text.lower(), value.lower())]
    slips += [value for value in known.values if _is_slip(text.lower(), value.lower()) and value not in slips]
    if slips or known.modifiable or known.created:
        near = slips or closest(text, known.values)
        *most, last = known.values
        listed = f"{', '.join(most)} or {last}" if most else last
        yield f"'{text}' is not a value of {known.name}; it can be {listed}", f"did you mean {near[0]}?" if near else ""


def _is_slip(word: str, known: str) -> bool:
    """Return whether a word is nearly a known one; a text with a different number of words is not."""
    return len(word.split()) == len(known.split()) and ratio(word, known) >= _SLIP
