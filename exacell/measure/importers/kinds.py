"""The programs whose output can be imported: how to recognize and read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from exacell.core.errors import RefusedError
from exacell.core.values import dataclass
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
    unread,
    vscsi,
    vsphere,
)
from exacell.measure.importers.model import Run, UnreadableError, by_host
from exacell.measure.importers.parts import in_one, parted


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A program whose output can be imported.

    Attributes:
        title: the program and its form, a phrase.
        claims: returns whether a text is its output.
        read: returns the run in a text; it also takes the file's name.
        published: whether the reader was written from published output only.
        needs: how to produce the form that can be read, as an instruction.
        program: the program's name in a shell; empty if a shell does not run it.
    """

    title: str
    claims: Callable[[str], bool]
    read: Callable[[str, str], Run]
    needs: str
    published: bool = False
    program: str = ""


KINDS: Mapping[str, Kind] = {
    fio.KIND: Kind(needs=unread.FIO, title="fio", program="fio", claims=fio.claims, read=fio.read),
    iostat.KIND: Kind(needs=unread.IOSTAT, title="iostat -x", program="iostat", claims=iostat.claims, read=iostat.read),
    sar.KIND: Kind(needs=unread.SAR, title="sar", program="sar", claims=sar.claims, read=sar.read),
    orion.KIND: Kind(
        needs=unread.ORION, title="ORION", program="orion", claims=orion.claims, read=orion.read, published=True
    ),
    calibrate.CELL_KIND: Kind(
        needs=unread.CALIBRATE,
        title="CellCLI's CALIBRATE",
        claims=calibrate.claims_cell,
        read=calibrate.read_cell,
        published=True,
    ),
    calibrate.DATABASE_KIND: Kind(
        needs=unread.CALIBRATE_IO,
        title="CALIBRATE_IO",
        claims=calibrate.claims_database,
        read=calibrate.read_database,
        published=True,
    ),
    awr.KIND: Kind(needs=unread.AWR, title="an AWR report", claims=awr.claims, read=awr.read, published=True),
    slob.KIND: Kind(needs=unread.SLOB, title="SLOB", claims=slob.claims, read=slob.read, published=True),
    drive.KIND: Kind(needs=unread.DRIVE, title="exacell's drive", claims=drive.claims, read=drive.read),
    asmcmd.KIND: Kind(
        needs=unread.ASMCMD,
        title="asmcmd",
        program="asmcmd",
        claims=asmcmd.claims,
        read=asmcmd.read,
        published=True,
    ),
    blocks.LIMITS_KIND: Kind(
        needs=unread.SG_VPD,
        title="sg_vpd -p bl",
        program="sg_vpd",
        claims=blocks.claims_limits,
        read=blocks.read_limits,
    ),
    blocks.QUEUES_KIND: Kind(
        needs=unread.QUEUES, title="queues of block devices", claims=blocks.claims_queues, read=blocks.read_queues
    ),
    vscsi.KIND: Kind(
        needs=unread.VSCSI,
        title="vscsiStats",
        program="vscsiStats",
        claims=vscsi.claims,
        read=vscsi.read,
        published=True,
    ),
    vsphere.VFLASH_KIND: Kind(
        needs=unread.VFLASH,
        title="esxcli's statistics of a flash cache",
        program="esxcli",
        claims=vsphere.claims_vflash,
        read=vsphere.read_vflash,
        published=True,
    ),
    vsphere.ESXTOP_KIND: Kind(
        needs=unread.ESXTOP,
        title="esxtop",
        program="esxtop",
        claims=vsphere.claims_esxtop,
        read=vsphere.read_esxtop,
        published=True,
    ),
}
"""Name for ``import kind=`` → its importer. An importer is registered here and nowhere else: the command, its help and
completion, and the programs that pasted shell text may run follow from it."""

PUBLISHED = "the reader was made from published output only; compare a figure with the file before you rely on it"


def read(text: str, source: str, kind: str = "") -> Run:
    """Return the run in a text.

    If dcli has put a host's name in front of each line, the lines are read host by host; the hosts are parts of one run.

    Args:
        source: the file's name.
        kind: the kind of program; recognized from the text if empty.

    Raises:
        RefusedError: no program is recognised, or more than one; or the text is not the output of ``kind``.
        UnreadableError: the text is damaged.
    """
    hosts = {} if kind == calibrate.CELL_KIND or calibrate.claims_cell(text) else by_host(text)
    if hosts and all(any(one.claims(own) for one in KINDS.values()) for own in hosts.values()):
        return in_one([replace(_read(own, source, kind), host=host) for host, own in hosts.items()])
    return _read(text, source, kind)


_ENDLESS = re.compile(r"[0-9]{300}")
"""A number that is too large to calculate with."""


def _read(text: str, source: str, kind: str) -> Run:
    if not text.strip():
        raise RefusedError(f"{source} is empty", hint="the program may have ended with an error, or written elsewhere")
    endless = _ENDLESS.search(text)
    if endless is not None:
        number = text.count("\n", 0, endless.start()) + 1
        raise UnreadableError(
            f"{source}: line {number} has a number of 300 digits or more, which is no measured value",
            hint="copy the file again, or remove that line",
        )
    if kind and not KINDS[kind].claims(text):
        raise RefusedError(
            f"{source}: it has nothing of {KINDS[kind].title}",
            hint=f"{KINDS[kind].needs}; leave kind= out, and exacell finds the kind",
        )
    found = [kind] if kind else [name for name, one in KINDS.items() if one.claims(text)]
    if len(found) > 1:
        titles = " and ".join(KINDS[name].title for name in found)
        raise RefusedError(f"{source}: it looks like {titles}", hint=f"say which one it is: kind={'|'.join(found)}")
    if not found and (refusal := unread.refusal(text, source)) is not None:
        raise refusal
    if not found:
        raise RefusedError(
            f"{source}: exacell does not know the program that wrote it",
            hint=f"exacell reads {', '.join(one.title for one in KINDS.values())}",
        )
    (name,) = found
    try:
        run = KINDS[name].read(text, source)
    except UnreadableError as error:
        raise error if error.hint else UnreadableError(error.message, hint=KINDS[name].needs) from error
    return replace(run, notes=(*run.notes, PUBLISHED)) if KINDS[name].published else run


def together(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of one import, all of one kind, with notes on each other; parts of one run are joined.

    Raises:
        RefusedError: they are of different kinds.
    """
    kinds = dict.fromkeys(run.kind for run in runs)
    if len(kinds) > 1:
        raise RefusedError(
            f"files of {' and '.join(KINDS[kind].title for kind in kinds)} can't be imported as one",
            hint="import each by itself",
        )
    return parted(orion.settle(runs) if orion.KIND in kinds else runs)
