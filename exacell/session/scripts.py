"""Turn the lines of a script into statements: continuation lines are joined, and line numbers are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from exacell.core.errors import StatementError, why_unreadable
from exacell.core.lookalikes import LookalikeError
from exacell.core.values import dataclass
from exacell.language.pasted import here_document, pasted
from exacell.language.words import join_continued, needs_more, scan, split_statements, strip_comment


@dataclass(frozen=True, kw_only=True)
class ScriptStatement:
    """One statement of a script; ``number`` is the line on which it starts, from 1."""

    text: str
    number: int


def script_at(path: Path) -> list[ScriptStatement]:
    """Return the statements of the script file at ``path``.

    Raises:
        StatementError: it can't be read, or ends inside a statement; the message names the file.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            return list(read_script(stream))
    except (OSError, UnicodeDecodeError) as error:
        raise StatementError(f"{path} can't be read: {why_unreadable(error)}") from error
    except StatementError as error:
        raise StatementError(f"{path}: {error.message}", hint=error.hint) from error


def read_script(lines: Iterable[str]) -> Iterator[ScriptStatement]:
    """Yield the statements of a script as soon as each is complete.

    A statement ends with its line, unless that ends in ``-`` or leaves a quote or parenthesis open; ``;`` separates
    several on one line. A here-document for cellcli or dcli gives the statements in it. Empty lines and comments are skipped.

    Raises:
        StatementError: the script ends inside a statement.
    """
    pending: list[str] = []
    first = 0
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        if not pending and _is_silent(line):
            continue
        if not pending:
            first = number
        pending.append(line)
        whole = "\n".join(pending)
        here = here_document(whole)
        joined = whole if here is not None else join_continued(pending)
        if needs_more(joined):
            continue
        pending = []
        for text in split_statements(pasted(joined) if here else joined):
            yield ScriptStatement(text=text, number=first)
    if pending:
        joined = join_continued([*pending, ""]) if pending[-1].rstrip().endswith("-") else join_continued(pending)
        if needs_more(joined):
            end = len(joined)
            _refuse_foreign_quote(joined, first)
            raise StatementError(
                f"the statement that starts on line {first} never ends: a quote or parenthesis is open; close it",
                start=end,
                end=end,
            )
        for text in split_statements(joined):
            yield ScriptStatement(text=text, number=first)


def _refuse_foreign_quote(text: str, line: int) -> None:
    """Raise StatementError if the open quote of a statement is followed by a typographic quote that looks like its end.

    Raises:
        StatementError: the message names the line on which the statement starts, and the character.
    """
    try:
        for _ in scan(text):
            pass
    except LookalikeError as error:
        raise StatementError(
            f"line {line}: {error.message}", start=error.start, end=error.end, hint=error.hint
        ) from error
    except StatementError:
        return


def _is_silent(line: str) -> bool:
    first = line.lstrip()
    if not first:
        return True
    if first.startswith(("#", "--")) or first.split(None, 1)[0].lower() in ("rem", "remark"):
        return not strip_comment(line).strip()
    return False
