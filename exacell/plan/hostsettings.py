"""Plan settings of a host's kernel, files below /sys and /proc/sys: which may be named, read and set. Pure.

Paths must match an allow-list; ``*``, ``?`` and ``[ab]`` match within one name. Only listed names may be set: they change nothing
but speed, and take a number (or several), Y or N, or a word that the kernel lists. Other files nearby lose data, lock up a host
or can't be taken back before its next boot (``stable_writes``, ``kernel/modules_disabled``).

Source: Linux, Documentation/ABI/stable/sysfs-block, Documentation/admin-guide/sysctl; sysctl.d(5), modprobe.d(5), udev(7).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from exacell.core.cellset import fold, folded_whole, grouped
from exacell.core.errors import RefusedError, StatementError
from exacell.core.meant import closest, did_you_mean
from exacell.core.units import and_more
from exacell.core.values import dataclass
from exacell.plan.model import Change, Check, Plan, Risk, Stage, Step, Undo

SETTING = "setting"
"""The object of checks that read a file of a host; ``name`` is its path."""

_PART = r"(?!\.)[A-Za-z0-9_.!:@+*?\[\]-]+"
_SHAPES = (
    rf"/sys/block/{_PART}/queue/(?:iosched/)?{_PART}",
    rf"/sys/block/{_PART}/device/{_PART}",
    rf"/sys/class/scsi_host/{_PART}/{_PART}",
    rf"/sys/module/{_PART}/parameters/{_PART}",
    rf"/proc/sys(?:/{_PART}){{2,}}",
)
_PLACES = (
    "/sys/block/DEVICE/queue/NAME",
    "/sys/block/DEVICE/device/NAME",
    "/sys/class/scsi_host/HOST/NAME",
    "/sys/module/MODULE/parameters/NAME",
    "/proc/sys/…/NAME",
)
_VALUE = re.compile(r"[A-Za-z0-9_.:+-]+(?: [A-Za-z0-9_.:+-]+)*")
_NUMBERS = re.compile(r"-?\d+(?: -?\d+)*")
_LONGEST = 200

SPEED = (
    *(
        f"/sys/block/*/queue/{name}"
        for name in (
            *("scheduler", "nr_requests", "max_sectors_kb", "read_ahead_kb", "nomerges", "rq_affinity", "iostats"),
            *("add_random", "rotational", "wbt_lat_usec", "io_poll", "io_poll_delay", "discard_max_bytes", "iosched/*"),
        )
    ),
    "/sys/block/*/device/queue_depth",
    "/sys/block/*/device/queue_ramp_up_period",
    "/sys/module/nvme_core/parameters/default_ps_max_latency_us",
    "/sys/module/pcie_aspm/parameters/policy",
    "/sys/module/zswap/parameters/enabled",
    *(
        f"/proc/sys/vm/{name}"
        for name in (
            *("swappiness", "vfs_cache_pressure", "dirty_ratio", "dirty_background_ratio", "dirty_bytes"),
            *("dirty_background_bytes", "dirty_expire_centisecs", "dirty_writeback_centisecs", "zone_reclaim_mode"),
        )
    ),
    *(
        f"/proc/sys/net/{name}"
        for name in (
            *("core/rmem_max", "core/wmem_max", "core/rmem_default", "core/wmem_default", "core/netdev_max_backlog"),
            *("core/netdev_budget", "core/netdev_budget_usecs", "core/somaxconn", "core/optmem_max"),
            *("ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/tcp_congestion_control", "ipv4/tcp_sack"),
            *("ipv4/tcp_timestamps", "ipv4/tcp_window_scaling", "ipv4/tcp_slow_start_after_idle"),
        )
    ),
    "/proc/sys/kernel/numa_balancing",
)
"""Settings that may be set. Source: Linux, Documentation/ABI/stable/sysfs-block, admin-guide/sysctl/{vm,net,kernel},
networking/ip-sysctl, block/switching-sched, admin-guide/kernel-parameters."""

_MOST = {
    "queue/max_sectors_kb": "queue/max_hw_sectors_kb",
    "queue/discard_max_bytes": "queue/discard_max_hw_bytes",
}
"""Setting → another file of the device that contains its largest value. Source: sysfs-block."""

_LISTED = {"/proc/sys/net/ipv4/tcp_congestion_control": "/proc/sys/net/ipv4/tcp_available_congestion_control"}
"""Setting → another file that lists its words. Source: Documentation/networking/ip-sysctl."""

_RESET = {"queue/scheduler": "queue/nr_requests", "queue/nr_requests": "queue/iosched/async_depth"}
"""Setting → another one that its change also sets, so that undo has to restore both. Source: Linux, block/elevator.c,
elevator_switch: the new scheduler brings its own depth; block/mq-deadline.c, dd_depth_updated: a new depth sets async_depth."""

_TUNED = {"queue/scheduler": "queue/iosched/*"}
"""Setting → others that depend on it: those of a scheduler disappear with it, and come back with default values.
Source: Linux, block/elevator.c, elv_unregister_queue; block/mq-deadline.c, dd_init_sched."""

_UNITS = {
    f"/proc/sys/vm/{one}": f"/proc/sys/vm/{other}"
    for ratio, size in (("dirty_ratio", "dirty_bytes"), ("dirty_background_ratio", "dirty_background_bytes"))
    for one, other in ((ratio, size), (size, ratio))
}
"""Setting → the same setting in another unit: a value of one sets the other to 0. Bytes can't be set to 0, so only the other
one can restore the earlier state. Source: Linux, Documentation/admin-guide/sysctl/vm, dirty_bytes, dirty_background_bytes;
mm/page-writeback.c."""

_UNITS_WHY = "the kernel sets it to 0 when the value is given in the other unit"


def read_path(text: str) -> str:
    """Return the path of a setting, or the pattern of several.

    Raises:
        StatementError: it is outside of the folders that contain settings.
    """
    if any(re.fullmatch(shape, text, re.ASCII) for shape in _SHAPES):
        return text
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    hint = meant_setting(text) or f"settings are {', '.join(_PLACES)}"
    raise StatementError(f"'{shown}' is not the path of a setting", hint=hint)


def meant_setting(text: str) -> str:
    """Return the question whether a listed setting was meant; the name may be a path, or have dots as in sysctl.

    Empty if none is similar, or the name is a listed one.
    """
    *folders, name = re.split(r"[/.]", text)
    known = {setting.rpartition("/")[2]: setting for setting in SPEED}
    found = closest(name, known, limit=1)
    if not found or ("/" in text and found[0] == name):
        return ""
    return did_you_mean(["/".join((*folders, found[0])) if "/" in text else known[found[0]]])


def no_file(pattern: str) -> str:
    """Return the error text for a setting that a host does not have."""
    return ": ".join(filter(None, (f"there is no {pattern}", meant_setting(pattern))))


def read_value(text: str) -> str:
    """Return a value as it is written, with single blanks.

    Raises:
        StatementError: it is neither a number, numbers nor a word.
    """
    value = " ".join(text.split())
    if len(value) > _LONGEST or not _VALUE.fullmatch(value):
        shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
        raise StatementError(
            f"'{shown}' is not a value of a setting: use numbers, Y, N, or a word that the kernel lists"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Found:
    """One file of a host.

    Attributes:
        mode: in the form of ``ls -l``.
        text: the file's content without the last line feed; if ``readable`` is False, why it can't be read.
    """

    path: str
    mode: str
    text: str
    readable: bool = True

    @property
    def value(self) -> str:
        """Return the present value: the word in brackets if the kernel lists words, else the whole text with single blanks."""
        chosen = re.findall(r"\[([^\[\]]+)\]", self.text) if self.choices else []
        return chosen[0] if chosen else " ".join(self.text.split())

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the words that the kernel lists, including the chosen one; empty if it lists none."""
        words = self.text.split()
        listed = sum(word.startswith("[") and word.endswith("]") for word in words) == 1
        return tuple(word.strip("[]") for word in words) if listed and "\n" not in self.text.strip() else ()

    @property
    def device(self) -> str:
        """Return the disk, host adapter or module to which it belongs; empty for settings of the whole host."""
        return _split(self.path)[1]

    @property
    def setting(self) -> str:
        """Return its name without the device: ``queue/scheduler``, ``vm/swappiness``."""
        return _split(self.path)[2]


def _split(path: str) -> tuple[str, str, str]:
    """Return the folder, the device and the rest of a path: ``/sys/block/``, ``sda``, ``queue/scheduler``."""
    match = re.fullmatch(r"(/sys/block/|/sys/class/scsi_host/|/sys/module/)([^/]+)/(.+)", path)
    return (match[1], match[2], match[3]) if match else ("/proc/sys/", "", path.removeprefix("/proc/sys/"))


def companions(path: str) -> tuple[str, ...]:
    """Return the paths to read with a path to be set: they contain its limit or allowed words, or change with it."""
    folder, device, name = _split(path)
    others = [f"{folder}{device}/{table[name]}" for table in (_MOST, _RESET, _TUNED) if name in table]
    same = [other for one, other in _UNITS.items() if fnmatchcase(one, path)]
    return (*others, *same, *([_LISTED[path]] if path in _LISTED else []))


Wanted = tuple[str, str]
"""A path or pattern, and the value for it."""


def settings_plan(
    rack: str,
    text: str,
    wanted: Sequence[Wanted],
    found: Mapping[str, Mapping[str, Sequence[Found]]],
) -> Plan:
    """Return the plan that sets the values on each host.

    Args:
        text: the statement.
        wanted: in the order in which they are to be written.
        found: by host and pattern, the files that exist; the patterns include :func:`companions`.

    Raises:
        RefusedError: a file can't get its value on some host; names the file and the reason. Nothing was sent.
    """
    steps, done, skipped, inverse = [], {}, {}, {}
    wrong: list[tuple[str, str]] = []
    for host, files in found.items():
        targets = _targets(wanted, files)
        known = {file.path: file for listed in files.values() for file in listed}
        wrong += [(why, host) for path, value in targets.items() if (why := _why_not(known[path], value, known))]
        wrong += [(why, host) for path, value in targets.items() if (why := _why_no_unit(path, value, targets, known))]
        missing = [pattern for pattern, _ in wanted if not files.get(pattern)]
        if missing:
            wrong += [(no_file(pattern), host) for pattern in missing if "*" not in pattern]
            if not targets:
                skipped[host] = f"no file matches {', '.join(missing)}"
                continue
        writes = _writes(targets, known)
        if not writes:
            done[host] = f"{fold_paths(targets)} already set like this"
            continue
        step = _step(host, writes, known)
        steps.append(step)
        tuned = _tuned(writes, known)
        inverse[host] = (step.inverse, statement_for(tuned)) if tuned else (step.inverse,)
    if wrong:
        alike = grouped(wrong)
        (why, hosts), *_ = alike.items()
        raise RefusedError(
            f"{text}: {fold(hosts)}: {why}{and_more(len(alike))}; nothing was sent",
            hint="`show setting` shows the values and choices of these hosts (* matches names)",
        )
    changed = {change.name: change.after for step in steps for change in step.changes}
    warnings = ["lasts until the next boot"] if steps else []
    if any(path.startswith("/sys/module/") for path in changed):
        warnings.append(
            "a driver may read a parameter only when it is loaded: the new value may be shown but have no effect"
        )
    kept = {
        pattern: next((_spelt(file, value) for files in found.values() for file in files.get(pattern, ())), value)
        for pattern, value in wanted
    }
    notes = tuple(f"to keep it after a boot: {line}" for line in persistent(kept)) if steps else ()
    return Plan(
        statement=text,
        rack=rack,
        stages=(Stage(title="write the settings", key="settings", steps=tuple(steps)),) if steps else (),
        done=done,
        skipped=skipped,
        notes=notes,
        warnings=tuple(warnings),
        inverse=inverse,
    )


def _targets(wanted: Sequence[Wanted], files: Mapping[str, Sequence[Found]]) -> dict[str, str]:
    """Return path → value to be set on one host, in order; if a path has several values, the last counts."""
    targets: dict[str, str] = {}
    for pattern, value in wanted:
        for file in files.get(pattern, ()):
            targets.pop(file.path, None)
            targets[file.path] = _spelt(file, value)
    return targets


def _spelt(file: Found, value: str) -> str:
    """Return a value in the form that the file will show: Y and N for a switch, numbers without leading zeros."""
    if file.value in ("Y", "N") and value.upper() in ("Y", "N", "1", "0"):
        return "Y" if value.upper() in ("Y", "1") else "N"
    return " ".join(str(int(part)) for part in value.split()) if _NUMBERS.fullmatch(value) else value


def _why_not(file: Found, value: str, known: Mapping[str, Found]) -> str:
    """Return why a file can't get a value; empty if it can."""
    if not file.readable:
        return f"{file.path} can't be read ({file.text}), so no change of it could be verified or taken back"
    if "w" not in file.mode[:4]:
        return f"{file.path} is read-only"
    if not any(fnmatchcase(file.path, allowed) and file.path.count("/") == allowed.count("/") for allowed in SPEED):
        return (
            f"{file.path} is not a setting that exacell changes: it changes only those that affect nothing but "
            "speed; `sh --accept-opaque` writes it, without undo"
        )
    choices = file.choices
    listing = known.get(_LISTED.get(file.path, ""))
    if listing is not None:
        choices = tuple(listing.text.split())
    if choices:
        near = closest(value, choices, limit=1)
        meant = f"; did you mean {near[0]}?" if near and value not in choices else ""
        return "" if value in choices else f"{file.path} takes {', '.join(choices)}, not {value}{meant}"
    if file.value in ("Y", "N"):
        return "" if value in ("Y", "N") else f"{file.path} takes Y or N, not {value}"
    if not _NUMBERS.fullmatch(file.value):
        return f"{file.path} holds text ('{file.value[:60]}'): exacell sets only numbers, switches and listed words"
    if not _NUMBERS.fullmatch(value) or len(value.split()) != len(file.value.split()):
        count = len(file.value.split())
        return f"{file.path} takes {'a number' if count == 1 else f'{count} numbers'}, not {value}"
    folder, device, name = _split(file.path)
    most = known.get(f"{folder}{device}/{_MOST.get(name, '')}")
    if most is not None and most.value.isdigit() and int(value) > int(most.value):
        return f"{file.path} can be {most.value} at most ({most.setting}), not {value}"
    return ""


def _why_no_unit(path: str, value: str, targets: Mapping[str, str], known: Mapping[str, Found]) -> str:
    """Return why a setting with a twin in another unit can't get a value; empty if it can, or has no twin."""
    other = _UNITS.get(path, "")
    if not other or known[path].value == value:
        return ""
    if other in targets:
        first, second = sorted((path, other))
        return f"{first} and {second} are one setting in two units, and each sets the other to 0: give one of them"
    found = known.get(other)
    if found is None or not found.readable:
        return f"{other} can't be read, and {path} would set it to 0, so the change could not be undone"
    if not path.endswith("_bytes"):
        return ""
    if value == "0":
        return f"{path} can't be set to 0: a value of {other} does that"
    if known[path].value == found.value == "0":
        return f"{path} and {other} are both 0, which can't be restored: give {other} a value first"
    return ""


def _tuned(writes: Sequence[Wanted], known: Mapping[str, Found]) -> list[Wanted]:
    """Return the values set for a scheduler that is replaced; they are set again when it comes back."""
    folders = [
        f"{folder}{device}/queue/iosched/" for folder, device, name in (_split(p) for p, _ in writes) if name in _TUNED
    ]
    return [
        (path, file.value)
        for path, file in known.items()
        if path.startswith(tuple(folders)) and file.readable and "w" in file.mode[:4] and _NUMBERS.fullmatch(file.value)
    ]


def _writes(targets: Mapping[str, str], known: Mapping[str, Found]) -> list[Wanted]:
    """Return the values to write: those that differ, and those that an earlier write also changes."""
    writes: list[Wanted] = []
    anew: set[str] = set()
    for path, value in targets.items():
        if known[path].value != value or path in anew:
            writes.append((path, value))
            folder, device, name = _split(path)
            anew.add(f"{folder}{device}/{_RESET.get(name, '')}")
    return writes


def _step(host: str, writes: Sequence[Wanted], known: Mapping[str, Found]) -> Step:
    before = {path: known[path].value for path, _ in writes}
    # The setting in the other unit becomes 0, and only setting it again can restore its value.
    zeroed = {other: known[other].value for path in before if (other := _UNITS.get(path, ""))}
    read = {**before, **zeroed}
    back: dict[str, str] = {}
    for path, value in reversed(before.items()):
        other = _UNITS.get(path, "")
        by_other = zeroed.get(other, "0") != "0"
        back[other if by_other else path] = zeroed[other] if by_other else value
    for path in list(back):
        folder, device, name = _split(path)
        reset = known.get(f"{folder}{device}/{_RESET.get(name, '')}")
        if reset is not None and reset.readable:
            back.pop(reset.path, None)
            back[reset.path] = reset.value
    return Step(
        target=host,
        host=True,
        statement=statement_for(writes),
        what=f"write {fold_paths([path for path, _ in writes])}"[:100],
        needs=tuple(_check(path, value, why="its value has changed since it was read") for path, value in read.items()),
        proves=(
            *(_check(path, value) for path, value in writes),
            *(_check(path, "0", why=_UNITS_WHY) for path in zeroed),
        ),
        within=0.0,
        risk=Risk.PERFORMANCE,
        undo=Undo.STATEMENT,
        inverse=statement_for(list(back.items())),
        changes=tuple(
            Change(object="", name=path, attribute="", before=read[path], after=value)
            for path, value in (*writes, *((other, "0") for other in zeroed))
            if read[path] != value
        ),
    )


def _check(path: str, value: str, *, why: str = "") -> Check:
    return Check(object=SETTING, attribute="value", value=value, where={"name": path}, why=why)


def written_by(step: Step) -> tuple[Wanted, ...]:
    """Return the values that a step writes into files, in order: its proofs, without values that the kernel itself writes."""
    own = (check for check in step.proves if check.object == SETTING and check.why != _UNITS_WHY)
    return tuple((str(check.where["name"]), str(check.value)) for check in own)


def statement_for(writes: Iterable[Wanted]) -> str:
    """Return the statement that sets these paths to these values."""
    return " ".join(
        ["set setting", *(f'"{path}={value}"' if " " in value else f"{path}={value}" for path, value in writes)]
    )


def fold_devices(devices: Sequence[str]) -> str:
    """Return devices in short form, ``loop[0-3]``; as a list if a name contains a character of cell sets (``cciss!c0d0``)."""
    return folded_whole(devices) or ",".join(devices)


def fold_paths(paths: Iterable[str]) -> str:
    """Return paths in short form, those of several devices as one."""
    parts = grouped(((folder, name), device) for folder, device, name in map(_split, paths))
    return ", ".join(
        f"{folder}{fold_devices(devices)}/{name}" if any(devices) else f"{folder}{name}"
        for (folder, name), devices in parts.items()
    )


def persistent(wanted: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that keep settings over a boot, each with the file to put it into.

    Args:
        wanted: path or pattern → value as it is written.
    """
    for pattern, value in wanted.items():
        folder, device, name = _split(pattern)
        if folder == "/proc/sys/":
            # sysctl.d accepts slashes if a name itself has dots.
            key = name.replace("/", ".") if "." not in name else name
            if not re.search(r"[*?\[]", key):
                yield f"{key} = {value}   (/etc/sysctl.d/60-local.conf)"
        elif folder == "/sys/module/":
            yield f"options {device} {name.removeprefix('parameters/')}={value}   (/etc/modprobe.d/local.conf)"
        else:
            subsystem = "block" if folder == "/sys/block/" else "scsi_host"
            rule = f'ACTION=="add|change", SUBSYSTEM=="{subsystem}", KERNEL=="{device}", ATTR{{{name}}}="{value}"'
            yield f"{rule}   (/etc/udev/rules.d/60-local.rules)"
