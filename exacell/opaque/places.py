"""Which files a read command may be given: absolute, normalised, below listed folders. Pure.

What lies elsewhere may be a device (reading /dev/watchdog starts a countdown), a FIFO (reading one of /run or of
/var/tmp/.oracle takes what was meant for a daemon) or a file of the kernel that is used up by reading it (/proc/kmsg).
"""

from __future__ import annotations

import re

from exacell.opaque.errors import UnreadError

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
"""Folders below which files may be read: only plain files, folders and links among them are there."""

SHOWN = (*READ, "/bin", "/sbin", "/usr", "/opt", "/var", "/tmp", "/home", "/root", "/u01")
"""Folders below which files may be listed, which opens none of them."""

SINGLE = re.compile(
    r"/dev/null"
    r"|/proc/(?:meminfo|cpuinfo|loadavg|uptime|version|mounts|cmdline|interrupts|vmstat|stat|swaps|partitions|mdstat"
    r"|modules|diskstats|buddyinfo|filesystems|net/dev|net/bonding/\w+"
    r"|sys/kernel/(?:hostname|osrelease)|sys/vm/(?:nr_hugepages|swappiness))"
    r"|/sys/class/net/\w+/(?:operstate|speed|mtu|address)"
    r"|/sys/class/infiniband/\w+/ports/\d/(?:state|rate|phys_state)"
    r"|/sys/class/dmi/id/(?:product_name|product_serial|bios_version|sys_vendor)",
    re.ASCII,
)
"""Files that may be read one by one."""


_DEVICES = frozenset(("dev", "devices", "proc", "sys", "run"))
"""Names of folders that hold devices in copies of a system, and in /etc/udev."""


def refuse_place(word: str, *, glob: bool, shown: bool) -> None:
    """Return when an operand is a file that may be read, or just listed where ``shown``.

    Args:
        glob: whether ``*`` and ``?`` in it make a pattern.

    Raises:
        UnreadError: it is not.
    """
    if not re.fullmatch(r"/[A-Za-z0-9_./:,@%+= -]*" if not glob else r"/[A-Za-z0-9_./:,@%+=*?-]*", word):
        raise UnreadError(word, "no absolute path of a file in plain letters")
    parts = [part for part in word.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnreadError(word, "a path that climbs out of its folder")
    if glob:
        _refuse_glob(word, parts)
        parts.pop()
    path = "/" + "/".join(parts)
    if not glob and SINGLE.fullmatch(path):
        return
    if not shown and not _DEVICES.isdisjoint(parts[1:]):
        raise UnreadError(word, "a folder that may hold devices")
    if not any(path == folder or path.startswith(f"{folder}/") for folder in (SHOWN if shown else READ)):
        raise UnreadError(word, "a file outside of the folders that exacell reads from")


def _refuse_glob(word: str, parts: list[str]) -> None:
    """Return when a pattern stands in the last part alone and can't stand for ``.`` or ``..``.

    Raises:
        UnreadError: it does not.
    """
    if word.endswith("/") or any(re.search(r"[*?]", part) for part in parts[:-1]):
        raise UnreadError(word, "a pattern that stands for folders")
    last = parts[-1]
    if last.startswith(".") or "**" in last or re.fullmatch(r"[*?]+\.[*?.]*", last):
        raise UnreadError(word, "a pattern that shells read in different ways")
