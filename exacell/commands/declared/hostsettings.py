"""Declarations of the commands that :mod:`exacell.commands.hostsettings` carries out."""

from __future__ import annotations

from exacell.commands.declared.hosts import GROUP
from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="show setting",
        group=GROUP,
        effect=Effect.READ,
        summary="settings of hosts' kernels: block queues, SCSI hosts, module parameters, sysctls",
        details="Asks the hosts that ON names. Paths are /sys/block/DEVICE/queue/NAME, "
        "/sys/block/DEVICE/device/NAME, /sys/class/scsi_host/HOST/NAME, /sys/module/MODULE/parameters/NAME and "
        "/proc/sys/.../NAME, with * ? and [ab]. Hosts and devices with the same value share a row. If the kernel "
        "lists the possible words, they are in allowed.",
        example="on @db show setting /sys/block/sd*/queue/rotational",
        params=(
            Param(
                name="path",
                kind=Kind.SETTING,
                positional=True,
                required=True,
                rest=True,
                help="paths below /sys or /proc/sys, with * for any device",
            ),
        ),
        hosts=True,
        needs_hosts=True,
        on_after=True,
        handler="exacell.commands.hostsettings:show_setting",
    ),
    Command(
        name="set setting",
        group=GROUP,
        effect=Effect.WRITE,
        summary="change settings of hosts' kernels: planned, read back, can be undone",
        details="Goes to the hosts that ON names; paths as for show setting. A value is a number, Y or N, or a word "
        "that the kernel lists, never free text. The plan shows each value before and after. Each value is read "
        "back, because kernels round values or take wrong ones. Settings that change each other (dirty_bytes and "
        "dirty_ratio) are read back and undone together; both in one statement are refused. It lasts until the next "
        "boot: the plan shows the "
        "line for udev, sysctl.d or modprobe.d that keeps it, and does not write that line.",
        example="on @initiators set setting /sys/block/sd*/queue/scheduler=none",
        params=(
            Param(
                name="setting",
                kind=Kind.SETTING,
                positional=True,
                required=True,
                rest=True,
                help="PATH=VALUE, several with blanks between them; quotes around one with blanks in it",
            ),
        ),
        hosts=True,
        needs_hosts=True,
        on_after=True,
        handler="exacell.commands.hostsettings:set_setting",
    ),
)
