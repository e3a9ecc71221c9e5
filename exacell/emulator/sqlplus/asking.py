"""ACCEPT and DEFINE of SQL*Plus: substitution variables that the user sets, and predefined ones.

Source: Oracle SQL*Plus User's Guide, ACCEPT, DEFINE, "Predefined Variables".
"""

from __future__ import annotations

from exacell.emulator.basics.ora_messages import OraError, sp2
from exacell.emulator.basics.program import Out
from exacell.emulator.sql.date_masks import parse_date
from exacell.emulator.sql.values import to_number
from exacell.emulator.sqlplus.settings import split_words
from exacell.emulator.sqlplus.state import SqlPlusState, Step, rest_of

_KINDS = ("NUMBER", "CHAR", "DATE", "BINARY_FLOAT", "BINARY_DOUBLE")


def prompt_of(state: SqlPlusState) -> str:
    """Return the prompt, with names of predefined variables replaced by their values and without single quotes."""
    text = state.settings.sqlprompt
    if "_" in text:
        for name, value in state.predefined().items():
            text = text.replace(name, value).replace(name.lower(), value)
        text = text.replace("'", "")
    return text


def define(state: SqlPlusState, text: str) -> Step:
    """Carry out DEFINE [name [= value]]."""
    name, equal, value = rest_of(text).partition("=")
    name = name.strip().upper()
    if equal:
        words = split_words(value)
        if not words and not value.strip():
            yield Out(sp2(137) + "\n")
            return None
        state.variables[name] = value.strip() if len(words) > 1 else "".join(words)
        return None
    known = state.predefined() | state.variables
    for variable, stored in known.items():
        if not name or variable == name:
            kind = "NUMBER" if variable in state.numeric else "CHAR"
            shown = f"{stored:>10}" if kind == "NUMBER" else f'"{stored}"'
            yield Out(f"DEFINE {variable:<15} = {shown} ({kind})\n")
    if name and name not in known:
        yield Out(sp2(135, name.lower()) + "\n")
    return None


def accept(state: SqlPlusState, text: str) -> Step:
    """Carry out ACCEPT name [NUMBER|CHAR|DATE] [FORMAT f] [DEFAULT d] [PROMPT text | NOPROMPT] [HIDE]."""
    words = split_words(rest_of(text))
    if not words:
        yield Out(sp2(3, text[:10]) + "\n")
        return None
    name, kind, date_format, default, prompt = words.pop(0).upper(), "CHAR", state.date_format, "", ""
    while words:
        word = words.pop(0).upper()
        found = next((known for known in _KINDS if len(word) >= 3 and known.startswith(word)), "")
        if found:
            kind = found
        elif "FORMAT".startswith(word) and len(word) >= 3 and words:
            date_format = words.pop(0)
        elif "DEFAULT".startswith(word) and len(word) >= 3 and words:
            default = words.pop(0)
        elif word == "PROMPT" and words:
            prompt = words.pop(0)
        elif not ("HIDE".startswith(word) or "NOPROMPT".startswith(word)):
            yield Out(sp2(3, text[:10]) + "\n")
            return None
    while True:
        answer = yield from state.read(prompt, always=True)
        value = answer or default
        wrong = _wrong(value, kind, date_format) if answer is not None else ""
        if not wrong:
            state.variables[name] = value
            state.numeric = state.numeric - {name} | ({name} if kind != "CHAR" and kind != "DATE" else set())
            return None
        yield Out(wrong + "\n")


def _wrong(value: str, kind: str, date_format: str) -> str:
    """Return the message for an answer of the wrong kind; empty for a right one."""
    try:
        if kind == "DATE":
            parse_date(value, date_format)
        elif kind != "CHAR":
            to_number(value or "0")
    except OraError:
        return sp2(685, value, date_format) if kind == "DATE" else sp2(425, value)
    return ""
