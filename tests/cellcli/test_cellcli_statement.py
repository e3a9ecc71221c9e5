"""CellCLI's grammar: what is a statement, what is none and why, and back to text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from exacell.cellcli.change import _CHOICES
from exacell.cellcli.forms import ANY, FORMS, MODIFIABLE
from exacell.cellcli.nodes import (
    Change,
    Filter,
    Grant,
    Group,
    List,
    Media,
    Operator,
    OrderBy,
    Over,
    Scalar,
    Setting,
    Statement,
    Value,
    Verb,
)
from exacell.cellcli.schema import Kind, ObjectType, find_object, objects
from exacell.cellcli.statement import columns, parse, render
from exacell.cellcli.tokens import is_word, tokenize
from exacell.core.errors import StatementError
from tests.support.every import every

DATA = Path(__file__).parent.parent / "data" / "cellcli"


def object_of(name: str) -> ObjectType:
    """The object type of that name, DBMCLI's own among them."""
    found = find_object(name)
    assert found is not None
    return found


def lines(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text("utf-8").splitlines() if line and not line.startswith("#")]


@every(lines("statements.txt"))
def test_a_statement_is_read_and_written(case: str) -> None:
    """Each statement of the list is understood, has its canonical form, and that form means the same."""
    text, canonical = case.split(" => ")
    statement = parse(text)
    assert render(statement) == canonical
    assert parse(canonical) == statement


@every(lines("refused.txt"))
def test_a_wrong_statement_is_pointed_at(case: str) -> None:
    """Each wrong line is refused at the marked place, with the rule and with the words that would fit."""
    marked, message, suggestions = (part.strip() for part in [*case.split("::"), ""][:3])
    start, end = marked.index("«"), marked.index("»") - 1
    with pytest.raises(StatementError) as caught:
        parse(marked.replace("«", "").replace("»", ""))
    error = caught.value
    assert message in error.message
    assert (error.start, error.end) == (start, end)
    assert ",".join(error.suggestions) == suggestions


def test_the_issue_s_misspelt_word() -> None:
    """`list flashcach` names the word, and suggests flashcache alone."""
    with pytest.raises(StatementError) as caught:
        parse("list flashcach")
    assert caught.value.message == "LIST has no object 'flashcach'"
    assert caught.value.suggestions == ("flashcache",)


def test_offsets_are_those_of_the_whole_line() -> None:
    """Tokens out of the middle of a longer line still point into that line."""
    line = "on exa1cel01 list celldsk -y"
    with pytest.raises(StatementError) as caught:
        parse(tokenize(line)[2:4])
    assert line[caught.value.start : caught.value.end] == "celldsk"


def test_reading_changes_nothing_and_all_else_does() -> None:
    """LIST and DESCRIBE are reads; whatever else there is counts as a change."""
    assert not parse("list cell").changes and not parse("describe cell").changes
    changing = ["create key", "grant role a to user b", "calibrate", "alter cell validate mail", "drop flashcache"]
    assert all(parse(text).changes for text in changing)


def test_columns_are_those_asked_for_or_the_default_ones() -> None:
    """The reader of rows learns its columns from the statement; ATTRIBUTES ALL has none that are known."""
    asked = {
        "list lun": ("name", "id", "status"),
        "list cell attributes STATUS": ("status",),
        "list cell attributes all": (),
    }
    for text, expected in asked.items():
        statement = parse(text)
        assert isinstance(statement, List) and columns(statement) == expected


def test_a_text_with_both_quotes_has_no_spelling() -> None:
    """Rendering refuses what CellCLI could not read back."""
    with pytest.raises(StatementError):
        render(List(object="GRIDDISK", names=("a'b\"c",)))


# Round trips over the whole grammar.

PLAIN = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.:/*+\-]{0,8}[A-Za-z0-9_*]", fullmatch=True)
QUOTABLE = st.text(alphabet="ab1 _-.,;()=<>|!'$", max_size=8)
NAMES = st.one_of(
    PLAIN, st.text(alphabet="aB1 _-.,;='", min_size=1, max_size=8), st.sampled_from(["all", "Detail", "FLUSH"])
)
SCALARS = st.one_of(
    PLAIN.map(lambda text: Scalar(text=text)), QUOTABLE.map(lambda text: Scalar(text=text, quoted=True))
)
IDENTIFIERS = st.from_regex(r"[a-z][a-zA-Z0-9_]{0,8}", fullmatch=True)


def groups() -> st.SearchStrategy[Group]:
    settings = st.builds(Setting, attribute=IDENTIFIERS, value=SCALARS)
    items: st.SearchStrategy[Scalar | Setting | Group] = st.one_of(SCALARS, settings)
    inner = st.recursive(
        items, lambda deeper: st.builds(Group, items=st.lists(deeper, max_size=3).map(tuple)), max_leaves=6
    )
    return st.builds(Group, items=st.lists(inner, max_size=3).map(tuple))


@st.composite
def filters(draw: st.DrawFn, subject: str) -> Filter:
    attributes = [attribute.name for attribute in object_of(subject).attributes.values()] or ["any"]
    attribute, operator = draw(st.sampled_from(attributes)), draw(st.sampled_from(Operator))
    known = object_of(subject).attribute(attribute)
    sized = known is not None and known.kind is Kind.SIZE and operator is not Operator.LIKE
    return Filter(
        attribute=attribute,
        operator=operator,
        value=draw(value_of(subject, attribute) if sized else SCALARS),  # type: ignore[arg-type]  # a size is no group
        negated=draw(st.booleans()),
    )


SIZES = {
    "size > 1G": True,
    "size < 1.5g": True,
    "size != 16m": True,
    "size = 1048576": True,
    "size > 288GB and size < 1TiB": True,
    "size > .5k": True,
    "size = '1Q'": True,
    "size like 1Q": True,
    "size > nothing": True,
    "name = 1Q": True,
    "size > 1Q": False,
    "size = 288P": False,
    "size != 1.5mm": False,
    "size < 1x": False,
}


@every(SIZES.items())
def test_a_size_is_compared_with_a_size(condition: str, fits: bool) -> None:
    """A number with a unit that CellCLI does not know is no size, and the error points at it; text in quotes is text."""
    text = f"list griddisk where {condition}"
    if fits:
        parse(text)
        return
    with pytest.raises(StatementError, match="is not a size: a number with K, M, G or T") as wrong:
        parse(text)
    assert text[wrong.value.start : wrong.value.end] == condition.split()[-1]


@st.composite
def lists(draw: st.DrawFn) -> List:
    found = draw(st.sampled_from([found for found in objects().values() if "LIST" in found.verbs]))
    attributes = st.sampled_from([attribute.name for attribute in found.attributes.values()] or ["whatever"])
    names = draw(st.lists(NAMES, max_size=3 if found.list_names else 1)) if found.list_name else []
    asked = found.list_filter and (found.list_names or not names)
    order = draw(st.lists(st.builds(OrderBy, attribute=attributes, descending=st.booleans()), max_size=2))
    limits = st.integers(min_value=1, max_value=200)
    statement = List(
        object=found.name,
        names=tuple(names),
        filters=tuple(draw(st.lists(filters(found.name), max_size=2))) if asked else (),
        attributes=tuple(draw(st.lists(attributes, max_size=3))),
        detail=draw(st.booleans()),
        order_by=tuple(order),
        limit=draw(limits if order else st.none() | limits),
    )
    if draw(st.booleans()):
        statement = replace(statement, attributes=(), all_attributes=True)
    if found.name == "METRICHISTORY":
        aggregates = st.lists(st.sampled_from(["MAX", "MIN", "AVG"]), unique=True).map(tuple)
        over = draw(st.none() | st.builds(Over, minutes=limits, aggregates=aggregates))
        statement = replace(statement, over=over, memory=draw(st.booleans()))
    if found.name == "KEY" and not statement.names and not statement.filters:
        statement = replace(
            statement, key_for=draw(st.sampled_from(["", "ASMCLUSTER", "CELL", "LOCAL CELL", "REMOTE CELL"]))
        )
    return statement


def value_of(subject: str, attribute: str) -> st.SearchStrategy[Value]:
    known = object_of(subject).attribute(attribute) if subject else None
    if (subject, attribute) in _CHOICES:
        return st.sampled_from(_CHOICES[subject, attribute]).map(
            lambda word: Scalar(text=word, quoted=not is_word(word))
        )
    if known is not None and known.kind is Kind.SIZE:
        return st.integers(min_value=0, max_value=999).map(lambda number: Scalar(text=f"{number}M"))
    return st.one_of(SCALARS, groups())


@st.composite
def changes(draw: st.DrawFn) -> Change:
    verb, subject = draw(st.sampled_from(sorted(FORMS, key=str)))
    form = FORMS[verb, subject]
    targets = [kind for kind, has in (("all", form.all), ("names", form.names), ("bare", form.bare)) if has]
    target = draw(st.sampled_from(targets + ["definitions"] * form.definitions))
    statement = Change(verb=verb, object=subject)
    if target == "definitions":
        settings = st.lists(st.builds(Setting, attribute=IDENTIFIERS, value=SCALARS), min_size=1, max_size=2).map(tuple)
        statement = replace(statement, definitions=tuple(draw(st.lists(settings, min_size=1, max_size=2))))
        return replace(
            statement, definitions=tuple(tuple(canonical(subject, s) for s in d) for d in statement.definitions)
        )
    media: st.SearchStrategy[Media | None] = st.none() | st.sampled_from(form.media) if form.media else st.none()
    if target == "all":
        statement = replace(statement, all=True, media=draw(media))
    elif target == "names":
        statement = replace(
            statement, names=tuple(draw(st.lists(NAMES, min_size=1, max_size=1 if form.names == 1 else 3)))
        )
    elif not form.all:
        statement = replace(statement, media=draw(media))
    settable: list[str] = list(form.settings)
    if form.settings == ANY:
        settable = ["c1", "c2"]
    elif form.settings == MODIFIABLE:
        settable = [a.name for a in object_of(subject).attributes.values() if a.modifiable] or ["whatever"]
    banned = set(form.required_name if target == "all" else form.required_all)
    banned |= {"cellDisk"} if target == "all" else set()
    chosen = draw(st.lists(st.sampled_from(settable), unique=True, max_size=3)) if settable else []
    needed = [*(form.required_all if target == "all" else ()), *(form.required_name if target == "names" else ())]
    needed += ["cellDisk"] if form.members and target == "bare" else []
    chosen = [name for name in dict.fromkeys([*needed, *chosen]) if name not in banned]
    statement = replace(
        statement, settings=tuple(Setting(attribute=name, value=draw(value_of(subject, name))) for name in chosen)
    )
    # In the place of the action of ASSIGN KEY FOR nothing could stand before the settings.
    actions = [*form.actions] if form.actions else []
    if actions and draw(st.booleans()):
        action = draw(st.sampled_from(actions))
        arguments = form.actions[action]
        argument = draw(PLAIN if arguments == ANY else st.sampled_from(arguments)) if arguments else ""
        statement = replace(statement, action=action, argument=argument)
    flags = draw(st.sets(st.sampled_from(form.flags))) if form.flags else set()
    statement = replace(statement, flags=tuple(flag for flag in form.flags if flag in flags))
    if form.filters and subject:
        statement = replace(statement, filters=tuple(draw(st.lists(filters(subject), max_size=2))))
    if form.something and not statement.action and not statement.settings:
        action = next((phrase for phrase, arguments in form.actions.items() if not arguments), "")
        setting = Setting(attribute=settable[0], value=draw(value_of(subject, settable[0]))) if settable else None
        statement = (
            replace(statement, action=action) if action else replace(statement, settings=(setting,) if setting else ())
        )
    return statement


def canonical(subject: str, setting: Setting) -> Setting:
    return replace(setting, attribute=object_of(subject).canonical(setting.attribute))


@st.composite
def grants(draw: st.DrawFn) -> Grant:
    names = st.lists(NAMES.filter(lambda name: name.upper() != "ALL"), min_size=1, max_size=2).map(tuple) | st.just(
        ("ALL",)
    )
    words = st.lists(st.sampled_from(["LIST", "ALTER", "CREATE"]), min_size=1, max_size=2).map(tuple) | st.just(
        ("ALL",)
    )
    privilege = draw(st.booleans())
    return Grant(
        verb=draw(st.sampled_from([Verb.GRANT, Verb.REVOKE])),
        object="PRIVILEGE" if privilege else "ROLE",
        granted=draw(words if privilege else names),
        on=draw(words) if privilege else (),
        attributes=draw(names | st.just(())) if privilege else (),
        options=draw(names | st.just(())) if privilege else (),
        recipients=draw(names),
    )


@given(st.one_of(lists(), changes(), grants()))
def test_what_is_written_is_read_back_as_the_same(statement: Statement) -> None:
    """parse(render(x)) == x for statements of every verb and object."""
    text = render(statement)
    assert parse(text) == statement, text
    assert "\n" not in text


WORDS = """
    list describe alter create drop grant cell griddisk flashcache iormplan celldisk key for all where name size = != >
    >= ( ) , ; | 'x' 'y detail attributes order by limit 3 flush nowait cancel prefix force dbplan not like on to
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=9))
def test_any_words_are_a_statement_or_an_error_with_a_place(words: list[str]) -> None:
    """Nothing but StatementError comes out of the grammar, and its place lies in the line."""
    line = " ".join(words)
    try:
        parse(line)
    except StatementError as error:
        assert error.start is not None and error.end is not None
        assert 0 <= error.start <= error.end <= len(line)
