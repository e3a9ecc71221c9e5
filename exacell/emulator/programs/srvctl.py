"""The program ``srvctl`` of an emulated database node: the state of disk groups, of ASM and of databases.

Source: reference asm.md section 9; Oracle Real Application Clusters Administration Guide, "SRVCTL Command Reference". The codes
PRC* are examples of the real ones; only their kind is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exacell.emulator.asm.instance import Asm
from exacell.emulator.basics.program import Out, Program
from exacell.emulator.storage.disk_groups import DiskGroup

_USAGE = "Usage: srvctl status {asm | database -db <name> | diskgroup -diskgroup <name>} [-node <nodes>] [-detail]\n"
_OPTIONS = {
    "-g": "diskgroup",
    "-diskgroup": "diskgroup",
    "-n": "node",
    "-node": "node",
    "-d": "db",
    "-db": "db",
    "-a": "detail",
    "-detail": "detail",
    "-v": "verbose",
    "-verbose": "verbose",
}
_FLAGS = frozenset({"detail", "verbose"})


def srvctl(asm: Asm, argv: Sequence[str]) -> Program:
    """Run a command of ``srvctl`` and return the running program."""
    asm.rack.advance()
    asm.settle()
    text, status = _run(asm, argv)
    yield Out(text)
    return status


def _run(asm: Asm, argv: Sequence[str]) -> tuple[str, int]:
    if len(argv) < 2:
        return _USAGE, 1
    verb, noun = argv[0].lower(), argv[1].lower()
    options = _options(argv[2:])
    if verb != "status" or noun not in ("asm", "database", "db", "diskgroup", "dg"):
        return f"PRKO-2000 : Invalid command line: {' '.join(argv[:2])}\n{_USAGE}", 1
    if isinstance(options, str):
        return f"PRKO-2002 : Invalid command line option: {options}\n", 1
    nodes = _nodes(asm, options.get("node"))
    if isinstance(nodes, str):
        return f"PRKO-2006 : Invalid node name: {nodes}\n", 1
    if noun in ("asm", "database", "db"):
        return _status_of_instances(asm, noun, options)
    name = options.get("diskgroup", "").upper()
    if not name:
        return f"PRKO-2003 : the option -diskgroup is missing\n{_USAGE}", 1
    if name not in asm.resources:
        return (
            f"PRCA-1000 : ASM Disk Group {name} does not exist\nPRCR-1001 : Resource ora.{name}.dg does not exist\n",
            1,
        )
    enabled = f"Disk Group {name} is enabled\n" if "detail" in options else ""
    return _where_running(asm, name, asm.groups.get(name), nodes) + enabled, 0


def _options(words: Sequence[str]) -> Mapping[str, str] | str:
    """Return the options by their long names; or the first wrong word, if there is one."""
    found: dict[str, str] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name = _OPTIONS.get(word.lower())
        if name is None or (name not in _FLAGS and not queue):
            return word
        found[name] = "" if name in _FLAGS else queue.pop(0)
    return found


def _nodes(asm: Asm, names: str | None) -> list[int] | str:
    """Return the indexes of the named nodes (all nodes if none are named); or the first name that is not a node."""
    if names is None:
        return list(range(len(asm.nodes)))
    chosen: list[int] = []
    for name in names.split(","):
        if name not in asm.nodes:
            return name
        chosen.append(asm.nodes.index(name))
    return chosen


def _where_running(asm: Asm, name: str, group: DiskGroup | None, nodes: Sequence[int]) -> str:
    running = [asm.nodes[node] for node in nodes if group is not None and node in group.mounted]
    if running:
        return f"Disk Group {name} is running on {','.join(running)}\n"
    return f"Disk Group {name} is not running\n"


def _status_of_instances(asm: Asm, noun: str, options: Mapping[str, str]) -> tuple[str, int]:
    if noun == "asm":
        enabled = "ASM is enabled.\n" if "detail" in options else ""
        return f"ASM is running on {','.join(asm.nodes)}\n{enabled}", 0
    name = options.get("db", "").upper()
    if name not in asm.databases:
        return f"PRCD-1120 : The resource for database {name} could not be found.\n", 1
    shown = (f"Instance {name}{number} is running on node {node}\n" for number, node in enumerate(asm.nodes, 1))
    return "".join(shown), 0
