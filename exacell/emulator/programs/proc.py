"""The files of /proc and /sys about an emulated host's machine, as its shells read them.

Behind the fence all other files of /proc about the machine are empty, and /sys has only these files. Counters grow with the
rack's time: those of disks are the cell's metrics, those of processors what a quiet machine has counted since it booted.

Source: proc(5), sysfs(5), Documentation/admin-guide/iostats.rst and sysctl/vm.rst (vm.swappiness is 60) of the Linux kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

from exacell.emulator.programs.machine import Device, Machine

_TICKS = 100
"""Ticks of the kernel's clock in a second; the processors' time is counted in ticks."""
_BUSY = (0.016, 0.008, 0.001)
"""Shares of a processor's time since boot: user, system and waiting."""
_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx lm"
)
_SECTOR = 512


def fixed_files(machine: Machine) -> dict[str, str]:
    """Return the files that do not change while the host runs: text by absolute path."""
    version = "#2 SMP"
    names = [device.name for device in machine.devices]
    files = {
        "/proc/cmdline": "root=/dev/md5 ro bootarea=c0d0 loglevel=7 panic=60 crashkernel=448M nomodeset\n"
        if machine.is_cell
        else "root=/dev/mapper/VGExaDb-LVDbSys1 ro loglevel=7 panic=60 crashkernel=448M nomodeset\n",
        "/proc/cpuinfo": _processors(machine),
        "/proc/devices": "Character devices:\n  1 mem\n  5 /dev/tty\n136 pts\n\nBlock devices:\n  8 sd\n  9 md\n259 blkext\n",
        "/proc/filesystems": "nodev\tsysfs\nnodev\tproc\nnodev\ttmpfs\nnodev\tdevpts\n\text4\n\text3\n",
        "/proc/mounts": "".join(f"{s.device} {s.point} {s.kind} rw,relatime 0 0\n" for s in machine.file_systems),
        "/proc/partitions": _partitions(machine),
        "/proc/swaps": "Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n",
        "/proc/sys/kernel/cap_last_cap": "37\n",
        "/proc/sys/kernel/domainname": "(none)\n",
        "/proc/sys/kernel/hostname": f"{machine.host}\n",
        "/proc/sys/kernel/ngroups_max": "65536\n",
        "/proc/sys/kernel/osrelease": f"{machine.kernel}\n",
        "/proc/sys/kernel/ostype": "Linux\n",
        "/proc/sys/kernel/pid_max": "98304\n",
        "/proc/sys/kernel/version": f"{version}\n",
        "/proc/sys/vm/overcommit_memory": "0\n",
        "/proc/sys/vm/swappiness": "60\n",
        "/proc/version": f"Linux version {machine.kernel} (mockbuild@oracle.com) {version}\n",
        **{f"/sys/block/{device.name}/size": f"{device.size_bytes // _SECTOR}\n" for device in machine.devices},
        **{f"/sys/block/{name}/queue/rotational": f"{int(name.startswith('sd'))}\n" for name in names},
    }
    for number, name in enumerate(names):
        files |= {
            f"/sys/block/{name}/dev": "{}:{}\n".format(*_number(number)),
            f"/sys/block/{name}/removable": "0\n",
            f"/sys/block/{name}/ro": "0\n",
            f"/sys/block/{name}/queue/logical_block_size": "512\n",
            f"/sys/block/{name}/queue/max_hw_sectors_kb": "4096\n",
            f"/sys/block/{name}/queue/max_sectors_kb": "1024\n",
            f"/sys/block/{name}/queue/nr_requests": "128\n",
            f"/sys/block/{name}/queue/read_ahead_kb": "128\n",
            f"/sys/block/{name}/queue/scheduler": "noop [deadline] cfq\n" if name.startswith("sd") else "[none]\n",
        }
    for what in ("online", "possible", "present"):
        files[f"/sys/devices/system/cpu/{what}"] = f"0-{machine.threads - 1}\n"
    for interface in machine.interfaces:
        place = f"/sys/class/net/{interface.name}"
        files |= {
            f"{place}/address": f"{interface.hardware}\n",
            f"{place}/mtu": f"{interface.mtu}\n",
            f"{place}/operstate": "unknown\n" if interface.loopback else "up\n",
        }
        if not interface.loopback:
            files[f"{place}/speed"] = f"{interface.speed}\n"
    return files


def moving_files(machine: Machine) -> dict[str, str]:
    """Return the files that change with time: text by absolute path."""
    idle = machine.uptime * machine.threads * (1 - sum(_BUSY))
    load = " ".join(f"{value:.2f}" for value in machine.load)
    return {
        "/proc/diskstats": "".join(_disk_line(n, device) for n, device in enumerate(machine.devices)),
        "/proc/loadavg": f"{load} 1/{400 + machine.threads * 8} {9000 + int(machine.uptime) % 50_000}\n",
        "/proc/meminfo": _memory(machine),
        "/proc/stat": _stat(machine),
        "/proc/uptime": f"{machine.uptime:.2f} {idle:.2f}\n",
        "/proc/vmstat": _virtual(machine),
    }


def _processors(machine: Machine) -> str:
    """Return a block for each thread. As the kernel numbers them, the threads of one core are as many numbers apart as there are
    cores.
    """
    blocks = []
    for number in range(machine.threads):
        core = number % (machine.cores * machine.sockets)
        blocks.append(
            f"processor\t: {number}\nvendor_id\t: {machine.vendor}\nmodel name\t: {machine.processor}\n"
            f"cpu MHz\t\t: {machine.mhz:.3f}\nphysical id\t: {core // machine.cores}\n"
            f"siblings\t: {machine.threads // machine.sockets}\ncore id\t\t: {core % machine.cores}\n"
            f"cpu cores\t: {machine.cores}\nflags\t\t: {_FLAGS}\nbogomips\t: {machine.mhz * 2:.2f}\n\n"
        )
    return "".join(blocks)


def memory_figures(machine: Machine) -> Mapping[str, int]:
    """Return the lines of /proc/meminfo that programs read, in KB. The page cache has a fifth of the free memory."""
    free = machine.memory_kb - machine.used_kb
    cached = free // 5
    return {
        "MemTotal": machine.memory_kb,
        "MemFree": free - cached,
        "MemAvailable": round(free * 0.97),
        "Buffers": cached // 10,
        "Cached": cached - cached // 10,
        "SwapCached": 0,
        "Active": machine.used_kb // 2,
        "Inactive": cached // 2,
        "SwapTotal": 0,
        "SwapFree": 0,
        "Dirty": 412,
        "Writeback": 0,
        "AnonPages": machine.used_kb // 2,
        "Mapped": machine.used_kb // 20,
        "Shmem": 20_480,
        "Slab": cached // 4,
        "SReclaimable": cached // 8,
        "SUnreclaim": cached // 8,
        "PageTables": machine.used_kb // 200,
    }


def _memory(machine: Machine) -> str:
    lines = [f"{name + ':':<16}{value:>8} kB\n" for name, value in memory_figures(machine).items()]
    pages = {"HugePages_Total": 0, "HugePages_Free": 0, "HugePages_Rsvd": 0, "HugePages_Surp": 0}
    lines += [f"{name + ':':<16}{value:>8}\n" for name, value in pages.items()]
    return "".join(lines) + f"{'Hugepagesize:':<16}{2048:>8} kB\n"


def _stat(machine: Machine) -> str:
    ticks = machine.uptime * _TICKS
    each = [int(ticks * share) for share in _BUSY]
    one = (each[0], 0, each[1], int(ticks) - sum(each), each[2], 0, 0, 0, 0, 0)
    all_of_them = [value * machine.threads for value in one]
    lines = [f"cpu  {' '.join(map(str, all_of_them))}\n"]
    lines += [f"cpu{number} {' '.join(map(str, one))}\n" for number in range(machine.threads)]
    switches = int(machine.uptime * machine.threads * 250)
    return "".join(lines) + (
        f"intr {switches // 2}\nctxt {switches}\nbtime {int(machine.booted)}\nprocesses {9000 + int(machine.uptime / 2)}\n"
        "procs_running 1\nprocs_blocked 0\n"
    )


def _virtual(machine: Machine) -> str:
    figures = memory_figures(machine)
    moved = [int(sum(device.totals[place] for device in machine.devices)) for place in (2, 3)]
    rows = {
        "nr_free_pages": figures["MemFree"] // 4,
        "pgpgin": moved[0],
        "pgpgout": moved[1],
        "pswpin": 0,
        "pswpout": 0,
    }
    return "".join(f"{name} {value}\n" for name, value in rows.items())


def _number(number: int) -> tuple[int, int]:
    """Return the device numbers of the n-th whole disk. Source: Documentation/admin-guide/devices.txt, major 8."""
    return 8 if number < 16 else 65 + (number - 16) // 16, number % 16 * 16


def _partitions(machine: Machine) -> str:
    rows = [(*_number(n), device.size_bytes // 1024, device.name) for n, device in enumerate(machine.devices)]
    lines = [f"{major:>4} {minor:>8} {blocks:>10} {name}\n" for major, minor, blocks, name in rows]
    return "major minor  #blocks  name\n\n" + "".join(lines)


def _disk_line(number: int, device: Device) -> str:
    major, minor = _number(number)
    reads, writes, read_kb, written_kb, read_ms, written_ms = map(int, device.totals)
    spent = read_ms + written_ms
    return (
        f"{major:>4} {minor:>7} {device.name} {reads} 0 {read_kb * 2} {read_ms} {writes} 0 {written_kb * 2} {written_ms} 0 "
        f"{spent} {spent}\n"
    )
