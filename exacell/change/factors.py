"""Define the factors of experiments: how a level is set and read back, which conditions it changes, and its measures. Pure.

Each level is set by a statement that exacell plans, verifies, journals and takes back; text that exacell can't read can't be
a factor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from exacell.cellcli.directives import DirectiveName
from exacell.cellcli.iorm import inherited, parse, render, set_attributes
from exacell.core.cellset import fold
from exacell.core.errors import ExacellError, StatementError
from exacell.core.values import dataclass
from exacell.language.reading import Reading
from exacell.measure.experiments import fairness
from exacell.plan.dbchange import SPEED, KeepInCache, SetParameter, literal, quoted, read_change
from exacell.plan.hostsettings import read_path, read_value

if TYPE_CHECKING:
    from exacell.measure.experiments.fairness import Cells, Told
    from exacell.measure.experiments.record import Design


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One kind of thing that an experiment can switch.

    Attributes:
        of: the word that is written after its name and a colon; empty if there is none.
        said: design → its name for people.
        statement: design and level → the statement that sets this level.
        reading: design → the statement and the column that show the level.
        level: design and the value that was read → the level.
        own: design and a cell's conditions → the conditions without the factor's own effect, equal for every level.
        levels: the fixed levels, such as on and off; empty if any value is a level.
        measures: the measures that suit it, the usual one first.
        cannot: design and cells → reasons why it can't have an effect on them.
    """

    of: str = ""
    said: Callable[[Design], str]
    statement: Callable[[Design, str], str]
    reading: Callable[[Design], Reading]
    level: Callable[[Design, str], str] = lambda _, text: text
    own: Callable[[Design, Told], Told] = lambda _, told: told
    levels: tuple[str, ...] = ()
    measures: tuple[str, ...]
    cannot: Callable[[Design, Cells], Sequence[str]] = lambda _, __: ()


def _directive_of(design: Design) -> str:
    return "flashlog" if design.factor == "flashlog" else design.of.lower()


_UNLESS_SAID = {"flashlog": "on", "flashcache": "on"}
"""The value of a directive that the plan does not mention. Source: Oracle SAGUG, flashlog, flashcache."""


def directive_level(text: str, db: str, name: str) -> str:
    """Return the value of one directive that a dbPlan gives a database; several different values are joined.

    Args:
        name: the directive, in lower case.

    Raises:
        ReplyError: the plan can't be read.
    """
    plan = parse(text)
    own = plan.named(db)
    usual = _UNLESS_SAID.get(name, "not set")
    if own:
        return "/".join(sorted({(directive.get(name) or usual).lower() for directive in own}))
    told = inherited(plan).get(name)
    return told.value.lower() if told is not None else usual


def _level_in_plan(design: Design, text: str) -> str:
    return directive_level(text, design.db, _directive_of(design))


def _without_directive(design: Design, told: Told) -> Told:
    """Return the conditions with a fixed value for the plan's directive, so that its present value makes no difference."""
    try:
        plan = set_attributes(
            parse(told.get("dbPlan", "")), DirectiveName(name=design.db), {_directive_of(design): design.levels[0]}
        )
    except ExacellError:  # Compared as it is.
        return told
    return {**told, "dbPlan": render(plan)}


def _of_objective(design: Design) -> bool:
    return design.of.lower() == "objective"


def _iorm_statement(design: Design, level: str) -> str:
    return f"set iorm objective={level}" if _of_objective(design) else f"set iorm db={design.db} {design.of}={level}"


def _sql(design: Design, text: str, known: type[KeepInCache | SetParameter], why: str) -> str:
    """Return the statement that runs SQL on a database.

    Raises:
        StatementError: exacell does not understand the SQL.
    """
    if not isinstance(read_change(text), known):
        raise StatementError(f"factor={design.factor}:{design.of}: {why}")
    return f"sql db={design.db} {quoted(text)}"


_TABLE = re.compile(r"([A-Za-z][\w$#]*)\.([A-Za-z][\w$#]*)", re.ASCII)


def _owner_and_name(design: Design) -> tuple[str, str]:
    found = _TABLE.fullmatch(design.of)
    if found is None:
        raise StatementError(
            f"factor=cell_flash_cache:{design.of}: write the table as OWNER.NAME", hint="such as APP.ORDERS"
        )
    return found[1].upper(), found[2].upper()


def _clause_statement(design: Design, level: str) -> str:
    _owner_and_name(design)
    return _sql(
        design,
        f"alter table {design.of} storage (cell_flash_cache {level})",
        KeepInCache,
        f"'{level}' is not a level: use keep, default or none",
    )


def _clause_cannot(design: Design, cells: Cells) -> list[str]:
    past = [
        cell
        for cell, found in cells.items()
        if directive_level(found.passport.get("dbPlan", ""), design.db, "flashcache") == "off"
    ]
    return [
        *fairness.no_cache(cells),
        *([f"IORM does not let {design.db} use the flash cache of {fold(past)} (flashCache=off)"] if past else []),
    ]


def _clause_reading(design: Design) -> Reading:
    owner, name = _owner_and_name(design)
    # The column has 7 characters, and SQL*Plus before 12.2 cuts its heading to that length: so the alias is shorter.
    query = f"select cell_flash_cache clause from dba_tables where owner = '{owner}' and table_name = '{name}'"
    return Reading(statement=f'sql db={design.db} "{query}"', column="clause")


def _parameter_statement(design: Design, level: str) -> str:
    value = level if re.fullmatch(r"\w+", level, re.ASCII) else literal(level)
    known = design.of.strip('"').lower() in SPEED
    why = (
        "it does not know this one"
        if not known
        else f"'{level}' is not such a value of this one (`help docs risk` lists them)"
    )
    return _sql(
        design,
        f"alter system set {design.of} = {value}",
        SetParameter,
        f"exacell sets only parameters that affect nothing but speed; {why}",
    )


def _parameter_reading(design: Design) -> Reading:
    query = f"select value from v$parameter where name = '{design.of.lower()}'"
    return Reading(statement=f'sql db={design.db} "{query}"', column="value")


def _setting_statement(design: Design, level: str) -> str:
    return f"on {design.on} set setting {read_path(design.of)}={read_value(level)}"


FACTORS: Mapping[str, Factor] = {
    "flashlog": Factor(
        said=lambda _: "flash log",
        statement=lambda design, level: f"{'enable' if level == 'on' else 'disable'} flashlog db={design.db}",
        reading=lambda _: Reading(statement="list iormplan", column="dbPlan"),
        level=_level_in_plan,
        own=_without_directive,
        levels=("on", "off"),
        measures=("commits", "redo", "flashlog"),
        cannot=lambda _, cells: fairness.cannot_show(cells),
    ),
    "cell_flash_cache": Factor(
        of="OWNER.TABLE",
        said=lambda design: f"cell_flash_cache of {design.of.upper()}",
        statement=_clause_statement,
        reading=_clause_reading,
        levels=("keep", "default", "none"),
        measures=("reads",),
        cannot=_clause_cannot,
    ),
    "iorm": Factor(
        of="DIRECTIVE or objective",
        said=lambda design: "IORM objective" if _of_objective(design) else f"IORM {design.of}",
        statement=_iorm_statement,
        reading=lambda design: Reading(
            statement="list iormplan", column="objective" if _of_objective(design) else "dbPlan"
        ),
        level=lambda design, text: text if _of_objective(design) else _level_in_plan(design, text),
        own=lambda design, told: (
            {**told, "objective": ""} if _of_objective(design) else _without_directive(design, told)
        ),
        measures=("reads", "commits", "redo", "flashlog"),
        cannot=lambda design, cells: fairness.no_cache(cells) if design.of.lower().startswith("flashcache") else (),
    ),
    "setting": Factor(
        of="PATH",
        said=lambda design: f"{design.of.rpartition('/')[2]}",
        statement=_setting_statement,
        reading=lambda design: Reading(statement=f"on {design.on} show setting {design.of}", column="value"),
        measures=("fio", "reads", "commits", "redo"),
    ),
    "parameter": Factor(
        of="NAME",
        said=lambda design: design.of.lower(),
        statement=_parameter_statement,
        reading=_parameter_reading,
        measures=("commits", "redo", "reads"),
    ),
}
"""The factors, by the word with which factor= begins."""


def factor_of(design: Design) -> Factor:
    """Return the factor that a design switches."""
    return FACTORS[design.factor]


def factor_and_subject(text: str) -> tuple[str, str]:
    """Return the name of the factor in ``factor=``, and the word after its colon.

    Raises:
        StatementError: there is no such factor, or the word after the colon is missing or not allowed.
    """
    name, colon, of = text.partition(":")
    known = FACTORS.get(name.lower())
    if known is None or bool(colon and of) != bool(known.of) or (colon and not known.of):
        raise StatementError(f"factor={text} is unknown; use {', '.join(shapes())}")
    return name.lower(), of


def shapes() -> Iterator[str]:
    """Yield the written form of each factor."""
    for name, factor in FACTORS.items():
        yield f"{name}:{factor.of}" if factor.of else name


def statements(design: Design) -> list[str]:
    """Return the statement for each level.

    Raises:
        StatementError: the factor does not have this level, or exacell can't plan the statement.
    """
    factor = factor_of(design)
    if factor.levels and any(level not in factor.levels for level in design.levels):
        raise StatementError(
            f"levels={','.join(design.levels)}: {factor.said(design)} can be {', '.join(factor.levels)}"
        )
    return [factor.statement(design, level) for level in design.levels]


def level_of(design: Design, values: Iterable[str]) -> str:
    """Return the level of all ``values``, spelled as in the design if the design has it; empty if they differ.

    Raises:
        ReplyError: a plan can't be read.
    """
    found = {factor_of(design).level(design, text) for text in values}
    level = found.pop() if len(found) == 1 else ""
    return next((each for each in design.levels if each.lower() == level.lower()), level)
