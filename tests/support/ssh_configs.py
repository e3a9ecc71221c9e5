"""The ssh_config files under tests/data/ssh_config: each is written out as it would be on a machine, and ssh is asked about it.

A file begins with lines ``# distribution:``, ``# feature:``, ``# targets:`` and ``# read by:`` (own: by our reader alone;
ssh: it has to ask), and holds the files of one case, each behind a line ``#== NAME``; ``config`` is the one that is read.
``{dir}`` stands for their folder, ``{user}`` for who runs the test.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

from exacell.core.values import dataclass

_DATA = Path(__file__).parent.parent / "data" / "ssh_config"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case."""

    name: str
    distribution: str
    feature: str
    targets: tuple[str, ...]
    read_by: str
    text: str

    def write(self, folder: Path) -> Path:
        """Write the case's files and return the one that is read."""
        user = pwd.getpwuid(os.getuid()).pw_name
        text = self.text.replace("{dir}", str(folder)).replace("{user}", user)
        for part in text.split("#== ")[1:]:
            name, _, content = part.partition("\n")
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
            path.chmod(0o644)
        return folder / "config"


def cases() -> list[Case]:
    """Return all cases by name."""
    return [_case(path) for path in sorted(_DATA.glob("*.conf"))]


def _case(path: Path) -> Case:
    text = path.read_bytes().decode()
    head = dict(line[2:].split(": ", 1) for line in text.partition("#== ")[0].splitlines())
    return Case(
        name=path.stem,
        distribution=head["distribution"],
        feature=head["feature"],
        targets=tuple(head["targets"].split()),
        read_by=head["read by"],
        text=text,
    )


@dataclass(frozen=True, kw_only=True)
class Reached:
    """How a host is reached, in the terms of ``ssh -G``; paths are whole, tokens replaced."""

    host: str
    port: str
    user: str
    identities: tuple[str, ...]
    jumps: str
    command: str
    user_known_hosts: str
    global_known_hosts: str


def as_ssh_reads(config: Path, target: str) -> Reached:
    """Return what ``ssh -G`` says, with the test's HOME in place of the passwd file's."""
    run = subprocess.run(["ssh", "-G", "-F", config, target], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found: dict[str, list[str]] = {}
    for line in run.stdout.splitlines():
        keyword, _, value = line.partition(" ")
        found.setdefault(keyword, []).append(value)

    def one(name: str) -> str:
        return found.get(name, [""])[0]

    account, home = pwd.getpwuid(os.getuid()), os.environ["HOME"]
    theirs = f"{account.pw_dir}/"
    signs = {"h": one("hostname"), "n": target, "p": one("port"), "r": one("user")}
    wide = {**signs, "d": home, "u": account.pw_name}

    def expanded(text: str, tokens: dict[str, str]) -> str:
        for letter, value in tokens.items():
            text = text.replace(f"%{letter}", value)
        return text.replace("%%", "%")

    def path(text: str) -> str:
        text = home + text[1:] if text.startswith("~/") else text
        return expanded(text.replace("${HOME}", home), wide)

    def known(text: str) -> str:
        words = [f"~/{word.removeprefix(theirs)}" if word.startswith(theirs) else word for word in text.split(" ")]
        return " ".join(home + word[1:] if word.startswith("~/") else word for word in words)

    named = [text for text in found["identityfile"] if text.lower() != "none"]
    return Reached(
        host=one("hostname"),
        port=one("port"),
        user=one("user"),
        identities=tuple(path(text) for text in named) or ("none",),
        jumps=expanded(one("proxyjump"), signs),
        command=expanded(one("proxycommand"), signs),
        user_known_hosts=known(one("userknownhostsfile")),
        global_known_hosts=known(one("globalknownhostsfile")),
    )
