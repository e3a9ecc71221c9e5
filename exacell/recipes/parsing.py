"""Parse recipe files: a header with typed parameters, statements of the one language, and blocks. Parsing is pure.

A file of plain statements is already a recipe. Header words come first: ``recipe "title"``, ``param name : kind =
default "help"``, ``risk <ceiling>``, ``needs asm, release>=19.3``, ``let name = <statement that reads>.<column> [of <key>]``.
``when <condition>`` may end a statement. There are four kinds of block, each closed by ``end``: ``finally`` holds lines that run
in any case at the end; ``matrix x in 1,2,4`` is repeated for each of its values before the plan; ``rolling 2`` is repeated for
each wave of two cells; ``experiment …`` holds the lines that each run of the experiment carries out. There are no other loops and
no templating: a value is put in as one word, quoted if necessary, and so can never become syntax.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from exacell.core.errors import RecipeError, StatementError
from exacell.core.meant import closest
from exacell.core.values import dataclass
from exacell.language.calls import VERBS
from exacell.language.reading import Reading, read_reading
from exacell.language.recipewords import BLOCKS, HEADER, RECIPE_WORDS
from exacell.language.registry import Param, commands
from exacell.language.words import join_continued, needs_more, refuse_typography, split_words, strip_comment
from exacell.recipes.foreign import CLOSING, INLINE, INSTEAD, LIKE_BLOCKS
from exacell.recipes.matrix import Matrix, read_matrix
from exacell.recipes.rolling import WAVE, Turns, read_rolling, split_rolling
from exacell.recipes.values import read_needs, read_param, read_risk, read_title


@dataclass(frozen=True, kw_only=True)
class RecipeLine:
    """One statement of a recipe.

    Attributes:
        number: its line number.
        when: its condition; empty for none.
        final: whether it is in ``finally``.
        matrix: the matrix around it.
        turns: the rolling around it.
        experiment: line number of the experiment whose runs carry it out; 0 for none.
    """

    number: int
    text: str
    when: str = ""
    final: bool = False
    matrix: Matrix | None = None
    turns: Turns | None = None
    experiment: int = 0


@dataclass(frozen=True, kw_only=True)
class Let:
    """A value that is read before the plan."""

    number: int
    name: str
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A recipe as its file declares it.

    Attributes:
        risk: the highest risk that its plans may have; empty for no limit.
        needs: what must be there before it runs.
    """

    name: str
    path: str
    text: str
    title: str = ""
    params: tuple[Param, ...] = ()
    risk: str = ""
    needs: tuple[str, ...] = ()
    lets: tuple[Let, ...] = ()
    lines: tuple[RecipeLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem of a recipe, with the number of its line; ``hint`` is the way out and may be empty."""

    number: int
    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A recipe, parsed as well as possible, with the problems of its header and blocks."""

    recipe: Recipe
    problems: tuple[Problem, ...] = ()


def recipe_error(name: str, problems: Sequence[Problem]) -> RecipeError:
    """Return the error that states the first of a recipe's problems, and how many more there are."""
    first = problems[0]
    more = len(problems) - 1
    hint = f"`check recipe {name}` lists {more} more" if more else ""
    message = f"recipe {name}, line {first.number}: {first.message}"
    if first.hint and hint:
        # A hint that is a question is a sentence of its own.
        hint = f"{first.hint} {hint}" if first.hint.endswith("?") else f"{first.hint}; {hint}"
    return RecipeError(message, hint=hint or first.hint)


def read_draft(name: str, text: str, path: str = "") -> Draft:
    """Return the recipe in ``text`` with all problems of its header and blocks; never raises."""
    lines = [(number, join_continued(found)) for number, found in physical_lines(text)]
    scanner = _Scanner(_experiments_with_block(lines))
    for number, raw in lines:
        scanner.take(number, raw)
    scanner.finish()
    recipe = Recipe(
        name=name,
        path=path,
        text=text,
        title=scanner.title,
        params=tuple(scanner.params),
        risk=scanner.risk,
        needs=scanner.needs,
        lets=tuple(scanner.lets),
        lines=tuple(scanner.lines),
    )
    return Draft(recipe=recipe, problems=tuple(sorted(scanner.problems, key=lambda problem: problem.number)))


ENDS = "; \t"
"""Characters at the end of a line that have no meaning."""

_MAY_OPEN = (*BLOCKS, "experiment")
"""Words that open a block; an experiment may also be a single line."""

_AFTER_ON = re.compile(rf"on\s+(\S+)\s+(({'|'.join(BLOCKS)})\b.*)", re.IGNORECASE | re.DOTALL)
"""A block's word after ON, which only ``rolling`` may follow; that was found before."""

_NOT_IN_PARTS = ("undo", "resume")
"""Words of statements about a whole run, which are not allowed within a wave or a run of an experiment."""

_OF_ITS_OWN = "put it into a recipe of its own and write `run NAME`"


def _experiments_with_block(lines: Sequence[tuple[int, str]]) -> frozenset[int]:
    """Return the line numbers of experiments that open a block: after them comes an ``end`` that no other open block needs."""
    words = [(number, _block_word(raw)) for number, raw in lines if raw.strip()]
    found: set[int] = set()
    around = opened = False
    for place, (number, word) in enumerate(words, start=1):
        if word in BLOCKS:
            around, opened = True, False
        elif word == "end":
            around, opened = around and opened, False
        elif word == "experiment":
            later = [word for _, word in words[place:]]
            ends = _before(later, *BLOCKS).count("end")
            own = _before(later, *_MAY_OPEN)
            if "end" in own[1:] and own[0] != "end" and ends > around:
                found.add(number)
                opened = True
    return frozenset(found)


def _block_word(raw: str) -> str:
    """Return the word of a line that may open or close a block: its first word, or ``rolling`` after ON."""
    return "rolling" if split_rolling(raw) else (raw.split(None, 1) or [""])[0].rstrip(";").lower()


def _before(words: Sequence[str], *stops: str) -> Sequence[str]:
    return words[: next((place for place, word in enumerate(words) if word in stops), len(words))]


@dataclass(kw_only=True)
class _Block:
    """A block that is open: its word, its line, whether it is allowed there, and whether it contains anything."""

    word: str
    number: int
    matrix: Matrix | None = None
    turns: Turns | None = None
    refused: bool = False
    holds: bool = False

    @property
    def repeats(self) -> bool:
        """Return whether its lines run several times, for the values of a matrix or for waves of cells."""
        return self.matrix is not None or self.turns is not None


class _Scanner:
    """Collects header, lines and problems of a recipe; it gets the logical lines in order."""

    def __init__(self, experiments: frozenset[int]) -> None:
        self._experiments = experiments
        self.title, self.risk = "", ""
        self.params: list[Param] = []
        self.needs: tuple[str, ...] = ()
        self.lets: list[Let] = []
        self.lines: list[RecipeLine] = []
        self._blocks: list[_Block] = []
        """The open blocks, the innermost last."""
        self.problems: list[Problem] = []
        self._seen: set[str] = set()
        """Header words seen so far that may be used only once."""
        self._had_final = False
        self._openers: list[RecipeLine] = []
        """Lines that were perhaps meant to open a block."""
        self._begin = {"matrix": self._begin_matrix, "finally": self._begin_final}
        """What opens each block, by its word; ``rolling`` is not here, because ON may come before it."""

    def take(self, number: int, raw: str) -> None:
        """Take one logical line."""
        try:
            body = strip_comment(raw).strip()
        except StatementError as error:
            self._wrong(number, error)
            return
        plain = body.rstrip(ENDS)
        if not plain:
            return
        if needs_more(raw):  # All following lines were joined to it, and that is its end.
            self._problem(number, *_unended(raw))
            return
        word, *behind = plain.split(None, 1)
        rest = behind[0].strip() if behind else ""
        if word.lower() != "recipe":  # The title of a recipe is a text for people.
            try:
                refuse_typography(raw)
            except StatementError as error:
                self._wrong(number, error)
                return
        if word.lower() in HEADER:
            self._header(number, word.lower(), rest, plain)
        elif word.lower() == "end":
            self._end(number, rest)
        elif (turns := split_rolling(plain)) is not None:
            self._begin_rolling(number, *turns)
        elif (begin := self._begin.get(word.lower())) is not None:
            begin(number, rest)
        else:
            self._statement(number, word, body)

    def finish(self) -> None:
        """Report the blocks that are still open at the end of the file."""
        for block in self._blocks:
            if block.word != "experiment":
                self._problem(block.number, f"{block.word} has no end; close it with a line `end`")
        for line in self._openers:
            near = closest(line.text.split()[0], _MAY_OPEN)
            if near and line in self.lines:
                self.lines.remove(line)
                self._problem(
                    line.number, f"'{line.text.split()[0]}' does not begin a block", f"did you mean {near[0]}?"
                )

    def _header(self, number: int, word: str, rest: str, body: str) -> None:
        if self.lines:
            self._problem(number, f"{word} belongs in the header, before the first statement")
        if word not in ("param", "let"):
            if word in self._seen:
                self._problem(number, f"{word} is given twice")
            self._seen.add(word)
        try:
            if word == "recipe":
                self.title = read_title(rest)
            elif word == "risk":
                self.risk = read_risk(rest)
            elif word == "needs":
                self.needs = read_needs(rest)
            elif word == "let":
                self._let(number, rest)
            else:
                param, wrong = read_param(body, self._names())
                self.params.append(param)
                for error in wrong:
                    self._wrong(number, error)
        except StatementError as error:
            self._wrong(number, error)

    def _names(self) -> list[str]:
        return [*(param.name for param in self.params), *(let.name for let in self.lets)]

    def _let(self, number: int, rest: str) -> None:
        name, equals, text = (part.strip() for part in rest.partition("="))
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise StatementError(
                f"'let {rest}' can't be read; the form is `let name = STATEMENT.COLUMN [of CELL or NAME]`",
                hint="such as: `let size = list flashcache.size of exa1cel01`",
            )
        if name.lower() in (each.lower() for each in self._names()):
            self._problem(number, f"{name} is declared twice")
        if not text:
            raise StatementError(
                f"let {name} has no statement to read from",
                hint="such as: `let size = list flashcache.size of exa1cel01`",
            )
        self.lets.append(Let(number=number, name=name, reading=read_reading(text)))

    @property
    def _inner(self) -> _Block:
        """Return the innermost open block; one without a word if no block is open."""
        return self._blocks[-1] if self._blocks else _Block(word="", number=0)

    def _inside(self, word: str) -> _Block | None:
        return next((block for block in reversed(self._blocks) if block.word == word), None)

    def _begin_matrix(self, number: int, rest: str) -> None:
        block = _Block(
            word="matrix", number=number, matrix=Matrix(number=number), refused=self._refuse_inside(number, "matrix")
        )
        try:
            block.matrix = read_matrix(number, rest, self._names())
        except StatementError as error:
            self._wrong(number, error)
        self._blocks.append(block)

    def _begin_rolling(self, number: int, on: str, rest: str) -> None:
        turns = Turns(number=number)
        refused = self._refuse_inside(number, "rolling")
        if WAVE.name in (name.lower() for name in self._names()):
            self._problem(
                number,
                f"{WAVE.name} can't be declared: within rolling, ${WAVE.name} is the number of the wave",
                "choose another name",
            )
        try:
            turns = read_rolling(number, on, rest, self.params)
        except StatementError as error:
            self._wrong(number, error)
        self._blocks.append(_Block(word="rolling", number=number, turns=turns, refused=refused))

    def _refuse_inside(self, number: int, word: str) -> bool:
        """Return whether a block may not begin here because another is open; add the problem if so."""
        outer = self._inner
        outer.holds = True
        if not outer.word:
            return False
        hint = RECIPE_WORDS[word].nested if outer.word == word else _OF_ITS_OWN
        self._problem(number, f"{_named(outer.word, 'a ')} can't contain {word}", hint)
        return True

    def _begin_final(self, number: int, rest: str) -> None:
        outer = self._inner
        if outer.repeats:
            hint = f"close {_named(outer.word, 'the ')} first with a line `end`"
            self._problem(number, f"{_named(outer.word, 'a ')} can't contain finally", hint)
            self._blocks.clear()
        if rest:
            self._problem(
                number,
                "finally must be alone on its line",
                "write its statements on the lines below, then a line `end`",
            )
        if self._had_final:
            self._problem(number, "a recipe can have only one finally block")
        self._had_final = True
        self._blocks.append(_Block(word="finally", number=number))

    def _end(self, number: int, rest: str) -> None:
        if rest:
            self._problem(number, "end must be alone on its line")
        if self._blocks:
            block = self._blocks.pop()
            if block.repeats and not block.holds and not block.refused:
                self._problem(block.number, f"{_named(block.word, 'the ')} is empty")
        elif self._openers:
            line = self._openers.pop()
            if line not in self.lines:
                return  # Its problem was already added.
            self.lines.remove(line)
            word = line.text.split()[0]
            near = closest(word, _MAY_OPEN)
            hint = f"did you mean {near[0]}?" if near else f"only {', '.join(BLOCKS)} and experiment begin one"
            self._problem(line.number, f"'{word}' does not begin a block", hint)
        else:
            alone = any(line.text.lower().startswith("experiment") and not line.experiment for line in self.lines)
            self._problem(
                number,
                "this end has no block to close",
                "an experiment's block can contain statements only" if alone else "",
            )

    def _statement(self, number: int, word: str, body: str) -> None:
        known = _is_first_word(word)
        if self._no_statement(number, word, body, known=known):
            return
        try:
            text, when = split_when(body)
        except StatementError as error:
            self._wrong(number, error)
            return
        if not when and text != body:
            self._problem(number, "when needs a condition", "write `when $name = value`")
        experiment, rolling = self._inside("experiment"), self._inside("rolling")
        line = RecipeLine(
            number=number,
            text=text,
            when=when,
            final=self._inside("finally") is not None,
            matrix=next((block.matrix for block in reversed(self._blocks) if block.matrix is not None), None),
            turns=rolling.turns if rolling is not None else None,
            experiment=experiment.number if experiment is not None else 0,
        )
        told = not known and word.lower() in INSTEAD
        if told:
            self._problem(number, f"'{word}' does not begin a block", INSTEAD[word.lower()])
        else:
            self.lines.append(line)
        for block in self._blocks:
            block.holds = True
        for part in ("an experiment" if experiment is not None else "", "rolling" if rolling is not None else ""):
            if part and word.lower() in _NOT_IN_PARTS:
                self._problem(number, f"{part} can't contain {word}")
        if word.lower() == "experiment" and rolling is not None:
            self._problem(number, "rolling can't contain an experiment", "an experiment changes all its cells together")
        if number in self._experiments:
            self._blocks.append(_Block(word="experiment", number=number))
            given = next((w.value for w in split_words(text) if w.value.lower().startswith(("workload=", "load="))), "")
            if given:
                self._problem(number, f"{given.partition('=')[0]}= and the block both give the load of a run; keep one")
        few = len(body.split()) <= 2 and "=" not in body
        if not known and (told or word.lower() in LIKE_BLOCKS or few or re.search(r"\sin\s", body)):
            self._openers.append(line)

    def _no_statement(self, number: int, word: str, body: str, *, known: bool) -> bool:
        """Return whether a line is neither a statement nor the start of a block; if so, add its problem."""
        if block := _AFTER_ON.match(body):
            hint = f"write `on {block[1]}` before each statement inside"
            self._problem(number, f"{block[3].lower()} must be the first word of its line", hint)
            self.take(number, block[2])
        elif word.lower() == "when":
            self._problem(number, "when must follow a statement", "write `STATEMENT when $name = value`")
        elif known:
            return False
        elif word.lower() in CLOSING:
            if not self._openers:
                self._problem(number, f"'{word}' is not a word of recipes", "close a block with `end`")
            if self._openers or self._blocks:
                self._end(number, "")
        elif word.lower() in INLINE:
            self._problem(number, f"'{word}' is not a statement", INLINE[word.lower()])
        elif given := re.match(r"\$?([A-Za-z_]\w*)\s*=(?!=)", body):
            hint = f"write `param {given[1]} : kind = default` in the header, or `let {given[1]} = …` for a value that is read"
            self._problem(number, f"'{body.rstrip(ENDS)}' is not a statement: a recipe has no assignments", hint)
        elif not self.lines and (near := closest(word, [each for each in HEADER if each != "let"])):
            hint = f"did you mean {near[0]}?"
            self._problem(number, f"'{word}' is neither a statement nor a word of the header", hint)
        else:
            return False
        return True

    def _problem(self, number: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem(number=number, message=message, hint=hint))

    def _wrong(self, number: int, error: StatementError) -> None:
        self._problem(number, error.message, error.hint)


def _named(block: str, article: str) -> str:
    """Return a block's word as it appears in sentences: only ``matrix`` has an article."""
    return f"{article}{block}" if block == "matrix" else block


def _is_first_word(word: str) -> bool:
    """Return whether a statement can begin with that word."""
    lower = word.lower()
    return (
        lower == "on"
        or lower.startswith(("@", "!"))
        or lower.upper() in VERBS
        or any(lower == key[0] for key in commands())
    )


def opening(lines: Sequence[tuple[int, str]]) -> frozenset[int]:
    """Return the numbers of the lines that open a block."""
    own = (number for number, raw in lines if _block_word(raw) in BLOCKS)
    return _experiments_with_block(lines).union(own)


def physical_lines(text: str) -> list[tuple[int, list[str]]]:
    """Return (number of the first line, lines) for each statement; a statement that is continued has several lines."""
    found: list[tuple[int, list[str]]] = []
    going_on = False
    for number, raw in enumerate(re.findall(r"[^\r\n]*(?=\r|\n)(?:\r\n|\r|\n)|[^\r\n]+\Z", text), start=1):
        raw = raw.rstrip("\r\n")
        if going_on:
            found[-1][1].append(raw)
        else:
            found.append((number, [raw]))
        lines = found[-1][1]
        going_on = not _is_comment(lines[0]) and needs_more(join_continued(lines))
    return found


def _unended(text: str) -> tuple[str, str]:
    """Return a text about the missing end of a statement that is continued up to the end of the file, and the hint."""
    if text.rstrip().endswith("-"):
        return "the last line ends in -, so another line must follow", ""
    return "a parenthesis is not closed", ""


def _is_comment(line: str) -> bool:
    """Return whether a line is empty except for a comment."""
    try:
        return not strip_comment(line).strip()
    except StatementError:
        return False  # It has an open quote, so it is not a comment.


def split_when(text: str) -> tuple[str, str]:
    """Return the statement and its condition; the condition is empty if there is no ``when``."""
    words = split_words(text)
    for place, word in enumerate(words):
        if word.value.lower() == "when" and not word.quoted and place:
            return text[: word.start].rstrip(), text[word.end :].strip().rstrip("; ")
    return text, ""
