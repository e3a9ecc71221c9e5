"""Commands of SQL*Plus for its buffer and files: LIST, APPEND, CHANGE, DEL, INPUT, GET, SAVE, STORE.

Source: Oracle SQL*Plus User's Guide, "Editing Scripts in SQL*Plus Command-Line". The last line is always the current one.
"""

from __future__ import annotations

import re

from exacell.emulator.ora_messages import sp2
from exacell.emulator.program import Out
from exacell.emulator.sqlplus.settings import split_words
from exacell.emulator.sqlplus.state import SqlPlusState, Step, rest_of


def numbered(text: str) -> str:
    """Return the lines of the buffer with their numbers; an asterisk marks the current one, the last."""
    lines = text.split("\n")
    return "".join(f"{n:3d}{'*' if n == len(lines) else ' '} {row}\n" for n, row in enumerate(lines, 1))


def list_buffer(state: SqlPlusState, _: str) -> Step:
    """LIST."""
    yield Out(numbered(state.buffer) if state.buffer else sp2(26) + "\n")
    return None


def append(state: SqlPlusState, text: str) -> Step:
    """APPEND text: two blanks behind the word keep one."""
    if not state.buffer:
        yield Out(sp2(23) + "\n")
        return None
    state.buffer += re.sub(r"^\S+ ?", "", text)
    yield Out(numbered(state.buffer).splitlines(keepends=True)[-1])
    return None


def change(state: SqlPlusState, text: str) -> Step:
    """CHANGE/old/new/."""
    match = re.fullmatch(r"[A-Za-z]+\s*([^A-Za-z0-9\s])(.*?)(?:\1(.*?)(?:\1)?)?", text)
    lines = state.buffer.split("\n")
    if match is None or match[2] not in lines[-1]:
        yield Out(sp2(23) + "\n")
        return None
    lines[-1] = lines[-1].replace(match[2], match[3] or "", 1)
    state.buffer = "\n".join(lines)
    yield Out(numbered(state.buffer).splitlines(keepends=True)[-1])
    return None


def delete(state: SqlPlusState, text: str) -> Step:
    """DEL [n | n m | * | LAST]."""
    lines = state.buffer.split("\n") if state.buffer else []
    places = {"*": len(lines), "LAST": len(lines)}
    words = rest_of(text).upper().split() or ["*"]
    numbers = [places.get(word, int(word) if word.isdigit() else 0) for word in words[:2]]
    if not lines or not all(1 <= number <= len(lines) for number in numbers):
        yield Out(sp2(26 if not lines else 25) + "\n")
        return None
    del lines[numbers[0] - 1 : numbers[-1]]
    state.buffer = "\n".join(lines)
    return None


def insert(state: SqlPlusState, text: str) -> Step:
    """INPUT [text]: without it lines are read up to an empty one."""
    given = rest_of(text)
    while True:
        line = given or (yield from state.read("   "))
        if not line:
            return None
        state.buffer = f"{state.buffer}\n{line}" if state.buffer else line
        if given:
            return None


def _named(word: str, suffix: str) -> str:
    return word if "." in word.rpartition("/")[2] else f"{word}.{suffix}"


def get(state: SqlPlusState, text: str) -> Step:
    """GET file [LIST | NOLIST]: the file becomes the buffer."""
    words = split_words(rest_of(text))
    name = _named(words[0], state.settings.suffix) if words else ""
    found = state.read_file(name) if state.read_file is not None and words else None
    if found is None:
        yield Out(sp2(310, name) + "\n")
        return state.react(state.on_os_error)
    lines = found.rstrip().splitlines()
    state.buffer = "\n".join(lines[:-1] if lines[-1:] == ["/"] else lines).rstrip().removesuffix(";")
    yield Out("" if [word.upper() for word in words[1:2]] == ["NOLIST"] else numbered(state.buffer))
    return None


def save(state: SqlPlusState, text: str) -> Step:
    """SAVE file [CREATE | REPLACE | APPEND]: the buffer becomes a file."""
    words = split_words(rest_of(text))
    if not words or not state.buffer:
        yield Out(sp2(107 if not state.buffer else 110, "") + "\n")
        return None
    name = _named(words[0], state.settings.suffix)
    return (yield from _write(state, name, f"{state.buffer}\n/\n", words[1:]))


def store(state: SqlPlusState, text: str) -> Step:
    """STORE SET file [CREATE | REPLACE | APPEND]: the settings as a script that sets them again."""
    words = split_words(rest_of(text))
    if len(words) < 2 or words[0].upper() != "SET":
        yield Out("Usage: STORE {SET} filename[.ext] [CRE[ATE]|REP[LACE]|APP[END]]\n")
        return None
    name = _named(words[1], state.settings.suffix)
    return (yield from _write(state, name, settings_script(state), words[2:]))


def _write(state: SqlPlusState, name: str, content: str, words: list[str]) -> Step:
    mode = words[0].upper()[:3] if words else "CRE"
    if mode == "CRE" and state.read_file is not None and state.read_file(name) is not None:
        yield Out(sp2(540, name) + "\n")
        return state.react(state.on_os_error)
    if state.write_file is None or not state.write_file(name, content, mode == "APP"):
        yield Out(sp2(110, name) + "\n")
        return state.react(state.on_os_error)
    done = {"REP": "Wrote", "APP": "Appended"}.get(mode, "Created")
    yield Out(f"{done} file {name}\n" if done != "Appended" else f"Appended file to {name}\n")
    return None


def settings_script(state: SqlPlusState) -> str:
    """Return SET commands that bring the session's settings back."""
    settings = state.settings
    values: dict[str, str] = {
        "colsep": f'"{settings.colsep}"',
        "define": f'"{settings.define}"' if settings.define else "OFF",
        "feedback": str(settings.feedback) if settings.feedback else "OFF",
        "linesize": str(settings.linesize),
        "newpage": "NONE" if settings.newpage is None else str(settings.newpage),
        "null": f'"{settings.null}"',
        "numwidth": str(settings.numwidth),
        "pagesize": str(settings.pagesize),
        "sqlprompt": f'"{settings.sqlprompt}"',
        "underline": f'"{settings.underline}"' if settings.underline else "OFF",
        "headsep": f'"{settings.headsep}"' if settings.headsep else "OFF",
        "suffix": f'"{settings.suffix}"',
    }
    switches = ("heading", "sqlblanklines", "tab", "termout", "timing", "trimout", "verify", "wrap")
    values |= {name: "ON" if getattr(settings, name) else "OFF" for name in switches}
    for name in ("ARRAYSIZE", "ECHO", "LONG", "LONGCHUNKSIZE", "SERVEROUTPUT", "TRIMSPOOL", "TIME", "RECSEP"):
        if name in settings.others:
            values[name.lower()] = settings.others[name]
    return "".join(f"set {name} {value}\n" for name, value in sorted(values.items()))
