"""The header of a recipe: its title, parameters, the ceiling of its risk, and what it needs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exacell.cellcli.suggest import closest
from exacell.core.errors import StatementError
from exacell.language.kinds import convert
from exacell.language.registry import Kind, Param

WORDS = ("recipe", "param", "risk", "needs")
"""First words of the lines of a header."""

RISKS = ("none", "performance", "redundancy", "data")
NEEDS = ("asm",)

_KINDS: Mapping[str, Kind] = {
    "size": Kind.SIZE,
    "int": Kind.INT,
    "duration": Kind.DURATION,
    "name": Kind.NAME,
    "db": Kind.DB,
    "cellset": Kind.CELLSET,
    "command": Kind.COMMAND,
    "file": Kind.FILE,
    "text": Kind.TEXT,
    "number": Kind.NUMBER,
    "diskgroup": Kind.DISKGROUP,
    "prefix": Kind.PREFIX,
}
_PARAM = re.compile(
    r"param\s+(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<kind>[A-Za-z]\w*(?:\([^)]*\))?(?:\|\w+)*))?"
    r"\s*(?:=\s*(?P<default>\"[^\"]*\"|'[^']*'|[^\s\"']+))?\s*(?P<help>\"[^\"]*\")?\s*",
    re.IGNORECASE,
)


def read_title(rest: str) -> str:
    """Return the title that stands behind ``recipe``.

    Raises:
        StatementError: it is missing, or not in quotes.
    """
    quoted = re.fullmatch(r"\"([^\"]*)\"|'([^']*)'", rest)
    if quoted is None:
        if not rest:
            raise StatementError("the title is missing", hint='recipe "what it does"')
        bare = rest.strip("\"'")
        raise StatementError(f"the title stands in quotes, and {rest} does not", hint=f'recipe "{bare}"')
    title = (quoted[1] or quoted[2] or "").strip()
    if not title:
        raise StatementError("the title is empty", hint='recipe "what it does"')
    return title


def read_risk(rest: str) -> str:
    """Return the ceiling behind ``risk``.

    Raises:
        StatementError: it is none.
    """
    if rest.lower() not in RISKS:
        raise StatementError(f"risk is one of {', '.join(RISKS)}, not '{rest}'", suggestions=closest(rest, RISKS))
    return rest.lower()


def read_needs(rest: str) -> tuple[str, ...]:
    """Return what stands behind ``needs``.

    Raises:
        StatementError: a recipe can't need that.
    """
    found = tuple(part.strip().lower() for part in rest.split(",") if part.strip())
    for part in found:
        if part not in NEEDS:
            raise StatementError(f"needs knows asm, not '{part}'", suggestions=closest(part, NEEDS))
    if not found:
        raise StatementError("needs says nothing", hint="needs asm")
    return found


def read_param(body: str, taken: Sequence[str]) -> tuple[Param, tuple[StatementError, ...]]:
    """Return the parameter that a line declares, and what is wrong with it that leaves it usable.

    Args:
        taken: names of the parameters before it.

    Raises:
        StatementError: the line is no declaration.
    """
    match = _PARAM.fullmatch(body)
    if match is None:
        raise StatementError(f"'{body}' is not: param name : kind = default \"help\"")
    wrong: list[StatementError] = []
    name, spec = match["name"], match["kind"] or "text"
    if name.lower() in (each.lower() for each in taken):
        wrong.append(StatementError(f"param {name} is declared twice"))
    try:
        kind, choices, words = _kind(spec)
    except StatementError as error:
        wrong.append(error)
        kind, choices, words = _kind("text")
    default = match["default"].strip("\"'") if match["default"] is not None else None
    param = Param(
        name=name,
        kind=kind,
        help=(match["help"] or "").strip('"') or "no help",
        choices=choices,
        words=words,
        default=default,
        required=default is None,
    )
    if default is not None:
        try:
            convert(param, default, 0, len(default))
        except StatementError as error:
            hint = error.hint if error.suggestions or error.hint else ""
            wrong.append(StatementError(f"the default of {error.message}", hint=hint))
    return param, tuple(wrong)


def _kind(spec: str) -> tuple[Kind, tuple[str, ...], tuple[str, ...]]:
    """Return kind, choices and extra words of ``size|keep`` or ``choice(a|b)``."""
    head, *words = spec.split("|") if "(" not in spec else [spec]
    name, paren, inside = head.partition("(")
    if name.lower() == "choice":
        choices = tuple(part.strip() for part in inside.rstrip(")").split("|") if part.strip())
        if not choices:
            raise StatementError("choice needs its words: choice(a|b)")
        return Kind.CHOICE, choices, ()
    if paren or name.lower() not in _KINDS:
        like = closest(name, (*_KINDS, "choice"))
        raise StatementError(
            f"'{name}' is not a kind: {', '.join((*_KINDS, 'choice(a|b)'))}",
            suggestions=like if not paren else tuple(word for word in like if word == "choice"),
        )
    return _KINDS[name.lower()], (), tuple(words)
