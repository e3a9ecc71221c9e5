"""The tree that a query is parsed into: frozen nodes, equal when they mean the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass(frozen=True)
class Literal:
    """A constant."""

    value: str | int | Decimal | None


@dataclass(frozen=True)
class Column:
    """``[qualifier.]name``; ``at`` is its offset in the statement and does not count for equality.

    ``optional`` is set by ``(+)``: the column's source may have no matching row.
    """

    qualifier: str
    name: str
    at: int = field(default=0, compare=False)
    optional: bool = False


@dataclass(frozen=True)
class Star:
    """``*`` or ``alias.*`` in a select list."""

    qualifier: str = ""
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Unary:
    """``-x``, ``NOT x``, ``PRIOR x`` or ``CONNECT_BY_ROOT x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    """Arithmetic, ``||``, comparison, AND, OR."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsNull:
    """``x IS [NOT] NULL``."""

    operand: Expression
    negated: bool


@dataclass(frozen=True)
class InList:
    """``x [NOT] IN (a, b)`` or ``x [NOT] IN (query)``."""

    operand: Expression
    choices: tuple[Expression, ...] | Query
    negated: bool


@dataclass(frozen=True)
class Like:
    """``x [NOT] LIKE pattern [ESCAPE c]``."""

    operand: Expression
    pattern: Expression
    escape: Expression | None
    negated: bool


@dataclass(frozen=True)
class Between:
    """``x [NOT] BETWEEN low AND high``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True)
class Case:
    """``CASE [subject] WHEN c THEN v ... [ELSE v] END``."""

    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True)
class Call:
    """A function call; ``star`` for ``count(*)``, ``keep`` is the order of KEEP (DENSE_RANK FIRST|LAST ORDER BY …)."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False
    at: int = field(default=0, compare=False)
    keep: tuple[Order, ...] = ()
    keep_last: bool = False


@dataclass(frozen=True)
class Cast:
    """``CAST(x AS type)``: the type's name and its width, 0 if none is given."""

    operand: Expression
    type: str
    width: int = 0


@dataclass(frozen=True)
class Scalar:
    """A sub-query that returns one value."""

    query: Query


@dataclass(frozen=True)
class RowValue:
    """``(a, b)``, which IN compares part by part."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Quantified:
    """``x op ANY|ALL (a, b)`` or ``x op ANY|ALL (query)``."""

    operator: str
    operand: Expression
    every: bool
    choices: tuple[Expression, ...] | Query


@dataclass(frozen=True)
class Exists:
    """``EXISTS (query)``."""

    query: Query


Expression = (
    Literal
    | Column
    | Star
    | Unary
    | Binary
    | IsNull
    | InList
    | Like
    | Between
    | Case
    | Call
    | Cast
    | Scalar
    | RowValue
    | Quantified
    | Exists
)


@dataclass(frozen=True)
class Item:
    """One column of a select list; ``text`` is its source without blanks, which is its heading when it has no alias."""

    expression: Expression
    alias: str
    text: str


@dataclass(frozen=True)
class XmlRows:
    """``TABLE(XMLSEQUENCE(x))`` or ``XMLTABLE(path PASSING x COLUMNS …)``: rows made of an XML text.

    Attributes:
        path: the path of the rows; empty for XMLSEQUENCE, whose text consists of the nodes.
        columns: name, type, width and path of each column.
    """

    document: Expression
    path: str = ""
    columns: tuple[tuple[str, str, int, str], ...] = ()


@dataclass(frozen=True)
class Source:
    """A view, a sub-query or rows of an XML text in FROM, and how it is joined to the sources before it."""

    view: str
    query: Query | None
    alias: str
    join: str = "cross"
    on: Expression | None = None
    using: tuple[str, ...] = ()
    at: int = field(default=0, compare=False)
    xml: XmlRows | None = None


@dataclass(frozen=True)
class Hierarchy:
    """``[START WITH c] CONNECT BY [NOCYCLE] c``."""

    start: Expression | None
    connect: Expression
    nocycle: bool


@dataclass(frozen=True)
class Block:
    """One SELECT; ``grouping_sets`` are the sets of keys, out of ``group_by``, by which ROLLUP and similar clauses group."""

    items: tuple[Item, ...]
    sources: tuple[Source, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    having: Expression | None
    distinct: bool
    hierarchy: Hierarchy | None = None
    grouping_sets: tuple[tuple[Expression, ...], ...] = ()


@dataclass(frozen=True)
class Order:
    """One ORDER BY term; ``nulls_first`` None means Oracle's default (last when ascending)."""

    expression: Expression
    descending: bool
    nulls_first: bool | None


@dataclass(frozen=True)
class Query:
    """A complete query: blocks, the set operators between them, order and limit (``percent``: of all rows)."""

    blocks: tuple[Block, ...]
    operators: tuple[str, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    named: tuple[tuple[str, Query], ...] = ()
    siblings: bool = False
    percent: bool = False
