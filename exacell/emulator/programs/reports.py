"""Reports on an emulated host's processors, memory, disks and software: uptime, free, vmstat, iostat, df and others.

Each program prints what the program of the same name on Oracle Linux prints, from
:class:`exacell.emulator.programs.machine.Machine`. The figures are those of the last collection, so that they equal the
metrics and do not depend on how often they are read; intervals are in rack time. Options that change only the unit or the
width are accepted; options that are not emulated are refused.

Source: uptime(1), w(1), free(1), vmstat(8), iostat(1), df(1), mount(8), lscpu(1), rpm(8).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from exacell.emulator.basics.program import Out, Pause, Program
from exacell.emulator.programs.date import formatted
from exacell.emulator.programs.machine import FileSystem, Machine
from exacell.emulator.programs.proc import memory_figures
from exacell.emulator.programs.vmstat import MOST, vmstat

Look = Callable[[], Machine]
"""Returns the host's machine at the present moment."""

_UNITS = {"b": 1024, "k": 1, "m": 1 / 1024, "g": 1 / 1024 / 1024}


class _Repeat(NamedTuple):
    """The number of reports, and the seconds between two of them."""

    interval: float
    reports: int


def _repeat(words: Sequence[str]) -> _Repeat | None:
    """Parse ``[interval [count]]``: one report if both are missing; return None for any other words."""
    if len(words) > 2 or not all(word.isdecimal() and int(word) for word in words):
        return None
    numbers = [int(word) for word in words]
    if not numbers:
        return _Repeat(1, 1)
    return _Repeat(numbers[0], numbers[1] if len(numbers) == 2 else MOST)


# -- uptime, w, free ---------------------------------------------------------------------------------------------------


def uptime(look: Look, argv: Sequence[str]) -> Program:
    """Run ``uptime``; ``-s`` prints the time of boot, ``-p`` the duration in words."""
    machine = look()
    minutes = int(machine.uptime // 60)
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    if argv in (["-s"], ["--since"]):
        yield Out(formatted(machine.booted, "%F %T") + "\n")
        return 0
    if argv in (["-p"], ["--pretty"]):
        parts = ((days, "day"), (hours, "hour"), (rest, "minute"))
        yield Out("up " + ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in parts if n) + "\n")
        return 0
    if argv:
        yield Out(f"uptime: invalid option -- '{argv[0].lstrip('-')[:1]}'\n", err=True)
        return 1
    yield Out(_uptime_line(machine))
    return 0


def _uptime_line(machine: Machine) -> str:
    minutes = int(machine.uptime // 60)
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    up = f"{days} day{'s' * (days != 1)}, " if days else ""
    up += f"{hours:>2}:{rest:02d}" if hours else f"{rest} min"
    load = ", ".join(f"{value:.2f}" for value in machine.load)
    return f" {formatted(machine.now, '%T')} up {up},  1 user,  load average: {load}\n"


def who_works(look: Look, argv: Sequence[str]) -> Program:
    """Run ``w``: print the line of uptime and the heading; logged-in users are not listed."""
    machine = look()
    head = (
        ""
        if "-h" in argv
        else _uptime_line(machine) + "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT\n"
    )
    yield Out(head)
    return 0


def free(look: Look, argv: Sequence[str]) -> Program:
    """Run ``free``; one of ``-b -k -m -g -h`` sets the unit."""
    figures, scale, human = memory_figures(look()), 1.0, False
    for word in argv:
        letter = word.lstrip("-")[:1]
        if word in ("-h", "--human"):
            human = True
        elif letter in _UNITS and word.startswith("-"):
            scale = _UNITS[letter]
        elif word not in ("-t", "-w", "-l", "--total", "--wide"):
            yield Out(f"free: invalid option -- '{letter}'\n", err=True)
            return 1
    cached = figures["Buffers"] + figures["Cached"] + figures["SReclaimable"]
    used = figures["MemTotal"] - figures["MemFree"] - cached
    row = (figures["MemTotal"], used, figures["MemFree"], figures["Shmem"], cached, figures["MemAvailable"])

    def shown(kb: int) -> str:
        return _human(kb) if human else str(int(kb * scale))

    title = "".join(f"{name:>12}" for name in ("total", "used", "free", "shared", "buff/cache", "available"))
    lines = [
        f"    {title}",
        "Mem:" + "".join(f"{shown(kb):>12}" for kb in row),
        "Swap:" + f"{shown(0):>11}" + f"{shown(0):>12}" * 2,
    ]
    yield Out("".join(f"{line}\n" for line in lines))
    return 0


def _human(kb: float) -> str:
    for unit in ("K", "M", "G"):
        if kb < 1024:
            return f"{kb:.1f}{unit}" if kb < 10 else f"{kb:.0f}{unit}"
        kb /= 1024
    return f"{kb:.1f}T"


_HEADS = {
    "ef": "UID          PID    PPID  C STIME TTY          TIME CMD\n",
    "aux": "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n",
    "args": "COMMAND\n",
}


def processes(look: Look, argv: Sequence[str]) -> Program:
    """Print the processes of the host's services in a form of ps: ``ef``, ``aux`` or ``args``, the first two with a heading."""
    machine, form = look(), argv[0] if argv else "ef"
    day = formatted(machine.booted, "%b%d")
    yield Out(_HEADS[form])
    for process in machine.processes:
        if form == "ef":
            row = f"{'root':<8} {process.pid:>7} {process.parent:>7}  0 {day} ?        00:00:42 "
        elif form == "aux":
            row = f"{'root':<8} {process.pid:>7}  0.1  0.4 812044 41220 ?        Ssl  {day}   0:42 "
        else:
            row = ""
        yield Out(f"{row}{process.command}\n")
    return 0


# -- iostat -----------------------------------------------------------------------------------------------------------

_EXTENDED = (
    "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm"
    "  %util\n"
)
_PLAIN = "Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn\n"


class _IostatOptions(NamedTuple):
    extended: bool
    processors: bool
    devices: bool
    megabytes: bool
    timed: bool
    names: tuple[str, ...]
    repeat: _Repeat


def _iostat_options(argv: Sequence[str], known: Sequence[str]) -> _IostatOptions | None:
    letters = "".join(word[1:] for word in argv if word.startswith("-"))
    words = [word.removeprefix("/dev/") for word in argv if not word.startswith("-")]
    names = tuple(word for word in words if word in known or word.rstrip("0123456789") in known)
    repeat = _repeat([word for word in words if word not in names])
    if repeat is None or set(letters) - set("xkmdctyNpzh"):
        return None
    return _IostatOptions(
        extended="x" in letters,
        processors="d" not in letters or "c" in letters,
        devices="c" not in letters or "d" in letters or "x" in letters,
        megabytes="m" in letters,
        timed="t" in letters,
        names=names,
        repeat=repeat,
    )


def iostat(look: Look, argv: Sequence[str]) -> Program:
    """Run ``iostat [-x] [-k|-m] [-c] [-d] [-t] [device …] [interval [count]]``; each report has the last minute's figures."""
    machine = look()
    options = _iostat_options(argv, [device.name for device in machine.devices])
    if options is None:
        yield Out("Usage: iostat [ options ] [ <interval> [ <count> ] ]\n", err=True)
        return 1
    day = formatted(machine.now, "%m/%d/%Y")
    yield Out(f"Linux {machine.kernel} ({machine.host}) \t{day} \t_x86_64_\t({machine.threads} CPU)\n\n")
    for number in range(options.repeat.reports):
        if number:
            yield Pause(options.repeat.interval)
            machine = look()
        yield Out(_iostat_report(machine, options))
    return 0


def _iostat_report(machine: Machine, options: _IostatOptions) -> str:
    text = formatted(machine.now, "%m/%d/%Y %I:%M:%S %p") + "\n" if options.timed else ""
    if options.processors:
        user, system, waiting, idle = machine.shares
        shares = "".join(f"{share:8.2f}" for share in (user, 0.0, system, waiting, 0.0, idle))
        text += f"avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n        {shares}\n\n"
    if not options.devices:
        return text
    scale, unit = (1 / 1024, "M") if options.megabytes else (1.0, "k")
    text += (_EXTENDED if options.extended else _PLAIN).replace("kB", f"{unit}B")
    for device in machine.devices:
        if options.names and device.name not in {name.rstrip("0123456789") for name in options.names}:
            continue
        reads, writes, read_kb, written_kb = device.rates
        count = reads + writes
        if options.extended:
            size = (read_kb + written_kb) * 2 / count if count else 0.0
            wait = (reads * device.waits[0] + writes * device.waits[1]) / count if count else 0.0
            served = device.busy * 10 / count if count else 0.0
            text += (
                f"{device.name:<12}{0:>10.2f}{0:>9.2f}{reads:>8.2f}{writes:>8.2f}"
                f"{read_kb * scale:>9.2f}{written_kb * scale:>9.2f}"
                f"{size:>9.2f}{count * wait / 1000:>9.2f}{wait:>8.2f}{device.waits[0]:>8.2f}{device.waits[1]:>8.2f}{served:>7.2f}"
                f"{device.busy:>7.2f}\n"
            )
        else:
            totals = "".join(f"{int(device.totals[place] * scale):>11}" for place in (2, 3))
            text += f"{device.name:<12}{count:>10.2f}{read_kb * scale:>13.2f}{written_kb * scale:>13.2f}{totals}\n"
    return text + "\n"


# -- df, mount, lscpu, rpm ---------------------------------------------------------------------------------------------


def df(look: Look, argv: Sequence[str]) -> Program:
    """Run ``df [-h|-k|-m] [-P] [-T] [-l] [path …]``; the figures are those of the emulated file systems."""
    systems = list(look().file_systems)
    letters = "".join(word[1:] for word in argv if word.startswith("-") and not word.startswith("--"))
    if set(letters) - set("hHkmPTla") or any(word.startswith("--") for word in argv):
        wrong = next((letter for letter in letters if letter not in "hHkmPTla"), "-")
        yield Out(f"df: invalid option -- '{wrong}'\nTry 'df --help' for more information.\n", err=True)
        return 1
    paths = [word for word in argv if not word.startswith("-")]
    if paths:
        systems = [_holds(systems, path) for path in paths]
    human, typed = "h" in letters or "H" in letters, "T" in letters
    size = "Size" if human else "1M-blocks" if "m" in letters else "1024-blocks" if "P" in letters else "1K-blocks"
    share = "Capacity" if "P" in letters and not human else "Use%"
    rows = [
        [
            "Filesystem",
            *(["Type"] if typed else []),
            size,
            "Used",
            "Avail" if human else "Available",
            share,
            "Mounted on",
        ]
    ]
    for system in systems:
        figures = (system.size_kb, system.used_kb, system.size_kb - system.used_kb)
        shown = [_human(kb) if human else str(kb // 1024 if "m" in letters else kb) for kb in figures]
        percent = f"{-(-system.used_kb * 100 // system.size_kb)}%"
        rows.append([system.device, *([system.kind] if typed else []), *shown, percent, system.point])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    left = 2 if typed else 1
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if n < left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append(" ".join([*cells, row[-1]]) + "\n")
    yield Out("".join(lines))
    return 0


def _holds(systems: Sequence[FileSystem], path: str) -> FileSystem:
    """Return the file system that holds a path: the one with the longest mount point above the path."""
    whole = "/" + path.strip("/")
    found = [system for system in systems if whole == system.point or whole.startswith(system.point.rstrip("/") + "/")]
    return max(found, key=lambda system: len(system.point))


def mount(look: Look, argv: Sequence[str]) -> Program:
    """Run ``mount``: print the mounted file systems; nothing can be mounted."""
    if [word for word in argv if word != "-l"]:
        yield Out("mount: only root can do that\n", err=True)
        return 1
    lines = [f"{s.device} on {s.point} type {s.kind} (rw)\n" for s in look().file_systems]
    yield Out("".join(lines))
    return 0


def lscpu(look: Look, argv: Sequence[str]) -> Program:
    """Run ``lscpu`` without options."""
    if argv:
        yield Out(f"lscpu: unrecognized option '{argv[0]}'\n", err=True)
        return 1
    machine = look()
    rows = {
        "Architecture": "x86_64",
        "CPU op-mode(s)": "32-bit, 64-bit",
        "Byte Order": "Little Endian",
        "CPU(s)": machine.threads,
        "On-line CPU(s) list": f"0-{machine.threads - 1}",
        "Thread(s) per core": machine.threads // machine.sockets // machine.cores,
        "Core(s) per socket": machine.cores,
        "Socket(s)": machine.sockets,
        "Vendor ID": machine.vendor,
        "Model name": machine.processor,
        "CPU MHz": f"{machine.mhz:.3f}",
    }
    yield Out("".join(f"{name + ':':<23}{value}\n" for name, value in rows.items()))
    return 0


def rpm(look: Look, argv: Sequence[str]) -> Program:
    """Run ``rpm -q NAME …`` or ``rpm -qa [PATTERN …]`` over the few packages by which scripts recognize a host."""
    packages, words = look().packages, [word for word in argv if not word.startswith("-")]
    letters = "".join(word.lstrip("-") for word in argv if word.startswith("-"))
    if letters in ("qa", "aq"):
        wanted = words or ["*"]
        found = [
            p for p in packages if any(fnmatch.fnmatchcase(p, w) or fnmatch.fnmatchcase(_base(p), w) for w in wanted)
        ]
        yield Out("".join(f"{package}\n" for package in found))
        return 0
    if letters != "q" or not words:
        yield Out("rpm: only -q NAME and -qa [PATTERN] are possible here\n", err=True)
        return 1
    missing = 0
    for word in words:
        found = [package for package in packages if word in (package, _base(package))]
        missing += not found
        yield Out("".join(f"{package}\n" for package in found) or f"package {word} is not installed\n")
    return missing


def _base(package: str) -> str:
    """Return a package's name without version, release and architecture."""
    return package.rsplit("-", 2)[0]


REPORTS: Mapping[str, Callable[[Look, Sequence[str]], Program]] = {
    "df": df,
    "free": free,
    "iostat": iostat,
    "lscpu": lscpu,
    "mount": mount,
    "rpm": rpm,
    "uptime": uptime,
    "vmstat": vmstat,
    "w": who_works,
}
"""The programs by name."""
