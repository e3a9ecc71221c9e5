"""Import ``asmcmd lsdsk -k`` and ``asmcmd lsdg``, also of hosts without Exadata: disks and disk groups with their sizes. Pure.

The output of ``oracleasm listdisks``, one label per line, may be in the same text: it is compared with the disks of ASM.
Source: reference asm.md section 7; Oracle Automatic Storage Management Administrator's Guide, ASMCMD disk group commands
and Administering ASMLIB Disks, where a disk that ASMLib labelled is ``ORCL:`` and its label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from exacell.core.units import counted
from exacell.measure.importers.model import Point, Run, UnreadableError, lines_of, named, printed

KIND = "asmcmd"

_DISKS = re.compile(r"^\s*Total_MB\s+Free_MB\s+OS_MB\s+Name\s+Failgroup\b.*\bPath\s*$", re.MULTILINE)
_GROUPS = re.compile(r"^\s*(?:Inst_ID\s+)?State\s+Type\s+Rebal\s+Sector\b.*\bName\s*$", re.MULTILINE)

_SIZES: Mapping[str, str] = {
    "Total_MB": "totalMib",
    "Free_MB": "freeMib",
    "Req_mir_free_MB": "mirrorMib",
    "Usable_file_MB": "usableMib",
    "AU": "unitBytes",
}
_PLACES: Sequence[tuple[str, str]] = (("ORCL:", "ASMLib"), ("AFD:", "the ASM filter driver"), ("o/", "Exadata cells"))
"""Beginning of a path → the software that names disks like this; other paths are those of the host's devices."""
_LABEL = re.compile(r"^[A-Z][A-Z0-9_$#]{0,29}$")
_COPIES = {"EXTERN": "none", "NORMAL": "two", "HIGH": "three", "FLEX": "as many as its files ask for"}


def claims(text: str) -> bool:
    """Return whether a text has the header of one of the two."""
    return _DISKS.search(text) is not None or _GROUPS.search(text) is not None


def read(text: str, source: str) -> Run:
    """Return a point for each disk and each disk group, with notes on the disks' location and protection.

    Raises:
        UnreadableError: there is no line below a header, or a size is not a number.
    """
    disks, groups = list(_disks(text)), list(_groups(text, source))
    points = [
        Point(series=f"disk {disk['name']}", figures={"totalMib": float(disk["total"]), "freeMib": float(disk["free"])})
        for disk in disks
    ]
    points += [Point(series=f"group {name}", figures=figures) for name, _, figures in groups]
    if not points:
        raise UnreadableError(f"{source}: no disk and no disk group after the header")
    told = {"disks": _where([disk["path"] for disk in disks])} if disks else {}
    told |= {f"copies in {name}": _COPIES.get(kind, kind) for name, kind, _ in groups}
    form = " and ".join(name for name, found in (("lsdsk -k", disks), ("lsdg", groups)) if found)
    return Run(
        kind=KIND,
        form=form,
        source=source,
        points=tuple(points),
        told=told,
        notes=tuple(_notes(disks, groups, _labels(text))),
    )


def _disks(text: str) -> Iterator[dict[str, str]]:
    """Yield the columns of each disk that belongs to a group; columns are cut at the header's positions, since some are blank."""
    head = ""
    for line in lines_of(text):
        if _DISKS.match(line):
            head = line
        elif _GROUPS.match(line):
            head = ""
        elif head and (sizes := re.match(r"\s*(\d+)\s+(\d+)\s+\d+\s", line)) is not None:
            starts = [match.start() for match in re.finditer(r"\S+", head)]
            titles = head.split()
            ends = [*starts[1:], len(line)]
            row = {title: line[start:end].strip() for title, start, end in zip(titles, starts, ends, strict=False)}
            if row["Name"]:
                yield {
                    "total": sizes[1],
                    "free": sizes[2],
                    "name": row["Name"],
                    "failgroup": row["Failgroup"],
                    "path": line[starts[-1] :].strip(),
                }


def _labels(text: str) -> Sequence[str]:
    """Return the labels that ``oracleasm listdisks`` printed beside the tables of asmcmd: lines of one name in capitals."""
    return [line.strip() for line in lines_of(text) if _LABEL.match(line.strip())]


def _groups(text: str, source: str) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the name, the redundancy and the sizes of each disk group."""
    head: list[str] = []
    for line in lines_of(text):
        words = line.split()
        if _GROUPS.match(line):
            head = words
        elif _DISKS.match(line):
            head = []
        elif head and len(words) == len(head):
            row = dict(zip(head, words, strict=True))
            sizes = {
                figure: value
                for title, figure in _SIZES.items()
                if (value := printed(row.get(title, ""), source)) is not None
            }
            yield row["Name"].rstrip("/"), row["Type"], sizes


def _where(paths: Sequence[str]) -> str:
    found = [
        next((place for begin, place in _PLACES if path.startswith(begin)), "devices of the host") for path in paths
    ]
    return " and ".join(dict.fromkeys(found))


def _notes(
    disks: Sequence[Mapping[str, str]], groups: Sequence[tuple[str, str, dict[str, float]]], labels: Sequence[str]
) -> Iterator[str]:
    """Yield notes on the protection of the disks, on their location, and on labels for which ASM has no disk."""
    if disks:
        yield f"{counted(len(disks), 'disk')} of {_where([disk['path'] for disk in disks])}"
        failgroups = list(dict.fromkeys(disk["failgroup"] for disk in disks))
        if all(disk["failgroup"] == disk["name"] for disk in disks):
            yield "one failure group a disk: each disk may fail alone"
        else:
            yield f"{counted(len(failgroups), 'failure group')}: {named(failgroups)}"
    if disks and labels:
        yield from _compared(labels, [disk["path"][5:] for disk in disks if disk["path"].startswith("ORCL:")])
    for name, kind, _ in groups:
        if kind == "EXTERN":
            yield f"group {name} has EXTERNAL redundancy: ASM keeps one copy, and the storage has to protect it"


def _compared(labels: Sequence[str], used: Sequence[str]) -> Iterator[str]:
    """Yield how the labels of ASMLib and the ``ORCL:`` disks of ASM differ, or that they are the same."""
    spare, unknown = ([name for name in one if name not in other] for one, other in ((labels, used), (used, labels)))
    if spare:
        yield f"oracleasm lists {named(spare)}, lsdsk does not: in no disk group that is mounted"
    if unknown:
        yield f"lsdsk lists {named(unknown)}, oracleasm does not: scan with `oracleasm scandisks` on this host"
    if not spare and not unknown:
        yield f"oracleasm lists the same {counted(len(labels), 'disk')}"
