"""Check the settings of this machine that decide whether hosts can be reached: folders, keys, agent, ssh_config, limits,
locale, terminal.

Nothing is changed; ``ssh -G`` and ``ssh -V`` are the only programs that are started.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from exacell.care import examination
from exacell.care.examination import Check
from exacell.care.health import Level
from exacell.core.config import RackConfig
from exacell.core.errors import ConfigError, why_unreadable
from exacell.core.paths import Home, at_home
from exacell.core.version import __version__
from exacell.output.style import Shown
from exacell.transport.ssh.answer import SshConfig
from exacell.transport.ssh.resolving import Answer
from exacell.transport.ssh.room import limits, needed_for

LIBRARIES = ("fabric", "paramiko", "rich", "prompt_toolkit")
_SSH_S = 10.0
_AT_ONCE = 16
"""How many ``ssh -G`` processes run at the same time."""


def check_versions() -> Check:
    """Return a check with the versions of exacell, Python, the libraries and ssh."""
    found = {"exacell": __version__, "Python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    found["ssh"] = _ssh_version() or "(no such program)"
    return examination.versions(found)


def _ssh_version() -> str:
    """Return what ``ssh -V`` prints; empty if there is no ssh."""
    ssh = shutil.which("ssh")
    if ssh is None:
        return ""
    try:
        said = subprocess.run([ssh, "-V"], capture_output=True, text=True, timeout=_SSH_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"(does not run: {error})"
    return (said.stderr or said.stdout).strip().partition(",")[0]


def check_folders(home: Home) -> list[Check]:
    """Return for each of exacell's folders whether files can be written into it, or the folder can be created."""
    places = {"configuration": home.config_dir, "state": home.state_dir, "cache": home.cache_dir}
    kept: dict[Path, str] = {}
    for what, path in places.items():
        kept.setdefault(path, what)
    return [_folder("exacell's" if len(kept) == 1 else what, path) for path, what in kept.items()]


def _folder(what: str, path: Path) -> Check:
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    try:
        mode = there.stat().st_mode if there == path else 0
        free = shutil.disk_usage(there).free
        problem = _unwritable(there) if there.is_dir() else "it is no folder"
    except OSError as error:
        mode, free, problem = 0, 0, why_unreadable(error)
    return examination.folder(what, str(path), problem=problem, mode=mode, free=free)


def _unwritable(folder: Path) -> str:
    """Return why nothing can be written into a folder, empty if it works; it is tried with a file without a name."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def check_lock(path: Path) -> Check:
    """Return whether the lock of a rack can be taken: the file can be written, or created in its folder."""
    there = next(place for place in (path, *path.parents) if place.exists())
    if there == path:
        problem = "" if os.access(path, os.R_OK | os.W_OK) else "it can't be read and written"
    else:
        problem = "" if os.access(there, os.W_OK | os.X_OK) else f"{there} can't be written"
    if problem:
        way = "name another file with lock= in the rack's file, the same for everybody who changes the rack"
        return Check(check="lock", level=Level.BAD, found=f"{path}: {problem}", way=way)
    return Check(check="lock", level=Level.OK, found=str(path))


def check_keys(answers: Iterable[Answer]) -> list[Check]:
    """Return the keys in the agent, and which keys can log in to the hosts that ssh_config names."""
    from exacell.transport.ssh.route import DEFAULT_FILES, agent_keys, key_file  # They import paramiko.

    named = dict.fromkeys(
        name
        for answer in answers
        for name in (answer.lists.get("identityfile") or DEFAULT_FILES)
        if name.lower() != "none"
    )
    socket = os.environ.get("SSH_AUTH_SOCK", "")
    held, problem = agent_keys() if socket else (frozenset[bytes](), "")
    files = []
    for path in map(at_home, named):
        file = key_file(path, held)
        if file is not None:
            files.append(file)
    return [examination.agent(socket, len(held), problem), *examination.keys(files, len(held))]


def check_surroundings(rack: RackConfig | None, env: Mapping[str, str], shown: Shown) -> list[Check]:
    """Return the checks of the open files limit, the locale and the terminal of this process.

    Args:
        shown: the properties of standard output.
    """
    hosts = len((*rack.cells, *rack.host_names)) if rack is not None else 0
    soft, hard = limits()
    named = next((env[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "")
    files = [examination.descriptors(needed_for(hosts), soft, hard, hosts)] if hosts else []
    return [
        *files,
        examination.locale(shown.encoding, named),
        examination.terminal(env.get("TERM", ""), shown.size),
    ]


def check_ssh_config(rack: RackConfig, hosts: Sequence[tuple[str, str]]) -> tuple[list[Check], list[Answer]]:
    """Return for each host whether ssh would reach it as exacell does, and exacell's own reading of ssh_config for it.

    Args:
        hosts: each with the login for reads there; an empty login means the one in ssh_config.
    """
    try:
        config = SshConfig(rack.ssh_config, refused=rack.no_programs)
    except ConfigError as error:
        return [Check(check="ssh_config", level=Level.BAD, found=error.message, way=error.hint)], []
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        both = list(pool.map(lambda one: _read_twice(config, *one), hosts))
    return [check for check, _ in both], [answer for _, answer in both if answer is not None]


def _read_twice(config: SshConfig, host: str, user: str) -> tuple[Check, Answer | None]:
    try:
        ours = config.answer(host, user=user or None)
    except ConfigError as error:
        return Check(host=host, check="ssh_config", level=Level.BAD, found=error.message, way=error.hint), None
    try:
        theirs = config.by_ssh(host, user=user or None)
    except ConfigError as error:
        said = f"not compared with ssh: {error.message}"
        return Check(host=host, check="ssh_config", level=Level.UNKNOWN, found=said, way=error.hint), ours
    return examination.ssh_config(host, differences(ours, theirs), ours.asked), ours


def differences(ours: Answer, theirs: Answer) -> dict[str, tuple[str, str]]:
    """Return the differences between two readings of ssh_config, keyword → (exacell's value, that of ``ssh -G``).

    ``ssh -G`` names the default keys if none is configured; that counts as no difference.
    """
    pairs = {
        "HostName": (ours.host, theirs.host),
        "Port": (str(ours.port), str(theirs.port)),
        "User": (ours.user, theirs.user),
        "ProxyJump": tuple(one.options.get("proxyjump", "").removeprefix("ssh://") for one in (ours, theirs)),
        "ProxyCommand": tuple(one.proxy.command if one.proxy is not None else "" for one in (ours, theirs)),
        **{name: tuple(" ".join(one.lists.get(name.lower(), ())) for one in (ours, theirs)) for name in _FILES},
    }
    if "identityfile" in ours.lists:
        pairs["IdentityFile"] = tuple(" ".join(one.lists.get("identityfile", ())) for one in (ours, theirs))
    return {name: (mine, other) for name, (mine, other) in pairs.items() if mine != other}


_FILES = ("UserKnownHostsFile", "GlobalKnownHostsFile")
