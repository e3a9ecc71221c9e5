"""The programs of the table themselves, each in a place where it could write, watched by strace: what they do to the system.

They run as root of a user namespace that has no rights outside, with their own host name, network, processes and clock
rights, on copies of what they might write to. What is asked of the system is told also where it was refused.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.support.judging.sandbox import as_nobody

COPIED = ("/etc", "/var/log", "/var/lib/rpm", "/root", "/home")
"""Folders that are copied, so that a program may write there; /tmp, /var/tmp and /run are new and empty."""

SECONDS = 6
"""So long a command may run: some are slow under strace, and to be cut off is no fault of theirs."""

_TOGETHER = 100
"""So many commands go into one place: a command line has its length."""

_WATCHED = (
    "open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,link,linkat,symlink,"
    "symlinkat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,utime,utimes,utimensat,futimesat,setxattr,"
    "lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,mount,umount2,move_mount,fsmount,pivot_root,chroot,swapon,swapoff,"
    "sethostname,setdomainname,settimeofday,clock_settime,adjtimex,clock_adjtime,reboot,kexec_load,init_module,finit_module,"
    "delete_module,kill,tkill,tgkill,rt_sigqueueinfo,pidfd_send_signal,socket,connect,bind,syslog,ptrace,acct,quotactl,execve,"
    "shmctl,msgctl,semctl,setpriority,sched_setscheduler,ioperm,iopl,bpf"
)

SOCKETS: Mapping[str, str] = {
    "ip": "AF_NETLINK|AF_INET6?", "ss": "AF_NETLINK|AF_INET6?|AF_UNIX", "ifconfig": r"AF_\w+", "route": r"AF_\w+",
    "arp": r"AF_\w+", "netstat": r"AF_\w+", "ethtool": "AF_INET|AF_NETLINK", "ping": "AF_INET6?|AF_UNIX|AF_NETLINK",
    "dig": "AF_INET6?|AF_NETLINK", "fuser": "AF_INET6?",
    "nslookup": "AF_INET6?|AF_NETLINK", "hostname": "AF_INET6?|AF_NETLINK", "getent": "AF_INET6?|AF_NETLINK",
    "ipmitool": "AF_INET6?", "nvme": "AF_NETLINK", "who": "AF_INET6?|AF_NETLINK", "last": "AF_INET6?|AF_NETLINK",
    "lsblk": "AF_NETLINK", "chronyc": "AF_INET6?|AF_UNIX", "ntpq": "AF_INET6?|AF_NETLINK",
    "lspci": "AF_INET6?|AF_NETLINK", "ibstat": "AF_NETLINK", "sestatus": "AF_NETLINK",
}  # fmt: skip
"""The families of sockets that a row's program asks for: to the kernel's network, or to the name service for a host's name."""

DAEMONS: Mapping[str, str] = {
    "systemctl": r"/run/systemd/private|/run/dbus/system_bus_socket|/run/user/.*",
    "chronyc": r"/(var/)?run/chrony/.*",
    "ss": r".*",
    "service": r"/run/systemd/private|/run/dbus/system_bus_socket",
}
"""The daemons that a row's program asks, besides those of the name service."""

WRITES: Mapping[str, str] = {
    "rpm": r"/dev/tty|(?:/var/lib/rpm|/root/\.rpmdb|/usr/lib/sysimage/rpm)(?:/.*)?",
    "sort": r"/tmp/sort\w{6}",
    "nslookup": r"/proc/self/task/\d+/comm",
    "dig": r"/proc/self/task/\d+/comm",
    "ipmitool": r"/dev/ipmi\d?.*|/dev/ipmidev/\d|/dev/ipmi/\d",
}
"""What a row's program opens for writing: rpm its lock and its terminal, sort files of its own where much is sorted, which it
removes, nslookup and dig the names of their own threads, ipmitool the device through which it asks the service processor."""

MAKES: Mapping[str, str] = {"top": r"/root/\.config(/procps)?"}
"""The folders that a row's program makes where they are missing: top (procps 4.0.2) that of its own settings."""

STARTED: Mapping[str, str] = {
    "zcat": r"gzip", "egrep": "grep", "fgrep": "grep", "sar": "sadc",
    "service": r"(basename|env|systemctl|run-parts|dirname|readlink|sed|cat|ls|grep)",
    "ibstatus": r"(cat|basename|ls|tr|sed)", "awk": r"[gm]?awk", "rpm": "sed|cat|sort|g?awk|mawk",
}  # fmt: skip
"""The programs that a row's program starts."""

_NAME_SERVICE = (
    r"/(var/)?run/(nscd/socket|systemd/userdb/.*|systemd/resolve/.*|sss/.*|\.nscd_socket|systemd/.*varlink.*)"
)
_WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)")
_CALL = re.compile(r"^\d+ +(\w+)\((.*?)(?:\) += (.*)| <unfinished \.\.\.>)$")
_READING_SYSLOG = re.compile(r"SYSLOG_ACTION_(?:READ_ALL|SIZE_BUFFER|SIZE_UNREAD|OPEN|CLOSE)\b")


@dataclass(frozen=True, slots=True)
class Watched:
    """What a command did.

    Attributes:
        text: the command.
        faults: what it did, or tried to, and must not.
        ended: its exit status; 137 where it was cut off.
        calls: how many calls of the kernel were looked at.
    """

    text: str
    faults: tuple[str, ...]
    ended: int
    calls: int


def watch(row: str, texts: Sequence[str]) -> list[Watched]:
    """Run commands of a row with the programs of this machine, and return what each did."""
    return [one for first in range(0, len(texts), _TOGETHER) for one in _watch(row, texts[first : first + _TOGETHER])]


def _watch(row: str, texts: Sequence[str]) -> list[Watched]:
    script = [
        "mkdir -p /mnt/trace",
        *(f"cp -r /mnt{folder}/. {folder}/ 2>/dev/null" for folder in COPIED),
        "printf 'first line\\nsecond line\\n' > /mnt/trace/stdin",
    ]
    for number, text in enumerate(texts):
        script += [
            "exec 3</mnt/trace/stdin",
            f"timeout -s KILL {SECONDS} strace -f -y -qq -s 200 -e trace={_WATCHED} -o /mnt/trace/{number}"
            f" /bin/sh -c {shlex.quote(text)} <&3 >/dev/null 2>&1",
            "ended=$?; read -r line <&3",
            f'echo; echo "@@ $ended $line"; cat /mnt/trace/{number}',
        ]
    done = subprocess.run(
        ["bwrap", *_place(), "/bin/sh", "-c", "\n".join(script)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C"},
        cwd="/",
        **as_nobody(),  # type: ignore[call-overload]
    )
    parts = re.split(r"^@@ ", done.stdout, flags=re.MULTILINE)[1:]
    if len(parts) != len(texts):
        raise RuntimeError(f"{row}: {len(parts)} of {len(texts)} commands ended: {done.stderr[-500:]}")
    return [_judged(row, text, part) for text, part in zip(texts, parts, strict=True)]


def _place() -> Iterator[str]:
    yield from ("--unshare-all", "--uid", "0", "--gid", "0", "--cap-add", "ALL", "--die-with-parent", "--new-session")
    yield from ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/mnt")
    for folder in COPIED:
        if os.path.isdir(folder):
            yield from ("--ro-bind-try", folder, f"/mnt{folder}", "--tmpfs", folder)
    for folder in ("/tmp", "/var/tmp", "/run"):
        yield from ("--tmpfs", folder)


def _judged(row: str, text: str, told: str) -> Watched:
    head, *lines = told.split("\n")
    ended, _, line = head.partition(" ")
    calls = [found for found in map(_CALL.match, lines) if found]
    own = {line.partition(" ")[0] for line in lines}
    faults = [fault for found in calls for fault in _faults(row, found[1], found[2], found[3] or "", own)]
    if line != "first line":
        faults.append("it read from standard input")
    return Watched(text, tuple(dict.fromkeys(faults)), int(ended), len(calls))


def _faults(row: str, call: str, words: str, result: str, own: set[str]) -> Iterator[str]:
    """Yield what is wrong with a call of the kernel; ``own`` are the processes and threads of the command."""
    path = next((a or b for a, b in re.findall(r'"((?:[^"\\]|\\.)*)"|^\d+<([^>]*)>', words)), "")
    if call in ("open", "openat", "openat2", "creat"):
        writes = call == "creat" or _WRITING.search(words)
        if writes and path != "/dev/null" and not re.fullmatch(WRITES.get(row, "(?!)"), path):
            yield f"{call} {path} for writing"
    elif call == "socket":
        family = words.split(",")[0]
        if family != "AF_UNIX" and not re.fullmatch(SOCKETS.get(row, "(?!)"), family):
            yield f"a socket {family}"
    elif call in ("connect", "bind"):
        named = re.search(r'sun_path=@?"([^"]*)"', words)
        if named and not re.fullmatch(f"{_NAME_SERVICE}|{DAEMONS.get(row, '(?!)')}", named[1]):
            yield f"{call} to {named[1]}"
        if call == "bind" and not named and "AF_NETLINK" not in words and row not in SOCKETS:
            yield f"bind {words}"
    elif call == "mkdir" and re.fullmatch(MAKES.get(row, "(?!)"), path):
        return
    elif call in _JUDGED:
        if not _JUDGED[call](row, words, path, result, own):
            yield f"starts {path}" if call == "execve" else f"{call} {words}"
    elif not re.fullmatch(WRITES.get(row, "(?!)"), path):
        yield f"{call} {words[:200]}"


def _own_or_asking(_row: str, words: str, _path: str, _result: str, own: set[str]) -> bool:
    """Whether a signal is none, or goes to the command's own processes."""
    return words.rstrip().endswith(", 0") or words.split(",")[0].split("<")[0] in own


def _may_start(row: str, _words_given: str, path: str, result: str, _own: set[str]) -> bool:
    """Whether a program that was started is one that the command starts."""
    if not result.startswith("0") or os.path.basename(path) in ("sh", "dash", "bash", *_words(row)):
        return True
    allowed = STARTED.get(row, "")
    return bool(allowed and re.fullmatch(allowed, path and os.path.basename(path)))


_JUDGED: dict[str, Callable[[str, str, str, str, set[str]], bool]] = {
    **dict.fromkeys(("kill", "tkill", "tgkill"), _own_or_asking),
    "execve": _may_start,
    "syslog": lambda _row, words, *_: bool(_READING_SYSLOG.search(words)),
    **dict.fromkeys(
        ("shmctl", "msgctl", "semctl"),
        lambda _row, words, *_: not re.search(r"IPC_SET|IPC_RMID|SET(ALL|VAL)|LOCK", words),
    ),
    **dict.fromkeys(("adjtimex", "clock_adjtime"), lambda _row, words, *_: bool(re.search(r"modes=0[,}]", words))),
}
"""Calls, and what says whether one is all right: by the row, its words, the path in them, its result, the own processes."""


def _words(row: str) -> tuple[str, ...]:
    """Return the names under which a row's program is started: its own, that of the file behind it, and what feeds it."""
    found = shutil.which(row)
    return (row, "cat", *((os.path.basename(os.path.realpath(found)),) if found else ()))
