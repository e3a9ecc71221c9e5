"""An emulated host's machine as its operating system sees it: processors, memory, disks, file systems, networks.

All views of the machine agree: programs such as free and iostat, /proc and /sys, CellCLI's and DBMCLI's attributes, and on
cells the metrics of the last collection. A database server has no such metrics: it is idle.

Source: Oracle's data sheets of the models (processors, memory of database servers); published ``df`` and ``ip addr`` of
storage cells and database servers (devices and file systems); facts that no source shows (addresses of the management and
client networks, hardware addresses, sizes of file systems) are made up.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from exacell.emulator.basics.clock import last_minute
from exacell.emulator.basics.names import cell_address, node_address
from exacell.emulator.basics.profiles import hardware_model
from exacell.emulator.basics.schema import MetricDefinition, metric_definitions
from exacell.emulator.cell.disk_models import DiskType
from exacell.emulator.cell.models import Cell
from exacell.emulator.metrics.ambient import ambient
from exacell.emulator.programs.dbmcli import server_memory_gb, server_processors, server_row
from exacell.emulator.programs.hardware import hardware_of
from exacell.emulator.programs.raid_tools import drives_of
from exacell.emulator.programs.software import Process, packages, services
from exacell.emulator.state.view import RackView

_XEON, _EPYC = "Intel(R) Xeon(R)", "AMD EPYC"
_PROCESSORS: Mapping[str, tuple[tuple[str, float], tuple[str, float]]] = {
    "x2": ((f"{_XEON} CPU           L5640  @ 2.27GHz", 2270), (f"{_XEON} CPU           X5675  @ 3.07GHz", 3070)),
    "x6": ((f"{_XEON} CPU E5-2630 v4 @ 2.20GHz", 2200), (f"{_XEON} CPU E5-2699 v4 @ 2.20GHz", 2200)),
    "x6ef": ((f"{_XEON} CPU E5-2630 v4 @ 2.20GHz", 2200), (f"{_XEON} CPU E5-2699 v4 @ 2.20GHz", 2200)),
    "x8m": ((f"{_XEON} Gold 5218 CPU @ 2.30GHz", 2300), (f"{_XEON} Platinum 8260 CPU @ 2.40GHz", 2400)),
    "x10m": ((f"{_EPYC} 9J15 32-Core Processor", 2950), (f"{_EPYC} 9J14 96-Core Processor", 2600)),
    "x10mef": ((f"{_EPYC} 9J15 32-Core Processor", 2950), (f"{_EPYC} 9J14 96-Core Processor", 2600)),
}
"""Names and MHz of the processors of cells and of database servers. Source: Oracle's data sheets."""
_RESERVED = 0.015
"""Share of the memory that the firmware keeps: MemTotal is that much less than the installed memory."""
_MIB = 1024
_PREFIX = 22
"""Prefix length of the storage network, as LIST CELL shows it."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A block device, with its load over the last minute and since CELLSRV started.

    Attributes:
        name: without ``/dev/``.
        rates: requests read and written, and KB read and written, a second.
        totals: the same in total, and the milliseconds spent on reads and on writes.
        waits: milliseconds that a read and a write take.
        busy: percent of the time in which it works.
    """

    name: str
    size_bytes: int
    rates: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    totals: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    waits: tuple[float, float] = (0.0, 0.0)
    busy: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """A mounted file system: its device, its size in KB, and the percentage that is used."""

    device: str
    point: str
    kind: str
    size_kb: int
    used_percent: float

    @property
    def used_kb(self) -> int:
        """Return the used space in KB."""
        return round(self.size_kb * self.used_percent / 100)


@dataclass(frozen=True, kw_only=True)
class Interface:
    """A network interface.

    Attributes:
        address: with the length of the network's prefix; empty without an address.
        speed: megabits a second; 0 for the loopback device.
        driver: the kernel module.
    """

    name: str
    address: str
    hardware: str
    mtu: int
    speed: int
    driver: str
    infiniband: bool = False

    @property
    def loopback(self) -> bool:
        """Return whether it is the loopback device."""
        return self.name == "lo"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that an operating system sees.

    Attributes:
        now: the rack's time.
        load: the mean number of processes that ran or waited, over 1, 5 and 15 minutes.
        shares: percent of the processors' time: user, system, waiting, idle.
        memory_kb, used_kb: the kernel's memory, and the used part of it.
        packages: names of the software packages.
        processes: the processes of the cell's running services; empty on database servers.
    """

    host: str
    is_cell: bool
    kernel: str
    processor: str
    mhz: float
    sockets: int
    cores: int
    threads: int
    memory_kb: int
    used_kb: int
    booted: float
    now: float
    load: tuple[float, float, float]
    shares: tuple[float, float, float, float]
    devices: tuple[Device, ...]
    file_systems: tuple[FileSystem, ...]
    interfaces: tuple[Interface, ...]
    gateway: str
    packages: tuple[str, ...]
    processes: tuple[Process, ...]

    @property
    def uptime(self) -> float:
        """Return the seconds since it booted."""
        return max(0.0, self.now - self.booted)

    @property
    def vendor(self) -> str:
        """Return the maker of the processors, as they report it."""
        return "AuthenticAMD" if "AMD" in self.processor else "GenuineIntel"


def machine_of(rack: RackView, host: str) -> Machine:
    """Return the machine that the operating system of a cell or a database node sees now."""
    cell = rack.cells.get(host)
    hardware = hardware_of(rack, host)
    named, mhz = _PROCESSORS[rack.spec.model][cell is None]
    figures = _cell_figures(rack, cell) if cell is not None else _node_figures(rack, host, hardware.threads * 2)
    memory_gb = rack.model.memory_gb if cell is not None else server_memory_gb(rack.spec.model)
    memory_kb = round(memory_gb * _MIB * _MIB * (1 - _RESERVED))
    kernel = rack.release.kernel
    return Machine(
        host=host,
        is_cell=cell is not None,
        kernel=kernel,
        processor=named,
        mhz=mhz,
        sockets=hardware.sockets,
        cores=hardware.cores,
        threads=hardware.threads * hardware.sockets,
        memory_kb=memory_kb,
        used_kb=round(memory_kb * figures["CL_MEMUT"] / 100),
        booted=(cell.last_boot or cell.boot_time) if cell is not None else _booted(rack, host),
        now=rack.now(),
        load=(figures["OS_CPU_LOAD1"], figures["OS_CPU_LOAD5"], figures["OS_CPU_LOAD15"]),
        shares=(
            figures["OS_CPU_USR_PCT"],
            round(figures["OS_CPU_SYS_PCT"] + figures["OS_CPU_SOFT_PCT"] + figures["OS_CPU_IRQ_PCT"], 1),
            figures["OS_CPU_IOWAIT_PCT"],
            figures["OS_CPU_IDLE_PCT"],
        ),
        devices=_cell_devices(rack, cell) if cell is not None else _node_devices(rack, host),
        file_systems=_cell_systems(memory_kb, figures["CL_FSUT"]) if cell is not None else _node_systems(memory_kb),
        interfaces=_interfaces(rack, host, cell),
        gateway="10.1.0.1",
        packages=packages(rack, is_cell=cell is not None),
        processes=services(cell) if cell is not None else (),
    )


def processors(model: str, *, is_cell: bool) -> int:
    """Return the number of processors (threads) of a model's cells or database nodes."""
    return hardware_model(model).cpus if is_cell else server_processors(model)


# -- processors and memory -----------------------------------------------------------------------------------------------

_FIGURES = (
    *("CL_MEMUT", "CL_FSUT", "OS_CPU_LOAD1", "OS_CPU_LOAD5", "OS_CPU_LOAD15"),
    *(f"OS_CPU_{name}_PCT" for name in ("USR", "SYS", "SOFT", "IRQ", "IOWAIT", "IDLE")),
)


@cache
def _definitions(names: tuple[str, ...]) -> tuple[MetricDefinition, ...]:
    """Return the definitions of metrics, even of those that the release does not print: the machine needs them."""
    return tuple(metric_definitions()[name] for name in names)


def _cell_figures(rack: RackView, cell: Cell) -> dict[str, float]:
    found = rack.reader(cell).readings(rack.collection_time(cell), _definitions(_FIGURES))
    return {reading.definition.name: reading.number for reading in found}


def _node_figures(rack: RackView, host: str, cpus: int) -> dict[str, float]:
    key = f"{rack.spec.seed}|{host}|{int(last_minute(rack.now()))}"
    memory = server_memory_gb(rack.spec.model)
    return ambient(key, cpus=cpus, memory_gb=memory, fans=0, objective="", requests_per_second=0.0)


def _booted(rack: RackView, node: str) -> float:
    """Return the epoch seconds at which a database node booted, in accordance with upTime of LIST DBSERVER."""
    days, _, clock = str(server_row(rack, node)["upTime"]).partition(" days, ")
    hours, minutes = clock.split(":")
    up = int(days) * 86400 + int(hours) * 3600 + int(minutes) * 60
    return last_minute(rack.now()) - up


# -- disks ---------------------------------------------------------------------------------------------------------------

_SIZES = ("SM", "LG")
_RATES = tuple(f"CD_IO_{kind}_{way}_{size}_SEC" for kind in ("RQ", "BY") for way in "RW" for size in _SIZES)
_TOTALS = tuple(f"CD_IO_{kind}_{way}_{size}" for kind in ("RQ", "BY", "TM") for way in "RW" for size in _SIZES)


def _cell_devices(rack: RackView, cell: Cell) -> tuple[Device, ...]:
    """Return the disks of a cell in the order of their names, with the load that the metrics of their cell disks show."""
    table = rack.reader(cell).table(rack.collection_time(cell), _definitions((*_RATES, *_TOTALS, "CD_IO_UTIL")))
    values = {d.name: dict(zip(objects, numbers, strict=True)) for d, objects, numbers in table}

    def both(kind: str, way: str, disk: str, end: str = "") -> float:
        return sum(values[f"CD_IO_{kind}_{way}_{size}{end}"].get(disk, 0.0) for size in _SIZES)

    found = []
    for disk in cell.cell_disks.values():
        if disk.disk_type is DiskType.PMEM:
            continue
        name = disk.name
        requests = both("RQ", "R", name), both("RQ", "W", name)
        spent = both("TM", "R", name) / 1000, both("TM", "W", name) / 1000
        device = Device(
            name=disk.device_name.removeprefix("/dev/"),
            size_bytes=disk.size_bytes,
            rates=(
                both("RQ", "R", name, "_SEC"),
                both("RQ", "W", name, "_SEC"),
                both("BY", "R", name, "_SEC") * _MIB,
                both("BY", "W", name, "_SEC") * _MIB,
            ),
            totals=(*requests, both("BY", "R", name) * _MIB, both("BY", "W", name) * _MIB, *spent),
            waits=(_mean(spent[0], requests[0]), _mean(spent[1], requests[1])),
            busy=values["CD_IO_UTIL"].get(name, 0.0),
        )
        found.append(device)
    return tuple(sorted(found, key=lambda device: (len(device.name), device.name)))


def _mean(total: float, count: float) -> float:
    return total / count if count else 0.0


def _node_devices(rack: RackView, host: str) -> tuple[Device, ...]:
    """Return the one volume that the RAID controller makes from a database server's drives."""
    drives = drives_of(rack, host)
    up = rack.now() - _booted(rack, host)
    reads, writes, read_kb, written_kb = 1.2, 14.0, 51.2, 204.8
    return (
        Device(
            name="sda",
            size_bytes=max(1, len(drives) - 1) * drives[0].size_bytes,
            rates=(reads, writes, read_kb, written_kb),
            totals=(reads * up, writes * up, read_kb * up, written_kb * up, reads * 4 * up, writes * 1.5 * up),
            waits=(4.0, 1.5),
            busy=1.0,
        ),
    )


def _cell_systems(memory_kb: int, used: float) -> tuple[FileSystem, ...]:
    """Return a cell's file systems, filled as the metric CL_FSUT shows."""
    rows = [("md5", "/", 10_317_752), ("md7", "/opt/oracle", 3_096_272), ("md4", "/boot", 116_576)]
    rows.append(("md11", "/var/log/oracle", 2_395_452))
    found = [
        FileSystem(device=f"/dev/{device}", point=point, kind="ext4", size_kb=size, used_percent=used)
        for device, point, size in rows
    ]
    return (found[0], _shared(memory_kb), *found[1:])


def _node_systems(memory_kb: int) -> tuple[FileSystem, ...]:
    rows = (
        ("/dev/mapper/VGExaDb-LVDbSys1", "/", 30_963_708, 61.0),
        ("/dev/sda1", "/boot", 503_040, 41.0),
        ("/dev/mapper/VGExaDb-LVDbOra1", "/u01", 103_212_320, 58.0),
    )
    found = [
        FileSystem(device=device, point=point, kind="ext4", size_kb=size, used_percent=used)
        for device, point, size, used in rows
    ]
    return (found[0], _shared(memory_kb), *found[1:])


def _shared(memory_kb: int) -> FileSystem:
    return FileSystem(device="tmpfs", point="/dev/shm", kind="tmpfs", size_kb=memory_kb // 2, used_percent=0.0)


# -- networks ------------------------------------------------------------------------------------------------------------


def _interfaces(rack: RackView, host: str, cell: Cell | None) -> tuple[Interface, ...]:
    """Return the loopback device, the management and (on nodes) the client network, and the ports of the RDMA network."""
    loopback = Interface(name="lo", address="127.0.0.1/8", hardware="00:00:00:00:00:00", mtu=65536, speed=0, driver="")
    number = [*rack.cells].index(host) + 1 if cell is not None else rack.dbnodes.index(host) + 1
    storage = cell_address(number) if cell is not None else node_address(number)
    third, fourth = storage.split(".")[2:]
    found = [loopback, _ethernet(host, "eth0", f"10.1.{third}.{fourth}/16", 1000, "igb")]
    if cell is None:
        found.append(_ethernet(host, "bondeth0", f"10.2.{third}.{fourth}/16", 10_000, "bonding"))
    address = f"{storage}/{_PREFIX}"
    for name in _ports(rack, host, cell):
        if rack.model.infiniband:
            found.append(
                Interface(
                    name=name,
                    address=address,
                    hardware=f"80:00:00:48:fe:80:00:00:00:00:00:00:{_digits(host, name, 8)}",
                    mtu=7000,
                    speed=40_000,
                    driver="bonding" if name.startswith("bond") else "ib_ipoib",
                    infiniband=True,
                )
            )
        else:
            found.append(_ethernet(host, name, address, 100_000, "mlx5_core", mtu=2300))
        address = ""
    return tuple(found)


def _ports(rack: RackView, host: str, cell: Cell | None) -> Sequence[str]:
    if cell is not None:
        return ("ib0", "ib1") if rack.model.infiniband else ("re0", "re1")
    row = server_row(rack, host)
    return [str(row[f"interconnect{n}"]) for n in range(1, int(str(row["interconnectCount"])) + 1)]


def _ethernet(host: str, name: str, address: str, speed: int, driver: str, *, mtu: int = 1500) -> Interface:
    hardware = f"00:21:28:{_digits(host, name, 3)}"
    return Interface(name=name, address=address, hardware=hardware, mtu=mtu, speed=speed, driver=driver)


def _digits(host: str, name: str, count: int) -> str:
    """Return ``count`` hexadecimal pairs that are always the same for an interface."""
    text = f"{zlib.crc32(f'{host}|{name}'.encode()):08x}{zlib.crc32(f'{name}|{host}'.encode()):08x}"
    return ":".join(text[place : place + 2] for place in range(0, 2 * count, 2))
