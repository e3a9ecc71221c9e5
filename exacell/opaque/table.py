"""The table of commands that only read: which options and operands of each command are read, and why it changes nothing; and
the files that they may read.

The table itself is ``data/commands.toml``, which describes its format. It is loaded when the first text is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from exacell.core.packaged import data_beside
from exacell.core.values import dataclass
from exacell.opaque.findings import UnreadError

FOLDERS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin")
"""Folders that may be part of the name of each command in the table."""

_MANY = {"FILES": "FILE", "PLACES": "PLACE", "PRINTED": "PRINTED"}
"""Operands that may be given any number of times → the kind of each; files may be patterns."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One command of the table.

    Attributes:
        letters: one-letter options without a value, which may be combined after one hyphen.
        options: all other options, exactly as written; a kind in capitals means a value, in the same word or the next one.
        operands: the allowed sequences of operands; one that ends in ``|`` reads standard input.
        needs: options that are required for the command to be read.
        why: why it changes nothing.
        folders: another folder that may be part of its name; HOME in it means any folders in between.
        sockets: the kinds of sockets that it opens for its work: netlink, inet or unix.
        source: the document that shows this.
    """

    name: str
    letters: str
    options: tuple[str, ...]
    operands: tuple[str, ...]
    needs: tuple[str, ...]
    why: str
    folders: str
    sockets: tuple[str, ...]
    source: str

    def lies_in(self, folder: str) -> bool:
        """Return whether the command may be named with this folder in front."""
        own = re.escape(self.folders).replace("HOME", r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
        return folder in FOLDERS or (bool(self.folders) and re.fullmatch(own, folder) is not None)


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows by name, the kinds of values as patterns, and hints for first words that have no row."""

    rows: Mapping[str, Row]
    kinds: Mapping[str, str]
    instead: Mapping[str, str]


NO_ROW = "not in the table of commands that only read"
"""Why an unknown program is not read."""


@cache
def table() -> Table:
    """Return the table; it is loaded once."""
    import tomllib

    found = tomllib.loads(data_beside(__spec__, "commands.toml"))
    rows = {
        name: Row(
            name=name,
            letters=row.get("letters", ""),
            options=tuple(row.get("options", ())),
            operands=tuple(row["operands"]),
            needs=tuple(row.get("needs", ())),
            why=row["why"],
            folders=row.get("folders", ""),
            sockets=tuple(row.get("sockets", "").split()),
            source=row["source"],
        )
        for name, row in found["commands"].items()
    }
    instead = {word: hint for hint, words in found["instead"].items() for word in words.split()}
    return Table(rows=rows, kinds=found["kinds"], instead=instead)


def row_of(word: str) -> Row:
    """Return the row of a command by its first word, which may include the path of a system folder.

    Raises:
        UnreadError: there is none.
    """
    folder, slash, name = word.rpartition("/")
    found = table().rows.get(name)
    if found is None or (slash and not found.lies_in(folder)):
        why = NO_ROW
        raise UnreadError(word, why, table().instead.get(word, ""))
    return found


def refuse_words(row: Row, words: Sequence[str], globs: frozenset[int], *, piped: bool) -> None:
    """Raise UnreadError if a word after a command's name is not read.

    Args:
        words: all words, the name first.
        globs: indexes of words that are patterns.
        piped: whether the command follows ``|``.

    Raises:
        UnreadError: names the first word that is not read.
    """
    rest: list[int] = []
    seen: set[str] = set()
    at = 1
    while at < len(words):
        taken = 0 if at in globs else _option(row, words, at, globs, seen)
        if not taken:
            rest.append(at)
        at += taken or 1
    parts = {part for shape in row.operands for part in shape.split()}
    for place in rest:
        if words[place].startswith("-") and not any(_written(part).fullmatch(words[place]) for part in parts):
            raise UnreadError(words[place], f"not among the options of {row.name} that exacell reads")
    missing = next((need for need in row.needs if not any(option.startswith(need) for option in seen)), None)
    if missing is not None:
        raise UnreadError(words[0], f"it is read only with {missing}")
    _refuse_operands(row, words, rest, globs, piped=piped)


def _option(row: Row, words: Sequence[str], at: int, globs: frozenset[int], seen: set[str]) -> int:
    """Return the number of words of the option at ``at``; 0 if the row has no such option."""
    word = words[at]
    if row.letters and re.fullmatch(f"-[{row.letters}]+", word):
        seen.update(f"-{letter}" for letter in word[1:])
        return 1
    for option in row.options:
        name, _, kind = option.partition(" ")
        if kind and word == name:
            value = words[at + 1] if at + 1 < len(words) and at + 1 not in globs else None
            if value is None or not _written(kind).fullmatch(value):
                raise UnreadError(word, f"{row.name} is read only with {option}, a pattern in quotes")
            seen.add(name)
            return 2
        if _written(name).fullmatch(word):
            seen.add(name)
            return 1
    return 0


@cache
def _written(word: str) -> re.Pattern[str]:
    """Return the pattern of a word of the table, in which a kind in capitals at the end means a value."""
    kind = max((kind for kind in table().kinds if word.endswith(kind)), key=len, default="")
    return re.compile(re.escape(word.removesuffix(kind)) + (f"(?:{table().kinds[kind]})" if kind else ""))


def _refuse_operands(
    row: Row, words: Sequence[str], rest: Sequence[int], globs: frozenset[int], *, piped: bool
) -> None:
    """Raise UnreadError unless the operands have one of the row's allowed sequences.

    Raises:
        UnreadError: names the first word that does not fit the nearest sequence.
    """
    misfits: list[_Misfit] = []
    for shape in row.operands:
        parts = shape.split()
        fed = parts[-1:] == ["|"]
        try:
            _refuse_shape(row, parts[:-1] if fed else parts, words, rest, globs)
        except _Misfit as misfit:
            misfits.append(misfit)
            continue
        if not fed or piped:
            return
        # All of its words fit.
        misfits.append(_Misfit(len(words), UnreadError(words[0], "it reads standard input, but no pipe leads to it")))
    raise max(misfits, key=lambda misfit: misfit.place).error


class _Misfit(Exception):
    """The operands don't fit a sequence; ``place`` is the index of the word at which they differ."""

    def __init__(self, place: int, error: UnreadError) -> None:
        super().__init__(str(error))
        self.place = place
        self.error = error


def _refuse_shape(
    row: Row, parts: Sequence[str], words: Sequence[str], rest: Sequence[int], globs: frozenset[int]
) -> None:
    for count, place in enumerate(rest):
        word = words[place]
        many = bool(parts) and count >= len(parts) - 1 and parts[-1] in _MANY
        part = parts[-1] if many else parts[count] if count < len(parts) else ""
        try:
            if not part:
                raise UnreadError(word, f"an operand of {row.name} that exacell does not read")
            kind = _MANY.get(part, part)
            if place in globs and not (many and kind in ("FILE", "PLACE")):
                raise UnreadError(word, f"a pattern where {row.name} takes one word")
            if kind in ("FILE", "PLACE"):
                refuse_place(word, glob=place in globs, shown=kind == "PLACE")
            elif not _written(part).fullmatch(word):
                raise UnreadError(word, f"an operand of {row.name} that exacell does not read")
        except UnreadError as error:
            raise _Misfit(count, error) from error
    if len(rest) < len(parts):
        raise _Misfit(len(rest), UnreadError(words[0], f"it is read only with {' '.join(parts)}"))


READ = (
    "/etc",
    "/boot",
    "/var/log",
    "/usr/share",
    "/opt/oracle",
    "/opt/oracle.cellos",
    "/opt/oracle.SupportTools",
    "/opt/oracle.ExaWatcher",
    "/u01/app/oracle/diag",
    "/u01/app/grid/diag",
)
"""Folders below which files may be read: they contain only plain files, folders and links among them."""

SHOWN = (*READ, "/bin", "/sbin", "/usr", "/opt", "/var", "/tmp", "/home", "/root", "/u01")
"""Folders below which files may be listed; listing opens no file."""

SINGLE = re.compile(
    r"/dev/null"
    r"|/proc/(?:meminfo|cpuinfo|loadavg|uptime|version|mounts|cmdline|interrupts|vmstat|stat|swaps|partitions|mdstat"
    r"|modules|diskstats|buddyinfo|filesystems|net/dev|net/bonding/\w+"
    r"|net/sockstat|net/snmp|net/route|sys/fs/(?:file-nr|file-max|aio-nr|aio-max-nr)"
    r"|sys/kernel/(?:hostname|osrelease|sem|shmmax|shmall|shmmni|threads-max|pid_max)|sys/net/core/[rw]mem_(?:max|default)"
    r"|sys/vm/(?:nr_hugepages|swappiness|min_free_kbytes|dirty_ratio|dirty_background_ratio))"
    r"|/sys/block/[a-z0-9]+/(?:size|ro|removable|stat|dev|device/(?:model|vendor|rev|state|queue_depth|timeout))"
    r"|/sys/block/[a-z0-9]+/queue/(?:max_sectors_kb|max_hw_sectors_kb|scheduler|rotational|nr_requests|read_ahead_kb"
    r"|logical_block_size|physical_block_size|hw_sector_size|max_segments|nomerges|rq_affinity|write_cache)"
    r"|/sys/kernel/mm/transparent_hugepage/(?:enabled|defrag)"
    r"|/sys/class/net/\w+/(?:operstate|speed|mtu|address|carrier|duplex|statistics/[a-z_]+)"
    r"|/sys/devices/system/(?:cpu/cpu[0-9]+/cpufreq/scaling_(?:governor|cur_freq|max_freq)|node/node[0-9]+/(?:meminfo|numastat))"
    r"|/sys/module/\w+/version|/proc/[1-9][0-9]*/(?:status|limits|stat|io|oom_score)"
    r"|/root/\w+_group|/u01/app/oraInventory/ContentsXML/inventory[.]xml"
    r"|/u01/app/[\w./-]+/(?:network/admin/(?:tnsnames|sqlnet|listener)|dbs/init\w*)[.]ora"
    r"|/sys/class/infiniband/\w+/ports/\d/(?:state|rate|phys_state)"
    r"|/sys/class/dmi/id/(?:product_name|product_serial|bios_version|sys_vendor)",
    re.ASCII,
)
"""Single files that may be read."""


_EACH = re.compile(r"(?<=^/sys/block/)[a-z0-9*?]+(?=/)|(?<=^/sys/class/net/)[\w*?]+(?=/)", re.ASCII)
"""The name of a device in the path of a file below /sys, which may be a pattern. The kernel names each device with one word,
so every file that the pattern matches is one of those above.
"""

NODES = re.compile(
    r"/dev/(?:(?:sd|nvme|md|dm-|pmem)[a-z0-9*?]*|(?:mapper|oracleasm/disks|disk/by-[a-z]+|md)(?:/[\w*?.:@+-]+)?)",
    re.ASCII,
)
"""Disks that may be listed, and the folders with their names; listing opens no disk."""

_DEVICES = frozenset(("dev", "devices", "proc", "sys", "run"))
"""Names of folders that contain devices in copies of a system, and in /etc/udev."""


def refuse_place(word: str, *, glob: bool, shown: bool) -> None:
    """Raise UnreadError if an operand is not a file that may be read (or, if ``shown``, listed).

    Args:
        glob: whether ``*`` and ``?`` in it make a pattern.

    Raises:
        UnreadError: it is not.
    """
    if not re.fullmatch(r"/[A-Za-z0-9_./:,@%+= -]*" if not glob else r"/[A-Za-z0-9_./:,@%+=*?-]*", word):
        raise UnreadError(word, "not an absolute path of plain characters")
    parts = [part for part in word.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnreadError(word, "a path with ..")
    path = "/" + "/".join(parts)
    if SINGLE.fullmatch(_EACH.sub("sda", path) if glob and "**" not in path else path):
        return
    if glob:
        _refuse_glob(word, parts)
    if shown and NODES.fullmatch(path):
        return
    if glob:
        parts.pop()
        path = "/" + "/".join(parts)
    if not shown and not _DEVICES.isdisjoint(parts[1:]):
        raise UnreadError(word, "a folder that may contain devices")
    if not any(path == folder or path.startswith(f"{folder}/") for folder in (SHOWN if shown else READ)):
        raise UnreadError(word, "a file outside of the folders that exacell reads from")


def _refuse_glob(word: str, parts: list[str]) -> None:
    """Raise UnreadError unless a pattern is only in the last part of a path and can't match ``.`` or ``..``.

    Raises:
        UnreadError: it is elsewhere, or may match them.
    """
    if word.endswith("/") or any(re.search(r"[*?]", part) for part in parts[:-1]):
        raise UnreadError(word, "a pattern for folders")
    last = parts[-1]
    if last.startswith(".") or "**" in last or re.fullmatch(r"[*?]+\.[*?.]*", last):
        raise UnreadError(word, "a pattern that shells read in different ways")
