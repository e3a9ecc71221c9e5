"""Pack a report with all data behind it into one archive, and check that nothing in it was changed since.

The archive is a ZIP file, which every desk opens. Its file SHA256SUMS has a line for each other file, as sha256sum writes and
reads it.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from exacell.core.errors import RefusedError, why_unreadable
from exacell.core.values import dataclass
from exacell.measure.finding import Finding

SUMS = "SHA256SUMS"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can hold: the same content makes the same archive."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The result of checking an archive's sums.

    Attributes:
        files: how many files agree with their sums.
        seal: the SHA-256 of SHA256SUMS itself, to compare with the value from the sender.
        wrong: one phrase for each thing that does not agree; empty if all agree.
    """

    files: int
    seal: str
    wrong: tuple[str, ...]


def files_of(finding: Finding, reports: Mapping[str, str]) -> dict[str, bytes]:
    """Return the archive's files by name: the reports, each distribution as CSV of value and count, and the files read."""
    found = {name: text.encode() for name, text in reports.items()}
    for one in finding.distributions:
        rows = (f"{value},{count}" for value, count in zip(one.counts.values, one.counts.counts, strict=True))
        text = "\n".join(("value,count", *rows)) + "\n"
        found[_free(found, f"distributions/{_named(one.name)}.csv")] = text.encode()
    for file in finding.artifacts:
        found[_free(found, f"files/{_named(file.name)}")] = file.content
    return found


def _named(name: str) -> str:
    """Return the name with only characters that every file system allows."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "file"


def _free(taken: Mapping[str, bytes], name: str) -> str:
    stem, dot, end = name.rpartition(".")
    number = 2
    while name in taken:
        name = f"{stem or end}-{number}{dot}{end if stem else ''}"
        number += 1
    return name


def pack(path: Path, files: Mapping[str, bytes]) -> str:
    """Write the archive and return its seal; ``path`` must not exist.

    Raises:
        RefusedError: the file exists or can't be written.
    """
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    sums = "".join(lines).encode()
    try:
        with (
            open(path, "xb", opener=_for_the_owner) as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for name, content in (*sorted(files.items()), (SUMS, sums)):
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise RefusedError(f"{path}: {why_unreadable(error)}") from error
    return hashlib.sha256(sums).hexdigest()


def _for_the_owner(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def check(path: Path) -> Checked:
    """Return the result of checking an archive's sums.

    Raises:
        RefusedError: it can't be read, or is not an archive of a report.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info.filename for info in archive.infolist()]
            content = {info.filename: archive.read(info) for info in archive.infolist()}
            beside = _beside(archive, path.stat().st_size)
    except OSError as error:
        raise RefusedError(f"{path}: {why_unreadable(error)}") from error
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise RefusedError(
            f"{path} is damaged, or not an archive of a report: {error}", hint="`report … --evidence=FILE` writes one"
        ) from error
    sums = content.pop(SUMS, None)
    if sums is None:
        raise RefusedError(f"{path} is not an archive of a report: it has no {SUMS}")
    told, wrong = _sums(sums.decode("utf-8", "replace"))
    wrong += [f"{name}: it is twice in the archive" for name in _twice(members)]
    wrong += [f"{name}: it is not in {SUMS}" for name in content if name not in told]
    wrong += [f"{name}: it is missing" for name in told if name not in content]
    good = {name for name, data in content.items() if told.get(name) == hashlib.sha256(data).hexdigest()}
    wrong += [f"{name}: it was changed" for name in content if name in told and name not in good]
    if beside and not wrong:
        wrong.append(f"{beside}: `report --evidence` does not write archives like this")
    return Checked(files=len(good), seal=hashlib.sha256(sums).hexdigest(), wrong=tuple(sorted(wrong)))


def _sums(text: str) -> tuple[dict[str, str], list[str]]:
    """Return name → sum, and the problems of the list."""
    lines = text.removesuffix("\n").split("\n") if text else []
    found = [match for line in lines if (match := _LINE.fullmatch(line)) is not None]
    names = [match["name"] for match in found]
    wrong = [f"{SUMS} has a line that is not a checksum with a name"] if len(found) < len(lines) else []
    wrong += [f"{name}: it is twice in {SUMS}" for name in _twice(names)]
    wrong += [
        f"{name}: its path leaves the folder" for name in names if name.startswith("/") or ".." in name.split("/")
    ]
    return {match["name"]: match["sum"] for match in found}, wrong


_LINE = re.compile(r"(?P<sum>[0-9a-f]{64})  (?P<name>[^\\\0-\x1f]+)")


def _twice(names: Sequence[str]) -> list[str]:
    """Return the names that occur twice; names that differ only in case count, because some systems ignore case."""
    lower = [name.lower() for name in names]
    return [name for place, name in enumerate(names) if lower[place] in lower[:place]]


def _beside(archive: zipfile.ZipFile, size: int) -> str:
    """Return a phrase about data in an archive besides its files; empty if there are none.

    The files follow each other from the first byte on, then comes the list of them, then the end. Source: PKWARE, APPNOTE.TXT,
    section 4.3.
    """
    place = listed = 0
    for info in sorted(archive.infolist(), key=lambda one: one.header_offset):
        name = len(info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437", "replace"))
        if info.comment or info.extra or info.filename != info.orig_filename:
            return f"{info.filename} has a comment or further fields"
        if info.header_offset != place:
            return f"there is more data at the place of {info.filename}"
        if info.external_attr >> 28 not in (0, _REGULAR):
            return f"{info.filename} is not a file"
        place += _LOCAL + name + info.compress_size
        listed += _LISTED + name
    return "" if place + listed + _END == size and not archive.comment else "there is more data after the files"


_LOCAL, _LISTED, _END, _REGULAR = 30, 46, 22, 8
"""Bytes of a file's head, of its line in the list and of the end; the leading mode bits of a plain file."""
