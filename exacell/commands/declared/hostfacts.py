"""Declarations of the commands that :mod:`exacell.commands.hostfacts` carries out."""

from __future__ import annotations

from exacell.commands.declared.hosts import GROUP
from exacell.core.hostgroups import FACT_KINDS
from exacell.language.registry import Command, Effect, Kind, Param

COMMANDS = (
    Command(
        name="facts",
        group=GROUP,
        effect=Effect.READ,
        summary="facts of hosts: kernel, disks and queues, drivers, firmware, multipath, iSCSI, network, interrupts",
        details="Asks the hosts that ON names. Kinds are kernel, cpu, numa, block, scsi, multipath, iscsi, net, irq "
        "and module (drivers' versions and parameters); without a kind all are read. --diff shows only where hosts "
        "differ. Facts that a host can't give are left out, such as ethtool's without ethtool. Nothing is copied to "
        "a host.",
        example="facts on @db --diff",
        params=(
            Param(
                name="kinds",
                kind=Kind.NAMES,
                positional=True,
                choices=FACT_KINDS,
                rest=True,
                help="which kinds, several with commas: block,net",
            ),
        ),
        hosts=True,
        needs_hosts=True,
        on_after=True,
        handler="exacell.commands.hostfacts:facts",
    ),
)
