"""The clusterware programs ``crsctl`` and ``olsnodes`` of an emulated database node; only their commands that scripts use.

rac-status.sh reads ``stat res``, its filters and the active version; exacell's own hints ask for ``crsctl replace votedisk``,
which moves the voting files.

Source: Oracle Clusterware Administration and Deployment Guide, "CRSCTL Utility Reference", "OLSNODES Command Reference",
"Managing Voting Files"; reference asm.md 9. The output for a wrong command line is made up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.program import Out, Program
from exacell.emulator.basics.versions import version_text
from exacell.emulator.database.asm_rows import cluster_name
from exacell.emulator.programs.crs_resources import FilterError, Resource, matcher, resources
from exacell.emulator.storage.disk_groups import DiskGroup

_RULE = "-" * 80
_WIDE_SINCE = (12, 1)
"""From this release on the table's titles are in lower case and details end in the internal state."""
_DETAILS = 20
_USAGE = (
    "Usage: crsctl {status|stat} {resource|res} [<name> ...] [-w <filter>] [-t|-v|-p] [-attr <attributes>]\n"
    "       crsctl query {crs activeversion [-f]|css votedisk}\n"
    "       crsctl replace votedisk +<diskgroup>\n"
)


class _UsageError(Exception):
    """The command line is not a known one."""


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The parsed options of ``status resource``."""

    names: tuple[str, ...]
    where: str
    form: str
    attributes: tuple[str, ...]


def crsctl(asm: Asm, node: int, argv: Sequence[str]) -> Program:
    """Run a command of ``crsctl`` and return the running program."""
    asm.rack.advance()
    asm.settle()
    words = [word.lower() for word in argv]
    try:
        text, status = _run(asm, node, argv, words)
    except _UsageError:
        yield Out(_USAGE)
        return 1
    yield Out(text)
    return status


def _run(asm: Asm, node: int, argv: Sequence[str], words: Sequence[str]) -> tuple[str, int]:
    verb, noun = (*words[:2], "", "")[:2]
    if verb in ("stat", "status") and noun in ("res", "resource"):
        return _status(asm, _asked(argv[2:]))
    if words[:3] == ["query", "crs", "activeversion"]:
        return _version(asm, "-f" in words), 0
    if words[:3] == ["query", "css", "votedisk"]:
        return _voting_disks(asm), 0
    if words[:2] == ["replace", "votedisk"] and len(words) == 3 and len(words[2]) > 1 and words[2].startswith("+"):
        return _replaced_voting_disks(asm, node, words[2].removeprefix("+").upper())
    raise _UsageError


def _asked(argv: Sequence[str]) -> _Asked:
    names: list[str] = []
    where, form, attributes = "", "", ""
    queue = list(argv)
    while queue:
        word = queue.pop(0)
        if word in ("-w", "-attr") and queue:
            value = queue.pop(0)
            where, attributes = (value, attributes) if word == "-w" else (where, value)
        elif word in ("-t", "-v", "-p"):
            form = word
        elif word.startswith("-"):
            raise _UsageError
        else:
            names.append(word)
    wanted = tuple(part.strip() for part in attributes.split(",") if part.strip())
    return _Asked(names=tuple(names), where=where, form=form, attributes=wanted)


def _status(asm: Asm, asked: _Asked) -> tuple[str, int]:
    known = list(resources(asm))
    for name in asked.names:
        if name not in [resource.name for resource in known]:
            return f"CRS-2613: Could not find resource '{name}'.\n", 1
    try:
        matches = matcher(asked.where) if asked.where else None
    except FilterError as error:
        return f"CRS-2545: Cannot operate on the filter '{error}'. It can't be read\n", 1
    found = [
        resource
        for resource in known
        if (not asked.names or resource.name in asked.names)
        and (matches is None or any(map(matches, _all_attributes(resource))))
    ]
    if asked.form == "-t":
        return _table(asm, found), 0
    show = {"-p": _profile, "-v": _verbose}.get(asked.form, _brief)
    return "".join(f"{show(resource, asked.attributes)}\n" for resource in found), 0


def _all_attributes(resource: Resource) -> Iterator[dict[str, str]]:
    for number, at in enumerate(resource.instances, start=1):
        yield {**resource.profile, **resource.attributes(at, number)}


def _lines(attributes: Mapping[str, str], wanted: Sequence[str]) -> str:
    """Return the wanted attributes as lines, in their own order; all of them if none are named."""
    return "".join(f"{name}={value}\n" for name, value in attributes.items() if not wanted or name in wanted)


def _brief(resource: Resource, wanted: Sequence[str]) -> str:
    placed = [at.placed for at in resource.instances]
    # A target and its state are printed in two columns: TARGET= is one character longer than STATE=.
    widths = [len(place) - (not number) for number, place in enumerate(placed)]
    targets = [at.state.ljust(width) for at, width in zip(resource.instances, widths, strict=True)]
    attributes = {
        "NAME": resource.name,
        "TYPE": resource.kind,
        "TARGET": ", ".join(targets).rstrip(),
        "STATE": ", ".join(placed),
    }
    return _lines(attributes, wanted)


def _profile(resource: Resource, wanted: Sequence[str]) -> str:
    return _lines({"NAME": resource.name, "TYPE": resource.kind, **resource.profile}, wanted)


def _verbose(resource: Resource, wanted: Sequence[str]) -> str:
    """Return the name once, and then the attributes of each instance."""
    blocks: list[str] = []
    for number, at in enumerate(resource.instances, start=1):
        attributes = resource.attributes(at, number)
        head = {name: attributes.pop(name) for name in ("NAME", "TYPE")}
        blocks.append((_lines(head, wanted) if number == 1 else "") + _lines(attributes, wanted))
    return "\n".join(blocks)


def _table(asm: Asm, found: Sequence[Resource]) -> str:
    wide = asm.version >= _WIDE_SINCE
    titles = ("Name", "Target", "State", "Server", "State details")
    if not wide:
        titles = ("NAME", "TARGET", "STATE", "SERVER", "STATE_DETAILS")
    text = f"{_RULE}\n{_table_line(*titles)}{_RULE}\n"
    for title, local in (("Local Resources", True), ("Cluster Resources", False)):
        here = [resource for resource in found if resource.local is local]
        if here:
            text += f"{title}\n{_RULE}\n{''.join(_table_rows(resource, wide=wide) for resource in here)}{_RULE}\n"
    return text


def _table_line(name: str, target: str, state: str, server: str, details: str) -> str:
    return f"{name:<15}{target:<8}{state:<13}{server:<25}{details:<{_DETAILS}}\n"


def _table_rows(resource: Resource, *, wide: bool) -> str:
    text = f"{resource.name}\n"
    for number, at in enumerate(resource.instances, start=1):
        details = ",".join(filter(None, (at.details, "STABLE" if wide else "")))
        pieces = [details[place : place + _DETAILS] for place in range(0, len(details), _DETAILS)] or [""]
        server = at.server if at.online or resource.local else ""
        text += _table_line("" if resource.local else f"{number:>7}", at.state, at.state, server, pieces[0])
        text += "".join(_table_line("", "", "", "", piece) for piece in pieces[1:])
    return text


def _version(asm: Asm, full: bool) -> str:
    text = f"Oracle Clusterware active version on the cluster is [{version_text(asm.version)}]"
    if full and asm.version >= _WIDE_SINCE:
        text += ". The cluster upgrade state is [NORMAL]. The cluster active patch level is [0]."
    return text + "\n"


def _voting_disks(asm: Asm) -> str:
    text = "##  STATE    File Universal Id                File Name Disk group\n"
    text += "--  -----    -----------------                --------- ---------\n"
    found = [(group, asm.path(disk)) for group in _voting_groups(asm) for disk in group.voting_places]
    for number, (group, path) in enumerate(found, 1):
        text += f"{number:2d}. ONLINE   {_identity(path)} ({path}) [{group.name}]\n"
    return text + f"Located {len(found)} voting disk(s).\n"


def _voting_groups(asm: Asm) -> list[DiskGroup]:
    return [group for group in sorted(asm.groups.values(), key=lambda g: g.number) if group.voting_files]


def _identity(path: str) -> str:
    """Return the universal id of the voting file on a disk."""
    return hashlib.md5(path.encode(), usedforsecurity=False).hexdigest()


def _replaced_voting_disks(asm: Asm, node: int, name: str) -> tuple[str, int]:
    """Move the voting files to a disk group that is mounted here and has enough failure groups for them."""
    group = asm.groups.get(name)
    fits = group is not None and len(group.voting_places) == group.redundancy.voting_files
    if group is None or not fits or node not in group.mounted or group.voting_files:
        return (
            f"Failed to create voting files on disk group {name}.\n"
            "Change to configuration failed, but was successfully rolled back.\n"
            "CRS-4000: Command Replace failed, or completed with errors.\n"
        ), 1
    text = "".join(f"Successful addition of voting disk {_identity(asm.path(d))}.\n" for d in group.voting_places)
    for old in _voting_groups(asm):
        old.voting_files = False
        text += "".join(f"Successful deletion of voting disk {_identity(asm.path(d))}.\n" for d in old.voting_places)
    group.voting_files = True
    return (
        f"{text}Successfully replaced voting disk group with +{name}.\nCRS-4266: Voting file(s) successfully replaced\n",
        0,
    )


def olsnodes(asm: Asm, node: int, argv: Sequence[str]) -> Program:
    """Return the running program, which lists the cluster's nodes; ``-n -s -t -i`` add number, status, pinning and address."""
    letters = "".join(word.removeprefix("-") for word in argv if word.startswith("-"))
    if set(letters) - set("cilnst") or any(not word.startswith("-") for word in argv):
        yield Out("Usage: olsnodes [-n] [-i] [-s] [-t] [-l] [-c]\n", err=True)
        return 1
    if "c" in letters:
        yield Out(f"{cluster_name(asm)}\n")
        return 0
    shown: Mapping[str, Callable[[int, str], str]] = {
        "n": lambda number, _: str(number + 1),
        "i": lambda _, name: f"{name}-vip",
        "s": lambda *_: "Active",
        "t": lambda *_: "Unpinned",
    }
    for number, name in enumerate(asm.nodes):
        if "l" not in letters or number == node:
            fields = [name, *(show(number, name) for letter, show in shown.items() if letter in letters)]
            yield Out("\t".join(fields) + "\n")
    return 0
