"""The tree that a PL/SQL block is parsed into: frozen nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from exacell.emulator.sql.tree import Expression, Query


class TypeKind(StrEnum):
    """How a type is written."""

    NUMBER = "number"
    WHOLE = "whole"
    TEXT = "text"
    DATE = "date"
    BOOLEAN = "boolean"
    ANCHOR = "anchor"
    ROW = "row"
    NAMED = "named"
    RECORD = "record"
    TABLE = "table"
    CURSOR = "cursor"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A piece of a block; ``at`` is its offset in the block's text."""

    at: int = 0


@dataclass(frozen=True, kw_only=True)
class TypeName(Node):
    """A type as a declaration writes it.

    Attributes:
        width: characters of a text, digits of a number; 0 when not given.
        scale: decimals of a number, None when not given.
        name: the name that ``%TYPE``, ``%ROWTYPE`` or a named type refers to, with dots.
        fields: the names and types of a RECORD's fields.
        element: the element type of a TABLE or VARRAY.
    """

    kind: TypeKind
    width: int = 0
    scale: int | None = None
    name: str = ""
    fields: tuple[tuple[str, TypeName], ...] = ()
    element: TypeName | None = None


@dataclass(frozen=True, kw_only=True)
class VariableDeclaration(Node):
    """``name [CONSTANT] type [NOT NULL] [:= default]``."""

    name: str
    type: TypeName
    constant: bool = False
    default: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class TypeDeclaration(Node):
    """``TYPE name IS …``."""

    name: str
    type: TypeName


@dataclass(frozen=True, kw_only=True)
class ExceptionDeclaration(Node):
    """``name EXCEPTION``; ``code`` is the code that PRAGMA EXCEPTION_INIT gives it, 0 for none."""

    name: str
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a cursor or of a local procedure; ``out`` for OUT and IN OUT."""

    name: str
    type: TypeName
    default: Expression | None = None
    out: bool = False


@dataclass(frozen=True, kw_only=True)
class CursorDeclaration(Node):
    """``CURSOR name[(parameters)] IS query``."""

    name: str
    parameters: tuple[Parameter, ...]
    query: Query


@dataclass(frozen=True, kw_only=True)
class RoutineDeclaration(Node):
    """A local PROCEDURE, or FUNCTION when it returns something."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: TypeName | None
    body: Block


Declaration = VariableDeclaration | TypeDeclaration | ExceptionDeclaration | CursorDeclaration | RoutineDeclaration


@dataclass(frozen=True, kw_only=True)
class Target(Node):
    """The target of an assignment: ``name``, ``name.field``, ``name(index)[.field]`` or ``:name``."""

    name: str
    field: str = ""
    index: Expression | None = None
    bind: bool = False


@dataclass(frozen=True, kw_only=True)
class Null(Node):
    """``NULL;``"""


@dataclass(frozen=True, kw_only=True)
class Assign(Node):
    """``target := expression;``"""

    target: Target
    value: Expression


@dataclass(frozen=True, kw_only=True)
class If(Node):
    """IF, ELSIF and ELSE; also a CASE statement (``case`` is then True), which fails if no branch fits."""

    branches: tuple[tuple[Expression, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...] | None
    case: bool = False


@dataclass(frozen=True, kw_only=True)
class Loop(Node):
    """``LOOP``, or ``WHILE condition LOOP``."""

    body: tuple[Statement, ...]
    condition: Expression | None = None
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class NumericFor(Node):
    """``FOR name IN [REVERSE] low..high LOOP``."""

    name: str
    low: Expression
    high: Expression
    reverse: bool
    body: tuple[Statement, ...]
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class CursorFor(Node):
    """``FOR record IN (query) LOOP`` or ``FOR record IN cursor[(arguments)] LOOP``."""

    record: str
    query: Query | None
    cursor: str
    arguments: tuple[Expression, ...]
    body: tuple[Statement, ...]
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Leave(Node):
    """``EXIT``, or ``CONTINUE`` (``again``), ``[label] [WHEN condition]``."""

    again: bool
    label: str
    condition: Expression | None


@dataclass(frozen=True, kw_only=True)
class Open(Node):
    """``OPEN cursor[(arguments)]`` or ``OPEN cursor FOR query | text [USING …]``."""

    cursor: str
    arguments: tuple[Expression, ...] = ()
    query: Query | None = None
    text: Expression | None = None
    using: tuple[Expression, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fetch(Node):
    """``FETCH cursor [BULK COLLECT] INTO targets [LIMIT n]``."""

    cursor: str
    targets: tuple[Target, ...]
    bulk: bool
    limit: Expression | None


@dataclass(frozen=True, kw_only=True)
class Close(Node):
    """``CLOSE cursor``."""

    cursor: str


@dataclass(frozen=True, kw_only=True)
class SelectInto(Node):
    """``SELECT … [BULK COLLECT] INTO targets FROM …``."""

    query: Query
    targets: tuple[Target, ...]
    bulk: bool


@dataclass(frozen=True, kw_only=True)
class Immediate(Node):
    """``EXECUTE IMMEDIATE text [[BULK COLLECT] INTO targets] [USING …]``."""

    text: Expression
    targets: tuple[Target, ...]
    bulk: bool
    using: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Sql(Node):
    """The text of a statement that changes rows, or of COMMIT and similar statements."""

    text: str


@dataclass(frozen=True, kw_only=True)
class CallStatement(Node):
    """``name[(arguments)];``; ``names`` has the names of named arguments, and an empty one for the others."""

    name: str
    arguments: tuple[Expression, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Return(Node):
    """``RETURN [expression];``"""

    value: Expression | None


@dataclass(frozen=True, kw_only=True)
class Raise(Node):
    """``RAISE [name];``"""

    name: str


@dataclass(frozen=True, kw_only=True)
class Handler(Node):
    """``WHEN name [OR name] THEN statements``."""

    names: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class Block(Node):
    """``[DECLARE …] BEGIN … [EXCEPTION …] END``."""

    declarations: tuple[Declaration, ...]
    body: tuple[Statement, ...]
    handlers: tuple[Handler, ...]
    label: str = ""


Statement = (
    Null | Assign | If | Loop | NumericFor | CursorFor | Leave | Open | Fetch | Close | SelectInto | Immediate | Sql
    | CallStatement | Return | Raise | Block
)  # fmt: skip
