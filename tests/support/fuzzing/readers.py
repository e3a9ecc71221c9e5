"""The readers of what others wrote: each is given bytes, and only exacell's own errors may leave it.

A reader is called as the program calls it: bytes become text as they do there. What it returns goes on to what works with it
right away, because that is where a wrong value would show. Nothing is run, and nothing is written but the one file that a
reader of files takes.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType

from exacell.care import sqltext
from exacell.cellcli.condition import is_condition, parse_condition, read_check, read_wait
from exacell.cellcli.framing import TEMPLATES, Framer, Marker, Probe
from exacell.cellcli.messages import errors, successes
from exacell.cellcli.nodes import List
from exacell.cellcli.reply import (
    cut_line,
    read_columns,
    read_describe,
    read_detail,
    read_xml_documents,
    stray_line,
)
from exacell.cellcli.rows import read_rows
from exacell.cellcli.schema import values
from exacell.cellcli.statement import columns, parse, render
from exacell.core.cellset import CellSet
from exacell.core.config import load, parse_rack
from exacell.core.errors import ExacellError
from exacell.core.paths import Home
from exacell.core.racks import parse_cellip, parse_group_file
from exacell.core.units import parse_duration, parse_size
from exacell.core.values import dataclass
from exacell.language.argv import argv_line
from exacell.language.line import parse_line
from exacell.language.options import read_argv
from exacell.language.pasted import goes_on, here_document, pasted, without_shell
from exacell.language.pasted_shell import program_error
from exacell.language.pasted_sql import is_block, sql_error, sql_goes_on, without_comments
from exacell.language.reading import read_fact, read_reading, read_until
from exacell.language.suggest import suggest
from exacell.language.suggestion import Known
from exacell.measure.importers import (
    asmcmd,
    awr,
    blocks,
    calibrate,
    drive,
    fio,
    iostat,
    orion,
    sar,
    slob,
    vscsi,
    vsphere,
)
from exacell.measure.importers.findings import Imported, alone, pair
from exacell.measure.importers.kinds import KINDS, read as read_import, together as together_in
from exacell.measure.trace10046 import filling, summarize, together
from exacell.opaque.lexing import patterns_quoted
from exacell.opaque.scan import absences_in, command_findings, filter_findings, script_findings
from exacell.opaque.shell import unread_programs
from exacell.opaque.sql import read_sql
from exacell.recipes.checker import problems_of, remarks_of
from exacell.recipes.parsing import read_draft
from exacell.transport.dcli_answers import Answers
from exacell.transport.ssh.hostkeys import HostKey, KnownHosts
from exacell.transport.ssh.resolving import Reader as SshConfigReader, UnknownError
from exacell.transport.ssh.sshconfig import SshConfigFiles, programs_named

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"

LONGEST = 32 << 10
"""So many bytes a reader is given at most."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One reader of what others wrote.

    Attributes:
        about: what it reads, as a phrase.
        reads: reads the bytes, and works with what was read.
        modules: the modules of exacell whose lines are counted.
        seeds: returns texts to begin with.
        passes: errors that may leave it.
        usual: so many bytes a text has at most unless a part of it is repeated; short ones are read faster.
    """

    about: str
    reads: Callable[[bytes], object]
    modules: tuple[str, ...]
    seeds: Callable[[], Iterable[bytes]]
    passes: tuple[type[Exception], ...] = (ExacellError,)
    usual: int = 400


def _each(*attempts: Callable[[], object]) -> None:
    """Make all attempts: an error of exacell in one does not keep the others from it."""
    for attempt in attempts:
        try:
            attempt()
        except ExacellError:
            continue


def files(*patterns: str, longest: int = LONGEST) -> Iterator[bytes]:
    """Yield the contents of the files under tests/data; of a long one its beginning."""
    for pattern in patterns:
        for path in sorted(DATA.glob(pattern)):
            yield path.read_bytes()[:longest]


def lines(*patterns: str) -> Iterator[bytes]:
    """Yield each different line of the files under tests/data."""
    yield from dict.fromkeys(
        line for content in files(*patterns, longest=1 << 20) for line in content.split(b"\n") if line
    )


# Replies of CellCLI

_TYPES = ("flashcache", "metriccurrent", "alerthistory", "iormplan", "cell")
_OTHERS = (("", ("name", "size")), ("celldisk", ("name", "cell")), ("griddisk", ("name", "size", "status")))


@cache
def _asked() -> tuple[tuple[str, tuple[str, ...]], ...]:
    statements = (parse(f"list {name}") for name in _TYPES)
    return (
        *((name, columns(one)) for name, one in zip(_TYPES, statements, strict=True) if isinstance(one, List)),
        *_OTHERS,
    )


def _reply(data: bytes) -> None:
    """Read an answer as one of several objects; which one, its length says."""
    text = data.decode("utf-8", "backslashreplace")
    asked = _asked()
    name, wanted = asked[len(data) % len(asked)]
    for record in (*read_columns(text, wanted, name), *read_detail(text, name)):
        values(record, name)
    rows = read_rows({"exa1cel01": text, "exa1cel02": text}, wanted, name)
    assert len(list(rows)) == len(rows)
    read_describe(text)
    stray_line(text)
    stray_line(text, indents=False)
    cut_line(text)
    errors(text)
    successes(text)


def _xml(data: bytes) -> None:
    for document in read_xml_documents(data.decode("utf-8", "backslashreplace")):
        for record in document.records:
            values(record, "metriccurrent")


_NAMES = tuple(f"nm{number}" for number in range(2 * len(TEMPLATES)))


def _session(data: bytes) -> None:
    """Feed the probe up to the first NUL, then the framer; each further NUL ends a piece."""
    said, *pieces = data.split(b"\0")
    probe = Probe(_NAMES)
    probe.feed(said)
    framer = Framer(probe.found() or Marker(template=TEMPLATES[0], before=b"DM-1: no ", lead=b"\n"))
    framer.ask(["list cell"], "nm0", fence="nm1" if len(pieces) % 2 else None)
    for piece in pieces:
        framer.feed(piece)
        framer.settle()


def _dcli(data: bytes) -> None:
    said, _, stderr = data.partition(b"\0")
    answers = Answers(["exa1cel01", "exa1cel02"], "ended", 4096)
    for piece in re.split(b"(?<=\n\n)", said):
        answers.take(piece)
    answers.ended(stderr.decode("utf-8", "backslashreplace"))


# What is typed


def _cellcli(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    statement = parse(text)
    again = parse(render(statement))
    assert render(again) == render(statement), "what is rendered reads as another statement"


def _known() -> Known:
    return Known(names=lambda kind: ("exa1cel01", "exa1cel02", "SPOT"))


def _statement(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    _each(
        partial(parse_line, text),
        partial(parse_line, text, shell=False),
        partial(here_document, text),
        partial(goes_on, text),
        partial(pasted, text),
        partial(without_shell, text),
        partial(sql_error, text),
        partial(sql_goes_on, text),
        partial(without_comments, text),
        partial(is_block, text),
    )
    if text.split():
        _each(partial(program_error, text, ""), partial(program_error, text, "exa1cel[01-03]"))


def _suggest(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for one in suggest(text, _known(), fuzzy=True, used=lambda first, word: len(word)):
        assert 0 <= one.start <= len(text)


def _argv(data: bytes) -> None:
    words = data.decode("utf-8", "surrogateescape").split("\n")
    _each(partial(argv_line, words), partial(read_argv, words))


def _condition(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    _each(
        partial(parse_condition, text),
        partial(is_condition, text),
        partial(read_check, text),
        partial(read_wait, text, bounded=True),
        partial(read_wait, text, bounded=False),
        partial(read_fact, text),
        partial(read_reading, text),
        partial(read_until, text, bounded=True),
        partial(read_until, text, bounded=False),
    )


def _cells(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    known = CellSet(["exa1cel01", "exa1cel02"])

    def named() -> None:
        found = CellSet.parse(text, groups=lambda name: known)
        assert CellSet.parse(found.fold()) == found if found else True

    _each(
        named,
        partial(parse_size, text),
        partial(parse_duration, text),
        partial(parse_group_file, text, "group"),
        partial(parse_group_file, text, "group", logins=True),
        partial(parse_cellip, text, "cellip.ora"),
    )


# Text for others


def _recipe(data: bytes) -> None:
    draft = read_draft("any", data.decode("utf-8"))
    problems_of(draft)
    remarks_of(draft.recipe)


def _sql(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    _each(
        partial(read_sql, text),
        partial(sqltext.is_unit, text),
        partial(sqltext.refuse_session_bound, text),
        partial(sqltext.one_line, text),
        partial(sqltext.bare_of, text),
        partial(sqltext.sent_script, text),
        partial(sqltext.asm_losses, text),
        partial(sqltext.asm_absences, text),
    )


def _sql_answer(data: bytes) -> None:
    text = data.decode("utf-8", "backslashreplace")
    sqltext.read_rows(f"{sqltext.ROWS}{text}{sqltext.END}")


def _shell(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    _each(
        partial(command_findings, text),
        partial(filter_findings, text),
        partial(script_findings, data, "any.sh"),
        partial(unread_programs, text),
        partial(absences_in, text),
        partial(patterns_quoted, text),
    )


def _scl(data: bytes) -> None:
    script_findings(data, "any.scl")


# Outputs of other programs


def _imported(kind: str, data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    run = read_import(text, "any.txt", kind)
    found = Imported(name="any", runs=tuple(together_in([run])))
    _each(partial(alone, found), partial(pair, found, found, anyway=True))


def _of_kind(*kinds: str) -> Callable[[bytes], None]:
    def reads(data: bytes) -> None:
        _each(*(partial(_imported, kind, data) for kind in kinds))

    return reads


def _seeds_of(*kinds: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for content in (*files("imports/*.*", "importers/*.*", "../../examples/data/*"), _DRIVEN):
            text = content.decode("utf-8", "replace")
            if not kinds or any(KINDS[kind].claims(text) for kind in kinds):
                yield content

    return seeds


def _importer(about: str, module: ModuleType, *kinds: str, besides: tuple[str, ...] = ()) -> Reader:
    others = tuple(f"exacell.measure.importers.{other}" for other in besides)
    return Reader(
        about=about,
        reads=_of_kind(*kinds),
        modules=(module.__name__, *others),
        seeds=_seeds_of(*kinds),
        usual=1500,
    )


_DRIVEN = (
    b"exacell drive commits\nsessions 2\neach 1000\nkeys 0\ntook 1.25 s\ntook 1.31 s\n"
    b"waits 2000 of 812345 us in all: log file sync\n"
)


_WAIT = b"WAIT #%d: nam='%s' ela= %d p1=0 p2=%d p3=0 obj#=-1 tim=%d\n"
_HEAD = (
    b"Trace file /u01/diag/rdbms/spot/SPOT1/trace/SPOT1_lgwr_4711.trc\nInstance name: SPOT1\nNode name:    exa1db01\n"
)


def _traces() -> Iterator[bytes]:
    waits = b"".join(_WAIT % (1, b"log file sync", ela, 7, 1000 + ela) for ela in (12, 340, 99999))
    yield _HEAD + waits
    yield _HEAD + b"PARSING IN CURSOR #7 len=9 dep=0\nselect 1\nEND OF STMT\n" + waits
    yield _HEAD + b"PARSING IN CURSOR #7 len=90 dep=0\n" + waits + b"END OF STMT\nSTAT #7 id=1 cnt=1\n"
    yield waits + _WAIT % (0, b"log file parallel write", 812, 1, 5000)


def _trace(data: bytes) -> None:
    parts = [
        summarize(filling([data])),
        summarize(filling([data[:100], data[100:]]), "log file sync", "a.trc", grouped=True),
        summarize(filling([data]), "log file sync", "b.trc", quick=True),
    ]
    assert parts[1].events == parts[2].events, "numpy reads other waits"
    together(parts)


# Files of this machine


@cache
def _folder() -> Path:
    """Return a folder of this process, in memory if there is one."""
    kept = tempfile.TemporaryDirectory(prefix="exacell-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    _KEPT.append(kept)
    return Path(kept.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _config(data: bytes) -> None:
    folder = _folder()
    path = folder / "config.toml"
    path.write_bytes(data)
    path.chmod(0o600)
    home = Home(config_dir=folder, state_dir=folder, cache_dir=folder)
    _each(partial(load, home, {}), lambda: parse_rack("any", data.decode("utf-8", "replace"), "any.toml"))


_KEY = HostKey(key_type="ssh-ed25519", blob=b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(range(32)))


def _known_hosts(data: bytes) -> None:
    known = KnownHosts.parse(data.decode("utf-8", "surrogateescape"), "known_hosts")
    known.judge(("[exa1cel01]:2222", "exa1cel01"), _KEY)
    known.pins(("exa1cel01",))
    known.key_types(("exa1cel01",))
    assert known.fingerprints is not None


_ELSEWHERE = re.compile(rb"include[^\n]*[/~$]", re.IGNORECASE)


def _ssh_config(data: bytes) -> None:
    """Read it unless it includes files outside of the folder; no Match exec is run, all count as false."""
    if _ELSEWHERE.search(data):
        return
    path = _folder() / "ssh_config"
    path.write_bytes(data)
    read = SshConfigFiles.read(path)
    programs_named(read)
    SshConfigReader(read, lambda command, condition: False, "exa1cel01", None, None).answer()


def _configs() -> Iterator[bytes]:
    yield (ROOT / "docs" / "config.example.toml").read_bytes()
    yield b'default_rack = "lab"\n[racks.lab]\ncells = ["exa1cel[01-03]"]\ntransport = "openssh"\nproduction = true\n'


def _known_lines() -> Iterator[bytes]:
    from base64 import b64encode

    key = b"ssh-ed25519 " + b64encode(_KEY.blob)
    yield (
        b"exa1cel01,10.0.0.1 "
        + key
        + b" of the cell\n@revoked * "
        + key
        + b"\n@cert-authority *.example.com "
        + key
        + b"\n"
    )
    yield (
        b"|1|" + b64encode(b"s" * 20) + b"|" + b64encode(b"d" * 20) + b" " + key + b"\n[exa1cel01]:2222,!x*,exa? " + key
    )
    yield b"exa1cel01 1024 65537 1234567890\n# a remark\n\n" + b64encode(_KEY.blob)


READERS: dict[str, Reader] = {
    "reply": Reader(
        about="CellCLI's plain replies",
        reads=_reply,
        modules=(
            "exacell.cellcli.reply",
            "exacell.cellcli.rows",
            "exacell.cellcli.alertrows",
            "exacell.cellcli.messages",
        ),
        usual=800,
        seeds=lambda: files("captures/*.txt", "cellcli/layout_*.txt", "cellcli/messages.txt"),
    ),
    "xml": Reader(
        about="CellCLI's replies in XML",
        reads=_xml,
        modules=("exacell.cellcli.reply",),
        usual=1200,
        seeds=lambda: files("captures/xml_*.txt", "cellcli/layout_xml*.txt"),
    ),
    "session": Reader(
        about="the output of a CellCLI that is kept",
        reads=_session,
        modules=("exacell.cellcli.framing",),
        usual=200,
        seeds=lambda: [
            b"".join(b"\nDM-1: no " + name.encode() + b"\n" for name in _NAMES) + b"\0x\n\0\nDM-1: no nm0\n",
            b"\nDM-1: no nm0\n\nDM-1: no nm1\n\0\nDM-1: no nm1\nrow\n\nDM-1: no nm0\n",
        ],
    ),
    "dcli": Reader(
        about="dcli's output",
        reads=_dcli,
        modules=("exacell.transport.dcli_answers",),
        usual=200,
        seeds=lambda: [
            b"exa1cel01: a\nexa1cel02: ended 0\nexa1cel01: b ended 1\n\nexa1cel02:ssh: no route\nmore\n\n\0"
            b"Unable to connect to cells: ['exa1cel02']\n"
        ],
    ),
    "cellcli": Reader(
        about="CellCLI's statements",
        reads=_cellcli,
        modules=(
            "exacell.cellcli.statement",
            "exacell.cellcli.tokens",
            "exacell.cellcli.query",
            "exacell.cellcli.change",
            "exacell.cellcli.iorm",
            "exacell.cellcli.directives",
        ),
        usual=250,
        seeds=lambda: lines("cellcli/statements.txt", "cellcli/refused.txt", "cellcli/changes.txt", "cellcli/iorm.txt"),
    ),
    "statement": Reader(
        about="exacell's statements, as typed and as pasted",
        reads=_statement,
        modules=(
            "exacell.language.line",
            "exacell.language.calls",
            "exacell.language.words",
            "exacell.language.kinds",
            "exacell.language.pasted",
            "exacell.language.pasted_sql",
            "exacell.language.pasted_shell",
            "exacell.language.shorthand",
            "exacell.language.shellwords",
        ),
        usual=300,
        seeds=lambda: (*lines("mistyped/statements.tsv", "everyday.toml", "secret_texts.toml"), *_recipe_lines()),
    ),
    "completion": Reader(
        about="a line that is being typed",
        reads=_suggest,
        modules=("exacell.language.suggest", "exacell.language.suggest_cellcli", "exacell.language.suggestion"),
        usual=200,
        seeds=lambda: (*lines("mistyped/statements.tsv"), *lines("cellcli/statements.txt"), *_recipe_lines()),
    ),
    "argv": Reader(
        about="a command line's words",
        reads=_argv,
        modules=("exacell.language.argv", "exacell.language.options"),
        usual=120,
        seeds=lambda: [
            b"-c\nexa1cel01\n-m\nlist\ncell",
            b"--rack=lab\n-o\njson\nresize\nflashcache\nsize=288g\n-n",
            b"-f\n-\n--",
        ],
    ),
    "condition": Reader(
        about="conditions of check, wait and let",
        reads=_condition,
        modules=("exacell.cellcli.condition", "exacell.language.reading"),
        usual=150,
        seeds=lambda: (
            *(line.partition(b" ")[2] for line in _recipe_lines() if line.startswith((b"check", b"wait", b"let"))),
            b"list flashcache where status = normal",
            b"flashcache size = 288g",
            b"until list celldisk where flushStatus != completed is empty",
            b"30s",
        ),
    ),
    "cells": Reader(
        about="sets of cells, sizes, durations, group files, cellip.ora",
        reads=_cells,
        modules=("exacell.core.cellset", "exacell.core.units", "exacell.core.racks"),
        usual=150,
        seeds=lambda: [
            b"exa1cel[01-14,16]",
            b"@all,!exa1cel03&exa1cel[1-9/2]",
            b"exa[1-2]cel[01-03]",
            b"288g",
            b"1.5T",
            b"1h30m",
            b"exa1cel01\n# x\nroot@exa1cel02\n",
            b'cell="192.168.10.3;192.168.10.4"\n# x\ncell="10.0.0.1"\n',
        ],
    ),
    "recipe": Reader(
        about="recipes, with their check",
        reads=_recipe,
        modules=(
            "exacell.recipes.parsing",
            "exacell.recipes.checker",
            "exacell.recipes.values",
            "exacell.recipes.layout",
        ),
        usual=600,
        seeds=lambda: (*_recipes(), *_broken_recipes()),
        passes=(ExacellError, UnicodeDecodeError),
    ),
    "sql": Reader(
        about="SQL",
        reads=_sql,
        modules=("exacell.opaque.sql", "exacell.opaque.sqlquery", "exacell.opaque.sqltokens", "exacell.care.sqltext"),
        seeds=lambda: [
            part for content in files("sql/*.sql", longest=1 << 20) for part in re.split(rb"\n(?=%%)", content)
        ],
    ),
    "sql-answer": Reader(
        about="SQL*Plus's answers",
        reads=_sql_answer,
        modules=("exacell.care.sqltext",),
        seeds=lambda: [b'\n"NAME","MB"\n"DATA",120\n"RE""CO",3.5\n', b"\nNAME  MB\n----- ---\nDATA  120\n"],
    ),
    "shell": Reader(
        about="text for a shell (read, never run)",
        reads=_shell,
        modules=("exacell.opaque.shell", "exacell.opaque.lexing", "exacell.opaque.scan", "exacell.opaque.table"),
        usual=200,
        seeds=lambda: (*lines("opaque/ways.txt"), *lines("opaque/corpus.toml")),
    ),
    "scl": Reader(
        about="scripts of CellCLI",
        reads=_scl,
        modules=("exacell.opaque.scan", "exacell.opaque.shell"),
        usual=250,
        seeds=lambda: (*lines("cellcli/statements.txt"), b"list cell\n# x\nalter cell -\n led on;\ndrop flashcache\n"),
    ),
    "fio": _importer("fio", fio, fio.KIND, besides=("fiojson",)),
    "iostat": _importer("iostat", iostat, iostat.KIND),
    "sar": _importer("sar", sar, sar.KIND),
    "awr": _importer("AWR reports", awr, awr.KIND, besides=("awrtables",)),
    "orion": _importer("ORION", orion, orion.KIND),
    "calibrate": _importer("CALIBRATE", calibrate, calibrate.CELL_KIND, calibrate.DATABASE_KIND),
    "slob": _importer("SLOB", slob, slob.KIND),
    "asmcmd": _importer("asmcmd", asmcmd, asmcmd.KIND),
    "drive": _importer("exacell's drive", drive, drive.KIND),
    "blocks": _importer("sg_vpd and queues", blocks, blocks.LIMITS_KIND, blocks.QUEUES_KIND),
    "vscsistats": _importer("vscsiStats", vscsi, vscsi.KIND),
    "esxtop": _importer("esxtop and esxcli", vsphere, vsphere.ESXTOP_KIND, vsphere.VFLASH_KIND),
    "import": Reader(
        about="a file of any program",
        reads=_of_kind(""),
        modules=tuple(
            f"exacell.measure.importers.{name}" for name in ("kinds", "parts", "unread", "levels", "findings")
        ),
        seeds=_seeds_of(),
        usual=1500,
    ),
    "trace": Reader(
        about="10046 traces",
        reads=_trace,
        modules=("exacell.measure.trace10046", "exacell.measure.waitlines"),
        usual=600,
        seeds=_traces,
    ),
    "config": Reader(
        about="config.toml and rack files",
        reads=_config,
        modules=("exacell.core.config", "exacell.core.toml_table", "exacell.core.hostgroups"),
        usual=1500,
        seeds=_configs,
    ),
    "known_hosts": Reader(
        about="known_hosts",
        reads=_known_hosts,
        modules=("exacell.transport.ssh.hostkeys",),
        seeds=_known_lines,
    ),
    "ssh_config": Reader(
        about="ssh_config",
        reads=_ssh_config,
        modules=("exacell.transport.ssh.sshconfig", "exacell.transport.ssh.resolving"),
        seeds=lambda: [
            part.partition(b"\n")[2] for content in files("ssh_config/*.conf") for part in content.split(b"#== ")[1:]
        ],
        passes=(ExacellError, UnknownError),
    ),
}
"""Name → reader."""


def _recipes() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "exacell" / "data" / "recipes").resolve().glob("*.exa"))]


def _recipe_lines() -> list[bytes]:
    return list(dict.fromkeys(line.strip() for content in _recipes() for line in content.split(b"\n") if line.strip()))


def _broken_recipes() -> Iterator[bytes]:
    for content in files("recipes/broken.txt", longest=1 << 20):
        for block in content.split(b"\n=== ")[1:]:
            yield block.partition(b"\n")[2].partition(b"---\n")[0]
