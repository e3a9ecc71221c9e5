"""Format recipes: the same lines and comments, in one usual layout. Pure.

Only blanks, the case of the recipe's own words and the form of the header change. The words of a statement stay, and so do quoted
text, text that a command takes as it is, and lines that can't be parsed. Formatting a formatted text changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from exacell.cellcli.tokens import BLANKS
from exacell.core.errors import ExacellError, StatementError
from exacell.core.values import dataclass
from exacell.language.calls import find_command
from exacell.language.pasted import here_document
from exacell.language.recipewords import BLOCKS, HEADER
from exacell.language.registry import Kind
from exacell.language.words import (
    RAW_TAILS,
    join_continued,
    refuse_typography,
    scan,
    split_words,
    strip_comment,
    takes_all_words,
)
from exacell.recipes.parsing import ENDS, opening, physical_lines, split_when
from exacell.recipes.rolling import split_rolling
from exacell.recipes.values import PARAM, conditions, read_needs, read_risk, read_title

_STEP = "  "
_WORD = max(map(len, HEADER))
"""Length of the longest header word; what follows a header word begins in one column."""


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """One logical line.

    Attributes:
        cells: its text in parts; a part gets the width of the widest one in neighbouring lines of the same kind.
        kind: ``param``, ``let`` or ``when``; empty for a line with only one part.
        between: number of blanks after each part except the last.
        comment: the comment at its end, or the whole line if it is only a comment; with its ``#``.
        depth: number of blocks around it.
        more: its continuation lines, as they are to be written.
        header: whether its first word is a header word.
    """

    cells: tuple[str, ...] = ()
    kind: str = ""
    between: tuple[int, ...] = ()
    comment: str = ""
    depth: int = 0
    more: tuple[str, ...] = ()
    header: bool = False


def laid_out(text: str) -> str:
    """Return a recipe's text in the usual layout; empty for a text without lines."""
    pieces = _spaced(list(_pieces(text)))
    found: list[str] = []
    for (kind, _), run in groupby(enumerate(pieces), key=lambda each: _neighbours(*each)):
        together = [piece for _, piece in run]
        found += _set(together) if kind else [line for piece in together for line in _set([piece])]
    return "".join(f"{line}\n" for line in found)


def _neighbours(place: int, piece: _Piece) -> tuple[str, int]:
    return (piece.kind, piece.depth) if piece.kind else ("", 0)


def _set(run: Sequence[_Piece]) -> Iterator[str]:
    """Yield the text lines of pieces that share columns."""
    widths = [
        max(len(piece.cells[at]) for piece in run if at < len(piece.cells))
        for at in range(max(len(piece.cells) for piece in run))
    ]
    for piece in run:
        line = ""
        for cell, width, between in zip(piece.cells, widths, (*piece.between, 0), strict=False):
            line += cell.ljust(width) + " " * between
        told = [line.rstrip(BLANKS)] if line.strip(BLANKS) else []
        told += [piece.comment] if piece.comment else []
        yield (_STEP * piece.depth + "  ".join(told)).rstrip(BLANKS) if not piece.more else _STEP * piece.depth + line
        yield from piece.more


def _spaced(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return the pieces with single empty lines: none at the ends, one after the header, and one in place of several."""
    found: list[_Piece] = []
    empty = _Piece()
    headed = False
    for piece in pieces:
        if piece == empty and (not found or found[-1] == empty):
            continue
        if headed and piece.cells and not piece.header:
            headed = False
            place = len(found)
            while found[place - 1].comment and not found[place - 1].cells:
                place -= 1
            if found[place - 1].header:
                found.insert(place, empty)
        headed = headed or piece.header
        found.append(piece)
    while found and found[-1] == empty:
        found.pop()
    return found


def _pieces(text: str) -> Iterator[_Piece]:
    depth = 0
    found = physical_lines(text)
    opens = opening([(number, join_continued(lines)) for number, lines in found])
    for number, lines in found:
        if (lines[0].split(None, 1) or [""])[0].lower().rstrip(";") == "end":
            depth = max(depth - 1, 0)
        yield _long(lines, depth) if len(lines) > 1 else _short(lines[0], depth)
        depth += number in opens


def _long(lines: Sequence[str], depth: int) -> _Piece:
    """Return the piece of a continued line; its further lines are indented unless their leading blanks may have a meaning."""
    first, more = lines[0].lstrip(BLANKS), list(lines[1:])
    if not _verbatim(lines):
        first = first.rstrip()
        more = [(_STEP * (depth + 1) + line.strip()).rstrip() for line in more]
    return _Piece(cells=(first,), depth=depth, more=tuple(more))


def _verbatim(lines: Sequence[str]) -> bool:
    """Return whether a line breaks within quotes or parentheses, or contains text that a command takes as it is."""
    whole = join_continued(lines)
    if here_document(whole) is not None or takes_all_words(whole):
        return True
    try:
        refuse_typography(whole)
        breaks = [list(scan(join_continued(lines[:count])))[-1:] for count in range(1, len(lines) + 1)]
    except StatementError:
        return True
    return any(depth for ends in breaks for _, _, _, depth in ends) or _own_text(whole) is not None


def _short(raw: str, depth: int) -> _Piece:
    try:
        body = strip_comment(raw)
        refuse_typography(raw)
    except (
        StatementError
    ):  # A quote is open up to the end of the file, or there are typographic signs in place of ASCII ones.
        return _Piece(cells=(raw.lstrip(BLANKS),), depth=depth)
    comment, body = raw[len(body) :].strip(), body.strip()
    piece = _of_body(body)
    line = " ".join(piece.cells)
    if strip_comment(line) != line:  # A part of a word would become a comment.
        piece = _Piece(cells=(body,), header=piece.header)
    return replace(piece, comment=comment, depth=depth)


def _of_body(body: str) -> _Piece:
    plain = body.rstrip(ENDS)
    word, *behind = plain.split(None, 1) or [""]
    rest, word = (behind[0] if behind else ""), word.lower()
    if word in HEADER:
        return _header(word, rest, plain)
    turns = split_rolling(plain)
    if turns is not None:
        on = f"on {_squeezed_all(turns[0])} " if turns[0] else ""
        return _Piece(cells=(f"{on}rolling {turns[1]}".rstrip(),))
    if word in (*BLOCKS, "end"):
        return _Piece(cells=(f"{word} {_block(word, rest)}".rstrip(),))
    text, condition = split_when(body)
    if not condition:
        return _Piece(cells=(_squeezed(body),) if body else ())
    return _Piece(cells=(_squeezed(text), f"when {_condition(condition)}"), kind="when", between=(2,))


def _header(word: str, rest: str, plain: str) -> _Piece:
    lead = f"{word:<{_WORD}} "
    declared = PARAM.fullmatch(plain) if word == "param" else None
    if declared is not None:
        kind = re.sub(r"\s*([|()])\s*", r"\1", declared["kind"] or "")
        what = [f": {kind}"] if kind else []
        what += [f"= {declared['default']}"] if declared["default"] is not None else []
        cells = (lead + declared["name"], " ".join(what), declared["help"] or "")
        return _Piece(cells=cells, kind="param", between=(1, 2), header=True)
    name, equals, reading = (part.strip() for part in rest.partition("="))
    if word == "let" and equals:
        return _Piece(cells=(lead + name, f"= {reading}"), kind="let", between=(1,), header=True)
    try:
        if word == "recipe":
            title = read_title(rest)
            rest = f'"{title}"' if '"' not in title else f"'{title}'"
        elif word == "risk":
            rest = read_risk(rest)
        elif word == "needs":
            rest = ", ".join(read_needs(rest))
    except StatementError:
        pass  # The checker reports its problem; the line stays as it is.
    return _Piece(cells=((lead + rest).rstrip(),), header=True)


def _block(word: str, rest: str) -> str:
    """Return the rest of the line after a block's word; values of a matrix get no blanks between them."""
    if word != "matrix":
        return rest
    return "".join(text if quoted else re.sub(r"\s*,\s*", ",", text) for quoted, text in _quotes(_squeezed_all(rest)))


def _quotes(text: str) -> Iterator[tuple[bool, str]]:
    """Yield (quoted, text) for the parts in quotes and the parts outside of quotes, in order."""
    for quoted, run in groupby(scan(text), key=lambda each: each[2]):
        yield quoted, "".join(char for _, char, _, _ in run)


def _condition(text: str) -> str:
    try:
        return " and ".join(" ".join(part) for part in conditions(text))
    except ExacellError:
        return text


def _squeezed(text: str) -> str:
    """Return a statement with one blank between its words; text that a command takes as it is stays unchanged."""
    if takes_all_words(text):
        return text
    place = _own_text(text)
    return _squeezed_all(text) if place is None else _squeezed_all(text[:place]) + text[place:]


def _own_text(text: str) -> int | None:
    """Return the offset of the text that a statement's command takes as it is; None if the command takes none."""
    words = split_words(text)
    on = 2 if words and words[0].value.lower() == "on" else 0
    command = find_command(words[on:])
    behind = words[on + len(command.words) :] if command is not None else []
    if command is None or not behind or not any(param.rest for param in command.params):
        return None
    checked = any(param.rest and param.kind in (Kind.FACT, Kind.UNTIL, Kind.LIST) for param in command.params)
    inside = {word.value.lower() for word in behind} & {"sql", *RAW_TAILS}
    return None if checked and not inside else behind[0].start


def _squeezed_all(text: str) -> str:
    """Return a text with one blank in place of several, except in quotes and parentheses."""
    found = ""
    for _, char, quoted, depth in scan(text):
        if quoted or depth or not char.isspace():
            found += char
        elif not found.endswith(" "):
            found += " "
    return found
