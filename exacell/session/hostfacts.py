"""Read facts of hosts: kernel, processors, block queues, SCSI hosts, multipath, iSCSI, network queues, interrupts, drivers.

A shell on the host reads ``data/hostfacts.sh`` from its standard input: nothing is copied there, and nothing is changed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence

from exacell.core.hostgroups import FACT_KINDS
from exacell.core.packaged import data_beside
from exacell.core.values import dataclass
from exacell.plan.drift import of_host
from exacell.session.answers import problem_of
from exacell.session.fleet import Fleet
from exacell.transport.base import Reply, Request, Role, State

Fact = Mapping[str, str | int]
"""``kind``, ``name``, and the attributes under the names that the kernel or ethtool uses."""

_NUMBER = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """The facts of one host; ``problem`` is one line about why there are none."""

    facts: Sequence[Fact] = ()
    problem: str = ""


def read_facts_of(
    fleet: Fleet,
    hosts: Sequence[str],
    *,
    kinds: Sequence[str] = FACT_KINDS,
    timeout: float | None = None,
    cancel: threading.Event | None = None,
) -> dict[str, HostFacts]:
    """Return the facts of each host, in one round trip per host.

    Args:
        kinds: a part of FACT_KINDS; no other kinds are read.
        timeout: seconds per host.
    """
    script = f"kinds='{' '.join(kinds)}'\n{data_beside(__spec__, 'hostfacts.sh')}"
    requests = [
        Request(target=host, command="/bin/sh -s", role=Role.HOST_READ, stdin=script, timeout=timeout) for host in hosts
    ]
    replies = fleet.run(requests, cancel=cancel).replies
    return {host: _read(replies[host]) for host in hosts}


def comparable_facts(
    fleet: Fleet, hosts: Sequence[str], *, timeout: float | None = None, cancel: threading.Event | None = None
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the facts of each host that answers, in the form that drift compares, and the problems of the others."""
    answers = read_facts_of(fleet, hosts, timeout=timeout, cancel=cancel)
    facts = {host: of_host(host, answer.facts) for host, answer in answers.items() if not answer.problem}
    return facts, [f"{host}: {answer.problem}" for host, answer in answers.items() if answer.problem]


def _read(reply: Reply) -> HostFacts:
    if reply.state is not State.OK:
        return HostFacts(problem=problem_of(reply))
    facts = parse_facts(reply.stdout)
    return HostFacts(problem="its answer is cut off") if facts is None else HostFacts(facts=facts)


def parse_facts(text: str) -> list[Fact] | None:
    """Return the facts in the script's output, by the order of FACT_KINDS and of their lines; None if its end is missing.

    If an attribute has several values, such as the states of two sessions with one target, they become one text with commas.
    """
    lines = text.splitlines()
    if not lines or lines[-1] != "end":
        return None
    found: dict[tuple[str, str], dict[str, str | int]] = {}
    for line in lines[:-1]:
        parts = line.split("\t", 3)
        if len(parts) < 4 or parts[0] not in FACT_KINDS:
            continue  # Output of a program between the facts.
        kind, name, attribute, value = (" ".join(part.split()) for part in parts)
        if kind == "block" and attribute == "size" and value.isdigit():
            attribute, value = "sizeBytes", str(512 * int(value))  # Sectors. Source: sysfs-block, size.
        if value:
            fact = found.setdefault((kind, name), {"kind": kind, "name": name})
            if attribute in fact:
                value = ", ".join(dict.fromkeys([*str(fact[attribute]).split(", "), value]))
            fact[attribute] = int(value) if _NUMBER.fullmatch(value) else value
    return sorted(found.values(), key=lambda fact: FACT_KINDS.index(str(fact["kind"])))
