"""Declarations of the commands that :mod:`exacell.commands.journal` carries out."""

from __future__ import annotations

from exacell.language.registry import TIMES, Command, Effect, Flag, Kind, Param

GROUP = "change control"

FILTERS = (
    Param(
        name="since",
        kind=Kind.TEXT,
        examples=TIMES,
        help="from that time on: today, yesterday, 2h, 7d, 2026-03-01, 2026-03-01T08:00 (local time)",
    ),
    Param(name="until", kind=Kind.TEXT, examples=TIMES, help="up to that time, in the same forms"),
    Param(name="user", kind=Kind.NAME, help="changes of this operating-system user (or who became root by sudo)"),
    Param(name="cell", kind=Kind.CELL, help="changes that touched this cell or database node"),
    Param(name="ticket", kind=Kind.NAME, help="changes with this ticket"),
    Param(name="word", kind=Kind.TEXT, help="changes with this text in the statement"),
)

_FILE = Param(name="file", kind=Kind.FILE, help="the file of another journal, such as one that journal restart renamed")

_FAILED = Flag(name="failed", help="only changes that did not end well, or did not end")

_ALL = Flag(name="all-racks", help="of every rack, not only of this one")

RECENT = 20
"""Number of changes that ``journal`` shows without parameters."""

COMMANDS = (
    Command(
        name="journal show",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="the changes made on this rack, or one of them as a page",
        details="Who (operating-system user, SUDO_USER, host, key fingerprint when known), why (--reason, --ticket, "
        "recipe), statement, targets, risk and how it ended, in this host's time. With a number: that change as a "
        "page, each statement with its reply and what was read back, equal cells together. --format=json prints "
        "every row of it.",
        example="journal show since=7d",
        params=(
            Param(
                name="change",
                kind=Kind.CHANGE,
                positional=True,
                help="its number: who, why, statements, replies, how it ended",
            ),
            *FILTERS,
            _FILE,
        ),
        flags=(_FAILED, _ALL),
        handler="exacell.commands.journal:show",
    ),
    Command(
        name="journal",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary=f"the last {RECENT} changes made on this rack; journal show lists all",
        details="With a number: that change as a page, as journal show does.",
        example="journal",
        params=(
            Param(
                name="change",
                kind=Kind.CHANGE,
                positional=True,
                help="its number: who, why, statements, replies, how it ended",
            ),
            *FILTERS,
        ),
        flags=(_FAILED, _ALL),
        handler="exacell.commands.journal:recent",
    ),
    Command(
        name="journal export",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="all rows, for an auditor or a program: jsonl with the hash chain, or csv",
        details="jsonl: one object per row with everything, also prev and hash, so that any program can follow "
        "the chain (help docs journal explains how). csv: one line per row with who, why, statement, reply and "
        "verification as columns. Rows are written while they are read, and the chain is checked at the same time: "
        "exit code 1 means that it is damaged.",
        example="journal export format=csv since=30d > changes.csv",
        params=(
            Param(name="format", kind=Kind.CHOICE, choices=("jsonl", "csv"), default="jsonl", help="of the rows"),
            *FILTERS,
            _FILE,
        ),
        flags=(_FAILED, _ALL),
        streams=True,
        handler="exacell.commands.journal:export",
    ),
    Command(
        name="journal verify",
        group=GROUP,
        effect=Effect.READ,
        asks=False,
        summary="check the hash chain: no row edited, removed, moved or cut off",
        details="The number and hash of the newest row are also in a second file, and every change prints them. "
        "Keep that line elsewhere: with it a cut tail is found even when both files were rewritten.",
        example="journal verify",
        params=(
            _FILE,
            Param(name="head", kind=Kind.TEXT, help="a head that a change printed: 17:1f0c2b… must be a row"),
        ),
        handler="exacell.commands.journal:verify",
    ),
    Command(
        name="journal restart",
        group=GROUP,
        effect=Effect.LOCAL,
        summary="put a damaged journal aside and begin a new one",
        details="The damaged file stays beside the new one, whose first row names it and its last good row. "
        "Warnings that pending shows are carried over. Refused while the journal is whole.",
        example="journal restart --reason='disk repaired'",
        recipe_ok=False,
        handler="exacell.commands.journal:restart",
    ),
)
