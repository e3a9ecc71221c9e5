"""Compiles calls of group functions: COUNT, SUM, LISTAGG, PERCENTILE_CONT, and KEEP (DENSE_RANK …)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cmp_to_key
from typing import Protocol

from exacell.emulator.basics.ora_messages import OraError, ora
from exacell.emulator.sql import tree
from exacell.emulator.sql.compare import compare_for_order
from exacell.emulator.sql.function_base import SqlSettings
from exacell.emulator.sql.functions import GROUP_FUNCTIONS
from exacell.emulator.sql.more_functions import percentile
from exacell.emulator.sql.scope import Compiled, Env, Scope
from exacell.emulator.sql.values import NUMBER, ColumnType, Value, char, checked_text, to_number, to_text
from exacell.emulator.sql.walk import PERCENTILES


class Compiler(Protocol):
    """Compiles the arguments."""

    settings: SqlSettings

    def value(self, expression: tree.Expression, scope: Scope) -> tuple[Compiled, ColumnType]:
        """Return a function that computes an expression, and the type of its value."""


def group_call(compiler: Compiler, call: tree.Call, scope: Scope) -> tuple[Compiled, ColumnType]:
    """Compile a call of a group function; it reads the rows of the group that a row represents.

    Raises:
        OraError: the call has no arguments or too many.
    """
    if call.star:
        if call.name != "COUNT":
            raise OraError(ora(936), at=call.at)
        return (lambda env: len(env.group or ())), NUMBER
    compiled = [compiler.value(argument, scope) for argument in call.arguments]
    if not compiled:
        raise OraError(ora(938), at=call.at)
    function, kind = compiled[0]
    if call.name == "LISTAGG":
        return _listagg(compiled, compiler.settings.date_format), char(4000)
    if call.name in PERCENTILES and len(compiled) == 2:
        return _percentile(call, compiled), compiled[1][1]
    if len(compiled) > 1:
        raise OraError(ora(909), at=call.at)
    reduce = GROUP_FUNCTIONS[call.name]
    kept = _kept(compiler, call, scope)

    def over_group(env: Env) -> Value:
        values = [value for member in kept(env.group or ()) if (value := function(member)) is not None]
        return reduce(list(dict.fromkeys(values)) if call.distinct else values)

    if call.name == "WM_CONCAT":
        return over_group, char(4000)
    return over_group, kind if call.name in ("MIN", "MAX") else NUMBER


def _kept(compiler: Compiler, call: tree.Call, scope: Scope) -> Callable[[Sequence[Env]], Sequence[Env]]:
    """Return a function that chooses the rows of a group for KEEP (DENSE_RANK FIRST|LAST ORDER BY …)."""
    if not call.keep:
        return lambda members: members
    keys = [compiler.value(order.expression, scope)[0] for order in call.keep]

    def difference(one: Env, two: Env) -> int:
        for key, order in zip(keys, call.keep, strict=True):
            if result := compare_for_order(key(one), key(two), order.descending, order.nulls_first):
                return result
        return 0

    def chosen(members: Sequence[Env]) -> Sequence[Env]:
        ordered = sorted(members, key=cmp_to_key(difference))
        extreme = ordered[-1 if call.keep_last else 0] if ordered else None
        return [member for member in ordered if extreme is not None and not difference(member, extreme)]

    return chosen


def _percentile(call: tree.Call, compiled: Sequence[tuple[Compiled, ColumnType]]) -> Compiled:
    (fraction, _), (function, _) = compiled

    def over_group(env: Env) -> Value:
        values = [value for member in env.group or () if (value := function(member)) is not None]
        share = Decimal(to_number(fraction(env)) or 0)
        return percentile(values, share, exact=call.name == "PERCENTILE_DISC")

    return over_group


def _listagg(compiled: Sequence[tuple[Compiled, ColumnType]], date_format: str) -> Compiled:
    function, separator = compiled[0][0], compiled[1][0] if len(compiled) > 1 else (lambda _: None)
    order = compiled[2][0] if len(compiled) > 2 else None

    def joined(env: Env) -> Value:
        members = list(env.group or ())
        if order is not None:
            members.sort(key=cmp_to_key(lambda a, b: compare_for_order(order(a), order(b), False, None)))
        texts = [to_text(function(member), date_format) for member in members]
        between = to_text(separator(env)) or ""
        return checked_text(between.join(text for text in texts if text is not None))

    return joined
