"""The checks of ``doctor``: each compares measured values and names what to do. Pure: measured values in, checks out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from exacell.care.health import Level
from exacell.core.cellset import fold
from exacell.core.units import MIB, counted, human_size
from exacell.core.values import dataclass

FREE = 256 * MIB
"""Bytes that should be free for exacell's folders, which hold the journal, snapshots and large answers."""

AHEAD = 5.0
"""Seconds by which a clock may differ; beyond that, times of metrics, alerts and the journal can't be compared."""

_OTHERS = 0o077
_WRITERS = 0o022


@dataclass(frozen=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes:
        check: what was checked, in a few words.
        level: OK; WARN: works, but look at it; BAD: something can't be done; UNKNOWN: it could not be read.
        found: what was found.
        way: what to type or to do; empty if nothing is to be done.
        host: the cell or host of the check; empty for this machine.
    """

    check: str
    level: Level
    found: str
    way: str = ""
    host: str = ""


def versions(programs: Mapping[str, str]) -> Check:
    """Return the check that lists the versions: program or library → its version."""
    return Check(
        check="versions", level=Level.OK, found=", ".join(f"{name} {version}" for name, version in programs.items())
    )


def folder(what: str, path: str, *, problem: str, mode: int, free: int) -> Check:
    """Return the check of a folder that exacell writes to.

    Args:
        problem: why nothing can be written there; empty if it can.
        mode: the folder's permissions.
        free: free bytes on its file system.
    """
    name = f"{what} folder"
    if problem:
        return Check(
            check=name,
            level=Level.BAD,
            found=f"{path}: {problem}",
            way="`EXACELL_HOME=/another/folder exacell doctor`, or change its owner and permissions",
        )
    if mode & _WRITERS:
        return Check(check=name, level=Level.BAD, found=f"{path}: others can write there", way=f"`chmod go-w {path}`")
    if free < FREE:
        return Check(check=name, level=Level.WARN, found=f"{path}: {human_size(free)} free", way="make room there")
    return Check(check=name, level=Level.OK, found=f"{path}, {human_size(free)} free")


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """A private key file, from ssh_config or the default.

    Attributes:
        path: the path of the file.
        mode: its permissions.
        problem: why it can't be used as it is, such as its passphrase; empty if it can.
        way: what to type or to do about the problem.
        in_agent: whether the agent holds the same key.
    """

    path: str
    mode: int
    problem: str = ""
    way: str = ""
    in_agent: bool = False


def keys(files: Sequence[KeyFile], agent: int) -> list[Check]:
    """Return the checks of the keys for logins: the key files, and the number of keys that the agent holds."""
    found = []
    usable = [key for key in files if not key.problem or key.in_agent]
    for key in files:
        if key.mode & _OTHERS:
            found.append(
                Check(
                    check="keys",
                    level=Level.WARN,
                    found=f"{key.path} can be read by others (mode {key.mode & 0o777:03o}); ssh itself refuses it",
                    way=f"`chmod 600 {key.path}`",
                )
            )
        if key.problem and not key.in_agent:
            found.append(
                Check(
                    check="keys",
                    level=Level.WARN if len(usable) or agent else Level.BAD,
                    found=key.problem,
                    way=key.way,
                )
            )
    if not usable and not agent:
        found.append(
            Check(
                check="keys",
                level=Level.BAD,
                found="there is no key to log in with",
                way="`ssh-keygen -t ed25519`, then `ssh-copy-id celladmin@CELL`; or name a key with IdentityFile in ssh_config",
            )
        )
    if not found:
        names = ", ".join(key.path for key in usable)
        held = f"{counted(agent, 'key')} in the agent" if agent else ""
        found.append(Check(check="keys", level=Level.OK, found=" and ".join(filter(None, (names, held)))))
    return found


def agent(socket: str, keys_held: int, problem: str) -> Check:
    """Return the check of the ssh agent.

    Args:
        socket: SSH_AUTH_SOCK; empty if it is not set.
        keys_held: number of keys that it holds.
        problem: why it does not answer; empty if it does.
    """
    if not socket:
        return Check(check="agent", level=Level.OK, found="none (SSH_AUTH_SOCK is not set); key files are used")
    if problem:
        return Check(
            check="agent",
            level=Level.WARN,
            found=f"{socket} does not answer: {problem}",
            way="`eval $(ssh-agent)` and `ssh-add`, or `unset SSH_AUTH_SOCK`",
        )
    return Check(check="agent", level=Level.OK, found=counted(keys_held, "key"))


def descriptors(needed: int, soft: int | None, hard: int | None, hosts: int) -> Check:
    """Return the check whether this process may open as many connections as there are hosts.

    Args:
        needed: total number of file descriptors.
        soft, hard: the limits; None for no limit.
    """
    told = f"{counted(hosts, 'host')} need about {needed} open files"
    if hard is not None and needed > hard:
        return Check(
            check="open files",
            level=Level.BAD,
            found=f"{told}; {hard} are allowed",
            way=f"`ulimit -n {max(1024, needed)}`, or LimitNOFILE / limits.conf",
        )
    return Check(
        check="open files", level=Level.OK, found=f"{told}; {'no limit' if soft is None else f'{soft} are allowed'}"
    )


def locale(encoding: str, named: str) -> Check:
    """Return the check whether text is UTF-8 here.

    Args:
        encoding: encoding of standard output.
        named: value of LC_ALL, LC_CTYPE or LANG; empty if none is set.
    """
    found = f"{encoding} ({named or 'no LANG'})"
    if encoding.lower().replace("-", "") == "utf8":
        return Check(check="locale", level=Level.OK, found=found)
    return Check(
        check="locale",
        level=Level.WARN,
        found=f"{found}: signs outside ASCII are escaped",
        way="`export LC_ALL=C.UTF-8`",
    )


def terminal(kind: str, size: tuple[int, int] | None) -> Check:
    """Return the check of the terminal for tables and bars.

    Args:
        kind: TERM; empty if it is not set.
        size: columns and lines; None if standard output is not a terminal.
    """
    if size is None:
        return Check(
            check="terminal", level=Level.OK, found="standard output is no terminal: plain text without colour"
        )
    columns, lines = size
    found = f"{kind or 'TERM is not set'}, {columns}x{lines}"
    if not kind or kind == "dumb":
        return Check(
            check="terminal", level=Level.WARN, found=f"{found}: no bars, no colour", way="`export TERM=xterm`"
        )
    if columns < 80:
        return Check(check="terminal", level=Level.WARN, found=f"{found}: most tables need 80 columns", way="widen it")
    return Check(check="terminal", level=Level.OK, found=found)


def clock(host: str, ahead: float | None, give: float, problem: str = "") -> Check:
    """Return the check whether a host's clock agrees with this machine's.

    Args:
        ahead: seconds by which it is ahead of this machine's clock, negative if it is behind; None if it was not read.
        give: seconds that the answer took; ``ahead`` may be wrong by as much.
        problem: why the clock was not read.
    """
    if ahead is None:
        return Check(
            host=host, check="clock", level=Level.UNKNOWN, found=f"not read: {problem}", way="ask `date` there"
        )
    if abs(ahead) - give <= AHEAD:
        return Check(host=host, check="clock", level=Level.OK, found=f"within {AHEAD:g} s of this machine's")
    way = "`chronyc tracking` (or `ntpq -p`) on both: times of metrics, alerts and the journal don't match"
    said = f"{abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    return Check(host=host, check="clock", level=Level.WARN, found=said, way=way)


def ssh_config(host: str, differs: Mapping[str, tuple[str, str]], asked: str = "") -> Check:
    """Return the check whether ssh would connect to the same place as exacell.

    Args:
        differs: setting that differs → (exacell's value, value of ``ssh -G``).
        asked: why exacell itself uses the values of ``ssh -G``; empty if it does not.
    """
    if differs:
        told = "; ".join(
            f"{name}: exacell {ours or 'none'}, ssh {theirs or 'none'}" for name, (ours, theirs) in differs.items()
        )
        return Check(
            host=host,
            check="ssh_config",
            level=Level.WARN,
            found=told,
            way=f"compare with `ssh -G {host}`; please report it: `doctor --bundle`",
        )
    return Check(
        host=host, check="ssh_config", level=Level.OK, found=asked or "read as ssh reads it (`ssh -G` says the same)"
    )


def login(host: str, user: str, *, problem: str, way: str = "", release: str = "", falls_back: str = "") -> Check:
    """Return the check of a login.

    Args:
        problem: why the login fails; empty if it works.
        way: what to do about the problem, if the problem's text does not contain it.
        release: the release of the host, if it was read.
        falls_back: the login that is used in its place; empty for none.
    """
    check = f"login {user}"
    if falls_back:
        return Check(
            host=host,
            check=check,
            level=Level.WARN,
            found=f"can't log in; reads use {falls_back} with `cellcli -m`",
            way=f'`ssh-copy-id {user}@{host}`, or read_user = "{falls_back}" in the rack\'s file',
        )
    if problem:
        return Check(host=host, check=check, level=Level.BAD, found=problem, way=way)
    return Check(host=host, check=check, level=Level.OK, found="works" + (f", release {release}" if release else ""))


def releases(found: Mapping[str, str]) -> Check | None:
    """Return the check whether all cells have one release; None if fewer than two releases are known.

    Args:
        found: cell → its release; empty if it is not known.
    """
    cells: dict[str, list[str]] = {}
    for cell, release in found.items():
        if release:
            cells.setdefault(release, []).append(cell)
    if sum(map(len, cells.values())) < 2:
        return None
    most = max(cells, key=lambda release: (len(cells[release]), release))
    if len(cells) == 1:
        return Check(check="releases", level=Level.OK, found=f"all {counted(len(cells[most]), 'cell')} have {most}")
    others = sorted((release, names) for release, names in cells.items() if release != most)
    differing = "; ".join(
        f"{fold(names)} {'has' if len(names) == 1 else 'have'} {release}" for release, names in others
    )
    return Check(
        check="releases",
        level=Level.WARN,
        found=f"{differing}; {fold(cells[most])} {'has' if len(cells[most]) == 1 else 'have'} {most}",
        way="`show versions`; all cells of a rack should have one release, except while they are patched",
    )


def worst(checks: Iterable[Check]) -> Level:
    """Return the worst level of the checks; OK if there are none."""
    return max((check.level for check in checks), key=lambda level: level.rank, default=Level.OK)
