"""Parse the statements that change something, by the table in :mod:`exacell.cellcli.forms`, and check their names and values.

Only rules that Oracle documents for every release are checked before anything is sent; the cell decides about everything else.
Each check returns an error in one line, or an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from exacell.cellcli.forms import ANY, FORMS, MODIFIABLE, Form
from exacell.cellcli.nodes import Change, Grant, Group, Media, Scalar, Setting, Value, Verb
from exacell.cellcli.query import in_quotes, read_filters
from exacell.cellcli.schema import Attribute, Kind, Lifetime, ObjectType
from exacell.cellcli.secrets import MASK, is_secret_name
from exacell.cellcli.tokens import Cursor, Token, TokenKind
from exacell.core.errors import StatementError, UnitError
from exacell.core.units import parse_size

LONGEST_GRIDDISK_NAME = 30
"""Maximum number of characters of a grid disk's name. Source: Oracle SAGUG, restrictions-values-common-attributes."""

_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("CELL", "flashCacheMode"): ("writeback", "writethrough"),
    ("IORMPLAN", "objective"): ("basic", "auto", "low_latency", "balanced", "high_throughput"),
    ("GRIDDISK", "cachingPolicy"): ("default", "none"),
    ("THRESHOLD", "comparison"): ("<", "<=", "=", ">=", ">"),
    ("METRICDEFINITION", "fineGrained"): ("enabled", "disabled"),
    ("METRICDEFINITION", "streaming"): ("enabled", "disabled"),
    ("CELL", "erase"): ("1pass", "3pass", "7pass"),
    ("CELLDISK", "erase"): ("1pass", "3pass", "7pass"),
    ("GRIDDISK", "erase"): ("1pass", "3pass", "7pass"),
}
"""Values that an attribute takes (upper and lower case are equal). Source: Oracle SAGUG, alter-cell, alter-iormplan,
create-griddisk, create-threshold, alter-metricdefinition, drop-celldisk."""


_WANTED: Mapping[Kind, tuple[str, str]] = {
    Kind.BOOL: ("TRUE or FALSE", "true|false"),
    Kind.INT: ("a whole number", r"|[+-]?\d+"),
    Kind.NUMBER: ("a number", r"|[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?"),
}
"""What an attribute of a kind needs, and the form of that; an empty number takes a setting back. Enumerations are not checked by
kind: releases add values to them. Source: Oracle SAGUG, alter-cell, create-threshold."""


def check_name(verb: Verb, subject: str, name: str) -> str:
    """Return the error in ``name`` for an object that ``verb`` creates; empty if there is none."""
    if not name:
        return "a name cannot be empty"
    if verb is Verb.CREATE and subject == "GRIDDISK" and len(name) > LONGEST_GRIDDISK_NAME:
        return f"'{name}' has {len(name)} characters; the name of a grid disk has at most {LONGEST_GRIDDISK_NAME}"
    return ""


def _words_of(value: Value) -> list[str]:
    """Return the words of a list, which is in parentheses or has commas; one empty word for an empty list."""
    if not isinstance(value, Group):
        return value.text.split(",")
    return [word for item in value.items if isinstance(item, Scalar) for word in item.text.split(",")] or [""]


def check_value(verb: Verb, subject: str, attribute: str, kind: Kind, value: Value) -> str:
    """Return the error in ``value`` for ``attribute`` of ``subject``; empty if there is none."""
    if attribute == "prefix" and not all(word.strip() for word in _words_of(value)):
        return "an empty prefix could mean every grid disk: write prefix=NAME, or several names in quotes with commas"
    if isinstance(value, Group):
        wanted = "a size" if kind is Kind.SIZE else _WANTED.get(kind, ("", ""))[0]
        return f"{attribute} needs {wanted}, not a list in parentheses" if wanted else ""
    choices = _CHOICES.get((subject, attribute))
    if choices and value.text.lower() not in choices:
        return f"'{value.text}' is not a value of {attribute}; it can be {', '.join(choices[:-1])} or {choices[-1]}"
    if kind in _WANTED:
        wanted, form = _WANTED[kind]
        good = re.fullmatch(form, value.text, re.IGNORECASE)
        return "" if good else f"{attribute} needs {wanted}, not '{value.text}'"
    if kind is not Kind.SIZE:
        return ""
    # A prefix list has one size for each prefix. Source: Oracle SAGUG, create-griddisk.
    sizes = value.text.split(",") if subject == "GRIDDISK" and verb is Verb.CREATE else [value.text]
    for size in sizes:
        try:
            parse_size(size)
        except UnitError as error:
            return error.message
    return ""


NOTHING = ObjectType(
    name="",
    element="",
    verbs=frozenset({Verb.CALIBRATE}),
    list_name=False,
    list_names=False,
    list_filter=False,
    default_columns=(),
    lifetime=Lifetime(),
    attributes={},
)
"""Used in place of the object of CALIBRATE, which has none."""

_MEDIA_WORDS = ("FLASHDISK", "HARDDISK", "PMEM")

_ADDED_TO = frozenset(("snmpsubscriber+", "emailsubscriber+"))
"""Attributes of ALTER CELL to which ``+=`` adds an item; no other statement has ``+=``. Source: Oracle ASXQI,
configuring-snmp-subscriber."""


def read_change(cursor: Cursor, verb: Verb, subject: ObjectType) -> Change:
    """Return the rest of ``verb subject …`` and step over it.

    Raises:
        StatementError: a required part of the statement is missing, or a part is not allowed in it.
    """
    return _Reader(cursor, verb, subject).read()


class _Reader:
    """Parses one statement; ``change`` grows clause by clause."""

    def __init__(self, cursor: Cursor, verb: Verb, subject: ObjectType) -> None:
        self.cursor = cursor
        self.subject = subject
        self.form: Form = FORMS[verb, subject.name]
        self.title = f"{verb} {subject.name}".strip()
        self.change = Change(verb=verb, object=subject.name)
        self.places: dict[str, Token] = {}

    def read(self) -> Change:
        self._targets()
        while self.cursor.token is not None:
            if not (self._where() or self._setting() or self._action() or self._flag()):
                raise self._no_place()
        self._complete()
        return self.change

    def _targets(self) -> None:
        cursor, form = self.cursor, self.form
        token = cursor.token
        if form.definitions and token is not None and token.kind is TokenKind.OPEN:
            self._definitions(token)
        elif form.all and cursor.take_words("ALL"):
            self.change = replace(self.change, all=True, media=self._media())
        elif not form.all and form.media and (media := self._media()) is not None:
            self.change = replace(self.change, media=media)
        elif form.names and self._at_name():
            self._names()
        elif not form.bare:
            which = "ALL or a name" if form.all else "a name"
            if token is None:
                raise cursor.wrong(f"{self.title} needs {which}")
            raise cursor.wrong(f"{self.title} needs {which}, not '{token.text}'")

    def _media(self) -> Media | None:
        for media in self.form.media:
            if self.cursor.take_words(*media.value.split()):
                return media
        token = self.cursor.token
        if token is not None and token.is_word("PERFORMANCEOPTIMIZED", "CAPACITYOPTIMIZED"):
            raise self.cursor.wrong(f"FLASHDISK is missing after {token.value.upper()}", at=token)
        return None

    def _at_name(self) -> bool:
        token = self.cursor.token
        if token is None or token.kind not in (TokenKind.WORD, TokenKind.STRING) or self.cursor.at_setting():
            return False
        first_words = {phrase.split()[0] for phrase in (*self.form.actions, *self.form.flags)}
        return not token.is_word("WHERE", *first_words)

    def _names(self) -> None:
        names = self.cursor.names(f"the name of a {self.subject.name or 'LUN'}")
        if self.form.names == 1 and len(names) > 1:
            raise self.cursor.wrong(f"{self.title} takes one name", at=names[1], through=names[-1])
        for token in names:
            if self.form.all and self.form.media and token.is_word(*_MEDIA_WORDS):
                raise self.cursor.wrong(
                    f"'{token.text}' is a medium, not the name of a {self.subject.name}; put a name in quotes",
                    at=token,
                    hint=f"did you mean ALL {token.value.upper()}?",
                )
            if problem := check_name(self.change.verb, self.subject.name, token.value):
                raise self.cursor.wrong(problem, at=token)
        self.change = replace(self.change, names=tuple(token.value for token in names))

    def _definitions(self, opened: Token) -> None:
        definitions: list[tuple[Setting, ...]] = []
        for item in self.cursor.group().items:
            settings = [part for part in item.items if isinstance(part, Setting)] if isinstance(item, Group) else []
            if not isinstance(item, Group) or len(settings) != len(item.items) or not settings:
                raise self.cursor.wrong(f"{self.title} takes ((name=…,attribute=value…),(…))", at=opened)
            definitions.append(tuple(replace(part, attribute=self._canonical(part.attribute)) for part in settings))
        self.change = replace(self.change, definitions=tuple(definitions))

    def _where(self) -> bool:
        token = self.cursor.token
        if not self.form.filters or token is None or not token.is_word("WHERE"):
            return False
        self._once("WHERE", self.cursor.advance())
        self.change = replace(self.change, filters=read_filters(self.cursor, self.subject))
        return True

    def _setting(self) -> bool:
        token = self.cursor.token
        if token is not None and token.kind is TokenKind.COMMA:
            self.cursor.advance()
            if not self.cursor.at_setting():
                following = self.cursor.token
                stands = f"'{following.text}' stands where" if following else "the statement ends where"
                raise self.cursor.wrong(
                    f"{stands} attribute=value should, after a comma", hint="put a list of values in quotes"
                )
        if not self.cursor.at_setting() or not (self.form.settings or self.form.extra):
            return False
        word = self.cursor.advance()
        self.cursor.advance()
        attribute = self._settable(word)
        self._once(attribute.lower(), word)
        first = self.cursor.token
        value = self.cursor.value(attribute)
        if first is not None:
            known = self.subject.attribute(attribute)
            kind = known.kind if known else Kind.STRING
            if problem := check_value(self.change.verb, self.subject.name, attribute, kind, value):
                raise self.cursor.wrong(problem, at=first)
        self.change = replace(self.change, settings=(*self.change.settings, Setting(attribute=attribute, value=value)))
        return True

    def _settable(self, word: Token) -> str:
        """Return the attribute in CellCLI's spelling; raise StatementError at ``word`` if the statement can't set it."""
        form = self.form
        base, dot, rest = word.value.partition(".")
        if self.title == "ALTER CELL" and word.value.lower() in _ADDED_TO:
            base, dot = base.removesuffix("+"), "+"
        known = self.subject.attribute(base)
        spelled = (known.name if known else base) + dot + rest
        for name in (*form.settings, *form.extra):
            if name.lower() == base.lower():
                return name + dot + rest
        modifiable = form.settings == MODIFIABLE and known is not None and known.modifiable
        if form.settings == ANY or modifiable:
            return spelled
        settable = [a.name for a in self._modifiable()] if form.settings == MODIFIABLE else list(form.settings)
        if known is not None:
            message = f"{self.title} cannot set {known.name}"
        else:
            message = f"'{word.value}' is not an attribute that {self.title} sets"
        hint = f"it sets {', '.join(settable)}" if len(settable) <= 8 else ""
        if base.endswith(("+", "-")) and self.subject.name == "IORMPLAN":
            message = f"{self.title} sets a plan as a whole: no published CellCLI adds to one by {base[-1]}="
            hint = "for one directive type `set iorm db=NAME share=8` or `unset iorm db=NAME`"
            settable = []
        raise self.cursor.wrong(message, at=word, like=settable, hint=hint)

    def _modifiable(self) -> list[Attribute]:
        return [attribute for attribute in self.subject.attributes.values() if attribute.modifiable]

    def _canonical(self, name: str) -> str:
        return next(
            (spelled for spelled in self.form.settings if spelled.lower() == name.lower()), self.subject.canonical(name)
        )

    def _action(self) -> bool:
        for phrase in sorted(self.form.actions, key=lambda phrase: -len(phrase.split())):
            first = self.cursor.token
            if first is None or not self.cursor.take_words(*phrase.split()):
                continue
            if self.change.action:
                raise self.cursor.wrong(
                    f"{self.title} does only one thing, and {self.change.action} is given already", at=first
                )
            argument = self._argument(phrase, self.form.actions[phrase])
            self.change = replace(self.change, action=phrase, argument=argument)
            return True
        return False

    def _argument(self, phrase: str, allowed: tuple[str, ...]) -> str:
        if not allowed:
            return ""
        if allowed == ANY:
            return self.cursor.word(f"what {phrase} applies to").value
        token = self.cursor.token
        if token is None or not token.is_word(*allowed):
            choices = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
            raise self.cursor.wrong(f"{phrase} takes {choices}", like=[word.lower() for word in allowed])
        return self.cursor.advance().value.upper()

    def _flag(self) -> bool:
        for phrase in self.form.flags:
            first = self.cursor.token
            if first is not None and self.cursor.take_words(*phrase.split()):
                self._once(phrase, first)
                given = {*self.change.flags, phrase}
                self.change = replace(self.change, flags=tuple(flag for flag in self.form.flags if flag in given))
                return True
        token = self.cursor.token
        if self.form.free and token is not None and token.kind is TokenKind.WORD and not self.cursor.at_setting():
            self.change = replace(self.change, flags=(*self.change.flags, self.cursor.advance().value.upper()))
            return True
        return False

    def _once(self, what: str, token: Token) -> None:
        if what in self.places:
            raise self.cursor.wrong(f"{token.value} is given twice", at=token)
        self.places[what] = token

    def _no_place(self) -> StatementError:
        form, token = self.form, self.cursor.token
        text = token.text if token else ""
        attributes = [name for name in (*form.settings, *form.extra) if name not in (*ANY, *MODIFIABLE)]
        if form.settings == MODIFIABLE:
            attributes += [attribute.name for attribute in self._modifiable()]
        if bare := next((name for name in attributes if name.lower() == text.lower()), ""):
            return self.cursor.wrong(f"{bare} needs a value", hint=f"write `{bare}=…`")
        words = [phrase.lower() for phrase in (*form.actions, *form.flags)]
        words += [media.value.lower() for media in form.media if self.change.all]
        words += attributes
        if not words and not form.free:
            return self.cursor.wrong(f"nothing more may follow {self.title}{' ALL' if self.change.all else ''}")
        mistaken = self.cursor.wrong(f"{self.title} does not take '{text}'", like=words)
        spread = "" if mistaken.suggestions else self.cursor.spread()
        if not spread:
            return mistaken
        name = spread.partition("=")[0]
        # If a shell removed the quotes of a password, the words after it are part of the password.
        said = f"{self.title} does not take '{MASK}'" if is_secret_name(name) else mistaken.message
        return self.cursor.wrong(said, hint=in_quotes(f"{self.title.lower()} …", spread))

    def _complete(self) -> None:
        form, change, cursor = self.form, self.change, self.cursor
        has_setting = {setting.attribute.lower(): setting.attribute for setting in change.settings}
        for attribute in form.required_all:
            if change.all and attribute.lower() not in has_setting:
                raise cursor.wrong(f"{self.title} ALL needs {attribute}=")
            if not change.all and attribute.lower() in has_setting:
                raise cursor.wrong(f"{attribute}= goes with {self.title} ALL only", at=self.places[attribute.lower()])
        for attribute in form.required_name:
            if change.names and attribute.lower() not in has_setting:
                raise cursor.wrong(f"{self.title} with a name needs {attribute}=")
            if change.all and attribute.lower() in has_setting:
                raise cursor.wrong(f"{attribute}= goes with a name, not with ALL", at=self.places[attribute.lower()])
        if change.all and "celldisk" in has_setting and "cellDisk" in form.settings:
            raise cursor.wrong(f"{self.title} takes ALL or cellDisk=, not both", at=self.places["celldisk"])
        if form.members and not change.all and "celldisk" not in has_setting:
            raise cursor.wrong(f"{self.title} needs ALL or cellDisk='…'")
        if form.something and not (change.action or change.settings):
            raise cursor.wrong(f"{self.title} is not complete: it does not say what to do")


def read_grant(cursor: Cursor, verb: Verb, subject: ObjectType) -> Grant:
    """Return the rest of GRANT or REVOKE ``subject`` and step over it.

    ``PRIVILEGE {ALL ACTIONS | a,…} ON {ALL OBJECTS | o,…} [ALL ATTRIBUTES | ATTRIBUTES a,…]
    [WITH ALL OPTIONS | WITH OPTIONS o,…] {TO | FROM} ROLE {ALL | r,…}``,
    ``ROLE {ALL | r,…} {TO | FROM} USER {ALL | u,…}``

    Raises:
        StatementError: a part is missing or not allowed.
    """
    grant = Grant(verb=verb, object=subject.name, granted=(), recipients=())
    if subject.name == "PRIVILEGE":
        # Actions and object types are keywords; they are stored in capitals, however they were typed.
        grant = replace(grant, granted=_capitals(_all_or_names(cursor, "ACTIONS", "an action")))
        _expect(cursor, "ON")
        grant = replace(grant, on=_capitals(_all_or_names(cursor, "OBJECTS", "an object type")))
        if cursor.take_words("ALL", "ATTRIBUTES"):
            grant = replace(grant, attributes=("ALL",))
        elif cursor.take_words("ATTRIBUTES"):
            grant = replace(grant, attributes=_values(cursor.names("an attribute")))
        if cursor.take_words("WITH", "ALL", "OPTIONS"):
            grant = replace(grant, options=("ALL",))
        elif cursor.take_words("WITH"):
            _expect(cursor, "OPTIONS")
            grant = replace(grant, options=_values(cursor.names("an option")))
        recipient = "ROLE"
    else:
        grant = replace(grant, granted=_all_or_names(cursor, "", "a role"))
        recipient = "USER"
    _expect(cursor, "TO" if verb is Verb.GRANT else "FROM")
    _expect(cursor, recipient)
    grant = replace(grant, recipients=_all_or_names(cursor, "", f"the name of a {recipient.lower()}"))
    if cursor.token is not None:
        raise cursor.wrong(f"{verb} {subject.name} does not take '{cursor.token.text}'")
    return grant


def _all_or_names(cursor: Cursor, noun: str, what: str) -> tuple[str, ...]:
    if cursor.take_words("ALL"):
        if noun:
            _expect(cursor, noun)
        return ("ALL",)
    return _values(cursor.names(what))


def _expect(cursor: Cursor, word: str) -> None:
    if cursor.take_words(word):
        return
    if cursor.token is None:
        raise cursor.wrong(f"{word} is missing")
    raise cursor.wrong(f"{word} is needed here, not '{cursor.token.text}'", like=(word.lower(),))


def _capitals(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.upper() for word in words)


def _values(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    return tuple(token.value for token in tokens)
