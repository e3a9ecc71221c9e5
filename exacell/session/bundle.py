"""Pack the files of a bug report for ``doctor --bundle``: no passwords, host, user or home names, and no addresses.

Each name is replaced by its own stand-in, so that a reader still sees which entries belong together.
"""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from exacell.care.examination import Check
from exacell.cellcli.secrets import masked
from exacell.core.config import RackConfig
from exacell.core.errors import RefusedError, why_unreadable
from exacell.core.values import dataclass
from exacell.core.version import __version__
from exacell.journal.auditing import outlines_of, summary
from exacell.transport.ssh.resolving import local_user

if TYPE_CHECKING:
    from exacell.journal.record import Journal
    from exacell.session.state import Session

CHANGES = 20
"""How many of the journal's last changes are packed."""

_CRASHES = 5
_MOST = 1 << 20
"""How many bytes of a file are packed, from its end."""

_MAYBE_ADDRESS = re.compile(r"(?<![\w./:])[0-9a-fA-F]*[:.][0-9a-fA-F:.]*[0-9a-fA-F](?![\w:])(?!\.\w)")
"""Text that may be an address; the ipaddress module decides."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A bundle: its file, and the names of its members."""

    path: Path
    members: tuple[str, ...]


class Veil:
    """Replaces names that must not be published; the same name always gets the same stand-in with a number, also in folded names
    (``exa1cel[01-03]`` becomes ``cell[01-03]``).

    Args:
        rack: the rack whose cells and hosts are replaced; None for none.
        words: further names, each with its stand-in; only whole words are replaced.
    """

    def __init__(self, rack: RackConfig | None, words: Iterable[tuple[str, str]] = ()) -> None:
        self._addresses: dict[str, str] = {}
        self._names: list[tuple[re.Pattern[str], str]] = []
        for name, instead in words:
            self._add(f"{re.escape(name)}(?![A-Za-z0-9])", instead)
        if rack is not None:
            self._hosts(rack.cells, "cell")
            self._hosts(rack.host_names, "host")
            self._add(f"{re.escape(rack.name)}(?![A-Za-z0-9])", "RACK")

    def _hosts(self, names: Iterable[str], kind: str) -> None:
        stems: dict[str, bool] = {}
        for name in names:
            label, _, domain = name.partition(".")
            if domain and not domain.replace(".", "").isdigit():
                self._add(f"{re.escape(domain)}(?![A-Za-z0-9])", "DOMAIN")
            stem = label.rstrip("0123456789")
            stems.setdefault(stem, stem != label)
        for number, (stem, numbered) in enumerate(stems.items()):
            after = r"(?=[0-9\[])" if numbered else "(?![A-Za-z0-9])"
            if stem:
                self._add(re.escape(stem) + after, kind + ("" if number == 0 else chr(ord("a") + number % 26)))

    def _add(self, pattern: str, instead: str) -> None:
        self._names.append((re.compile(f"(?<![A-Za-z0-9]){pattern}", re.IGNORECASE), instead))

    def over(self, text: str) -> str:
        """Return the text with stand-ins for names and without passwords."""
        text = masked(text)
        for pattern, instead in self._names:
            text = pattern.sub(instead, text)
        return _MAYBE_ADDRESS.sub(self._address, text)

    def _address(self, match: re.Match[str]) -> str:
        try:
            address = ip_address(match[0])
        except ValueError:
            return match[0]
        return self._addresses.setdefault(str(address), f"ADDRESS{len(self._addresses) + 1}")


def pack(path: Path, session: Session, checks: Sequence[Check], journal: Journal) -> Written:
    """Write a bundle into a new file that only its owner can read, and return its path and the names of its members.

    Raises:
        RefusedError: the file already exists, or can't be written.
    """
    rack = session.rack
    veil = Veil(rack, _own_names())
    members = {name: veil.over(text) for name, text in _members(session, checks, journal)}
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RefusedError(
            f"the bundle was not written: {path}: {why_unreadable(error)}", hint="type `doctor --bundle=ANOTHER.tar.gz`"
        ) from error
    with open(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in members.items():
            data = text.encode("utf-8", "backslashreplace")
            member = tarfile.TarInfo(f"exacell-bundle/{name}")
            member.size, member.mtime, member.mode = len(data), int(time.time()), 0o600
            archive.addfile(member, io.BytesIO(data))
    return Written(path=path, members=tuple(members))


def _own_names() -> Iterator[tuple[str, str]]:
    home = os.path.expanduser("~")
    if len(home) > 1:
        yield home, "HOME"
    if local_user() not in ("", "root"):
        yield local_user(), "USER"
    yield os.uname().nodename, "THIS-MACHINE"


def _members(session: Session, checks: Sequence[Check], journal: Journal) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each part, before names are replaced."""
    yield "checks.json", json.dumps({"exacell": __version__, "checks": [asdict(one) for one in checks]}, indent=1)
    rack = session.rack
    files = [session.home.config_file, Path(rack.source) if rack is not None and rack.source else None]
    for name, file in zip(("config.toml", "rack.toml"), files, strict=True):
        if file is not None and file.is_file():
            yield name, _text(file)
    if rack is not None:
        yield "journal.json", json.dumps(_changes(journal, rack.name), indent=1, default=str)
    crashes = sorted(session.home.state_dir.glob("crash-*.txt"))[-_CRASHES:]
    for file in crashes:
        yield file.name, _text(file)


def _changes(journal: Journal, rack: str) -> list[dict[str, object]]:
    """Return a record for each of the last changes of a rack, in the form of ``journal show``."""
    rows = journal.all_entries(rack=rack, newest=CHANGES)
    return [summary(outline) for outline in outlines_of(rows).values()]


def _text(file: Path) -> str:
    try:
        return file.read_bytes()[-_MOST:].decode("utf-8", "replace")
    except OSError as error:
        return f"(not read: {why_unreadable(error)})"
